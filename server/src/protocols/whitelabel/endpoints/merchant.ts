/**
 * Webhooks as older programs set them: one address, one more time, one to try. The address is one of the partner's endpoints
 * (endpoints/webhooks.ts shows it among the others), signed for with the key that set it.
 */
import { Refusal } from '../../../base/errors.ts';
import { readUrl, replay, setWireUrl, testEndpoint, wireEndpoint } from '../../../events/index.ts';
import type { Reply } from '../../protocol.ts';
import { id, optional, required, text } from '../fields.ts';
import { ok, type SignedAsk } from '../route.ts';
import { dummyMessage } from '../webhooks.ts';
import { orderNumberOf } from './either.ts';

export const setUrlFields = { webhookUrl: required(text({ max: 1_000 })) };

export async function setWebhookUrl({ deps, caller, values, inTx }: SignedAsk<typeof setUrlFields>): Promise<Reply> {
  const url = readUrl(deps.outside, 'webhookUrl', values.webhookUrl);
  const { id: partnerId } = caller.partner;
  await inTx((tx) =>
    setWireUrl(tx, deps.vault, { partnerId, url, apiKey: caller.credential.key, now: deps.clock.now() }),
  );
  return ok(`Webhook url set to ${values.webhookUrl}`);
}

export const resendFields = { orderId: required(id) };

/** All that was ever said of an order, once more, in its order. */
export async function resendWebhook({ deps, caller, values, inTx }: SignedAsk<typeof resendFields>): Promise<Reply> {
  const { id: partnerId } = caller.partner;
  await inTx(async (tx) => {
    const order = await deps.orders.get(tx, { id: orderNumberOf(values.orderId) });
    const endpoint = await wireEndpoint(tx, partnerId);
    if (endpoint === undefined) throw new Refusal('unknown_endpoint');
    const subject = `order:${order.id}`;
    await replay(tx, { endpointId: endpoint.id, partnerId, subject, now: deps.clock.now() });
  });
  return ok(`Webhook of order ${values.orderId} will be sent again`);
}

export const dummyFields = { webhookUrl: optional(text({ max: 1_000 })) };

/** Attempts of one partner to other addresses than the one set, at the same time. */
const TRIES_AT_ONCE = 4;
const trying = new Map<bigint, number>();

/**
 * To the address that is set, by the way of every webhook; or to the one named, once and at once, to see whether it would do.
 */
export async function sendDummyWebhook(ask: SignedAsk<typeof dummyFields>): Promise<Reply> {
  const { deps, caller, values, inTx } = ask;
  const { id: partnerId } = caller.partner;
  const named = values.webhookUrl === undefined ? undefined : readUrl(deps.outside, 'webhookUrl', values.webhookUrl);
  const set = await inTx((tx) => wireEndpoint(tx, partnerId));
  if (named === undefined || named === set?.url) {
    if (set === undefined) throw new Refusal('unknown_endpoint');
    await inTx((tx) => testEndpoint(tx, set, deps.clock.now()));
    return ok(`Dummy webhook sent to ${set.url}`);
  }
  const under = trying.get(partnerId) ?? 0;
  if (under >= TRIES_AT_ONCE) throw new Refusal('too_many_requests', { retryAfterMs: 5_000 });
  trying.set(partnerId, under + 1);
  try {
    const { ok: answered, status, error } = await deps.send({ url: named, ...dummyMessage(caller.secret, new Date()) });
    const failed = status === null ? error : `status ${status}`;
    return ok(answered ? `Dummy webhook sent to ${named}` : `Dummy webhook to ${named} failed: ${failed}`);
  } finally {
    const left = (trying.get(partnerId) ?? 1) - 1;
    if (left === 0) trying.delete(partnerId);
    else trying.set(partnerId, left);
  }
}

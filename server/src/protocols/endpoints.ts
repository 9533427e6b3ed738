/** Webhook endpoints and their events: the part common to the wires for partners' programs. */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { closeCases } from '../compliance/index.ts';
import type { Endpoint } from '../events/index.ts';
import { decideHeld, isContained } from '../partners/index.ts';

/** The facts recorded for a request about an endpoint. */
export const aboutEndpoint = ({ id, url }: Endpoint) => ({ subject: `endpoint:${id}`, facts: { url } });

/**
 * Decides about an endpoint that a containment holds, and ends the containment where nothing else is held. The partner role may
 * not change held items: `tx` uses the system role, and the caller has checked that the endpoint belongs to the partner.
 *
 * @param input.by the key or member of the request, which is not held itself
 */
export async function decideAboutEndpoint(
  tx: Tx,
  input: { partnerId: bigint; by: string; endpoint: Endpoint; state: 'released' | 'rejected'; now: Date },
): Promise<void> {
  const { partnerId, by, endpoint, state, now } = input;
  await decideHeld(tx, { partnerId, items: { kind: 'endpoint', subject: endpoint.id }, state, by, now });
  if (await isContained(tx, partnerId)) return;
  const subject = `partner:${partnerId}`;
  await closeCases(tx, { kind: 'partner_contained', subject, outcome: `ended by ${by}`, now });
}

/**
 * Position of an event in its partner's feed.
 *
 * @throws Refusal 'unknown_event', also for another partner's
 */
export function positionOf(partnerId: bigint, eventId: string): bigint {
  const [, partner, position = ''] = /^evt_([0-9]{1,18})_([0-9]{1,15})$/.exec(eventId) ?? [];
  if (partner !== String(partnerId)) throw new Refusal('unknown_event');
  return BigInt(position);
}

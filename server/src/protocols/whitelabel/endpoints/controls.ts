/**
 * The sandbox's controls over HTTP: their fields, and parsing of a request. Their declarations are in table/controls.ts;
 * sandbox/controls.ts carries them out.
 *
 * Controls of an order or a clock affect the caller's own data; the others affect every partner of the sandbox.
 */
import { Refusal } from '../../../base/errors.ts';
import type { Order } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { BANK_FAULTS, PAY_HOW, type SandboxControls } from '../../sandbox.ts';
import {
  amount,
  code,
  type Fields,
  id,
  malformedField,
  missingFields,
  ofText,
  oneOf,
  optional,
  required,
  unitsOf,
  wholeNumber,
} from '../fields.ts';
import { idempotencyKey } from '../idempotency.ts';
import type { SignedRequest } from '../route.ts';
import { drivenStatus } from '../status.ts';
import { orderNumberOf } from './orders.ts';
import { statusNumber } from './sandbox.ts';

type Asked<F extends Fields> = SignedRequest<F>;

const DAY_MS = 86_400_000;
const LONGEST_MS = 30 * DAY_MS;
const LENGTHS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** In milliseconds. */
const length = ofText(16, {
  rule: 'a length of time such as 90s, 15m, 2h or 3d, at most 30d',
  schema: { type: 'string', pattern: '^[1-9][0-9]{0,6}[smhd]$', examples: ['3d'] },
  read(given) {
    const [, count = '', unit = ''] = /^([1-9][0-9]{0,6})([smhd])$/.exec(given) ?? [];
    const ms = Number(count) * (LENGTHS[unit] ?? Number.NaN);
    return ms > 0 && ms <= LONGEST_MS ? ms : undefined;
  },
});

const AN_ORDER = 'number of one of your orders';
const ofOrder = { transactionId: required(id, AN_ORDER) };
const INSTEAD = 'amount to pay instead of the requested one, in the same currency';

const orderOf = ({ deps, inTx }: Asked<Fields>, { transactionId }: { transactionId: string }): Promise<Order> =>
  inTx((tx) => deps.orders.get(tx, { id: orderNumberOf(transactionId) }));

const keyOf = ({ call, caller }: Asked<Fields>): string =>
  idempotencyKey(call.headers['idempotency-key'], caller.payload).toString('hex').slice(0, 32);

/** Parses an amount in the order's deposit asset. */
async function unitsFor(input: Asked<Fields>, order: Order, read: string | undefined): Promise<bigint | undefined> {
  if (read === undefined) return undefined;
  const asset = (await input.inTx(assets)).get(order.depositAsset);
  return asset === undefined ? undefined : unitsOf('amount', read, asset.decimals);
}

export const payFields = {
  ...ofOrder,
  how: optional(
    oneOf(...PAY_HOW),
    '`exact` (the default), `under` (half), `over` (half more), `late` (after the deadline, which passes now), `twice`, `another_token` (on the same chain), `another_chain` (the same coin)',
  ),
  amount: optional(amount, INSTEAD),
};

export async function pay(controls: SandboxControls, input: Asked<typeof payFields>) {
  const order = await orderOf(input, input.values);
  const units = await unitsFor(input, order, input.values.amount);
  return await controls.pay({ order, how: input.values.how ?? 'EXACT', units, key: keyOf(input) });
}

export const creditFields = {
  transactionId: required(id, `${AN_ORDER}, a purchase`),
  amount: optional(amount, INSTEAD),
  reference: optional(oneOf('RIGHT', 'NONE', 'WRONG'), '`right` (the default), `none`, `wrong` (one letter mistyped)'),
  name: optional(
    oneOf('RIGHT', 'WRONG', 'NONE'),
    "payer's name: `right` (the customer's, the default), `wrong`, `none`",
  ),
};

export async function credit(controls: SandboxControls, input: Asked<typeof creditFields>) {
  const order = await orderOf(input, input.values);
  const units = await unitsFor(input, order, input.values.amount);
  const { reference = 'RIGHT', name = 'RIGHT' } = input.values;
  return await controls.credit({ order, units, reference, name, key: keyOf(input) });
}

export const recallFields = {
  transactionId: optional(id, `${AN_ORDER}: its last credit`),
  line: optional(id, 'or the line that `credit` returned'),
};

export async function recall(controls: SandboxControls, input: Asked<typeof recallFields>) {
  const { transactionId, line } = input.values;
  const partnerId = input.caller.partner.id;
  if (line !== undefined) return await controls.recall({ partnerId, line });
  if (transactionId === undefined) throw missingFields(['transactionId']);
  return await controls.recall({ partnerId, order: await orderOf(input, { transactionId }) });
}

export const bounceFields = { transactionId: required(id, `${AN_ORDER}, with a payout or refund at the bank`) };

export const bounce = async (controls: SandboxControls, input: Asked<typeof bounceFields>) =>
  await controls.bounce({ order: await orderOf(input, input.values) });

export const statusFields = { ...ofOrder, status: required(statusNumber('-4'), 'the number, as in webhooks') };

export async function status(_controls: SandboxControls, input: Asked<typeof statusFields>) {
  const { direction, id: orderId } = await orderOf(input, input.values);
  const asked = drivenStatus(direction, input.values.status);
  if (asked === undefined) throw malformedField('status', `must be a status number of an ${direction} transaction`);
  if (asked.number !== 0)
    await input.deps.sandbox?.driveOrder({ partnerId: input.caller.partner.id, orderId, status: asked.number });
  return { status: asked.number, word: asked.word };
}

export const screeningFields = { ...ofOrder, outcome: required(oneOf('FAIL', 'PASS'), '`fail`, `pass`') };

export const screening = async (controls: SandboxControls, input: Asked<typeof screeningFields>) =>
  await controls.screening({ order: await orderOf(input, input.values), fails: input.values.outcome === 'FAIL' });

export const clockFields = { advance: required(length, '`90s`, `15m`, `2h`, `3d`; at most 30 days') };

export const clock = async (controls: SandboxControls, input: Asked<typeof clockFields>) =>
  await controls.advanceClock({ partnerId: input.caller.partner.id, ms: input.values.advance });

export const reorgFields = {
  chain: required(code, '`matic20`, `erc20`, `bep20`, `arbitrum`, `base`, `optimism`, `trc20`'),
  blocks: required(
    wholeNumber({ min: 1, max: 12 }),
    '1 to 12; a deeper reorg would replace final blocks and halt the chain',
  ),
};

export const reorg = async (controls: SandboxControls, input: Asked<typeof reorgFields>) =>
  await controls.reorg(input.values);

export const bankFields = {
  fault: required(
    oneOf('NONE', ...BANK_FAULTS),
    '`lose_request` (nothing is paid), `lose_answer` (it is paid), `delay_answer`, `refuse`, `return` (paid, then returned), `no_status`, `statement_twice`, `statement_reordered`; `none` removes the remaining faults',
  ),
  times: optional(wholeNumber({ min: 1, max: 100 }), 'how often; 1 by default'),
  delayMs: optional(
    wholeNumber({ min: 1, max: 60_000 }),
    'delay of `delay_answer`, in milliseconds; 8000 by default, which is longer than the server waits',
  ),
};

export async function bank(controls: SandboxControls, input: Asked<typeof bankFields>) {
  const { fault, times = 1, delayMs = 8_000 } = input.values;
  return await controls.bankFault({ fault, times, delayMs });
}

export const pricesFields = {
  coin: required(code, '`usdc`'),
  fiat: required(code, '`inr`'),
  price: optional(amount, 'fiat for one coin; without it, the price table applies again', '91.5'),
};

export async function prices(controls: SandboxControls, input: Asked<typeof pricesFields>) {
  const { coin, fiat, price } = input.values;
  return await controls.movePrice({ coin: coin.toLowerCase(), fiat: fiat.toLowerCase(), price });
}

export const treasuryFields = {
  currency: required(code, 'a fiat such as `inr`, or a coin with its `chain`'),
  state: required(oneOf('DRY', 'FILLED'), '`dry`, `filled`'),
  chain: optional(code, 'chain of a coin'),
  amount: optional(amount, 'amount to fill with, in that currency; the initial amount by default'),
};

export const treasury = async (controls: SandboxControls, input: Asked<typeof treasuryFields>) =>
  await controls.treasury(input.values);

export const webhooksFields = { deliveries: required(oneOf('DROP', 'DELIVER'), '`drop`, `deliver`') };

export const webhooks = async (controls: SandboxControls, input: Asked<typeof webhooksFields>) =>
  await controls.dropWebhooks({ drop: input.values.deliveries === 'DROP' });

/** @throws Refusal 'sandbox_only' in an installation without controls */
export function controlsOf<F extends Fields>({ deps }: Asked<F>): SandboxControls {
  if (deps.sandbox?.controls === undefined) throw new Refusal('sandbox_only');
  return deps.sandbox.controls;
}

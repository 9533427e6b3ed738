/**
 * The sandbox's controls on this wire: the spelling of their parameters (the declarations: protocols/controls.ts), and how a
 * request is carried out. Also the control `status`, which only this wire has, because the numbers are its own.
 */
import { Type } from 'typebox';
import { Refusal } from '../../../base/errors.ts';
import type { Order } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Control, type Kind, namedOn, runControl } from '../../controls.ts';
import {
  amount,
  code,
  type Field,
  type Fields,
  id,
  malformedField,
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

const DAY_MS = 86_400_000;
const LENGTHS: Readonly<Record<string, number>> = { d: DAY_MS, h: 3_600_000, m: 60_000, s: 1_000 };

/** In milliseconds. */
const length = (maxMs: number): Field<number> =>
  ofText(16, {
    rule: `a length of time such as 90s, 15m, 2h or 3d, at most ${lengthText(maxMs)}`,
    schema: { type: 'string', pattern: '^[1-9][0-9]{0,6}[smhd]$', examples: ['3d'] },
    read(given) {
      const [, count = '', unit = ''] = /^([1-9][0-9]{0,6})([smhd])$/.exec(given) ?? [];
      const ms = Number(count) * (LENGTHS[unit] ?? Number.NaN);
      return ms > 0 && ms <= maxMs ? ms : undefined;
    },
  });

/** In the largest unit without a rest. */
function lengthText(ms: number): string {
  const [unit = 's', unitMs = 1_000] = Object.entries(LENGTHS).find(([, one]) => ms % one === 0) ?? [];
  return `${ms / unitMs}${unit}`;
}

function fieldOf(kind: Kind): Field<unknown> {
  switch (kind.is) {
    case 'order':
    case 'line':
      return id;
    case 'amount':
      return amount;
    case 'code':
      return code;
    case 'word':
      return oneOf(...kind.words);
    case 'whole':
      return wholeNumber(kind);
    case 'duration':
      return length(kind.maxMs);
  }
}

const AN_ORDER = '123456789';

export const fieldsOf = (declared: Control): Fields =>
  Object.fromEntries(
    namedOn('whitelabel', declared).flatMap(([wireName, name]) => {
      const one = declared.takes[name];
      if (one === undefined) return [];
      const says = one.kind.is === 'duration' ? `${one.says}: \`90s\`, \`15m\`, \`2h\`, \`3d\`` : one.says;
      const field = (one.optional ? optional : required)(fieldOf(one.kind), says, one.example?.toString());
      return [[wireName, field]];
    }),
  );

export const exampleOf = (declared: Control): Readonly<Record<string, string | number>> =>
  Object.fromEntries(
    namedOn('whitelabel', declared).flatMap(([wireName, name]) => {
      const value = declared.example[name];
      const { is } = declared.takes[name]?.kind ?? {};
      if (is === 'order') return [[wireName, AN_ORDER]];
      if (value === undefined) return [];
      return [[wireName, is === 'duration' ? lengthText(Number(value)) : value]];
    }),
  );

const orderOf = ({ deps, inTx }: SignedRequest<Fields>, transactionId: string): Promise<Order> =>
  inTx((tx) => deps.orders.get(tx, { id: orderNumberOf(transactionId) }));

export const run = async (declared: Control, input: SignedRequest<Fields>): Promise<object> =>
  await runControl(declared, input.deps.sandbox?.controls, {
    wire: 'whitelabel',
    values: input.values,
    partnerId: input.caller.partner.id,
    keyOf() {
      const { call, caller } = input;
      return idempotencyKey(call.headers['idempotency-key'], caller.payload).toString('hex').slice(0, 32);
    },
    orderOf: (transactionId) => orderOf(input, transactionId as string),
    async unitsOf({ depositAsset }, text) {
      if (text === undefined) return undefined;
      const asset = (await input.inTx(assets)).get(depositAsset);
      return asset === undefined ? undefined : unitsOf('amount', text, asset.decimals);
    },
  });

export const statusFields = {
  transactionId: required(id, 'number of one of your orders'),
  status: required(statusNumber('-4'), 'the number, as in webhooks'),
};
export const statusExample = { transactionId: AN_ORDER, status: '-4' };
export const DRIVEN_TO = Type.Object(
  {
    status: Type.Integer({ description: 'Number of the status to which the order is driven' }),
    word: Type.String({ description: 'Name of the status' }),
  },
  { additionalProperties: false },
);

export async function status(input: SignedRequest<typeof statusFields>) {
  const { deps, caller, values } = input;
  if (deps.sandbox?.controls === undefined) throw new Refusal('sandbox_only');
  const { direction, id: orderId } = await orderOf(input as SignedRequest<Fields>, values.transactionId);
  const asked = drivenStatus(direction, values.status);
  if (asked === undefined) throw malformedField('status', `must be a status number of an ${direction} transaction`);
  if (asked.number !== 0)
    await deps.sandbox.driveOrder({ partnerId: caller.partner.id, orderId, status: asked.number });
  return { status: asked.number, word: asked.word };
}

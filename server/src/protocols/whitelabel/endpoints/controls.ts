/**
 * The sandbox's controls over HTTP, as data: one row each, from which the routes, the commands of `npm run sandbox`, their
 * help and the table in docs/sandbox.md are made.
 *
 * Signed like everything else here. Controls of an order or a clock affect the caller's own data; `shared` ones affect every
 * partner of the sandbox. Here: parsing the request. sandbox/controls.ts carries it out.
 */
import { type TSchema, Type } from 'typebox';
import { Refusal, type RefusalCode } from '../../../base/errors.ts';
import type { Order } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import {
  amount,
  code,
  type Field,
  type Fields,
  id,
  Malformed,
  malformedField,
  missingFields,
  oneOf,
  optional,
  type Reader,
  reader,
  required,
  text,
  unitsOf,
  wholeNumber,
} from '../fields.ts';
import { idempotencyKey } from '../idempotency.ts';
import { BANK_FAULTS, ok, PAY_HOW, type Route, type SandboxControls, type SignedRequest, signed } from '../route.ts';
import { drivenStatus } from '../status.ts';
import { orderNumberOf } from './orders.ts';

export interface Control {
  name: string;
  says: string;
  /** Affects every partner of the sandbox. */
  shared: boolean;
  /** Its parameters, in the order in which a command line may omit their names; `words` lists the allowed values, if few. */
  takes: Readonly<Record<string, { says: string; optional: boolean; words: readonly string[] }>>;
  /** As a command. */
  example: string;
  route: Route;
}

const DAY_MS = 86_400_000;
const LONGEST_MS = 30 * DAY_MS;
const LENGTHS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** `90s`, `15m`, `2h`, `3d`. */
const length: Reader<number> = reader(
  { type: 'string', pattern: '^[1-9][0-9]{0,6}[smhd]$', examples: ['3d'] },
  (value) => {
    const [, count = '', unit = ''] = /^([1-9][0-9]{0,6})([smhd])$/.exec(text({ max: 16 })(value)) ?? [];
    const ms = Number(count) * (LENGTHS[unit] ?? Number.NaN);
    if (!(ms > 0 && ms <= LONGEST_MS))
      throw new Malformed('must be a length of time such as 90s, 15m, 2h or 3d, at most 30d');
    return ms;
  },
);

type Said<F extends Fields> = { readonly [K in keyof F]: string };

function control<F extends Fields>(
  c: {
    name: string;
    says: string;
    shared?: boolean;
    example: string;
    fields: F;
    fieldsSay: Said<F>;
    gives: TSchema;
    refuses?: readonly RefusalCode[];
  },
  action: (controls: SandboxControls, input: SignedRequest<F>) => Promise<unknown>,
): Control {
  const shared = c.shared ?? false;
  const { gives, refuses = [] } = c;
  const fields = Object.fromEntries(
    Object.entries<Field<unknown>>(c.fields).map(([name, field]) => [
      name,
      { ...field, says: c.fieldsSay[name] ?? '' },
    ]),
  ) as F;
  const route = signed({
    paths: [`/sandbox/v1/${c.name}`],
    scope: shared || c.name === 'clock' ? 'admin' : 'trade',
    says: `Sandbox: ${c.says}.`,
    takes: fields,
    gives,
    refuses: [...refuses, 'sandbox_only'],
    sandbox: true,
    control: true,
    answer: async (input: SignedRequest<F>) => ok(await action(controlsOf(input), input)),
  });
  const takes = Object.fromEntries(
    Object.entries<Field<unknown>>(c.fields).map(([name, field]) => [
      name,
      { says: c.fieldsSay[name] ?? '', optional: field.optional, words: wordsOf(field) },
    ]),
  );
  return { name: c.name, says: c.says, shared, example: c.example, takes, route };
}

const wordsOf = ({ read }: Field<unknown>): readonly string[] =>
  Array.isArray(read.schema.enum) ? read.schema.enum.map(String) : [];

function controlsOf<F extends Fields>({ deps }: SignedRequest<F>): SandboxControls {
  if (deps.sandbox?.controls === undefined) throw new Refusal('sandbox_only');
  return deps.sandbox.controls;
}

const ofOrder = { transactionId: required(id) };
type OfOrder = { transactionId: string };

const orderOf = ({ deps, inTx }: SignedRequest<Fields>, { transactionId }: OfOrder): Promise<Order> =>
  inTx((tx) => deps.orders.get(tx, { id: orderNumberOf(transactionId) }));

const keyOf = ({ call, caller }: SignedRequest<Fields>): string =>
  idempotencyKey(call.headers['idempotency-key'], caller.payload).toString('hex').slice(0, 32);

/** Parses an amount in the order's deposit asset. */
async function unitsFor(
  input: SignedRequest<Fields>,
  order: Order,
  read: string | undefined,
): Promise<bigint | undefined> {
  if (read === undefined) return undefined;
  const asset = (await input.inTx(assets)).get(order.depositAsset);
  return asset === undefined ? undefined : unitsOf('amount', read, asset.decimals);
}

const object = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

const AN_ORDER = 'number of one of your orders';
const KEYED = 'The same Idempotency-Key pays once';

export const CONTROLS: readonly Control[] = [
  control(
    {
      name: 'pay',
      says: `the customer pays an order, on its chain or by bank. ${KEYED}`,
      example: 'pay 123456789 --how under',
      fields: { ...ofOrder, how: optional(oneOf(...PAY_HOW)), amount: optional(amount) },
      fieldsSay: {
        transactionId: AN_ORDER,
        how: '`exact` (if nothing is said), `under` (half), `over` (half more), `late` (after the deadline, which passes now), `twice`, `another_token` (on the same chain), `another_chain` (the same coin)',
        amount: 'instead of the amount asked for',
      },
      gives: object({ payments: Type.Array(Type.String(), { description: 'What the rail calls each payment' }) }),
      refuses: ['unknown_order', 'order_over'],
    },
    async (controls, input) => {
      const order = await orderOf(input, input.values);
      const units = await unitsFor(input, order, input.values.amount);
      return await controls.pay({ order, how: input.values.how ?? 'EXACT', units, key: keyOf(input) });
    },
  ),
  control(
    {
      name: 'credit',
      says: `money comes to our bank for an order, as its payer wrote it. ${KEYED}`,
      example: 'credit 123456789 --reference none --name wrong',
      fields: {
        ...ofOrder,
        amount: optional(amount),
        reference: optional(oneOf('RIGHT', 'NONE', 'WRONG')),
        name: optional(oneOf('RIGHT', 'WRONG', 'NONE')),
      },
      fieldsSay: {
        transactionId: `${AN_ORDER}, a purchase`,
        amount: 'instead of the amount asked for',
        reference: '`right` (if nothing is said), `none`, `wrong` (one letter mistyped)',
        name: "payer's name: `right` (the customer's, if nothing is said), `wrong`, `none`",
      },
      gives: object({ line: Type.String({ description: 'Line at the bank' }) }),
      refuses: ['unknown_order', 'order_over'],
    },
    async (controls, input) => {
      const order = await orderOf(input, input.values);
      const units = await unitsFor(input, order, input.values.amount);
      const { reference = 'RIGHT', name = 'RIGHT' } = input.values;
      return await controls.credit({ order, units, reference, name, key: keyOf(input) });
    },
  ),
  control(
    {
      name: 'recall',
      says: "the payer's bank takes a credit back",
      example: 'recall 123456789',
      fields: { transactionId: optional(id), line: optional(id) },
      fieldsSay: { transactionId: `${AN_ORDER}: its last credit`, line: 'or the line that `credit` answered' },
      gives: object({ line: Type.String({ description: 'Line at the bank' }) }),
      refuses: ['unknown_order', 'order_over'],
    },
    async (controls, input) => {
      const { transactionId, line } = input.values;
      const partnerId = input.caller.partner.id;
      if (line !== undefined) return await controls.recall({ partnerId, line });
      if (transactionId === undefined) throw missingFields(['transactionId']);
      return await controls.recall({ partnerId, order: await orderOf(input, { transactionId }) });
    },
  ),
  control(
    {
      name: 'bounce',
      says: 'what was paid to an account comes back, before or after it arrived',
      example: 'bounce 123456789',
      fields: ofOrder,
      fieldsSay: { transactionId: `${AN_ORDER}, with a payout or refund at the bank` },
      gives: object({ payment: Type.String({ description: 'Payment that comes back' }) }),
      refuses: ['unknown_order', 'order_over'],
    },
    async (controls, input) => await controls.bounce({ order: await orderOf(input, input.values) }),
  ),
  control(
    {
      name: 'status',
      says: 'drives an order to a status by causing the facts that lead there; it runs on by itself',
      example: 'status 123456789 -4',
      fields: { ...ofOrder, status: required(reader({ type: 'string', examples: ['-4'] }, text({ max: 8 }))) },
      fieldsSay: { transactionId: AN_ORDER, status: 'the number, as in webhooks' },
      gives: object({ status: Type.Integer(), word: Type.String() }),
      refuses: ['unknown_order', 'order_over'],
    },
    async (_controls, input) => {
      const { direction, id: orderId } = await orderOf(input, input.values);
      const asked = drivenStatus(direction, input.values.status);
      if (asked === undefined) throw malformedField('status', `must be a status number of an ${direction} transaction`);
      if (asked.number !== 0)
        await input.deps.sandbox?.driveOrder({ partnerId: input.caller.partner.id, orderId, status: asked.number });
      return { status: asked.number, word: asked.word };
    },
  ),
  control(
    {
      name: 'screening',
      says: 'screening holds the order as if its destination were denied, until a person releases it; or no longer',
      example: 'screening 123456789 fail',
      fields: { ...ofOrder, outcome: required(oneOf('FAIL', 'PASS')) },
      fieldsSay: { transactionId: AN_ORDER, outcome: '`fail`, `pass`' },
      gives: object({ list: Type.String({ description: 'List that holds the destination' }) }),
      refuses: ['unknown_order', 'order_over'],
    },
    async (controls, input) =>
      await controls.screening({ order: await orderOf(input, input.values), fails: input.values.outcome === 'FAIL' }),
  ),
  control(
    {
      name: 'clock',
      says: 'your due times come nearer: deadlines, locked rates and quotes, waits, clearing, attempts of webhooks',
      example: 'clock 3d',
      fields: { advance: required(length) },
      fieldsSay: { advance: '`90s`, `15m`, `2h`, `3d`; at most 30 days' },
      gives: object({ orders: Type.Integer(), quotes: Type.Integer(), deliveries: Type.Integer() }),
    },
    async (controls, input) =>
      await controls.advanceClock({ partnerId: input.caller.partner.id, ms: input.values.advance }),
  ),
  control(
    {
      name: 'reorg',
      says: 'the newest blocks of a chain are replaced by empty ones; transfers of ours and of simulated customers are sent again',
      shared: true,
      example: 'reorg matic20 3',
      fields: { chain: required(code), blocks: required(wholeNumber({ min: 1, max: 12 })) },
      fieldsSay: {
        chain: '`matic20`, `erc20`, `bep20`, `arbitrum`, `base`, `optimism`, `trc20`',
        blocks: '1 to 12; more would be deeper than final and halt the chain',
      },
      gives: object({ chain: Type.String(), blocks: Type.Integer() }),
    },
    async (controls, input) => await controls.reorg(input.values),
  ),
  control(
    {
      name: 'bank',
      says: "the bank's next calls go wrong",
      shared: true,
      example: 'bank lose_answer --times 2',
      fields: {
        fault: required(oneOf('NONE', ...BANK_FAULTS)),
        times: optional(wholeNumber({ min: 1, max: 100 })),
        delayMs: optional(wholeNumber({ min: 1, max: 60_000 })),
      },
      fieldsSay: {
        fault:
          '`lose_request` (nothing is paid), `lose_answer` (it is paid), `delay_answer`, `refuse`, `return` (paid, and comes back), `no_status`, `statement_twice`, `statement_reordered`; `none` ends what is left',
        times: 'how often; 1 if nothing is said',
        delayMs: 'of `delay_answer`: 8000 if nothing is said, which is longer than we wait',
      },
      gives: object({ fault: Type.String(), times: Type.Integer() }),
    },
    async (controls, input) => {
      const { fault, times = 1, delayMs = 8_000 } = input.values;
      return await controls.bankFault({ fault, times, delayMs });
    },
  ),
  control(
    {
      name: 'prices',
      says: 'the price of a coin is what you say, until you say otherwise or the server restarts',
      shared: true,
      example: 'prices usdc inr 91.5',
      fields: { coin: required(code), fiat: required(code), price: optional(amount) },
      fieldsSay: { coin: '`usdc`', fiat: '`inr`', price: "fiat for one coin; without it, the table's again" },
      gives: object({ pair: Type.String(), price: Type.Union([Type.String(), Type.Null()]) }),
    },
    async (controls, input) => {
      const { coin, fiat, price } = input.values;
      return await controls.movePrice({ coin: coin.toLowerCase(), fiat: fiat.toLowerCase(), price });
    },
  ),
  control(
    {
      name: 'treasury',
      says: "the operator's money of a currency runs dry (it is set aside in the books), or is brought anew",
      shared: true,
      example: 'treasury inr dry',
      fields: {
        currency: required(code),
        state: required(oneOf('DRY', 'FILLED')),
        chain: optional(code),
        amount: optional(amount),
      },
      fieldsSay: {
        currency: 'a fiat such as `inr`, or a coin with its `chain`',
        state: '`dry`, `filled`',
        chain: 'of a coin',
        amount: 'how much is brought; as much as at the beginning if nothing is said',
      },
      gives: object({ asset: Type.String(), available: Type.String({ description: 'What may be paid out' }) }),
    },
    async (controls, input) => await controls.treasury(input.values),
  ),
  control(
    {
      name: 'webhooks',
      says: 'deliveries fail as if every receiver were down, until you say otherwise or the server restarts',
      shared: true,
      example: 'webhooks drop',
      fields: { deliveries: required(oneOf('DROP', 'DELIVER')) },
      fieldsSay: { deliveries: '`drop`, `deliver`' },
      gives: object({ webhooks: Type.String() }),
    },
    async (controls, input) => await controls.dropWebhooks({ drop: input.values.deliveries === 'DROP' }),
  ),
];

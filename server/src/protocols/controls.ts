/**
 * The sandbox's controls, each declared once: effect, parameters, report, refusals. Both wires of partners are made from these
 * declarations: routes, validation, handlers and descriptions. So are the commands of `npm run sandbox` and the tables of
 * docs/sandbox.md.
 *
 * A wire decides only how a kind of value is spelled (`Kind`) and where a parameter has another name or does not exist (`Spelling`):
 * whitelabel/table/controls.ts, v1/declared/sandbox.ts.
 *
 * Not here: how a control does it (sandbox/controls.ts), and the control `status` of the white-label wire, whose numbers only
 * that wire has.
 */
import type { TSchema } from 'typebox';
import { Refusal } from '../base/errors.ts';
import type { Order } from '../orders/index.ts';
import * as replies from './controls.replies.ts';
import { BANK_FAULTS, PAY_HOW, type SandboxControls } from './sandbox.ts';

/** Looks the order up. @throws Refusal 'unknown_order' */
export type FindOrder = () => Promise<Order>;

/** What a parameter is. Both wires have a spelling of each kind. */
export type Kind =
  /** An order of the caller. */
  | { readonly is: 'order' }
  /** Line of a bank statement. */
  | { readonly is: 'line' }
  /** A decimal amount. */
  | { readonly is: 'amount' }
  /** Code of a coin, currency or chain. */
  | { readonly is: 'code' }
  /** In upper case; a wire may have other rules for the case. */
  | { readonly is: 'word'; readonly words: readonly string[] }
  | { readonly is: 'whole'; readonly min: number; readonly max: number }
  /** In milliseconds. */
  | { readonly is: 'duration'; readonly maxMs: number };

/** Its names on the wires, where they are not the name of the parameter; null: the wire does not have it. */
export interface Spelling {
  readonly whitelabel?: string;
  readonly v1?: string | null;
}

export interface Parameter<T = unknown> {
  readonly kind: Kind;
  /** Its meaning, without a capital letter and a full stop. Words and values are in back quotes and in lower case. */
  readonly says: string;
  readonly optional: boolean;
  readonly named: Spelling;
  /** An example value, of an optional parameter that is not in the example of the control. */
  readonly example?: string | number | undefined;
  /** Its type in `run`; it has no value. */
  readonly type?: T;
}
export type Parameters = Readonly<Record<string, Parameter>>;
type Values<P extends Parameters> = { readonly [N in keyof P]: P[N] extends Parameter<infer T> ? T : never };

/** What a control knows about its request, beside the values. */
export interface ControlRequest {
  readonly partnerId: bigint;
  /** Idempotency key: the same when the same request is sent again. */
  readonly keyOf: () => string;
  /** Smallest units of an amount in the order's deposit asset. @throws Refusal of an amount with too many decimal places */
  readonly unitsOf: (order: Order, amount: string | undefined) => Promise<bigint | undefined>;
}

export interface Control<P extends Parameters = Parameters> {
  /** Last part of its path. */
  readonly name: string;
  /** Its effect, as the end of a sentence. */
  readonly says: string;
  /** A further sentence. */
  readonly more?: string;
  /** Whether it affects every partner of the sandbox. */
  readonly shared: boolean;
  readonly scope: 'trade' | 'admin';
  readonly takes: P;
  /** Example request, in the order of the parameters; an order is added. */
  readonly example: Readonly<Record<string, string | number>>;
  readonly gives: TSchema;
  /** Its refusals, beyond `sandbox_only` and those of any request. */
  readonly refuses: readonly ('unknown_order' | 'order_over')[];
  readonly run: (controls: SandboxControls, values: Values<P>, request: ControlRequest) => Promise<object>;
}

interface Declared<P extends Parameters> extends Omit<Control<P>, 'example' | 'shared' | 'scope' | 'refuses'> {
  readonly shared?: boolean;
  readonly example?: { readonly [K in keyof P]?: string | number };
  readonly refuses?: Control['refuses'];
}

/** A control of all partners, or of time, takes a key that may administer. */
const control = <P extends Parameters>({
  shared = false,
  example = {},
  refuses = [],
  ...declared
}: Declared<P>): Control =>
  ({
    ...declared,
    shared,
    example,
    refuses,
    scope: shared || declared.name === 'clock' ? 'admin' : 'trade',
  }) as Control;

const parameter = <T>(kind: Kind, says: string, more: Partial<Parameter> = {}): Parameter<T> => ({
  ...{ kind, says, optional: false, named: {} },
  ...(more as Partial<Parameter<T>>),
});
/** A word of a list. */
const word = <const W extends string>(words: readonly W[], says: string, named: Spelling = {}): Parameter<W> =>
  parameter({ is: 'word', words }, says, { named });
const code = (says: string): Parameter<string> => parameter({ is: 'code' }, says);
const amount = (says: string, example?: string): Parameter<string> => parameter({ is: 'amount' }, says, { example });
const whole = (min: number, max: number, says: string): Parameter<number> => parameter({ is: 'whole', min, max }, says);
const optional = <T>(one: Parameter<T>, named: Spelling = one.named): Parameter<T | undefined> => ({
  ...one,
  named,
  optional: true,
});
const order = (says: string): Parameter<FindOrder> =>
  parameter({ is: 'order' }, says, { named: { whitelabel: 'transactionId' } });

/** It is a parameter of the white-label wire only. */
const NOT_IN_V1: Spelling = { v1: null };
const DAY_MS = 86_400_000;
const AN_ORDER = 'number of one of your orders';
const KEYED = 'Requests with the same Idempotency-Key pay once';
const INSTEAD = optional(amount('amount to pay instead of the requested one, in the same currency', '12.5'));
/** Longer than the server waits for a bank. */
const DELAY_MS = 8_000;

export const CONTROLS: readonly Control[] = [
  control({
    name: 'pay',
    says: 'pays an order as its customer, on its chain or by bank',
    more: KEYED,
    takes: {
      order: order(AN_ORDER),
      how: optional(
        word(
          PAY_HOW,
          '`exact` (the default), `under` (half), `over` (half more), `late` (after the deadline, which passes now), `twice`, `another_token` (on the same chain), `another_chain` (the same coin)',
        ),
      ),
      amount: INSTEAD,
    },
    example: { how: 'UNDER' },
    gives: replies.PAID,
    refuses: ['unknown_order', 'order_over'],
    async run(controls, { order: find, how = 'EXACT', amount: text }, { keyOf, unitsOf }) {
      const paid = await find();
      return await controls.pay({ order: paid, how, units: await unitsOf(paid, text), key: keyOf() });
    },
  }),
  control({
    name: 'credit',
    says: 'credits our bank account for a purchase, with the payer’s reference and name as you choose them',
    more: KEYED,
    takes: {
      order: order(`${AN_ORDER}, a purchase`),
      amount: INSTEAD,
      reference: optional(
        word(['RIGHT', 'NONE', 'WRONG'], '`right` (the default), `none`, `wrong` (one letter mistyped)', {
          v1: 'payerReference',
        }),
      ),
      name: optional(
        word(['RIGHT', 'WRONG', 'NONE'], 'payer’s name: `right` (the customer’s, the default), `wrong`, `none`', {
          v1: 'payerName',
        }),
      ),
    },
    example: { reference: 'NONE', name: 'WRONG' },
    gives: replies.CREDITED,
    refuses: ['unknown_order'],
    async run(controls, { order: find, amount: text, reference = 'RIGHT', name = 'RIGHT' }, { keyOf, unitsOf }) {
      const paid = await find();
      return await controls.credit({ order: paid, units: await unitsOf(paid, text), reference, name, key: keyOf() });
    },
  }),
  control({
    name: 'recall',
    says: 'recalls a bank credit, as the payer’s bank',
    takes: {
      order: optional(order(`${AN_ORDER}: its last credit`)),
      line: optional(parameter<string>({ is: 'line' }, 'or the line that `credit` returned'), NOT_IN_V1),
    },
    gives: replies.RECALLED,
    refuses: ['unknown_order'],
    async run(controls, { order: find, line }, { partnerId }) {
      if (line !== undefined) return await controls.recall({ partnerId, line });
      if (find === undefined) throw new Refusal('missing_fields', { names: ['order'] });
      return await controls.recall({ partnerId, order: await find() });
    },
  }),
  control({
    name: 'bounce',
    says: 'returns an order’s payout or refund to a bank account, before or after it arrived',
    takes: { order: order(`${AN_ORDER}, with a payout or refund at the bank`) },
    gives: replies.BOUNCED,
    refuses: ['unknown_order'],
    run: async (controls, { order: find }) => await controls.bounce({ order: await find() }),
  }),
  control({
    name: 'screening',
    says: 'makes screening hold an order as if its destination were denied, until a person releases it; or ends that',
    takes: { order: order(AN_ORDER), outcome: word(['FAIL', 'PASS'], '`fail` holds it, `pass` ends that') },
    example: { outcome: 'FAIL' },
    gives: replies.SCREENED,
    refuses: ['unknown_order', 'order_over'],
    run: async (controls, { order: find, outcome }) =>
      await controls.screening({ order: await find(), fails: outcome === 'FAIL' }),
  }),
  control({
    name: 'clock',
    says: 'moves your due times closer: deadlines, locked rates and quotes, waits, clearing, attempts of webhooks',
    takes: {
      advance: parameter<number>({ is: 'duration', maxMs: 30 * DAY_MS }, 'how far they move, at most 30 days', {
        named: { v1: 'seconds' },
      }),
    },
    example: { advance: 3 * DAY_MS },
    gives: replies.ADVANCED,
    run: async (controls, { advance }, { partnerId }) => await controls.advanceClock({ partnerId, ms: advance }),
  }),
  control({
    name: 'reorg',
    says: 'replaces the newest blocks of a chain with empty ones; transfers of ours and of simulated customers are sent again',
    shared: true,
    takes: {
      chain: code('code of the chain: `matic20`, `erc20`, `bep20`, `arbitrum`, `base`, `optimism`, `trc20`'),
      blocks: whole(1, 12, '1 to 12; a deeper reorg would replace final blocks and halt the chain'),
    },
    example: { chain: 'matic20', blocks: 3 },
    gives: replies.REORGANISED,
    run: async (controls, values) => await controls.reorg(values),
  }),
  control({
    name: 'bank',
    says: 'makes the next calls of the bank fail',
    shared: true,
    takes: {
      fault: word(
        ['NONE', ...BANK_FAULTS],
        '`lose_request` (nothing is paid), `lose_answer` (it is paid), `delay_answer`, `reject`, `return` (paid, then returned), `no_status`, `statement_twice`, `statement_reordered`; `none` removes the remaining faults',
      ),
      times: optional(whole(1, 100, 'how often; 1 by default')),
      delayMs: optional(
        whole(
          1,
          60_000,
          `delay of \`delay_answer\`, in milliseconds; ${DELAY_MS} by default, which is longer than the server waits`,
        ),
        NOT_IN_V1,
      ),
    },
    example: { fault: 'LOSE_ANSWER', times: 2 },
    gives: replies.BANK_FAULT,
    run: async (controls, { fault, times = 1, delayMs = DELAY_MS }) =>
      await controls.bankFault({ fault, times, delayMs }),
  }),
  control({
    name: 'prices',
    says: 'sets the price of a coin until you change it or the server restarts',
    shared: true,
    takes: {
      coin: code('code of the coin, such as `usdc`'),
      fiat: code('code of the currency, such as `inr`'),
      price: optional(amount('fiat for one coin; without it, the price table applies again', '91.5')),
    },
    example: { coin: 'usdc', fiat: 'inr', price: '91.5' },
    gives: replies.PRICE_MOVED,
    run: async (controls, { coin, fiat, price }) =>
      await controls.movePrice({ coin: coin.toLowerCase(), fiat: fiat.toLowerCase(), price }),
  }),
  control({
    name: 'treasury',
    says: 'empties the operator’s account or wallet of a currency (its money is set aside in the books), or fills it again',
    shared: true,
    takes: {
      currency: code('a fiat such as `inr`, or a coin with its `chain`'),
      state: word(['DRY', 'FILLED'], '`dry` (empty) or `filled`', { v1: 'level' }),
      chain: optional(code('chain of a coin')),
      amount: optional(amount('amount to fill with, in that currency; the initial amount by default'), NOT_IN_V1),
    },
    example: { currency: 'inr', state: 'DRY' },
    gives: replies.TREASURY,
    run: async (controls, { currency, state, chain, amount: text }) =>
      await controls.treasury({ currency, state, chain, amount: text }),
  }),
  control({
    name: 'webhooks',
    says: 'makes deliveries fail as if every receiver were down, until you change it or the server restarts',
    shared: true,
    takes: { deliveries: word(['DROP', 'DELIVER'], '`drop` (they fail) or `deliver`') },
    example: { deliveries: 'DROP' },
    gives: replies.DELIVERIES,
    run: async (controls, { deliveries }) => await controls.dropWebhooks({ drop: deliveries === 'DROP' }),
  }),
];

/** The parameters that a wire has, under their names on it. */
export const namedOn = (
  wire: keyof Spelling,
  { takes }: Control,
): readonly (readonly [wireName: string, name: string])[] =>
  Object.entries(takes).flatMap(([name, { named }]) => {
    const own = named[wire];
    return own === null ? [] : [[own ?? name, name] as const];
  });

interface WireRequest extends ControlRequest {
  readonly wire: keyof Spelling;
  /** The values under the wire's names. */
  readonly values: Readonly<Record<string, unknown>>;
  /** @throws Refusal 'unknown_order' */
  readonly orderOf: (reference: unknown) => Promise<Order>;
}

/**
 * Carries a control out.
 *
 * @param controls absent in an installation without controls
 * @returns its report, as `gives` describes it
 * @throws Refusal 'sandbox_only', and those of the control, with the wire's names of parameters
 */
export async function runControl(
  declared: Control,
  controls: SandboxControls | undefined,
  { wire, values, orderOf, ...request }: WireRequest,
): Promise<object> {
  if (controls === undefined) throw new Refusal('sandbox_only');
  const names = namedOn(wire, declared);
  const read = ([wireName, name]: readonly [string, string]) => {
    const value = values[wireName];
    const isOrder = declared.takes[name]?.kind.is === 'order' && value !== undefined;
    return [name, isOrder ? () => orderOf(value) : value] as const;
  };
  try {
    return await declared.run(controls, Object.fromEntries(names.map(read)), request);
  } catch (error) {
    throw error instanceof Refusal ? renamed(error, new Map(names.map(([wireName, name]) => [name, wireName]))) : error;
  }
}

/** @param wireNames the wire's names, by parameter */
function renamed({ code, facts }: Refusal, wireNames: ReadonlyMap<string, string>): Refusal {
  const nameOf = (name: string): string => wireNames.get(name) ?? name;
  const { fields, names } = facts as { fields?: Readonly<Record<string, unknown>>; names?: readonly string[] };
  return new Refusal(code, {
    ...facts,
    ...(fields && { fields: Object.fromEntries(Object.entries(fields).map(([name, why]) => [nameOf(name), why])) }),
    ...(names && { names: names.map(nameOf) }),
  });
}

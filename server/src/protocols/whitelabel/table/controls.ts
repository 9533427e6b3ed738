/**
 * The declarations of the sandbox's controls. Routes, checks of requests and the API description are generated from them like
 * those of all other endpoints, and also the commands of `npm run sandbox`, their help, and the table in docs/sandbox.md.
 */
import type { TSchema } from 'typebox';
import type { RefusalCode } from '../../../base/errors.ts';
import type { SandboxControls } from '../../sandbox.ts';
import * as does from '../endpoints/controls.ts';
import type { Field, Fields } from '../fields.ts';
import * as replies from '../replies/controls.ts';
import { ok, type Route, type SignedRequest, signed } from '../route.ts';
import { DRIVEN } from './parts.ts';

export interface Control {
  /** The path below `/sandbox/v1/`, and the word of the command. */
  readonly name: string;
  readonly says: string;
  /** Whether it affects every partner of the sandbox. */
  readonly shared: boolean;
  /** Its parameters, in the order in which a command line may omit their names; `words` lists the allowed values, if few. */
  readonly takes: Readonly<Record<string, { says: string; optional: boolean; words: readonly string[] }>>;
  /** Example as a command. */
  readonly example: string;
  readonly route: Route;
}

interface Declared<F extends Fields> {
  readonly name: string;
  /** Its effect, as the end of a sentence. */
  readonly says: string;
  readonly shared?: boolean;
  readonly takes: F;
  /** Example request, in the order of its fields. */
  readonly example: { readonly [K in keyof F]?: string | number };
  readonly gives: TSchema;
  readonly refuses?: readonly RefusalCode[];
  readonly answer: (controls: SandboxControls, input: SignedRequest<F>) => Promise<unknown>;
}

function control<F extends Fields>({ answer, ...declared }: Declared<F>): Control {
  const { name, says, shared = false, takes, gives, refuses = [] } = declared;
  const example = declared.example as Readonly<Record<string, string | number>>;
  return {
    ...{ name, says, shared },
    takes: Object.fromEntries(Object.entries(takes).map(([field, one]) => [field, parameterOf(name, field, one)])),
    example: commandOf(name, takes, example),
    route: signed({
      paths: [`/sandbox/v1/${name}`],
      scope: shared || name === 'clock' ? 'admin' : 'trade',
      says: `Sandbox: ${says}.`,
      takes,
      example,
      gives,
      refuses: [...refuses, 'sandbox_only'],
      sandbox: true,
      control: true,
      answer: async (input: SignedRequest<F>) => ok(await answer(does.controlsOf(input), input)),
    }),
  };
}

function parameterOf(control: string, name: string, { says, schema, optional }: Field<unknown>) {
  if (says === undefined) throw new Error(`${control}: the field ${name} has no meaning`);
  const words = Array.isArray(schema.enum) ? schema.enum.map(String) : [];
  return { says, optional: optional === true, words };
}

/** Required values and the first one are written without names; words in lower case. */
const commandOf = (name: string, takes: Fields, example: Readonly<Record<string, string | number>>): string =>
  Object.entries(example).reduce((line, [field, value], at) => {
    const typed = takes[field]?.schema.enum === undefined ? value : String(value).toLowerCase();
    return at === 0 || takes[field]?.optional !== true ? `${line} ${typed}` : `${line} --${field} ${typed}`;
  }, name);

const KEYED = 'Requests with the same Idempotency-Key pay once';
const AN_ORDER = '123456789';

export const CONTROLS: readonly Control[] = [
  control({
    name: 'pay',
    says: `pays an order as its customer, on its chain or by bank. ${KEYED}`,
    takes: does.payFields,
    example: { transactionId: AN_ORDER, how: 'UNDER' },
    gives: replies.PAID,
    refuses: ['unknown_order', 'order_over'],
    answer: does.pay,
  }),
  control({
    name: 'credit',
    says: `credits our bank account for a purchase, with the payer’s reference and name as you choose them. ${KEYED}`,
    takes: does.creditFields,
    example: { transactionId: AN_ORDER, reference: 'NONE', name: 'WRONG' },
    gives: replies.CREDITED,
    refuses: ['unknown_order'],
    answer: does.credit,
  }),
  control({
    name: 'recall',
    says: 'recalls a bank credit, as the payer’s bank',
    takes: does.recallFields,
    example: { transactionId: AN_ORDER },
    gives: replies.RECALLED,
    refuses: ['unknown_order'],
    answer: does.recall,
  }),
  control({
    name: 'bounce',
    says: 'returns an order’s payout or refund to a bank account, before or after it arrived',
    takes: does.bounceFields,
    example: { transactionId: AN_ORDER },
    gives: replies.BOUNCED,
    refuses: ['unknown_order'],
    answer: does.bounce,
  }),
  control({
    name: 'status',
    says: 'drives an order to a status by causing the facts that lead there; the order then continues automatically',
    takes: does.statusFields,
    example: { transactionId: AN_ORDER, status: '-4' },
    gives: replies.DRIVEN_TO,
    refuses: ['unknown_order', ...DRIVEN],
    answer: does.status,
  }),
  control({
    name: 'screening',
    says: 'makes screening hold an order as if its destination were denied, until a person releases it; or ends that',
    takes: does.screeningFields,
    example: { transactionId: AN_ORDER, outcome: 'FAIL' },
    gives: replies.SCREENED,
    refuses: ['unknown_order', 'order_over'],
    answer: does.screening,
  }),
  control({
    name: 'clock',
    says: 'moves your due times closer: deadlines, locked rates and quotes, waits, clearing, attempts of webhooks',
    takes: does.clockFields,
    example: { advance: '3d' },
    gives: replies.ADVANCED,
    answer: does.clock,
  }),
  control({
    name: 'reorg',
    says: 'replaces the newest blocks of a chain with empty ones; transfers of ours and of simulated customers are sent again',
    shared: true,
    takes: does.reorgFields,
    example: { chain: 'matic20', blocks: 3 },
    gives: replies.REORGANISED,
    answer: does.reorg,
  }),
  control({
    name: 'bank',
    says: 'makes the next calls of the bank fail',
    shared: true,
    takes: does.bankFields,
    example: { fault: 'LOSE_ANSWER', times: 2 },
    gives: replies.BANK_FAULT,
    answer: does.bank,
  }),
  control({
    name: 'prices',
    says: 'sets the price of a coin until you change it or the server restarts',
    shared: true,
    takes: does.pricesFields,
    example: { coin: 'usdc', fiat: 'inr', price: '91.5' },
    gives: replies.PRICE_MOVED,
    answer: does.prices,
  }),
  control({
    name: 'treasury',
    says: 'empties the operator’s account or wallet of a currency (its money is set aside in the books), or fills it again',
    shared: true,
    takes: does.treasuryFields,
    example: { currency: 'inr', state: 'DRY' },
    gives: replies.TREASURY,
    answer: does.treasury,
  }),
  control({
    name: 'webhooks',
    says: 'makes deliveries fail as if every receiver were down, until you change it or the server restarts',
    shared: true,
    takes: does.webhooksFields,
    example: { deliveries: 'DROP' },
    gives: replies.DELIVERIES,
    answer: does.webhooks,
  }),
];

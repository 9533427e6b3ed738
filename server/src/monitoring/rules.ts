/**
 * Rules of transaction monitoring: the parameters of each kind, and whether a rule matches an order. Pure.
 *
 * A rule reads one order and the customer's earlier orders. The value of an order is the customer's payment or payout in the
 * fiat, as for limits; orders of another fiat than the rule's are not counted. Only orders that have received money count.
 *
 * A finding has its evidence: numbers of orders, sums, ids. It contains no names and no documents.
 */

/** An order, with the fields that rules use. */
export interface Traded {
  readonly orderId: bigint;
  readonly createdAt: Date;
  readonly fiat: string;
  readonly worthUnits: bigint;
}

/** The facts known at the time of an order. */
export interface Facts {
  readonly order: Traded;
  /** The customer's orders that received money in the 30 days before this order. */
  readonly before: readonly Traded[];
  /** Whether the customer had no order before this one. */
  readonly isFirst: boolean;
  /** Other customers paid at the wallet of this order; 0 if it pays an account. */
  readonly othersAtWallet: number;
  /** Other customers who use the bank account of this order; of several accounts, the one that most others use. */
  readonly atAccount: AtAccount;
  /** The customer's country, as stated by form or partner, and the country of the phone; undefined when unknown. */
  readonly country: string | undefined;
  readonly phoneCountry: string | undefined;
}

export interface AtAccount {
  /** `paid`: who are paid at the account. `paying`: whose deposits came from it. A customer may be both. */
  readonly customers: number;
  readonly paid: number;
  readonly paying: number;
}

export const NOBODY: AtAccount = { customers: 0, paid: 0, paying: 0 };

export const KINDS = {
  velocity: {
    says: 'a number of orders, or orders of a total worth, in a number of days',
    takes: ['fiat', 'days'],
    mayTake: ['count', 'worth'],
  },
  structuring: {
    says: 'a number of orders in a number of days, each just below a limit (by at most a number of basis points)',
    takes: ['fiat', 'days', 'count', 'worth', 'withinBps'],
    mayTake: [],
  },
  first_large: { says: 'a first order of at least a given worth', takes: ['fiat', 'worth'], mayTake: [] },
  shared_wallet: {
    says: 'a wallet to which a number of customers are paid, including this one',
    takes: ['count'],
    mayTake: [],
  },
  shared_account: {
    says: 'a bank account that a number of customers, including this one, are paid at or pay from',
    takes: ['count'],
    mayTake: [],
  },
  country_mismatch: { says: 'a phone of another country than the customer’s', takes: [], mayTake: [] },
} as const satisfies Record<string, { says: string; takes: readonly Param[]; mayTake: readonly Param[] }>;

export type Kind = keyof typeof KINDS;
/** Kinds that also check an order when its payout or refund is written: only then is the account of a refund known. */
export const OF_PAYOUTS: readonly Kind[] = ['shared_wallet', 'shared_account'];
export type Param = 'fiat' | 'days' | 'count' | 'worth' | 'withinBps';
export const PARAMS: readonly Param[] = ['fiat', 'worth', 'count', 'days', 'withinBps'];

/** A rule: its kind, and the parameters that the kind accepts. */
export interface RuleText {
  readonly kind: Kind;
  readonly fiat: string | null;
  readonly worthUnits: bigint | null;
  readonly count: number | null;
  readonly days: number | null;
  readonly withinBps: number | null;
}

export type Saw = Readonly<Record<string, string | number | readonly string[]>>;

/** The faults of a rule, by parameter; empty when it is valid. */
export function faultsOf({ kind, worthUnits, ...rest }: RuleText): Partial<Record<Param, string>> {
  const given: Readonly<Record<Param, unknown>> = { ...rest, worth: worthUnits };
  const { takes, mayTake }: { takes: readonly Param[]; mayTake: readonly Param[] } = KINDS[kind];
  const faults: Partial<Record<Param, string>> = {};
  for (const param of PARAMS) {
    const isGiven = given[param] !== null;
    if (!isGiven && takes.includes(param)) faults[param] = `is needed for ${kind}`;
    if (isGiven && ![...takes, ...mayTake].includes(param)) faults[param] = `means nothing for ${kind}`;
  }
  if (kind === 'velocity' && rest.count === null && worthUnits === null)
    faults.count = 'or worth must be given for velocity';
  return faults;
}

/** Maximum orders that a finding names. */
const MOST_NAMED = 20;
const DAY_MS = 86_400_000;
const BPS = 10_000n;

/** The evidence for this order; undefined when the rule does not match. */
export function judge(rule: RuleText, facts: Facts): Saw | undefined {
  return JUDGES[rule.kind](rule, facts);
}

const JUDGES: Readonly<Record<Kind, (rule: RuleText, facts: Facts) => Saw | undefined>> = {
  velocity(rule, facts) {
    const counted = within(rule, facts);
    const sum = counted.reduce((units, one) => units + one.worthUnits, 0n);
    const isMany = rule.count !== null && counted.length >= rule.count;
    const isMuch = rule.worthUnits !== null && sum >= rule.worthUnits;
    return facts.order.fiat === rule.fiat && (isMany || isMuch)
      ? saw(rule, counted, { worthUnits: String(sum) })
      : undefined;
  },
  structuring(rule, facts) {
    const limit = rule.worthUnits ?? 0n;
    // Rounded up: an order exactly on the edge counts.
    const from = (limit * (BPS - BigInt(rule.withinBps ?? 0)) + BPS - 1n) / BPS;
    const isBelow = ({ worthUnits }: Traded): boolean => worthUnits >= from && worthUnits < limit;
    const counted = within(rule, facts).filter(isBelow);
    const isFound = counted.length >= (rule.count ?? 0) && facts.order.fiat === rule.fiat && isBelow(facts.order);
    return isFound ? saw(rule, counted, { fromUnits: String(from), belowUnits: String(limit) }) : undefined;
  },
  first_large(rule, { order, isFirst }) {
    const isLarge = order.fiat === rule.fiat && order.worthUnits >= (rule.worthUnits ?? 0n);
    return isFirst && isLarge ? saw(rule, [order], { worthUnits: String(order.worthUnits) }) : undefined;
  },
  shared_wallet(rule, { order, othersAtWallet }) {
    const customers = othersAtWallet + 1;
    return othersAtWallet > 0 && customers >= (rule.count ?? 0) ? saw(rule, [order], { customers }) : undefined;
  },
  shared_account(rule, { order, atAccount: { customers: others, paid, paying } }) {
    const customers = others + 1;
    const counts = { customers, othersPaid: paid, othersPaying: paying };
    return others > 0 && customers >= (rule.count ?? 0) ? saw(rule, [order], counts) : undefined;
  },
  country_mismatch(rule, { order, country, phoneCountry }) {
    if (country === undefined || phoneCountry === undefined || country === phoneCountry) return undefined;
    return saw(rule, [order], { country, phoneCountry });
  },
};

/** Orders in the rule's fiat within its days, up to and including this one, which is last. */
function within({ fiat, days }: RuleText, { order, before }: Facts): Traded[] {
  const from = order.createdAt.getTime() - (days ?? 0) * DAY_MS;
  return [...before, order].filter((one) => one.fiat === fiat && one.createdAt.getTime() > from);
}

const saw = ({ kind }: RuleText, orders: readonly Traded[], more: Saw): Saw => ({
  ...{ kind, orders: orders.length },
  newest: orders.slice(-MOST_NAMED).map(({ orderId }) => String(orderId)),
  ...more,
});

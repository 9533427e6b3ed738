/**
 * Guard: the invariants of money at the moment it is submitted. It is part of the simulated rails, and uses neither our gate nor
 * any part of it.
 *
 * A submission is the commit of the transaction that marks a payout as being submitted. The rows that others have committed by
 * that moment are read there, together with its own, by one query in it (database.ts calls `submitting`). When a rail is then asked to send, those
 * rows and the environment's own knowledge (when the bank first showed a credit, how deep a transfer ever was, who owns an account,
 * what the screener was asked) decide whether the money may leave. A send without such a commit before it is a violation,
 * whatever else holds.
 *
 * Not here: whether it leaves twice, or more than was received (checks.ts); the expected ends (ends.ts).
 */
import type { Sending } from '../../src/rails/rail.ts';
import type { Looking } from './rules.ts';
import { blockOfCustomer, blockOfOrder, holdOfDeposit, killSwitch, type Stops } from './stops.ts';

/** Bank money can be reversed for this long, by the markets of ground.ts; and deposits from this sum on wait for more blocks. */
export const CLEARING_MS = 12_000;
export const CONFIRMATIONS = [
  { fromUnits: 0n, blocks: 2 },
  { fromUnits: 100_000_000n, blocks: 4 },
] as const;
/** Actions here need two people. */
export const PEOPLE = 2;

/** The committed rows when a payout was submitted. Amounts as text. */
export interface Submission {
  id: string;
  order_id: string | null;
  refund_id: string | null;
  purpose: string;
  rail: string;
  asset: string;
  units: string;
  address: string | null;
  fiat_account_id: string | null;
  /** The deposit that came from this account, if no other did. */
  sender_of?: string | null;
  deposit_units: string | null;
  payout_units: string | null;
  deposit_rail: string | null;
  follows: string | null;
  /** Of its order, or else the owner of the account that it goes to. */
  customer_id?: string | null;
  /** Of a refund. */
  deposit_id?: string | null;
  blocked_at: string | null;
  limit_units: string | null;
  switched_off: boolean;
  /** Law blocks its order, and has not released it. */
  stopped?: boolean;
  /** Of its order; a payout leaves only for an order that is being paid out. */
  order_state?: string | null;
  /** When it was committed, in milliseconds of the run's own time. */
  at: number;
  /** Entries of deny lists, and the newest limit across orders of a customer: where rules change (rules.ts). */
  denied?: readonly { list: string; entry: string }[];
  limits?: readonly string[];
  /** The value of its order in its fiat, and of its customer's earlier orders that count. */
  worth?: string | null;
  others?: string | null;
  /** It was made after law had blocked the order that it follows, in the order of their entries: both lock that order first. */
  after_block?: boolean;
  deposits: readonly { name: string; rail: string; units: string; state: string; origin: string; taken: string }[];
  approvals: readonly {
    id?: string;
    rule: string;
    entry: string;
    destination: string;
    asset: string;
    units: string;
    order_id: string | null;
    people: readonly string[];
  }[];
}

/** The environment's own knowledge. */
export interface Truth {
  /** Of an order that a customer made: undefined if its maker never received an answer. */
  customerOf(orderId: string):
    | {
        /** Addresses that the customer has named. */
        named: readonly string[];
        /** Addresses that only an operator has named. */
        operators: readonly string[];
        accounts: readonly { id: string; fiat: string }[];
        /** The provider holds it, until operators decide otherwise. */
        held: boolean;
      }
    | undefined;
  /** When the bank first showed us this credit, in milliseconds; undefined if it never did. */
  firstShown(line: string): number | undefined;
  /** Maximum depth that this transfer ever had, in blocks, itself included. */
  deepest(hash: string): number;
  /** @param of the order, or a refund without an order */
  wasScreened(of: string | null, destination: string): boolean;
  now(): number;
  /** Maximum difference that our processes' clocks ever had. */
  spreadMs(): number;
  /** Violations by money of this order leaving for this destination now, if people take further actions (moves.ts). */
  mayPay?(orderId: string, destination: string, spreadMs: number, isRefund: boolean): string | undefined;
  /** The same for rules that operators have changed (rules.ts). */
  byRules?(one: Submission, of: Pick<Looking, 'destination' | 'approved'>): readonly string[];
  /** What people have laid, as they know it; undefined where a restore may have lost it. */
  stops?: Pick<Stops, 'since' | 'covers'> | undefined;
}

const FACTS = `
  select p.id, p.order_id::text, p.refund_id::text, p.purpose, p.rail, p.asset, p.units::text, p.address,
         p.fiat_account_id::text, (select d.external_id from fiat_accounts f join deposits d on d.id = f.sender_of
           where f.id = p.fiat_account_id) as sender_of, o.deposit_units::text, o.payout_units::text, o.deposit_rail, o.follows::text,
         c.id as customer_id, (select r.deposit_id::text from refunds r where r.id = p.refund_id) as deposit_id,
         to_char(c.blocked_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as blocked_at,
         (select l.max_units::text from market_limits l where l.market_id = o.market_id and l.level >= c.level
           order by l.level limit 1) as limit_units,
         exists (select from kill_switches s where s.kind = 'payouts' or (s.kind = 'rail' and s.subject = p.rail)) as switched_off,
         o.state as order_state, case when o.deposit_asset = o.fiat_asset then o.deposit_units else o.gross_units end::text as worth,
         (select sum(case when b.deposit_asset = b.fiat_asset then b.deposit_units else b.gross_units end)::text from orders b
           where b.customer_id = o.customer_id and b.fiat_asset = o.fiat_asset and (b.created_at, b.id) < (o.created_at, o.id)
             and b.state not in ('expired', 'cancelled', 'refunded')) as others,
         (select coalesce(json_agg(json_build_object('list', d.list, 'entry', d.list || ':' || encode(d.index, 'hex'))), '[]')
            from denied_destinations d) as denied,
         (select coalesce(json_agg(l.max_units::text), '[]') from (
            select max_units from customer_limits order by version desc limit 1) l where l.max_units is not null) as limits,
         coalesce(o.state = 'frozen' and not exists (select from entries e where e.id = 'ord_' || o.id || ':released'), false)
           as stopped,
         coalesce((select max(made.seq) > max(stopped.seq) from orders f
            join entries stopped on stopped.order_id = f.id and stopped.kind = 'move_to_blocked'
            join entries made on made.order_id = o.id and made.kind = 'receive'
           where f.id = o.follows and f.state = 'frozen'
             and not exists (select from entries e where e.id = 'ord_' || f.id || ':released')), false) as after_block,
         (select coalesce(json_agg(json_build_object('name', d.external_id, 'rail', d.rail, 'units', d.units::text,
                   'state', d.state, 'origin', d.origin, 'taken', d.taken_units::text) order by d.id), '[]')
            from deposits d
           where case when p.refund_id is null then d.order_id = p.order_id and d.taken_units > 0
                      else d.id = (select r.deposit_id from refunds r where r.id = p.refund_id)
                        -- What came back, what law let go and what is paid back of fees is made of what its order took.
                        or (d.order_id = p.order_id and d.origin = 'rail' and d.taken_units > 0 and d.state <> 'lost'
                            and exists (select from refunds r join deposits own on own.id = r.deposit_id
                                         where r.id = p.refund_id and own.origin <> 'rail')) end) as deposits,
         (select coalesce(json_agg(json_build_object('id', a.id::text, 'rule', a.rule, 'entry', a.entry, 'destination', a.destination,
                   'asset', a.asset, 'units', a.units::text, 'order_id', a.order_id::text, 'people', a.people) order by a.id), '[]')
            from approvals a where a.order_id = p.order_id or (p.order_id is null and a.order_id is null
             and a.deposit_id = (select r.deposit_id from refunds r where r.id = p.refund_id))) as approvals
    from payouts p left join orders o on o.id = p.order_id left join customers c on c.id = coalesce(o.customer_id,
         (select f.customer_id from fiat_accounts f where f.id = p.fiat_account_id))
   where p.id = any($1)`;

/** Rows as text, by the names of their columns. */
export type Look = (text: string, values: unknown[]) => Promise<unknown[]>;

export interface Guard {
  /** In the commit that submits these payouts, before it takes effect. */
  submitting(ids: readonly string[], look: Look): Promise<void>;
  /** A rail is asked to send. */
  sends(rail: string, sending: Sending): void;
  /** The treasury asks the chain to send, without a payout: to an own address (own.ts), or to fill a gap. */
  moves(sending: Pick<Sending, 'units' | 'destination'>): void;
  /** Money leaves by this key, or from our wallet to this address: a process must have requested it. */
  leaves(what: { key: string } | { to: string; contract: string; units: bigint }): void;
  /** Bad clocks: how far this one is off, in milliseconds. */
  clockIsOff(ms: number): void;
  readonly spreadMs: number;
  /** Number of checked submissions. */
  readonly looked: number;
}

export function openGuard(deps: {
  truth: Truth;
  /** Called with every payment that left, or would have, against a rule. */
  violated: (what: string) => void;
  /** Called with every submission that a rail was asked for. */
  submitted: (submission: Submission) => void;
}): Guard {
  const { truth, violated } = deps;
  const submissions = new Map<string, Submission & { sent: boolean }>();
  const asked = new Set<string>();
  const sent = new Set<string>();
  let [earliest, latest, looked] = [0, 0, 0];
  const payee = (to: string, units: bigint) => `${to} ${units}`;

  return {
    async submitting(ids, look) {
      for (const row of await submissionsOf(ids, look, truth)) submissions.set(row.id, { ...row, sent: false });
    },
    sends(rail, { key, units, destination }) {
      const one = submissions.get(key);
      if (destination.kind === 'address') asked.add(payee(destination.address, units));
      if (one === undefined || one.sent || one.rail !== rail)
        return violated(`${key} is sent ${one?.sent ? 'again ' : ''}without having been submitted`);
      one.sent = true;
      sent.add(key);
      looked += 1;
      deps.submitted(one);
      for (const why of against(one, truth)) violated(`${key} ${why}`);
    },
    moves({ units, destination }) {
      if (destination.kind === 'address') asked.add(payee(destination.address, units));
    },
    leaves(what) {
      if ('key' in what ? sent.has(what.key) : asked.has(payee(what.to, what.units))) return;
      violated(`${'key' in what ? what.key : `${what.units} to ${what.to}`} leaves and nobody was asked to send it`);
    },
    clockIsOff(ms) {
      earliest = Math.min(earliest, ms);
      latest = Math.max(latest, ms);
    },
    get spreadMs() {
      return latest - earliest;
    },
    get looked() {
      return looked;
    },
  };
}

/** The committed rows of payouts at this moment. */
export const submissionsOf = async (
  ids: readonly string[],
  look: Look,
  truth: Pick<Truth, 'now'>,
): Promise<Submission[]> => ((await look(FACTS, [ids])) as Submission[]).map((row) => ({ ...row, at: truth.now() }));

/** All violations of this submission, in sentences. */
export function against(one: Submission, truth: Truth): string[] {
  const destination = one.address === null ? `account:${one.fiat_account_id}` : `address:${one.address}`;
  const isRefund = one.refund_id !== null;
  const units = BigInt(one.units);
  const fitting = one.approvals.filter(
    (by) =>
      by.destination === destination &&
      by.asset === one.asset &&
      by.order_id === one.order_id &&
      BigInt(by.units) >= units &&
      new Set(by.people).size >= PEOPLE,
  );
  const approved = (rule: string, entry: string): boolean =>
    fitting.some((by) => by.rule === rule && by.entry === entry);
  const isCovered = (rule: string, since: number): boolean =>
    fitting.some((by) => by.rule === rule && truth.stops?.covers(by.id ?? '', since));
  const customer = one.order_id === null ? undefined : truth.customerOf(one.follows ?? one.order_id);
  const limit = one.limit_units;
  const found: (string | false)[] = [
    one.switched_off && 'leaves although a kill switch is on',
    !isRefund &&
      one.order_state != null &&
      one.order_state !== 'paying_out' &&
      `leaves when its order is ${one.order_state}`,
    one.stopped === true && 'leaves although law blocks its order',
    one.after_block === true && 'leaves for an order that was made of money beside one that law blocks',
    one.blocked_at !== null &&
      !approved('customer_blocked', one.blocked_at) &&
      'leaves although its customer is blocked',
    !isRefund &&
      limit !== null &&
      BigInt(one.deposit_units ?? 0) > BigInt(limit) &&
      !approved('over_level_limit', limit) &&
      `leaves although its order of ${one.deposit_units} is above the limit of ${limit}`,
    !isRefund &&
      customer?.held === true &&
      !approved('held_by_magic_value', '') &&
      'leaves although screening holds it',
    !truth.wasScreened(one.order_id ?? one.refund_id, destination) &&
      `leaves to ${destination}, which was never screened`,
    !isRefund &&
      units !== BigInt(one.payout_units ?? units) &&
      `is of ${units}, and its order pays ${one.payout_units}`,
    !isRefund && one.deposits.some(({ state }) => state === 'lost') && 'leaves although its deposit was reversed',
    one.order_id !== null && (truth.mayPay?.(one.order_id, destination, truth.spreadMs(), isRefund) ?? false),
    ...(truth.stops === undefined ? [] : stopped(one, truth.stops, isCovered)),
    ...(customer === undefined ? [] : [unfit(one, customer), ...unnamed(one, customer, approved)]),
    ...(truth.byRules?.(one, { destination, approved }) ?? []),
    ...one.deposits.filter(({ origin }) => origin === 'rail').map((deposit) => early(deposit, one, truth)),
  ];
  return found.filter((what) => what !== false);
}

/** Blocks, holds and kill switches in force, as their actors recorded them: an approval past a block covers none that was set later. */
function stopped(
  one: Submission,
  stops: NonNullable<Truth['stops']>,
  isCovered: (rule: string, since: number) => boolean,
): string[] {
  const { customer_id: customer, deposit_id: deposit, order_id: order, rail } = one;
  const block = customer == null ? undefined : stops.since(blockOfCustomer(customer));
  const stands = (what: string): boolean => stops.since(what) !== undefined;
  const found: (string | false)[] = [
    block !== undefined &&
      !isCovered('customer_blocked', block) &&
      `leaves although customer ${customer} was blocked, and nobody has let it pass since`,
    order !== null && stands(blockOfOrder(order)) && `leaves although people have blocked order ${order} by law`,
    deposit != null && stands(holdOfDeposit(deposit)) && `leaves although people hold deposit ${deposit}`,
    (stands(killSwitch('payouts', 'all')) || stands(killSwitch('rail', rail))) &&
      'leaves although people have stopped it',
  ];
  return found.filter((what) => what !== false);
}

type Customer = NonNullable<ReturnType<Truth['customerOf']>>;

function unfit(one: Submission, customer: Customer): string | false {
  if (one.rail.startsWith('bank.')) {
    // Whether it is the account that the deposit came from is checked at the bank (moves.ts).
    if (one.sender_of != null)
      return !one.deposits.some(({ name }) => name === one.sender_of) && `leaves to the sender of ${one.sender_of}`;
    const account = customer.accounts.find(({ id }) => id === one.fiat_account_id);
    if (account === undefined) return "leaves to an account that is not the customer's for this order";
    return account.fiat !== one.asset && `leaves in ${one.asset} to an account in ${account.fiat}`;
  }
  const { address } = one;
  if (address === null) return 'leaves on a chain without an address';
  return ![...customer.named, ...customer.operators].includes(address) && `leaves to ${address}, which nobody named`;
}

function unnamed(
  { address, refund_id }: Submission,
  { operators }: Customer,
  approved: (rule: string, entry: string) => boolean,
): string[] {
  if (address === null || refund_id === null || !operators.includes(address)) return [];
  return approved('destination_new', '') ? [] : [`leaves to ${address}, which fewer than ${PEOPLE} people named`];
}

function early(deposit: Submission['deposits'][number], one: Submission, truth: Truth): string | false {
  if (deposit.rail.startsWith('bank.')) {
    const shownAt = truth.firstShown(deposit.name);
    if (shownAt === undefined) return `is made of ${deposit.name}, which the bank never showed`;
    const ageMs = truth.now() - shownAt;
    return (
      ageMs + truth.spreadMs() < CLEARING_MS &&
      `leaves ${Math.round(ageMs)} ms after the bank showed ${deposit.name}, which clears after ${CLEARING_MS}`
    );
  }
  const [hash = ''] = deposit.name.split(':');
  // The parts that an order accepted must be as deep as if they were one deposit.
  const sum = one.deposits.reduce(
    (all, { rail, units, origin }) => (rail === deposit.rail && origin === 'rail' ? all + BigInt(units) : all),
    0n,
  );
  const needed = CONFIRMATIONS.findLast(({ fromUnits }) => sum >= fromUnits)?.blocks ?? 0;
  const deepest = truth.deepest(hash);
  return deepest < needed && `leaves when ${deposit.name} of ${sum} was ${deepest} deep, and ${needed} are asked for`;
}

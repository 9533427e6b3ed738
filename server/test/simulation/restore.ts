/**
 * Restore: the database of a run is replaced by an older copy of itself, while chain and bank keep their later events.
 *
 * At one moment all processes end and the database is copied; at a later one they end again, the copy takes its place, the
 * restore is recorded in it (backup/post-restore.ts), and processes start on it. Operators then follow docs/operating/backup.md
 * in its order: movements and debits are matched with the orders of the books or declared foreign, all payouts are released, and
 * orders that the books have lost are ended with the amounts that their customers paid and received. Until payouts are released
 * no other decision about orders is made. The partner's knowledge of a lost order from its webhooks is the customers' record
 * (actors.ts).
 *
 * Not here: the expected ends (ends.ts).
 *
 * Long because a restore is one closure: its steps share what was lost.
 */
import { markRestored } from '../../src/backup/index.ts';
import { closeCase } from '../../src/compliance/index.ts';
import { correctCase, refundDeposit } from '../../src/orders/index.ts';
import { liftKillSwitch } from '../../src/partners/index.ts';
import type { Hands, Noted } from './actors.ts';
import type { Chance } from './chance.ts';
import { leastTaken } from './ends.ts';
import { RAIL } from './outside.chain.ts';
import type { Environment } from './process.ts';

const BANK = 'bank.simulated';
const OPERATOR = 'operator:1';
/**
 * A payment that seems to have paid an order of the books is matched with that order's payout: until it matches, operators wait
 * this long.
 */
const UNMATCHED_MS = 8 * 60_000;
/** A lost order is examined once none of its money has moved for this long. */
const QUIET_MS = 90_000;
/** A transaction that the signer has signed and no miner includes is cancelled after this long. */
const UNMINED_MS = 60_000;

/** Two of each hundred seeds. */
export const restores = (seed: number): boolean => seed % 50 === 7;

export interface Restore {
  /** The copy is in place, and operators have not released payouts yet. */
  readonly isUnderWay: boolean;
  /** None of its steps is left. */
  readonly isOver: boolean;
  /** Actions taken now will be lost. */
  readonly isLosing: boolean;
  /** Orders missing in the books. */
  readonly lost: ReadonlySet<string>;
  /** Operators' actions to end it, with counts. */
  readonly ended: ReadonlyMap<string, number>;
  operate(): void;
}

interface Movement {
  id: string;
  state: string;
  wallet: string;
  hash: string | null;
  recipient: string | null;
  asset: string | null;
  units: string | null;
  succeeded: boolean | null;
  signed: boolean;
  cancelled: boolean;
}
interface Debit {
  line: string;
  key: string | null;
  asset: string;
  units: string;
}
/** A debit with a payout's own key. */
interface Settles {
  line: string;
  payout: string;
  otherAmount: boolean;
}
/** The common prefix of the keys of all attempts. */
const attemptsLike = (key: string | null): string | undefined => key?.replace(/[0-9]+$/, '');
interface Waits {
  id: string;
  rail: string;
  asset: string;
  units: string;
  address: string | null;
  account: string | null;
  /** Of an order made of another one's money. */
  follows: boolean;
  sent: boolean;
}
interface Case {
  id: string;
  kind: string;
  subject: string;
  asset: string | null;
  units: string | null;
  reference: string | null;
}
interface Given {
  id: string;
  rail: string;
  asset: string;
  target: string;
  reference: string;
  units: string;
  free: string;
  state: string;
}

// Long because a restore is one closure: its steps share what was lost.
export function openRestore(
  world: Environment,
  deps: {
    chance: Chance;
    database: {
      copy(): Promise<void>;
      adminUrl: string;
      serverUrl: string;
      older: { adminUrl: string; serverUrl: string };
    };
    /** Ends every process; each is started again after a while. */
    crashAll: () => Promise<void>;
    noted: () => readonly Noted[];
    hands: () => Hands | undefined;
    /** Whether this movement is decided elsewhere: it went to an address of the operator's own (own.ts). */
    matches: (movement: Movement) => boolean;
  },
): Restore {
  const { scheduler, backends, bank, chain, faults } = world;
  const { chance, database, noted } = deps;
  const ended = new Map<string, number>();
  let phase: 'before' | 'copied' | 'restored' | 'let go' | 'over' = 'before';
  let restoredAt = 0;
  let lost: ReadonlySet<string> = new Set();
  let movedAt = 0;
  let moved = '';

  const signedSeen = new Map<string, number>();
  /** Debits of the lost time that operators matched with a payout of the books, and the keys of their payments. */
  const matched = new Map<string, string | null>();

  const count = (what: string): void => void ended.set(what, (ended.get(what) ?? 0) + 1);
  const step = <T>(what: string, body: () => Promise<T>, then?: (value: T) => void): void =>
    void scheduler
      .perform(what, body)
      .then(then)
      .catch((error: unknown) => world.complain(what, error));

  scheduler.after(chance.int(20_000, 100_000), copy);

  function copy(): void {
    step('a backup is taken', async () => {
      // Balances of a chain from before it was ever followed are found by no restore.
      const [chainRow] = await backends.look<{ is: boolean }>(
        'select exists (select from chains where head_number is not null) as is',
      );
      if (chainRow?.is !== true) return scheduler.after(5_000, copy);
      await deps.crashAll();
      await backends.apart(async () => {
        await database.copy();
        return database;
      });
      phase = 'copied';
      scheduler.after(chance.int(10_000, 60_000), putBack);
    });
  }

  function putBack(): void {
    step('the backup is put back', async () => {
      await deps.crashAll();
      const now = new Date(scheduler.time.now());
      await backends.apart(async () => {
        await markRestored(database.older.adminUrl, { now });
        return database.older;
      });
      const known = new Set((await backends.look<{ id: string }>('select id::text from orders')).map(({ id }) => id));
      lost = new Set(noted().flatMap(({ order }) => (known.has(String(order.id)) ? [] : [String(order.id)])));
      chain.keepSent();
      restoredAt = scheduler.time.now();
      phase = 'restored';
    });
  }

  /** The owner of that account or address, as the partner knows it. */
  const ownerOf = (to: string | undefined): Noted | undefined =>
    to === undefined
      ? undefined
      : noted().find(
          ({ address, elsewhere, accounts }) =>
            to === address || to === elsewhere || accounts.some(({ number }) => number === to),
        );
  const paidBy = (key: string | null) => bank.payments.find((one) => one.key === key)?.account;
  const isLost = (one: Noted | undefined): boolean => one !== undefined && lost.has(String(one.order.id));

  async function looks() {
    const { look } = backends;
    const known = new Set<string | null | undefined>(
      (await look<{ id: string }>('select id from payouts')).map(({ id }) => id),
    );
    const booked = await look<{ line: string }>(
      `select external_id as line from bank_lines where rail = $1 and direction = 'debit' and meaning = 'payout'`,
      [BANK],
    );
    // A matched payment has paid a payout of the books: what banks keep of its return is that customer's part.
    for (const { line } of booked) known.add(matched.get(line));
    for (const payment of bank.payments) payment.isLost = !known.has(payment.key);
    return {
      movements: await look<Movement>(
        `select id::text, state, wallet, hash, recipient, asset, units::text, succeeded, signed,
                cancel_at is not null as cancelled
           from found_movements where state in ('unread', 'open') order by id`,
      ),
      debits: await look<Debit>(
        `select external_id as line, key, asset, units::text from bank_lines
          where rail = $1 and direction = 'debit' and meaning = 'unexplained' and foreign_at is null order by external_id`,
        [BANK],
      ),
      cameBack: new Set(
        (
          await look<{ reference: string }>(
            `select reference from deposits where order_id is null and state = 'suspense' and reference like 'ret-%'`,
          )
        ).map(({ reference }) => reference.replace(/^ret-/, '')),
      ),
      payouts: await look<Waits>(
        `select id, rail, asset, units::text, address, fiat_account_id::text as account,
                exists (select from chain_sends s where s.key = p.id) as sent,
                p.refund_id is null and exists (select from orders o where o.id = p.order_id and o.follows is not null) as follows
           from payouts p where ended_at is null order by id`,
      ),
      isRead:
        (
          await look<{ is: boolean }>(
            `select coalesce((select bool_and(n.looked_at > r.at) from chain_nonces n), false)
                    and coalesce((select bool_and(value::text::timestamptz > r.at) from bank_cursors b, jsonb_each_text(b.read_to)), false)
                    and not exists (select from jobs where kind = 'observe_rail' and last_error is not null) as is
               from (select max(restored_at) as at from restores) r`,
          )
        )[0]?.is === true,
    };
  }

  type Seen = Awaited<ReturnType<typeof looks>>;

  function decide({ movements, debits, payouts, isRead, cameBack }: Seen): void {
    const hands = deps.hands();
    if (hands === undefined) return;
    const isLate = scheduler.time.now() - restoredAt > UNMATCHED_MS;
    const taken = new Set<string>();
    for (const row of movements) {
      const movement = BigInt(row.id);
      if (row.state === 'unread' && row.signed) {
        const since = signedSeen.get(row.id) ?? scheduler.time.now();
        signedSeen.set(row.id, since);
        if (row.hash === null && !row.cancelled && scheduler.time.now() - since > UNMINED_MS)
          hands.inTx('cancel movement', async (tx, _, { movements: people }) => {
            await people.cancel(tx, movement);
            count('cancelled what nobody mined');
          });
      }
      if (row.state !== 'open' || deps.matches(row)) continue;
      const one = ownerOf(row.recipient ?? undefined);
      const fits = payouts.filter(
        (payout) =>
          payout.rail === RAIL &&
          payout.asset === row.asset &&
          payout.address === row.recipient &&
          !payout.sent &&
          !taken.has(payout.id),
      );
      const to = fits.find(({ units }) => units === row.units) ?? fits[0];
      if (row.succeeded === true && to !== undefined) {
        taken.add(to.id);
        const otherAmount = to.units !== row.units;
        hands.inTx('match movement', async (tx, _, { movements: people }) => {
          await people.match(tx, { movement, key: to.id, otherAmount });
          count(otherAmount ? 'matched with another amount' : 'matched');
        });
        continue;
      }
      const isOurs = row.succeeded === true && one !== undefined && !isLost(one);
      if (isOurs && !isLate) {
        hands.again(one, String(row.asset), { address: String(row.recipient) });
        continue;
      }
      hands.inTx('movement is foreign', async (tx, _, { movements: people }) => {
        await people.foreign(tx, movement);
        count(isOurs ? 'foreign, of an order of the books' : 'foreign');
      });
    }
    for (const row of debits) {
      const one = ownerOf(paidBy(row.key));
      const fits = payouts.filter(
        (payout) =>
          payout.rail === BANK &&
          payout.asset === row.asset &&
          (payout.id === row.key ||
            (attemptsLike(payout.id) === attemptsLike(row.key) && !cameBack.has(row.key ?? '')) ||
            ((payout.units === row.units || (payout.follows && row.key?.startsWith('pay_') === true)) &&
              one?.accounts.some(({ id }) => String(id) === payout.account) === true)) &&
          !taken.has(payout.id),
      );
      const to = fits.find(({ id }) => id === row.key) ?? fits.find(({ units }) => units === row.units) ?? fits[0];
      if (to !== undefined) {
        taken.add(to.id);
        matched.set(row.line, row.key);
        settleBy(hands, { line: row.line, payout: to.id, otherAmount: to.units !== row.units });
        continue;
      }
      // A returned payment has paid no one.
      const isOurs = one !== undefined && !isLost(one) && !cameBack.has(row.key ?? '');
      if (isOurs && !isLate) {
        const account = one.accounts.find(({ number }) => number === paidBy(row.key));
        hands.again(one, row.asset, { fiatAccountId: account?.id });
        continue;
      }
      hands.inTx('debit is foreign', async (tx, _, { movements: people }) => {
        await people.debitForeign(tx, { rail: BANK, line: row.line });
        count(isOurs ? 'debit foreign, of an order of the books' : 'debit foreign');
      });
    }
    const isQuiet = bank.idle && !chain.waiting.some((what) => what.includes('with nonce'));
    if (movements.length > 0 || debits.length > 0 || !isRead || !isQuiet) return;
    // The last block before the restore is final by then.
    if (scheduler.time.now() - restoredAt < QUIET_MS) return;
    // A process that ends before the commit has lifted nothing: the next look does it again.
    const committed = (): void => {
      if (phase !== 'restored') return;
      phase = 'let go';
      count('let go');
    };
    hands.inTx(
      'let go after the restore',
      async (tx) => {
        for (const [kind, subject] of [
          ['payouts', 'all'],
          ['rail', RAIL],
        ] as const)
          await liftKillSwitch(tx, kind, subject);
      },
      { committed },
    );
  }

  function settleBy(hands: Hands, { line, payout, otherAmount }: Settles): void {
    hands.somewhere('settle by line', async ({ movements: people }) => {
      await people.settleBy({ payout, rail: BANK, by: { line }, otherAmount });
      count(otherAmount ? 'settled by a line of another amount' : 'settled by a line');
    });
  }

  async function looksAtLost() {
    const { look } = backends;
    return {
      // Created again only after operators had declared that the debit was none of ours.
      settles: await look<Settles>(
        `select l.external_id as line, p.id as payout, l.units <> p.units as "otherAmount" from bank_lines l
           join payouts p on p.rail = l.rail and p.id = l.key and p.ended_at is null
          where l.direction = 'debit' and l.meaning = 'unexplained' order by l.external_id`,
      ),
      cases: await look<Case>(
        `select id::text, kind, subject, facts ->> 'asset' as asset, facts ->> 'units' as units, facts ->> 'reference' as reference
           from cases where closed_at is null and kind in ('unexplained_debit', 'refund_short', 'deposit_unknown_target')
          order by id`,
      ),
      given: await look<Given>(
        `select id::text, rail, asset, target, reference, units::text, (units - taken_units - refund_units)::text as free, state
           from deposits where order_id is null order by id`,
      ),
      paidTo: new Map(
        (
          await look<{ hash: string; recipient: string }>(
            `select hash, recipient from found_movements where recipient is not null and hash is not null`,
          )
        ).map(({ hash, recipient }) => [hash, recipient]),
      ),
      keyOf: new Map(
        (
          await look<{ line: string; key: string }>(
            `select external_id as line, key from bank_lines where rail = $1 and direction = 'debit' and key is not null`,
            [BANK],
          )
        ).map(({ line, key }) => [line, key]),
      ),
    };
  }

  type Lost = Awaited<ReturnType<typeof looksAtLost>>;

  /** Of a bank's debit. */
  const keyOf = ({ subject }: Case, seen: Lost) => seen.keyOf.get(subject.slice(subject.indexOf(':') + 1));

  /** The recipient of an unexplained debit. */
  function wentTo({ subject }: Case, { paidTo, keyOf }: Lost): string | undefined {
    const name = subject.slice(subject.indexOf(':') + 1);
    return subject.startsWith(`${RAIL}:`) ? paidTo.get(name.split(':')[0] ?? '') : paidBy(keyOf.get(name) ?? null);
  }

  function endLost(seen: Lost): void {
    const hands = deps.hands();
    if (hands === undefined) return;
    for (const one of seen.settles) settleBy(hands, one);
    const debits = seen.cases.filter(({ kind }) => kind === 'unexplained_debit');
    for (const one of debits.filter(({ subject }) => subject.endsWith(':coin'))) correct(hands, one, 'fee');
    if (!faults.ended || !bank.idle || chain.waiting.length > 0) return;
    if (seen.cases.some(({ kind }) => kind === 'refund_short')) return hands.fund();
    // No action on a lost order begins before all of its payments have been shown.
    const now = JSON.stringify([debits, seen.given]);
    if (now !== moved) [moved, movedAt] = [now, scheduler.time.now()];
    if (scheduler.time.now() - movedAt < QUIET_MS) return;
    const free = seen.given.filter(({ state, free: units }) => state === 'suspense' && BigInt(units) > 0n);
    for (const one of noted()) {
      const own = debits.filter((debit) => !debit.subject.endsWith(':coin') && ownerOf(wentTo(debit, seen)) === one);
      for (const back of free) {
        const key = back.reference.replace(/^ret-/, '');
        if (ownerOf(paidBy(key)) !== one) continue;
        // A payment that was returned for an order of the books counts as none; for a lost order its customer still has to
        // receive it.
        const debit = isLost(one) ? undefined : own.find((debit) => keyOf(debit, seen) === key);
        if (debit === undefined) startRefund(hands, one, back, BigInt(back.free), 1);
        else correct(hands, debit, 'lost_order', BigInt(back.id));
      }
      if (!isLost(one)) {
        for (const debit of own)
          if (!free.some(({ reference }) => reference === `ret-${keyOf(debit, seen)}`)) close(hands, debit);
        continue;
      }
      const { depositAsset, payoutAsset, depositTarget } = one.order;
      const left = Map.groupBy(own, ({ asset }) => (asset === payoutAsset ? depositAsset : String(asset)));
      const given = Map.groupBy(
        seen.given.filter(({ target }) => target === depositTarget),
        ({ asset }) => asset,
      );
      for (const asset of new Set([...left.keys(), ...given.keys()]))
        endLostOrder(hands, seen, one, left.get(asset) ?? [], given.get(asset) ?? []);
    }
    if (debits.length === 0 && free.length === 0) phase = 'over';
  }

  /** Paid and received amounts of an order, in one asset and the asset it buys. The excess is refunded first. */
  function endLostOrder(hands: Hands, seen: Lost, one: Noted, debits: readonly Case[], given: readonly Given[]): void {
    const free = given.filter((row) => row.state === 'suspense' && BigInt(row.free) > 0n);
    const first = given.find(({ state }) => state === 'applied');
    if (first !== undefined) {
      for (const debit of debits) correct(hands, debit, 'lost_order', BigInt(first.id));
      for (const row of free) {
        const found = seen.cases.find(({ subject }) => subject === `deposit:${row.id}`);
        if (found !== undefined)
          correct(hands, { ...found, units: row.free, reference: row.reference }, 'lost_order', BigInt(first.id));
      }
      return;
    }
    // Of a bank's debit its case also names the charge.
    const unitsOf = (debit: Case): bigint =>
      bank.payments.find(({ key }) => key === keyOf(debit, seen))?.units ?? BigInt(debit.units ?? 0);
    const sum = (of: readonly Case[]) => of.reduce((all, debit) => all + unitsOf(debit), 0n);
    const paid = sum(debits.filter(({ asset }) => asset === one.order.payoutAsset));
    const taken = paid === 0n ? 0n : leastTaken([...one.terms.values()], paid);
    const need = taken + sum(debits.filter(({ asset }) => asset !== one.order.payoutAsset));
    let over = free.reduce((all, row) => all + BigInt(row.free), 0n) - need;
    for (const row of free.toReversed()) {
      if (over <= 0n) break;
      const units = BigInt(row.free) < over ? BigInt(row.free) : over;
      startRefund(hands, one, row, units, 0);
      over -= units;
    }
    const [debit, deposit] = [debits[0], free[0]];
    if (debit === undefined || free.reduce((all, row) => all + BigInt(row.free), 0n) > need) return;
    if (deposit === undefined) for (const each of debits) close(hands, each);
    else correct(hands, debit, 'lost_order', BigInt(deposit.id));
  }

  function correct(hands: Hands, one: Case, as: 'fee' | 'lost_order', deposit?: bigint): void {
    hands.inTx(`correct as ${as}`, async (tx, now, { context }) => {
      await correctCase(context, tx, {
        ...{ case: BigInt(one.id), as, evidence: one.reference ?? '', units: BigInt(one.units ?? 0) },
        ...(deposit === undefined ? {} : { deposit }),
        ...{ by: `${OPERATOR}, operator:2`, now },
      });
      count(as);
    });
  }

  /** None of its payment is still there: it stays the booked loss. */
  function close(hands: Hands, one: Case): void {
    hands.inTx('close a case', async (tx, now) => {
      await closeCase(tx, { id: BigInt(one.id), outcome: 'a loss: what was given was reversed', by: OPERATOR, now });
      count('closed as a loss');
    });
  }

  function startRefund(hands: Hands, one: Noted, row: Given, units: bigint, account: 0 | 1): void {
    const to =
      row.rail === BANK
        ? { fiatAccountId: one.accounts.filter(({ fiat }) => fiat === row.asset).at(account === 1 ? -1 : 0)?.id }
        : { address: one.address };
    hands.inTx('refund of a lost order', async (tx, now, { context }) => {
      await refundDeposit(context, tx, {
        ...{ depositId: BigInt(row.id), units, to, by: OPERATOR, people: [OPERATOR, 'operator:2'], why: 'lost', now },
      });
      count('refunded');
    });
  }

  return {
    get isUnderWay() {
      return phase === 'restored';
    },
    get isOver() {
      return phase === 'over';
    },
    get isLosing() {
      return phase === 'copied';
    },
    get lost() {
      return lost;
    },
    ended,
    operate() {
      if (phase === 'restored') step('the operator looks at what was restored', looks, decide);
      if (phase === 'let go') step('the operator looks at lost orders', looksAtLost, endLost);
    },
  };
}

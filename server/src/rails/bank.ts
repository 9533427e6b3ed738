/**
 * The bank engine: everything that all banks share. An adapter provides the calls of one bank.
 *
 * Only the statement counts as evidence: a webhook merely wakes the poller, and the answer to a payment order merely says
 * that the bank accepted it. The statement is read from a stored cursor. Banks show lines twice, late, in another order, and
 * from the beginning again, so every line is stored under the bank's own id, and only a new line becomes a fact.
 *
 *   credit  own funding               → funding_confirmed
 *           return of one of our payouts → payout_returned    (and payout_settled first, if the debit was never shown)
 *           anything else             → deposit_confirmed, target = the reference found in its text, or ''
 *   debit   first one with a payout's key, same amount → payout_settled
 *           one that reverses a deposit of ours → deposit_reversed
 *           anything else             → unexplained_debit, also a second debit for one payout
 *
 * A line that cannot be booked as it is (no readable or positive amount, a currency we do not keep there, different from what
 * we booked under that id) is set aside, encrypted, and reported as `line_refused` once; reading continues with the next
 * line.
 *
 * What customers write into references may name people: free text and counterparties are encrypted here and stored nowhere
 * else.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert, Refusal, Unavailable } from '../base/errors.ts';
import { enqueue } from '../base/jobs.ts';
import type { Log } from '../base/log.ts';
import type { AssetCode } from '../base/money.ts';
import { isMadeSince, lastRestore, msSinceLost, wasRestored } from './ahead.store.ts';
import {
  type BankLine,
  cursorAgeMs,
  doubtfulDebits,
  explainLine,
  hasLine,
  insertLine,
  insertOddLine,
  type LineMeaning,
  lockDebit,
  lockUnexplained,
  markForeign,
  moveCursor,
  noteReadTo,
  readCursor,
  readDetails,
  readLine,
  readToOf,
  type UnexplainedLine,
} from './bank.store.ts';
import { countsForMs } from './payouts.repeat.ts';
import { findPayout, notePaidUnits, payoutByKey, requireOtherAmount } from './payouts.ts';
import {
  type FollowOn,
  type Movement,
  OBSERVE,
  type Payee,
  type PayoutStatus,
  type Rail,
  type RailFact,
  type Report,
  type Sending,
  type Sent,
} from './rail.ts';
import { findReference, makeReference } from './reference.ts';

export interface BankAdapter {
  /** The rail's code, such as `bank.simulated`. */
  readonly code: string;
  /**
   * For how long the bank promises that two payment orders under one key are one payment, in milliseconds; 0 without such a
   * promise, or if it states no duration. Never more than it states, and never Infinity. See Rail.deduplicatesForMs.
   */
  readonly deduplicatesForMs: number;
  /** The currencies of the account in the bank's spelling, and our assets for them: `{ INR: 'inr' }`. */
  readonly currencies: Readonly<Record<string, AssetCode>>;
  /** For a bank that does not allow our references: its own way to make and find them. */
  readonly references?: { make(index: bigint): string; find(text: string): string };

  /** Our account in this currency, as shown to customers. */
  payee(asset: AssetCode): Payee | undefined;

  /**
   * A page of the statement after a cursor, oldest first as far as the bank manages.
   * @param cursor '' for the beginning, else the cursor of the previous page
   * @throws Unavailable
   */
  statement(cursor: string): Promise<StatementPage>;
  /** See Rail.send. One try without retries underneath: a client that retries by itself pays twice. */
  send(sending: Sending): Promise<Sent>;
  /** See Rail.status: `absent` only if the bank's answer proves it. */
  status(key: string): Promise<PayoutStatus>;
  /** @throws Unavailable */
  balance(asset: AssetCode): Promise<bigint>;
  /**
   * For a bank whose statements people upload: whether they have confirmed that these show everything paid before the last
   * restore. If absent, the statement must be read up to that time.
   */
  isShown?(tx: Tx): Promise<boolean>;
}

export interface StatementPage {
  lines: readonly StatementLine[];
  cursor: string;
  more: boolean;
  /**
   * Up to which time these lines and earlier ones are complete, per asset of ours. Absent if the statement is current for all
   * assets at the time of the call.
   */
  readTo?: Readonly<Record<AssetCode, Date>>;
}

export interface StatementLine {
  /** The bank's own id of the line; the same however often it is shown. */
  externalId: string;
  direction: 'credit' | 'debit';
  /** In the bank's spelling. */
  currency: string;
  /** Smallest units; null when the adapter could not read the amount. */
  units: bigint | null;
  /** What the bank charged in addition to a debit. */
  chargeUnits?: bigint;
  /** The bank's reference for display: a UTR, an end-to-end id. No names. */
  reference: string;
  /** When the bank booked it. With `bookedOn`, the beginning of that day, or of the value date if there is no other. */
  bookedAt: Date;
  /** The bank gives a day without a time, or not even the day of booking. */
  bookedOn?: 'day' | 'unknown';
  /** Debit: the key of its payout, as the bank carried it. */
  key?: string;
  /** Credit: the key of the returned payout, and the bank's reason code. */
  returnOf?: { key: string; why: string };
  /** A debit that recalls an earlier credit: that line's id, and why. */
  recallOf?: { externalId: string; why: string };
  /** Credit: the operator's own money, recognised by the adapter. */
  funding?: boolean;
  /** All free text: remittance text, name and account of the other party. Encrypted on arrival here. */
  free: { text?: string; name?: string; account?: string };
}

/** A bank as an installation configures it; opening it gives a rail. */
export interface Bank {
  /** The rail's code. */
  readonly code: string;
  /** Our assets there, and the bank's name of each currency. */
  readonly accounts: readonly { readonly asset: AssetCode; readonly currency: string }[];
  open(context: BankContext): ReturnType<typeof bankRail>;
}

export interface BankContext {
  db: Database;
  clock: Clock;
  log: Log;
  report: Report;
  vault: Vault;
  /** How often to read the statement without a wake-up, in milliseconds. */
  pollMs?: number;
  unreadAtMostMs?: number;
}

/** The bank's one account with us: money arrives in it and leaves from it. */
const WALLET = 'main';
const POLL_MS = 2_000;
/** One read is a job with a lease of 20 s: the next one reads the remaining lines at once. */
const LOOK_MS = 8_000;
/** After this a statement counts as stale, unless the bank is polled even less often. */
const STALE_MS = 60_000;
/** A read that found nothing new is written down this often. */
const NOTED_EVERY_MS = 2_000;
const DAY_MS = 86_400_000;
const LONGEST_ID = 200;
const LONGEST_REFERENCE = 140;
/** Columns are numeric(78,0). No account holds this much. */
const ABSURD_UNITS = 10n ** 60n;

const referencesOf = ({ references }: BankAdapter) => references ?? { make: makeReference, find: findReference };

/** A bank as a rail. `wake` is for a webhook: it makes the next read due now, and trusts none of the webhook's content. */
export function bankRail(adapter: BankAdapter, context: BankContext): Rail & { wake(tx: Tx): void } {
  const { db } = context;
  const pollMs = context.pollMs ?? POLL_MS;
  const references = referencesOf(adapter);
  const take = readerOf(adapter, context);
  const { deduplicatesForMs } = adapter;
  assert(
    deduplicatesForMs >= 0 && Number.isFinite(deduplicatesForMs),
    `${adapter.code} recognises keys for a stated time`,
  );
  /** When this process last wrote how far it has read. */
  let notedAt = Number.NEGATIVE_INFINITY;

  return {
    code: adapter.code,
    kind: 'bank',
    deduplicatesForMs,
    wallets: { deposits: WALLET, payouts: WALLET },
    instructions: (index) => ({ target: references.make(index) }),
    payee: (asset) => adapter.payee(asset),
    send: (sending) => sendOnce(sending),
    status: (key) => adapter.status(key),
    readTo: (tx, asset) => readToOf(tx, adapter.code, asset),

    async mayHavePaid(tx, { id, payoutAsset: asset, payoutUnits: units, createdAt, follows }) {
      const restoredAt = await lastRestore(tx);
      if (restoredAt === undefined) return undefined;
      const followOn = follows === null ? undefined : { madeAt: createdAt };
      const debits = await doubtfulDebits(tx, adapter.code, { asset, units, keys: `pay_${id}_`, followOn });
      if (debits.length > 0) return 'undecided';
      // A payout created since the restore has not been paid; that of a follow-on order may have been, by an order that is
      // lost.
      if (createdAt > restoredAt && followOn === undefined) return undefined;
      const isShown =
        adapter.isShown === undefined
          ? ((await readToOf(tx, adapter.code, asset)) ?? new Date(0)) >= restoredAt
          : await adapter.isShown(tx);
      return isShown ? undefined : 'unread';
    },

    async doubtful(tx, { key, asset, units, followOn }) {
      if (!(await wasRestored(tx))) return undefined;
      // The bank may have paid by another attempt at the same, which is lost: people say so first.
      const keys = attemptsLike(key);
      const lines = await doubtfulDebits(tx, adapter.code, { asset, units, keys, own: key, followOn });
      const fitting =
        followOn === undefined ? lines.filter((line) => line.key?.startsWith(keys) || line.units === units) : lines;
      // A debit with exactly this key and amount settles the payout when it is sent.
      if (fitting.filter((line) => line.key === key && line.units === units).length === 1) return undefined;
      return fitting[0]?.externalId;
    },
    ...(context.unreadAtMostMs === undefined ? {} : { unreadAtMostMs: context.unreadAtMostMs }),

    async balance(wallet, asset) {
      assert(
        wallet === WALLET && Object.values(adapter.currencies).includes(asset),
        `${adapter.code} holds no ${asset} in ${wallet}`,
      );
      return await adapter.balance(asset);
    },

    /** One page of the statement, with what it shows now, whatever it showed when a line was booked. */
    async movements(after) {
      const { lines, cursor, more } = await adapter.statement(after);
      const movements = lines.flatMap(movementOf);
      return { movements, upTo: cursor, at: new Date(), more: more && cursor !== after };
    },

    async holdings(at) {
      const assets = [...new Set(Object.values(adapter.currencies))];
      const asked = await Promise.allSettled(assets.map((asset) => adapter.balance(asset)));
      const found = asked.flatMap((answer, n) => {
        if (answer.status === 'fulfilled') return [{ wallet: WALLET, asset: assets[n] ?? '', units: answer.value }];
        // A bank whose statements carry no balance is compared by its lines alone. A bank that is down throws below.
        if (answer.reason instanceof Unavailable) return [];
        throw answer.reason;
      });
      // Balances have no cursor: they belong to this position of the statement if nothing has come after it.
      const since = await adapter.statement(at);
      return since.lines.length === 0 ? found : undefined;
    },

    async observe() {
      const until = Date.now() + LOOK_MS;
      let cursor = await db.asSystem((tx) => readCursor(tx, adapter.code));
      while (Date.now() < until) {
        const askedAt = context.clock.now();
        const page = await adapter.statement(cursor);
        const before = cursor;
        // One transaction per line, and the cursor moves when all are taken, so that it never passes an untaken line; a line
        // taken before is recognised. One transaction for all lines would lock one order after another order's accounts, and
        // deadlock with a worker on that order.
        for (const line of page.lines) await db.asSystem((tx) => take(tx, line));
        const isNew = page.lines.length > 0 || page.cursor !== before || page.readTo !== undefined;
        if (!isNew && !page.more && performance.now() - notedAt < NOTED_EVERY_MS) return { againInMs: pollMs };
        notedAt = performance.now();
        await db.asSystem(async (tx) => {
          await moveCursor(tx, adapter.code, before, page.cursor);
          if (!page.more)
            await noteReadTo(tx, adapter.code, page.readTo ?? asNewAs(askedAt), page.readTo !== undefined);
        });
        cursor = page.cursor;
        if (!page.more) return { againInMs: pollMs };
        if (cursor === before) {
          context.log.warn({ rail: adapter.code }, 'the bank says there is more and moves no cursor');
          return { againInMs: pollMs };
        }
      }
      return { againInMs: 0 };
    },

    async health() {
      const ageMs = await db.asSystem((tx) => cursorAgeMs(tx, adapter.code));
      const healthy = ageMs !== null && ageMs <= Math.max(STALE_MS, 5 * pollMs);
      return {
        healthy,
        ageMs,
        ...(healthy ? {} : { why: ageMs === null ? 'statement never read' : 'statement not read for too long' }),
      };
    },

    async payerOf(tx, externalId) {
      const encrypted = await readDetails(tx, adapter.code, externalId);
      if (encrypted === undefined) return undefined;
      const { name, account, text } = JSON.parse(
        context.vault.decrypt(encrypted, `bank_lines.details:${adapter.code}:${externalId}`),
      ) as StatementLine['free'];
      return { name, account, text };
    },

    wake: (tx) => enqueue(tx, { kind: OBSERVE, subject: adapter.code, dueAt: context.clock.now() }),
  };

  function asNewAs(at: Date): Record<AssetCode, Date> {
    return Object.fromEntries(Object.values(adapter.currencies).map((asset) => [asset, at]));
  }

  /**
   * After a restore the bank may have paid what these books have not sent. Its statement may have shown it before the payout
   * was created again; a bank that may not recognise the keys of the lost time is asked first.
   */
  async function sendOnce(sending: Sending): Promise<Sent> {
    const { key } = sending;
    const { paid, isOlder } = await db.asSystem(async (tx) => ({
      paid: await explainByKey(tx, adapter.code, key, context.report),
      isOlder: ((await msSinceLost(tx)) ?? -1) >= countsForMs(deduplicatesForMs),
    }));
    if (paid) return { outcome: 'submitted' };
    if (!isOlder) return await adapter.send(sending);
    const there = await adapter.status(key);
    if (there.outcome === 'known')
      return { outcome: 'submitted', ...(there.reference === undefined ? {} : { reference: there.reference }) };
    return there.outcome === 'absent' ? await adapter.send(sending) : there;
  }

  /** A line with an unreadable amount moves nothing here: the balance then shows that something is missing. */
  function movementOf(line: StatementLine): Movement[] {
    const asset = adapter.currencies[line.currency];
    if (asset === undefined || line.units === null || unusable(line, asset) !== undefined) return [];
    const { externalId: name, units, chargeUnits = 0n } = line;
    if (line.direction === 'credit') return [{ name, wallet: WALLET, asset, units }];
    const key = line.recallOf?.externalId ?? line.key;
    const named = key === undefined || showable(key) === '' ? {} : { key: showable(key) };
    return [{ name, wallet: WALLET, asset, units: -units - chargeUnits, ...named }];
  }
}

/**
 * Takes one line of the statement: interprets it, stores it, and reports its facts. A line taken before is ignored.
 * Everything is written in the caller's transaction.
 */
export function readerOf(adapter: BankAdapter, context: BankContext): (tx: Tx, line: StatementLine) => Promise<void> {
  const references = referencesOf(adapter);
  return take;

  async function take(tx: Tx, line: StatementLine): Promise<void> {
    const asset = adapter.currencies[line.currency];
    const why = unusable(line, asset);
    if (why !== undefined || asset === undefined || line.units === null)
      return await putAside(tx, line, why ?? 'unusable');

    const there = await readLine(tx, adapter.code, line.externalId);
    if (there !== undefined) {
      if (!sameLine(there, line, asset)) await putAside(tx, line, 'changed since it was booked');
      return;
    }
    const { meaning, key, facts } = await understand(tx, line, asset, line.units);
    const fresh = await insertLine(tx, adapter.code, {
      externalId: line.externalId,
      direction: line.direction,
      asset,
      units: line.units,
      meaning,
      key,
      chargeUnits: line.chargeUnits ?? 0n,
      details: context.vault.encrypt(
        JSON.stringify(line.free),
        `bank_lines.details:${adapter.code}:${line.externalId}`,
      ),
      bookedAt: line.bookedAt,
    });
    // Another process took and reported it just now.
    if (!fresh) return;
    for (const fact of facts) await context.report(tx, fact);
  }

  /** Interprets a new line, and returns its facts. */
  async function understand(
    tx: Tx,
    line: StatementLine,
    asset: AssetCode,
    units: bigint,
  ): Promise<{ meaning: LineMeaning; key: string | null; facts: RailFact[] }> {
    const rail = adapter.code;
    const { externalId } = line;
    const reference = showable(line.reference);

    if (line.direction === 'debit') {
      const recalled = await recalledCredit(tx, line, asset, units);
      if (recalled !== undefined) return recalled;
      const key = line.key === undefined ? null : showable(line.key);
      const payout = key === null ? undefined : await payoutByKey(tx, rail, key);
      const explained =
        payout?.asset === asset && payout.units === units && !(await hasLine(tx, rail, payout.id, 'payout'));
      if (!explained) {
        const fact: RailFact = {
          type: 'unexplained_debit',
          rail,
          externalId,
          asset,
          units: units + (line.chargeUnits ?? 0n),
          reference,
        };
        return { meaning: 'unexplained', key, facts: [fact] };
      }
      const charge = line.chargeUnits ?? 0n;
      const settled: RailFact = { type: 'payout_settled', rail, key: payout.id, reference };
      if (charge === 0n) return { meaning: 'payout', key, facts: [settled] };
      // If its return was shown first, that already reported the settlement: only the charge is new.
      const facts: RailFact[] = (await hasLine(tx, rail, payout.id, 'return'))
        ? [{ type: 'cost_changed', rail, key: payout.id, externalId, asset, before: 0n, units: charge }]
        : [{ ...settled, cost: { asset, units: charge } }];
      return { meaning: 'payout', key, facts };
    }

    if (line.funding) {
      return {
        meaning: 'funding',
        key: null,
        facts: [{ type: 'funding_confirmed', rail, externalId, asset, units, reference }],
      };
    }

    const payout = line.returnOf && (await payoutByKey(tx, rail, showable(line.returnOf.key)));
    if (line.returnOf && payout?.asset === asset && !(await hasLine(tx, rail, payout.id, 'return'))) {
      const facts: RailFact[] = [];
      // A returned payout had left, whatever order the bank shows the lines in. Its debit, shown later, is then no news.
      if (!(await hasLine(tx, rail, payout.id, 'payout')))
        facts.push({ type: 'payout_settled', rail, key: payout.id, reference });
      const why = showable(line.returnOf.why);
      facts.push({ type: 'payout_returned', rail, key: payout.id, why, reference, externalId, asset, units });
      return { meaning: 'return', key: payout.id, facts };
    }

    const target = line.returnOf === undefined ? references.find(line.free.text ?? '') : '';
    const facts = { bookedAt: line.bookedAt.toISOString(), ...(line.returnOf ? { returnOfUnknown: 1 } : {}) };
    return {
      meaning: 'deposit',
      key: null,
      facts: [
        {
          type: 'deposit_confirmed',
          rail,
          externalId,
          target,
          asset,
          units,
          reference,
          ...(line.bookedOn === 'unknown'
            ? {}
            : { at: line.bookedAt, ...(line.bookedOn === 'day' ? { withinMs: DAY_MS } : {}) }),
          ...(line.free.name === undefined ? {} : { payerName: line.free.name }),
          facts,
        },
      ],
    };
  }

  /** A recall counts only if it names a deposit of exactly this amount that was not recalled before. */
  async function recalledCredit(tx: Tx, { recallOf }: StatementLine, asset: AssetCode, units: bigint) {
    if (recallOf === undefined || !usableId(recallOf.externalId)) return undefined;
    const { externalId } = recallOf;
    const credit = await readLine(tx, adapter.code, externalId);
    const same = credit?.meaning === 'deposit' && credit.asset === asset && credit.units === units;
    if (!same || (await hasLine(tx, adapter.code, externalId, 'recall'))) return undefined;
    const fact: RailFact = { type: 'deposit_reversed', rail: adapter.code, externalId, why: showable(recallOf.why) };
    return { meaning: 'recall' as const, key: externalId, facts: [fact] };
  }

  async function putAside(tx: Tx, line: StatementLine, why: string): Promise<void> {
    const said = JSON.stringify(line, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
    // An id that cannot be stored is replaced by its hash, so that even this line is reported once.
    const externalId = usableId(line.externalId)
      ? line.externalId
      : `sha256:${hash(String(line.externalId)).toString('hex')}`;
    const fresh = await insertOddLine(tx, adapter.code, {
      externalId,
      content: hash(said),
      why,
      details: context.vault.encrypt(said, `bank_odd_lines.details:${adapter.code}:${externalId}`),
    });
    if (!fresh) return;
    context.log.warn({ rail: adapter.code, line: externalId, why }, 'statement line refused');
    await context.report(tx, { type: 'line_refused', rail: adapter.code, externalId, why });
  }
}

/** If the one debit with this payout's key and amount was shown before the payout existed, it settles the payout. */
async function explainByKey(tx: Tx, rail: string, key: string, report: Report): Promise<boolean> {
  const payout = await payoutByKey(tx, rail, key);
  if (payout === undefined || payout.endedAt !== null) return false;
  const lines = (await lockUnexplained(tx, rail, { key })).filter(
    (line) => line.asset === payout.asset && line.units === payout.units,
  );
  const [line] = lines;
  if (line === undefined || lines.length > 1) return false;
  await settleByLine(tx, rail, line, key, report);
  return true;
}

/**
 * Matches a debit booked as unexplained with this payout: reverses that booking, and settles the payout by the debit.
 *
 * @param input.otherAmount the debit carries the payout's key, or that of a lost attempt at the same, and another amount than the books
 *        order now
 * @throws Refusal 'does_not_fit' where the line is not there, is explained, or is of another amount
 */
export async function settlePayoutByLine(
  tx: Tx,
  input: {
    rail: string;
    key: string;
    line: string;
    otherAmount?: boolean | undefined;
    followOn?: FollowOn | undefined;
  },
  report: Report,
): Promise<void> {
  const payout = await payoutByKey(tx, input.rail, input.key);
  const [line] = await lockUnexplained(tx, input.rail, { externalId: input.line });
  if (payout === undefined || line === undefined || line.asset !== payout.asset)
    throw new Refusal('does_not_fit', { why: 'no unexplained debit of this name has its asset' });
  if (payout.state === 'settled' || payout.state === 'returned')
    throw new Refusal('does_not_fit', { why: `the payout is ${payout.state} by another movement` });
  if (line.units !== payout.units) {
    // The bank states the recipient in free text only. So the match is certain only if the debit carries the payout's own
    // key, or that of a lost payout whose deposit has become another order.
    const isMeant = line.key === payout.id || (await isLostAttempt(tx, line, payout.id));
    if (!isMeant && !(await isOfLost(tx, line, input.followOn)))
      throw new Refusal('does_not_fit', {
        why: 'the debit is of another amount and does not carry the key of the payout',
      });
    requireOtherAmount(payout, line.units, input.otherAmount);
    await notePaidUnits(tx, payout.id, line.units);
  }
  await settleByLine(tx, input.rail, line, input.key, report);
}

/** How the keys of all attempts at the same payout or refund begin. */
const attemptsLike = (key: string): string => key.replace(/[0-9]+$/, '');

/** Whether a debit carries the key of an attempt at the same that these books do not have. */
const isLostAttempt = async (tx: Tx, { key }: UnexplainedLine, payoutId: string): Promise<boolean> =>
  key !== null && attemptsLike(key) === attemptsLike(payoutId) && (await findPayout(tx, key)) === undefined;

/** Whether a debit may have paid a lost order that was made from the same deposit. */
async function isOfLost(tx: Tx, { key }: UnexplainedLine, followOn: FollowOn | undefined): Promise<boolean> {
  if (followOn === undefined || !(await isMadeSince(tx, followOn.madeAt))) return false;
  return key === null || (key.startsWith('pay_') && (await findPayout(tx, key)) === undefined);
}

/** An unexplained debit, locked. @throws Refusal 'does_not_fit' */
export async function lookDebit(tx: Tx, rail: string, externalId: string) {
  const { key: _, ...debit } = await requireDebit(tx, rail, externalId);
  return debit;
}

async function requireDebit(tx: Tx, rail: string, externalId: string) {
  const debit = await lockDebit(tx, rail, externalId);
  if (debit === undefined) throw new Refusal('does_not_fit', { why: 'this rail has no debit of this name' });
  return debit;
}

/**
 * Records people's decision that an unexplained debit paid no payout of ours: it holds no payout back any more.
 *
 * @throws Refusal 'does_not_fit' when it is explained, or was decided before, or carries the key of a payout that has not ended
 */
export async function declareForeign(tx: Tx, rail: string, externalId: string): Promise<void> {
  const { meaning, key } = await requireDebit(tx, rail, externalId);
  const payout = key === null || meaning !== 'unexplained' ? undefined : await payoutByKey(tx, rail, key);
  if (payout?.endedAt === null)
    throw new Refusal('does_not_fit', {
      why: `it carries the key of ${payout.id}, which the bank does not pay again: settle that by it (payout settle-by)`,
    });
  if ((await markForeign(tx, rail, externalId)) === 0)
    throw new Refusal('does_not_fit', {
      why: meaning === 'unexplained' ? 'it was declared foreign before' : 'a payout of ours explains the debit',
    });
}

async function settleByLine(tx: Tx, rail: string, line: UnexplainedLine, key: string, report: Report): Promise<void> {
  await explainLine(tx, rail, line.externalId, key);
  const { asset, chargeUnits } = line;
  await report(tx, {
    type: 'payout_settled',
    rail,
    key,
    reference: line.externalId,
    undoes: line.externalId,
    ...(chargeUnits === 0n ? {} : { cost: { asset, units: chargeUnits } }),
  });
}

/** Why a line cannot be booked as money, or undefined. */
function unusable(line: StatementLine, asset: AssetCode | undefined): string | undefined {
  if (!usableId(line.externalId)) return 'no usable id';
  if (asset === undefined) return 'a currency we do not keep here';
  if (line.units === null) return 'no readable amount';
  if (line.units <= 0n || (line.chargeUnits ?? 0n) < 0n) return 'an amount that is not above zero';
  if (line.units >= ABSURD_UNITS || (line.chargeUnits ?? 0n) >= ABSURD_UNITS) return 'an absurd amount';
  if (line.direction !== 'credit' && line.direction !== 'debit') return 'neither credit nor debit';
  if (Number.isNaN(line.bookedAt.getTime())) return 'no readable date';
  return undefined;
}

const usableId = (id: unknown): id is string =>
  typeof id === 'string' && id.length > 0 && id.length <= LONGEST_ID && !/[\p{Cc}\p{Cs}]/u.test(id);

const sameLine = (there: BankLine, line: StatementLine, asset: AssetCode): boolean =>
  there.direction === line.direction &&
  there.asset === asset &&
  there.units === line.units &&
  there.chargeUnits === (line.chargeUnits ?? 0n);

/** Removes control characters, which cannot be stored, and limits the length. */
const showable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cs}]/gu, '').slice(0, LONGEST_REFERENCE);

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

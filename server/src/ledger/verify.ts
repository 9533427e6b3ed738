/**
 * Verification of the journal: recomputes everything that follows from entries and transfers.
 *
 * - each entry's content hash, from its transfers;
 * - all seals from the first, each over its entries and the previous seal;
 * - each account's balance on both sides and its held part, and the end of every hold;
 * - per asset, that both sides are equal;
 * - the daily totals and the sums of customers, which reports read.
 *
 * Entries are read a few thousand at a time in sealing order, and PostgreSQL sums the balances, so memory use does not depend on
 * the journal's length. Run it inside one `repeatable read` transaction, or two with one snapshot, because the server continues to
 * post.
 *
 * A hash chain cannot show that its end was cut off. An auditor who kept a newest hash elsewhere passes it in.
 *
 * Not here: orders against their accounts (orders/read/check.ts), chains and banks (reconcile/).
 */
import type { Tx } from '../base/db.ts';
import { wrongCustomers } from './customers.ts';
import { wrongTotals } from './daily.ts';
import { hexDigestOf, LINE_TEXT } from './digest.ts';
import { wrongRevenue } from './earned.ts';
import { FIRST, hasherOver } from './seals.ts';

export interface Problem {
  /** The violated rule: content, seal, unsealed, balance, hold, double_entry or daily_total. */
  rule: 'content' | 'seal' | 'unsealed' | 'balance' | 'hold' | 'double_entry' | 'daily_total';
  /** Id of the entry, seal, account or hold, the asset, or the day and line of a total. */
  subject: string;
  why: string;
}

export interface JournalSummary {
  entries: bigint;
  transfers: bigint;
  seals: bigint;
  unsealed: bigint;
  /** The newest seal. Keep it where it cannot be changed together with the database. */
  newest: { number: bigint; hash: string } | null;
}

/** Entries per read: with their transfers, about ten megabytes. */
const PAGE_ENTRIES = 5_000;
/** Seals examined per page; each has at least one entry. */
const PAGE_SEALS = 5_000;
/** Entries hashed before the process takes in what PostgreSQL has sent of the next page. */
const TURN_ENTRIES = 500;

/**
 * Verifies the entries of the whole journal and their seals.
 *
 * @param tell called for each problem as it is found
 * @param kept number and hash of a seal, kept elsewhere: the journal must still have it
 */
export async function verifyJournal(
  tx: Tx,
  tell: (problem: Problem) => void,
  kept?: { number: bigint; hash: string },
): Promise<JournalSummary> {
  const summary: JournalSummary = { entries: 0n, transfers: 0n, seals: 0n, unsealed: 0n, newest: null };
  await verifySealed(tx, tell, summary, kept);
  await verifyUnsealed(tx, tell, summary);
  return summary;
}

/** Verifies all that is summed over the journal. PostgreSQL does the work. */
export async function verifySums(tx: Tx, tell: (problem: Problem) => void): Promise<void> {
  for (const problem of await tx.rows<Problem>(ACCOUNTS)) tell(problem);
  for (const problem of await tx.rows<Problem>(HOLDS)) tell(problem);
  for (const problem of await tx.rows<Problem>(DOUBLE_ENTRY)) tell(problem);
  for (const { day, account } of await wrongTotals(tx))
    tell({ rule: 'daily_total', subject: `${day} ${account}`, why: 'it differs from the sum of its entries' });
  for (const { day, row } of await wrongRevenue(tx))
    tell({ rule: 'daily_total', subject: `${day} ${row}`, why: 'it differs from the sum of its entries' });
  for (const { day, customer } of await wrongCustomers(tx))
    tell({ rule: 'daily_total', subject: `${day} ${customer}`, why: 'it differs from the sum of its entries' });
}

interface SealRow {
  number: bigint;
  previous: Buffer;
  hash: Buffer;
  entries: number;
}

/** An entry with its transfers. The id of one that was removed, and that a seal still names, is null. */
interface EntryRow {
  seal: string | null;
  seq: string;
  id: string | null;
  kind: string;
  orderId: string;
  at: Date;
  content: string;
  transfers: number;
  lines: string;
}

/** Columns of an entry `e`. The order's number is text, because the hash is over its digits. */
const ENTRY = `e.seq::text, e.id, e.kind, coalesce(e.order_id::text, '') as order_id, e.at, encode(e.content, 'hex') as content,
  l.transfers, coalesce(l.lines, '') as lines`;
const LINES = `left join lateral (
  select count(*)::int as transfers, string_agg(${LINE_TEXT}, ',' order by t.line) as lines
    from transfers t join accounts d on d.id = t.debit join accounts c on c.id = t.credit where t.entry = e.id) l on true`;

async function verifySealed(
  tx: Tx,
  tell: (problem: Problem) => void,
  summary: JournalSummary,
  kept: { number: bigint; hash: string } | undefined,
): Promise<void> {
  let previous: Buffer = FIRST;
  let last = 0n;
  let keptIsThere = kept === undefined;
  let sinceTurn = 0;
  for await (const { seals, bySeal } of sealedPages(tx)) {
    for (const seal of seals) {
      const subject = `seal ${seal.number}`;
      if (seal.number !== last + 1n)
        tell({ rule: 'seal', subject, why: `seals ${last + 1n} to ${seal.number - 1n} are missing` });
      else if (!seal.previous.equals(previous))
        tell({ rule: 'seal', subject, why: 'it is not made over the seal before it' });
      const hasher = hasherOver(seal.previous);
      let count = 0;
      for (const entry of bySeal.get(String(seal.number)) ?? []) {
        if (entry.id === null) continue;
        verifyContent(entry.id, entry, tell, summary);
        const { id, kind, at } = entry;
        hasher.add({ id, kind, at, seq: BigInt(entry.seq), content: Buffer.from(entry.content, 'hex') });
        count += 1;
      }
      if (count !== seal.entries)
        tell({ rule: 'seal', subject, why: `it covers ${seal.entries} entries and ${count} are there` });
      else if (!hasher.hash().equals(seal.hash))
        tell({ rule: 'seal', subject, why: 'its hash does not match the rows it covers' });
      sinceTurn += count;
      if (sinceTurn >= TURN_ENTRIES) {
        sinceTurn = 0;
        await new Promise((turn) => setImmediate(turn));
      }
      keptIsThere ||= kept?.number === seal.number && kept.hash === seal.hash.toString('hex');
      previous = seal.hash;
      last = seal.number;
      summary.seals += 1n;
    }
    const newest = seals.at(-1);
    if (newest !== undefined) summary.newest = { number: newest.number, hash: newest.hash.toString('hex') };
  }
  if (!keptIsThere)
    tell({
      rule: 'seal',
      subject: `seal ${kept?.number}`,
      why: 'the hash that was kept elsewhere is not the one here',
    });
}

interface SealedPage {
  seals: readonly SealRow[];
  bySeal: ReadonlyMap<string | null, readonly EntryRow[]>;
}

/** All seals with their entries, a page at a time. PostgreSQL reads the next page while the caller verifies this one. */
async function* sealedPages(tx: Tx): AsyncGenerator<SealedPage> {
  let next = sealedPage(tx, 0n);
  for (;;) {
    const page = await next;
    const end = page.seals.at(-1);
    if (end === undefined) return;
    next = sealedPage(tx, end.number);
    // The caller may throw, and never wait for it.
    next.catch(() => {});
    yield page;
  }
}

async function sealedPage(tx: Tx, after: bigint): Promise<SealedPage> {
  const ahead = await tx.rows<SealRow>(
    'select number, previous, hash, entries from seals where number > $1 order by number limit $2',
    [after, PAGE_SEALS],
  );
  const seals = upTo(ahead, PAGE_ENTRIES);
  const [first, end] = [seals[0], seals.at(-1)];
  if (first === undefined || end === undefined) return { seals, bySeal: new Map() };
  const rows = await tx.rows<EntryRow>(
    `select s.seal::text, ${ENTRY} from sealed_entries s left join entries e on e.seq = s.entry_seq ${LINES}
      where s.seal between $1 and $2 order by s.seal, s.position`,
    [first.number, end.number],
  );
  return { seals, bySeal: Map.groupBy(rows, ({ seal }) => seal) };
}

/** The first seals that together have about this many entries, and at least one seal. */
function upTo(seals: readonly SealRow[], entries: number): SealRow[] {
  let sum = 0;
  const end = seals.findIndex((seal) => {
    sum += seal.entries;
    return sum > entries;
  });
  return seals.slice(0, end === -1 ? seals.length : Math.max(end, 1));
}

function verifyContent(
  id: string,
  { kind, orderId, content, transfers, lines }: EntryRow,
  tell: (problem: Problem) => void,
  summary: JournalSummary,
): void {
  summary.entries += 1n;
  summary.transfers += BigInt(transfers);
  if (hexDigestOf(kind, orderId, lines) !== content)
    tell({ rule: 'content', subject: id, why: 'its transfers differ from those it was posted with' });
}

/** Checks entries that no seal covers: only the newest entries may lack a seal, none below the sealed range. */
async function verifyUnsealed(tx: Tx, tell: (problem: Problem) => void, summary: JournalSummary): Promise<void> {
  const edge = await tx.row<{ seq: bigint }>(
    // A hundred seals back: entries get their numbers before they commit, so the last seals may have skipped a few.
    'select coalesce((select first_seq from seals order by number desc offset 100 limit 1), 0) as seq',
  );
  for (let after = '0'; ; ) {
    const rows: EntryRow[] = await tx.rows<EntryRow>(
      `select null::text as seal, ${ENTRY}
         from (select * from entries e where seq > $1 and not exists (select from sealed_entries where entry_seq = e.seq)
                order by seq limit ${PAGE_ENTRIES}) e ${LINES}
        order by e.seq`,
      [after],
    );
    for (const entry of rows) {
      if (entry.id === null) continue;
      verifyContent(entry.id, entry, tell, summary);
      summary.unsealed += 1n;
      if (BigInt(entry.seq) < (edge?.seq ?? 0n))
        tell({ rule: 'unsealed', subject: entry.id, why: 'it is among sealed entries, and no seal covers it' });
      after = entry.seq;
    }
    if (rows.length < PAGE_ENTRIES) return;
  }
}

/**
 * Each account's balance from its transfers, minus the balance in its row: the difference must be zero. The statement sums and
 * does not join: a planner that misjudges the number of accounts needs minutes for the join and seconds for this.
 */
const ACCOUNTS = `
  with sides as (
    select debit as account, case when step in ('post', 'settle') then units else 0 end as debits, 0::numeric as credits,
           case step when 'hold' then units when 'post' then 0 else -units end as debits_held, 0::numeric as credits_held
      from transfers
    union all
    select credit, 0, case when step in ('post', 'settle') then units else 0 end,
           0, case step when 'hold' then units when 'post' then 0 else -units end
      from transfers
    union all
    select id, -debits, -credits, -debits_held, -credits_held from accounts),
  wrong as (
    select account, sum(debits) as debits, sum(credits) as credits, sum(debits_held) as debits_held, sum(credits_held) as credits_held
      from sides group by account
    having sum(debits) <> 0 or sum(credits) <> 0 or sum(debits_held) <> 0 or sum(credits_held) <> 0
     order by account limit 1000)
  select 'balance' as rule, a.code as subject,
         format('its transfers come to %s more debits, %s more credits, and %s and %s more held than its row says',
           w.debits, w.credits, w.debits_held, w.credits_held) as why
    from wrong w join accounts a on a.id = w.account order by a.code`;

/** A hold begins with one line. It is either still open or ends with one line of the same accounts and amount. */
const HOLDS = `
  with told as (
    select hold, count(*) filter (where step = 'hold') as begun, count(*) filter (where step <> 'hold') as ended,
           max(step) filter (where step <> 'hold') as how, min(debit) as debit, max(debit) as debit2,
           min(credit) as credit, max(credit) as credit2, min(units) as units, max(units) as units2
      from transfers where hold is not null group by hold)
  select 'hold' as rule, coalesce(h.id, t.hold) as subject, 'its row is not what its transfers say' as why
    from told t full join holds h on h.id = t.hold
   where h.id is null or t.hold is null or t.begun <> 1 or t.ended > 1
      or (t.debit, t.credit, t.units) is distinct from (t.debit2, t.credit2, t.units2)
      or (h.debit, h.credit, h.units) is distinct from (t.debit, t.credit, t.units)
      or h.state <> case t.how when 'settle' then 'settled' when 'void' then 'voided' else 'held' end
   order by 2 limit 1000`;

/** Both sides of each asset, summed over the account rows. ACCOUNTS has checked these rows against the transfers. */
const DOUBLE_ENTRY = `
  select 'double_entry' as rule, asset as subject,
         format('%s debited, %s credited, %s and %s held', sum(debits), sum(credits), sum(debits_held), sum(credits_held)) as why
    from accounts group by asset
  having sum(debits) <> sum(credits) or sum(debits_held) <> sum(credits_held) order by asset`;

/**
 * Taking in a statement: all of a file or nothing of it, each line once.
 *
 * First the file is read to its end and checked on its own (csv.statement.ts, camt.ts). The rest happens in one transaction,
 * without a concurrent import of the rail. A file that was taken in before changes nothing. Lines that are known from other files
 * are skipped, even if a file of the other format worded them differently (words.ts). A contradiction with known lines or
 * balances rejects the file. The other lines are stored, and the bank engine is woken to read them.
 *
 * The bank engine decides the effect of lines on orders (rails/bank.ts). This file interprets only this bank's words: which
 * payout a debit belongs to, which payment was returned and why, which line reverses which.
 */
import { createHash } from 'node:crypto';
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import { formatUnits } from '../../base/money.ts';
import type { BankContext } from '../bank.ts';
import { OBSERVE } from '../rail.ts';
import { withFilesTakenApart } from './apart.ts';
import { readCamt } from './camt.ts';
import { type Ends, extended, fit, missing, newestOf, type Taken } from './continuity.ts';
import { readCsvStatement } from './csv.statement.ts';
import { type Chunks, refuseFile } from './decode.ts';
import { lineIds } from './identity.ts';
import { contentPlace, LINES_AT_ONCE, type LineContent, type ReadFile, storeLines, storeOpening } from './lines.ts';
import { MOST_LINES, type ReadLine, type ReadStatement, total } from './read.ts';
import { type ManualAccount } from './settings.ts';
import * as statementStore from './statements.store.ts';
import * as store from './store.ts';
import { inOtherWords, type Worded } from './words.ts';

export interface Imported {
  /** `known`: exactly this file was taken in before, and nothing has changed. */
  outcome: 'taken' | 'known';
  import: statementStore.ImportRow;
  /** Sentences about statements that seem to be missing. */
  gaps: string[];
}

const SNIFFED = 64;

/** @throws Refusal 'file_refused' with a sentence */
export async function readStatement(
  context: BankContext,
  rail: string,
  account: ManualAccount,
  chunks: Chunks,
): Promise<ReadFile> {
  const decimals = await context.db.asSystem((tx) => store.decimalsOf(tx, account.asset));
  assert(decimals !== undefined, `the asset ${account.asset} of ${rail} is unknown`);
  const file = await peeked(chunks);
  const statements = await (file.isXml ? readCamt : readCsvStatement)(file.chunks, account, decimals);
  return { rail, account, format: file.isXml ? 'camt.053' : 'csv', statements, ...file.read() };
}

/**
 * @param by the operator who takes the file in
 * @throws Refusal 'file_refused' with a sentence; the caller must then roll its transaction back, so that no line is stored
 */
export async function takeStatement(context: BankContext, tx: Tx, file: ReadFile, by: string): Promise<Imported> {
  await store.lockRail(tx, file.rail);
  const known = await statementStore.importOf(tx, file.rail, file.account.asset, file.sha256);
  if (known !== undefined) return { outcome: 'known', import: known, gaps: [] };
  return await take(context, tx, { ...file, statements: await withFilesTakenApart(context, tx, file) }, by);
}

export interface NewLines {
  /** Includes an opening balance, which is booked as the operator's own. */
  creditUnits: bigint;
  debitUnits: bigint;
  lines: number;
  /** The import that took exactly this file in; null if there is none. */
  importId: bigint | null;
}

/** The lines that taking the file in would add. Changes nothing; no other import of the rail runs until `tx` ends. */
export async function newLinesOf(context: BankContext, tx: Tx, file: ReadFile): Promise<NewLines> {
  const { rail, account, sha256 } = file;
  await store.lockRail(tx, rail);
  const taken = await statementStore.importOf(tx, rail, account.asset, sha256);
  if (taken !== undefined) return { creditUnits: 0n, debitUnits: 0n, lines: 0, importId: taken.id };
  const all = (await withFilesTakenApart(context, tx, file)).flatMap(({ lines }) => lines);
  const ids = lineIds(account.asset, all);
  const known = await linesThere(context, tx, file, ids, all);
  const fresh = all.filter((_, i) => !known.has(ids[i] ?? ''));
  const sum = (direction: 'credit' | 'debit') =>
    fresh.reduce((units, line) => (line.direction === direction ? units + line.units : units), 0n);
  const opening = await openingOf(tx, file);
  return { creditUnits: sum('credit') + opening, debitUnits: sum('debit'), lines: fresh.length, importId: null };
}

/** The opening balance that taking the file in would book: only for the very first statement of the account. */
async function openingOf(tx: Tx, { rail, account, statements }: ReadFile): Promise<bigint> {
  const [first] = statements;
  if (first === undefined || (await takenSoFar(tx, rail, account.asset)) !== undefined) return 0n;
  const opening = endsOf(first)?.opening ?? 0n;
  return opening > 0n ? opening : 0n;
}

async function take(context: BankContext, tx: Tx, file: ReadFile, by: string): Promise<Imported> {
  const { rail, account, statements } = file;
  const { asset } = account;
  const all = statements.flatMap((statement) => statement.lines);
  const ids = lineIds(asset, all);
  const known = await linesThere(context, tx, file, ids, all);
  const now = context.clock.now();
  const imported = await statementStore.insertImport(tx, rail, {
    asset,
    format: file.format,
    sha256: file.sha256,
    bytes: file.bytes,
    lines: all.length,
    newLines: ids.filter((id) => !known.has(id)).length,
    importedAt: now,
    importedBy: by,
  });
  assert(imported, 'the insert of an import returned no row');

  const gaps: string[] = [];
  let taken = await takenSoFar(tx, rail, asset);
  let at = 0;
  for (const read of statements) {
    const lines = read.lines.map((line, i) => ({ line, id: ids[at + i] ?? '' }));
    at += lines.length;
    const fresh = lines.filter(({ id }) => !known.has(id));
    const freshSum = total(fresh.map(({ line }) => line));
    const statement = inItsOrder(read, taken, freshSum);
    const standsTo = await standsToOf(tx, file, statement.to, now);
    if (taken === undefined && statement.from > dayOf(now, 1))
      throw refuseFile(
        `The first statement of the account begins on ${statement.from}, which is in the future: the server could not read anything before that.`,
      );
    const place = await placeStatement(
      tx,
      file,
      imported.id,
      { ...statement, standsTo },
      lines.map(({ id }) => id),
    );
    const ends = endsOf(statement);
    if (taken !== 'unbalanced' && ends !== undefined) {
      const days = [...new Set(fresh.map(({ line }) => line.bookedOn))].toSorted();
      const said = { ...ends, to: standsTo, id: place.id, lines: lines.map(({ id }) => id), days };
      const isTorn = taken !== undefined && missing(taken) !== 0n;
      const shownBefore = isTorn && (!place.isNew || (await statementStore.isShownBefore(tx, rail, asset, said)));
      const about = { known: lines.length - fresh.length, freshSum, freshFrom: days[0] };
      let fits = fit(taken, ends, { ...about, shownBefore });
      // An apparent gap may consist of the same days in other words.
      if (fits.fit === 'gap' && fits.missing !== null && fresh.length > 0 && !isTorn)
        fits = fit(taken, ends, { ...about, shownBefore: await statementStore.isShownBefore(tx, rail, asset, said) });
      if (fits.fit === 'too_early')
        throw refuseFile(
          'The file has lines older than the first imported statement, whose opening balance includes them.',
        );
      if (taken === undefined) await storeOpening(context, tx, file, place.id, ends);
      if (fits.fit === 'contradicts')
        throw refuseFile(
          `Balances and lines of the statement of ${statement.from} to ${statement.to} contradict the statements imported before, up to ` +
            `${taken?.newest.to}: the file words a known line differently, or a line is missing.`,
        );
      if (fits.fit === 'gap') {
        const why = `A statement is missing before the one of ${statement.from} to ${statement.to}.`;
        gaps.push(why);
        await context.report(tx, { type: 'statement_gap', rail, statement: String(place.id), asset, why });
      }
      const after =
        taken === undefined ? { first: ends, newest: ends, sum: freshSum } : extended(taken, ends, freshSum);
      // Later statements are compared with the days that it covers.
      taken = after.newest === ends ? { ...after, newest: { ...ends, to: standsTo } } : after;
    } else taken = 'unbalanced';
    await storeLines(context, tx, file, place.id, fresh);
  }
  enqueue(tx, { kind: OBSERVE, subject: rail, dueAt: now });
  context.log.info(
    { rail, import: imported.id, lines: imported.lines, fresh: imported.newLines },
    'statement taken in',
  );
  return { outcome: 'taken', import: imported, gaps };
}

/** With the balances that continue the books, where the file alone does not tell the order of its lines. */
function inItsOrder(
  { reversed, ...read }: ReadStatement,
  taken: Taken | undefined | 'unbalanced',
  freshSum: bigint,
): ReadStatement {
  if (reversed === undefined || taken === 'unbalanced') return read;
  if (taken === undefined)
    throw refuseFile('The rows of the first statement add up from either end: import a period that has more rows.');
  const closing = taken.first.opening + taken.sum + freshSum;
  return read.closing !== closing && reversed.closing === closing ? { ...read, ...reversed } : read;
}

/** The known lines among these: by id, or worded as in the other format. @throws Refusal 'file_refused' */
async function linesThere(
  context: BankContext,
  tx: Tx,
  file: ReadFile,
  ids: string[],
  lines: readonly ReadLine[],
): Promise<Set<string>> {
  const { rail, format, statements } = file;
  const { asset } = file.account;
  const known = await knownLines(tx, rail, ids, lines);
  const fresh = lines.flatMap((line, i): Worded[] => {
    const { bookedOn: day, direction, account } = line;
    const id = ids[i] ?? '';
    if (known.has(id)) return [];
    return [
      { id, day, direction, account, units: line.units + line.chargeUnits, text: `${line.text} ${line.endToEnd}` },
    ];
  });
  if (fresh.length === 0) return known;
  const days = [...new Set(fresh.map(({ day }) => day))];
  const others = await statementStore.linesOfOtherForm(tx, rail, asset, {
    format,
    days,
    without: ids,
    most: MOST_LINES,
  });
  if (others.length === 0) return known;
  const taken = others.map(({ content, externalId: id, bookedOn: day, direction, units, chargeUnits, ...of }) => {
    const { free } = JSON.parse(context.vault.decrypt(content, contentPlace(rail, id))) as LineContent;
    const words = { account: free.account ?? '', text: free.text ?? '' };
    return { id, day, direction, units: units + chargeUnits, ...words, ...of };
  });
  const before = await takenSoFar(tx, rail, asset);
  const isProved =
    before !== undefined &&
    before !== 'unbalanced' &&
    missing(before) === 0n &&
    statements.every((one) => endsOf(one) !== undefined);
  const isBorneOut = async (more: ReadonlySet<string>) =>
    !isProved || (await isExplained(tx, file, before.first.opening, { ids, known: new Set([...known, ...more]) }));
  const byCount = isProved ? inOtherWords(fresh, taken, true) : undefined;
  if (byCount !== undefined && 'known' in byCount && (await isBorneOut(byCount.known)))
    return new Set([...known, ...byCount.known]);
  const found = inOtherWords(fresh, taken, false);
  if ('known' in found) {
    if (await isBorneOut(found.known)) return new Set([...known, ...found.known]);
    const [like] = others;
    throw refuseFile(
      `Lines of ${like?.bookedOn} resemble lines of the ${like?.format} statement of ${like?.from} to ${like?.to} in other words, ` +
        `and the balances do not prove which are the same. Import ${like?.format} for that day, as before.`,
    );
  }
  const [{ day, direction, units } = { day: '', direction: '', units: 0n }] = found.unclear.fresh;
  const [other] = found.unclear.taken;
  const decimals = (await store.decimalsOf(tx, asset)) ?? 0;
  throw refuseFile(
    `On ${day} the file shows ${found.unclear.fresh.length} ${direction}s of ${formatUnits(units, decimals)}, and the ` +
      `${other?.format} statement of ${other?.from} to ${other?.to} shows ${found.unclear.taken.length} in other words: ` +
      `the server cannot tell which are the same. Import ${other?.format} for that day, as before.`,
  );
}

/**
 * Whether each closing balance is the sum of the known lines up to its last day plus the new ones. A statement of the rest of a
 * day shows other lines than the statement of the morning, although it does not show more lines of any kind.
 */
async function isExplained(
  tx: Tx,
  { rail, account, statements }: ReadFile,
  opening: bigint,
  { ids, known }: { ids: readonly string[]; known: ReadonlySet<string> },
): Promise<boolean> {
  let at = 0;
  let fresh = 0n;
  for (const { to, closing, lines } of statements) {
    const start = at;
    fresh += total(lines.filter((_, i) => !known.has(ids[start + i] ?? '')));
    at += lines.length;
    if (opening + (await store.sumTaken(tx, rail, account.asset, to)) + fresh !== closing) return false;
  }
  return true;
}

/** The known lines among these. @throws Refusal if one is known with another amount */
async function knownLines(tx: Tx, rail: string, ids: string[], lines: readonly ReadLine[]): Promise<Set<string>> {
  const byId = new Map(ids.map((id, i) => [id, lines[i]]));
  const known = new Set<string>();
  for (let at = 0; at < ids.length; at += LINES_AT_ONCE) {
    for (const there of await statementStore.linesByIds(tx, rail, ids.slice(at, at + LINES_AT_ONCE))) {
      const line = byId.get(there.externalId);
      if (line?.units !== there.units || line.chargeUnits !== there.chargeUnits)
        throw refuseFile(
          `A line of ${line?.bookedOn} has the reference of a line imported before, and another amount.`,
        );
      known.add(there.externalId);
    }
  }
  return known;
}

/** Summary of the statements taken in; `unbalanced` if some have no balances; undefined if there are none. */
export async function takenSoFar(tx: Tx, rail: string, asset: string): Promise<Taken | undefined | 'unbalanced'> {
  const first = await statementStore.firstStatement(tx, rail, asset);
  if (first === undefined) return undefined;
  const from = endsOf(first);
  if (from === undefined || !(await statementStore.allHaveBalances(tx, rail, asset))) return 'unbalanced';
  const sum = await store.sumTaken(tx, rail, asset);
  const ties = (await statementStore.newestStatements(tx, rail, asset)).flatMap((one) => endsOf(one) ?? []);
  const newest = newestOf(ties, from, sum);
  assert(newest !== undefined, 'there is a first statement and no newest one');
  return { first: from, newest, sum };
}

/** The part of a statement that can be compared with others; by default up to its own last day. */
function endsOf(statement: {
  from: string;
  to: string;
  standsTo?: string;
  sequence: bigint | null;
  opening: bigint | null;
  closing: bigint | null;
}): Ends | undefined {
  const { from, to, standsTo = to, sequence, opening, closing } = statement;
  return opening === null || closing === null ? undefined : { from, to: standsTo, sequence, opening, closing };
}

const DAY_MS = 86_400_000;
const dayOf = (at: Date, days: number): string => new Date(at.getTime() + days * DAY_MS).toISOString().slice(0, 10);

/**
 * The last day that a statement covers. A statement that is dated ahead was written before its last days had come, so it covers
 * the days up to those of the newest statement, or up to yesterday, which is still today in some time zone. Statements that end
 * before its last day continue from there, and their balances must equal the sum of all lines, as usual.
 */
async function standsToOf(tx: Tx, { rail, account }: ReadFile, to: string, now: Date): Promise<string> {
  if (to <= dayOf(now, 1)) return to;
  const [newest] = await statementStore.newestTaken(tx, rail, account.asset);
  const yesterday = dayOf(now, -1);
  return newest !== undefined && newest.to > yesterday ? newest.to : yesterday;
}

/** The row of a statement. A statement that another file shows again keeps its first row. */
async function placeStatement(
  tx: Tx,
  { rail, account: { asset } }: ReadFile,
  importId: bigint,
  statement: ReadStatement & { standsTo: string },
  ids: readonly string[],
): Promise<{ id: bigint; isNew: boolean }> {
  const { id, sequence, page, from, to, standsTo, shownTo = null, opening, closing } = statement;
  const named = [id, String(sequence), from, to, ...(page === undefined ? [] : [String(page)])];
  const said = id === '' ? [from, to, String(opening), String(closing), ...ids] : named;
  const identity = createHash('sha256').update(JSON.stringify(said)).digest();
  const there = await statementStore.statementByIdentity(tx, rail, asset, identity);
  if (there === undefined) {
    const row = { asset, importId, identity, sequence, from, to, standsTo, shownTo, opening, closing };
    return { id: await statementStore.insertStatement(tx, rail, row), isNew: true };
  }
  if (there.opening !== opening || there.closing !== closing)
    throw refuseFile(`The statement of ${from} to ${to} was imported before with other balances.`);
  return { id: there.id, isNew: false };
}

/** The file as a stream, counted and hashed while it is read, and whether it looks like XML. */
async function peeked(chunks: Chunks) {
  const hash = createHash('sha256');
  let bytes = 0;
  const source = (async function* () {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  })();
  const head: Uint8Array[] = [];
  for (let size = 0; size < SNIFFED; ) {
    const { value, done } = await source.next();
    if (done || value === undefined) break;
    head.push(value);
    size += value.length;
  }
  // Ignores a byte order mark and the zero bytes of UTF-16.
  const first = Buffer.concat(head)
    .toString('latin1')
    .replaceAll(/[^!-~]/g, '')[0];
  return {
    isXml: first === '<',
    chunks: (async function* () {
      yield* head;
      yield* source;
    })(),
    read: () => ({ sha256: hash.digest(), bytes }),
  };
}

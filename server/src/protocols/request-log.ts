/**
 * Request log: a partner's requests of the last thirty days, on either wire, with replies and reasons; searchable by the id of
 * a request. A line of the white-label wire has neither body nor reply.
 *
 * Bodies contain only the declared fields that were parsed, without personal data; replies are stored without personal data and
 * secrets. The value of a refused field is omitted, because it may be anything, even a name typed into the wrong field. Replies
 * above a few kilobytes are omitted as a whole.
 *
 * A line is written after its reply was sent, several in one statement. So a request never waits for its line, and a process
 * that is killed loses its last lines. Money and its history do not depend on this log.
 */
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { describeError, type Log } from '../base/log.ts';
import { encryptText, openTextOrNull } from '../base/texts.ts';
import type { Fields } from './declaration/fields.ts';
import { type Line, type LineRow, type LoggedProtocol, requestLog } from './request-log.store.ts';

const KEPT_FOR_MS = 30 * 24 * 3_600_000;
/** Maximum lines waiting to be written: an unreachable database must not fill the memory. */
const MOST_WAITING = 5_000;
const AT_ONCE = 200;
/**
 * Time for which lines are collected: quotes come by the thousand, and one transaction per line would cost as much as they do.
 */
const GATHERED_MS = 250;
/** Pause after a failed write. */
const RETRIED_MS = 1_000;
/** Rows deleted per statement, because a statement may take fifteen seconds. */
const MOST_FORGOTTEN = 10_000;
const MOST_REPLY_CHARS = 8_192;

export interface RequestLog {
  add(line: Line): void;
  /** Writes the waiting lines. */
  close(): Promise<void>;
}

export function openRequestLog({ db, vault, log }: { db: Database; vault: Vault; log: Log }): RequestLog {
  let waiting: Line[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Writes one batch; lines added meanwhile wait for the next one. @returns false when the database did not accept them */
  async function write(): Promise<boolean> {
    let round = waiting;
    waiting = [];
    while (round.length > 0) {
      const [{ partnerId }] = round as [Line, ...Line[]];
      const mine = round.filter((line) => line.partnerId === partnerId).slice(0, AT_ONCE);
      const taken = new Set(mine);
      round = round.filter((line) => !taken.has(line));
      try {
        await db.asPartner(partnerId, (tx) => {
          const lines = mine.map((line) => {
            const { idempotencyKey: key } = line;
            return { ...line, idempotencyKey: key === null ? null : encryptText(vault, partnerId, key) };
          });
          requestLog.insert(tx, lines);
        });
      } catch (error) {
        log.warn({ lines: mine.length, ...describeError(error) }, 'lines of the request log not written');
        waiting = [...round, ...waiting];
        return false;
      }
    }
    return true;
  }

  async function turn(): Promise<void> {
    const isWritten = await write();
    writing = undefined;
    if (waiting.length > 0 && !isClosed) writeIn(isWritten ? GATHERED_MS : RETRIED_MS);
  }

  function writeIn(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      writing = turn();
    }, ms).unref();
  }

  return {
    add(line) {
      if (waiting.length >= MOST_WAITING) return;
      waiting.push(line);
      if (writing === undefined && !isClosed) writeIn(GATHERED_MS);
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await writing;
      await write();
    },
  };
}

/** The parsed fields of a request, without personal data. */
export function shownRequest(fields: Fields, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = given[name];
      if (value === undefined) return [];
      if (field.personal === true) return [[name, HIDDEN]];
      return field.read(value) === undefined ? [] : [[name, value]];
    }),
  );
}

const HIDDEN = '(left out)';
/** Names in replies whose values are personal or secret, or give access to something. */
const HIDDEN_IN_REPLIES = new Set([
  'reference',
  'payerReference',
  'hint',
  'label',
  'secret',
  'bearerToken',
  'url',
  'signature',
  'detail',
  'answer',
  'question',
]);

/**
 * A reply without personal data and secrets; null when it is too long.
 *
 * @param fields the declared fields: an undeclared name came from the caller, and may be anything
 */
export function shownReply(reply: unknown, fields: Fields): unknown {
  const text = JSON.stringify(reply, (name, value: unknown) => {
    if (value === null) return value;
    if (HIDDEN_IN_REPLIES.has(name)) return HIDDEN;
    if (name === 'fields' && typeof value === 'object')
      return Object.fromEntries(Object.entries(value).filter(([field]) => Object.hasOwn(fields, field)));
    // PostgreSQL accepts neither NUL nor an unpaired surrogate.
    return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value;
  });
  return text === undefined || text.length > MOST_REPLY_CHARS ? null : JSON.parse(text);
}

export interface Shown extends Omit<Line, 'partnerId'> {
  readonly id: bigint;
}

const shownLine = (vault: Vault, row: LineRow): Shown => ({
  ...row,
  idempotencyKey: openTextOrNull(vault, row.partnerId, row.idempotencyKey),
});

/** Newest first. @param input.below only older lines */
export async function requestsOf(
  tx: Tx,
  vault: Vault,
  input: {
    partnerId: bigint;
    protocol?: LoggedProtocol | undefined;
    operation?: string | undefined;
    status?: number | undefined;
    reason?: string | undefined;
    from?: Date | undefined;
    until?: Date | undefined;
    below: bigint | undefined;
    limit: number;
  },
): Promise<Shown[]> {
  return (await requestLog.page(tx, input)).map((row) => shownLine(vault, row));
}

/** @param id our request id or the caller's own; if several match, the newest @throws Refusal 'unknown_request' */
export async function requestNamed(tx: Tx, vault: Vault, input: { partnerId: bigint; id: string }): Promise<Shown> {
  const row = await requestLog.find(tx, input);
  if (row === undefined) throw new Refusal('unknown_request');
  return shownLine(vault, row);
}

/**
 * For operators, who see neither bodies nor Idempotency-Keys: lines of one partner, newest first, and lines by a request's id.
 */
export const requestDesk = {
  list: (tx: Tx, input: Parameters<typeof requestLog.page>[1]): Promise<LineRow[]> => requestLog.page(tx, input),
  named: (tx: Tx, input: { partnerIds: readonly bigint[]; ids: readonly string[] }): Promise<LineRow[]> =>
    requestLog.named(tx, input),
};

/** Deletes lines older than thirty days. @returns the number of deleted lines */
export async function purgeRequestLog(db: Database, now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEPT_FOR_MS);
  for (let all = 0; ; ) {
    const gone = await db.asSystem((tx) => requestLog.forget(tx, before, MOST_FORGOTTEN));
    all += gone;
    if (gone < MOST_FORGOTTEN) return all;
  }
}

/**
 * Takes the Idempotency-Keys and request ids that a partner's program chose itself out of the lines about a customer: they may be
 * anything, even a name. The lines, which name the customer's id, stay for their thirty days.
 *
 * @returns number of changed lines
 */
export async function eraseRequestLog(
  db: Pick<Database, 'asSystem'>,
  { partnerId, customerId: name }: { partnerId: bigint; customerId: string },
): Promise<number> {
  for (let [after, count] = [0n, 0]; ; ) {
    const until = await db.asSystem(async (tx) => {
      const last = await requestLog.next(tx, { partnerId, after, limit: MOST_FORGOTTEN });
      if (last !== null) count += await requestLog.eraseOwn(tx, { partnerId, after, until: last, name });
      return last;
    });
    if (until === null) return count;
    after = until;
  }
}

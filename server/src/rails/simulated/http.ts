/**
 * The simulated bank's HTTP answers. The header of bank.ts lists the paths.
 *
 * A payment order is carried out under the lock of the books. Faults and magic account numbers decide whether its answer is lost,
 * late or a rejection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, later } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { randomHex } from '../../base/ids.ts';
import {
  fault,
  insertPayment,
  isFirstCall,
  type openBooks,
  readBalance,
  readByKey,
  readLines,
  readPending,
  readSettings,
  setFaults,
} from './books.store.ts';
import { magicOf } from './magic.ts';
import type { FaultKind, Payment } from './types.ts';

export interface Counter {
  readonly books: Awaited<ReturnType<typeof openBooks>>;
  readonly clock: Clock;
  /** The token that a caller must send. */
  readonly token: string;
  /** Called when a payment was accepted, with the time at which it is due. */
  accepted(dueAt: Date): void;
  /** The newest statement that showed neither lines nor faults: from which cursor, and which version of the books. */
  nothing?: { from: bigint; version: number; at: number } | undefined;
}

const SLOW_MS = 60_000;
const LONGEST_BODY = 64 * 1024;
/** After this time the books are read again, even if no change was heard. */
const BELIEVED_MS = 10_000;

const takeFault = ({ books }: Counter, kind: FaultKind) => books.read((tx) => fault(tx, kind));

export async function answer(counter: Counter, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { books, token } = counter;
  if (request.headers.authorization !== `Bearer ${token}`) return reply(response, 401, { error: 'unauthorized' });
  const url = new URL(request.url ?? '/', 'http://bank');
  const [, first, second] = url.pathname.split('/').map(decodeURIComponent);
  if (request.method === 'POST' && first === 'payments' && second === undefined)
    return await pay(counter, request, response);
  if (request.method !== 'GET') return reply(response, 405, { error: 'method' });
  if (first === 'payments' && second !== undefined) return await showPayment(counter, response, second);
  if (first === 'statement') return await showStatement(counter, response, url.searchParams);
  if (first === 'balance') {
    // Another instance's change may be in the balance before it is heard here: the next statement reads the books.
    counter.nothing = undefined;
    return reply(response, 200, { units: String(await books.read((tx) => readBalance(tx, second ?? ''))) });
  }
  return reply(response, 404, { error: 'path' });
}

async function pay(counter: Counter, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const order = readOrder(await readBody(request));
  if (order === undefined) return reply(response, 400, { error: 'malformed' });
  const { answer: said, dueAt, delayMs } = await counter.books.locked((tx) => carryOut(tx, counter.clock, order));
  if (dueAt !== undefined) counter.accepted(dueAt);
  if (said === 'lost') return void response.socket?.destroy();
  if (delayMs !== undefined) await new Promise((wake) => setTimeout(wake, delayMs));
  return reply(response, said.status, said.body);
}

interface CarriedOut {
  answer: { status: number; body: unknown } | 'lost';
  /** When an accepted payment is due. */
  dueAt?: Date;
  delayMs?: number;
}

/** Carries out a payment order, or rejects it. One statement reads which faults are set; few calls have any. */
async function carryOut(tx: Tx, clock: Clock, order: Order): Promise<CarriedOut> {
  const magic = magicOf(order.account, order.name);
  const faults = await setFaults(tx);
  const faultIfSet = async (kind: FaultKind) => (faults.has(kind) ? await fault(tx, kind) : undefined);
  const isLostBefore =
    (magic === 'answer_lost_before_effect' && (await isFirstCall(tx, order.key))) ||
    (await faultIfSet('lose_answer_before_effect')) !== undefined;
  if (isLostBefore) return { answer: 'lost' };
  if (order.notAfter !== undefined && Date.now() > order.notAfter)
    return { answer: { status: 409, body: { error: 'too_late' } } };

  const settings = await readSettings(tx);
  const [same] = settings.deduplicatesForMs > 0 ? await readByKey(tx, order.key) : [];
  const payment = same ?? (await newPayment());
  const late = defined({ dueAt: 'dueAt' in payment ? payment.dueAt : undefined });
  if (magic === 'answer_lost_after_effect' || (await faultIfSet('lose_answer_after_effect')) !== undefined)
    return { answer: 'lost', ...late };
  return { answer: answerOf(payment), ...late, ...defined({ delayMs: (await faultIfSet('delay_answer'))?.delayMs }) };

  async function newPayment() {
    const why = await refusal();
    const returns = magic === 'returned' || (why === null && (await faultIfSet('return_next')) !== undefined);
    const made = {
      key: order.key,
      currency: order.currency,
      units: order.units,
      account: order.account,
      name: order.name,
      state: why === null ? ('accepted' as const) : ('rejected' as const),
      why,
      returns,
      reference: `UTR${randomHex(8).toUpperCase()}`,
      dueAt: later(clock.now(), settings.settleMs + (magic === 'slow' ? SLOW_MS : 0)),
    };
    await insertPayment(tx, made);
    return made;
  }

  async function refusal(): Promise<string | null> {
    if (magic === 'rejected') return 'account_closed';
    if ((await faultIfSet('reject_next')) !== undefined) return 'rejected_by_bank';
    const free = (await readBalance(tx, order.currency)) - (await readPending(tx, order.currency));
    return order.units > free ? 'insufficient_funds' : null;
  }

  function answerOf({ units, currency, account, state, why, reference }: Omit<Payment, 'id'>) {
    const agrees = units === order.units && currency === order.currency && account === order.account;
    if (!agrees) return { status: 409, body: { error: 'key_used_for_another' } };
    if (state === 'rejected') return { status: 422, body: { error: 'rejected', why } };
    return { status: 202, body: { reference } };
  }
}

async function showPayment(counter: Counter, response: ServerResponse, key: string): Promise<void> {
  const { books } = counter;
  if (await takeFault(counter, 'status_unavailable')) return reply(response, 503, { error: 'unavailable' });
  const payments = await books.read((tx) => readByKey(tx, key));
  const payment = payments.find(({ state }) => state !== 'rejected') ?? payments[0];
  if (payment === undefined) return reply(response, 404, { proved: (await books.read(readSettings)).provesAbsence });
  return reply(response, 200, { state: payment.state, reference: payment.reference, why: payment.why });
}

/** A statement without new lines and without faults, the usual case, is answered from memory as long as nothing changes. */
async function showStatement(counter: Counter, response: ServerResponse, query: URLSearchParams): Promise<void> {
  const { books } = counter;
  const after = BigInt(/^\d{1,18}$/.exec(query.get('after') ?? '')?.[0] ?? 0);
  const limit = Math.min(Number(query.get('limit') ?? 50) || 50, 500);
  const version = books.version();
  const { nothing } = counter;
  const isKnown = nothing !== undefined && nothing.version === version && nothing.from <= after;
  if (isKnown && performance.now() - nothing.at < BELIEVED_MS)
    return reply(response, 200, { lines: [], cursor: String(after), more: false });
  const read = (from: bigint) => books.read((tx) => readLines(tx, from, limit + 1));
  let found = await read(after);
  const { hasFaults } = found;
  if (version !== undefined && found.lines.length === 0 && !hasFaults)
    counter.nothing = { from: after, version, at: performance.now() };
  const isTwice = hasFaults && (await takeFault(counter, 'statement_twice')) !== undefined;
  if (isTwice) found = await read(0n);
  const page = found.lines.slice(0, limit);
  const cursor = String(page.at(-1)?.seq ?? (isTwice ? 0n : after));
  let lines = page.map(({ shown }) => shown);
  if (isTwice) lines = lines.flatMap((line) => [line, line]);
  if (hasFaults && (await takeFault(counter, 'statement_reordered'))) lines.reverse();
  return reply(response, 200, { lines, cursor, more: found.lines.length > limit });
}

interface Order {
  key: string;
  units: bigint;
  currency: string;
  account: string;
  name: string;
  notAfter: number | undefined;
}

function readOrder(body: unknown): Order | undefined {
  const { key, units, currency, account, name, notAfter } = (body ?? {}) as Record<string, unknown>;
  const texts = [key, units, currency, account].every(
    (text) => typeof text === 'string' && text.length > 0 && text.length <= 140,
  );
  if (!texts || !/^[1-9]\d{0,40}$/.test(units as string)) return undefined;
  return {
    key: key as string,
    units: BigInt(units as string),
    currency: currency as string,
    account: account as string,
    name: typeof name === 'string' ? name.slice(0, 140) : '',
    notAfter: typeof notAfter === 'string' ? Date.parse(notAfter) : undefined,
  };
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LONGEST_BODY) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

export function reply(response: ServerResponse, status: number, body: unknown): void {
  const text = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
}

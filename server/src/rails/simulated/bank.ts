/**
 * A simulated bank: a separate outside party, for the sandbox and for tests.
 *
 * It is reached over HTTP on the loopback, keeps its own books (books.store.ts), and settles accepted payments later by
 * itself; so a lost answer is really lost, and its effect is not. Failures can be ordered here: by a fault, which hits the
 * next call or calls, or by a magic account number (magic.ts).
 *
 *   POST /payments {key, units, currency, account, name, notAfter?}   202 accepted · 422 rejected · 409 key used for another
 *   GET  /payments/:key                                               200 · 404 {proved}
 *   GET  /statement?after=cursor&limit=n                              {lines, cursor, more}
 *   GET  /balance/:currency                                           {units}
 *
 * Production never starts it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, later } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { randomHex } from '../../base/ids.ts';
import { describeError, type Log } from '../../base/log.ts';
import {
  agePayments,
  bookLine,
  deleteFaults,
  fault,
  insertFault,
  insertPayment,
  isFirstCall,
  openBooks,
  readBalance,
  readByKey,
  readLineById,
  readLines,
  readPayments,
  readPending,
  readSettings,
  returnPayment,
  setLineUnits,
  settleDue,
} from './books.store.ts';
import { magicOf } from './magic.ts';
import type { Fault, FaultKind, Payment, Settings } from './types.ts';

export interface SimulatedBank {
  /** Its URL for the adapter, and the token the adapter must send. */
  readonly url: string;
  readonly token: string;
  /**
   * The operator pays in own money.
   * @param id idempotency key, so that seeding may be repeated
   */
  fund(funding: { currency: string; units: bigint; id: string }): Promise<void>;
  /** A customer's deposit. @returns the id of the statement line */
  creditAccount(credit: {
    currency: string;
    units: bigint;
    text: string;
    payerName?: string;
    payerAccount?: string;
    /** The line's id, for a payment that may be requested twice and must be made once. */
    id?: string;
  }): Promise<string>;
  /**
   * Recalls a credit: a debit that no payout of ours explains.
   * @param id the line's id, for a recall that may be requested twice and must be made once
   * @returns the id of the statement line
   */
  recall(lineId: string, id?: string): Promise<string>;
  /** Returns a payment that it made, or will make. @returns whether there is one under the key that can be returned */
  startRefund(key: string): Promise<boolean>;
  /** Whether it has shown a line with this id. */
  hasLine(id: string): Promise<boolean>;
  /** Its own records: what it really did, however often it was called. */
  payments(key?: string): Promise<Payment[]>;
  balance(currency: string): Promise<bigint>;
  setFault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
  /** Settles everything due now, without waiting for its own timer. */
  settlesDue(): Promise<void>;
  /** So much real time passes for the keys that it has taken. */
  ages(ms: number): Promise<void>;
  /** Shows another amount under the id of a line it has already shown. */
  alterLine(lineId: string, units: bigint): Promise<void>;
  stop(): Promise<void>;
}

const SETTLE_MS = 800;
/** As long as many banks promise. */
const DEDUPLICATES_FOR_MS = 24 * 3_600_000;
const SLOW_MS = 60_000;
/** How often it checks for due payments while any are pending. */
const TICK_MS = 50;
const FAILED_MS = 1_000;
const LONGEST_BODY = 64 * 1024;

export async function startSimulatedBank(
  options: { adminUrl: string; clock: Clock; log: Log } & Partial<Settings>,
): Promise<SimulatedBank> {
  const { clock, log } = options;
  const books = await openBooks(options.adminUrl, {
    deduplicatesForMs: options.deduplicatesForMs ?? DEDUPLICATES_FOR_MS,
    provesAbsence: options.provesAbsence ?? true,
    settleMs: options.settleMs ?? SETTLE_MS,
    chargeUnits: options.chargeUnits ?? 0n,
  });
  const token = randomHex();
  const struck = (kind: FaultKind) => books.read((tx) => fault(tx, kind));
  const settling = keepSettling(() => books.locked((tx) => settleDue(tx, clock.now())), log);

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      log.error(describeError(error), 'simulated bank');
      if (!response.headersSent) reply(response, 500, { error: 'internal' });
      else response.destroy();
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${token}`) return reply(response, 401, { error: 'unauthorized' });
    const url = new URL(request.url ?? '/', 'http://bank');
    const [, first, second] = url.pathname.split('/').map(decodeURIComponent);
    if (request.method === 'POST' && first === 'payments' && second === undefined) return await pay(request, response);
    if (request.method !== 'GET') return reply(response, 405, { error: 'method' });
    if (first === 'payments' && second !== undefined) return await showPayment(response, second);
    if (first === 'statement') return await showStatement(response, url.searchParams);
    if (first === 'balance')
      return reply(response, 200, { units: String(await books.read((tx) => readBalance(tx, second ?? ''))) });
    return reply(response, 404, { error: 'path' });
  }

  async function pay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const order = readOrder(await readBody(request));
    if (order === undefined) return reply(response, 400, { error: 'malformed' });
    const magic = magicOf(order.account, order.name);

    const lostOnTheWay =
      (magic === 'answer_lost_before_effect' && (await books.read((tx) => isFirstCall(tx, order.key)))) ||
      (await struck('lose_answer_before_effect'));
    if (lostOnTheWay) return void response.socket?.destroy();
    if (order.notAfter !== undefined && Date.now() > order.notAfter) return reply(response, 409, { error: 'too_late' });

    const taken = await books.locked(async (tx) => {
      const settings = await readSettings(tx);
      const [same] = settings.deduplicatesForMs > 0 ? await readByKey(tx, order.key) : [];
      if (same !== undefined) {
        const agrees = same.units === order.units && same.currency === order.currency && same.account === order.account;
        return agrees ? same : 'conflict';
      }
      const why = await refusal(tx, order, magic);
      const returns = magic === 'returned' || (why === null && (await fault(tx, 'return_next')) !== undefined);
      const payment = {
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
      await insertPayment(tx, payment);
      return payment;
    });
    settling.poke();

    if (magic === 'answer_lost_after_effect' || (await struck('lose_answer_after_effect')))
      return void response.socket?.destroy();
    const delay = await struck('delay_answer');
    if (delay) await new Promise((wake) => setTimeout(wake, delay.delayMs));
    if (taken === 'conflict') return reply(response, 409, { error: 'key_used_for_another' });
    if (taken.state === 'rejected') return reply(response, 422, { error: 'rejected', why: taken.why });
    return reply(response, 202, { reference: taken.reference });
  }

  async function showPayment(response: ServerResponse, key: string): Promise<void> {
    if (await struck('status_unavailable')) return reply(response, 503, { error: 'unavailable' });
    const payments = await books.read((tx) => readByKey(tx, key));
    const payment = payments.find(({ state }) => state !== 'rejected') ?? payments[0];
    if (payment === undefined) return reply(response, 404, { proved: (await books.read(readSettings)).provesAbsence });
    return reply(response, 200, { state: payment.state, reference: payment.reference, why: payment.why });
  }

  async function showStatement(response: ServerResponse, query: URLSearchParams): Promise<void> {
    const twice = await struck('statement_twice');
    const after = twice ? 0n : BigInt(/^\d{1,18}$/.exec(query.get('after') ?? '')?.[0] ?? 0);
    const limit = Math.min(Number(query.get('limit') ?? 50) || 50, 500);
    const found = await books.read((tx) => readLines(tx, after, limit + 1));
    const page = found.slice(0, limit);
    const cursor = String(page.at(-1)?.seq ?? after);
    let lines = page.map(({ shown }) => shown);
    if (twice) lines = lines.flatMap((line) => [line, line]);
    if (await struck('statement_reordered')) lines.reverse();
    return reply(response, 200, { lines, cursor, more: found.length > limit });
  }

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    await settling.stop();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await books.close();
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,

    async fund({ currency, units, id }) {
      const reference = `${FUNDING}${id}`;
      await books.locked((tx) =>
        bookLine(tx, { id: reference, direction: 'credit', currency, units, reference, bookedAt: clock.now() }),
      );
    },
    creditAccount: ({ currency, units, text, payerName, payerAccount, id }) =>
      books.locked((tx) =>
        bookLine(tx, {
          ...(id === undefined ? {} : { id }),
          direction: 'credit',
          currency,
          units,
          reference: `UTR${randomHex(8).toUpperCase()}`,
          text,
          name: payerName ?? 'A Payer',
          account: payerAccount ?? '000000000000',
          bookedAt: clock.now(),
        }),
      ),
    async recall(lineId, id) {
      return await books.locked(async (tx) => {
        const line = await readLineById(tx, lineId);
        assert(line, `the bank has a line ${lineId}`);
        return await bookLine(tx, {
          ...line,
          ...(id === undefined ? {} : { id }),
          direction: 'debit',
          reference: `RECALL ${lineId}`,
          returnOf: lineId,
          why: 'recalled by the payer',
          bookedAt: clock.now(),
        });
      });
    },
    async startRefund(key) {
      const given = await books.locked((tx) => returnPayment(tx, key, clock.now()));
      settling.poke();
      return given;
    },
    hasLine: async (id) => (await books.read((tx) => readLineById(tx, id))) !== undefined,
    payments: (key) => books.read((tx) => readPayments(tx, key)),
    balance: (currency) => books.read((tx) => readBalance(tx, currency)),
    async setFault(fault) {
      await books.read((tx) => insertFault(tx, fault));
    },
    async clearFaults() {
      await books.read(deleteFaults);
    },
    async settlesDue() {
      await books.locked((tx) => settleDue(tx, clock.now()));
    },
    async ages(ms) {
      await books.read((tx) => agePayments(tx, ms));
    },
    async alterLine(lineId, units) {
      await books.read((tx) => setLineUnits(tx, lineId, units));
    },
    stop: () => (stopping ??= stop()),
  };
}

/** The bank's own reference of the operator's deposits. A payer cannot write this field. */
export const FUNDING = 'FUNDING:';

interface Order {
  key: string;
  units: bigint;
  currency: string;
  account: string;
  name: string;
  notAfter: number | undefined;
}

async function refusal(tx: Tx, order: Order, magic: ReturnType<typeof magicOf>): Promise<string | null> {
  if (magic === 'rejected') return 'account_closed';
  if (await fault(tx, 'refuse_next')) return 'refused_by_bank';
  const free = (await readBalance(tx, order.currency)) - (await readPending(tx, order.currency));
  return order.units > free ? 'insufficient_funds' : null;
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

function reply(response: ServerResponse, status: number, body: unknown): void {
  const text = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
}

/**
 * Checks for due payments: often while any are pending, else when woken. Pending payments are rows, so the first check is at
 * start.
 */
function keepSettling(settle: () => Promise<boolean>, log: Log) {
  const state = { stopped: false, poked: false, wake: (): void => undefined };

  async function look(): Promise<number> {
    try {
      return (await settle()) ? TICK_MS : Number.POSITIVE_INFINITY;
    } catch (error) {
      if (!state.stopped) log.warn(describeError(error), 'simulated bank could not settle');
      return FAILED_MS;
    }
  }
  async function keep(): Promise<void> {
    while (!state.stopped) {
      state.poked = false;
      const pauseMs = await look();
      if (state.stopped || state.poked) continue;
      await new Promise<void>((resolve) => {
        const timer = Number.isFinite(pauseMs) ? setTimeout(resolve, pauseMs) : undefined;
        state.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
  const running = keep();
  return {
    poke() {
      state.poked = true;
      state.wake();
    },
    async stop() {
      state.stopped = true;
      state.wake();
      await running;
    },
  };
}

/**
 * A simulated bank, as a separate outside party, for the sandbox and for tests.
 *
 * It is reached over HTTP on the loopback interface, keeps its own books (books.store.ts), and settles accepted payments later by
 * itself. So an answer can be lost while its effect remains. Failures can be requested here: by a fault, which affects the next
 * call or calls, or by a magic account number (magic.ts).
 *
 *   POST /payments {key, units, currency, account, name, notAfter?}   202 accepted · 422 rejected · 409 key used for another
 *   GET  /payments/:key                                               200 · 404 {proved}
 *   GET  /statement?after=cursor&limit=n                              {lines, cursor, more}
 *   GET  /balance/:currency                                           {units}
 *
 * The answers are in http.ts. Production never starts it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { randomHex } from '../../base/ids.ts';
import { describeError, type Log } from '../../base/log.ts';
import {
  agePayments,
  bookLine,
  deleteFaults,
  insertFault,
  openBooks,
  readBalance,
  readLineById,
  readPayments,
  returnPayment,
  setLineUnits,
  settleDue,
} from './books.store.ts';
import { answer, type Counter, reply } from './http.ts';
import { keepSettling } from './settling.ts';
import type { Fault, Payment, Settings } from './types.ts';

export interface SimulatedBank {
  /** Its URL for the adapter, and the token that the adapter must send. */
  readonly url: string;
  readonly token: string;
  /**
   * Deposits the operator's own money.
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
  /** Returns a payment that it has made, or will make. @returns whether there is one under the key that can be returned */
  returnPayment(key: string): Promise<boolean>;
  /** Whether it has shown a line with this id. */
  hasLine(id: string): Promise<boolean>;
  /** Its own records: what it really did, however often it was called. */
  payments(key?: string): Promise<Payment[]>;
  balance(currency: string): Promise<bigint>;
  setFault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
  /** Settles everything due now, without waiting for its own timer. */
  settlesDue(): Promise<void>;
  /** Increases the age of the keys that it has accepted by this much real time. */
  ages(ms: number): Promise<void>;
  /** Shows another amount under the id of a line that it has already shown. */
  alterLine(lineId: string, units: bigint): Promise<void>;
  stop(): Promise<void>;
}

const SETTLE_MS = 800;
/** A duration that many banks promise. */
const DEDUPLICATES_FOR_MS = 24 * 3_600_000;
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
  const settling = keepSettling(() => books.locked((tx) => settleDue(tx, clock.now())), { clock, log });

  const counter: Counter = { books, clock, token, accepted: settling.expect };
  const server = createServer((request, response) => {
    answer(counter, request, response).catch((error) => {
      log.error(describeError(error), 'simulated bank');
      if (!response.headersSent) reply(response, 500, { error: 'internal' });
      else response.destroy();
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));

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
          ...defined({ id }),
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
        assert(line, `the bank has no line ${lineId}`);
        return await bookLine(tx, {
          ...line,
          ...defined({ id }),
          direction: 'debit',
          reference: `RECALL ${lineId}`,
          returnOf: lineId,
          why: 'recalled by the payer',
          bookedAt: clock.now(),
        });
      });
    },
    async returnPayment(key) {
      const given = await books.locked((tx) => returnPayment(tx, key, clock.now()));
      settling.expect(clock.now());
      return given;
    },
    hasLine: async (id) => (await books.read((tx) => readLineById(tx, id))) !== undefined,
    payments: (key) => books.read((tx) => readPayments(tx, key)),
    balance: (currency) => books.read((tx) => readBalance(tx, currency)),
    async setFault(fault) {
      await books.locked((tx) => insertFault(tx, fault));
    },
    async clearFaults() {
      await books.locked(deleteFaults);
    },
    async settlesDue() {
      await books.locked((tx) => settleDue(tx, clock.now()));
    },
    async ages(ms) {
      await books.locked((tx) => agePayments(tx, ms));
    },
    async alterLine(lineId, units) {
      await books.locked((tx) => setLineUnits(tx, lineId, units));
    },
    stop: () => (stopping ??= stop()),
  };
}

/** The bank's own reference of the operator's deposits. A payer cannot write into this field. */
export const FUNDING = 'FUNDING:';

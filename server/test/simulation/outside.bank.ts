/**
 * A bank, and what really happened there: the truth we are measured by. Of us it knows only what it is sent.
 *
 * It either deduplicates by key or pays whatever it is handed, as often as it is handed. Payments settle after a while, are
 * rejected, or come back; its statement shows lines late, twice or out of order.
 */
import { Unavailable } from '../../src/base/errors.ts';
import type { BankAdapter, StatementLine } from '../../src/rails/bank.ts';
import type { PayoutStatus, Sending, Sent } from '../../src/rails/rail.ts';
import type { Calls } from './calls.ts';
import type { Chance } from './chance.ts';
import type { Faults } from './faults.ts';

export const CURRENCY = 'INR';
export const FIAT = 'inr';

interface Payment {
  key: string;
  account: string;
  units: bigint;
  state: 'taken' | 'settled' | 'rejected' | 'returned';
}

export interface BankWorld {
  adapter(): BankAdapter;
  /** Somebody pays into our account. @returns the line's id */
  credit(units: bigint, text: string, how?: { funding?: boolean }): string;
  recall(line: string): void;
  readonly payments: readonly Payment[];
  /** Credits less what was recalled, by what stood in their text. */
  paidIn(text: string): bigint;
  /** Left our account for this one and has not come back. */
  outTo(account: string): bigint;
  /** Was ever paid to this account, whether or not it came back. */
  everTo(account: string): bigint;
  /** Nothing of it is under way. */
  readonly idle: boolean;
}

const PAGE = 8;

export function openBank(deps: {
  deduplicates: boolean;
  /** It promises to deduplicate, and pays whatever it is handed. */
  lies: boolean;
  chance: Chance;
  faults: Faults;
  calls: Calls;
  after: (ms: number, body: () => void) => void;
  now: () => number;
  /** Told of every payment that takes effect. */
  paid: (payment: Payment) => void;
}): BankWorld {
  const { chance, faults, after, lies } = deps;
  const deduplicates = deps.deduplicates && !lies;
  const lines: StatementLine[] = [];
  const payments: Payment[] = [];
  const refusals = new Map<string, string>();
  const credits: { id: string; units: bigint; text: string; recalled: boolean }[] = [];
  let read = 0;
  let lineNumber = 0;
  let underWay = 0;

  const later = (ms: number, body: () => void) => {
    underWay += 1;
    after(ms, () => {
      underWay -= 1;
      body();
    });
  };

  function show(line: Omit<StatementLine, 'bookedAt'>): void {
    const whole = { ...line, bookedAt: new Date(deps.now()) };
    const push = () => {
      lines.push(whole);
      const last = lines.length - 1;
      const before = lines[last - 1];
      const mayMove = line.recallOf === undefined && last - 1 >= read;
      if (before !== undefined && mayMove && faults.strikes('lines_swapped')) {
        lines[last - 1] = whole;
        lines[last] = before;
      }
      if (faults.strikes('line_twice')) later(chance.int(1, 60_000), () => lines.push(whole));
    };
    // Nothing is recalled that was not there.
    const recalled = line.recallOf?.externalId;
    const waitsFor = () => recalled !== undefined && !lines.some(({ externalId }) => externalId === recalled);
    const inTime = () => (waitsFor() ? later(5_000, inTime) : push());
    if (faults.strikes('line_late')) later(chance.int(1_000, 60_000), inTime);
    else inTime();
  }

  function lineId(): string {
    lineNumber += 1;
    return `line-${lineNumber}`;
  }

  /** What the bank does with an order that has arrived. */
  function take(sending: Sending): Sent {
    const { key, units, destination } = sending;
    const there = payments.find((one) => one.key === key);
    const refused = refusals.get(key);
    if (deduplicates && there !== undefined) return { outcome: 'accepted', reference: `utr-${key}` };
    if (deduplicates && refused !== undefined) return { outcome: 'refused', why: refused };
    if (destination.kind !== 'account') return { outcome: 'refused', why: 'a bank pays to accounts' };
    if (faults.strikes('bank_refuses')) {
      refusals.set(key, 'account_closed');
      return { outcome: 'refused', why: 'account_closed' };
    }
    const account = destination.details['account'] ?? '';
    const payment: Payment = { key, account, units, state: 'taken' };
    payments.push(payment);
    deps.paid(payment);
    const rejects = faults.strikes('bank_rejects_later');
    const returns = !rejects && faults.strikes('bank_returns');
    later(chance.int(500, 20_000), () => {
      if (rejects) {
        payment.state = 'rejected';
        return;
      }
      payment.state = 'settled';
      const chargeUnits = faults.strikes('bank_charges') ? 590n : 0n;
      show({
        externalId: lineId(),
        direction: 'debit',
        currency: CURRENCY,
        units,
        chargeUnits,
        reference: `utr-${key}`,
        key,
        free: {},
      });
      if (!returns) return;
      later(chance.int(1, 40_000), () => {
        payment.state = 'returned';
        const returnOf = { key, why: 'account_closed' };
        show({
          externalId: lineId(),
          direction: 'credit',
          currency: CURRENCY,
          units,
          reference: `ret-${key}`,
          returnOf,
          free: {},
        });
      });
    });
    return { outcome: 'accepted', reference: `utr-${key}` };
  }

  function statusOf(key: string): PayoutStatus {
    if (faults.strikes('bank_cannot_say')) return { outcome: 'unknown', why: 'ask again' };
    const there = payments.findLast((one) => one.key === key);
    const refused = refusals.get(key);
    if (there === undefined)
      return refused === undefined ? { outcome: 'absent' } : { outcome: 'refused', why: refused };
    return there.state === 'rejected'
      ? { outcome: 'refused', why: 'rejected_by_their_bank' }
      : { outcome: 'known', reference: `utr-${key}` };
  }

  const sum = (from: readonly { units: bigint }[]) => from.reduce((all, { units }) => all + units, 0n);

  return {
    payments,
    adapter: () => ({
      code: 'bank.simulated',
      deduplicates: deduplicates || lies,
      currencies: { [CURRENCY]: FIAT },
      payee: () => ({
        holder: 'Cloverleaf',
        bank: 'A bank',
        branch: '',
        accountType: '',
        accountNumber: '1',
        ifsc: 'SIMU0000001',
        iban: '',
        bic: '',
      }),
      statement: (cursor) =>
        deps.calls.make('bank.statement', () => {
          const from = cursor === '' ? 0 : Number(cursor);
          const shown = faults.strikes('page_again') ? Math.max(0, from - 3) : from;
          const upTo = Math.min(lines.length, from + PAGE);
          read = Math.max(read, upTo);
          return { lines: lines.slice(shown, upTo), cursor: String(upTo), more: upTo < lines.length };
        }),
      async send(sending) {
        try {
          return await deps.calls.make(
            'bank.send',
            () => {
              if (sending.notAfter !== undefined && deps.now() > sending.notAfter.getTime())
                return { outcome: 'unknown' as const, why: 'too late to begin' };
              // Bytes that left in time and arrive after everybody has given up on them.
              if (faults.strikes('call_late')) {
                later(chance.int(1_000, 30_000), () => void take(sending));
                throw new Unavailable('bank', 'no answer');
              }
              return take(sending);
            },
            'acts',
          );
        } catch (error) {
          if (!(error instanceof Unavailable)) throw error;
          return { outcome: 'unknown', why: error.message };
        }
      },
      async status(key) {
        try {
          return await deps.calls.make('bank.status', () => statusOf(key));
        } catch (error) {
          if (!(error instanceof Unavailable)) throw error;
          return { outcome: 'unknown', why: error.message };
        }
      },
      balance: () =>
        deps.calls.make('bank.balance', () =>
          lines
            .filter((line, at) => lines.findIndex(({ externalId }) => externalId === line.externalId) === at)
            .reduce(
              (all, { direction, units, chargeUnits = 0n }) =>
                all + (direction === 'credit' ? (units ?? 0n) : -(units ?? 0n) - chargeUnits),
              0n,
            ),
        ),
    }),
    credit(units, text, how = {}) {
      const id = lineId();
      if (!how.funding) credits.push({ id, units, text, recalled: false });
      show({ externalId: id, direction: 'credit', currency: CURRENCY, units, reference: id, free: { text }, ...how });
      return id;
    },
    recall(line) {
      const credit = credits.find(({ id }) => id === line);
      if (credit === undefined || credit.recalled) return;
      credit.recalled = true;
      const recallOf = { externalId: line, why: 'recalled' };
      const { units } = credit;
      show({
        externalId: lineId(),
        direction: 'debit',
        currency: CURRENCY,
        units,
        reference: `rec-${line}`,
        recallOf,
        free: {},
      });
    },
    paidIn: (text) => sum(credits.filter((one) => one.text === text)),
    outTo: (account) =>
      sum(payments.filter((one) => one.account === account && one.state !== 'rejected' && one.state !== 'returned')),
    everTo: (account) => sum(payments.filter((one) => one.account === account && one.state !== 'rejected')),
    get idle() {
      return underWay === 0;
    },
  };
}

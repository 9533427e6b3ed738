/**
 * A bank, and its real payments: the truth against which our books are checked. It knows only the requests it receives.
 *
 * It either deduplicates by key for some time, and then forgets the key, or pays every request it receives. Payments settle after
 * a while, are rejected, or are returned; its statement shows lines late, twice or out of order.
 */
import { Unavailable } from '../../src/base/errors.ts';
import type { BankAdapter, StatementLine } from '../../src/rails/bank.ts';
import type { PayoutStatus, Sending, Sent } from '../../src/rails/rail.ts';
import type { Calls } from './calls.ts';
import type { Chance } from './chance.ts';
import type { Faults } from './faults.ts';

export const CURRENCY = 'INR';
export const FIAT = 'inr';
/** Another account of ours, into which customers pay by mistake. */
export const OTHER_CURRENCY = 'EUR';
export const OTHER_FIAT = 'eur';
const CURRENCIES: Readonly<Record<string, string>> = { [CURRENCY]: FIAT, [OTHER_CURRENCY]: OTHER_FIAT };
/** The part of a returned payment that banks on the way keep. */
const KEPT_ON_RETURN = 590n;

interface Payment {
  key: string;
  account: string;
  asset: string;
  units: bigint;
  state: 'taken' | 'settled' | 'rejected' | 'returned';
  takenAt: number;
  /** The part of it that was returned. */
  backUnits: bigint;
  /** A restore has lost it: if it was returned, no one was paid, and the part kept by banks on the way is our loss. */
  isLost?: boolean;
}

export interface BankEnvironment {
  adapter(): BankAdapter;
  /** A payer pays into our account. @param how.says the line's text, if different @returns the line's id */
  credit(
    units: bigint,
    text: string,
    how?: { funding?: boolean; currency?: string; account?: string; name?: string; says?: string },
  ): string;
  /** Recalls all that is left of a credit. */
  recall(line: string): void;
  /** Recalls this much of a credit, or all that is left of it. @returns the amount */
  recallPart(line: string, units: bigint): bigint;
  readonly payments: readonly Payment[];
  /** Credits less recalls, by the line's text. */
  paidIn(text: string, asset?: string): bigint;
  /** The same without subtracting recalls. */
  everIn(text: string, asset?: string): bigint;
  /** An operator asks it about a payment: it searches its archive, and its status query knows the payment from then on. */
  asks(key: string): void;
  /** When a page of the statement first held this line, in milliseconds. */
  firstShown(line: string): number | undefined;
  /** It has paid after all what it had rejected, and shows it. */
  turnsOut(key: string): void;
  /** Amount that left our account for this one and was not returned. */
  outTo(account: string, asset?: string): bigint;
  /** Amount ever paid to this account, including returned payments. */
  everTo(account: string): bigint;
  /** None of its payments is under way. */
  readonly idle: boolean;
}

const PAGE = 8;
const HOUR_MS = 3_600_000;
const LONGEST_ANSWER_MS = 9_500;
/** Maximum time from a page with a line to its processing. */
const MEETS_WITHIN_MS = 60;

// Long because the bank is one closure: its payments and its statement share what it has done.
export function openBank(deps: {
  /** 0 if it pays every request it receives. */
  deduplicatesForMs: number;
  /** Maximum time until a payment is shown; 20 s by default. */
  settlesWithinMs?: number;
  /** It promises to deduplicate, and pays every request it receives. */
  lies: boolean;
  chance: Chance;
  faults: Faults;
  calls: Calls;
  after: (ms: number, body: () => void) => void;
  now: () => number;
  /** Its statement shows this payment without its key, and it is not returned. */
  hidesKey?: (key: string) => boolean;
  /** Requests never reach it. */
  loses?: () => boolean;
  /** It answers a submission only when its statement has shown that payment. */
  answersWithLine?: () => boolean;
  /** It rejects this payment, and may show later that it was paid. */
  refusesForNow?: (key: string) => boolean;
  /** Called with every payment that takes effect. */
  paid: (payment: Payment) => void;
  /** Called with every key by which money leaves. */
  leaves: (key: string) => void;
}): BankEnvironment {
  const { chance, faults, after, lies } = deps;
  const deduplicates = deps.deduplicatesForMs > 0 && !lies;
  const lines: StatementLine[] = [];
  const payments: Payment[] = [];
  const refusals = new Map<string, { why: string; takenAt: number }>();
  /** Keys that an operator has asked about. */
  const archived = new Set<string>();
  const credits: { id: string; units: bigint; text: string; currency: string; recalledUnits: bigint }[] = [];
  const shown = new Map<string, number>();
  /** Keys whose answer waits until a page holds their line. */
  const waiting = new Map<string, () => void>();
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
      if (before !== undefined && mayMove && faults.occurs('lines_swapped')) {
        lines[last - 1] = whole;
        lines[last] = before;
      }
      if (faults.occurs('line_twice')) later(chance.int(1, 60_000), () => lines.push(whole));
    };
    // A credit is recalled only if it is on the account.
    const recalled = line.recallOf?.externalId;
    const waitsFor = () => recalled !== undefined && !lines.some(({ externalId }) => externalId === recalled);
    const inTime = () => (waitsFor() ? later(5_000, inTime) : push());
    if (faults.occurs('line_late')) later(chance.int(1_000, 60_000), inTime);
    else inTime();
  }

  function showDebit({ key, asset, units }: Payment, chargeUnits: bigint): void {
    const currency = currencyOf(asset);
    const reference = `utr-${key}`;
    const named = deps.hidesKey?.(key) === true ? {} : { key };
    show({ externalId: lineId(), direction: 'debit', currency, units, chargeUnits, reference, ...named, free: {} });
  }

  function lineId(): string {
    lineNumber += 1;
    return `line-${lineNumber}`;
  }

  /** A bank that promises nothing about keys finds a payment by its reference, without a time limit. */
  const isRecognised = ({ key, takenAt }: { key: string; takenAt: number }): boolean =>
    !deduplicates || archived.has(key) || deps.now() - takenAt < deps.deduplicatesForMs;

  /** The bank's handling of an order that has arrived. */
  function take(sending: Sending): Sent {
    const { key, units, asset, destination } = sending;
    const there = payments.find((one) => one.key === key && isRecognised(one));
    const refused = refusals.get(key);
    if (deduplicates && there !== undefined) return { outcome: 'submitted', reference: `utr-${key}` };
    if (deduplicates && refused !== undefined && isRecognised({ key, ...refused }))
      return { outcome: 'rejected', why: refused.why };
    if (destination.kind !== 'account') return { outcome: 'rejected', why: 'a bank pays to accounts' };
    if (faults.occurs('bank_refuses')) {
      refusals.set(key, { why: 'account_closed', takenAt: deps.now() });
      return { outcome: 'rejected', why: 'account_closed' };
    }
    const account = destination.details['account'] ?? '';
    const payment: Payment = { key, account, asset, units, state: 'taken', takenAt: deps.now(), backUnits: 0n };
    if (deps.refusesForNow?.(key) === true) {
      payments.push({ ...payment, state: 'rejected' });
      return { outcome: 'rejected', why: 'refused' };
    }
    deps.leaves(key);
    payments.push(payment);
    deps.paid(payment);
    const rejects = faults.occurs('bank_rejects_later');
    const returns = !rejects && faults.occurs(key.startsWith('ref_') ? 'bank_returns_refund' : 'bank_returns');
    later(chance.int(500, deps.settlesWithinMs ?? 20_000), () => {
      if (rejects) {
        payment.state = 'rejected';
        return;
      }
      payment.state = 'settled';
      const chargeUnits = faults.occurs('bank_charges') ? 590n : 0n;
      showDebit(payment, chargeUnits);
      if (!returns || deps.hidesKey?.(key) === true) return;
      later(chance.int(1, 40_000), () => {
        payment.state = 'returned';
        const keeps = units > KEPT_ON_RETURN * 2n && faults.occurs('bank_returns_less');
        payment.backUnits = keeps ? units - KEPT_ON_RETURN : units;
        const returnOf = { key, why: 'account_closed' };
        show({
          externalId: lineId(),
          direction: 'credit',
          currency: currencyOf(asset),
          units: payment.backUnits,
          reference: `ret-${key}`,
          returnOf,
          free: {},
        });
      });
    });
    return { outcome: 'submitted', reference: `utr-${key}` };
  }

  function statusOf(key: string): PayoutStatus {
    if (faults.occurs('bank_cannot_say')) return { outcome: 'unknown', why: 'ask again' };
    const there = payments.findLast((one) => one.key === key && isRecognised(one));
    const refused = refusals.get(key);
    if (there === undefined)
      return refused === undefined || !isRecognised({ key, ...refused })
        ? { outcome: 'absent' }
        : { outcome: 'rejected', why: refused.why };
    return there.state === 'rejected'
      ? { outcome: 'rejected', why: 'rejected_by_their_bank' }
      : { outcome: 'known', reference: `utr-${key}` };
  }

  /** Until a page has the line of this payment, and not for long: the caller times out after ten seconds. */
  async function isShown(key: string): Promise<void> {
    await new Promise<void>((wake) => {
      waiting.set(key, wake);
      // Both timeouts are on the simulation's own clock (time.ts), which the scheduler moves: nothing sleeps.
      setTimeout(wake, LONGEST_ANSWER_MS);
    });
    waiting.delete(key);
    await new Promise((wake) => setTimeout(wake, chance.int(0, MEETS_WITHIN_MS)));
  }

  /** @param most all that is left of it by default @returns the amount */
  function recallUnits(line: string, most?: bigint): bigint {
    const credit = credits.find(({ id }) => id === line);
    const left = credit === undefined ? 0n : credit.units - credit.recalledUnits;
    const units = most === undefined || most > left ? left : most;
    if (credit === undefined || units === 0n) return 0n;
    const reference = credit.recalledUnits === 0n ? `rec-${line}` : `rec-${line}-${credit.recalledUnits}`;
    credit.recalledUnits += units;
    const recallOf = { externalId: line, why: 'recalled' };
    const { currency } = credit;
    show({ externalId: lineId(), direction: 'debit', currency, units, reference, recallOf, free: {} });
    return units;
  }

  const currencyOf = (asset: string): string => (asset === OTHER_FIAT ? OTHER_CURRENCY : CURRENCY);
  const inOf = (text: string, asset: string) =>
    credits.filter((one) => one.text === text && CURRENCIES[one.currency] === asset);
  const sum = (from: readonly { units: bigint }[]) => from.reduce((all, { units }) => all + units, 0n);

  return {
    payments,
    adapter: () => ({
      code: 'bank.simulated',
      deduplicatesForMs: lies ? HOUR_MS : deps.deduplicatesForMs,
      currencies: CURRENCIES,
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
          const first = faults.occurs('page_again') ? Math.max(0, from - 3) : from;
          const upTo = Math.min(lines.length, from + PAGE);
          read = Math.max(read, upTo);
          const page = lines.slice(first, upTo);
          for (const { externalId } of page) if (!shown.has(externalId)) shown.set(externalId, deps.now());
          for (const { key, direction } of page) if (key !== undefined && direction === 'debit') waiting.get(key)?.();
          return { lines: page, cursor: String(upTo), more: upTo < lines.length };
        }),
      async send(sending) {
        try {
          const sent = await deps.calls.make(
            'bank.send',
            () => {
              if (sending.notAfter !== undefined && deps.now() > sending.notAfter.getTime())
                return { outcome: 'unknown' as const, why: 'too late to begin' };
              if (deps.loses?.() === true) throw new Unavailable('bank', 'no answer');
              // Bytes that left in time and arrive after every caller has timed out.
              // A lie shows only if a request is sent again before it has arrived, so a bank that lies is often late.
              if (faults.occurs('call_late') || (lies && !faults.ended && chance.happens(0.5))) {
                later(chance.int(1_000, 30_000), () => void take(sending));
                throw new Unavailable('bank', 'no answer');
              }
              return take(sending);
            },
            'actions',
          );
          if (sent.outcome === 'submitted' && deps.answersWithLine?.() === true) await isShown(sending.key);
          return sent;
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
      balance: (asset) =>
        deps.calls.make('bank.balance', () =>
          lines
            .filter(({ currency }) => CURRENCIES[currency] === asset)
            .filter((line, at, own) => own.findIndex(({ externalId }) => externalId === line.externalId) === at)
            .reduce(
              (all, { direction, units, chargeUnits = 0n }) =>
                all + (direction === 'credit' ? (units ?? 0n) : -(units ?? 0n) - chargeUnits),
              0n,
            ),
        ),
    }),
    credit(units, text, how = {}) {
      const id = lineId();
      const { currency = CURRENCY, account, name = '', says = text, ...rest } = how;
      const payer = account === undefined ? {} : { account, name };
      if (!how.funding) credits.push({ id, units, text, currency, recalledUnits: 0n });
      show({
        externalId: id,
        direction: 'credit',
        currency,
        units,
        reference: id,
        free: { text: says, ...payer },
        ...rest,
      });
      return id;
    },
    recall: (line) => void recallUnits(line),
    recallPart: recallUnits,
    paidIn: (text, asset = FIAT) =>
      sum(inOf(text, asset)) - inOf(text, asset).reduce((all, { recalledUnits }) => all + recalledUnits, 0n),
    everIn: (text, asset = FIAT) => sum(inOf(text, asset)),
    asks(key) {
      archived.add(key);
      if (!payments.some((one) => one.key === key) && !refusals.has(key))
        refusals.set(key, { why: 'never_received', takenAt: deps.now() });
    },
    firstShown: (line) => shown.get(line),
    turnsOut(key) {
      const payment = payments.find((one) => one.key === key && one.state === 'rejected');
      if (payment === undefined) return;
      payment.state = 'settled';
      deps.leaves(key);
      showDebit(payment, 0n);
      deps.paid(payment);
    },
    outTo: (account, asset = FIAT) =>
      payments
        .filter((one) => one.account === account && one.asset === asset && one.state !== 'rejected')
        .filter(({ state, isLost }) => !(state === 'returned' && isLost === true))
        .reduce((all, { units, backUnits }) => all + units - backUnits, 0n),
    everTo: (account) => sum(payments.filter((one) => one.account === account && one.state !== 'rejected')),
    get idle() {
      return underWay === 0;
    },
  };
}

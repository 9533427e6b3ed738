/**
 * The simulated bank as a rail: the adapter calls bank.ts of this folder over HTTP, as it would call a real bank.
 *
 * It is also the example for other adapters: every call has a deadline and is tried once; every answer that is not certainly yes
 * or no is `unknown`; amounts are parsed by hand, because JSON numbers may lose digits.
 */
import { adapter, type Values } from '../../base/adapter.ts';
import { defined } from '../../base/defined.ts';
import { integer } from '../../base/env.ts';
import { Unavailable } from '../../base/errors.ts';
import type { AssetCode } from '../../base/money.ts';
import { type Bank, type BankAdapter, type BankContext, bankRail, type StatementLine } from '../bank.ts';
import { type Answer, callOnce } from '../call.ts';
import type { Payee } from '../rail.ts';
import { FUNDING } from './bank.ts';
import type { ShownLine } from './types.ts';

export { type SimulatedBank, startSimulatedBank } from './bank.ts';
export { MAGIC_ACCOUNTS, MAGIC_NAMES, type MagicOutcome } from './magic.ts';
export type { Fault, FaultKind, Payment, Settings } from './types.ts';

/** The operator's accounts at this bank: valid in form, and without an owner. */
const HOLDER = { holder: 'Cloverleaf Sandbox', bank: 'Simulated Bank', branch: 'Loopback', accountType: 'Current' };
const byIban = (iban: string, bic: string): Payee => ({ ...HOLDER, accountNumber: '', ifsc: '', iban, bic });
const byNumber = (accountNumber: string, codes?: Payee['codes']): Payee => ({
  ...{ ...HOLDER, accountNumber, ifsc: '', iban: '', bic: '' },
  ...defined({ codes }),
});
const PAYEES: Readonly<Record<AssetCode, Payee>> = {
  inr: { ...HOLDER, accountNumber: '000100020003', ifsc: 'SIMU0000001', iban: '', bic: '' },
  eur: byIban('DE02120300000000202051', 'SIMUDEFFXXX'),
  try: byIban('TR330006100519786457841326', 'SIMUTRISXXX'),
  aed: byIban('AE070331234567890123456', 'SIMUAEADXXX'),
  // A CLABE, whose last digit is a check digit.
  mxn: byNumber('032180000118359719'),
  ngn: byNumber('0001000200', { bankCode: '999' }),
  // A PIX key: the number of a company.
  brl: byNumber('11222333000181'),
  php: byNumber('000100020003', { bankCode: 'SIMUPHM1' }),
  gbp: byNumber('00010002', { sortCode: '000100' }),
  usd: byNumber('000100020003', { routingNumber: '021000021' }),
  // A paybill number, and the account there.
  kes: byNumber('000100', { bankCode: '999999' }),
};

const CODE = 'bank.simulated';
const CURRENCIES: Readonly<Record<string, AssetCode>> = { INR: 'inr', EUR: 'eur' };
const PAGE_LINES = 50;
const DEADLINE_MS = 5_000;
export const HOUR_MS = 3_600_000;

export interface SimulatedBankSettings {
  url: string;
  token: string;
  /** The duration that the rail declares; the bank must be started with the same value. */
  deduplicatesForMs: number;
  code?: string;
  /** Our assets by the bank's spelling of their currencies. All of them must be in the asset registry. */
  currencies?: Readonly<Record<string, AssetCode>>;
  deadlineMs?: number;
}

export const simulatedBank = (settings: SimulatedBankSettings, context: BankContext) =>
  bankRail(adapterOf(settings), context);

export const loopbackBank = adapter({
  code: 'simulated',
  about: 'The sandbox’s simulated bank, on this machine',
  sandboxOnly: 'its money is invented',
  settings: {
    deduplicatesForHours: integer(
      'SANDBOX_BANK_DEDUPLICATES_HOURS',
      'hours for which the simulated bank recognises a payment key; after that, and always with 0, it pays a repeated key again',
      24,
      { min: 0, max: 168 },
    ),
  },
  create: (values, place: Omit<SimulatedBankSettings, 'deduplicatesForMs'>) =>
    simulatedBankAt({ ...place, deduplicatesForMs: recognisesForMs(values) }),
});

/** How long the sandbox's bank recognises a key by its setting, in milliseconds. */
export const recognisesForMs = ({ deduplicatesForHours }: Values): number => Number(deduplicatesForHours) * HOUR_MS;

/** The bank as an installation configures it. */
export const simulatedBankAt = (settings: SimulatedBankSettings): Bank => ({
  code: settings.code ?? CODE,
  accounts: Object.entries(settings.currencies ?? CURRENCIES).map(([currency, asset]) => ({ currency, asset })),
  open: (context) => simulatedBank(settings, context),
});

function adapterOf(settings: SimulatedBankSettings): BankAdapter {
  const { code = CODE, currencies = CURRENCIES } = settings;
  const currencyOf = (asset: AssetCode) => Object.entries(currencies).find(([, ours]) => ours === asset)?.[0];
  const deadlineMs = settings.deadlineMs ?? DEADLINE_MS;
  const call = (method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> =>
    callOnce(code, {
      method,
      url: `${settings.url}${path}`,
      headers: { authorization: `Bearer ${settings.token}` },
      body,
      deadlineMs,
    });

  return {
    code,
    deduplicatesForMs: settings.deduplicatesForMs,
    currencies,

    payee: (asset) => (currencyOf(asset) === undefined ? undefined : (PAYEES[asset] ?? PAYEES.inr)),

    async statement(cursor) {
      const { status, body } = await call('GET', `/statement?after=${encodeURIComponent(cursor)}&limit=${PAGE_LINES}`);
      const page = body as { lines?: ShownLine[]; cursor?: string; more?: boolean } | undefined;
      if (status !== 200 || !Array.isArray(page?.lines) || typeof page.cursor !== 'string') {
        throw new Unavailable(code, `statement answered ${status}`);
      }
      return { lines: page.lines.map(readLine), cursor: page.cursor, more: page.more === true };
    },

    async send({ key, asset, units, destination, notAfter }) {
      const currency = currencyOf(asset);
      if (currency === undefined) return { outcome: 'rejected', why: 'currency_not_held' };
      if (destination.kind !== 'account') return { outcome: 'rejected', why: 'not_an_account' };
      const { account, iban, name } = destination.details;
      const to = account ?? iban;
      if (!to) return { outcome: 'rejected', why: 'no_account_number' };
      if (notAfter !== undefined && Date.now() > notAfter.getTime())
        return { outcome: 'unknown', why: 'too late to submit' };
      try {
        const { status, body } = await call('POST', '/payments', {
          key,
          units: String(units),
          currency,
          account: to,
          name: name ?? '',
          notAfter: notAfter?.toISOString(),
        });
        const { reference, why } = (body ?? {}) as { reference?: string; why?: string };
        if (status === 202) return { outcome: 'submitted', ...defined({ reference }) };
        if (status === 422) return { outcome: 'rejected', why: why ?? 'rejected_by_bank' };
        return { outcome: 'unknown', why: `the bank answered ${status}` };
      } catch (error) {
        return { outcome: 'unknown', why: whyOf(error) };
      }
    },

    async status(key) {
      try {
        const { status, body } = await call('GET', `/payments/${encodeURIComponent(key)}`);
        const said = (body ?? {}) as { state?: string; reference?: string; why?: string; proved?: boolean };
        if (status === 404 && said.proved === true) return { outcome: 'absent' };
        if (status !== 200) return { outcome: 'unknown', why: `the bank answered ${status}` };
        if (said.state === 'rejected') return { outcome: 'rejected', why: said.why ?? 'rejected_by_bank' };
        return { outcome: 'known', ...defined({ reference: said.reference }) };
      } catch (error) {
        return { outcome: 'unknown', why: whyOf(error) };
      }
    },

    async balance(asset) {
      const { status, body } = await call('GET', `/balance/${encodeURIComponent(currencyOf(asset) ?? '')}`);
      const units = (body as { units?: string } | undefined)?.units;
      if (status !== 200 || typeof units !== 'string' || !/^-?\d{1,60}$/.test(units)) {
        throw new Unavailable(code, `balance answered ${status}`);
      }
      return BigInt(units);
    },
  };
}

function readLine(shown: ShownLine): StatementLine {
  const charge = readUnits(shown.charge);
  return {
    externalId: shown.id,
    direction: shown.direction,
    currency: shown.currency,
    // If a charge cannot be parsed, the whole line cannot be booked.
    units: charge === null ? null : readUnits(shown.units),
    ...defined({ chargeUnits: charge ?? undefined }),
    reference: shown.reference,
    bookedAt: new Date(shown.bookedAt),
    ...defined({ key: shown.key ?? undefined }),
    ...(shown.returnOf === null
      ? {}
      : shown.direction === 'credit'
        ? { returnOf: { key: shown.returnOf, why: shown.why ?? '' } }
        : { recallOf: { externalId: shown.returnOf, why: shown.why ?? '' } }),
    ...(shown.direction === 'credit' && shown.reference.startsWith(FUNDING) ? { funding: true } : {}),
    free: { text: shown.text, name: shown.name, account: shown.account },
  };
}

const readUnits = (text: unknown): bigint | null =>
  typeof text === 'string' && /^-?\d{1,78}$/.test(text) ? BigInt(text) : null;

/** The kind of an outside failure, never its content. */
const whyOf = (error: unknown): string => (error instanceof Unavailable ? error.message : 'call failed');

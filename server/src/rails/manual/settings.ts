/**
 * Settings of the manual bank: the operator's accounts, in which form their files go out, and how their statements look.
 *
 * They are a JSON text, usually a file, because an account has more to it than fits an environment variable. Everything is
 * read by hand and refused with the path of the field and its rule; what is not known is refused, too, so that a misspelt
 * setting is not silently left out.
 */
import { SettingError } from '../../base/env.ts';
import type { AssetCode } from '../../base/money.ts';

export type FileFormat = 'csv' | 'pain.001.001.09';

export interface ManualBankSettings {
  /** The rail's code; it stands in rows, so it never changes. */
  code: string;
  accounts: readonly ManualAccount[];
  /** The newest statement of each account must be younger than this, or the rail is unhealthy. Weekends count. */
  statementDeadlineMs: number;
}

export interface ManualAccount {
  asset: AssetCode;
  /** As the bank writes it: `INR`. */
  currency: string;
  holder: string;
  bank: string;
  branch: string;
  accountType: string;
  /** At least one of account number and IBAN. */
  accountNumber: string;
  ifsc: string;
  iban: string;
  bic: string;
  /** The form of its payout files. */
  payoutFile: FileFormat;
  /** Accounts of the operator's own from which it funds this one; a credit from them is funding. */
  fundingAccounts: readonly string[];
  /** How a statement in CSV looks; absent where only camt.053 is taken. */
  csv?: CsvForm;
}

export interface CsvForm {
  encoding: 'auto' | 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  delimiter: string;
  decimal: '.' | ',';
  /** Between groups of three digits; '' for none. */
  thousands: string;
  /** Of DD, MM, YYYY and what stands between them. */
  date: string;
  /** Names in the header row. Either `amount` with a sign, or `credit` and `debit`. */
  columns: {
    bookedOn: string;
    amount?: string;
    credit?: string;
    debit?: string;
    /** Joined with spaces. */
    text: readonly string[];
    name?: string;
    account?: string;
    /** The bank's own reference of a line, if it is stable. */
    reference?: string;
    currency?: string;
    /** Our account, where the file says whose it is. */
    ownAccount?: string;
    /** What the account held after the line. */
    balance?: string;
    kind?: string;
  };
  /** Whether the last row has a line end, too. Without one, a file that was cut within its last field goes unnoticed. */
  lastRowEnds: boolean;
  /** Words in the column `kind` that say: this credit is a payment of ours that came back. */
  returnKinds: readonly string[];
}

const DAY_MS = 86_400_000;
const MOST_ACCOUNTS = 50;
const LONGEST = 140;

/**
 * @param json the text of the settings file
 * @param from what it is called in errors, such as `MANUAL_BANK_FILE`
 * @throws SettingError with the path of the field and its rule
 */
export function readManualBank(json: string, from = 'MANUAL_BANK_FILE'): ManualBankSettings {
  let given: unknown;
  try {
    given = JSON.parse(json);
  } catch {
    throw new SettingError(`${from} must be JSON`);
  }
  const file = fields(given, from, ['code', 'accounts', 'statementDeadlineDays']);
  const code = file.text('code', 'bank.manual');
  if (!/^bank\.[a-z0-9-]{1,40}$/.test(code)) throw new SettingError(`${from}: code must be bank. and a name`);
  const days = file.given('statementDeadlineDays') ?? 4;
  if (typeof days !== 'number' || !(days > 0 && days <= 90))
    throw new SettingError(`${from}: statementDeadlineDays must be a number of days up to 90`);
  const accounts = file.given('accounts');
  if (!Array.isArray(accounts) || accounts.length === 0 || accounts.length > MOST_ACCOUNTS)
    throw new SettingError(`${from}: accounts must be a list of 1 to ${MOST_ACCOUNTS} accounts`);
  const read = accounts.map((account, i) => readAccount(account, `${from}: accounts[${i}]`));
  for (const name of ['asset', 'currency'] as const) {
    if (new Set(read.map((account) => account[name])).size < read.length)
      throw new SettingError(`${from}: accounts must each have another ${name}`);
  }
  return { code, accounts: read, statementDeadlineMs: days * DAY_MS };
}

function readAccount(given: unknown, at: string): ManualAccount {
  const optional = ['branch', 'accountType', 'accountNumber', 'ifsc', 'iban', 'bic'] as const;
  const known = ['asset', 'currency', 'holder', 'bank', 'payoutFile', 'fundingAccounts', 'csv', ...optional];
  const account = fields(given, at, known);
  const texts = Object.fromEntries(optional.map((name) => [name, account.text(name, '')])) as Record<
    (typeof optional)[number],
    string
  >;
  const currency = account.text('currency');
  if (!/^[A-Z]{3}$/.test(currency)) throw new SettingError(`${at}.currency must be three capital letters`);
  const iban = texts.iban.replaceAll(' ', '').toUpperCase();
  if (iban !== '' && !isIban(iban)) throw new SettingError(`${at}.iban must be an IBAN with right check digits`);
  if (texts.bic !== '' && !isBic(texts.bic)) throw new SettingError(`${at}.bic must be a BIC of 8 or 11 characters`);
  if (iban === '' && texts.accountNumber === '') throw new SettingError(`${at} must have an iban or an accountNumber`);
  const payoutFile = account.text('payoutFile');
  if (payoutFile !== 'csv' && payoutFile !== 'pain.001.001.09')
    throw new SettingError(`${at}.payoutFile must be csv or pain.001.001.09`);
  const csv = account.given('csv');
  return {
    ...texts,
    iban,
    asset: account.text('asset'),
    currency,
    holder: account.text('holder'),
    bank: account.text('bank'),
    payoutFile,
    fundingAccounts: account.texts('fundingAccounts').map(plainAccount),
    ...(csv === undefined ? {} : { csv: readCsvForm(csv, `${at}.csv`) }),
  };
}

function readCsvForm(given: unknown, at: string): CsvForm {
  const form = fields(given, at, [
    'encoding',
    'delimiter',
    'decimal',
    'thousands',
    'date',
    'columns',
    'lastRowEnds',
    'returnKinds',
  ]);
  const encoding = form.oneOf('encoding', ['auto', 'utf-8', 'utf-16le', 'utf-16be', 'windows-1252'], 'auto');
  const decimal = form.oneOf('decimal', ['.', ','], '.');
  const thousands = form.oneOf('thousands', ['', '.', ',', ' ', "'"], '');
  if (thousands === decimal) throw new SettingError(`${at}.thousands must differ from decimal`);
  const date = form.text('date', 'YYYY-MM-DD');
  if (['DD', 'MM', 'YYYY'].some((part) => date.split(part).length !== 2))
    throw new SettingError(`${at}.date must have DD, MM and YYYY once each`);
  const lastRowEnds = form.given('lastRowEnds') ?? true;
  if (typeof lastRowEnds !== 'boolean') throw new SettingError(`${at}.lastRowEnds must be true or false`);
  const names = ['name', 'account', 'reference', 'currency', 'ownAccount', 'balance', 'kind'] as const;
  const columns = fields(form.given('columns'), `${at}.columns`, [
    'bookedOn',
    'amount',
    'credit',
    'debit',
    'text',
    ...names,
  ]);
  const has = (name: string) => columns.given(name) !== undefined;
  if (has('amount') === (has('credit') || has('debit')) || has('credit') !== has('debit'))
    throw new SettingError(`${at}.columns must have either amount, or credit and debit`);
  const some = (list: readonly string[]) =>
    Object.fromEntries(list.filter(has).map((name) => [name, columns.text(name)]));
  return {
    encoding,
    delimiter: form.oneOf('delimiter', [',', ';', '\t', '|'], ','),
    decimal,
    thousands,
    date,
    columns: {
      bookedOn: columns.text('bookedOn'),
      text: columns.texts('text'),
      ...some(['amount', 'credit', 'debit', ...names]),
    },
    lastRowEnds,
    returnKinds: form.texts('returnKinds'),
  };
}

/** The fields of an object, each read with its rule; a field that is not known is refused. */
function fields(given: unknown, at: string, known: readonly string[]) {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new SettingError(`${at} must be an object`);
  const all = given as Record<string, unknown>;
  const stranger = Object.keys(all).find((name) => !known.includes(name));
  if (stranger !== undefined) throw new SettingError(`${at} has an unknown field ${stranger.slice(0, 40)}`);
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= LONGEST && !/[\p{Cc}\p{Cs}]/u.test(value.replaceAll('\t', ''));
  const text = (name: string, fallback?: string): string => {
    const value = all[name] ?? fallback;
    if (!isText(value) || (value === '' && fallback !== ''))
      throw new SettingError(`${at}.${name} must be a text of 1 to ${LONGEST} characters`);
    return value;
  };
  return {
    given: (name: string): unknown => all[name],
    text,
    texts(name: string): string[] {
      const value = all[name] ?? [];
      if (!Array.isArray(value) || value.length > MOST_ACCOUNTS || !value.every((one) => isText(one) && one !== ''))
        throw new SettingError(`${at}.${name} must be a list of texts`);
      return value as string[];
    },
    oneOf<const C extends readonly string[]>(name: string, choices: C, fallback: C[number]): C[number] {
      const value = all[name] ?? fallback;
      if (typeof value !== 'string' || !choices.includes(value))
        throw new SettingError(`${at}.${name} must be one of ${choices.map((one) => `'${one}'`).join(', ')}`);
      return value;
    },
  };
}

/** An account number or IBAN as it is compared: without spaces, in capitals. */
export const plainAccount = (text: string): string => text.replaceAll(/[\s-]/g, '').toUpperCase();

export const isBic = (text: string): boolean => /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(text);

/** ISO 13616: the first four to the end, letters as two digits, remainder 1 by 97. */
export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}$/.test(text)) return false;
  const digits = (text.slice(4) + text.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return BigInt(digits) % 97n === 1n;
}

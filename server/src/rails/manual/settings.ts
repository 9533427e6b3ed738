/**
 * Settings of the manual bank: the operator's accounts, the format of their payout files, and of their statements.
 *
 * They are a JSON text, usually in a file, because an account needs more settings than fit into an environment variable. Invalid
 * and unknown fields are rejected with their path and rule (base/fields.ts).
 */
import { SettingError } from '../../base/env.ts';
import { flag, oneOf, text } from '../../base/fields.ts';
import { listAt, objectAt, parseJson, readAt } from '../../base/jsonfile.ts';
import type { AssetCode } from '../../base/money.ts';
import { isZone } from '../../base/zones.ts';

export type FileFormat = 'csv' | 'pain.001.001.09';

export interface ManualBankSettings {
  /** The rail's code. Rows store it, so it never changes. */
  code: string;
  accounts: readonly ManualAccount[];
  /** The newest statement of each account must be younger than this, or the rail is unhealthy. Weekends count. */
  statementDeadlineMs: number;
}

export interface ManualAccount {
  asset: AssetCode;
  /** In the bank's spelling: `INR`. */
  currency: string;
  holder: string;
  bank: string;
  branch: string;
  accountType: string;
  /** At least one of account number and IBAN is set. */
  accountNumber: string;
  ifsc: string;
  iban: string;
  bic: string;
  /** The time zone of the bank, in which its days begin and end: a name such as `Asia/Kolkata`. */
  timeZone: string;
  /** Format of its payout files. */
  payoutFile: FileFormat;
  /** The operator's own accounts that fund this one; a credit from them is funding. */
  fundingAccounts: readonly string[];
  /** Format of a CSV statement; absent if only camt.053 is accepted. */
  csv?: CsvForm;
}

export interface CsvForm {
  encoding: 'auto' | 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  delimiter: string;
  decimal: '.' | ',';
  /** Separator between groups of three digits; '' for none. */
  thousands: string;
  /** DD, MM, YYYY and their separators. */
  date: string;
  /** Names in the header row. Either `amount` with a sign, or both `credit` and `debit`. */
  columns: {
    bookedOn: string;
    amount?: string;
    credit?: string;
    debit?: string;
    /** Columns that are joined with spaces. */
    text: readonly string[];
    name?: string;
    account?: string;
    /** The bank's own reference of a line, if it is stable. */
    reference?: string;
    currency?: string;
    /** Our account, if the file names it. */
    ownAccount?: string;
    /** Balance after the line. */
    balance?: string;
    kind?: string;
  };
  /** Whether the last row ends with a line end, too. If not, a file that was cut within its last field is not detected. */
  lastRowEnds: boolean;
  /** Words in the column `kind` that mark a credit as the return of one of our payments. */
  returnKinds: readonly string[];
}

const DAY_MS = 86_400_000;
const MOST_ACCOUNTS = 50;
const LONGEST = 140;

/**
 * @param json the text of the settings file
 * @param from name of the settings in errors, such as `MANUAL_BANK_FILE`
 * @throws SettingError with the path of the field and its rule
 */
export function readManualBank(json: string, from = 'MANUAL_BANK_FILE'): ManualBankSettings {
  const file = objectAt(parseJson(from, json), from, ['code', 'accounts', 'statementDeadlineDays']);
  const { code = 'bank.manual', statementDeadlineDays: days = 4 } = file;
  if (typeof days !== 'number' || !(days > 0 && days <= 90))
    throw new SettingError(`${from}: statementDeadlineDays must be a number of days up to 90`);
  const accounts = listAt(file.accounts, `${from}: accounts`, { most: MOST_ACCOUNTS }).map((account, i) =>
    readAccount(account, `${from}: accounts[${i}]`),
  );
  for (const name of ['asset', 'currency'] as const) {
    if (new Set(accounts.map((account) => account[name])).size < accounts.length)
      throw new SettingError(`${from}: accounts must each have another ${name}`);
  }
  return {
    code: readAt(code, `${from}: code`, railCode),
    accounts,
    statementDeadlineMs: days * DAY_MS,
  };
}

const railCode = text(45, /^bank\.[a-z0-9-]{1,40}$/, 'bank. and a name');
const currency = text(3, /^[A-Z]{3}$/, 'three capital letters');
/** A name and no offset: an offset is wrong for half of the year where clocks change. */
const zoneName = text(60, /^[A-Za-z]/, 'the name of a time zone, such as Asia/Kolkata');
/** Quotes are needed because some of the words are blanks. */
const wordOf = <const T extends string>(words: readonly T[]) =>
  oneOf(words, `one of ${words.map((word) => `'${word}'`).join(', ')}`);
/** A single-line text. */
const line = text(
  2 * LONGEST,
  new RegExp(`^(?:\\t|[^\\p{Cc}\\p{Cs}]){1,${LONGEST}}$`, 'u'),
  `a text of 1 to ${LONGEST} characters`,
);
const lineAt = (value: unknown, at: string): string => readAt(value, at, line);
const lineOrNone = (value: unknown, at: string): string =>
  value === undefined || value === '' ? '' : lineAt(value, at);
const linesAt = (value: unknown, at: string): string[] =>
  listAt(value ?? [], at, { least: 0, most: MOST_ACCOUNTS }).map((one, i) => lineAt(one, `${at}[${i}]`));

function readAccount(given: unknown, at: string): ManualAccount {
  const optional = ['branch', 'accountType', 'accountNumber', 'ifsc', 'iban', 'bic'] as const;
  const known = [
    'asset',
    'currency',
    'holder',
    'bank',
    'timeZone',
    'payoutFile',
    'fundingAccounts',
    'csv',
    ...optional,
  ];
  const account = objectAt(given, at, known);
  const texts = Object.fromEntries(
    optional.map((name) => [name, lineOrNone(account[name], `${at}.${name}`)]),
  ) as Record<(typeof optional)[number], string>;
  const iban = texts.iban.replaceAll(' ', '').toUpperCase();
  if (iban !== '' && !isIban(iban)) throw new SettingError(`${at}.iban must be an IBAN with right check digits`);
  if (texts.bic !== '' && !isBic(texts.bic)) throw new SettingError(`${at}.bic must be a BIC of 8 or 11 characters`);
  if (iban === '' && texts.accountNumber === '') throw new SettingError(`${at} must have an iban or an accountNumber`);
  return {
    ...texts,
    iban,
    asset: lineAt(account.asset, `${at}.asset`),
    currency: readAt(account.currency, `${at}.currency`, currency),
    holder: lineAt(account.holder, `${at}.holder`),
    bank: lineAt(account.bank, `${at}.bank`),
    timeZone: zoneAt(account.timeZone, `${at}.timeZone`),
    payoutFile: readAt(account.payoutFile, `${at}.payoutFile`, wordOf(['csv', 'pain.001.001.09'])),
    fundingAccounts: linesAt(account.fundingAccounts, `${at}.fundingAccounts`).map(plainAccount),
    ...(account.csv === undefined ? {} : { csv: readCsvForm(account.csv, `${at}.csv`) }),
  };
}

function zoneAt(given: unknown, at: string): string {
  const zone = given === undefined ? 'UTC' : readAt(given, at, zoneName);
  if (!isZone(zone)) throw new SettingError(`${at} must be ${zoneName.rule}`);
  return zone;
}

const COLUMNS = ['name', 'account', 'reference', 'currency', 'ownAccount', 'balance', 'kind'] as const;

function readCsvForm(given: unknown, at: string): CsvForm {
  const form = objectAt(given, at, [
    'encoding',
    'delimiter',
    'decimal',
    'thousands',
    'date',
    'columns',
    'lastRowEnds',
    'returnKinds',
  ]);
  const decimal = readAt(form.decimal ?? '.', `${at}.decimal`, wordOf(['.', ',']));
  const thousands = readAt(form.thousands ?? '', `${at}.thousands`, wordOf(['', '.', ',', ' ', "'"]));
  if (thousands === decimal) throw new SettingError(`${at}.thousands must differ from decimal`);
  const date = lineAt(form.date ?? 'YYYY-MM-DD', `${at}.date`);
  if (['DD', 'MM', 'YYYY'].some((part) => date.split(part).length !== 2))
    throw new SettingError(`${at}.date must have DD, MM and YYYY once each`);
  const lastRowEnds = readAt(form.lastRowEnds === undefined ? true : form.lastRowEnds, `${at}.lastRowEnds`, flag);
  const columns = objectAt(form.columns, `${at}.columns`, [
    'bookedOn',
    'amount',
    'credit',
    'debit',
    'text',
    ...COLUMNS,
  ]);
  const has = (name: string) => columns[name] !== undefined;
  if (has('amount') === (has('credit') || has('debit')) || has('credit') !== has('debit'))
    throw new SettingError(`${at}.columns must have either amount, or credit and debit`);
  const some = (list: readonly string[]) =>
    Object.fromEntries(list.filter(has).map((name) => [name, lineAt(columns[name], `${at}.columns.${name}`)]));
  return {
    encoding: readAt(form.encoding ?? 'auto', `${at}.encoding`, wordOf(ENCODINGS)),
    delimiter: readAt(form.delimiter ?? ',', `${at}.delimiter`, wordOf([',', ';', '\t', '|'])),
    decimal,
    thousands,
    date,
    columns: {
      bookedOn: lineAt(columns.bookedOn, `${at}.columns.bookedOn`),
      text: linesAt(columns.text, `${at}.columns.text`),
      ...some(['amount', 'credit', 'debit', ...COLUMNS]),
    },
    lastRowEnds,
    returnKinds: linesAt(form.returnKinds, `${at}.returnKinds`),
  };
}

const ENCODINGS = ['auto', 'utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;

/** An account number or IBAN in a comparable form: without spaces, in capitals. */
export const plainAccount = (text: string): string => text.replaceAll(/[\s-]/g, '').toUpperCase();

export const isBic = (text: string): boolean => /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(text);

/** ISO 13616: move the first four characters to the end, replace letters by two digits; the remainder modulo 97 must be 1. */
export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}$/.test(text)) return false;
  const digits = (text.slice(4) + text.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return BigInt(digits) % 97n === 1n;
}

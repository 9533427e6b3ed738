/**
 * Account numbers: the format of a bank account's number, code or IBAN, and its stored form.
 *
 * Kept in one place, so that an account typed into our page and the same one sent by a partner's program are one account.
 */

/** The value as stored, or why it is invalid. */
export type Read = { value: string } | { why: string };
export type AccountForm = (given: string) => Read;

const pattern =
  (form: RegExp, why: string): AccountForm =>
  (given) => {
    const read = given.trim();
    return form.test(read) ? { value: read } : { why };
  };

const ibanForm = pattern(/^[A-Za-z]{2}[0-9]{2}[A-Za-z0-9 ]{8,38}$/, 'must be an IBAN');

const iban: AccountForm = (given) => {
  const read = ibanForm(given);
  if ('why' in read) return read;
  const value = read.value.replaceAll(' ', '').toUpperCase();
  // ISO 13616: the first four to the end, letters as two digits, remainder 1 by 97.
  const digits = (value.slice(4) + value.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return BigInt(digits) % 97n === 1n ? { value } : { why: 'must be an IBAN with right check digits' };
};

export const accountForms = {
  account: pattern(
    /^(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9 -]{2,33}$/,
    'must be an account number of 3 to 34 digits and letters',
  ),
  /** Other bank identifiers. */
  routing: pattern(/^[A-Za-z0-9][A-Za-z0-9 -]{1,33}$/, 'must be a bank code of letters and digits'),
  ifsc: pattern(/^[A-Za-z]{4}(?=.*[0-9])[A-Za-z0-9]{7}$/, 'must be four letters and seven digits or letters'),
  iban,
} as const satisfies Record<string, AccountForm>;

export type AccountField = 'account' | 'ifsc' | 'iban' | 'sortCode' | 'routingNumber' | 'bankCode';
type Shape = Readonly<Partial<Record<AccountField, AccountForm>>>;

/** People group digits with spaces and hyphens. */
const digits =
  (least: number, most: number, why: string, isRight: (value: string) => boolean = () => true): AccountForm =>
  (given) => {
    const value = given.replaceAll(/[ -]/g, '');
    const isDigits = /^[0-9]+$/.test(value) && value.length >= least && value.length <= most;
    return isDigits && isRight(value) ? { value } : { why };
  };
const weighed = (value: string, weights: readonly number[]): number =>
  [...value].reduce((sum, digit, at) => sum + Number(digit) * (weights[at % weights.length] ?? 0), 0);
const ibanOf =
  (country: string, length: number): AccountForm =>
  (given) => {
    const read = iban(given);
    if ('why' in read || (read.value.startsWith(country) && read.value.length === length)) return read;
    return { why: `must be an IBAN of ${length} characters that begins with ${country}` };
  };
/**
 * Seventeen digits weighted 3, 7, 1; of each product only the last digit counts; the check digit makes the sum a multiple of ten.
 */
const isClabe = (value: string): boolean => {
  const sum = [...value.slice(0, 17)].reduce(
    (all, digit, at) => all + ((Number(digit) * ([3, 7, 1][at % 3] ?? 0)) % 10),
    0,
  );
  return (10 - (sum % 10)) % 10 === Number(value[17]);
};

/** The fields of an account per currency: which are required, and their format. */
const SHAPES: Readonly<Record<string, Shape>> = {
  inr: { account: accountForms.account, ifsc: accountForms.ifsc },
  eur: { iban },
  try: { iban: ibanOf('TR', 26) },
  aed: { iban: ibanOf('AE', 23) },
  gbp: {
    account: digits(6, 8, 'must be an account number of 6 to 8 digits'),
    sortCode: digits(6, 6, 'must be a sort code of six digits'),
  },
  usd: {
    account: digits(4, 17, 'must be an account number of 4 to 17 digits'),
    routingNumber: digits(
      9,
      9,
      'must be a routing number of nine digits with a right check digit',
      (value) => weighed(value, [3, 7, 1]) % 10 === 0,
    ),
  },
  mxn: { account: digits(18, 18, 'must be a CLABE of 18 digits with a right check digit', isClabe) },
  ngn: {
    account: digits(10, 10, 'must be an account number of ten digits'),
    bankCode: digits(3, 6, 'must be a bank code of 3 to 6 digits'),
  },
  brl: { account: digits(11, 14, 'must be a PIX key of 11 to 14 digits: a CPF, a CNPJ or a phone number') },
  php: { account: digits(6, 16, 'must be an account number of 6 to 16 digits'), bankCode: accountForms.routing },
  kes: { account: digits(9, 12, 'must be the phone number of an M-Pesa account, 9 to 12 digits') },
};
const ELSEWHERE: Shape = { account: accountForms.account, bankCode: accountForms.routing };

/** The fields of an account in this currency, each with its format. */
export const accountShapeOf = (fiat: string): [AccountField, AccountForm][] =>
  Object.entries(SHAPES[fiat] ?? ELSEWHERE) as [AccountField, AccountForm][];

/** Whether the account form of this currency is known; others need a number. */
export const hasAccountShape = (fiat: string): boolean => fiat in SHAPES;

/** The encrypted part of an account: everything given, with the number always under `account`. */
export function accountDetails(given: {
  account?: string | undefined;
  ifsc?: string | undefined;
  iban?: string | undefined;
  readonly [more: string]: string | undefined;
}): Record<string, string> {
  const all = { ...given, ifsc: given.ifsc?.toUpperCase(), account: given.account ?? given.iban };
  return Object.fromEntries(
    Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== ''),
  );
}

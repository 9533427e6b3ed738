/**
 * Account numbers: what a bank account's number, code or IBAN looks like, and what is kept of them.
 *
 * One place, so that an account typed into our page and the same one sent by a partner's program are one account.
 */

/** The value as it is kept, or why it is none. */
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
  /** Whatever else tells whose bank it is. */
  routing: pattern(/^[A-Za-z0-9][A-Za-z0-9 -]{1,33}$/, 'must be a bank code of letters and digits'),
  ifsc: pattern(/^[A-Za-z]{4}(?=.*[0-9])[A-Za-z0-9]{7}$/, 'must be four letters and seven digits or letters'),
  iban,
} as const satisfies Record<string, AccountForm>;

/** What is sealed of an account: all that was given, with the number always under `account`. */
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

/**
 * The payee of a payout in the form that a file can carry. It is checked when the payout is listed, so that a file never fails
 * because of one of its payouts. Also the key of a payout in the form that a bank carries, in both directions.
 */
import type { Destination } from '../rail.ts';
import { isBic, isIban, type ManualAccount, plainAccount } from './settings.ts';

export interface PayeeDetails {
  name: string;
  /** If it is set, nothing else is needed. */
  iban: string;
  account: string;
  bic: string;
  /** India's code of a branch. */
  ifsc: string;
  /** Another code for the bank: a sort code, a routing number. */
  bankCode: string;
}

/** SEPA's limit; the schema would allow 140. */
const LONGEST_NAME = 70;
const LONGEST_ACCOUNT = 34;

/** @returns the payee, or as one word why no file can pay it */
export function payeeOf(destination: Destination, account: ManualAccount): PayeeDetails | { why: string } {
  if (destination.kind !== 'account') return { why: 'not_an_account' };
  const { details } = destination;
  const said = (...names: string[]): string => names.map((name) => details[name]?.trim() ?? '').find(Boolean) ?? '';
  const number = plainAccount(said('iban', 'account'));
  const iban = isIban(number) ? number : '';
  const name = said('name', 'holder');
  if (number === '' || number.length > LONGEST_ACCOUNT) return { why: 'no_account_number' };
  if (!isPlain(number)) return { why: 'malformed_account_number' };
  if (name === '') return { why: 'no_name' };
  const bic = said('bic', 'swift').toUpperCase();
  if (bic !== '' && !isBic(bic)) return { why: 'malformed_bic' };
  if (account.payoutFile === 'pain.001.001.09') {
    // SEPA requires an IBAN for a payment in euro.
    if (account.currency === 'EUR' && iban === '') return { why: 'no_iban' };
    if (plainName(name, account.currency).replaceAll(/[^A-Za-z0-9\p{L}]/gu, '').length < 2)
      return { why: 'name_not_writable' };
  }
  const bankCode = said('bankCode', 'routing', 'sortCode', 'routingNumber');
  const ifsc = said('ifsc').toUpperCase();
  if ([ifsc, bankCode].some((text) => text.length > LONGEST_ACCOUNT || !isPlain(text)))
    return { why: 'malformed_bank_code' };
  return { name, iban, account: iban === '' ? number : '', bic, ifsc, bankCode };
}

/** No bank's numbers and codes have other characters, and some other characters are not allowed in XML. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text);

/** `pay_17_1` in the form that the bank carries: SEPA allows no underscore, and at most 35 characters. */
export function endToEndOf(key: string): string {
  const carried = key.replaceAll('_', '-');
  return /^[A-Za-z0-9-]{1,35}$/.test(carried) ? carried : '';
}

/**
 * The key of ours in a bank's texts; undefined if there is none, or more than one. Banks change case and break lines anywhere: if
 * a text has no key, it is searched again without its spaces.
 */
export function keyIn(...texts: readonly string[]): string | undefined {
  for (const text of texts) {
    for (const shape of [text, text.replaceAll(/\s/g, '')]) {
      const found = new Set(
        [...shape.matchAll(/(pay|ref)[-_](\d{1,19})[-_](\d{1,4})(?!\d)/gi)].map(
          ([, kind = '', order, attempt]) => `${kind.toLowerCase()}_${order}_${attempt}`,
        ),
      );
      if (found.size === 1) return [...found][0];
      if (found.size > 1) return undefined;
    }
  }
  return undefined;
}

/** Letters that do not decompose into a plain letter and an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  Æ: 'AE',
  æ: 'ae',
  Ø: 'O',
  ø: 'o',
  Œ: 'OE',
  œ: 'oe',
  Đ: 'D',
  đ: 'd',
  Ł: 'L',
  ł: 'l',
  Þ: 'TH',
  þ: 'th',
  ı: 'i',
  '&': '+',
  _: '-',
};

/** A text in the character set of SEPA (EPC217-08); other characters become spaces. */
export const sepaText = (text: string, longest: number): string =>
  [...text]
    .map((letter) => LETTERS[letter] ?? letter)
    .join('')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9/?:().,'+ -]/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
    // Banks give a leading, trailing or double slash a special meaning.
    .replaceAll(/\/{2,}/g, '/')
    .replaceAll(/^\/+|\/+$/g, '')
    .slice(0, longest)
    .trim();

/** A name in characters that its bank can read: SEPA's for euro; otherwise unchanged, without control characters. */
export const plainName = (name: string, currency: string): string =>
  currency === 'EUR'
    ? sepaText(name, LONGEST_NAME)
    : [
        ...name
          .replaceAll(/[\p{Cc}\p{Cs}\p{Cn}\p{Co}]+/gu, ' ')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      ]
        .slice(0, LONGEST_NAME)
        .join('');

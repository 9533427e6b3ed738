/**
 * Whom a payout goes to, as a file can carry it: checked when the payout is put on the list, so that a file never fails
 * because of one of its payouts. And the key of a payout as a bank carries it, there and back.
 */
import type { Destination } from '../rail.ts';
import { isBic, isIban, type ManualAccount, plainAccount } from './settings.ts';

export interface PayeeDetails {
  name: string;
  /** Where the payee has an IBAN, nothing else is needed. */
  iban: string;
  account: string;
  bic: string;
  /** India's code of a branch. */
  ifsc: string;
  /** Whatever else tells the bank: a sort code, a routing number. */
  bankCode: string;
}

/** Of SEPA; the schema would allow 140. */
const LONGEST_NAME = 70;
const LONGEST_ACCOUNT = 34;

/** @returns the payee, or why no file can pay it, in a word */
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
    // A euro payment in SEPA goes to an IBAN and nowhere else.
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

/** Numbers and codes have no other characters at any bank, and XML has none for some of them. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text);

/** `pay_17_1` as the bank carries it: SEPA knows no underscore, and 35 characters are all there is. */
export function endToEndOf(key: string): string {
  const carried = key.replaceAll('_', '-');
  return /^[A-Za-z0-9-]{1,35}$/.test(carried) ? carried : '';
}

/**
 * The one key of ours in what a bank says, or undefined where there is none, or more than one. Banks change case and break
 * lines anywhere: where the text as it stands has no key, it is looked at once more without its spaces.
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

/** Letters that do not fall apart into a plain one and an accent. */
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

/** A text in the character set of SEPA (EPC217-08); what has no place in it becomes a space. */
export const sepaText = (text: string, longest: number): string =>
  [...text]
    .map((letter) => LETTERS[letter] ?? letter)
    .join('')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9/?:().,'+ -]/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
    // A slash at an end, or two of them, mean something to banks.
    .replaceAll(/\/{2,}/g, '/')
    .replaceAll(/^\/+|\/+$/g, '')
    .slice(0, longest)
    .trim();

/** A name in the characters its bank can read: SEPA's for euro; elsewhere its own, without what is no text. */
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

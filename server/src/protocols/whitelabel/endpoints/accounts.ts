/**
 * Fiat accounts: where a customer is paid.
 *
 * What a rail needs differs by country; the account number is always called `account` inside. Which fiat it is follows
 * from what is given (an IFSC code is India's, an IBAN the euro's) unless `fiatType` says it.
 */

import { Refusal } from '../../../base/errors.ts';
import type { AssetCode } from '../../../base/money.ts';
import {
  addFiatAccount,
  type Customer,
  fiatAccounts,
  findCustomer,
  openFiatAccount,
} from '../../../customers/index.ts';
import { assets, markets } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { type Body, isAbsent, parseJson } from '../body.ts';
import {
  code,
  id,
  Malformed,
  malformedField,
  missingFields,
  optional,
  type Reader,
  required,
  text,
} from '../fields.ts';
import { fiatOf } from '../reference.ts';
import { ok, type SignedAsk } from '../route.ts';
import { accountShape } from '../shapes.ts';

const pattern =
  (form: RegExp, why: string): Reader<string> =>
  (value) => {
    const read = text({ max: 64 })(value).trim();
    if (!form.test(read)) throw new Malformed(why);
    return read;
  };

const accountNumber = pattern(
  /^(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9 -]{2,33}$/,
  'must be an account number of 3 to 34 digits and letters',
);
const routing = pattern(/^[A-Za-z0-9][A-Za-z0-9 -]{1,33}$/, 'must be a bank code of letters and digits');
const ifsc = pattern(/^[A-Za-z]{4}(?=.*[0-9])[A-Za-z0-9]{7}$/, 'must be four letters and seven digits or letters');

const iban: Reader<string> = (value) => {
  const read = pattern(
    /^[A-Za-z]{2}[0-9]{2}[A-Za-z0-9 ]{8,38}$/,
    'must be an IBAN',
  )(value)
    .replaceAll(' ', '')
    .toUpperCase();
  // ISO 13616: the first four to the end, letters as two digits, remainder 1 by 97.
  const digits = (read.slice(4) + read.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  if (BigInt(digits) % 97n !== 1n) throw new Malformed('must be an IBAN with right check digits');
  return read;
};

/** Some form programs put number and bank code into one field, as JSON text; some JSON programs, as an object. */
const numberOrBoth: Reader<{ account: string; ifsc?: string }> = (value) => {
  const nested = typeof value === 'string' && value.startsWith('{') ? parseJson(value) : value;
  if (!(nested instanceof Map)) return { account: accountNumber(value) };
  // An object where a text is due is refused like everywhere else.
  if (typeof value !== 'string') throw new Malformed('must be a string', { wrongType: true });
  const inside = nested as Body;
  const number = inside.get('accountNumber');
  if (isAbsent(number)) throw new Malformed('must have an accountNumber');
  const bank = inside.get('ifsc');
  return { account: accountNumber(number), ...(isAbsent(bank) ? {} : { ifsc: ifsc(bank) }) };
};

export const addAccountFields = {
  customerId: required(id),
  fiatAccount: optional(numberOrBoth),
  ifsc: optional(ifsc),
  iban: optional(iban),
  swift: optional(routing),
  sortCode: optional(routing),
  routingNumber: optional(routing),
  bankCode: optional(routing),
  bankName: optional(text({ max: 100 })),
  accountHolder: optional(text({ max: 100 })),
  fiatType: optional(code),
};

/** Needs a number and whatever tells whose bank it is. */
const completeness = (body: Body) => {
  const has = (name: string) => !isAbsent(body.get(name));
  const inside = body.get('fiatAccount');
  const both = typeof inside === 'string' && inside.startsWith('{');
  return [
    ...(has('customerId') ? [] : ['customerId']),
    ...(has('fiatAccount') || has('iban') ? [] : ['fiatAccount']),
    ...(has('ifsc') || has('iban') || has('fiatType') || both ? [] : ['ifsc']),
  ];
};

/** Like `addAccountFields`, with what is missing together said first. */
export const addAccountFieldsOf = (body: Body) => {
  const missing = completeness(body);
  if (missing.length > 0) throw missingFields(missing);
  return addAccountFields;
};

export async function addAccount({ deps, values, inTx }: SignedAsk<typeof addAccountFields>): Promise<Reply> {
  const { customerId, fiatAccount, fiatType, ...rest } = values;
  const bankCode = rest.ifsc ?? fiatAccount?.ifsc;
  const given = { ...rest, ifsc: bankCode?.toUpperCase(), account: fiatAccount?.account ?? rest.iban };
  const details = Object.fromEntries(
    Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const account = await inTx(async (tx) => {
    const customer = await findCustomer(tx, customerId);
    requireLogin(customer);
    const named = fiatType ?? (bankCode !== undefined ? 'INR' : rest.iban !== undefined ? 'EUR' : undefined);
    if (named === undefined) throw missingFields(['ifsc']);
    const fiat: AssetCode = fiatOf(named, await markets(tx)).code;
    if (fiat === 'inr' && bankCode === undefined) throw malformedField('ifsc', 'is needed for an account in INR');
    return await addFiatAccount(tx, deps.vault, { customer, fiat, details, now: deps.clock.now() });
  });
  return ok({ fiatAccountId: String(account.id) });
}

function requireLogin(customer: Customer): void {
  if (customer.blocked) throw new Refusal('customer_blocked');
  if (customer.loggedInAt === null) throw new Refusal('login_required');
}

export const accountsFields = { customerId: required(id) };

export async function listAccounts({ deps, values, inTx }: SignedAsk<typeof accountsFields>): Promise<Reply> {
  return await inTx(async (tx) => {
    const customer = await findCustomer(tx, values.customerId);
    const known = await assets(tx);
    const list = [];
    for (const account of await fiatAccounts(tx, customer.id)) {
      list.push(accountShape(await openFiatAccount(tx, deps.vault, account.id), known));
    }
    return ok(list, { 'x-total-count': String(list.length) });
  });
}

/** For fields that name an account: digits, or what is certainly none of ours. */
export function accountNumberOf(value: string): bigint {
  if (!/^[0-9]{1,18}$/.test(value)) throw new Refusal('unknown_account');
  return BigInt(value);
}

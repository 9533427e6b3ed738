/**
 * Fiat accounts: where a customer is paid.
 *
 * What a rail needs differs by country; the account number is always called `account` inside. Which fiat it is follows
 * from what is given (an IFSC code is India's, an IBAN the euro's) unless `fiatType` says it.
 */

import { Refusal } from '../../../base/errors.ts';
import { numericId } from '../../../base/ids.ts';
import type { AssetCode } from '../../../base/money.ts';
import {
  type AccountForm,
  accountDetails,
  accountForms,
  addFiatAccount,
  type Customer,
  type FiatAccount,
  fiatAccounts,
  findCustomer,
  LINK_FOR_MS,
  openFiatAccount,
  sealLink,
} from '../../../customers/index.ts';
import { assets, type Market, markets } from '../../../partners/index.ts';
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
  webAddress,
} from '../fields.ts';
import { fiatOf } from '../reference.ts';
import { ok, type SignedAsk } from '../route.ts';
import { accountShape } from '../shapes.ts';

const formed =
  (form: AccountForm): Reader<string> =>
  (value) => {
    const read = form(text({ max: 64 })(value));
    if ('why' in read) throw new Malformed(read.why);
    return read.value;
  };

const accountNumber = formed(accountForms.account);
const routing = formed(accountForms.routing);
const ifsc = formed(accountForms.ifsc);
const iban = formed(accountForms.iban);

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
  const details = accountDetails({ ...rest, ifsc: bankCode, account: fiatAccount?.account });
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

export const addAccountUrlFields = { customerId: required(id), redirectUrl: optional(webAddress) };

/** A link to our own page, where the customer logs in and adds an account itself. */
export async function addAccountUrl({ deps, values, inTx }: SignedAsk<typeof addAccountUrlFields>): Promise<Reply> {
  const now = deps.clock.now();
  const customer = await inTx((tx) => findCustomer(tx, values.customerId));
  const referenceId = String(numericId(now));
  const token = sealLink(deps.vault, 'bank', {
    partnerId: String(customer.partnerId),
    customerId: customer.id,
    until: now.getTime() + LINK_FOR_MS,
    redirectUrl: values.redirectUrl ?? null,
    closeAfterLogin: false,
    referenceId,
  });
  return ok({ bankUrl: `${deps.publicUrl()}/bank/${token}`, referenceId });
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

/** An account of a customer's, by the text that names it. @throws Refusal 'unknown_account' */
export function accountNamed(accounts: readonly FiatAccount[], named: string): FiatAccount {
  const number = accountNumberOf(named);
  const found = accounts.find((account) => account.id === number);
  if (found === undefined) throw new Refusal('unknown_account');
  return found;
}

/** @throws Refusal 'malformed_field' where an account is of another currency than the market, which `said` names */
export function requireFiat(account: FiatAccount, { fiat }: Market, said: string): void {
  if (account.fiat !== fiat.code) throw malformedField('fiatAccountId', `is not an account in ${said}`);
}

/** For fields that name an account: digits, or what is certainly none of ours. */
export function accountNumberOf(value: string): bigint {
  if (!/^[1-9][0-9]{0,17}$/.test(value)) throw new Refusal('unknown_account');
  return BigInt(value);
}

/**
 * Fiat accounts: where a customer is paid.
 *
 * The fields a rail needs differ by country; internally the account number is always called `account`. The fiat follows from
 * the fields (an IFSC code means India's, an IBAN the euro) unless `fiatType` or `countryCode` names it.
 */
import { defined } from '../../../base/defined.ts';
import { Refusal } from '../../../base/errors.ts';
import { idNamed } from '../../../base/fields.ts';
import { numericId, randomText } from '../../../base/ids.ts';
import type { AssetCode } from '../../../base/money.ts';
import {
  type AccountForm,
  accountDetails,
  accountForms,
  accountShapeOf,
  addFiatAccount,
  type Customer,
  compareAccount,
  encryptLink,
  type FiatAccount,
  fiatAccounts,
  findCustomer,
  hasAccountShape,
  LINK_FOR_MS,
  openFiatAccount,
} from '../../../customers/index.ts';
import { assets, type Market, markets, recordActivity } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { type Body, type BodyValue, isAbsent, parseJson } from '../body.ts';
import { fiatIfNamed, namesFiat, optionalFiat } from '../fiat.ts';
import {
  type Field,
  id,
  Malformed,
  malformedField,
  missingFields,
  optional,
  readField,
  required,
  text,
  webAddress,
} from '../fields.ts';
import { fiatOf } from '../reference.ts';
import { ok, type SignedRequest, throughOf } from '../route.ts';
import { accountShape } from '../shapes.ts';

const short = text({ max: 64 });
const formed = (form: AccountForm): Field<string> => ({
  ...short,
  read(value) {
    const text = short.read(value);
    if (typeof text !== 'string') return text;
    const read = form(text);
    return 'why' in read ? new Malformed(read.why) : read.value;
  },
});

const accountNumber = formed(accountForms.account);
const routing = formed(accountForms.routing);
const ifsc = formed(accountForms.ifsc);
const iban = formed(accountForms.iban);

/**
 * Some programs that send forms put number and bank code into one field as JSON text; some that send JSON put an object there.
 */
const numberOrBoth: Field<{ account: string; ifsc?: string }> = {
  ...accountNumber,
  read(value) {
    const nested = typeof value === 'string' && value.startsWith('{') ? parseJson(value) : value;
    if (!(nested instanceof Map)) return bothOf(value, undefined);
    // An object instead of a text is an error, as everywhere else.
    if (typeof value !== 'string') return new Malformed('must be a string', { wrongType: true });
    const inside = nested as Body;
    const number = inside.get('accountNumber');
    return isAbsent(number) ? new Malformed('must have an accountNumber') : bothOf(number, inside.get('ifsc'));
  },
};

function bothOf(number: unknown, bank: BodyValue | undefined): { account: string; ifsc?: string } | Malformed {
  const account = readField(accountNumber, number);
  if (account instanceof Malformed) return account;
  if (isAbsent(bank)) return { account };
  const code = readField(ifsc, bank);
  return code instanceof Malformed ? code : { account, ifsc: code };
}

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
  ...optionalFiat,
};

/** Requires a number and any identifier of the bank. */
const completeness = (body: Body) => {
  const has = (name: string) => !isAbsent(body.get(name));
  const inside = body.get('fiatAccount');
  const both = typeof inside === 'string' && inside.startsWith('{');
  return [
    ...(has('customerId') ? [] : ['customerId']),
    ...(has('fiatAccount') || has('iban') ? [] : ['fiatAccount']),
    ...(has('ifsc') || has('iban') || namesFiat(body) || both ? [] : ['ifsc']),
  ];
};

/** Like `addAccountFields`, with the combined missing fields first. */
export const addAccountFieldsOf = (body: Body) => {
  const missing = completeness(body);
  if (missing.length > 0) throw missingFields(missing);
  return addAccountFields;
};

export async function addAccount({
  deps,
  caller,
  values,
  inTx,
}: SignedRequest<typeof addAccountFields>): Promise<Reply> {
  const { customerId, fiatAccount, fiatType, countryCode, ...rest } = values;
  const bankCode = rest.ifsc ?? fiatAccount?.ifsc;
  const account = await inTx(async (tx) => {
    const customer = await findCustomer(tx, customerId);
    requireLogin(customer);
    const all = await markets(tx);
    const implied = bankCode !== undefined ? 'INR' : rest.iban !== undefined ? 'EUR' : undefined;
    const named = fiatIfNamed({ fiatType, countryCode }, all) ?? (implied && fiatOf(implied, all));
    if (named === undefined) throw missingFields(['ifsc']);
    const fiat: AssetCode = named.code;
    const details = accountDetails(shaped(fiat, { ...rest, ifsc: bankCode, account: fiatAccount?.account }));
    const now = deps.clock.now();
    const added = await addFiatAccount(tx, deps.vault, { customer, fiat, details, now });
    const holder = (await compareAccount(tx, deps.vault, { customerId, accountId: added.id }))?.match;
    const facts = { customer: customer.id, fiat, ending: added.hint, holder: holder ?? null };
    recordActivity(tx, throughOf(caller), { action: 'account.added', subject: `account:${added.id}`, facts, now });
    return { id: added.id, holder };
  });
  return ok({ fiatAccountId: String(account.id), ...defined({ holderMatch: account.holder }) });
}

/**
 * The account with each field in the form of its country. A number given as an IBAN is read as one.
 *
 * @throws Refusal 'malformed_field' for a field that does not fit its country's form
 */
function shaped(
  fiat: AssetCode,
  given: Record<string, string | undefined> & { account?: string | undefined; iban?: string | undefined },
): Record<string, string | undefined> {
  if (!hasAccountShape(fiat)) return given;
  const all = { ...given };
  for (const [name, form] of accountShapeOf(fiat)) {
    const value = given[name] ?? (name === 'iban' ? given.account : name === 'account' ? given.iban : undefined);
    // Reported under the name that the request used.
    const isNumber = name === 'account' || (name === 'iban' && given.iban === undefined && value !== undefined);
    const field = isNumber ? 'fiatAccount' : name;
    if (value === undefined) throw malformedField(field, `is needed for an account in ${fiat.toUpperCase()}`);
    const read = form(value);
    if ('why' in read) throw malformedField(field, read.why);
    all[name] = read.value;
    if (name === 'iban' && given.iban === undefined) all.account = read.value;
  }
  return all;
}

export const addAccountUrlFields = {
  customerId: required(id),
  redirectUrl: optional(webAddress),
  /** If the currency is named here, as in addFiatAccount, the page does not ask for it. */
  ...optionalFiat,
};

/** A link to our own page, where the customer logs in and adds an account. */
export async function addAccountUrl(input: SignedRequest<typeof addAccountUrlFields>): Promise<Reply> {
  const { deps, caller, values, inTx } = input;
  const now = deps.clock.now();
  const linkId = randomText(20);
  const { customer, fiat } = await inTx(async (tx) => {
    const found = await findCustomer(tx, values.customerId);
    const named = fiatIfNamed(values, await markets(tx))?.code;
    const facts = { purpose: 'bank', customer: found.id };
    recordActivity(tx, throughOf(caller), { action: 'link.made', subject: `link:${linkId}`, facts, now });
    return { customer: found, fiat: named };
  });
  const referenceId = String(numericId(now));
  const token = encryptLink(deps.vault, 'bank', {
    id: linkId,
    madeBy: caller.credential.key,
    partnerId: String(customer.partnerId),
    customerId: customer.id,
    until: now.getTime() + LINK_FOR_MS,
    redirectUrl: values.redirectUrl ?? null,
    closeAfterLogin: false,
    referenceId,
    ...defined({ fiat }),
  });
  return ok({ bankUrl: `${deps.publicUrl()}/bank/${token}`, referenceId });
}

function requireLogin(customer: Customer): void {
  if (customer.blocked) throw new Refusal('customer_blocked');
  if (customer.loggedInAt === null) throw new Refusal('login_required');
}

export const accountsFields = { customerId: required(id) };

export async function listAccounts({ deps, values, inTx }: SignedRequest<typeof accountsFields>): Promise<Reply> {
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

/** A customer's account, by the text that names it. @throws Refusal 'unknown_account' */
export function accountNamed(accounts: readonly FiatAccount[], named: string): FiatAccount {
  const number = accountNumberOf(named);
  const found = accounts.find((account) => account.id === number);
  if (found === undefined) throw new Refusal('unknown_account');
  return found;
}

/** @param said name of the field @throws Refusal 'malformed_field' when an account's currency is not the market's */
export function requireFiat(account: FiatAccount, { fiat }: Market, said: string): void {
  if (account.fiat !== fiat.code) throw malformedField('fiatAccountId', `is not an account in ${said}`);
}

/** The number in a field that names an account. @throws Refusal 'unknown_account' for any other text */
export function accountNumberOf(value: string): bigint {
  const named = idNamed(value);
  if (named === undefined) throw new Refusal('unknown_account');
  return named;
}

/** Customers, and the destinations they are paid to. */
import { randomInt } from 'node:crypto';
import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { defined } from '../../../base/defined.ts';
import { Refusal, Unavailable } from '../../../base/errors.ts';
import { randomText } from '../../../base/ids.ts';
import { formatUnits } from '../../../base/money.ts';
import {
  accountDetails,
  accountShapeOf,
  addAddress,
  addFiatAccount,
  BUSINESS_FORM,
  CODE_FOR_MS,
  type Customer,
  checkCode,
  clientIdOf,
  compareAccount,
  comparedAccounts,
  confirmDestination,
  customerNamed,
  customersOf,
  type Destination,
  destinationById,
  destinationsOf,
  encryptLink,
  enroll,
  findCustomer,
  hasAccountShape,
  isPhoneIdle,
  issueCode,
  LINK_FOR_MS,
  noteApiAccount,
  openContact,
  type PayerMatch,
  phoneCountsFrom,
  requireTrading,
  sendingFailed,
  setCountry,
  updateContact,
  VERIFICATION_REASONS,
  verificationReason,
} from '../../../customers/index.ts';
import { limitsOfCustomer } from '../../../orders/index.ts';
import { type Market, markets, maxUnitsFor, recordActivity } from '../../../partners/index.ts';
import { depositAsset } from '../../../quotes/index.ts';
import { networkOf } from '../../limit.ts';
import { CUSTOMERS, DESTINATIONS } from '../declared/customers.ts';
import { type Asked, type Handled, reads, throughOf, writes } from '../handler.ts';
import { limitUseShape, nextLevelOf } from '../limits.ts';
import { cursorOf, readCursor, unknownCursor } from '../pages.ts';
import { exposures, iso, isoOrNull } from '../shapes.ts';

const PAGE = 50;
const wrong = (field: string, rule: string): Refusal => new Refusal('malformed_field', { fields: { [field]: rule } });

type About = Asked<{ customer: (typeof CUSTOMERS.get)['fields']['customer'] }>;

function mayTrade(customer: Customer, { caller }: Pick<Asked, 'caller'>) {
  try {
    requireTrading(customer, caller.partner);
    return { allowed: true, reason: null };
  } catch (error) {
    const { code } = error as Refusal;
    if (code !== 'login_required' && code !== 'verification_required' && code !== 'customer_blocked') throw error;
    return { allowed: false, reason: code };
  }
}

function toldOf(customer: Customer) {
  const code = verificationReason(customer);
  return code === undefined ? null : { code, ...VERIFICATION_REASONS[code] };
}

const shape = (customer: Customer, asked: Asked) => ({
  id: customer.id,
  reference: clientIdOf(asked.deps.vault, customer),
  kind: customer.kind === 'BUSINESS' ? ('business' as const) : ('individual' as const),
  level: customer.level,
  verification: customer.verification,
  verificationReason: toldOf(customer),
  hasLoggedIn: customer.loggedInAt !== null,
  mayTrade: mayTrade(customer, asked),
  country: customer.country,
  countryBy: customer.countryBy,
  createdAt: iso(customer.createdAt),
  updatedAt: iso(customer.updatedAt),
});

type Filters = Pick<Asked<(typeof CUSTOMERS.list)['fields']>['values'], 'verification' | 'from' | 'until'>;

const fitsList = ({ verification: is, createdAt }: Customer, { verification, from, until }: Filters): boolean =>
  (verification === undefined || is === verification) &&
  (from === undefined || createdAt >= from) &&
  (until === undefined || createdAt < until);

/** @throws Refusal 'malformed_field' for a cursor that names no customer of the partner */
async function customerAt(tx: Tx, cursor: string): Promise<Customer> {
  try {
    return await findCustomer(tx, Buffer.from(cursor, 'base64url').toString('latin1'));
  } catch (error) {
    throw error instanceof Refusal && error.code === 'unknown_customer' ? unknownCursor() : error;
  }
}

/** Records a link and returns it. */
function linkFor(
  tx: Tx,
  asked: About,
  {
    customer,
    purpose,
    redirectUrl,
    fiat,
    destinationId,
  }: {
    customer: Customer;
    purpose: 'kyc' | 'bank' | 'confirm';
    redirectUrl: string | undefined;
    fiat?: string | undefined;
    destinationId?: bigint;
  },
) {
  const { deps, caller, now } = asked;
  const id = randomText(20);
  const until = later(now, LINK_FOR_MS);
  const facts = { purpose, customer: customer.id };
  recordActivity(tx, throughOf(caller), { action: 'link.made', subject: `link:${id}`, facts, now });
  const token = encryptLink(deps.vault, purpose, {
    id,
    madeBy: caller.credential.key,
    partnerId: String(customer.partnerId),
    customerId: customer.id,
    until: until.getTime(),
    redirectUrl: redirectUrl ?? null,
    closeAfterLogin: false,
    ...defined({ fiat }),
    ...(destinationId === undefined ? {} : { destinationId: String(destinationId) }),
  });
  return { url: `${deps.publicUrl()}/${purpose}/${token}`, expiresAt: iso(until) };
}

export const CUSTOMER_HANDLERS: readonly Handled[] = [
  writes(CUSTOMERS.create, async (tx, asked) => {
    const { values, caller, deps, now } = asked;
    const customer = await enroll(tx, deps.vault, {
      partnerId: caller.partner.id,
      clientCustomerId: values.reference,
      kind: values.kind === 'business' ? 'BUSINESS' : 'INDIVIDUAL',
      phone: values.phone,
      email: values.email,
      country: values.country,
      now,
    });
    recordActivity(tx, throughOf(caller), { action: 'customer.enrolled', subject: `customer:${customer.id}`, now });
    return shape(customer, asked);
  }),
  reads(CUSTOMERS.get, (asked) =>
    asked.readOnly(async (tx) => shape(await findCustomer(tx, asked.values.customer), asked)),
  ),
  reads(CUSTOMERS.list, (asked) => {
    const { values, caller, deps, readOnly } = asked;
    const { reference, verification, from, until, cursor, limit = PAGE } = values;
    return readOnly(async (tx) => {
      if (reference !== undefined) {
        const named = await customerNamed(tx, deps.vault, caller.partner.id, reference);
        const fits = named !== undefined && fitsList(named, { verification, from, until });
        return { data: fits ? [shape(named, asked)] : [], nextCursor: null };
      }
      const after = cursor === undefined ? undefined : await customerAt(tx, cursor);
      const rows = await customersOf(tx, {
        ...{ partnerId: caller.partner.id, verification, from, until, after, limit: limit + 1 },
      });
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      return {
        data: shown.map((customer) => shape(customer, asked)),
        nextCursor: rows.length > limit && last !== undefined ? Buffer.from(last.id).toString('base64url') : null,
      };
    });
  }),
  writes(CUSTOMERS.update, async (tx, asked) => {
    const { values, caller, deps, now } = asked;
    const { phone, email, country } = values;
    const customer = await findCustomer(tx, values.customer);
    if (phone === undefined && email === undefined && country === undefined)
      throw wrong('phone', 'must be sent, or email or country');
    await updateContact(tx, deps.vault, customer.id, { phone, email, now });
    if (country !== undefined) await setCountry(tx, { customerId: customer.id, country, by: 'partner', now });
    const facts = { phone: phone !== undefined, email: email !== undefined, country: country !== undefined };
    const action = 'customer.contact_changed' as const;
    recordActivity(tx, throughOf(caller), { action, subject: `customer:${customer.id}`, facts, now });
    return shape(await findCustomer(tx, customer.id), asked);
  }),
  writes(CUSTOMERS.verificationLink, async (tx, asked) => {
    const customer = await findCustomer(tx, asked.values.customer);
    return linkFor(tx, asked, { customer, purpose: 'kyc', redirectUrl: asked.values.redirectUrl });
  }),
  writes(CUSTOMERS.accountLink, async (tx, asked) => {
    const { customer: id, redirectUrl, asset } = asked.values;
    const customer = await findCustomer(tx, id);
    if (asset !== undefined) await requireFiat(tx, asset);
    return linkFor(tx, asked, { customer, purpose: 'bank', redirectUrl, fiat: asset });
  }),
  reads(CUSTOMERS.limits, (asked) => {
    const { values, readOnly, caller, deps, now } = asked;
    return readOnly(async (tx) => {
      const customer = await findCustomer(tx, values.customer);
      const all = await markets(tx);
      const found = [];
      for (const market of all) found.push(await limitsOf(tx, market, customer.level));
      const uses = await limitsOfCustomer(tx, { customer, now });
      const shared = await exposures(tx, { partnerId: caller.partner.id, markets: all, now });
      return {
        ...{ customerId: customer.id, level: customer.level, mayTrade: mayTrade(customer, asked) },
        ...{ per: 'order' as const, markets: found },
        limits: uses.map((use) => limitUseShape(use, all)),
        next: await nextLevelOf(tx, {
          ...{ customer, tradeLevel: caller.partner.tradeLevel, uses },
          highestLevel: deps.highestLevelFor(customer.kind),
          ...{ markets: all, vault: deps.vault, now },
        }),
        shared: shared.filter(({ cap }) => cap !== null),
      };
    });
  }),
  reads(CUSTOMERS.requirements, ({ readOnly }) =>
    readOnly(async (tx) => {
      const fiats = [...new Set((await markets(tx)).map(({ fiat }) => fiat.code))];
      const fields = {
        ...BUSINESS_FORM.details,
        ...BUSINESS_FORM.address,
        identityNumber: BUSINESS_FORM.identityNumber,
      };
      return {
        accounts: fiats.map((asset) => ({
          asset,
          fields: accountShapeOf(asset).map(([name]) => (name === 'account' ? 'accountNumber' : name)),
        })),
        verification: Object.entries(fields).map(([field, { label, required, ...more }]) => ({
          ...{ field, label, required: required === 1 },
          pattern: 'regex' in more ? more.regex : null,
        })),
        documents: Object.values(BUSINESS_FORM.documents).map(({ idName }) => idName),
      };
    }),
  ),

  writes(DESTINATIONS.create, async (tx, asked) => {
    const { values, caller, now } = asked;
    const customer = await findCustomer(tx, values.customer);
    if (customer.blocked) throw new Refusal('customer_blocked');
    if (customer.loggedInAt === null) throw new Refusal('login_required');
    const added = values.kind === 'account' ? await account(tx, customer, asked) : await address(tx, customer, asked);
    const holder = await holderMatch(tx, added, asked);
    const facts = { customer: customer.id, kind: added.kind, chain: added.chain, address: added.address, holder };
    // An account is recorded under the name by which a containment finds it.
    const [action, of] =
      added.kind === 'account'
        ? (['account.added', 'account'] as const)
        : (['destination.added', 'destination'] as const);
    recordActivity(tx, throughOf(caller), { action, subject: `${of}:${added.id}`, facts, now });
    return destinationShape(added, asked, holder);
  }),
  reads(DESTINATIONS.get, (asked) =>
    asked.readOnly(async (tx) => {
      const found = await ownDestination(tx, asked);
      return destinationShape(found, asked, await holderMatch(tx, found, asked));
    }),
  ),
  reads(DESTINATIONS.list, (asked) => {
    const { values, readOnly } = asked;
    const { cursor, limit = PAGE } = values;
    return readOnly(async (tx) => {
      const { id: customerId } = await findCustomer(tx, values.customer);
      const rows = await destinationsOf(tx, { customerId, after: readCursor(cursor) ?? 0n, limit: limit + 1 });
      const shown = rows.slice(0, limit);
      const accounts = shown.some(({ kind }) => kind === 'account')
        ? await comparedAccounts(tx, asked.deps.vault, customerId)
        : [];
      const matches = new Map(accounts.map(({ id, holder }) => [id, holder?.match ?? null]));
      // Beyond the most accounts that are compared at once.
      for (const row of shown) if (!matches.has(row.id)) matches.set(row.id, await holderMatch(tx, row, asked));
      return {
        data: shown.map((row) => destinationShape(row, asked, matches.get(row.id) ?? null)),
        nextCursor: rows.length > limit ? cursorOf(shown.at(-1)?.id ?? null) : null,
      };
    });
  }),
  writes(DESTINATIONS.confirmationLink, async (tx, asked) => {
    const { customer: of, destination, redirectUrl } = asked.values;
    const customer = await findCustomer(tx, of);
    const { id: destinationId } = await destinationById(tx, { customerId: customer.id, id: destination });
    return linkFor(tx, asked, { customer, purpose: 'confirm', redirectUrl, destinationId });
  }),
  writes(
    DESTINATIONS.sendCode,
    async (tx, asked) => {
      const { deps, values, now, address: from, caller } = asked;
      const customer = await findCustomer(tx, values.customer);
      if (customer.blocked) throw new Refusal('customer_blocked');
      // A code for a destination is sent only to a phone that the customer has proved at least once.
      if (customer.loggedInAt === null) throw new Refusal('login_required');
      const idle = { customerId: customer.id, isByPhone: false, idleMs: deps.phoneIdleMs ?? 0, now };
      if (await isPhoneIdle(tx, idle)) throw new Refusal('login_required');
      const from_ = await phoneCountsFrom(tx, {
        ...{ customerId: customer.id, coolingOffMs: deps.coolingOffMs, now },
      });
      if (from_ !== undefined) throw new Refusal('destination_waits', { usableAt: from_ });
      const { id } = await destinationById(tx, { customerId: customer.id, id: values.destination });
      if (deps.codes === undefined) throw new Unavailable('code sender', 'there is none');
      const code = deps.codes.nextCode?.() ?? String(randomInt(1_000_000)).padStart(6, '0');
      const asking = {
        ...{ session: sessionOf(id), link: `api ${caller.credential.key} ${customer.id}` },
        ...{ isOpen: false, network: networkOf(from) },
      };
      const issued = await issueCode(tx, deps.vault, { customer, code, asking, now });
      if (issued.outcome !== 'issued')
        throw new Refusal('too_many_requests', { retryAfterMs: issued.until.getTime() - now.getTime() });
      const { phone } = await openContact(tx, deps.vault, customer.id);
      if (phone === undefined) throw new Refusal('login_required');
      const action = 'destination.code_sent' as const;
      recordActivity(tx, throughOf(caller), { action, subject: `destination:${id}`, now });
      toSend.set(asked, { id: issued.id, phone, code });
      return { sentAt: iso(now), expiresAt: iso(later(now, CODE_FOR_MS)) };
    },
    {
      async after(asked) {
        const { deps, inTx, now } = asked;
        const sending = toSend.get(asked);
        if (sending === undefined) return;
        try {
          await deps.codes?.sendCode(sending.phone, sending.code);
        } catch (error) {
          await inTx((tx) => sendingFailed(tx, sending.id, now));
          throw error;
        }
      },
    },
  ),
  {
    ...writes(
      DESTINATIONS.confirm,
      async (tx, asked) => {
        const { values, now, caller } = asked;
        // The stored reply expired after the lookup. A retry is handled as new, and the code is tried.
        if (!tried.has(asked)) throw new Refusal('idempotency_in_flight', { retryAfterMs: 1_000 });
        const customer = await findCustomer(tx, values.customer);
        if (customer.blocked) throw new Refusal('customer_blocked');
        const { id } = await destinationById(tx, { customerId: customer.id, id: values.destination });
        const confirmed = await confirmDestination(tx, { customer, id, now });
        const action = 'destination.confirmed' as const;
        recordActivity(tx, throughOf(caller), {
          action,
          subject: `destination:${id}`,
          facts: { customer: customer.id },
          now,
        });
        return destinationShape(confirmed, asked, await holderMatch(tx, confirmed, asked));
      },
      { before: tryCode },
    ),
  },
];

/** The code of a request, kept until it is sent after the commit. */
const toSend = new WeakMap<object, { id: bigint; phone: string; code: string }>();

/** Requests whose code was correct. */
const tried = new WeakSet<object>();

/** A code is bound to the destination it was sent for. */
const sessionOf = (id: bigint): string => `destination ${id}`;

/**
 * Tries the code in a transaction of its own, because a wrong try counts although the request is refused. Not nested in another
 * transaction: if as many requests as there are connections each waited for a second one, none would continue.
 */
async function tryCode(asked: Asked<(typeof DESTINATIONS.confirm)['fields']>): Promise<void> {
  const { values, deps, now, inTx } = asked;
  const found = await inTx(async (tx) => {
    const customer = await findCustomer(tx, values.customer);
    const { id, confirmedAt } = await destinationById(tx, { customerId: customer.id, id: values.destination });
    // The request was sent again after its reply was lost: the code has taken effect already.
    if (confirmedAt !== null) return 'right';
    return await checkCode(tx, deps.vault, { customerId: customer.id, code: values.code, session: sessionOf(id), now });
  });
  if (found === 'wrong') throw new Refusal('wrong_code');
  if (found !== 'right') throw new Refusal('code_over');
  tried.add(asked);
}

async function ownDestination(tx: Tx, { values }: Asked<(typeof DESTINATIONS.get)['fields']>): Promise<Destination> {
  const { id: customerId } = await findCustomer(tx, values.customer);
  return await destinationById(tx, { customerId, id: values.destination });
}

/** Whether the holder of an account is the customer; null for an address, and for an account without a holder's name. */
async function holderMatch(
  tx: Tx,
  { kind, customerId, id: accountId }: Destination,
  { deps }: Pick<Asked, 'deps'>,
): Promise<PayerMatch | null> {
  if (kind !== 'account') return null;
  return (await compareAccount(tx, deps.vault, { customerId, accountId }))?.match ?? null;
}

function destinationShape(destination: Destination, { now }: Pick<Asked, 'now'>, holderMatch: PayerMatch | null) {
  const { id, customerId, kind, fiat, chain, address: text, hint, createdAt, usableAt, confirmedAt } = destination;
  const waits = confirmedAt === null && usableAt !== null && usableAt > now;
  return {
    ...{ id: String(id), customerId, kind, asset: fiat, chain, address: text, hint, holderMatch },
    usable: !waits,
    usableAt: waits ? iso(usableAt) : null,
    confirmedAt: isoOrNull(confirmedAt),
    createdAt: iso(createdAt),
  };
}

type Create = Asked<(typeof DESTINATIONS.create)['fields']>;

/** @throws Refusal 'malformed_field' for a field that does not fit its country's form */
async function account(tx: Tx, customer: Customer, { values, deps, now }: Create): Promise<Destination> {
  const { asset } = values;
  if (asset === undefined) throw new Refusal('missing_fields', { names: ['asset'] });
  for (const name of ['chain', 'address'] as const)
    if (values[name] !== undefined) throw wrong(name, 'must be left out for an account');
  await requireFiat(tx, asset);
  const { accountNumber, iban, ifsc, bic, sortCode, routingNumber, bankCode, bankName, accountHolder } = values;
  const given: Record<string, string | undefined> = {
    ...{ account: accountNumber, iban, ifsc, swift: bic, sortCode, routingNumber, bankCode, bankName, accountHolder },
  };
  if (hasAccountShape(asset) || accountNumber === undefined)
    for (const [name, form] of accountShapeOf(asset)) {
      const field = name === 'account' ? 'accountNumber' : name;
      const value = given[name];
      if (value === undefined) throw new Refusal('missing_fields', { names: [field] });
      const read = form(value);
      if ('why' in read) throw wrong(field, read.why);
      given[name] = read.value;
      if (name === 'iban') given.account = read.value;
    }
  const added = await addFiatAccount(tx, deps.vault, { customer, fiat: asset, details: accountDetails(given), now });
  const isNew = added.createdAt.getTime() === now.getTime();
  return await noteApiAccount(tx, { customer, accountId: added.id, isNew, coolingOffMs: deps.coolingOffMs, now });
}

async function address(tx: Tx, customer: Customer, { values, deps, now }: Create): Promise<Destination> {
  const { chain, address: text, asset } = values;
  if (chain === undefined || text === undefined) {
    const names = [...(chain === undefined ? ['chain'] : []), ...(text === undefined ? ['address'] : [])];
    throw new Refusal('missing_fields', { names });
  }
  if (asset !== undefined)
    throw wrong('asset', 'must be left out for an address: an address receives every asset of its chain');
  const market = (await markets(tx)).find(({ crypto }) => crypto.chain === chain);
  if (market === undefined) throw wrong('chain', 'must be a chain that chains.list names');
  // Only the system role can see whether the address is one of ours, for any partner.
  const read = await deps.db.asSystem((system) =>
    market.direction === 'offramp'
      ? deps.orders.readRefundAddress(system, market, text)
      : deps.orders.readPayoutAddress(system, market, text),
  );
  if ('why' in read) throw wrong('address', ADDRESS_TROUBLE[read.why]);
  return await addAddress(tx, { customer, chain, address: read.address, coolingOffMs: deps.coolingOffMs, now });
}

const ADDRESS_TROUBLE = {
  no_address: 'must be an address on the chain',
  token_contract: 'must not be the contract of a token',
  ours: 'must not be an address of ours',
} as const;

/** @throws Refusal 'malformed_field' */
export async function requireFiat(tx: Tx, asset: string): Promise<void> {
  if (!(await markets(tx)).some(({ fiat }) => fiat.code === asset))
    throw wrong('asset', 'must be a fiat that assets.list names');
}

async function limitsOf(tx: Tx, market: Market, level: number) {
  const { code, decimals } = depositAsset(market);
  const most = await maxUnitsFor(tx, market, level);
  return {
    market: String(market.id),
    asset: code,
    min: formatUnits(market.minUnits, decimals),
    max: formatUnits(most < market.maxUnits ? most : market.maxUnits, decimals),
  };
}

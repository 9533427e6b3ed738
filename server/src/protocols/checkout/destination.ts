/**
 * The destination of money that waits for its customer: a returned payout, or a refund. The order's page asks for one of the
 * customer's accounts, a new account, or an address.
 *
 * A destination named here is recorded and screened as if the partner had named it.
 */
import { Refusal } from '../../base/errors.ts';
import { type Customer, type FiatAccount, fiatAccounts } from '../../customers/index.ts';
import type { Order, OrderMoney } from '../../orders/index.ts';
import { type Asset, type Market, recordActivity, requireNotHeld } from '../../partners/index.ts';
import { accountFields, keepAccount } from './bank.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { type Html, html } from './html.ts';
import { accountField, walletField } from './offer.ts';
import { button, fields, paragraph } from './pages.ts';
import { amountOf } from './terms.ts';
import { type CheckoutVisit, formOf, type Outcome } from './visit.ts';

/** The data of an order that its page shows. */
export interface Facts extends OrderMoney {
  order: Order;
  market: Market;
  assets: ReadonlyMap<string, Asset>;
}

type Wrong = { given: URLSearchParams; problems: Problems };
type Waiting = Facts['destinations'][number];

const assetOf = ({ assets }: Facts, { asset }: Waiting) => {
  const found = assets.get(asset);
  if (found === undefined) throw new Error(`asset ${asset} is not known`);
  return found;
};

/** The form for the first waiting amount. The form for the next amount follows once the first has a destination. */
export function destinationForm(
  visit: CheckoutVisit,
  shown: Facts,
  all: readonly FiatAccount[],
  { given = new URLSearchParams(), problems = new Map() }: Partial<Wrong> = {},
): Html | undefined {
  const [waiting] = shown.destinations;
  if (waiting === undefined) return undefined;
  const { look, query, action } = visit;
  const { m } = look;
  const words = m.checkout.destination;
  const asset = assetOf(shown, waiting);
  const accounts = all.filter(({ fiat }) => fiat === waiting.asset);
  const isNew =
    waiting.kind === 'bank' && (accounts.length === 0 || query.has('add') || given.get('intent') === 'account');
  const chosen = given.has('intent') ? given : new URLSearchParams({ fiatAccount: query.get('account') ?? '' });
  const asked = isNew ? accountFields(m, asset) : [field(visit, shown, waiting, accounts)];
  return html`<h2>${words.title}</h2>
${paragraph(words[waiting.purpose](amountOf(waiting.units, asset)))}
${formOf(visit, {
  intent: isNew ? 'account' : 'destination',
  body: fields(look, asked, chosen, problems),
  button: button(isNew ? m.bank.add : words.confirm),
})}
${waiting.kind === 'bank' && html`<p><a href="${action}${isNew ? '' : '?add=1'}">${isNew ? m.checkout.back : m.checkout.addAccount}</a></p>`}`;
}

function field({ look }: CheckoutVisit, shown: Facts, waiting: Waiting, accounts: readonly FiatAccount[]): Field {
  if (waiting.kind === 'bank') return accountField(look.m, accounts);
  const { address, addressHint } = look.m.checkout.destination;
  return walletField(address, addressHint(assetOf(shown, waiting).chain ?? ''));
}

/** Handles the form: adds the account, or sets the destination. Sending it again changes nothing. */
export async function nameDestination(
  visit: CheckoutVisit,
  customer: Customer,
  shown: Facts,
): Promise<Outcome | Wrong> {
  const { form, action, look } = visit;
  const [waiting] = shown.destinations;
  const intent = form?.get('intent');
  if (form === undefined || waiting === undefined) return { goTo: action };
  if (intent === 'account' && waiting.kind === 'bank') {
    const kept = await keepAccount({ ...visit, customer }, assetOf(shown, waiting), form);
    return 'problems' in kept
      ? { given: form, problems: kept.problems }
      : { goTo: `${action}?account=${kept.account.id}` };
  }
  if (intent !== 'destination') return { goTo: action };
  const own = (await visit.inTx((tx) => fiatAccounts(tx, customer.id))).filter(({ fiat }) => fiat === waiting.asset);
  const asked = field(visit, shown, waiting, own);
  const { values, problems } = readForm([asked], form, look.m);
  if (problems.size > 0) return { given: form, problems };
  const to =
    waiting.kind === 'bank' ? { fiatAccountId: BigInt(values.fiatAccount ?? '') } : { address: values.wallet ?? '' };
  const why = await named(visit, shown, to);
  return why === undefined ? { goTo: action } : { given: form, problems: new Map([[asked.name, why]]) };
}

/** @returns why the destination is not accepted; undefined once it is set, also if another request has set it meanwhile */
async function named(
  { deps, look, through, now }: CheckoutVisit,
  { order }: Facts,
  to: { fiatAccountId: bigint } | { address: string },
): Promise<string | undefined> {
  const { m } = look;
  const destination = { fiatAccountId: null, address: null, ...to };
  try {
    await deps.db.asSystem(async (tx) => {
      await requireNotHeld(tx, { ...through, ...destination, orderId: null, now });
      await deps.orders.nameDestination(tx, { orderId: order.id, to, now });
      const facts = 'address' in to ? to : { account: String(to.fiatAccountId) };
      const action = 'refund_destination.named';
      recordActivity(tx, through, { action, subject: `order:${order.id}`, facts, now });
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'refund_under_way' || error.code === 'unknown_refund') return undefined;
    if (error.code === 'malformed_field') return m.problems.malformed.wallet;
    if (error.code === 'unknown_account' || error.code === 'destination_held') return m.checkout.destination.refused;
    throw error;
  }
}

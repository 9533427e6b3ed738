/**
 * The offer: the terms of an order, shown and confirmed.
 *
 * Before login it is the current price. Afterwards it is a quote, stored with the link, so that reloading shows the same
 * promise; confirming takes exactly that quote. If it has expired, a new quote is made. It is taken at once if its terms are
 * exactly the same; otherwise it is shown and has to be confirmed again. So an order always has the terms that were on the
 * screen, and a page reports a changed price only if it has changed.
 *
 * The link's row is locked while an order is created, and records the order: a link makes one order, however often the form is
 * submitted.
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { Refusal, Unavailable } from '../../base/errors.ts';
import { idNamed } from '../../base/fields.ts';
import { highestLevelOf } from '../../compliance/index.ts';
import { type Customer, type FiatAccount, fiatAccounts } from '../../customers/index.ts';
import { requireLeft } from '../../orders/index.ts';
import { type Market, markets, recordActivity } from '../../partners/index.ts';
import {
  createQuote,
  depositAsset,
  isSameOffer,
  liveQuote,
  previewQuote,
  type Quote,
  requireWithinLevel,
  shownQuote,
} from '../../quotes/index.ts';
import { accountFields, keepAccount } from './bank.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { type Html, html } from './html.ts';
import type { Messages } from './messages.ts';
import { alert, button, facts, fields, linkButton, note, paragraph } from './pages.ts';
import { checkouts } from './store.ts';
import { amountOf, coinOf, terms } from './terms.ts';
import { addressBack, type CheckoutVisit, formOf, type Outcome, show, wayBack } from './visit.ts';

export const marketOf = async ({ inTx, link }: CheckoutVisit): Promise<Market | undefined> =>
  (await inTx(markets)).find(({ id }) => String(id) === link.marketId);

const titleOf = ({ m }: { m: Messages }, { direction, crypto }: Market): string =>
  m.checkout.title[direction](coinOf(crypto));

/** For every holder of the link: the current price, and the next step. */
export async function previewPage(visit: CheckoutVisit, market: Market): Promise<Outcome> {
  const { look, partner, now, action } = visit;
  const depositUnits = BigInt(visit.link.depositUnits);
  const title = titleOf(look, market);
  try {
    const quote = await visit.inTx((tx) => previewQuote(tx, { partner, market, depositUnits, now }));
    const body = html`${terms(look, quote)}${note(look.m.checkout.preview)}
${linkButton(`${action}?go=1`, look.m.checkout.goOn)}`;
    return show(visit, { title, body });
  } catch (error) {
    return declined(visit, market, error);
  }
}

/** For a customer who may trade: adds an account, confirms, or shows what to confirm. */
export async function offer(visit: CheckoutVisit, customer: Customer, market: Market): Promise<Outcome> {
  const intent = visit.form?.get('intent');
  const sent = visit.form ?? new URLSearchParams();
  try {
    if (intent === 'order') return await order(visit, customer, market, sent);
    if (intent === 'account' && market.direction === 'offramp') {
      const kept = await keepAccount({ ...visit, customer }, market.fiat, sent);
      return 'problems' in kept
        ? accountPage(visit, market, { given: sent, problems: kept.problems })
        : { goTo: `${visit.action}?account=${kept.account.id}` };
    }
    // A form of an earlier step was sent again.
    if (visit.form !== undefined) return { goTo: visit.action };
    return await confirmPage(visit, customer, market, {});
  } catch (error) {
    return declined(visit, market, error);
  }
}

async function confirmPage(
  visit: CheckoutVisit,
  customer: Customer,
  market: Market,
  p: { said?: string; status?: number; given?: URLSearchParams; problems?: Problems },
): Promise<Outcome> {
  const { look, link, query } = visit;
  const { direction } = market;
  const words = look.m.checkout;
  const accounts = await accountsFor(visit, customer, market);
  if (direction === 'offramp' && (accounts.length === 0 || query.has('add'))) return accountPage(visit, market, {});
  const quote = await quoteFor(visit, customer, market);
  const problems = p.problems ?? new Map<string, string>();
  const named = query.get('account') ?? (accounts.length === 1 ? String(accounts[0]?.id) : '');
  const given = p.given ?? new URLSearchParams({ fiatAccount: named });
  const list = [asked(look.m, market, accounts)];
  const isNamed = direction === 'onramp' && link.walletAddress !== null;
  const body = html`${p.said !== undefined && alert(p.said)}${terms(look, quote)}${note(words.goodUntil(quote.expiresAt))}
${formOf(visit, {
  intent: 'order',
  body: html`<input type="hidden" name="quote" value="${String(quote.id)}">
${isNamed ? namedWallet(visit) : fields(look, list, given, problems)}`,
  button: button(words.confirm[direction]),
})}
${direction === 'offramp' && html`<p><a href="${visit.action}?add=1">${words.addAccount}</a></p>`}`;
  const status = p.status === undefined ? {} : { status: p.status };
  return show(visit, { title: titleOf(look, market), body, problems, ...status });
}

const namedWallet = ({ look, link, partner }: CheckoutVisit): Html =>
  html`${paragraph(look.m.checkout.walletNamed(partner.name))}
${facts([[look.m.checkout.wallet, html`<span class="copy">${link.walletAddress ?? ''}</span>`]])}`;

/** The payout destination: one of the customer's accounts, or an address. */
function asked(m: Messages, market: Market, accounts: readonly FiatAccount[]): Field {
  const words = m.checkout;
  return market.direction === 'onramp'
    ? walletField(words.wallet, words.walletHint(market.crypto.chain ?? ''))
    : accountField(m, accounts);
}

/** An address that the customer types or pastes. */
export const walletField = (label: string, hint: string): Field => ({
  name: 'wallet',
  label,
  hint,
  required: true,
  autocomplete: 'off',
  read: (given) => given.trim(),
});

/** One of the customer's own accounts. */
export function accountField(m: Messages, accounts: readonly FiatAccount[]): Field {
  const words = m.checkout;
  const choices = new Map(accounts.map(({ id, hint }) => [String(id), words.accountEnding(hint)]));
  return {
    name: 'fiatAccount',
    label: words.account,
    required: true,
    kind: choices,
    read: (given) => (choices.has(given) ? given : undefined),
  };
}

function accountPage(
  visit: CheckoutVisit,
  { fiat }: Market,
  { given = new URLSearchParams(), problems = new Map() }: { given?: URLSearchParams; problems?: Problems },
): Outcome {
  const { look } = visit;
  const { m } = look;
  const body = html`${paragraph(m.bank.intro(coinOf(fiat)))}
${formOf(visit, { intent: 'account', body: fields(look, accountFields(m, fiat), given, problems), button: button(m.bank.add) })}
<p><a href="${visit.action}">${m.checkout.back}</a></p>`;
  return show(visit, { title: m.bank.title, body, problems });
}

const accountsFor = async ({ inTx }: CheckoutVisit, customer: Customer, { direction, fiat }: Market) =>
  direction === 'onramp'
    ? []
    : (await inTx((tx) => fiatAccounts(tx, customer.id))).filter((account) => account.fiat === fiat.code);

/** The last shown quote while it is valid, otherwise a new one. */
async function quoteFor(visit: CheckoutVisit, customer: Customer, market: Market): Promise<Quote> {
  const { link, partner, now } = visit;
  const depositUnits = BigInt(link.depositUnits);
  return await visit.inTx(async (tx) => {
    await requireWithinLevel(tx, { market, level: customer.level, depositUnits });
    const highestLevel = highestLevelOf(visit.deps.verifier, customer.kind);
    const row = await checkouts.lock(tx, link, now);
    const shown =
      row?.quoteId == null ? undefined : await liveQuote(tx, { id: row.quoteId, market, depositUnits, now });
    if (shown !== undefined) {
      await requireLeft(tx, { customer, market, quote: shown, highestLevel, now });
      return shown;
    }
    const quote = await createQuote(tx, { partner, market, depositUnits, now });
    await requireLeft(tx, { customer, market, quote, highestLevel, now });
    await checkouts.quoteShown(tx, link.id, quote.id);
    return quote;
  });
}

async function order(
  visit: CheckoutVisit,
  customer: Customer,
  market: Market,
  sent: URLSearchParams,
): Promise<Outcome> {
  const { deps, link, partner, now, look } = visit;
  const destination = await destinationOf(visit, customer, market, sent);
  if ('problems' in destination)
    return await confirmPage(visit, customer, market, { given: sent, problems: destination.problems });
  const depositUnits = BigInt(link.depositUnits);
  const said = 'fiatAccountId' in destination ? { account: String(destination.fiatAccountId) } : destination;
  const made = await visit.inTx(async (tx) => {
    const row = await checkouts.lock(tx, link, now);
    if (row === undefined || row.orderId !== null) return 'made';
    const shown = await quoteNamed(tx, { named: sent.get('quote'), market, depositUnits });
    if (shown === undefined) return 'unknown';
    const live = row.quoteId === null ? undefined : await liveQuote(tx, { id: row.quoteId, market, depositUnits, now });
    const quote = live ?? (await createQuote(tx, { partner, market, depositUnits, now }));
    if (live === undefined) await checkouts.quoteShown(tx, link.id, quote.id);
    if (!isSameOffer(shown, quote)) return 'moved';
    const { id } = await deps.orders.create(tx, {
      // Zero tolerance: a partner's tolerance is for programs that computed with an older price.
      partner: { ...partner, toleranceBps: 0n },
      customer,
      market,
      depositUnits,
      rate: quote.rate,
      payoutUnits: quote.payoutUnits,
      ...destination,
      ...defined({
        paymentMethod: link.paymentMethod ?? undefined,
        merchantReference: link.merchantReference ?? undefined,
      }),
      now,
    });
    await checkouts.ordered(tx, link.id, { id, customerId: customer.id });
    const facts = { direction: market.direction, customer: customer.id, ...said };
    recordActivity(tx, visit.through, { action: 'order.created', subject: `order:${id}`, facts, now });
    return 'made';
  });
  if (made === 'made') return { goTo: visit.action };
  const { moved, confirmAgain } = look.m.checkout;
  const again = made === 'moved' ? moved : confirmAgain;
  return await confirmPage(visit, customer, market, { said: again, status: 409, given: sent });
}

/** The quote that was on the screen when the form was sent, by its number in the form. */
const quoteNamed = async (
  tx: Tx,
  { named, ...input }: { named: string | null; market: Market; depositUnits: bigint },
): Promise<Quote | undefined> => {
  const id = idNamed(named ?? '');
  return id === undefined ? undefined : await shownQuote(tx, { id, ...input });
};

async function destinationOf(
  visit: CheckoutVisit,
  customer: Customer,
  market: Market,
  sent: URLSearchParams,
): Promise<{ fiatAccountId: bigint } | { payoutAddress: string } | { problems: Problems }> {
  const { deps, link, look } = visit;
  const field = asked(look.m, market, await accountsFor(visit, customer, market));
  if (market.direction === 'offramp') {
    const { values, problems } = readForm([field], sent, look.m);
    return problems.size > 0 ? { problems } : { fiatAccountId: BigInt(values.fiatAccount ?? '') };
  }
  const { values, problems } =
    link.walletAddress === null
      ? readForm([field], sent, look.m)
      : { values: { wallet: link.walletAddress }, problems: new Map<string, string>() };
  if (problems.size > 0) return { problems };
  // Uses the system role, because the address may be one of ours for another partner's order.
  const read = await deps.db.asSystem((tx) => deps.orders.readPayoutAddress(tx, market, values.wallet ?? ''));
  if ('address' in read) return { payoutAddress: read.address };
  const { malformed, tokenContract, ourAddress } = look.m.problems;
  const why = { no_address: malformed.wallet, token_contract: tokenContract, ours: ourAddress }[read.why];
  return { problems: new Map([['wallet', why]]) };
}

/** Why no order can be made, as shown on the page; other errors are unexpected here. */
function declined(visit: CheckoutVisit, market: Market, error: unknown): Outcome {
  const { look, link } = visit;
  const words = look.m.checkout;
  let said: string | undefined;
  if (error instanceof Unavailable) said = words.noPrice;
  if (error instanceof Refusal) {
    const { minUnits, maxUnits } = error.facts as { minUnits?: bigint; maxUnits?: bigint };
    const asset = depositAsset(market);
    const limits =
      minUnits === undefined || maxUnits === undefined
        ? words.notNow
        : words.limits(amountOf(minUnits, asset), amountOf(maxUnits, asset));
    const { left, max, coin, period } = error.facts as Record<'left' | 'max' | 'coin' | 'period', string>;
    const known: Partial<Record<Refusal['code'], string>> = {
      amount_outside_limits: limits,
      amount_below_fees: words.belowFees,
      customer_limit_exceeded: words.customerLimit(`${left} ${coin}`, `${max} ${coin}`, period),
      exposure_exceeded: words.notNow,
      destination_held: words.notNow,
      verification_required: words.notNow,
      price_moved: words.moved,
    };
    said = known[error.code];
  }
  if (said === undefined) throw error;
  const body = html`${alert(said)}${linkButton(visit.action, words.lookAgain)}${wayBack(visit, addressBack(link, {}))}`;
  return show(visit, { title: titleOf(look, market), body, status: error instanceof Unavailable ? 503 : 409 });
}

/**
 * The page of an order: the payee, its progress, money received and refunded, and the link back to the partner.
 *
 * It reloads itself while the order is under way, and shows only stored data.
 */
import { createHash } from 'node:crypto';
import { type Customer, fiatAccounts } from '../../customers/index.ts';
import { isFinal, isPayable, type OrderMoney } from '../../orders/index.ts';
import { type Asset, assets, marketById } from '../../partners/index.ts';
import { destinationForm, type Facts, nameDestination } from './destination.ts';
import type { Problems } from './form.ts';
import { type Html, html } from './html.ts';
import { alert, facts, linkButton, note, paragraph } from './pages.ts';
import { qrCode } from './qr.ts';
import { amountOf, coinOf, terms } from './terms.ts';
import { addressBack, type CheckoutVisit, type Outcome, show, wayBack } from './visit.ts';

async function factsOf({ deps, inTx }: CheckoutVisit, orderId: bigint, customerId: string): Promise<Facts> {
  return await inTx(async (tx) => {
    const order = await deps.orders.get(tx, { id: orderId, customerId });
    const market = await marketById(tx, order.marketId);
    return { order, market, assets: await assets(tx), ...(await deps.orders.money(tx, order)) };
  });
}

/** Handles a form sent from the page: it names a destination, or belongs to an earlier step and was sent again. */
export async function takeOrderForm(visit: CheckoutVisit, orderId: bigint, customer: Customer): Promise<Outcome> {
  const shown = await factsOf(visit, orderId, customer.id);
  const named = await nameDestination(visit, customer, shown);
  return 'problems' in named ? await pageOf(visit, shown, customer, named) : named;
}

export const orderPage = async (visit: CheckoutVisit, orderId: bigint, customer: Customer): Promise<Outcome> =>
  await pageOf(visit, await factsOf(visit, orderId, customer.id), customer);

async function pageOf(
  visit: CheckoutVisit,
  shown: Facts,
  customer: Customer,
  wrong?: { given: URLSearchParams; problems: Problems },
): Promise<Outcome> {
  const { deps, look, link, action } = visit;
  const { order, market, publicMoney } = shown;
  const words = look.m.checkout;
  const back = addressBack(link, { orderId: String(order.id), customerId: customer.id });
  // After its deadline an order may still become paid, because a deposit made in time may not have been read yet.
  const payable = isPayable(order, deps.clock.now());
  const said = saidOf(visit, shown, payable);
  const reason = publicMoney.reason === null ? undefined : words.reasons[publicMoney.reason];
  const accounts = shown.destinations.some(({ kind }) => kind === 'bank')
    ? await visit.inTx((tx) => fiatAccounts(tx, customer.id))
    : [];
  const body = html`${said.text === undefined ? toPay(visit, shown) : paragraph(said.text)}
${reason !== undefined && !isAskedForRest(said, publicMoney) && alert(reason)}
${destinationForm(visit, shown, accounts, wrong)}
${movements(visit, shown)}
${facts([[words.order, String(order.id)], ...evidence(visit, shown)])}
${terms(look, { ...order, market })}
${!shown.isOver && linkButton(action, words.lookAgain)}
${wayBack(visit, back)}`;
  return show(visit, {
    title: said.title,
    body,
    problems: wrong?.problems,
    // No reload while a form is shown, because it would interrupt a customer who is filling it in.
    news: { text: newsOf(shown, payable), isOver: shown.isOver || shown.destinations.length > 0 },
  });
}

/** Whether the page's first sentence already asks for the missing amount. */
const isAskedForRest = (said: { text?: string }, told: OrderMoney['publicMoney']): boolean =>
  said.text === undefined && told.reason === 'underpaid';

/** The order's state as a title and a sentence; no sentence while it is unpaid. */
function saidOf({ look }: CheckoutVisit, shown: Facts, payable: boolean): { title: string; text?: string } {
  const { order, isOver, cameBack, destinations, missingUnits } = shown;
  const words = look.m.checkout;
  const coin = coinOf(depositOf(shown));
  const isPart = missingUnits > 0n && missingUnits < order.depositUnits;
  const isUnpaid = order.state === 'created' || (order.state === 'deposit_seen' && isPart);
  if (isUnpaid && !payable) return words.timeOver;
  if (isUnpaid)
    return {
      title:
        missingUnits < order.depositUnits ? words.rest[order.direction](coin) : words.created[order.direction](coin),
    };
  if (cameBack) {
    const { title, text, again, named } = words.cameBack;
    const goesOn = shown.publicMoney.refunds.some(({ status }) => status === 'created' || status === 'submitted');
    return { title, text: destinations.length > 0 ? named : goesOn ? again : text };
  }
  if (order.state === 'created') return words.timeOver;
  // An order frozen by law is shown as under review; money that the law released, as a refund.
  const usual = order.state === 'frozen' ? 'on_hold' : order.state;
  const state = words.states[shown.goesBack ? (isOver ? 'refunded' : 'refunding') : usual];
  if (isFinal(usual)) return isOver ? state : { title: state.title, text: words.besides };
  // A customer who is asked for a destination must not read that there is nothing to do.
  return destinations.length > 0 ? { title: state.title, text: words.destination.asked } : state;
}

/** A text that changes whenever there is something new to see. */
function newsOf({ order, publicMoney, deposits, isOver }: Facts, payable: boolean): string {
  const seen = deposits.map(({ state, units }) => `${state} ${units}`);
  return createHash('sha256')
    .update(JSON.stringify([order.state, payable, order.exception, order.expiresAt, seen, publicMoney, isOver]))
    .digest('hex')
    .slice(0, 16);
}

const depositOf = ({ order, assets: known }: Facts): Asset => assetOf(known, order.depositAsset);

function assetOf(known: Facts['assets'], code: string): Asset {
  const found = known.get(code);
  if (found === undefined) throw new Error(`asset ${code} is not known`);
  return found;
}

/** A customer who has paid a part is asked for the rest, with the same instructions and deadline. */
function toPay(visit: CheckoutVisit, shown: Facts): Html {
  const { order, missingUnits, publicMoney } = shown;
  const words = visit.look.m.checkout;
  const deposit = depositOf(shown);
  // While the whole amount is on its way and unconfirmed, the page still shows the whole amount.
  const amount = amountOf(missingUnits > 0n ? missingUnits : order.depositUnits, deposit);
  const isPart = missingUnits > 0n && missingUnits < order.depositUnits;
  const came = `${publicMoney.receivedAmount} ${publicMoney.receivedCurrency}`;
  const instructions = order.direction === 'offramp' ? toSend(visit, shown, amount) : toTransfer(visit, shown, amount);
  return html`${isPart && publicMoney.reason === 'underpaid' && paragraph(words.arrived(came, amountOf(order.depositUnits, deposit)))}
${instructions}
<h2>${words.next}</h2>
${paragraph(words.nextOf[order.direction])}`;
}

function toSend({ look }: CheckoutVisit, shown: Facts, amount: string): Html {
  const { order } = shown;
  const words = look.m.checkout;
  const { chain } = depositOf(shown);
  return html`${paragraph(words.send(amount, chain ?? ''))}
<p class="copy" id="address">${order.depositTarget}</p>
${qrCode(order.depositTarget, words.qr(order.depositTarget))}
${facts([[words.until, words.payBy(order.expiresAt)]])}
${note(words.onlyThis(coinOf(depositOf(shown)), chain ?? ''))}`;
}

function toTransfer({ look, deps }: CheckoutVisit, { order }: Facts, amount: string): Html {
  const words = look.m.checkout;
  const { payee, reference } = deps.orders.payInstructions(order);
  const known = Object.entries(words.payee) as [keyof typeof words.payee, string][];
  return html`${paragraph(words.pay(amount))}
${facts([
  [words.reference, html`<span class="copy" id="reference">${reference}</span>`],
  ...known.filter(([name]) => payee[name] !== '').map(([name, label]) => [label, payee[name]] as const),
  ...Object.entries(payee.codes ?? {}).map(
    ([name, code]) => [look.m.bank.fields[name as keyof typeof payee.codes], code] as const,
  ),
  [words.method, order.paymentMethod],
  [words.until, words.payBy(order.expiresAt)],
])}
${note(words.onlyOwn)}`;
}

/** The destination, and the references of chain or bank. */
function evidence({ look }: CheckoutVisit, { order }: Facts): [string, string | Html][] {
  const words = look.m.checkout;
  const hash = order.direction === 'offramp' ? order.depositReference : order.payoutReference;
  return [
    ...(order.payoutAddress === null
      ? []
      : [[words.to.onramp, html`<span class="copy">${order.payoutAddress}</span>`] as [string, Html]]),
    ...(hash === null ? [] : [[words.transaction, html`<span class="copy">${hash}</span>`] as [string, Html]]),
  ];
}

/** Deposits, returned payouts, refunds and second payouts: each with its state, and none twice. */
function movements({ look }: CheckoutVisit, { deposits, publicMoney, assets: known }: Facts): Html | undefined {
  const { refunds, returnedPayouts } = publicMoney;
  if (deposits.length + refunds.length + returnedPayouts.length === 0) return undefined;
  const words = look.m.checkout;
  const reasonIn = (reason: keyof typeof words.reasons) => {
    const said = words.reasons[reason];
    return said === undefined ? '' : `. ${said}`;
  };
  return html`<h2>${words.movements}</h2>
${facts([
  ...deposits.map(
    ({ asset, units, state }) =>
      [
        words.received,
        `${amountOf(units, assetOf(known, asset))}: ${words.depositStates[state] ?? words.lookedInto}`,
      ] as const,
  ),
  ...returnedPayouts.map(
    ({ amount, currency, reason }) => [words.returned, `${amount} ${currency}${reasonIn(reason)}`] as const,
  ),
  ...refunds.map(
    ({ kind, amount, currency, status, reference }) =>
      [
        kind === 'payout' ? words.paidAgain : words.refund,
        html`${amount} ${currency}: ${words.refundStates[status]}${reference !== '' && html`<br><span class="copy">${reference}</span>`}`,
      ] as const,
  ),
])}`;
}

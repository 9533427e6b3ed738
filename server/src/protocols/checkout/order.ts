/**
 * The page of an order: whom to pay, how far it is, what has come in and gone back, and the way back to the partner.
 *
 * It is looked at again by itself while the order is under way, and shows what is stored and nothing else.
 */
import { createHash } from 'node:crypto';
import { isFinal, type Movement, type Order } from '../../orders/index.ts';
import { type Asset, assets, type Market, marketById } from '../../partners/index.ts';
import { type Html, html } from './html.ts';
import { alert, facts, linkButton, note, paragraph } from './pages.ts';
import { qrCode } from './qr.ts';
import { amountOf, coinOf, terms } from './terms.ts';
import { addressBack, type CheckoutVisit, type Outcome, show, wayBack } from './visit.ts';

interface Facts {
  order: Order;
  market: Market;
  assets: ReadonlyMap<string, Asset>;
  deposits: readonly Movement[];
  refunds: readonly Movement[];
}

export async function orderPage(visit: CheckoutVisit, orderId: bigint, customerId: string): Promise<Outcome> {
  const { deps, look, link, action } = visit;
  const shown: Facts = await visit.inTx(async (tx) => {
    const order = await deps.orders.get(tx, { id: orderId, customerId });
    const market = await marketById(tx, order.marketId);
    return { order, market, assets: await assets(tx), ...(await deps.orders.movements(tx, order)) };
  });
  const { order, market } = shown;
  const words = look.m.checkout;
  const { exception } = order;
  const back = addressBack(link, { orderId: String(order.id), customerId });
  const body = html`${order.state === 'created' ? toPay(visit, shown) : paragraph(words.states[order.state].text)}
${exception !== null && alert(words.exceptions[exception] ?? words.otherException)}
${movements(visit, shown)}
${facts([[words.order, String(order.id)], ...evidence(visit, shown)])}
${terms(look, { ...order, market })}
${!isFinal(order.state) && linkButton(action, words.lookAgain)}
${wayBack(visit, back)}`;
  const title =
    order.state === 'created'
      ? words.created[order.direction](coinOf(depositOf(shown)))
      : words.states[order.state].title;
  return show(visit, { title, body, news: { text: newsOf(shown), isOver: isFinal(order.state) } });
}

/** Another text whenever there is something new to see. */
function newsOf({ order, deposits, refunds }: Facts): string {
  const seen = [...deposits, ...refunds].map(({ state, units }) => `${state} ${units}`);
  return createHash('sha256')
    .update(JSON.stringify([order.state, order.exception, order.expiresAt, seen]))
    .digest('hex')
    .slice(0, 16);
}

const depositOf = ({ order, assets: known }: Facts): Asset => assetOf(known, order.depositAsset);

function assetOf(known: Facts['assets'], code: string): Asset {
  const found = known.get(code);
  if (found === undefined) throw new Error(`asset ${code} is not known`);
  return found;
}

function toPay(visit: CheckoutVisit, shown: Facts): Html {
  const { order } = shown;
  const words = visit.look.m.checkout;
  const amount = amountOf(stillToPay(shown), depositOf(shown));
  const instructions = order.direction === 'offramp' ? toSend(visit, shown, amount) : toTransfer(visit, shown, amount);
  return html`${instructions}
<h2>${words.next}</h2>
${paragraph(words.nextOf[order.direction])}`;
}

/** Who has paid a part is asked for the rest. What has not been confirmed yet counts: it is on its way. */
function stillToPay({ order, deposits }: Facts): bigint {
  const paid = deposits
    .filter(({ asset, state }) => asset === order.depositAsset && (state === 'seen' || state === 'confirmed'))
    .reduce((sum, { units }) => sum + units, 0n);
  return paid < order.depositUnits ? order.depositUnits - paid : order.depositUnits;
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
  [words.method, order.paymentMethod],
  [words.until, words.payBy(order.expiresAt)],
])}
${note(words.onlyOwn)}`;
}

/** Where it goes, and the chain's own words for what has happened. */
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

/** What has come in that may not be what was expected, and what has gone back. */
function movements({ look }: CheckoutVisit, { deposits, refunds, assets: known }: Facts): Html | undefined {
  if (deposits.length + refunds.length === 0) return undefined;
  const words = look.m.checkout;
  const line = (name: string, said: Readonly<Record<string, string>>, { asset, units, state }: Movement) =>
    [name, `${amountOf(units, assetOf(known, asset))}: ${said[state] ?? words.lookedInto}`] as const;
  return html`<h2>${words.movements}</h2>
${facts([
  ...deposits.map((one) => line(words.received, words.depositStates, one)),
  ...refunds.map((one) => line(words.refund, words.refundStates, one)),
])}`;
}

/**
 * The page for a refund of coins: it shows the received money, asks for an address, shows that address once more in full, and
 * then the progress.
 *
 * The typed address is stored in the link's row, so that the page's URL contains none. Only the shown address can be confirmed:
 * a form of an older page, with another address, changes nothing. The page does not show findings about the address.
 */
import { createHash } from 'node:crypto';
import { assert } from '../../base/errors.ts';
import type { ReturnShown } from '../../orders/index.ts';
import { type Asset, assets } from '../../partners/index.ts';
import { type Problems, readForm } from './form.ts';
import { type Html, html } from './html.ts';
import { walletField } from './offer.ts';
import { button, facts, fields, linkButton, paragraph } from './pages.ts';
import { amountOf } from './terms.ts';
import { formOf, type Outcome, show, type Visit } from './visit.ts';

interface Shown extends ReturnShown {
  of: Asset;
}

/** The page for a customer who is logged in. */
export async function returnPage(visit: Visit): Promise<Outcome> {
  const { m } = visit.look;
  const asked = askedBy(visit);
  const found = await visit.inTx(async (tx) => {
    const shown = await visit.deps.orders.returnShown(tx, asked);
    return shown && { ...shown, of: (await assets(tx)).get(shown.asset) };
  });
  // A newer link has replaced this one.
  if (found === undefined)
    return show(visit, { title: m.endedLink.title, body: paragraph(m.endedLink.text), status: 410 });
  const { of } = found;
  assert(of !== undefined, `asset ${found.asset} is not known`);
  const shown: Shown = { ...found, of };
  const intent = visit.form?.get('intent');
  if (intent === 'address' && shown.stage === 'ask') return await takeAddress(visit, shown);
  if (intent === 'other' && shown.stage === 'confirm') {
    await visit.deps.db.asSystem((tx) => visit.deps.orders.forgetReturnAddress(tx, asked));
    return { goTo: visit.action };
  }
  if (intent === 'confirm') {
    await confirm(visit);
    return { goTo: visit.action };
  }
  // A form sent again, or a login form of a customer who is already logged in.
  if (visit.form !== undefined) return { goTo: visit.action };
  switch (shown.stage) {
    case 'ask':
      return askPage(visit, shown, {});
    case 'confirm':
      return confirmPage(visit, shown);
    default:
      return standingPage(visit, shown, shown.stage);
  }
}

function askedBy({ link, customer }: Visit) {
  assert(link.id !== undefined, 'the return link has no id');
  return { id: link.id, customerId: customer.id };
}

const fieldOf = ({ look }: Visit, { of }: Shown) =>
  walletField(look.m.startRefund.address, look.m.startRefund.hint(of.chain ?? ''));

async function takeAddress(visit: Visit, shown: Shown): Promise<Outcome> {
  const { deps, look } = visit;
  const given = visit.form ?? new URLSearchParams();
  const field = fieldOf(visit, shown);
  const { values, problems } = readForm([field], given, look.m);
  if (problems.size > 0) return askPage(visit, shown, { given, problems });
  const text = values[field.name] ?? '';
  const why = await deps.db.asSystem((tx) => deps.orders.enterReturnAddress(tx, { ...askedBy(visit), text }));
  if (why === undefined) return { goTo: visit.action };
  const { malformed, tokenContract, ourAddress } = look.m.problems;
  const said = { no_address: malformed.wallet, token_contract: tokenContract, ours: ourAddress }[why];
  return askPage(visit, shown, { given, problems: new Map([[field.name, said]]) });
}

async function confirm(visit: Visit): Promise<void> {
  const { deps, customer, form, now } = visit;
  const { loggedInAt } = customer;
  assert(loggedInAt !== null, 'the customer has not logged in');
  const address = form?.get('address') ?? '';
  await deps.db.asSystem((tx) => deps.orders.confirmReturnAddress(tx, { ...askedBy(visit), address, loggedInAt, now }));
}

function askPage(
  visit: Visit,
  shown: Shown,
  { given = new URLSearchParams(), problems = new Map() }: { given?: URLSearchParams; problems?: Problems },
): Outcome {
  const { look, partner } = visit;
  const words = look.m.startRefund;
  return show(visit, {
    title: words.title,
    body: html`${paragraph(words.intro(partner.name))}
${what(visit, shown)}
${formOf(visit, {
  intent: 'address',
  body: fields(look, [fieldOf(visit, shown)], given, problems),
  button: button(words.goOn),
})}`,
    problems,
  });
}

function confirmPage(visit: Visit, shown: Shown): Outcome {
  const words = visit.look.m.startRefund.check;
  const address = shown.address ?? '';
  return show(visit, {
    title: words.title,
    body: html`${paragraph(words.intro(amountOf(shown.units, shown.of), shown.of.chain ?? ''))}
<p class="check" id="address">${address.match(/.{1,4}/g)?.map((part) => html`<span>${part}</span>`)}</p>
${formOf(visit, {
  intent: 'confirm',
  body: html`<input type="hidden" name="address" value="${address}">`,
  button: button(words.yes),
})}
${formOf(visit, { intent: 'other', body: html``, button: button(words.other, 'second') })}`,
  });
}

function standingPage(visit: Visit, shown: Shown, stage: 'waits' | 'submitted' | 'settled' | 'over'): Outcome {
  const { look, action } = visit;
  const { startRefund: words, checkout, mayClose } = look.m;
  const { title, text } = words[stage];
  const isOver = stage === 'settled' || stage === 'over';
  return show(visit, {
    title,
    body: html`${paragraph(text)}
${what(visit, shown)}
${isOver ? paragraph(mayClose) : linkButton(action, checkout.lookAgain)}`,
    news: { text: newsOf(shown), isOver },
  });
}

/** The money received and refunded, described for its sender. */
function what(
  { look }: Visit,
  { orderId, of, cameUnits, units, cameAt, reference, stage, address, paidBy }: Shown,
): Html {
  const { startRefund: words, checkout } = look.m;
  const copy = (text: string): Html => html`<span class="copy">${text}</span>`;
  const whole = cameUnits === units && stage !== 'over' ? '' : `${amountOf(cameUnits, of)}, `;
  const goes = [words.amount, amountOf(units, of)] as const;
  return facts([
    ...(address === null || stage === 'over' ? [] : [[words.to, copy(address)] as const]),
    ...(paidBy === null ? [] : [[words.sent, copy(paidBy)] as const]),
    ...(stage === 'over' ? [] : [goes]),
    [checkout.network, of.chain ?? ''],
    [words.came, `${whole}${cameAt.toISOString().slice(0, 16).replace('T', ', ')} UTC`],
    [checkout.order, String(orderId)],
    [words.transaction, copy(reference)],
  ]);
}

const newsOf = ({ stage, units, paidBy }: Shown): string =>
  createHash('sha256')
    .update(JSON.stringify([stage, String(units), paidBy]))
    .digest('hex')
    .slice(0, 16);

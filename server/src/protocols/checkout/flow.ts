/**
 * The checkout page: buying or selling through a link, step by step.
 *
 *   offer at the current price → phone (if the link names no customer) → code (→ proof, if the number was idle for long)
 *   → details (if the level is too low) → offer at a held price; account or wallet → the order: the payee, then its progress
 *
 * The current step follows from the stored data and the login; there is no other state. Once there is an order, the link
 * shows only that, and only to its customer.
 */
import { Refusal } from '../../base/errors.ts';
import { type Customer, findCustomer, givenDetails, requireTrading } from '../../customers/index.ts';
import { html } from './html.ts';
import { kyc, verificationStep } from './kyc.ts';
import { marketOf, offer, previewPage } from './offer.ts';
import { orderPage, takeOrderForm } from './order.ts';
import { button, paragraph } from './pages.ts';
import { phonePage, takePhone } from './phone.ts';
import { proofOrLogin } from './proof.ts';
import { beginSession } from './session.ts';
import { checkouts } from './store.ts';
import { addressBack, type CheckoutVisit, formOf, type Outcome, show, type Visit, wayBack } from './visit.ts';

export async function checkoutPage(visit: CheckoutVisit): Promise<Outcome> {
  const { link, customer, session, look, now } = visit;
  // Another person wants to log in, through a link that names no customer.
  if (visit.form?.get('intent') === 'other' && link.customerId === null)
    return { goTo: `${visit.action}?go=1&other=1`, session: beginSession('', now) };
  const row = await visit.inTx((tx) => checkouts.find(tx, link.id));
  const { m } = look;
  if (row?.orderId != null && row.customerId !== null) {
    const { orderId, customerId } = row;
    if (!session.loggedIn || customer === undefined) {
      // From now on the link belongs to this customer: codes are sent only to the customer's phone.
      const owner = await visit.inTx((tx) => findCustomer(tx, customerId));
      return await proofOrLogin(asVisit(visit, owner));
    }
    if (customer.id !== customerId)
      return show(visit, {
        title: m.checkout.used.title,
        body: html`${paragraph(m.checkout.used.text)}${other(visit)}`,
        status: 403,
      });
    return visit.form === undefined
      ? await orderPage(visit, orderId, customer)
      : await takeOrderForm(visit, orderId, customer);
  }
  if (now.getTime() >= link.orderUntil)
    return show(visit, { ...m.endedLink, body: paragraph(m.endedLink.text), status: 410 });
  const market = await marketOf(visit);
  if (market === undefined)
    return show(visit, { title: m.checkout.gone.title, body: paragraph(m.checkout.gone.text), status: 410 });
  if (!session.loggedIn || customer === undefined) {
    const isEntering = visit.form !== undefined || visit.query.has('go');
    return isEntering ? await enter(visit) : await previewPage(visit, market);
  }
  return mayTrade(customer, visit) ? await offer(visit, customer, market) : await details(visit, customer);
}

/** Asks for the phone, then for the code. */
async function enter(visit: CheckoutVisit): Promise<Outcome> {
  const { customer, form } = visit;
  if (form?.get('intent') === 'phone' && visit.link.customerId === null) return await takePhone(visit, form);
  if (customer === undefined) return phonePage(visit);
  const isOpen = visit.link.customerId === null;
  const aside = isOpen ? other(visit) : undefined;
  return await proofOrLogin({ ...asVisit(visit, customer), action: `${visit.action}?go=1`, aside, isOpen });
}

const other = (visit: CheckoutVisit) =>
  visit.link.customerId !== null
    ? undefined
    : formOf(visit, { intent: 'other', body: html``, button: button(visit.look.m.phone.other, 'second') });

/** The same steps as on the verification page; afterwards the customer returns here. */
async function details(visit: CheckoutVisit, customer: Customer): Promise<Outcome> {
  const asKnown = asVisit(visit, customer);
  const given = await visit.inTx((tx) => givenDetails(tx, customer.id));
  if (verificationStep(asKnown, given) !== 'done') return await kyc(asKnown);
  const { m } = visit.look;
  const body = html`${paragraph(m.checkout.notVerified)}${wayBack(visit, addressBack(visit.link, {}))}`;
  return show(visit, { title: m.refused.title, body, status: 403 });
}

const asVisit = (visit: CheckoutVisit, customer: Customer): Visit => {
  const { partnerId, until, redirectUrl } = visit.link;
  return {
    ...visit,
    customer,
    isByPhone: visit.link.customerId === null,
    link: { partnerId, customerId: customer.id, until, redirectUrl, closeAfterLogin: false },
  };
};

function mayTrade(customer: Customer, { partner }: CheckoutVisit): boolean {
  try {
    requireTrading(customer, partner);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

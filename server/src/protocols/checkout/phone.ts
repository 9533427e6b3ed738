/**
 * The phone page: a customer who comes through a link that names no customer enters a phone number.
 *
 * The customer's row is created before the code is right, because codes belong to customers; until then it is only an
 * encrypted number. A link accepts only a few numbers, and a network a few per period, because each costs a message to a
 * third party. Both limits count known and unknown numbers alike, so neither reveals which is which.
 *
 * A number that the partner put into the link is not shown: the holder of the link sees its last two digits and may have the
 * code sent to it.
 */
import type { Vault } from '../../base/crypto.ts';
import { defined } from '../../base/defined.ts';
import { phone } from '../../base/fields.ts';
import { customerByPhone } from '../../customers/index.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { type Html, html } from './html.ts';
import { endingOf } from './login.ts';
import type { Messages } from './messages.ts';
import { alert, button, fields, linkButton, paragraph } from './pages.ts';
import { beginSession } from './session.ts';
import { checkouts } from './store.ts';
import { type CheckoutVisit, formOf, type Outcome, show } from './visit.ts';

const MOST_PHONES = 5;
/** Value of a form that means the number in the link. */
const LINKED = 'linked';

export function phonePage(
  visit: CheckoutVisit,
  p: { given?: URLSearchParams; problems?: Problems; said?: string; status?: number } = {},
): Outcome {
  const { look, link, deps, query } = visit;
  const words = look.m.phone;
  if (deps.sender === undefined)
    return show(visit, { title: words.title, body: alert(look.m.login.noSender), status: 503 });
  const problems = p.problems ?? new Map<string, string>();
  const said = p.said !== undefined && alert(p.said);
  const isTyped = link.phone === null || query.has('other') || p.given?.has('phone') === true;
  const body = isTyped
    ? html`${said}${paragraph(words.intro)}
${phoneForm(visit, fields(look, [phoneField(look.m)], p.given ?? new URLSearchParams(), problems))}`
    : html`${said}${phoneForm(
        visit,
        html`${paragraph(look.m.login.intro(endingOf(link.phone ?? '')))}<input type="hidden" name="${LINKED}" value="1">`,
      )}
${linkButton(`${visit.action}?go=1&other=1`, words.other)}`;
  return show(visit, { title: words.title, body, problems, ...defined({ status: p.status }) });
}

const phoneForm = (visit: CheckoutVisit, body: Html): Html =>
  formOf(visit, { intent: 'phone', body, button: button(visit.look.m.phone.send) });

/** The hashes that a link may have of a number: the present key's first. */
export const namedPhones = (vault: Vault, link: string, phone: string): [Buffer, ...Buffer[]] =>
  vault.indexes(phone.replaceAll(/[^0-9]/g, ''), `checkouts.phones_named:${link}`) as [Buffer, ...Buffer[]];

/** Stores the phone for this browser; the code is asked for next. */
export async function takePhone(visit: CheckoutVisit, sent: URLSearchParams): Promise<Outcome> {
  const { deps, look, link, partner, session, now } = visit;
  const isLinked = sent.has(LINKED) && link.phone !== null;
  const { values, problems } = readForm(isLinked ? [] : [phoneField(look.m)], sent, look.m);
  if (problems.size > 0 || deps.sender === undefined) return phonePage(visit, { given: sent, problems });
  const phone = isLinked ? (link.phone ?? '') : (values.phone ?? '');
  const allowance = visit.mayNamePhone();
  if (!allowance.allowed) {
    const page = phonePage(visit, { given: sent, said: look.m.tooMany.text, status: 429 });
    return { ...page, retryAfterMs: allowance.retryAfterMs };
  }
  const [named] = namedPhones(deps.vault, link.id, phone);
  const customer = await visit.inTx(async (tx) => {
    const row = await checkouts.lock(tx, link, now);
    if (row === undefined) return undefined;
    if (!row.phonesNamed.some((one) => one.equals(named))) {
      if (row.phones >= MOST_PHONES) return undefined;
      await checkouts.phoneNamed(tx, link.id, named);
    }
    return await customerByPhone(tx, deps.vault, { partnerId: partner.id, phone, now });
  });
  if (customer === undefined) return phonePage(visit, { given: sent, said: look.m.phone.enough, status: 429 });
  return {
    goTo: `${visit.action}?go=1`,
    session: { ...beginSession(customer.id, now), csrf: session.csrf },
  };
}

const phoneField = (m: Messages): Field => ({
  name: 'phone',
  label: m.phone.label,
  hint: m.phone.hint,
  required: true,
  autocomplete: 'tel',
  mostChars: 40,
  // People also write +1 (555) 123-4567.
  read: (given) => phone.read(given.replaceAll(/[()]/g, '').trim()),
});

/**
 * The phone page: who comes by a link that names nobody says which phone is theirs.
 *
 * The customer's row is there before the code is right, because codes belong to customers; until then it is nothing but a
 * sealed number. A link is good for a few numbers only, because each costs a message to somebody.
 */
import { customerByPhone, knownByPhone } from '../../customers/index.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { html } from './html.ts';
import type { Messages } from './messages.ts';
import { alert, button, fields, paragraph } from './pages.ts';
import { beginSession } from './session.ts';
import { checkouts } from './store.ts';
import { type CheckoutVisit, formOf, type Outcome, show } from './visit.ts';

const MOST_PHONES = 5;

export function phonePage(
  visit: CheckoutVisit,
  p: { given?: URLSearchParams; problems?: Problems; said?: string; status?: number } = {},
): Outcome {
  const { look, link, deps } = visit;
  const words = look.m.phone;
  if (deps.sender === undefined)
    return show(visit, { title: words.title, body: alert(look.m.login.noSender), status: 503 });
  const given = p.given ?? new URLSearchParams({ phone: link.phone ?? '' });
  const problems = p.problems ?? new Map<string, string>();
  const body = html`${p.said !== undefined && alert(p.said)}${paragraph(words.intro)}
${formOf(visit, { act: 'phone', body: fields(look, [phoneField(look.m)], given, problems), button: button(words.send) })}`;
  return show(visit, { title: words.title, body, problems, ...(p.status === undefined ? {} : { status: p.status }) });
}

/** Whose phone it is, from now on in this browser; the code is the next thing asked for. */
export async function takePhone(visit: CheckoutVisit, sent: URLSearchParams): Promise<Outcome> {
  const { deps, look, link, partner, session, now } = visit;
  const { values, problems } = readForm([phoneField(look.m)], sent, look.m);
  if (problems.size > 0 || deps.sender === undefined) return phonePage(visit, { given: sent, problems });
  const customer = await visit.inTx(async (tx) => {
    const row = await checkouts.lock(tx, link, now);
    const known = await knownByPhone(tx, deps.vault, { partnerId: partner.id, phone: values.phone ?? '' });
    // Who has proved this number before comes back, and that costs no more than any login.
    if (known !== undefined && known.loggedInAt !== null) return known;
    if (row === undefined || row.phones >= MOST_PHONES) return undefined;
    await checkouts.phoneAsked(tx, link.id);
    return await customerByPhone(tx, deps.vault, { partnerId: partner.id, phone: values.phone ?? '', now });
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
  read(given) {
    const digits = given.replaceAll(/[^0-9]/g, '').length;
    return /^\s*\+?[0-9][0-9 ()-]*$/.test(given) && digits >= 8 && digits <= 15 ? given.trim() : undefined;
  },
});

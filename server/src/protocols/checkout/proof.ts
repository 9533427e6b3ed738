/**
 * The page after a correct code for a number that was idle for long: its previous holder proves the identity; anyone else continues
 * as a new customer: here, or, if the partner's link names the former customer, at the partner, who then enrols another one.
 *
 * The session has proved the number and no more, and opens nothing but this page. What it asks for and answers is the same whatever is
 * on file. The rules, and what is compared, are in customers/proof.ts.
 */
import { isCalendarDay } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { continueAsNew, proveIdentity, releaseNumber } from '../../customers/index.ts';
import { recordActivity } from '../../partners/index.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { html } from './html.ts';
import { login } from './login.ts';
import type { Messages } from './messages.ts';
import { alert, button, fields, paragraph } from './pages.ts';
import { beginSession, epochOfNumber } from './session.ts';
import { addressBack, formOf, type Outcome, show, type Visit, wayBack } from './visit.ts';

/** The page for a customer who is not logged in: after a right code to a number that was idle for long, more than the code is asked for. */
export const proofOrLogin = async (visit: Visit): Promise<Outcome> =>
  epochOfNumber(visit.session, visit.customer) === undefined ? await login(visit) : await proof(visit);

async function proof(visit: Visit): Promise<Outcome> {
  const intent = visit.form?.get('intent');
  if (intent === 'prove') return await prove(visit);
  if (intent === 'new') return await (visit.isByPhone === true ? asNew : release)(visit);
  return proofPage(visit, {});
}

async function prove(visit: Visit): Promise<Outcome> {
  const { deps, customer, look, now, through } = visit;
  const { values, problems } = readForm(fieldsIn(look.m), visit.form ?? new URLSearchParams(), look.m);
  if (problems.size > 0) return proofPage(visit, { problems });
  const { identityNumber = '', dob = '' } = values;
  const proved = await visit.inTx(async (tx) => {
    const given = { customerId: customer.id, epoch: epochIn(visit), identityNumber, dob, now };
    const found = await proveIdentity(tx, deps.vault, given);
    const done = { action: 'customer.identity_proved', subject: `customer:${customer.id}`, now } as const;
    if (found === 'right') recordActivity(tx, through, done);
    return found;
  });
  if (proved === 'right')
    return { goTo: visit.action, session: beginSession(customer.id, now, { epoch: customer.loginEpoch }) };
  if (proved === 'over') return again(visit);
  return proofPage(visit, { said: look.m.proof[proved], status: proved === 'locked' ? 429 : 400 });
}

async function asNew(visit: Visit): Promise<Outcome> {
  const { deps, customer, now, through } = visit;
  const made = await visit.inTx(async (tx) => {
    const from = { customerId: customer.id, epoch: epochIn(visit), idleMs: deps.phoneIdleMs ?? 0, now };
    const found = await continueAsNew(tx, deps.vault, from);
    if (found === undefined) return undefined;
    const about = { subject: `customer:${customer.id}`, facts: { to: found.id } };
    recordActivity(tx, through, { action: 'customer.number_passed_on', ...about, now });
    return found;
  });
  if (made === undefined) return again(visit);
  return { goTo: visit.action, session: beginSession(made.id, now, { epoch: made.loginEpoch }) };
}

/** The link is the former customer's: the holder of the number begins again at the partner. */
async function release(visit: Visit): Promise<Outcome> {
  const { deps, customer, now, through, look, partner, link } = visit;
  const released = await visit.inTx(async (tx) => {
    const from = {
      customerId: customer.id,
      epoch: epochIn(visit),
      isByPhone: false,
      idleMs: deps.phoneIdleMs ?? 0,
      now,
    };
    const found = await releaseNumber(tx, deps.vault, from);
    const done = { action: 'customer.number_passed_on', subject: `customer:${customer.id}`, now } as const;
    if (found !== undefined) recordActivity(tx, through, done);
    return found;
  });
  if (released === undefined) return again(visit);
  const { title, text } = look.m.proof.released;
  const body = html`${paragraph(text(partner.name))}${wayBack(visit, addressBack(link, {}))}`;
  return { ...show(visit, { title, body }), session: beginSession(link.customerId, now) };
}

/** The number was confirmed or changed elsewhere: this session begins again, with a code. */
const again = ({ action, now, isByPhone, customer }: Visit): Outcome => ({
  goTo: action,
  session: beginSession(isByPhone === true ? '' : customer.id, now),
});

const epochIn = ({ session, customer }: Visit): number => epochOfNumber(session, customer) ?? -1;

function proofPage(visit: Visit, p: { problems?: Problems; said?: string; status?: number }): Outcome {
  const { look } = visit;
  const words = look.m.proof;
  const { problems = new Map<string, string>() } = p;
  // Answers are not shown again: they are personal data, and a wrong one may be another person's.
  const asked = fields(look, fieldsIn(look.m), new URLSearchParams(), problems);
  const same = formOf(visit, {
    intent: 'prove',
    body: html`${paragraph(words.mine)}${asked}`,
    button: button(words.send),
  });
  const other = formOf(visit, { intent: 'new', body: paragraph(words.asNew), button: button(words.begin, 'second') });
  return show(visit, {
    title: words.title,
    body: html`${p.said !== undefined && alert(p.said)}${paragraph(words.intro)}${same}${other}${visit.aside}`,
    problems,
    ...defined({ status: p.status }),
  });
}

const fieldsIn = (m: Messages): Field[] => [
  {
    ...{ name: 'identityNumber', label: m.proof.number, required: true, autocomplete: 'off' },
    read: (given) => given.trim(),
  },
  {
    ...{ name: 'dob', label: m.proof.dob, required: true, kind: 'date', autocomplete: 'bday' },
    read: (given) => (/^\d{4}-\d\d-\d\d$/.test(given) && isCalendarDay(given) ? given : undefined),
  },
];

/**
 * Logging in: a code to the phone that the partner named, and the code entered here.
 *
 * The code's row is written before the code is sent, and nothing is sent inside a transaction. What a page says does not
 * depend on anything but the link and that row.
 */
import { Unavailable } from '../../base/errors.ts';
import { checkCode, isCodeLive, issueCode, openContact, recordLogin } from '../../customers/index.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { html } from './html.ts';
import type { Messages } from './messages.ts';
import { alert, button, fields, note, paragraph } from './pages.ts';
import { randomCode } from './sender.ts';
import { beginSession } from './session.ts';
import { formOf, type Outcome, show, type Visit } from './visit.ts';

/** A visit of somebody who has not logged in. */
export async function login(visit: Visit): Promise<Outcome> {
  const act = visit.form?.get('act');
  if (act === 'code') return await sendCode(visit);
  if (act === 'login') return await enterCode(visit);
  return await loginPage(visit, {});
}

async function sendCode(visit: Visit): Promise<Outcome> {
  const { deps, customer, now, look } = visit;
  const { sender } = deps;
  if (sender === undefined || (await phoneOf(visit)) === undefined) return await loginPage(visit, { status: 503 });
  const code = sender.nextCode?.() ?? randomCode();
  const { issued, phone } = await visit.inTx(async (tx) => {
    const issued = await issueCode(tx, deps.vault, { customer, code, now });
    // Read behind the code's row: a change of phone that comes later ends this code.
    return { issued, phone: (await openContact(tx, deps.vault, customer.id)).phone };
  });
  if (issued.outcome !== 'issued') {
    const retryAfterMs = issued.until.getTime() - now.getTime();
    const { wait, locked } = look.m.problems;
    const said = issued.outcome === 'locked' ? locked : wait(Math.ceil(retryAfterMs / 1000));
    return { ...(await loginPage(visit, { said, status: 429 })), retryAfterMs };
  }
  if (phone === undefined) return await loginPage(visit, { status: 503 });
  try {
    await sender.sendCode(phone, code);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return await loginPage(visit, { said: look.m.login.notSent, status: 503 });
  }
  return { goTo: visit.action };
}

async function enterCode(visit: Visit): Promise<Outcome> {
  const { deps, customer, now, session, look } = visit;
  const { values, problems } = readForm([codeField(look.m)], visit.form ?? new URLSearchParams(), look.m);
  if (problems.size > 0) return await loginPage(visit, { problems });
  const checked = await visit.inTx(async (tx) => {
    const by = session.csrf;
    const found = await checkCode(tx, deps.vault, { customerId: customer.id, code: values.code ?? '', by, now });
    if (found === 'right') await recordLogin(tx, customer.id, now);
    return found;
  });
  if (checked === 'right') return { goTo: visit.action, session: beginSession(customer.id, now, true) };
  if (checked === 'wrong') return await loginPage(visit, { problems: new Map([['code', look.m.problems.wrongCode]]) });
  const isLocked = checked === 'locked';
  return await loginPage(visit, {
    said: look.m.problems[isLocked ? 'locked' : 'codeOver'],
    status: isLocked ? 429 : 400,
  });
}

/** Asks for the code where one is on its way, and offers to send one. */
async function loginPage(
  visit: Visit,
  p: { problems?: Problems; said?: string; status?: number },
): Promise<{ status: number; page: string }> {
  const { look, deps } = visit;
  const { login: words } = look.m;
  const { title } = words;
  const phone = await phoneOf(visit);
  if (deps.sender === undefined || phone === undefined) {
    const body = alert(deps.sender === undefined ? words.noSender : words.noPhone);
    return show(visit, { title, body, status: 503 });
  }
  const isLive = await visit.inTx((tx) => isCodeLive(tx, visit.customer.id, visit.now));
  const said = p.said === undefined ? undefined : alert(p.said);
  const hint = deps.sender.hint === undefined ? undefined : note(words.hint(deps.sender.hint));
  const problems = p.problems ?? new Map<string, string>();
  const status = p.status === undefined ? {} : { status: p.status };
  const send = formOf(visit, {
    act: 'code',
    body: html`${!isLive && paragraph(words.intro(endingOf(phone)))}`,
    button: button(isLive ? words.again : words.send, isLive ? 'second' : 'first'),
  });
  const enter = formOf(visit, {
    act: 'login',
    body: html`${paragraph(words.sent(endingOf(phone)))}${hint}${fields(look, [codeField(look.m)], new URLSearchParams(), problems)}`,
    button: button(words.enter),
  });
  // A code that is malformed is told even where none is on its way: by then the field is gone, so the words stand alone.
  const lost = !isLive && problems.size > 0 ? alert(look.m.problems.codeOver) : undefined;
  return show(visit, {
    title,
    body: html`${said}${lost}${isLive && enter}${send}${visit.aside}`,
    problems: isLive ? problems : undefined,
    ...(lost === undefined ? status : { status: 400 }),
  });
}

const codeField = (m: Messages): Field => ({
  name: 'code',
  label: m.login.code,
  required: true,
  autocomplete: 'one-time-code',
  numeric: true,
  mostChars: 12,
  read(given) {
    const digits = given.replaceAll(/[\s-]/g, '');
    return /^[0-9]{6}$/.test(digits) ? digits : undefined;
  },
});

const phoneOf = async ({ inTx, deps, customer }: Visit): Promise<string | undefined> =>
  (await inTx((tx) => openContact(tx, deps.vault, customer.id))).phone;

const endingOf = (phone: string): string => phone.replaceAll(/[^0-9]/g, '').slice(-2);

/**
 * Login: a code is sent to the phone that the partner named, and the customer enters it here.
 *
 * The code's row is inserted before the code is sent, and nothing is sent inside a transaction. A page's text depends on the
 * link and this browser's own session, never on other people's requests for the same number.
 */
import { Unavailable } from '../../base/errors.ts';
import { describeError } from '../../base/log.ts';
import {
  checkCode,
  codeUnderWay,
  isPhoneIdle,
  issueCode,
  openContact,
  recordLogin,
  sendingFailed,
} from '../../customers/index.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { html } from './html.ts';
import type { Messages } from './messages.ts';
import { alert, button, fields, note, paragraph } from './pages.ts';
import { randomCode } from './sender.ts';
import { beginSession, sessionOfNumber } from './session.ts';
import { formOf, type Outcome, show, type Visit } from './visit.ts';

/** The page for a customer who is not logged in. */
export async function login(visit: Visit): Promise<Outcome> {
  const intent = visit.form?.get('intent');
  if (intent === 'code') return await sendCode(visit);
  if (intent === 'login') return await enterCode(visit);
  return await loginPage(visit, {});
}

async function sendCode(visit: Visit): Promise<Outcome> {
  const { deps, customer, now, look, session, from, isOpen = false } = visit;
  const { sender } = deps;
  if (sender === undefined || (await phoneOf(visit)) === undefined) return await loginPage(visit, { status: 503 });
  const code = sender.nextCode?.() ?? randomCode();
  const asking = { ...from, session: session.csrf, isOpen };
  const { issued, phone } = await visit.inTx(async (tx) => {
    const issued = await issueCode(tx, deps.vault, { customer, code, asking, now });
    // The phone is read after the code's row was inserted, so that a later change of phone ends this code.
    return { issued, phone: (await openContact(tx, deps.vault, customer.id)).phone };
  });
  if (issued.outcome !== 'issued') {
    const retryAfterMs = issued.until.getTime() - now.getTime();
    const { wait, locked } = look.m.problems;
    const said = issued.outcome === 'locked' ? locked : wait(Math.ceil(retryAfterMs / 1000));
    return { ...(await loginPage(visit, { said, status: 429 })), retryAfterMs };
  }
  if (phone === undefined) return await loginPage(visit, { status: 503 });
  const sending = issued.isSent ? send(visit, { id: issued.id, phone, code }) : Promise.resolve(true);
  // If the visitor typed the number, the reply does not wait: its duration would reveal whether a message is sent.
  if (isOpen || (await sending)) return { goTo: visit.action };
  return await loginPage(visit, { status: 503 });
}

/** Sends the code. @returns whether it could be sent; if not, the row records it, and the page reads the row */
async function send(
  { deps, inTx, now }: Visit,
  { id, phone, code }: { id: bigint; phone: string; code: string },
): Promise<boolean> {
  try {
    await deps.sender?.sendCode(phone, code);
    return true;
  } catch (error) {
    deps.log[error instanceof Unavailable ? 'warn' : 'error'](describeError(error), 'login code not sent');
    await inTx((tx) => sendingFailed(tx, id, now)).catch(() => {});
    return false;
  }
}

async function enterCode(visit: Visit): Promise<Outcome> {
  const { deps, customer, now, session, look } = visit;
  const { values, problems } = readForm([codeField(look.m)], visit.form ?? new URLSearchParams(), look.m);
  if (problems.size > 0) return await loginPage(visit, { problems });
  const checked = await visit.inTx(async (tx) => {
    const tried = { customerId: customer.id, code: values.code ?? '', session: session.csrf, now };
    const found = await checkCode(tx, deps.vault, tried);
    if (found !== 'right') return found;
    const isByPhone = visit.isByPhone === true;
    if (await isPhoneIdle(tx, { customerId: customer.id, isByPhone, idleMs: deps.phoneIdleMs ?? 0, now }))
      return 'idle';
    await recordLogin(tx, customer.id, now);
    return found;
  });
  const login = { epoch: customer.loginEpoch };
  if (checked === 'right') return { goTo: visit.action, session: beginSession(customer.id, now, login) };
  // The number may be another person's by now: proof.ts asks for more.
  if (checked === 'idle') return { goTo: visit.action, session: sessionOfNumber(customer.id, now, login) };
  if (checked === 'wrong') return await loginPage(visit, { problems: new Map([['code', look.m.problems.wrongCode]]) });
  const isLocked = checked === 'locked';
  return await loginPage(visit, {
    said: look.m.problems[isLocked ? 'locked' : 'codeOver'],
    status: isLocked ? 429 : 400,
  });
}

/** Asks for the code if one is on its way, otherwise offers to send one. */
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
  const asked = { customerId: visit.customer.id, session: visit.session.csrf, now: visit.now };
  const underWay = await visit.inTx((tx) => codeUnderWay(tx, deps.vault, asked));
  const isLive = underWay === 'live';
  const toSay = p.said ?? (underWay === 'failed' ? words.notSent : undefined);
  const said = toSay === undefined ? undefined : alert(toSay);
  const hint = deps.sender.hint === undefined ? undefined : note(words.hint(deps.sender.hint));
  const problems = p.problems ?? new Map<string, string>();
  const status = p.status === undefined ? {} : { status: p.status };
  const send = formOf(visit, {
    intent: 'code',
    body: html`${!isLive && paragraph(words.intro(endingOf(phone)))}`,
    button: button(isLive ? words.again : words.send, isLive ? 'second' : 'first'),
  });
  const enter = formOf(visit, {
    intent: 'login',
    body: html`${paragraph(words[visit.isOpen === true ? 'sentIfPossible' : 'sent'](endingOf(phone)))}${hint}${fields(look, [codeField(look.m)], new URLSearchParams(), problems)}`,
    button: button(words.enter),
  });
  // A malformed code is reported even when no code is on its way: its field is gone then, so the message is shown alone.
  const lost = !isLive && problems.size > 0 ? alert(look.m.problems.codeOver) : undefined;
  return show(visit, {
    title,
    body: html`${said}${lost}${isLive && enter}${send}${visit.aside}`,
    problems: isLive ? problems : undefined,
    ...(lost === undefined ? status : { status: 400 }),
  });
}

export const codeField = (m: Messages): Field => ({
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

/** The part of a number that is shown: enough for people who know it. */
export const endingOf = (phone: string): string => phone.replaceAll(/[^0-9]/g, '').slice(-2);

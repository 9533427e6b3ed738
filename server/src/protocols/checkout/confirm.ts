/**
 * The page on which a customer confirms a destination that the partner's program has added: it shows the destination and asks
 * for a code sent to the phone. From then on money may be sent to it (customers/destinations.ts).
 *
 * Logging in is not enough: the code belongs to this destination, and is entered on the page that shows it. An account is shown
 * by its last characters, the only part stored unencrypted. An address is shown in full, because an attacker can generate
 * within minutes an address with the same beginning and end as the customer's.
 */
import { Refusal, Unavailable } from '../../base/errors.ts';
import { describeError } from '../../base/log.ts';
import {
  checkCode,
  codeUnderWay,
  confirmDestination,
  type Destination,
  destinationById,
  issueCode,
  openContact,
  phoneCountsFrom,
  sendingFailed,
} from '../../customers/index.ts';
import { recordActivity } from '../../partners/index.ts';
import { type Problems, readForm } from './form.ts';
import { type Html, html } from './html.ts';
import { codeField, endingOf } from './login.ts';
import { alert, button, facts, fields, note, paragraph } from './pages.ts';
import { randomCode } from './sender.ts';
import { addressBack, formOf, type Outcome, show, type Visit, wayBack } from './visit.ts';

interface Shown {
  readonly destination: Destination;
  /** Time from which a code to this phone confirms the destination; undefined if that is now. */
  readonly phoneFrom: Date | undefined;
  readonly phone: string | undefined;
}

/** The page for a customer who is logged in. */
export async function confirm(visit: Visit): Promise<Outcome> {
  const { look, customer, form } = visit;
  const { m } = look;
  if (customer.blocked) return show(visit, { title: m.refused.title, body: paragraph(m.refused.text) });
  const shown = await shownBy(visit);
  if (shown === undefined)
    return show(visit, { title: m.unknownLink.title, body: paragraph(m.unknownLink.text), status: 404 });
  const { destination, phoneFrom } = shown;
  const intent = form?.get('intent');
  const isOpen = destination.confirmedAt === null && phoneFrom === undefined;
  if (intent === 'send' && isOpen) return await sendCode(visit, shown);
  if (intent === 'confirm' && isOpen) return await enterCode(visit, shown);
  // A form sent again, or a login form of a customer who is already logged in.
  if (form !== undefined) return { goTo: visit.action };
  if (destination.confirmedAt !== null) return donePage(visit, destination);
  if (phoneFrom !== undefined) {
    const words = m.confirm.waits;
    return show(visit, {
      title: words.title,
      body: html`${paragraph(words.text(phoneFrom))}${what(visit, destination)}`,
    });
  }
  return await askPage(visit, shown, {});
}

/** @returns undefined when the link's customer has no such destination */
async function shownBy({ inTx, deps, customer, link, now }: Visit): Promise<Shown | undefined> {
  const customerId = customer.id;
  try {
    return await inTx(async (tx) => ({
      destination: await destinationById(tx, { customerId, id: BigInt(link.destinationId ?? 0) }),
      phoneFrom: await phoneCountsFrom(tx, { customerId, coolingOffMs: deps.coolingOffMs ?? 0, now }),
      phone: (await openContact(tx, deps.vault, customerId)).phone,
    }));
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unknown_destination') return undefined;
    throw error;
  }
}

/** A code belongs to this browser and this destination: a login code does not confirm. */
const sessionOf = ({ session }: Visit, { id }: Destination): string => `${session.csrf} destination ${id}`;

async function sendCode(visit: Visit, shown: Shown): Promise<Outcome> {
  const { deps, customer, now, look, from, inTx, through } = visit;
  const { destination, phone } = shown;
  const { sender } = deps;
  if (sender === undefined || phone === undefined) return await askPage(visit, shown, { status: 503 });
  const code = sender.nextCode?.() ?? randomCode();
  const subject = `destination:${destination.id}`;
  // Counted separately from login codes, because this code follows a login code immediately.
  const asking = { network: from.network, link: `${from.link} ${subject}`, session: sessionOf(visit, destination) };
  const issued = await inTx(async (tx) => {
    const made = await issueCode(tx, deps.vault, { customer, code, asking: { ...asking, isOpen: false }, now });
    if (made.outcome === 'issued') recordActivity(tx, through, { action: 'destination.code_sent', subject, now });
    return made;
  });
  if (issued.outcome !== 'issued') {
    const retryAfterMs = issued.until.getTime() - now.getTime();
    const { wait, locked } = look.m.problems;
    const said = issued.outcome === 'locked' ? locked : wait(Math.ceil(retryAfterMs / 1_000));
    return { ...(await askPage(visit, shown, { said, status: 429 })), retryAfterMs };
  }
  try {
    await sender.sendCode(phone, code);
  } catch (error) {
    deps.log[error instanceof Unavailable ? 'warn' : 'error'](describeError(error), 'code for a destination not sent');
    await inTx((tx) => sendingFailed(tx, issued.id, now)).catch(() => {});
    return await askPage(visit, shown, { status: 503 });
  }
  return { goTo: visit.action };
}

async function enterCode(visit: Visit, shown: Shown): Promise<Outcome> {
  const { deps, customer, now, look, through } = visit;
  const { id } = shown.destination;
  const { values, problems } = readForm([codeField(look.m)], visit.form ?? new URLSearchParams(), look.m);
  if (problems.size > 0) return await askPage(visit, shown, { problems });
  const found = await visit.inTx(async (tx) => {
    const tried = {
      customerId: customer.id,
      code: values.code ?? '',
      session: sessionOf(visit, shown.destination),
      now,
    };
    const outcome = await checkCode(tx, deps.vault, tried);
    if (outcome !== 'right') return outcome;
    await confirmDestination(tx, { customer, id, now });
    const action = 'destination.confirmed' as const;
    recordActivity(tx, through, { action, subject: `destination:${id}`, facts: { customer: customer.id }, now });
    return outcome;
  });
  if (found === 'right') return { goTo: visit.action };
  if (found === 'wrong')
    return await askPage(visit, shown, { problems: new Map([['code', look.m.problems.wrongCode]]) });
  const isLocked = found === 'locked';
  const said = look.m.problems[isLocked ? 'locked' : 'codeOver'];
  return await askPage(visit, shown, { said, status: isLocked ? 429 : 400 });
}

/** Asks for the code if one is on its way, otherwise offers to send one. */
async function askPage(
  visit: Visit,
  { destination, phone }: Shown,
  p: { problems?: Problems; said?: string; status?: number },
): Promise<{ status: number; page: string }> {
  const { look, deps, partner } = visit;
  const { confirm: words, login } = look.m;
  const { title } = words;
  if (deps.sender === undefined || phone === undefined) {
    const body = alert(deps.sender === undefined ? login.noSender : login.noPhone);
    return show(visit, { title, body, status: 503 });
  }
  const asked = { customerId: visit.customer.id, session: sessionOf(visit, destination), now: visit.now };
  const underWay = await visit.inTx((tx) => codeUnderWay(tx, deps.vault, asked));
  const isLive = underWay === 'live';
  const problems = p.problems ?? new Map<string, string>();
  // A wrong code is reported even when no code can be entered any more and its field is gone.
  const lost = !isLive && problems.size > 0 ? look.m.problems.codeOver : undefined;
  const toSay = p.said ?? lost ?? (underWay === 'failed' ? login.notSent : undefined);
  const { hint } = deps.sender;
  const enter = formOf(visit, {
    intent: 'confirm',
    body: html`${paragraph(login.sent(endingOf(phone)))}${hint !== undefined && note(login.hint(hint))}${fields(look, [codeField(look.m)], new URLSearchParams(), problems)}`,
    button: button(words.confirm),
  });
  const send = formOf(visit, {
    intent: 'send',
    body: html`${!isLive && paragraph(login.intro(endingOf(phone)))}`,
    button: button(isLive ? login.again : login.send, isLive ? 'second' : 'first'),
  });
  return show(visit, {
    title,
    body: html`${toSay !== undefined && alert(toSay)}${paragraph(words.intro[destination.kind](partner.name))}
${what(visit, destination)}${isLive && enter}${send}${note(words.notYours)}`,
    problems: isLive ? problems : undefined,
    ...(p.status === undefined && lost === undefined ? {} : { status: p.status ?? 400 }),
  });
}

function donePage(visit: Visit, destination: Destination): Outcome {
  const { done } = visit.look.m.confirm;
  const address = addressBack(visit.link, { destinationId: String(destination.id) });
  return show(visit, {
    title: done.title,
    body: html`${paragraph(done.text)}${what(visit, destination)}${wayBack(visit, address)}`,
  });
}

function what({ look }: Visit, { kind, fiat, hint, chain, address, createdAt }: Destination): Html {
  const { confirm: words, checkout } = look.m;
  const added = [words.added, `${createdAt.toISOString().slice(0, 16).replace('T', ', ')} UTC`] as const;
  if (kind === 'account')
    return facts([[words.account, checkout.accountEnding(hint)], [words.currency, (fiat ?? '').toUpperCase()], added]);
  return html`${facts([[checkout.network, chain ?? ''], added])}
<p class="check" id="address">${(address ?? '').match(/.{1,4}/g)?.map((part) => html`<span>${part}</span>`)}</p>`;
}

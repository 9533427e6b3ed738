/**
 * The verification page: the questions to a customer, and the processing of the answers.
 *
 * Answers, files and people become a submission like those of a program, and pass the same checks: the wires and this page add to
 * the same one. It is stored first, then the verifier is called, then its result is recorded: two transactions with the call
 * between them. If the call fails, the submission stays stored. If this page gets no result, a job continues
 * (compliance/checks.ts), and the page shows the result without a reload by the customer.
 *
 * Answers can be saved and continued on another device (customers/identity/drafts.ts). A file is stored with the submission as
 * soon as it arrives, even if another field is invalid, so the customer need not select it again. Saving never sends: a file that would
 * complete the submission is taken only when the customer sends.
 *
 * asked.ts determines the questions, questions.ts has those of a reviewer.
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { Unavailable } from '../../base/errors.ts';
import { askVerifier, highestLevelOf, recordAnswer } from '../../compliance/index.ts';
import {
  checkAnswers,
  checkUnderWay,
  emptyDraft,
  findCustomer,
  type Given,
  type GivenDetails,
  givenDetails,
  type InspectedFile,
  inspectFiles,
  judgeAnswers,
  lockCustomer,
  missingOf,
  type StoredFile,
  type Submission,
  saveDraft,
  submit,
} from '../../customers/index.ts';
import { recordActivity } from '../../partners/index.ts';
import { keptFiles } from '../submissions.ts';
import { type Asked, askedOf, declared, faultsIn, lackingIn, ownersLack } from './asked.ts';
import { type Problems, readForm } from './form.ts';
import { type Html, html } from './html.ts';
import { alert, button, facts, fields, group, linkButton, note, paragraph, problemList } from './pages.ts';
import { changedPeople, peopleFields, peopleTexts, personUrl, pressedIn } from './people.ts';
import { keepPerson, personPage } from './person.ts';
import { openQuestions, questionLinks, questionPage, takeAnswer } from './questions.ts';
import { fileFields } from './slots.ts';
import { addressBack, formOf, leave, type Outcome, show, type Visit, wayBack } from './visit.ts';

/** The page for a customer who is logged in. */
export async function kyc(visit: Visit): Promise<Outcome> {
  if (visit.link.closeAfterLogin) return leave(visit, back(visit));
  const given = await visit.inTx((tx) => givenDetails(tx, visit.customer.id));
  const step = verificationStep(visit, given);
  // The pressed button adds its own `intent` after the form's, so the last one counts.
  const intent = visit.form?.getAll('intent').at(-1) ?? '';
  if (visit.form !== undefined) return await taken(visit, intent, step);
  const { m } = visit.look;
  if (step === 'refused')
    return show(visit, {
      title: m.refused.title,
      body: html`${paragraph(m.refused.text)}${wayBack(visit, back(visit))}`,
    });
  const asking = await questionPage(visit);
  if (asking !== undefined) return asking;
  if (step === 'review') return await reviewPage(visit, {});
  if (step === 'form') {
    const person = await personPage(visit);
    if (person !== undefined) return person;
    return await detailsPage(visit, await visit.inTx((tx) => askedOf(visit, tx)), {});
  }
  const questions = questionLinks(visit, await openQuestions(visit));
  const body = html`${questions}${questions === undefined && paragraph(m.done.text)}${wayBack(visit, back(visit))}`;
  return show(visit, { title: m.done.title, body });
}

/** A form of this page. One that belongs to another step was sent again: the page shows the present step. */
async function taken(visit: Visit, intent: string, step: Standing): Promise<Outcome> {
  const isSent = intent === 'check' || intent === 'details';
  if (isSent && step === 'review') return await check(visit);
  if (intent === 'answer') return step === 'refused' ? { goTo: visit.action } : await takeAnswer(visit);
  if (step !== 'form') return { goTo: visit.action };
  if (intent === 'details') return await takeDetails(visit);
  if (intent === 'person') return await keepPerson(visit);
  if (intent === 'draft' || pressedIn(intent) !== undefined) return await keepDraft(visit, intent);
  // A login form sent again by a customer who is already logged in.
  return { goTo: visit.action };
}

type Standing = 'done' | 'refused' | 'review' | 'form';

/** The target level of verification here: the one from which the partner lets its customers trade. */
const levelFor = ({ customer, partner, deps }: Pick<Visit, 'customer' | 'partner' | 'deps'>): number =>
  Math.max(1, Math.min(partner.tradeLevel, highestLevelOf(deps.verifier, customer.kind)));

export function verificationStep(
  { customer, partner, deps }: Pick<Visit, 'customer' | 'partner' | 'deps'>,
  given: GivenDetails | undefined,
): Standing {
  if (customer.blocked || customer.verification === 'refused') return 'refused';
  // A new document is asked for before the old one is over, while the customer still trades.
  const isOver = customer.documentLapsedAt !== null;
  if (customer.verification === 'verified' && (isOver || given?.isExpiring === true)) return 'form';
  if (customer.verification === 'verified' && customer.level >= levelFor({ customer, partner, deps })) return 'done';
  const isAsked = given !== undefined && given.outcome === null;
  return customer.verification === 'in_review' || isAsked ? 'review' : 'form';
}

/** Answers, people and files of a posted form. */
interface Sent {
  readonly given: Given;
  readonly problems: Map<string, string>;
}

/**
 * Reads the form and stores its files.
 *
 * @param p.isDraft empty answers are no problem
 */
async function read(visit: Visit, asked: Asked, { isDraft }: { isDraft: boolean }): Promise<Sent> {
  const { look, form: posted = new URLSearchParams() } = visit;
  const all = asked.groups.flatMap(({ fields: list }) => list);
  const { values, problems: found } = readForm(all, posted, look.m);
  const problems = new Map([...found].filter(([name]) => !isDraft || (posted.get(name) ?? '').trim() !== ''));
  // A page that was opened before others were accepted: the submission refuses what would change.
  const fixed = asked.accepted.flatMap(({ name }) => (posted.has(name) ? [[name, posted.get(name) ?? '']] : []));
  const { answers, more } = declared({ ...Object.fromEntries(fixed), ...values }, asked.form);
  for (const [name, why] of await unmatched(visit, asked, answers)) {
    problems.set(asked.onPage(name), `${asked.labelOf(name)} ${why}`);
    delete answers[name];
  }
  const { files, faults } = await stored(visit, asked);
  for (const [name, why] of faults) problems.set(name, why);
  const lack = isDraft ? undefined : ownersLack(asked, look.m);
  if (lack !== undefined) problems.set('owners', lack);
  return { given: { answers, more, files }, problems };
}

/** What the patterns of the form refuse; its other rules have been read with the fields. */
async function unmatched({ now }: Visit, { form: { form } }: Asked, answers: Given['answers']): Promise<Problems> {
  const judged = await judgeAnswers(form, [answers], { now });
  return new Map(Object.entries(checkAnswers(form, answers, now, judged).faults));
}

/** Inspects each file and puts the good ones into the store. */
async function stored(visit: Visit, asked: Asked): Promise<{ files: StoredFile[]; faults: Problems }> {
  const { deps, look, customer, inTx } = visit;
  const faults = new Map<string, string>();
  if (visit.uploadFault !== undefined) faults.set('files', look.m.files.faults[visit.uploadFault]);
  const good: InspectedFile[] = [];
  for (const file of visit.files)
    try {
      good.push(...(await inspectFiles(asked.form.form, [file], customer)));
    } catch (error) {
      for (const [name, why] of faultsIn(error, asked)) faults.set(name, name === 'files' ? look.m.files.unknown : why);
    }
  const files = good.length === 0 ? [] : await keptFiles({ deps, inTx }, customer.id, good);
  return { files, faults };
}

/** Adds to the open submission, or begins one. */
async function add(visit: Visit, tx: Tx, { asked, given }: { asked: Asked; given: Given }): Promise<Submission> {
  const { deps, customer, now } = visit;
  const { form, submissionId } = asked;
  const of = { customerId: customer.id, submissionId, begins: submissionId === undefined };
  const submission = await submit(tx, deps.vault, { ...of, form, given, inParts: true, asksNow: true, now });
  const about = { subject: `submission:${submission.id}`, facts: { customer: customer.id, state: submission.state } };
  recordActivity(tx, visit.through, { action: 'submission.given', ...about, now });
  return submission;
}

/** Whether the details can still be changed: of two forms sent at once the second finds what the first has done. */
async function isOpen(visit: Visit, tx: Tx): Promise<boolean> {
  await lockCustomer(tx, visit.customer.id);
  // Details before the customer: a result is recorded on both in one transaction, so the customer read second is not older than
  // the details.
  const given = await givenDetails(tx, visit.customer.id);
  return verificationStep({ ...visit, customer: await findCustomer(tx, visit.customer.id) }, given) === 'form';
}

async function takeDetails(visit: Visit): Promise<Outcome> {
  const asked = await visit.inTx((tx) => askedOf(visit, tx));
  const sent = await read(visit, asked, { isDraft: false });
  if (sent.problems.size > 0) {
    const problems = await keepFiles(visit, sent);
    return problems === undefined ? { goTo: visit.action } : await again(visit, problems);
  }
  try {
    const submission = await visit.inTx(async (tx) => {
      if (!(await isOpen(visit, tx))) return undefined;
      // Read again under the lock: a person may have been added, or the submission begun, since.
      const newest = await askedOf(visit, tx);
      const given = { ...sent.given, ...changedPeople(newest.people, visit.now) };
      const made = await add(visit, tx, { asked: newest, given });
      // What was saved is now part of the submission.
      await emptyDraft(tx, visit.customer.id);
      return made;
    });
    if (submission?.state !== 'open') return await check(visit);
    const newest = await visit.inTx((tx) => askedOf(visit, tx));
    return await again(visit, lackingIn(newest, submission.reasons, visit.look.m));
  } catch (error) {
    // A pattern of the form does not match, or an accepted field would change.
    return await again(visit, faultsIn(error, asked));
  }
}

/** The page with what was typed, and what is wrong with it. */
async function again(visit: Visit, problems: Problems): Promise<Outcome> {
  const asked = await visit.inTx((tx) => askedOf(visit, tx));
  return await detailsPage(visit, asked, { given: visit.form ?? new URLSearchParams(), problems });
}

/** A transaction that would complete the submission, and so send it. */
class LastPart extends Error {}

/**
 * Stores the files of a form that is not sent, with its submission.
 *
 * @returns the problems, with those of files that are needed; undefined when the details cannot be changed any more
 */
async function keepFiles(visit: Visit, sent: Sent): Promise<Problems | undefined> {
  const { deps, customer, look, now } = visit;
  const problems = new Map(sent.problems);
  try {
    return await visit.inTx(async (tx) => {
      if (!(await isOpen(visit, tx))) return undefined;
      const asked = await askedOf(visit, tx);
      await addFiles(visit, tx, { asked, files: sent.given.files ?? [] });
      const { files } = await missingOf(tx, deps.vault, { customerId: customer.id, form: asked.form, now });
      for (const name of files) {
        const at = asked.onPage(name);
        if (!problems.has(at)) problems.set(at, asked.refused.get(at) ?? look.m.files.missing(asked.labelOf(name)));
      }
      return problems;
    });
  } catch (error) {
    if (!(error instanceof LastPart)) throw error;
    return problems.set('files', look.m.files.lastPart);
  }
}

async function addFiles(visit: Visit, tx: Tx, { asked, files }: { asked: Asked; files: readonly StoredFile[] }) {
  if (files.length === 0) return;
  const { state } = await add(visit, tx, { asked, given: { answers: {}, files } });
  if (state !== 'open') throw new LastPart();
}

/** Saves the answers given so far, and the files, if none is malformed; then does what the pressed button says. */
async function keepDraft(visit: Visit, intent: string): Promise<Outcome> {
  const { deps, look, now } = visit;
  const asked = await visit.inTx((tx) => askedOf(visit, tx));
  const sent = await read(visit, asked, { isDraft: true });
  const pressed = pressedIn(intent);
  try {
    const isKept = await visit.inTx(async (tx) => {
      if (!(await isOpen(visit, tx))) return false;
      const newest = await askedOf(visit, tx);
      await addFiles(visit, tx, { asked: newest, files: sent.given.files ?? [] });
      if (sent.problems.size > 0) return true;
      const people = peopleTexts(newest.people, pressed?.what === 'remove' ? pressed : undefined);
      const answers = { ...sent.given.answers, ...sent.given.more, ...people };
      await saveDraft(tx, deps.vault, { customer: visit.customer, answers, now });
      return true;
    });
    if (!isKept) return { goTo: visit.action };
  } catch (error) {
    if (error instanceof LastPart) sent.problems.set('files', look.m.files.lastPart);
    else for (const [name, why] of faultsIn(error, asked)) sent.problems.set(name, why);
  }
  if (sent.problems.size > 0) return await again(visit, sent.problems);
  if (pressed?.what === 'remove') return { goTo: `${visit.action}#${pressed.role}` };
  if (pressed !== undefined) return { goTo: personUrl(visit.action, pressed) };
  const newest = await visit.inTx((tx) => askedOf(visit, tx));
  return await detailsPage(visit, newest, { given: visit.form ?? newest.given, said: look.m.details.saved });
}

async function check(visit: Visit): Promise<Outcome> {
  const { verifier, vault } = visit.deps;
  const check = await visit.inTx((tx) => checkUnderWay(tx, visit.customer.id));
  if (check === undefined) return { goTo: visit.action };
  try {
    const { finding, pageUrl } = await askVerifier(verifier, check);
    // As the job does: the partner role may not write decisions.
    await visit.deps.db.asSystem((tx) =>
      recordAnswer(tx, vault, { check, verifier: verifier.code, finding, polls: 0, now: visit.now }),
    );
    if (finding.outcome === 'in_review' && pageUrl !== undefined) return reviewPage(visit, { pageUrl });
    return { goTo: visit.action };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return reviewPage(visit, { said: visit.look.m.review.unavailable, status: 503 });
  }
}

async function reviewPage(visit: Visit, p: { said?: string; status?: number; pageUrl?: string }): Promise<Outcome> {
  const { review } = visit.look.m;
  const open = await openQuestions(visit);
  const look = formOf(visit, { intent: 'check', body: html``, button: button(review.look, 'second') });
  const elsewhere =
    p.pageUrl === undefined
      ? paragraph(review.text)
      : html`${paragraph(review.elsewhere)}${linkButton(p.pageUrl, review.goOn)}`;
  return show(visit, {
    title: review.title,
    body: html`${p.said !== undefined && alert(p.said)}${questionLinks(visit, open)}${elsewhere}${look}${wayBack(visit, back(visit))}`,
    // The page reloads by itself, so the result, or a question, appears without the button too.
    news: { text: ['review', ...open.map(({ id }) => String(id))].join(' '), isOver: false },
    ...defined({ status: p.status }),
  });
}

async function detailsPage(
  visit: Visit,
  asked: Asked,
  p: { given?: URLSearchParams; problems?: Problems; said?: string },
): Promise<Outcome> {
  const { look, customer } = visit;
  const { m } = look;
  const isBusiness = customer.kind === 'BUSINESS';
  const words = isBusiness ? m.business : m.details;
  const { given = asked.given, problems = new Map<string, string>() } = p;
  // Refusals stay beside their fields; the list of problems is for what was just sent.
  const shown = new Map([...asked.refused, ...problems]);
  const isQuiet = problems.size === 0 && p.said === undefined;
  const body = html`${isQuiet && refusals(visit, asked)}
${p.said !== undefined && note(p.said)}
${questionLinks(visit, await openQuestions(visit))}
${paragraph(words.intro)}
${formOf(visit, {
  hasFiles: true,
  intent: 'details',
  body: html`${asked.groups.map(({ legend, fields: list }) => {
    const inside = fields(look, list, given, shown);
    return legend === undefined ? inside : group(legend, inside);
  })}
${asked.people !== undefined && peopleFields(look, asked.people, shown)}
${fileFields(look, asked.slots, shown)}
${asked.accepted.length > 0 && group(m.details.accepted, acceptedFacts(asked))}`,
  button: html`${button(words.send)}${button(m.details.save, 'second', { name: 'intent', value: 'draft' })}`,
})}`;
  const status = visit.uploadFault === 'tooLarge' ? { status: 413 } : {};
  return show(visit, { title: words.title, body, problems, ...status });
}

const acceptedFacts = ({ accepted }: Asked): Html =>
  facts(accepted.map(({ name, label, value }) => [label, html`<span id="${name}" tabindex="-1">${value}</span>`]));

/** What was refused, each with its reason and remedy; without reasons, that the check failed. */
function refusals({ look, customer }: Visit, { refused }: Asked): Html | undefined {
  const { details } = look.m;
  if (refused.size > 0) return problemList(details.again, refused, details.againIntro);
  return customer.verification === 'failed' ? alert(details.failed) : undefined;
}

const back = ({ link, customer, partner, deps }: Visit): string | undefined =>
  addressBack(link, { customerId: customer.id, status: deps.statusWord(customer, partner) });

/**
 * The operator's questions on the verification page: what a reviewer needs beside the form, with a day by which it is due.
 *
 * They are the partner's questions of `/v1` (customers/identity/requests.ts): the first answer counts, from its program or the customer
 * here, has answered. Files are stored as they arrive, so an answer that is refused loses none; they count with the answer.
 */
import { defined } from '../../base/defined.ts';
import { Refusal } from '../../base/errors.ts';
import { isPlain } from '../../base/fields.ts';
import { informationEnded } from '../../compliance/index.ts';
import {
  addInformationFiles,
  endInformation,
  type InformationRequest,
  type InspectedFile,
  informationOf,
  inspectAny,
  MAX_REQUESTS,
} from '../../customers/index.ts';
import { recordActivity } from '../../partners/index.ts';
import { keptFiles } from '../submissions.ts';
import type { UploadedFile } from '../uploads.ts';
import type { Problems } from './form.ts';
import { type Html, html } from './html.ts';
import { button, fileInput, linkButton, longText } from './pages.ts';
import { formOf, type Outcome, show, type Visit } from './visit.ts';

/** As on the wire. */
const MAX_ANSWER_CHARS = 4_000;

/** The questions without an answer, the first due first. */
export async function openQuestions({ inTx, deps, customer }: Visit): Promise<InformationRequest[]> {
  const all = await inTx((tx) => informationOf(tx, deps.vault, { customerId: customer.id, limit: MAX_REQUESTS }));
  return all
    .filter(({ state }) => state === 'open')
    .toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime() || Number(a.id - b.id));
}

/** Links to the questions, for the top of a page. */
export const questionLinks = ({ look, action }: Visit, open: readonly InformationRequest[]): Html | undefined =>
  open.length === 0
    ? undefined
    : html`<section class="ask" aria-label="${look.m.question.title}"><h2>${look.m.question.some(open.length)}</h2>
<p>${look.m.question.waiting}</p>
${open.map(({ id, dueAt }) => linkButton(`${action}?question=${id}`, look.m.question.open(dueAt)))}</section>`;

const named = (open: readonly InformationRequest[], id: string | null): InformationRequest | undefined =>
  open.find((one) => String(one.id) === id);

/** The page of the question that the URL names; undefined when it names none that is open. */
export async function questionPage(visit: Visit): Promise<Outcome | undefined> {
  const id = visit.query.get('question');
  const one = id === null ? undefined : named(await openQuestions(visit), id);
  return one && shown(visit, one, {});
}

function shown(
  visit: Visit,
  one: InformationRequest,
  p: { given?: string; problems?: Problems; status?: number },
): Outcome {
  const { look, partner } = visit;
  const words = look.m.question;
  const problems = p.problems ?? new Map<string, string>();
  const types = look.m.files.types;
  const state = one.files.length === 0 ? undefined : words.received(one.files.map(({ type }) => types[type]));
  const body = html`<blockquote class="question">${one.question}</blockquote>
<p class="hint">${words.about(partner.name, one.dueAt)}</p>
${formOf(visit, {
  hasFiles: true,
  intent: 'answer',
  body: html`<input type="hidden" name="question" value="${String(one.id)}">
${longText({ name: 'answer', label: words.answer, given: p.given ?? '', most: MAX_ANSWER_CHARS, why: problems.get('answer') })}
${fileInput(look, {
  ...{ id: 'file-answer', name: 'file-answer', label: words.files, required: false, isMany: true },
  ...{ state, why: problems.get('file-answer') },
})}`,
  button: button(words.send),
})}
<p><a href="${visit.action}">${words.back}</a></p>`;
  return show(visit, { title: words.title, body, problems, ...defined({ status: p.status }) });
}

/** Takes files and answer. The files that may be kept are kept, also when something else is wrong. */
export async function takeAnswer(visit: Visit): Promise<Outcome> {
  const { look, customer, now, deps } = visit;
  const { m } = look;
  const form = visit.form ?? new URLSearchParams();
  const id = form.get('question');
  const one = named(await openQuestions(visit), id);
  // It was answered elsewhere, or withdrawn.
  if (one === undefined) return { goTo: visit.action };
  const given = form.get('answer') ?? '';
  const answer = given.trim().replaceAll(/\s*\r?\n\s*/g, ' ');
  const problems = new Map<string, string>();
  if (answer === '') problems.set('answer', m.problems.missing(m.question.answer));
  else if (answer.length > MAX_ANSWER_CHARS)
    problems.set('answer', m.problems.tooLong(m.question.answer, MAX_ANSWER_CHARS));
  else if (!isPlain(answer)) problems.set('answer', m.question.notPlain);
  if (visit.uploadFault !== undefined) problems.set('file-answer', m.files.faults[visit.uploadFault]);
  try {
    const why = await keep(visit, one);
    if (why !== undefined) problems.set('file-answer', why);
    if (problems.size > 0) {
      const newest = named(await openQuestions(visit), id) ?? one;
      return shown(visit, newest, { given, problems, status: visit.uploadFault === 'tooLarge' ? 413 : 400 });
    }
    // The case about the answer is the operators'. The link was checked to be this customer's.
    await deps.db.asSystem(async (tx) => {
      const ended = await endInformation(tx, deps.vault, { customerId: customer.id, id: one.id, answer, now });
      await informationEnded(tx, { ...ended, now });
      const about = { subject: `customer:${customer.id}`, facts: { request: String(one.id) } };
      recordActivity(tx, visit.through, { action: 'information.answered', ...about, now });
    });
  } catch (error) {
    // Sent twice: the first one has answered.
    if (!(error instanceof Refusal) || error.code !== 'information_request_over') throw error;
  }
  return { goTo: visit.action };
}

/** @returns what is wrong with a file; the others are stored */
async function keep(visit: Visit, { id }: InformationRequest): Promise<string | undefined> {
  const { deps, customer, now, inTx, look } = visit;
  const good: InspectedFile[] = [];
  const wrong: string[] = [];
  for (const [at, file] of visit.files.entries()) {
    const found = await inspected(file, customer);
    if (typeof found === 'string') wrong.push(look.m.question.wrongFile(at + 1, found));
    else good.push(...found);
  }
  if (good.length > 0)
    try {
      const files = await keptFiles({ deps, inTx }, customer.id, good);
      await inTx(async (tx) => {
        await addInformationFiles(tx, deps.vault, { customerId: customer.id, id, files, now });
        const about = { subject: `customer:${customer.id}`, facts: { request: String(id) } };
        recordActivity(tx, visit.through, { action: 'information.files_sent', ...about, now });
      });
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'malformed_field') throw error;
      wrong.push(`${look.m.question.files} ${faultIn(error, 'files')}`);
    }
  return wrong.length === 0 ? undefined : wrong.join(' ');
}

async function inspected(file: UploadedFile, customer: Visit['customer']): Promise<string | InspectedFile[]> {
  try {
    return await inspectAny([file], customer);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return faultIn(error, 'files[0]');
  }
}

const faultIn = ({ facts }: Refusal, name: string): string =>
  (facts.fields as Readonly<Record<string, string>>)[name] ?? '';

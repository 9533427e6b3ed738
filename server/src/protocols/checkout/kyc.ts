/**
 * The verification page: the questions to a customer, and the processing of the answers.
 *
 * Details are stored first, then the verifier is called, then its result is recorded: two transactions with the call between
 * them. If the call fails, the details stay stored. If this page gets no result, a job continues (compliance/checks.ts), and
 * the page shows the result without a reload by the customer.
 *
 * Customers can save answers and continue on another device (customers/identity/drafts.ts). asked.ts determines the questions.
 */
import { defined } from '../../base/defined.ts';
import { Refusal, Unavailable } from '../../base/errors.ts';
import { askVerifier, recordAnswer } from '../../compliance/index.ts';
import {
  checkUnderWay,
  emptyDraft,
  findCustomer,
  type GivenDetails,
  givenDetails,
  saveDetails,
  saveDraft,
  submit,
} from '../../customers/index.ts';
import { type Asked, askedOf, declared, onPage } from './asked.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { html } from './html.ts';
import { alert, button, fields, group, linkButton, note, paragraph } from './pages.ts';
import { addressBack, formOf, leave, type Outcome, show, type Visit, wayBack } from './visit.ts';

/** The page for a customer who is logged in. */
export async function kyc(visit: Visit): Promise<Outcome> {
  if (visit.link.closeAfterLogin) return leave(visit, back(visit));
  // The pressed button adds its own `intent` after the form's, so the last one counts.
  const intent = visit.form?.getAll('intent').at(-1);
  if (intent === 'details') return await takeDetails(visit);
  if (intent === 'draft') return await keepDraft(visit);
  if (intent === 'check') return await checkAgain(visit);
  // A login form sent again by a customer who is already logged in.
  if (visit.form !== undefined) return { goTo: visit.action };

  const given = await visit.inTx((tx) => givenDetails(tx, visit.customer.id));
  const { m } = visit.look;
  switch (verificationStep(visit, given)) {
    case 'done':
      return show(visit, { title: m.done.title, body: html`${paragraph(m.done.text)}${wayBack(visit, back(visit))}` });
    case 'refused':
      return show(visit, {
        title: m.refused.title,
        body: html`${paragraph(m.refused.text)}${wayBack(visit, back(visit))}`,
      });
    case 'review':
      return reviewPage(visit, {});
    case 'form':
      return detailsPage(visit, await visit.inTx((tx) => askedOf(visit, tx)), {});
  }
}

type Standing = 'done' | 'refused' | 'review' | 'form';

/** The target level of verification here: the one from which the partner lets its customers trade. */
const levelFor = ({ partner, deps }: Pick<Visit, 'partner' | 'deps'>): number =>
  Math.min(Math.max(1, partner.tradeLevel), deps.verifier.highestLevel);

export function verificationStep(
  { customer, partner, deps }: Pick<Visit, 'customer' | 'partner' | 'deps'>,
  given: GivenDetails | undefined,
): Standing {
  if (customer.blocked || customer.verification === 'refused') return 'refused';
  if (customer.verification === 'verified' && customer.level >= levelFor({ partner, deps })) return 'done';
  const isAsked = given !== undefined && given.outcome === null;
  return customer.verification === 'in_review' || isAsked ? 'review' : 'form';
}

async function takeDetails(visit: Visit): Promise<Outcome> {
  const { deps, look, now } = visit;
  const sent = visit.form ?? new URLSearchParams();
  const asked = await visit.inTx((tx) => askedOf(visit, tx));
  const { values, problems } = readForm(fieldsIn(asked), sent, look.m);
  if (problems.size > 0) return detailsPage(visit, asked, { given: sent, problems });
  try {
    const given = await visit.inTx(async (tx) => {
      // Details before the customer: a result is recorded on both in one transaction, so the customer read second is not older than
      // the details.
      const before = await givenDetails(tx, visit.customer.id);
      const customer = await findCustomer(tx, visit.customer.id);
      // The form was sent twice: the first request has handled the details, or will before this one can (saveDetails).
      if (verificationStep({ ...visit, customer }, before) !== 'form') return before;
      await emptyDraft(tx, customer.id);
      if (asked.own === undefined)
        return await saveDetails(tx, deps.vault, { customer, details: values, over: before, now });
      const parts = { customerId: customer.id, form: asked.own, given: { answers: declared(values) }, inParts: true };
      await submit(tx, deps.vault, { ...parts, now });
      return await givenDetails(tx, customer.id);
    });
    // Files are still missing: the page says so.
    return given?.outcome === null ? await check(visit) : { goTo: visit.action };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'malformed_field') throw error;
    // A pattern of the form does not match, or an accepted field would change.
    const faults = onPage(error.facts.fields as Record<string, string>, asked);
    const labels = new Map(fieldsIn(asked).map(({ name, label }) => [name, label]));
    const said = new Map([...faults].map(([name, why]) => [name, `${labels.get(name) ?? name} ${why}`]));
    return detailsPage(visit, asked, { given: sent, problems: said });
  }
}

const fieldsIn = ({ groups }: Asked): Field[] => groups.flatMap(({ fields: list }) => list);

/** Saves the answers given so far, if none is malformed. */
async function keepDraft(visit: Visit): Promise<Outcome> {
  const { deps, look, now } = visit;
  const sent = visit.form ?? new URLSearchParams();
  return await visit.inTx(async (tx) => {
    const asked = await askedOf(visit, tx);
    const { values, problems } = readForm(fieldsIn(asked), sent, look.m);
    const wrong = new Map([...problems].filter(([name]) => (sent.get(name) ?? '').trim() !== ''));
    if (wrong.size > 0) return detailsPage(visit, asked, { given: sent, problems: wrong });
    const customer = await findCustomer(tx, visit.customer.id);
    if (verificationStep({ ...visit, customer }, await givenDetails(tx, customer.id)) !== 'form')
      return { goTo: visit.action };
    await saveDraft(tx, deps.vault, { customer, answers: declared(values), now });
    return detailsPage(visit, asked, { given: sent, said: look.m.details.saved });
  });
}

async function checkAgain(visit: Visit): Promise<Outcome> {
  const given = await visit.inTx((tx) => givenDetails(tx, visit.customer.id));
  if (given === undefined || verificationStep(visit, given) !== 'review') return { goTo: visit.action };
  return await check(visit);
}

async function check(visit: Visit): Promise<Outcome> {
  const { verifier } = visit.deps;
  const check = await visit.inTx((tx) => checkUnderWay(tx, visit.customer.id));
  if (check === undefined) return { goTo: visit.action };
  try {
    const { finding, pageUrl } = await askVerifier(verifier, check);
    await visit.inTx((tx) => recordAnswer(tx, { check, verifier: verifier.code, finding, polls: 0, now: visit.now }));
    if (finding.outcome === 'in_review' && pageUrl !== undefined) return reviewPage(visit, { pageUrl });
    return { goTo: visit.action };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return reviewPage(visit, { said: visit.look.m.review.unavailable, status: 503 });
  }
}

function reviewPage(visit: Visit, p: { said?: string; status?: number; pageUrl?: string }): Outcome {
  const { review } = visit.look.m;
  const look = formOf(visit, { intent: 'check', body: html``, button: button(review.look, 'second') });
  const elsewhere =
    p.pageUrl === undefined
      ? paragraph(review.text)
      : html`${paragraph(review.elsewhere)}${linkButton(p.pageUrl, review.goOn)}`;
  return show(visit, {
    title: review.title,
    body: html`${p.said !== undefined && alert(p.said)}${elsewhere}${look}${wayBack(visit, back(visit))}`,
    // The page reloads by itself, so the result appears without the button too.
    news: { text: 'review', isOver: false },
    ...defined({ status: p.status }),
  });
}

function detailsPage(
  visit: Visit,
  asked: Asked,
  p: { given?: URLSearchParams; problems?: Problems; said?: string },
): Outcome {
  const { look, customer } = visit;
  const words = look.m.details;
  const { given = asked.given, problems = new Map() } = p;
  // Earlier rejections are shown beside their fields; the list of problems is for what was just sent.
  const shown = problems.size > 0 ? problems : p.said === undefined ? asked.problems : new Map<string, string>();
  const isQuiet = problems.size === 0 && p.said === undefined;
  const body = html`${customer.verification === 'failed' && isQuiet && alert(words.failed)}
${p.said !== undefined && note(p.said)}
${paragraph(words.intro)}
${asked.files.length > 0 && note(words.files(asked.files.join(', ')))}
${formOf(visit, {
  intent: 'details',
  body: html`${asked.groups.map(({ legend, fields: list }) => {
    const inside = fields(look, list, given, shown);
    return legend === undefined ? inside : group(legend, inside);
  })}`,
  button: html`${button(words.send)}${button(words.save, 'second', { name: 'intent', value: 'draft' })}`,
})}`;
  return show(visit, { title: words.title, body, problems });
}

const back = ({ link, customer, partner, deps }: Visit): string | undefined =>
  addressBack(link, { customerId: customer.id, status: deps.statusWord(customer, partner) });

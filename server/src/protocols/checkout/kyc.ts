/**
 * The verification page: the questions to a customer, and the processing of the answers.
 *
 * Details are stored first, then the verifier is called, then its result is recorded: two transactions with the call between
 * them. A failed call leaves the stored details. If this page gets no result, a job continues (compliance/checks.ts), and the
 * page shows its result by itself.
 */
import { defined } from '../../base/defined.ts';
import { Unavailable } from '../../base/errors.ts';
import { askVerifier, recordAnswer } from '../../compliance/index.ts';
import {
  BUSINESS_FORM,
  checkUnderWay,
  faultOf,
  findCustomer,
  type GivenDetails,
  givenDetails,
  type Requirement,
  saveDetails,
} from '../../customers/index.ts';
import { type Field, type FieldName, type Problems, readForm } from './form.ts';
import { html } from './html.ts';
import type { Messages } from './messages.ts';
import { alert, button, fields, group, linkButton, paragraph } from './pages.ts';
import { addressBack, formOf, leave, type Outcome, show, type Visit, wayBack } from './visit.ts';

/** The page for a customer who is logged in. */
export async function kyc(visit: Visit): Promise<Outcome> {
  if (visit.link.closeAfterLogin) return leave(visit, back(visit));
  const intent = visit.form?.get('intent');
  if (intent === 'details') return await takeDetails(visit);
  if (intent === 'check') return await checkAgain(visit);
  // A login form sent again by a customer who is logged in.
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
      return detailsPage(visit, new URLSearchParams(), new Map());
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
  const { person, address } = fieldsFor(look.m, now);
  const { values, problems } = readForm([...person, ...address], sent, look.m);
  if (problems.size > 0) return detailsPage(visit, sent, problems);
  const given = await visit.inTx(async (tx) => {
    // Details before the customer: a result is recorded on both in one transaction, so the customer read second is not older than
    // the details.
    const before = await givenDetails(tx, visit.customer.id);
    const customer = await findCustomer(tx, visit.customer.id);
    // Submitted twice: the first submission has done it, is doing it, or does it before this one can (saveDetails).
    if (verificationStep({ ...visit, customer }, before) !== 'form') return before;
    return await saveDetails(tx, deps.vault, { customer, details: values, over: before, now });
  });
  return given?.outcome === null ? await check(visit) : { goTo: visit.action };
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
    // It reloads by itself: the result arrives without the button too.
    news: { text: 'review', isOver: false },
    ...defined({ status: p.status }),
  });
}

function detailsPage(visit: Visit, given: URLSearchParams, problems: Problems): Outcome {
  const { look, customer } = visit;
  const words = look.m.details;
  const { person, address } = fieldsFor(look.m, visit.now);
  const body = html`${customer.verification === 'failed' && problems.size === 0 && alert(words.failed)}
${paragraph(words.intro)}
${formOf(visit, {
  intent: 'details',
  body: html`${group(words.groups.person, fields(look, person, given, problems))}
${group(words.groups.address, fields(look, address, given, problems))}`,
  button: button(words.send),
})}`;
  return show(visit, { title: words.title, body, problems });
}

/** Autocomplete tokens of HTML, for browsers. */
const AUTOCOMPLETE: Readonly<Record<string, string>> = {
  firstName: 'given-name',
  secondSurname: 'family-name',
  dob: 'bday',
  sex: 'sex',
  addressLine1: 'address-line1',
  addressLine2: 'address-line2',
  city: 'address-level2',
  postalCode: 'postal-code',
};

function fieldsFor(m: Messages, now: Date): { person: Field[]; address: Field[] } {
  const words = m.details;
  const choices: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    sex: words.sex,
    sourceOfFunds: words.sourceOfFunds,
  };
  const field = (name: FieldName & keyof typeof words.fields, asked: Requirement): Field => {
    const { required, type } = asked;
    const choice = choices[name];
    const kind = choice === undefined ? undefined : new Map(Object.entries(choice));
    return {
      name,
      label: words.fields[name],
      required: required === 1,
      kind: kind ?? (type === 'date' ? 'date' : undefined),
      autocomplete: AUTOCOMPLETE[name] ?? 'off',
      read(given) {
        const isRight = faultOf({ ...asked, name }, given, now) === undefined && (kind?.has(given) ?? true);
        return isRight ? given : undefined;
      },
    };
  };
  const { details, address, identityNumber } = BUSINESS_FORM;
  return {
    person: [
      field('firstName', details.firstName),
      field('firstSurname', details.firstSurname),
      field('secondSurname', details.secondSurname),
      field('dob', details.dob),
      field('sex', details.sex),
      field('identityNumber', identityNumber),
      field('sourceOfFunds', details.sourceOfFunds),
    ],
    address: [
      field('addressLine1', address.addressLine1),
      field('addressLine2', address.addressLine2),
      field('city', address.city),
      field('postalCode', address.postalCode),
    ],
  };
}

const back = ({ link, customer, partner, deps }: Visit): string | undefined =>
  addressBack(link, { customerId: customer.id, status: deps.statusWord(customer, partner) });

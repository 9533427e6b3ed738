/**
 * Answers: whether a customer's answers satisfy a form. One check, for the wire and for our own pages.
 *
 * A fault names the rule and an example, so that the person who reads it knows the expected format. It never repeats the answer.
 *
 * The patterns of the default forms are our own: they take time in proportion to the text (a test shows it), and run here. Those
 * that operators and partners write run in a thread (base/patterns.ts), which may not answer in time: `judgeAnswers` runs them,
 * all at once, and the checks use its judgements.
 */
import { dayOf, isCalendarDay } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import { isPlain } from '../../base/fields.ts';
import { type Judgement, judge, type Pair } from '../../base/patterns.ts';
import { sampleOf } from '../../base/patterns.words.ts';
import { BUSINESS_FORM, PERSON_FORM } from './defaults.ts';
import { type Form, type FormField, fieldsOf } from './form.ts';

export type Answers = Readonly<Record<string, string>>;

export const MAX_ANSWER_CHARS = 256;

/** Fields that must be a date in the past. */
const PAST_DAYS = new Set(['dob', 'dateOfBirth']);

/** Example values for the fields of the default forms. */
const EXAMPLES: Readonly<Record<string, string>> = {
  identityNumber: 'ABCDE1234F',
  firstName: 'Asha',
  firstSurname: 'Rao',
  secondSurname: 'Rao',
  lastName: 'Rao',
  sourceOfFunds: 'salary',
  sex: 'female',
  addressLine1: '1 Main Road',
  addressLine2: 'Second floor',
  city: 'Pune',
  postalCode: '411001',
};

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
/** Whether the text is an ISO 3166-1 code of two capital letters. */
export const isCountry = (text: string): boolean =>
  /^[A-Z]{2}$/.test(text) && text !== 'ZZ' && regions.of(text) !== undefined;

const OURS = new Map(
  [BUSINESS_FORM, PERSON_FORM]
    .flatMap(fieldsOf)
    .flatMap(({ regex }) => (regex === undefined ? [] : [[regex, new RegExp(regex, 'u')] as const])),
);

/** What a thread has found about patterns and texts; undefined for a pair that it was not asked about. */
export type Judged = (regex: string, text: string) => Judgement | undefined;
/** Without judgements only our own patterns count. */
const NONE: Judged = () => undefined;

const keyOf = (regex: string, text: string): string => JSON.stringify([regex, text]);

/**
 * Runs the patterns of a form on answers to it, in one round trip. Answers that break another rule are left out.
 *
 * Good patterns take about a millisecond, and one that does not end takes a second. A request waits at most eight seconds for a
 * thread that others use. A transaction is rolled back meanwhile (`Tx.outside`): its next attempt reads form and answers again, and
 * other patterns or texts than those that were run are run first, too.
 *
 * @param given sets of answers; those that matter most first, because none is tried behind one that was late
 * @param tx the transaction that is open, if one is
 * @throws Unavailable 'patterns'
 */
export async function judgeAnswers(
  form: Form,
  given: readonly Answers[],
  { now, tx }: { now: Date; tx?: Pick<Tx, 'outside'> },
): Promise<Judged> {
  const pairs = new Map<string, Pair>();
  for (const answers of given)
    for (const field of fieldsOf(form)) {
      const text = Object.hasOwn(answers, field.name) ? (answers[field.name] ?? '') : '';
      const { regex } = field;
      if (regex === undefined || OURS.has(regex) || text.trim() === '') continue;
      if (brokenRule(field, text, now, NONE) === undefined) pairs.set(keyOf(regex, text), { source: regex, text });
    }
  if (pairs.size === 0) return NONE;
  const run = () => judge([...pairs.values()]);
  const judgements = tx === undefined ? await run() : await tx.outside(JSON.stringify([...pairs.keys()]), run);
  const judged = new Map([...pairs.keys()].map((key, at) => [key, judgements[at]]));
  return (regex, text) => judged.get(keyOf(regex, text));
}

/**
 * Invisible characters, those that reorder what is shown, and more marks in a row than any script has. They make a name look like
 * another one, or like none. A joiner within a word is spelling, and so is the selector of a variant of a letter.
 */
const SPELLING = /(?<=[\p{L}\p{M}])[\u200c\u200d](?=\p{L})|(?<=[\p{Script=Han}\p{Script=Mongolian}])[\p{VS}\u180e]/gu;
const UNSEEN = /[\p{DI}\u2800]|\p{M}{6}/u;

/** Whether a text has only characters that can be seen. */
export const isVisible = (text: string): boolean => !UNSEEN.test(text.replaceAll(SPELLING, ''));
export const VISIBLE_RULE = 'must have only characters that can be seen';

type Asked = Pick<FormField, 'name' | 'type' | 'regex' | 'options' | 'example' | 'expires'>;

/** Derived examples, by pattern. */
const samples = new Map<string, string | undefined>();
const MOST_SAMPLES = 1_000;

function sampleFor(regex: string): string | undefined {
  if (!samples.has(regex)) {
    if (samples.size >= MOST_SAMPLES) samples.clear();
    samples.set(regex, sampleOf(regex));
  }
  return samples.get(regex);
}

/**
 * An example answer that the field accepts; undefined when none can be given. One that a pattern of an operator's requires is
 * derived from the pattern, unless the form gives one: that of our own field of the same name may not match it.
 */
export function exampleOf({ name, type, regex, options, example, expires }: Asked): string | undefined {
  if (example !== undefined) return example;
  if (options !== undefined) return options[0];
  if (type === 'date') return expires === undefined ? '1990-01-31' : '2039-01-31';
  if (type === 'country') return 'IN';
  if (regex !== undefined && !OURS.has(regex)) return sampleFor(regex);
  return Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined;
}

/**
 * The fault of an answer, as the end of a sentence that begins with the field's name. Never called with an empty text.
 *
 * @param judged what `judgeAnswers` found; without it, a pattern that is not ours is not checked
 */
export function faultOf(field: Asked, text: string, now: Date, judged: Judged = NONE): string | undefined {
  const rule = brokenRule(field, text, now, judged);
  if (rule === undefined) return undefined;
  const example = exampleOf(field);
  return example === undefined ? rule : `${rule}, for example ${example}`;
}

function brokenRule(
  { name, type, regex, options, expires }: Asked,
  text: string,
  now: Date,
  judged: Judged,
): string | undefined {
  if (text.length > MAX_ANSWER_CHARS) return `must have at most ${MAX_ANSWER_CHARS} characters`;
  if (!isPlain(text)) return 'must be one line without control characters';
  if (!isVisible(text)) return VISIBLE_RULE;
  if (type === 'file') return 'must be sent as a file';
  if (type === 'date') {
    if (!/^\d{4}-\d\d-\d\d$/.test(text) || !isCalendarDay(text)) return 'must be a day, YYYY-MM-DD';
    if (PAST_DAYS.has(name) && new Date(`${text}T00:00:00Z`) >= now) return 'must be a day in the past, YYYY-MM-DD';
    // Valid through its last day.
    if (expires !== undefined && text < dayOf(now)) return 'must be today or later, YYYY-MM-DD';
  }
  if (type === 'country' && !isCountry(text)) return 'must be a country, two capital letters';
  if (options !== undefined && !options.includes(text)) return `must be one of ${options.slice(0, 20).join(', ')}`;
  if (regex === undefined) return undefined;
  const fits = OURS.get(regex)?.test(text) ?? judged(regex, text);
  if (fits === 'late') return `took too long to compare with ${regex}: give a shorter answer`;
  return fits === false ? `must match ${regex}` : undefined;
}

/**
 * Checks all answers that were given.
 *
 * @param judged of these answers, as for `faultOf`
 * @returns the answers to the form's fields; the faults, by field; and the required fields without an answer, except files
 */
export function checkAnswers(
  form: Form,
  given: Answers,
  now: Date,
  judged: Judged,
): { answers: Record<string, string>; faults: Record<string, string>; missing: string[] } {
  const answers: Record<string, string> = {};
  const faults: Record<string, string> = {};
  const missing: string[] = [];
  for (const field of fieldsOf(form)) {
    const text = Object.hasOwn(given, field.name) ? (given[field.name] ?? '') : '';
    if (text.trim() === '') {
      if (field.required === 1 && field.type !== 'file') missing.push(field.name);
      continue;
    }
    const fault = faultOf(field, text, now, judged);
    if (fault === undefined) answers[field.name] = text;
    else faults[field.name] = fault;
  }
  return { answers, faults, missing };
}

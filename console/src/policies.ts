/**
 * The form of a policy, and its answers in words. Questions, fields, units and allowed values are generated from the server's rules
 * (policies.json: `UPDATE_DOCS=1 npm test -- server/test/console/policies.test.ts`); the words for people are here.
 */
import { type FormAction, type FormField, FROM_WHEN } from './actions.ts';
import { span } from './format.ts';
import FORMS from './policies.json' with { type: 'json' };

export type Question = keyof typeof FORMS;
export const QUESTIONS = Object.keys(FORMS) as Question[];
export type Answer = Readonly<Record<string, unknown>>;

interface Part {
  readonly field: string;
  /** Name inside the field, where that is an object. */
  readonly part?: string;
  readonly kind: string;
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  readonly orNull?: boolean;
  readonly choices?: readonly string[];
}
export const partsOf = (question: Question): readonly Part[] => FORMS[question];

export const TITLES: Readonly<Record<Question, string>> = {
  underpaid: 'Less arrived than was asked for',
  overpaid: 'More arrived than was asked for',
  late: 'Money arrived after the order had ended',
  second: 'A second deposit arrived',
  wrongAsset: 'Another asset arrived',
  wrongChain: 'The money arrived on another chain',
  priceMoved: 'The price moved before the deposit',
  payerName: 'The payer has another name than the customer',
  refundFees: 'Fees that are kept when a deposit is refunded',
  waiting: 'How long an order may wait',
};
/** By question and field, or by field alone. */
export const LABELS: Readonly<Record<string, string>> = {
  'underpaid.acceptBps': 'Accept up to this much less',
  'overpaid.acceptBps': 'Accept up to this much more',
  beyond: 'Beyond that',
  then: 'What happens',
  'priceMoved.lockS': 'Price is locked for',
  'priceMoved.bps': 'Then it may move by',
  'priceMoved.then': 'Beyond that',
  keep: 'Keep the fee',
  deposit_seen: 'Deposit seen',
  deposit_confirmed: 'Deposit confirmed',
  awaiting_liquidity: 'Awaiting liquidity',
  on_hold: 'On hold',
  paying_out: 'Paying out',
  payout_held: 'Payout held',
  refunding: 'Refunding',
  refund_held: 'Refund held',
};
export const WORDS: Readonly<Record<string, string>> = {
  hold: 'hold it, with a case',
  refund: 'refund it',
  hold_excess: 'hold the excess, with a case',
  refund_excess: 'refund the excess',
  refund_all: 'refund all of it',
  new_order: 'trade it as a new order',
  honour: 'keep the agreed price',
  requote: 'use the present price',
  case: 'open a case',
};

const labelOf = (question: Question, { field }: Part): string =>
  LABELS[`${question}.${field}`] ?? LABELS[field] ?? field;
/** As the server names a wrong field, so that the form shows its rule beside it. */
const nameOf = (question: Question, { field, part }: Part, word?: string): string =>
  [question, field, part, word].filter((one) => one !== undefined).join('.');

const UNITS: Readonly<Record<string, string>> = { bps: 'basis points', s: 'seconds' };
const NO_LOCK = 'none';

/** With a form's fields: one for each part that has more than one value. */
export function fieldsOf(question: Question): readonly FormField[] {
  return partsOf(question).flatMap((one): readonly FormField[] => {
    const label = labelOf(question, one);
    const { kind, unit = '', min, max, orNull, part, choices = [] } = one;
    if (kind === 'words')
      return choices.map((word) => ({
        name: nameOf(question, one, word),
        label: `${label} of the ${word}`,
        isSwitch: true,
        isRequired: true,
      }));
    if (kind === 'word')
      return choices.length < 2
        ? []
        : [
            {
              ...{
                name: nameOf(question, one),
                label: part === undefined ? label : `${label}: then`,
                choices,
                names: WORDS,
              },
              isRequired: true,
            },
          ];
    return [
      {
        ...{
          name: nameOf(question, one),
          label: part === undefined ? label : `${label}: after`,
          unit,
          isRequired: true,
        },
        hint: `${UNITS[unit]}, ${min} to ${max}${orNull === true ? '; none: until the deadline of the deposit' : ''}`,
      },
    ];
  });
}

const partIn = (answer: Answer, { field, part }: Part): unknown =>
  part === undefined ? answer[field] : (answer[field] as Answer | undefined)?.[part];

/** An answer as the values of its form. */
export const typedOf = (question: Question, answer: Answer): Readonly<Record<string, string>> =>
  Object.fromEntries(
    partsOf(question).flatMap((one): readonly (readonly [string, string])[] => {
      const value = partIn(answer, one);
      if (one.kind === 'words')
        return (one.choices ?? []).map((word) => [
          nameOf(question, one, word),
          String(Array.isArray(value) && value.includes(word)),
        ]);
      return [[nameOf(question, one), value === null ? NO_LOCK : String(value)]];
    }),
  );

/**
 * The answer that is stored: the fields that were stored before, and those in which the typed values differ from the ones in force.
 * A field that was not changed is not stored, so the more general answer still applies to it.
 *
 * @param own     fields that are stored already
 * @param inForce the whole answer that holds now
 * @param typed   changed values of the form, by name
 */
export function answerOf(
  question: Question,
  { own, inForce }: { own: Answer | null; inForce: Answer },
  typed: Readonly<Record<string, unknown>>,
): Answer {
  const now = { ...typedOf(question, inForce), ...typed };
  const changed = partsOf(question).filter((one) =>
    Object.keys(typed).some((name) => name === nameOf(question, one) || name.startsWith(`${nameOf(question, one)}.`)),
  );
  const fields = new Set(changed.map(({ field }) => field));
  const valueOf = (one: Part): unknown => {
    if (one.kind === 'words')
      return (one.choices ?? []).filter((word) => String(now[nameOf(question, one, word)]) === 'true');
    const value = String(now[nameOf(question, one)]);
    if (one.kind === 'word') return value;
    // What is no number is sent as it is: the server says what is wrong with it.
    return one.orNull === true && value === NO_LOCK ? null : /^[0-9]+$/.test(value) ? Number(value) : value;
  };
  const answers = [...fields].map((field): readonly [string, unknown] => {
    const parts = partsOf(question).filter((one) => one.field === field);
    const [first] = parts;
    return [
      field,
      first !== undefined && first.part === undefined
        ? valueOf(first)
        : Object.fromEntries(parts.map((one) => [one.part ?? '', valueOf(one)])),
    ];
  });
  return { ...own, ...Object.fromEntries(answers) };
}

function shown({ kind, unit }: Part, value: unknown): string {
  if (value === null) return 'until the deadline of the deposit';
  if (kind === 'words') return Array.isArray(value) && value.length > 0 ? `of the ${value.join(', ')}` : 'none';
  if (kind === 'number') return unit === 's' && typeof value === 'number' ? span(value) : `${value} bps`;
  return WORDS[String(value)] ?? String(value);
}

/** An answer in words, a phrase per field. Fields that the answer lacks are left out. */
export function phrasesOf(question: Question, answer: Answer): readonly string[] {
  const fields = [...new Set(partsOf(question).map(({ field }) => field))].filter((field) => field in answer);
  return fields.map((field) => {
    const parts = partsOf(question).filter((one) => one.field === field);
    const [first] = parts;
    if (first === undefined) return '';
    const said = parts.map((one) => shown(one, partIn(answer, one)));
    return `${labelOf(question, first)}: ${first.part === undefined ? said.join('') : `after ${said.join(', ')}`}`;
  });
}

/** The form of one question, made from the declared action. */
export const policyForm = (action: FormAction, question: Question): FormAction => ({
  ...action,
  says: `${TITLES[question]}. It applies to new orders; orders under way keep their policy.`,
  fields: [...fieldsOf(question), FROM_WHEN],
  isPartial: true,
});

/**
 * Which form applies to a customer: by partner, kind, fiat, country and level, from the time at which it takes effect.
 *
 * A partner's own form comes before those of every partner. Then the most specific row in effect applies; without one, the default
 * (defaults.ts). Rows never change: a new version replaces an older one from its time on, and one without any question ends a
 * partner's own form.
 */
import { dayOf } from '../../base/clock.ts';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { patternProblem } from '../../base/patterns.ts';
import { remember } from '../../partners/index.ts';
import { exampleOf, faultOf, judgeAnswers } from './answers.ts';
import { BUSINESS_FORM, PERSON_FORM } from './defaults.ts';
import { type Form, type FormField, faultsOfForm, fieldsOf } from './form.ts';
import { type FormRow, sql } from './store.ts';

export interface ChosenForm {
  /** null for the default form. */
  readonly id: bigint | null;
  /** 0 for the default form. */
  readonly version: number;
  readonly form: Form;
  /** Whether one of its documents is required. */
  readonly needsDocument: boolean;
}

/** A fiat's asset code, a country's two letters, a level; each undefined when unknown. Without a partner, a form of every partner. */
export interface FormScope {
  readonly kind: 'INDIVIDUAL' | 'BUSINESS';
  readonly fiat?: string | undefined;
  readonly country?: string | undefined;
  readonly level?: number | undefined;
  readonly partnerId?: bigint | undefined;
}

const DEFAULTS = { INDIVIDUAL: PERSON_FORM, BUSINESS: BUSINESS_FORM } as const;
export const defaultForm = (kind: FormScope['kind']): ChosenForm => ({
  ...{ id: null, version: 0, needsDocument: false },
  form: DEFAULTS[kind],
});

const remembered = remember<FormRow | null>({ forMs: 2_000, most: 1_000 });

export async function formFor(tx: Tx, scope: FormScope, now: Date): Promise<ChosenForm> {
  const key = [scope.kind, scope.fiat, scope.country, scope.level, scope.partnerId];
  const row = await remembered.get(
    tx,
    JSON.stringify(key, (_, part) => (typeof part === 'bigint' ? String(part) : part)),
    async () => (await tx.row<FormRow>(sql.formFor, [...key.map((part) => part ?? null), now])) ?? null,
  );
  if (row === null) return defaultForm(scope.kind);
  return { id: row.id, version: row.version, form: row.form, needsDocument: row.needsDocument };
}

/** A form by its row: the one that a submission was begun with. */
export async function formById(tx: Tx, id: bigint): Promise<ChosenForm | undefined> {
  return await tx.row<FormRow>(sql.formById, [id]);
}

/**
 * Saves a new version of a form.
 *
 * @param f.form with a partner also `{}`, which ends its own form: the next one that fits applies
 * @throws Refusal 'malformed_field' that names each invalid part: a pattern that backtracks, a field whose example its own rules
 *   refuse, a name that occurs twice, owners of a person
 */
export async function saveForm(
  tx: Tx,
  f: FormScope & { form: Form; needsDocument: boolean; effectiveAt: Date; by: string; now: Date },
): Promise<{ id: bigint; version: number } | undefined> {
  // Up to sixty patterns are tried, each for up to a fifth of a second.
  const { form, kind, now } = f;
  const isEnd = f.partnerId !== undefined && Object.keys(form).length === 0;
  const key = JSON.stringify(['save form', kind, form, dayOf(now)]);
  const faults = isEnd ? [] : await tx.outside(key, () => wrongIn(f));
  if (faults.length > 0) throw new Refusal('malformed_field', { fields: Object.fromEntries(faults) });
  const scope = [f.kind, f.fiat ?? null, f.country ?? null, f.level ?? null, f.partnerId ?? null];
  const saved = await tx.row<{ id: bigint; version: number }>(sql.insertForm, [
    ...scope,
    JSON.stringify(f.form),
    f.needsDocument,
    ...[f.effectiveAt, f.by, f.now],
  ]);
  remembered.forget(tx);
  return saved;
}

const MOST_FAULTS = 20;

/** At most MOST_FAULTS, by path. */
async function wrongIn({
  form,
  kind,
  now,
}: {
  form: Form;
  kind: FormScope['kind'];
  now: Date;
}): Promise<[path: string, why: string][]> {
  const wrong = new Map(faultsOfForm(form, kind));
  // Examples are only compared with patterns that are safe to run.
  if (wrong.size === 0) for (const [path, why] of await slowPatterns(form)) wrong.set(path, why);
  if (wrong.size === 0) for (const [path, why] of await wrongExamples(form, now)) wrong.set(path, why);
  return [...wrong].slice(0, MOST_FAULTS);
}

const pathOf = ({ group, name }: FormField): string => (group === null ? name : `${group}.${name}`);

/** At most one: a slow one takes seconds, and the next is found when this one is corrected. */
async function slowPatterns(form: Form): Promise<[path: string, why: string][]> {
  for (const field of fieldsOf(form)) {
    const why = field.regex === undefined ? undefined : await patternProblem(field.regex);
    if (why !== undefined) return [[`${pathOf(field)}.regex`, why]];
  }
  return [];
}

/** A refusal shows the example, so it must pass. A pattern needs one: its own notation says little to a customer. */
async function wrongExamples(form: Form, now: Date): Promise<[path: string, why: string][]> {
  const fields = fieldsOf(form).filter(({ type }) => type !== 'file');
  const examples = fields.map((field) => [field, exampleOf(field)] as const);
  const answers = Object.fromEntries(examples.map(([{ name }, example]) => [name, example ?? '']));
  const judged = await judgeAnswers(form, [answers], { now });
  return examples.flatMap(([field, example]): [string, string][] => {
    const path = `${pathOf(field)}.example`;
    if (example === undefined)
      return field.regex === undefined ? [] : [[path, 'must be given: none follows from the regex']];
    // An example of the form is not repeated to its author.
    const { example: _own, ...rest } = field;
    const why = faultOf(rest, example, now, judged);
    return why === undefined ? [] : [[path, `is refused by its own field: it ${why}`]];
  });
}

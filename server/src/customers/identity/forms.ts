/**
 * Which form applies to a customer: by kind, fiat, country and level, from the time at which it takes effect.
 *
 * The most specific row in effect applies; without one, the default (defaults.ts). Rows never change: a new version replaces an
 * older one from its time on. A partner's own form for businesses comes before all of them (partners/requirements.ts).
 */
import type { Tx } from '../../base/db.ts';
import { remember } from '../../partners/index.ts';
import { BUSINESS_FORM, PERSON_FORM } from './defaults.ts';
import { checkForm, type Form } from './form.ts';
import { type FormRow, sql } from './store.ts';

export interface ChosenForm {
  /** null for the default form, and for a partner's own. */
  readonly id: bigint | null;
  /** 0 for the default form. */
  readonly version: number;
  readonly form: Form;
  /** Whether one of its documents is required. */
  readonly needsDocument: boolean;
}

/** A fiat's asset code, a country's two letters, a level; each undefined when unknown. */
export interface FormScope {
  readonly kind: 'INDIVIDUAL' | 'BUSINESS';
  readonly fiat?: string | undefined;
  readonly country?: string | undefined;
  readonly level?: number | undefined;
}

const DEFAULTS = { INDIVIDUAL: PERSON_FORM, BUSINESS: BUSINESS_FORM } as const;
export const defaultForm = (kind: FormScope['kind']): ChosenForm => ({
  ...{ id: null, version: 0, needsDocument: false },
  form: DEFAULTS[kind],
});

const remembered = remember<FormRow | null>({ forMs: 2_000, most: 1_000 });

export async function formFor(tx: Tx, scope: FormScope, now: Date): Promise<ChosenForm> {
  const key = [scope.kind, scope.fiat, scope.country, scope.level];
  const row = await remembered.get(
    tx,
    JSON.stringify(key),
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
 * @throws Refusal 'malformed_field' that names each invalid part: a pattern that backtracks, a name that occurs twice, owners of a
 *   person
 */
export async function saveForm(
  tx: Tx,
  f: FormScope & { form: Form; needsDocument: boolean; effectiveAt: Date; by: string; now: Date },
): Promise<{ id: bigint; version: number } | undefined> {
  checkForm(f.form, f.kind);
  const scope = [f.kind, f.fiat ?? null, f.country ?? null, f.level ?? null];
  const saved = await tx.row<{ id: bigint; version: number }>(sql.insertForm, [
    ...scope,
    JSON.stringify(f.form),
    f.needsDocument,
    ...[f.effectiveAt, f.by, f.now],
  ]);
  remembered.forget(tx);
  return saved;
}

/**
 * Submissions, on both wires: the form that applies to a customer, and the files of a request.
 *
 * Not here: the validity of answers and files, and what a submission still needs (customers/identity/).
 */
import type { Blobs } from '../base/blobs.ts';
import type { Clock } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import {
  type ChosenForm,
  type Customer,
  countryFor,
  customerKey,
  findCustomer,
  formFor,
  formOfSubmission,
  type InspectedFile,
  inspectFiles,
  levelUnderWay,
  type StoredFile,
  storeFiles,
} from '../customers/index.ts';
import type { Partner } from '../partners/index.ts';
import type { UploadedFile } from './uploads.ts';

/** What a request says about the form, besides the customer's kind and country. */
interface Asked {
  /** Asset code of the fiat; persons only. */
  readonly fiat?: string | undefined;
  /** Two letters; used if the customer's country is not known. */
  readonly country?: string | undefined;
  /** By default that of the customer's submission under way, else the level from which the partner's customers may trade. */
  readonly level?: number | undefined;
}

/**
 * The form for a partner's businesses: its own if it has one, by the customer's country; without a customer, by the requested country.
 */
export async function businessForm(
  tx: Tx,
  partner: Pick<Partner, 'id' | 'tradeLevel'> | undefined,
  { customer, country, level }: { customer?: Customer | undefined } & Asked,
  now: Date,
): Promise<ChosenForm> {
  const of = customer === undefined ? country : countryFor(customer, country);
  const begun = customer && (await levelUnderWay(tx, customer.id));
  const scope = { country: of, level: level ?? begun ?? partner?.tradeLevel, partnerId: partner?.id };
  return await formFor(tx, { kind: 'BUSINESS', ...scope }, now);
}

/** The form that a customer is verified by. */
export async function customerForm(
  tx: Tx,
  partner: Pick<Partner, 'id' | 'tradeLevel'>,
  { customer, ...asked }: { customer: Customer } & Asked,
  now: Date,
): Promise<ChosenForm> {
  if (customer.kind === 'BUSINESS') return await businessForm(tx, partner, { customer, ...asked }, now);
  const { fiat, country } = asked;
  const level = asked.level ?? (await levelUnderWay(tx, customer.id)) ?? partner.tradeLevel;
  const scope = { fiat, country: countryFor(customer, country), level, partnerId: partner.id };
  return await formFor(tx, { kind: 'INDIVIDUAL', ...scope }, now);
}

/** The form that a submission was begun with; if that form has no row, the one that applies now. */
export async function formBegunWith(
  tx: Tx,
  partner: Pick<Partner, 'id' | 'tradeLevel'>,
  { customer, submissionId }: { customer: Customer; submissionId?: bigint | undefined },
  now: Date,
): Promise<ChosenForm> {
  const begun = await formOfSubmission(tx, customer.id, submissionId);
  return begun ?? (await customerForm(tx, partner, { customer }, now));
}

interface Receiving {
  readonly deps: { blobs: Blobs; vault: Vault; clock: Clock };
  readonly inTx: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
}

/**
 * Inspects the files of a request, assigns each to its slot, and puts them into the store. Call it before the transaction that
 * inserts their rows.
 *
 * @throws Refusal 'unknown_customer' | 'malformed_field' that names each slot; a file without a slot of the form is named
 * `files`
 */
export async function storedFiles(
  at: Receiving & { files: readonly UploadedFile[] },
  customerId: string,
  formOf: (tx: Tx, now: Date) => Promise<ChosenForm>,
): Promise<StoredFile[]> {
  if (at.files.length === 0) return [];
  const now = at.deps.clock.now();
  const [{ form }, customer] = await at.inTx(async (tx) => [await formOf(tx, now), await findCustomer(tx, customerId)]);
  return await keptFiles(at, customerId, await inspectFiles(form, at.files, customer));
}

/** Puts inspected files into the store. */
export async function keptFiles(
  { deps: { blobs, vault, clock }, inTx }: Receiving,
  customerId: string,
  files: readonly InspectedFile[],
): Promise<StoredFile[]> {
  const key = await inTx(async (tx) => customerKey(tx, vault, await findCustomer(tx, customerId), clock.now()));
  return await storeFiles(blobs, vault, { customerId, key, files });
}

/**
 * Actions on reviews: an operator reads a customer's details, and decides, when no program verifies them. Reading is an action
 * too. The partner sees the reason of a refusal, so it must contain no personal data.
 */
import { dayOf } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { Refusal, Unavailable } from '../../../base/errors.ts';
import { encryptText } from '../../../base/texts.ts';
import { openTyped } from '../../../base/typed.ts';
import { decideReview, openReview, reviewRisks } from '../../../compliance/index.ts';
import {
  checkUnderWay,
  detachPhone,
  type FieldReasons,
  filesOf,
  findCustomer,
  findSubmission,
  formFor,
  givenDetails,
  informationOf,
  MAX_REQUESTS,
  openContact,
  openFile,
  openGivenDetails,
  sameDocument,
  saveForm,
  storedOwnersFault,
} from '../../../customers/index.ts';
import { findPartner } from '../../../partners/index.ts';
import { formBegunWith } from '../../submissions.ts';
import { type Action, action } from '../action.ts';
import { CUSTOMERS } from '../declared/cases.ts';
import type { OperatorDeps } from '../deps.ts';
import { requirePartner } from './terms.ts';

const subject = (input: { customer: string }): string => `customer:${input.customer}`;

async function look({ vault }: OperatorDeps, tx: Tx, input: { customer: string }): Promise<unknown> {
  const { level, verification } = await findCustomer(tx, input.customer);
  const version = (await givenDetails(tx, input.customer))?.version ?? null;
  const same = await sameDocument(tx, vault, input.customer);
  const risks = await reviewRisks(tx, vault, input.customer);
  return { level, verification, version, sameDocument: same.map(({ customerId }) => customerId), risks };
}

/**
 * Verifying a high risk takes two people: the level is one of enhanced checks, another customer gave the same document, a hit in a
 * sanctions list or a finding of transaction monitoring is open, or the document shows another name than the customer typed.
 */
const HIGH_LEVEL = 4;
const isRisky = async (
  { vault }: OperatorDeps,
  tx: Tx,
  { customer, level = 0 }: { customer: string; level?: number | undefined },
): Promise<boolean> =>
  level >= HIGH_LEVEL ||
  (await sameDocument(tx, vault, customer)).length > 0 ||
  (await reviewRisks(tx, vault, customer)).length > 0;

/** The program's last submission, with its files; undefined for a customer of our own pages. */
async function submissionOf(tx: Tx, customerId: string) {
  try {
    const { id, state, reasons } = await findSubmission(tx, customerId);
    const files = await filesOf(tx, id);
    return {
      id: String(id),
      state,
      reasons,
      files: files.map(({ id: file, slot, type, bytes }) => ({ id: file, slot, type, bytes })),
    };
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unknown_submission') return undefined;
    throw error;
  }
}

/** A business is not verified while its owners hold less than the form of its submission asks for. */
async function requireOwners({ vault }: OperatorDeps, tx: Tx, customerId: string, now: Date): Promise<void> {
  const customer = await findCustomer(tx, customerId);
  const partner = await findPartner(tx, { id: customer.partnerId });
  if (customer.kind !== 'BUSINESS' || partner === undefined) return;
  const { form } = await formBegunWith(tx, partner, { customer }, now);
  const why = storedOwnersFault(form, (await openGivenDetails(tx, vault, customerId)) ?? {});
  if (why === undefined) return;
  const again = 'ask for them with the outcome failed and again owners:incomplete';
  throw new Refusal('malformed_field', { fields: { outcome: `cannot be verified: the owners ${why}; ${again}` } });
}

export const REVIEW_ACTIONS: readonly Action[] = [
  action({
    ...CUSTOMERS.review,
    subject,
    look,
    async perform({ vault }, tx, input) {
      const { given, details, readNames = null, verifiedNames = null } = await openReview(tx, vault, input.customer);
      const submission = (await submissionOf(tx, input.customer)) ?? null;
      const { version = null, outcome = null } = given ?? {};
      const requestedLevel = (await checkUnderWay(tx, input.customer))?.level ?? null;
      return { review: { version, outcome, requestedLevel, details, readNames, verifiedNames, submission } };
    },
  }),
  action({
    ...CUSTOMERS.decide,
    subject,
    look,
    // A verified customer may trade up to the limits of its level.
    async needs(deps, tx, input) {
      if (input.outcome !== 'verified') return undefined;
      return (await isRisky(deps, tx, input)) ? ['ruled' as const, 'always' as const] : 'ruled';
    },
    async perform(deps, tx, input, { people, reason, now }) {
      const { vault } = deps;
      const { customer: customerId, version, outcome, level = 0, expires: expiresOn } = input;
      if (input.again !== undefined && outcome !== 'failed')
        throw new Refusal('malformed_field', { fields: { again: 'is allowed only with the outcome failed' } });
      if (expiresOn !== undefined && outcome !== 'verified')
        throw new Refusal('malformed_field', { fields: { expires: 'is allowed only with the outcome verified' } });
      if (expiresOn !== undefined && expiresOn < dayOf(now))
        throw new Refusal('malformed_field', { fields: { expires: 'must be today or later' } });
      if (outcome === 'verified') await requireOwners(deps, tx, customerId, now);
      const fields = Object.fromEntries((input.again ?? []).map((one) => one.split(':'))) as FieldReasons;
      const { partnerId } = await findCustomer(tx, customerId);
      const told = encryptText(vault, partnerId, openTyped(vault, reason));
      const by = people.join(', ');
      await decideReview(tx, { customerId, version, outcome, level, reason, told, fields, expiresOn, by, now });
    },
  }),
  action({
    ...CUSTOMERS.document,
    subject,
    look,
    async perform({ vault }, tx, input) {
      const { files } = (await submissionOf(tx, input.customer)) ?? { files: [] };
      const asked = await informationOf(tx, vault, { customerId: input.customer, limit: MAX_REQUESTS });
      if (![...files, ...asked.flatMap((one) => one.files)].some(({ id }) => id === input.file))
        throw new Refusal('malformed_field', {
          fields: { file: 'must be a file of the customer’s newest submission, or of an answer' },
        });
    },
    async shows({ db, vault, blobs }, { customer: customerId, file: id }) {
      const found = blobs && (await openFile({ db, vault, blobs }, { customerId, id }));
      if (found === undefined) throw new Unavailable('documents', 'the file is not in the folder');
      return { document: { type: found.type, content: found.content.toString('base64') } };
    },
  }),
  action({
    ...CUSTOMERS.requirements,
    subject: ({ kind }) => `requirements:${kind}`,
    async look({ clock }, tx, { partner, ...scope }) {
      const partnerId = (await requirePartner(tx, partner)) ?? undefined;
      return { version: (await formFor(tx, { ...scope, partnerId }, clock.now())).version };
    },
    needs: async () => 'ruled',
    async perform(_deps, tx, input, { operator, now }) {
      const { effectiveAt = now, needsDocument = false, partner: partnerId, ...form } = input;
      await saveForm(tx, { ...form, partnerId, needsDocument, effectiveAt, by: operator.name, now });
    },
  }),
  // Networks reassign phone numbers after a while: the new owner must not log in as the old one.
  action({
    ...CUSTOMERS.detachPhone,
    subject,
    async look({ vault }, tx, input) {
      const { phone } = await openContact(tx, vault, input.customer);
      return { hasPhone: phone !== undefined, evidence: input.evidence };
    },
    async perform(_deps, tx, input, { now }) {
      return { detached: await detachPhone(tx, await findCustomer(tx, input.customer), now) };
    },
  }),
];

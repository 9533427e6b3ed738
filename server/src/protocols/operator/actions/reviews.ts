/**
 * Actions on reviews: a person reads a customer's details, and decides, when no program verifies them. Reading is an action,
 * too. The partner sees the reason of a refusal, so it names nobody.
 */
import type { Tx } from '../../../base/db.ts';
import { encryptText } from '../../../base/texts.ts';
import { openTyped } from '../../../base/typed.ts';
import { decideReview, openReview } from '../../../compliance/index.ts';
import { detachPhone, findCustomer, givenDetails, openContact } from '../../../customers/index.ts';
import { type Action, action, type OperatorDeps } from '../action.ts';
import { CUSTOMERS } from '../declared/cases.ts';

const subject = (input: { customer: string }): string => `customer:${input.customer}`;

async function look(_deps: OperatorDeps, tx: Tx, input: { customer: string }): Promise<unknown> {
  const { level, verification } = await findCustomer(tx, input.customer);
  return { level, verification, version: (await givenDetails(tx, input.customer))?.version ?? null };
}

export const REVIEW_ACTIONS: readonly Action[] = [
  action({
    ...CUSTOMERS.review,
    subject,
    look,
    async perform({ vault }, tx, input) {
      const { given, details } = await openReview(tx, vault, input.customer);
      return { review: { version: given?.version ?? null, outcome: given?.outcome ?? null, details: details ?? {} } };
    },
  }),
  action({
    ...CUSTOMERS.decide,
    subject,
    look,
    async perform({ vault }, tx, input, { operator, reason, now }) {
      const { customer: customerId, version, outcome, level = 0 } = input;
      const { partnerId } = await findCustomer(tx, customerId);
      const told = encryptText(vault, partnerId, openTyped(vault, reason));
      await decideReview(tx, { customerId, version, outcome, level, reason, told, by: operator.name, now });
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

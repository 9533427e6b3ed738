/**
 * Acts on reviews: a person looks at what a customer gave, and decides, where no program verifies. Looking is an act, too.
 * The reason of a refusal is shown to the partner, so it names nobody.
 */
import type { Tx } from '../../../base/db.ts';
import { decideReview, openReview } from '../../../compliance/index.ts';
import { findCustomer, givenDetails } from '../../../customers/index.ts';
import { type Act, act, type OperatorDeps } from '../act.ts';
import { oneOf, optional, text, whole } from '../fields.ts';

const customer = text(40, /^[0-9A-Za-z]{10}_[0-9]{1,19}$/, 'the id of a customer');
const subject = (ask: { customer: string }): string => `customer:${ask.customer}`;

async function look(_deps: OperatorDeps, tx: Tx, ask: { customer: string }): Promise<unknown> {
  const { level, verification } = await findCustomer(tx, ask.customer);
  return { level, verification, version: (await givenDetails(tx, ask.customer))?.version ?? null };
}

export const REVIEW_ACTS: readonly Act[] = [
  act({
    name: 'review.open',
    path: '/customers/:customer/review/open',
    right: 'personal',
    fields: { customer },
    subject,
    look,
    async perform({ vault }, tx, ask) {
      const { given, details } = await openReview(tx, vault, ask.customer);
      return { review: { version: given?.version ?? null, outcome: given?.outcome ?? null, details: details ?? {} } };
    },
  }),
  act({
    name: 'review.decide',
    path: '/customers/:customer/review/decide',
    right: 'cases',
    fields: {
      customer,
      /** Of the details that were looked at. */
      version: whole(1, 1_000_000),
      outcome: oneOf(['verified', 'failed', 'refused']),
      level: optional(whole(1, 4)),
    },
    subject,
    look,
    async perform(_deps, tx, ask, { operator, reason, now }) {
      const { version, outcome, level = 0 } = ask;
      await decideReview(tx, { customerId: ask.customer, version, outcome, level, reason, by: operator.name, now });
    },
  }),
];

/**
 * Acts on reviews: a person looks at what a customer gave, and decides, where no program verifies. Looking is an act, too.
 * The reason of a refusal is shown to the partner, so it names nobody.
 */
import type { Tx } from '../../../base/db.ts';
import { sealText } from '../../../base/texts.ts';
import { openTyped } from '../../../base/typed.ts';
import { decideReview, openReview } from '../../../compliance/index.ts';
import { detachPhone, findCustomer, givenDetails, HIGHEST_LEVEL, openContact } from '../../../customers/index.ts';
import { type Act, act, type OperatorDeps } from '../act.ts';
import { oneOf, optional, text, typed, whole } from '../fields.ts';

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
    right: 'reviews',
    fields: {
      customer,
      /** Of the details that were looked at. */
      version: whole(1, 1_000_000),
      outcome: oneOf(['verified', 'failed', 'refused']),
      level: optional(whole(1, HIGHEST_LEVEL)),
    },
    subject,
    look,
    async perform({ vault }, tx, ask, { operator, reason, now }) {
      const { customer: customerId, version, outcome, level = 0 } = ask;
      const { partnerId } = await findCustomer(tx, customerId);
      const told = sealText(vault, partnerId, openTyped(vault, reason));
      await decideReview(tx, { customerId, version, outcome, level, reason, told, by: operator.name, now });
    },
  }),
  // A number is given to somebody else by its network after a while: the new owner must not log in as the old one.
  act({
    name: 'customer.detach_phone',
    path: '/customers/:customer/detach-phone',
    right: 'reviews',
    fields: {
      customer,
      /** What was verified afresh, and where that is kept. */
      evidence: typed(500, /\S{2}/, 'what was verified, in 3 to 500 characters'),
    },
    subject,
    async look({ vault }, tx, ask) {
      const { phone } = await openContact(tx, vault, ask.customer);
      return { hasPhone: phone !== undefined, evidence: ask.evidence };
    },
    async perform(_deps, tx, ask, { now }) {
      return { detached: await detachPhone(tx, await findCustomer(tx, ask.customer), now) };
    },
  }),
];

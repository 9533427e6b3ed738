/** The operator's questions about a customer, and the partner's answers. */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { informationEnded } from '../../../compliance/index.ts';
import {
  addInformationFiles,
  endInformation,
  findCustomer,
  type InformationRequest,
  informationOf,
  inspectAny,
  MAX_REQUESTS,
  openInformation,
  openRequest,
  type StoredFile,
} from '../../../customers/index.ts';
import { recordActivity } from '../../../partners/index.ts';
import { keptFiles } from '../../submissions.ts';
import { INFORMATION } from '../declared/customers.ts';
import { type Asked, type Handled, reads, throughOf, writes } from '../handler.ts';
import { cursorOf, readCursor } from '../pages.ts';
import { type Is, iso, isoOrNull } from '../shapes.ts';

const PAGE = 50;

const shape = (one: InformationRequest): Is<'InformationRequest'> => ({
  ...{ id: String(one.id), customerId: one.customerId },
  submissionId: one.submissionId === null ? null : String(one.submissionId),
  ...{ state: one.state, question: one.question, answer: one.answer },
  files: one.files.map(({ type, bytes, createdAt }) => ({ type, bytes, sentAt: iso(createdAt) })),
  ...{ dueAt: iso(one.dueAt), askedAt: iso(one.askedAt), endedAt: isoOrNull(one.endedAt) },
});

/** Files of a request that are in the store and have no rows yet. */
const stored = new WeakMap<object, StoredFile[]>();

type Answer = Asked<(typeof INFORMATION.answer)['fields']>;

export const INFORMATION_HANDLERS: readonly Handled[] = [
  reads(INFORMATION.open, ({ caller, deps, readOnly }) =>
    readOnly(async (tx) => {
      const open = await openInformation(tx, deps.vault, { partnerId: caller.partner.id, limit: MAX_REQUESTS });
      return { data: open.map(shape) };
    }),
  ),
  reads(INFORMATION.list, ({ values, deps, readOnly }) => {
    const { customer, cursor, limit: asked = PAGE } = values;
    const limit = Math.min(asked, MAX_REQUESTS);
    return readOnly(async (tx) => {
      const { id: customerId } = await findCustomer(tx, customer);
      const rows = await informationOf(tx, deps.vault, { customerId, below: readCursor(cursor), limit: limit + 1 });
      const shown = rows.slice(0, limit);
      return { data: shown.map(shape), nextCursor: rows.length > limit ? cursorOf(shown.at(-1)?.id ?? null) : null };
    });
  }),
  writes(
    INFORMATION.addFiles,
    async (tx, asked) => {
      const { values, deps, caller, now } = asked;
      const files = stored.get(asked);
      // The stored reply expired after the lookup. A retry is handled as new, and the files are stored.
      if (files === undefined) throw new Refusal('idempotency_in_flight', { retryAfterMs: 1_000 });
      const { id: customerId } = await findCustomer(tx, values.customer);
      const request = await addInformationFiles(tx, deps.vault, { customerId, id: values.request, files, now });
      const about = { subject: `customer:${customerId}`, facts: { request: String(request.id) } };
      recordActivity(tx, throughOf(caller), { action: 'information.files_sent', ...about, now });
      return shape(request);
    },
    {
      async before(asked) {
        const { customer: customerId, request: id } = asked.values;
        const customer = await asked.readOnly(async (tx) => {
          const found = await findCustomer(tx, customerId);
          await openRequest(tx, { customerId, id });
          return found;
        });
        if (asked.files.length === 0) throw new Refusal('missing_fields', { names: ['files'] });
        stored.set(asked, await keptFiles(asked, customerId, await inspectAny(asked.files, customer)));
      },
    },
  ),
  writes(
    INFORMATION.answer,
    async (tx, { values, deps, caller, now }) => {
      const { customer: customerId, request: id, answer } = values;
      const ended = await endInformation(tx, deps.vault, { customerId, id, answer, now });
      await informationEnded(tx, { ...ended, now });
      const about = { subject: `customer:${customerId}`, facts: { request: String(id) } };
      recordActivity(tx, throughOf(caller), { action: 'information.answered', ...about, now });
      return shape(ended);
    },
    // The system role opens the case about the answer, after the customer's partner was checked.
    { as: 'system', check: async (tx: Tx, { values }: Answer) => void (await findCustomer(tx, values.customer)) },
  ),
];

/** Actions on personal data: export, legal holds, erasure, at once or once nothing prevents it, and the proof of it. */
import type { Tx } from '../../../base/db.ts';
import { assert, Refusal } from '../../../base/errors.ts';
import { enqueue } from '../../../base/jobs.ts';
import { findCustomer, lockCustomer, openFile } from '../../../customers/index.ts';
import {
  ERASE_REQUESTED,
  erase,
  erasureOf,
  erasureStatement,
  exportCustomer,
  holdOf,
  liftHold,
  orderErasure,
  placeHold,
  requestErasure,
  requestOf,
  requireErasable,
  withdrawRequest,
} from '../../../erasure/index.ts';
import { type Action, action } from '../action.ts';
import { ERASURES } from '../declared/erasure.ts';
import type { OperatorDeps } from '../deps.ts';
import { type Read, read } from '../read.ts';

const subject = (input: { customer: string }): string => `customer:${input.customer}`;

/** Locks the customer: of a concurrent order and erasure, one sees the other. */
async function look(_deps: OperatorDeps, tx: Tx, { customer }: { customer: string }): Promise<unknown> {
  await findCustomer(tx, customer);
  await lockCustomer(tx, customer);
  const erasure = await erasureOf(tx, customer);
  return {
    orderedAt: erasure?.orderedAt ?? null,
    erasedAt: erasure?.erasedAt ?? null,
    backupsEndAt: erasure?.backupsEndAt ?? null,
    heldAt: (await holdOf(tx, customer))?.placedAt ?? null,
    askedAt: (await requestOf(tx, customer))?.askedAt ?? null,
  };
}

/** Maximum total size of the files in one answer; a person's files are smaller. */
const MOST_FILE_BYTES = 64 * 1024 * 1024;

const requireNow = (deps: OperatorDeps, tx: Tx, customerId: string): Promise<void> =>
  requireErasable(tx, { customerId, afterDays: deps.eraseAfterDays ?? 0, now: deps.clock.now() });

const statementOf = ({ db, eraseAfterDays: afterDays = 0 }: OperatorDeps, customerId: string) =>
  db.asSystem((tx) => erasureStatement(tx, { customerId, afterDays }));

export const ERASURE_ACTIONS: readonly Action[] = [
  action({
    ...ERASURES.export,
    subject,
    look,
    async perform({ vault }, tx, { customer }) {
      return { export: await exportCustomer(tx, vault, customer) };
    },
    // Runs after the audit row is committed.
    async shows({ db, vault, blobs }, { customer: customerId }) {
      const listed = await db.asSystem((tx) => exportCustomer(tx, vault, customerId));
      const { submissions, information } = listed as Record<
        string,
        { files: { id: string; slot: string; bytes: number }[] }[]
      >;
      const known = [...(submissions ?? []), ...(information ?? [])].flatMap((one) => one.files);
      const files = [];
      let bytes = 0;
      for (const { id, slot, bytes: size } of known) {
        bytes += size;
        const found =
          bytes > MOST_FILE_BYTES ? undefined : blobs && (await openFile({ db, vault, blobs }, { customerId, id }));
        files.push({ id, slot, type: found?.type ?? null, content: found?.content.toString('base64') ?? null });
      }
      return { files };
    },
  }),
  action({
    ...ERASURES.hold,
    subject,
    look,
    async perform(_deps, tx, { customer }, { operator, reason, now }) {
      if ((await erasureOf(tx, customer)) !== undefined)
        throw new Refusal('erasure_refused', { why: 'The customer is already erased.' });
      await placeHold(tx, { customerId: customer, by: operator.name, reason, now });
    },
  }),
  action({
    ...ERASURES.lift,
    subject,
    look,
    needs: async () => 'always' as const,
    async perform(_deps, tx, { customer }, { operator, reason, now }) {
      await liftHold(tx, { customerId: customer, by: operator.name, why: reason, now });
    },
  }),
  action({
    ...ERASURES.erase,
    subject,
    look,
    async needs(deps, tx, { customer }) {
      await requireNow(deps, tx, customer);
      return 'always' as const;
    },
    async outside(deps, { customer }, { operator, now }) {
      const { db, erasing } = deps;
      assert(erasing !== undefined, 'this installation has no erasure list');
      await db.asSystem(async (tx) => {
        await lockCustomer(tx, customer);
        await requireNow(deps, tx, customer);
        await orderErasure(tx, { customerId: customer, by: operator.name, now });
      });
      await erase(erasing, customer, now);
    },
    shows: async (deps, { customer: customerId }) => ({ statement: await statementOf(deps, customerId) }),
  }),
  action({
    ...ERASURES.request,
    subject,
    look,
    needs: async () => 'always' as const,
    async perform({ clock }, tx, { customer: customerId }, { people, now }) {
      await requestErasure(tx, { customerId, people, now });
      enqueue(tx, { kind: ERASE_REQUESTED, subject: 'all', dueAt: clock.now() });
    },
  }),
  action({
    ...ERASURES.withdraw,
    subject,
    look,
    perform: (_deps, tx, { customer: customerId }, { now }) => withdrawRequest(tx, { customerId, now }),
  }),
];

export const ERASURE_READS: readonly Read[] = [
  read({
    ...ERASURES.statement,
    async answer({ eraseAfterDays: afterDays = 0 }, tx, { customer }) {
      const { id: customerId } = await findCustomer(tx, customer);
      return {
        statement: (await erasureStatement(tx, { customerId, afterDays })) ?? null,
        request: (await requestOf(tx, customerId)) ?? null,
      };
    },
  }),
];

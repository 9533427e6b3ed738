/** Lists of debts, bank lines and partners' requests. They contain nothing personal: no account, no payment text, no body. */

import { Refusal } from '../../base/errors.ts';
import { listBankLines, listDebts } from '../../orders/index.ts';
import { findPartner } from '../../partners/index.ts';
import { OUTSIDE } from './declared/outside.ts';
import { PARTNERS } from './declared/partners.ts';
import type { OperatorDeps } from './deps.ts';
import { amountOf, narrowed, type Read, read, requireSpan } from './read.ts';

const DAY_MS = 86_400_000;

export const OUTSIDE_READS: readonly Read[] = [
  read({
    ...OUTSIDE.debts,
    async answer({ clock }, tx, { asset, after, limit: most = 50, ...filters }) {
      const { partnerId, customerId } = await narrowed(tx, filters);
      await amountOf(tx, { asset });
      const now = clock.now().getTime();
      const page = await listDebts(tx, { partnerId, customerId, asset, after, limit: most });
      const debts = page.debts.map((one) => ({
        ...{ id: one.id, partnerId: one.partnerId, customerId: one.customerId, asset: one.asset, units: one.units },
        ...{
          since: one.since,
          days: Math.floor((now - one.since.getTime()) / DAY_MS),
          orderIds: one.orderIds.join(' '),
        },
      }));
      return { debts, next: page.next };
    },
  }),
  read({
    ...OUTSIDE.bankLines,
    async answer(_deps, tx, { asset, min, max, below, limit: most = 50, ...filters }) {
      requireSpan(filters);
      const { minUnits, maxUnits } = (await amountOf(tx, { asset, min, max })) ?? {};
      const page = await listBankLines(tx, { ...filters, asset, minUnits, maxUnits, below, limit: most });
      return { lines: page.rows, next: page.next };
    },
  }),
  read({
    ...PARTNERS.requests,
    async answer({ requests }, tx, { partner: partnerId, limit: most = 50, below, ...filters }) {
      requireSpan(filters);
      if ((await findPartner(tx, { id: partnerId })) === undefined) throw new Refusal('unknown_partner');
      const found = await requests.list(tx, { ...filters, partnerId, below, limit: most + 1 });
      const page = found.slice(0, most).map(shownRequest);
      return { requests: page, next: found.length > most ? page.at(-1)?.id : null };
    },
  }),
];

type Logged = Awaited<ReturnType<OperatorDeps['requests']['named']>>[number];

/** The request without bodies and without the Idempotency-Key. */
export const shownRequest = (one: Logged) => ({
  ...{
    id: one.id,
    partnerId: one.partnerId,
    protocol: one.protocol,
    requestId: one.requestId,
    clientRequestId: one.clientRequestId,
  },
  ...{ apiKey: one.apiKey, operation: one.operation, method: one.method, path: one.path, status: one.status },
  ...{ reason: one.reason, why: one.why, tookMs: one.tookMs, replayed: one.replayed, version: one.version, at: one.at },
});

/**
 * Lists of differences: breaks and amounts in transit, and movements of our wallets that the books do not explain. What may be
 * done about them is in actions/corrections.ts and actions/restore.ts.
 */
import { listBreaks, listMovements } from '../../reports/index.ts';
import { MOVEMENTS } from './declared/payouts.ts';
import { amountOf, type Read, read, requireSpan } from './read.ts';

export const DIFFERENCE_READS: readonly Read[] = [
  read({
    ...MOVEMENTS.breaks,
    async answer(_deps, tx, { limit: most = 50, ...filters }) {
      requireSpan(filters);
      await amountOf(tx, { asset: filters.asset });
      const page = await listBreaks(tx, { ...filters, limit: most });
      return { breaks: page.rows, next: page.next };
    },
  }),
  read({
    ...MOVEMENTS.list,
    async answer(_deps, tx, { limit: most = 50, ...filters }) {
      requireSpan(filters);
      await amountOf(tx, { asset: filters.asset });
      const page = await listMovements(tx, { ...filters, limit: most });
      return { movements: page.rows, next: page.next };
    },
  }),
];

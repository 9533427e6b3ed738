/** A statement of a partner's orders. */
import { Refusal } from '../../../base/errors.ts';
import { partnerDays } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { STATEMENT } from '../declared/statement.ts';
import { type Handled, reads } from '../handler.ts';
import { directionOf, moneyOf } from '../shapes.ts';

const LONGEST_MS = 31 * 24 * 3_600_000;

export const STATEMENT_HANDLERS: readonly Handled[] = [
  reads(STATEMENT.get, ({ values: { from, until }, caller, readOnly }) => {
    if (until <= from) throw new Refusal('malformed_field', { fields: { until: 'must be after from' } });
    if (until.getTime() - from.getTime() > LONGEST_MS)
      throw new Refusal('malformed_field', { fields: { until: 'must be at most 31 days after from' } });
    return readOnly(async (tx) => {
      const known = await assets(tx);
      const rows = await partnerDays(tx, { partnerId: caller.partner.id, from, until });
      return {
        data: rows.map((row) => ({
          ...{ day: row.day, market: String(row.marketId), direction: directionOf(row.direction) },
          ...{ created: Number(row.created), settled: Number(row.settled), refunded: Number(row.refunded) },
          paid: moneyOf(row.depositUnits, row.depositAsset, known),
          received: moneyOf(row.payoutUnits, row.payoutAsset, known),
          earned: moneyOf(row.feePartnerUnits, row.fiatAsset, known),
          fees: moneyOf(row.feeTotalUnits, row.fiatAsset, known),
        })),
      };
    });
  }),
];

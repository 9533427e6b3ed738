/** Statements of a partner: its orders by day, and its account in the books. */
import { Refusal } from '../../../base/errors.ts';
import { partnerDays } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { partnerAccount, partnerVolume } from '../../../reports/index.ts';
import { STATEMENT } from '../declared/statement.ts';
import { type Handled, reads } from '../handler.ts';
import { directionOf, moneyOf } from '../shapes.ts';

const LONGEST_MS = 31 * 24 * 3_600_000;

/** @throws Refusal 'malformed_field' */
function requireOrder({ from, until }: { from: Date; until: Date }): void {
  if (until <= from) throw new Refusal('malformed_field', { fields: { until: 'must be after from' } });
}

export const STATEMENT_HANDLERS: readonly Handled[] = [
  reads(STATEMENT.get, ({ values: { from, until }, caller, readOnly }) => {
    requireOrder({ from, until });
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
  reads(STATEMENT.books, async ({ values, caller, readOnly, deps }) => {
    requireOrder(values);
    const { from, until } = values;
    const input = { partnerId: caller.partner.id, from, until };
    const volume = await readOnly(async (tx) => ({ known: await assets(tx), ...(await partnerVolume(tx, input)) }));
    // The journal has no rows of a partner: the system role reads the accounts of this one alone.
    const account = await deps.db.asSystem((system) => partnerAccount(system, input));
    const { known, orders } = volume;
    return {
      ...{ from: from.toISOString(), until: until.toISOString() },
      ...{ created: Number(orders.created), settled: Number(orders.settled), refunded: Number(orders.refunded) },
      totals: account.totals.map(({ asset, ...of }) => ({
        opening: moneyOf(of.openingUnits, asset, known),
        earned: moneyOf(of.earnedUnits, asset, known),
        returned: moneyOf(of.returnedUnits, asset, known),
        settled: moneyOf(of.settledUnits, asset, known),
        closing: moneyOf(of.closingUnits, asset, known),
      })),
      lines: [...volume.lines, ...account.lines].map(({ asset, marketId, count, units, owedUnits, day, what }) => ({
        ...{ day, what, market: marketId === null ? null : String(marketId) },
        amount: moneyOf(units, asset, known),
        count: count === null ? null : Number(count),
        owed: owedUnits === null ? null : moneyOf(owedUnits, asset, known),
      })),
    };
  }),
];

/**
 * Operator actions that pay back to customers a fee that was too high, for settled orders: one order, or all orders of a time
 * span.
 */
import { randomUUID } from 'node:crypto';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { parseUnits } from '../../../base/money.ts';
import type { Need } from '../../../operators/index.ts';
import {
  type BulkTerms,
  beginBulk,
  type Compensation,
  compensate,
  lastBulk,
  lookCompensation,
  requireCompensable,
} from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type PricedFee } from '../../../quotes/index.ts';
import { affectedOrders } from '../../../reports/index.ts';
import { type Values } from '../../declaration/fields.ts';
import { type Action, action } from '../action.ts';
import { BULK, ORDERS } from '../declared/orders.ts';
import { amountsIn } from '../read.ts';
import { fromWhen, termsOf } from '../reports.ts';
import { marketOf, requirePartner } from './terms.ts';

interface Said {
  order: bigint;
  fee: PricedFee;
  amount: string;
  asset: string;
  nth: number | undefined;
  fiatAccountId: bigint | undefined;
}

async function askOf(tx: Tx, said: Said): Promise<Compensation> {
  const { order: orderId, fee, asset, nth = 1, fiatAccountId } = said;
  const known = await assets(tx);
  const { decimals } = known.get(asset) ?? {};
  if (decimals === undefined)
    throw new Refusal('malformed_field', { fields: { asset: `must be one of ${[...known.keys()].join(', ')}` } });
  return { orderId, fee, asset, units: parseUnits(said.amount, decimals), nth, fiatAccountId };
}

type BulkSaid = Values<typeof BULK.compensate.fields>;

/** The orders, their correct terms, and the maximum in total. @throws Refusal 'malformed_field' */
async function bulkAskOf(tx: Tx, said: BulkSaid) {
  const { market: marketId, from, until, partner, most, ...wanted } = said;
  const market = await marketOf(tx, marketId);
  const wrong = (fields: Record<string, string>) => new Refusal('malformed_field', { fields });
  const { terms, partnerId: only, since } = await termsOf(tx, market, { ...wanted, rate: undefined });
  if ('rate' in terms) throw wrong({ fee: 'must be sent, or change' });
  if (only !== undefined && partner !== undefined && only !== partner)
    throw wrong({ partner: `must be ${only}: only that fee was changed` });
  const { code: asset, decimals } = market.fiat;
  const { fee, fixedUnits, bps, minimumUnits, notFor } = terms;
  const mostUnits = parseUnits(most, decimals);
  if (mostUnits <= 0n) throw wrong({ most: 'must be above zero' });
  const bulk: BulkTerms = { asset, mostUnits, fee, fixedUnits, bps, minimumUnits, notFor: [...notFor] };
  const partnerId: bigint | undefined = only ?? partner;
  return { market, span: { from: fromWhen(from, since), until, partnerId }, terms, bulk };
}

export const COMPENSATION_ACTIONS: readonly Action[] = [
  action({
    ...ORDERS.compensate,
    subject: ({ order }) => `order:${order}`,
    // Includes the charge and the number of compensations: of two concurrent proposals, the second is superseded.
    async look({ orders }, tx, { order: orderId, fee, fiatAccountId }) {
      const found = await lookCompensation(orders, tx, { orderId, fee, fiatAccountId });
      const { order, chargedUnits, before, goesTo } = found;
      const to =
        goesTo === undefined
          ? null
          : 'senderOf' in goesTo
            ? `sender of deposit ${goesTo.senderOf}`
            : `account:${goesTo.fiatAccountId}`;
      const compensated = before.map(({ id: deposit, state, units }) => ({
        deposit,
        state,
        asset: order.fiatAsset,
        units,
      }));
      return { state: order.state, fee, asset: order.fiatAsset, chargedUnits, compensated, goesTo: to };
    },
    async needs({ orders }, tx, said): Promise<Need> {
      const input = await askOf(tx, said);
      // Reported at once instead of after a proposal.
      const { compensatedUnits, goesTo } = await requireCompensable(orders, tx, input);
      // Counts all compensations of the order, of every fee, so splitting does not avoid a limit; in a person's day it counts
      // separately from the order's own payouts and refunds, because it is other money.
      const units = compensatedUnits + input.units;
      const counts = `compensation:${input.orderId}`;
      // Two people if no rule names it; if only the bank says who owns the account, two people whatever a rule says.
      return { asset: input.asset, units, counts, asks: 'senderOf' in goesTo ? 'always' : 'named' };
    },
    async perform({ orders }, tx, said, { people, reason, now }) {
      const refund = await compensate(orders, tx, {
        ...(await askOf(tx, said)),
        ...{ by: people.join(', '), why: reason, now },
      });
      return { refund: refund.id };
    },
  }),
  action({
    ...BULK.compensate,
    subject: ({ market }) => `market:${market}`,
    // Orders may settle before the second person confirms. The approval covers the maximum; only another bulk operation begun
    // since supersedes the proposal.
    async look({ clock }, tx, { market, from, until, partner }) {
      const { id: marketId, fiat } = await marketOf(tx, market);
      await requirePartner(tx, partner);
      const wrong = (field: string, why: string) => new Refusal('malformed_field', { fields: { [field]: why } });
      if (from >= until) throw wrong('until', 'must be later than from');
      if (until > clock.now())
        throw wrong('until', 'must not be in the future: operators can only decide about orders that exist');
      return { asset: fiat.code, last: (await lastBulk(tx, marketId)) ?? null };
    },
    async needs(_deps, tx, said): Promise<Need> {
      const { market, span, terms, bulk } = await bulkAskOf(tx, said);
      const units = await dueUnits(tx, { market, ...span, terms });
      const wrong = (rule: string) => new Refusal('malformed_field', { fields: { most: rule } });
      const amounts = await amountsIn(tx);
      if (units === 0n) throw wrong('has no effect: no order of that period was charged more than that fee');
      if (bulk.mostUnits < units)
        throw wrong(`must be at least ${amounts(units, bulk.asset)} ${bulk.asset}, the total of the excess charges`);
      // Each time other orders, although all of a market have one subject.
      return { asset: bulk.asset, units: bulk.mostUnits, asks: 'always', counts: `bulk:${randomUUID()}` };
    },
    async perform(_deps, tx, said, { operator, people, reason, now }) {
      const { market, span, bulk: terms } = await bulkAskOf(tx, said);
      const { partnerId = null, ...dates } = span;
      const begun = { kind: 'compensate' as const, marketId: market.id, partnerId, ...dates, terms };
      return { bulk: await beginBulk(tx, { ...begun, by: operator.name, people, why: reason, now }) };
    },
  }),
];

/** The total that settled orders of the span were overcharged. Undercharges are not subtracted. */
async function dueUnits(tx: Tx, input: Parameters<typeof affectedOrders>[1]): Promise<bigint> {
  const { orders } = await affectedOrders(tx, input);
  return orders
    .filter(({ state, difference }) => state === 'settled' && difference > 0n)
    .reduce((sum, { difference }) => sum + difference, 0n);
}

/**
 * Reports over HTTP: a trial balance at any instant, a customer's statement, revenue, orders affected by a wrong fee or price.
 */
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { Refusal } from '../../base/errors.ts';
import { formatRate, formatUnits, parseRate, parseUnits } from '../../base/money.ts';
import { type AccountAt, balancesAt, trialBalance } from '../../ledger/index.ts';
import { feeRow, findChange, findPartner, type Market, partnersWithOwnFee } from '../../partners/index.ts';
import { type PricedFee } from '../../quotes/index.ts';
import {
  affectedOrders,
  customerStatement,
  type OtherTerms,
  ordersByCountry,
  partnerStatement,
  revenue,
  type StatementRow,
} from '../../reports/index.ts';
import { type Values } from '../declaration/fields.ts';
import { marketOf } from './actions/terms.ts';
import type { TERMS } from './declared/forms.ts';
import { REPORTS_OF } from './declared/reports.ts';
import { amountsIn, narrowed, type Read, read } from './read.ts';

const MAX_ROWS = 500;

export const REPORTS: readonly Read[] = [
  read({
    ...REPORTS_OF.trialBalance,
    async answer(_deps, tx, { at, by, ...input }) {
      const isByAccount = at !== undefined || by === 'account' || (input as { format?: string }).format === 'csv';
      if (!isByAccount) return await trialBalance(tx);
      const amounts = await amountsIn(tx);
      const found = await balancesAt(tx, at);
      const accounts = found.map((one) => ({ ...one, balance: amounts(one.balance, one.asset) }));
      return { at: at ?? null, assets: bothSides(found), accounts };
    },
  }),
  read({
    ...REPORTS_OF.statement,
    async answer(_deps, tx, { customer, from, until, after, limit: most = MAX_ROWS }) {
      const { customerId = '', partnerId } = await narrowed(tx, { customer, from, until });
      const page = await customerStatement(tx, { customerId, from, until, after, limit: most });
      const { lines, next, all } = page;
      return { ...{ customer: customerId, partnerId, from, until }, totals: all && totalsOf(all), lines, next };
    },
  }),
  read({
    ...REPORTS_OF.partner,
    async answer(_deps, tx, { partner, from, until }) {
      await narrowed(tx, { partner, from, until });
      const { lines, totals, orders } = await partnerStatement(tx, { partnerId: partner, from, until });
      const name = (await findPartner(tx, { id: partner }))?.name;
      return { partner, name, from, until, orders, totals, lines };
    },
  }),
  read({
    ...REPORTS_OF.revenue,
    async answer(_deps, tx, { after, limit: most = 100, from, until, ...filters }) {
      const { partnerId, marketId } = await narrowed(tx, { ...filters, from, until });
      const amounts = await amountsIn(tx);
      const page = await revenue(tx, { from, until, partnerId, marketId, after, limit: most });
      const rows = page.rows.map(({ units, ...row }) => ({
        ...row,
        operatorFee: amounts(units.fee_operator, row.asset),
        partnerFee: amounts(units.fee_partner, row.asset),
        railFee: amounts(units.fee_rail, row.asset),
        gasFee: amounts(units.fee_chain, row.asset),
        costs: amounts(units.cost, row.asset),
      }));
      return { from, until, revenue: rows, next: page.next };
    },
  }),
  read({
    ...REPORTS_OF.countries,
    async answer(_deps, tx, { from, until, ...filters }) {
      const { partnerId } = await narrowed(tx, { ...filters, from, until });
      const amounts = await amountsIn(tx);
      const rows = await ordersByCountry(tx, { from, until, partnerId });
      const countries = rows.map(({ settledUnits, ...row }) => ({
        ...row,
        settledUnits: amounts(settledUnits, row.fiat),
      }));
      return { from, until, countries };
    },
  }),
  read({
    ...REPORTS_OF.affected,
    async answer(_deps, tx, { market: marketId, from, until, partner, after, limit: most = 100, ...wanted }) {
      const market = await marketOf(tx, marketId);
      const { partnerId } = await narrowed(tx, { partner, from, until });
      const { terms, partnerId: only, since } = await termsOf(tx, market, wanted);
      if (only !== undefined && partnerId !== undefined && only !== partnerId)
        throw new Refusal('malformed_field', {
          fields: { partner: `must be ${only}: only that fee was changed` },
        });
      const found = await affectedOrders(tx, {
        ...{ market, from: fromWhen(from, since), until, partnerId: only ?? partnerId, terms },
      });
      const amounts = await amountsIn(tx);
      const shown = <T extends { asset: string; was: bigint; other: bigint; difference: bigint }>(one: T) => ({
        ...one,
        was: amounts(one.was, one.asset),
        other: amounts(one.other, one.asset),
        difference: amounts(one.difference, one.asset),
      });
      const begin = after === undefined ? 0 : found.orders.findIndex((one) => one.id === after) + 1;
      if (after !== undefined && begin === 0) throw new Refusal('unknown_order');
      const page = found.orders.slice(begin, begin + most);
      const orders = page.map(({ id: order, ...one }) => ({ order, ...shown(one) }));
      return {
        compared: { ...saidOf(terms, market), ...defined({ since }) },
        charged: shown(found.charged),
        promised: shown(found.promised),
        orders,
        next: begin + most < found.orders.length ? page.at(-1)?.id : null,
      };
    },
  }),
];

/** Sums of debits and credits per asset. If they differ, the books are broken. */
function bothSides(accounts: readonly AccountAt[]) {
  const sums = new Map<
    string,
    { asset: string; debits: bigint; credits: bigint; heldDebits: bigint; heldCredits: bigint }
  >();
  for (const { asset, debits, credits, heldDebits, heldCredits } of accounts) {
    const sum = sums.get(asset) ?? { asset, debits: 0n, credits: 0n, heldDebits: 0n, heldCredits: 0n };
    sum.debits += debits;
    sum.credits += credits;
    sum.heldDebits += heldDebits;
    sum.heldCredits += heldCredits;
    sums.set(asset, sum);
  }
  return [...sums.values()].sort((a, b) => (a.asset < b.asset ? -1 : 1));
}

/** Per asset: the balance at both ends, and the sum of each kind of line in between. */
function totalsOf(lines: readonly StatementRow[]) {
  const sums = new Map<string, { asset: string; what: string; lines: number; units: bigint; owedUnits: bigint }>();
  for (const { asset, what, units, owedUnits } of lines) {
    const key = `${asset} ${what}`;
    const sum = sums.get(key) ?? { asset, what, lines: 0, units: 0n, owedUnits: 0n };
    sum.lines += 1;
    sum.units += units;
    sum.owedUnits += owedUnits;
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => (a.asset < b.asset ? -1 : a.asset > b.asset ? 1 : 0));
}

/**
 * The terms to compare with, given in one of three ways; for a change, also when it took effect.
 *
 * @throws Refusal 'malformed_field'
 */
export async function termsOf(
  tx: Tx,
  market: Market,
  { change, fee, bps, fixed, minimum, rate }: Values<typeof TERMS>,
): Promise<{ terms: OtherTerms; partnerId?: bigint; since?: Date }> {
  const given = [change, fee, rate].filter((value) => value !== undefined);
  const wrong = (fields: Record<string, string>) => new Refusal('malformed_field', { fields });
  if (given.length !== 1) throw wrong({ change: 'must be sent, or fee or rate, but only one of them' });
  if (fee === undefined)
    for (const [name, value] of Object.entries({ bps, fixed, minimum }))
      if (value !== undefined) throw wrong({ [name]: 'is allowed only with fee' });
  if (rate !== undefined) {
    if (/^[0.]+$/.test(rate)) throw wrong({ rate: 'must be above zero' });
    return { terms: { rate: parseRate(rate) } };
  }
  const { decimals } = market.fiat;
  if (fee !== undefined) {
    if (bps === undefined && fixed === undefined && minimum === undefined)
      throw wrong({ fee: 'must be sent with bps, fixed or minimum; a part that is left out is zero' });
    const units = {
      fixedUnits: parseUnits(fixed ?? '0', decimals),
      minimumUnits: parseUnits(minimum ?? '0', decimals),
    };
    return { terms: { fee, ...units, bps: BigInt(bps ?? 0), notFor: [] } };
  }
  return await asBefore(tx, market, change ?? 0n);
}

/** A change affects no order from before it took effect. */
export const fromWhen = (from: Date, since: Date | undefined): Date =>
  since !== undefined && since > from ? since : from;

interface FeeJson {
  fixed_units?: number | string;
  bps?: number;
  minimum_units?: number | string;
  gas_units?: number;
}

/** The fee before one of its changes (`changes`), for the partners to whom it applied. */
async function asBefore(
  tx: Tx,
  market: Market,
  id: bigint,
): Promise<{ terms: OtherTerms; partnerId?: bigint; since: Date }> {
  const found = await findChange(tx, id);
  const wrong = (rule: string) => new Refusal('malformed_field', { fields: { change: rule } });
  if (found?.what !== 'fee' || found.marketId !== market.id)
    throw wrong('must be the id of a change of a fee of this market');
  const fee = found.item as PricedFee;
  // A partner without a row of its own had the general fee.
  const row = found.before ?? (found.partnerId === null ? null : await feeRow(tx, market.id, null, fee));
  const before = row === null ? {} : digitsKept(row);
  if (BigInt(before.gas_units ?? 0) > 0n)
    throw wrong('must be a change of a fee without gas: the cost of gas at the time of each order is not stored');
  const terms = {
    fee,
    fixedUnits: BigInt(before.fixed_units ?? 0),
    bps: BigInt(before.bps ?? 0),
    minimumUnits: BigInt(before.minimum_units ?? 0),
    notFor: found.partnerId === null ? await partnersWithOwnFee(tx, market.id, fee) : [],
  };
  const { partnerId, at: since } = found;
  return partnerId === null ? { terms, since } : { terms, since, partnerId };
}

/** Units may have more digits than a JSON number can hold, so they are read as text. */
const digitsKept = (row: string): FeeJson =>
  JSON.parse(row.replace(/"(fixed_units|minimum_units)"\s*:\s*([0-9]+)/g, '"$1":"$2"')) as FeeJson;

function saidOf(terms: OtherTerms, market: Market) {
  if ('rate' in terms) return { rate: formatRate(terms.rate) };
  const fiat = (units: bigint) => formatUnits(units, market.fiat.decimals);
  const { fee, fixedUnits, bps, minimumUnits, notFor } = terms;
  return {
    ...{ fee, fixed: fiat(fixedUnits), bps: String(bps), minimum: fiat(minimumUnits) },
    ...(notFor.length === 0 ? {} : { partnersWithTheirOwn: notFor }),
  };
}

/**
 * Timeline: everything known about one order, in chronological order, with what happens next and by when.
 *
 * Assembled from what each module stores: nothing is decided or stored here. Facts that name a person (a payer) are omitted.
 */
import type { Tx } from '../../base/db.ts';
import { type AssetCode, formatRate, formatUnits } from '../../base/money.ts';
import { casesOfOrder, decisionsOf, findCase } from '../../compliance/index.ts';
import { eventsAbout } from '../../events/index.ts';
import { readAudit } from '../../operators/index.ts';
import { type Order, trace } from '../../orders/index.ts';
import { assets } from '../../partners/index.ts';

export interface Line {
  at: Date;
  kind: 'order' | 'deposit' | 'decision' | 'entry' | 'payout' | 'refund' | 'event' | 'case' | 'action';
  what: string;
  amount?: string;
  reference?: string;
}

export interface Timeline {
  order: bigint;
  partner: bigint;
  customer: string;
  state: string;
  exception: string | null;
  heldBy: string;
  since: Date;
  next: string;
  by: Date | null;
  otherwise: string | null;
  lines: Line[];
}

/** Facts that are useful to an operator and not personal. */
const SAID = ['why', 'by', 'reason', 'units', 'clearsAt', 'payout'];

/** @throws Refusal 'unknown_order' */
export async function timeline(tx: Tx, orderId: bigint, rails: Parameters<typeof trace>[2]): Promise<Timeline> {
  const traced = await trace(tx, orderId, rails);
  const { order } = traced;
  const money = await moneyIn(tx);
  const lines: Line[] = [made(order, money)];

  for (const { at, stateFrom, event, stateTo, facts } of traced.history) {
    if (event === 'created') continue;
    const shown = inAmounts(facts, order, money);
    const said = SAID.flatMap((name) => (shown[name] === undefined ? [] : [`${name} ${shown[name]}`])).join(', ');
    lines.push({ at, kind: 'order', what: `${event}: ${stateFrom} → ${stateTo}${said === '' ? '' : ` (${said})`}` });
  }
  for (const one of traced.deposits) {
    const about = { kind: 'deposit' as const, amount: money(one.units, one.asset), reference: one.reference };
    lines.push({ ...about, at: one.seenAt, what: `deposit ${one.id} seen on ${one.rail}` });
    if (one.confirmedAt !== null) {
      const why = one.why === null ? '' : `, ${one.why}`;
      const dust = one.dust ? ', dust' : '';
      lines.push({
        ...about,
        at: one.confirmedAt,
        what: `deposit ${one.id} confirmed, now ${one.state}${why}${dust}`,
      });
    }
  }
  for (const one of traced.payouts) {
    const about = { kind: one.purpose, amount: money(one.units, one.asset) };
    const paid = one.reference === null ? {} : { reference: one.reference };
    lines.push({ ...about, at: one.createdAt, what: `${one.id} created for ${one.rail}` });
    if (one.submittedAt !== null) lines.push({ ...about, ...paid, at: one.submittedAt, what: `${one.id} submitted` });
    if (one.unknownSince !== null)
      lines.push({ ...about, at: one.unknownSince, what: `${one.id} unknown since then (${one.why ?? ''})` });
    if (one.endedAt !== null) {
      const why = one.why === null ? '' : ` (${one.why})`;
      lines.push({ ...about, ...paid, at: one.endedAt, what: `${one.id} ${one.state}${why}` });
    }
  }
  for (const one of traced.refunds) {
    const what = `refund ${one.id} of deposit ${one.depositId}, requested by ${one.requestedBy}: ${one.why}, now ${one.state}`;
    lines.push({ at: one.createdAt, kind: 'refund', what, amount: money(one.netUnits, one.asset) });
  }
  for (const { depositId, madeBy, madeAt, confirmedAt, confirmedAddress } of traced.returnLinks) {
    const by = `by ${madeBy}`;
    lines.push({
      at: madeAt,
      kind: 'deposit',
      what: `link created ${by}, to name the destination of the refund of deposit ${depositId}`,
    });
    if (confirmedAt !== null && confirmedAddress !== null)
      lines.push({
        ...{ at: confirmedAt, kind: 'deposit', reference: confirmedAddress },
        what: `the customer confirmed the destination of the refund of deposit ${depositId}`,
      });
  }
  for (const { at, kind, step, debit, credit, asset, units } of traced.entries)
    lines.push({ at, kind: 'entry', what: `${kind}, ${step}: ${debit} → ${credit}`, amount: money(units, asset) });
  for (const { id, at, about, outcome, rules } of await decisionsOf(tx, orderId))
    lines.push({ at, kind: 'decision', what: `${about} ${outcome} by ${rules}`, reference: String(id) });
  for (const { at, type, seq } of await eventsAbout(tx, `order:${orderId}`))
    lines.push({ at, kind: 'event', what: `${seq}: ${type}` });
  for (const one of await casesOfOrder(tx, orderId)) {
    const name = `case ${one.id}, ${one.kind}`;
    lines.push({ at: one.openedAt, kind: 'case', what: `${name}, opened: ${one.reason}` });
    for (const { at, by, what, note } of (await findCase(tx, one.id))?.actions ?? [])
      lines.push({ at, kind: 'case', what: `${name}, ${what} by ${by}: ${note}` });
    if (one.closedAt !== null) lines.push({ at: one.closedAt, kind: 'case', what: `${name}, closed: ${one.outcome}` });
  }
  for (const row of (await readAudit(tx, { subject: `order:${orderId}`, limit: 100 })).toReversed())
    lines.push({ at: row.at, kind: 'action', what: `${row.action} ${row.outcome} by ${row.operator}: ${row.reason}` });

  // Stable: events of the same moment keep the order of these kinds, cause before consequence.
  lines.sort((a, b) => a.at.getTime() - b.at.getTime());
  const { heldBy, since, next, by, otherwise } = traced;
  return {
    ...{ order: orderId, partner: order.partnerId, customer: order.customerId },
    ...{ state: order.state, exception: order.exception, heldBy, since, next, by, otherwise },
    lines,
  };
}

export type Money = (units: bigint, asset: AssetCode) => string;

/** Formats amounts: `10 usdc.matic20`. */
export async function moneyIn(tx: Tx): Promise<Money> {
  const known = await assets(tx);
  return (units, asset) => `${formatUnits(units, known.get(asset)?.decimals ?? 0)} ${asset}`;
}

/** The asset of each amount stored in a step in smallest units. */
const AMOUNTS: Readonly<Record<string, 'depositAsset' | 'payoutAsset' | 'fiatAsset'>> = {
  ...{ units: 'depositAsset', depositUnits: 'depositAsset', payoutUnits: 'payoutAsset', grossUnits: 'fiatAsset' },
  ...{ paidUnits: 'payoutAsset', orderedUnits: 'payoutAsset' },
  ...{ feeOperator: 'fiatAsset', feePartner: 'fiatAsset', feeRail: 'fiatAsset', feeChain: 'fiatAsset' },
  ...{ feeTax: 'fiatAsset' },
};

/** Facts of a step, with amounts as decimals like the rest of the page. */
export const inAmounts = (facts: Record<string, unknown>, order: Order, money: Money): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => {
      const of = AMOUNTS[name.replace(/Before$/, '')];
      const isUnits = of !== undefined && /^[0-9]+$/.test(String(value));
      return [name, isUnits ? money(BigInt(String(value)), order[of]) : value];
    }),
  );

function made(order: Order, money: Money): Line {
  const give = money(order.depositUnits, order.depositAsset);
  const get = money(order.payoutUnits, order.payoutAsset);
  const quote = order.quoteId === null ? '' : `, quote ${order.quoteId}`;
  return {
    at: order.createdAt,
    kind: 'order',
    what: `made (${order.direction}${quote}): ${give} for ${get} at ${formatRate(order.rate)}, to ${order.depositRail}`,
    amount: give,
    reference: order.depositTarget,
  };
}

/**
 * What waits for the kill switches that are set: payouts and refunds that are not submitted, and the orders of a market or partner
 * that go on although it takes no new ones. It reads open payouts and open orders only, through their indexes.
 */
import type { Tx } from '../base/db.ts';
import { isFinal, type OrderState, STATES } from '../orders/index.ts';
import type { KillSwitchKind } from '../partners/index.ts';

export interface SwitchedRow {
  kind: KillSwitchKind;
  subject: string;
  /** Not submitted, by a switch on a rail or on payouts; 0 for the other kinds, for which no payout waits. */
  payouts: number;
  refunds: number;
  /** Number of orders of these. */
  orders: number;
  /** Since when the oldest of these waits. */
  oldestAt: Date | null;
  /** Orders of a market or partner that are not over: they go on. */
  underWay: number;
}

const OPEN = (Object.keys(STATES) as OrderState[]).filter((state) => !isFinal(state));

const WAITING = `select s.kind, s.subject, p.payouts, p.refunds, p.orders, p.oldest_at, o.under_way
  from kill_switches s
  cross join lateral (
    select count(*) filter (where purpose = 'payout')::int as payouts, count(*) filter (where purpose = 'refund')::int as refunds,
           count(distinct order_id)::int as orders, min(created_at) as oldest_at
      from payouts where ended_at is null and state = 'created'
       and (s.kind = 'payouts' or s.kind = 'rail' and rail = s.subject)) p
  cross join lateral (
    select count(*)::int as under_way from orders where state = any($1::text[]) and state not in ('settled', 'expired')
       and (s.kind = 'market' and market_id::text = s.subject or s.kind = 'partner' and partner_id::text = s.subject)) o
 order by s.at, s.kind, s.subject`;

export const waitingForSwitches = (tx: Tx): Promise<SwitchedRow[]> => tx.rows<SwitchedRow>(WAITING, [OPEN]);

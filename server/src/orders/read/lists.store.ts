/**
 * SQL of the operators' lists of orders, deposits and suspense. Each statement walks one index and reports for each row
 * whether the other filters accept it (base/scan.ts). This file chooses the index; test/plans.test.ts measures it.
 */
import type { Tx } from '../../base/db.ts';
import { parameters } from '../../base/scan.ts';
import { type PricedRow, pricedOf } from '../../quotes/index.ts';
import type { DepositRow } from '../deposits/store.ts';
import type { OrderState } from '../machine.ts';
import type { RefundState } from '../refunds/store.ts';
import type { Order } from '../store.ts';

export interface ListFilter {
  partnerId?: bigint | undefined;
  customerId?: string | undefined;
  marketId?: bigint | undefined;
  /** From this time (inclusive) to `until` (exclusive): creation of an order, sighting of a deposit. */
  from?: Date | undefined;
  until?: Date | undefined;
}
export type OrderFilter = ListFilter & { state?: OrderState | undefined; amount?: AmountFilter | undefined };
/** Orders with this asset as deposit or payout. */
export interface AmountFilter {
  asset: string;
  minUnits?: bigint | undefined;
  maxUnits?: bigint | undefined;
}
export type DepositFilter = ListFilter & { state?: DepositRow['state'] | undefined };

/** An order as operators list it, without its destinations. */
export type OrderLine = Pick<
  Order,
  | ('id' | 'partnerId' | 'customerId' | 'marketId' | 'direction' | 'state' | 'exception' | 'failure')
  | ('depositRail' | 'depositAsset' | 'depositUnits' | 'receivedUnits' | 'refundedUnits')
  | ('payoutRail' | 'payoutAsset' | 'payoutUnits' | 'grossUnits' | 'fiatAsset')
  | ('fees' | 'rate' | 'createdAt' | 'updatedAt')
>;

type OrderRow = Omit<OrderLine, 'fees' | 'rate'> & PricedRow & { fits: boolean };

const ORDER = `o.id, o.partner_id, o.customer_id, o.market_id, o.direction, o.state,
  o.exception, o.failure, o.deposit_rail, o.deposit_asset, o.deposit_units,
  o.received_units, o.refunded_units, o.payout_rail,
  o.payout_asset, o.payout_units, o.gross_units, o.fiat_asset,
  o.fee_operator, o.fee_partner, o.fee_rail, o.fee_chain, o.fee_tax, o.rate_num, o.rate_den, o.created_at,
  o.updated_at`;

const toLine = ({ fits, ...row }: OrderRow): { row: OrderLine; fits: boolean } => {
  const { feeOperator, feePartner, feeRail, feeChain, feeTax, rateNum, rateDen, ...rest } = row;
  const priced = { feeOperator, feePartner, feeRail, feeChain, feeTax, rateNum, rateDen };
  return { row: { ...rest, ...pricedOf(priced) }, fits };
};

const all = (conditions: readonly string[]): string => (conditions.length === 0 ? 'true' : conditions.join(' and '));

/** Most orders end in these states, so no index covers them by state. */
const COMMON_STATES: readonly OrderState[] = ['settled', 'expired'];

/** Orders created before the given one, newest first; everything the driving filter accepts, at most `count`. */
export async function ordersBelow(
  tx: Tx,
  input: OrderFilter,
  below: bigint | undefined,
  count: number,
): Promise<{ row: OrderLine; fits: boolean }[]> {
  const { values, put } = parameters();
  const span = [
    ...(input.from === undefined ? [] : [`created_at >= ${put(input.from)}`]),
    ...(input.until === undefined ? [] : [`created_at < ${put(input.until)}`]),
  ];
  if (below !== undefined) {
    const last = put(below);
    span.push(`(created_at, id) < ((select created_at from orders where id = ${last}), ${last}::bigint)`);
  }
  const walk = (...driving: string[]): string =>
    `select * from orders where ${all([...driving, ...span])} order by created_at desc, id desc limit ${count}`;
  const partner = input.partnerId === undefined ? undefined : put(input.partnerId);
  const driver =
    input.customerId !== undefined
      ? walk(`customer_id = ${put(input.customerId)}`)
      : input.state !== undefined && !COMMON_STATES.includes(input.state)
        ? walk(`state = ${put(input.state)}`, `state not in ('settled', 'expired')`)
        : partner !== undefined
          ? walk(`partner_id = ${partner}`)
          : walk('id > 0');
  const fits = [
    ...(partner === undefined ? [] : [`o.partner_id = ${partner}`]),
    ...(input.marketId === undefined ? [] : [`o.market_id = ${put(input.marketId)}`]),
    ...(input.state === undefined ? [] : [`o.state = ${put(input.state)}`]),
    ...(input.amount === undefined ? [] : [isAmount(input.amount, put)]),
  ];
  const rows = await tx.rows<OrderRow>(
    `select ${ORDER}, ${all(fits)} as fits from (${driver}) as o order by o.created_at desc, o.id desc limit ${count}`,
    values,
  );
  return rows.map(toLine);
}

function isAmount({ asset, minUnits, maxUnits }: AmountFilter, put: (value: unknown) => string): string {
  const code = put(asset);
  const least = minUnits === undefined ? undefined : put(minUnits);
  const most = maxUnits === undefined ? undefined : put(maxUnits);
  const side = (name: 'deposit' | 'payout'): string =>
    all([
      `o.${name}_asset = ${code}`,
      ...(least === undefined ? [] : [`o.${name}_units >= ${least}`]),
      ...(most === undefined ? [] : [`o.${name}_units <= ${most}`]),
    ]);
  return `(${side('deposit')} or ${side('payout')})`;
}

/** Ids of a customer's newest orders. */
export const newestOrders = async (tx: Tx, customerId: string, most: number): Promise<bigint[]> =>
  (
    await tx.rows<{ id: bigint }>(
      'select id from orders where customer_id = $1 order by created_at desc, id desc limit $2',
      [customerId, most],
    )
  ).map(({ id }) => id);

/** Partner, customer and market of these orders. */
export const whoseOrders = (tx: Tx, ids: readonly bigint[]) =>
  tx.rows<{ id: bigint; partnerId: bigint; customerId: string; marketId: bigint }>(
    `select id, partner_id, customer_id, market_id from orders
      where id = any($1::bigint[])`,
    [ids],
  );

export const refundIdsOf = async (tx: Tx, orderIds: readonly bigint[]): Promise<bigint[]> =>
  (
    await tx.rows<{ id: bigint }>('select id from refunds where order_id = any($1::bigint[]) order by id', [orderIds])
  ).map(({ id }) => id);

export interface DepositLine {
  id: bigint;
  partnerId: bigint | null;
  customerId: string | null;
  marketId: bigint | null;
  orderId: bigint | null;
  orderState: OrderState | null;
  rail: string;
  asset: string;
  units: bigint;
  takenUnits: bigint;
  refundUnits: bigint;
  state: DepositRow['state'];
  origin: DepositRow['origin'];
  why: string | null;
  late: boolean;
  dust: boolean;
  reference: string;
  seenAt: Date;
  confirmedAt: Date | null;
}

const DEPOSIT = `d.id, d.partner_id, o.customer_id, o.market_id,
  d.order_id, o.state as order_state, d.rail, d.asset, d.units, d.taken_units,
  d.refund_units, d.state, d.origin, d.why, d.late, d.dust, d.reference, d.seen_at,
  d.confirmed_at`;

function depositFits(input: DepositFilter, put: (value: unknown) => string): string {
  return `coalesce(${all([
    ...(input.partnerId === undefined ? [] : [`d.partner_id = ${put(input.partnerId)}`]),
    ...(input.customerId === undefined ? [] : [`o.customer_id = ${put(input.customerId)}`]),
    ...(input.marketId === undefined ? [] : [`o.market_id = ${put(input.marketId)}`]),
    ...(input.state === undefined ? [] : [`d.state = ${put(input.state)}`]),
  ])}, false)`;
}

/**
 * Deposits seen before the given one, newest first.
 *
 * @param orderIds all orders of the customer, if one is given and has few; otherwise the partner's deposits are walked
 */
export async function depositsBelow(
  tx: Tx,
  input: DepositFilter & { orderIds?: readonly bigint[] | undefined },
  below: bigint | undefined,
  count: number,
): Promise<{ row: DepositLine; fits: boolean }[]> {
  const { values, put } = parameters();
  const span = seenWithin(input, put);
  if (below !== undefined) {
    const last = put(below);
    span.push(`(d.seen_at, d.id) < ((select seen_at from deposits where id = ${last}), ${last}::bigint)`);
  }
  const driving =
    input.orderIds !== undefined
      ? [`d.order_id = any(${put(input.orderIds)}::bigint[])`]
      : input.state === 'suspense'
        ? [`d.state = 'suspense'`]
        : input.partnerId !== undefined
          ? [`d.partner_id = ${put(input.partnerId)}`]
          : ['d.id > 0'];
  const fits = depositFits(input, put);
  const rows = await tx.rows<DepositLine & { fits: boolean }>(
    `select ${DEPOSIT}, ${fits} as fits
       from (select d.* from deposits d where ${all([...driving, ...span])} order by d.seen_at desc, d.id desc limit ${count}) as d
       left join orders o on o.id = d.order_id
      order by d.seen_at desc, d.id desc`,
    values,
  );
  return rows.map(({ fits: isIn, ...row }) => ({ row, fits: isIn }));
}

const seenWithin = (input: ListFilter, put: (value: unknown) => string): string[] => [
  ...(input.from === undefined ? [] : [`d.seen_at >= ${put(input.from)}`]),
  ...(input.until === undefined ? [] : [`d.seen_at < ${put(input.until)}`]),
];

export interface SuspenseLine extends DepositLine {
  /** The part that no refund names. */
  freeUnits: bigint;
  /** The part named by refunds that have not settled. */
  underWayUnits: bigint;
  refund: bigint | null;
  refundState: RefundState | null;
  isHeld: boolean;
  /** The customer has confirmed the refund's destination. */
  isConfirmed: boolean;
}

/** The condition of the index, verbatim (migrations/0006_orders.sql). */
const LIES_FREE = `d.state in ('suspense', 'applied', 'refunded', 'confirmed') and d.taken_units + d.refund_units < d.units`;
const OPEN_REFUND = `source = 'suspense' and state not in ('settled', 'cancelled')`;

/** Money in suspense, oldest first: for each deposit the free part, and the part that refunds under way name. */
export async function suspenseAfter(
  tx: Tx,
  input: DepositFilter,
  after: bigint | undefined,
  count: number,
): Promise<{ row: SuspenseLine; fits: boolean }[]> {
  const { values, put } = parameters();
  const span = seenWithin(input, put);
  if (after !== undefined) {
    const last = put(after);
    span.push(`(d.seen_at, d.id) > ((select seen_at from deposits where id = ${last}), ${last}::bigint)`);
  }
  const fits = depositFits(input, put);
  const rows = await tx.rows<SuspenseLine & { fits: boolean }>(
    `with free as (
       select d.* from deposits d where ${all([LIES_FREE, ...span])} order by d.seen_at, d.id limit ${count}),
     under_way as (
       select deposit_id, sum(net_units) as units, max(id) as refund, max(state) as state from refunds
        where ${OPEN_REFUND} group by deposit_id),
     lying as (
       select * from free
       union all
       (select d.* from under_way u join deposits d on d.id = u.deposit_id
         where ${all([`not (${LIES_FREE})`, ...span])}
         order by d.seen_at, d.id limit ${count}))
     select ${DEPOSIT}, ${fits} as fits,
            case when d.state in ('suspense', 'applied', 'refunded', 'confirmed') then d.units - d.taken_units - d.refund_units
                 else 0 end as free_units,
            coalesce(u.units, 0)::numeric(78,0) as under_way_units, u.refund, u.state as refund_state,
            h.deposit_id is not null as is_held, l.id is not null as is_confirmed
       from lying d left join orders o on o.id = d.order_id left join under_way u on u.deposit_id = d.id
       left join held_deposits h on h.deposit_id = d.id
       left join return_links l on l.deposit_id = d.id and l.replaced_at is null and l.confirmed_at is not null
      order by d.seen_at, d.id limit ${count}`,
    values,
  );
  return rows.map(({ fits: isIn, ...row }) => ({ row, fits: isIn }));
}

/** The part of one deposit, or of all deposits of an order, in suspense: free, or named by a refund that has not settled. */
export const suspenseAbout = (tx: Tx, of: { depositId: bigint | undefined; orderId: bigint | null }) =>
  tx.rows<{ id: bigint; asset: string; units: bigint }>(
    `select d.id, d.asset, (l.free + coalesce(u.units, 0))::numeric(78,0) as units
       from deposits d
       cross join lateral (select case when d.state in ('suspense', 'applied', 'refunded')
           then d.units - d.taken_units - d.refund_units else 0 end as free) l
       left join lateral (select sum(r.net_units) as units from refunds r
           where r.deposit_id = d.id and ${OPEN_REFUND}) u on true
      where (d.id = $1 or ($1::bigint is null and d.order_id = $2)) and l.free + coalesce(u.units, 0) > 0
      order by d.id limit 20`,
    [of.depositId ?? null, of.orderId],
  );

/** Orders whose reversed deposits are booked to these accounts, oldest first, and at most `most` for each. */
export async function lostTo(tx: Tx, accounts: readonly string[], most: number): Promise<Map<string, bigint[]>> {
  if (accounts.length === 0) return new Map();
  const rows = await tx.rows<{ account: string; orderId: bigint }>(
    `select a.account, d.order_id from unnest($1::text[]) as a (account)
      cross join lateral (select distinct order_id from deposits
                           where lost_to = a.account and lost_units > 0 and order_id is not null
                           order by order_id limit $2) d`,
    [accounts, most],
  );
  return new Map(
    [...Map.groupBy(rows, ({ account }) => account)].map(([code, of]) => [code, of.map((one) => one.orderId)]),
  );
}

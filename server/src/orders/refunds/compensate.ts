/**
 * Compensation: refunds a customer the excess of a wrong fee on a settled order.
 *
 * The amount moves from the fee account to suspense, as a deposit of the order with an origin of its own, and leaves by a refund
 * of that deposit: it is screened, held for a blocked customer, stopped by kill switches, sent once and queried afterwards, like
 * every other refund. So this file sends nothing itself. The order stays settled.
 *
 * Promises:
 * - never more of a fee than the journal shows as charged to its order and not refunded: computed under the order's lock;
 * - once: the deposit's name contains the order, the fee and the number of the compensation, and names are unique. Two concurrent
 *   calls, a repeated action, and a crash at any point leave one compensation;
 * - not for an order whose deposit its rail reversed: it is refused then, and if the reversal comes later, money that has not
 *   left returns to the fee account (cancelCompensations in rejected.ts);
 * - in the fiat of the fee. A sale is compensated to the account that its payout went to; a purchase to the account that its
 *   customer named for refunds, or else to the one that its deposit came from, if the bank reports it.
 *
 * Not here: how much a fee should have been (otherFee computes it for a schedule; operators decide), tax (it belongs to the
 * authority).
 */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { formatUnits, percentage } from '../../base/money.ts';
import { keepSenderAccount } from '../../customers/index.ts';
import { chargedOf, chart, move, post } from '../../ledger/index.ts';
import { assets } from '../../partners/index.ts';
import { PRICED_FEES, type PricedFee } from '../../quotes/index.ts';
import { payoutsOf } from '../../rails/payouts.ts';
import type { Rail } from '../../rails/rail.ts';
import { type RefundTo } from '../context.ts';
import { senderAccount } from '../deposits/payers.ts';
import { standingLoss } from '../deposits/replace.ts';
import type { DepositRow } from '../deposits/store.ts';
import * as depositStore from '../deposits/store.ts';
import { feeAccount } from '../entries.ts';
import type { Order } from '../store.ts';
import * as store from '../store.ts';
import { requireFits } from './destinations.ts';
import { requestRefund } from './request.ts';
import type { Refund } from './store.ts';

interface Context {
  rails: ReadonlyMap<string, Rail>;
  vault: Vault;
}

/** Reason that the partner is told (reasons.ts); also the kind of the ledger entry. */
export const FEE_COMPENSATED = 'fee_compensated';

export interface Compensation {
  orderId: bigint;
  fee: PricedFee;
  asset: string;
  /** In the fiat's smallest units. */
  units: bigint;
  /** Number of the compensation for this order and fee, from 1. */
  nth: number;
  /** An account of the customer's; default: the known one. */
  fiatAccountId?: bigint | undefined;
}

/** What is known before the approval. */
export interface Compensable {
  order: Order;
  /** The amount of this fee that the order was charged, minus refunds of it. */
  chargedUnits: bigint;
  /** Earlier compensations of this fee, oldest first. */
  before: readonly DepositRow[];
  /** Sum of all compensations of the order, of any fee. */
  compensatedUnits: bigint;
  /** Destination: an account; or the deposit whose sender is paid; undefined if none is known. */
  goesTo: { fiatAccountId: bigint } | { senderOf: bigint } | undefined;
}

const unfit = (why: string) => new Refusal('does_not_fit', { why });
const wrong = (field: string, rule: string) => new Refusal('malformed_field', { fields: { [field]: rule } });

const isSale = ({ payoutAsset, fiatAsset }: Order): boolean => payoutAsset === fiatAsset;
/** The rail of the order's fiat leg. */
const fiatRail = (order: Order): string => (isSale(order) ? order.payoutRail : order.depositRail);

/** Name of the deposit that a compensation is paid from. */
const nameOf = ({ orderId, fee, nth }: Pick<Compensation, 'orderId' | 'fee' | 'nth'>): string =>
  `compensation:${orderId}:${fee}:${nth}`;

/** The compensations among an order's deposits. */
const compensations = (deposits: readonly DepositRow[]): DepositRow[] =>
  deposits.filter(({ origin }) => origin === 'compensation');

/** @throws Refusal 'unknown_order' */
export async function lookCompensation(
  context: Pick<Context, 'rails'>,
  tx: Tx,
  input: Pick<Compensation, 'orderId' | 'fee' | 'fiatAccountId'>,
): Promise<Compensable> {
  const order = await store.lock(tx, input.orderId);
  if (order === undefined) throw new Refusal('unknown_order', {});
  const deposits = await depositStore.depositsOf(tx, order.id);
  return {
    order,
    chargedUnits: await chargedUnits(tx, order, input.fee),
    before: compensations(deposits).filter(({ facts }) => facts.fee === input.fee),
    compensatedUnits: compensations(deposits).reduce((sum, { units }) => sum + units, 0n),
    goesTo: await destinationFor(context, tx, order, { ...input, deposits }),
  };
}

export async function chargedUnits(tx: Tx, { id }: Pick<Order, 'id'>, fee: PricedFee): Promise<bigint> {
  const charged = await chargedOf(tx, [id]);
  return charged.find(({ kind }) => kind === `fee_${fee}`)?.units ?? 0n;
}

async function destinationFor(
  context: Pick<Context, 'rails'>,
  tx: Tx,
  order: Order,
  { fiatAccountId, deposits }: { fiatAccountId?: bigint | undefined; deposits: readonly DepositRow[] },
): Promise<Compensable['goesTo']> {
  if (fiatAccountId !== undefined) return { fiatAccountId };
  if (isSale(order)) {
    // Of several payouts, the one that arrived; the others were rejected or returned.
    const paid = (await payoutsOf(tx, order.id)).findLast(
      ({ purpose, state }) => purpose === 'payout' && state === 'settled',
    );
    return paid?.fiatAccountId == null ? undefined : { fiatAccountId: paid.fiatAccountId };
  }
  if (order.refundAccountId !== null) return { fiatAccountId: order.refundAccountId };
  for (const { id, origin, state } of deposits) {
    if (origin !== 'rail' || state !== 'applied') continue;
    if ((await shownSender(context, tx, id)) !== undefined) return { senderOf: id };
  }
  return undefined;
}

async function shownSender(
  context: Pick<Context, 'rails'>,
  tx: Tx,
  depositId: bigint,
): Promise<Record<string, string> | undefined> {
  try {
    return await senderAccount(context, tx, depositId);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/**
 * Checks a compensation without making it.
 *
 * @throws Refusal 'unknown_order' | 'does_not_fit' | 'malformed_field' | 'missing_fields' | 'unknown_account'
 */
export async function requireCompensable(
  context: Pick<Context, 'rails'>,
  tx: Tx,
  input: Compensation,
): Promise<Compensable & { goesTo: NonNullable<Compensable['goesTo']> }> {
  const found = await lookCompensation(context, tx, input);
  const { order, before, goesTo } = found;
  const { asset, units, nth } = input;
  const { state, fiatAsset } = order;
  if (state !== 'settled')
    throw unfit(
      state === 'created' || state === 'on_hold' || state === 'awaiting_liquidity' || state === 'payout_held'
        ? `the order is ${state} and can still be requoted (order requote)`
        : `the order is ${state}, and only one that has settled is compensated`,
    );
  if (standingLoss(await depositStore.depositsOf(tx, order.id)) !== undefined)
    throw unfit('a deposit of the order was reversed and has not been replaced');
  if (asset !== fiatAsset) throw wrong('asset', `must be ${fiatAsset}, which the order was charged in`);
  const written = async (amount: bigint) =>
    `${formatUnits(amount, (await assets(tx)).get(fiatAsset)?.decimals ?? 0)} ${fiatAsset}`;
  const said = before[nth - 1];
  if (said !== undefined)
    throw unfit(
      `the order was already compensated with ${await written(said.units)} (deposit ${said.id}). To compensate again, send nth`,
    );
  if (nth !== before.length + 1) throw wrong('nth', `must be ${before.length + 1}`);
  if (found.chargedUnits === 0n) {
    const kinds = await chargedKinds(tx, order);
    throw wrong(
      'fee',
      kinds.length === 0 ? 'names a fee that the order was not charged' : `must be ${kinds.join(' or ')}`,
    );
  }
  if (units <= 0n) throw wrong('amount', 'must be above zero');
  if (units > found.chargedUnits)
    throw wrong('amount', `must be at most ${await written(found.chargedUnits)}, which the order was charged`);
  if (goesTo === undefined) throw new Refusal('missing_fields', { names: ['fiatAccountId'] });
  if ('fiatAccountId' in goesTo)
    await requireFits(context, tx, { rail: fiatRail(order), asset, customerId: order.customerId }, goesTo);
  return { ...found, goesTo };
}

async function chargedKinds(tx: Tx, order: Order): Promise<string[]> {
  const charged = await chargedOf(tx, [order.id]);
  return PRICED_FEES.filter((fee) => charged.some(({ kind, units }) => kind === `fee_${fee}` && units > 0n));
}

/**
 * Moves the amount out of the fee account and refunds it.
 *
 * @param input.why as typed by the operator: stored with the entry, never shown outside
 * @throws Refusal as `requireCompensable`; nothing is written then
 */
export async function compensate(
  context: Context,
  tx: Tx,
  input: Compensation & { by: string; why: string; now: Date },
): Promise<Refund> {
  const { fee, asset, units, by, why, now } = input;
  const { order, goesTo } = await requireCompensable(context, tx, input);
  const rail = fiatRail(order);
  const name = nameOf(input);
  const suspense = chart.suspense(rail, asset);
  const row = await depositStore.insertDeposit(tx, {
    ...{ rail, externalId: name, asset, units, target: '', orderId: order.id, partnerId: order.partnerId },
    ...{ state: 'suspense', reference: name, facts: { fee }, seenAt: now, payer: 'unknown', origin: 'compensation' },
  });
  const posted = await post(tx, {
    id: `ord_${name}`,
    kind: FEE_COMPENSATED,
    orderId: order.id,
    at: now,
    facts: { by, why, fee, deposit: String(row.id) },
    lines: move(feeAccount(fee, order), suspense, units),
  });
  assert(posted.outcome === 'posted', `fee ${fee} of order ${order.id} is missing on its account`);
  await depositStore.changeDeposit(tx, row.id, {
    ...{ state: 'suspense', bookedTo: suspense.code, why: FEE_COMPENSATED, confirmedAt: now },
  });
  // An order without an exception is shown as having nothing unusual, without reading its refunds. So the exception is set.
  const noted = order.exception === null ? await store.note(tx, order.id, { exception: FEE_COMPENSATED, now }) : order;
  const to = await accountOf(context, tx, { goesTo, depositId: row.id, asset, now });
  const refund = await requestRefund(context, tx, {
    ...{ depositId: row.id, units, why: FEE_COMPENSATED, by, order: noted, to, now },
  });
  assert(refund !== undefined, `compensation ${name} is not in suspense`);
  return refund;
}

/** A sender's account is stored for the deposit that is returned to it, as for a returned credit. */
async function accountOf(
  context: Context,
  tx: Tx,
  input: { goesTo: NonNullable<Compensable['goesTo']>; depositId: bigint; asset: string; now: Date },
): Promise<RefundTo> {
  const { goesTo, depositId, asset, now } = input;
  if ('fiatAccountId' in goesTo) return goesTo;
  const details = await senderAccount(context, tx, goesTo.senderOf);
  return { fiatAccountId: await keepSenderAccount(tx, context.vault, { depositId, fiat: asset, details, now }) };
}

/** The fee schedule as it should have been. */
export interface FeeSchedule {
  fixedUnits: bigint;
  bps: bigint;
  minimumUnits: bigint;
}

/** The fee by another schedule. Pure. A fee is charged on the fiat: on the proceeds of a sale, on the payment of a purchase. */
export function otherFee(
  order: Pick<Order, 'payoutAsset' | 'fiatAsset' | 'grossUnits' | 'depositUnits'>,
  terms: FeeSchedule,
): bigint {
  const fiatUnits = order.payoutAsset === order.fiatAsset ? order.grossUnits : order.depositUnits;
  const charged = terms.fixedUnits + percentage(fiatUnits, terms.bps, 'up');
  return charged > terms.minimumUnits ? charged : terms.minimumUnits;
}

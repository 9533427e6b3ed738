/**
 * Returns: on a hosted page the customer confirms the address to which coins in suspense are refunded.
 *
 * An operator creates a link for one deposit of a known customer. The customer logs in with a code, types an address, sees it in
 * full and confirms it. The confirmation is stored as evidence: which link, when, with which login. It sends nothing. Two
 * operators return the deposit as usual (`deposit return`), to the confirmed address instead of a signed one, and the gate checks
 * the refund like any other.
 *
 * The page reads whether money waits for an address. It reads no blocks, deny lists, holds or screening results: it accepts every
 * address that its rail can pay, and then shows the same text whatever the findings are. Only operators see findings.
 *
 * Not here: the page (protocols/checkout/return.ts), encrypting the link's token (customers/links.ts), verifying a signed text
 * (payers.ts).
 */
import type { Tx } from '../../base/db.ts';
import { assert, Refusal } from '../../base/errors.ts';
import { randomHex } from '../../base/ids.ts';
import { closeCases, openCase } from '../../compliance/index.ts';
import { findPayout } from '../../rails/payouts.ts';
import type { Rail } from '../../rails/rail.ts';
import { change } from '../advance.ts';
import { NAMEABLE } from '../refunds/actions.ts';
import { type PayoutAddress, readAddressOn } from '../refunds/destinations.ts';
import { inSuspense, isOpen } from '../refunds/request.ts';
import { type Refund, refundsOfDeposit } from '../refunds/store.ts';
import * as store from '../store.ts';
import { wakeDeposit } from './dormant.ts';
import { lockWithOrder } from './held.ts';
import { unfit } from './replace.ts';
import { type ReturnLink, returnLinks } from './returns.store.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

type Rails = { rails: ReadonlyMap<string, Rail> };

/** What the customer's page shows. Amounts in the asset's smallest units. */
export interface ReturnShown {
  orderId: bigint;
  asset: string;
  /** The amount received in total, and the amount refunded. */
  cameUnits: bigint;
  units: bigint;
  cameAt: Date;
  /** Hash of the incoming chain transaction. */
  reference: string;
  /** `waits`: confirmed, and not submitted. `over`: no address is needed any more, and none was confirmed through this link. */
  stage: 'ask' | 'confirm' | 'waits' | 'submitted' | 'settled' | 'over';
  /** The address typed or confirmed; once the refund is submitted, its destination. */
  address: string | null;
  /** Hash of the refund's chain transaction. */
  paidBy: string | null;
}

/** The content of a link's token: which customer and which link. */
export interface LinkAsked {
  id: string;
  customerId: string;
}

/**
 * Creates a link for a deposit. It invalidates an earlier link, and an address that was confirmed through that link.
 *
 * @throws Refusal 'unknown_deposit' | 'does_not_fit' if it came from a bank or no customer is known | 'deposit_unfit' if no part
 *   of it is in suspense | 'refund_under_way'
 */
export async function makeReturnLink(
  context: Rails,
  tx: Tx,
  input: { depositId: bigint; by: string; expiresAt: Date; now: Date },
): Promise<ReturnLink> {
  const { depositId, by, expiresAt, now } = input;
  const deposit = await lockWithOrder(tx, depositId);
  const no = (why: string) => new Refusal('does_not_fit', { why });
  if (context.rails.get(deposit.rail)?.kind !== 'chain')
    throw no(
      'bank money goes back to the account it came from (deposit return), or to another account of its customer',
    );
  const order = deposit.orderId === null ? undefined : await store.get(tx, deposit.orderId);
  if (order === undefined)
    throw no(
      'no customer is known of it: have its sender sign an address (deposit return-text, deposit return), or give it to its order (deposit assign)',
    );
  const open = openRefund(await refundsOfDeposit(tx, depositId));
  if (open !== undefined && !NAMEABLE.includes(open.state))
    throw new Refusal('refund_under_way', { refund: String(open.id), state: open.state });
  if (waitingUnits(deposit, open) <= 0n) throw unfit('none of it is in suspense');
  const link = {
    ...{ id: randomHex(), depositId, partnerId: order.partnerId, customerId: order.customerId },
    ...{ madeBy: by, madeAt: now, expiresAt },
  };
  await returnLinks.replace(tx, depositId, now);
  await returnLinks.insert(tx, link);
  await closeCases(tx, { kind: CASE, subject: `deposit:${depositId}`, outcome: `${by} asks the customer again`, now });
  return {
    ...link,
    replacedAt: null,
    enteredAddress: null,
    confirmedAddress: null,
    confirmedAt: null,
    loggedInAt: null,
  };
}

const CASE = 'return_confirmed';

/** @returns undefined if this customer has no such link, or if a newer one replaced it */
export async function returnShown(tx: Tx, asked: LinkAsked): Promise<ReturnShown | undefined> {
  const link = await returnLinks.find(tx, asked.id);
  return isUsable(link, asked) ? await shownOf(tx, link) : undefined;
}

async function shownOf(tx: Tx, link: ReturnLink): Promise<ReturnShown> {
  const deposit = await depositStore.depositById(tx, link.depositId);
  assert(deposit !== undefined && deposit.orderId !== null, `deposit ${link.depositId} has lost its order`);
  const refunds = (await refundsOfDeposit(tx, deposit.id)).filter(({ source }) => source === 'suspense');
  const open = openRefund(refunds);
  const last = open ?? refunds.findLast(({ state }) => state === 'settled');
  const waiting = waitingUnits(deposit, open);
  const gone = goneBy(last, link);
  const about = {
    ...{ orderId: deposit.orderId, asset: deposit.asset, cameUnits: deposit.units },
    ...{ cameAt: deposit.seenAt, reference: deposit.reference },
  };
  if (link.confirmedAddress === null) {
    const stage = waiting <= 0n ? 'over' : link.enteredAddress === null ? 'ask' : 'confirm';
    return { ...about, stage, units: waiting, address: link.enteredAddress, paidBy: null };
  }
  if (gone === undefined) {
    // The deposit was assigned to an order or written off: the confirmation no longer matters.
    const stage = open === undefined && waiting <= 0n ? 'over' : 'waits';
    return { ...about, stage, units: open?.netUnits ?? waiting, address: link.confirmedAddress, paidBy: null };
  }
  const payout = gone.key === null ? undefined : await findPayout(tx, gone.key);
  const stage = gone.state === 'settled' ? 'settled' : 'submitted';
  return { ...about, stage, units: gone.netUnits, address: gone.address, paidBy: payout?.reference ?? null };
}

/** The refund that was submitted after the link's customer confirmed. */
const goneBy = (refund: Refund | undefined, { confirmedAt }: ReturnLink): Refund | undefined =>
  confirmedAt !== null && refund !== undefined && (refund.state === 'submitted' || refund.state === 'settled')
    ? refund
    : undefined;

/**
 * Stores an address that the customer typed, to show it for confirmation. No effect if no address is needed any more.
 *
 * @returns why the address is not accepted; undefined if it is
 */
export async function enterReturnAddress(
  context: Rails,
  tx: Tx,
  asked: LinkAsked & { text: string },
): Promise<Extract<PayoutAddress, { why: string }>['why'] | undefined> {
  const link = await returnLinks.lock(tx, asked.id);
  if (!isUsable(link, asked) || link.confirmedAt !== null) return undefined;
  const deposit = await depositStore.depositById(tx, link.depositId);
  assert(deposit !== undefined, `deposit ${link.depositId} is gone`);
  const read = await readAddressOn(context, tx, deposit.rail, asked.text);
  if ('why' in read) return read.why;
  await returnLinks.enter(tx, link.id, read.address);
  return undefined;
}

/** Discards the typed address, so that the customer can type again. */
export async function forgetReturnAddress(tx: Tx, asked: LinkAsked): Promise<void> {
  const link = await returnLinks.lock(tx, asked.id);
  if (isUsable(link, asked) && link.confirmedAt === null) await returnLinks.enter(tx, link.id, null);
}

/**
 * The customer confirms the address shown. Idempotent; no effect if another address was typed meanwhile, or if none is needed any
 * more.
 */
export async function confirmReturnAddress(
  context: Rails,
  tx: Tx,
  asked: LinkAsked & { address: string; loggedInAt: Date; now: Date },
): Promise<void> {
  const { address, loggedInAt, now } = asked;
  const known = await returnLinks.find(tx, asked.id);
  if (!isUsable(known, asked) || known.confirmedAt !== null) return;
  // Lock order: order, deposit, link.
  const deposit = await lockWithOrder(tx, known.depositId);
  const link = await returnLinks.lock(tx, asked.id);
  if (!isUsable(link, asked) || link.confirmedAt !== null || link.enteredAddress !== address) return;
  if (waitingUnits(deposit, openRefund(await refundsOfDeposit(tx, deposit.id))) <= 0n) return;
  // The address may have become one of ours since it was typed.
  if ('why' in (await readAddressOn(context, tx, deposit.rail, address)))
    return void (await returnLinks.enter(tx, link.id, null));
  await wakeDeposit(tx, deposit, { by: 'its customer', why: 'an address was confirmed', now });
  await returnLinks.confirm(tx, link.id, { address, loggedInAt, now });
  const outcome = 'the customer has confirmed an address';
  for (const refund of await refundsOfDeposit(tx, deposit.id))
    await closeCases(tx, { kind: 'refund_destination', subject: `refund:${refund.id}`, outcome, now });
  await openCase(tx, {
    kind: CASE,
    subject: `deposit:${deposit.id}`,
    orderId: deposit.orderId ?? undefined,
    partnerId: deposit.partnerId ?? undefined,
    reason: 'the customer has confirmed the address for its return',
    facts: { address, link: link.id, loggedInAt: loggedInAt.toISOString() },
    now,
  });
  const order = deposit.orderId === null ? undefined : await store.lock(tx, deposit.orderId);
  assert(order !== undefined, `deposit ${deposit.id} has lost its order`);
  await change(tx, order, { now });
}

/** The address that this deposit's customer has confirmed, with its evidence: the basis of the two operators' decision. */
export const confirmedReturn = (tx: Tx, depositId: bigint): Promise<ReturnLink | undefined> =>
  returnLinks.confirmedFor(tx, depositId);

export const returnLinksOf = (tx: Tx, depositId: bigint): Promise<ReturnLink[]> => returnLinks.ofDeposit(tx, depositId);

/** Closes the deposit's case, because operators have acted on it. */
export const closeConfirmed = (tx: Tx, depositId: bigint, { by, now }: { by: string; now: Date }): Promise<void> =>
  closeCases(tx, { kind: CASE, subject: `deposit:${depositId}`, outcome: `returned by ${by}`, now });

/**
 * @throws Refusal 'unknown_deposit' | 'deposit_unfit' if no part of it can be returned: an order has accepted it, or it has left
 */
export async function requireInSuspense(tx: Tx, depositId: bigint): Promise<void> {
  const deposit = await lockWithOrder(tx, depositId);
  const open = openRefund(await refundsOfDeposit(tx, depositId));
  if (open === undefined && inSuspense(deposit) <= 0n)
    throw unfit(
      'none of it is in suspense; refund the order instead (order refund; with toSender, to the account that paid)',
    );
}

const isUsable = (link: ReturnLink | undefined, { customerId }: LinkAsked): link is ReturnLink =>
  link !== undefined && link.customerId === customerId && link.replacedAt === null;

const openRefund = (refunds: readonly Refund[]): Refund | undefined =>
  refunds.find((one) => one.source === 'suspense' && isOpen(one));

/**
 * The amount that waits for an address: of a refund without one, or whose address may still change; or the amount that no refund
 * names.
 */
function waitingUnits(deposit: DepositRow, open: Refund | undefined): bigint {
  if (open === undefined) return inSuspense(deposit);
  return NAMEABLE.includes(open.state) ? open.netUnits : 0n;
}

/**
 * Returns: the customer confirms, on a page of ours, the address that coins in suspense go back to.
 *
 * An operator makes a link for one deposit of a known customer. Its customer logs in by code, types an address, sees it whole
 * and confirms it. That is kept as evidence: which link, when, by which login. Nothing leaves by it: two operators return the
 * deposit as ever (`deposit return`), to the confirmed address in place of a signed one, and the gate looks at it as at every other.
 *
 * The page knows whether money waits for an address, and nothing of blocks, deny lists, holds or screening: it takes any address
 * that its rail can pay, and says the same afterwards, whatever stands against it. What stands against it is shown to the operators.
 *
 * Not here: the page (protocols/checkout/return.ts), sealing the link's token (customers/links.ts), what a signature proves (payers.ts).
 */
import type { Tx } from '../base/db.ts';
import { assert, Refusal } from '../base/errors.ts';
import { randomHex } from '../base/ids.ts';
import { closeCases, openCase } from '../compliance/index.ts';
import { findPayout } from '../rails/payouts.ts';
import type { Rail } from '../rails/rail.ts';
import { NAMEABLE } from './actions.ts';
import { change } from './advance.ts';
import { type PayoutAddress, readAddressOn } from './destinations.ts';
import { wakeDeposit } from './dormant.ts';
import { lockWithOrder } from './held.ts';
import { type Refund, refundsOfDeposit } from './refunds.store.ts';
import { inSuspense, isOpen } from './refunds.ts';
import { unfit } from './replace.ts';
import { type ReturnLink, returnLinks } from './returns.store.ts';
import { type DepositRow, store } from './store.ts';

type Rails = { rails: ReadonlyMap<string, Rail> };

/** What the customer's page shows. Amounts in the asset's smallest units. */
export interface ReturnShown {
  orderId: bigint;
  asset: string;
  /** What came in all, and what of it goes back. */
  cameUnits: bigint;
  units: bigint;
  cameAt: Date;
  /** The chain's hash of what came. */
  reference: string;
  /** `waits`: confirmed, and not submitted. `over`: no address is asked for any more, and none was confirmed by this link. */
  stage: 'ask' | 'confirm' | 'waits' | 'submitted' | 'settled' | 'over';
  /** Typed in or confirmed; once it was submitted, where it went. */
  address: string | null;
  /** The chain's hash of what went back. */
  paidBy: string | null;
}

/** A link as its token says: whose, and which. */
export interface LinkAsked {
  id: string;
  customerId: string;
}

/**
 * Makes a link for a deposit. One that was made before is over, and so is what was confirmed by it.
 *
 * @throws Refusal 'unknown_deposit' | 'does_not_fit' where a bank brought it or no customer is known | 'deposit_unfit' where nothing
 *         of it lies in suspense | 'refund_under_way'
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
  const order = deposit.order_id === null ? undefined : await store.get(tx, deposit.order_id);
  if (order === undefined)
    throw no(
      'no customer is known of it: have its sender sign an address (deposit return-text, deposit return), or give it to its order (deposit assign)',
    );
  const open = openRefund(await refundsOfDeposit(tx, depositId));
  if (open !== undefined && !NAMEABLE.includes(open.state))
    throw new Refusal('refund_under_way', { refund: String(open.id), state: open.state });
  if (waitingUnits(deposit, open) <= 0n) throw unfit('nothing of it lies in suspense');
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

/** @returns undefined where there is no such link of this customer, or a newer one took its place */
export async function returnShown(tx: Tx, asked: LinkAsked): Promise<ReturnShown | undefined> {
  const link = await returnLinks.find(tx, asked.id);
  return isUsable(link, asked) ? await shownOf(tx, link) : undefined;
}

async function shownOf(tx: Tx, link: ReturnLink): Promise<ReturnShown> {
  const deposit = await store.depositById(tx, link.depositId);
  assert(deposit !== undefined && deposit.order_id !== null, `deposit ${link.depositId} has lost its order`);
  const refunds = (await refundsOfDeposit(tx, deposit.id)).filter(({ source }) => source === 'suspense');
  const open = openRefund(refunds);
  const last = open ?? refunds.findLast(({ state }) => state === 'settled');
  const waiting = waitingUnits(deposit, open);
  const gone = goneBy(last, link);
  const about = {
    ...{ orderId: deposit.order_id, asset: deposit.asset, cameUnits: deposit.units },
    ...{ cameAt: deposit.seen_at, reference: deposit.reference },
  };
  if (link.confirmedAddress === null) {
    const stage = waiting <= 0n ? 'over' : link.enteredAddress === null ? 'ask' : 'confirm';
    return { ...about, stage, units: waiting, address: link.enteredAddress, paidBy: null };
  }
  if (gone === undefined) {
    // Assigned to an order, or written off: what was confirmed is of no use any more.
    const stage = open === undefined && waiting <= 0n ? 'over' : 'waits';
    return { ...about, stage, units: open?.netUnits ?? waiting, address: link.confirmedAddress, paidBy: null };
  }
  const payout = gone.key === null ? undefined : await findPayout(tx, gone.key);
  const stage = gone.state === 'settled' ? 'settled' : 'submitted';
  return { ...about, stage, units: gone.netUnits, address: gone.address, paidBy: payout?.reference ?? null };
}

/** A refund that was submitted since the link's customer confirmed. */
const goneBy = (refund: Refund | undefined, { confirmedAt }: ReturnLink): Refund | undefined =>
  confirmedAt !== null && refund !== undefined && (refund.state === 'submitted' || refund.state === 'settled')
    ? refund
    : undefined;

/**
 * Keeps an address that the customer typed, to be shown back. Nothing changes where none is asked for any more.
 *
 * @returns why it is none
 */
export async function enterReturnAddress(
  context: Rails,
  tx: Tx,
  asked: LinkAsked & { text: string },
): Promise<Extract<PayoutAddress, { why: string }>['why'] | undefined> {
  const link = await returnLinks.lock(tx, asked.id);
  if (!isUsable(link, asked) || link.confirmedAt !== null) return undefined;
  const deposit = await store.depositById(tx, link.depositId);
  assert(deposit !== undefined, `deposit ${link.depositId} is gone`);
  const read = await readAddressOn(context, tx, deposit.rail, asked.text);
  if ('why' in read) return read.why;
  await returnLinks.enter(tx, link.id, read.address);
  return undefined;
}

/** What was typed is to be typed again. */
export async function forgetReturnAddress(tx: Tx, asked: LinkAsked): Promise<void> {
  const link = await returnLinks.lock(tx, asked.id);
  if (isUsable(link, asked) && link.confirmedAt === null) await returnLinks.enter(tx, link.id, null);
}

/**
 * The customer confirms the address that was shown. Said twice it is said once; nothing changes where another address was typed
 * meanwhile, or where none is asked for any more.
 */
export async function confirmReturnAddress(
  context: Rails,
  tx: Tx,
  asked: LinkAsked & { address: string; loggedInAt: Date; now: Date },
): Promise<void> {
  const { address, loggedInAt, now } = asked;
  const known = await returnLinks.find(tx, asked.id);
  if (!isUsable(known, asked) || known.confirmedAt !== null) return;
  // The order is locked before its deposit, and the link after both.
  const deposit = await lockWithOrder(tx, known.depositId);
  const link = await returnLinks.lock(tx, asked.id);
  if (!isUsable(link, asked) || link.confirmedAt !== null || link.enteredAddress !== address) return;
  if (waitingUnits(deposit, openRefund(await refundsOfDeposit(tx, deposit.id))) <= 0n) return;
  // It may have become one of ours since it was typed.
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
    orderId: deposit.order_id ?? undefined,
    partnerId: deposit.partner_id ?? undefined,
    reason: 'the customer has confirmed where it goes back to',
    facts: { address, link: link.id, loggedInAt: loggedInAt.toISOString() },
    now,
  });
  const order = deposit.order_id === null ? undefined : await store.lock(tx, deposit.order_id);
  assert(order !== undefined, `deposit ${deposit.id} has lost its order`);
  await change(tx, order, { now });
}

/** What two operators act on: the address that this deposit's customer has confirmed, with its evidence. */
export const confirmedReturn = (tx: Tx, depositId: bigint): Promise<ReturnLink | undefined> =>
  returnLinks.confirmedFor(tx, depositId);

export const returnLinksOf = (tx: Tx, depositId: bigint): Promise<ReturnLink[]> => returnLinks.ofDeposit(tx, depositId);

/** The operators have acted on it. */
export const closeConfirmed = (tx: Tx, depositId: bigint, { by, now }: { by: string; now: Date }): Promise<void> =>
  closeCases(tx, { kind: CASE, subject: `deposit:${depositId}`, outcome: `returned by ${by}`, now });

const isUsable = (link: ReturnLink | undefined, { customerId }: LinkAsked): link is ReturnLink =>
  link !== undefined && link.customerId === customerId && link.replacedAt === null;

const openRefund = (refunds: readonly Refund[]): Refund | undefined =>
  refunds.find((one) => one.source === 'suspense' && isOpen(one));

/** What waits for an address: a refund that has none or may have another, or what no refund names. */
function waitingUnits(deposit: DepositRow, open: Refund | undefined): bigint {
  if (open === undefined) return inSuspense(deposit);
  return NAMEABLE.includes(open.state) ? open.netUnits : 0n;
}

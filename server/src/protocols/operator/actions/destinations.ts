/**
 * Destinations that an operator names: their required form and owner. A refund goes to an address on the deposit's rail or to an
 * account of the order's customer.
 */

import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { parseUnits } from '../../../base/money.ts';
import { fiatAccounts, fiatOfAccount } from '../../../customers/index.ts';
import { lockOrder, type RefundTo, refundAddressOn } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import type { OperatorDeps } from '../deps.ts';

/** The operator's destination: an address, an account, or neither. */
export interface To {
  address: string | undefined;
  fiatAccountId: bigint | undefined;
}

export const isNamed = ({ address: to, fiatAccountId }: Partial<To>): boolean =>
  to !== undefined || fiatAccountId !== undefined;
export const toOf = ({ address: to, fiatAccountId }: Partial<To>): RefundTo =>
  to === undefined ? { fiatAccountId } : { address: to };

/** Money to be refunded: rail, asset and order. */
export interface Back {
  rail: string;
  asset: string;
  orderId: bigint | null;
}

/**
 * Exactly one destination, of the rail's kind, in the deposit's own fiat. @throws Refusal 'malformed_field' |
 * 'unknown_account'
 */
export async function requireFit({ orders }: OperatorDeps, tx: Tx, back: Back, input: To): Promise<void> {
  requireOne(input);
  const { fiatAccountId } = input;
  if (fiatAccountId === undefined) return;
  if (back.orderId !== null) await requireOwnAccount(tx, { order: back.orderId, fiatAccountId });
  const wrong = (rule: string) => new Refusal('malformed_field', { fields: { fiatAccountId: rule } });
  if (orders.rails.get(back.rail)?.kind === 'chain') throw wrong(`must be left out: ${back.rail} pays to addresses`);
  if ((await fiatOfAccount(tx, fiatAccountId)) !== back.asset) throw wrong(`must be an account in ${back.asset}`);
}

/** Money of an order that waits for a destination. */
type Waiting = Pick<Back, 'rail' | 'asset'>;

/**
 * Checks that some of the order's money can be paid to a destination: coins to an address on their chain, a currency to an
 * account in it.
 *
 * @throws Refusal 'malformed_field'
 */
export async function requireFitsSome(
  { orders }: OperatorDeps,
  tx: Tx,
  waiting: readonly Waiting[],
  { address, fiatAccountId }: To,
): Promise<void> {
  const [first] = waiting;
  if (first === undefined) return;
  const wrong = (field: keyof To, rule: string) => new Refusal('malformed_field', { fields: { [field]: rule } });
  const [onChains, atBanks] = [true, false].map((isChain) =>
    waiting.filter(({ rail }) => (orders.rails.get(rail)?.kind === 'chain') === isChain),
  ) as [Waiting[], Waiting[]];
  if (address !== undefined) {
    if (onChains.length === 0) throw wrong('address', `must be left out: ${first.asset} is paid to an account`);
    const read = await Promise.allSettled(onChains.map(({ rail }) => refundAddressOn(orders, tx, rail, address)));
    if (read[0]?.status === 'rejected' && read.every(({ status }) => status === 'rejected')) throw read[0].reason;
  }
  if (fiatAccountId !== undefined) {
    const chain = orders.rails.get(first.rail)?.chain ?? first.rail;
    if (atBanks.length === 0)
      throw wrong('fiatAccountId', `must be left out: ${first.asset} is paid to an address on ${chain}`);
    const fiats = [...new Set(atBanks.map(({ asset }) => asset))];
    if (!fiats.includes(await fiatOfAccount(tx, fiatAccountId)))
      throw wrong('fiatAccountId', `must be an account in ${fiats.join(' or ')}`);
  }
}

/** Hits may be passed only for a destination that the action names. */
export function requireNamed({ pastHits, ...to }: To & { pastHits: boolean | undefined }): void {
  if (pastHits === true) requireDestination(to);
}

export function requireOne({ address: to, fiatAccountId }: To): void {
  if (to !== undefined && fiatAccountId !== undefined)
    throw new Refusal('malformed_field', { fields: { fiatAccountId: 'must not be given with address' } });
}

/** A deposit is refunded only to an account of its own customer. */
export async function requireOwnAccount(
  tx: Tx,
  input: { order: bigint; fiatAccountId: bigint | undefined },
): Promise<void> {
  if (input.fiatAccountId === undefined) return;
  const { customerId } = await lockOrder(tx, input.order);
  const own = (await fiatAccounts(tx, customerId)).some((account) => account.id === input.fiatAccountId);
  if (!own) throw new Refusal('unknown_account');
}

/** The destination that the operator names, or else the one that the customer or partner has named. */
export async function refusedTo(tx: Tx, input: To & { order: bigint }): Promise<To> {
  const { address: to, fiatAccountId } = input;
  if (to !== undefined || fiatAccountId !== undefined) return { address: to, fiatAccountId };
  const { refundAddress, refundAccountId } = await lockOrder(tx, input.order);
  return { address: refundAddress ?? undefined, fiatAccountId: refundAccountId ?? undefined };
}

export function requireDestination(to: To): void {
  if (!isNamed(to)) throw new Refusal('missing_fields', { names: ['address or fiatAccountId'] });
}

/**
 * The destination's address in our spelling, on the refund's rail; undefined when none is named. @throws Refusal
 * 'malformed_field'
 */
export async function destinationOf(
  orders: OperatorDeps['orders'],
  tx: Tx,
  railCode: string,
  input: To,
): Promise<RefundTo | undefined> {
  if (input.fiatAccountId !== undefined) return { fiatAccountId: input.fiatAccountId };
  if (input.address === undefined) return undefined;
  return { address: await refundAddressOn(orders, tx, railCode, input.address) };
}

export async function unitsOf(tx: Tx, asset: string, given: string | undefined): Promise<bigint | undefined> {
  return given === undefined ? undefined : parseUnits(given, (await assets(tx)).get(asset)?.decimals ?? 0);
}

/**
 * Destinations: whether money that goes back can arrive where somebody says.
 *
 * One rule for every way a destination is found: the order's own, the partner's word, an operator's. A chain pays to an
 * address in the spelling that it keeps; a bank to an account in the money's own currency, and of the order's customer where
 * there is an order; money in suspense also to the account that it came from. What does not fit is refused where somebody names it, and left open with a case where a policy would have
 * sent it there.
 *
 * Not here: whether money may go there (compliance/screening.ts).
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { findFiatAccount } from '../customers/index.ts';
import { assets } from '../partners/index.ts';
import type { Rail } from '../rails/rail.ts';
import type { RefundTo } from './refunds.ts';

type Rails = { rails: ReadonlyMap<string, Rail> };

export type PayoutAddress = { address: string } | { why: 'no_address' | 'token_contract' | 'ours' };

/** An address of a rail that money may be sent to, in the spelling that is kept, or why it may not. `tx` has to see all of ours. */
export async function readAddressOn({ rails }: Rails, tx: Tx, code: string, text: string): Promise<PayoutAddress> {
  const rail = rails.get(code);
  const address = rail?.readAddress?.(text);
  if (address === undefined) return { why: 'no_address' };
  // What a token's own contract is sent, nobody gets out again.
  const known = [...(await assets(tx)).values()];
  if (known.some(({ chain, contract }) => chain === rail?.chain && contract === address))
    return { why: 'token_contract' };
  // Coins would come back to us as somebody's whom a person has to look for, or pay for another order.
  return (await rail?.isOwnAddress?.(tx, address)) === true ? { why: 'ours' } : { address };
}

/** Money that is to go somewhere: what it is, by which rail it goes, and whose it is where an order says so. */
export interface Outgoing {
  rail: string;
  asset: string;
  customerId: string | undefined;
  /** The deposit that it lies in suspense of: that one may go back to the account that it came from. */
  depositId?: bigint | undefined;
}

/** @throws Refusal 'unknown_account' | 'malformed_field' where money of this rail and asset cannot arrive there */
export async function requireFits({ rails }: Rails, tx: Tx, money: Outgoing, to: RefundTo): Promise<void> {
  const { address, fiatAccountId } = to;
  const wrong = (field: string, rule: string) => new Refusal('malformed_field', { fields: { [field]: rule } });
  const rail = rails.get(money.rail);
  if (rail?.kind === 'chain') {
    if (fiatAccountId !== undefined)
      throw wrong('fiatAccountId', `must be left out: on ${money.rail} there are addresses`);
    if (address === undefined || rail.readAddress?.(address) !== address)
      throw wrong('address', `must be an address on ${rail.chain ?? money.rail}`);
    return;
  }
  if (address !== undefined) throw wrong('address', `must be left out: ${money.rail} pays to accounts`);
  if (fiatAccountId === undefined) throw wrong('fiatAccountId', 'is missing');
  const account = await findFiatAccount(tx, fiatAccountId);
  const isTheirs =
    account.senderOf === null
      ? money.customerId === undefined || account.customerId === money.customerId
      : account.senderOf === money.depositId;
  if (account.fiat !== money.asset || !isTheirs) throw new Refusal('unknown_account', {});
}

/** The same as an answer. Asked again where something is sent there: what is stored may be older than this rule. */
export async function fitsRefund(context: Rails, tx: Tx, money: Outgoing, to: RefundTo): Promise<boolean> {
  try {
    await requireFits(context, tx, money, to);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/**
 * Destinations: whether a refund can arrive at the named destination.
 *
 * One rule for every source of a destination: the order's own, the partner's, an operator's. A chain pays to an address in the
 * spelling that we store. A bank pays to an account in the money's own currency, which must belong to the order's customer if
 * there is an order. Money in suspense may also go to the account that it came from. If an operator or partner names an
 * unsuitable destination, it is refused; if a policy would have sent money there, the destination stays open and a case opens.
 *
 * Not here: whether money may go there (compliance/screening.ts).
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { findFiatAccount } from '../../customers/index.ts';
import { assets } from '../../partners/index.ts';
import type { Rail } from '../../rails/rail.ts';
import type { RefundTo } from '../context.ts';

type Rails = { rails: ReadonlyMap<string, Rail> };

export type PayoutAddress = { address: string } | { why: 'no_address' | 'token_contract' | 'ours' };

/** Parses an address of a rail, or says why money cannot be sent there. `tx` must see all of our addresses. */
export async function readAddressOn({ rails }: Rails, tx: Tx, code: string, text: string): Promise<PayoutAddress> {
  const rail = rails.get(code);
  const address = rail?.readAddress?.(text);
  if (address === undefined) return { why: 'no_address' };
  // Money sent to a token's own contract cannot be recovered.
  const known = [...(await assets(tx)).values()];
  if (known.some(({ chain, contract }) => chain === rail?.chain && contract === address))
    return { why: 'token_contract' };
  // The coins would return to us as unidentified money, or pay for another order.
  return (await rail?.isOwnAddress?.(tx, address)) === true ? { why: 'ours' } : { address };
}

/** Money to be sent: its asset and rail, and its owner if it has an order. */
export interface Outgoing {
  rail: string;
  asset: string;
  customerId: string | undefined;
  /** The deposit in suspense that is sent: it may go back to the account that it came from. */
  depositId?: bigint | undefined;
}

/** @throws Refusal 'unknown_account' | 'malformed_field' if money of this rail and asset cannot arrive there */
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

/** As `requireFits`, as a boolean. Repeated before sending, because a stored destination may be older than this rule. */
export async function fitsRefund(context: Rails, tx: Tx, money: Outgoing, to: RefundTo): Promise<boolean> {
  try {
    await requireFits(context, tx, money, to);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

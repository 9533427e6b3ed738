/**
 * Names: which outside movement a journal line refers to. Pure.
 *
 * Every entry that touches a wallet identifies its movement in its id, its facts, or the hold that it ends; this is the complete
 * list of rules. A new kind of entry that touches a wallet needs a line here, or reconciliation reports it as missing outside.
 */
import type { CustodyLine } from '../ledger/index.ts';

export interface Named {
  /** The name of the outside movement, or the payout's id. */
  name: string;
  /** A deposit's id: its name on the rail has to be looked up. */
  deposit?: bigint;
}

const isOwnWallet = (wallet: string): boolean => wallet.startsWith('own.');

/** @param line a journal line with its kind and facts; its `asset` and the wallet name lines that no rule covers */
export function nameOf(
  rail: string,
  line: Pick<CustodyLine, 'entry' | 'kind' | 'facts' | 'hold' | 'asset'>,
  wallet: string,
): Named {
  const { entry, facts, hold } = line;
  // A settled payout, refund or transfer to an own address: the hold's id is its name.
  if (hold !== null) return { name: hold };
  // At an own address the outside shows only what our wallets sent there, and the balance beyond that.
  if (isOwnWallet(wallet) && facts.movement === undefined) return { name: `other:${wallet}:${line.asset}` };
  if (typeof facts.deposit === 'string' && /^[0-9]+$/.test(facts.deposit))
    return { name: '', deposit: BigInt(facts.deposit) };
  // An operator's entry about a movement that is known by name.
  if (typeof facts.movement === 'string') return { name: facts.movement };
  // The cost of a payout, refund, sweep or gas transfer, and its corrections.
  if (line.kind === 'rail_cost' && typeof facts.key === 'string') return { name: facts.key };
  // Transfers between our own wallets have the send's key as their id.
  if (entry.startsWith('sweep:') || entry.startsWith('gas:')) return { name: entry };
  for (const prefix of ['fund', 'back', 'credit', 'ret', 'out']) {
    const begin = `${prefix}_${rail}_`;
    if (!entry.startsWith(begin)) continue;
    const name = entry.slice(begin.length);
    // The native asset at the paying wallet: the outside shows no movement, only the balance beyond all others.
    return { name: /^(0x[0-9a-f]{64}:coin|coin:[0-9]+)$/.test(name) ? `other:${wallet}:${line.asset}` : name };
  }
  // Opening balances, and operators' entries that name no movement: part of the outside balance beyond its movements.
  return { name: `other:${wallet}:${line.asset}` };
}

/**
 * The outside's name of a movement, without our additions: a deposit that a chain reversed and included again has a number
 * appended, a charge that is booked separately has the name of its statement line, and all native deposits at an address have one
 * name.
 */
export function bareName(name: string): string {
  return (
    /^(native:[^:]+):[0-9]+$/.exec(name)?.[1] ??
    /^(0x[0-9a-f]{64}:[0-9]+):[0-9]+$/.exec(name)?.[1] ??
    /^(.+):charge$/.exec(name)?.[1] ??
    name
  );
}

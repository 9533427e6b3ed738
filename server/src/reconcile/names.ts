/**
 * Names: what on the outside a line of the journal speaks of. Pure.
 *
 * Every entry that touches a wallet says it in its id, its facts, or the hold that it ends; this is the one list of how. A
 * new kind of entry that touches a wallet needs a line here, or reconciliation reports it as missing outside.
 */
import type { CustodyLine } from '../ledger/index.ts';

export interface Named {
  /** What the outside or a payout is called. */
  name: string;
  /** A deposit, by its number: the rail's name for it has to be looked up. */
  deposit?: bigint;
}

/** @param entry a line, its kind and facts; `asset` and `wallet` name what no rule speaks of */
export function nameOf(
  rail: string,
  line: Pick<CustodyLine, 'entry' | 'kind' | 'facts' | 'hold' | 'asset'>,
  wallet: string,
): Named {
  const { entry, facts, hold } = line;
  // A payout or refund that was settled: the hold has its id.
  if (hold !== null) return { name: hold };
  if (typeof facts.deposit === 'string' && /^[0-9]+$/.test(facts.deposit))
    return { name: '', deposit: BigInt(facts.deposit) };
  // What a person books, of a movement that is known by name.
  if (typeof facts.movement === 'string') return { name: facts.movement };
  // What a payout, refund, sweep or its gas cost, and what that was corrected by.
  if (line.kind === 'rail_cost' && typeof facts.key === 'string') return { name: facts.key };
  // Transfers between our own wallets have the send's key as their id.
  if (entry.startsWith('sweep:') || entry.startsWith('gas:')) return { name: entry };
  for (const prefix of ['fund', 'credit', 'ret', 'out']) {
    const begin = `${prefix}_${rail}_`;
    if (!entry.startsWith(begin)) continue;
    const name = entry.slice(begin.length);
    // Coin that came to the wallet that pays: no movement is shown of it, only what the balance has beyond all others.
    return { name: /^(0x[0-9a-f]{64}:coin|coin:[0-9]+)$/.test(name) ? `other:${wallet}:${line.asset}` : name };
  }
  // Opening balances, and what a person books without saying of what: what the outside has beyond its movements.
  return { name: `other:${wallet}:${line.asset}` };
}

/**
 * The outside's own name under a name of ours: a deposit that a chain took back and brought again has a number behind it, a
 * charge booked by itself is part of its line, and native coin found at an address counts as one.
 */
export function bareName(name: string): string {
  return (
    /^(native:[^:]+):[0-9]+$/.exec(name)?.[1] ??
    /^(0x[0-9a-f]{64}:[0-9]+):[0-9]+$/.exec(name)?.[1] ??
    /^(.+):charge$/.exec(name)?.[1] ??
    name
  );
}

/**
 * The signer without its socket: keys, limits and journal put together. It knows no database and no server.
 *
 * Deciding and recording happen without an await in between, so two requests never share the rest of a limit.
 */
import { HDKey } from '@scure/bip32';
import { assert } from '../base/errors.ts';
import {
  addressesOf,
  depositKey,
  type SignedTransfer,
  signingWith,
  type Unsigned,
  type Wanted,
} from '../rails/evm/index.ts';
import type { Journal } from './journal.ts';
import { type Keys, publicOf } from './keys.ts';
import { type Asked, type ChainLimits, type Content, decide, type From } from './policy.ts';

/** An answer is one line of the protocol. */
export const SIGNED_AT_ONCE = 40;

export interface SignerCore {
  describe(): { wallets: Record<string, string>; xpub: string; chainIds: string[] };
  /** Why this would not be signed, or undefined. */
  check(chainId: bigint, from: From, wanted: Wanted): string | undefined;
  sign(from: From, unsigned: Unsigned): Promise<SignedTransfer | { refused: string }>;
  /** What it has signed out of a named wallet, from a nonce on: the first `SIGNED_AT_ONCE`. Of a deposit address under that nonce alone. */
  signed(chainId: bigint, from: From, nonce: bigint): Content[];
}

export function openSigner(keys: Keys, chains: readonly ChainLimits[], journal: Journal): SignerCore {
  const byChain = new Map(chains.map((chain) => [chain.chainId, chain]));
  const { wallets, xpub } = publicOf(keys);
  const { hot } = wallets;
  assert(hot !== undefined, 'there is a wallet that sweeps go to');
  const depositAddress = addressesOf(xpub);
  const deposits = HDKey.fromExtendedKey(keys.deposits);

  function decided(chainId: bigint, from: From, wanted: Wanted, nonce: bigint | undefined) {
    const limits = byChain.get(chainId);
    if (limits === undefined) return 'a chain that is not allowed';
    // Own properties only: every object has a `constructor`, too, and the journal would become unreadable.
    if ('wallet' in from && !Object.hasOwn(wallets, from.wallet)) return 'a wallet that is not here';
    const address = 'wallet' in from ? wallets[from.wallet] : depositAddress(from.deposit);
    if (address === undefined) return 'a wallet that is not here';
    const { depositIndex } = wanted;
    const provenDeposit = depositIndex === undefined ? undefined : depositAddress(depositIndex);
    return decide(limits, { from, address, hot: hot ?? '', wanted, nonce, provenDeposit } satisfies Asked, journal);
  }

  return {
    describe: () => ({ wallets, xpub, chainIds: [...byChain.keys()].map(String) }),
    check(chainId, from, wanted) {
      const answer = decided(chainId, from, wanted, undefined);
      return typeof answer === 'string' ? answer : undefined;
    },
    signed(chainId, from, nonce) {
      if ('deposit' in from) return [journal.under(chainId, depositAddress(from.deposit), nonce) ?? []].flat();
      const address = Object.hasOwn(wallets, from.wallet) ? wallets[from.wallet] : undefined;
      return address === undefined ? [] : journal.since(chainId, address, nonce, SIGNED_AT_ONCE);
    },
    async sign(from, unsigned) {
      const content = decided(unsigned.chainId, from, unsigned, unsigned.nonce);
      if (typeof content === 'string') return { refused: content };
      journal.keep(content);
      const key = 'wallet' in from ? keys.wallets[from.wallet] : depositKey(deposits, from.deposit);
      assert(key !== undefined, 'a wallet that was decided on has a key');
      return await signingWith(key).sign(unsigned);
    },
  };
}

/**
 * The signer without its socket: keys, limits and journal. It depends on no database and no server.
 *
 * There is no await between a decision and its record, so two concurrent requests cannot both use up what is left of a limit.
 */
import { HDKey } from '@scure/bip32';
import { defined } from '../base/defined.ts';
import { assert } from '../base/errors.ts';
import {
  addressesOf,
  batchMoves,
  depositKey,
  type SignedTransfer,
  signingWith,
  type Unsigned,
  type Wanted,
} from '../rails/evm/index.ts';
import type { Journal } from './journal.ts';
import { type Keys, publicOf } from './keys.ts';
import { signingOf } from './limits.ts';
import { type Asked, type ChainLimits, type Content, decide, type From } from './policy.ts';

export interface AskedRaw {
  chainId: bigint;
  rawData: Buffer;
  depositIndex: bigint | undefined;
}

/** Maximum number of transactions in one answer, because an answer is one line of the protocol. */
export const SIGNED_AT_ONCE = 40;

const NOT_ALLOWED = 'a chain that is not allowed';
const NOT_RAW = 'a chain whose transactions are not written so';

export interface SignerCore {
  describe(): { wallets: Record<string, string>; xpub: string; chainIds: string[] };
  /**
   * Why the signer would not sign this; undefined if it would. With a nonce, as a repetition of what it has signed under that nonce.
   */
  check(chainId: bigint, from: From, wanted: Wanted, nonce?: bigint): string | undefined;
  sign(from: From, unsigned: Unsigned): Promise<SignedTransfer | { refused: string }>;
  /** Signs the bytes of a transaction, on a chain without nonces. */
  signRaw(from: From, asked: AskedRaw): Buffer | { refused: string };
  /**
   * Transactions that were signed for a named wallet, from a nonce on, at most `SIGNED_AT_ONCE`. For a deposit address only the
   * transaction under that nonce.
   */
  signed(chainId: bigint, from: From, nonce: bigint): Content[];
}

export function openSigner(
  keys: Keys,
  chains: readonly ChainLimits[],
  journal: Journal,
  { nowMs = Date.now } = {},
): SignerCore {
  const byChain = new Map(chains.map((chain) => [chain.chainId, chain]));
  const { wallets, xpub } = publicOf(keys);
  const { hot } = wallets;
  assert(hot !== undefined, 'the signer has no hot wallet');
  const depositAddress = addressesOf(xpub);
  const deposits = HDKey.fromExtendedKey(keys.deposits);

  // Own properties only: every object also has a `constructor`, and a wallet of that name would make the journal unreadable.
  const addressOf = (from: From): string | undefined =>
    'deposit' in from
      ? depositAddress(from.deposit)
      : Object.hasOwn(wallets, from.wallet)
        ? wallets[from.wallet]
        : undefined;

  function decided(chainId: bigint, from: From, wanted: Wanted, slot: { nonce?: bigint; tx?: string }) {
    const limits = byChain.get(chainId);
    if (limits === undefined) return NOT_ALLOWED;
    const { raw } = signingOf(limits.family);
    if (slot.nonce !== undefined && raw !== undefined) return 'a chain whose transactions have no nonce';
    if (slot.tx !== undefined && raw === undefined) return NOT_RAW;
    const address = addressOf(from);
    if (address === undefined) return 'a wallet that is not here';
    const { depositIndex } = wanted;
    const provenDeposit = depositIndex === undefined ? undefined : depositAddress(depositIndex);
    const { nonce, tx } = slot;
    const asked = { from, address, hot: hot ?? '', wanted, nonce, provenDeposit, ...defined({ tx }) };
    return decide(limits, asked satisfies Asked, journal);
  }

  function keyOf(from: From): string {
    const key = 'wallet' in from ? keys.wallets[from.wallet] : depositKey(deposits, from.deposit);
    assert(key !== undefined, 'the wallet of a decision has no key');
    return key;
  }

  /** The signature covers only the content of the bytes: the family reads them strictly, and the limits apply to the result. */
  function signRaw(from: From, { chainId, rawData, depositIndex }: AskedRaw): Buffer | { refused: string } {
    const limits = byChain.get(chainId);
    if (limits === undefined) return { refused: NOT_ALLOWED };
    const { raw } = signingOf(limits.family);
    if (raw === undefined) return { refused: NOT_RAW };
    const transfer = raw.read(rawData, nowMs());
    if ('refused' in transfer) return transfer;
    const { owner, target, data, value, feeUnits, tx } = transfer;
    if (owner !== addressOf(from)) return { refused: 'a transfer of another wallet' };
    const content = decided(chainId, from, { target, data, value, gas: feeUnits, price: 1n, depositIndex }, { tx });
    if (typeof content === 'string') return { refused: content };
    journal.keep(content);
    return raw.sign(keyOf(from), rawData);
  }

  return {
    describe: () => ({ wallets, xpub, chainIds: [...byChain.keys()].map(String) }),
    check(chainId, from, wanted, nonce) {
      const answer = decided(chainId, from, wanted, defined({ nonce }));
      return typeof answer === 'string' ? answer : undefined;
    },
    signed(chainId, from, nonce) {
      if ('deposit' in from) return [journal.under(chainId, depositAddress(from.deposit), nonce) ?? []].flat();
      const address = addressOf(from);
      return address === undefined ? [] : journal.since(chainId, address, nonce, SIGNED_AT_ONCE);
    },
    async sign(from, unsigned) {
      const content = decided(unsigned.chainId, from, unsigned, { nonce: unsigned.nonce });
      if (typeof content === 'string') return { refused: content };
      const { chainId, target, delegating = [] } = unsigned;
      const swept = new Set(content.kind === 'batch' ? batchMoves(unsigned.data)?.moves.map((one) => one.address) : []);
      if (delegating.some(({ index }) => !swept.has(depositAddress(index))))
        return { refused: 'an address that delegates and is not in the batch' };
      journal.keep(content);
      const authorizations = [];
      for (const { index, nonce } of delegating)
        authorizations.push(await signingWith(depositKey(deposits, index)).authorize(chainId, target, nonce));
      return await signingWith(keyOf(from)).sign({ ...unsigned, authorizations });
    },
    signRaw,
  };
}

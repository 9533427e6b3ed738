/**
 * Tron as a rail: an adapter over its HTTP API for the engine in chain.ts. Tokens are TRC-20, USDT above all.
 *
 * - The chain itself reports a final block: the solidified block. No deposit counts as confirmed before its block is solidified.
 * - A transaction has a deadline, its expiration, and no nonce: see sends.ts and fates.ts.
 * - An account pays with energy and bandwidth; what it has not staked is burnt in native units: fees.ts.
 *
 * Watching needs only the extended public key and the addresses of our wallets, the same keys as on EVM chains. Node answers
 * are parsed strictly (http.ts).
 */
import { defined } from '../../base/defined.ts';
import { type ChainAdapter, PACE, type RailContext } from '../chain.adapter.ts';
import { type ChainRail, chainRail } from '../chain.ts';
import { addressesOf, isSignedBy, readAddress } from './addresses.ts';
import { balances, balancesAt, hasCode, nativeBalancesAt } from './balances.ts';
import { blocks, head, sentAs, transfers, transfersBetween } from './blocks.ts';
import { fates } from './fates.ts';
import { energyPrice } from './fees.ts';
import { tronClient } from './http.ts';
import type { Tron, TronOptions } from './node.ts';
import { broadcast, callOf, canSend, estimated, prepare, sign, walletAddress } from './sends.ts';
import { hashOf, LONGEST_MS } from './signer.ts';

/** A block is solidified by 19 of the 27 block producers, each of which produces a block every three seconds in turn. */
const USUALLY_FINAL = 19;

export const tronRail = (options: TronOptions, context: RailContext): ChainRail =>
  chainRail(tronAdapter(options), context);

export function tronAdapter(options: TronOptions): ChainAdapter {
  const { code, signers = {}, addresses = {} } = options;
  const ask = tronClient({
    urls: [options.url, ...(options.spareUrls ?? [])],
    solidityUrls: options.solidityUrls,
    source: code,
    apiKey: options.apiKey,
    deadlineMs: options.deadlineMs,
    maxResponseBytes: options.maxResponseBytes,
    http: options.http,
  });
  const tron: Tron = { code, options, ask, address: addressesOf(options.xpub) };
  return {
    code,
    chain: options.chain,
    chainId: options.chainId,
    finality: options.finality ?? USUALLY_FINAL,
    saysFinal: true,
    keepsNoHistory: true,
    longestValidMs: LONGEST_MS,
    // A block takes two or three requests.
    pace: { ...PACE, blocksPerStep: 40, pollMs: 3_000, ...options.pace },
    wallets: {
      ...Object.fromEntries(Object.entries(addresses).map(([name, address]) => [name, { address }])),
      ...signers,
    },
    canSend: (wallet) => canSend(tron, wallet),
    ...defined({ isAsleep: options.isAsleep }),

    head: () => head(tron),
    blocks: (from, to) => blocks(tron, from, to),
    transfers: (within, contracts) => transfers(tron, within, contracts),
    positions: async (of) => of.map(({ logIndex }) => logIndex),
    balances: (contract, of) => balances(tron, contract, of),
    nativeBalancesAt: (block, of) => nativeBalancesAt(tron, block, of),
    hasCode: (address) => hasCode(tron, address),
    gasPrice: () => energyPrice(tron),

    readAddress,
    isSignedBy: async (address, text, signature) => isSignedBy(address, text, signature),
    address: tron.address,

    call: callOf,
    prepare: (wallet, call) => prepare(tron, wallet, call),
    hashOf: ({ body }) => (body === null ? undefined : hashOf(body)),
    gasFor: (wallet, call) => estimated(tron, wallet, call),
    sign: (wallet, call, prepared) => sign(tron, wallet, call, prepared),
    broadcast: (raw) => broadcast(tron, raw),
    // A higher fee gives no priority in a block, and a second transaction would pay a second time.
    replace: async () => undefined,
    fates: (sends, final) => fates(tron, sends, final),

    transfersBetween: (from, to, contracts) => transfersBetween(tron, from, to, contracts),
    balancesAt: (block, contract, of) => balancesAt(tron, block, contract, of),
    sentAs: (wallet, hash) => sentAs(tron, walletAddress(tron, wallet), hash),
  };
}

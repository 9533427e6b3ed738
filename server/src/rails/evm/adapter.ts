/**
 * EVM chains as rails: an adapter over JSON-RPC for the engine in chain.ts.
 *
 * Node answers are parsed strictly (rpc.ts), and everything decisive is requested by hash: logs by block hash, so they belong to
 * the block that we follow and to no other; receipts and balances are checked against a block hash that came with them.
 *
 * Watching needs only the extended public key and the addresses of our wallets. A rail without signers watches and cannot
 * send; one without `sweepSigner` cannot move funds from deposit addresses.
 */
import { verifyMessage } from 'viem/utils';
import { defined } from '../../base/defined.ts';
import { type ChainAdapter, PACE, type RailContext } from '../chain.adapter.ts';
import { type ChainRail, chainRail } from '../chain.ts';
import { addressesOf, readAddress } from './addresses.ts';
import { balances, balancesAt, hasCode, nativeBalancesAt } from './balances.ts';
import { batchMoves, delegatingIn, mostOf } from './batch.ts';
import { blocks, coinTo, head, positions, receipts, transfers, transfersBetween } from './blocks.ts';
import { feeOf, gasPrice } from './fees.ts';
import { ask, type Evm } from './node.ts';
import type { EvmOptions } from './options.ts';
import { rpcClient } from './rpc.ts';
import {
  broadcast,
  callOf,
  callOfBatch,
  canSend,
  estimated,
  fates,
  nonces,
  prepare,
  prepareBatchOf,
  replace,
  sign,
  signerFor,
  walletAddress,
} from './sends.ts';
import { sentBy } from './sent.ts';
import { isTypedSignedBy } from './wallet-proof.ts';

export const evmRail = (options: EvmOptions, context: RailContext): ChainRail =>
  chainRail(evmAdapter(options), context);

export function evmAdapter(options: EvmOptions): ChainAdapter {
  const { code, chainId, signers = {}, addresses = {} } = options;
  const rpc = rpcClient({
    urls: [options.rpcUrl, ...(options.spareRpcUrls ?? [])],
    source: code,
    deadlineMs: options.deadlineMs,
    maxResponseBytes: options.maxResponseBytes,
    http: options.http,
  });
  const evm: Evm = { code, chainId, options, rpc, address: addressesOf(options.xpub) };
  const sent = sentBy({
    code,
    rpc,
    ask: (method, params, read) => ask(evm, method, params, read),
    receipts: (hashes) => receipts(evm, hashes),
    addressOf: (wallet) => walletAddress(evm, wallet),
    feeOf,
  });
  return {
    code,
    chain: options.chain,
    chainId,
    finality: options.finality,
    pace: { ...PACE, ...options.pace },
    wallets: {
      ...Object.fromEntries(Object.entries(addresses).map(([name, of]) => [name, { address: of.toLowerCase() }])),
      ...signers,
    },
    canSend: (wallet) => canSend(evm, wallet),
    ...defined({ isAsleep: options.isAsleep }),

    head: () => head(evm),
    blocks: (from, to) => blocks(evm, from, to),
    transfers: (within, contracts) => transfers(evm, within, contracts),
    positions: (of) => positions(evm, of),
    balances: (contract, of) => balances(evm, contract, of),
    nativeBalancesAt: (block, of) => nativeBalancesAt(evm, block, of),
    coinTo: (from, to, address) => coinTo(evm, from, to, address),
    hasCode: (address) => hasCode(evm, address),
    gasPrice: () => gasPrice(evm),

    readAddress,
    isSignedBy: async (address, text, signature) =>
      await verifyMessage({ address: asHex(address), message: text, signature: asHex(signature) }).catch(() => false),
    isWalletProof: (address, text, signature) => isTypedSignedBy(chainId, asHex(address), text, asHex(signature)),
    address: evm.address,

    call: callOf,
    prepare: (wallet, call) => prepare(evm, wallet, call),
    gasFor: (wallet, call) => estimated(evm, wallet, call),
    sign: (wallet, call, prepared) => sign(evm, wallet, call, prepared),
    broadcast: (raw) => broadcast(evm, raw),
    replace: (wallet, call, before) => replace(evm, wallet, call, before),
    fates: (sends) => fates(evm, sends),

    transfersBetween: (from, to, contracts) => transfersBetween(evm, from, to, contracts),
    balancesAt: (block, contract, of) => balancesAt(evm, block, contract, of),

    sentAs: sent.sentAs,

    batches: {
      most: options.batch === undefined ? 0 : mostOf(options.batch),
      call: (contract, moves) => callOfBatch(evm, contract, moves),
      prepare: (wallet, call, indexes) => prepareBatchOf(evm, wallet, call, indexes),
      moves: ({ data }) => batchMoves(data),
      delegating: ({ body }) => delegatingIn(body),
    },

    account: {
      nonces: (wallet) => nonces(evm, wallet),
      signedFrom: async (wallet, nonce) => (await signerFor(evm, wallet)?.signedFrom?.(nonce)) ?? [],
      cancelCall: (wallet) => ({ target: walletAddress(evm, wallet), data: Buffer.alloc(0), value: 0n }),
      sentUnder: sent.sentUnder,
      sentIn: sent.sentIn,
    },
  };
}

const asHex = (text: string): `0x${string}` => `0x${text.replace(/^0x/, '')}`;

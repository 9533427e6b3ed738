/**
 * EVM chains as rails: an adapter over JSON-RPC for the engine in chain.ts.
 *
 * Node answers are parsed strictly (rpc.ts), and everything decisive is requested by hash: logs by block hash, so they belong
 * to the block we follow and to no other; receipts and balances are checked against a block hash that came with them.
 *
 * Watching needs only the extended public key and the addresses of our wallets. A rail without signers watches and cannot
 * send; one without `sweepSigner` cannot move funds from deposit addresses.
 */
import { keccak256, verifyMessage } from 'viem/utils';
import { assert, Unavailable } from '../../base/errors.ts';
import type { Http } from '../../base/http.ts';
import {
  type Block,
  type Broadcast,
  type Call,
  type ChainAdapter,
  type ChainPace,
  type CoinPayment,
  type Fee,
  PACE,
  type RailContext,
  type Receipt,
  type Transfer,
} from '../chain.adapter.ts';
import { type ChainRail, chainRail } from '../chain.ts';
import { addressesOf, readAddress } from './addresses.ts';
import {
  address20,
  count,
  hash32,
  hexOf,
  list,
  Malformed,
  type NodeUrl,
  object,
  orUnavailable,
  quantity,
  RpcError,
  rpcClient,
} from './rpc.ts';
import { sentBy } from './sent.ts';
import type { Signer } from './signer.ts';
import { decodeTransfer, encodeBalanceOf, encodeTransfer, placeOf, TRANSFER_TOPIC } from './transfers.ts';

export type { SignedBefore } from '../chain.adapter.ts';
export { addressesOf, addressOfPublicKey, readAddress } from './addresses.ts';
export {
  depositKey,
  localSigner,
  movedBy,
  refusalOf,
  type SignedTransfer,
  type Signer,
  signingWith,
  sweepSigner,
  type Unsigned,
  type Wanted,
} from './signer.ts';

export interface EvmOptions {
  /** `evm.matic20` and `matic20`. */
  code: string;
  chain: string;
  rpcUrl: NodeUrl;
  /** Whether that node has not been started yet. */
  isAsleep?: () => boolean;
  /** Further nodes of the chain, used when that one does not answer. */
  spareRpcUrls?: readonly string[];
  chainId: bigint;
  /** Extended public key whose children are the deposit addresses. */
  xpub: string;
  /** Wallets by name; `hot` pays customers. */
  signers?: Readonly<Record<string, Signer>>;
  /** Addresses of wallets whose signers are elsewhere: they are watched, and this process cannot send from them. */
  addresses?: Readonly<Record<string, string>>;
  /** Signers of the deposit addresses by number; only where sweeps are made. */
  sweepSigner?: (index: bigint) => Signer;
  /** Number of blocks below the head after which a block is treated as final. */
  finality: number;
  /** Maximum native units per unit of gas that are ever offered, and that a quote is ever charged. */
  maxGasPrice: bigint;
  pace?: Partial<ChainPace>;
  deadlineMs?: number;
  maxResponseBytes?: number;
  /** HTTP client. */
  http?: Http;
}

export const evmRail = (options: EvmOptions, context: RailContext): ChainRail =>
  chainRail(evmAdapter(options), context);

/** Whole blocks per request: they are large. */
const COIN_BLOCKS_AT_ONCE = 8n;
/** Blocks over which paid tips are measured, and the share of transactions that paid less. */
const TIP_BLOCKS = 5;
const TIP_PERCENTILE = 50;
/** If no tips were paid lately: 1 gwei. */
const DEFAULT_TIP = 1_000_000_000n;
/** A quarter more: nodes require at least a tenth before they replace a transaction. */
const raised = (fee: bigint): bigint => fee + fee / 4n + 1n;

const PLAIN_TRANSFER_GAS = 21_000n;
const NO_GAS = 'not enough native coin for gas';
/** The engine's name of a deposit address as a sending wallet. */
const DEPOSIT_WALLET = /^deposit:([0-9]+)$/;

const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const higher = (a: bigint, b: bigint): bigint => (a > b ? a : b);

interface Amounts {
  gas: bigint;
  price: bigint;
  tip: bigint | undefined;
}

/** A fee as stored, and back. */
const feeOf = ({ gas, price, tip }: Amounts): Fee => ({
  gas: String(gas),
  price: String(price),
  ...(tip === undefined ? {} : { tip: String(tip) }),
});
const amounts = (fee: Fee): Amounts => ({
  gas: BigInt(fee.gas ?? 0),
  price: BigInt(fee.price ?? 0),
  tip: fee.tip === undefined ? undefined : BigInt(fee.tip),
});

const hex = (value: bigint): string => `0x${value.toString(16)}`;

export function evmAdapter(options: EvmOptions): ChainAdapter {
  const { code, chainId, maxGasPrice } = options;
  const signers = options.signers ?? {};
  const rpc = rpcClient({
    urls: [options.rpcUrl, ...(options.spareRpcUrls ?? [])],
    source: code,
    deadlineMs: options.deadlineMs,
    maxResponseBytes: options.maxResponseBytes,
    http: options.http,
  });
  const address = addressesOf(options.xpub);

  const signerFor = (wallet: string): Signer | undefined => {
    const index = DEPOSIT_WALLET.exec(wallet)?.[1];
    if (index === undefined) return signers[wallet];
    const signer = options.sweepSigner?.(BigInt(index));
    assert(
      signer === undefined || signer.address === address(BigInt(index)),
      `${code} sweeps with the key it watches with`,
    );
    return signer;
  };
  const signerOf = (wallet: string): Signer => {
    const signer = signerFor(wallet);
    assert(signer, `${code} has a signer for the wallet`);
    return signer;
  };

  /** One batch of calls, parsed by `read`; an error answer or a wrong format is Unavailable. */
  async function ask<T>(method: string, params: unknown[][], read: (answer: unknown, at: number) => T): Promise<T[]> {
    const answers = await refusedIsUnavailable(() => rpc.batch(params.map((one) => ({ method, params: one }))));
    return orUnavailable(code, () => answers.map(read));
  }

  async function refusedIsUnavailable<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RpcError)
        throw new Unavailable(code, `the node rejected: ${error.message}`, { cause: error });
      throw error;
    }
  }

  async function head() {
    const answers = await refusedIsUnavailable(() =>
      rpc.batch([
        { method: 'eth_chainId', params: [] },
        { method: 'eth_getBlockByNumber', params: ['0x0', false] },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ]),
    );
    return orUnavailable(code, () => ({
      chainId: quantity(answers[0], 'chainId'),
      genesisHash: readBlock(answers[1]).hash,
      newest: readBlock(answers[2]),
    }));
  }

  async function blocks(from: bigint, to: bigint): Promise<Block[]> {
    const numbers = Array.from({ length: Number(to - from) + 1 }, (_, at) => from + BigInt(at));
    return await ask(
      'eth_getBlockByNumber',
      numbers.map((number) => [hex(number), false]),
      readBlock,
    );
  }

  async function transfers(within: readonly Block[], contracts: readonly string[]): Promise<Transfer[]> {
    const filters = within.map(({ hash }) => [{ blockHash: hash, address: contracts, topics: [TRANSFER_TOPIC] }]);
    const found = await ask('eth_getLogs', filters, (logs, at) => {
      const block = within[at];
      assert(block, 'an answer for each block');
      return list(logs, 'logs').flatMap((log): Transfer[] => {
        const place = placeOf(log);
        if (place.blockHash !== block.hash) throw new Malformed('a log of another block');
        const transfer = decodeTransfer(log);
        return transfer === undefined ? [] : [{ ...place, block: block.number, ...transfer }];
      });
    });
    return found.flat();
  }

  async function transfersBetween(from: bigint, to: bigint, contracts: readonly string[]): Promise<Transfer[]> {
    if (contracts.length === 0) return [];
    const filter = { fromBlock: hex(from), toBlock: hex(to), address: contracts, topics: [TRANSFER_TOPIC] };
    const [found] = await ask('eth_getLogs', [[filter]], (logs) =>
      list(logs, 'logs').flatMap((log): Transfer[] => {
        const block = quantity(object(log, 'log').blockNumber, 'log.blockNumber');
        if (block < from || block > to) throw new Malformed('a log of another block');
        const transfer = decodeTransfer(log);
        return transfer === undefined ? [] : [{ ...placeOf(log), block, ...transfer }];
      }),
    );
    return found ?? [];
  }

  async function coinTo(from: bigint, to: bigint, address: string): Promise<CoinPayment[]> {
    const found: CoinPayment[] = [];
    for (let at = from; at <= to; at += COIN_BLOCKS_AT_ONCE) {
      const last = lower(to, at + COIN_BLOCKS_AT_ONCE - 1n);
      const numbers = Array.from({ length: Number(last - at) + 1 }, (_, n) => at + BigInt(n));
      const paid = await ask(
        'eth_getBlockByNumber',
        numbers.map((number) => [hex(number), true]),
        (block) =>
          list(object(block, 'block').transactions, 'transactions').flatMap((one): CoinPayment[] => {
            const { hash, from: payer, to: payee, value } = object(one, 'transaction');
            if (typeof payee !== 'string' || payee.toLowerCase() !== address) return [];
            const units = quantity(value, 'transaction.value');
            return units === 0n
              ? []
              : [{ txHash: hash32(hash, 'transaction.hash'), from: address20(payer, 'transaction.from'), units }];
          }),
      );
      found.push(...paid.flat());
    }
    if (found.length === 0) return found;
    // A failed transaction was charged for and moved nothing.
    const went = await receipts(found.map(({ txHash }) => txHash));
    return found.filter((_, at) => went[at]?.succeeded === true);
  }

  /** An account that delegates to a contract's code (EIP-7702) still belongs to its owner: it counts as no contract. */
  async function hasCode(address: string): Promise<boolean> {
    const [is] = await ask('eth_getCode', [[address, 'latest']], (answer) => {
      if (typeof answer !== 'string') throw new Malformed('code');
      return answer !== '0x' && !answer.startsWith('0xef0100');
    });
    return is === true;
  }

  async function balancesAt(
    block: bigint,
    contract: string | null,
    addresses: readonly string[],
  ): Promise<bigint[] | undefined> {
    const calls = addresses.map((one) =>
      contract === null
        ? { method: 'eth_getBalance', params: [one, hex(block)] }
        : { method: 'eth_call', params: [{ to: contract, data: encodeBalanceOf(one) }, hex(block)] },
    );
    const answers = await refusedIsUnavailable(() => rpc.batch(calls));
    if (answers.some((answer) => answer instanceof RpcError)) return undefined;
    return orUnavailable(code, () =>
      answers.map((units) => {
        if (contract === null) return quantity(units, 'balance');
        // The contract did not exist at that block.
        return units === '0x' ? 0n : BigInt(hexOf(units, 32, 'balanceOf'));
      }),
    );
  }

  /** A log's position in its transaction: its index in the block minus that of the transaction's first log. */
  async function positions(of: readonly Transfer[]): Promise<number[]> {
    const hashes = [...new Set(of.map((transfer) => transfer.txHash))];
    const firsts = await ask(
      'eth_getTransactionReceipt',
      hashes.map((hash) => [hash]),
      (answer) => {
        const receipt = object(answer, 'receipt');
        const logs = list(receipt.logs, 'receipt.logs').map(placeOf);
        const [first] = logs;
        if (first === undefined) throw new Malformed('a receipt without the log it is asked for');
        return { blockHash: hash32(receipt.blockHash, 'receipt.blockHash'), logs, first: first.logIndex };
      },
    );
    const byHash = new Map(hashes.map((hash, at) => [hash, firsts[at]]));
    return orUnavailable(code, () =>
      of.map((transfer) => {
        const receipt = byHash.get(transfer.txHash);
        // The logs were requested by block hash, the receipt by transaction, so the receipt must name the same block.
        const there = receipt?.logs.some((log) => log.logIndex === transfer.logIndex);
        if (receipt === undefined || receipt.blockHash !== transfer.blockHash || !there) {
          throw new Malformed('a receipt from another branch');
        }
        return transfer.logIndex - receipt.first;
      }),
    );
  }

  async function balances(contract: string | null, addresses: readonly string[]): Promise<bigint[]> {
    if (contract === null)
      return await ask(
        'eth_getBalance',
        addresses.map((one) => [one, 'latest']),
        (units) => quantity(units, 'balance'),
      );
    return await ask(
      'eth_call',
      addresses.map((one) => [{ to: contract, data: encodeBalanceOf(one) }, 'latest']),
      (units) => BigInt(hexOf(units, 32, 'balanceOf')),
    );
  }

  async function nativeBalancesAt(block: Block, addresses: readonly string[]): Promise<bigint[] | undefined> {
    const answers = await refusedIsUnavailable(() =>
      rpc.batch([
        { method: 'eth_getBlockByNumber', params: [hex(block.number), false] },
        ...addresses.map((one) => ({ method: 'eth_getBalance', params: [one, hex(block.number)] })),
      ]),
    );
    if (answers.some((answer, at) => at > 0 && answer instanceof RpcError)) return undefined;
    return orUnavailable(code, () => {
      if (readBlock(answers[0]).hash !== block.hash) throw new Malformed('balances of another branch');
      return answers.slice(1).map((units) => quantity(units, 'balance'));
    });
  }

  const receipts = (hashes: readonly string[]): Promise<(Receipt | undefined)[]> =>
    ask(
      'eth_getTransactionReceipt',
      hashes.map((hash) => [hash]),
      readReceipt,
    );

  const walletAddress = (wallet: string): string => {
    const index = DEPOSIT_WALLET.exec(wallet)?.[1];
    const known =
      index === undefined ? (signers[wallet]?.address ?? options.addresses?.[wallet]) : address(BigInt(index));
    assert(known, `a wallet of ${code} is named`);
    return known.toLowerCase();
  };
  const sent = sentBy({ code, rpc, ask, receipts, addressOf: walletAddress, feeOf });

  const capped = (price: bigint): bigint => lower(price, maxGasPrice);

  /** Base fee of the next block and the usual tip; `base` undefined on a chain without EIP-1559. */
  async function market(): Promise<{ base: bigint | undefined; tip: bigint }> {
    const [history, price] = await refusedIsUnavailable(() =>
      rpc.batch([
        { method: 'eth_feeHistory', params: [hex(BigInt(TIP_BLOCKS)), 'latest', [TIP_PERCENTILE]] },
        { method: 'eth_gasPrice', params: [] },
      ]),
    );
    return orUnavailable(code, () => {
      if (history instanceof RpcError) return { base: undefined, tip: quantity(price, 'gasPrice') };
      const { baseFeePerGas, reward } = object(history, 'feeHistory');
      const base = quantity(list(baseFeePerGas, 'baseFeePerGas').at(-1), 'baseFeePerGas');
      if (base === 0n && reward === undefined) return { base: undefined, tip: quantity(price, 'gasPrice') };
      const tips = list(reward ?? [], 'reward')
        .map((row) => quantity(list(row, 'reward')[0], 'reward'))
        .filter((tip) => tip > 0n)
        .toSorted((a, b) => (a < b ? -1 : 1));
      return { base, tip: tips[Math.floor(tips.length / 2)] ?? DEFAULT_TIP };
    });
  }

  async function gasPrice(): Promise<bigint> {
    const { base, tip } = await market();
    return capped((base ?? 0n) + tip);
  }

  /** Twice the base fee is enough for six full blocks in a row; what is not needed is not charged. */
  async function offer(gas: bigint): Promise<Fee> {
    const { base, tip } = await market();
    if (base === undefined) return feeOf({ gas, price: capped(tip), tip: undefined });
    const price = capped(base * 2n + tip);
    return feeOf({ gas, price, tip: lower(tip, price) });
  }

  type Estimated = { fee: Fee; needUnits: bigint; hasUnits: bigint };

  async function estimated(wallet: string, call: Call): Promise<Estimated | { rejected: string }> {
    const signer = signerFor(wallet);
    if (signer === undefined) return { rejected: 'no signer for this wallet' };
    const unwilling = await signer.refuses({ ...call, gas: 0n, price: 0n });
    if (unwilling !== undefined) return { rejected: unwilling };
    const asked = {
      from: signer.address,
      to: call.target,
      data: `0x${call.data.toString('hex')}`,
      value: hex(call.value),
    };
    let answer: unknown;
    try {
      answer = await rpc.call('eth_estimateGas', [asked]);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // Code 3 is "execution reverted"; other errors may be the node's own.
      const fails = error.code === 3 || /revert|insufficient|exceeds balance/i.test(error.message);
      if (fails) return { rejected: `would fail: ${error.message}` };
      throw new Unavailable(code, `the node rejected: ${error.message}`, { cause: error });
    }
    const usual = orUnavailable(code, () => quantity(answer, 'gas'));
    // A fifth more: a recipient's first balance takes a storage slot that may have existed when the gas was estimated.
    const fee = await offer(usual === PLAIN_TRANSFER_GAS ? usual : usual + usual / 5n);
    const tooDear = await signer.refuses({ ...call, ...amounts(fee) });
    if (tooDear !== undefined) return { rejected: tooDear };
    const [coin] = await balances(null, [signer.address]);
    const { gas, price } = amounts(fee);
    return { fee, needUnits: call.value + gas * price, hasUnits: coin ?? 0n };
  }

  /** A node accepts only what the wallet could pay for at the highest price offered. */
  async function estimate(wallet: string, call: Call): Promise<{ fee: Fee } | { rejected: string }> {
    const found = await estimated(wallet, call);
    if ('rejected' in found) return found;
    return found.hasUnits < found.needUnits ? { rejected: NO_GAS } : { fee: found.fee };
  }

  async function raise(wallet: string, call: Call, fee: Fee): Promise<Fee | undefined> {
    const before = amounts(fee);
    const now = amounts(await offer(before.gas));
    const price = higher(raised(before.price), now.price);
    const tip = before.tip === undefined ? undefined : lower(higher(raised(before.tip), now.tip ?? 0n), price);
    const signer = signerOf(wallet);
    if (price > maxGasPrice || (await signer.refuses({ ...call, gas: before.gas, price })) !== undefined)
      return undefined;
    const [coin] = await balances(null, [signer.address]);
    if ((coin ?? 0n) < call.value + before.gas * price) return undefined;
    return feeOf({ gas: before.gas, price, tip });
  }

  async function broadcast(raw: Buffer): Promise<Broadcast> {
    try {
      const answer = await rpc.call('eth_sendRawTransaction', [`0x${raw.toString('hex')}`]);
      const taken = orUnavailable(code, () => hash32(answer, 'transaction hash'));
      if (taken !== keccak256(raw)) throw new Unavailable(code, 'the node says it took another transaction');
      return { taken: true };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // Wording differs between clients; the meaning of these two is the same everywhere.
      if (/already known|known transaction|already imported|already in mempool|ALREADY_EXISTS/i.test(error.message))
        return { taken: true };
      return {
        taken: false,
        nonceUsed: /nonce (is )?too low|nonce too small|NONCE_EXPIRED/i.test(error.message),
        why: error.message,
      };
    }
  }

  return {
    code,
    chain: options.chain,
    chainId,
    finality: options.finality,
    pace: { ...PACE, ...options.pace },
    wallets: {
      ...Object.fromEntries(
        Object.entries(options.addresses ?? {}).map(([name, of]) => [name, { address: of.toLowerCase() }]),
      ),
      ...signers,
    },
    canSend: (wallet) => (DEPOSIT_WALLET.test(wallet) ? options.sweepSigner !== undefined : wallet in signers),
    ...(options.isAsleep === undefined ? {} : { isAsleep: options.isAsleep }),
    address,
    head,
    blocks,
    transfers,
    positions,
    balances,
    nativeBalancesAt,
    transfersBetween,
    balancesAt,
    coinTo,
    hasCode,
    gasPrice,
    call(contract, to, units) {
      const recipient = readAddress(to);
      if (recipient === undefined) return { rejected: 'not an address' };
      if (recipient === contract) return { rejected: 'tokens to their own contract' };
      return contract === null
        ? { target: recipient, data: Buffer.alloc(0), value: units }
        : { target: contract, data: encodeTransfer(recipient, units), value: 0n };
    },
    estimate,
    gasFor: estimated,
    raise,
    readAddress,
    isSignedBy: async (address, text, signature) =>
      await verifyMessage({ address: asHex(address), message: text, signature: asHex(signature) }).catch(() => false),

    async nonces(wallet) {
      const { address: of } = signerOf(wallet);
      const [mined, pending] = await ask(
        'eth_getTransactionCount',
        [
          [of, 'latest'],
          [of, 'pending'],
        ],
        (nonce) => count(nonce, 'nonce'),
      );
      assert(mined !== undefined && pending !== undefined, 'two counts were asked for');
      return { mined, pending };
    },
    sign: (wallet, { target, data, value, depositIndex }, nonce, fee) =>
      signerOf(wallet).sign({ chainId, nonce, target, data, value, depositIndex, ...amounts(fee) }),
    broadcast,
    receipts,
    signedFrom: async (wallet, nonce) => (await signerFor(wallet)?.signedFrom?.(nonce)) ?? [],
    cancelCall: (wallet) => ({ target: walletAddress(wallet), data: Buffer.alloc(0), value: 0n }),
    ...sent,
  };
}

function readBlock(answer: unknown): Block {
  const block = object(answer, 'block');
  const seconds = quantity(block.timestamp, 'block.timestamp');
  // Beyond the year 9999: not a valid time.
  if (seconds > 253_402_300_799n) throw new Malformed('block.timestamp');
  return {
    number: count(block.number, 'block.number'),
    hash: hash32(block.hash, 'block.hash'),
    parentHash: hash32(block.parentHash, 'block.parentHash'),
    at: new Date(Number(seconds) * 1000),
  };
}

function readReceipt(answer: unknown): Receipt | undefined {
  if (answer === null) return undefined;
  const receipt = object(answer, 'receipt');
  const cost =
    quantity(receipt.gasUsed, 'receipt.gasUsed') * quantity(receipt.effectiveGasPrice, 'receipt.effectiveGasPrice');
  // More than any coin's supply would not fit the column of costs.
  if (cost >= 2n ** 256n) throw new Malformed('receipt.effectiveGasPrice');
  return {
    block: count(receipt.blockNumber, 'receipt.blockNumber'),
    blockHash: hash32(receipt.blockHash, 'receipt.blockHash'),
    succeeded: quantity(receipt.status, 'receipt.status') === 1n,
    cost,
  };
}

const asHex = (text: string): `0x${string}` => `0x${text.replace(/^0x/, '')}`;

/**
 * A simulated node of Tron on a local EVM node: the HTTP calls that rails/tron uses, over anvil's results. The sandbox's chain
 * `trc20` and the tests of the rail run on it.
 *
 * Faithful: transactions are decoded from the bytes that were signed; their hash, signer, reference block and expiration are
 * checked as a node checks them; blocks have Tron's ids, and are solidified some blocks later; a failed call is in its block and
 * costs energy; the content of a block, its events and balances are the EVM's results, reorgs included.
 *
 * Not faithful:
 * - Energy is the EVM's gas, at a price that never changes; staking and the free bandwidth of a day do not exist. A native
 *   transfer costs what its gas costs at a tenth of that price.
 * - An account need not be opened, and opening one is free. Memos, several signatures and permissions do not exist.
 * - Blocks come when the EVM node mines, not every three seconds, and nobody elects their producers: solidified means deep.
 * - Just after a restart the EVM node has no balances of old blocks: the solidified ones are then those of the newest block.
 * - Other transactions of the EVM node (its deployer's) have its hash in place of an id.
 *
 * `POST sandbox/lose {"what": "bytes" | "answer" | "nothing"}` simulates a bad line: transactions that never arrive, or arrive
 * and are not confirmed, until it is set to something else.
 *
 * A Tron transaction is stored behind the call data of the EVM transaction that represents it, so that the node itself knows
 * every id, also after a restart: nothing is stored here in addition.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  accountOf,
  addressOf,
  decodeRawData,
  decodeTransaction,
  hashOf,
  readTronAddress,
  tronSignerOf,
} from '../rails/tron/index.ts';
import { call } from './nodes.ts';

/** Native units (sun) for one unit of gas: of a call, and of a native transfer. */
export const ENERGY_PRICE = 100n;
const TRANSFER_PRICE = 10n;
/** Wei of the EVM node in one sun. */
const SUN = 10n ** 12n;
const TRANSFER_GAS = 100_000n;
/** Marks a Tron transaction that is appended to the call data, after its bytes and their length. */
const MARK = '74726f6e';
const TAPOS_BLOCKS = 65_536n;
const LONGEST_VALID_MS = 86_400_000n;
const LONGEST_BODY = 64 * 1024;

export interface TronNode {
  url: string;
  /** Sets the fate of the next transaction: it is accepted and the answer is lost, or it does not arrive. */
  loseNext(what: 'answer' | 'bytes'): void;
  /** While paused, the node answers no request. */
  pause(isPaused: boolean): void;
  stop(): Promise<void>;
}

interface EvmBlock {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  transactions: { hash: string; input: string; to: string | null }[];
}
interface EvmReceipt {
  transactionHash: string;
  blockNumber: string;
  status: string;
  gasUsed: string;
  effectiveGasPrice: string;
  logs: { address: string; topics: string[]; data: string }[];
}

type Body = Readonly<Record<string, unknown>>;
type Answer = Record<string, unknown> | unknown[];

const hex = (value: bigint): string => `0x${value.toString(16)}`;
const inHex = (text: string): string => Buffer.from(text).toString('hex');

/** The EVM node that simulates Tron, with the state that the functions below share. */
interface Played {
  readonly chainId: number;
  rpc<T>(method: string, params?: unknown[]): Promise<T>;
  evmBlock(number: bigint | 'latest', whole?: boolean): Promise<EvmBlock | null>;
  headNumber(): Promise<bigint>;
  solidNumber(): Promise<bigint>;
  /** Hashes of EVM transactions by the Tron ids that they represent. */
  readonly played: Map<string, string>;
  readonly memory: {
    /** The newest block whose transactions are in `played`. */
    scanned: bigint;
    losing: 'answer' | 'bytes' | undefined;
    losesAll: boolean;
    isPaused: boolean;
    lastBroadcast: Promise<unknown>;
  };
}

/** @param options.solidBlocks how far below the head a block is solidified */
export async function startTron(options: {
  rpcUrl: () => string;
  chainId: number;
  solidBlocks: number;
}): Promise<TronNode> {
  const rpc = <T>(method: string, params: unknown[] = []): Promise<T> => call<T>(options.rpcUrl(), method, params);
  const headNumber = async (): Promise<bigint> => BigInt(await rpc<string>('eth_blockNumber'));
  const of: Played = {
    chainId: options.chainId,
    rpc,
    evmBlock: (number, whole = false) =>
      rpc('eth_getBlockByNumber', [typeof number === 'bigint' ? hex(number) : number, whole]),
    headNumber,
    async solidNumber() {
      const solid = (await headNumber()) - BigInt(options.solidBlocks);
      return solid > 0n ? solid : 0n;
    },
    played: new Map(),
    memory: { scanned: -1n, losing: undefined, losesAll: false, isPaused: false, lastBroadcast: Promise.resolve() },
  };
  const server = createServer((request, response) => void handle(of, request, response));
  await new Promise<void>((ready, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', ready);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseNext(what) {
      of.memory.losing = what;
    },
    pause(isPaused) {
      of.memory.isPaused = isPaused;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Tron's ids begin with the number, and its chain id is the end of the first one. @param hash of the EVM block */
export function tronIdOf(chainId: number, number: bigint, hash: string): string {
  const text = number.toString(16).padStart(16, '0') + hash.slice(18);
  return number === 0n ? text.slice(0, 56) + chainId.toString(16).padStart(8, '0') : text;
}

const tronBlock = (of: Played, { number, hash, parentHash, timestamp }: EvmBlock) => {
  const at = BigInt(number);
  return {
    blockID: tronIdOf(of.chainId, at, hash),
    block_header: {
      raw_data: {
        ...(at === 0n ? {} : { number: Number(at) }),
        timestamp: Number(timestamp) * 1_000,
        parentHash: at === 0n ? '0'.repeat(64) : tronIdOf(of.chainId, at - 1n, parentHash),
      },
    },
  };
};

/** The Tron transaction appended to the call data; undefined when there is none. */
function ridingOn(input: string): { rawData: Buffer; signature: Buffer } | undefined {
  if (!input.endsWith(MARK)) return undefined;
  const length = Number.parseInt(input.slice(-16, -8), 16) * 2;
  return decodeTransaction(Buffer.from(input.slice(-16 - length, -16), 'hex'));
}

const behind = (data: string, transaction: Buffer): string =>
  `0x${data}${transaction.toString('hex')}${transaction.length.toString(16).padStart(8, '0')}${MARK}`;

async function scan(of: Played): Promise<void> {
  const { played, evmBlock, headNumber, memory } = of;
  for (const head = await headNumber(); memory.scanned < head; memory.scanned += 1n)
    for (const { hash, input } of (await evmBlock(memory.scanned + 1n, true))?.transactions ?? []) {
      const riding = ridingOn(input);
      if (riding !== undefined) played.set(hashOf(riding.rawData), hash);
    }
}

async function evmHashOf(of: Played, id: string): Promise<string> {
  const { played } = of;
  await scan(of);
  return played.get(id) ?? `0x${id}`;
}

function infoOf(id: string, block: EvmBlock, receipt: EvmReceipt) {
  const [gas, failed] = [BigInt(receipt.gasUsed), receipt.status !== '0x1'];
  const { to = null } = block.transactions.find(({ hash }) => hash === receipt.transactionHash) ?? {};
  return {
    id,
    fee: Number((gas * BigInt(receipt.effectiveGasPrice)) / SUN),
    blockNumber: Number(block.number),
    blockTimeStamp: Number(block.timestamp) * 1_000,
    contractResult: [''],
    ...(to === null ? {} : { contract_address: `41${to.slice(2)}` }),
    receipt: { energy_usage_total: Number(gas), result: failed ? 'REVERT' : 'SUCCESS' },
    ...(failed ? { result: 'FAILED', resMessage: inHex('REVERT opcode executed') } : {}),
    log: receipt.logs.map(({ address, topics, data }) => ({
      address: address.slice(2),
      topics: topics.map((topic) => topic.slice(2)),
      data: data.slice(2),
    })),
  };
}

/** The Tron id of an EVM transaction. */
function idIn({ hash, input }: { hash: string; input: string }): string {
  const riding = ridingOn(input);
  return riding === undefined ? hash.slice(2) : hashOf(riding.rawData);
}

async function infosIn(of: Played, number: bigint): Promise<unknown[]> {
  const { rpc, evmBlock } = of;
  const block = await evmBlock(number, true);
  if (block === null) return [];
  return await Promise.all(
    block.transactions.map(async ({ hash, input }) => {
      const receipt = await rpc<EvmReceipt>('eth_getTransactionReceipt', [hash]);
      return infoOf(idIn({ hash, input }), block, receipt);
    }),
  );
}

async function infoById(of: Played, id: string, upTo: bigint): Promise<Answer> {
  const { rpc, evmBlock } = of;
  const receipt = await rpc<EvmReceipt | null>('eth_getTransactionReceipt', [await evmHashOf(of, id)]);
  if (receipt === null || BigInt(receipt.blockNumber) > upTo) return {};
  const block = await evmBlock(BigInt(receipt.blockNumber), true);
  return block === null ? {} : infoOf(id, block, receipt);
}

async function atBlock<T>(number: bigint | 'latest', ask: (block: string) => Promise<T>): Promise<T> {
  if (number === 'latest') return await ask('latest');
  try {
    return await ask(hex(number));
  } catch (error) {
    if (isSilent(error)) throw error;
    return await ask('latest');
  }
}

async function constantCall(of: Played, body: Body, at: bigint | 'latest'): Promise<Answer> {
  const { rpc } = of;
  const { owner, contract, data } = {
    owner: accountOf(address(body.owner_address)),
    contract: accountOf(address(body.contract_address)),
    data: `0x${String(body.data)}`,
  };
  const asked = { from: owner, to: contract, data, value: hex(BigInt(Number(body.call_value ?? 0)) * SUN) };
  try {
    const result = await atBlock(at, (block) => rpc<string>('eth_call', [asked, block]));
    const energy = await rpc<string>('eth_estimateGas', [asked]);
    return {
      result: { result: true },
      energy_used: Number(energy),
      constant_result: [result.slice(2)],
      transaction: { ret: [{}] },
    };
  } catch (error) {
    if (isSilent(error)) throw error;
    const message = inHex(error instanceof Error ? error.message.slice(0, 100) : 'REVERT opcode executed');
    return {
      result: { result: true, message },
      energy_used: 0,
      constant_result: [''],
      transaction: { ret: [{ ret: 'FAILED' }] },
    };
  }
}

const refused = (code: string, why: string): Answer => ({ code, message: inHex(why) });

async function broadcast(of: Played, body: Body): Promise<Answer> {
  const { played, rpc, evmBlock, memory } = of;
  const lost = memory.losing;
  if (!memory.losesAll) memory.losing = undefined;
  if (lost === 'bytes') throw new Error('nothing arrives');
  const transaction = Buffer.from(String(body.transaction), 'hex');
  const { rawData, signature } = decodeTransaction(transaction) ?? {};
  const raw = rawData === undefined ? undefined : decodeRawData(rawData);
  if (rawData === undefined || signature === undefined || raw === undefined)
    return refused('OTHER_ERROR', 'not a transaction that is known here');
  if (tronSignerOf(rawData, signature) !== raw.owner) return refused('SIGERROR', 'not signed by its owner');
  const head = await evmBlock('latest');
  const headMs = BigInt(head?.timestamp ?? 0) * 1_000n;
  if (raw.expirationMs <= headMs || raw.expirationMs > headMs + LONGEST_VALID_MS)
    return refused('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
  if (!(await isReference(of, raw.refBlockBytes, raw.refBlockHash, BigInt(head?.number ?? 0))))
    return refused('TAPOS_ERROR', 'Tapos check error');
  const id = hashOf(rawData);
  if ((await rpc('eth_getTransactionByHash', [await evmHashOf(of, id)])) !== null)
    return refused('DUP_TRANSACTION_ERROR', 'Dup transaction');
  const isCall = raw.data.length > 0;
  const sent = {
    from: accountOf(raw.owner),
    to: accountOf(raw.target),
    data: behind(raw.data.toString('hex'), transaction),
    value: hex(raw.value * SUN),
    // The appended bytes must not cost the sender energy.
    gas: hex(isCall ? raw.feeLimit / ENERGY_PRICE + BigInt(transaction.length * 16) : TRANSFER_GAS),
    gasPrice: hex((isCall ? ENERGY_PRICE : TRANSFER_PRICE) * SUN),
  };
  try {
    await rpc('anvil_impersonateAccount', [sent.from]);
    played.set(id, await rpc<string>('eth_sendTransaction', [sent]));
  } catch (error) {
    if (isSilent(error)) throw error;
    return refused('CONTRACT_VALIDATE_ERROR', error instanceof Error ? error.message.slice(0, 100) : 'not valid');
  }
  if (lost === 'answer') throw new Error('the answer is lost');
  return { result: true, txid: id };
}

/**
 * Whether the reference block is valid: the transaction names one of the last 65,536 blocks by the end of its number and a part
 * of its id.
 */
async function isReference(of: Played, bytes: Buffer, part: Buffer, head: bigint): Promise<boolean> {
  const { evmBlock } = of;
  const low = BigInt(`0x${bytes.toString('hex') || '0'}`);
  const number = head - ((head - low) & (TAPOS_BLOCKS - 1n));
  const block = number < 0n ? null : await evmBlock(number);
  return block !== null && tronIdOf(of.chainId, number, block.hash).slice(16, 32) === part.toString('hex');
}

/** @param upTo the newest block that this node shows */
async function answerTo(of: Played, method: string, body: Body, upTo: bigint, at: bigint | 'latest'): Promise<Answer> {
  const { rpc, evmBlock, memory } = of;
  switch (method) {
    case 'getnowblock':
      return tronBlock(of, (await evmBlock(upTo)) as EvmBlock);
    case 'getblock': {
      const number = BigInt(String(body.id_or_num));
      const block = number > upTo ? null : await evmBlock(number);
      return block === null ? {} : tronBlock(of, block);
    }
    case 'getblockbynum': {
      const number = BigInt(Number(body.num));
      const block = number > upTo ? null : await evmBlock(number, true);
      if (block === null) return {};
      const transactions = block.transactions.map((one) => ({ txID: idIn(one) }));
      return { ...tronBlock(of, block), ...(transactions.length === 0 ? {} : { transactions }) };
    }
    case 'gettransactioninfobyblocknum':
      return BigInt(Number(body.num)) > upTo ? [] : await infosIn(of, BigInt(Number(body.num)));
    case 'gettransactioninfobyid':
      return await infoById(of, String(body.value), upTo);
    case 'gettransactionbyid': {
      const found = await rpc<{ input: string } | null>('eth_getTransactionByHash', [
        await evmHashOf(of, String(body.value)),
      ]);
      const riding = found === null ? undefined : ridingOn(found.input);
      if (riding === undefined) return {};
      const { rawData, signature } = riding;
      return { txID: hashOf(rawData), raw_data_hex: rawData.toString('hex'), signature: [signature.toString('hex')] };
    }
    case 'getaccount': {
      const account = accountOf(address(body.address));
      const wei = await atBlock(at, (block) => rpc<string>('eth_getBalance', [account, block]));
      const balance = Number(BigInt(wei) / SUN);
      return balance === 0 ? {} : { address: body.address, balance };
    }
    case 'getcontract': {
      const code = await rpc<string>('eth_getCode', [accountOf(address(body.value)), 'latest']);
      return code === '0x' ? {} : { contract_address: body.value, bytecode: code.slice(2) };
    }
    case 'triggerconstantcontract':
      return await constantCall(of, body, at);
    case 'getchainparameters':
      return {
        chainParameter: [
          { key: 'getTransactionFee', value: 1_000 },
          { key: 'getEnergyFee', value: Number(ENERGY_PRICE) },
          { key: 'getCreateAccountFee', value: 100_000 },
          { key: 'getCreateNewAccountFeeInSystemContract', value: 1_000_000 },
        ],
      };
    case 'broadcasthex': {
      // Serialized, so that two concurrent broadcasts of one transaction send it once.
      const mine = memory.lastBroadcast.then(() => broadcast(of, body));
      memory.lastBroadcast = mine.catch(() => {});
      return await mine;
    }
    default:
      return { Error: `no such method here: ${method.slice(0, 40)}` };
  }
}

async function handle(of: Played, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { headNumber, solidNumber, memory } = of;
  try {
    if (memory.isPaused) throw new Error('it answers nothing');
    const [, from = '', method = ''] = (request.url ?? '').split('/');
    const body = JSON.parse((await textOf(request)) || '{}') as Body;
    if (from === 'sandbox' && method === 'lose') {
      memory.losing = body.what === 'answer' || body.what === 'bytes' ? body.what : undefined;
      memory.losesAll = memory.losing !== undefined;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const upTo = from === 'walletsolidity' ? await solidNumber() : await headNumber();
    const answer = await answerTo(of, method, body, upTo, from === 'walletsolidity' ? upTo : 'latest');
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  } catch {
    response.destroy();
  }
}

function address(value: unknown): string {
  const read =
    readTronAddress(String(value)) ?? (value === addressOf(`0x${'0'.repeat(40)}`) ? String(value) : undefined);
  if (read === undefined) throw new Error('not an address');
  return read;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LONGEST_BODY) throw new Error('too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The EVM node itself did not answer: the transaction's fate is unknown. */
const isSilent = (error: unknown): boolean => error instanceof Error && /was not answered/.test(error.message);

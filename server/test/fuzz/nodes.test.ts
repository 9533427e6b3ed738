/**
 * Fuzzing of nodes' answers. The adapter is the real one; the network is replaced by a node that answers each call correctly
 * except for the input's changes, in the JSON or in its bytes.
 *
 * For any answer, the adapter either reports that the node is unavailable, or returns values that fit their columns: unsigned
 * amounts of 256 bits, blocks and log indexes that are whole numbers, hashes and addresses in their one spelling.
 */
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { Unavailable } from '../../src/base/errors.ts';
import type { Http } from '../../src/base/http.ts';
import type { Block, ChainAdapter, Transfer } from '../../src/rails/chain.adapter.ts';
import { addressesOf, checksummed, readAddress } from '../../src/rails/evm/addresses.ts';
import { evmAdapter } from '../../src/rails/evm/index.ts';
import { decodeTransfer, decodeTransferCall, encodeTransfer, TRANSFER_TOPIC } from '../../src/rails/evm/transfers.ts';
import { assertUnpolluted, fuzz, mangled, mangledJson, nasty, nastyJson, withPart } from './fuzz.ts';

const WORD = 2n ** 256n;
const word = (n: bigint | number): string => `0x${n.toString(16).padStart(64, '0')}`;
const HASH = word(0xaan);
const PARENT = word(0xabn);
const TX = word(0xacn);
const OURS = `0x${'11'.repeat(20)}`;
const THEIRS = `0x${'22'.repeat(20)}`;
const TOKEN = `0x${'33'.repeat(20)}`;
const padded = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`;

const log = {
  address: TOKEN,
  topics: [TRANSFER_TOPIC, padded(THEIRS), padded(OURS)],
  data: word(5_000_000n),
  blockNumber: '0x10',
  blockHash: HASH,
  transactionHash: TX,
  logIndex: '0x2',
  removed: false,
};
const block = {
  number: '0x10',
  hash: HASH,
  parentHash: PARENT,
  timestamp: '0x6560a000',
  transactions: [{ hash: TX, from: THEIRS, to: OURS, value: '0xde0b6b3a7640000' }],
};
const receipt = {
  blockNumber: '0x10',
  blockHash: HASH,
  transactionHash: TX,
  status: '0x1',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x3b9aca00',
  logs: [log],
};
/** A sound node's answer to each method. */
const RIGHT: Record<string, unknown> = {
  eth_chainId: '0x89',
  eth_getBlockByNumber: block,
  eth_getLogs: [log],
  eth_getTransactionReceipt: receipt,
  eth_getBalance: '0xde0b6b3a7640000',
  eth_call: word(7n),
  eth_getCode: '0x6080',
  eth_gasPrice: '0x3b9aca00',
  eth_feeHistory: { baseFeePerGas: ['0x3b9aca00', '0x3b9aca01'], reward: [['0x3b9aca00']] },
  eth_getTransactionCount: '0x5',
  eth_estimateGas: '0x5208',
  eth_sendRawTransaction: HASH,
};

interface Request {
  id: number;
  method: string;
}
/** The input's version of a correct answer. */
let answers: (right: unknown, requests: Request[]) => string | Buffer = (right) => JSON.stringify(right);

const node: Http = async ({ body = '' }) => {
  const asked = JSON.parse(String(body)) as Request | Request[];
  const requests = [asked].flat();
  const right = requests.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: RIGHT[method] }));
  return { status: 200, headers: {}, body: Buffer.from(answers(Array.isArray(asked) ? right : right[0], requests)) };
};

const XPUB = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).publicExtendedKey;
let adapter: ChainAdapter;
before(() => {
  adapter = evmAdapter({
    code: 'evm.test',
    chain: 'test',
    rpcUrl: 'http://node.invalid/',
    chainId: 137n,
    xpub: XPUB,
    signers: {
      hot: { address: OURS, refuses: async () => undefined, sign: () => assert.fail('nothing is signed here') },
    },
    finality: 10,
    maxGasPrice: 10n ** 12n,
    maxResponseBytes: 1_000_000,
    http: node,
  });
});

const units = (n: bigint): void => assert.ok(n >= 0n && n < WORD, `${n} is an amount of 256 bits`);
const number = (n: bigint): void =>
  assert.ok(n >= 0n && n <= BigInt(Number.MAX_SAFE_INTEGER), `${n} is a number of a block`);
const hash = (text: string): void => assert.match(text, /^0x[0-9a-f]{64}$/);
const address = (text: string): void => assert.match(text, /^0x[0-9a-f]{40}$/);

function isBlock(one: Block): void {
  number(one.number);
  hash(one.hash);
  hash(one.parentHash);
  assert.ok(!Number.isNaN(one.at.getTime()));
}
function isTransfer(one: Transfer): void {
  number(one.block);
  hash(one.txHash);
  hash(one.blockHash);
  assert.ok(Number.isSafeInteger(one.logIndex) && one.logIndex >= 0, `${one.logIndex} is the index of a log`);
  for (const text of [one.contract, one.from, one.to]) address(text);
  units(one.units);
}

const BLOCK: Block = { number: 16n, hash: HASH, parentHash: PARENT, at: new Date(0) };
const TRANSFER: Transfer = {
  txHash: TX,
  block: 16n,
  blockHash: HASH,
  logIndex: 2,
  contract: TOKEN,
  from: THEIRS,
  to: OURS,
  units: 5n,
};

/** Every query of a node, and the condition on the result. */
const ASKED: Record<string, (of: ChainAdapter) => Promise<void>> = {
  async head(of) {
    const { chainId, genesisHash, newest } = await of.head();
    units(chainId);
    hash(genesisHash);
    isBlock(newest);
  },
  blocks: async (of) => (await of.blocks(16n, 17n)).forEach(isBlock),
  transfers: async (of) => (await of.transfers([BLOCK], [TOKEN])).forEach(isTransfer),
  transfersBetween: async (of) => (await of.transfersBetween?.(1n, 20n, [TOKEN]))?.forEach(isTransfer),
  async coinTo(of) {
    for (const paid of (await of.coinTo?.(16n, 17n, OURS)) ?? []) {
      hash(paid.txHash);
      address(paid.from);
      units(paid.units);
    }
  },
  async hasCode(of) {
    assert.equal(typeof (await of.hasCode?.(OURS)), 'boolean');
  },
  balancesAt: async (of) => {
    (await of.balancesAt?.(16n, TOKEN, [OURS]))?.forEach(units);
    (await of.balancesAt?.(16n, null, [OURS]))?.forEach(units);
  },
  balances: async (of) => {
    (await of.balances(TOKEN, [OURS])).forEach(units);
    (await of.balances(null, [OURS])).forEach(units);
  },
  nativeBalancesAt: async (of) => (await of.nativeBalancesAt(BLOCK, [OURS]))?.forEach(units),
  async positions(of) {
    for (const at of await of.positions([TRANSFER]))
      assert.ok(Number.isSafeInteger(at) && at >= 0, `${at} is a position`);
  },
  async fates(of) {
    const asked = { wallet: 'hot', versions: [{ hash: TX, slots: ['1'], deadline: null, body: null }] };
    for (const one of await of.fates([asked], undefined)) {
      assert.notEqual(one.is, 'absent', 'a node cannot prove that to an account chain');
      if (one.is !== 'included') continue;
      number(one.block);
      hash(one.blockHash);
      units(one.cost);
    }
  },
  gasPrice: async (of) => {
    const price = await of.gasPrice();
    assert.ok(price >= 0n && price <= 10n ** 12n);
  },
  async nonces(of) {
    const used = await of.account?.nonces('hot');
    assert.ok(used);
    number(used.mined);
    number(used.pending);
  },
  async prepare(of) {
    const found = await of.prepare('hot', { target: OURS, data: Buffer.alloc(0), value: 1n }, new Set());
    if ('rejected' in found) assert.ok(found.rejected.length < 300);
    else assert.ok(BigInt(found.fee.price ?? '') <= 10n ** 12n);
  },
  async gasFor(of) {
    const found = await of.gasFor('hot', { target: OURS, data: Buffer.alloc(0), value: 1n });
    if (!('rejected' in found)) units(found.hasUnits);
  },
  async broadcast(of) {
    const found = await of.broadcast(Buffer.from('00', 'hex'));
    if (!found.taken) assert.ok(found.why.length <= 200);
  },
};

async function holds(method: string): Promise<void> {
  try {
    await ASKED[method]?.(adapter);
  } catch (error) {
    assert.ok(error instanceof Unavailable, (error as Error).stack ?? String(error));
    assert.ok(error.message.length < 400 && !error.message.includes('node.invalid'));
  }
  assertUnpolluted();
}

const method = fc.constantFrom(...Object.keys(ASKED));

fuzz('node: sound answers', 'are read', 40, method, async (which) => {
  answers = (right) => JSON.stringify(right);
  if (which !== 'broadcast') await ASKED[which]?.(adapter);
});

const part = fc.record({ at: fc.nat(10_000), value: nastyJson, gone: fc.boolean() });

fuzz(
  'node: JSON-RPC',
  'an answer of which parts are something else',
  3_000,
  fc.tuple(method, fc.array(part, { minLength: 1, maxLength: 3 })),
  async ([which, parts]) => {
    answers = (right) => JSON.stringify(parts.reduce(withPart, right));
    await holds(which);
  },
);

const quantityLike = fc.oneof(
  fc.bigInt({ min: 0n, max: WORD * 16n }).map((n) => `0x${n.toString(16)}`),
  fc.constantFrom(
    '0x',
    '0x0',
    '0x00',
    '0x01',
    '0X1',
    '0x1g',
    `0x${'f'.repeat(64)}`,
    '0x1fffffffffffff',
    '0x20000000000000',
    '0x7fffffffffffffff',
    '0x8000000000000000',
    '0xffffffff',
    word(1),
    1,
    -1,
    null,
  ),
);
fuzz(
  'node: JSON-RPC',
  'quantities of any size',
  2_500,
  fc.tuple(
    method,
    fc.array(
      fc.record({ at: fc.nat(10_000), value: quantityLike as fc.Arbitrary<unknown>, gone: fc.constant(false) }),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
  ),
  async ([which, parts]) => {
    answers = (right) => JSON.stringify(parts.reduce(withPart, right));
    await holds(which);
  },
);

fuzz(
  'node: JSON-RPC',
  'refusals that say anything at all',
  1_000,
  fc.tuple(
    method,
    mangledJson(
      fc.record({
        code: fc.constantFrom<unknown>(3, -32000, '3', null),
        message: fc.oneof(
          nastyJson,
          fc.constantFrom<unknown>('already known', 'nonce too low', 'execution reverted', 'insufficient funds'),
        ),
      }),
    ),
    fc.boolean(),
  ),
  async ([which, error, all]) => {
    answers = (right, requests) =>
      JSON.stringify(
        Array.isArray(right) && all ? requests.map(({ id }) => ({ id, error })) : { id: requests[0]?.id, error },
      );
    await holds(which);
  },
);

fuzz(
  'node: JSON-RPC',
  'bytes that are changed, cut or doubled',
  1_500,
  fc.tuple(method, fc.integer({ min: 0, max: 1_000_000 }), mangled(fc.constant('x'))),
  async ([which, at, piece]) => {
    answers = (right) => {
      const text = Buffer.from(JSON.stringify(right));
      const cut = at % (text.length + 1);
      return Buffer.concat([text.subarray(0, cut), piece, text.subarray(Math.min(text.length, cut + (at % 7)))]);
    };
    await holds(which);
  },
);

fuzz(
  'node: JSON-RPC',
  'answers without end, in the wrong order, twice, or to another question',
  60,
  fc.tuple(method, fc.constantFrom('long', 'reversed', 'twice', 'other', 'none', 'deep')),
  async ([which, how]) => {
    answers = (right, requests) => {
      const all = Array.isArray(right) ? right : [right];
      if (how === 'long') return `[${'{"id":1},'.repeat(150_000)}{}]`;
      if (how === 'deep') return '['.repeat(400_000) + ']'.repeat(400_000);
      if (how === 'reversed') return JSON.stringify(all.toReversed());
      if (how === 'twice') return JSON.stringify([...all, ...all]);
      if (how === 'other') return JSON.stringify(requests.map(({ id }) => ({ id: id + 1, result: '0x1' })));
      return '';
    };
    await holds(which);
  },
);

fuzz(
  'log',
  'of a hostile token is no transfer, or one whose parts are what its words say',
  6_000,
  mangledJson(fc.constant(log), 3),
  (one) => {
    if (typeof one !== 'object' || one === null) return;
    const read = decodeTransfer(one);
    assertUnpolluted();
    if (read === undefined) return;
    const { topics, data } = one as typeof log;
    assert.equal(read.units, BigInt(data));
    units(read.units);
    assert.equal(padded(read.to), topics[2]?.toLowerCase());
    assert.equal(topics.length, 3);
  },
);

const hex = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes).toString('hex'));

fuzz(
  'transfer call',
  'what was written is read back, and with any byte changed is another transfer or none',
  2_000,
  fc.tuple(hex(20), fc.bigInt({ min: 0n, max: WORD - 1n }), fc.nat(67), fc.integer({ min: 1, max: 255 })),
  ([to, amount, at, by]) => {
    const data = encodeTransfer(`0x${to}`, amount);
    assert.deepEqual(decodeTransferCall(data), { to: `0x${to}`, units: amount });
    const other = Buffer.from(data);
    other[at] = (other[at] as number) ^ by;
    assert.notDeepEqual(decodeTransferCall(other), { to: `0x${to}`, units: amount });
    assert.equal(decodeTransferCall(Buffer.concat([data, Buffer.from([0])])), undefined);
  },
);

fuzz(
  'address',
  'in its capitals is read; with one letter in the other case, cut or longer it is none',
  1_500,
  fc.tuple(hex(20), fc.nat(39)),
  ([digits, at]) => {
    fc.pre(!/^0+$/.test(digits));
    const right = checksummed(`0x${digits}`);
    assert.equal(readAddress(right), `0x${digits}`);
    assert.equal(readAddress(`0x${digits}`), `0x${digits}`);
    const letter = right[2 + at] as string;
    const turned = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
    const wrong = right.slice(0, 2 + at) + turned + right.slice(3 + at);
    const oneCase = [wrong.slice(2).toLowerCase(), wrong.slice(2).toUpperCase()].includes(wrong.slice(2));
    assert.equal(readAddress(wrong), wrong === right || oneCase ? `0x${digits}` : undefined);
    assert.equal(readAddress(right.slice(0, -1)), undefined);
    assert.equal(readAddress(`${right}0`), undefined);
  },
);

fuzz(
  'address',
  'of anything else is none',
  2_000,
  fc.oneof(
    nasty,
    mangled(
      hex(20).map((digits) => checksummed(`0x${digits}`)),
      1,
    ).map((bytes) => bytes.toString('latin1')),
  ),
  (text) => {
    const read = readAddress(text);
    if (read !== undefined) assert.ok(/^0x[0-9a-f]{40}$/.test(read) && read === text.toLowerCase());
  },
);

const derive = addressesOf(XPUB);
fuzz(
  'address',
  'of a number is one, and of another number another',
  60,
  fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 31n - 1n }), fc.bigInt({ min: 0n, max: 2n ** 31n - 1n })),
  ([one, other]) => {
    address(derive(one));
    assert.equal(derive(one) === derive(other), one === other);
  },
);

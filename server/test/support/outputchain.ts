/**
 * A UTXO chain in memory, as in Bitcoin's family: a transaction spends whole outputs and creates several, including change; there
 * are no nonces, no contracts and no logs. A transaction is replaced by one that spends one of the same outputs and offers a
 * higher fee. Its adapter shows that the chain contract works without accounts.
 *
 * With `keep` its addresses are issued one by one, as where keys are hardened: nothing derives the next one.
 *
 * Simplified: there are no scripts, the signature is the hash of the transaction, and a block holds any number of transactions.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Unavailable } from '../../src/base/errors.ts';
import {
  type Block,
  type Call,
  type ChainAdapter,
  type ChainPace,
  type Fate,
  NATIVE,
  PACE,
  type Prepared,
  type SendAsked,
  type TargetIssuer,
  type Transfer,
} from '../../src/rails/chain.adapter.ts';

interface Output {
  to: string;
  units: bigint;
}
export interface OutputTx {
  hash: string;
  /** Outpoints: `<hash>:<index>`. */
  inputs: readonly string[];
  outputs: readonly Output[];
}
interface OutputBlock extends Block {
  txs: readonly OutputTx[];
}

const CODE = 'outputs.test';
/** Addresses in an answer of the issuer. */
const PAGE = 3;
export const HOT = 'out-hot';
/** Fee in units per byte, and the bytes of an input and of an output. */
const PRICE = 2n;
const INPUT = 68n;
const OUTPUT = 31n;
/** The higher fee per byte that a replacement must offer. */
const RELAY = 1n;

const packed = (tx: Omit<OutputTx, 'hash'>): Buffer =>
  Buffer.from(JSON.stringify(tx, (_, part) => (typeof part === 'bigint' ? String(part) : part)));
const hashOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex');
function unpacked(body: Buffer): OutputTx {
  const { inputs, outputs } = JSON.parse(body.toString()) as {
    inputs: string[];
    outputs: { to: string; units: string }[];
  };
  return { hash: hashOf(body), inputs, outputs: outputs.map(({ to, units }) => ({ to, units: BigInt(units) })) };
}
const sum = (all: readonly { units: bigint }[]): bigint => all.reduce((total, { units }) => total + units, 0n);

// Long because the chain is one closure: its adapter and its faults share blocks and pool.
export function outputChain(options: { finality: number; pace?: Partial<ChainPace>; keep?: number }) {
  const made: string[] = [];
  let branch = 0;
  let paid = 0;
  let isDark = false;
  /** Fault of the next broadcast or request for addresses: it takes effect and the answer is lost, or it never arrives. */
  let loses: 'answer' | 'bytes' | undefined;
  let pool: OutputTx[] = [];
  const known = new Map<string, OutputTx>();
  const blockOn = (parent: Block | undefined, txs: readonly OutputTx[]): OutputBlock => {
    branch += 1;
    const number = parent === undefined ? 0n : parent.number + 1n;
    const hash = createHash('sha256').update(`${number} ${branch}`).digest('hex');
    return { number, hash, parentHash: parent?.hash ?? '', at: new Date(), txs };
  };
  let chain: OutputBlock[] = [blockOn(undefined, [])];
  const all = new Map(chain.map((block) => [block.hash, block]));

  const newest = () => chain.at(-1) as OutputBlock;
  const mined = () => chain.flatMap((block) => block.txs.map((tx) => ({ tx, block })));
  const spender = (slot: string) => mined().find(({ tx }) => tx.inputs.includes(slot));
  const outputAt = (slot: string): Output | undefined => {
    const [hash = '', index = ''] = slot.split(':');
    return known.get(hash)?.outputs[Number(index)];
  };
  const costOf = ({ inputs, outputs }: Omit<OutputTx, 'hash'>): bigint =>
    inputs.length === 0 ? 0n : sum(inputs.flatMap((slot) => outputAt(slot) ?? [])) - sum(outputs);
  const sizeOf = (inputs: number, outputs: number) => BigInt(inputs) * INPUT + BigInt(outputs) * OUTPUT;

  function unspent(address: string, upTo = newest().number): { slot: string; units: bigint }[] {
    const within = mined().filter(({ block }) => block.number <= upTo);
    const spent = new Set(within.flatMap(({ tx }) => tx.inputs));
    return within
      .flatMap(({ tx }) => tx.outputs.map(({ to, units }, at) => ({ to, units, slot: `${tx.hash}:${at}` })))
      .filter(({ to, slot }) => to === address && !spent.has(slot))
      .toSorted((a, b) => (a.units === b.units ? (a.slot < b.slot ? -1 : 1) : a.units > b.units ? -1 : 1));
  }

  /** Chooses coins until they cover the transfer, and sends the rest back as change. */
  function build(
    call: Call,
    price: bigint,
    first: readonly string[],
    taken: ReadonlySet<string>,
  ): Prepared | { rejected: string } {
    const inputs = [...first];
    const free = unspent(HOT).filter(({ slot }) => !taken.has(slot) && !inputs.includes(slot));
    for (;;) {
      const has = sum(inputs.flatMap((slot) => outputAt(slot) ?? []));
      const change = has - call.value - sizeOf(inputs.length, 2) * price;
      if (inputs.length > 0 && change >= 0n) {
        const outputs = [{ to: call.target, units: call.value }, ...(change > 0n ? [{ to: HOT, units: change }] : [])];
        const fee = { price: String(price) };
        return { slots: inputs, deadline: null, body: packed({ inputs, outputs }), fee };
      }
      const next = free.shift();
      if (next !== undefined) inputs.push(next.slot);
      // Sends under way return their coins as change.
      else if (taken.size > 0) throw new Unavailable(CODE, 'the coins are in use by other sends');
      else return { rejected: 'not enough coins' };
    }
  }

  function broadcast(raw: Buffer): Awaited<ReturnType<ChainAdapter['broadcast']>> {
    const tx = unpacked(raw);
    const losing = loses;
    loses = undefined;
    if (losing === 'bytes') throw new Unavailable(CODE, 'the node did not answer');
    if (mined().some((one) => one.tx.hash === tx.hash))
      return { taken: false, slotUsed: true, why: 'already in a block' };
    if (tx.inputs.some((slot) => spender(slot) !== undefined))
      return { taken: false, slotUsed: true, why: 'an input is spent' };
    const rivals = pool.filter((one) => one.hash !== tx.hash && one.inputs.some((slot) => tx.inputs.includes(slot)));
    const priceOf = (one: OutputTx) => costOf(one) / sizeOf(one.inputs.length, one.outputs.length);
    if (rivals.some((one) => priceOf(one) + RELAY > priceOf(tx)))
      return { taken: false, slotUsed: false, why: 'too low a fee to replace another' };
    pool = [...pool.filter((one) => !rivals.includes(one) && one.hash !== tx.hash), tx];
    known.set(tx.hash, tx);
    if (losing === 'answer') throw new Unavailable(CODE, 'the answer was lost');
    return { taken: true };
  }

  function fateOf({ versions }: SendAsked, final: Block | undefined): Fate {
    const found = mined().find(({ tx }) => versions.some(({ hash }) => hash === tx.hash));
    if (found !== undefined) {
      const { number: block, hash: blockHash } = found.block;
      return { is: 'included', hash: found.tx.hash, block, blockHash, succeeded: true, cost: costOf(found.tx) };
    }
    // One output is common to all versions: a transaction that spends it ends them all.
    const [first, ...others] = versions;
    const common = first?.slots.filter((slot) => others.every(({ slots }) => slots.includes(slot))) ?? [];
    for (const slot of common) {
      const by = spender(slot);
      if (by !== undefined && final !== undefined && by.block.number <= final.number)
        return {
          is: 'absent',
          proof: `${slot} was spent by ${by.tx.hash} in block ${by.block.number}, which is final`,
        };
    }
    return { is: 'open' };
  }

  const transfersOf = ({ number, hash, txs }: OutputBlock): Transfer[] =>
    txs.flatMap((tx) =>
      tx.outputs.map(({ to, units }, logIndex) => ({
        txHash: tx.hash,
        block: number,
        blockHash: hash,
        logIndex,
        contract: NATIVE,
        from: outputAt(tx.inputs[0] ?? '')?.to ?? 'out-stranger',
        to,
        units,
      })),
    );

  const asked = async <T>(answer: () => T): Promise<T> => {
    if (isDark) throw new Unavailable(CODE, 'the node did not answer');
    return answer();
  };
  const issuer = (keep: number): TargetIssuer => ({
    keep,
    issued: (from) => asked(() => made.slice(Number(from), Number(from) + PAGE)),
    issue: (count) =>
      asked(() => {
        const losing = loses;
        loses = undefined;
        if (losing === 'bytes') throw new Unavailable(CODE, 'the issuer did not answer');
        for (let n = 0; n < count; n += 1) made.push(`out-${randomBytes(8).toString('hex')}`);
        if (losing === 'answer') throw new Unavailable(CODE, 'the answer was lost');
      }),
  });
  const adapter: ChainAdapter = {
    ...(options.keep === undefined
      ? { address: (index: bigint) => `out-deposit${index}` }
      : { issuer: issuer(options.keep) }),
    code: CODE,
    chain: 'outputs',
    chainId: 21n,
    finality: options.finality,
    pace: { ...PACE, nativeEveryMs: 0, idleMs: 0, ...options.pace },
    wallets: { hot: { address: HOT } },
    canSend: (wallet) => wallet === 'hot',
    showsNative: true,
    readAddress: (text) => (/^out-[a-z0-9]+$/.test(text) ? text : undefined),
    head: () => asked(() => ({ chainId: 21n, genesisHash: chain[0]?.hash ?? '', newest: newest() })),
    blocks: (from, to) => asked(() => chain.slice(Number(from), Number(to) + 1)),
    transfers: (blocks, contracts) =>
      asked(() =>
        contracts.includes(NATIVE) ? blocks.flatMap(({ hash }) => transfersOf(all.get(hash) as OutputBlock)) : [],
      ),
    positions: async (transfers) => transfers.map(({ logIndex }) => logIndex),
    balances: (_, addresses) => asked(() => addresses.map((one) => sum(unspent(one)))),
    nativeBalancesAt: ({ number }, addresses) => asked(() => addresses.map((one) => sum(unspent(one, number)))),
    gasPrice: () => asked(() => PRICE),
    call: (_, to, units) => ({ target: to, data: Buffer.alloc(0), value: units }),
    prepare: (_, call, taken) => asked(() => build(call, PRICE, [], taken)),
    gasFor: (_, call) => asked(() => ({ needUnits: call.value + sizeOf(1, 2) * PRICE, hasUnits: sum(unspent(HOT)) })),
    async sign(_, __, { body }) {
      if (body === null) throw new Error('a transaction is built before it is signed');
      return { raw: body, hash: hashOf(body) };
    },
    broadcast: (raw) => asked(() => broadcast(raw)),
    replace: (_, call, before, taken) =>
      asked(() => {
        const others = new Set([...taken].filter((slot) => !before.slots.includes(slot)));
        const next = build(call, BigInt(before.fee.price ?? 0) * 2n, before.slots, others);
        return 'rejected' in next ? undefined : next;
      }),
    fates: (sends, final) => asked(() => sends.map((one) => fateOf(one, final))),
    transfersBetween: (from, to) => asked(() => chain.slice(Number(from), Number(to) + 1).flatMap(transfersOf)),
    balancesAt: (block, _, addresses) => asked(() => addresses.map((one) => sum(unspent(one, block)))),
  };

  function mine(only: (tx: OutputTx) => boolean = () => true): void {
    const txs = pool.filter(only);
    const spent = new Set(txs.flatMap(({ inputs }) => inputs));
    const block = blockOn(newest(), txs);
    all.set(block.hash, block);
    chain = [...chain, block];
    pool = pool.filter((tx) => !txs.includes(tx) && !tx.inputs.some((slot) => spent.has(slot)));
  }

  return {
    adapter,
    mine,
    mineEmpty(count: number) {
      for (let n = 0; n < count; n += 1) mine(() => false);
    },
    /** An outside payer pays these outputs in one transaction. */
    pay(...outputs: Output[]): string {
      paid += 1;
      const tx = { hash: createHash('sha256').update(`paid ${paid}`).digest('hex'), inputs: [], outputs };
      known.set(tx.hash, tx);
      pool.push(tx);
      return tx.hash;
    },
    /** Spends an output of ours, as another owner of the key would. */
    spend(slot: string, to: string): void {
      const body = packed({ inputs: [slot], outputs: [{ to, units: outputAt(slot)?.units ?? 0n }] });
      const tx = unpacked(body);
      known.set(tx.hash, tx);
      pool = [...pool.filter((one) => !one.inputs.includes(slot)), tx];
    },
    /** Removes the newest blocks; their transactions wait again. */
    drop(depth: number) {
      pool = [...chain.slice(-depth).flatMap(({ txs }) => txs), ...pool];
      chain = chain.slice(0, -depth);
    },
    /** The mempool forgets everything. */
    forget() {
      pool = [];
    },
    loseNext(what: 'answer' | 'bytes') {
      loses = what;
    },
    /** Addresses that were issued, in order. */
    made: made as readonly string[],
    /** The issuer makes an address that it made before. */
    repeat(target: string) {
      made.push(target);
    },
    goDark() {
      isDark = true;
    },
    get pool(): readonly OutputTx[] {
      return pool;
    },
    /** Transactions that pay an address, in blocks or waiting. */
    paying: (to: string) =>
      [...mined().map(({ tx }) => tx), ...pool].filter(({ outputs }) => outputs.some((one) => one.to === to)),
    held: (address: string) => sum(unspent(address)),
    coins: (address: string) => unspent(address),
    costOf,
  };
}

export type OutputChain = ReturnType<typeof outputChain>;

/**
 * A chain, and its real transfers. Blocks in memory, a mempool, reorgs of any depth below finality, a node that lags, forgets
 * waiting transactions, or does not answer. Signing and sending behave as on a real chain: the same bytes are the same
 * transaction, a nonce is used once, and a transaction may revert.
 */
import { createHash } from 'node:crypto';
import {
  type Block,
  type Call,
  type ChainAdapter,
  type Fate,
  NotSigned,
  PACE,
  type SentTransaction,
  type Transfer,
} from '../../src/rails/chain.adapter.ts';
import type { Calls } from './calls.ts';
import type { Chance } from './chance.ts';
import type { Faults } from './faults.ts';

export const CHAIN = 'matic20';
export const RAIL = 'evm.matic20';
export const TOKENS = { usdc: '0xtoken-usdc', usdt: '0xtoken-usdt' } as const;
export const HOT_ADDRESS = '0xhot';
export const FAUCET = '0xfaucet';
/** The signature of the holder of an address's key. */
export const signedBy = (address: string, text: string): string =>
  createHash('sha256').update(`${address} signs ${text}`).digest('hex');

/** In place of a contract: an empty transfer of our wallet to itself. */
const CANCEL = HOT_ADDRESS;
/** In place of a contract: a native transfer. Only the treasury makes any, of one unit, to fill a gap between nonces. */
const NATIVE = 'native';
const FINALITY = 12;
const GAS = 65_000n;
const COIN = 10n ** 18n;
const OPENING_COIN = 1_000n * COIN;

const isToken = (contract: string): boolean => contract !== CANCEL && contract !== NATIVE;

/** What signed bytes of ours say. */
function read(raw: Buffer) {
  const [to = '', contract = '', units = '0', nonce = '0', price = '0'] = raw.toString().split(' ');
  return { to, contract, units: BigInt(units), nonce: BigInt(nonce), price: BigInt(price) };
}

/** The token transfer in signed bytes of ours; undefined for an empty or a native one. */
export function tokensIn(raw: Buffer) {
  const { price: _, ...what } = read(raw);
  return isToken(what.contract) ? what : undefined;
}

interface ChainTx {
  hash: string;
  from: string;
  to: string;
  /** A token's contract. */
  contract: string;
  units: bigint;
  /** If the sender is a wallet of ours. */
  nonce?: bigint;
  price: bigint;
  /** Until then others offer more, and it is not mined. */
  notBefore?: number;
}

interface Mined extends ChainTx {
  failed: boolean;
}

interface FullBlock extends Block {
  txs: readonly Mined[];
}

export interface ChainEnvironment {
  adapter(): ChainAdapter;
  /** A customer, or the operator's faucet, pays. */
  transfer(from: string, to: string, contract: string, units: bigint): string;
  mine(): void;
  /** Its sender spends it otherwise in another branch. @returns false if it is final, or in no block */
  doubleSpends(hash: string): boolean;
  /**
   * Our books have lost the bytes of our sends. Of the unmined ones some node still has a part, and keeps it; every node has
   * dropped the rest, and only the signer knows them. A third party may have kept them and send them once more, much later.
   */
  keepSent(): void;
  /** Amount received by an address in the present branch. */
  paidTo(address: string, contract: string): bigint;
  /** Amount of a token at an address, by the present branch. */
  balance(address: string, contract: string): bigint;
  /** Each transfer to an address in the present branch. */
  arrivals(address: string, contract: string): bigint[];
  /** Whether a transaction is in the present branch and succeeded. */
  isMined(hash: string): boolean;
  /** The maximum depth that a transaction ever had, in blocks, itself included; 0 if it was in none. */
  deepest(hash: string): number;
  /** Amount at an address that was ever deep enough below some head to count. */
  believedAt(address: string, contract: string): bigint;
  /** Whether a process of ours has read transfers: by then the block at which it began is stored. */
  readonly isFollowed: boolean;
  /** Transactions waiting to be mined, in sentences. */
  readonly waiting: readonly string[];
}

// Long because the chain is one closure: blocks, mempool and faults share their state.
export function openChain(deps: {
  chance: Chance;
  faults: Faults;
  calls: Calls;
  now: () => number;
  after: (ms: number, body: () => void) => void;
  /** It accepts our transactions, and never mines them. */
  lies: boolean;
  /** Additional delay of its cost estimates; undefined for none. */
  answersLateMs: () => number | undefined;
  /** Called with the addresses that a new head has paid. */
  paid: (to: string) => void;
  /** Called with every token transfer sent out of our wallet. */
  leaves: (what: { to: string; contract: string; units: bigint; nonce: bigint }) => void;
}): ChainEnvironment {
  const { chance, faults, calls } = deps;
  let branch = 0;
  let blocks: FullBlock[] = [];
  let isFollowed = false;
  const all = new Map<string, FullBlock>();
  let pool: ChainTx[] = [];
  const believed = new Map<string, ChainTx>();
  const depths = new Map<string, number>();
  const fates = new Map<string, boolean>();
  let numbers = 0;
  const broadcasts = new Map<string, ChainTx>();
  let isKept = (_hash: string): boolean => false;
  /** The signer's rule: a nonce has one transfer permanently, or is cancelled. */
  const journal = new Map<bigint, { to: string; contract: string; units: bigint }>();

  const head = () => blocks.at(-1) as FullBlock;
  const idOf = (text: string): string => `0x${createHash('sha256').update(text).digest('hex')}`;

  /** An event usually repeats in another branch, but not always: a contract's effect depends on earlier transactions. */
  function reverts({ hash, from, contract }: ChainTx): boolean {
    if (from !== HOT_ADDRESS || contract === CANCEL || contract === NATIVE) return false;
    const known = fates.get(hash);
    const fate = known === undefined ? faults.occurs('reverted') : known !== faults.occurs('turns_out_otherwise');
    fates.set(hash, fate);
    return fate;
  }

  function append(txs: readonly ChainTx[]): void {
    const parent = blocks.at(-1);
    const number = BigInt(blocks.length);
    const hash = idOf(`${branch} ${number} ${parent?.hash} ${txs.map((tx) => tx.hash).join()}`);
    const mined = txs.map((tx) => ({ ...tx, failed: reverts(tx) }));
    const block = { number, hash, parentHash: parent?.hash ?? '0x', at: new Date(deps.now()), txs: mined };
    blocks.push(block);
    all.set(hash, block);
    // Two confirmations are required: the block itself and one above it.
    for (const tx of parent?.txs ?? []) believed.set(tx.hash, tx);
    for (const [above, { txs: there }] of blocks.slice(-FINALITY).toReversed().entries())
      for (const tx of there) depths.set(tx.hash, Math.max(depths.get(tx.hash) ?? 0, above + 1));
    for (const { to } of txs) deps.paid(to);
  }

  const minedHot = () => blocks.flatMap(({ txs }) => txs).filter(({ from }) => from === HOT_ADDRESS);
  const nextNonce = (): bigint => BigInt(minedHot().length);

  function mine(): void {
    if (faults.occurs('reorg')) return reorganise();
    append(takeFromPool());
  }

  function takeFromPool(): ChainTx[] {
    const taken = pool.filter(({ from }) => from !== HOT_ADDRESS);
    const own = pool.filter(({ from }) => from === HOT_ADDRESS);
    for (let nonce = nextNonce(); ; nonce += 1n) {
      const offers = own.filter((tx) => tx.nonce === nonce && (tx.notBefore ?? 0) <= deps.now());
      const [first] = offers.toSorted((a, b) => Number(b.price - a.price));
      if (first === undefined || deps.lies) break;
      taken.push(first);
      if (chance.happens(0.2)) break;
    }
    const upTo = nextNonce() + BigInt(taken.filter(({ nonce }) => nonce !== undefined).length);
    pool = pool.filter((tx) => !taken.includes(tx) && (tx.nonce === undefined || tx.nonce >= upTo));
    return taken;
  }

  /** Transactions of the old branch wait again, unless spent otherwise or forgotten. The new branch is a block longer. */
  function reorganise(): void {
    const depth = chance.int(1, Math.min(FINALITY - 1, blocks.length - 2));
    if (depth < 1) return append(takeFromPool());
    branches(depth, () => faults.occurs('double_spent'));
  }

  function branches(depth: number, isSpent: (tx: ChainTx) => boolean): void {
    const dropped = blocks.slice(-depth).flatMap(({ txs }) => txs);
    blocks = blocks.slice(0, -depth);
    branch += 1;
    for (const { failed: _, ...tx } of dropped) {
      const lost =
        tx.from === HOT_ADDRESS
          ? !isKept(tx.hash) && faults.occurs('mempool_forgets')
          : tx.from !== FAUCET && isSpent(tx);
      if (!lost) pool.push(tx);
    }
    for (let n = 0; n <= depth; n += 1) append(chance.happens(0.6) ? takeFromPool() : []);
  }

  const canonical = (tx: { hash: string }) => {
    const block = blocks.find(({ txs }) => txs.some(({ hash }) => hash === tx.hash));
    return block && { block, tx: block.txs.find(({ hash }) => hash === tx.hash) as Mined };
  };
  const costOf = (tx: ChainTx): bigint => GAS * tx.price;

  function balanceAt(upTo: bigint, contract: string | null, address: string): bigint {
    let units = contract === null && address === HOT_ADDRESS ? OPENING_COIN : 0n;
    for (const { txs } of blocks.slice(0, Number(upTo) + 1)) {
      for (const tx of txs) {
        if (contract === null) {
          if (tx.from === address && address === HOT_ADDRESS) units -= costOf(tx);
          if (tx.contract !== NATIVE) continue;
          if (tx.from === address) units -= tx.units;
          if (tx.to === address) units += tx.units;
        } else if (tx.contract === contract && !tx.failed) {
          if (tx.to === address) units += tx.units;
          if (tx.from === address) units -= tx.units;
        }
      }
    }
    return units;
  }

  const transfersOf = (block: FullBlock, contracts: readonly string[]): Transfer[] =>
    block.txs.flatMap((tx, logIndex) =>
      tx.failed || !contracts.includes(tx.contract)
        ? []
        : [
            {
              txHash: tx.hash,
              block: block.number,
              blockHash: block.hash,
              logIndex,
              contract: tx.contract,
              from: tx.from,
              to: tx.to,
              units: tx.units,
            },
          ],
    );

  /** Each of our own transactions, as a block holds it. */
  const sent = (from: bigint, to: bigint): SentTransaction[] =>
    blocks.slice(Number(from), Number(to) + 1).flatMap(({ number, at, txs }) =>
      txs.flatMap((tx) =>
        tx.from !== HOT_ADDRESS || tx.nonce === undefined
          ? []
          : [
              {
                hash: tx.hash,
                nonce: tx.nonce,
                block: number,
                blockAt: at,
                ...calling(tx),
                fee: { price: String(tx.price) },
                succeeded: !tx.failed,
                cost: costOf(tx),
                moved: { contract: isToken(tx.contract) ? tx.contract : null, to: tx.to, units: tx.units },
              },
            ],
      ),
    );

  const bare = ({ number, hash, parentHash, at }: FullBlock): Block => ({ number, hash, parentHash, at });
  const calling = ({ to, contract, units }: Pick<ChainTx, 'to' | 'contract' | 'units'>): Call =>
    isToken(contract)
      ? { target: contract, data: Buffer.from(`${to} ${units}`), value: 0n }
      : { target: to, data: Buffer.alloc(0), value: units };
  const decode = ({ target, data, value }: Call): Pick<ChainTx, 'to' | 'contract' | 'units'> => {
    if (target === CANCEL) return { to: HOT_ADDRESS, contract: CANCEL, units: 0n };
    if (data.length === 0) return { to: target, contract: NATIVE, units: value };
    const [to = '', units = '0'] = data.toString().split(' ');
    return { to, contract: target, units: BigInt(units) };
  };

  function broadcast(raw: Buffer): Awaited<ReturnType<ChainAdapter['broadcast']>> {
    const what = read(raw);
    const { nonce } = what;
    const tx = {
      hash: idOf(raw.toString()),
      from: HOT_ADDRESS,
      ...what,
      ...(faults.occurs('fee_too_low') ? { notBefore: deps.now() + chance.int(20_000, 120_000) } : {}),
    };
    const tokens = tokensIn(raw);
    if (tokens !== undefined) deps.leaves(tokens);
    if (nonce < nextNonce()) return { taken: false, slotUsed: true, why: 'nonce too low' };
    broadcasts.set(tx.hash, tx);
    if ((isKept(tx.hash) || !faults.occurs('mempool_forgets')) && !pool.some(({ hash }) => hash === tx.hash))
      pool.push(tx);
    return { taken: true };
  }

  const arrivals = (address: string, contract: string): bigint[] =>
    blocks
      .flatMap(({ txs }) => txs)
      .filter((tx) => !tx.failed && tx.to === address && tx.contract === contract)
      .map(({ units }) => units);

  branch = chance.int(1, 1_000_000);
  append([]);

  return {
    adapter: () => ({
      code: RAIL,
      chain: CHAIN,
      chainId: 31_338n,
      finality: FINALITY,
      pace: {
        ...PACE,
        pollMs: 4_000,
        rebroadcastMs: 10_000,
        stuckMs: 25_000,
        nativeEveryMs: 60_000,
        headAgeLimitMs: 600_000,
      },
      wallets: { hot: { address: HOT_ADDRESS } },
      canSend: (wallet) => wallet === 'hot' || wallet.startsWith('deposit:'),
      readAddress: (text) => (text.startsWith('0x') ? text : undefined),
      address: (index) => `0xdeposit${index}`,
      isSignedBy: async (address, text, signature) => signature === signedBy(address, text),
      head: () =>
        calls.make('node.head', () => {
          const behind = faults.occurs('node_behind') ? chance.int(1, 4) : 0;
          const newest = blocks[Math.max(0, blocks.length - 1 - behind)] as FullBlock;
          return { chainId: 31_338n, genesisHash: (blocks[0] as FullBlock).hash, newest: bare(newest) };
        }),
      blocks: (from, to) => calls.make('node.blocks', () => blocks.slice(Number(from), Number(to) + 1).map(bare)),
      transfers: (asked, contracts) =>
        calls.make('node.transfers', () => {
          isFollowed = true;
          return asked.flatMap(({ hash }) => transfersOf(all.get(hash) as FullBlock, contracts));
        }),
      positions: async (transfers) => transfers.map(() => 0),
      balances: (contract, addresses) =>
        calls.make('node.balances', () => addresses.map((one) => balanceAt(head().number, contract, one))),
      nativeBalancesAt: (block, addresses) =>
        calls.make('node.native', () => addresses.map((one) => balanceAt(block.number, null, one))),
      transfersBetween: (from, to, contracts) =>
        calls.make('node.logs', () =>
          blocks.slice(Number(from), Number(to) + 1).flatMap((block) => transfersOf(block, contracts)),
        ),
      balancesAt: (block, contract, addresses) =>
        calls.make('node.state', () => addresses.map((one) => balanceAt(block, contract, one))),
      gasPrice: () => calls.make('node.gas', () => 30n * 10n ** 9n),
      call: (contract, to, units) => calling({ to, contract: contract ?? NATIVE, units }),
      prepare(_wallet, call) {
        const prepared = calls.make('node.estimate', () => {
          const { contract, units } = decode(call);
          const has = balanceAt(head().number, contract === NATIVE ? null : contract, HOT_ADDRESS);
          return has < units
            ? { rejected: 'would fail: exceeds balance' }
            : { slots: [], deadline: null, body: null, fee: { price: String(30n * 10n ** 9n) } };
        });
        const lateMs = deps.answersLateMs();
        if (lateMs === undefined) return prepared;
        return prepared.then((answer) => new Promise<typeof answer>((wake) => setTimeout(() => wake(answer), lateMs)));
      },
      gasFor: async () => ({ needUnits: GAS * 30n * 10n ** 9n, hasUnits: COIN }),
      replace: (_wallet, _call, before) =>
        calls.make('node.raise', () => ({
          ...before,
          fee: { price: String((BigInt(before.fee['price'] ?? '0') * 5n) / 4n) },
        })),
      sign: (_wallet, call, { slots: [slot = ''], fee }) =>
        calls.make('signer.sign', () => {
          const nonce = BigInt(slot);
          const { to, contract, units } = decode(call);
          const before = journal.get(nonce);
          const isSame = before?.to === to && before.contract === contract && before.units === units;
          if (before !== undefined && !isSame && contract !== CANCEL)
            throw new NotSigned(`it refuses: nonce ${nonce} was signed for another transfer`, { declined: true });
          journal.set(nonce, { to, contract, units });
          const raw = Buffer.from(`${to} ${contract} ${units} ${nonce} ${fee['price']}`);
          return { raw, hash: idOf(raw.toString()) };
        }),
      broadcast: (raw) => calls.make('node.broadcast', () => broadcast(raw), 'actions'),
      sentAs: (_wallet, hash) =>
        calls.make('node.sent', () => sent(0n, head().number).find((one) => one.hash === hash)),
      fates: (sends) =>
        calls.make('node.receipts', () =>
          sends.map(({ versions }): Fate => {
            const found = versions.flatMap(({ hash }) => canonical({ hash }) ?? [])[0];
            if (found === undefined) return { is: 'open' };
            const { block, tx } = found;
            const { number, hash: blockHash } = block;
            return { is: 'included', hash: tx.hash, block: number, blockHash, succeeded: !tx.failed, cost: costOf(tx) };
          }),
        ),
      account: {
        nonces: () =>
          calls.make('node.nonces', () => {
            const mined = nextNonce();
            let pending = mined;
            while (pool.some(({ nonce }) => nonce === pending)) pending += 1n;
            return { mined, pending };
          }),
        signedFrom: (_wallet, nonce) =>
          calls.make('signer.signed', () =>
            [...journal]
              .filter(([at]) => at >= nonce)
              .toSorted(([a], [b]) => Number(a - b))
              .slice(0, 3)
              .map(([at, { to, contract, units }]) => ({
                nonce: at,
                contract: isToken(contract) ? contract : null,
                to,
                units,
              })),
          ),
        cancelCall: () => ({ target: CANCEL, data: Buffer.alloc(0), value: 0n }),
        sentUnder: (_wallet, nonce, from, to) =>
          calls.make('node.sent', () => sent(from, to).find((one) => one.nonce === nonce)),
        sentIn: (_wallet, from, to) => calls.make('node.sent', () => sent(from, to)),
      },
    }),
    transfer(from, to, contract, units) {
      numbers += 1;
      const hash = idOf(`${from} ${to} ${numbers}`);
      pool.push({ hash, from, to, contract, units, price: 0n });
      return hash;
    },
    mine,
    doubleSpends(hash) {
      const depth = blocks.length - Number(canonical({ hash })?.block.number ?? 0n);
      if (depth >= FINALITY || depth >= blocks.length - 1) return false;
      branches(depth, (tx) => tx.hash === hash);
      return true;
    },
    keepSent() {
      const kept = new Set<string>();
      isKept = (hash) => kept.has(hash);
      for (const tx of broadcasts.values()) {
        if ((tx.nonce ?? 0n) < nextNonce() || chance.happens(0.5)) {
          kept.add(tx.hash);
          if ((tx.nonce ?? 0n) >= nextNonce() && !pool.some(({ hash }) => hash === tx.hash)) pool.push(tx);
          continue;
        }
        pool = pool.filter(({ hash }) => hash !== tx.hash);
        if (chance.happens(0.3))
          deps.after(chance.int(20_000, 400_000), () => {
            kept.add(tx.hash);
            if ((tx.nonce ?? 0n) >= nextNonce() && !pool.some(({ hash }) => hash === tx.hash)) pool.push(tx);
          });
      }
    },
    paidTo: (address, contract) => arrivals(address, contract).reduce((sum, units) => sum + units, 0n),
    arrivals,
    balance: (address, contract) => balanceAt(head().number, contract, address),
    isMined: (hash) => canonical({ hash })?.tx.failed === false,
    deepest: (hash) => depths.get(hash) ?? 0,
    believedAt: (address, contract) =>
      [...believed.values()]
        .filter((tx) => tx.to === address && tx.contract === contract)
        .reduce((sum, { units }) => sum + units, 0n),
    get isFollowed() {
      return isFollowed;
    },
    get waiting() {
      return pool.map(
        ({ nonce, to }) => `what goes to ${to} waits to be mined${nonce === undefined ? '' : ` with nonce ${nonce}`}`,
      );
    },
  };
}

/**
 * What an adapter provides to the engine in chain.ts: reading blocks, transfers and balances, and signing and sending.
 *
 * An adapter keeps no state and takes no database transaction; it asks a node and returns the node's answer. A late, broken
 * or self-contradicting answer is thrown as Unavailable. The engine decides what the answers mean.
 *
 * Contracts, addresses and hashes are canonical text (for EVM lower case): equal things are equal strings.
 */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Report } from './rail.ts';

/** What a rail receives from the installation. */
export interface RailContext {
  db: Database;
  clock: Clock;
  log: Log;
  report: Report;
  /**
   * Whether the transfer to be signed for a key may leave now: the gate for payouts, kill switches for own transfers. Locks
   * the key's order; the answer holds until `tx` ends. Without it nothing is checked.
   */
  mayLeave?(tx: Tx, what: { rail: string; key: string }): Promise<SendAnswer>;
}

export type SendAnswer = { outcome: 'pay' } | { outcome: 'wait' | 'hold'; why: string };

export interface ChainAdapter {
  /** The rail's code and the chain's: `evm.matic20`, `matic20`. */
  readonly code: string;
  readonly chain: string;
  readonly chainId: bigint;
  /** Number of blocks below the head after which a block is treated as final. */
  readonly finality: number;
  readonly pace: ChainPace;
  /** Our wallets by name, whether or not this process can send from them; `hot` pays customers. */
  readonly wallets: Readonly<Record<string, { readonly address: string }>>;
  /** Whether this process has a signer for it: one of `wallets`, or `deposit:<index>` for a deposit address. */
  canSend(wallet: string): boolean;
  /** Whether its node has not been started yet: `Rail.isAsleep`. */
  isAsleep?(): boolean;

  /** Parses an address into our one spelling; undefined when it is not an address anybody can have meant. */
  readAddress(text: string): string | undefined;
  /** Whether the key of an address signed this text. Pure. */
  isSignedBy?(address: string, text: string, signature: string): Promise<boolean>;
  /** Address of a number. Pure. */
  address(index: bigint): string;

  /** The node's identity and its newest block, answered by one node at one time. */
  head(): Promise<{ chainId: bigint; genesisHash: string; newest: Block }>;
  /** Blocks `from` to `to`, in order, without gaps. */
  blocks(from: bigint, to: bigint): Promise<Block[]>;
  /** Transfers of these contracts in exactly these blocks, found by block hash, so never those of another branch. */
  transfers(blocks: readonly Block[], contracts: readonly string[]): Promise<Transfer[]>;
  /** Each transfer's position in its chain transaction: the same wherever the transaction is mined. */
  positions(transfers: readonly Transfer[]): Promise<number[]>;
  /**
   * Balances in a contract's token, or in native coin. The second method reads a past block; undefined when the node no
   * longer has that state.
   */
  balances(contract: string | null, addresses: readonly string[]): Promise<bigint[]>;
  nativeBalancesAt(block: Block, addresses: readonly string[]): Promise<bigint[] | undefined>;
  /** Plain payments of native coin to an address in these final blocks. Payments forwarded by a contract are not included. */
  coinTo?(from: bigint, to: bigint, address: string): Promise<CoinPayment[]>;
  /** Whether there is a contract at an address; nobody may own the same address on another chain. */
  hasCode?(address: string): Promise<boolean>;
  /** For reconciliation: transfers of these contracts in a range of final blocks, requested by number and not by hash. */
  transfersBetween?(from: bigint, to: bigint, contracts: readonly string[]): Promise<Transfer[]>;
  /** Balances at a block, in a token or in native coin; undefined when the node no longer has that state. */
  balancesAt?(block: bigint, contract: string | null, addresses: readonly string[]): Promise<bigint[] | undefined>;
  /** Current price of one unit of gas, in native units. */
  gasPrice(): Promise<bigint>;

  /** Builds the call of a transfer. Pure. `rejected` for a recipient that nobody can have meant. */
  call(contract: string | null, to: string, units: bigint): Call | { rejected: string };
  /** Checks whether the signer or the chain would reject it, and proposes a fee. */
  estimate(wallet: string, call: Call): Promise<{ fee: Fee } | { rejected: string }>;
  /** What a call may cost at most if sent now, and how much native coin the wallet has. */
  gasFor(wallet: string, call: Call): Promise<{ needUnits: bigint; hasUnits: bigint } | { rejected: string }>;
  /**
   * A higher fee that the mempool accepts as a replacement of `fee`; undefined at the cap, or when the wallet could not pay
   * it.
   */
  raise(wallet: string, call: Call, fee: Fee): Promise<Fee | undefined>;
  /** Nonces used in mined blocks, and including those waiting in the node's mempool. */
  nonces(wallet: string): Promise<{ mined: bigint; pending: bigint }>;
  sign(wallet: string, call: Call, nonce: bigint, fee: Fee): Promise<{ raw: Buffer; hash: string }>;
  broadcast(raw: Buffer): Promise<Broadcast>;
  /**
   * What its signer has signed for a wallet under nonces from this one on, mined or not, in order; only the first ones when
   * there are many. Absent when no signer keeps a journal. @throws NotSigned
   */
  signedFrom?(wallet: string, nonce: bigint): Promise<readonly SignedBefore[]>;
  /**
   * An empty transfer from the wallet to itself: it uses up a nonce, so that nothing else signed under it can be mined. Pure.
   */
  cancelCall?(wallet: string): Call;
  receipts(hashes: readonly string[]): Promise<(Receipt | undefined)[]>;

  /**
   * What a wallet of ours sent under a nonce, in blocks `from` to `to`, `from` being below it. Undefined when it is in none
   * of them; 'no state' when the node cannot say how many nonces were used at an earlier block.
   */
  sentUnder(wallet: string, nonce: bigint, from: bigint, to: bigint): Promise<SentTransaction | undefined | 'no state'>;
  /** Everything a wallet of ours sent in these blocks, by reading the blocks whole. */
  sentIn(wallet: string, from: bigint, to: bigint): Promise<SentTransaction[]>;
  /** What a wallet of ours sent under a hash; undefined when no block contains it, or another wallet sent it. */
  sentAs(wallet: string, hash: string): Promise<SentTransaction | undefined>;
}

/** A signed transfer. `contract` null is native coin. */
export interface SignedBefore {
  nonce: bigint;
  contract: string | null;
  to: string;
  units: bigint;
}

/** A transaction from one of our wallets, as mined. */
export interface SentTransaction {
  hash: string;
  nonce: bigint;
  block: bigint;
  blockAt: Date;
  /** '' when it created a contract. */
  target: string;
  data: Buffer;
  value: bigint;
  fee: Fee;
  succeeded: boolean;
  /** Native units. */
  cost: bigint;
  /** What a plain transfer moves; undefined for every other call. `contract` null is native coin. */
  moved: { contract: string | null; to: string; units: bigint } | undefined;
}

/** Intervals and timeouts, in milliseconds of real time; each chain has its own. */
export interface ChainPace {
  /** Between polls of the head. */
  pollMs: number;
  /** A newest block older than this is unhealthy. */
  headAgeLimitMs: number;
  /** Blocks written in one database transaction. */
  blocksPerStep: number;
  /** How long a different branch that is lower than ours must persist before we follow it. */
  lowerBranchMs: number;
  /** Between native balance checks, and the maximum age of a checked address. */
  nativeEveryMs: number;
  nativeWatchMs: number;
  /** When unmined bytes are broadcast again, and when a higher fee is offered. */
  rebroadcastMs: number;
  stuckMs: number;
}

export const PACE: ChainPace = {
  pollMs: 1_000,
  headAgeLimitMs: 60_000,
  blocksPerStep: 200,
  lowerBranchMs: 10_000,
  nativeEveryMs: 15_000,
  nativeWatchMs: 7 * 86_400_000,
  rebroadcastMs: 15_000,
  stuckMs: 90_000,
};

export interface Block {
  number: bigint;
  hash: string;
  parentHash: string;
  at: Date;
}

export interface Transfer {
  txHash: string;
  block: bigint;
  blockHash: string;
  /** Index in its block's logs. */
  logIndex: number;
  contract: string;
  from: string;
  to: string;
  units: bigint;
}

export interface CoinPayment {
  txHash: string;
  from: string;
  units: bigint;
}

/** What every version of a send shares. */
export interface Call {
  target: string;
  data: Buffer;
  value: bigint;
  /** Number of the deposit address that native coin goes to, if it is one of ours: a signer may ask for it as proof. */
  depositIndex?: bigint | undefined;
}

/** The remote signer has not signed: it did not answer, or it declined the reserved transfer. Retried. */
export class NotSigned extends Unavailable {
  readonly declined: boolean;
  constructor(why: string, options: { declined?: boolean; cause?: unknown } = {}) {
    super('signer', why, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'NotSigned';
    this.declined = options.declined ?? false;
  }
}

/** A fee in the adapter's format; stored as it is. */
export type Fee = Readonly<Record<string, string>>;

export type Broadcast =
  | { taken: true }
  /** `nonceUsed`: a block already contains a transaction of this wallet with this nonce, ours or not. */
  | { taken: false; nonceUsed: boolean; why: string };

export interface Receipt {
  block: bigint;
  blockHash: string;
  succeeded: boolean;
  /** Native units. */
  cost: bigint;
}

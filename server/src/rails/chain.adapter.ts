/**
 * What a chain brings to the engine in chain.ts: reading blocks, transfers and balances, and signing and sending.
 *
 * An adapter keeps no state and takes no database transaction; it asks a node and says what the node said. Whatever the
 * node answers late, broken or inconsistent with itself is thrown as Unavailable. What to make of it is the engine's.
 *
 * Contracts, addresses and hashes are canonical text (for EVM lower case): equal things are equal strings.
 */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Report } from './rail.ts';

/** What a rail is given to work with. */
export interface RailContext {
  db: Database;
  clock: Clock;
  log: Log;
  report: Report;
  /**
   * Whether what is to be signed for a key may leave now: the gate for payouts, kill switches for own transfers. Locks the key's
   * order, and holds until `tx` ends. Left out where nothing is asked.
   */
  mayLeave?(tx: Tx, what: { rail: string; key: string }): Promise<SendAnswer>;
}

export type SendAnswer = { outcome: 'pay' } | { outcome: 'wait' | 'hold'; why: string };

export interface ChainAdapter {
  /** The rail's code and the chain's: `evm.matic20`, `matic20`. */
  readonly code: string;
  readonly chain: string;
  readonly chainId: bigint;
  /** Blocks below the head that we rely on never to change. */
  readonly finality: number;
  readonly pace: ChainPace;
  /** Our wallets by name, whether or not we can send from them here; `hot` pays customers. */
  readonly wallets: Readonly<Record<string, { readonly address: string }>>;
  /** Whether a signer for it is here: one of `wallets`, or `deposit:<index>` for the deposit address of a number. */
  canSend(wallet: string): boolean;
  /** Whether its node has yet to be started: `Rail.isAsleep`. */
  isAsleep?(): boolean;

  /** An address as people write it, in the one spelling we keep; undefined where nobody can have meant it. */
  readAddress(text: string): string | undefined;
  /** Whether the key of an address signed this text. Pure. */
  isSignedBy?(address: string, text: string, signature: string): Promise<boolean>;
  /** Address of a number. Pure. */
  address(index: bigint): string;

  /** Who the node is and how far it is, answered by one node at one time. */
  head(): Promise<{ chainId: bigint; genesisHash: string; newest: Block }>;
  /** Blocks `from` to `to`, in order, none left out. */
  blocks(from: bigint, to: bigint): Promise<Block[]>;
  /** Transfers of these contracts in exactly these blocks, found by block hash, so never those of another branch. */
  transfers(blocks: readonly Block[], contracts: readonly string[]): Promise<Transfer[]>;
  /** Where in its chain transaction each transfer stands: the same wherever the transaction is mined. */
  positions(transfers: readonly Transfer[]): Promise<number[]>;
  /** Balances in a contract's token, or in native coin; at a block, or undefined where the node no longer has its state. */
  balances(contract: string | null, addresses: readonly string[]): Promise<bigint[]>;
  nativeBalancesAt(block: Block, addresses: readonly string[]): Promise<bigint[] | undefined>;
  /** Plain payments of native coin to an address in these blocks, which are final. What a contract passed on is not among them. */
  coinTo?(from: bigint, to: bigint, address: string): Promise<CoinPayment[]>;
  /** Whether there is a contract at an address, whose owner may be nobody on another chain. */
  hasCode?(address: string): Promise<boolean>;
  /** For reconciliation: transfers of these contracts in a range of final blocks, asked by number and not by hash. */
  transfersBetween?(from: bigint, to: bigint, contracts: readonly string[]): Promise<Transfer[]>;
  /** Balances at a block, in a token or in native coin; undefined where the node no longer has its state. */
  balancesAt?(block: bigint, contract: string | null, addresses: readonly string[]): Promise<bigint[] | undefined>;
  /** Native units for one unit of gas, now. */
  gasPrice(): Promise<bigint>;

  /** What a transfer is as a call. Pure. `refused` for a recipient nobody can have meant. */
  call(contract: string | null, to: string, units: bigint): Call | { rejected: string };
  /** Would the signer refuse it, would the chain, and what to offer for it. */
  estimate(wallet: string, call: Call): Promise<{ fee: Fee } | { rejected: string }>;
  /** What a call may cost at most if sent now, and what native coin the wallet has. */
  gasFor(wallet: string, call: Call): Promise<{ needUnits: bigint; hasUnits: bigint } | { rejected: string }>;
  /** A higher offer that the mempool takes in place of `fee`; undefined at the cap, or where the wallet could not pay it. */
  raise(wallet: string, call: Call, fee: Fee): Promise<Fee | undefined>;
  /** Nonces used in mined blocks, and those with what waits in the node's mempool. */
  nonces(wallet: string): Promise<{ mined: bigint; pending: bigint }>;
  sign(wallet: string, call: Call, nonce: bigint, fee: Fee): Promise<{ raw: Buffer; hash: string }>;
  broadcast(raw: Buffer): Promise<Broadcast>;
  /**
   * What its signer has signed for a wallet under nonces from this one on, mined or not, in their order; the first of them, where there
   * are many. Left out where no signer keeps a journal. @throws NotSigned
   */
  signedFrom?(wallet: string, nonce: bigint): Promise<readonly SignedBefore[]>;
  /** Nothing, to the wallet itself: what a nonce is used up by, so that nothing else signed under it can be mined. Pure. */
  cancelCall?(wallet: string): Call;
  receipts(hashes: readonly string[]): Promise<(Receipt | undefined)[]>;

  /**
   * What a wallet of ours sent under a nonce, in blocks `from` to `to`, `from` being below it. Undefined where it is in none of
   * them; 'no state' where the node cannot say how many nonces were used at an earlier block.
   */
  sentUnder(wallet: string, nonce: bigint, from: bigint, to: bigint): Promise<SentTransaction | undefined | 'no state'>;
  /** All that a wallet of ours sent in these blocks, read whole. */
  sentIn(wallet: string, from: bigint, to: bigint): Promise<SentTransaction[]>;
  /** What a wallet of ours sent under a hash; undefined where no block holds it, or another wallet sent it. */
  sentAs(wallet: string, hash: string): Promise<SentTransaction | undefined>;
}

/** What a signer has signed. `contract` null is native coin. */
export interface SignedBefore {
  nonce: bigint;
  contract: string | null;
  to: string;
  units: bigint;
}

/** A transaction out of one of our wallets, as a block holds it. */
export interface SentTransaction {
  hash: string;
  nonce: bigint;
  block: bigint;
  blockAt: Date;
  /** '' where it made a contract. */
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

/** How often and how patiently, in milliseconds of real time; each chain has its own. */
export interface ChainPace {
  /** Between looks at the head. */
  pollMs: number;
  /** A newest block older than this is unhealthy. */
  headAgeLimitMs: number;
  /** Blocks taken in one database transaction. */
  blocksPerStep: number;
  /** How long another branch that is lower than ours must persist before it is believed. */
  lowerBranchMs: number;
  /** Between looks for native coin, and how old an address may be to be looked at. */
  nativeEveryMs: number;
  nativeWatchMs: number;
  /** After which bytes that are not mined are broadcast again, and after which a higher fee is offered. */
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
  /** Among the logs of its block. */
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
  /** Number of the deposit address that native coin goes to, where it is one of ours: a signer may ask for the proof. */
  depositIndex?: bigint | undefined;
}

/** The keys are elsewhere, and have not signed: they did not answer, or declined what was reserved. It is tried again. */
export class NotSigned extends Unavailable {
  readonly declined: boolean;
  constructor(why: string, options: { declined?: boolean; cause?: unknown } = {}) {
    super('signer', why, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'NotSigned';
    this.declined = options.declined ?? false;
  }
}

/** An offer to the chain in the adapter's words; stored as it is. */
export type Fee = Readonly<Record<string, string>>;

export type Broadcast =
  | { taken: true }
  /** `nonceUsed`: a block already holds a transaction of this wallet with this nonce, ours or not. */
  | { taken: false; nonceUsed: boolean; why: string };

export interface Receipt {
  block: bigint;
  blockHash: string;
  succeeded: boolean;
  /** Native units. */
  cost: bigint;
}

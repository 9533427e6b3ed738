/**
 * What an adapter provides to the engine in chain.ts: reading blocks, transfers and balances, and signing and sending. The part
 * common to every family of chains, and the part that an account chain adds (docs/decisions/0058-chain-families.md).
 *
 * An adapter keeps no state and takes no database transaction; it asks a node and returns the node's answer. A late, broken or
 * self-contradicting answer throws Unavailable. The engine decides what the answers mean.
 *
 * Contracts, addresses and hashes are canonical text (for EVM lower case): equal things are equal strings.
 */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Report } from './rail.ts';

/** The parts of the installation that a rail receives. */
export interface RailContext {
  db: Database;
  clock: Clock;
  log: Log;
  report: Report;
  /**
   * Whether the transfer to be signed for a key may leave now: the gate for payouts, kill switches for own transfers. Locks the
   * key's order; the answer stays valid until `tx` ends. Without this function nothing is checked.
   */
  mayLeave?(tx: Tx, what: { rail: string; key: string }): Promise<SendAnswer>;
  /**
   * Locks the orders of these deposits and their customers, before the first of them is reported in the same transaction: a report
   * locks accounts, and a transaction that holds those must not wait for an order or a customer.
   */
  lockOrders?(tx: Tx, of: { rail: string; externalIds: readonly string[] }): Promise<unknown>;
}

export type SendAnswer = { outcome: 'pay' } | { outcome: 'wait' | 'hold'; why: string };

/**
 * The contract of a chain, whatever its family: its identity, observation, targets, sends, and reconciliation.
 *
 * A family adds its own part: an account chain has ordered nonces (`account`), a chain of outputs shows native transfers
 * (`showsNative`), and on a chain with deadlines each send has one.
 */
export type ChainAdapter = Family & (DerivedTargets | IssuedTargets);

interface Family extends Observing, Addresses, Sends, Reconciling {
  /** The rail's code and the chain's: `evm.matic20`, `matic20`. */
  readonly code: string;
  readonly chain: string;
  readonly chainId: bigint;
  /** Number of blocks below the head from which on a block is treated as final. */
  readonly finality: number;
  readonly pace: ChainPace;
  /** Our wallets by name, whether or not this process can send from them; `hot` pays customers. */
  readonly wallets: Readonly<Record<string, { readonly address: string }>>;
  /** Whether this process has a signer for a wallet: one of `wallets`, or `deposit:<index>` for a deposit address. */
  canSend(wallet: string): boolean;
  /** Whether the chain's node has not been started yet: `Rail.isAsleep`. */
  isAsleep?(): boolean;
  /** Only for an account chain, where a wallet's transactions are numbered and mined in that order. */
  readonly account?: AccountChain;
  /** Only for a chain where one transaction of the paying wallet can sweep many deposit addresses. */
  readonly batches?: Batches;
}

/** Reading blocks, and the transfers in them. */
interface Observing {
  /**
   * The node's identity and its newest block, from one node at one time. `final`: the newest block that the chain itself calls
   * final; absent for a chain without that notion, for which `finality` counts.
   */
  head(): Promise<{ chainId: bigint; genesisHash: string; newest: Block; final?: bigint }>;
  /** Blocks `from` to `to`, in order, without gaps. */
  blocks(from: bigint, to: bigint): Promise<Block[]>;
  /**
   * Transfers of these contracts in exactly these blocks, found by block hash, so they never belong to another branch. Includes
   * native transfers if `showsNative`.
   */
  transfers(blocks: readonly Block[], contracts: readonly string[]): Promise<Transfer[]>;
  /**
   * True if blocks show each movement of the native asset, as outputs or as transfers: then `transfers` contains them under the
   * contract `NATIVE`, and native deposits are not searched for by balance.
   */
  readonly showsNative?: boolean;
  /** True if `head` says which block is final; then no deposit counts as confirmed before its block is. */
  readonly saysFinal?: boolean;
  /** Each transfer's position in its chain transaction, which is the same in whichever block the transaction is mined. */
  positions(transfers: readonly Transfer[]): Promise<number[]>;
  /**
   * Balances of a contract's token, or of the native asset. The second method reads a past block; undefined if the node no longer
   * has that state.
   */
  balances(contract: string | null, addresses: readonly string[]): Promise<bigint[]>;
  nativeBalancesAt(block: Block, addresses: readonly string[]): Promise<bigint[] | undefined>;
  /** Plain native payments to an address in these final blocks. Payments forwarded by a contract are not included. */
  coinTo?(from: bigint, to: bigint, address: string): Promise<CoinPayment[]>;
  /** Whether there is a contract at an address; the same address on another chain may have no owner. */
  hasCode?(address: string): Promise<boolean>;
  /** Current price of one unit of gas, in native units. */
  gasPrice(): Promise<bigint>;
}

interface Addresses {
  /** Parses an address into our one spelling; undefined if it is no address that anyone can have meant. */
  readAddress(text: string): string | undefined;
  /** Whether the key of an address signed this text. Pure. */
  isSignedBy?(address: string, text: string, signature: string): Promise<boolean>;
  /** Whether the key of an address signed typed data with this text, as a proof of control. Pure. */
  isWalletProof?(address: string, text: string, signature: string): Promise<boolean>;
}

/** Where customers pay, on a chain where a public key derives the addresses. */
interface DerivedTargets {
  /** Address of a number. Pure. */
  readonly address: (index: bigint) => string;
  readonly issuer?: undefined;
}

/** Where customers pay, on a chain where targets are issued one by one: hardened keys, virtual accounts (chain.targets.ts). */
interface IssuedTargets {
  readonly address?: undefined;
  readonly issuer: TargetIssuer;
}

/** Issues targets and numbers them in the order of issue. It never loses one and never issues one twice. */
export interface TargetIssuer {
  /** Number of free targets that the books keep in stock. */
  readonly keep: number;
  /** Issued targets from a number on, at most a thousand. Issues none. @throws Unavailable */
  issued(from: bigint): Promise<string[]>;
  /** Issues more targets. They are read with `issued`, even if this answer is lost. @throws Unavailable */
  issue(count: number): Promise<void>;
}

/**
 * Sends. A chain guarantees in one of two ways, or in both, that a send happens once. A *slot* is used up by the transaction: a
 * nonce, an outpoint, a sequence number. All versions of a send share one, so at most one of them takes effect, and a version
 * with a higher fee may be sent at any time. A *deadline* is a time after which no block can include the transaction: a second
 * version may be made only after the first is proved absent.
 */
interface Sends {
  /**
   * On a chain with deadlines: the maximum time between signing a transaction and its inclusion. After a restore nothing leaves
   * before that time has passed.
   */
  readonly longestValidMs?: number;
  /** Builds the call of a transfer. Pure. `rejected` for a recipient that cannot be meant. */
  call(contract: string | null, to: string, units: bigint): Call | { rejected: string };
  /**
   * Checks whether the signer or the chain would reject the call, and returns its slots and its cost. An account chain leaves
   * `slots` empty: the engine takes the next nonce in the transaction that writes the row.
   *
   * @param taken slots of the wallet that other sends have
   */
  prepare(wallet: string, call: Call, taken: ReadonlySet<string>): Promise<Prepared | { rejected: string }>;
  /**
   * The hash of a prepared transaction, on a chain where it follows from the content alone, whatever the signature. Without it, a
   * version is known by its hash only once its signed bytes are stored.
   */
  hashOf?(prepared: Pick<Prepared, 'body'>): string | undefined;
  /** The maximum cost of a call if sent now, and the wallet's native balance. */
  gasFor(wallet: string, call: Call): Promise<{ needUnits: bigint; hasUnits: bigint } | { rejected: string }>;
  /** Signs. The hash is known before anything is broadcast. @throws NotSigned */
  sign(wallet: string, call: Call, prepared: Prepared): Promise<{ raw: Buffer; hash: string }>;
  /** @throws Unavailable if it is unknown whether the node has accepted it */
  broadcast(raw: Buffer): Promise<Broadcast>;
  /**
   * The next version of a send, with a higher fee, which the mempool accepts in place of `before`. It keeps the slots and may add
   * some. Undefined at the fee cap, if the wallet could not pay for it, or on a chain where a send that may still be included is
   * never replaced.
   */
  replace(wallet: string, call: Call, before: Prepared, taken: ReadonlySet<string>): Promise<Prepared | undefined>;
  /**
   * The fate of each of these sends.
   *
   * @param final the newest block of the branch we follow that no reorg can replace: a proof of absence may use it and nothing
   *   newer
   */
  fates(sends: readonly SendAsked[], final: Block | undefined): Promise<Fate[]>;
}

/** Input of reconciliation, independent of what we stored. Without the first two functions a rail is never reconciled. */
interface Reconciling {
  /** Transfers of these contracts in a range of final blocks, requested by number and not by hash. */
  transfersBetween?(from: bigint, to: bigint, contracts: readonly string[]): Promise<Transfer[]>;
  /** Balances at a block, of a token or the native asset; undefined if the node no longer has that state. */
  balancesAt?(block: bigint, contract: string | null, addresses: readonly string[]): Promise<bigint[] | undefined>;
  /**
   * True if the chain's nodes know balances only at their newest blocks: then a wallet's balance before our first block is
   * computed as the remainder.
   */
  readonly keepsNoHistory?: boolean;
  /** The transaction that a wallet of ours sent under a hash; undefined if no block contains it, or if another wallet sent it. */
  sentAs?(wallet: string, hash: string): Promise<SentTransaction | undefined>;
}

/** Ordered nonces, and queries by nonce. */
export interface AccountChain {
  /** Number of nonces used in mined blocks, and that number including those waiting in the node's mempool. */
  nonces(wallet: string): Promise<{ mined: bigint; pending: bigint }>;
  /**
   * The transactions its signer has signed for a wallet under nonces from this one on, mined or not, in order; only the first
   * ones if there are many. Absent if no signer keeps a journal. @throws NotSigned
   */
  signedFrom?(wallet: string, nonce: bigint): Promise<readonly SignedBefore[]>;
  /**
   * An empty transfer from the wallet to itself: it uses up a nonce, so that no other transaction signed under it can be mined.
   * Pure.
   */
  cancelCall?(wallet: string): Call;
  /**
   * The transaction that a wallet of ours sent under a nonce, in blocks `from` to `to`, `from` being below it. Undefined if it is
   * in none of them; 'no state' if the node cannot say how many nonces were used at an earlier block.
   */
  sentUnder(wallet: string, nonce: bigint, from: bigint, to: bigint): Promise<SentTransaction | undefined | 'no state'>;
  /** Everything a wallet of ours sent in these blocks, by reading the blocks whole. */
  sentIn(wallet: string, from: bigint, to: bigint): Promise<SentTransaction[]>;
}

/** Sweeps in batches (chain.batch.ts). All but the first three also serve batches that were written before a setting changed. */
export interface Batches {
  /** Most deposit addresses of a batch; 0 if batches are off. */
  readonly most: number;
  /** Builds the call that moves these units of a token to the paying wallet. Pure. */
  call(contract: string, moves: readonly { address: string; units: bigint }[]): Call | { rejected: string };
  /** As `prepare`. @param indexes numbers of the deposit addresses, in the order of the moves */
  prepare(wallet: string, call: Call, indexes: readonly bigint[]): Promise<Prepared | { rejected: string }>;
  /** What such a call moves; undefined for any other call. Pure. */
  moves(call: Call): { contract: string; moves: readonly { address: string; units: bigint }[] } | undefined;
  /** Nonces of deposit addresses that a version uses up, without a transaction of theirs. Pure. */
  delegating(version: Pick<Prepared, 'body'>): readonly { index: bigint; nonce: bigint }[];
}

/** Stands for the native asset in place of a contract in a `Transfer`. */
export const NATIVE = '';

/** The slots and cost of a version of a send, before it is signed. Stored with its row. */
export interface Prepared {
  /**
   * The slots that it uses up, in the family's format: a nonce, `<hash>:<output>`. No other send of the wallet has any of them.
   */
  slots: readonly string[];
  /** The time, on the chain's clock, after which no block can include it; null if it stays valid. */
  deadline: Date | null;
  /** The content to sign, if it cannot be rebuilt from the call: for example a body with a reference block. */
  body: Buffer | null;
  fee: Fee;
}

/** A send whose fate is queried: its versions that may have left, oldest first. */
export interface SendAsked {
  wallet: string;
  versions: readonly ({ hash: string } & Pick<Prepared, 'slots' | 'deadline' | 'body'>)[];
}

export type Fate =
  /** No block contains it, and one still may. */
  | { is: 'open' }
  /** A block contains one of its versions. `succeeded: false`: included and failed, which costs a fee and moves nothing. */
  | ({ is: 'included'; hash: string } & Receipt)
  /** No final block contains any of its versions, and none ever can. `proof` is the reason, in words for the trace. */
  | { is: 'absent'; proof: string };

/** A signed transfer. `contract` is null for the native asset. */
export interface SignedBefore {
  nonce: bigint;
  contract: string | null;
  to: string;
  units: bigint;
}

/** A transaction from one of our wallets, as mined. */
export interface SentTransaction {
  hash: string;
  /** Null on a chain without ordered nonces. */
  nonce: bigint | null;
  block: bigint;
  blockAt: Date;
  /** Empty if it created a contract. */
  target: string;
  data: Buffer;
  value: bigint;
  fee: Fee;
  succeeded: boolean;
  /** Native units. */
  cost: bigint;
  /** The transfer, if the call is a plain transfer; undefined for every other call. `contract` is null for the native asset. */
  moved: { contract: string | null; to: string; units: bigint } | undefined;
}

/** Intervals and timeouts, in milliseconds of real time; each chain has its own. */
export interface ChainPace {
  /** Interval between polls of the head. */
  pollMs: number;
  /** How long an unchanged head makes reading our own rows unnecessary; other processes write there, too. */
  idleMs: number;
  /** A newest block older than this is unhealthy. */
  headAgeLimitMs: number;
  /** Blocks written in one database transaction. */
  blocksPerStep: number;
  /** How long a different branch that is lower than ours must persist before we follow it. */
  lowerBranchMs: number;
  /** Interval between native balance checks, and the maximum age of an address that is checked. */
  nativeEveryMs: number;
  nativeWatchMs: number;
  /** Time after which unmined bytes are broadcast again, and after which a higher fee is offered. */
  rebroadcastMs: number;
  stuckMs: number;
}

export const PACE: ChainPace = {
  pollMs: 1_000,
  idleMs: 5_000,
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

/** The part common to every version of a send. */
export interface Call {
  target: string;
  data: Buffer;
  value: bigint;
  /** Index of the deposit address that receives native units, if it is one of ours: a signer may require it as proof. */
  depositIndex?: bigint | undefined;
}

/** The remote signer has not signed: it did not answer, or it declined the reserved transfer. The caller retries. */
export class NotSigned extends Unavailable {
  readonly declined: boolean;
  constructor(why: string, options: { declined?: boolean; cause?: unknown } = {}) {
    super('signer', why, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'NotSigned';
    this.declined = options.declined ?? false;
  }
}

/** A fee in the adapter's format, which is stored as it is. */
export type Fee = Readonly<Record<string, string>>;

export type Broadcast =
  | { taken: true }
  /** `slotUsed`: a block already contains a transaction of this wallet, ours or not, that has used one of its slots. */
  | { taken: false; slotUsed: boolean; why: string };

export interface Receipt {
  block: bigint;
  blockHash: string;
  succeeded: boolean;
  /** Native units. */
  cost: bigint;
  /** The token transfers in it, whoever made them; not every family reads them. */
  moved?: readonly { contract: string; from: string; to: string; units: bigint }[];
}

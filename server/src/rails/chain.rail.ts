/** The rail of a chain: its additions to the contract of every rail. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { BatchSending } from './chain.batch.ts';
import type { Rail, Sending, Sent } from './rail.ts';

export interface ChainRail extends Rail {
  readonly chain: string;
  /** Addresses of the wallets from which this process can send. */
  readonly walletAddresses: Readonly<Record<string, string>>;
  /** As `send`, from any wallet. */
  sendFrom(wallet: string, sending: Sending): Promise<Sent>;
  /** Most deposit addresses that one transaction of the paying wallet sweeps here; 0 if each is swept alone. */
  readonly mostInBatch: number;
  /** As `sendFrom`, for a batch of sweeps. */
  sendBatch(batch: BatchSending): Promise<Sent>;
  /**
   * Number of this process's checks of the chain and of our rows about it. As long as it does not change, the process has seen
   * nothing new.
   */
  checks(): number;
  /** Whether this process can sign for this wallet. */
  canSend(wallet: string): boolean;
  /**
   * The maximum cost of `sendFrom` if sent now, in native units, and the wallet's balance.
   * @throws Unavailable
   */
  gasFor(
    wallet: string,
    sending: Omit<Sending, 'key'>,
  ): Promise<{ needUnits: bigint; hasUnits: bigint } | { rejected: string }>;
  /** The target of a number that was assigned. */
  targetOf(tx: Tx, index: bigint): Promise<string>;
  /** The asset in which gas is paid. */
  nativeAsset(tx: Tx): Promise<AssetCode | undefined>;
  /** Native balance of the paying wallet at the newest block; undefined if there is no such wallet. @throws Unavailable */
  hotNative(): Promise<{ address: string; units: bigint; block: bigint } | undefined>;
  /**
   * Stores a transaction of the paying wallet, by its hash, as a movement that can be matched.
   * @throws Refusal 'does_not_fit', Unavailable
   */
  readByHash(hash: string): Promise<bigint>;
  /** Native units for one unit of gas, from the node, capped. @throws Unavailable */
  gasPrice(): Promise<bigint>;
  /** Reads the gas price and stores it for quotes. @throws Unavailable */
  refreshGas(): Promise<void>;
}

/** A rail of a chain: its additions to the contract of every rail. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { Rail, Sending, Sent } from './rail.ts';

export interface ChainRail extends Rail {
  readonly chain: string;
  /** Addresses of the wallets that this process can send from. */
  readonly walletAddresses: Readonly<Record<string, string>>;
  /** `send` from a wallet other than the paying wallet. */
  sendFrom(wallet: string, sending: Sending): Promise<Sent>;
  /** How often this process has checked the chain and our rows of it: a number that stays says that it saw nothing new. */
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
  /** The asset that gas is paid in. */
  nativeAsset(tx: Tx): Promise<AssetCode | undefined>;
  /** Native balance of the paying wallet at the newest block; undefined without such a wallet. @throws Unavailable */
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

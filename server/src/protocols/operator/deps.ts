/**
 * The dependencies of operators' reads and actions: connections of this process, and desks, which the composition opens. A desk
 * is the part of another module that operators use and that protocols may not import.
 */
import type { Blobs } from '../../base/blobs.ts';
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import type { OidcClient } from '../../base/oidc.ts';
import type { Erasing } from '../../erasure/index.ts';
import type { SsoPolicy } from '../../operators/index.ts';
import type { OrdersContext } from '../../orders/index.ts';
import type { LoggedProtocol } from '../request-log.store.ts';

export interface OperatorDeps {
  db: Database;
  vault: Vault;
  clock: Clock;
  orders: OrdersContext;
  /** Production by default. */
  profile?: 'sandbox' | 'production';
  /** Login requests per network; 30 by default. */
  loginsPerMinute?: number;
  /** Enqueues what waited while submission was switched off. */
  submitAgain: (tx: Tx, now: Date) => Promise<void>;
  /** The public base URL for customers' browsers, without a trailing slash. */
  publicUrl: () => string;
  chainHalts: ChainHalts;
  movements: MovementDesk;
  corrections: CorrectionDesk;
  treasury: TreasuryDesk;
  transfers: TransferDesk;
  requests: RequestDesk;
  /** Networks that operators may come from; an empty list allows any. */
  networks?: readonly string[];
  /** The provider of single sign-on, if there is one. */
  sso?: SingleSignOn;
  /** A page of the handbook, as Markdown. */
  handbook?: (page: string) => Promise<string | undefined>;
  /** Codes of the channels by which people can be notified. */
  alertChannels?: readonly string[];
  /** All channels of alerts and senders of login codes that this version has. */
  messengers?: readonly Messenger[];
  /** Sends a code to a phone. @throws Unavailable when it was not accepted */
  sendCode?: (phone: string, code: string) => Promise<void>;
  /** The desk of a bank without an API; absent if there is none. */
  bank?: BankDesk;
  /** Files of customers. */
  blobs?: Blobs;
  /** The dependencies of an erasure, and the minimum number of days since the last order. */
  erasing?: Erasing;
  eraseAfterDays?: number;
}

/** A channel of alerts or a sender of login codes, with the settings of this process. */
export interface Messenger {
  readonly what: 'alerts' | 'codes';
  readonly code: string;
  /** One line that helps to choose. */
  readonly about: string;
  readonly isUsed: boolean;
  readonly sandboxOnly: boolean;
  /** The setting that chooses it. */
  readonly chosenBy: string;
  readonly settings: readonly { name: string; about: string; isSet: boolean; isDemanded: boolean }[];
}

/** Logins at the operator's identity provider. */
export interface SingleSignOn {
  /** Name shown on the sign-in page. */
  readonly name: string;
  readonly client: OidcClient;
  readonly policy: SsoPolicy;
}

/** Differences between books and outside, and the entries that correct them. */
export interface CorrectionDesk {
  /** Open breaks, in transit or not, at most 200. */
  list(tx: Tx, rail: string | undefined): Promise<readonly object[]>;
  /** The break's current state, locked. @throws Refusal 'unknown_break' */
  look(tx: Tx, id: bigint): Promise<{ asset: string }>;
  /** @throws Refusal 'unknown_break' | 'break_over' | 'does_not_fit' */
  require(tx: Tx, input: CorrectionInput): Promise<void>;
  /** @throws Refusal as `require` */
  correct(tx: Tx, input: CorrectionInput & { by: string }): Promise<void>;
}

export const CORRECTIONS = ['fee', 'gone', 'found', 'dust', 'sweep_undone'] as const;

export interface CorrectionInput {
  item: bigint;
  as: (typeof CORRECTIONS)[number];
  evidence: string;
  units: bigint;
}

/** Transactions of our wallets that are not in the books, after a restore from an older backup. */
export interface MovementDesk {
  /** Waiting movements first, then the newest, at most 200. */
  list(tx: Tx): Promise<readonly object[]>;
  /** The movement's current state, locked. @throws Refusal 'unknown_movement' */
  look(tx: Tx, id: bigint): Promise<{ asset: string | null; units: bigint | null }>;
  /** @throws Refusal 'unknown_payout' */
  lookPayout(tx: Tx, key: string): Promise<{ rail: string }>;
  /** The books' order under a key, on the movement's rail; undefined when there is none. */
  ordered(tx: Tx, movement: bigint, key: string): Promise<object | undefined>;
  match(tx: Tx, input: { movement: bigint; key: string; otherAmount?: boolean | undefined }): Promise<void>;
  foreign(tx: Tx, id: bigint): Promise<void>;
  /**
   * Uses up the movement's nonce with an empty transfer. @throws Refusal 'unknown_movement' | 'movement_over' | 'does_not_fit'
   */
  cancel(tx: Tx, id: bigint): Promise<void>;
  /** A debit on a bank statement, locked. @throws Refusal 'does_not_fit' */
  lookDebit(tx: Tx, debit: { rail: string; line: string }): Promise<object>;
  /** Declares that the debit paid no payout of ours. @throws Refusal 'does_not_fit' */
  debitForeign(tx: Tx, debit: { rail: string; line: string }): Promise<void>;
  /** Reads the chain if the evidence is a hash. */
  settleBy(input: {
    payout: string;
    rail: string;
    by: { hash: string } | { line: string };
    otherAmount?: boolean | undefined;
  }): Promise<void>;
}

/** Chains that halt by themselves and continue once an operator has checked. */
export interface ChainHalts {
  /** Codes of the rails that are chains. */
  codes: readonly string[];
  /** Reason of the halt; null when the chain is not halted. Locked, so that the answer stays valid. */
  why(tx: Tx, rail: string): Promise<string | null>;
  /** With `restart`, following begins again below the block that was final when the chain halted. */
  clear(tx: Tx, rail: string, options: { restart: boolean }): Promise<void>;
}

/** The log of partners' requests of the last thirty days. */
export interface RequestDesk {
  /** Newest first. */
  list(
    tx: Tx,
    input: {
      partnerId: bigint;
      protocol?: LoggedProtocol | undefined;
      operation?: string | undefined;
      status?: number | undefined;
      reason?: string | undefined;
      key?: string | undefined;
      from?: Date | undefined;
      until?: Date | undefined;
      below: bigint | undefined;
      limit: number;
    },
  ): Promise<readonly LoggedRequest[]>;
  /** Requests with this id: ours, or the program's own. */
  named(tx: Tx, input: { partnerIds: readonly bigint[]; ids: readonly string[] }): Promise<readonly LoggedRequest[]>;
}

interface LoggedRequest {
  id: bigint;
  partnerId: bigint;
  protocol: LoggedProtocol;
  requestId: string;
  clientRequestId: string | null;
  apiKey: string;
  operation: string;
  method: string;
  path: string;
  status: number;
  reason: string | null;
  why: string | null;
  tookMs: number;
  replayed: boolean;
  version: string;
  at: Date;
}

/** Our own wallets. */
export interface TreasuryDesk {
  /** Every wallet and asset that has a threshold. */
  levels(tx: Tx): Promise<readonly WalletLevel[]>;
  /** The result of each wallet's last comparison between books and outside. */
  balances(tx: Tx): Promise<readonly ComparedWallet[]>;
  /** Sweeps, and gas for them, newest first. */
  sweeps(
    tx: Tx,
    input: { rail?: string | undefined; below?: string | undefined; limit: number },
  ): Promise<readonly WaitingTransfer[]>;
  /** Sweeps, and gas for them, that are not booked yet, oldest first. */
  transfers(tx: Tx, input: { after?: string | undefined; limit: number }): Promise<readonly WaitingTransfer[]>;
}

/** Own addresses outside this server, and transfers to them. */
export interface TransferDesk {
  addresses(tx: Tx): Promise<readonly OwnAddress[]>;
  /** Locked until `tx` ends. @throws Refusal 'unknown_own_address' */
  addressOf(tx: Tx, id: bigint): Promise<OwnAddress>;
  addressAt(tx: Tx, rail: string, address: string): Promise<OwnAddress | undefined>;
  /** The address in the spelling of its rail. @throws Refusal 'malformed_field' */
  spelled(rail: string, address: string): string;
  /** @throws Refusal 'does_not_fit' | 'destination_held' | 'malformed_field' */
  requireNew(tx: Tx, input: { rail: string; address: string }): Promise<void>;
  /** @throws Refusal as `requireNew` */
  register(tx: Tx, input: { rail: string; address: string; label: string; by: string; now: Date }): Promise<bigint>;
  /** @throws Refusal 'unknown_own_address' */
  end(tx: Tx, input: { id: bigint; by: string; now: Date }): Promise<void>;
  /** Newest first. */
  transfers(tx: Tx, input: { below?: bigint | undefined; limit: number }): Promise<readonly OwnTransferRow[]>;
  /** @throws Refusal 'unknown_transfer' */
  look(tx: Tx, key: string): Promise<OwnTransferRow>;
  /** @throws Refusal 'unknown_own_address' | 'does_not_fit' | 'malformed_amount' | 'destination_held' | 'funds_short' */
  require(tx: Tx, input: { address: bigint; asset: string; units: bigint }): Promise<void>;
  /** @returns its key @throws Refusal as `require` */
  create(
    tx: Tx,
    input: { address: bigint; asset: string; units: bigint; people: readonly string[]; reason: string; now: Date },
  ): Promise<string>;
  /** @throws Refusal 'unknown_transfer' | 'does_not_fit' */
  cancel(tx: Tx, input: { key: string; by: string; now: Date }): Promise<void>;
}

interface OwnAddress {
  id: bigint;
  rail: string;
  address: string;
  label: string;
  registeredBy: string;
  registeredAt: Date;
  usableAt: Date;
  endedAt: Date | null;
}

interface OwnTransferRow {
  id: bigint;
  key: string;
  addressId: bigint;
  rail: string;
  wallet: string;
  target: string;
  asset: string;
  units: bigint;
  people: readonly string[];
  state: string;
  why: string | null;
  reference: string | null;
  createdAt: Date;
  endedAt: Date | null;
}

interface ComparedWallet {
  rail: string;
  wallet: string;
  asset: string;
  ledgerUnits: bigint;
  outsideUnits: bigint | null;
  transitUnits: bigint;
  breaks: bigint;
  comparedAt: Date;
}

interface WaitingTransfer {
  key: string;
  kind: string;
  rail: string;
  asset: string;
  units: bigint;
  state: string;
  why: string | null;
  reference: string | null;
  createdAt: Date;
  endedAt: Date | null;
}

interface WalletLevel {
  rail: string;
  wallet: string;
  asset: string;
  account: string;
  state: string;
  freeUnits: bigint;
  lowUnits: bigint;
  alarmUnits: bigint;
  outsideUnits: bigint | null;
  readAt: Date | null;
}

/** The functions of rails/manual that are used here: protocols import no rail. */
export interface BankDesk<File extends StatementFile = StatementFile> {
  readonly code: string;
  accounts(): unknown[];
  waiting(tx: Tx, asset?: string): Promise<object[]>;
  takeOff(tx: Tx, key: string): Promise<void>;
  next(tx: Tx, given: { asset: string; until: Date }): Promise<{ keys: string[]; units: bigint }>;
  stillWaiting(tx: Tx, given: { asset: string; keys: readonly string[] }): Promise<{ keys: string[]; units: bigint }>;
  closeBatch(tx: Tx, given: { asset: string; by: string; keys?: readonly string[] }): Promise<BankFile>;
  batches(tx: Tx): Promise<BankFile[]>;
  batch(tx: Tx, id: bigint): Promise<BankFile>;
  file(tx: Tx, id: bigint): Promise<Downloaded>;
  requireMayLeave(tx: Tx, id: bigint): Promise<void>;
  lookAgain(tx: Tx, of: { file: bigint } | { asset: string }): Promise<void>;
  withdrawBatch(tx: Tx, id: bigint, given: { by: string; statement: string }): Promise<object>;
  keysOfFile(tx: Tx, id: bigint): Promise<string[]>;
  openOfFile(tx: Tx, id: bigint): Promise<string[]>;
  fileDebit(tx: Tx, given: SettleFile): Promise<object>;
  requireSettleable(tx: Tx, given: SettleFile): Promise<{ named: boolean }>;
  settleFile(tx: Tx, given: SettleFile): Promise<void>;
  unconfirmed(tx: Tx): Promise<{ restoredAt: Date; doubtful: { line: string; payout: string }[] } | undefined>;
  confirmRestore(tx: Tx, given: { by: string; why: string }): Promise<void>;
  readStatement(given: { asset: string; bytes: AsyncIterable<Uint8Array> }): Promise<File>;
  /** @throws Refusal 'file_refused' for days in the future without a reason */
  requireDated(file: File, reason: string | undefined): void;
  preview(file: File): Promise<{ lines: readonly { target?: string }[] }>;
  previewFile(given: { asset: string }): Promise<object>;
  newOf(
    tx: Tx,
    file: File,
  ): Promise<{ creditUnits: bigint; debitUnits: bigint; lines: number; importId: bigint | null }>;
  takeStatement(
    tx: Tx,
    given: { file: File; by: string },
  ): Promise<{ outcome: string; import: { id: bigint }; gaps: string[] }>;
  imports(tx: Tx): Promise<object[]>;
  statements(tx: Tx, asset: string, span: { from: string; to: string }): Promise<object[]>;
}

/** The fields of a payout file that are used here. */
interface BankFile {
  id: bigint;
  asset: string;
  payouts: number;
  units: bigint;
  sha256: string;
  withdrawnAt: Date | null;
}

/** Payouts of a file, and the debit that paid them. */
interface SettleFile {
  id: bigint;
  line: string;
  payouts?: readonly string[] | undefined;
}

export interface StatementFile {
  sha256: Buffer;
}

/** A payout file, as uploaded to the bank. */
export interface Downloaded {
  name: string;
  type: string;
  bytes: Buffer;
  sha256: string;
}

/**
 * The contract of a rail: how money comes in and goes out, through a chain or a bank.
 *
 * A rail reports facts and carries out payouts. It decides nothing about orders, posts nothing to the ledger, and needs no state
 * in memory: cursors, signed bytes and external ids are rows, so any process can take over.
 *
 * A rail has targets, where customers pay, and four functions: `observe`, `send`, `status`, `balance`. Two more are for
 * reconciliation, independent of our rows: `movements`, `holdings`. Two engines contain the code common to all chains and all
 * banks: chain.ts (follow blocks, notice reorgs, count confirmations) and bank.ts (read statements, each line once); an adapter
 * for one chain family or one bank provides the calls. payouts.ts makes sure that `send` happens once.
 *
 * How to add one: docs/adding-a-rail.md.
 */

import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export interface Rail {
  /** Such as `evm.matic20` or `bank.simulated`. Rows store it, so it never changes. */
  readonly code: string;
  readonly kind: 'chain' | 'bank';
  /** The chain's code on the wire (`matic20`); absent for banks. */
  readonly chain?: string;
  /**
   * How long after a key was first sent the bank or chain recognises it, so that sending it again has no second effect. In
   * milliseconds; 0 if nothing is promised: then no key is ever sent twice. A chain recognises a key permanently (Infinity), for
   * example by its nonce; a bank's promise always ends. payouts.repeat.ts uses it.
   */
  readonly deduplicatesForMs: number;
  /**
   * Name of the custody wallet where deposits arrive, and of the one from which payouts leave (`deposits`/`hot`, `main`/`main`).
   */
  readonly wallets: { readonly deposits: string; readonly payouts: string };

  /** Where customers pay: each order has a target of its own. */
  readonly targets: Targets;

  /**
   * Polls the outside once and, in one transaction, stores how far it read and reports what it found.
   * @throws Unavailable if the node or bank does not answer in time
   */
  observe(): Promise<{ againInMs: number }>;

  /**
   * Submits a payout. Every outcome that is not certainly accepted or certainly rejected is `unknown`. Never throws for an
   * outside failure.
   */
  send(sending: Sending): Promise<Sent>;

  /** The status of a payout that was or may have been submitted. Never throws for an outside failure: it returns `unknown`. */
  status(key: string): Promise<PayoutStatus>;

  /**
   * For a rail that lists accepted payouts until an operator submits them (a file for a bank): removes a payout from that list,
   * so that it is never submitted. Changes rows only.
   * @returns false if it is no longer on the list, because it is in a file
   */
  unlist?(tx: Tx, key: string, why: string): Promise<boolean>;
  /**
   * For such a rail: the operator's next step before an accepted payout leaves; undefined if it is not listed. Reads rows only.
   */
  waitsForPerson?(tx: Tx, key: string): Promise<string | undefined>;

  /** For a bank: our account into which a customer pays, as shown to people. */
  payee?(asset: AssetCode): Payee | undefined;

  /** For a chain: parses an address into our one spelling; undefined if it is no address that anyone can have meant. */
  readAddress?(text: string): string | undefined;
  /** Whether an address, in our spelling, is one of ours: the paying wallet, or an order's deposit address. */
  isOwnAddress?(tx: Tx, address: string): Promise<boolean>;

  /**
   * The payer of a deposit, as the rail reported it. Personal data: only for an operator who requests it, and for refunds. Reads
   * rows only; undefined if it is not stored.
   */
  payerOf?(tx: Tx, externalId: string): Promise<Payer | undefined>;
  /** For a chain: which of these credits to the paying wallet came from an address. Reads rows only, in one statement. */
  cameFrom?(tx: Tx, address: string, externalIds: readonly string[]): Promise<string[]>;
  /** For a chain: whether the key of an address signed this text (EIP-191). Never true for a contract, which has no key. Pure. */
  isSignedBy?(address: string, text: string, signature: string): Promise<boolean>;
  /** The same for typed data (EIP-712) with this text, which proves control over a wallet and nothing else. Pure. */
  isWalletProof?(address: string, text: string, signature: string): Promise<boolean>;

  /**
   * For a chain: whether there is a contract at an address. The same address on another chain may have no owner. @throws
   * Unavailable
   */
  hasCode?(address: string): Promise<boolean>;

  /**
   * For a chain: why these deposits are not deep enough to be spent, each for the sum of which it is a part; undefined if all
   * are. Reads rows only.
   * @param externalIds as in deposit facts; deposits that are reported only when final are not checked
   */
  notDeep?(tx: Tx, externalIds: readonly string[]): Promise<string | undefined>;

  /**
   * The outside time, converted to our clock, up to which deposits of an asset have been read and reported; undefined before the
   * first read. Reads rows only. A rail without this function counts as always read up to now.
   */
  readTo?(tx: Tx, asset: AssetCode): Promise<Date | undefined>;
  /** How long after its deadline an order waits for that before it ends, in milliseconds; a day by default. */
  readonly unreadAtMostMs?: number;

  /**
   * After a restore from an older backup: whether this rail may have paid an order in the time that the books have lost. `unread`
   * while its payments of that time are unknown; `undecided` if one matches and operators have to decide; undefined if the order
   * may continue. Reads rows only.
   */
  mayHavePaid?(tx: Tx, order: PaidPerhaps): Promise<'unread' | 'undecided' | undefined>;
  /**
   * As `mayHavePaid`: whether this rail may have returned an order's money. A payment that fits no row matches if it is of the
   * deposit's asset and not more than the order received.
   */
  mayHaveReturned?(tx: Tx, order: ReturnedPerhaps): Promise<'unread' | 'undecided' | undefined>;
  /**
   * For a bank, after such a restore: an undecided unexplained debit that may have been this payout, under another key or with
   * another amount; undefined if there is none. Reads rows only.
   */
  doubtful?(
    tx: Tx,
    payout: { key: string; asset: AssetCode; units: bigint; followOn?: FollowOn | undefined },
  ): Promise<string | undefined>;

  /**
   * For operators who declare that a payment was never made: what in our rows may still pay this key, in words: a chain's
   * transaction that keeps its slot, or an unexplained debit that may be this payment. Undefined if there is nothing.
   */
  mayYetPay?(tx: Tx, payout: { key: string; asset: AssetCode; units: bigint }): Promise<string | undefined>;

  /** Our balance in a wallet according to chain or bank, in smallest units. @throws Unavailable */
  balance(wallet: string, asset: AssetCode): Promise<bigint>;

  /**
   * For reconciliation: movements in our wallets after a position, one bounded page at a time, read from bank or chain itself and
   * only final ones. Read-only: stores nothing, reports nothing.
   * @param after '' for the beginning, otherwise `upTo` of the previous page
   * @returns undefined as long as the rail has never been polled
   * @throws Unavailable
   */
  movements?(after: string): Promise<MovementPage | undefined>;
  /**
   * Our balances at a position, as far as the outside reports them; undefined if it has moved on meanwhile and no longer reports
   * them.
   * @param all includes wallets that take long to read
   * @throws Unavailable
   */
  holdings?(at: string, all: boolean): Promise<Holding[] | undefined>;

  /** For /readyz and metrics. */
  health(): Promise<RailHealth>;
  /**
   * Whether this is a sandbox's chain whose node has never been started: it has no blocks, orders or recurring jobs, and is
   * neither healthy nor broken. Makes no outside call. A rail without this function is never asleep.
   */
  isAsleep?(): boolean;
}

/** What a rail reports about a payer. */
export interface Payer {
  name?: string | undefined;
  account?: string | undefined;
  text?: string | undefined;
  /** On a chain only. */
  address?: string | undefined;
}

/** What an order pays, with which a payment that the books have lost is recognised. */
export interface PaidPerhaps {
  id: bigint;
  payoutAsset: AssetCode;
  payoutUnits: bigint;
  payoutAddress: string | null;
  createdAt: Date;
  /** The order from whose deposit it was made; null for an order that a customer created. */
  follows: bigint | null;
}

/** What an order received, with which a refund that the books have lost is recognised. */
export interface ReturnedPerhaps extends Pick<PaidPerhaps, 'createdAt' | 'follows'> {
  asset: AssetCode;
  units: bigint;
}

/**
 * An order made from a deposit of another order. If it was created after a restore, it may duplicate an order that was made from
 * the same deposit and paid in the lost time, under another key and at another price.
 */
export interface FollowOn {
  madeAt: Date;
}

/** One movement in one wallet, as the outside shows it. */
export interface Movement {
  /** The outside's own name of the movement; for a deposit its `externalId`. Unique together with wallet, asset and place. */
  name: string;
  wallet: string;
  asset: AssetCode;
  /** Signed: positive is incoming. Charges are included. */
  units: bigint;
  /** The books' name of it: a payout's id, or the name of the movement that it reverses. Absent if it equals `name`. */
  key?: string;
  /** The address, if its balance is reconciled separately (see `remainder`). */
  place?: string;
}

export interface MovementPage {
  movements: Movement[];
  upTo: string;
  /** The outside's time at `upTo`: everything earlier is in the pages so far. */
  at: Date;
  more: boolean;
}

export interface Holding {
  wallet: string;
  asset: AssetCode;
  place?: string;
  units: bigint;
  /**
   * If the outside cannot show every movement (native transfers emit no log): the name of the movement that stands for the part
   * of the balance beyond those shown.
   */
  remainder?: string;
}

/** A target identifies a deposit: an address (canonical text) or a bank reference. Unique on the rail. */
export type Targets =
  | {
      readonly are: 'derived';
      /** The target of a number that was never assigned on any rail. Pure: no call, no state. */
      of(index: bigint): string;
    }
  | {
      readonly are: 'issued';
      /** Takes a free target, in the transaction that creates the order. Uses rows only. @throws Unavailable if none is free */
      take(tx: Tx): Promise<string>;
    };

/** The payee of a customer's bank transfer, in the country's usual terms; '' if the country has no such field. */
export interface Payee {
  holder: string;
  bank: string;
  branch: string;
  accountType: string;
  accountNumber: string;
  ifsc: string;
  iban: string;
  bic: string;
  /** Other bank identifiers, in the terms of the country. */
  codes?: Readonly<Partial<Record<'sortCode' | 'routingNumber' | 'bankCode', string>>>;
}

export interface Sending {
  /** The payout's id: the idempotency key, and the reference that the bank is asked to carry. */
  key: string;
  asset: AssetCode;
  units: bigint;
  destination: Destination;
  /**
   * The submission must not begin after this time, because another worker then treats the payout as unknown. An adapter checks it
   * last before bytes leave, and passes it on if the outside supports such a limit. Real time, not the sandbox's.
   */
  notAfter?: Date;
  /** Asked in the transaction that writes the send: why it must not be written, or undefined. Chains only. */
  guard?: (tx: Tx) => Promise<string | undefined>;
}

export type Destination =
  | { kind: 'address'; address: string }
  /**
   * Decrypted by the payout engine just before the call; never logged. `account` or `iban`, `name`, and what the country
   * needs (`ifsc`).
   */
  | { kind: 'account'; details: Readonly<Record<string, string>> };

export type Sent =
  | { outcome: 'submitted'; reference?: string }
  /**
   * Proved: neither this submission nor an earlier one of the key was accepted, and none can be accepted later. So a rail that
   * recognises keys looks for the key before it checks anything else about the payout. If a rail's promise about keys ends, the
   * rejection of a repeated submission is only believed once `status` rejects the key, too (payouts.repeat.ts).
   */
  | { outcome: 'rejected'; why: string }
  | { outcome: 'unknown'; why: string };

export type PayoutStatus =
  /** The rail has it. Only `observe` reports whether it is settled (statement, confirmations). */
  | { outcome: 'known'; reference?: string }
  | { outcome: 'rejected'; why: string }
  /**
   * Proved: it was never accepted and cannot be accepted later. For a rail that recognises keys for a limited time this counts
   * only while the rail cannot have forgotten the key.
   */
  | { outcome: 'absent' }
  | { outcome: 'unknown'; why: string };

export interface RailHealth {
  healthy: boolean;
  /** Age of the newest known block or statement, in milliseconds. */
  ageMs: number | null;
  why?: string;
}

/** A bank recalled only this much of a deposit. */
export interface RecalledPart {
  /** Id of the debit's statement line. */
  line: string;
  units: bigint;
  reference: string;
}

/** What rails report. Facts are in the past tense and may arrive twice; the receiver applies each once. */
export type RailFact =
  | ({ type: 'deposit_seen' } & DepositFact)
  | ({ type: 'deposit_confirmed' } & DepositFact)
  /** A deposit that was seen is gone. Before confirmation only the order's state changes; afterwards it is a loss. */
  | { type: 'deposit_reversed'; rail: string; externalId: string; why: string; part?: RecalledPart }
  /** The rail has accepted it: from now on it is under way. */
  | { type: 'payout_submitted'; rail: string; key: string }
  | {
      type: 'payout_settled';
      rail: string;
      key: string;
      reference: string;
      cost?: { asset: AssetCode; units: bigint };
      /** The id under which it was reported as an unexplained debit before it was identified. */
      undoes?: string;
      /** It has come back: its return is reported next, in the same transaction. */
      isBack?: boolean;
    }
  /**
   * The rail rejected it, or accepted it and then proved not to have paid: reverted on chain, rejected by the bank. It may have
   * cost a fee.
   */
  | {
      type: 'payout_rejected';
      rail: string;
      key: string;
      why: string;
      reference?: string;
      cost?: { asset: AssetCode; units: bigint };
    }
  | {
      type: 'payout_returned';
      rail: string;
      key: string;
      why: string;
      reference: string;
      externalId: string;
      asset: AssetCode;
      units: bigint;
    }
  /**
   * The cost of a send changed, because a reorg had it mined again at another price, or because a bank charged later: the total
   * cost now, and the cost that was reported before.
   */
  | {
      type: 'cost_changed';
      rail: string;
      key: string;
      externalId: string;
      asset: AssetCode;
      before: bigint;
      units: bigint;
    }
  /** Its outcome has been unknown for too long. Reported once per payout; the rail is still asked. */
  | { type: 'payout_unknown'; rail: string; key: string; why: string }
  /** The operator paid in own money: to fund orders, or as native units for gas. */
  | {
      type: 'funding_confirmed';
      rail: string;
      externalId: string;
      asset: AssetCode;
      units: bigint;
      reference: string;
      forGas?: boolean;
      /** The sender, if the rail knows its address. */
      payer?: string;
    }
  /**
   * Money arrived at the paying wallet. It does not come from a known source of the operator, and no transfer of ours explains
   * it. `payer` is the sender according to the rail.
   */
  | {
      type: 'credit_unexpected';
      rail: string;
      externalId: string;
      asset: AssetCode;
      units: bigint;
      reference: string;
      payer: string;
    }
  /** A transfer between our own wallets (`sweep:…`, `gas:…`, `transfer:…`) is final. */
  | {
      type: 'own_transfer_settled';
      rail: string;
      key: string;
      reference: string;
      /** For a batch of sweeps: what arrived at the paying wallet, by deposit address. The rest of the batch moved nothing. */
      moved?: readonly { from: string; units: bigint }[];
      cost?: { asset: AssetCode; units: bigint };
    }
  /** Such a transfer is final and moved nothing. Its fee was charged nevertheless. */
  | {
      type: 'own_transfer_failed';
      rail: string;
      key: string;
      why: string;
      reference: string;
      cost?: { asset: AssetCode; units: bigint };
    }
  /** A statement line could not be booked as it is (no amount, another currency, changed since): an operator has to check it. */
  | { type: 'line_refused'; rail: string; externalId: string; why: string }
  /**
   * A statement seems to be missing before one that was taken in. The missing lines are not booked. `statement` is our id of the
   * one taken in.
   */
  | { type: 'statement_gap'; rail: string; asset: AssetCode; statement: string; why: string }
  /**
   * Money left a wallet and no payout of ours explains it: the paying wallet, unless the fact says that it was the deposits'
   * wallet.
   */
  | {
      type: 'unexplained_debit';
      rail: string;
      externalId: string;
      asset: AssetCode;
      units: bigint;
      reference: string;
      ofDeposits?: boolean;
    }
  /**
   * Operators declare that a debit, reported as unexplained before, paid these payouts, each with its own amount. `units` of the
   * debit may differ from their sum.
   */
  | {
      type: 'debit_shared';
      rail: string;
      externalId: string;
      /** What the payouts have in common: the name of their file. */
      name: string;
      asset: AssetCode;
      units: bigint;
      payouts: readonly string[];
      cost?: { asset: AssetCode; units: bigint };
    }
  /** An operator must check something before the rail continues. */
  | { type: 'rail_halted'; rail: string; why: string }
  /**
   * A transaction of one of our wallets that no send of ours explains, and that does not match exactly one payout. Reported once.
   */
  | {
      type: 'send_found';
      rail: string;
      movement: bigint;
      reference: string;
      moved?: { asset: AssetCode; units: bigint };
      why: string;
    }
  /** Such a transaction was explained. `left`: number of those reported on this rail that are still open. */
  | { type: 'send_matched'; rail: string; movement: bigint; key: string; left: bigint }
  /**
   * Our wallet was used by another party, or by us before the database was restored. Nothing is sent until an operator allows it.
   */
  | { type: 'nonces_used'; rail: string; why: string };

export interface DepositFact {
  rail: string;
  /**
   * The rail's own name for it: `<txHash>:<position of the log in the transaction>`, statement line id. It stays the same if the
   * transaction is mined again in another block: a deposit that is seen, reversed and seen again is one deposit.
   */
  externalId: string;
  /** The address or reference to which it was paid; '' if none was given. */
  target: string;
  /** The rail on which the customer was given this target, if it is another one: one key has the same address on many chains. */
  homeRail?: string;
  asset: AssetCode;
  units: bigint;
  /** For display: transaction hash, bank reference. */
  reference: string;
  /**
   * The earliest time at which it can have arrived, converted to our clock: the time of its block or of the bank's booking, never
   * a value date. Absent if the rail does not know it.
   */
  at?: Date;
  /** How much later it may have arrived, in milliseconds: a block's time is in seconds, and some banks give only the day. */
  withinMs?: number;
  /** The payer's name according to the rail. It is compared while the fact is applied. Only the rail stores it, encrypted. */
  payerName?: string;
  /** Ids and numbers only (block number, confirmations), because these are stored unencrypted. */
  facts: Readonly<Record<string, string | number>>;
}

/** Job kind that polls a rail once and re-enqueues itself as `observe` says; its subject is the rail's code. */
export const OBSERVE = 'observe_rail';

/** Receives facts in the caller's transaction, so that a fact and the cursor behind it are stored together or not at all. */
export type Report = (tx: Tx, fact: RailFact) => Promise<void>;

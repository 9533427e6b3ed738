/**
 * The contract of a rail: a way for money to come in and go out, chain or bank.
 *
 * A rail reports facts and carries out payouts. It decides nothing about orders, posts nothing to the ledger and keeps no
 * state of its own in memory: cursors, signed bytes and external ids are rows, so any process can take over.
 *
 * Targets, where customers pay, and four verbs: `observe`, `send`, `status`, `balance`; two more for reconciliation, independent
 * of our rows: `movements`, `holdings`. Two engines contain the code common to all chains and all banks: chain.ts (follow blocks,
 * notice reorgs, count confirmations) and bank.ts (read statements, each line once); an adapter for one chain family or one bank
 * provides the calls. payouts.ts makes sure that `send` happens once.
 *
 * How to add one: docs/adding-a-rail.md.
 */

import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export interface Rail {
  /** Such as `evm.matic20` or `bank.simulated`: stored in rows, so it never changes. */
  readonly code: string;
  readonly kind: 'chain' | 'bank';
  /** The chain's code on the wire (`matic20`); absent for banks. */
  readonly chain?: string;
  /**
   * For how long after a key was first sent the bank or chain recognises it, so that sending it again has no second effect.
   * Milliseconds; 0 if nothing is promised: then no key is ever sent twice. A chain recognises a key permanently (Infinity: its
   * rule is the nonce); a bank's promise always ends. payouts.repeat.ts uses it.
   */
  readonly deduplicatesForMs: number;
  /** Name of the custody wallet where deposits arrive, and of the one payouts leave from (`deposits`/`hot`, `main`/`main`). */
  readonly wallets: { readonly deposits: string; readonly payouts: string };

  /** Where customers pay: each order has a target of its own. */
  readonly targets: Targets;

  /**
   * Polls the outside once and, in one transaction, stores how far it read and reports what it found.
   * @throws Unavailable when the node or bank does not answer in time
   */
  observe(): Promise<{ againInMs: number }>;

  /**
   * Submits a payout. `unknown` is the default: everything that is not certainly accepted or certainly rejected. Never throws for
   * an outside failure.
   */
  send(sending: Sending): Promise<Sent>;

  /** The status of a payout that was or may have been submitted. Never throws for an outside failure: returns `unknown`. */
  status(key: string): Promise<PayoutStatus>;

  /**
   * For a rail that lists accepted payouts until a person submits them (a file for a bank): removes a payout from that list,
   * so that it is never submitted. Rows only.
   * @returns false when it is no longer on the list: it is in a file
   */
  unlist?(tx: Tx, key: string, why: string): Promise<boolean>;
  /** For such a rail: the operator's next step before an accepted payout leaves; undefined when it is not listed. Rows only. */
  waitsForPerson?(tx: Tx, key: string): Promise<string | undefined>;

  /** A bank's: our account that a customer pays into, as a person needs it. */
  payee?(asset: AssetCode): Payee | undefined;

  /** A chain's: parses an address into our one spelling; undefined when it is not an address that a person can have meant. */
  readAddress?(text: string): string | undefined;
  /** Whether an address, in our spelling, is one of ours: the paying wallet, or an order's deposit address. */
  isOwnAddress?(tx: Tx, address: string): Promise<boolean>;

  /**
   * The payer of a deposit, as the rail reported it. Personal data: for an operator who requests it, and for refunds. Rows only;
   * undefined when it is not stored.
   */
  payerOf?(tx: Tx, externalId: string): Promise<Payer | undefined>;
  /**
   * A chain's: whether the key of an address signed this text (EIP-191). A contract has no key, so never for one. Pure,
   * without calls.
   */
  isSignedBy?(address: string, text: string, signature: string): Promise<boolean>;

  /** A chain's: whether there is a contract at an address; the same address elsewhere may have no owner. @throws Unavailable */
  hasCode?(address: string): Promise<boolean>;

  /**
   * A chain's: why these deposits are not deep enough to be spent, each for the sum it is part of; undefined when all are.
   * Reads stored rows only.
   * @param externalIds as in deposit facts; deposits that are reported only once final are not checked
   */
  notDeep?(tx: Tx, externalIds: readonly string[]): Promise<string | undefined>;

  /**
   * Up to which time of the outside, on our clock's scale, deposits of an asset have been read and reported; undefined before
   * the first read. Reads stored rows only. A rail without it counts as always read up to now.
   */
  readTo?(tx: Tx, asset: AssetCode): Promise<Date | undefined>;
  /** How long after its deadline an order waits for that, before it ends unread, in milliseconds; a day by default. */
  readonly unreadAtMostMs?: number;

  /**
   * After a restore from an older backup: whether this rail may have paid an order in the time that the books have lost. `unread`
   * while its payments of that time are unknown, `undecided` when one matches and operators have to decide; undefined when the
   * order may continue. Rows only.
   */
  mayHavePaid?(tx: Tx, order: PaidPerhaps): Promise<'unread' | 'undecided' | undefined>;
  /**
   * A bank's, after such a restore: an unexplained debit that may have been this payout, under another key or with another
   * amount; undefined when there is none that operators have not decided about. Rows only.
   */
  doubtful?(
    tx: Tx,
    payout: { key: string; asset: AssetCode; units: bigint; followOn?: FollowOn | undefined },
  ): Promise<string | undefined>;

  /**
   * For operators who declare that a payment was never made: the open items of this key by our rows, in words. A chain's
   * transaction that keeps its slot, or an unexplained debit that may be this payment. Undefined when there is none.
   */
  mayYetPay?(tx: Tx, payout: { key: string; asset: AssetCode; units: bigint }): Promise<string | undefined>;

  /** Our balance in a wallet according to the outside, smallest units. @throws Unavailable */
  balance(wallet: string, asset: AssetCode): Promise<bigint>;

  /**
   * For reconciliation: movements in our wallets after a position, one bounded page at a time, read from bank or chain itself and
   * only final ones. Read-only: stores nothing, reports nothing.
   * @param after '' for the beginning, else `upTo` of the previous page
   * @returns undefined as long as the rail has never been polled
   * @throws Unavailable
   */
  movements?(after: string): Promise<MovementPage | undefined>;
  /**
   * Our balances at a position, as far as the outside reports them; undefined when it has moved on meanwhile and no longer
   * does.
   * @param all also wallets that take long to read
   * @throws Unavailable
   */
  holdings?(at: string, all: boolean): Promise<Holding[] | undefined>;

  /** For /readyz and metrics. */
  health(): Promise<RailHealth>;
  /**
   * A sandbox's chain whose node has never been started: it has no blocks, orders or recurring jobs, and is neither healthy
   * nor broken. Calls nothing outside. A rail without it is never asleep.
   */
  isAsleep?(): boolean;
}

/** What the outside reports of a payer. */
export interface Payer {
  name?: string | undefined;
  account?: string | undefined;
  text?: string | undefined;
  /** On a chain. */
  address?: string | undefined;
}

/** What an order pays: used to recognise a payment that the books have lost. */
export interface PaidPerhaps {
  id: bigint;
  payoutAsset: AssetCode;
  payoutUnits: bigint;
  payoutAddress: string | null;
  createdAt: Date;
  /** The order whose deposit it was made from; null for one that a customer created. */
  follows: bigint | null;
}

/**
 * An order made from a deposit of another order. Created after a restore, it may duplicate one that was made from the same
 * deposit and paid in the lost time, under another key and at another price.
 */
export interface FollowOn {
  madeAt: Date;
}

/** One movement in one wallet, as the outside shows it. */
export interface Movement {
  /** The outside's own name for it, such as deposits carry as `externalId`. Unique together with wallet, asset and place. */
  name: string;
  wallet: string;
  asset: AssetCode;
  /** Signed: positive is incoming. Charges are included. */
  units: bigint;
  /** The books' name for it: a payout's id, or the name of the movement that it reverses. Equals the name if absent. */
  key?: string;
  /** The address, when its balance is reconciled separately (`remainder` below). */
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
   * If the outside cannot show every movement (native coin leaves no log): the part of the balance beyond those shown counts
   * as one movement of this name.
   */
  remainder?: string;
}

/** A target identifies a deposit: an address (canonical text) or a bank reference. Unique on the rail. */
export type Targets =
  | {
      readonly are: 'derived';
      /** The target of a number never given out before on any rail. Pure: no call, no state. */
      of(index: bigint): string;
    }
  | {
      readonly are: 'issued';
      /** Takes a free one, in the transaction that creates the order. Rows only. @throws Unavailable when none is free */
      take(tx: Tx): Promise<string>;
    };

/** The payee of a customer's bank transfer, in the country's usual terms; '' when the country has no such field. */
export interface Payee {
  holder: string;
  bank: string;
  branch: string;
  accountType: string;
  accountNumber: string;
  ifsc: string;
  iban: string;
  bic: string;
  /** Other bank identifiers, in the terms of its country. */
  codes?: Readonly<Partial<Record<'sortCode' | 'routingNumber' | 'bankCode', string>>>;
}

export interface Sending {
  /** The payout's id: the idempotency key, and the reference that the bank is asked to carry. */
  key: string;
  asset: AssetCode;
  units: bigint;
  destination: Destination;
  /**
   * The submission must not begin after this: another worker then treats the payout as unknown. An adapter checks it last
   * before bytes leave, and passes it on if the outside honours such a limit. Real time, not the sandbox's.
   */
  notAfter?: Date;
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
  | { outcome: 'rejected'; why: string }
  | { outcome: 'unknown'; why: string };

export type PayoutStatus =
  /** The rail has it; only `observe` reports whether it is settled (statement, confirmations). */
  | { outcome: 'known'; reference?: string }
  | { outcome: 'rejected'; why: string }
  /**
   * Proved: it was never accepted and cannot be accepted later. Of a rail that recognises keys for a limited time this is
   * believed only while the key cannot be forgotten.
   */
  | { outcome: 'absent' }
  | { outcome: 'unknown'; why: string };

export interface RailHealth {
  healthy: boolean;
  /** Age of the newest known block or statement, in milliseconds. */
  ageMs: number | null;
  why?: string;
}

/** What rails report. Facts are past tense and may arrive twice; the receiver applies each once. */
export type RailFact =
  | ({ type: 'deposit_seen' } & DepositFact)
  | ({ type: 'deposit_confirmed' } & DepositFact)
  /** A deposit that was seen is gone. Before confirmation only the order's state changes; afterwards it is a loss. */
  | { type: 'deposit_reversed'; rail: string; externalId: string; why: string }
  /** The rail has accepted it: from now on it is under way. */
  | { type: 'payout_submitted'; rail: string; key: string }
  | {
      type: 'payout_settled';
      rail: string;
      key: string;
      reference: string;
      cost?: { asset: AssetCode; units: bigint };
      /** The name under which it was reported as an unexplained debit before it was identified. */
      undoes?: string;
      /** It has come back: its return is reported next, in the same transaction. */
      isBack?: boolean;
    }
  /**
   * The rail rejected it, or accepted it and proved not to have paid: reverted on chain, rejected by the bank. It may have
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
   * A reorg had it mined again at another price, or a bank charged afterwards: the total cost now, and the cost reported
   * before.
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
  /** The operator paid in own money: to fund orders, or as native coin for gas. */
  | {
      type: 'funding_confirmed';
      rail: string;
      externalId: string;
      asset: AssetCode;
      units: bigint;
      reference: string;
      forGas?: boolean;
      /** The sender, where the rail knows its address. */
      payer?: string;
    }
  /**
   * Money arrived at the paying wallet from no known source of the operator's, and no transfer of ours explains it. `payer`
   * is the sender according to the rail.
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
      cost?: { asset: AssetCode; units: bigint };
    }
  /** It is final and has moved nothing. Its fee was paid all the same. */
  | {
      type: 'own_transfer_failed';
      rail: string;
      key: string;
      why: string;
      reference: string;
      cost?: { asset: AssetCode; units: bigint };
    }
  /**
   * A statement line that could not be booked as it is (no amount, another currency, changed since): a person has to check
   * it.
   */
  | { type: 'line_refused'; rail: string; externalId: string; why: string }
  /**
   * A statement seems to be missing before one that was taken; what is missing is not booked. `statement` is our id of it.
   */
  | { type: 'statement_gap'; rail: string; asset: AssetCode; statement: string; why: string }
  /** Money left a wallet and no payout of ours explains it: the one that pays, where nothing says that it was of the deposits. */
  | {
      type: 'unexplained_debit';
      rail: string;
      externalId: string;
      asset: AssetCode;
      units: bigint;
      reference: string;
      ofDeposits?: boolean;
    }
  /** A person must check something before the rail continues. */
  | { type: 'rail_halted'; rail: string; why: string }
  /**
   * A transaction of one of our wallets that no send of ours explains, and that does not match exactly one payout. Reported
   * once.
   */
  | {
      type: 'send_found';
      rail: string;
      movement: bigint;
      reference: string;
      moved?: { asset: AssetCode; units: bigint };
      why: string;
    }
  /** Such a transaction was explained. `left`: how many of those reported on this rail are still open. */
  | { type: 'send_matched'; rail: string; movement: bigint; key: string; left: bigint }
  /**
   * Our wallet was used by another party, or by us before the database was restored. Nothing is sent until a person allows
   * it.
   */
  | { type: 'nonces_used'; rail: string; why: string };

export interface DepositFact {
  rail: string;
  /**
   * The rail's own name for it: `<txHash>:<position of the log in the transaction>`, statement line id. A transaction mined
   * again in another block keeps it; seen, reversed and seen again is one deposit.
   */
  externalId: string;
  /** Address or reference it was paid to; `''` when none was given. */
  target: string;
  /** The rail on which the customer was given this target, if another: one key has one address on many chains. */
  homeRail?: string;
  asset: AssetCode;
  units: bigint;
  /** For display: transaction hash, bank reference. */
  reference: string;
  /**
   * The earliest time it can have arrived, on our clock's scale: the time of its block, the bank's booking; never a value
   * date. Absent when the rail does not know.
   */
  at?: Date;
  /** How much later it may have arrived, in milliseconds: a block gives the second, some banks only the day. */
  withinMs?: number;
  /**
   * The payer's name according to the rail. Compared while the fact is applied; stored encrypted by the rail and nowhere
   * else.
   */
  payerName?: string;
  /** Ids and numbers only (block number, confirmations): these are stored unencrypted. */
  facts: Readonly<Record<string, string | number>>;
}

/** Job kind that polls a rail once (subject: its code) and re-enqueues itself when `observe` says. */
export const OBSERVE = 'observe_rail';

/** Receives facts in the caller's transaction, so that a fact and the cursor behind it are stored together or not at all. */
export type Report = (tx: Tx, fact: RailFact) => Promise<void>;

/**
 * The contract of a rail: a way for money to come in and go out, chain or bank.
 *
 * A rail reports facts and carries out payouts. It decides nothing about orders, posts nothing to the ledger and keeps no
 * state of its own: cursors, signed bytes and external ids are rows (rails/store.ts), so any process can take over.
 *
 * Five verbs: `instructions`, `observe`, `send`, `status`, `balance`; two more by which reconciliation asks the outside past
 * all that we have noted of it: `movements`, `holdings`. Two engines do what all chains and all banks share:
 * chain.ts (follow blocks, notice reorgs, count confirmations) and bank.ts (read statements, each line once); an adapter
 * for one chain family or one bank brings the calls. payouts.ts sees to it that `send` happens once.
 *
 * How to add one: docs/adding-a-rail.md.
 */

import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';

export interface Rail {
  /** Such as `evm.matic20` or `bank.simulated`: stands in rows, so it never changes. */
  readonly code: string;
  readonly kind: 'chain' | 'bank';
  /** The chain's code as the wire says it (`matic20`); absent for banks. */
  readonly chain?: string;
  /** True where sending twice under one key has one effect. Where false, nothing is ever sent twice. */
  readonly deduplicates: boolean;
  /** Name of the custody wallet where deposits arrive, and of the one payouts leave from (`deposits`/`hot`, `main`/`main`). */
  readonly wallets: { readonly deposits: string; readonly payouts: string };

  /**
   * Where the customer pays. Pure: no call, no state.
   * @param index a number never given out before on any rail
   */
  instructions(index: bigint): Instructions;

  /**
   * Looks at the world once and, in one transaction, stores how far it looked and reports what it found.
   * @throws Unavailable when the node or bank does not answer in time
   */
  observe(): Promise<{ againInMs: number }>;

  /** Hands a payout over. `unknown` is the default: whatever is not surely accepted or surely refused. Never throws for an outside failure. */
  send(sending: Sending): Promise<Sent>;

  /** What became of a payout that was or may have been submitted. Never throws for an outside failure: says `unknown`. */
  status(key: string): Promise<PayoutStatus>;

  /**
   * Of a rail that lists what it accepts until a person submits it (a file for a bank): takes a payout off that list, so that
   * it is never submitted. Rows only.
   * @returns false where it is not on the list any more: it is in a file
   */
  unlist?(tx: Tx, key: string, why: string): Promise<boolean>;
  /** Of such a rail: what a person has to do before a payout that it accepted leaves; undefined where it does not list it. Rows only. */
  waitsForPerson?(tx: Tx, key: string): Promise<string | undefined>;

  /** A bank's: the account of ours that a customer pays into, as a person needs it. */
  payee?(asset: AssetCode): Payee | undefined;

  /** A chain's: an address as people write it, in the one spelling we keep; undefined where nobody can have meant it. */
  readAddress?(text: string): string | undefined;
  /** Whether an address, in the spelling we keep, is one of ours: the wallet that pays, or one that an order is paid at. */
  isOwnAddress?(tx: Tx, address: string): Promise<boolean>;

  /**
   * Who paid a deposit, as the outside showed it. Personal: for a person who asks, and for sending it back. Rows only; undefined
   * where nothing is kept.
   */
  payerOf?(tx: Tx, externalId: string): Promise<Payer | undefined>;
  /**
   * A chain's: whether the key of an address signed this text (EIP-191). A contract has no key, so never for one. Pure; asks
   * nobody.
   */
  isSignedBy?(address: string, text: string, signature: string): Promise<boolean>;

  /** A chain's: whether there is a contract at an address: its owner here may be nobody elsewhere. @throws Unavailable */
  hasCode?(address: string): Promise<boolean>;

  /**
   * A chain's: why these deposits of it are not deep enough to be spent, each for the sum it is part of; undefined where all
   * are. Reads stored rows only.
   * @param externalIds as deposit facts name them; those that only come once they are final are not looked at
   */
  notDeep?(tx: Tx, externalIds: readonly string[]): Promise<string | undefined>;

  /**
   * Up to which time of the outside, on our clock's scale, deposits of an asset have been read and reported; undefined before
   * the first look. Reads stored rows only. A rail without it is taken for read at any time.
   */
  readTo?(tx: Tx, asset: AssetCode): Promise<Date | undefined>;
  /** How long after a deadline it is waited for that to be reached, before an order ends unread; a day where it is absent. */
  readonly unreadAtMostMs?: number;

  /**
   * After a restore from an older backup: whether this rail may have paid an order in the time that the books have lost.
   * `unread` where it is not known yet what it paid then, `undecided` where something fits and people decide what it was;
   * undefined where nothing stands against acting on the order. Rows only.
   */
  mayHavePaid?(tx: Tx, order: PaidPerhaps): Promise<'unread' | 'undecided' | undefined>;
  /**
   * A bank's, after such a restore: an unexplained debit that may have been this payout, under another key or with another
   * amount; undefined where there is none of which people have not decided. Rows only.
   */
  doubtful?(
    tx: Tx,
    payout: { key: string; asset: AssetCode; units: bigint; followOn?: FollowOn | undefined },
  ): Promise<string | undefined>;

  /** What the outside says we have in a wallet, smallest units. @throws Unavailable */
  balance(wallet: string, asset: AssetCode): Promise<bigint>;

  /**
   * For reconciliation: what moved in our wallets after a position, a bounded page at a time, asked from the outside itself and
   * only as far as nothing of it can change any more. Pure looking: stores nothing, reports nothing.
   * @param after '' for the beginning, else what the page before answered as `upTo`
   * @returns undefined as long as the rail has never been looked at
   * @throws Unavailable
   */
  movements?(after: string): Promise<MovementPage | undefined>;
  /**
   * What the outside says is in our wallets at a position, as far as it says so; undefined where it has moved on meanwhile and says no more.
   * @param all also wallets that take long to ask
   * @throws Unavailable
   */
  holdings?(at: string, all: boolean): Promise<Holding[] | undefined>;

  /** For /readyz and metrics. */
  health(): Promise<RailHealth>;
  /**
   * A sandbox's chain: its node has never been started, so it has no blocks, orders or recurring jobs, and is neither well nor
   * broken. Asks nobody. A rail without it is never asleep.
   */
  isAsleep?(): boolean;
}

/** What the outside shows of who paid. */
export interface Payer {
  name?: string | undefined;
  account?: string | undefined;
  text?: string | undefined;
  /** On a chain. */
  address?: string | undefined;
}

/** What an order pays, by which a payment of it is known that the books have lost. */
export interface PaidPerhaps {
  id: bigint;
  payoutAsset: AssetCode;
  payoutUnits: bigint;
  payoutAddress: string | null;
  createdAt: Date;
  /** The order whose deposit it was made of; null of one that a customer made. */
  follows: bigint | null;
}

/**
 * An order made of a deposit of another order. Made after a restore, it may stand for one that was made of the same deposit and paid in
 * the time that was lost: under another key, and at another price.
 */
export interface FollowOn {
  madeAt: Date;
}

/** One movement in one wallet, as the outside shows it. */
export interface Movement {
  /** The outside's own name for it, such as deposits carry as `externalId`. With wallet, asset and place it is unique. */
  name: string;
  wallet: string;
  asset: AssetCode;
  /** Signed: above zero came in. What was charged with it is part of it. */
  units: bigint;
  /** Under which the books may know it: a payout's id, or the name of the movement that it undoes. The name where absent. */
  key?: string;
  /** The address, where that one's balance is reckoned with by itself (`remainder` below). */
  place?: string;
}

export interface MovementPage {
  movements: Movement[];
  upTo: string;
  /** Time of the outside at `upTo`: what happened before is in the pages so far. */
  at: Date;
  more: boolean;
}

export interface Holding {
  wallet: string;
  asset: AssetCode;
  place?: string;
  units: bigint;
  /**
   * Where the outside cannot show every movement (native coin leaves no log): what the balance has beyond those shown counts
   * as one movement of this name.
   */
  remainder?: string;
}

export interface Instructions {
  /** What a deposit is recognised by: an address (canonical text) or a bank reference. Unique on the rail. */
  target: string;
}

/** Whom a customer pays, by the names people know; '' where the country has no such thing. */
export interface Payee {
  holder: string;
  bank: string;
  branch: string;
  accountType: string;
  accountNumber: string;
  ifsc: string;
  iban: string;
  bic: string;
  /** What else tells whose bank it is, in the words of its country. */
  codes?: Readonly<Partial<Record<'sortCode' | 'routingNumber' | 'bankCode', string>>>;
}

export interface Sending {
  /** The payout's id: the idempotency key, and what the bank is asked to carry as reference. */
  key: string;
  asset: AssetCode;
  units: bigint;
  destination: Destination;
  /**
   * The submission must not begin after this: whoever comes later takes the payout for unknown by then. An adapter looks
   * at it last before bytes leave, and passes it on where the outside honours such a limit. Real time, not the sandbox's.
   */
  notAfter?: Date;
}

export type Destination =
  | { kind: 'address'; address: string }
  /** Opened from its encrypt by the payout engine just before the call; never logged. `account` or `iban`, `name`, and what the country needs (`ifsc`). */
  | { kind: 'account'; details: Readonly<Record<string, string>> };

export type Sent =
  | { outcome: 'submitted'; reference?: string }
  | { outcome: 'rejected'; why: string }
  | { outcome: 'unknown'; why: string };

export type PayoutStatus =
  /** The rail has it; whether it is settled is said by `observe` alone (statement, confirmations). */
  | { outcome: 'known'; reference?: string }
  | { outcome: 'rejected'; why: string }
  /** Proved: it was never taken and cannot be taken later. */
  | { outcome: 'absent' }
  | { outcome: 'unknown'; why: string };

export interface RailHealth {
  healthy: boolean;
  /** Age of the newest block or statement we know, milliseconds. */
  ageMs: number | null;
  why?: string;
}

/** What rails report. Facts are past tense and may come twice; the receiver takes each once. */
export type RailFact =
  | ({ type: 'deposit_seen' } & DepositFact)
  | ({ type: 'deposit_confirmed' } & DepositFact)
  /** A deposit that was seen is no longer there. Before confirmation it is news; after, it is a loss. */
  | { type: 'deposit_reversed'; rail: string; externalId: string; why: string }
  /** The rail has taken it: from now on it is under way. */
  | { type: 'payout_submitted'; rail: string; key: string }
  | {
      type: 'payout_settled';
      rail: string;
      key: string;
      reference: string;
      cost?: { asset: AssetCode; units: bigint };
      /** The name under which it was reported as an unexplained debit before it was known what it is. */
      undoes?: string;
    }
  /** The rail took it not, or took it and proved not to have paid: reverted on chain, rejected by the bank. It may have cost. */
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
  /** A reorg had it mined again for another price, or a bank charged after all: what it costs now, in all, and what was said before. */
  | {
      type: 'cost_changed';
      rail: string;
      key: string;
      externalId: string;
      asset: AssetCode;
      before: bigint;
      units: bigint;
    }
  /** Nobody has been able to say for too long what became of it. Told once a payout; asking goes on. */
  | { type: 'payout_unknown'; rail: string; key: string; why: string }
  /** The operator put own money in: to fill orders from, or as coin that sending is paid with. */
  | {
      type: 'funding_confirmed';
      rail: string;
      externalId: string;
      asset: AssetCode;
      units: bigint;
      reference: string;
      forGas?: boolean;
    }
  /**
   * Money came to the wallet that pays, from no source known as the operator's own, and no transfer of ours explains it.
   * `payer` is who sent it, as the rail says.
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
  /** A transfer between our own wallets (`sweep:…`, `gas:…`) is final: nothing can take it back. */
  | {
      type: 'own_transfer_settled';
      rail: string;
      key: string;
      reference: string;
      cost?: { asset: AssetCode; units: bigint };
    }
  /** It is final and has moved nothing. It has cost all the same. */
  | {
      type: 'own_transfer_failed';
      rail: string;
      key: string;
      why: string;
      reference: string;
      cost?: { asset: AssetCode; units: bigint };
    }
  /** A statement line that could not be taken as it stands (no amount, another currency, changed since): not booked, a person looks. */
  | { type: 'line_refused'; rail: string; externalId: string; why: string }
  /** A statement seems to be missing before one that was taken; what is missing is not booked. `statement` is our id of it. */
  | { type: 'statement_gap'; rail: string; asset: AssetCode; statement: string; why: string }
  /** Money left a wallet and no payout of ours explains it. */
  | { type: 'unexplained_debit'; rail: string; externalId: string; asset: AssetCode; units: bigint; reference: string }
  /** Something a person must look at before the rail goes on. */
  | { type: 'rail_halted'; rail: string; why: string }
  /** A transaction of one of our wallets that no send of ours explains, and that fits no payout alone. Told once. */
  | {
      type: 'send_found';
      rail: string;
      movement: bigint;
      reference: string;
      moved?: { asset: AssetCode; units: bigint };
      why: string;
    }
  /** It is known what such a transaction was. `left`: how many of those told of on this rail are still open. */
  | { type: 'send_matched'; rail: string; movement: bigint; key: string; left: bigint }
  /** A wallet of ours was used by others, or by us before the database was put back. Nothing more is sent until a person says so. */
  | { type: 'nonces_used'; rail: string; why: string };

export interface DepositFact {
  rail: string;
  /**
   * The rail's own name for it: `<txHash>:<position of the log in the transaction>`, statement line id. A transaction mined
   * again in another block keeps it; seen, reversed and seen again is one deposit.
   */
  externalId: string;
  /** Address or reference it was paid to; `''` where none was given. */
  target: string;
  /** The rail on which the customer was told this target, where it is another: one key has one address on many chains. */
  homeRail?: string;
  asset: AssetCode;
  units: bigint;
  /** For showing: transaction hash, bank reference. */
  reference: string;
  /**
   * When it came at the earliest, on our clock's scale: the time of its block, the bank's booking; never a value date. Absent
   * where the rail cannot say.
   */
  at?: Date;
  /** How much later it may have come: a block says the second, some banks the day alone. */
  withinMs?: number;
  /** Who paid, as the rail names them. Compared while the fact is taken; kept sealed by the rail and nowhere else. */
  payerName?: string;
  /** Ids and numbers only (block number, confirmations): these are kept unsealed. */
  facts: Readonly<Record<string, string | number>>;
}

/** Kind of the work that looks at a rail once (subject: its code) and enqueues again when `observe` says so. */
export const OBSERVE = 'observe_rail';

/** Where facts go: in the caller's transaction, so that a fact and the cursor behind it are stored together or not at all. */
export type Report = (tx: Tx, fact: RailFact) => Promise<void>;

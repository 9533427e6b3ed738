/**
 * The travel rule: a transfer of coins from a threshold on leaves only with the data of originator and beneficiary, as IVMS101.
 *
 * What an order needs follows from the rule of its customer's country and its fiat: for each address that its coins come from and
 * for the one that they go to, the customer's name and what its partner says of the wallet (wallets.ts). Once all is there, the
 * data of the transfer is written as one record, encrypted, and stays as it was (records.ts).
 *
 * Without it the payout waits at the gate, with one case for its order and a deadline. At the deadline the rule's policy decides:
 * `hold` stops the payout for people, whose approval lets it pass; `send` lets it go, and records that it went without.
 *
 * A refund needs no data: sending back what came without any is the answer that rules allow everywhere. It is screened like all
 * money.
 *
 * Not here: exchanging the data with the other side's provider.
 */
import { awaitAll, type Database, type Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import type { Handled, Handlers } from '../../base/jobs.ts';
import type { Screening, StoredScreening } from '../screener.ts';
import {
  type Asked,
  askedOf,
  type Leg,
  legsOf,
  type Missing,
  type RecordsDeps,
  settle,
  standingOf,
  TRAVEL_DUE,
  waitOf,
} from './records.ts';
import { type Declared, declareWallet, walletText } from './wallets.ts';

const RULES = 'travel 1';

export interface TravelRuleDeps extends RecordsDeps {
  db: Database;
  /** Deposits that fund an order. */
  depositsOf(tx: Tx, orderId: bigint): Promise<readonly bigint[]>;
  /** Where an order is paid to, and by which rail. */
  payoutOf(tx: Tx, orderId: bigint): Promise<Pick<OrderOf, 'payoutAddress' | 'rail'> | undefined>;
  /** Makes the payouts of an order that wait ask the gate again. */
  wake(tx: Tx, orderId: bigint): Promise<void>;
  /** Whether the key of this address signed the text. */
  isSignedBy(rail: string, address: string, text: string, signature: string): Promise<boolean>;
}

/** An order, as far as its transfers go. */
export interface OrderOf {
  id: bigint;
  payoutAddress: string | null;
  /** By which it is paid. */
  rail: string;
}

export interface NeededWallet {
  direction: 'in' | 'out';
  rail: string;
  /** Null where the chain does not say. */
  address: string | null;
  missing: readonly Missing[];
  /** The text to sign, for a proof. */
  text: string | null;
}

export interface TravelRule extends StoredScreening {
  readonly handlers: Handlers;
  /** What an order needs now, and until when; nothing where no rule asks. */
  needs(tx: Tx, of: OrderOf): Promise<{ needed: NeededWallet[]; dueAt: Date | null }>;
  /**
   * Notes what a partner says of a wallet, and writes the records of the order that are complete with it.
   *
   * @throws Refusal 'malformed_field'
   */
  declare(tx: Tx, of: OrderOf, wallet: Omit<Declared, 'isProven'> & { signature?: string | undefined }): Promise<void>;
}

type Found = { asked: Asked; legs: Leg[] } | undefined;

export function openTravelRule(deps: TravelRuleDeps): TravelRule {
  const { db, vault, clock } = deps;

  async function screened(tx: Tx, input: Screening): Promise<Found> {
    const { customerId, purpose, payoutAddress, rail, depositIds = [] } = input;
    const asked = customerId === null || purpose === 'refund' ? undefined : await askedOf(tx, input.id);
    return asked && { asked, legs: await legsOf(deps, tx, { payoutAddress, rail, depositIds }) };
  }

  async function ofOrder(tx: Tx, { id, payoutAddress, rail }: OrderOf): Promise<Found> {
    const asked = await askedOf(tx, id);
    const depositIds = asked === undefined ? [] : await deps.depositsOf(tx, id);
    return asked && { asked, legs: await legsOf(deps, tx, { payoutAddress, rail, depositIds }) };
  }

  /** Undefined when all is written down. */
  async function missingOf(tx: Tx, input: Screening) {
    const found = await screened(tx, input);
    if (found === undefined) return undefined;
    const { asked, legs } = found;
    const [standing, wait] = await awaitAll(standingOf(deps, tx, asked, legs), waitOf(tx, asked.orderId));
    if (standing.every(({ isRecorded }) => isRecorded)) return undefined;
    const isHeld = wait !== undefined && wait.dueAt <= clock.now() && asked.policy === 'hold';
    // Complete since: another order named the wallet, or the customer's name came. Screening writes the record, and nobody else.
    const lacks = standing.some(({ isRecorded, missing }) => !isRecorded && missing.length > 0);
    return { isHeld: isHeld && lacks, isTold: wait !== undefined && lacks };
  }

  return {
    async ensure(input) {
      await db.asSystem(async (tx) => {
        const found = await screened(tx, input);
        if (found !== undefined) await settle(deps, tx, found.asked, found.legs);
      });
    },

    async read(tx, input) {
      const missing = await missingOf(tx, input);
      const entry = `order:${input.id}`;
      return {
        hits: missing?.isHeld === true ? [{ rule: 'travel_rule_missing', entry, own: true }] : [],
        rules: RULES,
      };
    },

    async wait(tx, input) {
      const missing = await missingOf(tx, input);
      // A hit by now: it holds, or people have let it pass.
      if (missing === undefined || missing.isHeld) return undefined;
      const why = 'the travel rule asks for the wallet on the other side, which its partner names';
      return { cause: missing.isTold ? 'travel_rule' : 'screening', why };
    },

    async needs(tx, of) {
      const found = await ofOrder(tx, of);
      if (found === undefined) return { needed: [], dueAt: null };
      const { asked, legs } = found;
      const [standing, wait] = await awaitAll(standingOf(deps, tx, asked, legs), waitOf(tx, of.id));
      const needed = standing
        .filter(({ isRecorded }) => !isRecorded)
        .map(({ direction, rail, address, missing }) => {
          const text = address === '' ? null : walletText({ customerId: asked.customerId, rail, address });
          return { direction, rail, missing, text, address: address === '' ? null : address };
        });
      return { needed, dueAt: wait?.dueAt ?? null };
    },

    async declare(tx, of, { signature, ...wallet }) {
      const { rail, address } = wallet;
      const text = walletText(wallet);
      if (signature !== undefined && !(await deps.isSignedBy(rail, address, text, signature)))
        throw new Refusal('malformed_field', { fields: { signature: `must be that of ${address} over: ${text}` } });
      await declareWallet(tx, vault, { ...wallet, isProven: signature !== undefined, now: clock.now() });
      const found = await ofOrder(tx, of);
      if (found === undefined) return;
      await settle(deps, tx, found.asked, found.legs);
      await deps.wake(tx, of.id);
    },

    handlers: {
      /** The deadline: what the rule lets go is written, and its payout then passes the gate by itself. */
      async [TRAVEL_DUE](subject): Promise<Handled> {
        return await db.asSystem(async (tx) => {
          const id = BigInt(subject);
          const [wait, to] = await awaitAll(waitOf(tx, id), deps.payoutOf(tx, id));
          if (wait === undefined || to === undefined) return undefined;
          const leftMs = wait.dueAt.getTime() - clock.now().getTime();
          if (leftMs > 0) return { againInMs: leftMs };
          const found = await ofOrder(tx, { id, ...to });
          if (found !== undefined) await settle(deps, tx, found.asked, found.legs);
          return undefined;
        });
      },
    },
  };
}

/**
 * Moves: further actions of people on an order's money, in one of ten seeds.
 *
 * - Customers who pay by the bank use an account of their own, and operators refund an order to the account that its only deposit
 *   came from (`toSender`).
 * - Operators request a refund without a destination; later it is named.
 * - A payout that its rail rejected is sent to another account or address of the customer.
 * - A partner's program adds the destination of an order, which waits until the customer confirms it with a code, or until its
 *   cooling-off time has passed.
 *
 * Their invariants use the environment's and the rails' knowledge, not our rows: from when money may leave for a destination, where
 * a payout goes after people have redirected it (`mayPay`, called by the guard), and that no payer gets more back than they paid
 * (`wrongSenders`). The rest of ends.ts counts their accounts like the customer's.
 *
 * They use separate random numbers, so that all other seeds play as they would without them.
 */
import type { Tx } from '../../src/base/db.ts';
import { addAddress, confirmDestination, type findCustomer, noteApiAccount } from '../../src/customers/index.ts';
import type { Hands, Noted } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import { CHAIN } from './outside.chain.ts';
import type { Environment } from './process.ts';
import { restores } from './restore.ts';

export const hasMoves = (seed: number): boolean => seed % 10 === 7 && !restores(seed);

type Customer = Awaited<ReturnType<typeof findCustomer>>;
type Refunding = 'to the sender' | 'without a destination' | 'named';

export interface Moves {
  readonly done: ReadonlyMap<string, number>;
  /** An account used by this payer only, for one payment into an order. */
  sender(one: Noted, units: bigint): { account: string; name: string };
  /** In the transaction that makes the order: its destination waits. */
  waits(tx: Tx, to: { customer: Customer; account?: bigint; address?: string; now: Date }): Promise<string | undefined>;
  /** The customer confirms its destination at some time, or not. */
  confirms(one: Noted): void;
  /** An operator intervenes at some moment of an order, or not. */
  stepsIn(body: (how: 'to the sender' | 'without a destination' | 'hold') => void): void;
  refunding(): Refunding;
  goesElsewhere(): boolean;
  /** Operators send the payout of this order there; called again once that has succeeded. */
  named(order: bigint, destination: string, isDone: boolean): void;
  did(what: string): void;
  /** The violation by a payout to there now, in a sentence. */
  mayPay(order: string, destination: string, spreadMs: number, isRefund: boolean): string | undefined;
}

const COOLING_OFF_MS = [30_000, 240_000] as const;

export function openMoves(
  { scheduler }: Environment,
  deps: {
    seed: number;
    somewhere: Hands['somewhere'];
    later: (ms: number, body: () => void) => void;
  },
): Moves {
  const chance: Chance = chanceOf(deps.seed + 2_000_003);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  /** For each destination that waits: when it becomes valid by itself, and since when its customer may have confirmed it. */
  const waiting = new Map<string, { id: bigint; usableAt: number; confirmedFrom: number }>();
  const told = new Map<string, { to: Set<string>; isDone: boolean }>();
  let senders = 0;

  return {
    done,
    did,
    sender(one, units) {
      senders += 1;
      const account = `7${String(senders).padStart(7, '0')}`;
      (one.senders ??= new Map()).set(account, units);
      return { account, name: 'A Payer' };
    },
    async waits(tx, { customer, account, address, now }) {
      const destination = account === undefined ? `address:${address}` : `account:${account}`;
      // A transaction that is retried after a rollback may decide otherwise, and the first one's row does not exist.
      waiting.delete(destination);
      if (!chance.happens(0.6)) return undefined;
      const coolingOffMs = chance.int(...COOLING_OFF_MS);
      const added =
        account === undefined
          ? await addAddress(tx, { customer, chain: CHAIN, address: address ?? '', coolingOffMs, now })
          : await noteApiAccount(tx, { customer, accountId: account, isNew: true, coolingOffMs, now });
      const usableAt = added.usableAt?.getTime() ?? 0;
      waiting.set(destination, { id: added.id, usableAt, confirmedFrom: Number.POSITIVE_INFINITY });
      return destination;
    },
    confirms({ order, waits = '' }) {
      const one = waiting.get(waits);
      if (one === undefined) return;
      if (!chance.happens(0.5)) return did('waited for its cooling-off time');
      deps.later(chance.int(1_000, 120_000), () => {
        one.confirmedFrom = scheduler.time.now();
        deps.somewhere('confirm a destination', async ({ context: { db, clock } }) => {
          const customer = { id: order.customerId, partnerId: order.partnerId };
          await db.asPartner(order.partnerId, (tx) =>
            confirmDestination(tx, { customer, id: one.id, now: clock.now() }),
          );
          did('confirmed with a code');
        });
      });
    },
    stepsIn(body) {
      // Most come too early or too late: an order's steps in between take seconds.
      const times = chance.int(3, 7);
      for (let n = 0; n < times; n += 1) {
        const how = chance.pick(['to the sender', 'to the sender', 'without a destination', 'hold', 'hold'] as const);
        deps.later(chance.int(10_000, 110_000), () => body(how));
      }
    },
    refunding: () => chance.pick(['to the sender', 'to the sender', 'without a destination', 'named'] as const),
    goesElsewhere: () => chance.happens(0.6),
    named(order, destination, isDone) {
      const one = told.get(String(order)) ?? { to: new Set(), isDone: false };
      one.to.add(destination);
      one.isDone ||= isDone;
      told.set(String(order), one);
      if (isDone) did('a payout sent elsewhere');
    },
    mayPay(order, destination, spreadMs, isRefund) {
      const now = scheduler.time.now();
      const waits = waiting.get(destination);
      // A confirmation is no earlier than it was begun, and no clock of ours is further ahead than that.
      if (waits !== undefined && now < waits.confirmedFrom && now + spreadMs < waits.usableAt)
        return `leaves to ${destination}, which nobody has confirmed, ${waits.usableAt - now} ms before that is not needed`;
      const other = isRefund ? undefined : told.get(order);
      return other?.isDone === true && !other.to.has(destination)
        ? `leaves to ${destination}, and people have sent it to ${[...other.to].join(' or ')}`
        : undefined;
    },
  };
}

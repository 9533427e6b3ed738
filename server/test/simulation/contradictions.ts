/**
 * Contradictions: the bank refuses a payment and shows it as paid later, in one of twenty seeds.
 *
 * It rejects the first payout of some sales. The order then holds its money, and no payment seems to have left. The chain reverts
 * the customer's coins in another branch, which is booked as a loss. Then the bank's statement shows the payment: the order is
 * paid, and its customer owes the reverted amount. Sometimes the branch does not take effect, and the customer owes nothing.
 *
 * Meanwhile no actor decides about such an order (actors.ts): a second payout beside the first would be the bank's fault, and
 * prove nothing. Each customer's final debt is computed separately (ends.ts, `turnedOut`).
 *
 * They use separate random numbers, so that all other seeds play as they would without them.
 */
import type { Noted } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { BankEnvironment } from './outside.bank.ts';
import type { ChainEnvironment } from './outside.chain.ts';
import type { Environment } from './process.ts';

export const contradicts = (seed: number): boolean => seed % 20 === 14;

export interface Contradictions {
  readonly done: ReadonlyMap<string, number>;
  /** Every payment that is to be shown has been. */
  readonly isOver: boolean;
  /** The bank is asked to pay under this key. */
  refuses(key: string): boolean;
}

interface Row {
  id: bigint;
  key: string;
  hash: string;
  lost: boolean;
  attempts: number;
}

const LOOK_MS = 1_000;
/** Maximum time without knowing that the coins are gone: then the payment is shown all the same. */
const PATIENCE_MS = 90_000;

export function openContradictions(
  { scheduler, backends, faults, complain }: Pick<Environment, 'scheduler' | 'backends' | 'faults' | 'complain'>,
  deps: {
    seed: number;
    bank: Pick<BankEnvironment, 'turnsOut'>;
    chain: Pick<ChainEnvironment, 'doubleSpends'>;
    noted: () => readonly Noted[];
  },
): Contradictions {
  const chance: Chance = chanceOf(deps.seed + 5_000_011);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const refused = new Set<string>();
  /** By key, since when it waits to be shown. */
  const waiting = new Map<string, { one: Noted; since: number }>();

  const look = (): void => {
    if (refused.size + waiting.size > 0)
      void scheduler
        .perform('what the bank refused', () =>
          backends.look<Row>(
            `select o.id, p.id as key, split_part(d.external_id, ':', 1) as hash, d.state = 'lost' as lost,
                    (select count(*)::int from payouts n where n.order_id = o.id) as attempts
               from payouts p join orders o on o.id = p.order_id join deposits d on d.order_id = o.id and d.taken_units > 0
              where p.id = any($1) and p.state = 'rejected' and o.state = 'payout_held' order by o.id, d.id`,
            [[...refused, ...waiting.keys()]],
          ),
        )
        .then((rows) => {
          for (const row of rows) if (refused.delete(row.key)) takesBack(row);
          const now = scheduler.time.now();
          for (const [key, { one, since }] of waiting) {
            const row = rows.findLast((each) => each.key === key);
            if (row?.lost === true || now - since > PATIENCE_MS) shows(key, one, row);
          }
        })
        .catch((error: unknown) => complain('contradictions', error));
    scheduler.after(LOOK_MS, look);
  };
  scheduler.after(LOOK_MS, look);

  function takesBack({ id, key, hash, attempts }: Row): void {
    const one = deps.noted().find(({ order }) => order.id === id);
    if (one === undefined || attempts > 1 || faults.ended || !chance.happens(0.9)) return;
    one.isLeftAlone = true;
    waiting.set(key, { one, since: scheduler.time.now() });
    if (chance.happens(0.9) && deps.chain.doubleSpends(hash)) did('coins reversed after a rejection');
  }

  function shows(key: string, one: Noted, row: Row | undefined): void {
    waiting.delete(key);
    one.isLeftAlone = false;
    // An operator intervened before.
    if (row === undefined || row.attempts > 1) return;
    one.isLeftAlone = true;
    one.turnedOut = true;
    deps.bank.turnsOut(key);
    did(row.lost ? 'shown as paid after the coins were reversed' : 'shown as paid');
  }

  return {
    done,
    get isOver() {
      return waiting.size === 0;
    },
    refuses(key) {
      if (faults.ended || !/^pay_[0-9]+_1$/.test(key) || !chance.happens(0.6)) return false;
      refused.add(key);
      did('refused');
      return true;
    },
  };
}

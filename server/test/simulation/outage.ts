/**
 * Outage: nothing of ours runs for longer than the bank recognises the key of a payment.
 *
 * One of ten seeds has a bank that forgets: it deduplicates for two minutes, and has then neither the key nor the payment under
 * it. When it makes a payment, or does not answer, all processes may end, and start again only after that. Its statement shows
 * payments later than elsewhere. People ask the bank about what stays unknown, as the runbook says (a payout is unknown), and it
 * answers from its archive.
 *
 * Not here: whether something was paid twice (checks.ts).
 */
import { type Chance, chanceOf } from './chance.ts';
import type { BankWorld } from './outside.bank.ts';
import type { World } from './process.ts';

const BANK = 'bank.simulated';
/**
 * A call takes ten seconds at most, and its bytes arrive thirty seconds later at most (outside.bank.ts). So half of this is enough
 * for what was sent last while the promise counted, as half a day is for real bytes.
 */
export const FORGETS_AFTER_MS = 120_000;
/** A payment takes so long to be shown there, at most. */
export const SHOWN_WITHIN_MS = 200_000;
const MOST_OUTAGES = 2;
/** After this people ask about what is unknown, and about what was accepted and is not shown. */
const UNKNOWN_MS = 60_000;
const UNSHOWN_MS = 240_000;

/** Whether the bank of this seed forgets keys. */
export const forgets = (seed: number): boolean => seed % 10 === 9;

export interface Outage {
  /** The bank makes a payment, and has not answered yet. */
  paid(): void;
  /** The bank was asked to pay, and did not say whether it will. */
  unanswered(): void;
  operate(): void;
  /** What happened, and how often. */
  readonly done: ReadonlyMap<string, number>;
}

export function openOutage(
  world: Pick<World, 'scheduler' | 'backends' | 'faults' | 'complain'>,
  deps: {
    seed: number;
    bank: Pick<BankWorld, 'asks'>;
    /** Ends every process; each is started again after so long. */
    crashAll: (offMs: number) => Promise<void>;
  },
): Outage {
  const { scheduler, backends, faults } = world;
  const chance: Chance = chanceOf(deps.seed ^ 0x0ff);
  const done = new Map<string, number>();
  const count = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  let outages = 0;

  const begins = (rate: number): boolean => {
    if (faults.ended || outages === MOST_OUTAGES || !chance.happens(rate)) return false;
    outages += 1;
    return true;
  };
  /** In the middle of whatever is under way. */
  const end = (): void =>
    void scheduler
      .perform('all is off', async () => {
        await deps.crashAll(FORGETS_AFTER_MS + chance.int(1, 60_000));
        count('was off for longer than the bank remembers');
      })
      .catch((error: unknown) => world.complain('outage', error));

  async function lookAt(now: number): Promise<void> {
    const rows = await backends.look<{ id: string }>(
      `select id from payouts
        where rail = $1 and ((state = 'unknown' and unknown_since < $2) or (state = 'submitted' and submitted_at < $3))
        order by id`,
      [BANK, new Date(now - UNKNOWN_MS), new Date(now - UNSHOWN_MS)],
    );
    for (const { id } of rows) {
      deps.bank.asks(id);
      count('asked the bank');
    }
  }

  return {
    done,
    paid() {
      if (begins(0.7)) end();
    },
    unanswered() {
      if (begins(0.5)) scheduler.after(chance.int(1, 3_000), end);
    },
    operate() {
      void scheduler
        .perform('the operator looks at unknown payouts', () => lookAt(scheduler.time.now()))
        .catch((error: unknown) => world.complain('operator', error));
    },
  };
}

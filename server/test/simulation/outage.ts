/**
 * Outage: none of our processes runs for longer than the bank recognises the key of a payment.
 *
 * One of ten seeds has a bank that forgets: it deduplicates for two minutes, and then has neither the key nor the payment under
 * it. When it makes a payment, or does not answer, all processes may end, and start again only after that. Its statement shows
 * payments later than elsewhere. Operators ask the bank about unknown payouts, as the runbook says, and it answers from its
 * archive.
 *
 * In one of four of these seeds operators do not ask the bank: after a quarter of an hour two of them declare an unknown payout
 * never paid, and its order continues. There the statement shows some payments of an outage without their key. A declaration is
 * refused then, and the payment settled by that line. A payment declared never paid must not have left, or leave later (`wrong`).
 *
 * Not here: whether a payment was made twice (checks.ts).
 */
import { Refusal } from '../../src/base/errors.ts';
import { declareNeverPaid } from '../../src/orders/index.ts';
import type { Hands } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { BankEnvironment } from './outside.bank.ts';
import type { Environment, OurProcess } from './process.ts';

const BANK = 'bank.simulated';
/**
 * A call takes ten seconds at most, and its bytes arrive thirty seconds later at most (outside.bank.ts). So half of this suffices
 * for the last request sent while the promise counted, as half a day does for real bytes.
 */
export const FORGETS_AFTER_MS = 120_000;
/** Maximum time until a payment is shown there. */
export const SHOWN_WITHIN_MS = 200_000;
const MOST_OUTAGES = 2;
const AGAIN_MS = 60_000;
/** After this operators ask about unknown payouts, and about accepted ones that are not shown. */
const UNKNOWN_MS = 60_000;
const UNSHOWN_MS = 240_000;

/** Whether the bank of this seed forgets keys. */
export const forgets = (seed: number): boolean => seed % 10 === 9;
/** Whether operators declare unknown payouts never paid. */
export const declares = (seed: number): boolean => seed % 40 === 29;

export interface Outage {
  /** The bank makes a payment, and has not answered yet. */
  paid(key: string): void;
  /** Requests to the bank never reach it. */
  loses(): boolean;
  /** The statement shows this payment without its key. */
  hidesKey(key: string): boolean;
  /** The bank was asked to pay, and has not answered. */
  unanswered(): void;
  operate(): void;
  /** What happened, and how often. */
  readonly done: ReadonlyMap<string, number>;
  /** Payments that have left although declared never paid, in sentences. */
  wrong(): string[];
}

export function openOutage(
  world: Pick<Environment, 'scheduler' | 'backends' | 'faults' | 'complain'>,
  deps: {
    seed: number;
    bank: Pick<BankEnvironment, 'asks' | 'payments'>;
    hands: () => Hands | undefined;
    /** Ends every process; each is started again after this time. */
    crashAll: (offMs: number) => Promise<void>;
  },
): Outage {
  const { scheduler, backends, faults } = world;
  const chance: Chance = chanceOf(deps.seed ^ 0x0ff);
  const done = new Map<string, number>();
  const count = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const hidden = new Set<string>();
  const declared = new Set<string>();
  /** A process may freeze in the middle of a declaration: every retry waits there, too. */
  const triedAt = new Map<string, number>();
  let outages = 0;

  const begins = (rate: number): boolean => {
    if (faults.ended || outages === MOST_OUTAGES || !chance.happens(rate)) return false;
    outages += 1;
    return true;
  };
  /** At any moment of the work under way. */
  const end = (): void =>
    void scheduler
      .perform('all is off', async () => {
        await deps.crashAll(FORGETS_AFTER_MS + chance.int(1, 60_000));
        count('was off for longer than the bank remembers');
      })
      .catch((error: unknown) => world.complain('outage', error));

  async function lookAt(now: number): Promise<void> {
    const rows = await backends.look<{ id: string; state: string; alarmed: boolean; line: string | null }>(
      `select p.id, p.state, p.alarmed_at is not null as alarmed,
              (select min(l.external_id) from bank_lines l where l.rail = p.rail and l.direction = 'debit'
                 and l.meaning = 'unexplained' and l.asset = p.asset and l.units = p.units) as line
         from payouts p
        where p.rail = $1
          and ((p.state = 'unknown' and p.unknown_since < $2) or (p.state = 'submitted' and p.submitted_at < $3))
        order by p.id`,
      [BANK, new Date(now - UNKNOWN_MS), new Date(now - UNSHOWN_MS)],
    );
    for (const { id, state, alarmed, line } of rows) {
      if (declares(deps.seed) && (state === 'unknown' || line !== null)) {
        if (now - (triedAt.get(id) ?? 0) < AGAIN_MS) continue;
        triedAt.set(id, now);
        if (state === 'submitted' && line !== null) settles(id, line);
        else if (alarmed) ends(id, line);
        continue;
      }
      deps.bank.asks(id);
      count('asked the bank');
    }
  }

  const byLine = async ({ movements }: OurProcess, payout: string, line: string): Promise<void> => {
    await movements.settleBy({ payout, rail: BANK, by: { line }, otherAmount: false });
    count('settled by a line without its key');
  };
  const settles = (payout: string, line: string): void =>
    deps.hands()?.somewhere('settle by line', (process) => byLine(process, payout, line));

  function ends(payout: string, line: string | null): void {
    deps.hands()?.somewhere('declare never paid', async (process) => {
      try {
        const by = 'operator:1, operator:2';
        await declareNeverPaid(process.context, { payout, evidence: 'a letter of the bank', by, why: 'looked at' });
        declared.add(payout);
        count('declared never paid');
      } catch (error) {
        if (!(error instanceof Refusal) || line === null) throw error;
        count('a declaration refused');
        await byLine(process, payout, line);
      }
    });
  }

  return {
    done,
    paid(key) {
      if (!begins(0.7)) return;
      if (declares(deps.seed) && chance.happens(0.7)) hidden.add(key);
      end();
    },
    hidesKey: (key) => hidden.has(key),
    loses: () => declares(deps.seed) && !faults.ended && outages < MOST_OUTAGES && chance.happens(0.4),
    wrong: () =>
      deps.bank.payments
        .filter(({ key, state }) => declared.has(key) && state !== 'rejected')
        .map(({ key, units }) => `${units} left by ${key}, which was declared never paid`),
    unanswered() {
      // Before it is asked again, if no operator will ask the bank.
      const [rate, mostMs] = declares(deps.seed) ? ([0.9, 200] as const) : ([0.5, 3_000] as const);
      if (begins(rate)) scheduler.after(chance.int(1, mostMs), end);
    },
    operate() {
      void scheduler
        .perform('the operator looks at unknown payouts', () => lookAt(scheduler.time.now()))
        .catch((error: unknown) => world.complain('operator', error));
    },
  };
}

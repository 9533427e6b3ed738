/**
 * An environment with a bank: a database, the simulated bank, its rail, and payouts with a receiver of facts that changes them as
 * the orders module does. It has the functions for tests about payouts and statements.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tx } from '../../src/base/db.ts';
import type { Handled } from '../../src/base/jobs.ts';
import { isSubmittingOff } from '../../src/partners/index.ts';
import type { BankContext } from '../../src/rails/bank.ts';
import { type Payout, payoutByKey, payoutHandlers } from '../../src/rails/payouts.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { HOUR_MS, type Settings, simulatedBank, startSimulatedBank } from '../../src/rails/simulated/index.ts';
import { freshFixture } from './fixture.ts';
import { openPayoutSide } from './payoutside.ts';
import { openRows } from './rows.ts';

export type BankEnvironment = Awaited<ReturnType<typeof bankEnvironment>>;

const RAIL = 'bank.simulated';
const BAD = new Set(['unexplained_debit', 'line_refused', 'payout_unknown']);

export async function bankEnvironment(
  options: Partial<Settings> & { submitMs?: number; graceMs?: number; funds?: bigint } = {},
) {
  const fixture = await freshFixture();
  const rows = await openRows(fixture.adminUrl);
  const { report, openAccount, ...payouts } = await openPayoutSide(fixture, rows, { rail: RAIL, asset: 'inr' });
  const bankSettings = { settleMs: 0, deduplicatesForMs: 24 * HOUR_MS, ...options };
  let bank = await startSimulatedBank({ ...fixture, ...bankSettings });
  await bank.fund({ currency: 'INR', units: options.funds ?? 1_000_000n, id: 'seed' });

  const makeRail = (db = fixture.db, more: Partial<BankContext> = {}): Rail & { wake(tx: Tx): void } =>
    simulatedBank(
      { url: bank.url, token: bank.token, deduplicatesForMs: bankSettings.deduplicatesForMs, deadlineMs: 10_000 },
      { ...fixture, db, report, ...more },
    );
  let rail = makeRail();

  /** A worker of its own with a rail that may misbehave. */
  const worker = (through: Rail = rail) => {
    const { send_payout: handle } = payoutHandlers({
      ...fixture,
      rails: new Map([[RAIL, through]]),
      report,
      openAccount,
      gate: async (tx, { rail }) =>
        (await isSubmittingOff(tx, rail))
          ? { outcome: 'wait', why: 'a kill switch is on', againInMs: 5_000 }
          : { outcome: 'pay' },
      ...(options.submitMs === undefined ? {} : { submitMs: options.submitMs }),
      ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
    });
    assert(handle);
    return handle;
  };

  return {
    ...fixture,
    ...payouts,
    rows,
    report,
    worker,
    get bank() {
      return bank;
    },
    get rail() {
      return rail;
    },
    /** The rail of another process. */
    railOn: makeRail,
    /** Creates a payout. @returns its id, which is the key */
    writes: (units: bigint, account = '123456780000'): Promise<string> =>
      payouts.writes(units, { account, name: 'Asha Rao', ifsc: 'SIMB0000001' }),
    /** A worker processes a payout once. */
    looksAt: (id: string, through?: Rail): Promise<Handled> => worker(through)(id),
    async payout(id: string): Promise<Payout> {
      const payout = await fixture.db.asSystem((tx) => payoutByKey(tx, RAIL, id));
      assert(payout, id);
      return payout;
    },
    async state(id: string): Promise<string> {
      return (await this.payout(id)).state;
    },
    /** Number of payments that the bank really made or is making for a key. */
    async paid(id: string): Promise<number> {
      return (await bank.payments(id)).filter(({ state }) => state !== 'rejected').length;
    },
    /** Reads the statement after the bank has settled all due payments. */
    async reads(): Promise<void> {
      await bank.settlesDue();
      await rail.observe();
    },
    get troubles() {
      return payouts.facts.filter(({ type }) => BAD.has(type));
    },
    /** Our side stands still for this much real time, which bank and database use for keys and submissions. */
    async isOffFor(ms: number): Promise<void> {
      await bank.ages(ms);
      await rows.query(
        `update payouts set first_submission_at = first_submission_at - make_interval(secs => $1),
                submitting_until = submitting_until - make_interval(secs => $1)`,
        [ms / 1_000],
      );
    },
    async restartsBank(): Promise<void> {
      await bank.stop();
      bank = await startSimulatedBank({ ...fixture, ...bankSettings });
      rail = makeRail();
    },
    sleep,
    async stop(): Promise<void> {
      await bank.stop();
      await rows.close();
      await fixture.stop();
    },
  };
}

/** A well-behaved rail, except for the given methods. */
export const behaving = (rail: Rail, otherwise: Partial<Rail>): Rail => ({ ...rail, ...otherwise });

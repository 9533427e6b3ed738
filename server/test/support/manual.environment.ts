/**
 * An environment with a manual bank: a database, the rail, the desk, payouts, and a receiver of facts that changes payouts as the
 * orders module does. Its functions play the person at the bank: upload a file, pay, download a statement.
 */
import assert from 'node:assert/strict';
import type { Tx } from '../../src/base/db.ts';
import { type ManualDesk, manualBank, openManualDesk, readManualBank } from '../../src/rails/manual/index.ts';
import { type Gate, type GateAnswer, type Payout, payoutByKey, payoutHandlers } from '../../src/rails/payouts.ts';
import { freshFixture } from './fixture.ts';
import { openPayoutSide } from './payoutside.ts';
import { openRows } from './rows.ts';
import { type BankEntry, camt, SETTINGS, sumOf } from './statements.ts';

export type ManualEnvironment = Awaited<ReturnType<typeof manualEnvironment>>;

export const PAYEE = { name: 'Jürgen Groß & Co', iban: 'DE89370400440532013000', account: 'DE89370400440532013000' };
const BY = 'Asha at the desk';

/** @param given the settings, as an operator would write them */
export async function manualEnvironment(given: object = SETTINGS) {
  const fixture = await freshFixture();
  const rows = await openRows(fixture.adminUrl);
  await rows.query(
    `insert into assets (code, kind, coin, decimals) values ('eur', 'fiat', 'eur', 2) on conflict do nothing`,
  );
  const settings = readManualBank(JSON.stringify(given));
  const { report, openAccount, ...payouts } = await openPayoutSide(fixture, rows, {
    rail: settings.code,
    asset: 'eur',
  });
  const context = { ...fixture, report };
  const rail = manualBank(settings, context);
  const answers = new Map<string, GateAnswer>();
  const gate: Gate = async (_tx, { id }) => answers.get(id) ?? { outcome: 'pay' };
  const desk = openManualDesk(settings, { ...context, gate });
  const { send_payout: handle } = payoutHandlers({
    ...fixture,
    rails: new Map([[rail.code, rail]]),
    report,
    openAccount,
    gate,
    graceMs: 0,
  });
  assert(handle);

  let closing = 0n;
  let statements = 0;
  const today = () => fixture.clock.now().toISOString().slice(0, 10);
  return {
    ...fixture,
    rows,
    rail,
    desk,
    /** Runs an action of the desk in a transaction of its own. */
    asks: <T>(what: (desk: ManualDesk, tx: Tx) => Promise<T>): Promise<T> =>
      fixture.db.asSystem((tx) => what(desk, tx)),
    facts: payouts.facts,
    contradictions: payouts.contradictions,
    /** Sets the gate's answer for a payout from now on; by default it may leave. */
    gateSays: (id: string, answer: GateAnswer): void => void answers.set(id, answer),
    of: payouts.of,
    today,
    /** Creates a payout as orders would, and has a worker submit it. @returns its id */
    async pays(units: bigint, details: Record<string, string> = PAYEE): Promise<string> {
      const id = await payouts.writes(units, details);
      await handle(id);
      return id;
    },
    /** Creates the payout of a key that is sent without the engine, as the contract tests of rails do. */
    async writesOnce(key: string, units: bigint): Promise<void> {
      if ((await fixture.db.asSystem((tx) => payoutByKey(tx, settings.code, key))) === undefined)
        await payouts.writes(units, PAYEE, key);
    },
    looksAt: handle,
    /** The next camt.053 of the bank, which continues the previous one. */
    nextStatement(entries: readonly BankEntry[]): string {
      statements += 1;
      const opening = closing;
      closing += sumOf(entries);
      return camt({ id: `S${statements}`, sequence: statements, opening, from: today(), entries });
    },
    async imports(file: string | Uint8Array, asset = 'eur') {
      const read = await desk.readStatement({ asset, bytes: typeof file === 'string' ? Buffer.from(file) : file });
      return await fixture.db.asSystem((tx) => desk.takeStatement(tx, { file: read, by: BY }));
    },
    /** Takes a file in and reads its lines. */
    async takes(file: string | Uint8Array): Promise<void> {
      await this.imports(file);
      await rail.observe();
    },
    closes: (asset = 'eur') => fixture.db.asSystem((tx) => desk.closeBatch(tx, { asset, by: BY })),
    withdraws: (id: bigint, statement: string) =>
      fixture.db.asSystem((tx) => desk.withdrawBatch(tx, id, { by: BY, statement })),
    async state(id: string): Promise<Payout['state'] | undefined> {
      return (await fixture.db.asSystem((tx) => payoutByKey(tx, rail.code, id)))?.state;
    },
    async stop(): Promise<void> {
      await rows.close();
      await fixture.stop();
    },
  };
}

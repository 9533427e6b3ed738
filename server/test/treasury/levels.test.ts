/** Levels of the treasury: readiness and metrics show them, and a case alerts a person once. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Unavailable } from '../../src/base/errors.ts';
import { chart, hold, move, post } from '../../src/ledger/index.ts';
import { openMetrics, treasuryCheck, treasuryReadings } from '../../src/ops/index.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { levelHandlers, setThreshold, WATCH } from '../../src/treasury/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';

const RAIL = 'evm.test';
const ASSET = 'usdc.test';
const HOT = chart.custody(RAIL, 'hot', ASSET);
let fixture: Fixture;
let rows: Rows;
let outside: bigint | 'down';
let entries = 0;

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  await rows.cryptoAsset(ASSET, 'test', '0xtoken', 6);
});
after(async () => {
  await rows.close();
  await fixture.stop();
});
beforeEach(async () => {
  await rows.query(`update cases set closed_at = now() where closed_at is null`);
  outside = 0n;
  await threshold(1_000n, 100n);
});

const rail = {
  code: RAIL,
  balance: async () => {
    if (outside === 'down') throw new Unavailable(RAIL, 'down');
    return outside;
  },
} as unknown as Rail;
const watch = async () => await levelHandlers({ ...fixture, rails: new Map([[RAIL, rail]]) })[WATCH]?.(RAIL);

const threshold = (low: bigint, alarm: bigint) =>
  fixture.db.asSystem((tx) =>
    setThreshold(tx, {
      rail: RAIL,
      wallet: 'hot',
      asset: ASSET,
      lowUnits: low * 1_000_000n,
      alarmUnits: alarm * 1_000_000n,
    }),
  );

/** Sets the balance of the hot wallet, in whole units, of which some is set aside. */
async function has(whole: bigint, asideWhole = 0n): Promise<void> {
  await rows.query('delete from jobs');
  const { units, heldUnits } = await now();
  const [less, more] = [units, whole * 1_000_000n];
  await fixture.db.asSystem(async (tx) => {
    const entry = (lines: Parameters<typeof post>[1]['lines']) => {
      entries += 1;
      return post(tx, { id: `test:${entries}`, kind: 'test', at: new Date(), lines });
    };
    assert.equal(heldUnits, 0n);
    if (more > less) await entry(move(HOT, chart.treasury(ASSET), more - less));
    if (less > more) await entry(move(chart.treasury(ASSET), HOT, less - more));
    if (asideWhole > 0n) await entry(hold(`aside${entries}`, chart.treasury(ASSET), HOT, asideWhole * 1_000_000n));
  });
}
async function now(): Promise<{ units: bigint; heldUnits: bigint }> {
  const [row] = await rows.query<{ units: string; held: string }>(
    'select debits - credits as units, credits_held as held from accounts where code = $1',
    [HOT.code],
  );
  return { units: BigInt(row?.units ?? 0), heldUnits: BigInt(row?.held ?? 0) };
}

const shown = () => treasuryCheck(fixture.db, ASSET).run(AbortSignal.timeout(1_000));
const cases = () =>
  rows.query<{ subject: string; reason: string }>(
    `select subject, reason from cases where kind = 'treasury_low' and closed_at is null`,
  );

test('a sufficient balance is ok, and readiness shows both numbers as text', async () => {
  await has(1_000n);
  outside = 999_999_999n;
  assert.deepEqual(await shown(), { ok: true, [`${RAIL} hot`]: 'ok: 1000, low below 1000' });
  await watch();
  assert.deepEqual(await shown(), { ok: true, [`${RAIL} hot`]: 'ok: 1000, low below 1000, outside 999.999999' });
  assert.deepEqual(await cases(), []);
});

test('a balance below the low threshold is shown, without a case', async () => {
  await has(999n);
  await watch();
  assert.equal((await shown()).ok, false);
  assert.deepEqual(await cases(), []);
});

test('a balance below the alarm threshold opens one case, which closes when the wallet is funded', async () => {
  await has(99n);
  await watch();
  await watch();
  assert.deepEqual(await cases(), [{ subject: HOT.code, reason: `99 ${ASSET} left where 100 should be` }]);
  await has(100n);
  await watch();
  assert.deepEqual(await cases(), []);
  await has(99n);
  await watch();
  assert.equal((await cases()).length, 1, 'the next shortage did not open a new case');
});

test('a wallet in alarm is checked again soon, so that its case does not outlast the alarm for long', async () => {
  await has(100n);
  const usual = (await watch())?.againInMs ?? 0;
  await has(99n);
  const alarmed = (await watch())?.againInMs ?? 0;
  assert.ok(alarmed > 0 && alarmed <= 5_000 && alarmed < usual, `${alarmed} ms, and usually ${usual} ms`);
});

test('a changed threshold applies at the next check', async () => {
  await has(500n);
  await watch();
  assert.equal((await shown()).ok, false);
  await threshold(500n, 500n);
  assert.equal((await shown()).ok, true);
  await threshold(501n, 501n);
  await watch();
  assert.equal((await cases()).length, 1);
});

test('an empty wallet opens a case although its chain does not answer', async () => {
  await has(1n);
  outside = 'down';
  await assert.rejects(watch(), Unavailable);
  assert.equal((await cases()).length, 1);
});

test('the gauges show the same values for each account', async () => {
  await has(99n);
  outside = 98_500_000n;
  await watch();
  const text = await openMetrics([treasuryReadings(fixture.db)]).text();
  assert.match(text, new RegExp(`cloverleaf_account_balance\\{account="${HOT.code}"\\} 99\n`));
  assert.match(text, new RegExp(`cloverleaf_account_balance\\{account="treasury:${ASSET}"\\} 99\n`));
  assert.match(text, new RegExp(`cloverleaf_account_outside\\{account="${HOT.code}"\\} 98.5\n`));
  assert.match(text, new RegExp(`cloverleaf_account_low\\{account="${HOT.code}"\\} 2\n`));
});

test('the amount set aside for a payout under way does not count as available', async () => {
  await has(1_000n, 950n);
  await watch();
  assert.equal((await cases())[0]?.reason, `50 ${ASSET} left where 100 should be`);
});

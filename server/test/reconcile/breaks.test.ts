/**
 * Every kind of difference between books and outside, planted in a running installation: found, named, a case, and ended by its
 * documented action, proposed by one operator and confirmed by another. Before and after, with a sale and a purchase completed,
 * everything matches; the other stories end alike.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Account, chart, move, post } from '../../src/ledger/index.ts';
import { setDustThreshold } from '../../src/orders/index.ts';
import type { ChainRail } from '../../src/rails/chain.ts';
import type { Holding, Rail } from '../../src/rails/rail.ts';
import { openItems, reconcileRail } from '../../src/reconcile/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import { nativeOf, type Story } from '../support/story.ts';

const CHAIN = 'evm.matic20';
const BANK = 'bank.simulated';
const USDC = 'usdc.matic20';
const main = chart.custody(BANK, 'main', 'inr');
const OPENING = 'FUNDING:opening-inr';

let world: Story;
let superuser: pg.Client;
let finn: Person;
let ada: Person;

before(async () => {
  ({ world, finn, ada } = await openStaffedStory({ finn: 'finance', ada: 'admin' }));
  superuser = new pg.Client({ connectionString: world.adminUrl });
  await superuser.connect();
  // Only this test compares, so that its findings have a known cause.
  await world.read((tx) => tx.run(`delete from jobs where kind = 'reconcile_rail'`));
  await world.bankCharges(7n);
  const sale = await world.sells('100', 'usdc');
  await world.pays(sale, '100');
  await world.mines(2);
  await world.reaches(sale, 6);
  const purchase = await world.buys('5000', 'usdc');
  await world.credits(purchase, '5000');
  await world.mines(2);
  await world.until('the purchase is paid', async () => {
    await world.mines(1);
    return (await world.stateOf(purchase)) === 'settled';
  });
});
after(async () => {
  await superuser?.end();
  await world?.close();
});

const railOf = (code: string): Rail => {
  const rail = world.server.rails.get(code);
  assert(rail);
  return rail;
};

/** The findings of a comparison from the beginning, as `kind wallet asset key: outside/booked why`. */
async function found(rail: Rail): Promise<string[]> {
  const { db } = world.server;
  const outcome = await reconcileRail({ db, clock: world.clock, graceMs: 0 }, rail, 'begin');
  assert.equal(outcome, 'compared');
  return (await world.read((tx) => openItems(tx, rail.code)))
    .filter(({ transit }) => transit === null)
    .map((item) => `${item.kind} ${item.key}: ${item.outsideUnits}/${item.ledgerUnits} ${item.why}`);
}

const cases = async (): Promise<string[]> =>
  (
    await world.read((tx) =>
      tx.rows<{ kind: string; subject: string }>(
        `select kind, subject from cases where kind like 'break_%' and closed_at is null order by kind, subject`,
      ),
    )
  ).map(({ kind, subject }) => `${kind} ${subject}`);

async function books(id: string, debit: Account, credit: Account, units: bigint, movement?: string): Promise<void> {
  const facts = movement === undefined ? {} : { movement };
  const lines = move(debit, credit, units);
  const posted = await world.read((tx) => post(tx, { id, kind: 'by_hand', at: world.clock.now(), facts, lines }));
  assert.equal(posted.outcome, 'posted');
}

interface Break {
  id: string;
  asset: string;
  key: string;
  differenceUnits: string;
  names: string[];
}

/** The one open break under a key, as an operator reads it. */
async function breakOf(key: string, asset?: string): Promise<Break> {
  const { body } = await finn.reads('/breaks');
  const all = (body.breaks as Break[]).filter((one) => one.key === key && one.asset === (asset ?? one.asset));
  assert.equal(all.length, 1, `not one break under ${key}: ${JSON.stringify(body)}`);
  return all[0] as Break;
}

interface Correction {
  as: string;
  evidence: string;
  amount: string;
}

/** The inputs of the action for this break. */
const correctionOf = (one: Break, as: string): Correction => ({
  as,
  evidence: one.names[0] ?? one.key,
  amount: one.differenceUnits.replace('-', ''),
});

const confirmed = async (proposal: unknown) => await ada.does(`/proposals/${proposal}/confirm`);

/** Proposed by one, confirmed by another: the break ends at once. */
async function corrects(one: Break, as: string): Promise<void> {
  const said = await finn.does(`/breaks/${one.id}/correct`, { ...correctionOf(one, as) });
  assert.equal(said.status, 202, JSON.stringify(said.body));
  const done = await confirmed(said.body.proposal);
  assert.equal(done.status, 200, JSON.stringify(done.body));
  assert.equal((done.body.after as { open: boolean }).open, false, 'the break stays open after its correction');
}

/** Declined with this reason, and with a sentence that contains these words. */
async function declined(id: string, input: Correction, reason: string, sentence: RegExp): Promise<void> {
  const { body } = await finn.does(`/breaks/${id}/correct`, { ...input });
  assert.equal(body.reason, reason, JSON.stringify(body));
  assert.match(String(body.error), sentence);
}

/** All booked movements are final, so that none is in transit for being recent: a block's time is in whole seconds. */
async function clean(code: string): Promise<void> {
  await world.mines(13);
  await world.until(`${code} is clean`, async () => {
    await world.mines(1);
    const items = await found(railOf(code));
    return items.length === 0 && (await world.read((tx) => openItems(tx, code))).length === 0;
  });
}

test('a sale, a purchase, charges and gas: nothing is unmatched', async () => {
  await clean(CHAIN);
  await clean(BANK);
  const rows = await world.read((tx) =>
    tx.rows<{ rail: string; outside: bigint; booked: bigint }>(
      `select rail, count(*) as outside, (select count(*) from booked_movements b where b.rail = o.rail) as booked
         from outside_movements o where rail in ($1, $2) group by rail`,
      [CHAIN, BANK],
    ),
  );
  assert.equal(rows.length, 2);
  for (const { outside, booked } of rows) assert.ok(outside >= 4n && booked >= 4n, 'there was nothing to match');
});

test('tokens that left by our key and that the books do not know', async () => {
  const rail = railOf(CHAIN) as ChainRail;
  const native = nativeOf('matic20');
  const coin = await rail.balance('hot', native);
  const key = 'sandbox:theft';
  const destination = { kind: 'address', address: world.newAddress() } as const;
  const sent = await rail.sendFrom('hot', { key, asset: USDC, units: 5n, destination });
  assert.equal(sent.outcome, 'submitted');
  await world.until('it is mined', async () => {
    await world.mines(1);
    return (await rail.balance('hot', native)) < coin;
  });
  const cost = coin - (await rail.balance('hot', native));
  await world.mines(13);
  const both = await world.until('it is final', async () => {
    await world.mines(1);
    const items = await found(rail);
    return items.length === 2 && items;
  });
  const missing = (units: bigint) => `break_missing_in_ledger ${key}: -${units}/0 shown outside, and not in the books`;
  assert.deepEqual(new Set(both), new Set([missing(cost), missing(5n)]));
  assert.deepEqual(await cases(), [
    `break_missing_in_ledger reconcile:${CHAIN}:hot:${native}:${key}`,
    `break_missing_in_ledger reconcile:${CHAIN}:hot:${USDC}:${key}`,
  ]);
  const before = await world.balances();
  const [coins, gas] = [await breakOf(key, USDC), await breakOf(key, native)];
  const right = correctionOf(coins, 'gone');
  // A bank's charge is not a token, and a missing amount was not found.
  await declined(coins.id, { ...right, as: 'fee' }, 'does_not_fit', /asset/);
  await declined(coins.id, { ...right, as: 'found' }, 'does_not_fit', /less than the books/);
  await declined(coins.id, { ...right, as: 'sweep_undone' }, 'does_not_fit', /sweep/);
  await declined(coins.id, { ...right, amount: '0.000004' }, 'does_not_fit', /differ/);
  await declined(coins.id, { ...right, evidence: 'somebody told me' }, 'does_not_fit', /names/);
  await declined('999999', right, 'unknown_break', /break/);
  assert.match(
    JSON.stringify((await finn.does(`/breaks/${coins.id}/correct`, { ...right, as: 'theft' })).body),
    /one of/,
  );
  await corrects(coins, 'gone');
  await corrects(gas, 'fee');
  assert.deepEqual(await cases(), [], 'the cases stay open after the corrections');
  // Repeating it has no effect.
  await declined(coins.id, right, 'break_over', /closed/);
  const changed = await world.changesSince(before);
  assert.deepEqual([changed[`loss:${USDC}`], changed[`cost:${CHAIN}:${native}`]], [5n, cost]);
  const audit = (await finn.reads(`/audit?subject=break:${coins.id}`)).body.audit as {
    action: string;
    outcome: string;
  }[];
  assert.ok(
    audit.some(({ action, outcome }) => action === 'break.correct' && outcome === 'done'),
    JSON.stringify(audit),
  );
  await clean(CHAIN);
  assert.deepEqual(await cases(), [], 'the cases closed by themselves');
});

// The wallet's poller books receipts, as soon as it runs; withdrawals are not booked.
test('native asset that is gone from the wallet that pays', async () => {
  const rail = railOf(CHAIN) as ChainRail;
  const native = nativeOf('matic20');
  const hot = rail.walletAddresses.hot ?? '';
  const before = await rail.balance('hot', native);
  await world.rpc('matic20', 'anvil_setBalance', [hot, `0x${(before - 9n).toString(16)}`]);
  await world.mines(13);
  const items = await world.until('it is final', async () => {
    await world.mines(1);
    const all = await found(rail);
    return all.length === 1 && all;
  });
  assert.match(
    items[0] ?? '',
    new RegExp(`^break_amount other:hot:${native}: .* another amount in the books than outside$`),
  );
  const one = await breakOf(`other:hot:${native}`);
  // Nine of the smallest units are dust if the operator says so.
  await world.read((tx) => setDustThreshold(tx, native, 9n));
  await declined(one.id, correctionOf(one, 'dust'), 'does_not_fit', /dust/);
  await world.read((tx) => setDustThreshold(tx, native, 10n));
  await corrects(one, 'dust');
  await clean(CHAIN);
  assert.deepEqual(await cases(), []);
});

test('an entry without an outside movement, and its correction', async () => {
  await books(`fund_${BANK}_ghost`, main, chart.treasury('inr'), 5n);
  assert.deepEqual(await found(railOf(BANK)), ['break_missing_outside ghost: 0/5 in the books, and not shown outside']);
  const one = await breakOf('ghost');
  // Two operators cannot propose for the same break, and an action that has ended it is not repeated.
  const first = await finn.does(`/breaks/${one.id}/correct`, { ...correctionOf(one, 'gone') });
  assert.equal(first.status, 202, JSON.stringify(first.body));
  assert.equal((await finn.does(`/proposals/${first.body.proposal}/confirm`)).body.reason, 'own_proposal');
  const second = await ada.does(`/breaks/${one.id}/correct`, { ...correctionOf(one, 'fee') });
  assert.equal(second.body.reason, 'proposal_exists', JSON.stringify(second.body));
  assert.equal((await confirmed(first.body.proposal)).status, 200);
  assert.equal((await confirmed(first.body.proposal)).body.reason, 'proposal_over');
  assert.deepEqual(await found(railOf(BANK)), []);
});

test('a break that has gone by itself, has changed, or is in transit is not corrected', async () => {
  await books(`fund_${BANK}_ghost3`, main, chart.treasury('inr'), 5n);
  await found(railOf(BANK));
  const one = await breakOf('ghost3');
  const input = correctionOf(one, 'gone');
  const said = await finn.does(`/breaks/${one.id}/correct`, { ...input });
  // The books change before the other has confirmed, and no comparison ran since.
  await books('ghost3_more', main, chart.treasury('inr'), 2n, 'ghost3');
  const late = await confirmed(said.body.proposal);
  assert.equal(late.body.reason, 'does_not_fit', JSON.stringify(late.body));
  assert.match(String(late.body.error), /equal/);
  await books('ghost3_gone', chart.treasury('inr'), main, 7n, 'ghost3');
  assert.deepEqual(await found(railOf(BANK)), []);
  await declined(one.id, input, 'break_over', /closed/);

  await books(`fund_${BANK}_ghost4`, main, chart.treasury('inr'), 5n);
  const { db } = world.server;
  await reconcileRail({ db, clock: world.clock }, railOf(BANK));
  const young = await breakOf('ghost4');
  await declined(young.id, correctionOf(young, 'gone'), 'does_not_fit', /transit/);
  await found(railOf(BANK));
  await corrects(await breakOf('ghost4'), 'gone');
});

test('the same movement booked twice, and one booked with another amount', async () => {
  const { units } = await world.read(async (tx) => {
    const row = await tx.row<{ units: bigint }>('select units from outside_movements where name = $1', [OPENING]);
    assert(row);
    return row;
  });
  await books('twice', main, chart.treasury('inr'), units, OPENING);
  assert.deepEqual(await found(railOf(BANK)), [`break_amount ${OPENING}: ${units}/${units * 2n} booked twice`]);
  await corrects(await breakOf(OPENING), 'gone');
  await books('once_more', main, chart.treasury('inr'), 1n, OPENING);
  assert.deepEqual(await found(railOf(BANK)), [
    `break_amount ${OPENING}: ${units}/${units + 1n} another amount in the books than outside`,
  ]);
  await corrects(await breakOf(OPENING), 'gone');
  assert.deepEqual(await found(railOf(BANK)), []);
});

test('a bank line that is altered after it was booked, and one that is removed', async () => {
  const line = await superuser.query(`select * from simulated_bank.lines where key like 'pay_%' limit 1`);
  const [{ id, key, units, charge }] = line.rows;
  const whole = units + charge;
  await world.bank.alterLine(id, units - 1n);
  assert.deepEqual(await found(railOf(BANK)), [
    `break_amount ${key}: ${1n - whole}/${-whole} the chain or bank has changed it since it was first shown`,
  ]);
  const before = await world.balances();
  const more = await breakOf(key);
  await declined(more.id, correctionOf(more, 'gone'), 'does_not_fit', /more than the books/);
  await corrects(more, 'found');
  // A found amount has no owner yet: it is in suspense with a case, for an operator to refund it or assign it to its order.
  assert.deepEqual(await world.changesSince(before), {
    [`custody:${BANK}:main:inr`]: 1n,
    [`suspense:${BANK}:inr`]: 1n,
  });
  const told = await world.read((tx) =>
    tx.row<{ facts: { reference: string } }>(
      `select facts from cases where kind = 'unexpected_credit' and closed_at is null order by id desc limit 1`,
    ),
  );
  assert.equal(told?.facts.reference, key);
  assert.deepEqual(await found(railOf(BANK)), []);
  await world.bank.alterLine(id, units);
  assert.equal((await found(railOf(BANK))).length, 1);
  await corrects(await breakOf(key), 'fee');
  assert.deepEqual(await found(railOf(BANK)), []);
  await superuser.query('delete from simulated_bank.lines where id = $1', [id]);
  assert.deepEqual(await found(railOf(BANK)), [
    `break_missing_outside ${key}: 0/${-whole} the chain or bank showed it before and no longer does`,
  ]);
  assert.deepEqual(await cases(), [`break_missing_outside reconcile:${BANK}:main:inr:${key}`]);
  const columns = Object.keys(line.rows[0]);
  await superuser.query(
    `insert into simulated_bank.lines (${columns.join(', ')}) values (${columns.map((_, at) => `$${at + 1}`).join(', ')})`,
    columns.map((column) => line.rows[0][column]),
  );
  assert.deepEqual(await found(railOf(BANK)), []);
  assert.deepEqual(await cases(), []);
});

test('a node that lies about a balance, and one that hides a transfer', async () => {
  const rail = railOf(CHAIN);
  const lying = async (at: string, all: boolean): Promise<Holding[] | undefined> =>
    (await rail.holdings?.(at, all))?.map((one) =>
      one.asset === USDC && one.wallet === 'hot' ? { ...one, units: one.units + 1n } : one,
    );
  const lies = await found({ ...rail, holdings: lying });
  assert.equal(lies.length, 1);
  assert.match(lies[0] ?? '', /^break_balance balance: [0-9]+\/[0-9]+ the reported balance differs/);
  const lie = await breakOf('balance');
  await declined(lie.id, correctionOf(lie, 'found'), 'does_not_fit', /no entry/);
  assert.deepEqual(await found(rail), []);

  const hiding: Rail['movements'] = async (from) => {
    const page = await rail.movements?.(from);
    return page && { ...page, movements: page.movements.filter(({ wallet }) => wallet !== 'deposits') };
  };
  const hidden = await found({ ...rail, movements: hiding });
  assert.equal(hidden.length, 2, hidden.join('\n'));
  assert.match(
    hidden.join('\n'),
    /break_missing_outside 0x[0-9a-f]{64}:0: 0\/100000000 the chain or bank showed it before/,
  );
  assert.match(hidden.join('\n'), /break_balance balance: 100000000\/0/);
  assert.deepEqual(await found(rail), []);
});

test('readiness, metrics and the command report it', async () => {
  const run = () =>
    new Promise<{ code: number; said: string }>((done) => {
      const file = fileURLToPath(new URL('../../src/apps/reconcile.ts', import.meta.url));
      const env = { ...process.env, DATA_DIR: world.dataDir, DATABASE_URL: world.adminUrl };
      execFile(process.execPath, [file, 'reconcile'], { env }, (error, out, err) =>
        done({ code: typeof error?.code === 'number' ? error.code : 0, said: `${out}${err}` }),
      );
    });
  const agree = await run();
  assert.equal(agree.code, 0, agree.said);
  assert.match(agree.said, /^rail +wallet +asset +ledger +outside +difference +in transit +unmatched$/m);
  assert.match(agree.said, /^bank\.simulated +main +inr +([0-9.]+) +\1 +0 +0 +0$/m);
  assert.match(agree.said, /^Books and outside agree\.$/m);

  await books(`fund_${BANK}_ghost2`, main, chart.treasury('inr'), 250n);
  await found(railOf(BANK));
  const broken = await run();
  assert.equal(broken.code, 1, broken.said);
  assert.match(
    broken.said,
    /BREAK [0-9]+ break_missing_outside bank\.simulated main: 0 outside, 2\.5 in the books, inr: .*\[fund_/,
  );
  const ready = (await (await fetch(`${world.server.baseUrl}/readyz`)).json()) as { checks: Record<string, unknown>[] };
  const check = ready.checks.find(({ name }) => name === 'reconciliation');
  assert.deepEqual([check?.ok, check?.[`${BANK} breaks`], check?.[`${CHAIN} breaks`]], [false, 1, 0]);
  const metrics = await (await fetch(world.server.metricsUrl)).text();
  assert.match(metrics, /^cloverleaf_reconcile_breaks\{rail="bank\.simulated"\} 1$/m);
  assert.match(metrics, /^cloverleaf_reconcile_age_seconds\{rail="bank\.simulated"\} [0-9.]+$/m);
  await corrects(await breakOf('ghost2'), 'gone');
  assert.deepEqual(await found(railOf(BANK)), []);
});

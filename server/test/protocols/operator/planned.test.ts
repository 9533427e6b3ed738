/**
 * Planned changes of terms over HTTP: who decides them, what is shown, and that each takes effect once, in order and at its time.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { findCase } from '../../../src/compliance/index.ts';
import { sealAudit, verifyAudit } from '../../../src/operators/index.ts';
import { plannedHandlers, TAKE_EFFECT, takeEffect } from '../../../src/protocols/operator/index.ts';
import type { Came } from '../../support/client.ts';
import { operatorApi, silentBank } from '../../support/operatorapi.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { confirmedBy, operatorNamed, type Person, takes } from './people.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let world: Environment;
let ada: Person;
let bea: Person;
let sue: Person;
let shop: TestPartner;
let market = '';

before(async () => {
  world = await wireEnvironment({
    production: true,
    beside: (fixture) => operatorApi(fixture, { rails: silentBank }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  sue = await operatorNamed(world, 'sue', 'support');
  shop = await world.partner('Shop');
  const { body } = await ada.reads('/markets');
  market = body.markets.find((one: Came) => one.crypto === 'usdc.matic20' && one.fiat === 'inr').id;
});
after(async () => await world?.stop());

const inMs = (ms: number): string => new Date(world.clock.now().getTime() + ms).toISOString();
const deps = () => ({ db: world.db, vault: world.vault, clock: world.clock, log: world.log });
const timeComes = async (ms: number): Promise<void> => {
  world.clock.advance(ms);
  await takeEffect(deps());
};
const feeNow = async (): Promise<string> => {
  const { fees } = (await ada.reads(`/markets/${market}`)).body;
  return fees.find(({ kind }: Came) => kind === 'operator').bps;
};
const planned = async (more = ''): Promise<Came[]> =>
  (await ada.reads(`/planned?subject=market:${market}${more}`)).body.planned;
const changesOfFee = async (): Promise<Came[]> =>
  (await ada.reads(`/changes?market=${market}&what=fee&limit=50`)).body.changes;

/** Two people decide a change that is planned. @returns its number */
async function plans(path: string, body: Record<string, unknown>): Promise<string> {
  const said = await confirmedBy(bea, await ada.does(path, body));
  assert.equal(said.status, 200, JSON.stringify(said.body));
  assert.equal(said.body.outcome, 'planned');
  return said.body.plan;
}
const plansFee = (bps: number, ms: number) =>
  plans(`/markets/${market}/fees`, { kind: 'operator', bps, effectiveAt: inMs(ms) });
async function setsFee(bps: number): Promise<void> {
  const said = await confirmedBy(bea, await ada.does(`/markets/${market}/fees`, { kind: 'operator', bps }));
  assert.equal(said.body.outcome, 'done');
}

describe('a planned fee', () => {
  test('is decided by two, shown with both, changes nothing before its time, and then holds for quotes made from then on', async () => {
    await setsFee(25);
    const input = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
    const quotes = async () =>
      (await world.query('select fee_operator from quotes order by created_at, id')).map((row) => row.fee_operator);
    const at = inMs(HOUR_MS);
    const id = await plans(`/markets/${market}/fees`, { kind: 'operator', bps: 50, effectiveAt: at });
    const [plan] = await planned();
    assert.deepEqual(
      [plan.id, plan.action, plan.effectiveAt, plan.state, plan.proposedBy, plan.confirmedBy, plan.reason],
      [id, 'fee.set', at, 'planned', 'ada', ['bea'], 'a test (proposed by ada; a test)'],
    );
    assert.deepEqual(plan.input, { market, kind: 'operator', bps: 50 });
    await takeEffect(deps());
    assert.equal(await feeNow(), '25');
    assert.equal((await shop.post('offramp/quote', input)).status, 200);
    await timeComes(HOUR_MS + 1);
    assert.equal(await feeNow(), '50');
    assert.equal((await shop.post('offramp/quote', input)).status, 200);
    const [before = '0', after = '0'] = (await quotes()).map(String);
    assert.equal(Number(after), 2 * Number(before), 'the quote made before keeps its fee');
    assert.deepEqual(await planned(), []);
    assert.equal((await ada.reads(`/planned/${id}`)).body.state, 'done');
  });

  test('leaves both moments in the audit, and the chain of seals still proves it', async () => {
    const { audit } = (await ada.reads(`/audit?subject=market:${market}&action=fee.set&limit=2`)).body;
    const [effect, decision] = audit;
    assert.deepEqual([decision.operator, decision.outcome, decision.after.bps], ['bea', 'planned', 50]);
    assert.ok(decision.after.effectiveAt, 'the decision names the time');
    assert.deepEqual([effect.operator, effect.outcome], ['the machine', 'done']);
    assert.match(effect.reason, /planned change \d+ takes effect, as decided by ada and bea/);
    assert.deepEqual([effect.before.bps, effect.after.bps], [25, 50]);
    assert.ok(effect.at > decision.at);
    const [change] = await changesOfFee();
    assert.equal(change.by, 'bea');
    await world.db.asSystem((tx) => sealAudit(tx, world.clock.now()));
    const problems: object[] = [];
    await world.db.asSystem((tx) => verifyAudit(tx, (problem) => problems.push(problem), world.clock.now()));
    assert.deepEqual(problems, []);
  });

  test('in the past, at this moment, or more than a year ahead is refused with field, rule and example', async () => {
    for (const [ms, rule] of [
      [-DAY_MS, /^must be in the future, such as \d{4}-\d\d-\d\dT00:00:00Z$/],
      [0, /in the future/],
      [366 * DAY_MS, /^must be at most 365 days ahead, such as /],
    ] as const) {
      const said = await ada.does(`/markets/${market}/fees`, { kind: 'operator', bps: 1, effectiveAt: inMs(ms) });
      assert.equal(said.status, 400);
      assert.match(said.body.fields.effectiveAt, rule);
    }
    const odd = await ada.does(`/markets/${market}/fees`, { kind: 'operator', bps: 1, effectiveAt: 'tomorrow' });
    assert.match(odd.body.fields.effectiveAt, /a time such as/);
  });

  test('whose time passes before anyone confirms it is refused, and its proposal fails', async () => {
    const proposed = await ada.does(`/markets/${market}/fees`, {
      ...{ kind: 'operator', bps: 99, effectiveAt: inMs(HOUR_MS) },
    });
    world.clock.advance(2 * HOUR_MS);
    const said = await confirmedBy(bea, proposed);
    assert.equal(said.status, 400);
    assert.match(said.body.fields.effectiveAt, /in the future/);
    assert.equal((await ada.reads(`/proposals/${proposed.body.proposal}`)).body.state, 'failed');
    assert.deepEqual(await planned(), []);
  });

  test('is one of two: both are shown, and after a time without a server both have happened, in order and once', async () => {
    const second = await plansFee(80, 2 * HOUR_MS);
    const first = await plansFee(70, HOUR_MS);
    assert.deepEqual(
      (await planned()).map(({ id }) => id),
      [first, second],
    );
    assert.deepEqual(
      (await planned('&limit=1')).map(({ id }) => id),
      [first],
    );
    assert.deepEqual(
      (await planned(`&after=${first}`)).map(({ id }) => id),
      [second],
    );
    const before = (await changesOfFee()).length;
    world.clock.advance(3 * HOUR_MS);
    // Two servers start at once.
    await Promise.all([takeEffect(deps()), takeEffect(deps())]);
    await takeEffect(deps());
    assert.equal(await feeNow(), '80');
    const changes = await changesOfFee();
    assert.equal(changes.length, before + 2);
    assert.deepEqual(
      changes.slice(0, 2).map(({ changed }) => /bps (\d+ → \d+)/.exec(changed)?.[1]),
      ['70 → 80', '50 → 70'],
    );
  });

  test('compares only orders since it took effect, whatever time the report begins with', async () => {
    const [change] = await changesOfFee();
    const span = `from=2020-01-01T00:00:00Z&until=${inMs(HOUR_MS)}`;
    const { compared } = (await ada.reads(`/reports/affected?market=${market}&${span}&change=${change.id}`)).body;
    assert.equal(compared.since, change.at);
  });

  test('is withdrawn by one with the right, once, and never happens', async () => {
    const id = await plansFee(500, HOUR_MS);
    assert.equal((await sue.does(`/planned/${id}/withdraw`)).body.reason, 'role_missing');
    const said = await ada.does(`/planned/${id}/withdraw`, { reason: 'a zero too many' });
    assert.deepEqual([said.status, said.body.after.state], [200, 'withdrawn']);
    assert.equal((await bea.does(`/planned/${id}/withdraw`)).body.reason, 'plan_over');
    await timeComes(2 * HOUR_MS);
    assert.equal(await feeNow(), '80');
    const one = (await ada.reads(`/planned/${id}`)).body;
    assert.deepEqual([one.state, one.endedBy], ['withdrawn', 'ada']);
    assert.equal((await ada.does('/planned/999999/withdraw')).body.reason, 'unknown_plan');
    const { audit } = (await ada.reads(`/audit?subject=plan:${id}`)).body;
    assert.deepEqual(
      [audit[0].action, audit[0].outcome, audit[0].reason],
      ['plan.withdraw', 'done', 'a zero too many'],
    );
  });

  test('has a job that is due when the next one is, and ends when none waits', async () => {
    const handler = plannedHandlers(deps())[TAKE_EFFECT];
    assert.ok(handler);
    assert.equal(await handler('all'), undefined);
    // No worker runs here: the jobs of the tests before wait.
    await world.query(`delete from jobs where kind = '${TAKE_EFFECT}'`);
    const id = await plansFee(90, HOUR_MS);
    const waits = await handler('all');
    assert.ok(waits !== undefined && waits.againInMs > HOUR_MS - 60_000 && waits.againInMs <= HOUR_MS);
    const [job] = await world.query(`select due_at from jobs where kind = '${TAKE_EFFECT}'`);
    assert.equal(new Date(job?.due_at).toISOString(), (await planned())[0]?.effectiveAt);
    assert.equal((await ada.does(`/planned/${id}/withdraw`)).status, 200);
  });
});

describe('planned terms of a market', () => {
  const sets = (body: Record<string, unknown>) => ada.does(`/markets/${market}`, body);

  test('change only what they name, on top of what has changed meanwhile', async () => {
    await plans(`/markets/${market}`, { max: '7000', effectiveAt: inMs(HOUR_MS) });
    await confirmedBy(bea, await sets({ quoteTtlS: 90 }));
    await timeComes(2 * HOUR_MS);
    const one = (await ada.reads(`/markets/${market}`)).body;
    assert.deepEqual([one.max, one.quoteTtlS], ['7000', 90]);
  });

  test('are judged in their order: one that fits only after another is accepted, one that breaks a later one is not', async () => {
    assert.match((await sets({ min: '8000', effectiveAt: inMs(2 * HOUR_MS) })).body.fields.max, /below min/);
    await plans(`/markets/${market}`, { max: '9000', effectiveAt: inMs(HOUR_MS) });
    const fits = await plans(`/markets/${market}`, { min: '8000', effectiveAt: inMs(2 * HOUR_MS) });
    const breaks = await sets({ max: '7500', effectiveAt: inMs(1.5 * HOUR_MS) });
    assert.equal(breaks.status, 400);
    assert.match(breaks.body.fields.effectiveAt, new RegExp(`not come before planned change ${fits},`));
  });

  test('that do not fit any more at their time change nothing, and open a case that says why', async () => {
    const [raises, lowers] = await planned();
    assert.ok(raises && lowers);
    await ada.does(`/planned/${raises.id}/withdraw`);
    await timeComes(3 * HOUR_MS);
    const one = (await ada.reads(`/planned/${lowers.id}`)).body;
    assert.deepEqual([one.state, one.failedWhy], ['failed', 'malformed_field']);
    assert.equal((await ada.reads(`/markets/${market}`)).body.max, '7000');
    const { cases } = (await ada.reads('/cases?kind=change_failed')).body;
    assert.equal(cases.length, 1);
    assert.match(cases[0].reason, /^market\.set of market:\d+, planned for .*, was refused: malformed_field$/);
    assert.ok(await world.db.asSystem((tx) => findCase(tx, BigInt(cases[0].id))));
    const { audit } = (await ada.reads(`/audit?subject=market:${market}&limit=1`)).body;
    assert.deepEqual([audit[0].outcome, audit[0].after.why], ['failed', 'malformed_field']);
  });
});

describe('a planned change', () => {
  test('that the database refuses at its time fails, with a case, and holds up neither the one after it nor a start', async () => {
    await world.query('alter table fee_schedules add constraint no_66 check (bps <> 66)');
    const broken = await plansFee(66, HOUR_MS);
    const next = await plansFee(85, 2 * HOUR_MS);
    await timeComes(3 * HOUR_MS);
    await world.query('alter table fee_schedules drop constraint no_66');
    const one = (await ada.reads(`/planned/${broken}`)).body;
    assert.deepEqual([one.state, one.failedWhy], ['failed', 'internal']);
    assert.equal((await ada.reads(`/planned/${next}`)).body.state, 'done');
    assert.equal(await feeNow(), '85');
    const { cases } = (await ada.reads('/cases?kind=change_failed')).body;
    const [about] = cases.filter(({ subject }: Came) => subject === `plan:${broken}`);
    const closed = await ada.does(`/cases/${about.id}/close`, { outcome: 'the fee was set by hand' });
    assert.equal(closed.status, 200, JSON.stringify(closed.body));
  });

  test('is not ended by an outage of the database: it takes effect when that is over', async () => {
    const id = await plansFee(86, HOUR_MS);
    world.clock.advance(2 * HOUR_MS);
    const lost = Object.assign(new Error('terminating connection'), { code: '57P01' });
    const db = { ...world.db, asSystem: () => Promise.reject(lost) };
    await assert.rejects(takeEffect({ ...deps(), db }), lost);
    assert.equal((await ada.reads(`/planned/${id}`)).body.state, 'planned');
    await takeEffect(deps());
    assert.equal(await feeNow(), '86');
  });

  test('of a limit, a cap, a policy or a limit of customers takes effect as if it were set at its time', async () => {
    const effectiveAt = inMs(HOUR_MS);
    const partner = String(shop.partner.id);
    await plans(`/markets/${market}/limits`, { level: 1, max: '123', effectiveAt });
    await plans(`/partners/${partner}/caps`, { fiat: 'inr', max: '456', effectiveAt });
    await plans(`/markets/${market}/policies`, { question: 'late', answer: { then: 'refund' }, effectiveAt });
    await plans('/customer-limits', { fiat: 'inr', level: 1, per: 'day', max: '789', effectiveAt });
    assert.deepEqual((await ada.reads('/customer-limits')).body.limits, []);
    await timeComes(HOUR_MS + 1);
    const [limit] = (await ada.reads('/customer-limits')).body.limits;
    assert.deepEqual([limit.max, limit.by], ['789', 'bea']);
    assert.ok(limit.at >= effectiveAt, 'its version is of the time it took effect');
    assert.equal((await ada.reads(`/markets/${market}`)).body.policy.late.then, 'refund');
    const { changes } = (await ada.reads('/changes?limit=3')).body;
    assert.deepEqual(changes.map(({ what, item }: Came) => `${what} ${item}`).toSorted(), [
      'exposure inr',
      'limit 1',
      'policy late',
    ]);
  });

  test('that would be refused at its time is refused when it is decided', async () => {
    const effectiveAt = inMs(HOUR_MS);
    for (const [path, body, reason] of [
      [`/markets/${market}/fees`, { kind: 'operator', fixed: '1.12345' }, 'malformed_amount'],
      [`/markets/${market}/fees`, { kind: 'operator', partner: '999999' }, 'unknown_partner'],
      ['/markets/999999/fees', { kind: 'operator' }, 'unknown_market'],
      [`/markets/${market}/policies`, { question: 'late', answer: { then: 'burn' } }, 'malformed_field'],
      [`/markets/${market}/limits`, { level: 1, max: '0' }, 'malformed_field'],
      [`/partners/${shop.partner.id}/caps`, { fiat: 'inr', max: '0.00' }, 'malformed_field'],
      ['/customer-limits', { fiat: 'usdc', level: 1, per: 'day', max: '1' }, 'malformed_field'],
    ] as const)
      assert.equal((await ada.does(path, { ...body, effectiveAt })).body.reason, reason, path);
  });

  test('is one of at most 200 of a subject that wait', async () => {
    await world.query(
      `insert into planned_changes (action, subject, input, effective_at, people, planned_by, reason, planned_at)
      select action, 'asset:inr', input, $1, people, planned_by, reason, planned_at
        from planned_changes, generate_series(1, 200) where id = (select max(id) from planned_changes)`,
      [inMs(DAY_MS)],
    );
    const limit = { fiat: 'inr', level: 1, per: 'day', max: '1', effectiveAt: inMs(HOUR_MS) };
    const said = await ada.does('/customer-limits', limit);
    assert.equal(said.status, 400, JSON.stringify(said.body));
    assert.match(said.body.fields.effectiveAt, /^must be left out while 200 planned changes of it wait/);
    await world.query(`update planned_changes set state = 'withdrawn', ended_at = now(), ended_by = 'a test'
      where subject = 'asset:inr' and state = 'planned'`);
    const fits = await ada.does('/customer-limits', limit);
    assert.equal(fits.status, 202);
    assert.equal((await ada.does(`/proposals/${fits.body.proposal}/decline`)).status, 200);
  });

  test('takes one person where a rule says so, and then names nobody who confirmed', async () => {
    await world.db.asSystem((tx) => takes(tx, 1, { action: 'limit.set' }));
    const said = await ada.does(`/markets/${market}/limits`, { level: 2, max: '5', effectiveAt: inMs(HOUR_MS) });
    assert.equal(said.body.outcome, 'planned');
    const one = (await ada.reads(`/planned/${said.body.plan}`)).body;
    assert.deepEqual([one.proposedBy, one.confirmedBy, one.proposal], ['ada', [], null]);
  });

  test('can be withdrawn only by as many people as a rule that names it says', async () => {
    const [one] = await planned();
    assert.ok(one);
    await world.db.asSystem((tx) => takes(tx, 2, { action: 'plan.withdraw' }));
    const said = await ada.does(`/planned/${one.id}/withdraw`);
    assert.equal(said.status, 202);
    assert.equal((await confirmedBy(bea, said)).body.after.state, 'withdrawn');
  });

  test('row is never deleted, and ends only once', async () => {
    const [one] = (await ada.reads('/planned?state=withdrawn')).body.planned;
    await assert.rejects(
      world.query('delete from planned_changes where id = $1', [one.id]),
      /append|refuse|not allowed|never/i,
    );
    await assert.rejects(world.query(`update planned_changes set state = 'planned' where id = $1`, [one.id]), /check/);
  });
});

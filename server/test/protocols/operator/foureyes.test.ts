/**
 * The four-eyes rule over HTTP: how many people an action takes, who counts as another person, the delay that replaces a second
 * person where there is only one, and the limits of a role.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import { blockCustomer } from '../../../src/customers/index.ts';
import { declareInstallation, RIGHTS, ROLES, sealAudit, setRule, verifyAudit } from '../../../src/operators/index.ts';
import { openClient } from '../../support/client.ts';
import { findInDump } from '../../support/dump.ts';
import { untilLocked } from '../../support/locks.ts';
import { operatorApi, silentBank } from '../../support/operatorapi.ts';
import { until } from '../../support/until.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { ALL_ACTIONS, idleDesk } from './desk.ts';
import { operatorNamed, type Person, withToken } from './people.ts';

let world: Environment;
let ada: Person;
let bea: Person;
let cleo: Person;
let finn: Person;
let shop: TestPartner;
const warned: object[] = [];
let customers = 0;
let customer = '';

before(async () => {
  world = await wireEnvironment({
    production: true,
    beside: (fixture) =>
      operatorApi(fixture, {
        ...{ log: { warn: (facts: object) => void warned.push(facts) }, rails: silentBank, bank: idleDesk(fixture) },
      }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  cleo = await operatorNamed(world, 'cleo', 'admin');
  finn = await operatorNamed(world, 'finn', 'finance');
  shop = await world.partner('Shop');
});
after(async () => await world?.stop());
beforeEach(async () => {
  customers += 1;
  customer = await world.customer(shop, shop.partner, `customer ${customers}`);
});

/** Proposes to unblock a customer, which takes two whatever the rules say. */
async function proposed(by = finn): Promise<string> {
  await world.db.asSystem((tx) => blockCustomer(tx, customer, world.clock.now()));
  const said = await by.does(`/customers/${customer}/unblock`);
  assert.equal(said.status, 202, JSON.stringify(said.body));
  return String(said.body.proposal);
}
const isBlocked = async () => (await ada.reads(`/customers/${customer}`)).body.blocked;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const confirms = (person: Person, proposal: string) => person.does(`/proposals/${proposal}/confirm`);
const outcomes = async (proposal: string) =>
  (await world.query('select operator, outcome from audit where proposal = $1 order by id', [proposal])).map(
    ({ operator: by, outcome }) => `${by} ${outcome}`,
  );
/** Sets a rule with all three people, because changing an action that takes three needs three. */
async function ruled(body: Record<string, unknown>): Promise<void> {
  let said = await ada.does('/rules', body);
  for (const person of [bea, cleo]) {
    if (said.status !== 202) break;
    said = await confirms(person, String(said.body.proposal));
  }
  assert.equal(said.status, 200, JSON.stringify(said.body));
}
describe('a second person', () => {
  test('is not the same person again: one person with two tokens is one', async () => {
    const { body } = await finn.does('/self/token', { label: 'second', days: 1 });
    const again = withToken(world.baseUrl, body.token);
    const said = await confirms(again, await proposed());
    assert.deepEqual([said.status, said.body.reason, await isBlocked()], [403, 'own_proposal', true]);
  });

  test('confirming concurrently with another does the action once', async () => {
    const proposal = await proposed();
    const said = await Promise.all([ada, bea, ada, bea].map((person) => confirms(person, proposal)));
    assert.deepEqual(said.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    assert.equal((await outcomes(proposal)).filter((line) => line.endsWith(' done')).length, 1);
  });

  test('needs the right at the moment of confirmation: one who is demoted while the confirmation is on its way confirms nothing', async () => {
    const proposal = await proposed();
    const mallory = await operatorNamed(world, 'mallory', 'finance');
    let said: ReturnType<typeof confirms> | undefined;
    await world.db.asSystem(async (tx) => {
      await tx.run(`update operators set role = 'viewer' where name = 'mallory'`);
      said = confirms(mallory, proposal);
      await untilLocked('the confirmation waits', tx);
    });
    assert.equal((await said)?.body.reason, 'role_missing');
    assert.equal(await isBlocked(), true);
  });
});

describe('a token for another person', () => {
  const made = (operator: string, tokenSha256: string) => ({ operator, role: 'finance', tokenSha256 });

  test('is known to that person alone: neither the proposer nor the confirmer sees it', async () => {
    const token = `clo_${'k'.repeat(43)}`;
    const said = await ada.does('/operators', made('kim', sha256(token)));
    assert.equal(said.status, 202, JSON.stringify(said.body));
    const kim = withToken(world.baseUrl, token);
    assert.equal((await kim.reads('/self')).status, 401, 'the token works before the confirmation');
    const shown = (await bea.reads(`/proposals/${said.body.proposal}`)).body;
    assert.equal(
      shown.input.tokenSha256,
      sha256(token),
      'the proposal does not show the hash that the confirmer compares with Kim',
    );
    const done = await confirms(bea, String(said.body.proposal));
    assert.equal(done.status, 200, JSON.stringify(done.body));
    for (const { body } of [said, done]) assert.doesNotMatch(JSON.stringify(body), /clo_/);
    assert.equal((await kim.reads('/self')).body.name, 'kim');
    const [row] = await world.query(`select expires_at - created_at as lasts from operator_tokens where hash = $1`, [
      createHash('sha256').update(token).digest(),
    ]);
    assert.equal(row.lasts.days ?? row.lasts, 7);
  });

  test('is given as the hash of a new token, and never created by the server', async () => {
    for (const tokenSha256 of [undefined, 'x', sha256('a').toUpperCase()]) {
      const said = await ada.does('/operators', {
        operator: 'lee',
        role: 'viewer',
        ...(tokenSha256 && { tokenSha256 }),
      });
      assert.equal(said.status, 400, JSON.stringify(said.body));
      assert.equal(typeof said.body.fields.tokenSha256, 'string');
    }
    const own = await ada.does('/operators', { operator: 'lee', role: 'viewer', tokenSha256: sha256(finn.token) });
    assert.deepEqual([own.status, own.body.fields?.tokenSha256], [400, 'must be of a new token']);
    const next = `clo_${'n'.repeat(43)}`;
    const said = await ada.does('/operators/finn/token', { label: 'next', days: 1, tokenSha256: sha256(next) });
    const done = await confirms(cleo, String(said.body.proposal));
    assert.deepEqual([done.status, done.body.token], [200, undefined], JSON.stringify(done.body));
    assert.equal((await withToken(world.baseUrl, next).reads('/self')).body.name, 'finn');
  });
});

describe('a change of terms', () => {
  const inr = async () => String((await ada.reads('/markets')).body.markets[0].id);
  const fee = (market: string, bps: number) => ada.does(`/markets/${market}/fees`, { kind: 'operator', bps });

  test('takes two people without a rule: for fees, limits, markets, prices and requotes', async () => {
    const market = await inr();
    assert.deepEqual((await ada.reads('/rules')).body.rules, [], 'the installation has rules already');
    for (const [path, body] of [
      [`/markets/${market}/fees`, { kind: 'operator', bps: 77 }],
      [`/markets/${market}/limits`, { level: 1, max: '500' }],
      [`/markets/${market}`, { min: '6' }],
    ] as const) {
      const said = await ada.does(path, body);
      assert.deepEqual([said.status, said.body.people], [202, 2], `${path}: ${JSON.stringify(said.body)}`);
      assert.equal((await ada.does(`/proposals/${said.body.proposal}/decline`)).status, 200);
    }
  });

  test('takes as many people as the stricter of the rules at the proposal and at the confirmation', async () => {
    const market = await inr();
    const before = await fee(market, 78);
    await ruled({ action: 'fee.set', people: 3 });
    const first = await confirms(bea, String(before.body.proposal));
    assert.deepEqual([first.status, first.body.people], [202, 3], 'a stricter rule set after the proposal was ignored');
    assert.equal((await confirms(cleo, String(before.body.proposal))).status, 200);
    const strict = await fee(market, 79);
    assert.deepEqual([strict.status, strict.body.people], [202, 3]);
    await ruled({ action: 'fee.set', people: 1 });
    const second = await confirms(bea, String(strict.body.proposal));
    assert.deepEqual(
      [second.status, second.body.people],
      [202, 3],
      'a rule that was relaxed after the proposal was applied',
    );
    assert.equal((await ada.does(`/proposals/${strict.body.proposal}/decline`)).status, 200);
    await ruled({ action: 'fee.set', people: 'none' });
  });
});

describe("the secret of a partner's key", () => {
  const keys = () => `/partners/${shop.partner.id}/keys`;
  const quotes = async (apiKey: string, apiSecret: string) =>
    (await openClient(world.baseUrl, { apiKey, apiSecret }).get('/v1/webhooks')).status;
  const collects = (person: Person, key: string) => person.does(`/keys/${key}/secret`);

  test('is shown once, to the proposer of the key, and never to the confirmer', async () => {
    const said = await ada.does(keys(), { label: 'collected', scopes: 'read' });
    assert.equal(said.status, 202, JSON.stringify(said.body));
    const done = await confirms(bea, String(said.body.proposal));
    assert.deepEqual([done.status, done.body.apiSecret, done.body.secretFor], [200, undefined, 'ada']);
    const { apiKey } = done.body;
    const shown = (await ada.reads(`/partners/${shop.partner.id}`)).body.keys;
    assert.equal(shown.find(({ key }: { key: string }) => key === apiKey).secretFor, 'ada');
    for (const other of [bea, cleo]) assert.equal((await collects(other, apiKey)).body.reason, 'no_secret_waits');
    const both = await Promise.all([collects(ada, apiKey), collects(ada, apiKey)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409], 'the secret was not shown exactly once');
    const { apiSecret } = both.find(({ status }) => status === 200)?.body ?? {};
    assert.equal(await quotes(apiKey, apiSecret), 200);
    assert.equal((await collects(ada, apiKey)).body.reason, 'no_secret_waits');
    assert.deepEqual(await findInDump(world.adminUrl, [apiSecret]), []);
  });

  test('of a rotation can be read for a day by the person who asked, and another rotation replaces it', async () => {
    const made = await confirms(bea, String((await ada.does(keys(), { label: 'r', scopes: 'read' })).body.proposal));
    const { apiKey } = made.body;
    const rotated = async (by: Person, with_: Person) => {
      const said = await by.does(`/keys/${apiKey}/rotate`);
      const done = await confirms(with_, String(said.body.proposal));
      assert.deepEqual([done.status, done.body.apiSecret, done.body.secretFor], [200, undefined, by.name]);
    };
    await rotated(cleo, bea);
    assert.equal((await collects(ada, apiKey)).body.reason, 'no_secret_waits', 'the replaced secret was shown');
    const { apiSecret } = (await collects(cleo, apiKey)).body;
    assert.equal(await quotes(apiKey, apiSecret), 200);
    await rotated(ada, bea);
    world.clock.advance(24 * 3_600_000 + 1);
    assert.equal((await collects(ada, apiKey)).body.reason, 'no_secret_waits', 'the secret was shown after a day');
    await rotated(ada, bea);
    assert.equal((await bea.does(`/keys/${apiKey}/revoke`)).status, 200);
    assert.equal((await collects(ada, apiKey)).body.reason, 'unknown_key', 'the secret of a revoked key was shown');
  });
});

describe('an action that takes three', () => {
  before(async () => await ruled({ action: 'customer.unblock', people: 3 }));

  test('is done when the third person confirms, and each person counts once', async () => {
    const proposal = await proposed();
    const first = await confirms(ada, proposal);
    assert.deepEqual(
      [first.status, first.body.outcome, first.body.agreed, first.body.people],
      [202, 'agreed', ['finn', 'ada'], 3],
    );
    assert.equal((await confirms(ada, proposal)).body.reason, 'agreed_already');
    assert.equal((await confirms(finn, proposal)).body.reason, 'own_proposal');
    assert.equal(await isBlocked(), true);
    assert.equal((await confirms(bea, proposal)).status, 200);
    assert.equal(await isBlocked(), false);
    assert.deepEqual(await outcomes(proposal), ['finn proposed', 'ada agreed', 'bea confirmed', 'bea done']);
    const [row] = (await ada.reads(`/audit?subject=customer:${customer}&action=customer.unblock&limit=1`)).body.audit;
    assert.match(row.reason, /proposed by finn, agreed by ada; a test/);
  });

  test('does not count a person who has lost the right since confirming', async () => {
    const proposal = await proposed();
    const dan = await operatorNamed(world, 'dan', 'finance');
    assert.equal((await confirms(dan, proposal)).status, 202);
    await world.query(`update operators set role = 'viewer' where name = 'dan'`);
    const said = await confirms(ada, proposal);
    assert.deepEqual([said.status, said.body.agreed], [202, ['finn', 'ada']]);
    assert.equal((await confirms(bea, proposal)).status, 200);
  });

  test('is not made one of two by two', async () => {
    const said = await ada.does('/rules', { action: 'customer.unblock', people: 2 });
    assert.equal(said.body.people, 3, 'the stricter of the old and the new rule was not applied');
    const proposal = String(said.body.proposal);
    const everybody = await ada.does('/rules', { action: '*', people: 1 });
    assert.equal(everybody.body.people, 3, 'a general rule was set by fewer people');
    const family = await ada.does('/rules', { action: 'customer.*', people: 'none' });
    assert.equal(family.body.people, 3);
    assert.equal((await confirms(bea, proposal)).status, 202);
    assert.equal((await confirms(cleo, proposal)).status, 200);
    const after = (await ada.reads('/rules')).body.rules;
    assert.deepEqual(
      after.map(({ action, people }: Record<string, unknown>) => [action, people]),
      [['customer.unblock', 2]],
    );
  });
});

describe('a rule that would change nothing', () => {
  test('is refused with the reason, and an existing one can be removed', async () => {
    for (const [rule, field, why] of [
      [{ action: 'order.hold' }, 'action', /needs no approval/],
      [{ action: 'alert.*' }, 'action', /needs no approval/],
      [{ action: 'order.release', right: 'terms' }, 'right', /must be left out or money/],
      [{ action: '*', right: 'cases' }, 'right', /must be left out or/],
      [{ action: '*', right: 'operators' }, 'right', /must be left out or/],
      [{ action: 'customer.unblock', asset: 'inr', above: '5' }, 'asset', /has no amount/],
      [{ action: '*', right: 'terms', asset: 'inr' }, 'asset', /has no amount/],
    ] as const) {
      const said = await ada.does('/rules', { people: 2, ...rule });
      assert.equal(said.status, 400, JSON.stringify([rule, said.body]));
      assert.match(said.body.fields[field], why, JSON.stringify(rule));
    }
    const inert = { action: 'order.hold', right: '*', asset: '*', aboveUnits: 0n };
    await world.db.asSystem((tx) => setRule(tx, { ...inert, people: 2 }));
    const away = await ada.does('/rules', { action: 'order.hold', people: 'none' });
    assert.equal(away.status, 202, JSON.stringify(away.body));
    assert.equal((await confirms(bea, String(away.body.proposal))).status, 200);
  });

  test('is not one for an action with an amount, named directly or by its family', async () => {
    for (const rule of [
      { action: 'deposit.refund', asset: 'inr', above: '100' },
      { action: 'order.*', asset: 'inr', above: '100' },
      { action: 'destination.new', asset: 'inr', above: '100' },
      { action: 'entry.correct' },
    ]) {
      const said = await ada.does('/rules', { people: 3, ...rule });
      assert.equal(said.status, 202, JSON.stringify([rule, said.body]));
      assert.equal((await ada.does(`/proposals/${said.body.proposal}/decline`)).status, 200);
    }
  });
});

describe('a new operator of a role that can confirm actions', () => {
  test('takes two people, because one person alone could create and use the second operator', async () => {
    const made = (role: string) =>
      ada.does('/operators', { operator: `new-${role}`, role, tokenSha256: sha256(`new-${role}`) });
    for (const role of ROLES) {
      const confirmed = ALL_ACTIONS.some(
        ({ right, people }) => people !== 'one' && RIGHTS[right].some((one) => one === role),
      );
      assert.equal((await made(role)).status, confirmed ? 202 : 200, role);
    }
    // The role `support` confirms the dismissal of sanctions hits.
    assert.deepEqual((await ada.does('/operators/new-viewer/role', { role: 'support' })).status, 202);
  });
});

describe('a proposal whose action is refused', () => {
  test('is over with the reason, and may be proposed again', async () => {
    const make = { operator: 'twice', role: 'finance', tokenSha256: sha256('twice') };
    const said = await ada.does('/operators', make);
    assert.equal(said.status, 202);
    // The operator does not exist, as at the proposal; the role that the proposal names no longer exists.
    await world.query(`update proposals set input = jsonb_set(input, '{role}', '"chief"') where id = $1`, [
      said.body.proposal,
    ]);
    assert.equal((await confirms(bea, String(said.body.proposal))).status, 400);
    const over = (await ada.reads(`/proposals/${said.body.proposal}`)).body;
    assert.deepEqual([over.state, over.failedWhy, over.decider], ['failed', 'malformed_field', 'bea']);
    assert.deepEqual(await outcomes(String(said.body.proposal)), ['ada proposed', 'bea failed']);
    assert.equal((await confirms(bea, String(said.body.proposal))).body.reason, 'proposal_over');
    assert.equal((await ada.does('/operators', make)).status, 202);
  });
});

describe('a kill switch', () => {
  test('that several operators set takes as many to lift, whatever the rule says', async () => {
    await ruled({ action: '*', right: 'resume', people: 1 });
    const all = { kind: 'payouts', subject: 'all' };
    const nina = await operatorNamed(world, 'nina', 'night');
    assert.equal((await nina.does('/kill-switches', all)).status, 200);
    assert.equal((await nina.does('/kill-switches', all)).status, 200, 'setting the same switch again was refused');
    assert.deepEqual(
      (await finn.does('/kill-switches/lift', all)).body.after,
      { on: false },
      'a switch set by one person was not lifted by one',
    );
    for (const person of [nina, ada]) await person.does('/kill-switches', all);
    const { killSwitches } = (await finn.reads('/kill-switches')).body;
    assert.deepEqual(killSwitches[0].laidBy, ['nina', 'ada']);
    const said = await finn.does('/kill-switches/lift', all);
    assert.deepEqual([said.status, said.body.people], [202, 2]);
    assert.equal((await confirms(nina, String(said.body.proposal))).body.reason, 'role_missing');
    // Another person sets it before the confirmation, so it is no longer the switch that was proposed for lifting.
    await bea.does('/kill-switches', all);
    assert.equal((await confirms(ada, String(said.body.proposal))).body.reason, 'proposal_overtaken');
    const again = await finn.does('/kill-switches/lift', all);
    assert.equal(again.body.people, 3);
    assert.equal((await confirms(ada, String(again.body.proposal))).status, 202);
    assert.equal((await confirms(bea, String(again.body.proposal))).status, 200);
    assert.deepEqual((await finn.reads('/kill-switches')).body.killSwitches, []);
  });
});

describe('the night desk', () => {
  test('takes rights away and does nothing else, and every role does exactly what its rights allow', async () => {
    const people = new Map<string, Person>();
    for (const role of ROLES) people.set(role, await operatorNamed(world, `a-${role}`, role));
    const path = (text: string) => text.replace(/:(\w+)/g, (_, name) => (/operator/.test(name) ? 'nobody' : '1'));
    const may: string[] = [];
    for (const action of ALL_ACTIONS)
      for (const [role, person] of people) {
        // Sent without a reason, so that nothing is done; a missing right is refused before that check.
        const said = await person.sends(path(action.path), {});
        const has = RIGHTS[action.right].some((one) => one === role);
        assert.equal(said.status === 403, !has, `${role}, ${action.name}: ${JSON.stringify(said.body)}`);
        if (has && role === 'night') may.push(action.name);
      }
    assert.deepEqual(may.toSorted(), [
      'case.assign',
      'case.attach',
      'case.close',
      'case.note',
      'customer.block',
      'deposit.hold',
      'key.revoke',
      'kill-switch.set',
      'order.hold',
      'own-address.end',
      'partner.suspend',
      'self.revoke-token',
      'self.token',
      'team.remove',
      'transfer.cancel',
    ]);
  });

  test('suspends a partner, revokes its key and blocks a customer at once', async () => {
    const night = await operatorNamed(world, 'owl', 'night');
    const other = await world.partner('Leaky');
    assert.equal((await night.does(`/customers/${customer}/block`)).body.after.blocked, true);
    assert.equal((await night.does(`/partners/${other.partner.id}/suspend`)).body.after.suspended, true);
    const { keys } = (await night.reads(`/partners/${other.partner.id}`)).body;
    assert.notEqual((await night.does(`/keys/${keys[0].key}/revoke`)).body.after.revokedAt, null);
    for (const back of [`/customers/${customer}/unblock`, `/partners/${other.partner.id}/resume`])
      assert.equal((await night.does(back)).body.reason, 'role_missing', back);
  });
});

describe('an installation of one operator', () => {
  const declare = (operators: 'one' | 'two', delayS: number) =>
    world.db.asSystem((tx) => declareInstallation(tx, { operators, delayS, now: world.clock.now() }));
  after(async () => await declare('two', 86_400));
  const casesOpen = async () =>
    (await ada.reads('/cases?kind=action_delayed')).body.cases.map(({ subject }: Record<string, string>) => subject);
  /** The database's clock cannot be moved, so the times that it stored are moved instead. */
  async function delayIsOver(proposal: string): Promise<void> {
    await world.query(`update proposals set recorded_at = recorded_at - interval '1 hour' where id = $1`, [proposal]);
  }

  test('waits out the delay by both clocks with a notice, and its proposer then confirms the action', async () => {
    await declare('one', 3_600);
    assert.deepEqual((await finn.reads('/self')).body.installation, { operators: 'one', delayS: 3_600 });
    const proposal = await proposed();
    const shown = (await ada.reads(`/proposals/${proposal}`)).body;
    assert.equal(Date.parse(shown.readyAt), Date.parse(shown.proposedAt) + 3_600_000);
    assert.deepEqual(await casesOpen(), [`proposal:${proposal}`]);
    assert.deepEqual(warned.at(-1), { proposal, action: 'customer.unblock', readyAt: new Date(shown.readyAt) });
    assert.equal((await confirms(finn, proposal)).body.reason, 'proposal_waits');
    world.clock.advance(3_600_000);
    assert.equal(
      (await confirms(finn, proposal)).body.reason,
      'proposal_waits',
      'a step of one clock counted as the delay',
    );
    await delayIsOver(proposal);
    assert.equal((await confirms(finn, proposal)).status, 200);
    assert.deepEqual([await isBlocked(), await casesOpen()], [false, []]);
    assert.deepEqual(await outcomes(proposal), ['finn proposed', 'finn confirmed', 'finn done']);
  });

  test('can decline the action meanwhile, and a second operator who is added can confirm it at once', async () => {
    const proposal = await proposed();
    assert.equal((await finn.does(`/proposals/${proposal}/decline`)).status, 200);
    assert.deepEqual(await casesOpen(), []);
    const again = String((await finn.does(`/customers/${customer}/unblock`)).body.proposal);
    assert.equal((await confirms(ada, again)).status, 200);
    assert.deepEqual(await casesOpen(), []);
  });

  test('cannot add another operator at once, which would be a way around the delay', async () => {
    const said = await ada.does('/operators', {
      ...{ operator: 'puppet', role: 'admin', tokenSha256: sha256('puppet') },
    });
    assert.deepEqual([said.status, typeof said.body.readyAt], [202, 'string']);
  });

  test('takes two people again once it is declared otherwise, also for waiting actions', async () => {
    const proposal = await proposed();
    world.clock.advance(3_600_000);
    await delayIsOver(proposal);
    await declare('two', 0);
    assert.equal((await confirms(finn, proposal)).body.reason, 'own_proposal');
    assert.equal((await confirms(ada, proposal)).status, 200);
    const [row] = await world.query(
      `select before, after from audit where action = 'installation.declare' order by id desc`,
    );
    assert.deepEqual([row.before.operators, row.after.operators], ['one', 'two']);
  });

  test('without a delay, as in the sandbox, acts at once and records the person', async () => {
    await declare('one', 0);
    await world.db.asSystem((tx) => blockCustomer(tx, customer, world.clock.now()));
    assert.equal((await finn.does(`/customers/${customer}/unblock`)).body.outcome, 'done');
  });
});

test('the audit has all of these actions, and its seal is intact', async () => {
  // Entries that the server itself makes meanwhile are sealed in the next round.
  const rows = await until('all is encrypted', async () => {
    await world.db.asSystem((tx) => sealAudit(tx, world.clock.now()));
    const problems: object[] = [];
    const verified = await world.db.asSystem((tx) =>
      verifyAudit(tx, (problem) => problems.push(problem), world.clock.now()),
    );
    assert.deepEqual(problems, []);
    return verified.unsealed === 0n && verified.rows;
  });
  assert.ok(rows > 50n, `the audit has ${rows} rows`);
});

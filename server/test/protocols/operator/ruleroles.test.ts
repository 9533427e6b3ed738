/**
 * Roles that a rule names: who must be among those who approve an action, over HTTP. Which rule decides, and what is missing, is in
 * test/operators/rules.test.ts.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { blockCustomer } from '../../../src/customers/index.ts';
import {
  declareInstallation,
  noteApproved,
  peopleNeeded,
  type Role,
  setRule,
  takesHere,
} from '../../../src/operators/index.ts';
import { operatorsCheck } from '../../../src/ops/checks.ts';
import { untilLocked } from '../../support/locks.ts';
import { operatorApi, silentBank } from '../../support/operatorapi.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { idleDesk } from './desk.ts';
import { operatorNamed, type Person, withToken } from './people.ts';

let world: Environment;
let ada: Person;
let bea: Person;
let finn: Person;
let carol: Person;
let shop: TestPartner;
let customers = 0;
let customer = '';

before(async () => {
  world = await wireEnvironment({
    production: true,
    beside: (fixture) => operatorApi(fixture, { rails: silentBank, bank: idleDesk(fixture) }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  finn = await operatorNamed(world, 'finn', 'finance');
  carol = await operatorNamed(world, 'carol', 'compliance');
  shop = await world.partner('Shop');
});
after(async () => await world?.stop());
beforeEach(async () => {
  await world.query(`delete from people_rules`);
  await world.query(`update operators set role = 'compliance', disabled_at = null where name = 'carol'`);
  customers += 1;
  customer = await world.customer(shop, shop.partner, `customer ${customers}`);
});

const UNBLOCK = { action: 'customer.unblock', right: '*', asset: '*', aboveUnits: 0n };
const ruled = (people: number, ...roles: Role[]) =>
  world.db.asSystem((tx) => setRule(tx, { ...UNBLOCK, people, roles }));
/** Proposes to unblock a customer, which always takes two. */
async function proposed(by = finn) {
  await world.db.asSystem((tx) => blockCustomer(tx, customer, world.clock.now()));
  const said = await by.does(`/customers/${customer}/unblock`);
  assert.equal(said.status, 202, JSON.stringify(said.body));
  return said.body;
}
const isBlocked = async () => (await ada.reads(`/customers/${customer}`)).body.blocked;
const confirms = (person: Person, { proposal }: { proposal?: unknown }) =>
  person.does(`/proposals/${proposal}/confirm`);
const stateOf = async ({ proposal }: { proposal?: unknown }) => (await ada.reads(`/proposals/${proposal}`)).body.state;

describe('a rule that names a role', () => {
  test('is done when somebody of the role confirms, who has not the right of the action', async () => {
    await ruled(2, 'compliance');
    assert.equal((await carol.does(`/customers/${customer}/unblock`)).body.reason, 'role_missing', 'carol proposed');
    const one = await proposed();
    assert.deepEqual([one.people, one.roles, one.awaits], [2, ['compliance'], ['compliance']]);
    const other = await confirms(ada, one);
    assert.deepEqual([other.status, other.body.reason], [403, 'approver_role']);
    assert.match(other.body.error, /compliance/);
    assert.deepEqual(
      [await stateOf(one), await isBlocked()],
      ['open', true],
      'a confirmation that is not needed ended it',
    );
    assert.equal((await confirms(carol, one)).status, 200);
    assert.equal(await isBlocked(), false);
  });

  test('lists the roles that a proposal takes, and those that are missing', async () => {
    await ruled(3, 'compliance');
    const one = await proposed();
    const shown = async () => {
      const { people, roles, awaits } = (await ada.reads(`/proposals/${one.proposal}`)).body;
      return [people, roles, awaits];
    };
    assert.deepEqual(await shown(), [3, ['compliance'], ['compliance']]);
    assert.deepEqual((await confirms(carol, one)).body.awaits, []);
    assert.deepEqual(await shown(), [3, ['compliance'], []]);
    const [listed] = (await ada.reads('/proposals?state=open&action=customer.unblock')).body.proposals;
    assert.deepEqual([listed.roles, listed.awaits], [['compliance'], []]);
    assert.equal((await confirms(ada, one)).status, 200);
    const [row] = (await ada.reads(`/audit?subject=customer:${customer}&action=customer.unblock&limit=1`)).body.audit;
    assert.match(row.reason, /agreed by carol/);
  });

  test('takes one person more if the proposer has none of its roles', async () => {
    await operatorNamed(world, 'cyn', 'compliance');
    await ruled(2, 'compliance', 'compliance');
    const one = await proposed();
    assert.deepEqual([one.people, one.awaits], [3, ['compliance', 'compliance']]);
    assert.equal((await confirms(ada, one)).body.reason, 'approver_role');
    const first = await confirms(carol, one);
    assert.deepEqual([first.status, first.body.people, first.body.awaits], [202, 3, ['compliance']]);
    assert.equal((await confirms(carol, one)).body.reason, 'agreed_already', 'one person counted as two');
    assert.equal(await isBlocked(), true);
  });

  test('counts a person with two tokens once, and the proposer for their own role', async () => {
    await ruled(2, 'finance');
    const one = await proposed();
    assert.deepEqual([one.people, one.awaits], [2, []]);
    const { body } = await finn.does('/self/token', { label: 'second', days: 1 });
    assert.equal((await confirms(withToken(world.baseUrl, body.token), one)).body.reason, 'own_proposal');
    assert.equal((await confirms(ada, one)).status, 200);
  });

  test('does not count a role that was taken away since', async () => {
    await ruled(3, 'compliance');
    const one = await proposed();
    assert.equal((await confirms(carol, one)).status, 202);
    await world.query(`update operators set role = 'support' where name = 'carol'`);
    const next = await confirms(ada, one);
    assert.deepEqual([next.status, next.body.agreed, next.body.awaits], [202, ['finn', 'ada'], ['compliance']]);
    assert.equal((await confirms(bea, one)).body.reason, 'approver_role');
    assert.equal(await isBlocked(), true);
    const cleo = await operatorNamed(world, 'cleo', 'compliance');
    assert.equal((await confirms(cleo, one)).status, 200);
  });

  test('does not count a role that is taken away while the confirmation is on its way', async () => {
    await ruled(2, 'compliance');
    const one = await proposed();
    let said: ReturnType<typeof confirms> | undefined;
    await world.db.asSystem(async (tx) => {
      await tx.run(`update operators set role = 'viewer' where name = 'carol'`);
      said = confirms(carol, one);
      await untilLocked('the confirmation waits', tx);
    });
    assert.equal((await said)?.body.reason, 'role_missing');
    assert.deepEqual([await isBlocked(), await stateOf(one)], [true, 'open']);
  });

  test('is met once by two who confirm at once', async () => {
    await ruled(2, 'compliance');
    const other = await operatorNamed(world, 'clio', 'compliance');
    const one = await proposed();
    const said = await Promise.all([carol, other, ada, carol].map((person) => confirms(person, one)));
    assert.equal(said.filter(({ status }) => status === 200).length, 1, JSON.stringify(said));
    const done = await world.query(`select from audit where proposal = $1 and outcome = 'done'`, [one.proposal]);
    assert.equal(done.length, 1);
  });

  test('decides what it names, and nothing else: the role neither confirms nor declines other proposals', async () => {
    await world.db.asSystem((tx) =>
      setRule(tx, { ...UNBLOCK, action: 'key.create', people: 2, roles: ['compliance'] }),
    );
    const one = await proposed();
    assert.deepEqual([one.roles, one.awaits], [[], []]);
    assert.equal((await confirms(carol, one)).body.reason, 'role_missing');
    assert.equal((await carol.does(`/proposals/${one.proposal}/decline`)).body.reason, 'role_missing');
    assert.equal(await stateOf(one), 'open');
    assert.equal((await confirms(ada, one)).status, 200);
  });

  test('lets the role decline what waits for it', async () => {
    await ruled(2, 'compliance');
    const one = await proposed();
    assert.equal((await carol.does(`/proposals/${one.proposal}/decline`)).status, 200);
    assert.equal(await isBlocked(), true);
  });

  test('that is set after a proposal holds for it, and one that is relaxed after it still does', async () => {
    const one = await proposed();
    await ruled(2, 'compliance');
    assert.equal((await confirms(ada, one)).body.reason, 'approver_role', 'a stricter rule was ignored');
    assert.equal((await confirms(carol, one)).status, 200);
    const next = await proposed();
    await world.query('delete from people_rules');
    assert.equal((await confirms(ada, next)).body.reason, 'approver_role', 'a relaxed rule was applied');
    assert.equal((await confirms(carol, next)).status, 200);
  });

  const declare = (operators: 'one' | 'two', delayS: number) =>
    world.db.asSystem((tx) => declareInstallation(tx, { operators, delayS, now: world.clock.now() }));

  test('is replaced by the delay where one operator is declared, also if one person of the role would be enough', async () => {
    await world.db.asSystem((tx) =>
      setRule(tx, { ...UNBLOCK, action: 'key.create', people: 1, roles: ['compliance'] }),
    );
    const taken = (...roles: Role[]) =>
      world.db.asSystem((tx) =>
        takesHere(tx, {
          ...{ action: 'key.create', right: 'partners', needs: ['rule'], subject: 'partner:1', now: world.clock.now() },
          operators: roles.map((role, at) => ({ id: BigInt(at + 1), role })),
        }),
      );
    await declare('one', 3_600);
    try {
      assert.deepEqual(await taken('finance'), { people: 2, roles: [] }, 'nobody waited for the role');
      assert.deepEqual(
        await taken('finance', 'admin'),
        { people: 2, roles: [] },
        'more people than the delay replaces',
      );
      assert.deepEqual(await taken('compliance'), { people: 1, roles: [] });
    } finally {
      await declare('two', 86_400);
    }
  });

  test('names nobody where one operator is declared', async () => {
    await ruled(2, 'compliance');
    await declare('one', 0);
    try {
      await world.db.asSystem((tx) => blockCustomer(tx, customer, world.clock.now()));
      assert.equal((await finn.does(`/customers/${customer}/unblock`)).status, 200);
    } finally {
      await declare('two', 86_400);
    }
  });
});

describe('setting a rule that names a role', () => {
  const sets = (body: Record<string, unknown>) =>
    ada.does('/rules', { action: 'customer.unblock', people: 2, ...body });

  test('takes somebody of the role, and so does removing it', async () => {
    const one = await sets({ roles: ['compliance'] });
    assert.deepEqual(
      [one.status, one.body.people, one.body.awaits],
      [202, 2, ['compliance']],
      JSON.stringify(one.body),
    );
    assert.equal((await confirms(bea, one.body)).body.reason, 'approver_role', 'two admins bound another role');
    const done = await confirms(carol, one.body);
    assert.deepEqual([done.status, done.body.after.people, done.body.after.roles], [200, 2, ['compliance']]);
    for (const looser of [{ roles: undefined }, { people: 'none' }, { action: 'customer.*', people: 1 }]) {
      const said = await sets(looser);
      assert.deepEqual(said.body.awaits, ['compliance'], `${JSON.stringify(looser)}: ${JSON.stringify(said.body)}`);
      assert.equal((await confirms(bea, said.body)).body.reason, 'approver_role');
      assert.equal((await ada.does(`/proposals/${said.body.proposal}/decline`)).status, 200);
    }
  });

  test('removes a rule about an action that is no longer known, and sets none', async () => {
    await world.query(
      `insert into people_rules (action, for_right, asset, above_units, people, roles) values ('bank.past', '*', '*', 0, 2, '{}')`,
    );
    const past = { action: 'bank.past' };
    assert.match((await sets(past)).body.fields.action, /existing action/);
    assert.match((await sets({ action: 'bank.never', people: 'none' })).body.fields.action, /existing action/);
    const one = await sets({ ...past, people: 'none' });
    assert.equal(one.status, 202, JSON.stringify(one.body));
    assert.equal((await confirms(bea, one.body)).status, 200);
    assert.deepEqual((await ada.reads('/rules')).body.rules, []);
  });

  test('is refused where nobody could meet it', async () => {
    for (const [body, why] of [
      [{ roles: ['treasury'] }, /takes 1 enabled operator with the role treasury, and there are 0/],
      [
        { people: 3, roles: ['finance', 'finance', 'finance'] },
        /takes 3 enabled operators with the role finance, and there is 1/,
      ],
      [{ people: 1, roles: ['compliance', 'finance'] }, /at most as many as people: 1/],
      [{ people: 'none', roles: ['compliance'] }, /left out if people is none/],
      [{ roles: ['viewer'] }, /night, support, compliance/],
      [{ roles: ['boss'] }, /night, support, compliance/],
    ] as const) {
      const said = await sets(body);
      assert.equal(said.status, 400, JSON.stringify([body, said.body]));
      assert.match(said.body.fields.roles, why);
    }
  });

  test('and losing the last person of the role is shown by the rules and by readiness', async () => {
    await world.query(`update operators set disabled_at = now() where role = 'compliance' and name <> 'carol'`);
    await ruled(2, 'compliance');
    const shown = async () => (await ada.reads('/rules')).body.rules[0].unmet;
    const ready = () => operatorsCheck(world.db).run(AbortSignal.timeout(5_000));
    assert.deepEqual([await shown(), (await ready()).ok], [[], true]);
    assert.equal((await ada.does('/operators/carol/disable')).status, 200);
    assert.deepEqual(await shown(), ['compliance']);
    const unmet = await ready();
    assert.equal(unmet.ok, false);
    assert.equal((unmet as Record<string, unknown>)['rule customer.unblock compliance'], 'takes 1, enabled 0');
  });
});

describe('amounts of a day', () => {
  const need = { action: 'deposit.refund', right: 'money', asset: 'inr' };
  const idOf = async (name: string) => {
    const [row] = await world.query('select id, role from operators where name = $1', [name]);
    return { id: BigInt(row.id), role: row.role as Role };
  };
  const limits = () =>
    world.db.asSystem(async (tx) => {
      await setRule(tx, { ...need, aboveUnits: 50n, people: 2 });
      await setRule(tx, { ...need, aboveUnits: 100n, people: 2, roles: ['compliance'] });
    });
  const approved = async (names: string[], units: bigint, subject: string) => {
    const operators = await Promise.all(names.map(idOf));
    const { action, right, asset } = need;
    const now = world.clock.now();
    await world.db.asSystem((tx) =>
      noteApproved(tx, { action, right, needs: [{ asset, units }], operators, subject, now }),
    );
  };
  const needed = async (units: bigint, by: string[], operator: string) => {
    const { id } = await idOf(operator);
    const now = world.clock.now();
    return await world.db.asSystem((tx) => peopleNeeded(tx, { ...need, units, by, operator: id, now }));
  };

  test('that two approved without the role count against the limit from which it is asked', async () => {
    await limits();
    await operatorNamed(world, 'felix', 'finance');
    await approved(['felix', 'ada'], 80n, 'deposit:1');
    assert.equal(await needed(20n, ['felix', 'ada'], 'felix'), 1);
    assert.equal(await needed(21n, ['felix', 'ada'], 'felix'), 3, 'two split an amount that takes the role');
    assert.equal(await needed(21n, ['felix', 'carol'], 'felix'), 2);
    assert.equal(await needed(21n, ['bea', 'ada'], 'ada'), 3, 'the confirmer split the amount');
  });

  test('that one approved under the earlier name of the action', async () => {
    const now = world.clock.now();
    const download = { action: 'bank.download_file', right: 'treasury', asset: 'inr' };
    await world.db.asSystem((tx) => setRule(tx, { ...download, aboveUnits: 100n, people: 2 }));
    const theo = await operatorNamed(world, 'theo', 'treasury').then(() => idOf('theo'));
    const earlier = { action: 'bank.hand_out_file', right: 'treasury', needs: [{ asset: 'inr', units: 90n }] };
    await world.db.asSystem((tx) => noteApproved(tx, { ...earlier, operators: [theo], subject: 'file:1', now }));
    const takes = (units: bigint) =>
      world.db.asSystem((tx) => peopleNeeded(tx, { ...download, units, by: ['theo'], operator: theo.id, now }));
    assert.deepEqual([await takes(10n), await takes(11n)], [1, 2]);
  });

  test('that the role approved do not', async () => {
    await limits();
    await operatorNamed(world, 'fred', 'finance');
    await approved(['fred', 'carol'], 80n, 'deposit:2');
    assert.equal(await needed(50n, ['fred', 'bea'], 'fred'), 1);
    assert.equal(await needed(100n, ['fred', 'bea'], 'fred'), 2);
    assert.equal(await needed(101n, ['fred', 'bea'], 'fred'), 3);
  });

  test('and money that leaves needs the role that its approver has now', async () => {
    await limits();
    await operatorNamed(world, 'fay', 'finance');
    assert.equal(await needed(101n, ['fay', 'carol'], 'fay'), 2);
    await world.query(`update operators set role = 'support' where name = 'carol'`);
    assert.equal(await needed(101n, ['fay', 'carol'], 'fay'), 3);
  });
});

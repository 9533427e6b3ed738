/**
 * Operators against their own limits: every action by every role, with otherwise valid requests; and networks that operators may
 * not come from.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { may, type Right, ROLES, type Role } from '../../src/operators/index.ts';
import type { Declared, DeclaredAction } from '../../src/protocols/operator/declare.ts';
import { ENDPOINTS } from '../../src/protocols/operator/declared/index.ts';
import { idleDesk } from '../protocols/operator/desk.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { type Environment, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { operatorApi } from '../support/operatorapi.ts';

const ACTIONS = ENDPOINTS.filter((one): one is DeclaredAction => one.method === 'POST' && 'name' in one);
/** The preview of a statement changes nothing, so it is no action; it shows lines of the bank that are not in the books yet. */
const PREVIEWS = ENDPOINTS.filter((one) => one.method === 'POST' && one.path === '/bank/statements/preview');
const pathOf = ({ path }: Declared): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) =>
    name === 'payout' ? 'pay_1_1' : name === 'operator' ? 'nobody' : '1',
  );

/**
 * Rights per role, and actions per right, a second time and by hand: a right that is granted to a role by mistake, or an action that is
 * given another right, shows here.
 */
const ROLE_RIGHTS: Readonly<Record<Role, readonly Right[]>> = {
  viewer: ['read'],
  night: ['read', 'cases', 'kill_switch', 'block'],
  support: ['read', 'personal', 'cases', 'reviews', 'kill_switch'],
  compliance: ['read', 'personal', 'cases', 'reviews', 'compliance', 'kill_switch', 'block'],
  treasury: ['read', 'cases', 'kill_switch', 'block', 'treasury'],
  finance: ['read', 'personal', 'cases', 'reviews', 'kill_switch', 'block', 'resume', 'money', 'treasury'],
  admin: [
    'read',
    'personal',
    'cases',
    'reviews',
    'compliance',
    'kill_switch',
    'block',
    'resume',
    'money',
    'treasury',
    'partners',
    'terms',
    'operators',
  ],
};
const RIGHT_ACTIONS: Readonly<Record<Right, readonly string[]>> = {
  read: ['self.revoke-token', 'self.token'],
  personal: [
    'account.find',
    'case.attachment',
    'case.payer',
    'customer.answers',
    'customer.export',
    'customer.personal',
    'deposit.payer',
    'review.document',
    'review.open',
    'sanctions.open',
    'screening.replay',
    'travel.open',
  ],
  cases: ['case.assign', 'case.attach', 'case.close', 'case.note'],
  reviews: [
    'case.detach',
    'customer.ask',
    'customer.detach_phone',
    'customer.legal_hold',
    'customer.withdraw-question',
    'customer.withdraw_erasure',
    'review.decide',
    'risk.confirm',
    'risk.dismiss',
    'sanctions.accept',
    'sanctions.confirm',
    'sanctions.dismiss',
  ],
  compliance: ['monitoring.set', 'travel.provider', 'travel.set'],
  kill_switch: ['kill-switch.set'],
  block: [
    'customer.block',
    'deposit.hold',
    'key.revoke',
    'order.hold',
    'own-address.end',
    'partner.suspend',
    'team.remove',
    'transfer.cancel',
  ],
  resume: ['kill-switch.lift', 'rail.clear'],
  money: [
    'bank.settle_file',
    'customer.erase',
    'customer.lift_legal_hold',
    'customer.request_erasure',
    'customer.unblock',
    'deposit.assign',
    'deposit.refund',
    'deposit.release',
    'deposit.return',
    'deposit.return-link',
    'deposit.wake',
    'dust.write-off',
    'entry.correct-case',
    'order.block',
    'order.cancel',
    'order.compensate',
    'order.destination',
    'order.refund',
    'order.release',
    'order.release-blocked',
    'order.requote',
    'order.retry',
    'order.retry-refund',
    'order.settle-by',
    'order.wake',
    'orders.compensate',
    'payout.never-paid',
    'payout.settle-by',
    'screening.extend',
  ],
  treasury: [
    'bank.close_file',
    'bank.confirm-restore',
    'bank.download_file',
    'bank.take_off',
    'bank.take_statement',
    'bank.withdraw_file',
    'break.correct',
    'debit.foreign',
    'movement.cancel',
    'movement.foreign',
    'movement.match',
    'own-address.register',
    'shortage.pass',
    'shortage.queue',
    'transfer.send',
  ],
  partners: [
    'held.reject',
    'held.release',
    'key.collect',
    'key.create',
    'key.rotate',
    'key.writes',
    'partner.create',
    'partner.resetBranding',
    'partner.resume',
    'team.collect',
    'team.invite',
    'team.invite_again',
  ],
  terms: [
    'cap.set',
    'customer-limit.set',
    'dormancy.set',
    'dust.set',
    'fee.set',
    'limit.set',
    'market.create',
    'market.set',
    'orders.cancel-unpaid',
    'orders.requote-unpaid',
    'partner.set',
    'plan.withdraw',
    'policy.set',
    'price.confirm',
    'price.confirm-pair',
    'requirements.set',
  ],
  operators: [
    'alert.remove',
    'alert.set',
    'alert.test',
    'channel.test',
    'code-sender.test',
    'operator.bind',
    'operator.create',
    'operator.disable',
    'operator.enable',
    'operator.end-sessions',
    'operator.revoke-token',
    'operator.role',
    'operator.token',
    'operator.unbind',
    'rule.set',
  ],
};

describe('a role', () => {
  let world: Environment;
  const people = new Map<Role, Person>();
  before(async () => {
    world = await wireEnvironment({
      production: true,
      beside: (fixture) => operatorApi(fixture, { bank: idleDesk(fixture) }),
    });
    for (const role of ROLES) people.set(role, await operatorNamed(world, `the-${role}`, role));
  });
  after(async () => await world?.stop());

  test('there are actions of every right to try', () => {
    assert.ok(ACTIONS.length > 60, `only ${ACTIONS.length} actions`);
    assert.deepEqual(
      [...ACTIONS, ...PREVIEWS]
        .map(({ path }) => path)
        .filter((path) => path.startsWith('/bank/'))
        .toSorted(),
      [
        '/bank/files',
        '/bank/files/:id/download',
        '/bank/files/:id/settle-by',
        '/bank/files/:id/withdraw',
        '/bank/payouts/:key/take-off',
        '/bank/statements',
        '/bank/statements/preview',
      ],
    );
  });

  test('each role has exactly these rights, and each right allows exactly these actions', () => {
    const rights = Object.keys(RIGHT_ACTIONS) as Right[];
    for (const role of ROLES)
      assert.deepEqual(
        rights.filter((right) => may({ role }, right)),
        ROLE_RIGHTS[role],
        role,
      );
    for (const right of rights) {
      const names = ACTIONS.filter((one) => one.right === right).map(({ name }) => name);
      assert.deepEqual(names.toSorted(), RIGHT_ACTIONS[right], right);
    }
    assert.equal(Object.values(RIGHT_ACTIONS).flat().length, ACTIONS.length, 'an action has another right');
  });

  for (const role of ROLES)
    test(`${role} is refused every action whose right it lacks, before anything of the request is looked at`, async () => {
      const person = people.get(role);
      assert.ok(person);
      for (const action of [...ACTIONS, ...PREVIEWS]) {
        const isAllowed = may({ role }, action.right);
        // With a fault that every role would make: a role without the right is told that, and one with it is told the fault.
        const { status, body } = await person.sends(pathOf(action), { reason: 'an attack', nonsense: 'x' });
        const where: string = `${role} does ${action.path}: ${status} ${JSON.stringify(body)}`;
        if (isAllowed) assert.notEqual(body.reason, 'role_missing', where);
        else assert.deepEqual([status, body.reason], [403, 'role_missing'], where);
        assert.ok(status >= 400, `${where}: it was done`);
      }
    });

  for (const role of ROLES)
    test(`${role} ${may({ role }, 'treasury') ? 'may download' : 'is refused'} a file of the bank desk, and may list them`, async () => {
      const person = people.get(role);
      assert.ok(person);
      const { status, body } = await person.does('/bank/files/1/download');
      assert.deepEqual(
        [status, body.reason],
        may({ role }, 'treasury') ? [409, 'batch_refused'] : [403, 'role_missing'],
      );
      for (const path of ['/bank/files', '/bank/payouts', '/bank/accounts', '/bank/imports'])
        assert.equal((await person.reads(path)).status, 200, path);
    });

  test('no role confirms an action that it may not do itself, at the desk of a bank neither', async () => {
    const admin = people.get('admin');
    const said = await admin?.does('/rules', { action: 'order.release', people: 2 });
    const proposal = String(said?.body.proposal);
    const asking = ACTIONS.filter((action) => action.people !== 'one');
    assert.ok(asking.filter(({ name }) => name.startsWith('bank.')).length >= 4, 'the desk has no action to confirm');
    for (const { name, right } of asking) {
      // A stored proposal of this action: the right is checked before the fields are read.
      await world.query('update proposals set action = $2 where id = $1', [proposal, name]);
      for (const [role, person] of people) {
        if (may({ role }, right)) continue;
        const { status, body } = await person.does(`/proposals/${proposal}/confirm`);
        assert.deepEqual([status, body.reason], [403, 'role_missing'], `${role} confirms ${name}`);
      }
    }
    await world.query(`update proposals set action = 'rule.set' where id = $1`, [proposal]);
    const other = await operatorNamed(world, 'another-admin', 'admin');
    assert.equal((await other.does(`/proposals/${proposal}/confirm`)).status, 200);
  });

  test('a refused action leaves no audit row and no proposal', async () => {
    const vic = people.get('viewer');
    const { audit } = (await vic?.reads('/audit?operator=the-viewer'))?.body ?? {};
    const { proposals } = (await vic?.reads('/proposals?state=open'))?.body ?? {};
    assert.deepEqual([audit, proposals], [[], []]);
  });
});

test('operators are admitted only from the configured networks: neither token nor login works from elsewhere', async () => {
  const inside = await wireEnvironment({
    beside: (fixture) => operatorApi(fixture, { networks: ['127.0.0.0/8', '::1'] }),
  });
  const outside = await wireEnvironment({
    beside: (fixture) => operatorApi(fixture, { networks: ['203.0.113.0/24'] }),
  });
  try {
    const ada = await operatorNamed(inside, 'ada', 'admin');
    assert.equal((await ada.reads('/self')).status, 200);
    const bea = await operatorNamed(outside, 'bea', 'admin');
    for (const said of [
      await bea.reads('/self'),
      await bea.does('/cases/1/note'),
      await bea.sends('/session/options', {}),
    ])
      assert.deepEqual([said.status, said.body.reason], [403, 'address_not_allowed']);
  } finally {
    await inside.stop();
    await outside.stop();
  }
});

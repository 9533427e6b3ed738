/** Saved views of operators: whose they are, what they may be, and what of them is stored in clear. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { openVault } from '../../../src/base/crypto.ts';
import { encryptTyped, encryptTypedSame, openTyped } from '../../../src/base/typed.ts';
import { createOperator, MAX_VIEWS, ROLES, saveView, viewsOf } from '../../../src/operators/index.ts';
import { findInDump } from '../../support/dump.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { terminal } from '../../support/terminal.ts';
import { type Environment, wireEnvironment } from '../whitelabel/environment.ts';
import { operatorNamed, type Person, twoDo } from './people.ts';
import { bearer, by, consoleClient, OURS, SITE } from './signing.ts';

const NETWORKS = ['127.0.0.0/8', '203.0.113.0/24', '::1'];

let world: Environment;
let ada: Person;
let bob: Person;

before(async () => {
  world = await wireEnvironment({
    production: true,
    beside: (fixture) =>
      operatorApi(fixture, { publicUrl: () => SITE.origin, loginsPerMinute: 200, networks: NETWORKS }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bob = await operatorNamed(world, 'bob', 'admin');
});
after(async () => await world?.stop());

const { ask, enrolled, loggedIn } = consoleClient(() => world);
const HELD = { page: '/orders', name: 'Held ones', search: 'state=on_hold&partner=1' };
const saves = (person: Person, view: Record<string, unknown> = {}) =>
  person.sends('/session/views', { ...HELD, ...view });
const deletes = (person: Person, view: string) => ask('DELETE', `/session/views/${view}`, bearer(person));
const viewsBy = async (person: Person): Promise<{ id: string; page: string; name: string; search: string }[]> =>
  (await person.reads('/session/views')).body.views;
const fresh = (name: string) => operatorNamed(world, name, 'viewer');

describe('a saved view', () => {
  test('is there for its operator in every session and at the terminal, and for nobody else', async () => {
    const key = await enrolled(ada);
    const [one, other] = [await loggedIn(key), await loggedIn(key)];
    const { status, body } = await ask('POST', '/session/views', by(one), HELD);
    assert.equal(status, 200);
    const there = (await ask('GET', '/session/views', { cookie: other })).body.views;
    assert.deepEqual(
      there.map(({ id, page, name, search }: Record<string, string>) => ({ id, page, name, search })),
      [{ id: body.view, ...HELD }],
    );
    assert.deepEqual(await viewsBy(ada), there);
    assert.deepEqual(await viewsBy(bob), []);
    const { status: none, body: said } = await deletes(bob, body.view);
    assert.deepEqual([none, said.reason], [404, 'unknown_view']);
    assert.equal((await viewsBy(ada)).length, 1);
    assert.equal((await ask('DELETE', `/session/views/${body.view}`, by(other))).status, 200);
    assert.deepEqual((await ask('GET', '/session/views', { cookie: one })).body.views, []);
    assert.equal((await deletes(ada, body.view)).body.reason, 'unknown_view');
  });

  test('is neither saved nor deleted by a page of another site, or without a login', async () => {
    const cookie = await loggedIn(await enrolled(ada));
    const evil = { ...OURS, 'sec-fetch-site': 'cross-site', cookie };
    assert.equal((await ask('POST', '/session/views', evil, HELD)).body.reason, 'cross_site');
    assert.equal((await ask('DELETE', '/session/views/1', evil)).body.reason, 'cross_site');
    assert.equal((await ask('POST', '/session/views', OURS, HELD)).status, 401);
    assert.equal((await ask('GET', '/session/views', OURS)).status, 401);
    assert.deepEqual(await viewsBy(ada), []);
  });

  for (const role of ROLES)
    test(`is saved and deleted by the role ${role}`, async () => {
      const person = await operatorNamed(world, `a-${role}`, role);
      const { status, body } = await saves(person);
      assert.equal(status, 200);
      assert.equal((await deletes(person, body.view)).status, 200);
    });

  test('replaces the one of the same list and name, and no other', async () => {
    const person = await fresh('cleo');
    const first = (await saves(person)).body.view;
    const others = [
      (await saves(person, { page: '/payouts' })).body.view,
      (await saves(person, { name: 'held ones' })).body.view,
    ];
    assert.equal((await saves(person, { search: 'state=expired' })).body.view, first);
    const views = await viewsBy(person);
    assert.deepEqual(
      views.map(({ id }) => id),
      [first, ...others],
    );
    assert.equal(views[0]?.search, 'state=expired');
  });

  test('of one name that two requests save at once is one view', async () => {
    const person = await fresh('dora');
    const said = await Promise.all(['a=1', 'a=2', 'a=3', 'a=4'].map((search) => saves(person, { search })));
    assert.deepEqual(
      said.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    assert.equal(new Set(said.map(({ body }) => body.view)).size, 1);
    const [view, ...more] = await viewsBy(person);
    assert.deepEqual([more.length, /^a=[1-4]$/.test(view?.search ?? '')], [0, true]);
  });

  test(`is one of at most ${MAX_VIEWS}, also of two that are saved at once, and the last one may be replaced`, async () => {
    const person = await fresh('emil');
    for (let n = 1; n < MAX_VIEWS; n += 1) assert.equal((await saves(person, { name: `view ${n}` })).status, 200);
    const last = await Promise.all(['left', 'right'].map((name) => saves(person, { name })));
    assert.deepEqual(last.map(({ status }) => status).toSorted(), [200, 409]);
    const full = last.find(({ status }) => status === 409)?.body;
    assert.deepEqual([full.reason, /at most 50 saved views/.test(full.error)], ['too_many_views', true]);
    assert.equal((await saves(person, { name: 'view 7', search: 'state=paid' })).status, 200);
    const [{ id } = { id: '' }] = await viewsBy(person);
    assert.equal((await deletes(person, id)).status, 200);
    assert.equal((await saves(person, { name: 'again' })).status, 200);
    assert.equal((await viewsBy(person)).length, MAX_VIEWS);
  });

  for (const [field, values] of [
    ['page', ['orders', '/orders?state=x', '/', '//', '/orders/', `/${'a'.repeat(100)}`, 7]],
    ['name', [' held', 'held ', 'two\nlines', 'x'.repeat(61), '\0', 5]],
    ['search', ['?state=x', 'state=on hold', 'state=<b>', `a=${'x'.repeat(1_999)}`, 'a=\n', {}]],
  ] as const)
    test(`is refused with field and rule for another ${field}`, async () => {
      const person = await fresh(`f-${field}`);
      for (const value of values) {
        const { status, body } = await saves(person, { [field]: value });
        assert.deepEqual(
          [status, body.reason, Object.keys(body.fields)],
          [400, 'malformed_field', [field]],
          `${value}`,
        );
        assert.match(body.fields[field], /^must be /);
      }
      const { body } = await saves(person, { [field]: '' });
      assert.deepEqual([body.reason, Object.keys(body.fields)], ['missing_fields', [field]]);
      assert.deepEqual(await viewsBy(person), []);
    });

  test('may be as long as its rule says, in any script', async () => {
    const person = await fresh('gita');
    const longest = { page: `/${'a'.repeat(99)}`, name: '\u{1d49c}'.repeat(30), search: `a=${'%'.repeat(1_998)}` };
    assert.equal((await saves(person, longest)).status, 200);
    assert.equal((await saves(person, { name: '保留中の注文' })).status, 200);
    const [view] = await viewsBy(person);
    assert.deepEqual([view?.page, view?.name, view?.search], [longest.page, longest.name, longest.search]);
  });

  test('takes no other field, and no reason', async () => {
    const { body } = await saves(ada, { operator: 'bob', reason: 'a test' });
    assert.deepEqual([body.reason, Object.keys(body.fields)], ['malformed_field', ['operator', 'reason']]);
  });

  test('is in no dump in clear, and the audit has its number and its list', async () => {
    const person = await fresh('hugo');
    const typed = { name: 'Zenobia Quagmire', search: 'customer=Quagmire-DE8937040044' };
    const { view } = (await saves(person, typed)).body;
    assert.equal((await deletes(person, (await saves(person, { name: 'Quagmire too' })).body.view)).status, 200);
    assert.deepEqual(await findInDump(world.adminUrl, ['Quagmire', 'Zenobia', 'DE8937040044']), []);
    const { audit } = (await ada.reads('/audit?subject=operator:hugo')).body;
    assert.deepEqual(
      audit.map(({ action }: { action: string }) => action),
      ['view.delete', 'view.save', 'view.save'],
    );
    assert.deepEqual(audit.at(-1).after, { view, page: '/orders' });
    assert.equal((await viewsBy(person))[0]?.name, typed.name);
  });

  test('of a disabled operator is there again when the operator is enabled', async () => {
    const person = await fresh('ida');
    await saves(person);
    assert.equal((await ada.does('/operators/ida/disable')).status, 200);
    assert.equal((await saves(person)).status, 401);
    await twoDo(ada, bob, '/operators/ida/enable');
    assert.equal((await viewsBy(person)).length, 1);
  });

  test('saved under the old master key is replaced under the new one', async () => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    const views = await world.db.asSystem(async (tx) => {
      const now = world.clock.now();
      const { id: operatorId } = await createOperator(tx, { name: 'jan', role: 'viewer', now });
      const saved: bigint[] = [];
      for (const vault of [openVault(oldKey), openVault(newKey, oldKey)]) {
        const typed = { name: encryptTypedSame(vault, 'Held'), search: encryptTyped(vault, 'state=on_hold') };
        saved.push(await saveView(tx, vault, { operatorId, page: '/orders', ...typed, now }));
      }
      assert.equal(saved[0], saved[1]);
      return await viewsOf(tx, operatorId);
    });
    assert.deepEqual(
      views.map(({ search }) => openTyped(openVault(newKey), search)),
      ['state=on_hold'],
    );
  });

  test('is saved, listed and deleted at a terminal without a reason', async () => {
    const person = await fresh('kai');
    const types = terminal(world.baseUrl, person.token);
    const saved = await types('view', 'save', '/orders', 'Held ones', 'state=on_hold');
    assert.equal(saved.code, 0, saved.err);
    const listed = await types('views');
    assert.match(listed.out, /\/orders +Held ones +state=on_hold/);
    const [{ id } = { id: '' }] = await viewsBy(person);
    const deleted = await types('view', 'delete', id);
    assert.equal(deleted.code, 0, deleted.err);
    assert.deepEqual(await viewsBy(person), []);
    const wrong = await types('view', 'save', 'orders', 'Held ones', 'state=on_hold');
    assert.deepEqual([wrong.code, /page must be the path of a list/.test(wrong.err)], [1, true], wrong.err);
    assert.doesNotMatch((await types('view', 'save', '--help')).out, /--reason/);
  });
});

describe('the networks of operators', () => {
  test('are shown with the address of the request and those that contain it', async () => {
    const viewer = await fresh('lea');
    const { body } = await viewer.reads('/session/network');
    assert.deepEqual(body, {
      ...{ address: '127.0.0.1', networks: NETWORKS, within: ['127.0.0.0/8'] },
      setting: 'OPERATOR_NETWORKS',
    });
    const { out } = await terminal(world.baseUrl, viewer.token)('network');
    assert.match(out, /OPERATOR_NETWORKS/);
  });
});

/**
 * The operator API over HTTP: rights, the form of refusals, and the effects and records of each action.
 *
 * Long because its claims share one server and its operators.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseRate } from '../../../src/base/money.ts';
import { openCase } from '../../../src/compliance/index.ts';
import { startOperator } from '../../../src/operators/index.ts';
import { dustThreshold, setDustThreshold } from '../../../src/orders/index.ts';
import { OPERATOR_API_ACTIONS } from '../../../src/protocols/operator/index.ts';
import { READS } from '../../../src/protocols/operator/reads.ts';
import { openClient } from '../../support/client.ts';
import { untilLocked } from '../../support/locks.ts';
import { operatorApi, silentBank } from '../../support/operatorapi.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { oneOpensGates, operatorNamed, type Person, withToken } from './people.ts';

let world: Environment;
let ada: Person;
let finn: Person;
let sue: Person;
let vic: Person;
let shop: TestPartner;
let market = '';

before(async () => {
  world = await wireEnvironment({
    production: true,
    beside: (fixture) => operatorApi(fixture, { rails: silentBank }),
  });
  // One person can change terms, make keys and lift switches here; foureyes.test.ts tests the actions that take two.
  await world.db.asSystem(oneOpensGates);
  ada = await operatorNamed(world, 'ada', 'admin');
  finn = await operatorNamed(world, 'finn', 'finance');
  sue = await operatorNamed(world, 'sue', 'support');
  vic = await operatorNamed(world, 'vic', 'viewer');
  shop = await world.partner('Shop');
  const { body } = await vic.reads('/markets');
  market = body.markets.find((one: Record<string, unknown>) => one.crypto === 'usdc.matic20' && one.fiat === 'inr').id;
});
after(async () => await world?.stop());

const quoteInput = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
const auditOf = async (subject: string) => (await vic.reads(`/audit?subject=${subject}`)).body.audit;
/** Fills the parameters of a path with values of the right form. */
const filled = (path: string) => path.replace(/:(\w+)/g, (_, name) => (/operator/.test(name) ? 'nobody' : '1'));

describe('an operator', () => {
  test('is refused at every path without a token, with a wrong one, and with one that was revoked or has expired', async () => {
    const spent = await operatorNamed(world, 'spent', 'admin');
    const { body } = await spent.reads('/self');
    const token = body.tokens[0].id;
    assert.equal((await spent.does('/self/revoke-token', { token })).status, 200);
    const mine = await ada.does('/self/token', { label: 'short', days: 1 });
    const short = withToken(world.baseUrl, mine.body.token);
    assert.equal((await short.reads('/self')).body.name, 'ada');
    world.clock.advance(86_400_000 + 1);
    for (const caller of [withToken(world.baseUrl, ''), withToken(world.baseUrl, 'x'.repeat(47)), spent, short]) {
      for (const { path } of READS) assert.equal((await caller.reads(filled(path))).status, 401, path);
      for (const { path } of OPERATOR_API_ACTIONS) assert.equal((await caller.does(filled(path))).status, 401, path);
      assert.equal((await caller.does('/proposals/1/confirm')).status, 401);
    }
  });

  test('is refused at once when disabled, and admitted again when enabled', async () => {
    const temp = await operatorNamed(world, 'temp', 'viewer');
    assert.equal((await temp.reads('/self')).status, 200);
    assert.equal((await ada.does('/operators/temp/disable')).status, 200);
    assert.equal((await temp.reads('/self')).status, 401);
  });

  test('may do what the role has the right to, and a refusal names the missing right', async () => {
    const rights: Record<string, Person[]> = {
      money: [vic, sue],
      cases: [vic],
      stop: [vic],
      resume: [vic, sue],
      personal: [vic],
      partners: [vic, sue, finn],
      terms: [vic, sue, finn],
      operators: [vic, sue, finn],
    };
    for (const { path, right } of OPERATOR_API_ACTIONS) {
      for (const person of rights[right] ?? []) {
        const said = await person.does(filled(path));
        assert.equal(said.status, 403, `${path} as one without ${right}`);
        assert.match(said.body.error, new RegExp(`right ${right}`));
      }
    }
  });
});

describe('a request', () => {
  test('for any action is refused without a reason or with an unknown field, and the refusal names both', async () => {
    // A form with a file has a test of its own.
    for (const { path, name } of OPERATOR_API_ACTIONS.filter(({ takesForm }) => takesForm === undefined)) {
      const none = await ada.sends(filled(path), {});
      assert.equal(none.status, 400, name);
      assert.equal(none.body.fields.reason, 'is missing', name);
      const odd = await ada.does(filled(path), { colour: 'red', reason: '' });
      assert.equal(odd.status, 400, name);
    }
    const odd = await ada.does('/kill-switches', { kind: 'payouts', subject: 'all', colour: 'red' });
    assert.match(odd.body.fields.colour, /is not one of kind, subject, reason/);
  });

  test('with wrong input is refused with field and rule', async () => {
    for (const [path, body, field, rule] of [
      ['/partners', { name: 'x', quoteShape: 'C' }, 'quoteShape', /one of A, B/],
      ['/partners', { name: 'x', toleranceBps: '-1' }, 'toleranceBps', /whole number from 0 to 10000/],
      [`/partners/${shop.partner.id}/keys`, { label: 'x', scopes: 'read,fly' }, 'scopes', /one of read, trade/],
      [
        `/partners/${shop.partner.id}/keys`,
        { label: 'x', scopes: 'read', addresses: '10.0.0.0/33' },
        'addresses',
        /network/,
      ],
      [
        `/partners/${shop.partner.id}/keys`,
        { label: 'x', scopes: 'read', expiresAt: '2020-01-01T00:00:00Z' },
        'expiresAt',
        /in the future/,
      ],
      [
        `/partners/${shop.partner.id}/keys`,
        { label: 'x', scopes: 'read', expiresAt: '2031-02-30T00:00:00Z' },
        'expiresAt',
        /a time such as/,
      ],
      [`/markets/${market}`, { min: '5', max: '4' }, 'max', /not be below min/],
      [`/markets/${market}/limits`, { level: 9, max: '5' }, 'level', /from 0 to 5/],
      [`/markets/${market}/policies`, { question: 'late', answer: { then: 'dance' } }, 'late.then', /one of/],
      [`/partners/${shop.partner.id}/caps`, { fiat: 'usdc', max: '5' }, 'fiat', /code of a fiat/],
      [`/markets/${market}`, { enabled: 'constructor' }, 'enabled', /true or false/],
      ['/kill-switches', { kind: 'rail', subject: 'rail.of.nowhere' }, 'subject', /bank.simulated/],
      ['/kill-switches', { kind: 'payouts', subject: 'some' }, 'subject', /all/],
      ['/rules', { action: 'order.release', asset: 'gold', above: '1', people: 2 }, 'asset', /an asset's code/],
      ['/rules', { action: 'order.relase', people: 1 }, 'action', /an existing action/],
      ['/rules', { action: 'terms', people: 1 }, 'action', /a family such as/],
      ['/rules', { action: 'order.*', people: 4 }, 'people', /from 1 to 3/],
      ['/rules', { action: 'order.*', people: 2, above: '5' }, 'above', /left out if asset is/],
    ] as const) {
      const said = await ada.does(path, body);
      assert.equal(said.status, 400, `${path} ${JSON.stringify(said.body)}`);
      assert.match(said.body.fields[field] ?? '', rule, `${path}: ${JSON.stringify(said.body)}`);
    }
    // A value that the database cannot store is the caller's mistake.
    for (const odd of ['a case\0', 'half a \ud83d'])
      assert.match(
        (await ada.does('/kill-switches', { kind: 'payouts', subject: 'all', reason: odd })).body.fields.reason,
        /500 char/,
      );
    assert.equal((await vic.reads('/cases?kind=%00')).status, 400);
    assert.equal((await ada.sends('/kill-switches', '[1]')).body.reason, 'malformed_body');
    assert.equal((await ada.sends('/kill-switches', '{"a')).body.reason, 'malformed_body');
    const twice = await ada.does(`/markets/${market}`, { market: '9' });
    assert.equal(twice.body.fields.market, 'is already in the path');
    assert.equal((await ada.does(`/markets/${market}`, { max: '1.0000001' })).body.reason, 'malformed_amount');
  });

  test('to an unknown path is answered with the nearest one, to operators only', async () => {
    for (const [path, nearest] of [
      ['/orders/17/relase', 'POST /operator/v1/orders/:order/release'],
      ['/case', 'GET /operator/v1/cases'],
      ['/orders/17/release', 'POST /operator/v1/orders/:order/release'],
    ] as const) {
      const { status, body } = await ada.reads(path);
      assert.deepEqual([status, body.reason], [404, 'unknown_path'], path);
      assert.equal(body.error, `There is nothing at this path. The nearest is ${nearest}.`);
    }
    assert.equal((await ada.reads('/nothing-of-the-kind-at-all')).body.error, 'There is nothing at this path.');
    assert.equal((await withToken(world.baseUrl, 'a-token-that-nobody-has').reads('/case')).status, 401);
  });

  test('names a transaction by its hash as its chain writes it: Tron has no 0x', async () => {
    for (const hash of ['ab'.repeat(32), `0x${'ab'.repeat(32)}`])
      assert.equal((await ada.does('/payouts/pay_1_1/settle-by', { hash })).body.reason, 'unknown_payout', hash);
    const odd = await ada.does('/payouts/pay_1_1/settle-by', { hash: 'ab'.repeat(31) });
    assert.match(odd.body.fields.hash, /the hash of a transaction/);
  });

  test('with an undeclared field is refused with its name and the declared ones', async () => {
    const { status, body } = await ada.reads('/cases?opened=true');
    assert.deepEqual([status, body.reason], [400, 'malformed_field']);
    assert.match(body.fields.opened, /^is not one of .*open, .*kind/);
  });

  test('for an unknown object is a 404 that names the object', async () => {
    for (const [path, what] of [
      ['/orders/1/timeline', 'order'],
      ['/orders/1/trace', 'order'],
      ['/cases/9999', 'case'],
      ['/partners/9999', 'partner'],
      ['/markets/9999', 'market'],
      ['/operators/nobody', 'operator'],
      ['/proposals/9999', 'proposal'],
      ['/customers/nobody', 'customer'],
    ])
      assert.match((await vic.reads(path ?? '')).body.error, new RegExp(`no such .*${what}`), path);
    for (const [path, what] of [
      ['/orders/1/release', 'order'],
      ['/orders/1/retry', 'order'],
      ['/orders/1/block', 'order'],
      ['/cases/9999/note', 'case'],
      ['/partners/9999/suspend', 'partner'],
      ['/keys/nobody/revoke', 'key'],
      ['/customers/0123456789_1/block', 'customer'],
      ['/operators/nobody/disable', 'operator'],
      ['/proposals/9999/confirm', 'proposal'],
    ])
      assert.match((await ada.does(path ?? '')).body.error, new RegExp(`no such .*${what}`), path);
  });
});

describe('partners and keys', () => {
  test('a partner is created, gets a key that works at once, is suspended and resumed', async () => {
    const made = await ada.does('/partners', { name: 'Newcomer', requestsPerMinute: 5 });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const { id } = made.body.after;
    assert.equal((await ada.does('/partners', { name: 'Newcomer' })).body.reason, 'partner_exists');
    const { body: key } = await ada.does(`/partners/${id}/keys`, { label: 'main', scopes: ['read', 'trade'] });
    const client = openClient(world.baseUrl, key);
    assert.equal((await client.post('offramp/quote', quoteInput)).status, 200);

    assert.equal((await ada.does(`/partners/${id}/suspend`)).body.after.suspended, true);
    const [, resumed] = [await vic.reads(`/partners/${id}`), await ada.does(`/partners/${id}/resume`)];
    assert.equal(resumed.body.after.suspended, false);
    const said = (await vic.reads(`/partners/${id}`)).body;
    assert.equal(said.keys[0].label, 'main');
    assert.equal(JSON.stringify(said).includes(key.apiSecret), false);
    const actions = (await auditOf(`partner:${id}`)).map(({ action }: { action: string }) => action);
    assert.deepEqual(actions, ['partner.resume', 'partner.suspend', 'key.create']);
  });

  test('a key allows its scopes, from its networks, until it expires', async () => {
    const make = async (over: object) =>
      (await ada.does(`/partners/${shop.partner.id}/keys`, { label: 'k', scopes: 'read', ...over })).body;
    const reader = openClient(world.baseUrl, await make({}));
    assert.equal((await reader.post('offramp/quote', quoteInput)).body.reason, 'scope_missing');
    const away = openClient(world.baseUrl, await make({ scopes: 'trade', addresses: '192.0.2.0/24' }));
    assert.equal((await away.post('offramp/quote', quoteInput)).body.reason, 'address_not_allowed');
    const expiresAt = new Date(world.clock.now().getTime() + 3_600_000).toISOString();
    const brief = openClient(world.baseUrl, await make({ scopes: 'trade', addresses: '127.0.0.0/8', expiresAt }));
    assert.equal((await brief.post('offramp/quote', quoteInput)).status, 200);
    world.clock.advance(3_600_001);
    assert.equal((await brief.post('offramp/quote', quoteInput)).status, 401);
  });

  test('a rotation accepts both secrets until the overlap ends, then only the new one', async () => {
    const { body: key } = await ada.does(`/partners/${shop.partner.id}/keys`, { label: 'r', scopes: 'trade' });
    const { body: rotated } = await ada.does(`/keys/${key.apiKey}/rotate`, { overlapHours: 2 });
    assert.notEqual(rotated.apiSecret, key.apiSecret);
    const old = openClient(world.baseUrl, key);
    const fresh = openClient(world.baseUrl, rotated);
    const status = async (client: typeof old) => (await client.post('offramp/quote', quoteInput)).status;
    assert.deepEqual([await status(old), await status(fresh)], [200, 200]);
    world.clock.advance(2 * 3_600_000 - 1_000);
    assert.deepEqual([await status(old), await status(fresh)], [200, 200]);
    world.clock.advance(1_000);
    assert.deepEqual([await status(old), await status(fresh)], [401, 200]);
    assert.equal((await ada.does(`/keys/${key.apiKey}/revoke`)).status, 200);
    assert.equal((await ada.does(`/keys/${key.apiKey}/rotate`)).body.reason, 'unknown_key');
  });

  test('the last use of a key is recorded for a valid signature, and not for a request that only names the key', async () => {
    const { body: key } = await ada.does(`/partners/${shop.partner.id}/keys`, { label: 'u', scopes: 'trade' });
    const usedAt = async () => {
      const { keys } = (await vic.reads(`/partners/${shop.partner.id}`)).body;
      return keys.find((one: { key: string }) => one.key === key.apiKey).lastUsedAt;
    };
    const forged = openClient(world.baseUrl, { ...key, apiSecret: 'guessed' });
    assert.equal((await forged.post('offramp/quote', quoteInput)).status, 401);
    assert.equal(await usedAt(), null);
    assert.equal((await openClient(world.baseUrl, key).post('offramp/quote', quoteInput)).status, 200);
    assert.ok(world.clock.now().getTime() - Date.parse(await usedAt()) < 60_000);
  });

  test('a partner with a limit of zero requests a minute gets a retry time as a number', async () => {
    const { id } = (await ada.does('/partners', { name: 'Quiet', requestsPerMinute: 0 })).body.after;
    const { body: key } = await ada.does(`/partners/${id}/keys`, { label: 'q', scopes: 'trade' });
    const said = await openClient(world.baseUrl, key).post('offramp/quote', quoteInput);
    assert.equal(said.status, 429);
    assert.match(said.headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
    assert.match(said.headers.get('ratelimit-reset') ?? '', /^[0-9]+$/);
  });
});

describe('terms of trade', () => {
  test('a market, its fee, limit, cap and policy can be set, and each change keeps its operator and reason', async () => {
    const set = (path: string, body: object) => ada.does(path, { reason: 'new year', ...body });
    assert.equal((await set(`/markets/${market}`, { max: '50', quoteTtlS: 30 })).body.after.max, '50');
    assert.equal((await shop.post('offramp/quote', quoteInput)).body.code, 413);
    assert.equal((await set(`/markets/${market}`, { max: '10000' })).status, 200);
    const fee = await set(`/markets/${market}/fees`, { kind: 'operator', bps: 100, minimum: '5' });
    assert.deepEqual(
      [fee.body.after.bps, fee.body.after.minimum_units],
      [100, '5'],
      'the amounts of the fee have different scales',
    );
    assert.equal((await set(`/markets/${market}/limits`, { level: 1, max: '20' })).body.after.max_units, '20');
    // Exact to the last unit, although no JSON number has so many digits.
    const exact = await set(`/markets/${market}/limits`, { level: 1, max: '20000000000000.000001' });
    assert.equal(exact.body.after.max_units, '20000000000000.000001');
    assert.equal((await set(`/markets/${market}/limits`, { level: 1, max: 'none' })).body.after, null);
    const cap = await set(`/partners/${shop.partner.id}/caps`, { fiat: 'inr', max: '1000000' });
    assert.equal(cap.body.after.max_units, '1000000');
    const answer = { then: 'refund' };
    assert.equal((await set(`/markets/${market}/policies`, { question: 'late', answer })).status, 200);
    const across = { fiat: 'inr', level: 2, per: 'day', direction: 'offramp' };
    assert.equal((await set('/customer-limits', { ...across, max: '90000.5' })).body.after.max, '90000.5');
    assert.equal(
      (await set('/customer-limits', { ...across, max: '90000.5' })).body.after.version,
      1,
      'setting the same value again was recorded',
    );
    assert.equal((await set('/customer-limits', { ...across, max: '80000' })).body.after.version, 2);
    const { limits } = (await vic.reads('/customer-limits')).body;
    assert.deepEqual(
      limits.map((one: Record<string, unknown>) => ({ ...one, id: 0, at: 0 })),
      [{ ...across, market: null, max: '80000', version: 2, by: 'ada', why: 'new year', id: 0, at: 0 }],
    );
    assert.equal((await set('/customer-limits', { ...across, max: 'none' })).body.after.max, null);
    assert.deepEqual((await vic.reads('/customer-limits')).body.limits, []);
    const { versions } = (await vic.reads('/customer-limits/versions?fiat=inr')).body;
    assert.deepEqual(
      versions.map(({ max }: { max: string | null }) => max),
      [null, '80000', '90000.5'],
    );
    for (const [wrong, field] of [
      [{ ...across, market }, 'direction'],
      [{ ...across, fiat: 'usdc.test' }, 'fiat'],
      [{ ...across, fiat: 'nosuch' }, 'fiat'],
    ] as const) {
      const { status, body } = await set('/customer-limits', { ...wrong, max: '1' });
      assert.deepEqual([status, Object.keys(body.fields ?? {})], [400, [field]], JSON.stringify(body));
    }
    const shown = (await vic.reads(`/markets/${market}`)).body;
    assert.deepEqual(
      [shown.policy.late.then, shown.fees.find(({ kind }: { kind: string }) => kind === 'operator').bps],
      ['refund', '100'],
    );
    const { changes } = (await vic.reads(`/changes?market=${market}`)).body;
    assert.deepEqual([changes[0].by, changes[0].why], ['ada', 'new year']);
    const told = (what: string) => changes.filter((one: { what: string }) => one.what === what);
    assert.equal(told('fee')[0].changed, 'set: bps 100, gas_units 0, fixed_units 0, minimum_units 5');
    assert.equal(told('market')[0].changed, 'max_units 50 → 10000');
    assert.deepEqual(
      told('limit').map(({ changed }: { changed: string }) => changed),
      ['removed', 'max_units 20 → 20000000000000.000001', 'set: level 1, max_units 20'],
    );
    const [last] = await auditOf(`market:${market}`);
    assert.deepEqual(
      [last.action, last.operator, last.reason, last.before, last.after !== null],
      ['policy.set', 'ada', 'new year', null, true],
    );
  });
});

describe('dust', () => {
  test('has the threshold of the second one when two operators set it at once', async () => {
    const asset = 'dai.matic20';
    let second: Promise<void> | undefined;
    await world.db.asSystem(async (tx) => {
      await setDustThreshold(tx, asset, 1n);
      second = world.db.asSystem((other) => setDustThreshold(other, asset, 2n));
      await untilLocked('the second one waits', tx);
    });
    await second;
    assert.equal(await world.db.asSystem((tx) => dustThreshold(tx, asset)), 2n);
    assert.equal((await ada.does('/dust', { asset, below: '0.5' })).body.after.belowUnits, '0.5');
    assert.equal((await ada.does('/dust', { asset, below: 'none' })).body.after.belowUnits, null);
  });
});

describe('a market', () => {
  test('keeps both changes when two operators set different terms of it at once', async () => {
    const bob = await operatorNamed(world, 'bob', 'admin');
    for (let round = 1; round <= 5; round += 1) {
      const said = await Promise.all([
        ada.does(`/markets/${market}`, { quoteTtlS: round + 30 }),
        bob.does(`/markets/${market}`, { outlierBps: round + 200 }),
      ]);
      assert.deepEqual(
        said.map(({ status }) => status),
        [200, 200],
      );
      const row = await world.db.asSystem((tx) =>
        tx.row('select quote_ttl_s, outlier_bps from markets where id = $1', [market]),
      );
      assert.deepEqual(row, { quoteTtlS: round + 30, outlierBps: round + 200 });
    }
  });

  const input = {
    ...{ direction: 'onramp', crypto: 'dai.matic20', fiat: 'inr', paymentMethod: 'UPI' },
    ...{ depositRail: 'bank.simulated', payoutRail: 'bank.simulated', payoutDecimals: 2, priceSources: 'fixed' },
    ...{ min: '100', max: '5000', singleSource: 'true' },
  };
  test('is created once and closed, with every wrong field named, and opened by a change', async () => {
    // The white-label API has methods with hyphens and with underscores.
    const paymentMethod = 'AED-BANK-TRANSFER';
    const wrong = await ada.does('/markets', {
      ...input,
      paymentMethod,
      crypto: 'gold',
      depositRail: 'rail.x',
      max: '1',
    });
    assert.deepEqual(Object.keys(wrong.body.fields).sort(), ['crypto', 'depositRail', 'max']);
    const made = await ada.does('/markets', input);
    assert.deepEqual([made.status, made.body.after.enabled, made.body.after.min], [200, false, '100']);
    assert.match((await ada.does('/markets', input)).body.fields.crypto, /already/);
    const opened = await ada.does(`/markets/${made.body.after.id}`, { enabled: 'true' });
    assert.equal(opened.body.after.enabled, true);
    const set = (body: Record<string, unknown>) => ada.does(`/markets/${made.body.after.id}`, body);
    assert.match((await set({ priceQuorum: 2 })).body.fields.priceQuorum, /must not be above the 1 sources/);
    assert.match((await set({ singleSource: false })).body.fields.singleSource, /must be true where priceQuorum is 1/);
    const again = { ...input, fiat: 'eur' };
    assert.match(
      (await ada.does('/markets', { ...again, singleSource: false })).body.fields.singleSource,
      /quotes at the word of one source/,
      'a quorum of one was accepted without a declaration',
    );
    const two = await ada.does('/markets', {
      ...again,
      fiat: 'inr',
      crypto: 'usdc.erc20',
      singleSource: false,
      priceSources: 'fixed,kraken',
    });
    assert.deepEqual([two.body.after?.priceQuorum, two.body.after?.singleSource], [2, false], JSON.stringify(two.body));
    const both = await Promise.all([ada.does('/markets', again), ada.does('/markets', { ...again, min: '200' })]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400], JSON.stringify(both));
  });
});

describe('two operators', () => {
  const proposed = async (): Promise<string> => {
    await finn.does(`/customers/${shop.customerId}/block`);
    const said = await finn.does(`/customers/${shop.customerId}/unblock`);
    assert.equal(said.status, 202, JSON.stringify(said.body));
    return said.body.proposal;
  };

  test('are needed for everything that would let one person confirm alone: an operator, a role, a token, enabling an operator', async () => {
    for (const [path, body] of [
      ['/operators', { operator: 'eve', role: 'admin', tokenSha256: 'e'.repeat(64) }],
      ['/operators/vic/role', { role: 'finance' }],
      ['/operators/finn/role', { role: 'viewer' }],
      ['/operators/sue/token', { label: 'mine now', days: 1, tokenSha256: 'f'.repeat(64) }],
      ['/operators/temp/enable', {}],
      ['/rules', { action: '*', right: 'money', asset: 'inr', above: '1000000', people: 2 }],
      ['/rules', { action: 'fee.set', people: 1 }],
    ] as const) {
      const said = await ada.does(path, body);
      assert.equal(said.status, 202, `${path} ${JSON.stringify(said.body)}`);
      assert.equal(said.body.token, undefined);
      assert.equal((await ada.does(`/proposals/${said.body.proposal}/confirm`)).body.reason, 'own_proposal');
      assert.equal((await finn.does(`/proposals/${said.body.proposal}/confirm`)).body.reason, 'role_missing');
    }
    // Disabling all others first does not help: they still count.
    const bea = await operatorNamed(world, 'bea', 'admin');
    for (const name of ['finn', 'ada']) assert.equal((await bea.does(`/operators/${name}/disable`)).status, 200);
    const mallory = { operator: 'mallory', role: 'finance', tokenSha256: 'd'.repeat(64) };
    assert.equal((await bea.does('/operators', mallory)).status, 202);
    await world.query(`update operators set disabled_at = null where name in ('finn', 'ada')`);
  });

  test('have a proposal expire after a day, or when its proposer is disabled', async () => {
    const old = await proposed();
    world.clock.advance(24 * 3_600_000);
    assert.deepEqual((await ada.does(`/proposals/${old}/confirm`)).body.reason, 'proposal_over');
    assert.equal((await vic.reads('/proposals?state=expired')).body.proposals[0].id, old);
    const fresh = await proposed();
    await world.query(`update operators set disabled_at = now() where name = 'finn'`);
    assert.equal((await ada.does(`/proposals/${fresh}/confirm`)).body.reason, 'proposal_overtaken');
    await world.query(`update operators set disabled_at = null where name = 'finn'`);
    const mine = await proposed();
    assert.equal(
      (await finn.does(`/proposals/${mine}/decline`)).body.outcome,
      'declined',
      'withdrawing a proposal was recorded as a confirmation',
    );
    const last = await proposed();
    assert.equal((await ada.does(`/proposals/${last}/confirm`)).body.after.blocked, false);
  });

  test('are also required by the table, which refuses a confirmation by the proposer', async () => {
    const open = await proposed();
    await assert.rejects(
      world.query(`update proposals set state = 'confirmed', decided_by = proposed_by where id = $1`, [open]),
      /proposals_others/,
    );
    assert.equal((await ada.does(`/proposals/${open}/confirm`)).status, 200);
  });
});

describe('the token that the server is started with', () => {
  test('is accepted once: it stays revoked, and another token gives access again', async () => {
    const start = (token: string) =>
      world.db.asSystem((tx) => startOperator(tx, { name: 'first', token, now: world.clock.now() }));
    const [one, two] = ['a'.repeat(40), 'b'.repeat(40)];
    await start(one);
    const first = withToken(world.baseUrl, one);
    const { body } = await first.reads('/self');
    assert.equal((await first.does('/self/revoke-token', { token: body.tokens[0].id })).status, 200);
    await ada.does('/operators/first/disable');
    await start(one);
    assert.equal((await first.reads('/self')).status, 401);
    await start(two);
    assert.equal((await withToken(world.baseUrl, two).reads('/self')).body.role, 'admin');
    const made = await auditOf('operator:first');
    assert.deepEqual(
      made.map(({ action, operator }: Record<string, string>) => [action, operator]),
      [
        ['operator.token', 'the machine'],
        ['operator.disable', 'ada'],
        ['operator.create', 'the machine'],
      ],
    );
  });
});

describe('kill switches', () => {
  test('a market that is switched off accepts no quotes and orders and says for how long, and other markets continue', async () => {
    const input = { kind: 'market', subject: market };
    assert.equal((await sue.does('/kill-switches', input)).body.after.on, true);
    assert.equal((await sue.does('/kill-switches', input)).status, 200, 'setting the same switch again was refused');
    const said = await shop.post('offramp/quote', quoteInput);
    assert.deepEqual([said.status, said.body.reason], [503, 'market_switched_off']);
    assert.equal(said.headers.get('retry-after'), '60');
    assert.equal((await shop.post('offramp/quote', { ...quoteInput, chain: 'erc20' })).status, 200);
    assert.equal(
      (await sue.does('/kill-switches/lift', input)).status,
      403,
      'an operator without the right lifted the switch',
    );
    assert.equal((await finn.does('/kill-switches/lift', input)).body.after.on, false);
    assert.equal((await shop.post('offramp/quote', quoteInput)).status, 200);
  });

  test('a partner that is switched off may read but create nothing, even with an earlier quote, and other partners are not affected', async () => {
    const other = await world.partner('Other');
    const { body } = await shop.post('offramp/quote', quoteInput);
    const input = { kind: 'partner', subject: String(shop.partner.id) };
    assert.equal((await sue.does('/kill-switches', input)).status, 200);
    const order = { ...quoteInput, rate: body.data.rate, toAmount: body.data.toAmount };
    const { customerId, fiatAccountId } = shop;
    const said = await shop.post('offramp/createTransaction', { ...order, customerId, fiatAccountId });
    assert.deepEqual([said.status, said.body.reason], [403, 'partner_switched_off']);
    assert.equal((await shop.post('offramp/quote', quoteInput)).status, 403);
    const list = await shop.post('offramp/allUserTransaction', { customerId, page: '1', pageSize: '5' });
    assert.equal(list.status, 200);
    assert.equal((await other.post('offramp/quote', quoteInput)).status, 200);
    assert.equal((await finn.does('/kill-switches/lift', input)).status, 200);
    assert.equal((await shop.post('offramp/createTransaction', { ...order, customerId, fiatAccountId })).status, 200);
  });
});

describe('cases', () => {
  test('are listed by age with the next step, and assigned, noted and closed with the name of the operator', async () => {
    await world.db.asSystem(async (tx) => {
      for (const subject of ['first', 'second', 'third'])
        await openCase(tx, { kind: 'rail_halted', subject, reason: 'a test', now: world.clock.now() });
    });
    const { cases } = (await vic.reads('/cases?limit=2')).body;
    assert.deepEqual(
      cases.map(({ subject, who }: Record<string, string>) => [subject, who]),
      [
        ['first', 'operator'],
        ['second', 'operator'],
      ],
    );
    const rest = (await vic.reads(`/cases?limit=2&after=${cases[1].id}`)).body.cases;
    assert.deepEqual(
      rest.map(({ subject }: Record<string, string>) => subject),
      ['third'],
    );
    const { id } = cases[0];
    assert.equal((await sue.does(`/cases/${id}/assign`, { to: 'finn' })).body.after.assignee, 'finn');
    assert.equal((await sue.does(`/cases/${id}/assign`, { to: 'nobody-here' })).status, 404);
    assert.equal((await vic.reads('/cases?assignee=finn')).body.cases.length, 1);
    assert.equal((await finn.does(`/cases/${id}/note`, { reason: 'the node is back' })).status, 200);
    assert.equal((await finn.does(`/cases/${id}/close`, { outcome: 'mended' })).body.after.open, false);
    const shown = (await vic.reads(`/cases/${id}`)).body;
    assert.deepEqual(
      shown.actions.map(({ by, note }: Record<string, string>) => [by, note]),
      [
        ['sue', 'finn: a test'],
        ['finn', 'the node is back'],
        ['finn', 'mended'],
      ],
    );
    assert.equal((await vic.reads('/cases?open=false')).body.cases.length, 1);
    assert.equal((await vic.reads('/cases?limit=9999')).status, 400);
  });
});

describe('customers', () => {
  test('are found by either id without personal data, which is shown only with the right to see it, and each look is recorded', async () => {
    const found = (await vic.reads('/lookup?text=Shop-customer')).body;
    const [customer] = found.customers;
    assert.equal(customer.id, shop.customerId);
    const shown = (await vic.reads(`/customers/${customer.id}`)).body;
    assert.deepEqual(
      shown.accounts.map(({ hint, holder, holderScore }: { hint: string; holder: unknown; holderScore: unknown }) => [
        hint,
        holder,
        holderScore,
      ]),
      [['2333', null, null]],
    );
    const plain = JSON.stringify([found, shown]);
    assert.equal(/000111222333|\+91-9/.test(plain), false, plain);
    const { body } = await sue.does(`/customers/${customer.id}/personal`, { reason: 'the customer called' });
    assert.match(body.personal.phone, /^\+91-9[0-9]{9}$/);
    assert.equal(body.personal.accounts[0].account, '000111222333');
    const [row] = await auditOf(`customer:${customer.id}`);
    assert.deepEqual(
      [row.action, row.operator, row.reason, row.address],
      ['customer.personal', 'sue', 'the customer called', '127.0.0.1'],
    );
    assert.equal(/000111222333|\+91-9/.test(JSON.stringify(row)), false);
  });

  test('are blocked by one person, and unblocked by two', async () => {
    const path = `/customers/${shop.customerId}`;
    assert.equal((await finn.does(`${path}/block`)).body.after.blocked, true);
    const said = await finn.does(`${path}/unblock`);
    assert.equal(said.status, 202);
    assert.equal((await finn.does(`/proposals/${said.body.proposal}/confirm`)).body.reason, 'own_proposal');
    assert.equal((await ada.does(`/proposals/${said.body.proposal}/confirm`)).body.after.blocked, false);
  });
});

describe('the audit', () => {
  test('is read by operator and subject, newest first, and cannot be changed, removed or emptied', async () => {
    const { audit } = (await vic.reads('/audit?operator=ada&limit=3')).body;
    assert.equal(audit.length, 3);
    assert.ok(BigInt(audit[0].id) > BigInt(audit[2].id));
    const older = (await vic.reads(`/audit?operator=ada&below=${audit[2].id}&limit=1`)).body.audit;
    assert.ok(BigInt(older[0].id) < BigInt(audit[2].id));
    // Tried as the owner of the table; the server's roles do not have these rights at all.
    for (const statement of [`update audit set reason = 'x'`, 'delete from audit', 'truncate audit cascade'])
      await assert.rejects(world.query(statement), /append-only/, statement);
    await assert.rejects(
      world.db.asSystem((tx) => tx.run('delete from audit')),
      { code: '42501' },
    );
  });

  test('holds no token and no secret, nor does any other table', async () => {
    const dump = JSON.stringify([
      await world.query('select a::text from audit a'),
      await world.query('select p::text from proposals p'),
      await world.query('select t::text from operator_tokens t'),
    ]);
    for (const { token } of [ada, finn, sue, vic]) assert.equal(dump.includes(token), false);
    assert.equal(/clo_/.test(dump), false);
  });
});

describe('a price that jumped', () => {
  test('halts its market until an operator with the right confirms the sources’ level', async () => {
    const at = (text: string) => world.source.move('usdc', 'inr', parseRate(text));
    at('8600');
    await world.refreshPrices();
    assert.deepEqual((await shop.post('offramp/quote', quoteInput)).body.reason, 'price_halted');
    const { prices } = (await vic.reads(`/markets/${market}`)).body;
    assert.deepEqual([prices[0].why, prices[0].level, prices[0].seen], ['jump', '86', '8600']);
    const confirm = (level: string, by = ada) => by.does(`/markets/${market}/price`, { level });
    assert.equal((await confirm('8600', finn)).status, 403);
    assert.match((await confirm('86')).body.fields.level, /within [0-9]+ bps of what the sources say now, 8600/);
    assert.deepEqual((await confirm('8600')).body.after, { halted: [] });
    assert.equal((await shop.post('offramp/quote', quoteInput)).body.data.rate, '8600');
    const [last] = await auditOf(`market:${market}`);
    assert.deepEqual([last.action, last.before.halted[0].coin], ['price.confirm', 'usdc']);
    assert.deepEqual((await confirm('8600')).body.reason, 'market_not_halted');
    world.source.move('usdc', 'inr', undefined);
    await world.refreshPrices();
    // Every market of the pair, on every chain and in both directions.
    for (const { id, crypto, fiat } of (await vic.reads('/markets')).body.markets)
      if (crypto.startsWith('usdc.') && fiat === 'inr' && id !== market)
        await ada.does(`/markets/${id}/price`, { level: '86' });
    assert.equal((await confirm('86')).status, 200);
    const { cases } = (await vic.reads('/cases?kind=price_halted')).body;
    assert.deepEqual(cases, []);
  });
});

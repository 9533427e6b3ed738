/** Keys, markets and fees: who may send requests, and on what terms. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { later } from '../src/base/clock.ts';
import { Refusal } from '../src/base/errors.ts';
import { encryptTyped, openTyped } from '../src/base/typed.ts';
import * as partners from '../src/partners/index.ts';
import { remember } from '../src/partners/remember.ts';
import { findInDump } from './support/dump.ts';
import { type Fixture, freshFixture } from './support/fixture.ts';
import { fiat, marketTerms } from './support/terms.ts';
import { until } from './support/until.ts';

let fixture: Fixture;
let one: partners.Partner;
let two: partners.Partner;

const usdc = { kind: 'crypto', coin: 'usdc', decimals: 6, native: false } as const;
const terms = { ...marketTerms, fiat: 'inr', isDefault: false };

before(async () => {
  fixture = await freshFixture();
  const now = fixture.clock.now();
  await fixture.db.asSystem(async (tx) => {
    one = await partners.createPartner(tx, { name: 'One', now });
    two = await partners.createPartner(tx, { name: 'Two', now, quoteShape: 'A', corsOrigins: ['https://two.example'] });
    await partners.upsertAsset(tx, { ...usdc, code: 'usdc.erc20', chain: 'erc20', contract: '0x1' });
    await partners.upsertAsset(tx, { ...usdc, code: 'usdc.matic20', chain: 'matic20', contract: '0x1' });
    await partners.upsertAsset(tx, fiat('inr'));
    await partners.upsertMarket(tx, { ...terms, crypto: 'usdc.erc20' });
    await partners.upsertMarket(tx, { ...terms, crypto: 'usdc.matic20', isDefault: true });
  });
});

after(() => fixture?.stop());

const refusal = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
const newKey = (partnerId: bigint, more: { expiresAt?: Date; label?: string } = {}) =>
  fixture.db.asSystem((tx) =>
    partners.createKey(tx, fixture.vault, {
      partnerId,
      label: 'test',
      scopes: ['read', 'trade'],
      now: fixture.clock.now(),
      ...more,
    }),
  );
/** A process that has just started: its caches are empty. */
const credential = (key: string) => partners.openPartners(fixture).credential(key);

test('a key gives its partner, its scopes and its secret', async () => {
  const { apiKey, apiSecret } = await newKey(two.id);
  const found = await credential(apiKey);
  assert.deepEqual(found?.partner, two);
  assert.deepEqual(found?.scopes, ['read', 'trade']);
  assert.deepEqual(found?.secrets, [apiSecret]);
});

test('a partner has no allowed origins unless they are given', () => {
  assert.deepEqual([one.corsOrigins, two.corsOrigins], [[], ['https://two.example']]);
});

test('an unknown key authenticates no partner, whatever it looks like', async () => {
  for (const text of ['', 'nobody', ' ', 'ключ', 'x\0y', "' or true --", 'k'.repeat(10_000)]) {
    assert.equal(await credential(text), undefined, JSON.stringify(text.slice(0, 20)));
  }
});

test('while a key is rotated both secrets are valid, and then the new one alone', async () => {
  const { apiKey, apiSecret } = await newKey(one.id);
  const rotate = (overlapMs: number) =>
    fixture.db.asSystem((tx) =>
      partners.rotateKey(tx, fixture.vault, { key: apiKey, now: fixture.clock.now(), overlapMs }),
    );
  const { apiSecret: second } = await rotate(60_000);
  assert.deepEqual((await credential(apiKey))?.secrets, [apiSecret, second]);
  fixture.clock.advance(60_001);
  assert.deepEqual((await credential(apiKey))?.secrets, [second]);
  const { apiSecret: third } = await rotate(0);
  assert.deepEqual((await credential(apiKey))?.secrets, [third], 'the leaked secret is still valid');
});

test('an expired or a revoked key authenticates no partner', async () => {
  const short = await newKey(one.id, { expiresAt: later(fixture.clock.now(), 1_000) });
  assert.ok(await credential(short.apiKey));
  fixture.clock.advance(1_001);
  assert.equal(await credential(short.apiKey), undefined);
  const revoked = await newKey(one.id);
  await fixture.db.asSystem((tx) => partners.revokeKey(tx, revoked.apiKey, fixture.clock.now()));
  assert.equal(await credential(revoked.apiKey), undefined);
});

test('a suspension acts within seconds on a process that knows the key', async () => {
  const { apiKey } = await newKey(two.id);
  const running = partners.openPartners(fixture);
  assert.equal((await running.credential(apiKey))?.partner.suspended, false);
  await fixture.db.asSystem((tx) => partners.suspendPartner(tx, two.id, fixture.clock.now()));
  const isSuspended = async () => (await running.credential(apiKey))?.partner.suspended;
  await until('it is suspended', isSuspended, { withinMs: 5_000 });
  await fixture.db.asSystem((tx) => partners.resumePartner(tx, two.id));
});

test('the last use of a key is noted once a minute', async () => {
  const { apiKey } = await newKey(one.id);
  const used = () =>
    fixture.db.asSystem((tx) =>
      tx.row<{ at: Date | null }>('select last_used_at as at from api_keys where key = $1', [apiKey]),
    );
  const running = partners.openPartners(fixture);
  await running.credential(apiKey);
  assert.equal((await used())?.at, null, 'a look-up counted as a use of the key');
  await running.noteUse(apiKey);
  const first = (await used())?.at;
  assert.ok(first);
  await running.noteUse(apiKey);
  await partners.openPartners(fixture).noteUse(apiKey);
  assert.deepEqual((await used())?.at, first, 'the use was noted twice within a minute');
  fixture.clock.advance(60_001);
  await running.noteUse(apiKey);
  assert.ok(((await used())?.at ?? first) > first);
});

test('labels that an older version stored in clear are encrypted once, also of revoked keys, and read the same', async () => {
  const { db, vault, clock, adminUrl } = fixture;
  const older = ['Key of Labelina Quagmire', 'enc:op1:typed by Labelina.'] as const;
  const revoked = await newKey(two.id, { label: older[0] });
  const kept = await newKey(two.id, { label: older[1] });
  const newer = encryptTyped(vault, 'new');
  const { apiKey } = await newKey(two.id, { label: newer });
  await db.asSystem((tx) => partners.revokeKey(tx, revoked.apiKey, clock.now()));
  assert.ok((await findInDump(adminUrl, ['Labelina'])).length > 0);

  assert.ok((await partners.encryptLabels(db, vault)) >= 2);
  assert.deepEqual(await findInDump(adminUrl, ['Labelina']), []);
  const labels = await db.asSystem(async (tx) => {
    const found = [];
    for (const key of [revoked.apiKey, kept.apiKey, apiKey]) found.push((await partners.findKey(tx, key))?.label ?? '');
    return found;
  });
  assert.deepEqual(
    labels.map((label) => openTyped(vault, label)),
    [...older, 'new'],
  );
  assert.equal(labels[2], newer, 'an encrypted label is encrypted again');
  assert.equal(await partners.encryptLabels(db, vault), 0);
});

test('a market is found without case, by its chain or as the default', async () => {
  const find = (coin: string, fiat: string, chain?: string) =>
    fixture.db.asPartner(one.id, (tx) => partners.findMarket(tx, { direction: 'offramp', coin, fiat, chain }));
  assert.equal((await find('USDC', 'INR')).crypto.code, 'usdc.matic20');
  assert.equal((await find('usdc', 'inr', '')).crypto.code, 'usdc.matic20');
  assert.equal((await find('UsdC', 'iNr', 'USDC')).crypto.code, 'usdc.matic20');
  assert.equal((await find('usdc', 'inr', 'ERC20')).crypto.code, 'usdc.erc20');
  await assert.rejects(find('usdc', 'inr', 'spl'), refusal('unsupported_chain'));
  await assert.rejects(find('doge', 'inr'), refusal('unsupported_pair'));
  await assert.rejects(
    find('usdc', '\u0131nr'),
    refusal('unsupported_pair'),
    'a look-alike currency code was accepted',
  );
  await assert.rejects(find('usdc', '', 'erc20'), refusal('unsupported_pair'));
  const onramp = fixture.db.asPartner(one.id, (tx) =>
    partners.findMarket(tx, { direction: 'onramp', coin: 'usdc', fiat: 'inr' }),
  );
  await assert.rejects(onramp, refusal('unsupported_pair'));
});

test('setting the same again changes nothing, and a market that is switched off is gone', async () => {
  const { db } = fixture;
  const made = await db.asSystem((tx) => partners.markets(tx));
  await db.asSystem(async (tx) => {
    await partners.upsertAsset(tx, { ...usdc, code: 'usdc.erc20', chain: 'erc20', contract: '0x1' });
    await partners.upsertMarket(tx, { ...terms, crypto: 'usdc.erc20' });
  });
  assert.deepEqual(await db.asSystem((tx) => partners.markets(tx)), made);
  await db.asSystem((tx) => partners.upsertMarket(tx, { ...terms, crypto: 'usdc.erc20', enabled: false }));
  const enabled = await db.asSystem((tx) => partners.markets(tx));
  assert.deepEqual(
    enabled.map(({ crypto }) => crypto.code),
    ['usdc.matic20'],
  );
  const [off] = made.filter(({ crypto }) => crypto.code === 'usdc.erc20');
  assert.equal(
    (await db.asSystem((tx) => partners.marketById(tx, off?.id ?? 0n))).enabled,
    false,
    'an order keeps its market',
  );
  await db.asSystem((tx) => partners.upsertMarket(tx, { ...terms, crypto: 'usdc.erc20' }));
});

test('the meaning of an asset’s units never changes', async () => {
  const change = fixture.db.asSystem((tx) =>
    partners.upsertAsset(tx, { ...usdc, code: 'usdc.erc20', chain: 'erc20', contract: '0x1', decimals: 18 }),
  );
  await assert.rejects(change, /keeps its decimals/);
});

test("a partner's own fee overrides the general one, and without a row there is no fee", async () => {
  const { db } = fixture;
  const market = await db.asSystem((tx) =>
    partners.findMarket(tx, { direction: 'offramp', coin: 'usdc', fiat: 'inr' }),
  );
  await db.asSystem(async (tx) => {
    await partners.setFee(tx, { marketId: market.id, partnerId: null, kind: 'operator', bps: 25n, minimumUnits: 100n });
    await partners.setFee(tx, { marketId: market.id, partnerId: one.id, kind: 'operator', bps: 10n });
  });
  const fees = (partner: partners.Partner) =>
    db.asPartner(partner.id, (tx) => partners.feesFor(tx, market, partner.id));
  assert.deepEqual((await fees(one)).operator, { fixedUnits: 0n, bps: 10n, minimumUnits: 0n, gasUnits: 0n });
  assert.deepEqual((await fees(two)).operator, { fixedUnits: 0n, bps: 25n, minimumUnits: 100n, gasUnits: 0n });
  assert.deepEqual((await fees(two)).rail, { fixedUnits: 0n, bps: 0n, minimumUnits: 0n, gasUnits: 0n });
});

test('a cap is set, changed and removed at once; each change is recorded with the value before, the person and the reason', async () => {
  const { db } = fixture;
  const reason = { by: 'treasurer', why: 'a thin market' };
  const capOf = (partner: partners.Partner) =>
    db.asSystem(async (tx) => ({
      listed: (await partners.exposureCaps(tx, partner.id)).get('inr') ?? null,
      locked: await partners.lockExposure(tx, partner.id, 'inr'),
    }));
  for (const maxUnits of [500n, 700n, null]) {
    await db.asSystem((tx) => partners.setExposureCap(tx, { partnerId: one.id, fiat: 'inr', maxUnits }, reason));
    assert.deepEqual(await capOf(one), { listed: maxUnits, locked: maxUnits });
    assert.deepEqual(await capOf(two), { listed: null, locked: null }, 'another partner has the cap');
  }
  const changes = await db.asSystem((tx) => partners.marketChanges(tx, { what: 'exposure', limit: 10 }));
  const unitsIn = (row: string | null) => row && /"max_units": (\d+)/.exec(row)?.[1];
  assert.deepEqual(
    changes.map(({ partnerId, item, before: was, after: is, by, why }) => [
      ...[partnerId, item, unitsIn(was), unitsIn(is)],
      ...[by, why],
    ]),
    [
      [one.id, 'inr', '700', null, reason.by, reason.why],
      [one.id, 'inr', '500', '700', reason.by, reason.why],
      [one.id, 'inr', null, '500', reason.by, reason.why],
    ],
  );
});

test('a change of a market says what its terms were and are', async () => {
  const { db } = fixture;
  const market = { ...terms, crypto: 'usdc.erc20' };
  const id = await db.asSystem((tx) =>
    partners.upsertMarket(tx, { ...market, enabled: false }, { by: 'ada', why: 'no liquidity' }),
  );
  await db.asSystem((tx) => partners.upsertMarket(tx, market));
  const changes = await db.asSystem((tx) => partners.marketChanges(tx, { marketId: id, what: 'market', limit: 2 }));
  const isOn = (row: string | null) => row && /"enabled": (\w+)/.exec(row)?.[1];
  assert.deepEqual(
    changes.map(({ before: was, after: is, by, why }) => [isOn(was), isOn(is), by, why]),
    [
      ['false', 'true', 'the program', 'as configured'],
      ['true', 'false', 'ada', 'no liquidity'],
    ],
  );
});

test('a confirmation policy has a step for every amount and replaces the one before', async () => {
  const { db } = fixture;
  const set = (steps: { fromUnits: bigint; confirmations: number }[]) =>
    db.asSystem((tx) => partners.setConfirmationPolicy(tx, { chain: 'erc20', asset: 'usdc.erc20', steps }));
  await set([
    { fromUnits: 0n, confirmations: 1 },
    { fromUnits: 100n, confirmations: 12 },
  ]);
  await set([{ fromUnits: 0n, confirmations: 2 }]);
  await assert.rejects(set([{ fromUnits: 5n, confirmations: 2 }]), /no step from zero/);
  const rows = await db.asSystem((tx) => tx.rows('select from_units, confirmations from confirmation_policies'));
  assert.deepEqual(rows, [{ fromUnits: 0n, confirmations: 2 }]);
});

test('a memory is bounded and separate for each database, keeps nothing absent, and forgets a read that failed', async () => {
  const of = { cacheKey: {} };
  const memory = remember<number | undefined>({ forMs: 60_000, most: 2 });
  let reads = 0;
  const get = (key: string, value?: number) =>
    memory.get(of, key, async () => {
      reads += 1;
      return value;
    });
  await get('a', 1);
  await get('a', 1);
  assert.equal(reads, 1, 'read once');
  await get('b', 1);
  await get('c', 1);
  await get('a', 1);
  assert.equal(reads, 4, 'the oldest entry was not evicted');
  await get('c', 1);
  assert.equal(reads, 4, 'fewer entries were kept than there is room for');
  await get('none');
  await get('none');
  assert.equal(reads, 6, 'a missing value was cached');
  await assert.rejects(memory.get(of, 'bad', () => Promise.reject(new Error('down'))));
  assert.equal(await get('bad', 7), 7);
  assert.equal(await memory.get({ cacheKey: {} }, 'bad', async () => 8), 8, 'a row of another database was used');
});

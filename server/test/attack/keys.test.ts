/** A flood of unknown keys: its load on the database, and that partners and workers continue meanwhile. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Database } from '../../src/base/db.ts';
import { Unavailable } from '../../src/base/errors.ts';
import { enqueue } from '../../src/base/jobs.ts';
import { startWorkers } from '../../src/base/workers.ts';
import { bearerToken, createKey, createPartner, openPartners } from '../../src/partners/index.ts';
import { openLookups } from '../../src/partners/lookups.ts';
import { besideStory, v1Environment } from '../protocols/v1/environment.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { ask, sign } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';
import { openV1 } from '../support/v1.ts';

const madeUp = (): string => randomBytes(16).toString('hex');

/** The database, with its system transactions counted: in total, and concurrent. */
function counting(db: Database) {
  const seen = { all: 0, now: 0, most: 0 };
  const counted: Database = {
    ...db,
    async asSystem(body) {
      seen.all += 1;
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      try {
        return await db.asSystem(body);
      } finally {
        seen.now -= 1;
      }
    },
  };
  return { db: counted, seen };
}

describe('unknown keys', () => {
  let fixture: Fixture;
  let apiKey: string;
  before(async () => {
    fixture = await freshFixture();
    const { db, vault, clock } = fixture;
    apiKey = await db.asSystem(async (tx) => {
      const { id: partnerId } = await createPartner(tx, { name: 'Real', now: clock.now() });
      return (await createKey(tx, vault, { partnerId, label: '', scopes: ['read'], now: clock.now() })).apiKey;
    });
  });
  after(() => fixture?.stop());

  test('are looked up by one statement at a time, and a real key and due work pass', async () => {
    const { db, seen } = counting(fixture.db);
    const partners = openPartners({ ...fixture, db });
    assert.ok(await partners.credential(apiKey), 'the real key is not found');
    seen.all = 0;
    const done = new Set<string>();
    const handlers = { looked_at: async (subject: string) => void done.add(subject) };
    const workers = await startWorkers({ ...fixture, handlers: handlers as never });
    try {
      const flood = Promise.all(Array.from({ length: 900 }, () => partners.credential(madeUp())));
      await fixture.db.asSystem((tx) => {
        for (let at = 0; at < 20; at += 1)
          enqueue(tx, { kind: 'looked_at', subject: String(at), dueAt: fixture.clock.now() });
      });
      assert.ok(await partners.credential(apiKey), 'the real key is not found during the flood');
      assert.deepEqual(new Set(await flood), new Set([undefined]));
      await until('the work is done', () => done.size === 20);
    } finally {
      await workers.stop();
    }
    assert.equal(seen.most, 1, 'look-ups took several connections at once');
    assert.ok(seen.all <= 5, `900 keys took ${seen.all} statements`);
  });

  test('are asked for once while they are remembered, and wait in a bounded number', async () => {
    let asked: string[] = [];
    let release = () => {};
    const gate = new Promise<void>((opened) => {
      release = opened;
    });
    const real = new Map([['real', 1]]);
    const lookups = openLookups<number>(async (keys) => {
      asked.push(...keys);
      if (!keys.includes('real')) await gate;
      return new Map([...real].filter(([key]) => keys.includes(key)));
    });
    assert.equal(await lookups.find('real'), 1);
    asked = [];
    const waiting = Array.from({ length: 1_200 }, (_, at) => lookups.find(`one ${at % 600}`));
    const more = Array.from({ length: 900 }, async (_, at) => await lookups.find(`two ${at}`));
    const settled = Promise.allSettled(more);
    let refused = 0;
    for (const one of more.slice(-100))
      void one.catch((error) => {
        if (error instanceof Unavailable) refused += 1;
      });
    await until('those above a thousand are refused', () => refused === 100);
    const first = lookups.find('real');
    release();
    assert.equal(await first, 1);
    const reached = asked.indexOf('real');
    assert.ok(reached <= 200, `a key that was found before came as number ${reached}`);
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([undefined]));
    await settled;
    const before = asked.length;
    assert.equal(await lookups.find('one 1'), undefined);
    assert.equal(asked.length, before, 'a key just found unknown was looked up again');
    let isAsked = false;
    const mayLookUp = () => {
      isAsked = true;
      throw new Error('no');
    };
    await assert.rejects(async () => await lookups.find('three', mayLookUp), /no/);
    assert.ok(isAsked && !asked.includes('three'), 'a refused key was looked up');
    isAsked = false;
    assert.equal(await lookups.find('real', mayLookUp), 1);
    assert.ok(!isAsked, 'a key that was found before needs an allowance');
  });
});

describe('over HTTP, in production', () => {
  let world: Environment;
  let acme: TestPartner;
  before(async () => {
    world = await wireEnvironment({ production: true });
    acme = await world.partner('Acme');
  });
  after(() => world?.stop());

  const stranger = (headers: Record<string, string> = {}) => {
    const signed = sign({ apiKey: madeUp(), apiSecret: 'x' }, { fromCurrency: 'usdc' });
    return ask(world.baseUrl, 'offramp/quote', {
      method: 'POST',
      headers: { ...signed.headers, ...headers },
      body: signed.text,
    });
  };

  test('a network may present sixty a minute, and its real keys still work', async () => {
    const began = Date.now();
    const statuses = (await Promise.all(Array.from({ length: 200 }, () => stranger()))).map(({ status }) => status);
    const told = statuses.filter((status) => status === 401).length;
    const most = 61 + Math.ceil((Date.now() - began) / 1_000);
    // The partner's own key was looked up too, possibly within this second.
    assert.ok(told >= 59 && told <= most, `${told} of 200 unknown keys were looked up`);
    assert.equal(statuses.filter((status) => status === 429).length, 200 - told);
    // One more may be looked up each second, so that a slow machine may have to ask again.
    let refused = await stranger({ origin: 'https://somewhere.example' });
    for (let asked = 1; asked < 20 && refused.status === 401; asked++)
      refused = await stranger({ origin: 'https://somewhere.example' });
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) >= 1, 'nothing says when to come back');
    const own = await acme.post('kyc/status', { customerId: acme.customerId });
    assert.equal(own.status, 200, own.text);
  });
});

test('under /v1 a network may present sixty a minute as well, by token or signature, and its real keys still work', async () => {
  const w = await v1Environment();
  const production = await besideStory(w.s, { profile: 'production' });
  const own = () => openV1(production.baseUrl, w.keys).get('/keys');
  try {
    // A key counts as unknown until it was found once.
    assert.equal((await own()).status, 200);
    const began = Date.now();
    const tokens = Array.from({ length: 100 }, () => {
      const headers = { authorization: `Bearer ${bearerToken(madeUp(), 'x')}` };
      return fetchDeclared(`${production.baseUrl}/v1/keys`, { headers });
    });
    const signatures = Array.from({ length: 100 }, () => {
      const headers = {
        'signature-input': `sig=("@method" "@target-uri");created=${Math.floor(began / 1_000)};keyid="${madeUp()}"`,
        signature: 'sig=:AAAA:',
      };
      return fetchDeclared(`${production.baseUrl}/v1/keys`, { headers });
    });
    const statuses = (await Promise.all([...tokens, ...signatures])).map(({ status }) => status);
    const told = statuses.filter((status) => status === 401).length;
    const most = 61 + Math.ceil((Date.now() - began) / 1_000);
    // The partner's own key was looked up, too.
    assert.ok(told >= 59 && told <= most, `${told} of 200 unknown keys were looked up`);
    assert.equal(statuses.filter((status) => status === 429).length, 200 - told);
    assert.equal((await own()).status, 200);
  } finally {
    await production.close();
    await w.s.close();
  }
});

/**
 * A check that its verifier answers late, twice, wrongly or never: the customer's state, the page and the partner's events follow
 * without a click, also over a restart. A callback of the provider only makes the job ask sooner.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { startWorkers, type Workers } from '../../../src/base/workers.ts';
import { checkHandlers, listCases } from '../../../src/compliance/index.ts';
import type { Finding } from '../../../src/verifiers/verifier.ts';
import { until } from '../../support/until.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import { callbackSignature, DETAILS, openBrowser, type PagesEnvironment, pagesEnvironment } from './environment.ts';

const OVERDUE_MS = 3 * 3_600_000;
const IN_REVIEW: Finding = { outcome: 'in_review', level: 0, pending: { pollAfterMs: 60_000 } };
const VERIFIED: Finding = { outcome: 'verified', level: 2 };

let world: PagesEnvironment;
let acme: TestPartner;
let workers: Workers | undefined;

before(async () => {
  world = await pagesEnvironment();
  acme = await world.partner('Acme');
});
after(() => world?.stop());
beforeEach(async () => {
  world.verifier.finding = IN_REVIEW;
  world.verifier.isAway = false;
  // The job has waited while earlier tests ran.
  await world.query('delete from cloverleaf.jobs');
  await begin();
});
afterEach(async () => await end());

async function begin(): Promise<void> {
  const { db, clock, log, asking } = world;
  const handlers = checkHandlers({ db, vault: world.vault, clock, verifier: asking, overdueMs: OVERDUE_MS });
  workers = await startWorkers({ db, clock, log, handlers, pollMs: 20 });
}
async function end(): Promise<void> {
  await workers?.stop();
  workers = undefined;
}

/** A customer who has submitted details, with a page that shows the check as pending. */
async function waits() {
  const { kycUrl, customerId } = await world.invited(acme);
  const browser = openBrowser();
  await browser.login(kycUrl);
  const shown = await browser.go('details', DETAILS);
  assert.equal(shown.title, 'We are checking your details');
  assert.match(shown.text, /data-news="review" data-waits/, 'the page does not refresh on its own');
  return { customerId, page: async () => (await browser.login(kycUrl)).title, browser, kycUrl };
}
const statusOf = async (customerId: string): Promise<string> =>
  (await acme.post('kyc/status', { customerId })).body.data.status;
const dueIn = async (customerId: string): Promise<number | undefined> => {
  const [job] = await world.query('select due_at, lease from jobs where subject = $1', [customerId]);
  return job === undefined || job.lease !== null ? undefined : job.due_at.getTime() - world.clock.now().getTime();
};
const job = (customerId: string) => world.query('select due_at, enqueued from jobs where subject = $1', [customerId]);
/** The job has asked this many times, and waits again. */
const polled = (customerId: string, times: number) =>
  until(`asked ${times} times`, async () => {
    const [row] = await world.query('select polls from customer_details where customer_id = $1', [customerId]);
    return row?.polls >= times && (await dueIn(customerId)) !== undefined;
  });
/** The first one says that the details were sent, the others what the verifier has answered. */
const events = async (customerId: string): Promise<string[]> =>
  (
    await world.query(
      `select body->>'verification' as said from events where type = 'customer.verification'
      and subject = $1 order by subject_seq`,
      [`customer:${customerId}`],
    )
  ).map(({ said }) => said);
const casesOf = async (customerId: string, open: boolean) =>
  (await world.db.asSystem((tx) => listCases(tx, { open, kind: 'verification_overdue', limit: 100 }))).filter(
    ({ subject }) => subject === `customer:${customerId}`,
  );
const calls = (key: string, over: { code?: string; signature?: string; body?: string } = {}) => {
  const body = over.body ?? JSON.stringify({ key, outcome: 'refused' });
  return fetch(`${world.baseUrl}/verifiers/${over.code ?? 'simulated'}/callback`, {
    method: 'POST',
    body,
    headers: { 'x-signature': over.signature ?? callbackSignature(body), 'content-type': 'application/json' },
  });
};
const hour = 3_600_000;

describe('a verifier that answers', () => {
  test('hours later is asked at growing intervals, and state, page and events follow its answer', async () => {
    const { customerId, page } = await waits();
    world.clock.advance(6_000);
    await polled(customerId, 1);
    const first = (await dueIn(customerId)) ?? 0;
    assert.ok(first > 50_000 && first <= 60_000, `asked again in ${first} ms`);
    world.clock.advance(61_000);
    await polled(customerId, 2);
    const second = (await dueIn(customerId)) ?? 0;
    assert.ok(second > 100_000 && second <= 120_000, `asked again in ${second} ms`);
    assert.equal(await statusOf(customerId), 'IN_REVIEW');
    assert.equal(await page(), 'We are checking your details');

    world.verifier.finding = VERIFIED;
    world.clock.advance(2 * hour);
    await until('verified', async () => (await statusOf(customerId)) === 'INTERMEDIATE_KYC_COMPLETED');
    assert.equal(await page(), 'You are verified');
    assert.deepEqual(await events(customerId), ['in_review', 'in_review', 'verified']);
    await until('the job is done', async () => (await world.query('select 1 from jobs')).length === 0);
    assert.equal(
      world.asked.filter((one) => one.customerId === customerId).length,
      1,
      'the check was begun more than once',
    );
  });

  test('while no server runs is read by the next server', async () => {
    const { customerId, page } = await waits();
    world.clock.advance(6_000);
    await polled(customerId, 1);
    await end();
    world.verifier.finding = { outcome: 'failed', level: 0, reason: 'unreadable' };
    world.clock.advance(hour);
    assert.equal(await statusOf(customerId), 'IN_REVIEW');
    await begin();
    await until('failed', async () => (await statusOf(customerId)) === 'TEMPORARY_FAILED');
    assert.equal(await page(), 'Your details');
  });

  test('that the page could not reach has its check begun by the job', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    world.verifier.isAway = true;
    assert.equal((await browser.go('details', DETAILS)).status, 503);
    world.verifier.isAway = false;
    world.verifier.finding = VERIFIED;
    world.clock.advance(6_000);
    await until('verified', async () => (await statusOf(customerId)) === 'INTERMEDIATE_KYC_COMPLETED');
    assert.deepEqual(await events(customerId), ['in_review', 'verified']);
  });

  test('twice has only its first answer recorded', async () => {
    const { customerId } = await waits();
    world.verifier.finding = VERIFIED;
    await calls(`details:${customerId}:1`);
    await until('verified', async () => (await statusOf(customerId)) === 'INTERMEDIATE_KYC_COMPLETED');
    world.verifier.finding = { outcome: 'refused', level: 0 };
    await calls(`details:${customerId}:1`);
    world.clock.advance(hour);
    await until('the job is done', async () => (await world.query('select 1 from jobs')).length === 0);
    assert.deepEqual(await events(customerId), ['in_review', 'in_review', 'verified']);
  });

  test('with another name than the typed one leaves the page in review, and a person is asked', async () => {
    world.verifier.finding = { ...VERIFIED, names: { firstName: 'Meera', lastName: 'Iyer' } };
    const { customerId, page } = await waits();
    world.clock.advance(6_000);
    await polled(customerId, 1);
    const asked = await world.db.asSystem((tx) =>
      listCases(tx, { open: true, kind: 'verification_review', limit: 100 }),
    );
    assert.ok(asked.some(({ subject }) => subject === `customer:${customerId}`));
    assert.equal(await page(), 'We are checking your details');
    assert.deepEqual(await events(customerId), ['in_review', 'in_review']);
    assert.deepEqual(await casesOf(customerId, true), []);
  });

  test('about details that were replaced since changes nothing', async () => {
    const { customerId, browser } = await waits();
    world.verifier.finding = { outcome: 'failed', level: 0 };
    await calls(`details:${customerId}:1`);
    await until('failed', async () => (await statusOf(customerId)) === 'TEMPORARY_FAILED');
    world.verifier.finding = IN_REVIEW;
    assert.equal((await browser.go('details', { ...DETAILS, city: 'Dover' })).title, 'We are checking your details');
    await end();
    const before = await job(customerId);
    assert.equal((await calls(`details:${customerId}:1`)).status, 204);
    assert.deepEqual(await job(customerId), before, 'the callback for old details woke the job');
    assert.equal(await statusOf(customerId), 'IN_REVIEW');
  });

  test('with a malformed finding is asked again, and the answer verifies no customer', async () => {
    const { customerId } = await waits();
    for (const level of [6, 0, 1.5, Number.NaN]) {
      world.verifier.finding = { outcome: 'verified', level };
      world.clock.advance(hour);
      await until('it was asked, and the answer refused', async () => {
        const [job] = await world.query('select attempts, last_error from jobs where subject = $1', [customerId]);
        return job?.attempts > 0 && /no finding/.test(job.last_error);
      });
      assert.equal(await statusOf(customerId), 'IN_REVIEW', `level ${level}`);
    }
    world.verifier.finding = VERIFIED;
    world.clock.advance(hour);
    await until('verified', async () => (await statusOf(customerId)) === 'INTERMEDIATE_KYC_COMPLETED');
  });

  for (const never of ['has no result', 'is away'])
    test(`never, because it ${never}, causes a case after VERIFICATION_OVERDUE_S, which the result closes`, async () => {
      const { customerId } = await waits();
      world.clock.advance(OVERDUE_MS - 10 * 60_000);
      await polled(customerId, 1);
      assert.deepEqual(await casesOf(customerId, true), []);
      if (never === 'is away') world.verifier.isAway = true;
      world.clock.advance(11 * 60_000);
      await until('a case', async () => (await casesOf(customerId, true)).length === 1);
      const [found] = await casesOf(customerId, true);
      assert.match(found?.reason ?? '', /^no result of the verifier simulated since 20/);
      assert.equal(await statusOf(customerId), 'IN_REVIEW');
      world.clock.advance(hour);
      await until('it was asked once more', async () => ((await dueIn(customerId)) ?? 0) > 0);
      assert.equal((await casesOf(customerId, true)).length, 1, 'there is not exactly one case');
      world.verifier.isAway = false;
      world.verifier.finding = VERIFIED;
      world.clock.advance(2 * hour);
      await until('closed', async () => (await casesOf(customerId, false)).length === 1);
      assert.equal((await casesOf(customerId, true)).length, 0);
      assert.equal(await statusOf(customerId), 'INTERMEDIATE_KYC_COMPLETED');
    });
});

test('a slow verifier is asked about four customers at once, and about the others afterwards', async () => {
  await end();
  const customers = [];
  for (let i = 0; i < 6; i += 1) customers.push(await waits());
  let asked = 0;
  let most = 0;
  let answers = () => {};
  const answered = new Promise<void>((now) => (answers = now));
  const { db, clock, log } = world;
  const verifier = {
    ...world.asking,
    async finding() {
      asked += 1;
      most = Math.max(most, asked);
      await answered;
      asked -= 1;
      return VERIFIED;
    },
  };
  world.clock.advance(6_000);
  workers = await startWorkers({
    ...{ db, clock, log, pollMs: 20 },
    handlers: checkHandlers({ db, vault: world.vault, clock, verifier, overdueMs: OVERDUE_MS }),
  });
  await until('four are asked about, and two wait', async () => {
    const [{ waiting }] = await world.query('select count(*)::int as waiting from jobs where lease is null');
    return asked === 4 && waiting === 2;
  });
  answers();
  for (const { customerId } of customers)
    await until('verified', async () => (await statusOf(customerId)) === 'INTERMEDIATE_KYC_COMPLETED');
  assert.equal(most, 4);
});

describe('a call of the provider', () => {
  test('makes the job ask at once, and its content is not trusted', async () => {
    const { customerId } = await waits();
    world.clock.advance(6_000);
    await polled(customerId, 1);
    world.verifier.finding = VERIFIED;
    // The callback says "refused", but only the verifier's own answer counts.
    assert.equal((await calls(`details:${customerId}:1`)).status, 204);
    await until('verified', async () => (await statusOf(customerId)) === 'INTERMEDIATE_KYC_COMPLETED');
  });

  test('that is repeated, before there is a result or long after, changes nothing', async () => {
    const { customerId } = await waits();
    for (const _ of [1, 2, 3]) assert.equal((await calls(`details:${customerId}:1`)).status, 204);
    await polled(customerId, 1);
    assert.deepEqual(await events(customerId), ['in_review', 'in_review']);
    world.verifier.finding = VERIFIED;
    await calls(`details:${customerId}:1`);
    await until('verified', async () => (await statusOf(customerId)) === 'INTERMEDIATE_KYC_COMPLETED');
    assert.equal((await calls(`details:${customerId}:1`)).status, 204);
    await until('the job is done', async () => (await world.query('select 1 from jobs')).length === 0);
    assert.deepEqual(await events(customerId), ['in_review', 'in_review', 'verified']);
  });

  test('with a wrong signature, an overlong body or another verifier is refused, and wakes no job', async () => {
    const { customerId } = await waits();
    const key = `details:${customerId}:1`;
    await end();
    const before = await job(customerId);
    assert.equal((await calls(key, { signature: 'f'.repeat(64) })).status, 401);
    assert.equal((await calls(key, { signature: callbackSignature('another body') })).status, 401);
    assert.equal((await calls(key, { body: 'signed, and no JSON' })).status, 401);
    assert.equal((await calls(key, { code: 'manual' })).status, 404);
    assert.equal((await calls(key, { body: 'x'.repeat(64 * 1024 + 1) })).status, 413);
    assert.deepEqual(await job(customerId), before, 'the job was woken');
  });

  test('about a check that does not exist is answered like any other', async () => {
    for (const key of ['details:0000000000_1:1', 'details:x', '', "details:'; drop table jobs; --_1:1"])
      assert.equal((await calls(key)).status, 204, key);
    assert.deepEqual(await world.query('select 1 from jobs'), []);
  });
});

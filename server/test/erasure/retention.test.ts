/**
 * Erasures that are asked for while the law keeps the data: they wait for the end of the retention time, a legal hold stops them, and
 * lifting it lets them go on. The clock is stepped; a restart is another process on the same database.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openFolder } from '../../src/base/blobs.ts';
import { openErasureList } from '../../src/base/erasurelist.ts';
import { requestsErasing } from '../../src/composition/erasing.ts';
import { ERASE_REQUESTED, type Erasing, erasureHandlers, replayErasures } from '../../src/erasure/index.ts';
import { operatorNamed, type Person, twoDo } from '../protocols/operator/people.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../protocols/whitelabel/environment.ts';
import { operatorApi, silentBank } from '../support/operatorapi.ts';

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;

let world: Environment;
let ada: Person;
let bea: Person;
let erasing: Erasing;

before(async () => {
  world = await wireEnvironment({
    beside: (fixture) => {
      const { db, vault, blobFolder } = fixture;
      const blobs = openFolder(blobFolder);
      const list = openErasureList(blobFolder);
      erasing = { ...{ db, vault, blobs, list, backupsKeptDays: 90 }, eraseRequests: requestsErasing({ db, vault }) };
      return operatorApi(fixture, { blobs, erasing, eraseAfterDays: KEPT_DAYS, rails: silentBank });
    },
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
});
after(async () => await world?.stop());

/** A process: its own state, on the same rows. It completes at its start what another has begun. */
async function starts(): Promise<() => Promise<void>> {
  await replayErasures(erasing, world.clock.now());
  const handlers = erasureHandlers({ erasing, clock: world.clock, afterDays: KEPT_DAYS });
  return async () => void (await handlers[ERASE_REQUESTED]?.('all'));
}

/** A customer of a partner, whose order ended now. */
async function traded(name: string): Promise<string> {
  const shop: TestPartner = await world.partner(name);
  const { customerId, fiatAccountId } = shop;
  const pair = { fromCurrency: 'usdc', toCurrency: 'inr', chain: 'matic20', fromAmount: '100' };
  const made = await shop.post('offramp/createTransaction', { ...pair, customerId, fiatAccountId });
  assert.equal(made.status, 200, made.text);
  await world.query(`update orders set state = 'cancelled', updated_at = $2 where customer_id = $1`, [
    ...[customerId, world.clock.now()],
  ]);
  return customerId;
}
const stateOf = async (id: string): Promise<{ erased: boolean; waitsFor: string | undefined }> => {
  const { body } = await ada.reads(`/customers/${id}/erasure`);
  return { erased: body.statement?.erasedAt != null, waitsFor: body.request?.waitsFor ?? undefined };
};
const asks = (id: string) => twoDo(ada, bea, `/customers/${id}/request-erasure`);

test('an erasure that is asked for within the retention time happens at its end, and not before', async () => {
  const id = await traded('Waiting');
  assert.equal((await ada.does(`/customers/${id}/erase`)).body.reason, 'erasure_refused');
  const { after: asked } = await asks(id);
  assert.ok(asked.askedAt);
  const runs = await starts();
  await runs();
  const { erased, waitsFor } = await stateOf(id);
  assert.equal(erased, false);
  assert.match(waitsFor ?? '', /its last order or refund has to be kept until/);
  world.clock.advance(KEPT_DAYS * DAY_MS - 60_000);
  await runs();
  assert.equal((await stateOf(id)).erased, false, 'a minute too early');
  world.clock.advance(60_000);
  await runs();
  assert.deepEqual(await stateOf(id), { erased: true, waitsFor: undefined });
  const { audit } = (await ada.reads(`/audit?subject=customer:${id}`)).body;
  assert.equal(
    audit.filter(
      ({ operator, action }: Record<string, string>) => operator === 'the machine' && action === 'customer.erase',
    ).length,
    1,
  );
  const twice = await ada.does(`/customers/${id}/request-erasure`);
  assert.deepEqual([twice.status, twice.body.proposal === undefined], [202, false]);
  const refused = await bea.does(`/proposals/${twice.body.proposal}/confirm`);
  assert.match(refused.body.error, /already erased/);
});

test('a legal hold stops it, lifting the hold lets it go on, and restarts in between lose nothing', async () => {
  const id = await traded('Held');
  await asks(id);
  await (await starts())();
  assert.equal((await ada.does(`/customers/${id}/legal-hold`)).status, 200);
  world.clock.advance(2 * KEPT_DAYS * DAY_MS);
  const second = await starts();
  await second();
  assert.deepEqual(await stateOf(id), { erased: false, waitsFor: 'a legal hold is placed' });
  await twoDo(ada, bea, `/customers/${id}/lift-legal-hold`);
  const third = await starts();
  assert.equal((await stateOf(id)).erased, false, 'a start erases nothing that was not ordered');
  await third();
  assert.equal((await stateOf(id)).erased, true);
  await third();
});

test('a customer whose erasure fails does not keep those after it, and is erased by a later run', async () => {
  const [first, second] = [await traded('Failing'), await traded('After it')];
  for (const id of [first, second]) await asks(id);
  world.clock.advance(2 * KEPT_DAYS * DAY_MS);
  const failing: Erasing = {
    ...erasing,
    eraseRequests: (of) => (of.customerId === first ? Promise.reject(new Error('planted')) : erasing.eraseRequests(of)),
  };
  const handlers = erasureHandlers({ erasing: failing, clock: world.clock, afterDays: KEPT_DAYS });
  await assert.rejects(async () => await handlers[ERASE_REQUESTED]?.('all'), /planted/);
  assert.deepEqual([(await stateOf(first)).erased, (await stateOf(second)).erased], [false, true]);
  await (await starts())();
  assert.equal((await stateOf(first)).erased, true);
});

test('a process that ends between the order and the erasure is continued by the next', async () => {
  const id = await traded('Stopped');
  await asks(id);
  world.clock.advance(2 * KEPT_DAYS * DAY_MS);
  const broken = { ...erasing, list: { ...erasing.list, add: () => Promise.reject(new Error('the disk is full')) } };
  const handlers = erasureHandlers({ erasing: broken, clock: world.clock, afterDays: KEPT_DAYS });
  await assert.rejects(async () => await handlers[ERASE_REQUESTED]?.('all'), /the disk is full/);
  assert.equal((await stateOf(id)).erased, false);
  const withdrawn = await ada.does(`/customers/${id}/withdraw-erasure`);
  assert.match(withdrawn.body.error ?? '', /is ordered already/);
  const runs = await starts();
  assert.equal((await stateOf(id)).erased, true, 'the start has not completed it');
  await runs();
  assert.deepEqual((await ada.reads(`/customers/${id}/erasure`)).body.request, null);
});

test('an erasure that waits can be withdrawn', async () => {
  const id = await traded('Withdrawn');
  await asks(id);
  assert.equal((await ada.does(`/customers/${id}/withdraw-erasure`)).status, 200);
  assert.equal((await ada.does(`/customers/${id}/withdraw-erasure`)).body.reason, 'erasure_refused');
  world.clock.advance(2 * KEPT_DAYS * DAY_MS);
  await (await starts())();
  assert.deepEqual(await stateOf(id), { erased: false, waitsFor: undefined });
});

test('an erasure by a version that left more is completed by the next start', async () => {
  const id = await traded('Earlier');
  assert.equal((await ada.does(`/customers/${id}/legal-hold`, { reason: 'Zebulon is sued' })).status, 200);
  await twoDo(ada, bea, `/customers/${id}/lift-legal-hold`);
  const texts = () => world.query(`select reason, lifted_why from legal_holds where customer_id = $1`, [id]);
  const [typed] = await texts();
  world.clock.advance(2 * KEPT_DAYS * DAY_MS);
  await twoDo(ada, bea, `/customers/${id}/erase`);
  const [erased] = await texts();
  // As that version left it: it took out less, and counted nothing.
  await world.query('update legal_holds set reason = $2 where customer_id = $1', [id, typed?.reason]);
  await world.query('update erasures set erased = null where customer_id = $1', [id]);
  const before = await stateOf(id);
  await starts();
  assert.deepEqual(await texts(), [erased]);
  assert.deepEqual(await stateOf(id), before);
  const { statement } = (await ada.reads(`/customers/${id}/erasure`)).body;
  assert.deepEqual(
    statement.erased.filter(({ kind }: { kind: string }) => kind === 'legal_holds'),
    [{ kind: 'legal_holds', count: 1 }],
  );
  assert.equal(await replayErasures(erasing, world.clock.now()), 0, 'it was erased once more');
});

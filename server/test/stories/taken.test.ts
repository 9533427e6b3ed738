/** How much of a deposit is taken for an order or a debt, and what journal, deposits and cases then say. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HIGHEST_LEVEL } from '../../src/customers/index.ts';
import { findMarket, setCustomerLimit, setLimit } from '../../src/partners/index.ts';
import { amountsDecide, type Person, twoDo } from '../protocols/operator/people.ts';
import { settledPurchase, strayCredit } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Sale, Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let finn: Person;
before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  await world.read(amountsDecide);
});
after(async () => await world?.close());

interface Deposit {
  id: bigint;
  state: string;
  takenUnits: bigint;
  lostUnits: bigint;
  dust: boolean;
  bookedTo: string;
}
const depositWhere = async (where: string, ...values: unknown[]): Promise<Deposit> => {
  const columns = 'id, state, taken_units, lost_units, dust, booked_to';
  const row = await world.read((tx) => tx.row<Deposit>(`select ${columns} from deposits where ${where}`, values));
  assert(row, where);
  return row;
};
const casesAbout = (deposit: bigint) =>
  world.read((tx) =>
    tx.rows<{ kind: string; outcome: string | null; facts: Record<string, string> }>(
      'select kind, outcome, facts from cases where subject = $1 order by id',
      [`deposit:${deposit}`],
    ),
  );

describe('of more than was asked for, within the band, an order takes', () => {
  const across = async (period: 'day', maxUnits: bigint | null) =>
    await world.read((tx) =>
      setCustomerLimit(
        tx,
        {
          fiatAsset: 'inr',
          direction: null,
          marketId: null,
          level: HIGHEST_LEVEL,
          period,
          maxUnits,
          now: world.clock.now(),
        },
        { by: 'ada', why: 'a test' },
      ),
    );
  const perOrder = async (maxUnits: bigint | null) =>
    await world.read(async (tx) => {
      const market = await findMarket(tx, { direction: 'offramp', coin: 'usdc', fiat: 'inr', chain: 'matic20' });
      await setLimit(tx, { marketId: market.id, level: HIGHEST_LEVEL, maxUnits });
    });
  /** A sale of 100 at 86 that is paid with 100.5. */
  async function takenOf(): Promise<bigint> {
    await world.goesBy('offramp', 'usdc', { overpaid: { acceptBps: 100, beyond: 'hold_excess' } });
    const order: Sale = await world.sells('100', 'usdc');
    await world.pays(order, '100.5');
    await world.mines(2);
    await world.reaches(order, 6);
    return (await world.traceOf(order)).order.depositUnits;
  }

  test('all, where its customer’s limits leave room for it', async () => {
    await perOrder(200_000_000n);
    await across('day', 10_000_000n);
    assert.equal(await takenOf(), 100_500_000n);
  });

  test('only what was asked for, where the limit across orders leaves no more', async () => {
    await perOrder(200_000_000n);
    await across('day', 860_000n);
    assert.equal(await takenOf(), 100_000_000n);
  });

  test('only what was asked for, where the limit for one order is the lower one', async () => {
    await perOrder(100_000_000n);
    await across('day', 10_000_000n);
    assert.equal(await takenOf(), 100_000_000n);
    await perOrder(null);
    await across('day', null);
  });
});

test('a credit that pays a debt in two parts is taken by as much each time, and the cases say what is left', async () => {
  const { order, line } = await settledPurchase(world);
  await world.bank.recall(line);
  await world.looksAtTheBank();
  await world.opensCase(order, 'customer_owes');
  const lost = await depositWhere('external_id = $1', line);
  const stray = await strayCredit(world, order, '6000');
  const path = `/deposits/${stray}/assign`;
  await twoDo(finn, ada, path, { order: String(order.id), amount: '2000' });
  const first = await depositWhere('id = $1', stray);
  assert.deepEqual([first.state, first.takenUnits, first.dust], ['applied', 200_000n, false]);
  assert.match(first.bookedTo, new RegExp(`order:${order.id}`));
  assert.equal((await depositWhere('id = $1', lost.id)).lostUnits, 300_000n);
  const unknown = (await casesAbout(stray)).find(({ kind }) => kind === 'deposit_unknown_target');
  assert.match(unknown?.outcome ?? '', new RegExp(`^assigned to order ${order.id} by `));
  const owing = (await casesAbout(lost.id)).find(({ kind }) => kind === 'customer_owes');
  assert.deepEqual([owing?.outcome, owing?.facts.units], [null, '300000']);

  // It belongs to the order by now, so one person decides.
  assert.equal((await finn.does(path, { order: String(order.id), amount: '3000' })).status, 200);
  assert.equal((await depositWhere('id = $1', stray)).takenUnits, 500_000n);
  const paid = (await casesAbout(lost.id)).find(({ kind }) => kind === 'customer_owes');
  assert.match(paid?.outcome ?? '', new RegExp(`^replaced by deposit ${stray}, by `));
  assert.equal(await world.owed(order, 'inr'), 0n);
});

test('the journal names an unexpected credit by its rail and transaction, with its reference', async () => {
  const rail = world.server.rails.get('evm.matic20') as { walletAddresses?: Record<string, string> } | undefined;
  const order = await world.sells('10', 'usdc');
  const { hash } = await world.pays({ ...order, depositAddress: rail?.walletAddresses?.hot ?? '' }, '4');
  await world.mines(13);
  const entries = () =>
    world.read((tx) =>
      tx.rows<{ id: string; facts: Record<string, string>; externalId: string }>(
        `select e.id, e.facts, d.external_id from entries e join deposits d on e.id = 'credit_' || d.rail || '_' || d.external_id
          where e.kind = 'unexpected_credit' and d.reference = $1`,
        [hash],
      ),
    );
  const [entry] = await world.until('it is booked', async () => {
    const found = await entries();
    return found.length > 0 && found;
  });
  assert.equal(entry?.id, `credit_evm.matic20_${entry?.externalId}`);
  assert.deepEqual(entry?.facts, { reference: hash });
});

/**
 * Fees owed to a partner are paid by a transfer at the bank: its debit is explained by two people as that settlement, in its exact
 * amount. The statement of the partner, the revenue and the reconciliation agree with the books before and after.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { balance, chart, move, PARTNER_SETTLEMENT, post } from '../../src/ledger/index.ts';
import { verifyLedger } from '../../src/reconcile/index.ts';
import { amountsDecide, confirmedBy, type Person, twoDo } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Sale, Story } from '../support/story.ts';
import { readCsv } from '../support/terminal.ts';

const DAY_MS = 86_400_000;

let world: Story;
let ada: Person;
let finn: Person;
let partner = '';
/** What the partner earned, in units of inr. */
let earned = 0n;

async function sold(amount: string): Promise<Sale> {
  const sale = await world.sells(amount, 'usdc');
  await world.pays(sale, amount);
  await world.mines(2);
  await world.until('it is settled', async () => (await world.stateOf(sale)) === 'settled');
  return sale;
}
const owed = async (): Promise<bigint> =>
  (await world.read((tx) => balance(tx, chart.feePartner(BigInt(partner), 'inr')))).units;
const inr = (units: bigint): string => formatUnits(units, 2);

before(async () => {
  ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
  await world.read(amountsDecide);
  const sale = await sold('50');
  await sold('70');
  partner = String((await world.traceOf(sale)).order.partnerId);
  earned = await owed();
  assert.ok(earned > 100n, 'the market has no fee of the partner');
});
after(async () => await world?.close());

/** The bank shows a debit without a reference of ours. @returns its case */
async function debits(line: string, units: bigint): Promise<bigint> {
  await world.bankShows({ id: line, direction: 'debit', units, reference: 'FEES JANUARY' });
  return await world.until('its case is open', async () => {
    const found = await world.read((tx) =>
      tx.row<{ id: bigint }>(`select id from cases where kind = 'unexplained_debit' and subject = $1`, [
        `bank.simulated:${line}`,
      ]),
    );
    return found?.id;
  });
}
const settles = (units: bigint, of = partner) => ({
  ...{ as: 'partner_fees', evidence: 'FEES JANUARY', amount: inr(units), partner: of },
});
const span = () =>
  `from=${new Date(world.clock.now().getTime() - DAY_MS).toISOString()}&until=${new Date(world.clock.now().getTime() + DAY_MS).toISOString()}`;
const statement = async (): Promise<Came> => {
  const { status, body } = await ada.reads(`/reports/partner?partner=${partner}&${span()}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

test('the statement of a partner shows orders, volume and fees, and ends with what the books say it is owed', async () => {
  const shown = await statement();
  assert.deepEqual(shown.orders, { created: '2', settled: '2', refunded: '0' });
  const lines: Came[] = shown.lines;
  const volume = lines.find(({ what, asset }) => what === 'paid_in' && asset === 'usdc.matic20');
  assert.deepEqual([volume?.units, volume?.count, volume?.owedUnits], ['120', '2', null]);
  const fees = lines.filter(({ asset, what }) => asset === 'inr' && what !== 'paid_in' && what !== 'paid_out');
  assert.deepEqual(
    fees.map(({ what, units, owedUnits }) => [what, units, owedUnits]),
    [
      ['opening', '0', '0'],
      ['fees_earned', inr(earned), inr(earned)],
      ['closing', inr(earned), inr(earned)],
    ],
  );
  assert.deepEqual(shown.totals, [
    {
      ...{ asset: 'inr', openingUnits: '0', earnedUnits: inr(earned), returnedUnits: '0', settledUnits: '0' },
      closingUnits: inr(earned),
    },
  ]);
  const csv = await fetch(
    `${world.server.baseUrl}/operator/v1/reports/partner?partner=${partner}&${span()}&format=csv`,
    { headers: { authorization: `Bearer ${ada.token}` } },
  );
  assert.deepEqual(
    readCsv(await csv.text()).map((row) => [row.what, row.asset, row.units]),
    lines.map(({ what, asset, units }) => [what, asset, units]),
  );
  const since = (days: number) =>
    `/reports/partner?partner=${partner}&from=${new Date(world.clock.now().getTime() - days * DAY_MS).toISOString()}&until=${new Date(world.clock.now().getTime() + DAY_MS).toISOString()}`;
  const year = (await ada.reads(since(400))).body;
  assert.deepEqual(year.totals, shown.totals);
  assert.deepEqual(
    year.lines.filter(({ what }: Came) => what === 'fees_earned').map(({ day, count }: Came) => [day, count]),
    [[fees[1]?.day.slice(0, 7), fees[1]?.count]],
    'a long span has other fees, or a line per day',
  );
  const long = await ada.reads(since(3_653));
  assert.deepEqual([long.status, Object.keys(long.body.fields ?? {})], [400, ['until']]);
  assert.equal((await ada.reads(`/reports/partner?partner=999&${span()}`)).body.reason, 'unknown_partner');
});

test('two people settle fees by the debit that paid them: not more than owed, not another amount, not to another partner', async () => {
  const books = await world.balances();
  const paid = earned - 50n;
  const id = await debits('settled-1', paid);
  const path = `/cases/${id}/correct`;

  const without = await finn.does(path, { as: 'partner_fees', evidence: 'FEES JANUARY', amount: inr(paid) });
  assert.deepEqual([without.status, Object.keys(without.body.fields ?? {})], [400, ['partner']]);
  const both = await finn.does(path, { as: 'fee', evidence: 'FEES JANUARY', amount: inr(paid), partner });
  assert.deepEqual([both.status, Object.keys(both.body.fields ?? {})], [400, ['partner']]);
  for (const [said, reason] of [
    [settles(paid - 1n), 'does_not_fit'],
    [settles(paid + 1n), 'does_not_fit'],
    [{ ...settles(paid), evidence: 'FEES FEBRUARY' }, 'does_not_fit'],
    [settles(paid, '999'), 'unknown_partner'],
  ] as const)
    assert.equal((await finn.does(path, said)).body.reason, reason, JSON.stringify(said));
  const own = await finn.does(path, settles(paid));
  assert.equal(own.status, 202, 'one person settled fees');
  assert.equal((await finn.does(`/proposals/${own.body.proposal}/confirm`)).body.reason, 'own_proposal');
  assert.equal((await confirmedBy(ada, own)).status, 200);

  const changed = await world.changesSince(books);
  assert.deepEqual(
    [changed['loss:inr'], changed['custody:bank.simulated:main:inr'], (await owed()) - earned],
    [undefined, -paid, -paid],
  );
  assert.equal((await finn.does(path, settles(paid))).body.reason, 'unknown_case', 'one debit was booked twice');
  await world.reconciles();

  const shown = await statement();
  assert.deepEqual(
    shown.lines.filter(({ what }: Came) => what === 'fees_settled').map((one: Came) => [one.units, one.owedUnits]),
    [[inr(-paid), '0.5']],
  );
  assert.equal(shown.totals[0].closingUnits, '0.5');
  const { body } = await ada.reads(`/reports/revenue?${span()}`);
  const earnedRows = body.revenue.filter((row: Came) => parseUnits(row.partnerFee.replace('-', ''), 2) !== 0n);
  assert.deepEqual(
    earnedRows.map((row: Came) => [row.partnerId, row.partnerFee]),
    [[partner, inr(earned)]],
    'a settlement counts as refunded revenue',
  );
});

test('a debit of more than is owed settles nothing', async () => {
  const books = await world.balances();
  const id = await debits('settled-2', 51n);
  const over = await finn.does(`/cases/${id}/correct`, settles(51n));
  assert.deepEqual([over.status, over.body.reason], [409, 'does_not_fit']);
  assert.match(over.body.error, /are less/);
  assert.equal(await owed(), 50n);
  await twoDo(finn, ada, `/cases/${id}/correct`, { as: 'fee', evidence: 'FEES JANUARY', amount: '0.51' });
  assert.equal((await world.changesSince(books))['loss:inr'], undefined);
});

test('of two proposals for what is left, the second is refused when the first has taken it', async () => {
  const [first, second] = [await debits('settled-3', 40n), await debits('settled-4', 40n)];
  const proposed = [
    await finn.does(`/cases/${first}/correct`, settles(40n)),
    await finn.does(`/cases/${second}/correct`, settles(40n)),
  ] as const;
  assert.equal((await confirmedBy(ada, proposed[0])).status, 200);
  assert.equal((await confirmedBy(ada, proposed[1])).body.reason, 'does_not_fit');
  assert.equal(await owed(), 10n);
  await world.reconciles();
  await twoDo(finn, ada, `/cases/${second}/correct`, { as: 'fee', evidence: 'FEES JANUARY', amount: '0.40' });
});

test('verify-ledger finds a settlement of another amount than the debit that it names', async () => {
  const clean = await world.read((tx) => verifyLedger(tx));
  assert.deepEqual(clean.problems, []);
  let planted: string[] = [];
  const undone = new Error('the entry is not kept');
  const planting = world.read(async (tx) => {
    const posted = await post(tx, {
      ...{ id: 'out_bank.simulated_settled-2:partner_fees', kind: PARTNER_SETTLEMENT, at: world.clock.now() },
      lines: move(chart.feePartner(BigInt(partner), 'inr'), chart.rounding('inr'), 9n),
    });
    assert.equal(posted.outcome, 'posted');
    planted = (await verifyLedger(tx)).problems.map(({ rule, subject }) => `${rule} ${subject}`);
    throw undone;
  });
  await assert.rejects(planting, undone);
  assert.deepEqual(planted, ['settlement out_bank.simulated_settled-2:partner_fees']);
});

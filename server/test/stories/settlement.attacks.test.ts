/**
 * Attacks on the settlement of partners' fees, and what becomes of settled fees later: an order is undone or a fee paid back after
 * the partner was paid, the debit was a payout after all, the proposal is older than what it is about.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import fastify from 'fastify';
import { openLog } from '../../src/base/log.ts';
import { formatUnits } from '../../src/base/money.ts';
import { balance, chart, type Entry, move, PARTNER_SETTLEMENT, post } from '../../src/ledger/index.ts';
import { verifyLedger } from '../../src/reconcile/index.ts';
import { amountsDecide, confirmedBy, type Person, type Said, twoDo, withToken } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { injectDeclared } from '../support/declared.fetch.ts';
import { operatorApi } from '../support/operatorapi.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Sale, Story } from '../support/story.ts';

const DAY_MS = 86_400_000;
const REFERENCE = 'FEES JANUARY';

let world: Story;
let ada: Person;
let finn: Person;
let sam: Person;
let partner = '';
let lines = 0;

before(async () => {
  ({ world, ada, finn, sam } = await openStaffedStory({ ada: 'admin', finn: 'finance', sam: 'support' }));
  await world.read(amountsDecide);
  partner = String((await world.traceOf(await sold('20'))).order.partnerId);
});
after(async () => await world?.close());

async function sold(amount: string, ending = '0000'): Promise<Sale> {
  const sale = await world.sells(amount, 'usdc', { customer: await world.verifiedCustomer({ ending }) });
  await world.pays(sale, amount);
  await world.mines(2);
  const ends = ending === '9001' ? 'payout_held' : 'settled';
  await world.until(`it is ${ends}`, async () => (await world.stateOf(sale)) === ends);
  return sale;
}
const fees = (asset = 'inr') => chart.feePartner(BigInt(partner), asset);
const owed = async (): Promise<bigint> => (await world.read((tx) => balance(tx, fees()))).units;
const inr = (units: bigint): string => formatUnits(units, 2);

/** The partner has earned this much more than with the orders here: as many orders would take minutes. */
async function earns(units: bigint, id: string): Promise<void> {
  const posted = await world.read((tx) =>
    post(tx, { id, kind: 'earned_before', at: world.clock.now(), lines: move(chart.treasury('inr'), fees(), units) }),
  );
  assert.equal(posted.outcome, 'posted');
}

/** The bank shows a debit that no payout explains. @returns its case, and its line */
async function debits(units: bigint, more: { currency?: string; key?: string } = {}): Promise<Debit> {
  lines += 1;
  const line = `fees-${lines}`;
  await world.bankShows({ id: line, direction: 'debit', units, reference: REFERENCE, ...more });
  return await world.until('its case is open', async () => {
    const found = await world.read((tx) =>
      tx.row<{ id: bigint }>(`select id from cases where kind = 'unexplained_debit' and subject = $1`, [
        `bank.simulated:${line}`,
      ]),
    );
    return found && { id: found.id, line };
  });
}
interface Debit {
  id: bigint;
  line: string;
}
const settles = (units: bigint, more: Record<string, unknown> = {}) => ({
  ...{ as: 'partner_fees', evidence: REFERENCE, amount: inr(units), partner, ...more },
});
const proposes = ({ id }: Debit, units: bigint): Promise<Said> => finn.does(`/cases/${id}/correct`, settles(units));
const settle = async (units: bigint): Promise<Debit> => {
  const debit = await debits(units);
  await twoDo(finn, ada, `/cases/${debit.id}/correct`, settles(units));
  return debit;
};
/** Explains a debit as a charge of the bank. */
const isCharge = ({ id }: Debit, units: bigint) =>
  twoDo(finn, ada, `/cases/${id}/correct`, { as: 'fee', evidence: REFERENCE, amount: inr(units) });
const stateOf = async (said: Said): Promise<string> => (await ada.reads(`/proposals/${said.body.proposal}`)).body.state;

async function totals(): Promise<Came> {
  const at = (ms: number) => new Date(world.clock.now().getTime() + ms).toISOString();
  const { body } = await ada.reads(`/reports/partner?partner=${partner}&from=${at(-DAY_MS)}&until=${at(DAY_MS)}`);
  return body.totals.find(({ asset }: Came) => asset === 'inr');
}
async function isSound(): Promise<void> {
  assert.deepEqual((await world.read((tx) => verifyLedger(tx))).problems, []);
  await world.reconciles();
  assert.equal((await totals()).closingUnits, inr(await owed()), 'the statement ends with another amount');
}

describe('after a partner was paid all that it was owed', () => {
  let held: Sale;
  before(async () => {
    held = await sold('60', '9001');
    await settle(await owed());
    assert.equal(await owed(), 0n);
  });

  test('an order whose payout was rejected is refunded whole, and the partner owes its fee of that order', async () => {
    const address = world.newAddress();
    await world.rejects(held, { failure: 'other', address });
    await world.refundArrives(held, -2);
    assert.equal(await world.tokensOf(address, 'usdc'), '60');
    assert.equal(await owed(), -held.fees.partner);
    const { returnedUnits, closingUnits } = await totals();
    assert.deepEqual([returnedUnits, closingUnits], [inr(held.fees.partner), inr(-held.fees.partner)]);
    await isSound();
  });

  test('nothing is settled before its next fees have covered that', async () => {
    const debit = await debits(1n);
    const said = await proposes(debit, 1n);
    assert.deepEqual([said.status, said.body.reason], [409, 'does_not_fit']);
    await earns(held.fees.partner + 1n, 'earned-1');
    await twoDo(finn, ada, `/cases/${debit.id}/correct`, settles(1n));
    assert.equal(await owed(), 0n);
    await isSound();
  });

  test('an account of fees that a server of the version before creates may become negative, too', async () => {
    const code = 'fee_partner:99:inr';
    const [made] = await world.read((tx) =>
      tx.rows<{ side: string }>(
        "insert into accounts (code, kind, asset, side, partner_id) values ($1, 'fee_partner', 'inr', 'credit', null) returning side",
        [code],
      ),
    );
    assert.equal(made?.side, 'either');
  });

  test('its part of a fee is paid back to a customer, and the partner owes it', async () => {
    const sale = await sold('20');
    await settle(await owed());
    const said = await finn.does(`/orders/${sale.id}/compensate`, { fee: 'partner', amount: '0.10', asset: 'inr' });
    assert.equal((await confirmedBy(ada, said)).status, 200);
    assert.equal(await owed(), -10n);
    await world.until('it is paid back', async () =>
      (await world.traceOf(sale)).refunds.every(({ state }) => state === 'settled'),
    );
    await isSound();
    await earns(10n, 'earned-2');
  });
});

describe('a settlement by a debit that was a payout after all', () => {
  let held: Sale;
  let debit: Debit;
  let units = 0n;
  before(async () => {
    held = await sold('10', '9001');
    units = (await world.traceOf(held)).order.payoutUnits;
    await earns(units, 'earned-3');
  });

  test('is undone by settling the payout: the partner is owed its fees again, and the books are sound', async () => {
    const [books, before] = [await world.balances(), await owed()];
    debit = await settle(units);
    assert.equal(await owed(), before - units);
    await twoDo(finn, ada, `/payouts/pay_${held.id}_1/settle-by`, { line: debit.line });
    await world.until('its order is settled', async () => (await world.stateOf(held)) === 'settled');
    assert.equal(await owed(), before);
    const changed = await world.changesSince(books);
    assert.deepEqual([changed['loss:inr'], changed['custody:bank.simulated:main:inr']], [undefined, -units]);
    const posted = await world.read((tx) =>
      tx.rows<{ kind: string }>('select kind from entries where id like $1 order by seq', [`%_${debit.line}:partner%`]),
    );
    assert.deepEqual(
      posted.map(({ kind }) => kind),
      ['partner_settlement', 'partner_settlement_undone'],
    );
    await isSound();
  });

  test('is undone once, and the debit settles nothing more', async () => {
    const before = await owed();
    const again = await finn.does(`/payouts/pay_${held.id}_1/settle-by`, { line: debit.line });
    const said = again.status === 202 ? await confirmedBy(ada, again) : again;
    assert.deepEqual([said.status, said.body.reason], [409, 'does_not_fit'], JSON.stringify(said.body));
    assert.equal((await proposes(debit, units)).body.reason, 'unknown_case');
    assert.equal(await owed(), before);
    await isSound();
  });
});

describe('a proposal', () => {
  const confirms = (said: Said) => ada.does(`/proposals/${said.body.proposal}/confirm`);
  beforeEach(async () => await earns(1_000n, `earned-before-${lines}`));

  test('is refused with the reason, and over, if the partner is owed less by then', async () => {
    const all = await owed();
    const [first, second] = [await debits(all), await debits(200n)];
    const said = await proposes(first, all);
    assert.equal(said.status, 202);
    await twoDo(finn, ada, `/cases/${second.id}/correct`, settles(200n));
    const late = await confirms(said);
    assert.deepEqual([late.status, late.body.reason], [409, 'does_not_fit']);
    assert.match(late.body.error, /less than the debit/);
    assert.deepEqual([await stateOf(said), (await confirms(said)).body.reason], ['failed', 'proposal_over']);
    assert.equal(await owed(), all - 200n);
    await isCharge(first, all);
  });

  test('stands if the partner has earned more by then', async () => {
    const all = await owed();
    const debit = await debits(all);
    const said = await proposes(debit, all);
    await earns(70n, `earned-since-${debit.line}`);
    assert.equal((await confirms(said)).status, 200);
    assert.equal(await owed(), 70n);
  });

  test('is overtaken if the debit was explained by then: by a payout, or by a person who closed its case', async () => {
    const held = await sold('10', '9001');
    const units = (await world.traceOf(held)).order.payoutUnits;
    await earns(units, `earned-for-${held.id}`);
    const before = await owed();
    const [paid, closed] = [await debits(units), await debits(300n)];
    const said = [await proposes(paid, units), await proposes(closed, 300n)] as const;
    await twoDo(finn, ada, `/payouts/pay_${held.id}_1/settle-by`, { line: paid.line });
    await finn.does(`/cases/${closed.id}/close`, { outcome: 'the bank has explained it' });
    for (const one of said) {
      const late = await confirms(one);
      assert.deepEqual([late.status, late.body.reason], [409, 'proposal_overtaken'], JSON.stringify(late.body));
      assert.deepEqual([await stateOf(one), (await confirms(one)).body.reason], ['overtaken', 'proposal_over']);
    }
    assert.equal(await owed(), before);
    await isSound();
  });

  test('is confirmed by another person: not by the same with another token, and not by a role without the right', async () => {
    const debit = await debits(100n);
    const said = await proposes(debit, 100n);
    const { token } = (await finn.does('/self/token', { label: 'second', days: 1 })).body;
    const same = await withToken(world.server.baseUrl, token).does(`/proposals/${said.body.proposal}/confirm`);
    assert.deepEqual([same.status, same.body.reason], [403, 'own_proposal']);
    const other = await sam.does(`/proposals/${said.body.proposal}/confirm`);
    assert.deepEqual([other.status, other.body.reason], [403, 'role_missing']);
    assert.equal((await ada.does(`/cases/${debit.id}/correct`, settles(100n))).body.reason, 'proposal_exists');
    const as = { as: 'fee', evidence: REFERENCE, amount: '1' };
    assert.equal((await ada.does(`/cases/${debit.id}/correct`, as)).body.reason, 'proposal_exists');
    assert.equal((await confirms(said)).status, 200);
  });

  test('is confirmed at a server that has begun since, which knows of it from the database alone', async () => {
    const debit = await debits(90n);
    const said = await proposes(debit, 90n);
    const before = await owed();
    const { db, vault, rails } = world.server;
    const begun = fastify();
    await begun.register(operatorApi({ db, vault, clock: world.clock, log: openLog('silent') }, { rails }));
    const answer = await injectDeclared(begun, {
      ...{ method: 'POST', url: `/operator/v1/proposals/${said.body.proposal}/confirm` },
      ...{ headers: { authorization: `Bearer ${ada.token}` }, payload: { reason: 'a test' } },
    });
    await begun.close();
    assert.equal(answer.statusCode, 200, answer.body);
    assert.deepEqual([await owed(), await stateOf(said)], [before - 90n, 'confirmed']);
    assert.equal((await confirms(said)).body.reason, 'proposal_over');
  });

  test('is carried out once by two confirmations at once; of two for more than is owed together, one is', async () => {
    const all = await owed();
    const [first, second] = [await debits(all - 10n), await debits(all - 20n)];
    const said = [await proposes(first, all - 10n), await proposes(second, all - 20n)] as const;
    const answers = await Promise.all([...said, ...said].map(confirms));
    assert.equal(
      answers.filter(({ status }) => status === 200).length,
      1,
      JSON.stringify(answers.map(({ body }) => body)),
    );
    assert.ok([10n, 20n].includes(await owed()), `${await owed()} are owed`);
    const posted = await world.read((tx) =>
      tx.rows<{ id: string }>('select id from entries where kind = $1 and id like any($2)', [
        PARTNER_SETTLEMENT,
        [`%_${first.line}:%`, `%_${second.line}:%`],
      ]),
    );
    assert.equal(posted.length, 1);
    await isSound();
  });
});

describe('nothing is settled by', () => {
  before(async () => await earns(5_000n, 'earned-5'));

  test('an amount of zero or below, or in words', async () => {
    const before = await owed();
    const debit = await debits(100n);
    for (const amount of ['0', '0.00', '-1', '-1.00', '1e2', '', '1.001', '٣']) {
      const { status } = await finn.does(`/cases/${debit.id}/correct`, settles(100n, { amount }));
      assert.ok(status === 400 || status === 409, `${amount}: ${status}`);
    }
    assert.equal(await owed(), before);
    await isCharge(debit, 100n);
  });

  test('a debit in a currency that the partner is owed nothing in', async () => {
    const debit = await debits(100n, { currency: 'EUR' });
    const said = await finn.does(`/cases/${debit.id}/correct`, settles(100n));
    assert.deepEqual([said.status, said.body.reason], [409, 'does_not_fit'], JSON.stringify(said.body));
    assert.match(said.body.error, /in eur are less/);
    await isCharge(debit, 100n);
  });

  test('a debit that was explained otherwise before, also through its case when that is opened again', async () => {
    const debit = await debits(100n);
    await isCharge(debit, 100n);
    const before = await owed();
    assert.equal((await proposes(debit, 100n)).body.reason, 'unknown_case');
    await world.read((tx) => tx.run('update cases set closed_at = null, outcome = null where id = $1', [debit.id]));
    const said = await proposes(debit, 100n);
    assert.deepEqual([said.status, said.body.reason], [409, 'does_not_fit']);
    assert.match(said.body.error, /corrected already/);
    assert.equal(await owed(), before);
    await finn.does(`/cases/${debit.id}/close`, { outcome: 'it was a charge' });
  });

  test('a debit with the key of a payment of ours', async () => {
    const debit = await debits(100n, { key: 'pay_700000000000001_1' });
    const said = await proposes(debit, 100n);
    assert.deepEqual([said.status, said.body.reason], [409, 'does_not_fit']);
    assert.match(said.body.error, /key of a payment of ours/);
    await isCharge(debit, 100n);
  });

  test('a case that is about no debit, or the evidence of another one', async () => {
    const debit = await debits(100n);
    const other = await finn.does(`/cases/${debit.id}/correct`, settles(100n, { evidence: 'FEES FEBRUARY' }));
    assert.equal(other.body.reason, 'does_not_fit');
    await world.bankShows({ id: 'stray', direction: 'credit', units: 100n, reference: REFERENCE });
    const stray = await world.until('its case is open', () =>
      world.read((tx) =>
        tx.row<{ id: bigint }>(`select id from cases where subject like 'deposit:%' and closed_at is null`),
      ),
    );
    const credit = await finn.does(`/cases/${stray.id}/correct`, settles(100n));
    assert.deepEqual([credit.status, credit.body.reason], [409, 'does_not_fit']);
    await isCharge(debit, 100n);
  });
});

test('a debit that settled fees delays no payout of its amount, and has a date in the list of bank lines', async () => {
  await earns(100n, 'earned-6');
  const { line } = await settle(100n);
  const { body } = await ada.reads('/bank-lines?direction=debit');
  const shown = body.lines.find((one: Came) => one.line === line);
  assert.ok(shown.foreignAt !== null, 'it may still be taken for a payout');
});

describe('verify-ledger finds', () => {
  /** What it says of settlements after these entries, which are not kept. */
  async function told(entries: () => readonly Entry[]): Promise<string[]> {
    let problems: string[] = [];
    const undone = new Error('the entries are not kept');
    const planting = world.read(async (tx) => {
      for (const entry of entries()) assert.equal((await post(tx, entry)).outcome, 'posted');
      problems = (await verifyLedger(tx)).problems.flatMap(({ rule, why }) => (rule === 'settlement' ? [why] : []));
      throw undone;
    });
    await assert.rejects(planting, undone);
    return problems;
  }
  let debit: Debit;
  let id = '';
  const entry = (of: string, kind: string, moved: ReturnType<typeof move>) => ({
    ...{ id: of, kind, at: world.clock.now(), lines: moved },
  });
  before(async () => {
    await earns(500n, 'earned-7');
    debit = await settle(200n);
    id = `out_bank.simulated_${debit.line}`;
  });

  test('a debit that another entry explains, too', async () => {
    const twice = () => [
      entry(`${id}:fee`, 'correction', move(chart.cost('bank.simulated', 'inr'), chart.rounding('inr'), 200n)),
    ];
    assert.deepEqual(await told(twice), ['another entry explains the same debit']);
  });

  test('a settlement of which only one side is undone, or a part', async () => {
    const one = () => [
      entry(`${id}:undone`, 'debit_explained', move(chart.treasury('inr'), chart.rounding('inr'), 1n)),
    ];
    assert.deepEqual(await told(one), ['of the settlement and its debit only one is undone']);
    const part = () => [
      ...one(),
      entry(`${id}:partner_fees:undone`, 'partner_settlement_undone', move(chart.treasury('inr'), fees(), 150n)),
    ];
    assert.deepEqual(await told(part), ['it settles 200 units, and 150 are undone']);
  });

  test('other money booked as a settlement', async () => {
    const { line } = await debits(30n);
    const other = () => [
      entry(
        `out_bank.simulated_${line}:partner_fees`,
        PARTNER_SETTLEMENT,
        move(chart.treasury('inr'), chart.loss('inr'), 30n),
      ),
    ];
    assert.deepEqual(await told(other), [
      'it moves other money than fees of a partner against the loss that the debit was booked as',
    ]);
  });
});

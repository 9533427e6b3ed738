/** Work on cases: a claim is a lock, a case is due by its kind, and none is closed over money in suspense without saying so. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { parseUnits } from '../../src/base/money.ts';
import { DUE } from '../../src/compliance/due.ts';
import { CASE_KINDS } from '../../src/compliance/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let bea: Person;
let vic: Person;
before(async () => {
  ({ world, ada, bea, vic } = await openStaffedStory({ ada: 'admin', bea: 'admin', vic: 'viewer' }));
});
after(async () => await world?.close());

/** A case about a credit that names no order. @returns its number, and its deposit's */
async function strangeCredit(
  amount: string,
): Promise<{ id: string; deposit: string; openedAt: string; dueAt: string }> {
  const externalId = await world.bank.creditAccount({
    ...{ currency: 'INR', units: parseUnits(amount, 2), text: 'thanks', payerName: 'A', payerAccount: '000987654321' },
  });
  await world.looksAtTheBank();
  return await world.until(`credit ${externalId} has a case`, async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>('select id from deposits where external_id = $1', [externalId]),
    );
    const { cases } = (await vic.reads('/cases?kind=deposit_unknown_target&limit=200')).body;
    const found = cases.find(({ subject }: { subject: string }) => subject === `deposit:${row?.id}`);
    return found && { ...found, deposit: String(row?.id) };
  });
}

describe('a case', () => {
  test('that one operator has claimed is neither claimed, closed nor corrected by another, until they take it over', async () => {
    const { id } = await strangeCredit('1200');
    assert.equal((await ada.does(`/cases/${id}/assign`, { to: 'ada' })).status, 200);
    for (const [path, body] of [
      ['assign', { to: 'bea' }],
      ['assign', { to: 'none' }],
      ['close', { outcome: 'done', leaveInSuspense: true }],
    ] as const) {
      const said = await bea.does(`/cases/${id}/${path}`, body);
      assert.deepEqual([path, said.status, said.body.reason], [path, 409, 'case_claimed']);
      assert.match(said.body.error, /claimed by ada/);
    }
    assert.equal(
      (await bea.does(`/cases/${id}/note`, { reason: 'I know this payer' })).status,
      200,
      'comments are free',
    );
    assert.equal((await vic.does(`/cases/${id}/assign`, { to: 'vic' })).body.reason, 'role_missing');
    assert.equal((await bea.does(`/cases/${id}/assign`, { to: 'bea', takeOver: true })).status, 200);
    assert.equal((await ada.does(`/cases/${id}/close`, { outcome: 'done' })).body.reason, 'case_claimed');
  });

  test('claimed by two operators concurrently: one of them has it, the other learns who', async () => {
    const { id } = await strangeCredit('1300');
    const both = await Promise.all([
      ada.does(`/cases/${id}/assign`, { to: 'ada' }),
      bea.does(`/cases/${id}/assign`, { to: 'bea' }),
    ]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409]);
  });

  test('about money in suspense is closed only with the statement that the money stays, which the case records', async () => {
    const { id, deposit } = await strangeCredit('1400');
    const said = await ada.does(`/cases/${id}/close`, { outcome: 'nobody knows' });
    assert.deepEqual([said.status, said.body.reason], [409, 'money_in_suspense']);
    assert.match(said.body.error, new RegExp(`1400 inr of deposit ${deposit}\\b`));
    assert.equal((await ada.does(`/cases/${id}/close`, { outcome: 'kept', leaveInSuspense: true })).status, 200);
    const { actions, closedAt } = (await vic.reads(`/cases/${id}`)).body;
    assert.notEqual(closedAt, null);
    assert.ok(
      actions.some(({ note }: { note: string }) => note === `left in suspense: 1400 inr of deposit ${deposit}`),
    );
  });

  test('is due by its kind, and past that time listed as overdue', async () => {
    const { id, openedAt, dueAt } = await strangeCredit('1500');
    assert.equal(Date.parse(dueAt) - Date.parse(openedAt), 24 * 3_600_000);
    const overdue = async (): Promise<string[]> =>
      (await vic.reads('/cases?overdue=true&limit=200')).body.cases.map((one: { id: string }) => one.id);
    assert.ok(!(await overdue()).includes(id));
    await world.read((tx) =>
      tx.run(`update cases set opened_at = opened_at - interval '25 hours' where id = $1`, [id]),
    );
    assert.ok((await overdue()).includes(id));
  });
});

test('every kind of case has a time', () => {
  assert.deepEqual([...DUE.kinds].toSorted(), Object.keys(CASE_KINDS).toSorted());
});

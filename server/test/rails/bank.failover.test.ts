/** A bank's rail whose process outlives its database: a standby that lacks the last commits takes over. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type BankEnvironment, bankEnvironment } from '../support/bank.environment.ts';
import { targetOf } from '../support/targets.ts';
import { until } from '../support/until.ts';

let w: BankEnvironment;
before(async () => {
  w = await bankEnvironment();
});
after(async () => await w?.stop());

async function books(): Promise<{ cursor: string; to: string; lines: number }> {
  const [row] = await w.rows.query<{ cursor: string; to: string; lines: number }>(
    `select cursor, read_to ->> 'inr' as to, (select count(*) from bank_lines)::int as lines from bank_cursors`,
  );
  assert.ok(row);
  return row;
}

test('the statement is read again from the books’ position, and does not count as read before, although the bank has nothing new', async () => {
  await w.reads();
  const before = await books();
  const [text, payer] = [targetOf(w.rail, 42n), { payerName: 'Meera Iyer', payerAccount: '998877665544' }];
  await w.bank.creditAccount({ currency: 'INR', units: 700n, text, ...payer });
  await w.reads();
  await w.reads();
  assert.equal((await books()).lines, before.lines + 1);
  // The books lose the line.
  await w.rows.query('alter table bank_lines disable trigger user');
  await w.rows.query('delete from bank_lines where units = 700');
  await w.rows.query(
    `update bank_cursors set cursor = $1, read_at = read_at - interval '1 minute', read_to = jsonb_build_object('inr', $2::text)`,
    [before.cursor, before.to],
  );
  await until('the lost line is back', async () => {
    await w.reads();
    const { to, lines } = await books();
    if (lines > before.lines) return true;
    assert.equal(to, before.to, 'the statement counts as read, and the lost line was not');
    return false;
  });
  assert.equal(w.of('deposit_confirmed').length, 2, 'the line of the lost time was not booked again');
});

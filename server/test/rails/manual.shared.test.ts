/** Payouts of a manual bank's file that operators settle by one debit of another amount. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SettleFile } from '../../src/rails/manual/desk.settle.ts';
import { type ManualEnvironment, manualEnvironment } from '../support/manual.environment.ts';
import { type BankEntry, camt } from '../support/statements.ts';

const refused = (code: string, why: RegExp) => (error: { code?: string; facts?: { why?: string } }) => {
  assert.equal(error.code, code, String(error));
  assert.match(error.facts?.why ?? '', why);
  return true;
};
const carried = (id: string): string => id.replaceAll('_', '-');

describe('a debit of another amount than the file that it names', () => {
  let w: ManualEnvironment;
  before(async () => {
    w = await manualEnvironment();
  });
  after(() => w.stop());

  const settles = (given: SettleFile) => w.asks((desk, tx) => desk.settleFile(tx, given));
  /** A file of payouts of these amounts, and the debit that its bank shows. */
  async function booked(units: readonly bigint[], debit: bigint, entry: Partial<BankEntry> = {}) {
    const ids: string[] = [];
    for (const one of units) ids.push(await w.pays(one));
    const { id } = await w.closes();
    await w.takes(w.nextStatement([{ ref: `B${id}`, text: `SAMMLER CLOVERLEAF-${id}`, units: -debit, ...entry }]));
    const line = w.of('unexplained_debit').at(-1)?.externalId ?? '';
    return { ids, id, line, states: () => Promise.all(ids.map(w.state)) };
  }
  const lineOf = (line: string) =>
    w.db.asSystem((tx) =>
      tx.row<{ meaning: string; key: string }>('select meaning, key from bank_lines where external_id = $1', [line]),
    );

  it('settles all of them with their own amounts, and the file leaves no more', async () => {
    const { ids, id, line, states } = await booked([510n, 520n], 1_045n);
    assert.deepEqual(await w.asks((desk, tx) => desk.fileDebit(tx, { id, line })), {
      ...{ file: id, line, asset: 'eur', explained: false, named: true },
      ...{ debitUnits: 1_045n, chargeUnits: 0n, units: 1_030n, differenceUnits: 15n },
      payouts: ids.map((key, i) => ({ key, asset: 'eur', units: [510n, 520n][i], state: 'open' })),
    });
    await settles({ id, line });
    assert.deepEqual(await states(), ['settled', 'settled']);
    assert.deepEqual(w.of('debit_shared').at(-1), {
      ...{ type: 'debit_shared', rail: w.rail.code, externalId: line, name: `CLOVERLEAF-${id}`, asset: 'eur' },
      ...{ units: 1_045n, payouts: ids },
    });
    assert.deepEqual(await lineOf(line), { meaning: 'payout', key: `CLOVERLEAF-${id}` });
    const paid = await w.db.asSystem((tx) =>
      tx.rows<{ paidUnits: bigint | null }>('select paid_units from payouts where id = any($1)', [ids]),
    );
    assert.deepEqual(
      paid.map(({ paidUnits }) => paidUnits),
      [null, null],
    );
    await assert.rejects(
      w.withdraws(id, 'I believe that it was not uploaded.'),
      refused('batch_refused', /was uploaded/),
    );
    await assert.rejects(
      w.asks((desk, tx) => desk.file(tx, id)),
      refused('batch_refused', /were paid/),
    );
    await assert.rejects(settles({ id, line, payouts: ids }), refused('does_not_fit', /explains the debit/));
  });

  it('leaves a payout that it did not pay open, and keeps its file from being withdrawn', async () => {
    const { ids, id, line, states } = await booked([530n, 540n, 550n], 1_080n);
    await settles({ id, line, payouts: ids.slice(0, 2) });
    assert.deepEqual(await states(), ['settled', 'settled', 'submitted']);
    await assert.rejects(
      w.withdraws(id, 'I believe that it was not uploaded.'),
      refused('batch_refused', /was uploaded/),
    );
    // Its own debit settles it.
    await w.takes(w.nextStatement([{ units: -550n, endToEnd: carried(ids[2] ?? ''), ref: `L${id}` }]));
    assert.deepEqual(await states(), ['settled', 'settled', 'settled']);
  });

  it('explains no later debit of a payout that it settled, and a return of one is a return', async () => {
    const { ids, id, line, states } = await booked([560n, 570n], 1_100n);
    await settles({ id, line });
    const at = w.of('unexplained_debit').length;
    await w.takes(
      w.nextStatement(
        ids.map((key, i) => ({ units: i === 0 ? -560n : -570n, endToEnd: carried(key), ref: `T${key}` })),
      ),
    );
    assert.deepEqual(
      w
        .of('unexplained_debit')
        .slice(at)
        .map(({ units }) => units),
      [560n, 570n],
    );
    const facts = w.facts.length;
    await w.takes(w.nextStatement([{ units: 570n, endToEnd: carried(ids[1] ?? ''), ref: `R${id}`, returned: 'AC04' }]));
    assert.deepEqual(await states(), ['settled', 'returned']);
    assert.deepEqual(
      w.facts.slice(facts).map(({ type }) => type),
      ['payout_returned'],
    );
  });

  it('settles payouts of a file that was withdrawn and uploaded after all', async () => {
    const ids = [await w.pays(580n), await w.pays(590n)];
    const { id } = await w.closes();
    await w.withdraws(id, 'I believe that it was not uploaded.');
    for (const key of ids) await w.looksAt(key);
    await w.takes(w.nextStatement([{ units: -1_175n, text: `CLOVERLEAF-${id}`, ref: 'LATE' }]));
    await settles({ id, line: w.of('unexplained_debit').at(-1)?.externalId ?? '' });
    assert.deepEqual(await Promise.all(ids.map(w.state)), ['settled', 'settled']);
  });

  it('settles nothing that does not belong to it', async () => {
    const first = await booked([601n, 602n], 1_210n);
    const second = await booked([603n, 604n], 1_215n);
    const { id, line, ids } = first;
    const isWrong = (given: SettleFile, why: RegExp, code = 'does_not_fit') =>
      assert.rejects(settles(given), refused(code, why));
    await isWrong({ id: 999_999n, line }, /no such file/, 'batch_refused');
    await isWrong({ id, line: 'none' }, /no debit of this name/);
    await isWrong({ id, line: second.line }, new RegExp(`names file ${second.id}`));
    await isWrong({ id, line, payouts: second.ids }, /is not in file/);
    await w.imports(
      camt({ currency: 'INR', number: '000100020003', from: w.today(), entries: [{ units: -1_210n, ref: 'INR1' }] }),
      'inr',
    );
    await isWrong({ id, line }, /being imported/, 'batch_refused');
    await w.rail.observe();
    await isWrong({ id, line: w.of('unexplained_debit').at(-1)?.externalId ?? '' }, /the debit is in inr/);
    // One of them is shown by a line of its own meanwhile.
    await w.takes(w.nextStatement([{ units: -602n, endToEnd: carried(ids[1] ?? ''), ref: 'OWN602' }]));
    await isWrong({ id, line, payouts: ids }, /is settled by another line/);
    assert.deepEqual(await first.states(), ['submitted', 'settled']);
    await w.takes(w.nextStatement([{ units: -1n, endToEnd: carried(second.ids[0] ?? ''), ref: 'KEY1' }]));
    await isWrong({ id, line: w.of('unexplained_debit').at(-1)?.externalId ?? '' }, /carries the key of/);
    await settles({ id, line });
    await isWrong({ id, line: second.line }, /names file/);
    assert.deepEqual(await first.states(), ['settled', 'settled']);
  });
});

/**
 * Operators' search: a bank line is found by everything that the bank says about it, an order by what its partner and its
 * customer call it, and a pasted text in any spacing.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../protocols/operator/people.ts';
import type { Came } from '../support/client.ts';
import { strayCredit } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Purchase, Story } from '../support/story.ts';

const REFERENCE = 'INV 2027/001 é';

let world: Story;
let vic: Person;
let order: Purchase;
let deposit: bigint;

async function finds(text: string): Promise<Came> {
  const { status, body } = await vic.reads(`/lookup?text=${encodeURIComponent(text)}`);
  assert.equal(status, 200, `${JSON.stringify(text)}: ${JSON.stringify(body)}`);
  return body;
}
const linesOf = async (text: string): Promise<string[]> => (await finds(text)).bankLines.map(({ id }: Came) => id);
const idsOf = async (list: 'orders' | 'deposits' | 'payouts', text: string): Promise<string[]> =>
  (await finds(text))[list].map(({ id }: Came) => String(id));

before(async () => {
  ({ world, vic } = await openStaffedStory({ vic: 'viewer' }));
  order = await world.buys('5000', 'usdc', { reference: REFERENCE });
  deposit = await strayCredit(world, order, '12');
  await world.bankShows({
    id: 'charge-1',
    direction: 'debit',
    units: 250n,
    reference: 'UTR CHARGE 77',
    key: 'e2e-404',
  });
  await world.until('it is a case', async () =>
    ((await vic.reads('/cases?kind=unexplained_debit')).body.cases as Came[]).some(
      ({ subject }) => subject === 'bank.simulated:charge-1',
    ),
  );
});
after(async () => await world?.close());

describe('a bank line that no order explains', () => {
  for (const [name, text] of Object.entries({
    'its id at the bank': 'charge-1',
    'its name in cases': 'bank.simulated:charge-1',
    'its bank reference': 'UTR CHARGE 77',
    'its end-to-end id': 'e2e-404',
  }))
    test(`is found by ${name}`, async () => assert.deepEqual(await linesOf(text), ['bank.simulated:charge-1']));

  test('is found by its text, in any spacing and case, and shows neither text nor payer', async () => {
    const { lines } = (await vic.reads('/bank-lines?direction=credit&meaning=deposit')).body;
    const [line] = lines;
    for (const text of ['what I owe', ' what  I\nowe ', 'WHAT I OWE']) assert.deepEqual(await linesOf(text), [line.id]);
    assert.deepEqual(await linesOf('what I ow'), []);
    const [found] = (await finds('what I owe')).bankLines;
    assert.deepEqual(
      [found.rail, found.line, found.direction, found.asset, found.units, found.meaning, found.key],
      ['bank.simulated', line.line, 'credit', 'inr', '12', 'deposit', null],
    );
    assert.ok(!JSON.stringify(found).includes('I owe'));
  });

  test('is not found by its text once that was erased, whoever erased it', async () => {
    const { lines } = (await vic.reads('/bank-lines?direction=credit&meaning=deposit')).body;
    await world.read(async (tx) => {
      const [row] = await tx.rows<{ textIndex: Buffer | null }>(
        'with gone as (update bank_lines set details = null where external_id = $1 returning text_index) select text_index from gone',
        [lines[0].line],
      );
      assert.equal(row?.textIndex, null);
    });
    assert.deepEqual(await linesOf('what I owe'), []);
  });

  test('leads to its deposit: by the id of the line', async () => {
    const { lines } = (await vic.reads('/bank-lines?direction=credit&meaning=deposit')).body;
    assert.deepEqual(await idsOf('deposits', lines[0].line), [String(deposit)]);
  });
});

describe('an order', () => {
  test('is found by the partner’s reference, as stored and with spaces around', async () => {
    for (const text of [REFERENCE, `  ${REFERENCE}\n`, 'INV  2027/001\té'])
      assert.deepEqual(await idsOf('orders', text), [String(order.id)]);
  });

  test('is found by the bank reference that its customer named', async () => {
    const named = { transactionId: String(order.id), customerId: order.customerId, referenceId: 'UTR0099887766' };
    assert.equal((await world.partner.put('onramp/referenceId', named)).status, 200);
    assert.deepEqual(await idsOf('orders', 'UTR00 9988 7766'), [String(order.id)]);
  });

  test('is found by a payment reference or number with spaces inside', async () => {
    assert.deepEqual(await idsOf('orders', ` ${order.reference.replaceAll(/(.{4})/g, '$1 ')}`), [String(order.id)]);
    assert.deepEqual(await idsOf('orders', ` ${order.id}\r\n`), [String(order.id)]);
  });
});

test('a pasted text is searched in any spacing; a text of one character, or none, is an error', async () => {
  for (const text of ['DE89 3704 0044 0532 0130 00', '0xdead\nbeef', '+49 170 123 45 67', 'ünï cödé'])
    assert.deepEqual((await finds(text)).orders, []);
  for (const text of ['', ' ', 'x', ' x ', 'x'.repeat(301)])
    assert.equal((await vic.reads(`/lookup?text=${encodeURIComponent(text)}`)).status, 400, JSON.stringify(text));
});

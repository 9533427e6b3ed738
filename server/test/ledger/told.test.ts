/** The ledger's reports of postings, and the texts of its refusals: an on-call operator reads these. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { BugError } from '../../src/base/errors.ts';
import { type DigestedLine, digestOf, hexDigestOf, LINE_TEXT } from '../../src/ledger/digest.ts';
import {
  type Account,
  balance,
  balancesOf,
  balancesOfOrders,
  chart,
  type Entry,
  hold,
  isPosted,
  type Line,
  move,
  OTHERS_WAIT,
  orderBalances,
  post,
  release,
  settle,
  statement,
  undo,
} from '../../src/ledger/index.ts';
import { upsertAsset } from '../../src/partners/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { fiat } from '../support/terms.ts';

const ORDER = 7n;
const order = chart.order(ORDER, 1n, 'inr');
const at = new Date('2026-03-01T10:00:00Z');

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
  await fixture.db.asSystem(async (tx) => {
    for (const code of ['inr', 'eur']) await upsertAsset(tx, fiat(code));
  });
});
after(() => fixture.stop());

let count = 0;
const entry = (lines: readonly Line[], more: Partial<Entry> = {}): Entry => {
  count += 1;
  return { id: `e${count}`, kind: 'test', at, lines, ...more };
};
const posting = (given: Entry) => fixture.db.asSystem((tx) => post(tx, given));
/** A wallet with this balance, which belongs to a source of its own. */
async function funded(name: string, units: bigint): Promise<{ custody: Account; suspense: Account }> {
  const [custody, suspense] = [chart.custody(name, 'main', 'inr'), chart.suspense(name, 'inr')];
  assert.deepEqual(await posting(entry(move(custody, suspense, units))), { outcome: 'posted' });
  return { custody, suspense };
}
const refused = (given: Entry, words: RegExp) =>
  assert.rejects(posting(given), (error: Error) => error instanceof BugError && words.test(error.message));

test('each refusal names the violation', async () => {
  const { custody, suspense } = await funded('words', 100n);
  const line = (of: object): Line => ({ step: 'post', debit: suspense, credit: custody, units: 1n, ...of }) as Line;
  await refused(entry([], { id: 'bare' }), /entry bare has a line/);
  await refused(entry([line({ units: 0n })]), /more than nothing/);
  await refused(
    entry([line({ credit: chart.treasury('eur') })]),
    /one asset a line: suspense:words:inr and treasury:eur/,
  );
  await refused(entry([line({ credit: suspense })]), /two accounts a line/);
  await refused(entry(settle('nobody')), /hold nobody exists/);
  await refused(entry(release('nobody')), /hold nobody exists/);
  await posting(entry(hold('ended', suspense, custody, 10n)));
  await posting(entry(release('ended')));
  await refused(entry(settle('ended')), /hold ended is still held/);
  await posting(entry([line({})], { id: 'once' }));
  await refused(entry([line({ units: 2n })], { id: 'once' }), /entry once was posted before with other content/);
});

test('nothing to move is no line', () => {
  assert.deepEqual(move(order, chart.treasury('inr'), 0n), []);
});

test('two entries are the same if kind, order and every part of every line are equal', async () => {
  const { custody, suspense } = await funded('same', 1_000n);
  const other = await funded('other', 1_000n);
  await posting(entry(hold('first', suspense, custody, 5n)));
  await posting(entry(hold('second', suspense, custody, 5n)));
  const given = entry([...move(custody, suspense, 3n), ...hold('third', suspense, custody, 4n), ...settle('first')]);
  assert.deepEqual(await posting(given), { outcome: 'posted' });
  const words = /posted before with other content/;
  const [moved, held, settled] = given.lines as [Line, Line, Line];
  await refused({ ...given, kind: 'else' }, words);
  await refused({ ...given, orderId: 9n }, words);
  await refused({ ...given, lines: [moved, held] }, words);
  await refused({ ...given, lines: [...move(custody, suspense, 4n), held, settled] }, words);
  await refused({ ...given, lines: [...move(other.custody, suspense, 3n), held, settled] }, words);
  await refused({ ...given, lines: [...move(custody, other.suspense, 3n), held, settled] }, words);
  await refused({ ...given, lines: [moved, ...hold('third', suspense, custody, 5n), settled] }, words);
  await refused({ ...given, lines: [moved, ...hold('fourth', suspense, custody, 4n), settled] }, words);
  await refused({ ...given, lines: [moved, held, ...settle('second')] }, words);
  await refused({ ...given, lines: [moved, held, ...release('first')] }, words);
  assert.deepEqual(await posting({ ...given, at: new Date() }), { outcome: 'duplicate' });
});

test('the digest’s input text never changes: journals sealed long ago still verify', () => {
  const line = { hold: '', debit: 'a', credit: 'b', units: '5' };
  const of = (text: string) => createHash('sha256').update(text).digest('hex');
  const posted = digestOf('received', 17n, [{ step: 'post', ...line }]);
  assert.equal(posted.toString('hex'), of('["received","17",[["post","","a","b","5"]]]'));
  const held = digestOf('sending', null, [{ step: 'hold', ...line, hold: 'h' }]);
  assert.equal(held.toString('hex'), of('["sending","",[["hold","h","a","b","5"]]]'));
  for (const step of ['settle', 'void'] as const) {
    const ended = digestOf('sent', undefined, [{ step, ...line, hold: 'h' }]);
    assert.equal(ended.toString('hex'), of(`["sent","",[["${step}","h"]]]`));
  }
});

test('no account is overdrawn: an owner’s, a wallet’s, or the part of either on hold', async () => {
  const [a, b] = [await funded('a', 100n), await funded('b', 100n)];
  await posting(entry(move(a.suspense, b.suspense, 50n)));
  const short = (account: Account) => ({ outcome: 'short', account: account.code });
  assert.deepEqual(await posting(entry(move(b.suspense, a.custody, 101n))), short(a.custody));
  assert.deepEqual(await posting(entry(move(a.suspense, b.custody, 51n))), short(a.suspense));
  await posting(entry(hold('aside', b.suspense, a.custody, 80n)));
  assert.deepEqual(await posting(entry(move(b.suspense, a.custody, 21n))), short(a.custody));
  assert.deepEqual(await posting(entry(move(b.suspense, b.custody, 71n))), short(b.suspense));
  assert.deepEqual(await posting(entry(move(b.suspense, a.custody, 20n))), { outcome: 'posted' });
  assert.deepEqual(await posting(entry(move(b.suspense, b.custody, 50n))), { outcome: 'posted' });
});

test('an account of either side may go below zero, and shows it', async () => {
  const { suspense } = await funded('position', 30n);
  const fx = chart.fx('inr');
  assert.deepEqual(await posting(entry(move(fx, suspense, 30n))), { outcome: 'posted' });
  assert.equal((await fixture.db.asSystem((tx) => balance(tx, fx))).units, -30n);
  await posting(entry(move(suspense, fx, 30n)));
  assert.equal((await fixture.db.asSystem((tx) => balance(tx, fx))).units, 0n);
});

test('an account without postings has a balance of zero', async () => {
  const never = chart.cost('never', 'inr');
  assert.deepEqual(await fixture.db.asSystem((tx) => balance(tx, never)), {
    code: 'cost:never:inr',
    asset: 'inr',
    units: 0n,
    heldUnits: 0n,
  });
});

test('an order shows its balance, the part on hold, and all of its entries', async () => {
  const { custody, suspense } = await funded('life', 90n);
  const took = entry(move(suspense, order, 90n), { id: 'took', orderId: ORDER, kind: 'received' });
  assert.equal(await fixture.db.asSystem((tx) => isPosted(tx, 'took')), false);
  await posting(took);
  assert.equal(await fixture.db.asSystem((tx) => isPosted(tx, 'took')), true);
  await posting(entry(hold('paying', order, custody, 60n), { id: 'pays', orderId: ORDER, kind: 'paying' }));

  const has = { code: 'order:7:inr', asset: 'inr', units: 90n, heldUnits: 60n };
  assert.deepEqual(await fixture.db.asSystem((tx) => orderBalances(tx, ORDER)), [has]);
  assert.deepEqual(await fixture.db.asSystem((tx) => orderBalances(tx, 8n)), []);
  const ofBoth = await fixture.db.asSystem((tx) => balancesOfOrders(tx, [8n, ORDER]));
  assert.deepEqual(ofBoth, [{ ...has, orderId: ORDER }]);
  assert.deepEqual(await fixture.db.asSystem((tx) => balancesOf(tx, ['order'])), [has]);
  const wallet = await fixture.db.asSystem((tx) => balance(tx, custody));
  assert.deepEqual([wallet.units, wallet.heldUnits], [90n, 60n]);

  const line = { at, asset: 'inr' };
  assert.deepEqual(await fixture.db.asSystem((tx) => statement(tx, ORDER)), [
    { ...line, entry: 'took', kind: 'received', step: 'post', debit: suspense.code, credit: order.code, units: 90n },
    { ...line, entry: 'pays', kind: 'paying', step: 'hold', debit: order.code, credit: custody.code, units: 60n },
  ]);
});

test('an entry is undone once, line by line, with its sides exchanged', async () => {
  const { custody, suspense } = await funded('undone', 100n);
  const other = chart.suspense('undone.other', 'inr');
  const moved = entry([...move(suspense, order, 30n), ...move(suspense, other, 20n)], { id: 'moved' });
  await posting(moved);
  const undoing = (id: string, as: string) => fixture.db.asSystem((tx) => undo(tx, id, { id: as, kind: 'test', at }));
  assert.deepEqual(await undoing('moved', 'moved:undone'), { outcome: 'posted' });
  assert.deepEqual(await undoing('moved', 'moved:undone'), { outcome: 'duplicate' });
  const units = await fixture.db.asSystem(async (tx) => [
    (await balance(tx, custody)).units,
    (await balance(tx, suspense)).units,
    (await balance(tx, other)).units,
  ]);
  assert.deepEqual(units, [100n, 100n, 0n]);
  const lines = await fixture.db.asSystem((tx) =>
    tx.rows(
      `select d.code as debit, c.code as credit, t.units from transfers t
         join accounts d on d.id = t.debit join accounts c on c.id = t.credit where t.entry = $1 order by t.line`,
      ['moved:undone'],
    ),
  );
  assert.deepEqual(lines, [
    { debit: order.code, credit: suspense.code, units: 30n },
    { debit: other.code, credit: suspense.code, units: 20n },
  ]);
});

test('an irreversible entry is reported: an empty one, a hold, or spent money', async () => {
  const { custody, suspense } = await funded('spent', 50n);
  const undoing = (id: string) => fixture.db.asSystem((tx) => undo(tx, id, { id: `${id}:undone`, kind: 'test', at }));
  assert.deepEqual(await undoing('unknown entry'), { outcome: 'duplicate' });
  assert.equal(await fixture.db.asSystem((tx) => isPosted(tx, 'unknown entry:undone')), false);
  await posting(entry(hold('kept', suspense, custody, 10n), { id: 'set aside' }));
  await assert.rejects(undoing('set aside'), (error: Error) => {
    return error instanceof BugError && /entry set aside only moves/.test(error.message);
  });
  const elsewhere = chart.suspense('spent.other', 'inr');
  await posting(entry(move(suspense, elsewhere, 40n), { id: 'first' }));
  await posting(entry(move(elsewhere, order, 40n), { id: 'then' }));
  assert.deepEqual(await undoing('first'), { outcome: 'short', account: elsewhere.code });
});

test('available money is not taken before the orders that wait for it', async () => {
  const { suspense } = await funded('queue', 10n);
  const taking = (id: string, mayTake: () => Promise<boolean>) =>
    fixture.db.asSystem((tx) => post(tx, entry(move(suspense, order, 4n), { id }), mayTake));
  assert.deepEqual(await taking('early', async () => false), { outcome: 'short', account: OTHERS_WAIT });
  assert.equal(OTHERS_WAIT, 'others wait');
  assert.equal(await fixture.db.asSystem((tx) => isPosted(tx, 'early')), false);
  assert.deepEqual(await taking('early', async () => true), { outcome: 'posted' });
  let asked = 0;
  const counted = async () => {
    asked += 1;
    return true;
  };
  assert.deepEqual(await taking('early', counted), { outcome: 'duplicate' });
  const tooMuch = entry(move(suspense, order, 7n), { id: 'too much' });
  const refusal = await fixture.db.asSystem((tx) => post(tx, tooMuch, counted));
  assert.deepEqual(refusal, { outcome: 'short', account: suspense.code });
  assert.equal(asked, 0, 'the callback ran although the money is missing');
});

test('PostgreSQL makes of a line the text that is hashed when it is posted, whatever its words', async () => {
  const texts = [
    '',
    ' ',
    '"',
    '\\',
    '\\u0022',
    "'",
    '/',
    '\b\f\n\r\t',
    '\u0001\u001f\u007f',
    'é',
    '😀',
    '\u2028\u2029',
    '</a>',
  ];
  const steps = ['post', 'hold', 'settle', 'void'] as const;
  const lines = texts.flatMap((text, n): DigestedLine[] =>
    steps.map((step) => ({
      step,
      hold: step === 'post' ? '' : text,
      debit: text,
      credit: `c${text}`,
      units: `${n + 1}`,
    })),
  );
  const rows = await fixture.db.asSystem((tx) =>
    tx.rows<{ line: string }>(
      `select ${LINE_TEXT} as line
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[])
              with ordinality as t (step, hold, debit, credit, units, n),
              lateral (select t.debit as code) d, lateral (select t.credit as code) c
        order by t.n`,
      [
        lines.map(({ step }) => step),
        lines.map(({ step, hold }) => (step === 'post' ? null : hold)),
        ...(['debit', 'credit', 'units'] as const).map((name) => lines.map((line) => line[name])),
      ],
    ),
  );
  for (const orderId of [undefined, 7n])
    for (const [n, line] of lines.entries()) {
      const made = hexDigestOf('a "kind"', String(orderId ?? ''), rows[n]?.line ?? '');
      assert.equal(made, digestOf('a "kind"', orderId, [line]).toString('hex'), JSON.stringify(line));
    }
  const all = rows.map(({ line }) => line).join(',');
  assert.equal(hexDigestOf('test', '', all), digestOf('test', undefined, lines).toString('hex'));
});

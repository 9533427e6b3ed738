/**
 * Fuzzing of statements: camt.053, CSV, and the result of taking them in twice, in pieces, overlapping and in another order. A
 * statement is read exactly or refused with a sentence; hostile content stays text.
 *
 * Long because the generators of three formats share their parts.
 */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { isDay } from '../../src/base/clock.ts';
import { Refusal } from '../../src/base/errors.ts';
import { readCamt } from '../../src/rails/manual/camt.ts';
import { readAmount, readCsvStatement } from '../../src/rails/manual/csv.statement.ts';
import { readRows, writeRow } from '../../src/rails/manual/csv.ts';
import { type Batch, writeFile } from '../../src/rails/manual/files.ts';
import { keyIn, payeeOf } from '../../src/rails/manual/payee.ts';
import { LONGEST_TEXT, type ReadStatement, total } from '../../src/rails/manual/read.ts';
import { type ManualAccount, plainAccount, readManualBank } from '../../src/rails/manual/settings.ts';
import { findReference, makeReference } from '../../src/rails/reference.ts';
import { type ManualEnvironment, manualEnvironment } from '../support/manual.environment.ts';
import { type BankEntry, type CsvLine, camt, germanCsv, SETTINGS } from '../support/statements.ts';
import { assertUnpolluted, fuzz, mangled, nasty } from './fuzz.ts';

const { accounts } = readManualBank(JSON.stringify(SETTINGS));
const EUR = accounts[0] as ManualAccount;
const LARGEST = 10n ** 40n;

/** The condition on any statement that was read, whatever was in the file. */
function isSound(statements: readonly ReadStatement[]): void {
  for (const { opening, closing, lines, from, to } of statements) {
    assert.ok(isDay(from) && isDay(to) && from <= to, `${from} to ${to}`);
    if (opening !== null && closing !== null) assert.equal(opening + total(lines), closing);
    for (const line of lines) {
      assert.ok(line.units > 0n && line.units < LARGEST && line.chargeUnits >= 0n, String(line.units));
      assert.ok(isDay(line.bookedOn));
      for (const text of [line.text, line.name, line.account, line.batch]) assert.ok(text.length <= LONGEST_TEXT);
    }
  }
  assertUnpolluted();
}

async function readsOrRefuses(read: () => Promise<ReadStatement[]>): Promise<ReadStatement[] | undefined> {
  try {
    const statements = await read();
    isSound(statements);
    return statements;
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'file_refused', String((error as Error).stack));
    assert.match(String(error.facts.why), /^[A-Z].{5,300}\.$/s);
    assertUnpolluted();
    return undefined;
  }
}

const amount = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }).filter((n) => n !== 0n);
const day = fc.integer({ min: 1, max: 28 }).map((n) => `2026-11-${String(n).padStart(2, '0')}`);
/** Text that XML can contain. */
const said = nasty.map((text) =>
  text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .toWellFormed()
    .replaceAll(']]>', ']] >')
    .slice(0, 1_000),
);
const entry: fc.Arbitrary<BankEntry> = fc.record(
  {
    units: amount,
    on: day,
    ref: fc.option(fc.stringMatching(/^[A-Z0-9]{4,16}$/), { nil: undefined }),
    endToEnd: fc.option(fc.stringMatching(/^[A-Z0-9-]{1,35}$/), { nil: undefined }),
    text: fc.option(said, { nil: undefined }),
    name: fc.option(said, { nil: undefined }),
    returned: fc.constantFrom(undefined, undefined, '', 'AC01'),
    reversal: fc.constantFrom(false, false, true),
    status: fc.constantFrom('BOOK', 'BOOK', 'PDNG'),
  },
  { requiredKeys: ['units', 'on'] },
) as fc.Arbitrary<BankEntry>;
const entries = fc.array(entry, { maxLength: 5 });
const statement = fc.record({
  entries,
  opening: amount,
  version: fc.constantFrom('001.02' as const, '001.08' as const),
});
const inPieces = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
const readXml = (bytes: Buffer, size = 700) => readCamt(inPieces(bytes, size), EUR, 2);

fuzz(
  'statement: camt.053',
  'what the bank booked is what is read, however the bytes arrive',
  250,
  fc.tuple(statement, fc.integer({ min: 1, max: 2_000 }), fc.constantFrom<BufferEncoding>('utf8', 'utf16le')),
  async ([one, size, encoding]) => {
    const xml = camt({ from: '2026-11-01', to: '2026-11-28', ...one });
    // UTF-16 is recognised by its mark.
    const bytes =
      encoding === 'utf8' ? Buffer.from(xml) : Buffer.from(`\ufeff${xml.replace('UTF-8', 'UTF-16')}`, encoding);
    const [read] = await readXml(bytes, size);
    assert.ok(read);
    const booked = one.entries.filter(({ status }) => (status ?? 'BOOK') === 'BOOK');
    assert.deepEqual(
      read.lines.map((line) => [
        line.bookedOn,
        line.direction === 'credit' ? line.units : -line.units,
        line.chargeUnits,
      ]),
      booked.map(({ on, units }) => [on, units, 0n]),
    );
    read.lines.forEach((line, at) => {
      assert.equal(
        line.text,
        (booked[at]?.text ?? '').replaceAll(/\r\n?/g, '\n').trim().slice(0, LONGEST_TEXT),
        'text stays text',
      );
    });
    isSound([read]);
  },
);

fuzz(
  'statement: camt.053',
  'changed bytes are refused with a sentence, or are a sound statement',
  1_200,
  fc.tuple(
    mangled(
      statement.map((one) => camt(one)),
      4,
    ),
    fc.integer({ min: 1, max: 3_000 }),
  ),
  async ([bytes, size]) => {
    await readsOrRefuses(() => readXml(bytes, size));
  },
);

const SPLICES = [
  '<!DOCTYPE Document [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;&a;">]>',
  '<!DOCTYPE Document SYSTEM "file:///etc/passwd">',
  '&a;',
  '&#x0;',
  '&#99999999;',
  '<Ntry>',
  '</Ntry>',
  '<Amt Ccy="EUR">1.00</Amt>',
  '<Amt Ccy="USD">1.00</Amt>',
  '<Amt Ccy="EUR" Ccy="EUR">1.00</Amt>',
  '<x:Amt xmlns:x="urn:other" Ccy="EUR">1.00</x:Amt>',
  '<CdtDbtInd>CRDT</CdtDbtInd>',
  '<RvslInd>true</RvslInd>',
  '<constructor>1</constructor>',
  '<__proto__>1</__proto__>',
  '<toString/>',
  '<!-- -->',
  '<![CDATA[1.00]]>',
  '<?php echo 1 ?>',
  '\u0000',
  '<Stmt>',
  '</Stmt>',
];
fuzz(
  'statement: camt.053',
  'elements, entities and declarations between others',
  1_500,
  fc.tuple(statement, fc.array(fc.tuple(fc.nat(10_000), fc.constantFrom(...SPLICES)), { minLength: 1, maxLength: 3 })),
  async ([one, pieces]) => {
    let xml = camt(one);
    for (const [at, piece] of pieces) {
      // Between two tags, or inside a text.
      const places = [...xml.matchAll(/>/g)].map(({ index }) => index + 1);
      const place = places[at % places.length] ?? 0;
      xml = xml.slice(0, place) + piece + xml.slice(place);
    }
    const read = await readsOrRefuses(() => readXml(Buffer.from(xml)));
    if (read !== undefined)
      assert.ok(!xml.includes('<!DOCTYPE') && !xml.includes('&a;'), 'an entity or a declaration was accepted');
  },
);

fuzz(
  'statement: camt.053',
  'what is endless is refused before it fills the memory',
  12,
  fc.constantFrom('depth', 'attributes', 'text', 'comment', 'name', 'entries'),
  async (what) => {
    const [head = '', tail = ''] = camt({ entries: [] }).split('<CreDtTm>');
    const many = 60_000;
    const middle = {
      depth: '<a>'.repeat(many),
      attributes: `<a ${Array.from({ length: many }, (_, n) => `b${n}="1"`).join(' ')}/>`,
      text: `<a>${'x'.repeat(many * 10)}</a>`,
      comment: `<!--${'x'.repeat(many * 20)}-->`,
      name: `<${'x'.repeat(many * 10)}/>`,
      entries: '<Ntry><Amt Ccy="EUR">0.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Ntry>'.repeat(many / 20),
    }[what];
    const before = process.memoryUsage().heapUsed;
    await readsOrRefuses(() => readXml(Buffer.from(`${head}${middle}<CreDtTm>${tail}`), 65_536));
    assert.ok(process.memoryUsage().heapUsed - before < 200e6);
  },
);

const csvLine: fc.Arbitrary<CsvLine> = fc.record({
  units: amount,
  on: day,
  text: nasty.map((text) =>
    text
      .replaceAll(/[\r\n\ufeff]/g, ' ')
      .toWellFormed()
      .slice(0, 1_000),
  ),
  name: nasty.map((text) =>
    text
      .replaceAll(/[\r\n\ufeff]/g, ' ')
      .toWellFormed()
      .slice(0, 200),
  ),
});
const csvLines = fc.array(csvLine, { minLength: 1, maxLength: 6 });
const readCsv = (bytes: Buffer, size = 700) => readCsvStatement(inPieces(bytes, size), EUR, 2);

fuzz(
  'statement: CSV',
  'what the bank wrote is what is read',
  600,
  fc.tuple(csvLines, amount, fc.integer({ min: 1, max: 500 })),
  async ([lines, opening, size]) => {
    const [read] = await readCsv(Buffer.from(germanCsv(lines, { opening })), size);
    assert.ok(read);
    assert.deepEqual(
      read.lines.map((line) => [line.bookedOn, line.direction === 'credit' ? line.units : -line.units, line.text]),
      lines.map(({ on, units, text }) => [on, units, (text ?? '').trim().slice(0, LONGEST_TEXT)]),
    );
    assert.equal(read.opening, opening);
    isSound([read]);
  },
);

fuzz(
  'statement: CSV',
  'changed bytes are refused with a sentence, or are a sound statement',
  2_500,
  fc.tuple(
    mangled(
      csvLines.map((lines) => germanCsv(lines)),
      4,
    ),
    fc.integer({ min: 1, max: 3_000 }),
  ),
  async ([bytes, size]) => {
    await readsOrRefuses(() => readCsv(bytes, size));
  },
);

fuzz(
  'statement: CSV',
  'rows lost, doubled, swapped or altered never pass where the bank gives balances',
  600,
  fc.tuple(
    fc.array(csvLine, { minLength: 2, maxLength: 6 }),
    fc.nat(5),
    fc.constantFrom('lose', 'double', 'swap', 'alter'),
  ),
  async ([lines, which, how]) => {
    const rows = germanCsv(lines.map((line) => ({ ...line, text: '', name: '' }))).split('\r\n');
    const first = 3;
    const at = first + (which % lines.length);
    const [row = '', next = ''] = [rows[at], rows[at + 1]];
    // The first and the last may be lost: the rest is a shorter statement.
    if (how === 'lose' && (at === first || at === first + lines.length - 1)) return;
    if (how === 'lose') rows.splice(at, 1);
    else if (how === 'double') rows.splice(at, 0, row);
    else if (how === 'alter') rows[at] = row.replace(/;(-?[0-9.]+,[0-9]{2});EUR/, ';1.234.567.890.123,45;EUR');
    else if (next === '' || at === first + lines.length - 1) return;
    else rows.splice(at, 2, next, row);
    if (lines.length === 2 && (how === 'swap' || how === 'alter')) return; // two rows lead both ways, or the first stands alone
    const read = await readsOrRefuses(() => readCsv(Buffer.from(rows.join('\r\n'))));
    if (read === undefined) return;
    const sums = (of: readonly { units: bigint }[]) => of.reduce((sum, { units }) => sum + units, 0n);
    const meant = germanCsv(lines.toReversed());
    assert.ok(
      how !== 'alter' || which % lines.length === 0 || which % lines.length === lines.length - 1 || meant === '',
      `${how} at ${at} passed with ${sums(read[0]?.lines ?? [])}`,
    );
    assert.notEqual(how, 'double');
    assert.notEqual(how, 'lose');
  },
);

fuzz(
  'CSV rows',
  'what is written is what is read, but for line ends, and no cell is a formula',
  1_500,
  fc.array(
    fc.array(
      nasty.map((text) => text.toWellFormed().slice(0, 3_000)),
      { minLength: 2, maxLength: 5 },
    ),
    { minLength: 1, maxLength: 4 },
  ),
  (rows) => {
    const text = rows.map(writeRow).join('');
    const read = readRows(text, ',');
    assert.ok(read.ended);
    assert.equal(read.rows.length, rows.length);
    read.rows.forEach((row, at) => {
      assert.equal(row.length, rows[at]?.length);
      for (const cell of row) assert.ok(!/^\s*[=+\-@]/.test(cell), cell);
    });
  },
);

fuzz(
  'CSV rows',
  'anything is rows, or refused by its line',
  3_000,
  fc.tuple(mangled(fc.constant('a,"b ""c""",d\r\n1,"2\n3",4\r\n')), fc.constantFrom(',', ';', '\t', '|')),
  ([bytes, delimiter]) => {
    try {
      const { rows, lines } = readRows(bytes.toString('utf8'), delimiter);
      assert.equal(rows.length, lines.length);
    } catch (error) {
      assert.ok(error instanceof Refusal && /^Line [0-9]+ |^The file /.test(String(error.facts.why)), String(error));
    }
  },
);

const FORMS = [
  { decimal: '.', thousands: '' },
  { decimal: '.', thousands: ',' },
  { decimal: ',', thousands: '.' },
  { decimal: ',', thousands: ' ' },
  { decimal: '.', thousands: "'" },
] as const;
fuzz(
  'statement: amount',
  'is what was written, or none; never more',
  3_000,
  fc.tuple(
    fc.bigInt({ min: 0n, max: 10n ** 15n }),
    fc.boolean(),
    fc.constantFrom(...FORMS),
    fc.constantFrom('right', 'nasty'),
    nasty,
  ),
  ([units, below, form, how, other]) => {
    const digits = String(units).padStart(3, '0');
    const [whole, cents] = [digits.slice(0, -2), digits.slice(-2)];
    const grouped = form.thousands === '' ? whole : whole.replaceAll(/\B(?=(\d{3})+(?!\d))/g, form.thousands);
    const text = `${below ? '-' : ''}${grouped}${form.decimal}${cents}`;
    if (how === 'right') {
      assert.equal(readAmount(text, form, 2), below ? -units : units);
      // In another bank's format the same text is the same amount, or invalid.
      for (const another of FORMS) {
        const read = readAmount(text, another, 2);
        if (read !== undefined && another.decimal === form.decimal) assert.equal(read, below ? -units : units);
      }
      return;
    }
    const read = readAmount(other, form, 2);
    if (read === undefined) return;
    // A text read as an amount has exactly its digits.
    const plain = other.replaceAll(/[^0-9.,]/g, '');
    const [wholePart = '', fraction = ''] = plain
      .replaceAll(form.thousands === '' ? /(?!)/g : form.thousands, '')
      .split(form.decimal);
    assert.equal(read < 0n ? -read : read, BigInt(`${wholePart}${fraction.padEnd(2, '0').slice(0, 2)}`), other);
    assert.ok(/^0*$/.test(fraction.slice(2)));
  },
);

fuzz(
  'reference',
  'is found in whatever a bank makes of its text; never another',
  2_000,
  fc.tuple(
    fc.bigInt({ min: 0n, max: 32n ** 7n - 1n }),
    nasty,
    nasty,
    fc.constantFrom('plain', 'lower', 'spaced', 'dashed'),
  ),
  ([index, before, behind, how]) => {
    const reference = makeReference(index);
    const written = {
      plain: reference,
      lower: reference.toLowerCase(),
      spaced: reference.replaceAll(/(.{4})/g, '$1 '),
      dashed: reference.replaceAll(/(.{3})/g, '$1-'),
    }[how];
    assert.equal(findReference(written), reference);
    const found = findReference(`${before.slice(0, 100)} ${written} ${behind.slice(0, 100)}`);
    if (found !== '') assert.match(found, /^CL[0-9A-HJKMNP-TV-Z]{10}$/);
    assert.ok(findReference(nastyLong(before)).length <= 12);
  },
);
const nastyLong = (text: string): string => text.repeat(50);

fuzz(
  'payout key',
  'is found in whatever a bank makes of its text, alone',
  2_000,
  fc.tuple(
    fc.constantFrom('pay', 'ref'),
    fc.bigInt({ min: 1n, max: 10n ** 19n - 1n }),
    fc.integer({ min: 1, max: 9_999 }),
    nasty,
  ),
  ([kind, order, attempt, around]) => {
    const key = `${kind}_${order}_${attempt}`;
    assert.equal(keyIn(key.replaceAll('_', '-')), key);
    assert.equal(keyIn(key.toUpperCase()), key);
    assert.equal(
      keyIn(`${key} ${kind}_${order === 1n ? 2n : order - 1n}_${attempt}`),
      undefined,
      'a text with two keys gave a key',
    );
    const read = keyIn(around, `${around}${around}`);
    if (read !== undefined) assert.match(read, /^(pay|ref)_[0-9]+_[0-9]+$/);
  },
);

const DETAILS = ['name', 'holder', 'iban', 'account', 'bic', 'swift', 'ifsc', 'bankCode', 'routing', '__proto__', 'x'];
fuzz(
  'payee',
  'can be written into either file, or is refused with a word',
  1_500,
  fc.tuple(
    fc.dictionary(
      fc.constantFrom(...DETAILS),
      fc.oneof(
        nasty.map((text) => text.slice(0, 500)),
        fc.constantFrom('DE89370400440532013000', '000111222333', 'HDFC0001234', 'BYLADEM1001', 'Asha Rao'),
      ),
    ),
    fc.constantFrom(...accounts),
    fc.bigInt({ min: 1n, max: 10n ** 12n }),
  ),
  ([details, account, units]) => {
    const payee = payeeOf({ kind: 'account', details } as never, account);
    if ('why' in payee) {
      assert.match(payee.why, /^[a-z_]+$/);
      return;
    }
    const batch: Batch = {
      id: 1n,
      closedAt: new Date(0),
      account,
      decimals: 2,
      payouts: [{ endToEnd: 'pay-1-1', units, payee }],
    };
    const xml = writeFile('pain.001.001.09', batch);
    assert.equal(xml.match(/<InstdAmt /g)?.length, 1);
    assert.equal(xml.match(/<CdtTrfTxInf>/g)?.length, 1, 'a payee’s text opened an element');
    assert.ok(!/<!|&(?!(amp|lt|gt|quot|apos);)/.test(xml));
    const parser = new SaxesParser({ xmlns: true });
    parser.on('error', (error) => assert.fail(`no bank would take the file: ${error.message}`));
    parser.write(xml).close();
    const { rows } = readRows(writeFile('csv', batch), ',');
    assert.equal(rows.length, 2);
    assert.equal(rows[1]?.length, 9);
    assert.ok(plainAccount(payee.iban || payee.account).length <= 34);
  },
);

let world: ManualEnvironment;
before(async () => {
  world = await manualEnvironment();
});
after(async () => await world.stop());

/** Every statement of some days, one a day, of lines that may be alike. */
const history = fc.array(
  fc.array(
    fc.record({
      units: fc.bigInt({ min: 1n, max: 500n }),
      text: fc.constantFrom('rent', 'rent', 'CL0000AB7K3Q', ''),
      ref: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  { minLength: 2, maxLength: 6 },
);
/** The days of a file, and the number of lines of its last day: a day may not be over yet. */
const reading = fc.array(fc.tuple(fc.nat(5), fc.nat(5), fc.nat(4)), { maxLength: 6 });

fuzz(
  'statements taken in',
  'twice, overlapping, in pieces and out of order, every line is there once',
  14,
  fc.tuple(history, reading),
  async ([days, windows]) => {
    await world.rows.query(
      'truncate manual_lines, manual_statements, manual_imports, bank_lines, bank_cursors, bank_odd_lines cascade',
    );
    let count = 0;
    const perDay = days.map((lines, n) =>
      lines.map(({ units, text, ref }): BankEntry => {
        count += 1;
        return { units, text, on: `2026-11-${String(n + 1).padStart(2, '0')}`, ...(ref ? { ref: `REF${count}` } : {}) };
      }),
    );
    const sums = perDay.map((lines) => lines.reduce((sum, { units }) => sum + units, 0n));
    const opening = (n: number): bigint => 1_000n + sums.slice(0, n).reduce((sum, units) => sum + units, 0n);
    const on = (n: number): string => `2026-11-${String(n + 1).padStart(2, '0')}`;
    const file = (from: number, to: number, ofLast: number): string =>
      camt({
        id: `S${from}-${to}-${ofLast}`,
        opening: opening(from),
        from: on(from),
        to: on(to),
        entries: [...perDay.slice(from, to).flat(), ...(perDay[to] ?? []).slice(0, ofLast)],
      });
    const last = days.length - 1;
    const outcome: string[] = [];
    const asked = [
      [0, 0, 4],
      ...windows.map(([a, b, of]) => [a % days.length, b % days.length, of]),
      [0, last, 4],
      [0, last, 4],
    ];
    for (const [a = 0, b = 0, of = 0] of asked) {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const before = await facts();
      try {
        await world.imports(file(from, to, of));
        outcome.push(`${from}-${to} (${of})`);
      } catch (error) {
        assert.ok(error instanceof Refusal && error.code === 'file_refused', String((error as Error).stack));
        outcome.push(`${from}-${to} (${of}) refused: ${error.facts.why}`);
        assert.deepEqual(await facts(), before, 'a refused file left rows');
      }
    }
    const found = await facts();
    const meant = [
      'credit 1000 opening',
      ...perDay.flatMap((lines) => lines.map(({ units, on: bookedOn }) => `credit ${units} ${bookedOn}`)),
    ];
    assert.deepEqual(found, meant.toSorted(), outcome.join('\n'));
    assert.equal(await world.asks((desk, tx) => desk.missing(tx, 'eur')), 0n, 'a gap is reported');
  },
);

async function facts(): Promise<string[]> {
  const rows = await world.rows.query(
    `select direction || ' ' || units || ' ' || case when external_id like 'opening%' then 'opening' else booked_on::text end as line
       from manual_lines`,
  );
  return rows.map(({ line }) => String(line)).toSorted();
}

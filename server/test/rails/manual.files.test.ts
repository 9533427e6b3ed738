/**
 * Files of the manual bank, out and in, without a database: written files are valid and harmless, read ones are exact, and hostile,
 * cut or random input is not accepted as a statement.
 *
 * Long because three formats share their fixtures.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { XmlDocument, XmlValidateError, XsdValidator } from 'libxml2-wasm';
import { readCamt } from '../../src/rails/manual/camt.ts';
import { extended, fit, missing, type Taken } from '../../src/rails/manual/continuity.ts';
import { readAmount, readCsvStatement } from '../../src/rails/manual/csv.statement.ts';
import { readRows, writeRow } from '../../src/rails/manual/csv.ts';
import { type Batch, writeFile } from '../../src/rails/manual/files.ts';
import { lineIds } from '../../src/rails/manual/identity.ts';
import { endToEndOf, keyIn, type PayeeDetails, payeeOf, sepaText } from '../../src/rails/manual/payee.ts';
import type { ReadLine, ReadStatement } from '../../src/rails/manual/read.ts';
import { type ManualAccount, readManualBank } from '../../src/rails/manual/settings.ts';
import { patience } from '../support/patience.ts';
import { type BankEntry, type CsvLine, camt, germanCsv, SETTINGS } from '../support/statements.ts';

const { accounts } = readManualBank(JSON.stringify(SETTINGS));
const EUR = accounts[0] as ManualAccount;
const INR = accounts[1] as ManualAccount;
const schema = new URL('../fixtures/iso20022/pain.001.001.09.xsd', import.meta.url);
const validator = XsdValidator.fromDoc(XmlDocument.fromBuffer(readFileSync(schema)));

const isRefused = (error: unknown): boolean => {
  const { code, facts } = error as { code?: string; facts?: { why?: string } };
  assert.equal(code, 'file_refused', String(error));
  assert.match(facts?.why ?? '', /^[A-Z].*\.$/);
  return true;
};
const refuses = (why: RegExp) => (error: unknown) => {
  assert.ok(isRefused(error));
  assert.match((error as { facts: { why: string } }).facts.why, why);
  return true;
};
const bytes = (text: string): Buffer => Buffer.from(text);
const readXml = (text: string | Buffer): Promise<ReadStatement[]> => readCamt([Buffer.from(text)], EUR, 2);
const readCsv = (text: string | Buffer): Promise<ReadStatement[]> => readCsvStatement([Buffer.from(text)], EUR, 2);

const payee = (details: Partial<PayeeDetails>): PayeeDetails => ({
  name: 'Asha Rao',
  iban: 'DE89370400440532013000',
  account: '',
  bic: '',
  ifsc: '',
  bankCode: '',
  ...details,
});
const batch = (account: ManualAccount, payouts: Batch['payouts']): Batch => ({
  id: 7n,
  closedAt: new Date('2026-11-20T09:30:00.123Z'),
  account,
  decimals: 2,
  payouts,
});

describe('a payout file', () => {
  const rupees = { ...INR, payoutFile: 'pain.001.001.09' as const };

  it('has exactly these bytes as pain.001.001.09, and is valid against the schema', () => {
    const text = writeFile(
      'pain.001.001.09',
      batch(EUR, [
        { endToEnd: 'pay-17-1', units: 12_345n, payee: payee({ name: 'Jürgen Groß & Söhne <b>', bic: 'COBADEFFXXX' }) },
        { endToEnd: 'ref-18-2', units: 5n, payee: payee({}) },
      ]),
    );
    assert.equal(text, readFileSync(new URL('../fixtures/iso20022/two-payouts.xml', import.meta.url), 'utf8'));
    validator.validate(XmlDocument.fromString(text));
  });

  it('requests payment on the day that it is at the bank', () => {
    const dated = (timeZone: string, closedAt: string) => {
      const closed = { ...batch({ ...rupees, timeZone }, []), closedAt: new Date(closedAt) };
      return /<ReqdExctnDt><Dt>(.*?)<\/Dt>/.exec(writeFile('pain.001.001.09', closed).replaceAll(/\s/g, ''))?.[1];
    };
    assert.equal(dated('Asia/Kolkata', '2026-11-20T20:00:00Z'), '2026-11-21');
    assert.equal(dated('America/New_York', '2026-11-20T03:00:00Z'), '2026-11-19');
  });

  it('is checked with a schema that refuses invalid files', () => {
    const text = writeFile('pain.001.001.09', batch(EUR, [{ endToEnd: 'pay-17-1', units: 1n, payee: payee({}) }]));
    for (const [from, to] of [
      ['<PmtMtd>TRF<', '<PmtMtd>CASH<'],
      ['<EndToEndId>pay-17-1<', `<EndToEndId>${'x'.repeat(36)}<`],
      ['Cdtr>', 'Creditor>'],
      ['Ccy="EUR"', ''],
      ['<NbOfTxs>1<', '<NbOfTxs>one<'],
    ] as const)
      assert.throws(
        () => validator.validate(XmlDocument.fromString(text.replaceAll(from, to))),
        XmlValidateError,
        from,
      );
  });

  it('is valid for all names of people and banks', () => {
    const anyName = fc.string({ unit: 'binary', minLength: 2, maxLength: 80 }).map((name) => `Ab${name}`);
    const payees = fc.record({
      name: anyName,
      iban: fc.constantFrom('', 'DE89370400440532013000'),
      account: fc.constant('99887766'),
      bic: fc.constantFrom('', 'COBADEFF'),
      ifsc: fc.constantFrom('', 'SIMU0000001'),
      bankCode: fc.constantFrom('', '40-47-84'),
    });
    const payouts = fc.array(fc.tuple(payees, fc.bigInt({ min: 1n, max: 10n ** 15n })), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(payouts, fc.constantFrom(EUR, rupees), (given, account) => {
        const text = writeFile(
          'pain.001.001.09',
          batch(
            account,
            given.map(([to, units], i) => ({ endToEnd: `pay-${i}-1`, units, payee: to })),
          ),
        );
        const document = XmlDocument.fromString(text);
        validator.validate(document);
        const sum = given.reduce((all, [, units]) => all + units, 0n);
        const written = document.get('//p:GrpHdr/p:CtrlSum', { p: 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09' });
        assert.equal(written?.content.replace('.', ''), String(sum).padStart(3, '0'));
        document.dispose();
      }),
      { numRuns: 60 },
    );
  });

  it('has exactly these bytes as CSV, with formulas for spreadsheets defused', () => {
    const text = writeFile(
      'csv',
      batch(INR, [
        {
          endToEnd: 'pay-17-1',
          units: 12_300n,
          payee: payee({ name: 'Rao, "Asha"', iban: '', account: '0012', ifsc: 'SIMU0000001' }),
        },
        {
          endToEnd: 'pay-18-1',
          units: 1n,
          payee: payee({ name: '=HYPERLINK("http://x")\nz', iban: '', account: '-5' }),
        },
      ]),
    );
    assert.equal(
      text,
      [
        '"reference","amount","currency","name","account","iban","bic","ifsc","bank_code"',
        `"pay-17-1","123.00","INR","Rao, ""Asha""","0012","","","SIMU0000001",""`,
        `"pay-18-1","0.01","INR","'=HYPERLINK(""http://x"") z","'-5","","","",""`,
        '',
      ].join('\r\n'),
    );
  });

  it('is read back unchanged as CSV, and no field begins a formula', () => {
    const fields = fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(fields, { minLength: 1, maxLength: 5 }), (rows) => {
        const read = readRows(rows.map(writeRow).join(''), ',').rows;
        assert.equal(read.length, rows.length);
        for (const [i, row] of rows.entries()) {
          assert.equal(read[i]?.length, row.length);
          for (const field of read[i] ?? []) assert.doesNotMatch(field, /^\s*[=+\-@＝＋－＠]|[\r\n\t]/u);
        }
      }),
    );
    for (const start of ['=', '+', '-', '@', '\t=', '\r=', '＝', ' ='])
      assert.ok(writeRow([start]).startsWith(`"'`), start);
  });

  it('carries a key of ours there and back', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('pay', 'ref'),
        fc.bigInt({ min: 0n, max: 2n ** 53n }),
        fc.integer({ min: 1, max: 99 }),
        (kind, order, attempt) => {
          const key = `${kind}_${order}_${attempt}`;
          const carried = endToEndOf(key);
          assert.match(carried, /^[A-Za-z0-9-]{1,35}$/);
          assert.equal(sepaText(carried, 140), carried);
          for (const text of [carried, carried.toUpperCase(), `EREF: ${carried} KREF`, [...carried].join('\n')])
            assert.equal(keyIn(text), key);
        },
      ),
    );
    assert.equal(keyIn('pay-1-1 pay-2-1'), undefined);
    assert.equal(keyIn('', 'a ref-3-1 b'), 'ref_3_1');
    assert.equal(endToEndOf(`pay_${'9'.repeat(40)}_1`), '');
  });

  it('accepts only payees that fit its fields', () => {
    const to = (details: Record<string, string>, account = EUR) => payeeOf({ kind: 'account', details }, account);
    assert.deepEqual(to({ name: 'A B', account: 'de89 3704 0044 0532 0130 00' }), payee({ name: 'A B' }));
    assert.deepEqual(to({ name: 'A', account: '12' }, INR), payee({ name: 'A', iban: '', account: '12' }));
    assert.deepEqual(to({ name: 'A B', account: 'DE00370400440532013000' }), { why: 'no_iban' });
    assert.deepEqual(payeeOf({ kind: 'address', address: '0x' }, EUR), { why: 'not_an_account' });
  });
});

const ENTRIES: BankEntry[] = [
  { units: 10_000n, ref: 'A1', text: 'rent & more', name: 'Zoë Müller', endToEnd: 'E1' },
  { units: -12_345n, ref: 'A2', endToEnd: 'pay-17-1', name: 'Payee', chargeUnits: 45n },
  { units: 12_345n, ref: 'A3', endToEnd: 'pay-17-1', returned: 'AC04' },
  { units: 1n, status: 'PDNG' },
  { units: -300n, reversal: true, endToEnd: 'E1' },
];

describe('a camt.053', () => {
  it('has the same content in version 001.02 and 001.08', async () => {
    const [old, recent] = [
      await readXml(camt({ version: '001.02', entries: ENTRIES })),
      await readXml(camt({ entries: ENTRIES })),
    ];
    assert.deepEqual(old, recent);
    assert.deepEqual(
      old[0]?.lines.map(({ direction, units, chargeUnits, bankRef, endToEnd, returned, reversal }) => [
        direction,
        units,
        chargeUnits,
        bankRef,
        endToEnd,
        returned,
        reversal,
      ]),
      [
        ['credit', 10_000n, 0n, 'A1', 'E1', undefined, false],
        ['debit', 12_300n, 45n, 'A2', 'pay-17-1', undefined, false],
        ['credit', 12_345n, 0n, 'A3', 'pay-17-1', 'AC04', false],
        ['debit', 300n, 0n, '', 'E1', undefined, true],
      ],
    );
    assert.deepEqual([old[0]?.lines[0]?.text, old[0]?.lines[0]?.name], ['rent & more', 'Zoë Müller']);
  });

  it('splits a batch into its details only where their sum equals the entry', async () => {
    const parts = [
      { units: -100n, endToEnd: 'pay-1-1' },
      { units: -200n, endToEnd: 'pay-2-1' },
    ];
    const [whole] = await readXml(camt({ entries: [{ units: -300n, ref: 'B', parts }] }));
    assert.deepEqual(
      whole?.lines.map(({ units, endToEnd, bankRef }) => [units, endToEnd, bankRef]),
      [
        [100n, 'pay-1-1', 'B pay-1-1'],
        [200n, 'pay-2-1', 'B pay-2-1'],
      ],
    );
    const [odd] = await readXml(camt({ entries: [{ units: -301n, ref: 'B', parts }] }));
    assert.deepEqual(
      odd?.lines.map(({ units, endToEnd }) => [units, endToEnd]),
      [[301n, '']],
    );
  });

  it('is read the same in any chunks and encoding', async () => {
    const text = camt({ entries: ENTRIES });
    const expected = await readXml(text);
    const utf16 = (order: 'le' | 'be') => {
      const raw = Buffer.from(`\ufeff${text.replace('UTF-8', 'UTF-16')}`, 'utf16le');
      return order === 'le' ? raw : raw.swap16();
    };
    const latin = Buffer.from(text.replace('UTF-8', 'ISO-8859-1'), 'latin1');
    for (const other of [bytes(`\ufeff${text}`), utf16('le'), utf16('be'), latin])
      assert.deepEqual(await readXml(other), expected);
    await assert.rejects(readXml(Buffer.from(text, 'latin1')), refuses(/not in the encoding/));
    await assert.rejects(
      readXml(text.replace('UTF-8', 'EBCDIC')),
      refuses(/an encoding that the server does not support/),
    );
    const raw = bytes(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 }), async (sizes) => {
        const pieces: Buffer[] = [];
        for (let at = 0, i = 0; at < raw.length; i += 1) {
          const size = sizes[i % sizes.length] ?? 1;
          pieces.push(raw.subarray(at, at + size));
          at += size;
        }
        assert.deepEqual(await readCamt(pieces, EUR, 2), expected);
      }),
      { numRuns: 30 },
    );
  });

  it('cut at any byte is refused', async () => {
    const raw = bytes(camt({ entries: ENTRIES.slice(0, 2) }).trimEnd());
    for (let end = 0; end < raw.length; end += 1)
      await assert.rejects(readXml(raw.subarray(0, end)), isRefused, `at ${end}`);
    await readXml(raw);
  });

  it('that is hostile is refused, and quickly', async () => {
    const good = camt({ entries: ENTRIES });
    const declared = (declaration: string, use = '') =>
      good.replace('<Document', `<!DOCTYPE Document [${declaration}]><Document`).replace('rent', `${use}rent`);
    const laughs = Array.from({ length: 12 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('');
    const nested = (depth: number) => good.replace('<Ntry>', `<Ntry>${'<X>'.repeat(depth)}${'</X>'.repeat(depth)}`);
    const isLate = patience(2_000);
    for (const [file, why] of [
      [declared(`<!ENTITY l0 "ha">${laughs}`, '&l12;'), /document type/],
      [declared('<!ENTITY x SYSTEM "file:///etc/passwd">', '&x;'), /document type/],
      [declared('<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;'), /document type/],
      [good.replace('rent', '&x;'), /not well-formed/],
      [nested(60), /nested too deeply/],
      [good.replace('rent', 'r'.repeat(3_000)), /text of more than/],
      [good.replace('<Ntry>', `<Ntry ${Array.from({ length: 30 }, (_, i) => `a${i}="1"`).join(' ')}>`), /attributes/],
      [good.replace('>100.00<', '>1e2<'), /no readable amount/],
      [good.replace('>100.00<', '>-100.00<'), /no readable amount/],
      [good.replace('>100.00<', '>100.001<'), /no readable amount/],
      [good.replace('>100.00<', `>${'9'.repeat(60)}<`), /no readable amount/],
      [good.replace('<CdtDbtInd>CRDT</CdtDbtInd><Dt>', '<Dt>'), /not marked as a credit or a debit/],
      [good.replaceAll('2026-11-20<', '2026-02-30<'), /no (day|date)/],
      [good.replaceAll('CLBD', 'XXXX'), /balance is missing/],
      [good.replace('</Document>', '</Document><Document/>'), /not well-formed/],
      [good.replace(/<Stmt>.*<\/Stmt>/s, ''), /no statement/],
      [`<Envelope>${good.replace(/<\?.*\?>/, '')}</Envelope>`, /not a camt.053/],
    ] as const)
      await assert.rejects(readXml(file), refuses(why), String(why));
    assert.ok(!isLate(), 'a file that is refused took two seconds');
    // Moderately nested elements and those of another namespace are ignored.
    await readXml(nested(20));
    const foreign = good.replace(
      '</Ntry>',
      '<SplmtryData><Ntry xmlns="urn:x"><Amt Ccy="EUR">9</Amt></Ntry></SplmtryData></Ntry>',
    );
    assert.deepEqual(await readXml(foreign), await readXml(good));
  });

  it('above the size limit is refused while it is being read', async () => {
    let given = 0;
    async function* endless() {
      yield bytes(camt({ entries: [] }).split('</BkToCstmrStmt>')[0] ?? '');
      for (;;) {
        given += 1;
        yield Buffer.alloc(1024 * 1024, ' ');
      }
    }
    await assert.rejects(readCamt(endless(), EUR, 2), refuses(/larger than 64 MB/));
    assert.ok(given <= 65);
  });

  it('of random or altered bytes is either refused or read, and never fails otherwise', async () => {
    const raw = bytes(camt({ entries: ENTRIES }));
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (random) => {
        for (const read of [readXml, readCsv]) await assert.rejects(read(Buffer.from(random)), isRefused);
      }),
    );
    const change = fc.tuple(fc.integer({ min: 0, max: raw.length - 1 }), fc.integer({ min: 0, max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const other = Buffer.from(raw);
        for (const [at, byte] of changes) other[at] = byte;
        await readXml(other).catch(isRefused);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a CSV statement', () => {
  const LINES: CsvLine[] = [
    { units: 123_456_789n, text: 'one; two\n"three"', name: 'Zoë' },
    { units: -5n, text: 'fee', on: '2026-11-19' },
    { units: 700n, kind: 'Rueckueberweisung', text: 'pay-17-1 AC04' },
    { units: 0n, text: 'nothing' },
  ];

  it('is read by its dates where its rows add up from either end', async () => {
    const text = germanCsv(
      [
        { units: -100n, on: '2026-11-19' },
        { units: 100n, on: '2026-11-20' },
      ],
      { opening: 100n },
    );
    const rows = text.split('\r\n');
    const newestFirst = [...rows.slice(0, 3), rows[4], rows[3], ''].join('\r\n');
    for (const one of [text, newestFirst]) {
      const [statement] = await readCsv(one);
      assert.deepEqual([statement?.opening, statement?.closing, statement?.reversed], [100n, 100n, undefined]);
    }
  });

  it('is read with its amounts, days, returns and balances', async () => {
    const [one] = await readCsv(germanCsv(LINES, { opening: -100n }));
    assert.deepEqual(
      [one?.from, one?.to, one?.opening, one?.closing],
      ['2026-11-19', '2026-11-20', -100n, 123_457_384n],
    );
    assert.deepEqual(
      one?.lines.map(({ direction, units, text, returned }) => [direction, units, text, returned]),
      [
        ['credit', 123_456_789n, 'one; two\n"three"', undefined],
        ['debit', 5n, 'fee', undefined],
        ['credit', 700n, 'pay-17-1 AC04', 'AC04'],
      ],
    );
  });

  it('cut at any byte is refused, or has complete lines from its beginning', async () => {
    const raw = bytes(germanCsv(LINES));
    const [whole] = await readCsv(raw);
    let shorter = 0;
    for (let end = 0; end < raw.length; end += 1) {
      try {
        const [part] = await readCsv(raw.subarray(0, end));
        assert.deepEqual(part?.lines ?? [], whole?.lines.slice(0, part?.lines.length ?? 0), `at ${end}`);
        shorter += 1;
      } catch (error) {
        assert.ok(isRefused(error));
      }
    }
    // One for each line end, and within CR LF two.
    assert.ok(shorter >= LINES.length && shorter <= 2 * (LINES.length + 1), String(shorter));
  });

  it('in another form is refused with the line and the rule', async () => {
    const good = germanCsv(LINES.slice(1, 3));
    for (const [file, why] of [
      [good.replace('"fee"', '"fee'), /Line \d/],
      [good.replace('"fee"', 'f"e"e'), /Line 4 has a quote inside an unquoted/],
      [good.replace('"fee"', '"fee"x'), /Line 4 has text after/],
      [good.replace('"fee";', ''), /Line 4 has 8 fields, and the header has 9/],
      [good.replace('-0,05', '-0.05'), /Line 4 has no readable amount/],
      [good.replace('-0,05', ''), /Line 4 has no readable amount/],
      [good.replace('"19.11.2026"', '"31.11.2026"'), /Line 4 has no date/],
      [good.replace('"19.11.2026"', '"2026-11-19"'), /Line 4 has no date/],
      [good.replace('Betrag', 'Amount'), /no header with the column Betrag/],
      [good.replace('Art', 'Betrag'), /no header with the column Art/],
      [good.replace('"fee"', `"${'x'.repeat(5_000)}"`), /field of more than/],
      [`${good.slice(0, -2)};${';'.repeat(300)}\r\n`, /more than 200 fields/],
      ['a;b\r\n'.repeat(60_002), /more than 60000 rows/],
    ] as const)
      await assert.rejects(readCsv(file), refuses(why), String(why));
  });

  it('has exact amounts in every form, and ambiguous ones are refused', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
        fc.constantFrom('.', ','),
        fc.constantFrom('', '.', ',', ' ', "'"),
        (units, decimal, thousands) => {
          fc.pre(decimal !== thousands);
          const digits = String(units < 0n ? -units : units).padStart(3, '0');
          const whole = digits.slice(0, -2).replaceAll(/\B(?=(\d{3})+(?!\d))/g, thousands);
          const text = `${whole}${decimal}${digits.slice(-2)}`;
          const form = { decimal, thousands } as const;
          assert.equal(readAmount(`${units < 0n ? '-' : ''}${text}`, form, 2), units);
          assert.equal(readAmount(`${text}${units < 0n ? '-' : '+'}`, form, 2), units);
        },
      ),
    );
    const german = { decimal: ',', thousands: '.' } as const;
    for (const text of [
      '',
      '-',
      ',',
      '1,',
      '1,234',
      '1.23',
      '1.2345',
      '12.34,5',
      '1,2,3',
      '--1',
      '-1-',
      '1e3',
      '0x1',
      'NaN',
      '١',
      '(1)',
    ])
      assert.equal(readAmount(text, german, 2), undefined, text);
    assert.equal(readAmount('1.234', german, 2), 123_400n);
  });
});

describe('the identity of lines', () => {
  const line = fc.record({
    bookedOn: fc.constantFrom('2026-11-19', '2026-11-20'),
    direction: fc.constantFrom('credit', 'debit'),
    units: fc.bigInt({ min: 1n, max: 3n }),
    chargeUnits: fc.constant(0n),
    bankRef: fc.constantFrom('', 'R1', 'R2'),
    endToEnd: fc.constantFrom('', 'E'),
    paymentId: fc.constant(''),
    batch: fc.constant(''),
    text: fc.constantFrom('rent', 'Miete für März'),
    name: fc.constant(''),
    account: fc.constant(''),
    reversal: fc.constant(false),
  }) as fc.Arbitrary<ReadLine>;

  it('is unique in a file, the same in any order, and kept by lines of a longer file', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.array(line, { maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        (lines, more, randomness) => {
          const ids = lineIds('eur', lines);
          assert.equal(new Set(ids).size, lines.length);
          const shuffled = lines
            .map((one) => ({ one, by: randomness.next().value ?? 0 }))
            .toSorted((a, b) => a.by - b.by);
          assert.deepEqual(
            lineIds(
              'eur',
              shuffled.map(({ one }) => one),
            ).toSorted(),
            ids.toSorted(),
          );
          const longer = new Set(lineIds('eur', [...lines, ...more]));
          for (const id of ids) assert.ok(longer.has(id));
          for (const id of lineIds('inr', lines)) assert.ok(!ids.includes(id));
        },
      ),
    );
  });
});

describe('continuity', () => {
  it('of correct statements, in any order and overlap, ends without a gap or a contradiction', () => {
    const span = fc
      .tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }))
      .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 1n, max: 50n }), { minLength: 10, maxLength: 10 }),
        span,
        fc.array(span, { maxLength: 8 }),
        (days, [begins, ends], spans) => {
          const balance = (day: number) => days.slice(0, day).reduce((sum, units) => sum + units, 0n);
          const dayOf = (day: number) => `2026-11-${String(day + 10)}`;
          const seen = new Set<number>();
          let taken: Taken | undefined;
          // At the end a statement of everything comes, as a bank would give it on request.
          for (const [from, to] of [[begins, ends] as const, ...spans, [begins, 9] as const]) {
            const statement = {
              from: dayOf(from),
              to: dayOf(to),
              sequence: null,
              opening: balance(from),
              closing: balance(to + 1),
            };
            const all = Array.from({ length: to - from + 1 }, (_, i) => from + i);
            const fresh = all.filter((day) => !seen.has(day));
            const freshSum = fresh.reduce((sum, day) => sum + (days[day] ?? 0n), 0n);
            const known = all.length - fresh.length;
            const fits = fit(taken, statement, { known, freshSum, freshFrom: fresh.map(dayOf)[0], shownBefore: false });
            assert.equal(fits.fit === 'too_early', from < begins);
            if (fits.fit === 'too_early') continue;
            assert.notEqual(fits.fit, 'contradicts');
            taken =
              taken === undefined
                ? { first: statement, newest: statement, sum: freshSum }
                : extended(taken, statement, freshSum);
            for (const day of fresh) seen.add(day);
          }
          assert.equal(taken && missing(taken), 0n);
        },
      ),
    );
  });
});

describe('settings', () => {
  it('are refused with the field and its rule, and unknown fields are refused, too', () => {
    const [account] = SETTINGS.accounts;
    const withAccount = (change: object) => ({ accounts: [{ ...account, ...change }] });
    for (const [given, why] of [
      ['{', /is not JSON/],
      [{}, /accounts must be a list/],
      [{ accounts: [] }, /accounts must be a list/],
      [{ ...SETTINGS, cod: 'x' }, /\.cod is no field/],
      [{ ...SETTINGS, code: 'evm.x' }, /code must be bank\./],
      [{ ...SETTINGS, statementDeadlineDays: 0 }, /statementDeadlineDays/],
      [{ accounts: [account, account] }, /another asset/],
      [withAccount({ iban: 'DE00120300000000202051' }), /accounts\[0\]\.iban/],
      [withAccount({ iban: undefined }), /must have an iban or an accountNumber/],
      [withAccount({ currency: 'eur' }), /currency must be three capital letters/],
      [withAccount({ payoutFile: 'xlsx' }), /accounts\[0\]\.payoutFile must be one of 'csv'/],
      [withAccount({ timeZone: 'Asia/Kolkatta' }), /accounts\[0\]\.timeZone must be the name of a time zone/],
      [withAccount({ timeZone: '+05:30' }), /accounts\[0\]\.timeZone must be the name of a time zone/],
      [withAccount({ timeZone: '' }), /accounts\[0\]\.timeZone must be the name of a time zone/],
      [withAccount({ timeZone: null }), /accounts\[0\]\.timeZone must be the name of a time zone/],
      [withAccount({ holder: '' }), /accounts\[0\]\.holder must be a text/],
      [withAccount({ fundingAccounts: ['x', 7] }), /accounts\[0\]\.fundingAccounts\[1\] must be a text/],
      [
        withAccount({ csv: { columns: { bookedOn: 'a', amount: 'b', credit: 'c', text: [] } } }),
        /either amount, or credit and debit/,
      ],
      [withAccount({ csv: { columns: { bookedOn: 'a', amount: 'b', text: [] }, date: 'D.M.Y' } }), /date must have/],
      [
        withAccount({ csv: { columns: { bookedOn: 'a', amount: 'b', text: [] }, decimal: ',', thousands: ',' } }),
        /thousands must differ/,
      ],
    ] as const)
      assert.throws(() => readManualBank(typeof given === 'string' ? given : JSON.stringify(given)), {
        name: 'SettingError',
        message: why,
      });
  });
});

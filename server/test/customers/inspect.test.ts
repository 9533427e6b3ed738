/** A valid file: one picture or document of an accepted kind, and nothing else. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { Unavailable } from '../../src/base/errors.ts';
import { inspect, inspectAny, inspectAside } from '../../src/customers/index.ts';
import { HOSTILE, predicted, stream, text } from '../support/hostilefiles.ts';
import { patience } from '../support/patience.ts';
import { ordinaryPdfs } from '../support/pdfs.ts';
import { chunk, jpeg, objectStream, pdf, png, webp } from '../support/pictures.ts';

const GOOD: Record<string, [Buffer, string]> = {
  'a JPEG': [jpeg(), 'image/jpeg'],
  'a JPEG with a camera’s notes': [jpeg({ more: [[0xe1, text('Exif\0\0MM\0*')]] }), 'image/jpeg'],
  'a PNG': [png(), 'image/png'],
  'a PNG with a comment': [png({ more: [chunk('tEXt', text('Comment\0a scan'))] }), 'image/png'],
  'a WEBP': [webp(), 'image/webp'],
  'a PDF': [pdf(), 'application/pdf'],
  'a PDF with a picture, remarks and brackets in a text': [
    pdf(
      stream('/Subtype /Image /Filter /DCTDecode % a scan >> \n', '/AA /JS /EF /XFA') +
        '1 0 obj\n<< /Title (a \\( b (c) >>) /ID [<0a> <0B>] /First 2 0 R /Last 2 0 R >>\nendobj\n',
    ),
    'application/pdf',
  ],
  'a PDF with a trailer in a stream': [
    pdf(
      stream(
        '/Type /XRef /W [1 2 1] /Size 3 /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 4 >>',
        deflateSync(predicted('\u0001\0\u0009\0', 4)),
      ),
    ),
    'application/pdf',
  ],
  ...Object.fromEntries(
    Object.entries(ordinaryPdfs()).map(([what, bytes]): [string, [Buffer, string]] => [
      what,
      [bytes, 'application/pdf'],
    ]),
  ),
  'a PDF with compressed objects': [pdf(objectStream('1 0 << /Type /Catalog >>')), 'application/pdf'],
};

describe('taken', () => {
  for (const [what, [bytes, type]] of Object.entries(GOOD))
    test(what, () => assert.deepEqual(inspect(bytes), { type }));
});
describe('refused', () => {
  test('there are 100 different ones', () =>
    assert.ok(new Set(Object.values(HOSTILE).map(([bytes]) => bytes.toString('latin1'))).size >= 100));
  for (const [what, [bytes, why]] of Object.entries(HOSTILE))
    test(what, () => {
      const found = inspect(bytes);
      assert.ok('why' in found, JSON.stringify(found));
      assert.match(found.why, why);
    });
});
const CUSTOMER = { id: 'customer', partnerId: 7n };

test('any beginning of a good file, and any file with a byte changed, is read without a fault of ours', () => {
  for (const [bytes] of Object.values(GOOD))
    for (let at = 0; at < bytes.length - 1; at += 1) {
      const part = bytes.subarray(0, at);
      // Before a later part was added the file was whole.
      if (!/%%EOF\s*$/.test(part.toString('latin1'))) assert.ok('why' in inspect(part));
      inspect(Buffer.from(bytes.map((byte, n) => (n === at ? byte ^ 0xff : byte))));
    }
});

test('the main thread goes on while a PDF is inspected, and one that takes too long is refused', async () => {
  const slow = pdf('1 0 obj<<>>'.repeat(180_000));
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const refused = inspectAny([{ content: slow }], CUSTOMER).finally(() => {
    isOver = true;
  });
  await assert.rejects(refused, { code: 'malformed_field' });
  assert.ok(turns > 50, `${turns} turns of the main thread`);

  const why = /takes too long/;
  const found = await inspectAside(slow, { one: CUSTOMER.id }, 1);
  assert.ok('why' in found && why.test(found.why), JSON.stringify(found));
  // Its thread was ended, and another one is started.
  const all = await Promise.all([pdf(), png(), pdf()].map((content) => inspectAside(content, { one: CUSTOMER.id })));
  assert.deepEqual(all, [{ type: 'application/pdf' }, { type: 'image/png' }, { type: 'application/pdf' }]);
});

test('a customer has two PDFs under inspection at most, so one who sends many does not turn the others away', async () => {
  const slow = pdf('1 0 obj<<>>'.repeat(180_000));
  const sent = await Promise.allSettled([
    ...Array.from({ length: 20 }, () => inspectAside(slow, { one: 'of many' })),
    inspectAside(pdf(), { one: 'another' }),
  ]);
  assert.deepEqual(sent.pop(), { status: 'fulfilled', value: { type: 'application/pdf' } });
  const refused = sent.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  assert.equal(refused.length, 18);
  assert.ok(refused.every((why) => why instanceof Unavailable));
  assert.deepEqual(await inspectAside(pdf(), { one: 'of many' }), { type: 'application/pdf' });
});

test('customers of one partner fill no more than half of the places, and a file of another partner is next', async () => {
  const slow = pdf('1 0 obj<<>>'.repeat(60_000));
  const done: string[] = [];
  const inspects = async (one: string, partner: string, content: Buffer) => {
    await inspectAside(content, { one, partner });
    done.push(one);
  };
  const ofMany = Array.from({ length: 12 }, (_, at) => inspects(`customer ${at}`, 'many', slow));
  const other = inspects('other', 'few', pdf());
  const results = await Promise.allSettled([...ofMany, other]);
  assert.equal(results.filter(({ status }) => status === 'rejected').length, 4);
  assert.deepEqual(results.at(-1)?.status, 'fulfilled');
  assert.equal(done.indexOf('other'), 1, `it waited for ${done.indexOf('other')} files of another partner`);
});

test('a PDF that is made to be read again and again is refused soon', () => {
  const most = 2_000_000;
  const parts = ['1 0 obj<<', ' obj%', '1 0 obj<</A%', '1 0 obj<</A(', '1 0 obj<</A<', '1 0 obj[', '/#41', '/S', '/F '];
  for (const part of [...parts, '1 0 obj<<>>', '/OpenAction <<', '/URI <41']) {
    const isLate = patience(10_000);
    assert.ok('why' in inspect(pdf(part.repeat(most / part.length))), part);
    assert.ok(!isLate(), `${part} took ten seconds`);
  }
  const within = pdf(stream('/Length 9', '1 0 obj<</A 1>>'.repeat(most / 20)));
  assert.ok('why' in inspect(within), 'objects in a stream');
});

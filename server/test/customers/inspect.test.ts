/** A valid file: one picture or document of an accepted kind, and nothing else. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { inspect } from '../../src/customers/index.ts';
import { chunk, jpeg, objectStream, pdf, png, webp } from '../support/pictures.ts';

const text = (value: string): Buffer => Buffer.from(value, 'latin1');
const ZIP = text(`PK\u0003\u0004${'x'.repeat(30)}PK\u0005\u0006${'\0'.repeat(18)}`);
const PAGE = text('<html><script>alert(1)</script></html>');

const GOOD: Record<string, [Buffer, string]> = {
  'a JPEG': [jpeg(), 'image/jpeg'],
  'a JPEG with a camera’s notes': [jpeg({ more: [[0xe1, text('Exif\0\0MM\0*')]] }), 'image/jpeg'],
  'a PNG': [png(), 'image/png'],
  'a PNG with a comment': [png({ more: [chunk('tEXt', text('Comment\0a scan'))] }), 'image/png'],
  'a WEBP': [webp(), 'image/webp'],
  'a PDF': [pdf(), 'application/pdf'],
  'a PDF with compressed objects': [pdf(objectStream('1 0 << /Type /Catalog >>')), 'application/pdf'],
};

const BAD: Record<string, [Buffer, RegExp]> = {
  nothing: [Buffer.alloc(0), /JPEG, PNG/],
  'a few bytes': [jpeg().subarray(0, 8), /JPEG, PNG/],
  'a GIF': [text(`GIF89a${'\0'.repeat(40)}`), /JPEG, PNG/],
  'an SVG': [text('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"></svg>'), /JPEG, PNG/],
  'a web page': [PAGE, /JPEG, PNG/],
  'a ZIP': [ZIP, /JPEG, PNG/],
  'a program': [text(`\u007fELF${'\0'.repeat(60)}`), /JPEG, PNG/],
  'a JPEG that is cut off': [jpeg().subarray(0, -2), /whole/],
  'a JPEG with a ZIP behind it': [Buffer.concat([jpeg(), ZIP]), /nothing behind its end/],
  'a JPEG with a page behind it': [Buffer.concat([jpeg(), PAGE]), /nothing behind its end/],
  'a JPEG with a page in its comment': [jpeg({ more: [[0xfe, PAGE]] }), /nothing but the picture/],
  'a JPEG with a ZIP in its comment': [jpeg({ more: [[0xfe, ZIP]] }), /nothing but the picture/],
  'a JPEG with a PDF in its comment': [jpeg({ more: [[0xfe, pdf()]] }), /nothing but the picture/],
  'a JPEG with a PHP page': [jpeg({ more: [[0xfe, text('<?php system($_GET[0]); ?>')]] }), /nothing but the picture/],
  'a JPEG of 65535 by 65535': [jpeg({ width: 65_535, height: 65_535 }), /pixels/],
  'a JPEG of no height': [jpeg({ height: 0 }), /pixels/],
  'a JPEG of two frames': [jpeg({ more: [[0xc0, Buffer.from([8, 0, 1, 0, 1, 1, 1, 0x11, 0])]] }), /whole/],
  'a JPEG with a segment beyond its end': [
    Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff, ...Buffer.alloc(20)]),
    /whole/,
  ],
  'a PNG of a million by a million': [png({ width: 1_000_000, height: 1_000_000 }), /pixels/],
  'a PNG of a long strip': [png({ width: 1, height: 12_001 }), /pixels/],
  'a PNG with a ZIP behind it': [Buffer.concat([png(), ZIP]), /nothing behind its end/],
  'a PNG with a wrong checksum': [Buffer.from(png().map((byte, at) => (at === 40 ? byte ^ 1 : byte))), /whole/],
  'a PNG with a page in its text': [png({ more: [chunk('tEXt', PAGE)] }), /nothing but the picture/],
  'a PNG with a ZIP in a chunk': [png({ more: [chunk('xXxx', ZIP)] }), /nothing but the picture/],
  'a PNG with a compressed archive in its text': [
    png({ more: [chunk('zTXt', Buffer.concat([text('Comment\0\0'), deflateSync(ZIP)]))] }),
    /nothing but the picture/,
  ],
  'a PNG without pixels': [png().subarray(0, 33), /whole/],
  'a PNG with a chunk of four gigabytes': [
    Buffer.concat([png().subarray(0, 33), Buffer.from([255, 255, 255, 255]), Buffer.alloc(40)]),
    /whole/,
  ],
  'a WEBP of 16384 by 16384': [webp({ width: 16_383, height: 16_383 }), /pixels/],
  'a WEBP with a ZIP behind it': [Buffer.concat([webp(), ZIP]), /nothing behind its end/],
  'a WEBP with a page in a chunk': [
    webp({ more: Buffer.concat([text('XMP '), Buffer.from([38, 0, 0, 0]), PAGE]) }),
    /nothing but/,
  ],
  'a sound': [text(`RIFF\u0024\0\0\0WAVEfmt ${'\0'.repeat(30)}`), /JPEG, PNG/],
  'a PDF that runs a script': [pdf('1 0 obj\n<< /S /JavaScript /JS (app.alert(1)) >>\nendobj\n'), /without a password/],
  'a PDF whose script is spelt by numbers': [pdf('1 0 obj\n<< /S /J#61va#53cript >>\nendobj\n'), /without a password/],
  'a PDF that acts when it is opened': [pdf('1 0 obj\n<< /OpenAction 3 0 R >>\nendobj\n'), /without a password/],
  'a PDF that acts on a page': [pdf('1 0 obj\n<< /AA << /O 3 0 R >> >>\nendobj\n'), /without a password/],
  'a PDF that starts a program': [pdf('1 0 obj\n<< /S /Launch /F (cmd.exe) >>\nendobj\n'), /without a password/],
  'a PDF with a file in it': [pdf('1 0 obj\n<< /Type /EmbeddedFile >>\nendobj\n'), /without a password/],
  'a PDF with a form of its own': [pdf('1 0 obj\n<< /XFA 3 0 R >>\nendobj\n'), /without a password/],
  'an encrypted PDF': [pdf('1 0 obj\n<< /Encrypt 3 0 R >>\nendobj\n'), /without a password/],
  'a PDF with a script among compressed objects': [pdf(objectStream('1 0 << /S /JavaScript >>')), /without a password/],
  'a PDF with compressed objects that cannot be read': [pdf(objectStream('1 0', '/LZWDecode')), /without a password/],
  'a PDF whose compressed objects hide their name': [
    pdf(objectStream('1 0 <<>>').replace('/ObjStm', '/Obj#53tm')),
    /without a password/,
  ],
  'a PDF with objects that grow without end': [pdf(objectStream('x'.repeat(20_000_000))), /without a password/],
  'a PDF with a ZIP behind it': [Buffer.concat([pdf(), ZIP]), /nothing behind its end/],
  'a PDF that begins as a page': [pdf(`${PAGE.toString()}\n`), /nothing but the picture/],
  'a PDF behind other bytes': [Buffer.concat([text('GIF89a\n'), pdf()]), /JPEG, PNG/],
};

describe('taken', () => {
  for (const [what, [bytes, type]] of Object.entries(GOOD))
    test(what, () => assert.deepEqual(inspect(bytes), { type }));
});
describe('refused', () => {
  test('there are enough of them', () => assert.ok(Object.keys(BAD).length >= 40));
  for (const [what, [bytes, why]] of Object.entries(BAD))
    test(what, () => {
      const found = inspect(bytes);
      assert.ok('why' in found, JSON.stringify(found));
      assert.match(found.why, why);
    });
});
test('any beginning of a good file, and any file with a byte changed, is read without a fault of ours', () => {
  for (const [bytes] of Object.values(GOOD))
    for (let at = 0; at < bytes.length - 1; at += 1) {
      assert.ok('why' in inspect(bytes.subarray(0, at)));
      inspect(Buffer.from(bytes.map((byte, n) => (n === at ? byte ^ 0xff : byte))));
    }
});

/**
 * Hostile files: each must be refused wherever a file is taken. Some are of another type, damaged, two files in one, or far larger than
 * they look; most are PDFs that act, and hide it.
 */
import { deflateSync } from 'node:zlib';
import { chunk, jpeg, objectStream, pdf, png, webp } from './pictures.ts';

export const text = (value: string): Buffer => Buffer.from(value, 'latin1');
const ZIP = text(`PK\u0003\u0004${'x'.repeat(30)}PK\u0005\u0006${'\0'.repeat(18)}`);
const PAGE = text('<html><script>alert(1)</script></html>');

const SCRIPT = '1 0 << /S /JavaScript /JS (app.alert(1)) >>';
/** As the predictor "up" writes it: each byte is the difference to the one above it. */
export const predicted = (inside: string, columns = 5): Buffer => {
  const rows = Math.ceil(inside.length / columns);
  const padded = text(inside.padEnd(rows * columns));
  const row = (at: number) => padded.subarray(at * columns, (at + 1) * columns);
  return Buffer.concat(
    Array.from({ length: rows }, (_, at) =>
      Buffer.from([2, ...row(at).map((byte, n) => byte - (at === 0 ? 0 : (row(at - 1)[n] ?? 0)))]),
    ),
  );
};
/** A stream object with exactly this dictionary and content. */
export const stream = (dictionary: string, content: Buffer | string, word = 'stream\n'): string =>
  `7 0 obj\n<< ${dictionary} >>\n${word}${content.toString('latin1')}\nendstream\nendobj\n`;
const packed = deflateSync(text(SCRIPT));
const XFA = '/XFA 3 0 R';
const EXE = stream('/Length 4', 'MZ\0\0');

const one = (inside: string): Buffer => pdf(`1 0 obj\n<< ${inside} >>\nendobj\n`);
const link = (uri: string): Buffer => one(`/Type /Annot /Subtype /Link /A << /S /URI /URI ${uri} >>`);
const WEB = '<< /S /URI /URI (https://host.example/) >>';

/** PDFs with an action, or with content elsewhere. */
const ACTING_PDFS: Record<string, Buffer> = {
  'a PDF with a link to a file': link('(file:///C:/a.exe)'),
  'a PDF with a link to a share': link('(\\\\\\\\host\\\\a)'),
  'a PDF with a link to a program beside it': link('(a.exe)'),
  'a PDF with a link that is a script': link('(java\\163cript:app.alert)'),
  'a PDF with a link to a file, in hex': link(`<${text('file:///a').toString('hex')}>`),
  'a PDF with a link whose address stands elsewhere': link('8 0 R'),
  'a PDF with a link to a file behind spaces': link(`(${' '.repeat(60)}file:///C:/a.exe)`),
  'a PDF with a link to a file behind spaces, in hex': link(`<${'20'.repeat(60)}${text('file:///a').toString('hex')}>`),
  'a PDF with a base for its links': one('/Type /Catalog /URI << /Base (file:///) >>'),
  'a PDF with a link spelt by numbers': pdf('1 0 obj\n<< /A << /S /#55RI /U#52I (file:///a) >> >>\nendobj\n'),
  'a PDF that opens a link': one(`/Type /Catalog /OpenAction ${WEB}`),
  'a PDF that opens a link behind a page': one(`/OpenAction << /S /GoTo /D [3 0 R /Fit] /Next ${WEB} >>`),
  'a PDF that opens a link by its number': pdf(
    `1 0 obj\n<< /Type /Catalog /OpenAction 8 0 R >>\nendobj\n8 0 obj\n${WEB}\nendobj\n`,
  ),
  'a PDF that opens a link by its number, and spells it by numbers': pdf(
    `1 0 obj\n<< /Open#41ction 8 0 R >>\nendobj\n8 0 obj\n<< /#53 /U#52I /URI (http://a.example) >>\nendobj\n`,
  ),
  'a PDF that opens a link among compressed objects': pdf(
    `1 0 obj\n<< /Type /Catalog /OpenAction 8 0 R >>\nendobj\n${objectStream(`8 0 ${WEB}`)}`,
  ),
  'a PDF that opens a link in a stream': pdf(
    `1 0 obj\n<< /Type /Catalog /OpenAction 8 0 R >>\nendobj\n${stream('/Length 9', `8 0 obj\n${WEB}\nendobj`)}`,
  ),
  'a PDF that a later part makes open a link': Buffer.concat([
    pdf(),
    pdf(`1 0 obj\n<< /Type /Catalog /OpenAction ${WEB} >>\nendobj\n`).subarray(9),
  ]),
  'a PDF that opens something by its name': one('/OpenAction (there)'),
  'a PDF with an action whose kind stands elsewhere': pdf(
    '1 0 obj\n<< /S 8 0 R /F 9 0 R >>\nendobj\n8 0 obj /Thread endobj\n',
  ),
  'a PDF with a thread of another file': one('/S /Thread /F (//host/a.pdf) /D 0'),
  'a PDF with a thread behind a remark': one('/S % a remark\n/Thread /D 0'),
  'a PDF with a thread among compressed objects': pdf(objectStream('1 0 << /S /Thread /D 0 >>')),
  'a PDF with a thread spelt by numbers': one('/#53 /T#68read /D 0'),
  'a PDF whose picture is in another file': pdf(stream('/Type /XObject /Subtype /Image /Length 0 /F 9 0 R', '')),
  'a PDF whose picture is in a named file': pdf(stream('/Subtype /Image /Length 0 /F (//host/a.jpg)', '')),
  'a PDF with a file that is an address': one('/FS /URL /F 9 0 R'),
  'a PDF with a file beside it': one('/Type /Filespec /F 9 0 R'),
  'a PDF with a file beside it, in hex': one('/F <612e657865>'),
  'a PDF with a page of another file': pdf(
    stream('/Subtype /Form /BBox [0 0 9 9] /Ref << /F 9 0 R /Page 0 >> /Length 0', ''),
  ),
  'a PDF with a page of another file elsewhere': pdf(stream('/Subtype /Form /Ref 8 0 R /Length 0', '')),
  'a PDF that prints': one('/A << /S /Named /N /Print >>'),
  'a PDF with a screen': one('/Type /Annot /Subtype /Screen /Rect [0 0 9 9]'),
  'a PDF with a solid': one('/Type /Annot /Subtype /3D'),
  'a PDF with a program of a printer': pdf(stream('/Type /XObject /Subtype /PS /Length 0', '')),
  'a PDF whose form empties itself': one('/AcroForm << /Fields [] >> /A << /S /ResetForm >>'),
  'a PDF whose form has a trigger': one('/FT /Tx /T (a) /AA << /K 9 0 R >>'),
  'a PDF whose form is XFA': one('/AcroForm << /Fields [] /XFA [(a) 9 0 R] >>'),
  'a PDF that hides a field': one('/A << /S /Hide /T (a) >>'),
  'a PDF that changes a layer': one('/A << /S /SetOCGState /State [/ON 9 0 R] >>'),
};

/** PDFs that hide what they do from a search, but not from a reader. */
const ACTIVE_PDFS: Record<string, Buffer> = {
  'a PDF whose compressed script went through a predictor': pdf(
    stream(
      '/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 5 >>',
      deflateSync(predicted(SCRIPT)),
    ),
  ),
  'a PDF whose predictor is spelt by numbers': pdf(
    stream(
      '/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Decode#50arms << /Predictor 12 /Columns 5 >>',
      deflateSync(predicted(SCRIPT)),
    ),
  ),
  'a PDF whose predictor stands elsewhere': pdf(
    `${stream('/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /DecodeParms 8 0 R', deflateSync(predicted(SCRIPT)))}8 0 obj\n<< /Predictor 12 /Columns 5 >>\nendobj\n`,
  ),
  'a PDF whose compressed script does not name its type': pdf(stream('/N 1 /First 4 /Filter /FlateDecode', packed)),
  'a PDF whose compressed script has its type elsewhere': pdf(
    `${stream('/Type 8 0 R /N 1 /Firs#74 4 /Filter /FlateDecode', packed)}8 0 obj /ObjStm endobj\n`,
  ),
  'a PDF whose compressed script has its filter elsewhere': pdf(
    `${stream('/Type /ObjStm /N 1 /First 4 /Filter 8 0 R', packed)}8 0 obj [/FlateDecode] endobj\n`,
  ),
  'a PDF whose compressed script is written in hex': pdf(
    stream('/Type /ObjStm /N 1 /First 4 /Filter [/ASCIIHexDecode /FlateDecode]', `${packed.toString('hex')}>`),
  ),
  'a PDF whose script is written in hex': pdf(
    stream('/Type /ObjStm /N 1 /First 4 /Filter /ASCIIHexDecode', `${text(SCRIPT).toString('hex')}>`),
  ),
  'a PDF whose script is compressed twice': pdf(
    stream('/Type /ObjStm /N 1 /First 4 /Filter [/FlateDecode /FlateDecode]', deflateSync(packed)),
  ),
  'a PDF whose compressed objects name two filters': pdf(
    stream(
      '/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Filter [/ASCIIHexDecode /FlateDecode]',
      `${packed.toString('hex')}>`,
    ),
  ),
  'a PDF whose compressed objects are in another file': pdf(
    stream('/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /F (//host/file)', deflateSync(text('1 0 <<>>'))),
  ),
  'a PDF whose compressed script begins in an unusual way': pdf(
    stream('/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode', packed, 'stream\r'),
  ),
  'a PDF whose compressed script stands among remarks': pdf(
    stream(`/Type %>> endobj\n/ObjStm /N 1 (>> endobj) /First 4 /Filter /FlateDecode`, packed),
  ),
  'a PDF whose compressed form is spelt by numbers': pdf(objectStream('1 0 << /X#46A 3 0 R >>')),
  'a PDF with a file among compressed objects': pdf(objectStream('1 0 << /F (a.exe) /EF << /F 9 0 R >> >>')),
  'a PDF with an attachment whose file has no type': pdf(
    `1 0 obj\n<< /Subtype /FileAttachment /FS << /F (a.exe) /EF << /F 7 0 R >> >> >>\nendobj\n${EXE}`,
  ),
  'a PDF with an attachment without a file': pdf('1 0 obj\n<< /Subtype /FileAttachment /FS 3 0 R >>\nendobj\n'),
  'a PDF with a file of no type': pdf(`1 0 obj\n<< /Type /Filespec /EF << /F 7 0 R >> >>\nendobj\n${EXE}`),
  'a PDF with a file spelt by numbers': pdf(`1 0 obj\n<< /#45F << /F 7 0 R >> >>\nendobj\n${EXE}`),
  'a PDF with a form between remarks that read as a stream': pdf(
    `1 0 obj\n<< /Type /Catalog\n%stream\n${XFA}\n%endstream\n>>\nendobj\n`,
  ),
  'a PDF with a form between remarks that end a dictionary': pdf(
    `1 0 obj\n<< /Type /Catalog\n%>> stream\n${XFA}\n%endstream\n>>\nendobj\n`,
  ),
  'a PDF with a form between texts that read as a stream': pdf(
    `1 0 obj\n<< /Title (>>\nstream\n) ${XFA} /Author (endstream) >>\nendobj\n`,
  ),
  'a PDF with a form between texts with brackets in them': pdf(
    `1 0 obj\n<< /Title (\\) (a) >>\nstream\n) ${XFA} /Author (endstream) >>\nendobj\n`,
  ),
  'a PDF with an object in the content of a stream': pdf(stream('/Length 99', `8 0 obj\n<< ${XFA} >>\nendobj`)),
  'a PDF with an object in a stream, behind a remark': pdf(stream('/Length 99', `8 %a\n0 %b\nobj%c\n<< ${XFA} >>`)),
  'a PDF with an object in a stream in an object': pdf(
    `1 0 obj\n<< /A [ 5 0 obj << /Length 9 >>\nstream\n] ${XFA} endstream\n>>\nendobj\n`,
  ),
  'a PDF with a trailer in the content of a stream': pdf(
    stream('/Length 99', `trailer\n<< /Root << /AA << /WC 4 0 R >> >> >>`),
  ),
  'a PDF whose words are made by numbers': pdf(`1 0 obj\n<< /A#3E#3E#73tream#0A ${XFA} /endstream 1 >>\nendobj\n`),
  'a PDF whose brackets do not match': pdf(`1 0 obj\n<< ] /A 1 >>\nstream\nendstream\nendobj\n`),
  'a PDF whose dictionary has no end': pdf('1 0 obj\n<< /A << /B 1 >>\nendobj\n'),
  'a PDF whose text has no end': pdf('1 0 obj\n<< /A (abc >>\nendobj\n'),
  'a PDF whose stream has no end': pdf('1 0 obj\n<< /Length 1 >>\nstream\nendobj\n'),
  'a PDF encrypted by its trailer’s stream': pdf(stream('/Type /XRef /W [1 2 1] /Encr#79pt 8 0 R', 'x')),
  'a PDF that starts a program by numbers': pdf('1 0 obj\n<< /S /L#61unch /F (cmd.exe) >>\nendobj\n'),
  'a PDF that sends its form': pdf('1 0 obj\n<< /S /SubmitForm /F (https://a.example) >>\nendobj\n'),
  'a PDF that reads a form': pdf('1 0 obj\n<< /S /ImportData /F (a.fdf) >>\nendobj\n'),
  'a PDF that opens another': pdf('1 0 obj\n<< /S /GoToR /F (//host/a.pdf) >>\nendobj\n'),
  'a PDF that opens one in itself': pdf('1 0 obj\n<< /S /GoToE /T << /R /C >> >>\nendobj\n'),
  'a PDF with a film': pdf('1 0 obj\n<< /Subtype /RichMedia >>\nendobj\n'),
  'a PDF that plays from elsewhere': pdf('1 0 obj\n<< /S /Rendition /R 3 0 R >>\nendobj\n'),
  'a PDF that plays an old film': pdf('1 0 obj\n<< /Subtype /Movie /Movie << /F (//host/a) >> >>\nendobj\n'),
  'a PDF with a sound': pdf('1 0 obj\n<< /S /Sound /Sound 3 0 R >>\nendobj\n'),
  'a PDF with a solid that runs a script': pdf('1 0 obj\n<< /Subtype /U3D /OnInstantiate 3 0 R >>\nendobj\n'),
};

/** By what each is: its bytes, and the reason that a refusal gives. */
export const HOSTILE: Record<string, [Buffer, RegExp]> = {
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
  'a WEBP of 49 million pixels': [webp({ width: 7_000, height: 7_000 }), /a side and 16 million in all as a WEBP$/],
  'a WEBP of 16.004 million pixels': [webp({ width: 4_001, height: 4_000 }), /16 million/],
  'a WEBP with a ZIP behind it': [Buffer.concat([webp(), ZIP]), /nothing behind its end/],
  'a WEBP with a page in a chunk': [
    webp({ more: Buffer.concat([text('XMP '), Buffer.from([38, 0, 0, 0]), PAGE]) }),
    /nothing but/,
  ],
  'a sound': [text(`RIFF\u0024\0\0\0WAVEfmt ${'\0'.repeat(30)}`), /JPEG, PNG/],
  'a PDF that runs a script': [pdf('1 0 obj\n<< /S /JavaScript /JS (app.alert(1)) >>\nendobj\n'), /without a password/],
  'a PDF whose script is spelt by numbers': [pdf('1 0 obj\n<< /S /J#61va#53cript >>\nendobj\n'), /without a password/],
  'a PDF that acts on a page': [pdf('1 0 obj\n<< /AA << /O 3 0 R >> >>\nendobj\n'), /without a password/],
  'a PDF that starts a program': [pdf('1 0 obj\n<< /S /Launch /F (cmd.exe) >>\nendobj\n'), /without a password/],
  'a PDF with a file in it': [pdf('1 0 obj\n<< /Type /EmbeddedFile >>\nendobj\n'), /without a password/],
  'a PDF with a form of its own': [pdf('1 0 obj\n<< /XFA 3 0 R >>\nendobj\n'), /without a password/],
  'an encrypted PDF': [pdf('1 0 obj\n<< /Encrypt 3 0 R >>\nendobj\n'), /without a password/],
  'a PDF with a script among compressed objects': [pdf(objectStream('1 0 << /S /JavaScript >>')), /without a password/],
  'a PDF with compressed objects that cannot be read': [pdf(objectStream('1 0', '/LZWDecode')), /without a password/],
  'a PDF whose compressed objects hide their name': [
    pdf(objectStream('1 0 << /S /JavaScript >>').replace('/ObjStm', '/Obj#53tm')),
    /without a password/,
  ],
  'a PDF with objects that grow without end': [pdf(objectStream('x'.repeat(20_000_000))), /without a password/],
  'a PDF with a ZIP behind it': [Buffer.concat([pdf(), ZIP]), /nothing behind its end/],
  'a PDF that begins as a page': [pdf(`${PAGE.toString()}\n`), /nothing but the picture/],
  'a PDF behind other bytes': [Buffer.concat([text('GIF89a\n'), pdf()]), /JPEG, PNG/],
  ...Object.fromEntries(
    Object.entries({ ...ACTIVE_PDFS, ...ACTING_PDFS }).map(([what, bytes]) => [what, [bytes, /without a password/]]),
  ),
};

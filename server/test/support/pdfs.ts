/**
 * PDFs as ordinary programs write them: each has the structure by which its program is known, such as LibreOffice's destination for
 * opening, a link of a bank statement, or the compressed catalogue of pdfTeX.
 */
import { deflateSync } from 'node:zlib';
import { jpeg } from './pictures.ts';

const CONTENT = 'BT /F1 12 Tf 72 720 Td (Statement) Tj ET';

function stream(dictionary: string, content: Buffer): string {
  return `<< ${dictionary} /Length ${content.length} >>\nstream\n${content.toString('latin1')}\nendstream`;
}
const packed = (text: string): Buffer => deflateSync(Buffer.from(text, 'latin1'));

/** A file of these objects, numbered from 1; the first is the catalogue. */
function file(objects: readonly string[], { version = '1.7', info = '', more = '' } = {}): Buffer {
  let text = `%PDF-${version}\n%\u00e2\u00e3\u00cf\u00d3\n`;
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const start = text.length;
  text += `${more}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${info} /ID [<0a> <0a>] >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

const PAGES = '<< /Type /Pages /Count 1 /Kids [3 0 R] >>';
const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';
const page = (more = ''): string =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R ${more} >>`;
const content = stream('/Filter /FlateDecode', packed(CONTENT));
const link = (uri: string): string =>
  `<< /Type /Annot /Subtype /Link /F 4 /Border [0 0 0] /Rect [72 700 200 720] /A << /Type /Action /S /URI /URI (${uri}) >> >>`;

/** By the program that writes such a file. */
export const ordinaryPdfs = (): Record<string, Buffer> => ({
  'a PDF of LibreOffice, which says where to open it': file(
    [
      '<</Type/Catalog/Pages 2 0 R\n/OpenAction[3 0 R /XYZ null null 0]\n/ViewerPreferences<</DisplayDocTitle true>>/Lang(en-GB)>>',
      PAGES,
      page(`/Group<</S/Transparency/CS/DeviceRGB/I true>> /Annots [${link('https://bank.example/')}]`),
      content,
      FONT,
    ],
    { info: '/DocChecksum /1F' },
  ),
  'a PDF of Word, with a link and a structure': file([
    '<</Type/Catalog/Pages 2 0 R/Lang(en-US) /StructTreeRoot 6 0 R/MarkInfo<</Marked true>>/ViewerPreferences 7 0 R>>',
    PAGES,
    page(`/StructParents 0 /Tabs/S /Annots[${link('mailto:help@bank.example')}]`),
    content,
    FONT,
    '<</Type/StructTreeRoot/RoleMap<</Footnote/Note>>/K[<</P 6 0 R/S/Link/Type/StructElem/K[<</Type/OBJR/Obj 3 0 R>>]/Pg 3 0 R>>]>>',
    '<</DisplayDocTitle true>>',
  ]),
  'a PDF of Chrome, with links in each spelling': file(
    [
      '<</Type /Catalog\n/Pages 2 0 R\n/Outlines 6 0 R>>',
      PAGES,
      page(
        `/Annots [${link('https://bank.example/a\\(b\\)')} ${link('tel:+4912345')} ${link('www.bank.example')}
          <</Subtype /Link /A <</S /URI /URI <687474703a2f2f61> >> >> <</Subtype /Link /Dest [3 0 R /Fit]>>]`,
      ),
      content,
      FONT,
      '<</Type /Outlines /First 7 0 R /Last 8 0 R /Count 2>>',
      '<</Title (Balance) /Parent 6 0 R /Next 8 0 R /A <</S /GoTo /D [3 0 R /Fit]>> >>',
      '<</Title (Fees) /Parent 6 0 R /Prev 7 0 R /Dest [3 0 R /XYZ 0 700 0]>>',
    ],
    { version: '1.4', info: '/Info <</Creator (Mozilla/5.0) /Producer (Skia/PDF m153)>>' },
  ),
  'a PDF of a scanner, with one picture and its text': file(
    [
      '<< /Type /Catalog /Pages 2 0 R /Metadata 6 0 R >>',
      PAGES,
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /Im0 5 0 R >> >> /Rotate 90 >>',
      stream('', Buffer.from('q 595 0 0 842 0 0 cm /Im0 Do Q')),
      stream(
        '/Type /XObject /Subtype /Image /Width 32 /Height 16 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode',
        jpeg(),
      ),
      stream('/Type /Metadata /Subtype /XML', Buffer.from('<x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>')),
    ],
    { version: '1.3' },
  ),
  'a PDF of a phone, whose objects are compressed': file(
    [
      '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [] >> >>',
      PAGES,
      page(),
      content,
      FONT,
      stream(
        '/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode',
        packed('9 0 << /Type /ExtGState /BM /Screen /AIS false >>'),
      ),
    ],
    { version: '1.5', info: '/Info << /Producer (iOS Version 19 Quartz PDFContext) >>' },
  ),
  'a PDF of pdfTeX, which names the action that opens it': file(
    [
      '<< /Type /Catalog /Pages 2 0 R /OpenAction 6 0 R /PageMode /UseOutlines >>',
      PAGES,
      page(`/Annots [${link('http://uni.example/~a')}]`),
      content,
      FONT,
      '<< /S /GoTo /D [3 0 R /Fit] >>',
    ],
    { version: '1.5', info: '/Info << /Producer (pdfTeX-1.40.26) >>' },
  ),
  'a PDF that opens at a page, and is prepared for the web': file([
    '<< /Type /Catalog /Pages 2 0 R /OpenAction << /D [3 0 R /FitH 842] /S /GoTo >> /PageLabels << /Nums [0 << /S /D >>] >> >>',
    PAGES,
    page(),
    content,
    FONT,
    '<< /Linearized 1 /L 9999 /H [ 500 80 ] /O 3 /E 9000 /N 1 /T 9500 >>',
    stream('/Filter /FlateDecode /I 94 /S 40', packed('hints')),
  ]),
  'a PDF of a signed contract, with fields': file([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R] /SigFlags 3 /DA (/Helv 0 Tf 0 g) /NeedAppearances false >> >>`,
    PAGES,
    page('/Annots [6 0 R 7 0 R]'),
    content,
    FONT,
    '<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Asha Rao) /F 4 /Rect [0 0 99 20] /AP << /N 4 0 R >> /MK << /BC [0] >> >>',
    '<< /Type /Annot /Subtype /Widget /FT /Sig /T (signature) /F 132 /Rect [0 0 0 0] /V << /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /ByteRange [0 9 19 9] /Contents <00> >> >>',
  ]),
  'a PDF with a later part, which adds a remark': Buffer.concat([
    file(['<< /Type /Catalog /Pages 2 0 R >>', PAGES, page(), content, FONT]),
    file([
      '<< /Type /Catalog /Pages 2 0 R >>',
      PAGES,
      page('/Annots [<< /Type /Annot /Subtype /Text /Contents (paid) /F 28 /Rect [0 0 9 9] /Name /Note >>]'),
      content,
      FONT,
    ]).subarray(9),
  ]),
});

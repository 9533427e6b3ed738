/**
 * Inspecting files: the type of a document, determined by its content, and whether the file contains anything else.
 *
 * The name and the declared type are not trusted. A file must be one JPEG, PNG, WEBP or PDF from its first byte to its last, so
 * that no program reads it as a page, a script or an archive. Images are bounded by the size in their header: a few kilobytes may
 * require gigabytes in a viewer. A PDF must do nothing when it is opened but show a page (pdf.ts), and be readable without a password.
 *
 * A PDF is read token by token, which may take half a second of a file that was made for it: `inspectAside` reads it in a thread.
 *
 * The checks read structure. Pictures that pass are decoded and encoded again before they are stored (base/pictures.ts). Not here:
 * whether the picture shows the right thing (an operator, a verifier).
 */
import { isUtf8 } from 'node:buffer';
import { crc32, inflateSync } from 'node:zlib';
import { type PictureType, reencode } from '../../base/pictures.ts';
import { openThreads } from '../../base/threads.ts';
import { openTurns, type Whose } from '../../base/turns.ts';
import { isPassivePdf } from './pdf.ts';

export type FileType = PictureType | 'application/pdf';
export type Inspected = { type: FileType } | { why: string };

const MAX_SIDE = 12_000;
/** A WEBP takes up to 44 bytes a pixel to encode again, which is within the bounds of a picture (decision 101) only up to this. */
const MAX_PIXELS = { 'image/jpeg': 50_000_000, 'image/png': 50_000_000, 'image/webp': 16_000_000 } as const;

export const FILE_RULE = 'must be a JPEG, PNG, WEBP or PDF';
const BROKEN = `${FILE_RULE} that is whole, and nothing behind its end`;
const HIDDEN = 'must hold nothing but the picture: a page, a script or an archive is in it';

/** Half a second is what the worst file of the tests takes; the rest is for pauses of a busy machine. */
const PDF_MS = 5_000;
/** Longer than two files take that are ended, each with the start of a thread. */
const WAIT_MS = 15_000;
/** Whole files are in memory while their inspection waits. Of a partner half, so that others find a place. */
const turns = openTurns({ name: 'documents', mostEach: 2, mostOfPartner: 8, most: 16, waitMs: WAIT_MS });
const threads = openThreads<Buffer, Inspected>({
  ...{ file: new URL('./inspect.thread.ts', import.meta.url), name: 'documents' },
  ...{ most: 1, mostWaiting: 1, limits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 } },
});

/**
 * As `inspect`, without holding up the main thread: a PDF is inspected in a thread, and refused if that takes too much time or memory.
 *
 * @param whose customer with its partner, partner, or operator
 * @throws Unavailable 'documents' when too many wait, or too many of the same
 */
export async function inspectAside(bytes: Buffer, whose: Whose, ms = PDF_MS): Promise<Inspected> {
  if (!isPdf(bytes)) return inspect(bytes);
  return (await turns.run(whose, () => threads.run(bytes, { ms, waitMs: WAIT_MS }))) ?? { why: TOO_LONG };
}

/** Synchronous, for the thread and tests. @param bytes the whole file */
export function inspect(bytes: Buffer): Inspected {
  if (bytes.length < 16) return { why: FILE_RULE };
  if (bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))) return image('image/jpeg', bytes, readJpeg(bytes));
  if (bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return image('image/png', bytes, readPng(bytes));
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP')
    return image('image/webp', bytes, readWebp(bytes));
  if (isPdf(bytes)) return readPdf(bytes);
  return { why: FILE_RULE };
}

export const UNDECODABLE = `${FILE_RULE} that can be decoded: it is damaged, or too large`;
/** As large as a file that was sent may be (protocols/uploads.ts). */
const ABOUT_BYTES = 5 * 1_048_576;

/**
 * The bytes to store instead of an inspected file: a picture decoded and encoded again, a document as it is.
 *
 * @param whose customer with its partner
 * @returns undefined: the picture cannot be decoded
 * @throws Unavailable 'pictures'
 */
export async function safeContent(type: FileType, content: Buffer, whose: Whose): Promise<Buffer | undefined> {
  if (type === 'application/pdf') return content;
  return (await reencode(content, { type, maxPixels: MAX_PIXELS[type], aboutBytes: ABOUT_BYTES }, whose))?.bytes;
}

/** Characters that no text needs: control characters, and characters that reorder what is shown. */
// oxlint-disable-next-line no-control-regex -- exactly these are refused
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Whether a file is text in UTF-8 that no program reads as a page, a script or a document. */
export function isPlainText(bytes: Buffer): boolean {
  if (!isUtf8(bytes)) return false;
  const text = bytes.toString('utf8');
  return text.trim() !== '' && !UNPRINTABLE.test(text) && !PAGE.test(text) && !text.includes('%PDF-');
}

/** The structure of a picture: its size, and the parts that are not picture data. undefined: it is broken. */
type Picture = { width: number; height: number; beside: Buffer[] } | undefined;

/** Long enough not to occur by chance in compressed data. */
const PAGE = /<script|<html|<!doctype|<iframe|<\?php|<svg[\s>]|javascript:/i;
const ARCHIVES = ['PK\u0003\u0004', 'PK\u0005\u0006', 'Rar!\u001a\u0007', '7z\u00bc\u00af'];

function image(type: PictureType, bytes: Buffer, picture: Picture): Inspected {
  if (picture === undefined) return { why: BROKEN };
  const { width, height, beside } = picture;
  const maxPixels = MAX_PIXELS[type];
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE || width * height > maxPixels) {
    const as = type === 'image/webp' ? ' as a WEBP' : '';
    return { why: `must have at most ${MAX_SIDE} pixels a side and ${maxPixels / 1e6} million in all${as}` };
  }
  const texts = beside.map((part) => part.toString('latin1'));
  const isArchive = texts.some((text) => ARCHIVES.some((mark) => text.includes(mark)) || text.includes('%PDF-'));
  return isArchive || PAGE.test(bytes.toString('latin1')) ? { why: HIDDEN } : { type };
}

/** Segments up to the end of image, which must be the end of the file. Source: ITU T.81, annex B */
function readJpeg(bytes: Buffer): Picture {
  const beside: Buffer[] = [];
  let size: { width: number; height: number } | undefined;
  let isScanned = false;
  for (let at = 2; at + 1 < bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xd9)
      return at + 2 === bytes.length && size !== undefined && isScanned ? { ...size, beside } : undefined;
    if (at + 4 > bytes.length || marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8)) return undefined;
    const length = bytes.readUInt16BE(at + 2);
    const end = at + 2 + length;
    if (length < 2 || end > bytes.length) return undefined;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      // A second frame could declare a larger picture than the first.
      if (size !== undefined || length < 8) return undefined;
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    if (marker >= 0xe0) beside.push(bytes.subarray(at + 4, end));
    at = end;
    if (marker === 0xda) {
      isScanned = true;
      at = endOfScan(bytes, end);
    }
  }
  return undefined;
}

/** Entropy-coded data: an FF in it is followed by 00, or is a restart marker. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at + 2)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0x00 && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Chunks with their checksums, IHDR first and IEND last. Source: W3C PNG, 5 */
function readPng(bytes: Buffer): Picture {
  const beside: Buffer[] = [];
  let size: { width: number; height: number } | undefined;
  let hasPixels = false;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > bytes.length || crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined;
    const name = bytes.toString('latin1', at + 4, at + 8);
    const content = bytes.subarray(at + 8, end - 4);
    if ((size === undefined) !== (name === 'IHDR') || (name === 'IHDR' && length !== 13)) return undefined;
    if (name === 'IHDR') size = { width: content.readUInt32BE(0), height: content.readUInt32BE(4) };
    else if (name === 'IEND')
      return end === bytes.length && hasPixels && size !== undefined ? { ...size, beside } : undefined;
    else if (name === 'IDAT') hasPixels = true;
    else if (/^[zi]TXt|^iCCP/.test(name)) beside.push(content, ...inflated(content));
    else beside.push(content);
    at = end;
  }
  return undefined;
}

/** The compressed text of a PNG, found by the header of its compression. */
function inflated(content: Buffer): Buffer[] {
  const from = content.indexOf(0x78);
  if (from < 0) return [];
  try {
    return [inflateSync(content.subarray(from), { maxOutputLength: 1_048_576 })];
  } catch {
    return [];
  }
}

/** Chunks that fill the RIFF exactly. Source: RFC 9649 */
function readWebp(bytes: Buffer): Picture {
  const beside: Buffer[] = [];
  let size: { width: number; height: number } | undefined;
  let at = 12;
  if (bytes.readUInt32LE(4) + 8 !== bytes.length) return undefined;
  while (at + 8 <= bytes.length) {
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const end = at + 8 + length;
    if (end > bytes.length) return undefined;
    const content = bytes.subarray(at + 8, end);
    const found = webpSize(name, content);
    if (found === null) return undefined;
    if (found !== undefined)
      size = { width: Math.max(size?.width ?? 0, found.width), height: Math.max(size?.height ?? 0, found.height) };
    else if (name !== 'ALPH' && name !== 'ANMF') beside.push(content);
    at = end + (length % 2);
  }
  return at === bytes.length && size !== undefined ? { ...size, beside } : undefined;
}

/** undefined: the chunk has no size; null: it is broken. */
function webpSize(name: string, content: Buffer): { width: number; height: number } | undefined | null {
  if (name === 'VP8X') {
    if (content.length < 10) return null;
    return { width: content.readUIntLE(4, 3) + 1, height: content.readUIntLE(7, 3) + 1 };
  }
  if (name === 'VP8L') {
    if (content.length < 5 || content[0] !== 0x2f) return null;
    const bits = content.readUInt32LE(1);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (name !== 'VP8 ') return undefined;
  if (content.length < 10 || content.readUIntBE(3, 3) !== 0x9d012a) return null;
  return { width: content.readUInt16LE(6) & 0x3fff, height: content.readUInt16LE(8) & 0x3fff };
}

const isPdf = (bytes: Buffer): boolean => bytes.toString('latin1', 0, 5) === '%PDF-';
const TOO_LONG = 'must be a simpler PDF: it takes too long to read';
const ACTIVE = 'must be a PDF without a password, scripts, files in it, and actions other than links to web pages';
const PDF_END = /%%EOF[\s\0]{0,8}$/;

function readPdf(bytes: Buffer): Inspected {
  const text = bytes.toString('latin1');
  if (!/^%PDF-[12]\.\d/.test(text) || !PDF_END.test(text)) return { why: BROKEN };
  if (PAGE.test(text) || ARCHIVES.slice(1).some((mark) => text.includes(mark))) return { why: HIDDEN };
  return isPassivePdf(bytes) ? { type: 'application/pdf' } : { why: ACTIVE };
}

/** Small files of each accepted type, built from their structure. Pictures are black, and can be decoded if they are small. */
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Format, width and height, as a decoder sees them. */
export async function lookOf(content: Buffer): Promise<string> {
  const { format, width, height } = await sharp(content).metadata();
  return `${format} ${width}x${height}`;
}

/** How the bytes of every JPEG begin, for a search in what is stored: the four letters alone stand in some ciphertexts by chance. */
export const JPEG_MARK = 'JFIF\0\u0001';

/** @param more a segment after the first: marker and content */
export function jpeg({
  width = 32,
  height = 16,
  more = [] as [marker: number, content: Buffer][],
}: {
  width?: number;
  height?: number;
  more?: [number, Buffer][];
} = {}): Buffer {
  const segment = (marker: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([0xff, marker]), u16(content.length + 2), content]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, latin('JFIF\0\u0001\u0001\0\0\u0001\0\u0001\0\0')),
    ...more.map(([marker, content]) => segment(marker, content)),
    segment(0xdb, Buffer.concat([Buffer.from([0]), Buffer.alloc(64, 1)])),
    segment(0xc0, Buffer.concat([Buffer.from([8]), u16(height), u16(width), Buffer.from([1, 1, 0x11, 0])])),
    ...[0x00, 0x10].map((table) => segment(0xc4, ONE_CODE(table))),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    blackBlocks(Math.ceil(width / 8) * Math.ceil(height / 8)),
    Buffer.from([0xff, 0xd9]),
  ]);
}

/** A Huffman table whose only code is the bit 0: "no difference" in the first table, "end of block" in the second. */
const ONE_CODE = (table: number): Buffer => Buffer.from([table, 1, ...Array.from({ length: 16 }, () => 0)]);

/** Two bits a block, then ones up to a whole byte. */
function blackBlocks(blocks: number): Buffer {
  const bits = Math.min(blocks * 2, 8 * MOST_BYTES);
  const content = Buffer.alloc(Math.ceil(bits / 8));
  if (bits % 8 !== 0) content[content.length - 1] = 2 ** (8 - (bits % 8)) - 1;
  return content;
}

/** Larger pictures are for tests of the size that a header says. */
const MOST_BYTES = 2_000_000;

export function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([latin(name), content]);
  return Buffer.concat([u32(content.length), named, u32(crc32(named))]);
}

export const png = ({ width = 32, height = 16, more = [] as Buffer[] } = {}): Buffer =>
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', Buffer.concat([u32(width), u32(height), Buffer.from([8, 2, 0, 0, 0])])),
    ...more,
    chunk('IDAT', deflateSync(Buffer.alloc(Math.min((width * 3 + 1) * height, MOST_BYTES)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);

export function webp({ width = 32, height = 16, more = Buffer.alloc(0) } = {}): Buffer {
  const size = (length: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(length);
    return bytes;
  };
  // Lossless: a byte of signature, the size, and five codes of one symbol each, so that pixels take no bits.
  const frame = Buffer.from([0x2f, 0, 0, 0, 0, 0x88, 0x88, 0x08, 0, 0]);
  frame.writeUInt32LE((width - 1) | ((height - 1) << 14), 1);
  const body = Buffer.concat([latin('WEBPVP8L'), size(frame.length), frame, more]);
  return Buffer.concat([latin('RIFF'), size(body.length), body]);
}

/** @param objects the part between header and trailer */
export const pdf = (objects = '1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n', end = '%%EOF\n'): Buffer =>
  latin(
    `%PDF-1.7\n${objects}2 0 obj\n<< /Type /Pages /Count 0 >>\nendobj\ntrailer\n<< /Root 1 0 R >>\nstartxref\n9\n${end}`,
  );

/** An object stream, which holds compressed objects. */
export function objectStream(inside: string, filter = '/FlateDecode'): string {
  const packed = deflateSync(latin(inside)).toString('latin1');
  return `5 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Filter ${filter} /Length ${packed.length} >>\nstream\n${packed}\nendstream\nendobj\n`;
}

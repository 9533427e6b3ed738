/**
 * Multipart bodies: what some programs send instead of a form, read into the same fields.
 *
 * The whole body is in memory before (its size has a bound of its own), so this only takes it apart. Every part has to be
 * a text: no endpoint takes a file so far, and one that comes anyway is refused by the name of its part. Of a name that
 * comes twice the last one counts, as in a form; `a[b]` is a field called `a[b]`.
 *
 * It is compared with what was signed like any other body, so a part that was not signed is a 401. Parts may go unsigned only
 * where files are taken: elsewhere nobody gains by it, and one captured signature of an empty body would sign everything.
 *
 * Not here: endpoints that take files, and bodies too large to keep.
 */
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { Refusal } from '../../base/errors.ts';
import { type Body, type BodyValue, utf8 } from './body.ts';
import { malformedField } from './fields.ts';

/** The longest form of ours has about twenty fields; the bytes of a body have room for more parts than anybody means. */
const MOST_PARTS = 100;
/** Of the lines that a part begins with: three are usual. */
const MOST_HEADER_BYTES = 2_048;
const MOST_HEADERS = 16;

/** @throws Refusal 'malformed_body', or 'malformed_field' naming a part that is a file */
export async function readMultipart(bytes: Buffer, contentType: string): Promise<Body> {
  const fields = new Map<string, BodyValue>();
  let refusal: Refusal | undefined;
  const refuse = (found: Refusal): void => void (refusal ??= found);
  const malformed = (why: string): Refusal => new Refusal('malformed_body', { why });
  try {
    const parser = new Busboy({
      headers: { 'content-type': contentType } as BusboyHeaders,
      limits: {
        fieldSize: bytes.length,
        fileSize: 0,
        parts: MOST_PARTS,
        headerPairs: MOST_HEADERS,
        headerSize: MOST_HEADER_BYTES,
      },
      // Whatever says that it is a file is one, however it spells its name.
      isPartAFile: (_name, type, fileName) => fileName !== undefined || type === 'application/octet-stream',
    });
    await new Promise<void>((done, failed) => {
      parser.on('field', (name, value, nameCut, valueCut) => {
        if (name === undefined || name === '') refuse(malformed('has a part without a name'));
        else if (nameCut || valueCut) refuse(malformed('has a part that is too long'));
        else fields.set(name, value);
      });
      parser.on('file', (name, stream) => {
        refuse(
          name === undefined || name === ''
            ? malformed('has a file without a name')
            : malformedField(name, 'is a file, and none is taken here'),
        );
        stream.on('error', () => {}).resume();
      });
      parser.on('partsLimit', () => refuse(malformed(`has more than ${MOST_PARTS} parts`)));
      parser.on('error', failed);
      parser.on('finish', done);
      parser.end(bytes);
    });
  } catch {
    throw refusal ?? malformed('is not complete multipart/form-data');
  }
  if (refusal !== undefined) throw refusal;
  // The parser would put another character in the place of bytes that are none.
  if (utf8(bytes) === undefined) throw malformed('is not UTF-8');
  // What begins like a body and has no part in it: a boundary that is not the one that was said.
  if (fields.size === 0 && !/^\s*--[^\r\n]*--\s*$/.test(bytes.toString('latin1')))
    throw malformed('has no part that can be read');
  return fields;
}

/**
 * Multipart bodies: sent by some programs instead of a form, and parsed into the same fields.
 *
 * The whole body is in memory already (its size is limited separately), so this only splits it. Every part must be a text: a
 * file is refused by the name of its part. Of a repeated name the last value counts, as in a form; `a[b]` is a field called
 * `a[b]`.
 *
 * The body is compared with the signed body like any other, so an unsigned part is a 401. Unsigned parts would only make sense
 * for file uploads. Elsewhere they would be dangerous: a captured signature of an empty body would be valid for every body.
 *
 * Not here: bodies with files (protocols/uploads.ts), and bodies too large to keep in memory.
 */
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { Refusal } from '../../base/errors.ts';
import { type Body, type BodyValue, utf8 } from './body.ts';
import { malformedField } from './fields.ts';

/** Our longest form has about twenty fields; the limit on a body's size alone would allow far more parts. */
const MOST_PARTS = 100;
/** Headers of a part: three are usual. */
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
      // Every part marked as a file counts as one, however its name is spelled.
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
  // The parser would replace invalid bytes with another character.
  if (utf8(bytes) === undefined) throw malformed('is not UTF-8');
  // The body begins like multipart and contains no part: its boundary is not the declared one.
  if (fields.size === 0 && !/^\s*--[^\r\n]*--\s*$/.test(bytes.toString('latin1')))
    throw malformed('has no part that can be read');
  return fields;
}

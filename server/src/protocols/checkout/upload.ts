/**
 * Forms with files: a posted `multipart/form-data` body, read by the intake that the wires use (protocols/uploads.ts).
 *
 * Only a customer who is logged in gets this far, so a stranger holds no place in the intake. A customer has two bodies under way
 * at most, and a number of them per hour: what a partner's program is trusted with, a browser is not.
 *
 * An input without a file is a part, too, so more parts are read than files are accepted. The names of files are dropped here.
 * When a body is refused as a whole, the texts before its files are still read, so the page can be shown again with them.
 */
import { Readable } from 'node:stream';
import { Refusal } from '../../base/errors.ts';
import { openShares } from '../../base/shares.ts';
import { openLimiter } from '../limit.ts';
import { readUpload, UPLOAD_LIMITS, type UploadedFile, type UploadLimits } from '../uploads.ts';

/** Why no file of a body was taken. */
export type UploadFault = 'tooLarge' | 'tooSlow' | 'tooMany';

export interface Posted {
  readonly form: URLSearchParams;
  /** Named by their slots alone. */
  readonly files: readonly UploadedFile[];
  readonly fault?: UploadFault;
}

/** The longest form has eighty inputs. */
const MOST_INPUTS = 90;
const MOST_AT_ONCE_EACH = 2;
/** A business with twenty people presses about fifty buttons. Each body may store up to `UPLOAD_LIMITS.bytes`. */
const MOST_BODIES = 60;
const BODIES_PER_MINUTE = 0.5;
/** More than the texts of the longest form. */
const TEXTS_BYTES = 512 * 1024;
/** A refused body is read on for so long, because a browser shows no answer before it has sent all. */
const DRAINED_BYTES = 4 * UPLOAD_LIMITS.bytes;
const PREFIX = 'file-';

/** @param limits those of the intake, except in tests */
export function openUploads(limits: UploadLimits = UPLOAD_LIMITS) {
  const limiter = openLimiter();
  const shares = openShares('uploads', MOST_AT_ONCE_EACH);
  return {
    /**
     * @returns how long to wait, when the customer has sent too many
     * @throws Refusal 'malformed_body'; Unavailable when too many are under way
     */
    async read(body: Readable, contentType: string, customerId: string): Promise<Posted | { retryAfterMs: number }> {
      drain(body);
      const { allowed, retryAfterMs } = limiter.take(customerId, BODIES_PER_MINUTE, MOST_BODIES);
      if (!allowed) return { retryAfterMs };
      return await shares.run(customerId, () => posted(body, contentType, limits));
    },
  };
}

async function posted(body: Readable, contentType: string, limits: UploadLimits): Promise<Posted> {
  const ahead: Buffer[] = [];
  let bytes = 0;
  body.on('data', (chunk: Buffer) => {
    if (bytes < TEXTS_BYTES) ahead.push(chunk);
    bytes += chunk.length;
  });
  const begunAt = performance.now();
  try {
    const read = await readUpload(body, contentType, { ...limits, files: MOST_INPUTS });
    const files = read.files
      .filter(({ names, content }) => content.length > 0 || names.length > 1)
      .map(({ names: [name = ''], content }) => ({
        names: [name.startsWith(PREFIX) ? name.slice(PREFIX.length) : ''],
        content,
      }));
    const form = new URLSearchParams([...read.body]);
    return files.length > limits.files ? { form, files: [], fault: 'tooMany' } : { form, files };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const isSlow = error.code === 'malformed_body' && performance.now() - begunAt >= limits.ms;
    if (error.code !== 'body_too_large' && !isSlow) throw error;
    const form = await textsIn(Buffer.concat(ahead), contentType, limits);
    return { form, files: [], fault: isSlow ? 'tooSlow' : 'tooLarge' };
  }
}

/** The texts before the first file: the same reader reads the body up to there, closed there. */
async function textsIn(ahead: Buffer, contentType: string, limits: UploadLimits): Promise<URLSearchParams> {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? [];
  const boundary = `\r\n--${quoted ?? plain ?? ''}`;
  const firstFile = ahead.toString('latin1').search(/content-disposition:[^\r\n]*filename=/i);
  const end = ahead.lastIndexOf(boundary, firstFile < 0 ? undefined : firstFile);
  if (end < 0) return new URLSearchParams();
  const whole = Buffer.concat([ahead.subarray(0, end), Buffer.from(`${boundary}--\r\n`)]);
  const { body } = await readUpload(Readable.from([whole]), contentType, limits);
  return new URLSearchParams([...body]);
}

/** Ends the connection of a sender who goes on far beyond the limits. */
export function drain(body: Readable): void {
  let bytes = 0;
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DRAINED_BYTES) body.destroy();
  });
}

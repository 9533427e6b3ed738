/**
 * Uploads: multipart bodies with files, read as a stream, within hard limits. Shared by the wires that accept files.
 *
 * No part of them is read before the headers are verified. A file is kept in memory until it was inspected as a whole, so that
 * no unencrypted content reaches a disk. Therefore the number and size of files, and the number of concurrent uploads, are
 * limited.
 *
 * A file belongs to the slot of the form that has the name of its part, or its file name. Names from outside are used nowhere
 * else: neither in the store nor in a sentence.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FastifyInstance } from 'fastify';
import { Refusal, Unavailable } from '../base/errors.ts';

export interface UploadLimits {
  readonly fileBytes: number;
  readonly files: number;
  /** Files and texts together. */
  readonly bytes: number;
  /** Maximum duration from the first byte to the last. */
  readonly ms: number;
}
export const UPLOAD_LIMITS: UploadLimits = {
  fileBytes: 5 * 1_048_576,
  files: 10,
  bytes: 20 * 1_048_576,
  ms: 30_000,
};

export interface UploadedFile {
  /** The names by which a slot is recognised: of the part, and of the file. Never shown, logged or stored. */
  readonly names: readonly string[];
  readonly content: Buffer;
}

interface Upload {
  /** The texts, by part name. */
  readonly body: ReadonlyMap<string, string>;
  readonly files: readonly UploadedFile[];
}

const MOST_PARTS = 100;
const MOST_FIELD_BYTES = 64 * 1024;
const MOST_HEADER_BYTES = 2_048;
const MOST_HEADERS = 16;

/** Each holds up to `UploadLimits.bytes` in memory. */
const MOST_AT_ONCE = 4;
let underWay = 0;

/** Mounts endpoints with files: the framework does not read their bodies, and an error closes the connection instead. */
export const takeUploads = (app: FastifyInstance, mount: (inside: FastifyInstance) => void) =>
  app.register(async (inside) => {
    inside.addContentTypeParser(/^\s*multipart\/form-data/i, (_request, payload, done) => done(null, payload));
    inside.addHook('onError', (_request, reply, _error, done) => {
      reply.header('connection', 'close');
      done();
    });
    mount(inside);
  });

/**
 * @throws Refusal 'malformed_body' | 'body_too_large'; Unavailable when too many are under way
 */
export async function readUpload(stream: Readable, contentType: string, limits: UploadLimits): Promise<Upload> {
  if (underWay >= MOST_AT_ONCE) throw new Unavailable('uploads', 'too many at once', { retryAfterMs: 1_000 });
  underWay += 1;
  try {
    return await readParts(stream, contentType, limits);
  } finally {
    underWay -= 1;
    // The rest of a refused body is not awaited: the reply closes the connection.
    stream.unpipe();
    stream.resume();
  }
}

const malformed = (why: string): Refusal => new Refusal('malformed_body', { why });

async function readParts(stream: Readable, contentType: string, limits: UploadLimits): Promise<Upload> {
  const fields = new Map<string, string>();
  const files: UploadedFile[] = [];
  const tooLarge = (maxBytes: number): Refusal => new Refusal('body_too_large', { maxBytes });
  let parser: InstanceType<typeof Busboy>;
  try {
    parser = new Busboy({
      headers: { 'content-type': contentType } as BusboyHeaders,
      limits: {
        fieldSize: MOST_FIELD_BYTES,
        fieldNameSize: 200,
        fileSize: limits.fileBytes,
        files: limits.files,
        parts: MOST_PARTS,
        headerPairs: MOST_HEADERS,
        headerSize: MOST_HEADER_BYTES,
      },
      isPartAFile: (_name, type, fileName) => fileName !== undefined || type === 'application/octet-stream',
    });
  } catch {
    throw malformed('is not complete multipart/form-data');
  }
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((done, failed) => {
      const refuse = (found: Refusal): void => {
        stream.unpipe(parser);
        failed(found);
      };
      timer = setTimeout(() => refuse(malformed(`did not come to its end within ${limits.ms} ms`)), limits.ms);
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > limits.bytes) refuse(tooLarge(limits.bytes));
      });
      stream.on('error', () => refuse(malformed('was cut off')));
      stream.on('close', () => stream.readableEnded || refuse(malformed('was cut off')));
      parser.on('field', (name, value, nameCut, valueCut) => {
        if (name === undefined || name === '') refuse(malformed('has a part without a name'));
        else if (nameCut || valueCut) refuse(malformed('has a part that is too long'));
        else if (!value.isWellFormed() || value.includes('\ufffd')) refuse(malformed('is not UTF-8'));
        else fields.set(name, value);
      });
      parser.on('file', (name, part, fileName) => {
        const chunks: Buffer[] = [];
        part.on('data', (chunk: Buffer) => chunks.push(chunk));
        part.on('limit', () => refuse(tooLarge(limits.fileBytes)));
        part.on('error', () => refuse(malformed('is not complete multipart/form-data')));
        part.on('end', () => {
          const names = [name, fileName].filter((one): one is string => typeof one === 'string' && one !== '');
          files.push({ names, content: Buffer.concat(chunks) });
        });
      });
      parser.on('partsLimit', () => refuse(malformed(`has more than ${MOST_PARTS} parts`)));
      parser.on('filesLimit', () => refuse(malformed(`has more than ${limits.files} files`)));
      parser.on('error', () => refuse(malformed('is not complete multipart/form-data')));
      parser.on('finish', done);
      stream.pipe(parser);
    });
  } finally {
    clearTimeout(timer);
    // The parser may still report an error, which nothing else handles.
    parser.on('error', () => {});
  }
  if (fields.size === 0 && files.length === 0) throw malformed('has no part that can be read');
  return { body: fields, files };
}

/** A digest of the files and their slots, which distinguishes a repeated request from another one. */
export const digestOfFiles = (files: readonly UploadedFile[]): string =>
  files
    .map(({ names, content }) => JSON.stringify([names, createHash('sha256').update(content).digest('hex')]))
    .join(' ');

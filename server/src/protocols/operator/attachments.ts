/**
 * Attaching a file to a case: a multipart body within the limits of uploads, with the fields of the action and one part `file`.
 *
 * The file is inspected and stored before the action's transaction; if that throws a Refusal, the file is removed again.
 * Opening and removing an attachment are ordinary actions (actions/cases.ts).
 */

import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal, Unavailable } from '../../base/errors.ts';
import { storeAttachment } from '../../compliance/index.ts';
import { givenBy } from '../declaration/fields.ts';
import { readUpload, UPLOAD_LIMITS } from '../uploads.ts';
import { type ActionReply, type Caller, perform } from './action.ts';
import { attachTo } from './actions/cases.ts';
import { CASES } from './declared/cases.ts';
import type { OperatorDeps } from './deps.ts';

/** Room for the fields beside the file. */
const LIMITS = { ...UPLOAD_LIMITS, files: 1, bytes: UPLOAD_LIMITS.fileBytes + 64 * 1024 };

export const attachmentRoutes =
  (
    deps: OperatorDeps,
    callerOf: (request: FastifyRequest) => Caller,
    shown: (body: ActionReply['body']) => Promise<unknown>,
  ) =>
  async (inside: FastifyInstance): Promise<void> => {
    inside.removeAllContentTypeParsers();
    inside.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    inside.route({
      method: 'POST',
      url: CASES.attach.path,
      bodyLimit: LIMITS.bytes + 64 * 1024,
      handler: async (request, reply) => {
        const caller = callerOf(request);
        const { body, files } = await received(request);
        const [file] = files;
        if (file === undefined) throw new Refusal('missing_fields', { names: ['file'] });
        const given = givenBy(Object.fromEntries(body), request.params);
        const { blobs } = deps;
        if (blobs === undefined) throw new Unavailable('documents', 'no store is open');
        const stored = await storeAttachment({ blobs, vault: deps.vault }, file.content, caller.operator.name);
        try {
          const { status, body: said } = await perform(deps, attachTo(stored), caller, given);
          return await reply.code(status).send(await shown(said));
        } catch (error) {
          // After any other error a row may exist, so the file stays: the sweep decides later.
          if (error instanceof Refusal) await blobs.remove(stored.id);
          throw error;
        }
      },
    });
  };

/** @throws Refusal 'malformed_body' | 'body_too_large' | 'too_many_requests' */
async function received(request: FastifyRequest): ReturnType<typeof readUpload> {
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type))
    throw new Refusal('malformed_body', { why: 'must be multipart/form-data with a part named file' });
  try {
    return await readUpload(request.body as Readable, type, LIMITS);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    throw new Refusal('too_many_requests', { why: 'Too many files are being received. Send it again in a moment.' });
  }
}

/**
 * The door to the desk of a bank without an API: payouts that wait, files out, statements in.
 *
 * Mounted below /operator/v1. Who may come in, and the audit, belong to the door in front: it names the person, and is told of
 * every act in the act's own transaction. A file of payouts names people, so handing it out is an act as well, a POST.
 *
 *   GET  /bank/accounts, /bank/payouts, /bank/files, /bank/files/<id>, /bank/imports, /bank/statements
 *   POST /bank/payouts/<key>/take-off     { reason }
 *   POST /bank/files                      { asset, reason }      closes what waits into a file
 *   POST /bank/files/<id>/hand-out        { reason }             answers with the file itself
 *   POST /bank/files/<id>/withdraw        { reason }             the statement that it was not uploaded
 *   POST /bank/statements?asset=eur                              the file as body, any content type but JSON
 *
 * Amounts are plain decimals of their asset, beside `asset`.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database, Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits } from '../../base/money.ts';
import { assets, isHandingStopped } from '../../partners/index.ts';
import { day, type Fields, givenBy, id, optional, readFields, reason, text, type Values } from './fields.ts';

/** What is needed of rails/manual: protocols know no rail. */
export interface BankDesk<File> {
  readonly code: string;
  accounts(): unknown[];
  waiting(tx: Tx, asset?: string): Promise<object[]>;
  takeOff(tx: Tx, key: string): Promise<void>;
  closeBatch(tx: Tx, given: { asset: string; by: string }): Promise<{ id: bigint }>;
  batches(tx: Tx): Promise<object[]>;
  batch(tx: Tx, id: bigint): Promise<object>;
  file(tx: Tx, id: bigint): Promise<{ name: string; type: string; bytes: Buffer; sha256: string }>;
  withdrawBatch(tx: Tx, id: bigint, given: { by: string; statement: string }): Promise<object>;
  readStatement(given: { asset: string; bytes: AsyncIterable<Uint8Array> }): Promise<File>;
  takeStatement(
    tx: Tx,
    given: { file: File; by: string },
  ): Promise<{ outcome: string; import: { id: bigint }; gaps: string[] }>;
  imports(tx: Tx): Promise<object[]>;
  statements(tx: Tx, asset: string, span: { from: string; to: string }): Promise<object[]>;
}

export interface BankDoor<File> {
  db: Database;
  desk: BankDesk<File>;
  /** The name of who asks. @throws Refusal where that person may not */
  person(request: FastifyRequest, may: 'read' | 'act'): string;
  /** The row of the audit, written with the act. */
  record(tx: Tx, request: FastifyRequest, done: { act: string; subject: string; reason: string }): Promise<void>;
}

const MOST_BYTES = 64 * 1024 * 1024;
const asset = text(60);

export const bankRoutes =
  <File>(door: BankDoor<File>) =>
  async (inside: FastifyInstance): Promise<void> => {
    const { db, desk } = door;
    // A statement is read as it comes in, whatever its sender calls it.
    inside.removeAllContentTypeParsers();
    inside.addContentTypeParser(
      'application/json',
      { parseAs: 'string', bodyLimit: 64 * 1024 },
      (_request, body, done) => {
        try {
          done(null, JSON.parse(String(body)));
        } catch {
          done(new Refusal('malformed_body'));
        }
      },
    );
    inside.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    inside.setErrorHandler(async (error, _request, reply) => {
      if (!(error instanceof Refusal) || (error.code !== 'file_refused' && error.code !== 'batch_refused')) throw error;
      const status = error.code === 'file_refused' ? 400 : 409;
      return reply.code(status).send({ error: error.facts.why, reason: error.code });
    });

    const read = <F extends Fields>(url: string, fields: F, answer: (tx: Tx, ask: Values<F>) => Promise<unknown>) =>
      inside.route({
        method: 'GET',
        url,
        handler: async (request) => {
          door.person(request, 'read');
          const ask = readFields(fields, givenBy(request.query, request.params));
          return await db.asSystem(async (tx) => shown(await assets(tx), await answer(tx, ask)));
        },
      });
    const act = <F extends Fields>(
      url: string,
      name: string,
      fields: F,
      perform: (tx: Tx, ask: Values<F>, doing: { by: string; reason: string }) => Promise<unknown>,
    ) =>
      inside.route({
        method: 'POST',
        url,
        handler: async (request, reply) => {
          const by = door.person(request, 'act');
          const { reason: why, ...ask } = readFields(
            { ...fields, reason },
            givenBy(request.body ?? {}, request.params),
          ) as Values<F> & { reason: string };
          const done = await db.asSystem(async (tx) => {
            const answer = await perform(tx, ask as Values<F>, { by, reason: why });
            const subject = `${desk.code}:${subjectOf(request, answer)}`;
            await door.record(tx, request, { act: name, subject, reason: why });
            return isFile(answer) ? answer : shown(await assets(tx), answer);
          });
          return isFile(done) ? handOut(reply, done) : done;
        },
      });

    read('/bank/accounts', {}, async () => ({ rail: desk.code, accounts: desk.accounts() }));
    read('/bank/payouts', { asset: optional(asset) }, async (tx, ask) => ({
      payouts: await desk.waiting(tx, ask.asset),
    }));
    read('/bank/files', {}, async (tx) => ({ files: await desk.batches(tx) }));
    read('/bank/files/:id', { id }, (tx, ask) => desk.batch(tx, ask.id));
    read('/bank/imports', {}, async (tx) => ({ imports: await desk.imports(tx) }));
    read('/bank/statements', { asset, from: day, to: day }, async (tx, { asset: of, ...span }) => ({
      statements: await desk.statements(tx, of, span),
    }));

    act('/bank/payouts/:key/take-off', 'bank.take_off', { key: text(60) }, async (tx, { key }) => {
      await desk.takeOff(tx, key);
      return { key };
    });
    act('/bank/files', 'bank.close_file', { asset }, async (tx, ask, { by }) => {
      await unlessStopped(tx, desk.code);
      return await desk.closeBatch(tx, { asset: ask.asset, by });
    });
    act('/bank/files/:id/hand-out', 'bank.hand_out_file', { id }, async (tx, ask) => {
      await unlessStopped(tx, desk.code);
      return await desk.file(tx, ask.id);
    });
    act('/bank/files/:id/withdraw', 'bank.withdraw_file', { id }, (tx, ask, { by, reason: statement }) =>
      desk.withdrawBatch(tx, ask.id, { by, statement }),
    );
    inside.route({
      method: 'POST',
      url: '/bank/statements',
      bodyLimit: MOST_BYTES,
      handler: async (request) => {
        const by = door.person(request, 'act');
        const { asset: of } = readFields({ asset }, givenBy(request.query, {}));
        const bytes = request.body as AsyncIterable<Uint8Array> | undefined;
        if (bytes === undefined || typeof bytes !== 'object' || !(Symbol.asyncIterator in bytes))
          throw new Refusal('file_refused', { why: 'The body must be the file itself.' });
        const file = await desk.readStatement({ asset: of, bytes });
        return await db.asSystem(async (tx) => {
          const taken = await desk.takeStatement(tx, { file, by });
          const subject = `${desk.code}:${taken.import.id}`;
          await door.record(tx, request, { act: 'bank.take_statement', subject, reason: taken.outcome });
          return shown(await assets(tx), taken);
        });
      },
    });
  };

/** A file is how money leaves here, so what stops handing over stops files: none leaves after the switch has answered. */
async function unlessStopped(tx: Tx, rail: string): Promise<void> {
  if (await isHandingStopped(tx, rail))
    throw new Refusal('batch_refused', { why: 'Handing over is stopped, so no file leaves.' });
}

interface HandedOut {
  name: string;
  type: string;
  bytes: Buffer;
  sha256: string;
}

const isFile = (answer: unknown): answer is HandedOut =>
  typeof answer === 'object' && answer !== null && Buffer.isBuffer((answer as { bytes?: unknown }).bytes);

const handOut = (reply: FastifyReply, { name, type, bytes, sha256 }: HandedOut): FastifyReply =>
  reply
    .header('content-type', type)
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('cache-control', 'no-store')
    .header('x-content-sha256', sha256)
    .send(bytes);

const subjectOf = ({ params }: FastifyRequest, answer: unknown): string => {
  const { id, key } = params as { id?: string; key?: string };
  return id ?? key ?? String((answer as { id?: bigint }).id ?? '');
};

/** Every amount beside or below an `asset` as a plain decimal of it; ids and other numbers as digits. */
function shown(known: ReadonlyMap<string, { decimals: number }>, value: unknown, asset?: string): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((one) => shown(known, one, asset));
  if (typeof value !== 'object' || value === null) return value;
  const own = (value as { asset?: unknown }).asset;
  const of = typeof own === 'string' ? own : asset;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      typeof part !== 'bigint'
        ? shown(known, part, of)
        : AMOUNTS.has(name) && of !== undefined
          ? formatUnits(part, known.get(of)?.decimals ?? 0)
          : String(part),
    ]),
  );
}

const AMOUNTS = new Set(['units', 'chargeUnits', 'opening', 'closing']);

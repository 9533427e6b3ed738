/**
 * Reads and uploads for the desk of a bank without an API. Statements come in as files.
 *
 * Mounted below /operator/v1. Changes are actions like any other (actions/bank.ts); for a statement the request is the file
 * itself. If importing it needs another person, that person uploads the same file, equal in every byte. So no part of a file is
 * stored before the import, and both people had the file.
 *
 *   GET  /bank/accounts, /bank/payouts, /bank/files, /bank/files/<id>, /bank/imports, /bank/statements
 *   GET  /bank/files/preview?asset=eur            what a file closed now would contain; nothing is closed
 *   POST /bank/statements?asset=eur[&reason=…]    the file as body, any content type but JSON
 *   POST /bank/statements/preview?asset=eur       the same without an import: what would be matched with what
 *
 * Amounts are plain decimals of their asset, beside `asset`.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits } from '../../base/money.ts';
import { openTyped } from '../../base/typed.ts';
import { openProposal } from '../../operators/index.ts';
import { lookUp } from '../../orders/index.ts';
import { assets } from '../../partners/index.ts';
import { listImports } from '../../reports/index.ts';
import { type Fields, givenBy, optional, readFields, type Values } from '../declaration/fields.ts';
import { type Caller, closeExpired, confirm, perform } from './action.ts';
import { takeStatement, unlessSwitchedOff } from './actions/bank.ts';
import { tableReply } from './csv.ts';
import { type Declared, reason, type Table } from './declare.ts';
import { BANK } from './declared/bank.ts';
import type { BankDesk, Downloaded, OperatorDeps, StatementFile } from './deps.ts';
import { amountOf, requireSpan } from './read.ts';

const MOST_BYTES = 64 * 1024 * 1024;

export const bankRoutes =
  (
    deps: OperatorDeps,
    desk: BankDesk,
    callerOf: (request: FastifyRequest, may: 'read' | 'treasury') => Promise<Caller>,
  ) =>
  async (inside: FastifyInstance): Promise<void> => {
    const { db } = deps;
    // A statement is read as a stream, whatever its content type.
    inside.removeAllContentTypeParsers();
    inside.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    inside.addContentTypeParser('application/json', (_request, payload, done) => {
      payload.resume();
      done(null, undefined);
    });

    const read = <F extends Fields>(
      { path, fields, table }: Declared<F> & { readonly table?: Table },
      answer: (tx: Tx, input: Values<F>) => Promise<unknown>,
    ) =>
      inside.route({
        method: 'GET',
        url: path,
        handler: async (request, reply) => {
          await callerOf(request, 'read');
          const input = readFields(fields, givenBy(request.query, request.params));
          const body = await db.asSystem(async (tx) =>
            shown({ known: await assets(tx), vault: deps.vault }, await answer(tx, input)),
          );
          return table === undefined ? body : tableReply(reply, table, input, body);
        },
      });

    read(BANK.accounts, async () => ({ rail: desk.code, accounts: desk.accounts() }));
    read(BANK.payouts, async (tx, input) => ({
      payouts: await desk.waiting(tx, input.asset),
    }));
    read(BANK.files, async (tx) => ({ files: await desk.batches(tx) }));
    inside.route({
      method: 'GET',
      url: BANK.closePreview.path,
      handler: async (request) => {
        await callerOf(request, 'read');
        const input = readFields(BANK.closePreview.fields, givenBy(request.query, {}));
        await db.asSystem((tx) => unlessSwitchedOff(tx, desk.code));
        const found = await desk.previewFile(input);
        return await db.asSystem(async (tx) =>
          shown({ known: await assets(tx), vault: deps.vault }, { preview: true, ...found }),
        );
      },
    });
    read(BANK.file, (tx, input) => desk.batch(tx, input.id));
    read(BANK.imports, async (tx, { asset: of, limit: most = 50, ...filters }) => {
      requireSpan(filters);
      await amountOf(tx, { asset: of });
      const page = await listImports(tx, { ...filters, rail: desk.code, asset: of, limit: most });
      return { imports: page.rows, next: page.next };
    });
    read(BANK.statements, async (tx, { asset: of, ...span }) => ({
      statements: await desk.statements(tx, of, span),
    }));

    const datedAhead = (file: StatementFile): string | null => {
      try {
        desk.requireDated(file, undefined);
        return null;
      } catch (error) {
        if (error instanceof Refusal && error.code === 'file_refused') return String(error.facts.why);
        throw error;
      }
    };
    inside.route({
      method: 'POST',
      url: BANK.takePreview.path,
      bodyLimit: MOST_BYTES,
      handler: async (request) => {
        await callerOf(request, 'treasury');
        const { asset: of } = readFields(BANK.takePreview.fields, givenBy(request.query, {}));
        const file = await desk.readStatement({ asset: of, bytes: fileOf(request) });
        const { lines, ...found } = await desk.preview(file);
        return await db.asSystem(async (tx) =>
          shown(
            { known: await assets(tx), vault: deps.vault },
            {
              preview: true,
              ...found,
              // Whether importing the file requires a reason.
              needsReason: datedAhead(file),
              lines: await withOrders(deps, tx, desk.code, lines),
            },
          ),
        );
      },
    });

    inside.route({
      method: 'POST',
      url: BANK.take.path,
      bodyLimit: MOST_BYTES,
      handler: async (request, reply) => {
        const caller = await callerOf(request, 'treasury');
        const { asset: of, reason: why } = readFields(
          { ...BANK.take.fields, reason: optional(reason) },
          givenBy(request.query, {}),
        );
        const file = await desk.readStatement({ asset: of, bytes: fileOf(request) });
        desk.requireDated(file, why);
        const taking = takeStatement(desk, file);
        const given = { asset: of, sha256: file.sha256.toString('hex') };
        const said = { reason: why ?? 'a statement of the bank' };
        const waits = await db.asSystem(async (tx) => {
          await closeExpired(tx, deps.clock.now());
          return await openProposal(tx, taking.name, taking.subject(given));
        });
        const { status, body } =
          waits === undefined
            ? await perform(deps, taking, caller, { ...given, ...said })
            : await confirm(deps, new Map([[taking.name, taking]]), caller, said, waits.id);
        return reply
          .code(status)
          .send(await db.asSystem(async (tx) => shown({ known: await assets(tx), vault: deps.vault }, body)));
      },
    });
  };

/** @throws Refusal 'file_refused' when the body is not a file */
function fileOf(request: FastifyRequest): AsyncIterable<Uint8Array> {
  const bytes = request.body as AsyncIterable<Uint8Array> | undefined;
  if (bytes === undefined || typeof bytes !== 'object' || !(Symbol.asyncIterator in bytes))
    throw new Refusal('file_refused', { why: 'The body must be the file itself.' });
  return bytes;
}

/** Adds to each line that carries a reference of ours the order of that reference. */
async function withOrders(deps: OperatorDeps, tx: Tx, rail: string, lines: readonly { target?: string }[]) {
  const found = [];
  for (const { target, ...line } of lines) {
    if (target === undefined || target === '') {
      found.push(target === '' ? { ...line, goesTo: 'suspense: no reference of an order' } : line);
      continue;
    }
    const { orders } = await lookUp(tx, { text: target, rails: [rail], vault: deps.vault, partnerIds: [] });
    const [order] = orders;
    found.push(
      order === undefined
        ? { ...line, goesTo: 'suspense: no order has the reference' }
        : {
            ...line,
            goesTo: `order ${order.id}`,
            order: order.id,
            orderState: order.state,
            orderAsks: order.depositUnits,
          },
    );
  }
  return found;
}

/** The file in an action's result, if its result is a file. */
export const fileIn = ({ file }: Readonly<Record<string, unknown>>): Downloaded | undefined =>
  typeof file === 'object' && file !== null && Buffer.isBuffer((file as { bytes?: unknown }).bytes)
    ? (file as Downloaded)
    : undefined;

export const handOut = (reply: FastifyReply, { name, type, bytes, sha256 }: Downloaded): FastifyReply =>
  reply
    .header('content-type', type)
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('cache-control', 'no-store')
    .header('x-content-sha256', sha256)
    .send(bytes);

interface Showing {
  known: ReadonlyMap<string, { decimals: number }>;
  vault: Vault;
}

/**
 * Adds to every amount beside or below an `asset` its plain decimal, shows ids and other numbers as digits, and decrypts
 * operators' texts.
 */
function shown(by: Showing, value: unknown, asset?: string): unknown {
  if (typeof value === 'string') return openTyped(by.vault, value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((one) => shown(by, one, asset));
  if (typeof value !== 'object' || value === null) return value;
  const own = (value as { asset?: unknown }).asset;
  const of = typeof own === 'string' ? own : asset;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      typeof part !== 'bigint'
        ? shown(by, part, of)
        : AMOUNTS.has(name) && of !== undefined
          ? formatUnits(part, by.known.get(of)?.decimals ?? 0)
          : String(part),
    ]),
  );
}

const AMOUNTS = new Set(['units', 'chargeUnits', 'creditUnits', 'debitUnits', 'opening', 'closing', 'orderAsks']);

/**
 * The operator's view, read only: where an order's money is, and whether the books balance.
 *
 * Answers to one token, made at the first start and kept beside the data (`operator.token`, mode 0600). Acts, named
 * operators and roles are not here yet.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Database } from '../../base/db.ts';
import { BugError, Refusal } from '../../base/errors.ts';
import { formatUnits } from '../../base/money.ts';
import { trialBalance } from '../../ledger/index.ts';
import { trace } from '../../orders/index.ts';
import { assets } from '../../partners/index.ts';
import type { Protocol } from '../protocol.ts';

export interface OperatorDeps {
  db: Database;
  token: string;
}

export const operator: Protocol<OperatorDeps> =
  ({ db, token }) =>
  async (app) => {
    await app.register(
      async (inside) => {
        inside.addHook('onRequest', async (request, reply) => {
          if (!sameText(request.headers.authorization ?? '', `Bearer ${token}`)) {
            return reply.code(401).send({ error: 'The operator token is missing or wrong.' });
          }
        });
        inside.setErrorHandler(async (error, _request, reply) => {
          if (error instanceof Refusal && error.code === 'unknown_order') {
            return reply.code(404).send({ error: 'There is no such order.' });
          }
          throw error instanceof BugError ? error : new BugError('operator view failed', { cause: error });
        });
        inside.get<{ Params: { id: string } }>('/orders/:id/trace', async (request, reply) => {
          const { id } = request.params;
          if (!/^[0-9]{1,18}$/.test(id)) return reply.code(404).send({ error: 'There is no such order.' });
          return await readable(db, async (tx) => await trace(tx, BigInt(id)));
        });
        inside.get('/trial-balance', () => readable(db, trialBalance));
      },
      { prefix: '/operator/v1' },
    );
  };

/** Amounts as plain decimals of their asset: every object with an `asset` has its units written out. */
async function readable<T>(db: Database, read: (tx: Parameters<Parameters<Database['asSystem']>[0]>[0]) => Promise<T>) {
  return await db.asSystem(async (tx) => {
    const known = await assets(tx);
    const write = (value: unknown, asset: string | undefined): unknown => {
      if (typeof value === 'bigint')
        return asset === undefined ? String(value) : formatUnits(value, known.get(asset)?.decimals ?? 0);
      if (value instanceof Date) return value.toISOString();
      if (Array.isArray(value)) return value.map((one) => write(one, asset));
      if (typeof value !== 'object' || value === null) return value;
      const own = (value as { asset?: unknown }).asset;
      return Object.fromEntries(
        Object.entries(value).map(([name, part]) => [
          name,
          write(part, isAmount(name) && typeof own === 'string' ? own : undefined),
        ]),
      );
    };
    return write(await read(tx), undefined);
  });
}

const isAmount = (name: string): boolean => /units|debits|credits/i.test(name);

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** SQL of the request log. */
import type { Tx } from '../../base/db.ts';
import { parameters } from '../../base/scan.ts';

export interface Line {
  partnerId: bigint;
  requestId: string;
  clientRequestId: string | null;
  apiKey: string;
  operation: string;
  method: string;
  path: string;
  status: number;
  reason: string | null;
  tookMs: number;
  replayed: boolean;
  version: string;
  idempotencyKey: string | null;
  request: unknown;
  reply: unknown;
  /** The fault of the signature or token of a request that was not accepted. */
  why: string | null;
  at: Date;
}

export interface LineRow extends Line {
  id: bigint;
}

/** Most of one id: a program may send the same id of its own with every request. */
const MOST_NAMED = 50;

const COLUMNS = `id, partner_id, request_id, client_request_id, api_key,
  operation, method, path, status, reason, took_ms, replayed, version, idempotency_key,
  request, reply, why, at`;

export const requestLog = {
  insert: (tx: Tx, line: Line) =>
    tx.defer(
      `insert into request_log (partner_id, request_id, client_request_id, api_key, operation, method, path, status, reason,
         took_ms, replayed, version, idempotency_key, request, reply, why, at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
      [
        ...[line.partnerId, line.requestId, line.clientRequestId, line.apiKey, line.operation, line.method, line.path],
        ...[line.status, line.reason, line.tookMs, line.replayed, line.version, line.idempotencyKey],
        ...[line.request, line.reply].map((value) => (value === null ? null : JSON.stringify(value))),
        line.why,
        line.at,
      ],
    ),

  page: (
    tx: Tx,
    input: {
      partnerId: bigint;
      operation?: string | undefined;
      status?: number | undefined;
      reason?: string | undefined;
      key?: string | undefined;
      from?: Date | undefined;
      until?: Date | undefined;
      below: bigint | undefined;
      limit: number;
    },
  ) => {
    const { values, put } = parameters();
    // Only what is asked for: a condition that may be empty hides from the planner that the index of the partner has the page in order.
    const equal = (column: string, value: unknown) => (value === undefined ? [] : [`${column} = ${put(value)}`]);
    const where = [
      ...equal('partner_id', input.partnerId),
      ...(input.below === undefined ? [] : [`id < ${put(input.below)}`]),
      ...equal('operation', input.operation),
      ...equal('api_key', input.key),
      ...equal('status', input.status),
      ...equal('reason', input.reason),
      ...(input.from === undefined ? [] : [`at >= ${put(input.from)}`]),
      ...(input.until === undefined ? [] : [`at < ${put(input.until)}`]),
    ];
    // What filters drop is bounded by the thirty days that are kept.
    return tx.rows<LineRow>(
      `select ${COLUMNS} from request_log where ${where.join(' and ')} order by id desc limit ${put(input.limit)}`,
      values,
    );
  },

  find: (tx: Tx, { partnerId, id }: { partnerId: bigint; id: string }) =>
    tx.row<LineRow>(
      `select ${COLUMNS} from request_log where partner_id = $1 and (request_id = $2 or client_request_id = $2)
        order by id desc limit 1`,
      [partnerId, id],
    ),

  /** Of any of these partners, newest first. */
  named: (tx: Tx, { partnerIds, id }: { partnerIds: readonly bigint[]; id: string }) =>
    tx.rows<LineRow>(
      `select ${COLUMNS} from request_log
        where partner_id = any($1::bigint[]) and (request_id = $2 or client_request_id = $2) order by id desc limit ${MOST_NAMED}`,
      [partnerIds, id],
    ),

  /** As the system role: a partner deletes none. */
  forget: (tx: Tx, before: Date, most: number) =>
    tx.run('delete from request_log where id in (select id from request_log where at < $1 order by at limit $2)', [
      before,
      most,
    ]),
};

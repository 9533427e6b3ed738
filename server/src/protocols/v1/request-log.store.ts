/** SQL of the request log. */
import type { Tx } from '../../base/db.ts';

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

export const requestLogSql = {
  // A page walks the partner's lines by id; what filters drop is bounded by the thirty days that are kept.
  page: `select ${COLUMNS} from request_log
    where partner_id = $1 and ($2::bigint is null or id < $2) and ($3::text is null or operation = $3)
      and ($9::text is null or api_key = $9)
      and ($4::integer is null or status = $4) and ($5::text is null or reason = $5)
      and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
    order by id desc limit $8`,
};

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
  ) =>
    tx.rows<LineRow>(requestLogSql.page, [
      ...[input.partnerId, input.below ?? null, input.operation ?? null, input.status ?? null, input.reason ?? null],
      ...[input.from ?? null, input.until ?? null, input.limit, input.key ?? null],
    ]),

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

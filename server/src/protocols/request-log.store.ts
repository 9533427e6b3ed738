/** SQL of the request log. */
import type { Tx } from '../base/db.ts';
import { parameters } from '../base/scan.ts';

export const PROTOCOLS = ['v1', 'white-label'] as const;
export type LoggedProtocol = (typeof PROTOCOLS)[number];

/** `orders.create`; for the white-label wire, a path without its prefix: `offramp/quote`, `v1/webhooks/:id`. */
export const OPERATION = /^[a-zA-Z0-9][\w.:/-]*$/;

export interface Line {
  partnerId: bigint;
  protocol: LoggedProtocol;
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
  /** Empty if the protocol has no versions. */
  version: string;
  idempotencyKey: string | null;
  request: unknown;
  reply: unknown;
  /** The fault of the signature or token, for a request that was not authenticated. */
  why: string | null;
  at: Date;
}

export interface LineRow extends Line {
  id: bigint;
}

/** Maximum results for one id: a program may send the same id of its own with every request. */
const MOST_NAMED = 50;

const COLUMNS = `id, partner_id, protocol, request_id, client_request_id, api_key,
  operation, method, path, status, reason, took_ms, replayed, version, idempotency_key,
  request, reply, why, at`;

const WRITTEN = `partner_id, protocol, request_id, client_request_id, api_key, operation, method, path, status, reason, took_ms,
  replayed, version, idempotency_key, request, reply, why, at`;

export const requestLog = {
  /** Inserts lines of one partner, in one statement. */
  insert: (tx: Tx, lines: readonly Line[]) =>
    tx.defer(
      `insert into request_log (${WRITTEN}) select ${WRITTEN} from json_populate_recordset(null::request_log, $1::json)`,
      [
        JSON.stringify(
          lines.map((line) => ({
            ...{ partner_id: String(line.partnerId), protocol: line.protocol, request_id: line.requestId },
            ...{ client_request_id: line.clientRequestId, api_key: line.apiKey, operation: line.operation },
            ...{ method: line.method, path: line.path, status: line.status, reason: line.reason, took_ms: line.tookMs },
            ...{ replayed: line.replayed, version: line.version, idempotency_key: line.idempotencyKey },
            ...{ request: line.request, reply: line.reply, why: line.why, at: line.at },
          })),
        ),
      ],
    ),

  page: (
    tx: Tx,
    input: {
      partnerId: bigint;
      protocol?: LoggedProtocol | undefined;
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
    // Conditions are added only when needed: with an optional condition the planner does not see that the partner's index
    // returns the page in order.
    const equal = (column: string, value: unknown) => (value === undefined ? [] : [`${column} = ${put(value)}`]);
    const where = [
      ...equal('partner_id', input.partnerId),
      ...(input.below === undefined ? [] : [`id < ${put(input.below)}`]),
      ...equal('protocol', input.protocol),
      ...equal('operation', input.operation),
      ...equal('api_key', input.key),
      ...equal('status', input.status),
      ...equal('reason', input.reason),
      ...(input.from === undefined ? [] : [`at >= ${put(input.from)}`]),
      ...(input.until === undefined ? [] : [`at < ${put(input.until)}`]),
    ];
    // The number of rows that filters skip is bounded, because only thirty days are kept.
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

  /**
   * Lines of any of these partners with one of these ids, newest first. Each is looked up by itself, a program's id as a range of
   * one that an index returns in order: PostgreSQL else reads all lines by number, because it expects that an id has many.
   */
  named: (tx: Tx, { partnerIds, ids }: { partnerIds: readonly bigint[]; ids: readonly string[] }) =>
    tx.rows<LineRow>(
      `select ${COLUMNS} from request_log where id = any(array(
         select found.id from unnest($1::bigint[]) as p (partner) cross join unnest($2::text[]) as a (given) cross join lateral (
           (select id from request_log where partner_id = p.partner and request_id = a.given limit ${MOST_NAMED})
           union all
           (select id from request_log where partner_id = p.partner and client_request_id between a.given and a.given
             order by client_request_id desc, id desc limit ${MOST_NAMED})) found))
        order by id desc limit ${MOST_NAMED}`,
      [partnerIds, ids],
    ),

  /** The last of the partner's next lines, by their ids. Runs with the system role. */
  next: async (tx: Tx, l: { partnerId: bigint; after: bigint; limit: number }): Promise<bigint | null> =>
    (
      await tx.row<{ last: bigint | null }>(
        `select max(id) as last from (select id from request_log where partner_id = $1 and id > $2 order by id limit $3) as page`,
        [l.partnerId, l.after, l.limit],
      )
    )?.last ?? null,

  /** Takes out what the caller chose itself, of lines that name an id. Runs with the system role. */
  eraseOwn: (tx: Tx, l: { partnerId: bigint; after: bigint; until: bigint; name: string }) =>
    tx.run(
      `update request_log set client_request_id = null, idempotency_key = null where partner_id = $1 and id > $2 and id <= $3
        and num_nonnulls(client_request_id, idempotency_key) > 0 and strpos(concat_ws(' ', path, request, reply), $4) > 0`,
      [l.partnerId, l.after, l.until, l.name],
    ),

  /** Runs with the system role: the partner role deletes none. */
  forget: (tx: Tx, before: Date, most: number) =>
    tx.run('delete from request_log where id in (select id from request_log where at < $1 order by at limit $2)', [
      before,
      most,
    ]),
};

/**
 * Routes: the declaration of an endpoint, as data. The table of all endpoints is in table.ts.
 */
import type { TSchema } from 'typebox';
import type { Blobs } from '../../base/blobs.ts';
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { BugError, type RefusalCode } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { EgressPolicy, Sender } from '../../events/index.ts';
import type { Orders } from '../../orders/index.ts';
import type { Market, openPartners, Scope, Through } from '../../partners/index.ts';
import type { Call, Reply } from '../protocol.ts';
import type { SandboxDriver } from '../sandbox.ts';
import type { UploadedFile, UploadLimits } from '../uploads.ts';
import type { Caller, ClockWindow } from './auth.ts';
import type { Body } from './body.ts';
import { type Fields, readFields, undeclared, type Values } from './fields.ts';
import type { NetworkIds } from './reference.ts';

export interface WhitelabelDeps {
  readonly db: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Log;
  readonly partners: ReturnType<typeof openPartners>;
  readonly orders: Orders;
  /** Present in the sandbox only, which also serves the sandbox's endpoints, allows any origin, and has no rate limit. */
  readonly sandbox?: SandboxDriver | undefined;
  /** The public base URL for customers' browsers, without a trailing slash. */
  readonly publicUrl: () => string;
  /**
   * Cost of a withdrawal on a market's chain, in the market's crypto, smallest units, rounded up. Without it the map of gas
   * fees is not served.
   * @throws Unavailable
   */
  readonly withdrawalFee?: ((market: Market) => Promise<bigint>) | undefined;
  /** Chain ids of the connected chains; without it, the publicly known ones. */
  readonly networkIds?: NetworkIds | undefined;
  /** Which addresses webhooks may go to, and how one is tested immediately. */
  readonly egress: Pick<EgressPolicy, 'plain' | 'allows'>;
  readonly send: Sender;
  readonly clockWindow?: ClockWindow | undefined;
  readonly maxBodyBytes?: number | undefined;
  /** Store of customers' files, and their limits. */
  readonly blobs: Blobs;
  readonly uploadLimits?: UploadLimits | undefined;
}

/** A request that has been authenticated and parsed. */
export interface Input<F extends Fields> {
  readonly deps: WhitelabelDeps;
  readonly values: Values<F>;
  readonly body: Body;
  readonly call: Call;
  /** The endpoint's own path, the same for all its aliases. */
  readonly path: string;
}
export interface SignedRequest<F extends Fields> extends Input<F> {
  readonly caller: Caller;
  /** Files of the request, if the route accepts any. */
  readonly files: readonly UploadedFile[];
  /** A transaction that sees only this partner's rows. */
  readonly inTx: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;
  /** The same, read-only. */
  readonly readOnly: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>;
}

/** A request to an endpoint where a signature is optional. */
export type MaybeSigned<F extends Fields = Fields> = Input<F> &
  Partial<Pick<SignedRequest<F>, 'caller' | 'inTx' | 'readOnly'>>;

/** The description of an endpoint, besides its paths and fields (openapi.ts). */
export interface Declared {
  /** Its effect, in one sentence of the present tense. */
  readonly says: string;
  /** The schema of `data` in a successful reply. */
  readonly gives: TSchema;
  /** An example request, if the examples of its required fields do not make a meaningful one. */
  readonly example?: Readonly<Record<string, string | number>>;
  /** Its refusals, beyond those of any request (COMMON_REFUSALS). */
  readonly refuses?: readonly RefusalCode[];
  /** Headers of a successful reply, by name, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route extends Declared {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The first path is the endpoint's own name; the others are aliases. */
  readonly paths: readonly string[];
  /** 'optional': an unsigned request is accepted, one with an invalid signature is not. */
  readonly auth: 'signed' | 'optional' | 'public';
  readonly scope: Scope;
  /** Served in the sandbox only. */
  readonly sandbox: boolean;
  /** One of the sandbox's controls, which an installation may not have. */
  readonly control?: boolean;
  /** Its paths are our own and not the interface's, so undeclared fields are refused. */
  readonly strict: boolean;
  /** Its multipart bodies may contain files. */
  readonly files: boolean;
  /** Its fields, which may depend on the request. */
  readonly fields: (body: Body) => Fields;
  /** All fields it may take, one row per form of a request. */
  readonly forms: readonly Fields[];
  readonly answer: (input: MaybeSigned) => Promise<Reply>;
}

export const ok = (data: unknown, headers?: Readonly<Record<string, string>>): Reply => ({
  status: 200,
  body: { status: 1, code: 200, data },
  ...defined({ headers }),
});

/** Every path of the white-label interface is served under both prefixes, because programs use both. */
export const wl = (path: string, ...aliases: string[]): string[] => [
  `/onramp/api/v2/whiteLabel/${path}`,
  `/onramp-bank/api/v2/whiteLabel/${path}`,
  ...aliases,
];

interface SignedEndpoint<F extends Fields> extends Declared {
  readonly paths: readonly string[];
  readonly scope: Scope;
  readonly method?: Route['method'];
  readonly sandbox?: boolean;
  readonly control?: boolean;
  readonly files?: boolean;
  readonly answer: (input: SignedRequest<F>) => Promise<Reply>;
}
/** Fields that depend on the request are declared for each form that a request can have. */
type Takes<F extends Fields> =
  | { readonly takes: F }
  | { readonly takes: (body: Body) => F; readonly forms: readonly Fields[] };

/** A signed endpoint. A GET has its fields in the query, which is not signed. */
export function signed<F extends Fields>(endpoint: SignedEndpoint<F> & Takes<F>): Route {
  const { takes, answer, method = 'POST', sandbox = false, files = false, ...declared } = endpoint;
  const fieldsFor = (body: Body): F => (typeof takes === 'function' ? takes(body) : takes);
  const strict = declared.paths.every((path) => OUR_PATHS.test(path));
  return {
    ...declared,
    method,
    sandbox,
    files,
    strict,
    auth: 'signed',
    fields: fieldsFor,
    forms: 'forms' in endpoint ? endpoint.forms : [endpoint.takes as Fields],
    answer: async (input) =>
      await answer({
        ...(input as SignedRequest<Fields>),
        values: readFields(fieldsFor(input.body), input.body, { only: strict }),
      }),
  };
}

const OUR_PATHS = /^\/(?:v1|sandbox)\//;

/**
 * On the interface's paths undeclared fields are ignored, as programs expect. In the sandbox a header lists them, because they
 * may be misspelled; a refusal has the header too.
 */
export function withIgnored(reply: Reply, route: Route, { deps, body }: Pick<Input<Fields>, 'deps' | 'body'>): Reply {
  if (deps.sandbox === undefined || route.strict) return reply;
  const printable = new Map([...body].filter(([name]) => /^[\w.-]{1,64}$/.test(name)));
  const ignored = undeclared(fieldsOf(route, body), printable);
  if (ignored.length === 0) return reply;
  return { ...reply, headers: { ...reply.headers, 'x-ignored-fields': ignored.join(', ') } };
}

function fieldsOf({ fields, forms }: Route, body: Body): Fields {
  try {
    return fields(body);
  } catch {
    return Object.assign({}, ...forms) as Fields;
  }
}

interface OpenEndpoint<F extends Fields> extends Declared {
  readonly paths: readonly string[];
  /** 'optional': an unsigned request is accepted, one with an invalid signature is not. */
  readonly auth?: 'public' | 'optional';
  /** Its fields, in the query. */
  readonly takes?: F;
  readonly answer: (input: MaybeSigned<F>) => Promise<Reply>;
}

/** Declares a GET that needs no signature. */
export function open<F extends Fields = Record<never, never>>(endpoint: OpenEndpoint<F>): Route {
  const { takes = {} as F, answer, auth = 'public', ...declared } = endpoint;
  return {
    ...declared,
    method: 'GET',
    auth,
    scope: 'read',
    sandbox: false,
    files: false,
    strict: false,
    fields: () => takes,
    forms: [takes],
    answer: async (input) => await answer({ ...(input as MaybeSigned<F>), values: readFields(takes, input.body) }),
  };
}

/** The key behind a signed request, as recorded with its activity. */
export const throughOf = ({ partner, credential }: Caller): Through => ({
  partnerId: partner.id,
  apiKey: credential.key,
});

/** A `Tx` for readers of cached data: it opens a transaction only if something must be read. */
export const whenNeeded = (db: Database): Tx => ({
  rows: (text, values) => db.asSystem((tx) => tx.rows(text, values)),
  row: (text, values) => db.asSystem((tx) => tx.row(text, values)),
  run: (text, values) => db.asSystem((tx) => tx.run(text, values)),
  defer() {
    throw new BugError('a read of cached data tried to write');
  },
  deferLast() {
    throw new BugError('a read of cached data tried to write');
  },
  outside: (_key, work) => work(),
  attempts: db,
  cacheKey: db.cacheKey,
});

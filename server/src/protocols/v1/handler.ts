/**
 * Handlers: the behaviour of each endpoint of /v1. A read uses one or more read-only transactions. A write does its work in one
 * transaction, together with the stored reply (protocols/idempotency.ts).
 */
import type { Blobs } from '../../base/blobs.ts';
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import type { Log } from '../../base/log.ts';
import type { Customer } from '../../customers/index.ts';
import type { EgressPolicy } from '../../events/index.ts';
import type { Orders, OrdersContext } from '../../orders/index.ts';
import type { Credential, Partner, Partners, Through } from '../../partners/index.ts';
import type { AtWork } from '../../team/index.ts';
import type { Fields, Values } from '../declaration/fields.ts';
import type { SandboxDriver } from '../sandbox.ts';
import type { UploadedFile, UploadLimits } from '../uploads.ts';
import type { Declared, ReplyOf } from './declare.ts';

export interface V1Deps {
  db: Database;
  vault: Vault;
  clock: Clock;
  log: Log;
  partners: Partners;
  orders: Orders;
  /** For actions that run with the system role, after the order's partner was checked. */
  context: OrdersContext;
  publicUrl: () => string;
  /** Whether /docs is served, with the page of each reason. */
  hasDocs: boolean;
  egress: EgressPolicy;
  profile: 'sandbox' | 'production';
  /** Cooling-off time of a destination that a program has added and its customer has not confirmed, in milliseconds. */
  coolingOffMs: number;
  /** As on the hosted pages: while a code alone does not open the customer behind a number, none confirms a destination either. */
  phoneIdleMs?: number;
  /** EIP-155 ids of chains. */
  networkIds: ReadonlyMap<string, number>;
  /**
   * The highest level that the verifier gives to customers of a kind, 0 if none; also the highest that a submission may ask for, and
   * that a customer is told of.
   */
  highestLevelFor: (kind: Customer['kind']) => number;
  /** Store of customers' files, and their limits. */
  blobs: Blobs;
  uploadLimits?: UploadLimits;
  /** Sends one-time codes to phones; absent if no sender is configured. */
  codes?: { nextCode?: () => string; sendCode(phone: string, code: string): Promise<void> };
  /** Present in the sandbox only. */
  sandbox?: SandboxDriver;
  /** Further endpoints, for tests. */
  beside?: readonly Handled[];
}

export interface Caller {
  readonly partner: Partner;
  readonly credential: Credential;
  /** The currently valid secret: quotes are signed with it. */
  readonly secret: string;
  /** Signature of a signed request: the same when the same request is sent again. */
  readonly signature: Buffer | undefined;
  /** Set for a request by session; its credential has no scopes and no secrets. */
  readonly member?: AtWork;
}

export interface Asked<F extends Fields = Fields> {
  readonly deps: V1Deps;
  readonly caller: Caller;
  readonly values: Values<F>;
  /** Empty unless the endpoint is declared to take files. */
  readonly files: readonly UploadedFile[];
  readonly now: Date;
  /** Of a write: the same when the same request is sent again, and different from any other caller's. */
  readonly idempotencyKey: string;
  /** Network address of the caller. */
  readonly address: string;
  readonly inTx: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly readOnly: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
}

interface Read {
  readonly kind: 'read';
  readonly declared: Declared;
  answer(asked: Asked): Promise<unknown>;
}
interface Write {
  readonly kind: 'write';
  readonly declared: Declared;
  /** The role that does the work. The system role is used only after `check` has found that the partner may. */
  readonly as: 'partner' | 'system';
  /** Runs first, with the partner role: a subject of another partner is unknown to it. */
  readonly check: ((tx: Tx, asked: Asked) => Promise<void>) | undefined;
  /** Runs before the work in transactions of its own, unless the request was answered before. Must be idempotent. */
  readonly before: ((asked: Asked) => Promise<void>) | undefined;
  work(tx: Tx, asked: Asked): Promise<unknown>;
  /** Runs after the commit and may call outside. If it throws, the same request may be sent again. */
  readonly after: ((asked: Asked, reply: never) => Promise<void>) | undefined;
}
export type Handled = Read | Write;

/** Declares the handler of a GET. */
export const reads = <D extends Declared>(
  declared: D,
  answer: (asked: Asked<D['fields']>) => Promise<ReplyOf<D>>,
): Handled => ({ kind: 'read', declared, answer: answer as Read['answer'] });

/** Declares the handler of a request that changes something. */
export const writes = <D extends Declared>(
  declared: D,
  work: (tx: Tx, asked: Asked<D['fields']>) => Promise<ReplyOf<D>>,
  more: {
    as?: 'partner' | 'system';
    check?: (tx: Tx, asked: Asked<D['fields']>) => Promise<void>;
    before?: (asked: Asked<D['fields']>) => Promise<void>;
    after?: (asked: Asked<D['fields']>, reply: ReplyOf<D>) => Promise<void>;
  } = {},
): Handled => ({
  kind: 'write',
  declared,
  as: more.as ?? 'partner',
  check: more.check as Write['check'],
  before: more.before as Write['before'],
  work: work as Write['work'],
  after: more.after as Write['after'],
});

/** The key or the member behind a request. */
export const throughOf = ({ partner, credential, member }: Caller): Through =>
  member === undefined
    ? { partnerId: partner.id, apiKey: credential.key }
    : { partnerId: partner.id, apiKey: null, member: member.member.id };

/** The same as text, as recorded with the action. */
export const byOf = ({ credential, member }: Caller): string =>
  member === undefined ? `key ${credential.key}` : `member ${member.member.name}`;

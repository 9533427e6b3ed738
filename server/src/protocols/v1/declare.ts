/**
 * The declaration of an endpoint of this wire. Route, validation, the types of a handler, the request log, OpenAPI and the
 * reference page follow from it; its behaviour is in handlers/, under the declaration's name.
 *
 * The declarations are in declared/, one file for each part of the table of contents, and declared/index.ts lists them all.
 */
import type { Static, TSchema } from 'typebox';
import type { Scope } from '../../partners/index.ts';
import type { MemberRight } from '../../team/index.ts';
import { type Fields, optional, text, whole } from '../declaration/fields.ts';
import type { Reason } from './reasons.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Declared<F extends Fields = Fields, G extends TSchema = TSchema> {
  /** Resource and verb: `orders.cancel`. The request log, the operation id and the handler have this name. */
  readonly name: string;
  readonly method: Method;
  /** Below /v1; its `:names` are fields. */
  readonly path: string;
  /** The scope that a key needs. */
  readonly scope: Scope;
  /**
   * The right that a member of the team needs, by session; by default it follows from the scope. `none`: only a key may call it.
   */
  readonly member?: MemberRight | 'none';
  /** Only a member may, signed in with a passkey; a key is declined. */
  readonly person?: true;
  /** Its effect, in one sentence of the present tense. */
  readonly says: string;
  /** What else has to be known. */
  readonly more?: string;
  readonly fields: F;
  /** Its body is multipart/form-data with files; its fields are in the path. */
  readonly files?: true;
  /** Largest body, where 64 KiB are too few. */
  readonly maxBodyBytes?: number;
  /** The reply of a success. */
  readonly gives: G;
  /** 201 if it creates something. */
  readonly status?: 200 | 201;
  /** Why it declines, beyond what any request may be declined for. */
  readonly refuses?: readonly Reason[];
  /** A valid example request, if the examples of its required fields do not make one. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Since when it is deprecated, when it ends, and its replacement. */
  readonly deprecated?: { readonly since: Date; readonly sunset: Date; readonly instead: string };
}

/** The reply that a handler of this declaration gives. */
export type ReplyOf<D extends Declared> = Static<D['gives']>;

/** Keeps the types of its fields and reply while it is written down. */
export const declare = <F extends Fields, G extends TSchema>(declared: Declared<F, G>): Declared<F, G> => declared;

export const isWrite = ({ method }: Pick<Declared, 'method'>): boolean => method !== 'GET';

/** Most rows of a page. */
export const MAX_PAGE = 100;

/** How a list is read on. */
export const PAGED = {
  cursor: optional(text(200, /^[\w.-]+$/, 'a cursor that a page answered as nextCursor')),
  limit: optional(whole(1, MAX_PAGE)),
};

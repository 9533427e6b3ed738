/**
 * The declaration of an endpoint of /v1. Route, validation, the types of a handler, the request log, OpenAPI and the reference
 * page are generated from it; its behaviour is in handlers/, under the declaration's name.
 *
 * The declarations are in declared/, one file per section of the table of contents, and declared/index.ts lists them all.
 */
import type { Static, TSchema } from 'typebox';
import type { Scope } from '../../partners/index.ts';
import type { MemberRight } from '../../team/index.ts';
import { type Fields, optional, text, whole } from '../declaration/fields.ts';
import type { Reason } from './reasons.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Declared<F extends Fields = Fields, G extends TSchema = TSchema> {
  /** Resource and verb: `orders.cancel`. The request log, the operation id and the handler use this name. */
  readonly name: string;
  readonly method: Method;
  /** Below /v1; its `:names` are fields. */
  readonly path: string;
  /** The scope that a key needs. */
  readonly scope: Scope;
  /**
   * The right that a member of the team needs, by session; by default it follows from the scope. `none`: only a key may call
   * it.
   */
  readonly member?: MemberRight | 'none';
  /** Only a member signed in with a passkey may call it; a key is refused. */
  readonly person?: true;
  /** Its effect, in one sentence of the present tense. */
  readonly says: string;
  /** Further description. */
  readonly more?: string;
  readonly fields: F;
  /** Its body is multipart/form-data with files; its fields are in the path. */
  readonly files?: true;
  /** Maximum body size, if 64 KiB are too small. */
  readonly maxBodyBytes?: number;
  /** The schema of a successful reply. */
  readonly gives: G;
  /** 201 if it creates something. */
  readonly status?: 200 | 201;
  /** Its refusals, beyond those of any request. */
  readonly refuses?: readonly Reason[];
  /** A valid example request, for when the examples of its required fields do not make one. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Date of the deprecation, date of the end, and the replacement. */
  readonly deprecated?: { readonly since: Date; readonly sunset: Date; readonly instead: string };
}

/** The type of the reply that a handler of this declaration returns. */
export type ReplyOf<D extends Declared> = Static<D['gives']>;

/** Type helper: keeps the types of fields and reply. */
export const declare = <F extends Fields, G extends TSchema>(declared: Declared<F, G>): Declared<F, G> => declared;

export const isWrite = ({ method }: Pick<Declared, 'method'>): boolean => method !== 'GET';

/** Maximum page size. */
export const MAX_PAGE = 100;

/** Fields of a paged list. */
export const PAGED = {
  cursor: optional(text(200, /^[\w.-]+$/, 'the nextCursor of an earlier page')),
  limit: optional(whole(1, MAX_PAGE)),
};

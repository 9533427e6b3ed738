/**
 * The declaration of an endpoint of this wire. Route, number of people, CLI command and description of the wire follow from it;
 * the behaviour is in the file that the declaration belongs to (actions/, reads.ts, lists.ts, reports.ts, bank.ts).
 *
 * The declarations are in declared/, one file for each part of the table of contents, and declared/index.ts lists them all.
 */
import type { TSchema } from 'typebox';
import type { RefusalCode } from '../../base/errors.ts';
import type { Right } from '../../operators/index.ts';
import { type Fields, id, oneOf, optional, text, time, typed, whole } from '../declaration/fields.ts';
import { pages } from './replies.ts';

/**
 * How many people an action takes:
 * - `one`;
 * - `rules`: as many as the rules say, and two where no rule matches;
 * - `named`: two, unless a rule names the action or its family;
 * - `ruled`: one, unless a rule names the action or its family;
 * - `two`: two at least, whatever the rules say;
 * - `second`: one, until two operators may confirm; then two at least.
 */
export type People = 'one' | 'rules' | 'named' | 'ruled' | 'two' | 'second';

/** `npm run operator -- <words> <args> [--options]`. */
export interface CommandOf {
  /** As typed, such as `order release`. */
  readonly words: string;
  /** Fields behind the words, in order; without it, the names of the path. */
  readonly args?: readonly string[];
  /** Fields that may follow as `--name value`; without it, all that are no argument. */
  readonly options?: readonly string[];
  /** If it differs from the endpoint's own sentence. */
  readonly says?: string;
  /** The list in the reply that is shown in columns; of a table, its own. */
  readonly list?: string;
  readonly columns?: readonly string[];
  /** Kinds of line that `--brief` leaves out of the list. */
  readonly brief?: readonly string[];
  /** `--csv` and `--all` are refused although the answer is a table. */
  readonly plain?: true;
  /** Fields that are sent with every command, whatever is typed. */
  readonly always?: Readonly<Record<string, string>>;
  /** The last of `args` is a file on this machine, and the body of the request; the rest is in the query. */
  readonly sendsFile?: true;
  /** The last of `args` is a file on this machine, and a part of the request's multipart body, as the other fields are. */
  readonly sendsForm?: true;
  /** The answer may be a file, which is written to `--out`, for its owner only. */
  readonly getsFile?: true;
  /** The request that `--dry-run` makes instead. It changes nothing. */
  readonly dryRun?: { readonly of: Declared; readonly list: string; readonly columns: readonly string[] };
}

export interface Declared<F extends Fields = Fields> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Under /operator/v1; its `:names` are fields. */
  readonly path: string;
  readonly right: Right;
  /** Its effect, in one sentence of the present tense. */
  readonly says: string;
  readonly fields: F;
  /** It changes no business: no reason is asked for. */
  readonly withoutReason?: true;
  /** Needs no token and no session: part of a login. */
  readonly isOpen?: true;
  /** Why it declines, beyond what any request may be declined for. */
  readonly refuses?: readonly RefusalCode[];
  /** The reply of a success. */
  readonly gives: TSchema;
  readonly command?: CommandOf | readonly CommandOf[];
}

export interface DeclaredAction<F extends Fields = Fields> extends Declared<F> {
  readonly method: 'POST';
  /** Noun and verb: `order.release`. Rules, proposals and the audit name it. */
  readonly name: string;
  readonly people: People;
  /** If it takes more people. */
  readonly morePeople?: string;
  /** Its amounts are held against limits of rules. */
  readonly weighs?: true;
  /** Its `needs` are all `named` or `always`: a rule for every action (`*`) does not apply to it. */
  readonly onlyNamed?: true;
  /** By session it takes a fresh login, although its right does not. */
  readonly isFresh?: true;
  /** It has a default reason. */
  readonly reasonIsOptional?: true;
  /** The body is a file; its fields are in the query. */
  readonly takesFile?: true;
  /** The body is multipart/form-data with its fields and one part named `file`: what that is. */
  readonly takesForm?: string;
}

/** Rows of an answer, and their cells in order. */
export interface Table {
  readonly list: string;
  readonly columns: readonly string[];
}

export interface DeclaredRead<F extends Fields = Fields> extends Declared<F> {
  readonly method: 'GET';
  readonly right: 'read';
  /** Of what may be asked for as CSV, too: with `format=csv` the answer is exactly the rows that JSON has. */
  readonly table?: Table;
}

/** Why an action is done: every action takes it in addition to its own fields. */
export const reason = typed(500, /\S{2}/, 'a reason of 3 to 500 characters');

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export const act = <F extends Fields>(declared: Without<DeclaredAction<F>, 'method'>): DeclaredAction<F> =>
  ({ ...declared, method: 'POST' }) as DeclaredAction<F>;

/** How a table is answered. */
const FORMAT = { format: optional(oneOf(['json', 'csv'])) };

/** Without `gives`, the reply is the table in pages. */
export const look = <F extends Fields>(
  declared: Without<DeclaredRead<F>, 'method' | 'right' | 'gives'> & (Pick<Declared, 'gives'> | { table: Table }),
): DeclaredRead<F> =>
  ({
    ...('gives' in declared ? {} : { gives: pages(declared.table?.list ?? 'rows', declared.table?.columns ?? []) }),
    ...declared,
    fields: declared.table === undefined ? declared.fields : { ...declared.fields, ...FORMAT },
    method: 'GET',
    right: 'read',
  }) as DeclaredRead<F>;

export const limit = (most: number) => optional(whole(1, most));

/** What lists can be narrowed by, each alone or with others. */
export const FILTERS = {
  partner: optional(id),
  customer: optional(text(40)),
  market: optional(id),
  from: optional(time),
  until: optional(time),
};

/** Declines of every action that more people than one may have to agree on. */
export const PROPOSES: readonly RefusalCode[] = ['proposal_exists'];
/** Of actions by which money leaves. */
export const FINDS =
  'More if the money passes a screening hit, goes to a held destination, to a blocked customer, or to a destination that the customer did not name: each is a finding with its own rules.';
/** Of lists that are narrowed by a partner, a customer or a market. */
export const NARROWED: readonly RefusalCode[] = ['unknown_partner', 'unknown_customer', 'unknown_market'];

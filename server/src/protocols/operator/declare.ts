/**
 * The declaration of an endpoint of this interface. Its route, number of people, CLI command and description are generated from
 * it; its behaviour is in the file that the declaration belongs to (actions/, reads.ts, lists.ts, reports.ts, bank.ts).
 *
 * The declarations are in declared/, one file per section of the table of contents, and declared/index.ts lists them all.
 */
import type { TSchema } from 'typebox';
import type { RefusalCode } from '../../base/errors.ts';
import type { Right } from '../../operators/index.ts';
import { about, type Fields, id, oneOf, optional, text, time, typed, whole } from '../declaration/fields.ts';
import { pages } from './replies.ts';

/**
 * How many people an action takes:
 * - `one`;
 * - `rules`: as many as the rules say, and two if no rule matches;
 * - `named`: two, unless a rule names the action or its family;
 * - `ruled`: one, unless a rule names the action or its family;
 * - `two`: at least two, whatever the rules say;
 * - `second`: one, until two operators may confirm; then at least two.
 */
export type People = 'one' | 'rules' | 'named' | 'ruled' | 'two' | 'second';

/** `npm run operator -- <words> <args> [--options]`. */
export interface CommandOf {
  /** The words as typed, such as `order release`. */
  readonly words: string;
  /** Fields that follow the words, in order; by default the names of the path. */
  readonly args?: readonly string[];
  /** Fields that may follow as `--name value`; by default all that are not arguments. */
  readonly options?: readonly string[];
  /** Set if it differs from the endpoint's own sentence. */
  readonly says?: string;
  /** The list of the reply to show in columns; by default that of the table. */
  readonly list?: string;
  readonly columns?: readonly string[];
  /** Kinds of line that `--brief` omits from the list. */
  readonly brief?: readonly string[];
  /** `--csv` and `--all` are not available although the reply is a table. */
  readonly plain?: true;
  /** Fields that are sent with every such command. */
  readonly always?: Readonly<Record<string, string>>;
  /** The last of `args` is a file on this machine and is the request's body; the other fields are in the query. */
  readonly sendsFile?: true;
  /** The last of `args` is a file on this machine and is a part of the multipart body, beside the other fields. */
  readonly sendsForm?: true;
  /** The reply may be a file, which is written to `--out`, readable by its owner only. */
  readonly getsFile?: true;
  /** The request of `--dry-run`, which changes nothing. */
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
  /** It changes no business data, so it needs no reason. */
  readonly withoutReason?: true;
  /** Needs no token and no session: part of a login. */
  readonly isOpen?: true;
  /** Its refusals, beyond those of any request. */
  readonly refuses?: readonly RefusalCode[];
  /** The schema of a successful reply. */
  readonly gives: TSchema;
  readonly command?: CommandOf | readonly CommandOf[];
}

export interface DeclaredAction<F extends Fields = Fields> extends Declared<F> {
  readonly method: 'POST';
  /** Noun and verb: `order.release`. Rules, proposals and the audit use this name. */
  readonly name: string;
  readonly people: People;
  /** When it takes more people. */
  readonly morePeople?: string;
  /** Its amounts are compared with the limits of rules. */
  readonly weighs?: true;
  /** Its `needs` are all `named` or `always`, so a rule for every action (`*`) does not apply. */
  readonly onlyNamed?: true;
  /** It may be planned: it has the field `effectiveAt`, and may answer that it waits for its time. */
  readonly plans?: true;
  /** By session it needs a fresh login, although its right alone does not. */
  readonly isFresh?: true;
  /** It has a default reason. */
  readonly reasonIsOptional?: true;
  /** The body is a file; its fields are in the query. */
  readonly takesFile?: true;
  /** The body is multipart/form-data with its fields and one part named `file`; this text describes that part. */
  readonly takesForm?: string;
}

/** The list of rows in a reply, and their cells in order. */
export interface Table {
  readonly list: string;
  readonly columns: readonly string[];
}

export interface DeclaredRead<F extends Fields = Fields> extends Declared<F> {
  readonly method: 'GET';
  readonly right: 'read';
  /** Set for a reply that is also available as CSV: with `format=csv` the reply has exactly the rows of the JSON. */
  readonly table?: Table;
}

/** The reason for an action: every action takes it in addition to its own fields. */
export const reason = typed(500, /\S{2}/, 'a reason of 3 to 500 characters');

/** From when on a change holds. Without it, at once. */
export const effectiveAt = optional(
  about(
    time,
    'From when on it holds; at once where not given. In the future, at most 365 days ahead',
    '2027-01-31T00:00:00Z',
  ),
);

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export const declareAction = <F extends Fields>(declared: Without<DeclaredAction<F>, 'method'>): DeclaredAction<F> =>
  ({ ...declared, method: 'POST' }) as DeclaredAction<F>;

/** The format of a table's reply. */
const FORMAT = { format: optional(oneOf(['json', 'csv'])) };

/** Declares a read. Without `gives`, the reply is the table in pages. */
export const declareRead = <F extends Fields>(
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

/** Filters of lists, in any combination. */
export const FILTERS = {
  partner: optional(id),
  customer: optional(text(40)),
  market: optional(id),
  from: optional(time),
  until: optional(time),
};

/** Refusals of every action that may need more than one person. */
export const PROPOSES: readonly RefusalCode[] = ['proposal_exists'];
/** Sentence for actions by which money leaves. */
export const FINDS =
  'More if the money passes a screening hit, goes to a held destination, to a blocked customer, or to a destination that the customer did not name: each is a finding with its own rules.';
/** Refusals of lists that are filtered by partner, customer or market. */
export const NARROWED: readonly RefusalCode[] = ['unknown_partner', 'unknown_customer', 'unknown_market'];

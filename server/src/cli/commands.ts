/**
 * The commands of `npm run operator`: words, meaning, and the request of the operator API that each makes. They are generated
 * from the declarations of the endpoints (protocols/operator/declared) and stored in commands.json, because loading the server
 * for them would take longer than the command itself: UPDATE_DOCS=1 rewrites the file, and a test checks it. The server checks
 * the values of options.
 */
import file from './commands.json' with { type: 'json' };

export interface Command {
  /** The words as typed, such as `order release`. */
  words: string;
  /** Arguments after the words, in order: the `:names` of the path first, then fields. */
  args: readonly string[];
  /** Fields that may follow as `--name value`. An action also takes `--reason`. */
  options?: readonly string[];
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Its effect, in one sentence. */
  about: string;
  /** The meaning of each field that is an argument or option. */
  fields?: Readonly<Record<string, string>>;
  /** How many people the action takes. */
  people?: string;
  /** The list in the reply, and its columns. */
  list?: string;
  columns?: readonly string[];
  /** Kinds of line that `--brief` omits from the list. */
  brief?: readonly string[];
  /** The server also returns this list as CSV (`--csv`), in pages: the field that is the cursor of a page (`--all`). */
  pages?: 'below' | 'after';
  /** CSV without pages. */
  csv?: true;
  /** Fields that are always sent. */
  always?: Readonly<Record<string, string>>;
  /** The last of `args` is a file on this machine and is the request's body; the other fields are in the query. */
  sendsFile?: true;
  /** The last of `args` is a file on this machine and is a part of the multipart body, beside the other fields. */
  sendsForm?: true;
  /** The answer may be a file, which is written to `--out`, readable by its owner only. */
  getsFile?: true;
  /** An action that has a default reason. */
  reasonIsOptional?: true;
  /** Changes no business data: it takes no `--reason`. */
  withoutReason?: true;
  /** The request of `--dry-run`: shows the effect and changes nothing. */
  dryRun?: Pick<Command, 'method' | 'path' | 'list' | 'columns'>;
}

export const COMMANDS = file as unknown as readonly Command[];

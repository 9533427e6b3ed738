/**
 * The commands of `npm run operator`: words, what stands behind them, and one request of the operator's wire. They are made from the
 * declarations of the endpoints (protocols/operator/declared) and kept in commands.json, because loading the server for them would
 * take longer than the command: UPDATE_DOCS=1 writes the file anew, and a test keeps it fresh. What an option may be, the server knows.
 */
import file from './commands.json' with { type: 'json' };

export interface Command {
  /** As typed, such as `order release`. */
  words: string;
  /** Behind the words, in order: the `:names` of the path first, then fields. */
  args: readonly string[];
  /** Fields that may follow as `--name value`. An action takes `--reason` besides. */
  options?: readonly string[];
  method: 'GET' | 'POST';
  path: string;
  /** What it does, in one sentence. */
  about: string;
  /** Meaning of each argument and option, as far as they are fields. */
  fields?: Readonly<Record<string, string>>;
  /** How many people it takes. */
  people?: string;
  /** The list in the reply, and what of it is shown in columns. */
  list?: string;
  columns?: readonly string[];
  /** Kinds of line that `--brief` leaves out of the list. */
  brief?: readonly string[];
  /** The server writes its list as CSV, too (`--csv`), and has pages of it: the field that says where one begins (`--all`). */
  pages?: 'below' | 'after';
  /** CSV without pages. */
  csv?: true;
  /** Fields that are sent with it, whatever is typed. */
  always?: Readonly<Record<string, string>>;
  /** The last of `args` is a file on this machine, and the body of the request; the rest stands in the query. */
  sendsFile?: true;
  /** The answer may be a file, which is written to `--out`, for its owner only. */
  getsFile?: true;
  /** An action that says itself why. */
  reasonIsOptional?: true;
  /** What `--dry-run` asks instead: what would come of it. Nothing is changed. */
  dryRun?: Pick<Command, 'method' | 'path' | 'list' | 'columns'>;
}

export const COMMANDS = file as unknown as readonly Command[];

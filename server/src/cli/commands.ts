/**
 * The commands of `npm run operator`: words, meaning, and one request of the operator's wire. They are made from the declarations
 * of the endpoints (protocols/operator/declared) and kept in commands.json, because loading the server for them would take longer
 * than the command: UPDATE_DOCS=1 writes the file again, and a test checks it. The server checks the values of options.
 */
import file from './commands.json' with { type: 'json' };

export interface Command {
  /** As typed, such as `order release`. */
  words: string;
  /** Arguments after the words, in order: the `:names` of the path first, then fields. */
  args: readonly string[];
  /** Fields that may follow as `--name value`. An action also takes `--reason`. */
  options?: readonly string[];
  method: 'GET' | 'POST';
  path: string;
  /** Its effect, in one sentence. */
  about: string;
  /** Meaning of each argument and option that is a field. */
  fields?: Readonly<Record<string, string>>;
  /** How many people it takes. */
  people?: string;
  /** The list in the reply, and its columns. */
  list?: string;
  columns?: readonly string[];
  /** Kinds of line that `--brief` omits from the list. */
  brief?: readonly string[];
  /** The server also writes this list as CSV (`--csv`), and pages it: the field that says where a page begins (`--all`). */
  pages?: 'below' | 'after';
  /** CSV without pages. */
  csv?: true;
  /** Fields that are always sent. */
  always?: Readonly<Record<string, string>>;
  /** The last of `args` is a file on this machine, and the body of the request; the other fields are in the query. */
  sendsFile?: true;
  /** The last of `args` is a file on this machine, and a part of the multipart body beside the other fields. */
  sendsForm?: true;
  /** The answer may be a file, which is written to `--out`, readable by its owner only. */
  getsFile?: true;
  /** An action with its own reason. */
  reasonIsOptional?: true;
  /** The request of `--dry-run`: shows the effect and changes nothing. */
  dryRun?: Pick<Command, 'method' | 'path' | 'list' | 'columns'>;
}

export const COMMANDS = file as unknown as readonly Command[];

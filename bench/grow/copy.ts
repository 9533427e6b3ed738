/**
 * COPY: rows as lines of text, gathered per table and sent in batches over one connection while the next batch is made.
 *
 * Lines are in COPY's text format; the caller escapes their values (`escaped`). A batch is sent table by table, in the
 * order in which tables were first named. Rows are copied as frozen, so their tables must have been rewritten in the same
 * transaction.
 */
import type pg from 'pg';

/** The client's interface for custom queries, which has no published types. */
interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Bytes per protocol message: small enough that the text is not held in memory twice. */
const CHUNK = 1 << 20;

/** Copies all of `text` into a table. */
function copyIn(client: pg.Client, statement: string, text: string): Promise<void> {
  return new Promise((done, fail) => {
    const copying = {
      submit: (wire: Wire) => wire.query(statement),
      handleCopyInResponse(wire: Wire) {
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; at += CHUNK) wire.sendCopyFromChunk(bytes.subarray(at, at + CHUNK));
        wire.endCopyFrom();
      },
      handleCommandComplete() {},
      handleReadyForQuery: () => done(),
      handleError: (error: Error) => fail(error),
    };
    client.query(copying as unknown as pg.Submittable);
  });
}

export class Tables {
  readonly #client: pg.Client;
  readonly #columns: ReadonlyMap<string, readonly string[]>;
  readonly #texts = new Map<string, string>();
  readonly rows = new Map<string, number>();
  #sending: Promise<void> = Promise.resolve();

  /** @param columns columns of each table, in the order of the lines' values */
  constructor(client: pg.Client, columns: ReadonlyMap<string, readonly string[]>) {
    this.#client = client;
    this.#columns = columns;
  }

  /** @param text one or more lines, each with its line end @param rows number of rows */
  add(table: string, text: string, rows: number): void {
    this.#texts.set(table, (this.#texts.get(table) ?? '') + text);
    this.rows.set(table, (this.rows.get(table) ?? 0) + rows);
  }

  /** Starts sending the collected rows, after the previous batch has finished. */
  async send(): Promise<void> {
    await this.#sending;
    const batch = [...this.#texts];
    this.#texts.clear();
    this.#sending = this.#copyAll(batch);
    // The error is thrown at the next await: by the next batch, or by `end`.
    this.#sending.catch(() => {});
  }

  async end(): Promise<void> {
    await this.send();
    await this.#sending;
  }

  async #copyAll(batch: readonly [string, string][]): Promise<void> {
    for (const [table, text] of batch) {
      const columns = this.#columns.get(table);
      if (columns === undefined) throw new Error(`no columns are known of ${table}`);
      await copyIn(this.#client, `copy cloverleaf.${table} (${columns.join(', ')}) from stdin with (freeze)`, text);
    }
  }
}

/** Escapes a value for COPY's text format. */
export const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');

export const NULL = '\\N';

/**
 * Lists and the feed of events, row by row: pages are fetched as needed.
 *
 *     for await (const order of client.orders.list({ state: 'on_hold' })) …
 *     const { data, nextCursor } = await client.orders.list({ limit: 20 }).first();
 */
import type { CallOptions } from './http.ts';
import { sleep } from './http.ts';

export interface Page<T> {
  readonly data: readonly T[];
  /** Pass it as `cursor` to continue. Null at the end. */
  readonly nextCursor: string | null;
}

export class Pages<T> implements AsyncIterable<T> {
  readonly #fetch: (cursor: string | undefined) => Promise<Page<T>>;
  readonly #from: string | undefined;

  constructor(fetch: (cursor: string | undefined) => Promise<Page<T>>, from: string | undefined) {
    this.#fetch = fetch;
    this.#from = from;
  }

  /** The first requested page only. */
  first(): Promise<Page<T>> {
    return this.#fetch(this.#from);
  }

  /** Page by page, each fetched when it is needed. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let cursor = this.#from; ; ) {
      const page = await this.#fetch(cursor);
      if (page.data.length > 0) yield page;
      // A feed returns a cursor at its end too: the same cursor again means that there are no more events for now.
      if (page.nextCursor === null || page.nextCursor === cursor) return;
      cursor = page.nextCursor;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** All rows, or a given number of them. */
  async toArray(most = Number.POSITIVE_INFINITY): Promise<T[]> {
    const rows: T[] = [];
    if (most <= 0) return rows;
    for await (const row of this) if (rows.push(row) >= most) break;
    return rows;
  }
}

export interface FollowOptions extends CallOptions {
  /** Where to begin: the cursor you have stored, or nothing for the very first event. */
  readonly cursor?: string | undefined;
  /** How long to wait when there is nothing new. Default one second. */
  readonly intervalMs?: number;
  /** Ends the loop, without an error. */
  readonly signal?: AbortSignal;
}

export interface Followed<T> {
  readonly event: T;
  /** Store it when the event is processed. After a restart, later events may arrive a second time; none is skipped. */
  readonly cursor: string | undefined;
}

/** Events as they happen, from a cursor on, until the signal is aborted. */
export async function* follow<T>(
  page: (query: { cursor?: string; limit: number }, options: CallOptions) => Promise<Page<T>>,
  options: FollowOptions = {},
): AsyncGenerator<Followed<T>, void, undefined> {
  const { cursor: from, intervalMs = 1_000, ...call } = options;
  const { signal } = call;
  const isOver = (): boolean => signal?.aborted === true;
  let cursor = from;
  while (!isOver()) {
    let got: Page<T>;
    try {
      got = await page({ ...(cursor === undefined ? {} : { cursor }), limit: 100 }, call);
    } catch (error) {
      if (isOver()) return;
      throw error;
    }
    const next = got.nextCursor ?? cursor;
    for (const [at, event] of got.data.entries()) yield { event, cursor: at === got.data.length - 1 ? next : cursor };
    if (got.data.length === 0) await sleep(intervalMs, signal).catch(() => {});
    cursor = next;
  }
}

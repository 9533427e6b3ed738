/**
 * Pages of long lists with filters that can be combined, at a bounded cost.
 *
 * A statement walks one index in the list's order and says of each row whether the other filters let it through; it never looks
 * for the next row that fits. So a step reads at most `STEP_ROWS`, a page at most `MOST_STEPS` steps. Where these end before the
 * page is full, the page is short and its `next` goes on behind the last row that was read: a list is over where `next` is
 * null, and not where a page is short.
 */

/** Rows a step reads: as many as the largest page that anything here shows. */
const STEP_ROWS = 500;
/** Ten thousand rows: a few dozen milliseconds. */
const MOST_STEPS = 20;

export interface Page<R, I> {
  rows: R[];
  /** Where the next page begins; null at the end of the list. */
  next: I | null;
}

/**
 * @param input.after the id behind which the page begins
 * @param input.isFiltered whether rows may be left out; otherwise no more are read than shown
 * @param step rows behind an id, in the list's order, each with whether it is in the list
 */
export async function scan<R extends { id: I }, I>(
  input: { after: I | undefined; limit: number; isFiltered: boolean },
  step: (after: I | undefined, count: number) => Promise<readonly { row: R; fits: boolean }[]>,
): Promise<Page<R, I>> {
  const count = input.isFiltered ? STEP_ROWS : input.limit + 1;
  const rows: R[] = [];
  let after = input.after;
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const read = await step(after, count);
    for (const { row, fits } of read) {
      if (fits && rows.length === input.limit) return { rows, next: rows.at(-1)?.id ?? null };
      if (fits) rows.push(row);
      after = row.id;
    }
    if (read.length < count) return { rows, next: null };
  }
  return { rows, next: after ?? null };
}

/** Values of a statement as they are written into it: `put` answers the parameter's name. */
export function parameters() {
  const values: unknown[] = [];
  return { values, put: (value: unknown): string => `$${values.push(value)}` };
}

/**
 * Reads pages of long lists with combinable filters, at a bounded cost.
 *
 * A statement walks one index in list order and reports for each row whether the other filters accept it; it never searches for
 * the next matching row. So a step reads at most `STEP_ROWS` rows, and a page takes at most `MOST_STEPS` steps. After the last
 * step the page may be short; its `next` then continues after the last row read. A list ends where `next` is null, not where a
 * page is short.
 */

/** Rows per step: the largest page size of any list. */
const STEP_ROWS = 500;
/** At most ten thousand rows per page: a few dozen milliseconds. */
const MOST_STEPS = 20;

export interface Page<R, I> {
  rows: R[];
  /** Where the next page begins; null at the end of the list. */
  next: I | null;
}

/**
 * @param input.after the id after which the page begins
 * @param input.isFiltered whether filters may drop rows; if not, no more rows are read than shown
 * @param step reads rows after an id, in list order, each with whether the filters accept it
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

/** Collects the values of a statement while its text is built: `put` returns the parameter's name. */
export function parameters() {
  const values: unknown[] = [];
  return { values, put: (value: unknown): string => `$${values.push(value)}` };
}

/**
 * Conditions of the filters that are given, for `where`. A statement with the conditions of all filters has one plan for whatever is
 * given, which can use no filter's index.
 *
 * @param filters the beginning of each condition, as `partner_id =`, and its value
 * @returns `true` if none is given
 */
export function conditions(put: (value: unknown) => string, filters: readonly (readonly [string, unknown])[]): string {
  const given = filters.filter(([, value]) => value !== undefined).map(([text, value]) => `${text} ${put(value)}`);
  return given.length === 0 ? 'true' : given.join(' and ');
}

/** Suggests the path that a mistyped one most likely means. A path may have `:names`, which match any typed segment. */

const MOST_CHARS = 160;
/** A path with more differing characters is unrelated. */
const MOST_EDITS = 6;

/** Characters to insert, remove or replace between two texts in lower case (Levenshtein distance). */
export function edits(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  let before = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    before = row;
  }
  return before[b.length] ?? 0;
}

/** @returns undefined when no path is similar */
export function nearestPath(url: string, paths: readonly string[]): string | undefined {
  if (url.length > MOST_CHARS) return undefined;
  const all = paths.map((path) => ({ path, filled: filled(path, url) }));
  const ends = all.filter((one) => lastOf(one.filled) !== '' && lastOf(one.filled) === lastOf(url));
  // Anyone may request a path, so texts that differ too much in length are skipped to bound the work.
  const alike = all.filter((one) => Math.abs(one.filled.length - url.length) <= MOST_EDITS);
  const near = (ends.length > 0 ? ends : alike).map((one) => ({ path: one.path, edits: edits(url, one.filled) }));
  const [nearest] = near.toSorted((a, b) => a.edits - b.edits);
  if (nearest === undefined || (ends.length === 0 && nearest.edits > MOST_EDITS)) return undefined;
  return nearest.path;
}

function filled(path: string, url: string): string {
  if (!path.includes(':')) return path;
  const typed = url.split('/');
  return path
    .split('/')
    .map((part, at) => (part.startsWith(':') ? (typed[at] ?? part) : part))
    .join('/');
}

/** The end of a longer path, such as `offramp/quote`: people usually copy that part correctly. */
const lastOf = (path: string): string =>
  path
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '')
    .slice(-2)
    .join('/');

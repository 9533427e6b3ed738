/**
 * Watching: the changes that `npm test -- --watch` reacts to, and the tests that a change reaches.
 *
 * A test is reached by a file that it imports, directly or through others. A file that is not TypeScript (a fixture, a page's
 * style) counts as imported by the sources that name it. A dependency without an import, such as a path put together at run time,
 * is not detected: name the test on the command line, and it runs after every change.
 */
import { globSync, readFileSync, watch } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

/** Editors write a file in several steps, and a checkout many files. */
const QUIET_MS = 200;

/**
 * @param folder with all below it
 * @returns sets of paths that changed together, in the system's form, until `signal` aborts
 */
export async function* changesIn(folder: string, signal: AbortSignal): AsyncGenerator<Set<string>> {
  let changed = new Set<string>();
  let wake: () => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true }, (_event, name) => {
    if (name === null || name.includes('node_modules') || !/\.(ts|js|mjs|json|sql|css|xml|csv)$/.test(name)) return;
    changed.add(join(folder, name));
    clearTimeout(timer);
    timer = setTimeout(() => wake(), QUIET_MS);
  });
  const end = () => wake();
  signal.addEventListener('abort', end);
  try {
    while (!signal.aborted) {
      await new Promise<void>((done) => {
        wake = done;
        if (signal.aborted || (changed.size > 0 && timer === undefined)) done();
      });
      if (signal.aborted) return;
      const together = changed;
      changed = new Set();
      timer = undefined;
      yield together;
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    watcher.close();
  }
}

/**
 * @param root below which sources are looked for
 * @returns test files that a change of these files reaches
 */
export function reachedBy(changed: ReadonlySet<string>, root: string): string[] {
  const sources = globSync('**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] }).map((path) => join(root, path));
  const importers = new Map<string, string[]>();
  const others = [...changed].filter((path) => !path.endsWith('.ts'));
  const note = (target: string, by: string) => void importers.set(target, [...(importers.get(target) ?? []), by]);
  for (const path of sources) {
    const text = readFileSync(path, 'utf8');
    for (const [, target = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g))
      note(resolve(dirname(path), target), path);
    for (const other of others) if (text.includes(basename(other))) note(other, path);
  }
  const reached = new Set<string>();
  const look = [...changed];
  for (let path = look.pop(); path !== undefined; path = look.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    look.push(...(importers.get(path) ?? []));
  }
  return [...reached].filter((path) => path.endsWith('.test.ts') && sources.includes(path)).toSorted();
}

export const named = (paths: Iterable<string>, root: string): string =>
  [...paths].map((path) => relative(root, path)).join(', ');

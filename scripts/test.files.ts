/**
 * Runs files of tests one after another in this process, each as a suite named by its path: what files share is loaded and
 * compiled once, which is half of what a small file costs.
 *
 * TEST_SHARED is a folder with the list of files (`files.json`). Several such processes share it: each takes the next file by
 * creating its mark in `taken/`. A process that has become large takes no more; the runner (test.ts) starts another.
 *
 * A file's tests and hooks are kept while it loads, and declared inside its suite when it has loaded: so its hooks run around its
 * own tests, and the next file loads after its last one. A file has ended when nothing that it opened is open any more, as if its
 * process had to end: handles and uncaught errors that it leaves are reported under it. Its changes of the environment, the working
 * folder and mocks are undone.
 *
 * Modules that files share run once: one that declares a hook when it is loaded would do so for the first file only.
 */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import * as runner from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { patience } from '../server/test/support/patience.ts';

type Declare = (...args: unknown[]) => unknown;
const DECLARES = ['test', 'it', 'describe', 'suite', 'before', 'after', 'beforeEach', 'afterEach'] as const;
const real = runner as unknown as Record<(typeof DECLARES)[number], Declare>;

/** The modules and folders of files are kept to the end of the process. */
const LARGE_BYTES = 1_500_000_000;
/** After this, a file that has not ended says why. */
const TELL_AFTER_MS = 2_000;
const LOOK_EVERY_MS = 20;

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const shared = process.env.TEST_SHARED ?? '';
const files = JSON.parse(readFileSync(join(shared, 'files.json'), 'utf8')) as string[];

/** What the file that is loading declares. */
let kept: (() => void)[] | undefined;
/** While its declarations are made inside its suite. */
let isDeclaring = false;
/** Hooks that its tests add while they run: promises are not followed (test.hooks.ts), so Node would not find their suite. */
let atEnd: (() => unknown)[] = [];

/** Node reports these for the process and for no file: so we collect them for the file that runs. */
let uncaught: unknown[] = [];
process.on('uncaughtExceptionMonitor', (error) => uncaught.push(error));
process.on('unhandledRejection', (error) => uncaught.push(error));

const declares = Object.fromEntries(
  DECLARES.map((name) => [
    name,
    (...args: unknown[]) => {
      if (kept !== undefined) kept.push(() => real[name](...args));
      else if (isDeclaring) return real[name](...args);
      else if (name === 'after') atEnd.push(args[0] as () => unknown);
      else throw new Error(`${name}() was called when the file had been loaded: it would belong to no suite`);
    },
  ]),
);
const OURS = 'cloverleaf:test';
const source = [
  `const { declares, mock } = globalThis[Symbol.for('${OURS}')];`,
  ...DECLARES.map((name) => `export const ${name} = declares.${name};`),
  'export { mock };',
  'export default declares.test;',
].join('\n');
Object.assign(globalThis, { [Symbol.for(OURS)]: { declares, mock: runner.mock } });
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'node:test' ? { url: OURS, format: 'module', shortCircuit: true } : next(specifier, context),
  load: (url, context, next) => (url === OURS ? { source, format: 'module', shortCircuit: true } : next(url, context)),
});

// Each file may add a few listeners for the end of the process.
process.setMaxListeners(0);
for (const [n, file] of files.entries()) {
  if (process.memoryUsage.rss() > LARGE_BYTES) break;
  if (isTaken(n)) continue;
  await runFile(file);
}

/** Marks it as taken, unless another process has. */
function isTaken(n: number): boolean {
  try {
    closeSync(openSync(join(shared, 'taken', String(n)), 'wx'));
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true;
    throw error;
  }
}

async function runFile(file: string): Promise<void> {
  const declared: (() => void)[] = [];
  const [open, folder, env] = [openNow(), process.cwd(), { ...process.env }];
  kept = declared;
  let failure: { error: unknown } | undefined;
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    failure = { error };
  }
  kept = undefined;
  await new Promise<void>((done) => {
    runner.suite(relative(root, file), () => {
      if (failure !== undefined) {
        const { error } = failure;
        runner.test('loads', () => Promise.reject(error));
      } else {
        isDeclaring = true;
        for (const declare of declared) declare();
        isDeclaring = false;
      }
      // Last, so after the file's own.
      runner.after(async () => {
        const hooks = atEnd;
        atEnd = [];
        for (const hook of hooks) await hook();
        await untilClosed(open);
        runner.mock.reset();
        process.chdir(folder);
        restore(env);
        const errors = uncaught;
        uncaught = [];
        done();
        if (errors.length > 0) throw new AggregateError(errors, 'an uncaught error');
      });
    });
  });
  // By then its end is reported, whatever the next file does to the process.
  await new Promise((wake) => setImmediate(wake));
}

/** How many there are of each kind of thing that keeps a process alive. */
function openNow(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Until no more is open than before. It waits as long as the process of such a file would: the runner ends it. */
async function untilClosed(before: ReadonlyMap<string, number>): Promise<void> {
  const isLong = patience(TELL_AFTER_MS);
  for (let told = false; ; ) {
    const more = [...openNow()].filter(([kind, count]) => count > (before.get(kind) ?? 0));
    if (more.length === 0) return;
    if (!told && isLong()) {
      told = true;
      console.error(`still open after its tests: ${more.map(([kind, count]) => `${kind} (${count})`).join(', ')}`);
    }
    await new Promise((wake) => setTimeout(wake, LOOK_EVERY_MS));
  }
}

function restore(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

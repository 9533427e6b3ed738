/** The origin of the evidence: commit, code, versions of the programs that run it, and the machine. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { dirname, join, relative } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../src/base/postgres.ts';
import type { About } from './evidence.ts';

/** The proved code. Pages of the docs and tests are not part of it: a result's commit says with which tests it was made. */
const SOURCE = 'server/src';
/** What any of it needs. */
const GROUND = ['server/migrations', 'server/package.json', 'package-lock.json'];
/** The files that must be committed before a result is kept. */
const USED = ['server', 'scripts', 'package.json', 'package-lock.json'];

const gitIn = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** The hash of these files' committed contents. */
export function hashOf(root: string, paths: readonly string[]): string {
  const contents = gitIn(root, 'rev-parse', ...paths.map((path) => `HEAD:${path}`));
  return createHash('sha256').update(contents).digest('hex').slice(0, 12);
}

/**
 * The hash of the proved code that a step runs.
 *
 * @param entry the file that the step starts: of server/src, only what it imports counts; without one, all of it
 */
export function codeOf(root: string, entry?: string): string {
  // A file that is not committed yet has no contents that git knows; its result is not kept either.
  const committed = new Set(gitIn(root, 'ls-tree', '-r', '--name-only', 'HEAD', SOURCE).split('\n'));
  const sources = entry === undefined ? [SOURCE] : importedBy(root, entry).filter((path) => committed.has(path));
  return hashOf(root, [...sources, ...GROUND]);
}

/** A file and all that it imports, and they import, by path from `root`, sorted. Packages are not followed. */
export function importedBy(root: string, entry: string): string[] {
  const found = new Set<string>();
  const waiting = [join(root, entry)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    for (const [, of = ''] of readFileSync(path, 'utf8').matchAll(IMPORT)) waiting.push(join(dirname(path), of));
  }
  return [...found].map((path) => relative(root, path)).toSorted();
}
/** Of a file: `from '…'`, `import '…'`, `import('…')` and `new URL('…', import.meta.url)`. */
const IMPORT = /(?:\bfrom|\bimport|\bimport\(|\bURL\()\s*'(\.{1,2}\/[^']*\.(?:ts|json|sql))'/g;

/** Git's present state. */
export function codeHere(root: string) {
  const git = (...args: string[]): string => gitIn(root, ...args);
  return {
    commit: git('rev-parse', 'HEAD'),
    code: codeOf(root),
    /** Includes the tests: they must not change while one runs. */
    used: hashOf(root, USED),
    dirty: git('status', '--porcelain', '--', ...USED) !== '',
  };
}

export async function aboutHere(root: string): Promise<About> {
  const [cpu] = cpus();
  const { commit, code, dirty } = codeHere(root);
  return {
    commit,
    code,
    dirty,
    node: process.version,
    postgres: await postgresVersion(),
    anvil: anvilVersion(),
    system: `${type()} ${release()}`,
    machine: `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
  };
}

async function postgresVersion(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cloverleaf-about-'));
  try {
    const postgres = await startPostgres({ dataDir: folder, fast: true });
    const client = new pg.Client(postgres.adminUrl);
    await client.connect();
    const { rows } = await client.query('show server_version');
    await client.end();
    await postgres.stop();
    return String(rows[0]?.server_version);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function anvilVersion(): string {
  const manifest = createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/package.json');
  return (
    execFileSync(join(dirname(manifest), 'bin', 'anvil'), ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? ''
  );
}

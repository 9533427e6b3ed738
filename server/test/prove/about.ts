/** The origin of the evidence: commit, code, versions of the programs that run it, and the machine. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../src/base/postgres.ts';
import type { About } from './evidence.ts';

/** The proved code. Pages of the docs and tests are not part of it: a result's commit says with which tests it was made. */
const PROVED = ['server/src', 'server/migrations', 'server/package.json', 'package-lock.json'];
/** The files that must be committed before a result is kept. */
const USED = ['server', 'scripts', 'package.json', 'package-lock.json'];

const gitIn = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** The hash of these files' committed contents. */
export function hashOf(root: string, paths: readonly string[]): string {
  const trees = paths.map((path) => gitIn(root, 'rev-parse', `HEAD:${path}`));
  return createHash('sha256').update(trees.join()).digest('hex').slice(0, 12);
}

/** Git's present state. */
export function codeHere(root: string) {
  const git = (...args: string[]): string => gitIn(root, ...args);
  return {
    commit: git('rev-parse', 'HEAD'),
    code: hashOf(root, PROVED),
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

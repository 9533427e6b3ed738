/**
 * What the evidence was made with: commit, code, versions of what runs it, and the machine.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../src/base/postgres.ts';
import type { About } from './evidence.ts';

/** What is proved. A page of the docs is none of it, and neither is a test: with which of those, a result's commit says. */
const PROVED = ['server/src', 'server/migrations', 'server/package.json', 'package-lock.json'];
/** What has to be committed before anything is kept. */
const USED = ['server', 'scripts', 'package.json', 'package-lock.json'];

const gitIn = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** Of the contents of these, as they are committed. */
export function hashOf(root: string, paths: readonly string[]): string {
  const trees = paths.map((path) => gitIn(root, 'rev-parse', `HEAD:${path}`));
  return createHash('sha256').update(trees.join()).digest('hex').slice(0, 12);
}

/** What git says of this moment. */
export function codeHere(root: string) {
  const git = (...args: string[]): string => gitIn(root, ...args);
  return {
    commit: git('rev-parse', 'HEAD'),
    code: hashOf(root, PROVED),
    /** Of the tests too: while one runs it is not to change. */
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

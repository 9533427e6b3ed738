/**
 * Builds the console if its files do not match its sources: the SHA-256 of all sources and of the lock file is stored in the
 * built folder. It uses no network. The new folder replaces the old one by a rename, so that two servers that start at the same
 * time do not mix their files.
 */
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const CONSOLE = fileURLToPath(new URL('../../../console/', import.meta.url));
const STAMP = '.built';
/** What the stamp covers, besides the lock file. An image without one of them cannot tell that its console is built. */
export const STAMPED = {
  folders: ['src', 'public'],
  files: ['index.html', 'partner.html', 'vite.config.ts', 'package.json'],
} as const;
const DEADLINE_MS = 120_000;

/** @returns why the console could not be built; undefined when it is ready. The server runs without a console, too. */
export async function buildConsole(onProgress: (what: string) => void): Promise<string | undefined> {
  try {
    const wanted = hashOfSources();
    if (isBuilt(wanted)) return undefined;
    onProgress('building the console');
    const made = join(CONSOLE, `dist.${randomUUID()}`);
    try {
      await runVite(made);
      writeFileSync(join(made, STAMP), wanted);
      replace(made, wanted);
    } finally {
      rmSync(made, { recursive: true, force: true });
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isBuilt(wanted: string): boolean {
  const stamp = join(CONSOLE, 'dist', STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  const sources = STAMPED.folders
    .flatMap((folder) => readdirSync(join(CONSOLE, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const fixed = [...STAMPED.files, '../package-lock.json'];
  for (const path of [...fixed.map((name) => join(CONSOLE, name)), ...sources]) {
    const content = readFileSync(path);
    hash.update(`${path.slice(CONSOLE.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Replaces the folder. Another server may have put the same files there in the meantime. */
function replace(made: string, wanted: string): void {
  const dist = join(CONSOLE, 'dist');
  const old = join(CONSOLE, `dist.${randomUUID()}`);
  try {
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(made, dist);
  } catch (error) {
    if (!isBuilt(wanted)) throw error;
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}

function runVite(outDir: string): Promise<void> {
  const vite = join(dirname(createRequire(join(CONSOLE, 'package.json')).resolve('vite/package.json')), 'bin/vite.js');
  const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'error', '--outDir', outDir], {
    cwd: CONSOLE,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: DEADLINE_MS,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) =>
      code === 0 ? done() : failed(new Error(`vite build failed: ${said.trim().slice(0, 1_000)}`)),
    );
  });
}

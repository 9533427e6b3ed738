/**
 * `npm run pack-sdk [-- <folder>]`: builds the SDK, packs it as npm publishes it, checks the package and prints its
 * contents and size.
 *
 * The checks: publint, and are-the-types-wrong as its profile `esm-only` has it (the package has no CommonJS, and Node requires ESM
 * from 22.12 on). Each finding is a failure.
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const SDK = fileURLToPath(new URL('./', import.meta.url));
const ROOT = join(SDK, '..');

export interface Packed {
  /** The tarball. */
  file: string;
  /** What is downloaded, and what lies in node_modules. */
  bytes: number;
  unpackedBytes: number;
  files: string[];
  /** Of publint and are-the-types-wrong. */
  problems: string[];
}

/** @param into a folder for the package and its tarball */
export async function packSdk(into: string): Promise<Packed> {
  const folder = join(into, 'package');
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'README.md']) copyFileSync(join(SDK, name), join(folder, name));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  // The command may use Node; what programs import may not, and compiles without its types.
  for (const config of ['tsconfig.json', 'tsconfig.cli.json'])
    run(process.execPath, [tsc, '-p', join(SDK, config), '--outDir', join(folder, 'dist')], ROOT);
  const said = run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', into],
    folder,
  );
  const [packed] = JSON.parse(said) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ];
  const file = join(into, packed.filename);
  return {
    file,
    bytes: packed.size,
    unpackedBytes: packed.unpackedSize,
    files: packed.files.map(({ path }) => path),
    problems: [...(await lint(folder)), ...(await types(file))],
  };
}

async function lint(pkgDir: string): Promise<string[]> {
  const { messages } = await publint({ pkgDir, pack: false, strict: true });
  const pkg = JSON.parse(readFileSync(join(pkgDir, 'package.json'), 'utf8')) as Record<string, unknown>;
  return messages.map((message) => `publint: ${message.type}: ${formatMessage(message, pkg, { color: false })}`);
}

/** What only concerns CommonJS, and the resolution before `exports`. */
const NOT_OURS = new Set(['node10', 'node16-cjs']);

async function types(file: string): Promise<string[]> {
  const checked = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(file))));
  if (checked.types === false) return ['are-the-types-wrong: the package has no types'];
  return checked.problems
    .filter((problem) => !('resolutionKind' in problem && NOT_OURS.has(problem.resolutionKind)))
    .map((problem) => `are-the-types-wrong: ${JSON.stringify(problem)}`);
}

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args[0] ?? ''} failed: ${error?.message ?? ''}${stdout}${stderr}`);
  return stdout;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [out = join(SDK, 'dist')] = parseArgs({ allowPositionals: true }).positionals;
  const { file, bytes, unpackedBytes, files, problems } = await packSdk(resolve(out));
  for (const problem of problems) console.log(problem);
  for (const path of files) console.log(`  ${path}`);
  console.log(file);
  console.log(`${kilobytes(bytes)} packed, ${kilobytes(unpackedBytes)} unpacked, ${files.length} files, no dependency`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} kB`;
}

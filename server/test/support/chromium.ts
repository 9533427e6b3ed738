/**
 * A real Chromium for a test, from an npm package, removed afterwards.
 *
 * The package holds a compressed headless Chromium for Linux on x64 (67 MB), which needs a few shared libraries that a plain
 * Debian lacks (NSS, NSPR, expat) and a font. The package contains both, so they are unpacked beside the browser, and only the
 * browser uses them. They are unpacked once for a run of tests (230 MB in TEST_RUN_DIR, 1.7 s of a processor); its home and temporary
 * files are in a folder of the test, which is removed with the test.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';
import { freshFolder } from './folder.ts';

/** The reason why this machine has no browser; undefined where it has one. */
export const noChromium: string | undefined =
  process.platform === 'linux' && process.arch === 'x64'
    ? undefined
    : `the packaged Chromium is for linux-x64, this is ${process.platform}-${process.arch}`;

const PACKED = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '..', 'bin');
const FLAGS = [
  '--no-sandbox',
  '--headless',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function startChromium(): Promise<Browser> {
  const folder = freshFolder('chromium');
  for (const name of ['home', 'tmp']) mkdirSync(join(folder, name));
  const unpacked = await unpack();
  const fonts = join(folder, 'fonts.conf');
  writeFileSync(
    fonts,
    `<fontconfig><dir>${unpacked}/fonts</dir><cachedir>${folder}/tmp/fonts</cachedir></fontconfig>\n`,
  );
  return await withTmpdir(
    folder,
    async () =>
      await chromium.launch({
        executablePath: join(unpacked, 'chromium'),
        args: FLAGS,
        env: {
          PATH: process.env.PATH ?? '',
          HOME: join(folder, 'home'),
          TMPDIR: join(folder, 'tmp'),
          FONTCONFIG_FILE: fonts,
          LD_LIBRARY_PATH: join(unpacked, 'al2023', 'lib'),
        },
      }),
  );
}

/** Beside its place, then one rename: the browser of a run is complete or absent. The first of several processes wins. */
async function unpack(): Promise<string> {
  const place = join(process.env.TEST_RUN_DIR ?? freshFolder('unpacked'), 'chromium');
  if (existsSync(place)) return place;
  const fresh = `${place}.${process.pid}`;
  mkdirSync(fresh);
  await withTmpdir(fresh, async () => {
    for (const name of ['chromium.br', 'fonts.tar.br', 'al2023.tar.br']) await inflate(join(PACKED, name));
  });
  try {
    renameSync(fresh, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
    rmSync(fresh, { recursive: true });
  }
  return place;
}

/** Both the package and Playwright read the folder for temporary files from the environment when they are called. */
async function withTmpdir<T>(folder: string, action: () => Promise<T>): Promise<T> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    return await action();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

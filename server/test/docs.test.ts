/**
 * The pages that a person reads first name files, headings and commands that exist.
 *
 * All Markdown of the repository's root, of docs/ and of the SDK is read. A path in backticks may be short (`orders/decide.ts`): it
 * exists if the path of a file or folder ends with it. Not here: the links of the rendered site (site/site.test.ts), the
 * operator's commands and the sections of the runbooks (ops/alerts.test.ts).
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { test } from 'node:test';
import packageFile from '../../package.json' with { type: 'json' };

const ROOT = new URL('../../', import.meta.url).pathname;
const NOT_OURS = new Set(['node_modules', 'dist', '.git']);
/** Folders whose name begins a path: a first word that makes a folder or a file without an ending a path. */
const TOPS = ['bench', 'console', 'deploy', 'docs', 'scripts', 'sdk', 'server'];
const ENDINGS = /\w\.(?:ts|tsx|mjs|md|json|sql|yaml|sol|css|svg|snapshot\.txt)$/;

/** Files that a user creates, and that are therefore not in the repository. */
const ELSEWHERE = new Set([
  'data/sandbox.json', // what a sandbox writes for programs
  'sandbox.json',
  'node.json', // of a local chain that runs
  'keys.json', // the signer's key file
  'secrets/keys.json',
  'limits.json', // the signer's limits
  'chains.json', // what an operator writes for production
  'bank.json',
  'trade.mjs', // what a reader of a walk-through writes
  'sale.mjs',
]);

const files = [
  ...readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name),
  ...TOPS.flatMap((top) => [top, ...walk(top)]),
];
const known = new Set(files.flatMap(endsOf));
const pages = files.filter(
  (path) => path.endsWith('.md') && (!path.includes('/') || path.startsWith('docs/') || path === 'sdk/README.md'),
);

function walk(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.has(name))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? [path, ...walk(path)] : [path];
    });
}
/** Of `a/b/c.ts`: `a/b/c.ts`, `b/c.ts` and `c.ts`. */
function endsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(index).join('/'));
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const withoutBlocks = (text: string) => text.replace(/^```.*?^```/gms, '');
const lineOf = (text: string, index: number) => text.slice(0, index).split('\n').length;

/** The anchors of a page as GitHub names them: a repeated heading gets a number. */
function anchorsOf(path: string): Set<string> {
  const seen = new Map<string, number>();
  return new Set(
    [...withoutBlocks(read(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
      const name = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-');
      const times = seen.get(name) ?? 0;
      seen.set(name, times + 1);
      return times === 0 ? name : `${name}-${times}`;
    }),
  );
}

/** @returns whether words in backticks name a file or folder of this repository */
function isPath(words: string): boolean {
  if (!/^\.{0,2}[\w@][\w./@-]*$/.test(words) || ELSEWHERE.has(words)) return false;
  return ENDINGS.test(words) || TOPS.some((top) => words.startsWith(`${top}/`)) || /^test\/[\w/-]+\/$/.test(words);
}

test('every file and folder that a page names in backticks exists', () => {
  const wrong = pages.flatMap((page) => {
    const text = read(page);
    return [...text.matchAll(/`([^`\s]+)`/g)]
      .filter(([, words = '']) => isPath(words))
      .filter(([, words = '']) => {
        const path = words.replace(/\/$/, '').replace(/^(?:\.\.?\/)+/, '');
        return !known.has(path);
      })
      .map((found) => `${page}:${lineOf(text, found.index)}: ${found[1]}`);
  });
  assert.deepEqual(wrong, [], 'no such file or folder');
});

test('every file of ours in a line of commands exists', () => {
  const wrong = pages.flatMap((page) => {
    // The evidence quotes what runs of earlier commits printed.
    const text = page === 'docs/evidence.md' ? withoutBlocks(read(page)) : read(page);
    return [...text.matchAll(/(?<=^|[\s=])(?:bench|console|docs|scripts|sdk|server)\/[\w./-]+\.(?:ts|mjs|json|md)\b/gm)]
      .filter(([path]) => !known.has(path))
      .map((found) => `${page}:${lineOf(text, found.index)}: ${found[0]}`);
  });
  assert.deepEqual(wrong, [], 'no such file');
});

test('every relative link leads to a file, and its anchor to a heading', () => {
  const all = new Set(files);
  const wrong = pages.flatMap((page) => {
    const text = read(page);
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap((found) => {
      const to = found[1] ?? '';
      // Paths from the root are the rendered site's, which has a test of its own.
      if (/^(?:[a-z]+:|\/)/.test(to)) return [];
      const [path = '', anchor] = to.split('#');
      const target = path === '' ? page : normalize(join(page, '..', path)).replace(/\/$/, '');
      const where = `${page}:${lineOf(text, found.index)}: ${to}`;
      if (!all.has(target)) return [`${where}: no such file`];
      if (anchor === undefined || !target.endsWith('.md')) return [];
      return anchorsOf(target).has(anchor) ? [] : [`${where}: no such heading`];
    });
  });
  assert.deepEqual(wrong, []);
});

test('every npm script that a page names is in package.json', () => {
  const scripts = new Set(Object.keys(packageFile.scripts));
  const wrong = pages.flatMap((page) => {
    const text = read(page);
    return [...text.matchAll(/npm run(?: --?[\w-]+)* ([a-z][\w:-]*)/g)]
      .filter(([, name = '']) => !scripts.has(name))
      .map((found) => `${page}:${lineOf(text, found.index)}: npm run ${found[1]}`);
  });
  assert.deepEqual(wrong, []);
});

test('the tree in ARCHITECTURE.md names existing files of server/src, and all of its folders', () => {
  const [, tree = ''] = /## The tree\n\n```\n(.*?)^```/ms.exec(read('ARCHITECTURE.md')) ?? [];
  const named = [...tree.matchAll(/^ {2}(\S+?)\/? /gm)].map(([, name = '']) => name).filter((name) => name !== '');
  assert.deepEqual(
    named.filter((name) => !files.includes(`server/src/${name}`)),
    [],
    'in the tree and not in the folder',
  );
  const folders = readdirSync(join(ROOT, 'server/src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  assert.deepEqual(
    folders.filter((name) => !named.includes(name)),
    [],
    'in the folder and not in the tree',
  );
});

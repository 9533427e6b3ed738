/**
 * The tables of docs/sandbox.md, made from the code's own tables. A test fails when the page differs; `node scripts/run.mjs
 * server/src/sandbox/page.ts` rewrites them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CONTROLS } from '../protocols/whitelabel/index.ts';
import { MAGIC } from './magic.ts';

export const PAGE = fileURLToPath(new URL('../../../docs/sandbox.md', import.meta.url));

const TABLES: Readonly<Record<string, () => string>> = {
  controls: () => controls(false),
  shared: () => controls(true),
  magic,
};

/** The page with its tables replaced, between their marks. */
export function pageOf(text: string): string {
  return Object.entries(TABLES).reduce(
    (page, [name, table]) =>
      page.replace(
        new RegExp(`(<!-- ${name}:begin -->\\n)[^]*?(<!-- ${name}:end -->)`),
        (_all, begin, end) => `${begin}${table()}\n${end}`,
      ),
    text,
  );
}

function controls(shared: boolean): string {
  const rows = CONTROLS.filter((one) => one.shared === shared).map(({ name, says, takes, example }) => {
    const fields = Object.entries(takes).map(
      ([field, { says: what, optional }]) => `**${field}**${optional ? ' (may be left out)' : ''}: ${what}`,
    );
    return `| \`${name}\` | ${says} | ${fields.join('<br>')} | \`${example}\` |`;
  });
  return ['| Control | What happens | What it takes | As a command |', '|---|---|---|---|', ...rows].join('\n');
}

function magic(): string {
  const rows = MAGIC.map(({ where, value, says }) => `| ${where} | \`${value}\` | ${says} |`);
  return ['| Where | Value | What happens |', '|---|---|---|', ...rows].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PAGE, pageOf(readFileSync(PAGE, 'utf8')));

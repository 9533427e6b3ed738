/**
 * docs/settings.md lists every setting and every adapter: both tables are written from their declarations.
 *
 * `UPDATE_DOCS=1 npm test -- server/test/settings.test.ts` writes them.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { allSettings } from '../src/config.ts';
import { LISTS } from '../src/registry.ts';

const PAGE = fileURLToPath(new URL('../../docs/settings.md', import.meta.url));
const KINDS: Readonly<Record<keyof typeof LISTS, string>> = {
  priceSources: 'price source',
  verifiers: 'verifier',
  codeSenders: 'sender of login codes',
  banks: 'bank',
  alertChannels: 'channel of alerts',
  addressRisks: 'provider of address risk',
  travelProtocols: 'travel rule protocol',
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

const settings = table(
  ['Name', 'Default', 'Meaning', 'Of'],
  allSettings().map(({ setting: { name, fallback, about, secret, demand, choices = [] }, of }) => [
    `\`${name}\`${secret === true ? `, \`${name}_FILE\`` : ''}`,
    fallback === undefined ? 'none' : `\`${fallback}\``,
    [
      about,
      ...(choices.length === 0 ? [] : [`of ${choices.map((one) => `\`${one}\``).join(', ')}`]),
      ...(demand === undefined ? [] : ['production does not start without']),
    ].join('; '),
    of === undefined ? '' : `\`${of.code}\``,
  ]),
);
const adapters = table(
  ['Kind', 'Code', 'What it is', 'Where'],
  Object.entries(KINDS).flatMap(([list, kind]) =>
    LISTS[list as keyof typeof LISTS].map(({ code, about, sandboxOnly }) => [
      kind,
      `\`${code}\``,
      about,
      sandboxOnly !== undefined
        ? `sandbox only: ${sandboxOnly}`
        : list === 'banks'
          ? 'production'
          : 'sandbox and production',
    ]),
  ),
);

test('docs/settings.md shows every setting and every adapter as they are declared', () => {
  const before = readFileSync(PAGE, 'utf8');
  const after = Object.entries({ settings, adapters }).reduce((text, [name, content]) => {
    const place = new RegExp(`(<!-- ${name}: written by server/test/settings.test.ts -->\n)[^]*?(\n<!-- end -->)`);
    assert.match(text, place, `the page has no place for ${name}`);
    return text.replace(place, (_all, begin: string, end: string) => `${begin}\n${content}\n${end}`);
  }, before);
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, after);
  else assert.equal(before, after, 'UPDATE_DOCS=1 npm test -- server/test/settings.test.ts regenerates it');
});

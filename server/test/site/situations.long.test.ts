/**
 * The ten situations of the docs, played: each page shows the real results.
 *
 * `UPDATE_DOCS=1 npm test -- server/test/site/situations.long.test.ts` writes the tables again.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeDataDir, removeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import { openStage, PLAYS, type Stage } from './plays.ts';

const folder = join(import.meta.dirname, '../../../docs/site/situations');
const HEADS = {
  events: ['Event', 'Webhook `whitelabel`', '`reason`'],
  calls: ['Request', 'Answer'],
} as const;

/** The page with the played results between its marks. */
function withPlayed(page: string, played: Partial<Record<keyof typeof HEADS, readonly (readonly string[])[]>>): string {
  return page.replaceAll(
    /(<!-- played: (events|calls) -->\n)[^]*?(<!-- end -->)/g,
    (_all, begin: string, name: keyof typeof HEADS, end: string) => {
      const head = HEADS[name];
      const rows = [head, head.map(() => '---'), ...(played[name] ?? [])].map((row) => `| ${row.join(' | ')} |`);
      return `${begin}\n${rows.join('\n')}\n\n${end}`;
    },
  );
}

describe('the situations', () => {
  let server: ServerProcess | undefined;
  let stage: Stage;
  const dataDir = makeDataDir();
  before(async () => {
    server = await startProcess({ dataDir, port: 0 });
    stage = await openStage(server.sandbox(), readFileSync(join(dataDir, 'operator.token'), 'utf8').trim());
  });
  after(async () => {
    stage?.close();
    await server?.interrupt();
    removeDataDir(dataDir);
  });

  for (const [name, play] of Object.entries(PLAYS))
    test(`${name}: the page shows the real results`, async () => {
      const file = join(folder, `${name}.md`);
      const page = readFileSync(file, 'utf8');
      const made = withPlayed(page, await play(stage));
      if (process.env.UPDATE_DOCS === '1') writeFileSync(file, made);
      else
        assert.equal(page, made, `UPDATE_DOCS=1 npm test -- server/test/site/situations.long.test.ts regenerates it`);
    });
});

test('there are ten, and each has a page', () => {
  const pages = readdirSync(folder).filter((name) => name !== 'README.md');
  assert.deepEqual(
    pages.toSorted(),
    Object.keys(PLAYS)
      .map((name) => `${name}.md`)
      .toSorted(),
  );
  assert.equal(pages.length, 10);
});

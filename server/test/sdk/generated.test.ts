/** The generated parts of the SDK match the present docs/openapi*.json. `UPDATE_DOCS=1` writes them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commandsFile, reasonsFile, v1File, whitelabelFile } from '../../../sdk/generate.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
type Described = Parameters<typeof v1File>[0];
const api = (name: string): Described => JSON.parse(readFileSync(join(ROOT, 'docs', name), 'utf8')) as Described;

/** Formatted like the rest, so that a diff shows the change. */
function formatted(name: string, text: string): string {
  const biome = join(ROOT, 'node_modules/.bin/biome');
  const { stdout, stderr, status } = spawnSync(biome, ['format', `--stdin-file-path=sdk/src/generated/${name}`], {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

const FILES: Record<string, () => string> = {
  'reasons.ts': () => reasonsFile([api('openapi.json'), api('openapi-v1.json')]),
  'commands.ts': () => commandsFile(api('openapi-v1.json'), api('openapi.json')),
  'v1.ts': () => v1File(api('openapi-v1.json')),
  'whitelabel.ts': () => whitelabelFile(api('openapi.json')),
};

for (const [name, made] of Object.entries(FILES))
  test(`sdk/src/generated/${name} matches the API's description`, () => {
    const path = join(ROOT, 'sdk/src/generated', name);
    const wanted = formatted(name, made());
    if (process.env.UPDATE_DOCS === '1') {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, wanted);
    }
    assert.equal(
      readFileSync(path, 'utf8'),
      wanted,
      'UPDATE_DOCS=1 npm test -- server/test/sdk/generated.test.ts regenerates it',
    );
  });

/**
 * Packages of deploy/: they name existing settings and all that production requires, and the image has every file that server and
 * signer read. Building and running them is not tested here (docs/operating/packages.md lists the manual runs).
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { readConfig } from '../src/config.ts';
import { STAMPED } from '../src/console/build.ts';
import { settle } from '../src/production/refusals.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const NAMES = new Set([
  ...[...read('docs/settings.md').matchAll(/^\| (`[A-Z_`, ]+`) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/[A-Z_]+/g)].map(([name]) => name),
  ),
  ...['SIGNER_LISTEN', 'SIGNER_LIMITS', 'SIGNER_DIR', 'SIGNER_KEYSTORE', 'SIGNER_SECRET', 'SIGNER_PASSPHRASE'].flatMap(
    (name) => [name, `${name}_FILE`],
  ),
  'NODE_ENV',
]);

/** Names of the settings that production requires, from its message when none is set. */
function required(role: string): string[] {
  try {
    settle(readConfig({ PROFILE: 'production', ROLE: role }), {});
  } catch (error) {
    const names = [...(error as Error).message.matchAll(/^([A-Z_]+) must be set in production/gm)];
    assert.ok(names.length > 5, 'the message does not name the missing settings');
    return names.map(([, name = '']) => name);
  }
  return assert.fail('production starts without any setting');
}

function assertWhole(where: string, given: readonly string[], image: readonly string[], role = 'all'): void {
  assert.deepEqual(
    given.filter((name) => !NAMES.has(name)),
    [],
    `${where} names settings that do not exist`,
  );
  const has = (name: string) => [...given, ...image].some((one) => one === name || one === `${name}_FILE`);
  assert.deepEqual(
    required(role).filter((name) => !has(name)),
    [],
    `${where} lacks settings without which production does not start`,
  );
}

const dockerfile = read('deploy/Dockerfile');
const ofImage = [...(/^ENV (.+)$/m.exec(dockerfile)?.[1] ?? '').matchAll(/([A-Z_]+)=/g)].map(([, name = '']) => name);

interface Service {
  environment: Record<string, string>;
  volumes?: string[];
  secrets?: string[];
  networks?: string[];
}
interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  secrets: Record<string, unknown>;
  networks: Record<string, unknown>;
}

test('the compose file parses, and sets all required settings of production', () => {
  const compose = parse(read('deploy/compose/compose.yaml'), { merge: true }) as Compose;
  const { server, signer } = compose.services;
  assert.ok(server !== undefined && signer !== undefined);
  assertWhole('the server of compose.yaml', Object.keys(server.environment), ofImage);
  assert.deepEqual(
    Object.keys(signer.environment).filter((name) => !NAMES.has(name)),
    [],
  );
  for (const [name, { volumes = [], secrets = [], networks = [] }] of Object.entries(compose.services)) {
    for (const volume of volumes.map((one) => one.split(':')[0] ?? '').filter((one) => !/^[./]/.test(one)))
      assert.ok(volume in compose.volumes, `${name} mounts ${volume}, which is not declared`);
    for (const secret of secrets)
      assert.ok(secret in compose.secrets, `${name} reads ${secret}, which is not declared`);
    for (const network of networks) assert.ok(network in compose.networks, `${name} joins ${network}, not declared`);
  }
  for (const { environment, secrets = [] } of [server, signer])
    for (const path of Object.values(environment).filter((one) => one.startsWith('/run/secrets/')))
      assert.ok(secrets.includes(path.slice('/run/secrets/'.length)), `${path} is no secret of its service`);
});

test('the systemd units set all required settings of production', () => {
  const unit = read('deploy/systemd/cloverleaf-server.service');
  const names = (text: string) =>
    [...text.matchAll(/^Environment=(.+)$/gm)].flatMap(([, all = '']) =>
      all.split(' ').map((one) => one.split('=')[0] ?? ''),
    );
  const inFile = [...read('deploy/systemd/server.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
  assertWhole('cloverleaf-server.service', [...names(unit), ...inFile], []);
  const signer = read('deploy/systemd/cloverleaf-signer.service');
  assert.deepEqual(
    names(signer).filter((name) => !NAMES.has(name)),
    [],
  );
  for (const text of [unit, signer])
    for (const [, name = ''] of text.matchAll(/%d\/(\w+)/g))
      assert.match(text, new RegExp(`^LoadCredential=${name}:`, 'm'), `${name} is no credential of its unit`);
});

for (const [role, notOf] of [
  ['api', /SIGNER|signer/],
  ['worker', /OPERATOR_TOKEN|operator_token|code_sender/],
] as const) {
  test(`the systemd unit of the role ${role} sets what production requires of it, and has no secret of the other`, () => {
    const unit = read('deploy/systemd/cloverleaf-server@.service');
    const own = read(`deploy/systemd/cloverleaf-server@${role}.service.d/role.conf`);
    const names = [...`${unit}${own}`.matchAll(/^Environment=(.+)$/gm)].flatMap(([, all = '']) =>
      all.split(' ').map((one) => one.split('=')[0] ?? ''),
    );
    const files = ['server.env.example', 'worker.env.example'].map((name) => read(`deploy/systemd/${name}`)).join('');
    const inFile = [...files.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
    assertWhole(`cloverleaf-server@${role}`, [...names, ...inFile], [], role);
    const settings = `${unit}${own}`.replaceAll(/^#.*$/gm, '');
    assert.doesNotMatch(settings, notOf);
    assert.match(settings, / --role %i$/m);
    for (const [, name = ''] of settings.matchAll(/%d\/(\w+)/g))
      assert.match(settings, new RegExp(`^LoadCredential=${name}:`, 'm'), `${name} is no credential of its unit`);
  });
}

const CHART = 'deploy/helm/cloverleaf';
const templates = readdirSync(join(ROOT, CHART, 'templates')).map((name) => read(`${CHART}/templates/${name}`));

/** A template as it is rendered for one role: without the branches of the other. */
const ofRole = (template: string, role: 'api' | 'worker'): string =>
  template.replaceAll(
    /^ *\{\{- if eq \$role "(\w+)" \}\}\n([^]*?)(?:^ *\{\{- else \}\}\n([^]*?))?^ *\{\{- end \}\}\n/gm,
    (_, of: string, then: string, otherwise = '') => (of === role ? then : otherwise),
  );

test('the chart sets all required settings of production, from values that it declares', () => {
  const values = parse(read(`${CHART}/values.yaml`)) as Record<string, unknown>;
  const chart = parse(read(`${CHART}/Chart.yaml`)) as { name: string };
  assert.equal(chart.name, 'cloverleaf');
  const settings = Object.keys((values.server as { settings: object }).settings);
  const server = read(`${CHART}/templates/server.yaml`);
  for (const role of ['api', 'worker'] as const) {
    const text = ofRole(server, role);
    assert.match(text, new RegExp(`\\{ name: ROLE, value: ${role} \\}`));
    const fixed = [...text.matchAll(/\{ name: ([A-Z_]+), value:/g)].map(([, name = '']) => name);
    assertWhole(`the chart's ${role}`, [...settings, ...fixed], ofImage, role);
    const mounted = [...text.matchAll(/\{ key: (\w+), path:/g)].map(([, key = '']) => key);
    const read = [...text.matchAll(/value: \/secrets\/(\w+)/g)].map(([, key = '']) => key);
    assert.deepEqual(mounted.toSorted(), read.toSorted(), `the secrets of ${role}`);
    assert.equal(text.includes('tunnel'), role === 'worker', 'only a worker reaches the signer');
  }
  for (const text of templates)
    for (const [, path = ''] of text.matchAll(/\.Values\.([\w.]+)/g)) {
      let at: unknown = values;
      for (const part of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[part];
      assert.notEqual(at, undefined, `a template reads .Values.${path}, which values.yaml does not have`);
    }
});

test('every part that a template of the chart includes is defined', () => {
  const all = templates.join('\n');
  const defined = new Set([...all.matchAll(/define "([\w.]+)"/g)].map(([, name]) => name));
  for (const [, name] of all.matchAll(/include "([\w.]+)"/g)) assert.ok(defined.has(name), `${name} is not defined`);
});

/** The files that a program of ours reads: its imports, and files it opens beside its source. */
function filesOf(entry: string): Set<string> {
  const found = new Set<string>();
  const waiting = [resolve(ROOT, entry)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(file, 'utf8');
    const paths = [
      ...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g),
      ...text.matchAll(/new URL\('(\.[^']+)', import\.meta\.url\)/g),
    ].map(([, path = '']) => resolve(dirname(file), path));
    waiting.push(...paths.filter((path) => existsSync(path)));
  }
  return found;
}

test('the image has every file that server and signer read', () => {
  const final = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  const copied = [...final.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, line = '']) =>
    line.split(' ').slice(0, -1),
  );
  const ignored = read('deploy/Dockerfile.dockerignore').split('\n');
  const kept = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const left = ignored.filter((line) => /^\w/.test(line));
  const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
  for (const entry of ['server/src/apps/server.ts', 'server/src/apps/signer.ts']) {
    const files = [...filesOf(entry)].map((file) => relative(ROOT, file));
    assert.ok(files.length > 20, `${entry} imports more than what was found`);
    // Of the console, the image has the files that its stamp covers, and its build the rest.
    for (const file of files.filter((one) => one !== 'console' && one !== 'server/src/console/build.ts')) {
      assert.ok(
        copied.some((one) => isIn(file, one)),
        `${entry} reads ${file}, and the image does not have it`,
      );
      assert.ok(kept.some((one) => isIn(file, one)) && !left.some((one) => isIn(file, one)), `${file} is ignored`);
    }
  }
  for (const name of [...STAMPED.folders, ...STAMPED.files])
    assert.ok(copied.includes(`console/${name}`), `the stamp covers console/${name}, and the image does not have it`);
});

/** The page at `/` of a sandbox: as a page for browsers and as JSON for programs, with next steps and without a secret. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import type { SandboxFile } from '../../src/environment.ts';
import { type Welcome, welcome } from '../../src/sandbox/welcome.ts';

const ROOT = join(import.meta.dirname, '../../..');
const AT = 'http://127.0.0.1:8080';
const SANDBOX: SandboxFile = {
  baseUrl: AT,
  partners: [{ name: 'acme', apiKey: 'key_of_acme', apiSecret: 'secret_of_acme', bearerToken: 'bearer_of_acme' }],
  chains: [{ code: 'erc20', chainId: 31_337, rpcUrl: 'http://127.0.0.1:9545', tokens: [] }],
};

let shown: Welcome = {
  sandbox: SANDBOX,
  baseUrl: AT,
  metricsUrl: `${AT}1/metrics`,
  file: 'data/sandbox.json',
  hasDocs: true,
};
let app: FastifyInstance;
before(async () => {
  app = fastify();
  await app.register(welcome(() => shown));
});
after(() => app.close());

const get = (accept: string) => app.inject({ url: '/', headers: { accept } });

test('a browser gets a page that needs no script, with the next steps, the keys and the links', async () => {
  const { statusCode, headers, body } = await get('text/html,application/xhtml+xml;q=0.9,*/*;q=0.8');
  assert.deepEqual([statusCode, headers['content-type'], headers.vary], [200, 'text/html; charset=utf-8', 'accept']);
  assert.match(String(headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/);
  assert.doesNotMatch(body, /<script| on\w+=/);
  const links = [`${AT}/readyz`, `${AT}1/metrics`, `${AT}/docs/start`, 'http://localhost:8080/console'];
  for (const part of ['npm run demo', 'key_of_acme', 'http://127.0.0.1:9545', ...links.map((url) => `href="${url}"`)])
    assert.ok(body.includes(part), `the page does not say ${part}`);
});

test('a program gets the same as JSON, with documents that are there', async () => {
  const { statusCode, headers, json } = await get('*/*');
  assert.deepEqual([statusCode, headers.vary], [200, 'accept']);
  const said = json();
  assert.deepEqual(said.partners, [{ name: 'acme', apiKey: 'key_of_acme' }]);
  assert.deepEqual(said.chains, [{ code: 'erc20', chainId: 31_337, rpcUrl: 'http://127.0.0.1:9545' }]);
  for (const { file } of said.docs) assert.ok(existsSync(join(ROOT, file)), `${file} is named and is not there`);
});

test('neither has a secret, and while the sandbox starts or serves no docs, the rest is still there', async () => {
  for (const accept of ['text/html', '*/*']) assert.doesNotMatch((await get(accept)).body, /secret_of|bearer_of/);
  shown = { ...shown, sandbox: undefined, hasDocs: false };
  const said = (await get('*/*')).json();
  assert.deepEqual([said.partners, said.chains], [[], []]);
  assert.ok(said.docs.every((doc: object) => !('url' in doc)));
  assert.match((await get('text/html')).body, /<code>docs\/site\/start\.md<\/code>/);
});

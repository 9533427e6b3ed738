/**
 * The SDK as partners get it: the packed tarball, installed without a network into an empty folder, sells crypto through a sandbox, on each
 * Node that it supports. In `npm test` only its contents are checked (support/long.ts).
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Packed, packSdk } from '../../../sdk/pack.ts';
import { freshFolder } from '../support/folder.ts';
import { isLong } from '../support/long.ts';
import { collect, type Sandbox, type ServerProcess, startProcess } from '../support/process.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** An edge runtime, if npm has it for this machine: the path of its program. */
const WORKERDS = ['linux-64', 'linux-arm64']
  .map((machine) => join(ROOT, 'node_modules/@cloudflare', `workerd-${machine}`, 'bin/workerd'))
  .filter((path) => existsSync(path));
/** Its compatibility date is today's. */
const EDGE_DAY = '2026-11-17';
/** The one that runs the tests, and the oldest that package.json of the SDK allows, if npm has it for this machine. */
const NODES = [
  { name: '24', path: process.execPath },
  ...readdirSync(join(ROOT, 'server'))
    .filter((name) => name === 'node_modules')
    .flatMap((name) => readdirSync(join(ROOT, 'server', name)))
    .filter((name) => name === `node-${process.platform}-${process.arch}`)
    .map((name) => ({ name: '22', path: join(ROOT, 'server/node_modules', name, 'bin/node') })),
];

let packed: Packed;
let project: string;
let server: ServerProcess | undefined;
let sandbox: Sandbox;
before(async () => {
  packed = await packSdk(freshFolder('packed'));
  project = freshFolder('project');
  writeFileSync(join(project, 'package.json'), '{ "name": "shop", "private": true, "type": "module" }');
  const args = ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', packed.file];
  const installed = spawnSync('npm', args, { cwd: project, encoding: 'utf8' });
  assert.equal(installed.status, 0, installed.stderr);
  if (!isLong) return;
  const dataDir = join(project, 'sandbox');
  mkdirSync(dataDir);
  server = await startProcess({ dataDir, port: 0 });
  sandbox = server.sandbox();
});
after(async () => {
  await server?.interrupt();
});

describe('the package', () => {
  test('publint and are-the-types-wrong find nothing, and it is small', (t) => {
    assert.deepEqual(packed.problems, []);
    t.diagnostic(`${packed.bytes} bytes packed, ${packed.unpackedBytes} unpacked, ${packed.files.length} files`);
    assert.ok(packed.bytes < 100_000, `${packed.bytes} bytes`);
  });

  test('it contains exactly the needed files, and has no dependencies', () => {
    const manifest = JSON.parse(readFileSync(join(project, 'node_modules/cloverleaf-ramp/package.json'), 'utf8'));
    assert.deepEqual([manifest.dependencies, manifest.peerDependencies], [undefined, undefined]);
    assert.deepEqual(
      readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.')),
      ['cloverleaf-ramp'],
    );
    const strange = packed.files.filter(
      (path) => !/^(?:dist\/.+\.(?:js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(path),
    );
    assert.deepEqual(strange, []);
  });

  test('its imported modules use nothing of Node, so that it runs on edge runtimes', () => {
    const folder = join(project, 'node_modules/cloverleaf-ramp/dist');
    const reached = new Set<string>();
    const follow = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      const text = readFileSync(file, 'utf8');
      assert.doesNotMatch(text, /\b(?:Buffer|process|require)\b[.(]/, file);
      for (const [, target = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
        assert.match(target, /^\.{1,2}\//, `${file} imports ${target}`);
        follow(join(file, '..', target));
      }
    };
    for (const entry of ['index.js', 'certify.js']) follow(join(folder, entry));
    assert.ok(reached.size > 5);
  });

  if (isLong)
    test('its command runs with npx, on each Node', () => {
      const npx = spawnSync('npx', ['--offline', 'cloverleaf-ramp', '--help'], { cwd: project, encoding: 'utf8' });
      assert.equal(npx.status, 0, npx.stderr);
      assert.match(npx.stdout, /^cloverleaf-ramp <command>/);
      for (const { path } of NODES) {
        const main = join(project, 'node_modules/cloverleaf-ramp/dist/cli/main.js');
        const shown = spawnSync(path, [main, 'orders', 'list', '--help'], { encoding: 'utf8' });
        assert.deepEqual([shown.status, shown.stderr], [0, '']);
      }
    });

  if (isLong)
    test('a strict TypeScript project compiles against it', () => {
      writeFileSync(
        join(project, 'typed.ts'),
        `import { Cloverleaf, hasReason, type Order, verifyWebhook, type whitelabel } from 'cloverleaf-ramp';
  const client = new Cloverleaf({ baseUrl: 'https://ramp.example', apiKey: 'k', apiSecret: 's' });
  export const rate: Promise<string | undefined> = client.whitelabel
    .post('offramp/quote', { fromCurrency: 'usdc', toCurrency: 'INR', fromAmount: '100', chain: 'matic20' })
    .then((quote) => ('rate' in quote ? quote.rate : undefined));
  export const sale: Promise<Order> = client.orders.create({ quoteId: '1', customerId: 'c', destinationId: '2' });
  export async function* ids(): AsyncGenerator<string> {
    for await (const { id } of client.orders.list({ state: 'settled' })) yield id;
  }
  export type Shown = whitelabel.Sale;
  export const told = (headers: Headers, body: string) => verifyWebhook({ headers, body }, { secret: 'x' });
  export const moved = (error: unknown): boolean => hasReason(error, 'price_moved');
  // @ts-expect-error an amount is a text: a number loses digits
  void client.whitelabel.post('offramp/quote', { fromCurrency: 'usdc', toCurrency: 'INR', fromAmount: 100, chain: 'matic20' });
  // @ts-expect-error there is no such state
  void client.orders.list({ state: 'finished' });
  // @ts-expect-error there is no such path
  void client.whitelabel.post('offramp/quotes', {});
  `,
      );
      const compilerOptions = {
        ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true, types: [] },
        ...{ module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'] },
      };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }));
      // Ours, and the older one that are-the-types-wrong brings.
      for (const home of ['typescript', '@arethetypeswrong/core/node_modules/typescript']) {
        const tsc = join(ROOT, 'node_modules', home, 'bin/tsc');
        const compiled = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' });
        assert.equal(compiled.status, 0, `${home}: ${compiled.stdout}`);
      }
    });
});

/** One sale through each API; reads and verifies the results. */
const SALE = `
import { Cloverleaf, decimal, verifyQuote } from 'cloverleaf-ramp';
const { BASE_URL: baseUrl, API_KEY: apiKey, API_SECRET: apiSecret, PHONE: phone } = process.env;
const client = new Cloverleaf({ baseUrl, apiKey, apiSecret });
const { post } = client.whitelabel;

const customer = await client.customers.create({ reference: crypto.randomUUID(), kind: 'individual', phone });
const customerId = customer.id;
await post('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
const account = { kind: 'account', asset: 'inr', accountNumber: '000111222333', ifsc: 'HDFC0000001' };
const destination = await client.destinations.create(customerId, account);
const quote = await client.quotes.create({ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '100' });
if (!(await verifyQuote(quote, apiSecret))) throw new Error('the quote is not signed');
const order = await client.orders.create({ quoteId: quote.id, customerId, destinationId: destination.id });
await client.sandbox.pay({ transactionId: order.id });
for await (const { event } of client.events.follow({ intervalMs: 100, signal: AbortSignal.timeout(60_000) }))
  if (event.subject === 'order:' + order.id && event.type === 'order.settled') break;
const { receive } = await client.orders.get(order.id);
if (!decimal.equal(receive.amount, quote.receive.amount)) throw new Error('another amount');

const fiatAccountId = destination.id;
const sell = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '50' };
const { rate, toAmount } = await post('offramp/quote', sell);
const { transactionId } = await post('offramp/createTransaction', { ...sell, rate, toAmount, customerId, fiatAccountId });
await client.sandbox.pay({ transactionId });
for (;;) {
  const sale = await post('offramp/transaction', { customerId, transactionId });
  if (sale.status === '6') break;
  await new Promise((wake) => setTimeout(wake, 100));
}
console.log(process.versions.node + ' sold for ' + receive.amount);
`;

/** A worker for an edge runtime: one sale for each request. */
const EDGE_WORKER = `
import { Cloverleaf, decimal, signWebhook, verifyQuote, verifyWebhook } from 'cloverleaf-ramp';
import { certify } from 'cloverleaf-ramp/certify';
async function sell({ BASE_URL: baseUrl, API_KEY: apiKey, API_SECRET: apiSecret }) {
  if (typeof certify !== 'function') throw new Error('certify is no function');
  const client = new Cloverleaf({ baseUrl, apiKey, apiSecret });
  const phone = '+91-8' + String(Date.now()).slice(-9);
  const { id: customerId } = await client.customers.create({ reference: crypto.randomUUID(), kind: 'individual', phone });
  await client.whitelabel.post('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const { id: destinationId } = await client.destinations.create(customerId, {
    kind: 'account', asset: 'inr', accountNumber: '000111222333', ifsc: 'HDFC0000001',
  });
  const quote = await client.quotes.create({ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '100' });
  if (!(await verifyQuote(quote, apiSecret))) throw new Error('the quote is not signed');
  const order = await client.orders.create({ quoteId: quote.id, customerId, destinationId });
  if (!decimal.equal(order.pay.amount, '100')) throw new Error(order.pay.amount);
  await client.sandbox.pay({ transactionId: order.id });
  for await (const { event } of client.events.follow({ intervalMs: 100 })) {
    if (event.subject !== 'order:' + order.id || event.type !== 'order.settled') continue;
    const secret = 'whsec_' + btoa('0123456789abcdef');
    const { type } = (await verifyWebhook(await signWebhook(event, { secret }), { secret })).event;
    return 'sold, and heard ' + type;
  }
}
export default { fetch: async (_, env) => new Response(await sell(env).catch((error) => 'failed: ' + error.stack)) };
`;

/** The worker, and every module of the installed package, in workerd's configuration. */
function edgeConfig(env: Record<string, string>): string {
  const dist = 'node_modules/cloverleaf-ramp/dist';
  const text = (value: string) => JSON.stringify(value);
  const modules = [
    `(name = "worker.js", esModule = embed "edge-worker.js")`,
    `(name = "cloverleaf-ramp", esModule = ${text(`export * from './${dist}/index.js';`)})`,
    `(name = "cloverleaf-ramp/certify", esModule = ${text(`export * from '../${dist}/certify.js';`)})`,
    ...readdirSync(join(project, dist), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js') && !path.startsWith('cli/'))
      .map((path) => `(name = ${text(`${dist}/${path}`)}, esModule = embed ${text(`${dist}/${path}`)})`),
  ];
  const bindings = Object.entries(env).map(([name, value]) => `(name = ${text(name)}, text = ${text(value)})`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  compatibilityDate = ${text(EDGE_DAY)},
  modules = [${modules.join(',\n    ')}],
  bindings = [${bindings.join(', ')}],
);
`;
}

if (isLong)
  describe('a sale with the installed package', () => {
    test('both Nodes are there where npm has them', () => {
      const wanted = process.platform === 'linux' && process.arch === 'x64' ? ['24', '22'] : ['24'];
      assert.deepEqual(
        NODES.map(({ name }) => name),
        wanted,
      );
    });

    test("the first program of the SDK's page works", { timeout: 120_000 }, async () => {
      const page = readFileSync(join(ROOT, 'sdk/README.md'), 'utf8');
      const program = /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
      writeFileSync(join(project, 'readme.js'), program);
      const { apiKey = '', apiSecret = '' } = sandbox.partners[0] ?? {};
      const env = { CLOVERLEAF_URL: sandbox.baseUrl, CLOVERLEAF_KEY: apiKey, CLOVERLEAF_SECRET: apiSecret };
      const child = spawn(process.execPath, ['readme.js'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
      const output = collect(child);
      const code = await new Promise((ended) => child.once('exit', ended));
      assert.equal(code, 0, output());
      assert.match(output(), /^send 250\.5 usdc\.matic20 to 0x[\s\S]*\norder\.settled\n$/);
    });

    test('the five-minute start works as its page says, from an empty folder', { timeout: 180_000 }, async () => {
      const page = readFileSync(join(ROOT, 'docs/site/start.md'), 'utf8');
      const [, block = ''] = /```sh\n(npm run pack-sdk\n[\s\S]*?)```/.exec(page) ?? [];
      const [pack, ...commands] = block.trim().split('\n');
      // The SDK was packed above, into another folder; npm has no network here.
      assert.equal(pack, 'npm run pack-sdk');
      assert.ok(commands.some((line) => line.includes(`sdk/dist/${basename(packed.file)}`)));
      const script = commands
        .join('\n')
        .replace(`npm install ../sdk/dist/${basename(packed.file)}`, `npm install --offline --no-audit ${packed.file}`);
      const folder = freshFolder('start');
      const { apiKey = '', apiSecret = '' } = sandbox.partners[0] ?? {};
      const env = {
        ...{ PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: folder },
        ...{ CLOVERLEAF_URL: sandbox.baseUrl, CLOVERLEAF_KEY: apiKey, CLOVERLEAF_SECRET: apiSecret },
      };
      const made = spawnSync('bash', ['--norc', '-ec', script], { cwd: folder, env, encoding: 'utf8' });
      assert.equal(made.status, 0, made.stdout + made.stderr);
      const programs = ['sell', 'buy', 'refund'];
      for (const name of ['cloverleaf', ...programs])
        cpSync(join(ROOT, `docs/site/snippets/${name}.ts`), join(folder, `shop/${name}.ts`));
      for (const name of programs) {
        assert.ok(page.includes(`\nnode ${name}.ts\n`), `the page runs ${name}.ts`);
        const child = spawn('node', [`${name}.ts`], {
          cwd: join(folder, 'shop'),
          env,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        const output = collect(child);
        const code = await new Promise((ended) => child.once('exit', ended));
        assert.equal(code, 0, output());
        assert.match(output(), /^order [0-9]+: .*\n(?:settled|refunded): .*\n$/, name);
      }
    });

    test('an edge runtime is there where npm has one', () => {
      assert.equal(WORKERDS.length, process.platform === 'linux' ? 1 : 0);
    });

    for (const workerd of WORKERDS)
      test('sells on an edge runtime', { timeout: 120_000 }, async () => {
        const { apiKey = '', apiSecret = '' } = sandbox.partners[0] ?? {};
        writeFileSync(join(project, 'edge-worker.js'), EDGE_WORKER);
        const config = edgeConfig({ BASE_URL: sandbox.baseUrl, API_KEY: apiKey, API_SECRET: apiSecret });
        writeFileSync(join(project, 'edge.capnp'), config);
        const child = spawn(workerd, ['serve', '--control-fd=3', 'edge.capnp'], {
          cwd: project,
          stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        });
        const output = collect(child);
        const ended = new Promise((resolve) => child.once('exit', resolve));
        try {
          const told = child.stdio[3];
          assert.ok(told);
          const listening = new Promise<string>((resolve) =>
            told.once('data', (line: Buffer) => resolve(String(line))),
          );
          const line = await Promise.race([listening, ended]);
          assert.equal(typeof line, 'string', output());
          const { port } = JSON.parse(String(line)) as { port: number };
          const answer = await fetch(`http://127.0.0.1:${port}/`);
          assert.equal(await answer.text(), 'sold, and heard order.settled', output());
        } finally {
          child.kill();
          await ended;
        }
      });

    for (const [at, { name, path }] of NODES.entries())
      test(`runs on Node ${name}`, { timeout: 120_000 }, async () => {
        writeFileSync(join(project, 'sale.js'), SALE);
        const { apiKey = '', apiSecret = '' } = sandbox.partners[0] ?? {};
        const env = { BASE_URL: sandbox.baseUrl, API_KEY: apiKey, API_SECRET: apiSecret, PHONE: `+91-900000000${at}` };
        const child = spawn(path, ['sale.js'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
        const output = collect(child);
        const code = await new Promise((ended) => child.once('exit', ended));
        assert.equal(code, 0, output());
        assert.match(output(), new RegExp(`^${name}\\.\\d+\\.\\d+ sold for 8[0-9]{3}`));
      });
  });

/**
 * The command of the SDK, as a process, against a server that answers with the API description's examples. Its output is kept in
 * cli.snapshot.txt: `LONG_TESTS=1 UPDATE_DOCS=1` writes it. What concerns keys, secrets and exit codes is in `npm test`, the rest in the
 * long run (support/long.ts): each line that is typed starts a process.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifyWebhook } from '../../../sdk/src/index.ts';
import { freshFolder } from '../support/folder.ts';
import { isLong } from '../support/long.ts';
import { collect, run } from '../support/process.ts';
import { until } from '../support/until.ts';
import { describedServer, type Instead } from './described.ts';

const SNAPSHOT = fileURLToPath(new URL('./cli.snapshot.txt', import.meta.url));
const TOKEN = 'token-that-nobody-may-see';
const SECRET = 'secret-that-nobody-may-see';
const folder = freshFolder('cli');

let instead: Instead = () => undefined;
let server: Awaited<ReturnType<typeof describedServer>>;
before(async () => {
  server = await describedServer((asked, times) => instead(asked, times));
});
after(() => server.close());

const start = (args: string[], env: NodeJS.ProcessEnv = {}, stdin?: string) =>
  run(
    ['sdk/src/cli/main.ts', ...args],
    {
      ...{
        CLOVERLEAF_URL: server.baseUrl,
        CLOVERLEAF_BEARER_TOKEN: TOKEN,
        CLOVERLEAF_CONFIG: join(folder, 'none.json'),
      },
      ...{ CLOVERLEAF_KEY: 'clv_1', CLOVERLEAF_SECRET: SECRET, ...env },
    },
    stdin,
  );

async function cli(args: string[], env?: NodeJS.ProcessEnv, stdin?: string) {
  const child = start(args, env, stdin);
  let out = '';
  let err = '';
  child.stdout?.on('data', (text) => (out += text));
  child.stderr?.on('data', (text) => (err += text));
  const [code] = await once(child, 'close');
  assert.ok(!`${out}${err}`.includes(TOKEN) && !`${out}${err}`.includes(SECRET), 'a secret is printed');
  return { code: code as number, out, err };
}
const NO_KEY = { CLOVERLEAF_BEARER_TOKEN: undefined, CLOVERLEAF_KEY: undefined, CLOVERLEAF_SECRET: undefined };

if (isLong)
  test('output for people', { timeout: 300_000 }, async () => {
    const shown: string[] = [];
    for (const line of [
      '',
      'login --help',
      'orders refund --help',
      'quotes create --help',
      'destinations create --help',
      'quote usdc.matic20 inr --pay-amount 250.5',
      'orders list --state settled',
      'orders show 747983292881815',
      'customers get 8tvxR5aVmM_1',
      'destinations list 8tvxR5aVmM_1',
      'webhooks list',
      'webhooks deliveries whe_4pQ9aXbT7mK2vN8c',
      'logs --limit 5',
      'logs 4f1c2a9d0e00001a',
      'completion bash',
      '__complete -- orders',
      '__complete -- orders list --state',
      'orders list --state nonsense',
      'orders refund 17',
      'orders fly',
    ]) {
      const { code, out, err } = await cli(line.split(' ').filter((word) => word !== ''));
      shown.push(`$ cloverleaf-ramp ${line}\n${out}${err}(${code})\n`);
    }
    const text = shown.join('\n');
    if (process.env.UPDATE_DOCS === '1') writeFileSync(SNAPSHOT, text);
    assert.equal(
      text,
      readFileSync(SNAPSHOT, 'utf8'),
      'LONG_TESTS=1 UPDATE_DOCS=1 npm test -- server/test/sdk/cli.test.ts regenerates it',
    );
  });

describe('programs', () => {
  if (isLong)
    test('with --json every command of its own, and one of each group, answers JSON alone', async () => {
      const { commands } = JSON.parse((await cli(['--help', '--json'])).out) as {
        commands: { words: string; examples: string[] }[];
      };
      assert.ok(commands.length > 50);
      // These wait for events, ask a person, or are tested below against a server with their data.
      const elsewhere = new Set(['login', 'logout', 'orders watch', 'webhooks listen', 'certify']);
      const groups = new Set<string>();
      const isNew = ({ words }: { words: string }): boolean => {
        const [group = ''] = words.split(' ');
        const first = !groups.has(group) || words === 'webhooks create' || words === 'webhooks remove';
        groups.add(group);
        return first && !elsewhere.has(words);
      };
      for (const { words, examples } of commands.filter(isNew)) {
        const typed = [...(examples[0] ?? words).replace(/ > .*/, '').matchAll(/'([^']*)'|(\S+)/g)];
        const args = typed.map(([, quoted, plain]) => quoted ?? plain ?? '');
        const file = join(folder, `${words.replaceAll(' ', '-')}.json.secret`);
        const secret = /create|rotate/.test(words) && words.startsWith('webhooks') ? ['--secret-file', file] : [];
        const { out, err } = await cli([...args, ...secret, '--json']);
        assert.doesNotThrow(() => JSON.parse(out === '' ? err : out), `${args.join(' ')}: ${out}${err}`);
        assert.ok(out === '' || err === '', `${words} says something on both streams`);
      }
      const file = join(folder, 'json', 'config.json');
      const env = { ...NO_KEY, CLOVERLEAF_URL: undefined, CLOVERLEAF_CONFIG: file };
      const login = await cli(['login', '--url', server.baseUrl, '--json'], env, `clv_1\n${SECRET}\n`);
      const said = JSON.parse(login.out) as { key: string };
      assert.deepEqual(said, { baseUrl: server.baseUrl, key: said.key, file });
      assert.deepEqual(JSON.parse((await cli(['logout', '--json'], env)).out), { removed: file });
    });

  test('--json is the unchanged answer, and fields reach the request in their types', async () => {
    const { out, code } = await cli(['orders', 'list', '--state', 'SETTLED', '--limit', '5', '--json']);
    assert.equal(code, 0);
    assert.equal((JSON.parse(out) as { data: { state: string }[] }).data[0]?.state, 'created');
    assert.deepEqual(server.asked.at(-1)?.query, { state: 'settled', limit: '5' });
    await cli(['webhooks', 'update', 'whe_1', '--events', 'order.*,customer.login', '--enabled', 'false']);
    assert.deepEqual(JSON.parse(server.asked.at(-1)?.body ?? ''), {
      events: ['order.*', 'customer.login'],
      enabled: false,
    });
  });

  test('exit codes: 1 declined with reason and fields, 2 misused, 4 not answered', async () => {
    instead = () => ({
      status: 422,
      body: { reason: 'malformed_field', detail: 'No.', fields: { quoteId: 'is over' } },
    });
    const declined = await cli(['orders', 'create', '1', 'c_1', '2']);
    const forPrograms = await cli(['orders', 'create', '1', 'c_1', '2', '--json']);
    instead = () => undefined;
    const { error } = JSON.parse(forPrograms.err) as { error: { reason: string; fields: object } };
    assert.deepEqual([forPrograms.code, error.reason, error.fields], [1, 'malformed_field', { quoteId: 'is over' }]);
    assert.deepEqual([declined.code, declined.out], [1, '']);
    assert.match(declined.err, /^422 malformed_field: No\.\n {2}quoteId: is over\n {2}request 4f1c2a9d0e00001a\n$/);
    assert.equal((await cli(['orders', 'get'])).code, 2);
    for (const [words, why] of [
      ['orders get 1 --colour red', /^--colour is not an option of this$/m],
      ['orders list --limit', /^--limit needs a value: /],
      ['orders list --limit --all', /^--limit needs a value: /],
      ['orders list --all=yes', /^--all takes no value$/m],
      ['logs --status', /^--status needs a value$/m],
      ['webhooks create https://a.example/ --secret-file --json', /"--secret-file needs a value"/],
    ] as const) {
      const misused = await cli(words.split(' '));
      assert.deepEqual([misused.code, misused.out], [2, ''], words);
      assert.match(misused.err, why);
    }
    const lost = await cli(['orders', 'cancel', '17'], {
      CLOVERLEAF_URL: 'http://127.0.0.1:1',
      CLOVERLEAF_PATIENCE_S: '0',
    });
    assert.equal(lost.code, 4);
    assert.match(
      lost.err,
      /whether it took effect is unknown\.\n {2}To repeat it as the same: --idempotency-key [\w-]{36}/,
    );
    const gone = await cli(['doctor'], { CLOVERLEAF_URL: 'http://127.0.0.1:1' });
    assert.equal(gone.code, 1);
    assert.match(gone.out, /WRONG {2}address/);
  });

  test('an idempotency key of your own is the one that is sent', async () => {
    await cli(['orders', 'cancel', '17', '--idempotency-key', 'mine']);
    assert.equal(server.asked.at(-1)?.headers['idempotency-key'], 'mine');
    assert.equal(server.asked.at(-1)?.headers.signature !== undefined, true);
  });
});

if (isLong)
  test('bash completes commands, options and values, by the script that completion prints', async () => {
    const bin = freshFolder('completion');
    const name = join(bin, 'cloverleaf-ramp');
    const main = fileURLToPath(new URL('../../../sdk/src/cli/main.ts', import.meta.url));
    writeFileSync(name, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
    chmodSync(name, 0o755);
    const completed = (...typed: string[]): string[] => {
      const words = ['cloverleaf-ramp', ...typed].map((word) => `'${word}'`).join(' ');
      const { stdout, stderr, status } = spawnSync(
        'bash',
        [
          ...['--norc', '-c'],
          `set -e; eval "$(cloverleaf-ramp completion bash)"; COMP_WORDS=(${words}); COMP_CWORD=${typed.length}
           _cloverleaf_ramp; printf '%s\\n' "\${COMPREPLY[@]}"`,
        ],
        { encoding: 'utf8', env: { PATH: `${bin}:${process.env.PATH}` } },
      );
      assert.deepEqual([status, stderr], [0, '']);
      return stdout.split('\n').filter((line) => line !== '');
    };
    assert.deepEqual(completed('orders', 'ca'), ['cancel']);
    assert.deepEqual(completed('orders', 'list', '--st'), ['--state']);
    assert.ok(completed('orders', 'list', '--state', '').includes('on_hold'));
    assert.deepEqual(completed('sandbox', 'bank', 'lose_'), ['lose_answer', 'lose_request']);
    assert.deepEqual(completed('completion', ''), ['--help', '--json', 'bash', 'fish', 'zsh']);
    assert.deepEqual(completed('markets', 'list', '--json', '--'), ['--help']);
  });

describe('keys', () => {
  test('login tries the key, keeps it with mode 600, and prints nothing of it; logout removes it', async () => {
    const file = join(folder, 'home', 'config.json');
    const env = { ...NO_KEY, CLOVERLEAF_URL: undefined, CLOVERLEAF_CONFIG: file };
    const stdin = `clv_1\n${SECRET}\n`;
    const { code, out, err } = await cli(['login', '--url', server.baseUrl], env, stdin);
    assert.equal(code, 0, err);
    assert.match(out, /^logged in at http/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(String(server.asked.at(-1)?.headers.authorization), /^Bearer clv_1\.[0-9a-f]{64}$/);
    assert.equal((await cli(['whoami'], env)).code, 0);

    chmodSync(file, 0o644);
    const open = await cli(['whoami'], env);
    assert.deepEqual([open.code, /can be read by others/.test(open.err)], [2, true]);
    chmodSync(file, 0o600);
    assert.equal((await cli(['logout'], env)).code, 0);
    assert.ok(!existsSync(file));
    assert.match((await cli(['whoami'], env)).err, /no key: run `cloverleaf-ramp login`/);
  });

  test('login without a key says how to give one', async () => {
    const { code, err } = await cli(['login', '--url', server.baseUrl], NO_KEY, '');
    assert.deepEqual([code, /no key and secret on standard input: write a line each/.test(err)], [2, true]);
  });

  test('a key that the server does not know is not kept', async () => {
    instead = () => ({ status: 401, body: { reason: 'unauthenticated', detail: 'Unknown token.' } });
    const file = join(folder, 'unknown.json');
    const env = { ...NO_KEY, CLOVERLEAF_CONFIG: file };
    const { code } = await cli(['login', '--url', server.baseUrl], env, `\n\n${TOKEN}\n`);
    instead = () => undefined;
    assert.deepEqual([code, existsSync(file)], [2, false]);
  });

  test('the secret of an endpoint goes to a new file of its owner, or to the screen on request', async () => {
    const file = join(folder, 'endpoint.secret');
    const before = server.asked.length;
    assert.equal((await cli(['webhooks', 'create', 'https://a.example/'])).code, 2);
    assert.equal(server.asked.length, before, 'the server was called before the place of the secret was known');
    const made = await cli(['webhooks', 'create', 'https://a.example/', '--secret-file', file]);
    assert.equal(made.code, 0, made.err);
    assert.ok(!made.out.includes('whsec_'));
    assert.deepEqual([readFileSync(file, 'utf8').slice(0, 6), statSync(file).mode & 0o777], ['whsec_', 0o600]);
    const again = await cli(['webhooks', 'rotate-secret', 'whe_1', '--secret-file', file]);
    assert.deepEqual([again.code, /is there already/.test(again.err)], [2, true]);
    assert.match((await cli(['webhooks', 'rotate-secret', 'whe_1', '--show-secret'])).out, /whsec_/);
  });
});

test('doctor names the faults of key and endpoints, and exits with 1', async () => {
  instead = ({ name }) => {
    if (name === 'key.get') return { status: 200, body: { key: 'clv_1', scopes: ['read'], writes: 'signed' } };
    if (name !== 'webhooks.list') return undefined;
    const times = { failingSince: '2026-11-23T09:30:00.000Z', switchedOffAt: null, heldAt: null };
    return {
      status: 200,
      body: { data: [{ id: 'whe_1', url: 'https://a.example/', enabled: true, failures: 7, ...times }] },
    };
  };
  const { code, out } = await cli(['doctor'], { CLOVERLEAF_SECRET: undefined });
  instead = () => undefined;
  assert.equal(code, 1);
  assert.match(out, /WRONG {2}writes +must be signed, and there is no secret/);
  assert.match(out, /WRONG {2}webhooks +whe_1 https:\/\/a.example\/ fails since 2026-11-23 09:30:00, 7 times/);
  assert.match(out, /ok {5}clock/);
});

if (isLong)
  test('orders watch shows the progress of an order, and ends when nothing is next', async () => {
    const states = ['created', 'created', 'settled'];
    let looked = 0;
    instead = ({ name }) => {
      if (name === 'orders.get') {
        const state = states[Math.min(looked, 2)];
        looked += 1;
        const money = { amount: '1', asset: 'inr' };
        const order = {
          id: '17',
          direction: 'sell',
          pay: money,
          receive: money,
          customerId: 'c',
          reference: null,
          reason: null,
        };
        return { status: 200, body: { ...order, state, version: state === 'settled' ? 2 : 1 } };
      }
      if (name !== 'orders.trace') return undefined;
      const at = '2026-11-23T09:30:00.000Z';
      const isOver = looked > 2;
      const what = isOver ? ['order_created', 'payout_settled'] : ['order_created'];
      const evidence = what.map((one) => ({ what: one, id: '1', amount: null, hash: null, bankReference: null, at }));
      const next = {
        step: isOver ? 'nothing' : 'customer_pays',
        by: 'customer',
        until: null,
        otherwise: null,
        says: 'The customer pays.',
      };
      const held = { heldBy: isOver ? 'recipient' : 'customer', amount: { amount: '1', asset: 'inr' }, since: at };
      return { status: 200, body: { orderId: '17', state: 'x', ...held, evidence, next, otherMoney: [] } };
    };
    const { code, out, err } = await cli(['orders', 'watch', '17', '--interval', '100']);
    instead = () => undefined;
    assert.equal(code, 0, err);
    assert.deepEqual(
      out.split('\n').filter((line) => line !== ''),
      [
        'order 17, a sale: 1 inr for 1 inr',
        'customer c',
        '2026-11-23 09:30:00  order_created',
        '  now: created; 1 inr with customer since 2026-11-23 09:30:00',
        '  next: The customer pays.',
        '2026-11-23 09:30:00  payout_settled',
        '  now: settled; 1 inr with recipient since 2026-11-23 09:30:00',
      ],
    );
  });

if (isLong)
  test('webhooks listen marks pulled events as pulled, and forwards them signed', async () => {
    const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
    const file = join(folder, 'receiver.secret');
    writeFileSync(file, secret, { mode: 0o600 });
    const taken: string[] = [];
    const receiver = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      taken.push((await verifyWebhook({ headers: request.headers, body }, { secret })).id);
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const forward = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
    const event = { id: 'evt_1_2', type: 'order.settled', timestamp: '', subject: 'order:17', sequence: 2, data: {} };
    let looked = 0;
    instead = ({ name, query: { cursor } }) => {
      if (name !== 'events.list') return undefined;
      const page = (nextCursor: string, ...data: unknown[]) => ({ status: 200, body: { data, nextCursor } });
      // Earlier events are not shown.
      if (cursor === undefined) return page('c1', { ...event, id: 'evt_1_1' });
      looked += 1;
      return cursor === 'c1' && looked > 2 ? page('c2', event) : page(cursor);
    };
    const child = start(['webhooks', 'listen', '--poll', '--forward', forward, '--secret-file', file]);
    const output = collect(child);
    const ended = once(child, 'close');
    try {
      await until('the event is shown', async () => output().includes('evt_1_2'));
    } finally {
      child.kill('SIGINT');
    }
    const [code] = await ended;
    instead = () => undefined;
    receiver.close();
    assert.equal(code, 0, output());
    assert.match(output(), /^Pulling the events of .* These are no deliveries\./);
    assert.match(output(), /order\.settled +order:17 #2 {2}evt_1_2 {2}pulled; your receiver answered 204/);
    assert.ok(!output().includes('evt_1_1'));
    assert.deepEqual(taken, ['evt_1_2']);
  });

if (isLong)
  test('webhooks listen reports a closed forwarding port', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    const file = join(folder, 'nobody.secret');
    writeFileSync(file, `whsec_${Buffer.from('0123456789abcdef').toString('base64')}`, { mode: 0o600 });
    const event = { id: 'evt_1_2', type: 'order.settled', timestamp: '', subject: 'order:17', sequence: 2, data: {} };
    let looked = 0;
    instead = ({ name, query: { cursor } }) => {
      if (name !== 'events.list') return undefined;
      const page = (nextCursor: string, ...data: unknown[]) => ({ status: 200, body: { data, nextCursor } });
      if (cursor === undefined) return page('c1');
      looked += 1;
      return cursor === 'c1' && looked > 2 ? page('c2', event) : page(cursor);
    };
    const child = start([
      ...['webhooks', 'listen', '--poll', '--secret-file', file],
      ...['--forward', `http://127.0.0.1:${port}/hooks`],
    ]);
    const output = collect(child);
    const ended = once(child, 'close');
    try {
      await until('the event is shown', async () => output().includes('evt_1_2'));
    } finally {
      child.kill('SIGINT');
    }
    await ended;
    instead = () => undefined;
    assert.match(output(), /evt_1_2 {2}pulled; nothing listens at the address of --forward/);
  });

if (isLong)
  test('webhooks listen removes the endpoints of listeners that were killed, and leaves those that run and those of others', async () => {
    const running = createServer().listen(0, '127.0.0.1');
    const gone = createServer().listen(0, '127.0.0.1');
    await Promise.all([once(running, 'listening'), once(gone, 'listening')]);
    const portOf = (one: typeof gone) => (one.address() as AddressInfo).port;
    const urls: readonly [id: string, url: string][] = [
      ['whe_running', `http://127.0.0.1:${portOf(running)}/cloverleaf-listen`],
      ['whe_gone', `http://127.0.0.1:${portOf(gone)}/cloverleaf-listen`],
      ['whe_own', `http://127.0.0.1:${portOf(gone)}/hooks`],
    ];
    gone.close();
    await once(gone, 'close');
    const [known] = JSON.parse((await cli(['webhooks', 'list', '--json'])).out).data;
    instead = ({ name }) => {
      if (name !== 'webhooks.list') return undefined;
      return { status: 200, body: { data: urls.map(([id, url]) => ({ ...known, id, url })), nextCursor: null } };
    };
    const before = server.asked.length;
    const child = start(['webhooks', 'listen']);
    const output = collect(child);
    const ended = once(child, 'close');
    try {
      await until('it listens', async () => output().includes('Listening at'), { more: output });
    } finally {
      child.kill('SIGINT');
    }
    await ended;
    instead = () => undefined;
    running.close();
    const removed = server.asked.slice(before).filter(({ name }) => name === 'webhooks.remove');
    assert.deepEqual(
      removed.map(({ path }) => path.split('/').at(-1)),
      ['whe_gone', known.id],
    );
  });

test('text from outside neither controls the terminal nor reverses the rest of its line', async () => {
  const [order] = JSON.parse((await cli(['orders', 'list', '--json'])).out).data;
  instead = ({ name }) =>
    name === 'orders.list'
      ? {
          status: 200,
          body: { data: [{ ...order, reference: 'a\u001b[2J\u009b1m\u202eb\u2066c\u200fd' }], nextCursor: null },
        }
      : undefined;
  const { out } = await cli(['orders', 'list']);
  instead = () => undefined;
  assert.match(out, /a \[2J 1m b c d/);
  assert.doesNotMatch(out, /[\p{Cf}]|[^\P{Cc}\n]/u);
});

if (isLong)
  test('other words for a command work, and a misspelled one is guessed', async () => {
    const { code, out } = await cli(['webhooks', 'endpoints']);
    assert.deepEqual([code, out], [0, (await cli(['webhooks', 'list'])).out]);
    const wrong = await cli(['orders', 'lsit']);
    assert.deepEqual(
      [wrong.code, wrong.err.split('\n')[0]],
      [2, 'there is no command "orders lsit": did you mean "orders list"?'],
    );
    assert.match((await cli(['webhooks', 'deliveries'])).err, /^endpoint missing: "webhooks list" shows it/);
  });

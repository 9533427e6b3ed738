/**
 * The programs of the docs. All are parsed; those in TypeScript also run, with the SDK: each sale and purchase to its end against a
 * sandbox, and the receivers on the sandbox's messages. Requests of the reference are compiled or parsed with their client. In the
 * long run (support/long.ts) the programs of the other languages run too, if they are installed: each starts a compiler or an
 * interpreter of its own. docs/site/start.md says which language is tested how.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Tree } from '@lezer/common';
import { parser as goParser } from '@lezer/go';
import { parser as javaParser } from '@lezer/java';
import { parser as phpParser } from '@lezer/php';
import { parser as pythonParser } from '@lezer/python';
import { Cloverleaf, signWebhook } from '../../../sdk/src/index.ts';
import { exampleOf, LANGUAGES, written } from '../../src/site/examples.ts';
import { readInterface } from '../../src/site/openapi.ts';
import { hmac, openClient } from '../support/client.ts';
import { freshFolder } from '../support/folder.ts';
import { isLong } from '../support/long.ts';
import { collect, freePort, makeDataDir, removeDataDir, type ServerProcess, startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';

const docs = join(import.meta.dirname, '../../../docs');
const SNIPPETS = join(docs, 'site/snippets');
const files = readdirSync(SNIPPETS);

const isHere = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const here = {
  sh: isLong && isHere('bash') && isHere('curl') && isHere('openssl'),
  ts: true,
  py: isLong && isHere('python3'),
  php: isLong && isHere('php'),
  java: isLong && isHere('javac') && isHere('java'),
  go: isLong && isHere('go'),
};
type Ending = keyof typeof here;

const PARSERS: Partial<Record<Ending, { parse(text: string): Tree }>> = {
  py: pythonParser,
  php: phpParser,
  java: javaParser,
  go: goParser,
};

/** @throws AssertionError with the line that is not valid in the language */
function parses(text: string, ending: Ending, name: string): void {
  const parser = PARSERS[ending];
  if (parser !== undefined) {
    parser.parse(text).iterate({
      enter({ type, from }) {
        const line = text.slice(0, from).split('\n').length;
        assert.ok(!type.isError, `${name}:${line} is not ${ending}: ${text.split('\n')[line - 1]}`);
      },
    });
    return;
  }
  const file = join(freshFolder('parse'), ending === 'ts' ? 'program.mts' : 'program.sh');
  writeFileSync(file, text);
  const [program, flag] = ending === 'ts' ? [process.execPath, '--check'] : ['sh', '-n'];
  const { status, stderr } = spawnSync(program, [flag, file], { encoding: 'utf8' });
  assert.equal(status, 0, `${name}: ${stderr}`);
}

const endingOf = (file: string): Ending => (file.split('.').at(-1) ?? '') as Ending;

for (const file of files)
  test(`${file} is valid in its language`, () =>
    parses(readFileSync(join(SNIPPETS, file), 'utf8'), endingOf(file), file));

test('a program that is not of its language is found', () => {
  for (const [ending, text] of [
    ['php', '<?php\nfunction f( { return 1; }'],
    ['go', 'package main\nfunc main() { x := = 1 }'],
    ['java', 'class A { void f() { int = ; } }'],
    ['py', 'def f(:\n  pass'],
    ['sh', 'if then; fi fi'],
    ['ts', 'const = 1;'],
  ] as const)
    assert.throws(() => parses(text, ending, 'wrong'), ending);
});

/** The requests of every endpoint, as one program of a language, beside its client. */
function allExamples(ending: Ending): string {
  const language = LANGUAGES.find((one) => one.ending === ending);
  assert.ok(language !== undefined);
  const all = ['openapi.json', 'openapi-v1.json']
    .flatMap((file) => readInterface(join(docs, file)).endpoints)
    .map((endpoint) => written(exampleOf(endpoint), language));
  const each = (begin: string, end: string, prefix = ''): string =>
    all.map((text, at) => `${begin.replace('#', String(at))}\n${prefix}${text}\n${end}`).join('\n');
  return {
    sh: () => all.join('\n'),
    ts: () => `import { client } from './cloverleaf.ts';\n${each('{', 'void data;\n}')}`,
    py: () => `from cloverleaf import call, v1\n${all.join('\n')}`,
    php: () => `<?php\nrequire 'cloverleaf.php';\n${all.join('\n')}`,
    java: () => `class Examples {\n${each('static void f#() throws Exception {', '}')}\n}`,
    go: () => `package main\n\n${each('func f#() {', '\t_, _ = data, err\n}', '\t')}\n\nfunc main() {}\n`,
  }[ending]();
}

/** Resolves the SDK for a TypeScript program: the one in this repository. */
const SDK = join(docs, '../sdk/src/index.ts');
const PROJECT = {
  compilerOptions: {
    ...{ strict: true, noEmit: true, target: 'es2024', module: 'nodenext', allowImportingTsExtensions: true },
    ...{ skipLibCheck: true, types: ['node'], typeRoots: [join(docs, '../node_modules/@types')] },
    paths: { 'cloverleaf-ramp': [SDK] },
  },
};
const TSC = join(docs, '../node_modules/.bin/tsc');

const COMPILES: Partial<Record<Ending, readonly (readonly [string, readonly string[]])[]>> = {
  ts: [[process.execPath, [TSC, '-p', '.']]],
  py: [['python3', ['-m', 'py_compile', 'examples.py']]],
  php: [['php', ['-l', 'examples.php']]],
  java: [['javac', ['-d', 'out', 'Cloverleaf.java', 'Examples.java']]],
  go: [['go', ['vet', 'cloverleaf.go', 'examples.go']]],
};

for (const ending of Object.keys(here) as Ending[])
  test(`the requests of the reference are ${ending}`, () => {
    const text = allExamples(ending);
    parses(text, ending, `examples.${ending}`);
    if (!here[ending]) return;
    const folder = freshFolder('examples');
    cpSync(SNIPPETS, folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(PROJECT));
    writeFileSync(join(folder, ending === 'java' ? 'Examples.java' : `examples.${ending}`), text);
    for (const [program, args] of COMPILES[ending] ?? []) {
      const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
      assert.equal(status, 0, `${ending}: ${stdout}${stderr}`);
    }
  });

describe('against a sandbox', () => {
  let server: ServerProcess | undefined;
  const dataDir = makeDataDir();
  const folder = freshFolder('snippets');
  const children: ChildProcess[] = [];
  let env: NodeJS.ProcessEnv = {};
  before(async () => {
    cpSync(SNIPPETS, folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(
      join(folder, 'sdk.mjs'),
      `import { registerHooks } from 'node:module';
       const sdk = { url: ${JSON.stringify(pathToFileURL(SDK).href)}, shortCircuit: true };
       registerHooks({ resolve: (name, context, next) => (name === 'cloverleaf-ramp' ? sdk : next(name, context)) });`,
    );
    server = await startProcess({ dataDir, port: 0 });
    const { baseUrl, partners } = server.sandbox();
    env = {
      ...{ PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
      ...{ CLOVERLEAF_URL: baseUrl, CLOVERLEAF_KEY: partners[0]?.apiKey, CLOVERLEAF_SECRET: partners[0]?.apiSecret },
    };
    // The pages name `node`: a recent one, like this one.
    if (here.java) {
      const made = spawnSync('javac', ['-d', '.', ...files.filter((file) => file.endsWith('.java'))], {
        cwd: folder,
        encoding: 'utf8',
      });
      assert.equal(made.status, 0, made.stderr);
    }
  });
  after(async () => {
    for (const child of children) end(child);
    await server?.interrupt();
    removeDataDir(dataDir);
  });

  /** Node as the pages name it, with the SDK where `npm install` would have put it. */
  const NODE = [process.execPath, '--import', './sdk.mjs'] as const;
  type Command = readonly [string, ...string[]];
  const programs = (name: string, inJava: string): Record<Ending, Command> => ({
    sh: ['bash', `${name}.sh`],
    ts: [...NODE, `${name}.ts`],
    py: ['python3', `${name}.py`],
    php: ['php', `${name}.php`],
    java: ['java', inJava],
    go: ['go', 'run', 'cloverleaf.go', `${name}.go`],
  });
  const RECEIVE: Partial<Record<Ending, Command>> = {
    ts: [...NODE, 'receive.ts'],
    py: ['python3', 'receive.py'],
    java: ['java', 'Receive'],
    go: ['go', 'run', 'receive.go'],
  };

  /** Includes its child processes: `go run` runs the program as a child. */
  function end({ pid, exitCode, signalCode }: ChildProcess): void {
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    process.kill(-pid, 'SIGKILL');
  }

  function started([program, ...args]: Command, more: NodeJS.ProcessEnv = {}) {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    children.push(child);
    const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
    return { child, output: collect(child), ended };
  }
  const onThisMachine = (Object.keys(here) as Ending[]).filter((ending) => here[ending]);

  for (const [name, inJava, says] of [
    ['sell', 'Sell', /^order [0-9]+: send 100 USDC to 0x[0-9a-fA-F]{40}\nsettled: paid to the bank account\n$/],
    [
      'whitelabel',
      'Whitelabel',
      /^send 100 USDC to 0x[0-9a-f]{40}, to receive [0-9.]+ INR\nstatus 6: paid to the bank account\n$/,
    ],
    [
      'buy',
      'Buy',
      /^order [0-9]+: transfer 4[0-9]{3}(\.[0-9]+)? INR with the reference CL[0-9A-Z]+\nsettled: 50 USDC are at the address\n$/,
    ],
  ] as const)
    test(`${name}: the order is paid out: ${onThisMachine.join(', ')}`, async () => {
      const runs = onThisMachine.map((ending) => ({ ending, ...started(programs(name, inJava)[ending]) }));
      for (const { ending, ended, output } of runs) {
        assert.equal(await ended, 0, `${ending}: ${output()}`);
        assert.match(output(), says, ending);
      }
    });

  test(`refund: what came of an underpaid sale goes back: ${onThisMachine.join(', ')}`, async () => {
    // One after the other: each moves the deadlines of all orders closer.
    for (const ending of onThisMachine) {
      const { ended, output } = started(programs('refund', 'Refund')[ending]);
      assert.equal(await ended, 0, `${ending}: ${output()}`);
      assert.match(
        output(),
        /^order [0-9]+: 50 of 100 USDC came; .*\nrefunded: 50 USDC are back by the transfer 0x[0-9a-f]{64}\n$/,
        ending,
      );
    }
  });

  const receivers = onThisMachine.filter((ending) => RECEIVE[ending] !== undefined);
  test(`the receiver of an endpoint of /v1 takes what is genuine, once and in order: ${receivers.join(', ')}`, async () => {
    const { CLOVERLEAF_URL: baseUrl = '', CLOVERLEAF_KEY: apiKey = '', CLOVERLEAF_SECRET: apiSecret = '' } = env;
    const client = new Cloverleaf({ baseUrl, apiKey, apiSecret });
    const hooks = await Promise.all(
      receivers.map(async (ending) => {
        const port = String(await freePort());
        const { id, secret } = await client.webhooks.create({ url: `http://127.0.0.1:${port}/hook` });
        const program = started(RECEIVE[ending] ?? ['false'], { PORT: port, WEBHOOK_SECRET: secret });
        const says = (text: string) =>
          until(`${ending} says ${text}`, async () => program.output().includes(text), { more: program.output });
        await says('listening');
        return { ending, id, secret, url: `http://127.0.0.1:${port}/hook`, says, ...program };
      }),
    );
    const { transactionId } = await paidSale(openClient(baseUrl, { apiKey, apiSecret }));
    for (const { ending, id, secret, url, says, output, child, ended } of hooks) {
      await says('new order.settled');
      const states = [...output().matchAll(/new order\.(\w+)/g)].map(([, state]) => state);
      assert.deepEqual(
        states.filter((state) => state !== 'deposit_seen'),
        ['created', 'deposit_confirmed', 'paying_out', 'payout_submitted', 'settled'],
        ending,
      );
      await client.webhooks.replay(id, { orderId: transactionId });
      await says('duplicate evt_');

      const event = { id: 'evt_9_1', type: 'order.created', subject: `order:${transactionId}`, sequence: 1, data: {} };
      const send = async ({ headers, body }: { headers: Record<string, string>; body: string }): Promise<number> =>
        (await fetch(url, { method: 'POST', headers, body })).status;
      const wrong = `whsec_${Buffer.from('another secret').toString('base64')}`;
      assert.equal(await send(await signWebhook(event, { secret: wrong })), 401, `${ending}: another secret`);
      const old = await signWebhook(event, { secret, nowMs: Date.now() - 3_600_000 });
      assert.equal(await send(old), 401, `${ending}: an hour old`);
      const right = await signWebhook(event, { secret });
      assert.equal(await send({ ...right, body: `${right.body} ` }), 401, `${ending}: another body`);
      const renamed = { ...right.headers, 'webhook-id': 'evt_9_2' };
      assert.equal(await send({ ...right, headers: renamed }), 401, `${ending}: another id`);
      const rotated = { ...right.headers, 'webhook-signature': `v1,AAAA ${right.headers['webhook-signature']}` };
      assert.equal(await send({ ...right, headers: rotated }), 200, `${ending}: two signatures`);
      await says('older evt_9_1');
      end(child);
      await ended;
      await client.webhooks.remove(id);
    }
  });

  test(`the receiver of the format whitelabel does so too: ${receivers.join(', ')}`, async () => {
    const { CLOVERLEAF_URL: url = '', CLOVERLEAF_KEY: apiKey = '', CLOVERLEAF_SECRET: apiSecret = '' } = env;
    const client = openClient(url, { apiKey, apiSecret });
    for (const ending of receivers) {
      const port = String(await freePort());
      const { child, output, ended } = started(RECEIVE[ending] ?? ['false'], { PORT: port });
      const says = (text: string) =>
        until(`${ending} says ${text}`, async () => output().includes(text), { more: output });
      await says('listening');
      const webhookUrl = `http://127.0.0.1:${port}/hook`;
      const set = await client.post('/onramp/api/v1/merchant/setWebhookUrl', { webhookUrl, format: 'whitelabel' });
      assert.equal(set.status, 200, set.text);
      const { customerId, transactionId } = await paidSale(client);
      await says('new OFFRAMP FIAT_TRANSFER_COMPLETED');
      assert.deepEqual(
        output()
          .split('\n')
          .filter((line) => line.includes('OFFRAMP')),
        ['ON_CHAIN_DEPOSIT_RECEIVED', 'TRADE_COMPLETED', 'FIAT_TRANSFER_INITIATED', 'FIAT_TRANSFER_COMPLETED'].map(
          (word) => `new OFFRAMP ${word}`,
        ),
      );
      const resent = await client.post('/onramp/api/v1/merchant/resendWebhook', { orderId: transactionId });
      assert.equal(resent.status, 200, resent.text);
      await says('duplicate');

      const send = async (event: object, secret: string, body = JSON.stringify(event)): Promise<number> => {
        const payload = Buffer.from(JSON.stringify(event)).toString('base64');
        const headers = {
          ...{ 'x-onramp-payload': payload, 'x-onramp-signature': hmac(payload, secret) },
          'x-onramp-timestamp': String(Date.now()),
        };
        return (await fetch(webhookUrl, { method: 'POST', headers, body })).status;
      };
      const metadata = { eventId: 1_000_001, sequence: 1, customerId, timestamp: Date.now() };
      const event = { referenceId: Number(transactionId), eventType: 'OFFRAMP', status: 'TRADE_COMPLETED', metadata };
      assert.equal(await send(event, `${apiSecret}x`), 401, `${ending}: another secret`);
      assert.equal(
        await send(event, apiSecret, JSON.stringify({ ...event, status: 'FAILED' })),
        401,
        `${ending}: another body`,
      );
      assert.equal(await send(event, apiSecret), 200, ending);
      await says('older 1000001');
      end(child);
      await ended;
    }
  });

  async function paidSale(
    client: ReturnType<typeof openClient>,
  ): Promise<{ customerId: string; transactionId: string }> {
    const told = async (path: string, body: Record<string, string>): Promise<Record<string, string>> => {
      const answer = await client.post(path, body);
      assert.equal(answer.status, 200, answer.text);
      return answer.body.data as Record<string, string>;
    };
    const phoneNumber = `+91-8${String(Date.now()).slice(-9)}`;
    const { customerId = '' } = await told('kyc/url', {
      clientCustomerId: phoneNumber,
      phoneNumber,
      type: 'INDIVIDUAL',
    });
    await told('test/changeKycStatus', { customerId, status: 'BASIC_KYC_COMPLETED' });
    const { fiatAccountId = '' } = await told('bank/addFiatAccount', {
      customerId,
      fiatAccount: '000111222333',
      ifsc: 'HDFC0000001',
    });
    const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '100' };
    const { rate = '', toAmount = '' } = await told('offramp/quote', pair);
    const { transactionId = '' } = await told('offramp/createTransaction', {
      ...pair,
      rate,
      toAmount,
      customerId,
      fiatAccountId,
    });
    await told('/sandbox/v1/pay', { transactionId });
    return { customerId, transactionId };
  }
});

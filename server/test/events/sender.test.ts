/** Which addresses may be called, and that the connection goes to the address that was checked. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isPublic, readUrl } from '../../src/events/address.ts';
import { type EgressPolicy, openSender, outsideFor } from '../../src/events/index.ts';
import { printable } from '../../src/events/sender.ts';
import { signature } from '../../src/events/standard.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';

const tls = (name: string) => readFileSync(join(import.meta.dirname, '../fixtures/tls', `${name}.pem`), 'utf8');
const production = outsideFor('production');
const sandbox = outsideFor('sandbox');

let plain: Receiver;
let secure: Receiver;
before(async () => {
  plain = await openReceiver({ anything: true });
  secure = await openReceiver({ anything: true, tls: { key: tls('key'), cert: tls('cert') } });
});
after(async () => {
  await plain?.down();
  await secure?.down();
});

const INNER = [
  ...['127.0.0.1', '127.8.8.8', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
  ...['100.64.0.1', '0.0.0.0', '0.1.2.3', '224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255', '192.0.0.8'],
  ...['192.0.2.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '192.88.99.1'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::7f00:1', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1'],
  ...['fe80::1', 'fec0::1', 'fc00::1', 'fd12::1', 'ff02::1', '2001:db8::1', '2002:7f00:1::', '2001::1', '2001:10::1'],
  ...['3fff::1', 'fe80::1%eth0', 'nonsense', ''],
];

test('addresses inside networks, of no network and of ways back into IPv4 are not public', () => {
  assert.deepEqual(INNER.filter(isPublic), []);
  const outer = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1'];
  assert.deepEqual(outer.filter(isPublic), outer);
  assert.deepEqual(
    INNER.filter(sandbox.allows).sort(),
    [
      '10.0.0.1',
      '127.0.0.1',
      '127.8.8.8',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '::1',
      'fc00::1',
      'fd12::1',
    ].sort(),
    'a sandbox may also call this machine and private networks, and nothing else of these',
  );
});

test('an address is refused when it is set, with the reason', () => {
  const why = (outside: EgressPolicy, url: string): string => {
    try {
      readUrl(outside, 'url', url);
      return 'taken';
    } catch (error) {
      return String((error as { facts?: { fields?: { url?: string } } }).facts?.fields?.url);
    }
  };
  for (const [url, says] of [
    ['https://hooks.partner.com/x?y=1', 'taken'],
    ['https://hooks.partner.com:8443/', 'taken'],
    ['http://hooks.partner.com/', 'must be an https address'],
    ['ftp://hooks.partner.com/', 'must be an https address'],
    ['https://user:pass@hooks.partner.com/', 'must not have a login in it'],
    ['https://user@hooks.partner.com/', 'must not have a login in it'],
    ['https://hooks.partner.com/#x', 'must not have a fragment'],
    ['https://hooks.partner.com:22/', 'must be on port 443 or 8443'],
    ['https://8.8.8.8/', 'must have a name and not a number as its host'],
    ['https://0x7f.1/', 'must have a name and not a number as its host'],
    ['https://2130706433/', 'must have a name and not a number as its host'],
    ['https://[::1]/', 'must have a name and not a number as its host'],
    ['https://localhost/', 'must have a host that can be reached from the internet'],
    ['https://db/', 'must have a host that can be reached from the internet'],
    ['https://a.internal/', 'must have a host that can be reached from the internet'],
    ['https://a.localhost/', 'must have a host that can be reached from the internet'],
    ['nonsense', 'must be a web address of at most 1000 characters'],
    [`https://hooks.partner.com/${'x'.repeat(1000)}`, 'must be a web address of at most 1000 characters'],
  ] as const) {
    assert.equal(why(production, url), says, url);
  }
  for (const url of [
    'http://localhost:3000/',
    'http://127.0.0.1:8080/x',
    'https://hooks.partner.com/',
    'http://[::1]:9000/',
  ])
    assert.equal(why(sandbox, url), 'taken', url);
  for (const url of ['http://169.254.169.254/', 'http://0.0.0.0:3000/', 'http://[::ffff:169.254.169.254]/'])
    assert.equal(why(sandbox, url), 'must not be an address of that kind', url);
  assert.equal(why(sandbox, 'http://localhost:22/'), 'must be on port 80, 443 or one from 1024 on');
});

const message = { headers: { 'webhook-id': 'evt_1_1' }, body: '{"a":1}' };

test('a name that resolves differently the second time is called at the checked address, or not at all', async () => {
  const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1', '169.254.169.254'], []];
  let asked = 0;
  const rebinding: EgressPolicy = {
    plain: true,
    allows: (address) => address === '127.0.0.1',
    resolve: async () => answers[asked++] ?? [],
  };
  const send = openSender(rebinding);
  const to = { url: `http://hooks.partner.com:${plain.port}/`, ...message };
  const first = await send(to);
  assert.deepEqual([first.ok, first.status, first.answer], [true, 200, 'thank you']);
  assert.equal(plain.seen[0]?.headers.host, `hooks.partner.com:${plain.port}`);
  assert.equal(asked, 1, 'the name was resolved more than once');
  for (let at = 1; at < answers.length; at += 1) assert.equal((await send(to)).error, 'address_forbidden');
  assert.equal(plain.seen.length, 1);
});

test('in production a name of a private address is not called, nor plain http', async () => {
  const send = openSender({ ...production, resolve: async () => ['127.0.0.1'] });
  assert.equal(
    (await send({ url: `https://hooks.partner.com:${secure.port}/`, ...message })).error,
    'address_forbidden',
  );
  assert.equal((await send({ url: `http://hooks.partner.com:${plain.port}/`, ...message })).error, 'not_https');
  assert.equal((await send({ url: `https://127.0.0.1:${secure.port}/`, ...message })).error, 'address_forbidden');
  assert.equal(secure.seen.length, 0);
});

test('certificates are checked: trusted, for this name', async () => {
  const here: EgressPolicy = { plain: false, allows: () => true, resolve: async () => ['127.0.0.1'] };
  const trusting = openSender(here, { ca: tls('cert') });
  const url = (host: string) => `https://${host}:${secure.port}/`;
  assert.equal((await openSender(here)({ url: url('hooks.partner.com'), ...message })).error, 'certificate');
  assert.equal((await trusting({ url: url('another.partner.com'), ...message })).error, 'certificate');
  assert.equal((await trusting({ url: url('hooks.partner.com'), ...message })).status, 200);
});

test('a name whose server does not answer has five seconds like everything else', async () => {
  const silent: EgressPolicy = { ...sandbox, resolve: () => new Promise(() => {}) };
  const outcome = await openSender(silent, { deadlineMs: 50 })({ url: 'http://hooks.partner.com/', ...message });
  assert.deepEqual([outcome.ok, outcome.error], [false, 'timeout']);
});

test('the stored part of an answer is short and printable', () => {
  assert.equal(printable(Buffer.from('a\u0000\u001b[31mb\r\n\u202ec')), 'a [31mb c');
  assert.equal(printable(Buffer.from([0xff, 0xfe, 0x41])), ' A');
  assert.equal(printable(Buffer.from('x'.repeat(5_000))).length, 500);
});

test('the signature is the one of the published example', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  assert.equal(
    signature(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, body),
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

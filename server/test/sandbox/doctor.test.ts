/**
 * The doctor: each common signing mistake, its explanation, and that the server refuses it too. And how a captured curl command
 * is read.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Refusal } from '../../src/base/errors.ts';
import type { Credential } from '../../src/partners/index.ts';
import { authenticate, CLOCK_WINDOW } from '../../src/protocols/whitelabel/auth.ts';
import { readBody, sameMeaning } from '../../src/protocols/whitelabel/body.ts';
import { diagnose, type Finding } from '../../src/protocols/whitelabel/index.ts';
import { readCurl } from '../../src/sandbox/curl.ts';
import { doctor } from '../../src/sandbox/doctor.ts';
import { freshFolder } from '../support/folder.ts';

const NOW = Date.UTC(2026, 0, 5, 10);
const SECRET = 'ab12cd34'.repeat(8);
const OTHER_SECRET = '99887766'.repeat(8);
const KEYS = [
  { name: 'acme', apiKey: 'ACMEkey1', secrets: [SECRET] },
  { name: 'birch', apiKey: 'BIRCHkey2', secrets: [OTHER_SECRET] },
];
const BODY = { customerId: 'cus_1', amount: '10.50', chain: 'matic20' };

type Hash = 'sha512' | 'sha256' | 'sha1';
const hmac = (text: string, key: string | Buffer = SECRET, hash: Hash = 'sha512') => createHmac(hash, key).update(text);
const base64 = (text: string) => Buffer.from(text).toString('base64');

interface Made {
  payload: string;
  json: string;
  text: string;
  signature: string;
  headers: Record<string, string>;
}

/** A correct request, and a program's deviation from it. */
function request(otherwise: (made: Made) => Partial<Made> = () => ({}), timestamp: unknown = NOW): Made {
  const json = JSON.stringify({ body: BODY, timestamp });
  const payload = base64(json);
  const right: Made = {
    json,
    payload,
    text: JSON.stringify(BODY),
    signature: hmac(payload).digest('hex'),
    headers: {},
  };
  const made = { ...right, ...otherwise(right) };
  return {
    ...made,
    headers: {
      'content-type': 'application/json',
      apikey: 'ACMEkey1',
      payload: made.payload,
      signature: made.signature,
      ...made.headers,
    },
  };
}

const look = ({ headers, text }: Made, nowMs = NOW): Promise<Finding[]> =>
  diagnose({ method: 'POST', headers, body: Buffer.from(text) }, { keys: KEYS, nowMs, window: CLOCK_WINDOW });
const wrongOf = async (made: Made, nowMs = NOW) =>
  (await look(made, nowMs)).filter(({ ok }) => !ok).map(({ part, says }) => `${part}: ${says}`);

/** The server's answer to it. */
async function isTaken({ headers, text }: Made, nowMs = NOW): Promise<boolean> {
  const credential = async (apiKey: string) =>
    KEYS.map((key) => ({ ...key, key: key.apiKey })).find((key) => key.apiKey === apiKey) as unknown as Credential;
  try {
    const { signedBody } = await authenticate(headers, { credential, nowMs, window: CLOCK_WINDOW });
    return sameMeaning(readBody(Buffer.from(text), 'json'), signedBody);
  } catch (error) {
    assert.ok(error instanceof Refusal);
    return false;
  }
}

test('a correct request is accepted, in either spelling and with any spaces', async () => {
  const usual = request();
  const { payload, signature } = usual;
  const spelt = {
    ...usual,
    headers: {
      'content-type': 'application/json',
      'x-onramp-apikey': 'ACMEkey1',
      'x-onramp-payload': payload,
      'x-onramp-signature': signature,
    },
  };
  const spaced = request(({ text }) => ({ text: text.replaceAll(',', ', ').replace('"10.50"', '10.50') }));
  for (const made of [usual, spelt, spaced]) {
    assert.deepEqual(await wrongOf(made), []);
    assert.deepEqual(
      (await look(made)).map(({ part }) => part),
      ['headers', 'key', 'payload', 'signature', 'body', 'clock'],
    );
    assert.equal(await isTaken(made), true);
  }
});

const MISTAKES: readonly [what: string, made: Made, says: RegExp][] = [
  ['no signature header', without('signature'), /^headers: header signature \(or X-ONRAMP-SIGNATURE\) is missing$/],
  [
    'an empty payload header',
    request(() => ({ headers: { payload: '' } })),
    /^headers: header payload .* there and empty$/,
  ],
  [
    'a header by another name',
    without('apikey', { 'x-api-key': 'ACMEkey1' }),
    /^headers: header apiKey .* one called x-api-key/,
  ],
  [
    'an unknown key',
    request(() => ({ headers: { apikey: 'nobody' } })),
    /^key: it is not known here; known are those of acme, birch/,
  ],
  [
    'a key in quotes',
    request(() => ({ headers: { apikey: '"ACMEkey1"' } })),
    /^key: .* without quotes, spaces or another case: acme's/,
  ],
  ['a secret for a key', request(() => ({ headers: { apikey: SECRET } })), /^key: the header carries a secret/],
  [
    "another's key",
    request(() => ({ headers: { apikey: 'BIRCHkey2' } })),
    /^signature: the secret is that of acme's key and not of the one in the header/,
  ],
  ['JSON for a payload', signed(({ json }) => json), /^payload: it is JSON as it stands/],
  ['no base64', signed(() => '%%%'), /^payload: it is not base64$/],
  [
    'one = too many',
    signed(() => `${base64(JSON.stringify({ body: BODY, timestamp: NOW })).replace(/=+$/, '')}===`),
    /^payload: it is base64 with too few or too many = at the end/,
  ],
  [
    'line breaks',
    signed(({ payload }) => `${payload.slice(0, 40)} ${payload.slice(40)}`),
    /^payload: it is base64 with line breaks/,
  ],
  ['no JSON in it', signed(() => base64('hello, world!')), /^payload: the payload is not base64 of a JSON object/],
  ['no timestamp', request(undefined, null), /^payload: the payload has no timestamp/],
  [
    'a date for a timestamp',
    request(undefined, '2026-01-05T10:00:00Z'),
    /^payload: its timestamp must be Unix milliseconds, as digits/,
  ],
  ['seconds', request(undefined, NOW / 1000), /^payload: its timestamp .* looks like seconds: multiply it by 1000/],
  ['microseconds', request(undefined, NOW * 1000), /^payload: its timestamp .* looks like microseconds/],
  [
    'the JSON signed',
    by(({ json }) => hmac(json).digest('hex')),
    /^signature: the JSON was signed: it must be its base64/,
  ],
  [
    'the JSON signed as Python writes it',
    by(({ json }) => hmac(json.replaceAll(',"', ', "').replaceAll('":', '": ')).digest('hex')),
    /^signature: the JSON was signed/,
  ],
  ['the body signed', by(({ text }) => hmac(text).digest('hex')), /^signature: the body was signed/],
  [
    "the body's base64 signed",
    by(({ text }) => hmac(base64(text)).digest('hex')),
    /^signature: the body's base64 was signed/,
  ],
  [
    'another spacing signed than sent',
    by(({ json }) => hmac(base64(json.replaceAll(',"', ', "').replaceAll('":', '": '))).digest('hex')),
    /^signature: another payload was signed than is sent: its JSON is spaced differently$/,
  ],
  [
    'a newline after the payload',
    by(({ payload }) => hmac(`${payload}\n`).digest('hex')),
    /^signature: a newline at the end of the payload/,
  ],
  [
    'a newline after the JSON',
    by(({ json }) => hmac(base64(`${json}\n`)).digest('hex')),
    /^signature: another payload .* ends with a newline/,
  ],
  [
    'SHA-256',
    by(({ payload }) => hmac(payload, SECRET, 'sha256').digest('hex')),
    /^signature: it is made with SHA-256: it must be SHA-512$/,
  ],
  ['SHA-1', by(({ payload }) => hmac(payload, SECRET, 'sha1').digest('hex')), /^signature: it is made with SHA-1/],
  [
    'the secret from hex',
    by(({ payload }) => hmac(payload, Buffer.from(SECRET, 'hex')).digest('hex')),
    /^signature: the secret was decoded from hex/,
  ],
  [
    'the secret from base64',
    by(({ payload }) => hmac(payload, Buffer.from(SECRET, 'base64')).digest('hex')),
    /^signature: the secret was decoded from base64/,
  ],
  [
    'a newline after the secret',
    by(({ payload }) => hmac(payload, `${SECRET}\n`).digest('hex')),
    /^signature: the secret has a newline/,
  ],
  [
    'the secret in quotes',
    by(({ payload }) => hmac(payload, `"${SECRET}"`).digest('hex')),
    /^signature: the secret has quotes/,
  ],
  [
    "another key's secret",
    by(({ payload }) => hmac(payload, OTHER_SECRET).digest('hex')),
    /^signature: the secret is that of birch's key/,
  ],
  [
    'the key for the secret',
    by(({ payload }) => hmac(payload, 'ACMEkey1').digest('hex')),
    /^signature: the key was used as the secret/,
  ],
  [
    'base64 for hex',
    by(({ payload }) => hmac(payload).digest('base64')),
    /^signature: it is in base64: it must be hex$/,
  ],
  ['base64 of the hex', by(({ signature }) => base64(signature)), /^signature: it is base64 of the hex/],
  ['upper case', by(({ signature }) => signature.toUpperCase()), /^signature: it is in upper case/],
  ['a 0x', by(({ signature }) => `0x${signature}`), /^signature: it has 0x in front/],
  [
    'the name of the hash',
    by(({ signature }) => `sha512=${signature}`),
    /^signature: it has the name of the hash in front/,
  ],
  ['a space after it', by(({ signature }) => `${signature} `), /^signature: it has spaces or a newline around it/],
  [
    'secret and text changed about',
    by(({ payload }) => hmac(SECRET, payload).digest('hex')),
    /^signature: secret and text have changed places/,
  ],
  [
    'a plain hash',
    by(({ payload }) =>
      createHash('sha512')
        .update(payload + SECRET)
        .digest('hex'),
    ),
    /^signature: it is a hash of text and secret/,
  ],
  [
    'a plain hash the other way',
    by(({ payload }) =>
      createHash('sha512')
        .update(SECRET + payload)
        .digest('hex'),
    ),
    /^signature: it is a hash of secret and text/,
  ],
  [
    'two mistakes at once',
    by(({ json }) => hmac(json, SECRET, 'sha256').digest('base64')),
    /^signature: the JSON was signed.*; it is made with SHA-256.*; it is in base64/,
  ],
  [
    'anything else',
    by(() => 'abc'),
    /^signature: it was not made with the secret of acme's key .* It must be 128 hex digits and is 3 characters/,
  ],
  [
    'another amount',
    request(({ text }) => ({ text: text.replace('10.50', '10.5') })),
    /^body: amount was signed as "10\.50" and is sent as "10\.5"$/,
  ],
  [
    'a field too few',
    request(() => ({ text: JSON.stringify({ ...BODY, chain: undefined }) })),
    /^body: chain was signed and is not sent$/,
  ],
  [
    'a field too many',
    request(() => ({ text: JSON.stringify({ ...BODY, fiat: 'inr' }) })),
    /^body: fiat is sent and was not signed$/,
  ],
  ['a body that is none', request(() => ({ text: '{' })), /^body: it cannot be read: it must be a JSON object/],
  [
    'a body of no kind',
    request(() => ({ headers: { 'content-type': 'text/plain' } })),
    /^body: content-type text\/plain must be application\/json/,
  ],
  ['a clock ahead', request(undefined, NOW + 95_000), /^clock: 95 s ahead; at most 30 s are allowed$/],
  ['a clock behind', request(undefined, NOW - 400_000), /^clock: 400 s behind; at most 300 s are allowed$/],
];

/** A correct signature over an invalid payload. */
function signed(payloadOf: (made: Made) => string): Made {
  return request((made) => {
    const payload = payloadOf(made);
    return { payload, signature: hmac(payload).digest('hex') };
  });
}
function by(sign: (made: Made) => string): Made {
  return request((made) => ({ signature: sign(made) }));
}
function without(name: string, more: Record<string, string> = {}): Made {
  const made = request();
  return {
    ...made,
    headers: { ...Object.fromEntries(Object.entries(made.headers).filter(([one]) => one !== name)), ...more },
  };
}

describe('a mistake is named, and the server refuses it', () => {
  for (const [what, made, says] of MISTAKES) {
    test(what, async () => {
      const wrong = await wrongOf(made);
      assert.ok(
        wrong.some((line) => says.test(line)),
        wrong.join('\n') || 'nothing was found',
      );
      if (what !== 'a body of no kind') assert.equal(await isTaken(made), false);
      const all = JSON.stringify(await look(made));
      for (const secret of [SECRET, OTHER_SECRET]) assert.ok(!all.includes(secret), 'the output contains a secret');
    });
  }
});

test('only faults are reported', async () => {
  assert.equal((await wrongOf(by(({ payload }) => hmac(payload, SECRET, 'sha256').digest('hex')))).length, 1);
  assert.equal((await wrongOf(request(undefined, NOW + 95_000))).length, 1);
  assert.equal((await wrongOf(request(({ text }) => ({ text: text.replace('10.50', '11') })))).length, 1);
});

describe('a captured curl command', () => {
  const { headers, text } = request();
  const [plain, other] = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  for (const [how, command] of [
    [
      'as a browser copies it',
      `curl 'http://x/y' \\\n  -X 'POST' \\\n  -H '${plain}' -H "${other}" --data-raw '${text}' --compressed`,
    ],
    [
      'in double quotes',
      `curl -XPOST http://x/y -H "${plain}" -H"${other}" -d "${text.replaceAll('"', '\\"')}" -o /dev/null`,
    ],
    [
      'in dollar quotes',
      `curl --request=POST http://x/y --header '${plain}' -H '${other}' --data-binary $'${text.replace('cus', '\\u0063us')}'`,
    ],
  ] as const) {
    test(how, () => {
      const read = readCurl(command);
      assert.equal(read.method, 'POST');
      assert.equal(read.body.toString(), text);
      assert.equal(read.headers['content-type'], 'application/json');
      assert.equal(read.headers.apikey, 'ACMEkey1');
    });
  }

  test('with a form, with parts, or without a body is read', () => {
    const form = readCurl(`curl http://x -d a=1 --data-urlencode 'b=x y' -F`.replace(' -F', ''));
    assert.deepEqual([form.method, form.body.toString()], ['POST', 'a=1&b=x%20y']);
    assert.match(readCurl(`curl http://x -F a=1`).headers['content-type'] ?? '', /^multipart\/form-data; boundary=/);
    assert.deepEqual([readCurl('curl http://x').method, readCurl('curl http://x').body.length], ['GET', 0]);
  });

  for (const [command, why] of [
    ['wget http://x', /must begin with curl/],
    [`curl 'http://x`, /never closed/],
    ['curl http://x -H', /-H has no value/],
    ['curl http://x -d @/nowhere/at/all', /no such file/],
  ] as const)
    test(`that cannot be read says why: ${command}`, () => assert.throws(() => readCurl(command), { message: why }));
});

describe('the command', () => {
  const given = { keys: () => KEYS, input: () => '', nowMs: NOW };
  const flags = ({ headers }: Made) =>
    Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);

  test('accepts parts, files and a time, and its exit code shows whether there is a fault', async () => {
    const made = request();
    const right = await doctor([...flags(made), '--body', made.text], given);
    assert.equal(right.code, 0, right.text);
    assert.match(right.text, /Nothing is wrong/);
    const late = await doctor([...flags(made), '--body', made.text], { ...given, nowMs: NOW + 3_600_000 });
    assert.equal(late.code, 1);
    assert.match(late.text, /3600 s behind[^]*--at says when it was sent/);
    const at = ['--at', new Date(NOW).toISOString()];
    assert.equal(
      (await doctor([...flags(made), '--body', made.text, ...at], { ...given, nowMs: NOW + 3_600_000 })).code,
      0,
    );

    const folder = freshFolder('doctor');
    const files = { headers: join(folder, 'headers'), body: join(folder, 'body'), secret: join(folder, 'secret') };
    writeFileSync(
      files.headers,
      Object.entries(made.headers)
        .map((pair) => pair.join(': '))
        .join('\r\n'),
    );
    writeFileSync(files.body, made.text);
    writeFileSync(files.secret, `${SECRET}\n`);
    const args = ['--headers', files.headers, '--body-file', files.body, '--secret-file', files.secret];
    const read = await doctor(args, { ...given, keys: () => [] });
    assert.equal(read.code, 0, read.text);
  });

  test('removes a secret in every place', async () => {
    const body = { ...BODY, note: SECRET };
    const made = request(() => ({ text: JSON.stringify(body) }));
    const { text, code } = await doctor([...flags(made), '--body', JSON.stringify({ ...BODY, amount: SECRET })], given);
    assert.equal(code, 1);
    assert.ok(!text.includes(SECRET), text);
  });

  test('run as a program: a curl command on its standard input, and 0, 1 or 2 at its end', () => {
    const folder = freshFolder('doctor');
    const partners = KEYS.map(({ name, apiKey, secrets: [apiSecret] }) => ({ name, apiKey, apiSecret }));
    writeFileSync(join(folder, 'sandbox.json'), JSON.stringify({ baseUrl: 'http://127.0.0.1:1', partners }));
    const run = (input: string) =>
      spawnSync(process.execPath, [fileURLToPath(new URL('../../src/apps/sandbox.ts', import.meta.url)), 'doctor'], {
        input,
        encoding: 'utf8',
        env: { ...process.env, DATA_DIR: folder },
      });
    const curl = ({ headers, text }: Made) =>
      `curl -X POST http://127.0.0.1:1/x ${Object.entries(headers)
        .map(([name, value]) => `-H '${name}: ${value}'`)
        .join(' ')} -d '${text}'`;
    const right = run(curl(request(undefined, Date.now())));
    assert.equal(right.status, 0, right.stdout + right.stderr);
    const wrong = run(curl(request(({ signature }) => ({ signature: signature.toUpperCase() }), Date.now())));
    assert.equal(wrong.status, 1);
    assert.match(wrong.stdout, /WRONG +signature +it is in upper case/);
    const none = run('not a request');
    assert.equal(none.status, 2);
    assert.match(none.stderr, /must begin with curl/);
  });
});

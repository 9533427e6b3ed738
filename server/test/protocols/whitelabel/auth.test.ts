import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { Refusal, type RefusalCode } from '../../../src/base/errors.ts';
import type { Credential } from '../../../src/partners/index.ts';
import { addressAllowed, authorize } from '../../../src/protocols/authorize.ts';
import { authenticate, CLOCK_WINDOW, readPayload, signatureMatches } from '../../../src/protocols/whitelabel/auth.ts';
import { hmac, type Signing, sign } from '../../support/client.ts';

const keys = { apiKey: 'key-1', apiSecret: 'sécret' };
const NOW = Date.UTC(2026, 0, 2);
const credentialOf = (secrets: string[]) =>
  ({ key: keys.apiKey, secrets, partner: {}, scopes: [], addresses: [] }) as unknown as Credential;

const authenticateWith = (headers: Record<string, string>, secrets = [keys.apiSecret]) =>
  authenticate(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])), {
    credential: async (key) => (key === keys.apiKey ? credentialOf(secrets) : undefined),
    nowMs: NOW,
    window: CLOCK_WINDOW,
  });

const headersFor = (signing: Signing = {}) => sign(keys, { a: '1' }, { timestamp: NOW, ...signing }).headers;
const refusedWith = async (given: Promise<unknown>, code: RefusalCode = 'unauthenticated') =>
  await assert.rejects(given, (error: unknown) => error instanceof Refusal && error.code === code);

describe('authentication', () => {
  test('either spelling of the headers is accepted, and a mixture of both', async () => {
    for (const spelling of ['plain', 'prefixed'] as const) {
      const caller = await authenticateWith(headersFor({ spelling }));
      assert.equal(caller.signedBody.get('a'), '1');
    }
    const { apiKey = '', payload = '', signature = '' } = headersFor();
    await authenticateWith({ apiKey, 'X-ONRAMP-PAYLOAD': payload, signature });
  });

  test('compact and spaced JSON, an object and its text, a time as number and as string are all accepted', async () => {
    for (const spacing of ['compact', 'spaced'] as const) {
      for (const signs of ['object', 'text'] as const) {
        for (const timestamp of [NOW, String(NOW), `${NOW}.25`]) {
          const caller = await authenticateWith(headersFor({ spacing, signs, timestamp }));
          assert.equal(caller.signedBody.get('a'), '1');
        }
      }
    }
  });

  test('while a secret is being rotated both are valid, and the answer is signed with the one that the caller used', async () => {
    const caller = await authenticateWith(headersFor(), ['the new one', keys.apiSecret]);
    assert.equal(caller.secret, keys.apiSecret);
    await refusedWith(authenticateWith(headersFor(), ['the new one']));
  });

  test('a request without one of the three headers, or with an unknown key, is refused', async () => {
    const headers = headersFor();
    for (const name of ['apiKey', 'payload', 'signature']) {
      await refusedWith(authenticateWith({ ...headers, [name]: '' }));
      const { [name]: _, ...rest } = headers;
      await refusedWith(authenticateWith(rest));
    }
    await refusedWith(authenticateWith({ ...headers, apiKey: 'another' }));
  });

  test('a signature over anything but the exact header text is refused', async () => {
    const { signature = '', payload = '', ...rest } = headersFor();
    for (const wrong of [
      signature.toUpperCase(),
      signature.slice(0, -1),
      `${signature}0`,
      ` ${signature}`,
      hmac(Buffer.from(payload, 'base64').toString(), keys.apiSecret),
      hmac(payload, 'another secret'),
      hmac(payload.replace(/=+$/, ''), keys.apiSecret).replace(/./, '0'),
      'é'.repeat(128),
    ]) {
      await refusedWith(authenticateWith({ ...rest, payload, signature: wrong }));
    }
  });

  test('a change of any one character of the payload is detected', () => {
    const payload = headersFor().payload as string;
    const signature = hmac(payload, keys.apiSecret);
    fc.assert(
      fc.property(fc.nat(payload.length - 1), fc.constantFrom(...'Aa0+/='), (at, char) => {
        const other = payload.slice(0, at) + char + payload.slice(at + 1);
        assert.equal(signatureMatches(other, signature, keys.apiSecret), other === payload);
      }),
    );
  });

  test('a time five minutes behind or thirty seconds ahead is accepted, and one second more is not', async () => {
    await authenticateWith(headersFor({ timestamp: NOW - 300_000 }));
    await authenticateWith(headersFor({ timestamp: NOW + 30_000 }));
    await refusedWith(authenticateWith(headersFor({ timestamp: NOW - 301_000 })));
    await refusedWith(authenticateWith(headersFor({ timestamp: NOW + 31_000 })), 'clock_ahead');
  });

  test('an empty body signed as an empty array, as PHP writes it, is an empty body', () => {
    for (const body of [[], '[]']) {
      const payload = Buffer.from(JSON.stringify({ body, timestamp: NOW })).toString('base64');
      assert.equal(readPayload(payload).body.size, 0);
    }
  });

  test('base64 in the plain and in the URL alphabet, padded or not, is accepted; the signature is over the text as sent', async () => {
    for (const filler of ['', '>', '>>', '>>>']) {
      const text = JSON.stringify({ body: { a: `${filler}???` }, timestamp: NOW });
      const padded = Buffer.from(text).toString('base64');
      const url = padded.replaceAll('+', '-').replaceAll('/', '_');
      for (const payload of [padded, padded.replace(/=+$/, ''), url, url.replace(/=+$/, '')]) {
        const headers = { apiKey: keys.apiKey, payload, signature: hmac(payload, keys.apiSecret) };
        assert.equal((await authenticateWith(headers)).signedBody.get('a'), `${filler}???`, payload);
        if (payload === padded) continue;
        await refusedWith(authenticateWith({ ...headers, signature: hmac(padded, keys.apiSecret) }));
      }
    }
  });

  test('a payload that is not base64 of such JSON is refused though its signature is right', async () => {
    const text = JSON.stringify({ body: {}, timestamp: NOW });
    const good = Buffer.from(text).toString('base64');
    const payloads = [
      'not base64',
      `${good.replace(/=+$/, '')}===`,
      `${good.replace(/=+$/, '')}${good.endsWith('==') ? '=' : '=='}`,
      good.replaceAll('A', '.'),
      `${good}\n`,
      Buffer.from('{"body":{},"timestamp"').toString('base64'),
      Buffer.from('[]').toString('base64'),
      Buffer.from('{}').toString('base64'),
      Buffer.from(JSON.stringify({ body: {}, timestamp: null })).toString('base64'),
      Buffer.from(JSON.stringify({ body: {}, timestamp: 'soon' })).toString('base64'),
      Buffer.from(JSON.stringify({ body: {}, timestamp: -NOW })).toString('base64'),
      Buffer.from(JSON.stringify({ body: {}, timestamp: Math.floor(NOW / 1000) })).toString('base64'),
      Buffer.from(JSON.stringify({ body: [1], timestamp: NOW })).toString('base64'),
      Buffer.from(JSON.stringify({ body: 'text', timestamp: NOW })).toString('base64'),
      Buffer.from([0xff, 0xfe]).toString('base64'),
    ];
    for (const payload of payloads) {
      await refusedWith(authenticateWith({ apiKey: keys.apiKey, payload, signature: hmac(payload, keys.apiSecret) }));
    }
  });

  test('an empty signed payload means an empty body', () => {
    for (const body of [undefined, null, '', {}]) {
      const payload = Buffer.from(JSON.stringify({ body, timestamp: NOW })).toString('base64');
      assert.equal(readPayload(payload).body.size, 0);
    }
  });
});

const credential = (over: object = {}) =>
  ({ ...credentialOf([]), partner: { suspended: false }, scopes: ['read'], ...over }) as unknown as Credential;

const code = (run: () => void): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
  return 'allowed';
};

describe('the rights of a key', () => {
  test('a key allows its scopes, and an admin key everything', () => {
    assert.equal(
      code(() => authorize(credential(), { address: '10.0.0.1', scope: 'read' })),
      'allowed',
    );
    assert.equal(
      code(() => authorize(credential(), { address: '10.0.0.1', scope: 'trade' })),
      'scope_missing',
    );
    assert.equal(
      code(() => authorize(credential({ scopes: ['admin'] }), { address: '10.0.0.1', scope: 'trade' })),
      'allowed',
    );
  });

  test('a suspended partner does nothing', () => {
    const suspended = credential({ partner: { suspended: true } });
    assert.equal(
      code(() => authorize(suspended, { address: '10.0.0.1', scope: 'read' })),
      'partner_suspended',
    );
  });

  test('a key bound to networks works from these only', () => {
    assert.ok(addressAllowed([], '203.0.113.9'));
    assert.ok(addressAllowed(['10.0.0.0/8'], '10.1.2.3'));
    assert.ok(addressAllowed(['10.0.0.0/8'], '::ffff:10.1.2.3'));
    assert.ok(addressAllowed(['2001:db8::/32'], '2001:db8::1'));
    assert.ok(addressAllowed(['192.0.2.7'], '192.0.2.7'));
    assert.ok(!addressAllowed(['10.0.0.0/8'], '11.1.2.3'));
    assert.ok(!addressAllowed(['10.0.0.0/8'], '2001:db8::1'));
    assert.ok(!addressAllowed(['10.0.0.0/8'], 'nonsense'));
  });
});

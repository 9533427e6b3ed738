/**
 * A provider of single sign-on that a test can make lie: its tokens say what the test says, signed or not. It has no login page: a
 * test makes the answer of a browser itself. The real one is in oidcprovider.ts.
 */
import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const CLIENT = { clientId: 'cloverleaf', clientSecret: 'a secret of this test alone' };

type Claims = Readonly<Record<string, unknown>>;
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** How a token is signed: as it should be, by a key that the provider does not publish, by the client's secret, or not at all. */
export type Signed = 'well' | 'by another key' | 'by the secret' | 'not at all';

function tokenOf(claims: Claims, how: Signed, key: KeyObject): string {
  const alg = how === 'by the secret' ? 'HS256' : how === 'not at all' ? 'none' : 'ES256';
  const body = `${part({ alg, kid: 'one', typ: 'JWT' })}.${part(claims)}`;
  if (how === 'not at all') return `${body}.`;
  if (how === 'by the secret')
    return `${body}.${createHmac('sha256', CLIENT.clientSecret).update(body).digest('base64url')}`;
  const by = how === 'well' ? key : newKey().privateKey;
  return `${body}.${sign('sha256', Buffer.from(body), { key: by, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

export async function lyingProvider() {
  const { privateKey, publicKey } = newKey();
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' };
  let issuer = '';
  const state = {
    /** Claims of the next token, over those that fit. */
    says: {} as Claims,
    signed: 'well' as Signed,
    /** Instead of tokens. */
    answers: undefined as { status: number; body: object } | undefined,
    /** What it does with any request. */
    mood: 'well' as 'well' | 'broken' | 'silent' | 'endless',
    /** In its description. */
    describes: {} as Claims,
    /** Requests by path. */
    asked: new Map<string, number>(),
    /** The body of the last request for tokens. */
    form: new URLSearchParams(),
  };
  const described = () => ({
    issuer,
    ...{ authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks` },
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    ...state.describes,
  });
  const server = createServer((request, reply) => {
    const path = request.url ?? '';
    state.asked.set(path, (state.asked.get(path) ?? 0) + 1);
    const send = (status: number, body: object) =>
      reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (state.mood === 'silent') return;
    if (state.mood === 'broken') return void reply.writeHead(502).end('<h1>Bad gateway</h1>');
    if (state.mood === 'endless')
      return void reply.writeHead(200, { 'content-type': 'application/json' }).end(`{"a":"${'x'.repeat(1_000_000)}"}`);
    if (path.startsWith('/.well-known')) return void send(200, described());
    if (path === '/jwks') return void send(200, { keys: [jwk] });
    void text(request).then((body) => {
      state.form = new URLSearchParams(body);
      if (state.answers !== undefined) return send(state.answers.status, state.answers.body);
      const now = Math.floor(Date.now() / 1_000);
      const claims = { iss: issuer, aud: CLIENT.clientId, sub: 'nobody', iat: now, exp: now + 300, ...state.says };
      send(200, {
        ...{ access_token: 'an access token', token_type: 'Bearer', expires_in: 300 },
        id_token: tokenOf(claims, state.signed, privateKey),
      });
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    state,
    /** Whether the last request for tokens proved the challenge of this login. */
    isProvedBy: (challenge: string | null): boolean =>
      createHash('sha256')
        .update(state.form.get('code_verifier') ?? '')
        .digest('base64url') === challenge,
    stop: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

export type LyingProvider = Awaited<ReturnType<typeof lyingProvider>>;

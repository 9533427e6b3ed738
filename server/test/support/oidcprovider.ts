/**
 * A real provider of single sign-on on this machine: oidc-provider, with a login page of this test. People there are known by the
 * name that they type, and say themselves whether they showed more than a password.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Context, type Grant, Provider } from 'oidc-provider';
import { CLIENT } from './oidc.ts';

const PAGE = `<!doctype html><html lang="en"><title>Login</title><h1>The provider</h1><form method="post">
  <label>Name <input name="name"></label>
  <label>With a security key <input type="checkbox" name="key"></label>
  <button name="does" value="login">Log in</button> <button name="does" value="cancel">Cancel</button></form></html>`;

export async function realProvider() {
  let provider: Provider | undefined;
  let isDown = false;
  const server = createServer((request, reply) => {
    if (isDown || provider === undefined) return void reply.destroy();
    if (request.url?.startsWith('/interaction/') === true) return void interact(provider, request, reply);
    provider.callback()(request, reply);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    issuer,
    settings: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT.clientId, OIDC_CLIENT_SECRET: CLIENT.clientSecret },
    /** It answers nobody before. @param redirectUri of the one client that it knows */
    opens(redirectUri: string): void {
      provider = providerFor(issuer, redirectUri);
    },
    goesDown: (down: boolean) => void (isDown = down),
    stop: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function interact(provider: Provider, request: IncomingMessage, reply: ServerResponse): Promise<void> {
  if (request.method === 'GET') return void reply.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  const form = new URLSearchParams(await text(request));
  await provider.interactionFinished(
    request,
    reply,
    form.get('does') === 'cancel'
      ? { error: 'access_denied', error_description: 'cancelled' }
      : { login: { accountId: form.get('name') ?? '', amr: form.has('key') ? ['pwd', 'hwk'] : ['pwd'] } },
  );
}

function providerFor(issuer: string, redirectUri: string): Provider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider: Provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, redirect_uris: [redirectUri] },
        ...{ grant_types: ['authorization_code'], response_types: ['code'] },
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    pkce: { required: () => true },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], amr: null, acr: null, auth_time: null },
    features: { devInteractions: { enabled: false }, claimsParameter: { enabled: true } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@bank.test`, email_verified: true }),
    }),
    // Whoever logs in has agreed.
    async loadExistingGrant({ oidc: { client, session } }: Context): Promise<Grant> {
      const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
      grant.addOIDCScope('openid email');
      grant.addOIDCClaims(['email', 'email_verified']);
      await grant.save();
      return grant;
    },
  });
  return provider;
}

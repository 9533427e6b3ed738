/**
 * Single sign-on by OpenID Connect: the client of one provider (https://openid.net/specs/openid-connect-core-1_0.html). Code flow
 * with PKCE (S256), state and nonce; issuer, audience, times and signature of the ID token are checked, by openid-client. The user
 * info endpoint is not asked: what counts is in the signed token.
 *
 * The attempt of one browser is a secret of 256 random bits. State, nonce and PKCE verifier are derived from it, so an answer counts
 * only in the browser that began, and nothing of it needs to be stored. That it counts once is the caller's part.
 *
 * Every request to the provider goes through http.ts, with its deadline and size limit. Tokens are dropped once their claims are
 * read: nothing is asked of the provider later.
 *
 * Not here: who the account is to us, and what a login by it is worth (operators/identities.ts).
 */
import { createHmac } from 'node:crypto';
import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import { Refusal, Unavailable } from './errors.ts';
import { ask, type Http, NoAnswer } from './http.ts';

/** Loaded by the first login that needs it. */
const library = () => import('openid-client');

/** What the provider is asked at most waits so long: three requests are under the browser's own deadline. */
const DEADLINE_MS = 4_000;
const LONGEST_BYTES = 512 * 1024;
/** Endpoints and keys may change: the provider's description is read again after this. */
const DISCOVERED_FOR_MS = 10 * 60_000;
/** A token of the future by more than this is no token of this moment. */
const TOLERANCE_S = 30;
/** Claims that the ID token should have; some providers leave out what is not asked for. */
const IN_TOKEN = JSON.stringify({
  id_token: { acr: null, amr: null, auth_time: null, email: null, email_verified: null },
});

export interface OidcSettings {
  /** Exactly as the provider spells it. */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string | undefined;
  /** A test passes its own. */
  readonly http?: Http;
}

/** What an account's token says. */
export interface Claims {
  readonly subject: string;
  /** In small letters; undefined unless the provider says that it has verified it. */
  readonly email: string | undefined;
  /** How the person proved who they are: `acr=…` and `amr=…`. */
  readonly proofs: readonly string[];
  /** How long ago the person did so; undefined where the token does not say. */
  readonly provedMsAgo: number | undefined;
}

export interface Attempt {
  /** Of this browser and this login. */
  readonly secret: string;
  readonly redirectUri: string;
  /** How long ago the person may have proved who they are; the provider asks again if it is longer. */
  readonly maxAgeS?: number | undefined;
}

export type OidcClient = ReturnType<typeof openOidc>;

const derived = (secret: string, what: 'state' | 'nonce' | 'verifier'): string =>
  createHmac('sha256', secret).update(what).digest('base64url');

export function openOidc({ issuer, clientId, clientSecret, http = ask }: OidcSettings) {
  let found: { at: number; config: Promise<Configuration> } | undefined;

  /** One request for all who wait for it; a failure is not kept. @throws Unavailable */
  async function configuration(): Promise<Configuration> {
    const now = performance.now();
    if (found === undefined || now - found.at > DISCOVERED_FOR_MS) {
      const config = discover({ issuer, clientId, clientSecret, http });
      const asked = { at: now, config };
      found = asked;
      config.catch(() => void (found === asked && (found = undefined)));
    }
    return await found.config;
  }

  return {
    issuer,

    /**
     * Where the browser goes.
     *
     * @param wanted.proofs  as in `Claims`
     * @param wanted.isAgain the provider asks the person, although it remembers them
     * @throws Unavailable
     */
    async begin(attempt: Attempt, wanted: { proofs: readonly string[]; isAgain?: boolean }): Promise<string> {
      const config = await configuration();
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library();
      const classes = wanted.proofs.flatMap((one) => (one.startsWith('acr=') ? [one.slice('acr='.length)] : []));
      const asked = {
        redirect_uri: attempt.redirectUri,
        scope: 'openid email',
        state: derived(attempt.secret, 'state'),
        nonce: derived(attempt.secret, 'nonce'),
        code_challenge: await calculatePKCECodeChallenge(derived(attempt.secret, 'verifier')),
        code_challenge_method: 'S256',
        ...(classes.length === 0 ? {} : { acr_values: classes.join(' ') }),
        ...(attempt.maxAgeS === undefined ? {} : { max_age: String(attempt.maxAgeS) }),
        ...(wanted.isAgain === true ? { prompt: 'login' } : {}),
        // A provider that keeps to the letter leaves these to its user info endpoint.
        ...(config.serverMetadata().claims_parameter_supported === true ? { claims: IN_TOKEN } : {}),
      };
      const url = orUnavailable('its description has no usable login page', () => buildAuthorizationUrl(config, asked));
      // The provider names this address, and a browser opens it.
      if (url.protocol !== 'https:' && !isPlain(issuer, url)) throw unavailable('its login page has no https address');
      return url.href;
    },

    /**
     * Exchanges the answer that the browser came back with.
     *
     * @param answer the query of the address that it came back to
     * @throws Refusal 'sso_declined' where the provider declined, 'sso_unproved' where anything does not fit, each with `why` for the
     *   log; Unavailable
     */
    async finish(attempt: Attempt, answer: string): Promise<Claims> {
      const config = await configuration();
      const { authorizationCodeGrant, AuthorizationResponseError } = await library();
      const url = new URL(attempt.redirectUri);
      url.search = answer;
      try {
        const tokens = await authorizationCodeGrant(config, url, {
          expectedState: derived(attempt.secret, 'state'),
          expectedNonce: derived(attempt.secret, 'nonce'),
          pkceCodeVerifier: derived(attempt.secret, 'verifier'),
          idTokenExpected: true,
          ...(attempt.maxAgeS === undefined ? {} : { maxAge: attempt.maxAgeS }),
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new Refusal('sso_unproved');
        return claimsOf(claims);
      } catch (error) {
        if (error instanceof Refusal) throw error;
        const cause = unavailableIn(error);
        if (cause !== undefined) throw cause;
        // The library's own errors quote the answer and the token, so they end here.
        const isDeclined = error instanceof AuthorizationResponseError;
        throw new Refusal(isDeclined ? 'sso_declined' : 'sso_unproved', { why: wordOf(error) });
      }
    },
  };
}

async function discover({ issuer, clientId, clientSecret, http = ask }: OidcSettings): Promise<Configuration> {
  const { allowInsecureRequests, ClientSecretBasic, ClientSecretPost, clockTolerance, customFetch, ...rest } =
    await library();
  const { discovery, enableNonRepudiationChecks, None } = rest;
  const secret = clientSecret ?? '';
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  // Basic is what a provider has that names none.
  const authenticate: typeof basic = (server, ...more) =>
    ((server.token_endpoint_auth_methods_supported ?? []).includes('client_secret_post') ? post : basic)(
      server,
      ...more,
    );
  try {
    const config = await discovery(
      new URL(issuer),
      clientId,
      { [clockTolerance]: TOLERANCE_S },
      clientSecret === undefined ? None() : authenticate,
      {
        [customFetch]: fetchBy(http),
        // Settings allow http on this machine alone.
        execute: [enableNonRepudiationChecks, ...(isPlain(issuer) ? [allowInsecureRequests] : [])],
      },
    );
    requireSame(config.serverMetadata(), issuer);
    return config;
  } catch (error) {
    throw unavailableIn(error) ?? unavailable('its description cannot be used');
  }
}

/** The library makes exceptions for some hosts, whose tokens may then have another issuer. */
function requireSame(server: ServerMetadata, issuer: string): void {
  if (new URL(server.issuer).href !== new URL(issuer).href) throw unavailable('it describes another issuer');
}

const claimsOf = (claims: Readonly<Record<string, unknown>> & { sub: string }): Claims => {
  const { sub: subject, acr, amr, email, email_verified: isVerified, auth_time: provedAt } = claims;
  const methods = Array.isArray(amr) ? amr : [];
  const ago = typeof provedAt === 'number' ? Date.now() - provedAt * 1_000 : undefined;
  return {
    subject,
    email: typeof email === 'string' && isVerified === true ? email.toLowerCase() : undefined,
    proofs: [
      ...(typeof acr === 'string' ? [`acr=${acr}`] : []),
      ...methods.flatMap((one) => (typeof one === 'string' ? [`amr=${one}`] : [])),
    ],
    provedMsAgo: ago === undefined || ago < -TOLERANCE_S * 1_000 ? undefined : Math.max(0, ago),
  };
};

/** What the library gets instead of `fetch`. @throws Unavailable */
const fetchBy =
  (http: Http): CustomFetch =>
  async (url, { method, headers, body }) => {
    try {
      const answer = await http({
        ...{ url, headers, longestBytes: LONGEST_BYTES, deadline: AbortSignal.timeout(DEADLINE_MS) },
        method: method === 'POST' ? 'POST' : 'GET',
        ...(body === undefined || body === null ? {} : { body: String(body) }),
      });
      if (answer.status >= 500) throw unavailable(`it answered ${answer.status}`);
      const type = answer.headers['content-type'];
      return new Response(isBodiless(answer.status) ? null : new Uint8Array(answer.body), {
        status: answer.status,
        headers: type === undefined ? {} : { 'content-type': type },
      });
    } catch (error) {
      throw error instanceof NoAnswer ? unavailable(error.message) : error;
    }
  };

/** What went wrong, for a log: the word of the protocol, or the library's code. */
function wordOf(error: unknown): string {
  const { error: said, code } = error as { error?: unknown; code?: unknown };
  const word = String(said ?? code ?? 'unknown');
  return /^\w{1,60}$/.test(word) ? word : 'unknown';
}

const isBodiless = (status: number): boolean => [204, 205, 304].includes(status);
/** Without TLS throughout: settings allow that on this machine alone. */
const isPlain = (issuer: string, url?: URL): boolean =>
  issuer.startsWith('http://') && (url === undefined || url.protocol === 'http:');
const unavailable = (why: string): Unavailable => new Unavailable('single sign-on', why);

function orUnavailable<T>(why: string, run: () => T): T {
  try {
    return run();
  } catch {
    throw unavailable(why);
  }
}

/** The library wraps what its `fetch` throws. */
function unavailableIn(error: unknown): Unavailable | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof Unavailable) return one;
  return undefined;
}

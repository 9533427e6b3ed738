/**
 * Single sign-on by OpenID Connect: the client of one provider (https://openid.net/specs/openid-connect-core-1_0.html). It uses
 * the code flow with PKCE (S256), state and nonce; openid-client checks issuer, audience, times and signature of the ID token.
 * The user info endpoint is not used: only claims in the signed token count.
 *
 * A login attempt in one browser has a secret of 256 random bits. State, nonce and PKCE verifier are derived from it, so an
 * answer is valid only in the browser that began, and nothing needs to be stored. The caller ensures that an answer is used only
 * once.
 *
 * Every request to the provider goes through http.ts, with its deadline and size limit. Tokens are dropped once their claims are
 * read; no later request needs them.
 *
 * Not here: which operator an account belongs to, and what a login with it allows (operators/identities.ts).
 */
import { createHmac } from 'node:crypto';
import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import { defined } from './defined.ts';
import { Refusal, Unavailable } from './errors.ts';
import { ask, type Http, NoAnswer } from './http.ts';

/** Loaded by the first login that needs it. */
const library = () => import('openid-client');

/** Deadline of each request to the provider. Three requests in sequence stay below the browser's own deadline. */
const DEADLINE_MS = 4_000;
const LONGEST_BYTES = 512 * 1024;
/** How long the provider's discovery document is used: endpoints and keys may change. */
const DISCOVERED_FOR_MS = 10 * 60_000;
/** Tolerated difference between the provider's clock and ours when a token's times are checked. */
const TOLERANCE_S = 30;
/** Claims that the ID token should have. Some providers omit claims that are not requested. */
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

/** The claims of an account's ID token, as far as they are used. */
export interface Claims {
  readonly subject: string;
  /** In lower case; undefined unless the provider states that it has verified the address. */
  readonly email: string | undefined;
  /** How the person proved who they are: `acr=…` and `amr=…`. */
  readonly proofs: readonly string[];
  /** Milliseconds since the person did so; undefined if the token does not say. */
  readonly provedMsAgo: number | undefined;
}

export interface Attempt {
  /** Secret of this browser and this login. */
  readonly secret: string;
  readonly redirectUri: string;
  /** Maximum time since the person proved who they are, in seconds; after a longer time the provider asks again. */
  readonly maxAgeS?: number | undefined;
}

export type OidcClient = ReturnType<typeof openOidc>;

const derived = (secret: string, what: 'state' | 'nonce' | 'verifier'): string =>
  createHmac('sha256', secret).update(what).digest('base64url');

export function openOidc({ issuer, clientId, clientSecret, http = ask }: OidcSettings) {
  let found: { at: number; config: Promise<Configuration> } | undefined;

  /** Callers that wait at the same time share one request; a failure is not cached. @throws Unavailable */
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
     * The address to which the browser is sent.
     *
     * @param wanted.proofs  as in `Claims`
     * @param wanted.isAgain true if the provider must ask the person again, even if it remembers them
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
        // A provider that follows the specification strictly returns these claims only at its user info endpoint unless they are
        // requested.
        ...(config.serverMetadata().claims_parameter_supported === true ? { claims: IN_TOKEN } : {}),
      };
      const url = orUnavailable('its description has no usable login page', () => buildAuthorizationUrl(config, asked));
      // The provider chooses this address, and a browser opens it.
      if (url.protocol !== 'https:' && !isPlain(issuer, url)) throw unavailable('its login page has no https address');
      return url.href;
    },

    /**
     * Exchanges the answer with which the browser came back.
     *
     * @param answer the query of the address to which the browser came back
     * @throws Refusal 'sso_declined' if the provider declined, 'sso_unproved' if a check failed, each with `why` for the log;
     *   Unavailable
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
          ...defined({ maxAge: attempt.maxAgeS }),
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new Refusal('sso_unproved');
        return claimsOf(claims);
      } catch (error) {
        if (error instanceof Refusal) throw error;
        const cause = unavailableIn(error);
        if (cause !== undefined) throw cause;
        // The library's own errors contain the answer and the token, so they are not passed on.
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
  // A provider that lists no methods supports Basic.
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
        // Settings allow http on this machine only.
        execute: [enableNonRepudiationChecks, ...(isPlain(issuer) ? [allowInsecureRequests] : [])],
      },
    );
    requireSame(config.serverMetadata(), issuer);
    return config;
  } catch (error) {
    throw unavailableIn(error) ?? unavailable('its description cannot be used');
  }
}

/** The library makes exceptions for some hosts, whose tokens may then have another issuer. We accept none. */
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

/** The library's replacement for `fetch`. @throws Unavailable */
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

/** What went wrong, for the log: the protocol's error code or the library's. */
function wordOf(error: unknown): string {
  const { error: said, code } = error as { error?: unknown; code?: unknown };
  const word = String(said ?? code ?? 'unknown');
  return /^\w{1,60}$/.test(word) ? word : 'unknown';
}

const isBodiless = (status: number): boolean => [204, 205, 304].includes(status);
/** Whether issuer and address both use plain http: settings allow that on this machine only. */
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

/** Finds our error: the library wraps what its `fetch` throws. */
function unavailableIn(error: unknown): Unavailable | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof Unavailable) return one;
  return undefined;
}

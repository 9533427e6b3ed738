/**
 * Single sign-on in the browser: to the provider, and back to /console/sso with its answer in the query. The server keeps no place to
 * go on to and the answer names none: the page that the operator came from stays in this tab.
 */
import { type PublicKeyCredentialRequestOptionsJSON, startAuthentication } from '@simplewebauthn/browser';
import { pathWith, type Session, sendOnce } from './api.ts';
import { request } from './wire.ts';

const HOME = '/console/';
export const ANSWER_PAGE = '/console/sso';
const CAME_FROM = 'console.sso.from';

export interface ProviderOf {
  /** Its name; null where there is none. */
  readonly provider: string | null;
  /** Whether a login there counts for what takes a fresh login. */
  readonly stepUp: boolean;
}
export const readProvider = async (): Promise<ProviderOf> =>
  (await request('GET', pathWith('/session/sso'))) as ProviderOf;

/** Leaves the page. @param isAgain the provider asks for the login, although it remembers the person */
export async function goToProvider(isAgain = false): Promise<void> {
  const { url } = await sendOnce<{ url: string }>('/session/sso', isAgain ? { again: true } : {});
  const { pathname, search } = window.location;
  if (pathname !== ANSWER_PAGE) window.sessionStorage.setItem(CAME_FROM, `${pathname}${search}`);
  window.location.assign(url);
}

/** The answer in the address, which is removed from it at once. Undefined where there is none. */
function takeAnswer(): string | undefined {
  if (window.location.pathname !== ANSWER_PAGE) return undefined;
  const answer = window.location.search.slice(1);
  window.history.replaceState(null, '', ANSWER_PAGE);
  return answer === '' ? undefined : answer;
}
/** Read before the router sees the address. */
const answer = takeAnswer();

/** Undefined once the session has begun; otherwise what a passkey is asked with. */
export type StillAsked = PublicKeyCredentialRequestOptionsJSON | undefined;

async function exchange(): Promise<StillAsked> {
  if (answer === undefined)
    throw new Error('This address has no answer of a provider. Begin again on the sign-in page.');
  const { options } = await sendOnce<{ options: PublicKeyCredentialRequestOptionsJSON | null }>('/session/sso/answer', {
    answer,
  });
  return options ?? undefined;
}

let exchanged: Promise<StillAsked> | undefined;
/** Sends the answer, once, however often the page is drawn. */
export const exchangeAnswer = (): Promise<StillAsked> => (exchanged ??= exchange());

export async function provePasskey(optionsJSON: PublicKeyCredentialRequestOptionsJSON): Promise<void> {
  const credential = await startAuthentication({ optionsJSON });
  await sendOnce<Session>('/session/sso/passkey', { credential });
}

/** Back to the page of this console that the operator came from. */
export function goOn(): void {
  const from = new URL(window.sessionStorage.getItem(CAME_FROM) ?? HOME, window.location.origin);
  window.sessionStorage.removeItem(CAME_FROM);
  const isOurs = from.origin === window.location.origin && from.pathname.startsWith('/console');
  window.location.replace(isOurs && from.pathname !== ANSWER_PAGE ? from.href : HOME);
}

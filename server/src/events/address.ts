/**
 * Which addresses the server may call for a partner. An outsider chose them, so none is trusted.
 *
 * Checked twice. When a URL is set, its form is checked: scheme, host and port, no login. When it is called, the addresses of its
 * name are checked: every one must be allowed, and the connection goes to exactly the addresses that were checked. So a name that
 * resolves differently the second time (DNS rebinding) gains nothing.
 *
 * Names are resolved by querying the name servers directly (c-ares) and not through the system's resolver, which takes one of
 * the four threads that file and crypto work need too; a slow name server would block them. /etc/hosts is therefore not read.
 */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Refusal } from '../base/errors.ts';

export interface EgressPolicy {
  /** Allows plain http, port 80 and ports from 1024 on. */
  readonly plain: boolean;
  /** Whether connecting to this address is allowed. */
  allows(address: string): boolean;
  /** Addresses of a name. Throws if there are none. */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** The sandbox also allows this machine and private networks. */
export const egressPolicyFor = (profile: 'sandbox' | 'production'): EgressPolicy =>
  profile === 'production'
    ? { plain: false, allows: isPublic, resolve: lookUp }
    : {
        plain: true,
        allows: (address) => isPublic(address) || NEAR.has(rangeOf(address)),
        resolve: async (host, signal) =>
          host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : await lookUp(host, signal),
      };

const MAX_URL_CHARS = 1_000;
const NEAR: ReadonlySet<string> = new Set(['loopback', 'private', 'uniqueLocal']);
/** Ports of https. The sandbox also allows port 80 and ports from 1024 on. */
const PORTS = new Set(['', '443', '8443']);
/** Names that only have a meaning inside a network. */
const INNER =
  /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|private|onion|arpa|test|invalid|example)$/;

/**
 * The normalised URL, as stored.
 *
 * @throws Refusal 'malformed_field' with the reason
 */
export function readUrl(egress: Pick<EgressPolicy, 'plain' | 'allows'>, field: string, text: string): string {
  const refuse = (why: string): never => {
    throw new Refusal('malformed_field', { fields: { [field]: why } });
  };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || text.length > MAX_URL_CHARS || url.href.length > MAX_URL_CHARS) {
    return refuse(`must be a web address of at most ${MAX_URL_CHARS} characters`);
  }
  if (url.protocol !== 'https:' && !(egress.plain && url.protocol === 'http:')) {
    return refuse(egress.plain ? 'must be an https or http address' : 'must be an https address');
  }
  if (url.username !== '' || url.password !== '') return refuse('must not have a login in it');
  if (url.hash !== '') return refuse('must not have a fragment');
  const host = hostOf(url);
  if (isIP(host) !== 0) {
    if (!egress.plain) return refuse('must have a name and not a number as its host');
    if (!egress.allows(host)) return refuse('must not be an address of that kind');
  } else if (!egress.plain && (!/^([a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{1,62}$/.test(host) || INNER.test(host))) {
    return refuse('must have a host that can be reached from the internet');
  }
  if (!egress.plain && !PORTS.has(url.port)) return refuse('must be on port 443 or 8443');
  if (egress.plain && url.port !== '' && Number(url.port) < 1024 && !PORTS.has(url.port) && url.port !== '80') {
    return refuse('must be on port 80, 443 or one from 1024 on');
  }
  return url.href;
}

/** Without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/** Thrown when a name resolves to an address that may not be called. */
export class Forbidden extends Error {}

/**
 * Resolves a host and checks every address.
 *
 * @throws Forbidden if any of them may not be called: a forbidden address among allowed ones is an attack
 */
export async function addressesOf(egress: EgressPolicy, host: string, signal: AbortSignal): Promise<readonly string[]> {
  const addresses = isIP(host) === 0 ? await egress.resolve(host, signal) : [host];
  if (addresses.length === 0 || !addresses.every((address) => egress.allows(address))) throw new Forbidden();
  return addresses;
}

/** IPv4: public ranges. IPv6: only blocks allocated to the internet, without those that map to IPv4. */
export function isPublic(address: string): boolean {
  if (rangeOf(address) !== 'unicast') return false;
  const parsed = ipaddr.parse(address);
  return parsed.kind() === 'ipv4' || (parsed as ipaddr.IPv6).match(ipaddr.IPv6.parse('2000::'), 3);
}

function rangeOf(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.parse(address).range() : 'none';
}

async function lookUp(host: string, signal: AbortSignal): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = [
      ...(four.status === 'fulfilled' ? four.value : []),
      ...(six.status === 'fulfilled' ? six.value : []),
    ];
    if (addresses.length === 0 && four.status === 'rejected') throw four.reason;
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

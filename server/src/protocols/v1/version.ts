/**
 * Versions of this API: a date each. A key has the version that was the newest when it was first used, until it is changed; a request
 * may name another in `Cloverleaf-Version`. A change that a program could notice is a new version, with what turns its replies into
 * those of the version before; what is added (a field of a reply, an endpoint, a reason) is none.
 */
import { Refusal } from '../../base/errors.ts';

export const VERSIONS = ['2026-11-23'] as const;
export type Version = (typeof VERSIONS)[number];
export const NEWEST: Version = '2026-11-23';

/**
 * @param asked  what the request names, if it does
 * @param pinned what the key has, if it does
 * @throws Refusal 'unknown_version'
 */
export function versionFor(asked: string | undefined, pinned: string | null): Version {
  const wanted = asked ?? pinned ?? NEWEST;
  const known = VERSIONS.find((one) => one === wanted);
  if (known === undefined) throw new Refusal('unknown_version', { supported: VERSIONS });
  return known;
}

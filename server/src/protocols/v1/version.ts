/**
 * Versions of this API, each a date. A key is pinned to the version that was newest when the key was first used, until it is
 * changed; a request may name another version in `Cloverleaf-Version`. A change that a program could notice makes a new
 * version, with a conversion of its replies to the previous version; an addition (a field of a reply, an endpoint, a reason)
 * does not.
 */
import { Refusal } from '../../base/errors.ts';

export const VERSIONS = ['2026-11-23'] as const;
export type Version = (typeof VERSIONS)[number];
export const NEWEST: Version = '2026-11-23';

/**
 * @param asked  the version that the request names, if any
 * @param pinned the version of the key, if any
 * @throws Refusal 'unknown_version'
 */
export function versionFor(asked: string | undefined, pinned: string | null): Version {
  const wanted = asked ?? pinned ?? NEWEST;
  const known = VERSIONS.find((one) => one === wanted);
  if (known === undefined) throw new Refusal('unknown_version', { supported: VERSIONS });
  return known;
}

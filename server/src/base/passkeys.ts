/**
 * Passkeys (WebAuthn): the options sent to a browser, and the checks of an authenticator's answer. Used for operators and
 * partners' teams alike.
 *
 * User verification is required. No attestation is requested, and an attestation with certificates is declined, because checking
 * it would call other servers. signin.ts stores each challenge as a hash and accepts it once.
 */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

/** Loaded by the first login, because it is a tenth of all code that a program here loads at start. */
const webauthn = () => import('@simplewebauthn/server');

/** EdDSA, ES256, RS256: every authenticator supports one of them. */
const ALGORITHMS = [-8, -7, -257];

/** The site that passkeys belong to. */
export interface Site {
  readonly origin: string;
  readonly host: string;
}

export interface NewPasskey {
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  readonly counter: bigint;
}

/** Input of `navigator.credentials.create`. @param person.handle the person's id that the authenticator stores */
export async function registrationOptions(
  person: { name: string; handle: Buffer },
  site: Site,
): Promise<{ challenge: string }> {
  return await (await webauthn()).generateRegistrationOptions({
    rpName: 'Cloverleaf',
    rpID: site.host,
    userName: person.name,
    userID: new Uint8Array(person.handle),
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** Input of `navigator.credentials.get`: any passkey of this site. */
export const authenticationOptions = async (site: Site): Promise<{ challenge: string }> =>
  await (await webauthn()).generateAuthenticationOptions({ rpID: site.host, userVerification: 'required' });

/** The challenge that an answer claims to have signed. This proves nothing yet. */
export function challengeIn(credential: unknown): string | undefined {
  const { response } = credential as { response?: { clientDataJSON?: unknown } };
  try {
    const { challenge } = JSON.parse(Buffer.from(String(response?.clientDataJSON), 'base64url').toString('utf8')) as {
      challenge?: unknown;
    };
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/** Id of the passkey that the answer names; empty or garbage if it names none. */
export const credentialIdIn = (credential: unknown): Buffer =>
  Buffer.from(String((credential as { id?: unknown }).id), 'base64url');

/** Checking certificates would need lists from other servers, and none were requested. */
async function hasNoCertificates(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = decoded.get('fmt');
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
}

/** The library throws for every error in a browser's answer. */
const orUndefined = async <T>(check: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await check();
  } catch {
    return undefined;
  }
};

/** The passkey that an authenticator created for this challenge and site; undefined if any part of it is invalid. */
export const checkRegistration = (
  credential: unknown,
  { challenge, site }: { challenge: string; site: Site },
): Promise<NewPasskey | undefined> =>
  orUndefined(async () => {
    const response = credential as RegistrationResponseJSON;
    if (!(await hasNoCertificates(response.response.attestationObject))) return undefined;
    const { verified, registrationInfo } = await (await webauthn()).verifyRegistrationResponse({
      ...{ response, expectedChallenge: challenge, expectedOrigin: site.origin, expectedRPID: site.host },
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return undefined;
    const { id, publicKey, counter } = registrationInfo.credential;
    return {
      credentialId: Buffer.from(id, 'base64url'),
      publicKey: Buffer.from(publicKey),
      counter: BigInt(counter),
    };
  });

/** The new signature counter of a passkey that signed this challenge for this site; undefined if any check fails. */
export const checkAuthentication = (
  credential: unknown,
  asked: { challenge: string; site: Site; handle: Buffer; known: NewPasskey },
): Promise<bigint | undefined> =>
  orUndefined(async () => {
    const { challenge, site, handle, known } = asked;
    const response = credential as AuthenticationResponseJSON;
    const { userHandle } = response.response;
    if (userHandle !== undefined && userHandle !== handle.toString('base64url')) return undefined;
    const { verified, authenticationInfo } = await (await webauthn()).verifyAuthenticationResponse({
      ...{ response, expectedChallenge: challenge, expectedOrigin: site.origin, expectedRPID: site.host },
      requireUserVerification: true,
      credential: {
        id: known.credentialId.toString('base64url'),
        publicKey: new Uint8Array(known.publicKey),
        counter: Number(known.counter),
      },
    });
    return verified ? BigInt(authenticationInfo.newCounter) : undefined;
  });

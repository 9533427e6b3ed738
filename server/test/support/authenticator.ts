/** An authenticator in software: an ES256 key that answers as a browser does after the user touched the device. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

interface Asked {
  readonly origin: string;
  readonly host: string;
  readonly options: { readonly challenge: string; readonly user?: { readonly id: string } };
}

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();
const uint = (value: number, bytes: number): Buffer => {
  const made = Buffer.alloc(bytes);
  made.writeUIntBE(value, 0, bytes);
  return made;
};

/** @param isVerified whether the user was verified by a fingerprint or a PIN */
export function authenticator({ isVerified = true }: { isVerified?: boolean } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  let counter = 0;
  let user = '';
  const clientData = (type: string, { origin, options }: Asked): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge: options.challenge, origin, crossOrigin: false }));
  const dataOf = (host: string, flags: number, more: Buffer = Buffer.alloc(0)): Buffer =>
    Buffer.concat([...[sha256(host), uint(flags | PRESENT | (isVerified ? VERIFIED : 0), 1), uint(counter, 4)], more]);
  const wrapped = (response: object) => ({
    ...{ id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' },
    clientExtensionResults: {},
    response,
  });
  return {
    setCounter: (value: number) => void (counter = value),
    enrol(asked: Asked) {
      user = asked.options.user?.id ?? '';
      const key = new Map<number, number | Uint8Array>([
        ...([
          [1, 2],
          [3, -7],
          [-1, 1],
        ] as const),
        [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
        [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
      ]);
      const attested = Buffer.concat([Buffer.alloc(16), uint(id.length, 2), id, isoCBOR.encode(key)]);
      const object = new Map<string, string | Map<string, string> | Uint8Array>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', new Uint8Array(dataOf(asked.host, HAS_CREDENTIAL, attested))],
      ]);
      return wrapped({
        clientDataJSON: clientData('webauthn.create', asked).toString('base64url'),
        attestationObject: Buffer.from(isoCBOR.encode(object)).toString('base64url'),
      });
    },
    login(asked: Asked, as: string = user) {
      counter += 1;
      const data = dataOf(asked.host, 0);
      const client = clientData('webauthn.get', asked);
      return wrapped({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, sha256(client)]), privateKey).toString('base64url'),
        userHandle: as,
      });
    },
  };
}

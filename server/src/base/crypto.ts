/**
 * Crypto: encrypts customer data, and finds it again without decrypting it.
 *
 * There is one master key. Each purpose derives its own key from it (HKDF), so a leaked key of one purpose decrypts nothing else.
 * - `encrypt` is AES-256-GCM. The context (table, column and row) is authenticated with it, so an encrypted value that is copied
 *   into another row does not decrypt there.
 * - `encryptSame` gives equal bytes for equal text and context, for values that are unique or looked up and must be readable.
 * - `index` is a keyed hash for exact look-up (blind index): equal inputs give equal bytes, and without the key a dump cannot
 *   be searched by guessing.
 *
 * During a rotation of the master key (src/rotation) a vault also has the old key: it decrypts values of both keys, encrypts with
 * the new one only, and looks up by both.
 *
 * Layout of an encrypted value: version (1 byte) | nonce (12) | tag (16) | ciphertext.
 */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { assert } from './errors.ts';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Vault {
  /** @param context table, column and row, for example `customers.phone:1T7c…_1` */
  encrypt(text: string, context: string): Buffer;
  /**
   * Equal bytes for equal text and context, because the nonce is a keyed hash of both. For values that are looked up by equality.
   */
  encryptSame(text: string, context: string): Buffer;
  /** @throws if the bytes, the key or the context do not match */
  decrypt(encrypted: Buffer, context: string): string;
  /** 32 bytes, equal for equal text and purpose. */
  index(text: string, purpose: string): Buffer;
  /** All values that `encryptSame` gives for a text: with the present key first, then with an old one. For look-ups. */
  sames(text: string, context: string): Buffer[];
  /** All values that `index` gives for a text: with the present key first, then with an old one. For look-ups. */
  indexes(text: string, purpose: string): Buffer[];
  /** A separate key or password for one purpose, as hex. */
  derive(purpose: string): string;
  /** Identifies the master key without revealing anything about it. */
  readonly keyName: string;
  /** During a rotation: a vault with the old master key alone, and one with the present key alone. */
  readonly old?: Vault;
  readonly current?: Vault;
}

/** Encrypts bytes with a key of their own, which the caller stores encrypted. @param key 32 bytes */
export function encryptBytes(key: Buffer, bytes: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body]);
}

/** @throws if the bytes, the key or the context do not match */
export function decryptBytes(key: Buffer, encrypted: Buffer, context: string): Buffer {
  assert(
    encrypted[0] === VERSION && encrypted.length >= 1 + NONCE_BYTES + TAG_BYTES,
    'encrypted bytes are too short or of an unknown version',
  );
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(1, 1 + NONCE_BYTES));
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(encrypted.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(encrypted.subarray(1 + NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}

/**
 * @param masterKey at least 32 random bytes
 * @param oldKey    during a rotation: decrypts and looks up values that are not encrypted again yet
 */
export function openVault(masterKey: Buffer, oldKey?: Buffer): Vault {
  const present = vaultOf(masterKey);
  if (oldKey === undefined) return present;
  const old = vaultOf(oldKey);
  return {
    ...present,
    decrypt(encrypted, context) {
      try {
        return present.decrypt(encrypted, context);
      } catch {
        return old.decrypt(encrypted, context);
      }
    },
    sames: (text, context) => [present.encryptSame(text, context), old.encryptSame(text, context)],
    indexes: (text, purpose) => [present.index(text, purpose), old.index(text, purpose)],
    old,
    current: present,
  };
}

function vaultOf(masterKey: Buffer): Vault {
  assert(masterKey.length >= 32, 'the master key has fewer than 32 bytes');
  const key = (purpose: string) => Buffer.from(hkdfSync('sha256', masterKey, '', `cloverleaf ${purpose}`, 32));
  // Created once: given bytes, Node creates a key object per call, which costs four times as much as the hash or cipher.
  // The label 'seal' is part of the key: under another one, nothing that is stored could be decrypted without an exchange of keys.
  const encryption = createSecretKey(key('seal'));
  const indexing = createSecretKey(key('index'));
  const sameness = createSecretKey(key('nonce'));
  function encryptWith(nonce: Buffer, text: string, context: string): Buffer {
    const cipher = createCipheriv('aes-256-gcm', encryption, nonce);
    cipher.setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body]);
  }
  function encryptSame(text: string, context: string): Buffer {
    const hash = createHmac('sha256', sameness).update(`${context}\0${text}`).digest();
    return encryptWith(hash.subarray(0, NONCE_BYTES), text, context);
  }
  const index = (text: string, purpose: string): Buffer =>
    createHmac('sha256', indexing).update(`${purpose}\0${text}`).digest();
  return {
    encrypt: (text, context) => encryptWith(randomBytes(NONCE_BYTES), text, context),
    encryptSame,
    decrypt(encrypted, context) {
      assert(
        encrypted[0] === VERSION && encrypted.length >= 1 + NONCE_BYTES + TAG_BYTES,
        'an encrypted value is too short or of an unknown version',
      );
      const nonce = encrypted.subarray(1, 1 + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', encryption, nonce);
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(encrypted.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES));
      const body = encrypted.subarray(1 + NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
    index,
    sames: (text, context) => [encryptSame(text, context)],
    indexes: (text, purpose) => [index(text, purpose)],
    derive: (purpose) => key(`derive ${purpose}`).toString('hex'),
    keyName: key('name').toString('hex').slice(0, 16),
  };
}

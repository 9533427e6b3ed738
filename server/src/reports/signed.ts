/**
 * Signed reports: a report as JSON, its signature, and the public key that verifies it. Pure, so that it works without a server.
 *
 * The signature is Ed25519 over the UTF-8 bytes of the report as compact JSON, in the order of its fields, without the three fields that
 * are added here. `jq -cj` writes the same bytes, and openssl verifies them. The private key is derived from the master key: there is no
 * further secret to keep, and an exchange of the master key makes another one.
 *
 * A file counts as genuine only if it has exactly one reading: names that occur twice, and other spellings of a text, are refused,
 * because a person could read one value there while another one is signed.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { Vault } from '../base/crypto.ts';
import { SettingError } from '../base/env.ts';

type Report = Readonly<Record<string, unknown>>;

export interface Envelope {
  sha256: string;
  /** 32 bytes as hex: the name of the key. */
  publicKey: string;
  /** Base64. */
  signature: string;
}

/** Columns of the CSV of a reconciliation report: the fields of its lines. */
export const RECONCILED = [
  ...['what', 'rail', 'wallet', 'asset', 'key', 'outsideUnits', 'ledgerUnits', 'differenceUnits', 'why', 'at', 'ageS'],
] as const;

/** Fields of the envelope, in their order. */
const ADDED = ['sha256', 'publicKey', 'signature'] as const;
/** The DER of an Ed25519 key before its 32 bytes (RFC 8410). */
const PRIVATE = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC = Buffer.from('302a300506032b6570032100', 'hex');

const privateKeyOf = (vault: Vault): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([PRIVATE, Buffer.from(vault.derive('signature of reports'), 'hex')]),
    format: 'der',
    type: 'pkcs8',
  });

const rawOf = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' }).subarray(PUBLIC.length);

/** The public key of this master key, 32 bytes. */
export const signingKey = (vault: Vault): Buffer => rawOf(createPublicKey(privateKeyOf(vault)));

/** @param raw 32 bytes */
export const pemOf = (raw: Buffer): string =>
  createPublicKey({ key: Buffer.concat([PUBLIC, raw]), format: 'der', type: 'spki' })
    .export({ format: 'pem', type: 'spki' })
    .toString();

/** @param text a report as compact JSON */
export function signText(vault: Vault, text: string): { signature: Buffer; publicKey: Buffer } {
  const key = privateKeyOf(vault);
  return { signature: sign(null, Buffer.from(text), key), publicKey: rawOf(createPublicKey(key)) };
}

/** The report with what verifies it, as it is published. */
export const published = <R extends Report>(
  text: string,
  { signature, publicKey }: { signature: Buffer; publicKey: Buffer },
): R & Envelope => ({
  ...(JSON.parse(text) as R),
  sha256: createHash('sha256').update(text).digest('hex'),
  publicKey: publicKey.toString('hex'),
  signature: signature.toString('base64'),
});

export type Verified =
  | { isGenuine: true; report: Report; sha256: string; key: string }
  | { isGenuine: false; why: string };

/**
 * Whether a published report is exactly what was signed.
 *
 * @param file a published report as JSON, with any white space
 * @param pem  the public key that the reader trusts, and not the one in the report
 * @throws SettingError when `pem` is no such key: whether the report is genuine is not known then
 */
export function verifySigned(file: string, pem: string): Verified {
  const no = (why: string): Verified => ({ isGenuine: false, why });
  const trusted = keyOf(pem);
  let whole: unknown;
  try {
    whole = JSON.parse(file);
  } catch {
    return no('the report is no JSON');
  }
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return no('the report is no JSON object');
  if (JSON.stringify(whole) !== compact(file)) return no('it was altered: it is not spelt as it was published');
  const { sha256, publicKey, signature, ...report } = whole as Report & Partial<Envelope>;
  if (typeof signature !== 'string' || typeof publicKey !== 'string' || typeof sha256 !== 'string')
    return no(`it is not signed: it has no ${ADDED.join(', ')}`);
  const bytes = Buffer.from(signature, 'base64');
  if (bytes.toString('base64') !== signature) return no('it was altered: its signature is not in Base64 as published');
  const key = rawOf(trusted).toString('hex');
  const text = JSON.stringify(report);
  if (verify(null, Buffer.from(text), trusted, bytes)) {
    const hash = createHash('sha256').update(text).digest('hex');
    // Both are beside what is signed: a wrong one is a lie, although nothing depends on it.
    if (publicKey !== key || sha256 !== hash)
      return no('it was altered: its hash or the name of its key is another one');
    return { isGenuine: true, report, sha256: hash, key };
  }
  return publicKey === key
    ? no('it was altered, or its signature was')
    : no(`it was signed with another key (${publicKey}) than the one given (${key})`);
}

/** @throws SettingError */
function keyOf(pem: string): KeyObject {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // No key at all: the same rule says it.
  }
  throw new SettingError('key: must be an Ed25519 public key in PEM');
}

/** Without the white space outside of texts. */
const compact = (json: string): string => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1').trim();

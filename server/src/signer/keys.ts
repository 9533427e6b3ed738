/**
 * Keys: the wallets and the deposit account, from one phrase or from a file encrypted with a passphrase.
 *
 * Paths below the phrase (BIP-44): the hot wallet is m/44'/60'/0'/0/0, and deposit addresses are children of m/44'/60'/1',
 * whose extended public key is all that the server gets. Any wallet program that reads the phrase finds both.
 *
 * The file is AES-256-GCM under scrypt (N 2^17, r 8: 128 MiB and about half a second per guess). Only its format, salt, nonce and
 * authentication tag are unencrypted.
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { generateMnemonic, mnemonicToSeedSync, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english';
import { assert } from '../base/errors.ts';
import { signingWith } from '../rails/evm/index.ts';

export interface Keys {
  /** Private keys by wallet, as hex with `0x`. The wallet `hot` pays customers. */
  wallets: Readonly<Record<string, string>>;
  /** Extended private key whose children are the deposit addresses. */
  deposits: string;
}

const HOT_PATH = "m/44'/60'/0'/0/0";
const DEPOSITS_PATH = "m/44'/60'/1'";

/** A new phrase of 24 words: 256 random bits. */
export const newPhrase = (): string => generateMnemonic(wordlist, 256);

/** @returns undefined if the phrase has a wrong word or a wrong checksum */
export function keysOf(phrase: string): Keys | undefined {
  const words = phrase.trim().toLowerCase().split(/\s+/).join(' ');
  if (!validateMnemonic(words, wordlist)) return undefined;
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(words));
  const hot = root.derive(HOT_PATH).privateKey;
  assert(hot !== null, 'a derived key has no private key');
  return {
    wallets: { hot: `0x${Buffer.from(hot).toString('hex')}` },
    deposits: root.derive(DEPOSITS_PATH).privateExtendedKey,
  };
}

/** The public part of the keys, for the server. Nothing in it can sign. */
export function publicOf(keys: Keys): { wallets: Record<string, string>; xpub: string } {
  return {
    wallets: Object.fromEntries(Object.entries(keys.wallets).map(([name, key]) => [name, signingWith(key).address])),
    xpub: HDKey.fromExtendedKey(keys.deposits).publicExtendedKey,
  };
}

const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const WHAT = 'cloverleaf signer keys, version 1: scrypt, aes-256-gcm';

export function encryptKeys(keys: Keys, passphrase: string): string {
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', scryptSync(passphrase, salt, 32, COST), nonce);
  cipher.setAAD(Buffer.from(WHAT));
  const encrypted = Buffer.concat([cipher.update(JSON.stringify(keys), 'utf8'), cipher.final()]);
  const [saltText, nonceText, tag, text] = [salt, nonce, cipher.getAuthTag(), encrypted].map((one) =>
    one.toString('base64'),
  );
  return `${JSON.stringify({ what: WHAT, salt: saltText, nonce: nonceText, tag, encrypted: text }, null, 2)}\n`;
}

/** @returns undefined if the file is no key file, was altered, or has another passphrase */
export function openKeys(file: string, passphrase: string): Keys | undefined {
  try {
    const { what, salt, nonce, tag, encrypted } = JSON.parse(file) as Record<string, string>;
    if (what !== WHAT) return undefined;
    const bytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64');
    const key = scryptSync(passphrase, bytes(salt), 32, COST);
    const decipher = createDecipheriv('aes-256-gcm', key, bytes(nonce), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(WHAT));
    decipher.setAuthTag(bytes(tag));
    return JSON.parse(Buffer.concat([decipher.update(bytes(encrypted)), decipher.final()]).toString('utf8')) as Keys;
  } catch {
    return undefined;
  }
}

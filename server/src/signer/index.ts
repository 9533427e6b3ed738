/**
 * The signer: the one place that holds private keys, with its own limits and journal.
 *
 * It runs as a separate process (apps/signer.ts) that the server reaches over a socket; the server has the extended public key
 * and the wallets' addresses, and no private key. policy.ts decides what it signs; journal.ts records its signatures; neither
 * knows orders or the database, so an attacker who controls those still meets the limits.
 *
 * The sandbox runs the same parts, protocol included, over a pair of streams inside the server: its keys are public, and one
 * process less can be left behind. See docs/decisions/0021-a-signer-of-its-own.md.
 */
import { type Duplex, duplexPair } from 'node:stream';
import type { SignerCore } from './core.ts';
import { serveOn } from './serve.ts';

export { connectTo, readSignerAddress, SIGNER_ADDRESS_RULE, type SignerAddress } from './address.ts';
export { type SignerClient, type SignerClientOptions, signerClient } from './client.ts';
export { openSigner, type SignerCore } from './core.ts';
export { type Journal, openJournal } from './journal.ts';
export { type Keys, publicOf } from './keys.ts';
export type { ChainLimits, Limit } from './policy.ts';
export { isTestAddress, isTestXpub } from './wellknown.ts';

/** A signer in this process, over the same protocol as one in another process. */
export function signerWithin(core: SignerCore, secret: string): () => Duplex {
  return () => {
    const [ours, its] = duplexPair();
    serveOn(its, { core, secret });
    return ours;
  };
}

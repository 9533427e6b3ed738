/** Serves the signer's socket. Each connection is one server; there may be several. */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { SignerCore } from './core.ts';
import type { From } from './policy.ts';
import {
  type Answer,
  hangUp,
  isProof,
  Misread,
  proofOf,
  type Request,
  readLines,
  readQuestion,
  readRaw,
  readTransfer,
  writeContent,
  writeLine,
} from './wire.ts';

/** A client that has not proved by then that it knows the secret is disconnected. */
const PROOF_WITHIN_MS = 5_000;

/** @param said logs a line for the operator about a refused request; never a key */
export function serveOn(
  stream: Duplex,
  { core, secret, said = () => {} }: { core: SignerCore; secret: string; said?: (line: string) => void },
): void {
  const challenge = randomBytes(32).toString('hex');
  let isKnown = false;
  const giveUp = setTimeout(() => isKnown || hangUp(stream), PROOF_WITHIN_MS);
  giveUp.unref();
  stream.on('error', () => stream.destroy());
  stream.on('close', () => clearTimeout(giveUp));
  writeLine(stream, { challenge });
  readLines(stream, (message) => {
    if (isKnown) {
      void answered(message).then((answer) => writeLine(stream, answer));
      return;
    }
    const { proof, challenge: theirs } = (message ?? {}) as Record<string, unknown>;
    if (!isProof(proof, proofOf('server', secret, challenge)) || typeof theirs !== 'string') {
      said('rejected a client with a wrong shared secret');
      hangUp(stream);
      return;
    }
    isKnown = true;
    writeLine(stream, { proof: proofOf('signer', secret, theirs.slice(0, 128)) });
  });

  async function answered(message: unknown): Promise<Answer> {
    const { id, method, params } = (message ?? {}) as Partial<Request>;
    if (typeof id !== 'number' || typeof method !== 'string' || typeof params !== 'object' || params === null) {
      hangUp(stream);
      return { id: 0, error: 'not a request' };
    }
    try {
      return await called(id, method, params);
    } catch (error) {
      if (error instanceof Misread) return { id, error: error.message };
      // For example a full disk. A transaction that could not be recorded is not signed.
      said(`failed: ${error instanceof Error ? error.message : String(error)}`);
      return { id, error: 'the signer failed; its own output says why' };
    }
  }

  async function called(id: number, method: string, params: Record<string, unknown>): Promise<Answer> {
    if (method === 'describe') return { id, result: core.describe() };
    if (method === 'signed') {
      const { chainId, from, nonce } = readQuestion(params);
      const transfers = core.signed(chainId, from, nonce).map(writeContent);
      return { id, result: { transfers } };
    }
    if (method === 'signRaw') {
      const { from, asked } = readRaw(params);
      const signature = core.signRaw(from, asked);
      if (Buffer.isBuffer(signature)) return { id, result: { signature: signature.toString('hex') } };
      said(`refused chain ${asked.chainId}, ${nameOf(from)}: ${signature.refused}`);
      return { id, refused: signature.refused };
    }
    const { from, unsigned, hasNonce } = readTransfer(params);
    if (method === 'check') {
      const why = core.check(unsigned.chainId, from, unsigned, hasNonce ? unsigned.nonce : undefined);
      return why === undefined ? { id, result: {} } : { id, refused: why };
    }
    if (method !== 'sign' || !hasNonce) return { id, error: 'no such method' };
    const signed = await core.sign(from, unsigned);
    if ('refused' in signed) {
      said(`refused chain ${unsigned.chainId}, ${nameOf(from)}, nonce ${unsigned.nonce}: ${signed.refused}`);
      return { id, refused: signed.refused };
    }
    return { id, result: { raw: signed.raw.toString('hex'), hash: signed.hash } };
  }
}

const nameOf = (from: From): string => ('wallet' in from ? from.wallet : `deposit ${from.deposit}`);

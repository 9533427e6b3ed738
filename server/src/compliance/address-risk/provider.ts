/**
 * The contract of a provider of address risk: a service that says how risky an address on a chain is. Each is one file in
 * providers/ with its adapter (base/adapter.ts), and one line in registry.ts (docs/adding-an-address-risk-provider.md).
 *
 * A provider reports and decides nothing: from which level on an address is a hit is the installation's setting
 * (ADDRESS_RISK_HIT). It keeps no state. An answer that it cannot read whole, of another address, or with a word that is not
 * documented, is `Unavailable`: no answer is never a low risk.
 */
import { Unavailable } from '../../base/errors.ts';
import { type Http, NoAnswer } from '../../base/http.ts';

/** In rising order. A provider with numbers says in its own settings where each begins. */
export const LEVELS = ['low', 'medium', 'high', 'severe'] as const;
export type Level = (typeof LEVELS)[number];

/** The levels from which an address may be a hit: from `low` on, everything would be one. */
export const THRESHOLDS = ['medium', 'high', 'severe'] as const;
export type Threshold = (typeof THRESHOLDS)[number];

export const isAtLeast = (level: Level, least: Threshold): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(least);

export interface AskedAddress {
  /** Code of the rail whose chain it is on. */
  readonly rail: string;
  /** In the rail's own spelling. */
  readonly address: string;
}

export interface Assessment {
  readonly level: Level;
  /** The provider's own word or number for it. */
  readonly score: string;
  /** The provider's words for it, for operators only; '' when it gives none. */
  readonly reason: string;
  /** The bytes that it was read from. */
  readonly answer: Buffer;
}

export interface AddressRiskProvider {
  /** Stored in rows, so it never changes. */
  readonly code: string;
  /** Changes whenever the reading of its answers changes: stored answers are then asked again. */
  readonly rules: string;
  /** @throws Unavailable. Its message contains neither the address nor a secret */
  assess(asked: AskedAddress): Promise<Assessment>;
}

/** What an installation gives to a provider beside its settings. */
export interface AddressRiskContext {
  readonly ask: Http;
  /** How long it waits for an answer. */
  readonly deadlineMs: number;
}

/** The longest answer that was described has a few dozen exposures. */
const LONGEST_ANSWER = 256 * 1024;
const LONGEST_REASON = 200;

export type Json = Readonly<Record<string, unknown>>;

/**
 * One GET with a JSON object as its answer.
 *
 * @throws Unavailable for anything else, and for another status than 200
 */
export async function getJson(
  code: string,
  { ask, deadlineMs }: AddressRiskContext,
  request: { url: string; headers: Readonly<Record<string, string>> },
): Promise<{ json: Json; bytes: Buffer }> {
  const { status, body } = await ask({
    url: request.url,
    headers: { accept: 'application/json', ...request.headers },
    deadline: AbortSignal.timeout(deadlineMs),
    longestBytes: LONGEST_ANSWER,
  }).catch((error: unknown) => {
    throw new Unavailable(code, error instanceof NoAnswer ? error.message : 'it did not answer');
  });
  if (status !== 200) throw new Unavailable(code, `it answered ${status}`);
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    throw new Unavailable(code, 'its answer is not JSON');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new Unavailable(code, 'its answer is no object');
  return { json: json as Json, bytes: body };
}

/** A provider's words on one line, bounded. */
export const wordsOf = (given: unknown): string =>
  typeof given === 'string'
    ? given
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim()
        .slice(0, LONGEST_REASON)
    : '';

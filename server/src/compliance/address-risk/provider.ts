/**
 * The contract of a provider of address risk: a service that says how risky an address on a chain is. Each is one file in
 * providers/ with its adapter (base/adapter.ts), and one line in registry.ts (docs/adding-an-address-risk-provider.md).
 *
 * A provider reports and decides nothing: the installation sets the level at which an address is a hit (ADDRESS_RISK_HIT). It
 * keeps no state. It throws `Unavailable` for an answer that it cannot read completely, that is about another address, or that
 * has an undocumented word: a missing answer never counts as low risk.
 */
import { Unavailable } from '../../base/errors.ts';
import { type Http, NoAnswer } from '../../base/http.ts';

/** In ascending order. A provider that reports numbers has settings for where each level begins. */
export const LEVELS = ['low', 'medium', 'high', 'severe'] as const;
export type Level = (typeof LEVELS)[number];

/** The levels at which an address may become a hit. With `low`, every address would be a hit. */
export const THRESHOLDS = ['medium', 'high', 'severe'] as const;
export type Threshold = (typeof THRESHOLDS)[number];

export const isAtLeast = (level: Level, least: Threshold): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(least);

export interface AskedAddress {
  /** Code of the chain that the address is on. */
  readonly rail: string;
  /** In the rail's own spelling. */
  readonly address: string;
}

export interface Assessment {
  readonly level: Level;
  /** The provider's own word or number for the risk. */
  readonly score: string;
  /** The provider's explanation, for operators only; '' when it gives none. */
  readonly reason: string;
  /** The raw response. */
  readonly answer: Buffer;
}

export interface AddressRiskProvider {
  /** Stored in rows, so it never changes. */
  readonly code: string;
  /** Changes whenever the adapter reads answers differently: the server then asks again about every address. */
  readonly rules: string;
  /** @throws Unavailable, with a message that contains neither the address nor a secret */
  assess(asked: AskedAddress): Promise<Assessment>;
}

/** What an installation passes to a provider besides its settings. */
export interface AddressRiskContext {
  readonly ask: Http;
  /** Maximum time to wait for an answer. */
  readonly deadlineMs: number;
}

/** The longest documented answer lists a few dozen exposures. */
const LONGEST_ANSWER = 256 * 1024;
const LONGEST_REASON = 200;

export type Json = Readonly<Record<string, unknown>>;

/**
 * One GET request whose answer is a JSON object.
 *
 * @throws Unavailable for any other answer, and for any status other than 200
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

/** Text from a provider on one line, cut to LONGEST_REASON. */
export const wordsOf = (given: unknown): string =>
  typeof given === 'string'
    ? given
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim()
        .slice(0, LONGEST_REASON)
    : '';

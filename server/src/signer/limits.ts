/**
 * The signer's limits file: JSON, amounts in smallest units as decimal text. Read once, at the start: raising a limit takes
 * somebody who can write this file and restart the signer, and that is not the server.
 *
 * ```json
 * { "chains": [{
 *   "chainId": "1",
 *   "tokens": { "0xa0b8…eb48": { "perTransfer": "50000000000", "perHour": "200000000000" } },
 *   "gas":    { "perTransfer": "20000000000000000", "perHour": "500000000000000000" },
 *   "native": { "perTransfer": "0", "perHour": "0" },
 *   "fees":   { "perTransfer": "20000000000000000", "perHour": "500000000000000000" }
 * }] }
 * ```
 */
import { SettingError } from '../base/env.ts';
import { readAddress } from '../rails/evm/index.ts';
import type { ChainLimits, Limit } from './policy.ts';

/** @throws SettingError naming the place in the file and its rule */
export function readLimits(name: string, text: string): ChainLimits[] {
  const bad = (where: string, rule: string) => new SettingError(`${name}: ${where} ${rule}`);
  const fields = (value: unknown, where: string, known?: readonly string[]): Record<string, unknown> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(where, 'must be an object');
    const odd = Object.keys(value).find((key) => known !== undefined && !known.includes(key));
    if (odd !== undefined) throw bad(`${where}.${odd.slice(0, 40)}`, 'is no field');
    return value as Record<string, unknown>;
  };
  const units = (value: unknown, where: string): bigint => {
    if (typeof value !== 'string' || !/^[0-9]{1,78}$/.test(value))
      throw bad(where, 'must be a whole number of smallest units, as text');
    return BigInt(value);
  };
  const limit = (value: unknown, where: string): Limit => {
    const { perTransfer, perHour } = fields(value, where, ['perTransfer', 'perHour']);
    const read = {
      perTransfer: units(perTransfer, `${where}.perTransfer`),
      perHour: units(perHour, `${where}.perHour`),
    };
    if (read.perHour < read.perTransfer) throw bad(where, 'must allow at least one transfer an hour');
    return read;
  };

  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new SettingError(`${name} is not JSON`);
  }
  const { chains } = fields(json, 'the file', ['chains']);
  if (!Array.isArray(chains) || chains.length === 0 || chains.length > 100)
    throw bad('chains', 'must list 1 to 100 chains');
  const read = chains.map((one: unknown, at): ChainLimits => {
    const where = `chains[${at}]`;
    const chain = fields(one, where, ['chainId', 'tokens', 'gas', 'native', 'fees']);
    const tokens = Object.entries(fields(chain.tokens, `${where}.tokens`)).map(([contract, value]) => {
      const address = readAddress(contract);
      if (address === undefined) throw bad(`${where}.tokens`, 'must be named by contract addresses');
      return [address, limit(value, `${where}.tokens.${contract}`)] as const;
    });
    return {
      chainId: units(chain.chainId, `${where}.chainId`),
      tokens: Object.fromEntries(tokens),
      gas: limit(chain.gas, `${where}.gas`),
      native: limit(chain.native, `${where}.native`),
      fees: limit(chain.fees, `${where}.fees`),
    };
  });
  const seen = new Set(read.map(({ chainId }) => chainId));
  if (seen.size < read.length) throw bad('chains', 'must name each chain once');
  return read;
}

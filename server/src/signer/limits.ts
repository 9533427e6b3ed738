/**
 * The signer's limits file: JSON, amounts in smallest units as decimal text. Read once, at the start: raising a limit
 * requires writing this file and restarting the signer, which the server cannot do.
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
 *
 * `"sweeper": "0x…"` lists our Sweeper contract, which sweeps in batches (docs/decisions/0100-batched-sweeps.md).
 *
 * A chain of Tron's family has `"family": "tron"` and its contracts as `T…`.
 */
import { defined } from '../base/defined.ts';
import { SettingError } from '../base/env.ts';
import { units } from '../base/fields.ts';
import { listAt, objectAt, parseJson, readAt } from '../base/jsonfile.ts';
import { readAddress } from '../rails/evm/index.ts';
import { accountOf, readTronAddress } from '../rails/tron/index.ts';
import type { ChainLimits, Limit } from './policy.ts';

/** @throws SettingError with the place in the file and the rule that it violates */
export function readLimits(name: string, text: string): ChainLimits[] {
  const { chains } = objectAt(parseJson(name, text), name, ['chains']);
  const read = listAt(chains, `${name}: chains`).map((one, at): ChainLimits => {
    const where = `${name}: chains[${at}]`;
    const chain = objectAt(one, where, ['chainId', 'family', 'tokens', 'gas', 'native', 'fees', 'sweeper']);
    const { family } = chain;
    const sweeper = typeof chain.sweeper === 'string' ? readAddress(chain.sweeper) : undefined;
    if (chain.sweeper !== undefined && (sweeper === undefined || family !== undefined))
      throw new SettingError(`${where}.sweeper must be the address of the Sweeper contract, on an EVM chain`);
    if (family !== undefined && family !== 'tron') throw new SettingError(`${where}.family must be tron, or left out`);
    const tokens = Object.entries(objectAt(chain.tokens, `${where}.tokens`)).map(([contract, value]) => {
      const address = family === 'tron' ? tronAccount(contract) : readAddress(contract);
      if (address === undefined) throw new SettingError(`${where}.tokens must be named by contract addresses`);
      return [address, limitAt(value, `${where}.tokens.${contract}`)] as const;
    });
    const chainId = readAt(chain.chainId, `${where}.chainId`, units);
    // What is signed for chain 0 is valid on every chain.
    if (chainId === 0n) throw new SettingError(`${where}.chainId must not be 0`);
    return {
      chainId,
      ...(family === undefined ? {} : { family }),
      tokens: Object.fromEntries(tokens),
      gas: limitAt(chain.gas, `${where}.gas`),
      native: limitAt(chain.native, `${where}.native`),
      fees: limitAt(chain.fees, `${where}.fees`),
      ...defined({ sweeper }),
    };
  });
  if (new Set(read.map(({ chainId }) => chainId)).size < read.length)
    throw new SettingError(`${name}: chains must name each chain once`);
  return read;
}

function tronAccount(text: string): string | undefined {
  const address = readTronAddress(text);
  return address === undefined ? undefined : accountOf(address);
}

function limitAt(value: unknown, where: string): Limit {
  const { perTransfer, perHour } = objectAt(value, where, ['perTransfer', 'perHour']);
  const read = {
    perTransfer: readAt(perTransfer, `${where}.perTransfer`, units),
    perHour: readAt(perHour, `${where}.perHour`, units),
  };
  if (read.perHour < read.perTransfer) throw new SettingError(`${where} must allow at least one transfer an hour`);
  return read;
}

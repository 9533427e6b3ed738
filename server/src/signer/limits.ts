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
 * A chain of another family than EVM names it (`"family": "tron"`), and its contracts in the spelling of that family (`T…`).
 */
import { defined } from '../base/defined.ts';
import { SettingError } from '../base/env.ts';
import { assert } from '../base/errors.ts';
import { oneOf, units } from '../base/fields.ts';
import { listAt, objectAt, parseJson, readAt } from '../base/jsonfile.ts';
import { CHAIN_FAMILIES, type ChainSigning } from '../rails/families.ts';
import type { ChainLimits, Limit } from './policy.ts';

const FAMILIES = CHAIN_FAMILIES.map(({ code }) => code);

/** @throws SettingError with the place in the file and the rule that it violates */
export function readLimits(name: string, text: string): ChainLimits[] {
  const { chains } = objectAt(parseJson(name, text), name, ['chains']);
  const read = listAt(chains, `${name}: chains`).map((one, at): ChainLimits => {
    const where = `${name}: chains[${at}]`;
    const chain = objectAt(one, where, ['chainId', 'family', 'tokens', 'gas', 'native', 'fees', 'sweeper']);
    const family = readAt(chain.family ?? FAMILIES[0], `${where}.family`, oneOf(FAMILIES));
    const { readAccount, hasSweeper } = signingOf(family);
    const sweeper = hasSweeper && typeof chain.sweeper === 'string' ? readAccount(chain.sweeper) : undefined;
    if (chain.sweeper !== undefined && sweeper === undefined)
      throw new SettingError(`${where}.sweeper must be the address of the Sweeper contract, on an EVM chain`);
    const tokens = Object.entries(objectAt(chain.tokens, `${where}.tokens`)).map(([contract, value]) => {
      const address = readAccount(contract);
      if (address === undefined) throw new SettingError(`${where}.tokens must be named by contract addresses`);
      return [address, limitAt(value, `${where}.tokens.${contract}`)] as const;
    });
    const chainId = readAt(chain.chainId, `${where}.chainId`, units);
    // What is signed for chain 0 is valid on every chain.
    if (chainId === 0n) throw new SettingError(`${where}.chainId must not be 0`);
    return {
      chainId,
      family,
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

/** The signer's part of a chain's family. @param code undefined for the default one */
export function signingOf(code: string | undefined): ChainSigning {
  const family = code === undefined ? CHAIN_FAMILIES[0] : CHAIN_FAMILIES.find((one) => one.code === code);
  assert(family !== undefined, `there is no family of chains ${code}`);
  return family.signing;
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

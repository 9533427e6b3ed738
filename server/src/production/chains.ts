/**
 * The chains file: which chains are traded on, through which nodes, with which wallets and tokens. JSON, see
 * docs/operating/production.md. It contains no private key, and one in it is an error.
 *
 * A node's URL often contains an API key, so no error contains the URL.
 */
import { HDKey } from '@scure/bip32';
import { SettingError } from '../base/env.ts';
import { oneOf, text, units, whole } from '../base/fields.ts';
import { listAt, objectAt, parseJson, readAt } from '../base/jsonfile.ts';
import type { ChainFamily, ConnectedChain } from '../rails/chain.ts';
import { CHAIN_FAMILIES } from '../rails/families.ts';
import { isTestAddress, isTestXpub, type SignerClient } from '../signer/index.ts';

export interface ProductionChain {
  code: string;
  chainId: bigint;
  native: string;
  nativeDecimals: number;
  /** Code of the rail: chain family and chain. */
  rail: string;
  hotWallet: string;
  xpub: string;
  /** The operator's wallets that fund the hot wallet: name to address. */
  fundedFrom: Readonly<Record<string, string>>;
  levels: Levels | undefined;
  tokens: readonly ProductionToken[];
  /** The 20 bytes of an address, which is how the signer names it. */
  accountOf(address: string): string;
  connect(keys: SignerClient | undefined): ConnectedChain;
}

export interface ProductionToken {
  coin: string;
  contract: string;
  decimals: number;
  confirmations: readonly { fromUnits: bigint; confirmations: number }[];
  /** Smaller amounts are not swept. */
  sweepFromUnits: bigint;
  levels: Levels | undefined;
}

/** Thresholds of the hot wallet: `low`, and the one below which a case is opened. Units. */
export interface Levels {
  lowUnits: bigint;
  alarmUnits: bigint;
}

/** Chain ids of local test nodes. */
const LOCAL_CHAINS = [1_337n, 31_337n, 31_338n, 31_339n, 31_340n, 31_341n, 31_342n, 31_343n];
const code = text(20, /^[a-z0-9]{1,20}$/, '1 to 20 lower-case letters and digits');
const XPUB = text(120, /^[1-9A-HJ-NP-Za-km-z]{100,120}$/, 'an extended public key (xpub…)');
const confirmationsOf = whole(1, 10_000);

/** @throws SettingError with every invalid place: parsing continues as far as possible */
export function readChains(name: string, text: string, allowed: readonly bigint[]): ProductionChain[] {
  const { chains } = objectAt(parseJson(name, text), name, ['chains']);
  const wrong: string[] = [];
  const read = listAt(chains, `${name}: chains`, { most: 50 }).flatMap((one, at): ProductionChain[] => {
    try {
      const chain = readChain(one, `${name}: chains[${at}]`);
      wrong.push(...dangers(chain, `${name}: chains[${at}]`, allowed));
      return [chain];
    } catch (error) {
      if (!(error instanceof SettingError)) throw error;
      wrong.push(error.message);
      return [];
    }
  });
  for (const field of ['code', 'chainId'] as const) {
    if (new Set(read.map((chain) => chain[field])).size < read.length)
      wrong.push(`${name}: chains must each have another ${field}`);
  }
  if (wrong.length > 0) throw new SettingError(wrong.join('\n'));
  return read;
}

/** Faults of well-formed values that are nevertheless forbidden. */
function dangers(chain: ProductionChain, at: string, allowed: readonly bigint[]): string[] {
  const { chainId, hotWallet, xpub, fundedFrom, accountOf } = chain;
  const found: string[] = [];
  if (LOCAL_CHAINS.includes(chainId) && !allowed.includes(chainId))
    found.push(`${at}.chainId ${chainId} is that of a local test node; ALLOW_LOCAL_CHAINS must name it if it is meant`);
  if (isTestAddress(accountOf(hotWallet)))
    found.push(`${at}.hotWallet is an account of the phrase that every local node has; anyone can spend it`);
  if (isTestXpub(xpub))
    found.push(`${at}.xpub belongs to the public test phrase of local nodes: anyone can spend deposits to it`);
  for (const [name, address] of Object.entries(fundedFrom)) {
    if (isTestAddress(accountOf(address)))
      found.push(`${at}.fundedFrom.${name} is an account of the phrase that every local node has`);
    if (address === hotWallet) found.push(`${at}.fundedFrom.${name} is the hot wallet itself`);
  }
  return found;
}

const FAMILIES = CHAIN_FAMILIES.map((family) => family.code);
const EVERY = ['family', 'code', 'chainId', 'native', 'hotWallet', 'xpub', 'fundedFrom', 'levels', 'tokens'];

function readChain(value: unknown, at: string): ProductionChain {
  const { family: named = FAMILIES[0] } = objectAt(value, at);
  const wanted = readAt(named, `${at}.family`, oneOf(FAMILIES));
  const family = CHAIN_FAMILIES.find((one) => one.code === wanted) as ChainFamily<SignerClient>;
  const chain = objectAt(value, at, [...EVERY, ...family.fields]);
  const addressAt = (given: unknown, where: string): string => {
    const read = typeof given === 'string' ? family.readAddress(given) : undefined;
    if (read === undefined) throw new SettingError(`${where} must be ${family.addressRule}`);
    return read;
  };
  const fundedFrom = Object.entries(objectAt(chain.fundedFrom ?? {}, `${at}.fundedFrom`)).map(
    ([name, address]) =>
      [readAt(name, `${at}.fundedFrom`, code), addressAt(address, `${at}.fundedFrom.${name}`)] as const,
  );
  const tokens = listAt(chain.tokens, `${at}.tokens`).map((token, i) =>
    readToken(token, `${at}.tokens[${i}]`, addressAt),
  );
  for (const field of ['coin', 'contract'] as const) {
    if (new Set(tokens.map((token) => token[field])).size < tokens.length)
      throw new SettingError(`${at}.tokens must each have another ${field}`);
  }
  const connect = family.read(chain, at);
  const name = readAt(chain.code, `${at}.code`, code);
  const settings = {
    ...{ code: `${family.code}.${name}`, chain: name },
    chainId: readAt(chain.chainId, `${at}.chainId`, units),
    xpub: xpubAt(chain.xpub, `${at}.xpub`),
    hotWallet: addressAt(chain.hotWallet, `${at}.hotWallet`),
  };
  return {
    ...settings,
    ...{ code: name, rail: settings.code, nativeDecimals: family.nativeDecimals },
    native: readAt(chain.native, `${at}.native`, code),
    fundedFrom: Object.fromEntries(fundedFrom),
    levels: levelsAt(chain.levels, `${at}.levels`),
    tokens,
    accountOf: family.accountOf,
    connect: (keys) => connect(settings, keys),
  };
}

function readToken(value: unknown, at: string, addressAt: (given: unknown, where: string) => string): ProductionToken {
  const token = objectAt(value, at, ['coin', 'contract', 'decimals', 'confirmations', 'sweepFromUnits', 'levels']);
  const confirmations = listAt(token.confirmations, `${at}.confirmations`, { most: 10 }).map((one, i) => {
    const step = objectAt(one, `${at}.confirmations[${i}]`, ['fromUnits', 'confirmations']);
    return {
      fromUnits: readAt(step.fromUnits, `${at}.confirmations[${i}].fromUnits`, units),
      confirmations: readAt(step.confirmations, `${at}.confirmations[${i}].confirmations`, confirmationsOf),
    };
  });
  if (confirmations[0]?.fromUnits !== 0n) throw new SettingError(`${at}.confirmations must begin with fromUnits "0"`);
  return {
    coin: readAt(token.coin, `${at}.coin`, code),
    contract: addressAt(token.contract, `${at}.contract`),
    decimals: readAt(token.decimals, `${at}.decimals`, whole(0, 36)),
    confirmations,
    sweepFromUnits: readAt(token.sweepFromUnits, `${at}.sweepFromUnits`, units),
    levels: levelsAt(token.levels, `${at}.levels`),
  };
}

function levelsAt(value: unknown, at: string): Levels | undefined {
  if (value === undefined) return undefined;
  const { lowUnits, alarmUnits } = objectAt(value, at, ['lowUnits', 'alarmUnits']);
  const read = {
    lowUnits: readAt(lowUnits, `${at}.lowUnits`, units),
    alarmUnits: readAt(alarmUnits, `${at}.alarmUnits`, units),
  };
  if (read.alarmUnits > read.lowUnits) throw new SettingError(`${at}.alarmUnits must not be above lowUnits`);
  return read;
}

function xpubAt(value: unknown, at: string): string {
  const encoded = readAt(value, at, XPUB);
  let key: HDKey;
  try {
    key = HDKey.fromExtendedKey(encoded);
  } catch {
    throw new SettingError(`${at} must be an extended public key (xpub…)`);
  }
  if (key.privateKey !== null)
    throw new SettingError(
      `${at} is an extended private key: it belongs to the signer, and should be taken as known now`,
    );
  return encoded;
}

/**
 * Registry: the one list of what an installation may be made of. A price source, verifier, sender of codes or bank is one file or
 * folder that declares itself (base/adapter.ts), and one line here. Its settings, what production demands and refuses of it,
 * `npm run config`, docs/settings.md and its contract tests follow from the line.
 *
 * Which of a list are used, settings say (PRICE_SOURCES, VERIFIER, CODE_SENDER, BANKS). Where they say nothing, a list of
 * several (price sources) is used whole and of the others the first, each as far as it fits the profile: what is `sandboxOnly`
 * in the sandbox, the rest in production.
 *
 * Not yet in lists: families of chains. The sandbox and the chains file each name chains of the one family that there is.
 */
import type { Adapter } from './base/adapter.ts';
import { SettingError } from './base/env.ts';
import { assert } from './base/errors.ts';
import type { Config } from './config.ts';
import { type CodeSender, knownCodes, webhookCodes } from './protocols/checkout/index.ts';
import type { PriceSource } from './quotes/index.ts';
import { binanceSource } from './quotes/sources/binance.ts';
import { bitstampSource } from './quotes/sources/bitstamp.ts';
import { coinbaseSource } from './quotes/sources/coinbase.ts';
import { ecbSource } from './quotes/sources/ecb.ts';
import { fixedPrices } from './quotes/sources/fixed.ts';
import { krakenSource } from './quotes/sources/kraken.ts';
import type { Bank, BankContext } from './rails/bank.ts';
import type { RailContext } from './rails/chain.ts';
import { type EvmOptions, evmRail } from './rails/evm/index.ts';
import { type DeskContext, fileBank, type ManualDesk } from './rails/manual/index.ts';
import type { Rail } from './rails/rail.ts';
import { loopbackBank, type SimulatedBankSettings } from './rails/simulated/index.ts';
import { manualReviews } from './verifiers/manual/index.ts';
import { simulatedFindings } from './verifiers/simulated/index.ts';
import type { Verifier, VerifierAdapter, VerifierContext } from './verifiers/verifier.ts';

/** A bank that may have a desk, where a person does what an API would. */
export type AnyBank = Bank & { openDesk?(context: DeskContext): ManualDesk };

/** Where the sandbox's bank is. */
type Brought = Omit<SimulatedBankSettings, 'deduplicates'>;

export interface Lists {
  priceSources: readonly Adapter<PriceSource>[];
  verifiers: readonly VerifierAdapter[];
  codeSenders: readonly Adapter<CodeSender>[];
  /** What a bank is submitted is where the sandbox has started its own (sandbox/environment.ts); production's have settings instead. */
  banks: readonly Adapter<AnyBank, Brought | undefined>[];
}

export const LISTS: Lists = {
  priceSources: [
    fixedPrices,
    binanceSource,
    coinbaseSource,
    krakenSource,
    bitstampSource,
    ecbSource,
    // A price source: one line here.
  ],
  verifiers: [
    simulatedFindings,
    manualReviews,
    // A verifier: one line here.
  ],
  codeSenders: [
    knownCodes,
    webhookCodes,
    // A sender of login codes: one line here.
  ],
  banks: [
    loopbackBank,
    fileBank,
    // A bank: one line here.
  ],
};

/** What is outside, as far as this installation is connected to it. */
export interface Connections {
  evmChains: readonly EvmOptions[];
  banks: readonly AnyBank[];
}

export function rails(
  outside: Connections,
  context: BankContext & Pick<RailContext, 'mayLeave'>,
): ReadonlyMap<string, Rail> {
  return byCode<Rail>([
    ...outside.evmChains.map((chain) => evmRail(chain, context)),
    ...outside.banks.map((bank) => bank.open(context)),
  ]);
}

/** @throws SettingError where production would start with what only a sandbox may have */
export const priceSources = (config: Config): ReadonlyMap<string, PriceSource> =>
  byCode(chosen(config, 'priceSources').map((one) => create(config, one, undefined)));

/** @throws SettingError as `priceSources` */
export const verifier = (config: Config, context: VerifierContext): Verifier =>
  theOne(config, chosen(config, 'verifiers'), context);

/** @throws SettingError as `priceSources` */
export const codeSender = (config: Config): CodeSender => theOne(config, chosen(config, 'codeSenders'), undefined);

function theOne<T, C>(config: Config, [first]: readonly Adapter<T, C>[], context: C): T {
  assert(first !== undefined, 'a list has nothing for this profile');
  return create(config, first, context);
}

/** Production has asked for all demands before, with all else that is missing; a sandbox that uses the same adapter is told here. */
function create<T, C>(config: Config, one: Adapter<T, C>, context: C): T {
  const values = config.valuesOf(one);
  for (const [key, { name, demand }] of Object.entries(one.settings)) {
    if (demand !== undefined && (values[key] ?? '') === '')
      throw new SettingError(`${name} must be set where ${one.code} is used: ${demand}`);
  }
  return one.create(values, context);
}

/** The setting that chooses from each list, and what it says. */
const CHOICES: Readonly<Record<keyof Lists, readonly [string, (config: Config) => readonly string[] | undefined]>> = {
  priceSources: ['PRICE_SOURCES', (config) => config.priceSources],
  verifiers: ['VERIFIER', ({ verifier: code }) => (code === undefined ? undefined : [code])],
  codeSenders: ['CODE_SENDER', ({ codeSender: code }) => (code === undefined ? undefined : [code])],
  banks: ['BANKS', (config) => config.banks],
};

/**
 * The adapters of a list that this configuration uses.
 *
 * @throws SettingError naming the setting, where one is for the sandbox only and this is production
 */
export function chosen<K extends keyof Lists>(config: Config, kind: K): Lists[K][number][] {
  const list: readonly Lists[K][number][] = config.lists[kind];
  const [setting, said] = CHOICES[kind];
  const isProduction = config.profile === 'production';
  const usual = list.filter(({ sandboxOnly }) => (sandboxOnly === undefined) === isProduction);
  const used =
    said(config)?.flatMap((code) => list.filter((one) => one.code === code)) ??
    (kind === 'priceSources' ? usual : usual.slice(0, 1));
  const wrong = isProduction ? used.find(({ sandboxOnly }) => sandboxOnly !== undefined) : undefined;
  if (wrong !== undefined)
    throw new SettingError(`${setting} must not name ${wrong.code} in production: ${wrong.sandboxOnly}`);
  return used;
}

const byCode = <T extends { readonly code: string }>(all: readonly T[]): ReadonlyMap<string, T> =>
  new Map(all.map((one) => [one.code, one]));

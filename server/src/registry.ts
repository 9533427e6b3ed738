/**
 * Registry: the one list of what this installation is made of. A new rail, verifier, price source or protocol is one folder
 * and one line here.
 */
import { SettingError } from './base/env.ts';
import type { Config } from './config.ts';
import type { PriceSource } from './quotes/index.ts';
import { binance } from './quotes/sources/binance.ts';
import { bitstamp } from './quotes/sources/bitstamp.ts';
import { coinbase } from './quotes/sources/coinbase.ts';
import { ecb } from './quotes/sources/ecb.ts';
import { fixedSource } from './quotes/sources/fixed.ts';
import { kraken } from './quotes/sources/kraken.ts';
import type { BankContext } from './rails/bank.ts';
import { type EvmOptions, evmRail } from './rails/evm/index.ts';
import { type ManualBankSettings, manualBank } from './rails/manual/index.ts';
import type { Rail } from './rails/rail.ts';
import { type SimulatedBankSettings, simulatedBank } from './rails/simulated/index.ts';

/** What is outside, as far as this installation is connected to it. */
export interface Outside {
  evmChains: readonly EvmOptions[];
  simulatedBank?: SimulatedBankSettings;
  manualBank?: ManualBankSettings;
}

export function rails(outside: Outside, context: BankContext): ReadonlyMap<string, Rail> {
  return byCode<Rail>([
    ...outside.evmChains.map((chain) => evmRail(chain, context)),
    ...(outside.simulatedBank === undefined ? [] : [simulatedBank(outside.simulatedBank, context)]),
    ...(outside.manualBank === undefined ? [] : [manualBank(outside.manualBank, context)]),
  ]);
}

/** @throws SettingError where prices would be made up in production */
export function priceSources(config: Config): ReadonlyMap<string, PriceSource> {
  const drift = config.priceDriftBps === 0 ? {} : { drift: { seed: 1, bps: config.priceDriftBps, stepMs: 10_000 } };
  const made = { fixed: () => fixedSource(drift) };
  const real = {
    binance: () => binance({ baseUrl: config.binanceUrl }),
    coinbase: () => coinbase({ baseUrl: config.coinbaseUrl }),
    kraken: () => kraken({ baseUrl: config.krakenUrl }),
    bitstamp: () => bitstamp({ baseUrl: config.bitstampUrl }),
    ecb: () => ecb({ baseUrl: config.ecbUrl }),
  };
  const usual = Object.keys(config.profile === 'sandbox' ? made : real) as (keyof typeof made | keyof typeof real)[];
  const chosen = config.priceSources ?? usual;
  if (config.profile === 'production' && chosen.includes('fixed'))
    throw new SettingError('PRICE_SOURCES must not name fixed in production: its prices are made up');
  return byCode<PriceSource>(chosen.map((code) => ({ ...made, ...real })[code]()));
}

const byCode = <T extends { readonly code: string }>(all: readonly T[]): ReadonlyMap<string, T> =>
  new Map(all.map((one) => [one.code, one]));

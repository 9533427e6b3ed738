/**
 * Registry: the one list of what this installation is made of. A new rail, verifier, price source or protocol is one folder
 * and one line here.
 */
import type { Config } from './config.ts';
import type { PriceSource } from './quotes/index.ts';
import { fixedSource } from './quotes/sources/fixed.ts';
import type { BankContext } from './rails/bank.ts';
import { type EvmOptions, evmRail } from './rails/evm/index.ts';
import type { Rail } from './rails/rail.ts';
import { type SimulatedBankSettings, simulatedBank } from './rails/simulated/index.ts';
import { simulatedVerifier } from './verifiers/simulated/index.ts';
import type { Verifier } from './verifiers/verifier.ts';

/** What is outside, as far as this installation is connected to it. */
export interface Outside {
  evmChains: readonly EvmOptions[];
  simulatedBank?: SimulatedBankSettings;
}

export function rails(outside: Outside, context: BankContext): ReadonlyMap<string, Rail> {
  return byCode<Rail>([
    ...outside.evmChains.map((chain) => evmRail(chain, context)),
    ...(outside.simulatedBank === undefined ? [] : [simulatedBank(outside.simulatedBank, context)]),
  ]);
}

export function priceSources(config: Config): ReadonlyMap<string, PriceSource> {
  const drift = config.priceDriftBps === 0 ? {} : { drift: { seed: 1, bps: config.priceDriftBps, stepMs: 10_000 } };
  return byCode<PriceSource>([...(config.profile === 'sandbox' ? [fixedSource(drift)] : [])]);
}

/** Who verifies customers here; one today, by market or country later. */
export const verifier = (): Verifier => simulatedVerifier;

const byCode = <T extends { readonly code: string }>(all: readonly T[]): ReadonlyMap<string, T> =>
  new Map(all.map((one) => [one.code, one]));

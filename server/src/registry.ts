/**
 * Registry: the one list of the parts of an installation. A price source, verifier, code sender, bank, channel of alerts,
 * provider of address risk or travel rule protocol is one file or folder
 * with its own declaration (base/adapter.ts), and one line here. Its settings, what production requires and rejects, `npm run
 * config`, docs/settings.md and its contract tests follow from that line.
 *
 * Settings choose which adapters are used (PRICE_SOURCES, VERIFIER, CODE_SENDER, BANKS, ALERT_CHANNELS, ADDRESS_RISK,
 * TRAVEL_PROTOCOL). The last three are used only where they are named. By default all price sources are
 * used, and of each other list the first, each as far as it fits the profile: `sandboxOnly` ones in the sandbox, the others
 * in production. Chain families (rails/families.ts) are chosen by the chains file, which names one for each chain.
 */
import { emailChannel } from './alerts/channels/email.ts';
import { pagerdutyChannel } from './alerts/channels/pagerduty.ts';
import { slackChannel } from './alerts/channels/slack.ts';
import { webhookChannel } from './alerts/channels/webhook.ts';
import type { Channel, ChannelContext } from './alerts/index.ts';
import type { Adapter, Values } from './base/adapter.ts';
import { SettingError } from './base/env.ts';
import { assert } from './base/errors.ts';
import { ask } from './base/http.ts';
import { chainalysisRisk } from './compliance/address-risk/providers/chainalysis.ts';
import { simulatedRisk } from './compliance/address-risk/providers/simulated.ts';
import type { AddressRiskContext, AddressRiskProvider, TravelContext, TravelProtocol } from './compliance/index.ts';
import { trp } from './compliance/travel-rule/protocols/trp/index.ts';
import { type CodeSender, knownCodes, webhookCodes } from './protocols/checkout/index.ts';
import type { PriceSource } from './quotes/index.ts';
import { binanceSource } from './quotes/sources/binance.ts';
import { bitstampSource } from './quotes/sources/bitstamp.ts';
import { coinbaseSource } from './quotes/sources/coinbase.ts';
import { ecbSource } from './quotes/sources/ecb.ts';
import { fixedPrices } from './quotes/sources/fixed.ts';
import { krakenSource } from './quotes/sources/kraken.ts';
import type { Bank, BankContext } from './rails/bank.ts';
import type { ConnectedChain, RailContext } from './rails/chain.ts';
import { type DeskContext, fileBank, type ManualDesk } from './rails/manual/index.ts';
import type { Rail } from './rails/rail.ts';
import { loopbackBank, type SimulatedBankSettings } from './rails/simulated/index.ts';
import { manualReviews } from './verifiers/manual/index.ts';
import { personaInquiries } from './verifiers/persona/index.ts';
import { simulatedFindings } from './verifiers/simulated/index.ts';
import { sumsubApplicants } from './verifiers/sumsub/index.ts';
import type { Verifier, VerifierAdapter, VerifierContext } from './verifiers/verifier.ts';

/** A bank that may have a desk, where operators do the steps of an API. */
export type AnyBank = Bank & { openDesk?(context: DeskContext): ManualDesk };

/** Connection data of the sandbox's bank. */
type Brought = Omit<SimulatedBankSettings, 'deduplicatesForMs'>;

export interface Lists {
  priceSources: readonly Adapter<PriceSource>[];
  verifiers: readonly VerifierAdapter[];
  codeSenders: readonly Adapter<CodeSender>[];
  /**
   * The context of a bank is the connection to the sandbox's own (sandbox/environment.ts); production's banks have settings
   * instead.
   */
  banks: readonly Adapter<AnyBank, Brought | undefined>[];
  /** None is used unless ALERT_CHANNELS names it. */
  alertChannels: readonly Adapter<Channel, ChannelContext>[];
  /** None is used unless ADDRESS_RISK names it. */
  addressRisks: readonly Adapter<AddressRiskProvider, AddressRiskContext>[];
  /** None is used unless TRAVEL_PROTOCOL names it. */
  travelProtocols: readonly Adapter<TravelProtocol, TravelContext>[];
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
    sumsubApplicants,
    personaInquiries,
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
  alertChannels: [
    emailChannel,
    slackChannel,
    pagerdutyChannel,
    webhookChannel,
    // A channel of alerts: one line here.
  ],
  addressRisks: [
    simulatedRisk,
    chainalysisRisk,
    // A provider of address risk: one line here.
  ],
  travelProtocols: [
    trp,
    // A travel rule protocol: one line here.
  ],
};

/** The settings of the lists; `Config` is one. */
interface Choice {
  readonly profile: 'sandbox' | 'production';
  readonly lists: Lists;
  readonly priceSources: readonly string[] | undefined;
  readonly verifier: string | undefined;
  readonly codeSender: string | undefined;
  readonly banks: readonly string[] | undefined;
  readonly alertChannels: readonly string[] | undefined;
  readonly addressRisk: string | undefined;
  readonly travelProtocol: string | undefined;
  valuesOf(adapter: Adapter<unknown, never>): Values;
}

/** What every channel of alerts is given. */
export const CHANNELS: ChannelContext = { deadlineMs: 10_000 };

/** What every provider of address risk is given. */
export const RISK_CONTEXT: AddressRiskContext = { ask, deadlineMs: 10_000 };

/** The outside systems that this installation is connected to. */
export interface Connections {
  chains: readonly ConnectedChain[];
  banks: readonly AnyBank[];
}

/** The chains that this installation is connected to, with the ids that they report. */
export const chainIdsOf = ({ chains }: Connections): readonly { chain: string; chainId: bigint }[] => chains;

export function rails(
  outside: Connections,
  context: BankContext & Pick<RailContext, 'mayLeave' | 'lockOrders'>,
): ReadonlyMap<string, Rail> {
  return byCode<Rail>([
    ...outside.chains.map((chain) => chain.open(context)),
    ...outside.banks.map((bank) => bank.open(context)),
  ]);
}

/** @throws SettingError when production would use a sandbox-only adapter */
export const priceSources = (config: Choice): ReadonlyMap<string, PriceSource> =>
  byCode(chosen(config, 'priceSources').map((one) => create(config, one, undefined)));

/** @throws SettingError as `priceSources` */
export const verifier = (config: Choice, context: VerifierContext): Verifier =>
  theOne(config, chosen(config, 'verifiers'), context);

/** @throws SettingError as `priceSources` */
export const alertChannels = (config: Choice): ReadonlyMap<string, Channel> =>
  byCode(chosen(config, 'alertChannels').map((one) => create(config, one, CHANNELS)));

/** Undefined where none is named. @throws SettingError as `priceSources` */
export function addressRisk(config: Choice): AddressRiskProvider | undefined {
  const [named] = chosen(config, 'addressRisks');
  return named === undefined ? undefined : create(config, named, RISK_CONTEXT);
}

/** Undefined where none is named. @throws SettingError as `priceSources` */
export function travelProtocol(config: Choice): TravelProtocol | undefined {
  const [named] = chosen(config, 'travelProtocols');
  return named === undefined ? undefined : create(config, named, travelContext(config));
}

/** What every travel rule protocol is given. */
export const travelContext = ({ profile }: Pick<Choice, 'profile'>): TravelContext => ({
  ...{ ask, deadlineMs: 10_000 },
  plain: profile === 'sandbox',
});

/** @throws SettingError as `priceSources` */
export const codeSender = (config: Choice): CodeSender => theOne(config, chosen(config, 'codeSenders'), undefined);

/** All channels of alerts and senders of login codes, with which of their settings this process has; no value of one. */
export const messengers = (config: Choice) =>
  (
    [
      ['alerts', 'alertChannels'],
      ['codes', 'codeSenders'],
    ] as const
  ).flatMap(([what, kind]) => {
    const used = chosen(config, kind).map(({ code }) => code);
    const all: readonly Adapter<unknown, never>[] = config.lists[kind];
    return all.map((one) => ({
      ...{ what, code: one.code, about: one.about, isUsed: used.includes(one.code), chosenBy: CHOICES[kind][0] },
      sandboxOnly: one.sandboxOnly !== undefined,
      settings: Object.entries(one.settings).map(([key, { name, about, demand }]) => ({
        ...{ name, about, isDemanded: demand !== undefined },
        isSet: (config.valuesOf(one)[key] ?? '') !== '',
      })),
    }));
  });

function theOne<T, C>(config: Choice, [first]: readonly Adapter<T, C>[], context: C): T {
  assert(first !== undefined, 'a list has nothing for this profile');
  return create(config, first, context);
}

/**
 * Production has checked all required settings before, together with everything else that is missing; a sandbox with the same
 * adapter fails here.
 */
function create<T, C>(config: Choice, one: Adapter<T, C>, context: C): T {
  const values = config.valuesOf(one);
  for (const [key, { name, demand }] of Object.entries(one.settings)) {
    if (demand !== undefined && (values[key] ?? '') === '')
      throw new SettingError(`${name} must be set where ${one.code} is used: ${demand}`);
  }
  return one.create(values, context);
}

/** The setting that chooses from each list, and its value. */
const CHOICES: Readonly<Record<keyof Lists, readonly [string, (config: Choice) => readonly string[] | undefined]>> = {
  priceSources: ['PRICE_SOURCES', (config) => config.priceSources],
  verifiers: ['VERIFIER', ({ verifier: code }) => (code === undefined ? undefined : [code])],
  codeSenders: ['CODE_SENDER', ({ codeSender: code }) => (code === undefined ? undefined : [code])],
  banks: ['BANKS', (config) => config.banks],
  alertChannels: ['ALERT_CHANNELS', (config) => config.alertChannels ?? []],
  addressRisks: ['ADDRESS_RISK', ({ addressRisk: code }) => (code === undefined ? [] : [code])],
  travelProtocols: ['TRAVEL_PROTOCOL', ({ travelProtocol: code }) => (code === undefined ? [] : [code])],
};

/**
 * The adapters of a list that this configuration uses.
 *
 * @throws SettingError naming the setting, when one is sandbox-only and this is production
 */
export function chosen<K extends keyof Lists>(config: Choice, kind: K): Lists[K][number][] {
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

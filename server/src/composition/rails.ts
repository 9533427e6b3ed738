/**
 * Rails: connects them with the modules that decide.
 *
 * Rails report to orders and orders send through rails; the treasury sends sweeps through rails, and the rails report them to
 * it. These are the circular dependencies of a process, and both are closed here.
 */
import { ask } from '../base/http.ts';
import {
  type AddressRisk,
  combined,
  listSources,
  openAddressRisk,
  openSanctions,
  openScreener,
  RULES_VERSION,
  type Sanctions,
  type StoredScreening,
  screenOwn,
  type TravelRule,
} from '../compliance/index.ts';
import { comparePayer, openPayee, waitsUntil } from '../customers/index.ts';
import type { Environment } from '../environment.ts';
import { checkedRoutes, outsideFor } from '../events/index.ts';
import { peopleNeeded, recordByMachine } from '../operators/index.ts';
import {
  askBeforeSigning,
  askGate,
  type GateRules,
  lockOrdersOf,
  type OrdersContext,
  openAddresses,
  orderFacts,
  payerOf,
  senderOf,
} from '../orders/index.ts';
import { heldDestination, isSubmittingOff } from '../partners/index.ts';
import { type ChainRail, TRANSFER_KEY } from '../rails/chain.ts';
import { openSubmissions, type PayoutContext } from '../rails/payouts.ts';
import type { Rail, Report } from '../rails/rail.ts';
import * as registry from '../registry.ts';
import { askTransfer, type TransferRules, takeOwnTransfer, takeReturned, takeTransfer } from '../treasury/index.ts';
import type { Base } from './base.ts';
import { connectTravelRule } from './travel.ts';

export interface RailParts {
  readonly rails: ReadonlyMap<string, Rail>;
  readonly chains: ReadonlyMap<string, ChainRail>;
  readonly report: Report;
  readonly context: OrdersContext;
  readonly payouts: PayoutContext;
  /** Rules that the gate of transfers to own addresses reads. */
  readonly transfers: TransferRules;
  /** Results that are obtained in advance; undefined if nothing is configured that has any. */
  readonly stored: StoredScreening | undefined;
  /** Present if sanctions lists are configured. */
  readonly sanctions: Sanctions | undefined;
  /** Present if a provider of address risk is configured. */
  readonly addressRisk: AddressRisk | undefined;
  readonly travelRule: TravelRule;
  /** Filled in once the server listens. */
  readonly listening: { baseUrl: string };
  /** All rails except those whose node sleeps. */
  awake(): Rail[];
}

export function connectRails(base: Base, environment: Environment): RailParts {
  const { config, db, vault, clock, log } = base;
  let rails: ReadonlyMap<string, Rail> = new Map();
  let chains: ReadonlyMap<string, ChainRail> = new Map();
  const report: Report = async (tx, fact) => {
    const isCredit = fact.type === 'credit_unexpected' || fact.type === 'funding_confirmed';
    const left = isCredit ? await takeReturned({ clock, rails }, tx, fact) : fact;
    if (left === undefined) return;
    await orderFacts({ rails, clock, comparePayer: (tx, id, name) => comparePayer(tx, vault, id, name) }, (tx, own) =>
      own.key.startsWith(TRANSFER_KEY)
        ? takeTransfer({ clock, rails }, tx, own)
        : takeOwnTransfer({ clock, chains }, tx, own),
    )(tx, left);
  };
  rails = registry.rails(environment.connections, {
    ...{ db, clock, log, report, vault, pollMs: 1_000 },
    mayLeave: (tx, what) =>
      what.key.startsWith(TRANSFER_KEY)
        ? askTransfer({ clock, rules: transfers }, tx, what)
        : askBeforeSigning(context, tx, what),
    lockOrders: lockOrdersOf,
  });
  chains = new Map([...rails].filter(([, rail]) => rail.kind === 'chain') as [string, ChainRail][]);
  const sources = listSources(config.sanctionsLists ?? '');
  const sanctions =
    typeof sources === 'string'
      ? undefined
      : openSanctions({
          ...{ db, vault, clock, ask, sources },
          // Behind a proxy of the environment, the proxy resolves names and decides which may be called.
          ...(process.env.NODE_USE_ENV_PROXY === '1' ? {} : { route: checkedRoutes(outsideFor(config.profile)) }),
          record: recordByMachine,
          rules: { version: RULES_VERSION, threshold: config.sanctionsThreshold },
          maxAgeMs: config.sanctionsMaxAgeS * 1_000,
          rails: () => [...rails.keys()],
          // For coins, every originator named by the providers that sent them.
          async payerOf(tx, depositId) {
            const { names, revision } = await travelRule.originatorsOf(tx, depositId);
            const { name, address } = await payerOf({ rails }, tx, depositId);
            return { names: name === undefined ? names : [name, ...names], address, revision };
          },
        });
  const provider = registry.addressRisk(config);
  const addressRisk =
    provider === undefined
      ? undefined
      : openAddressRisk({
          ...{ db, clock, provider, threshold: config.addressRiskHit, maxAgeMs: config.addressRiskMaxAgeS * 1_000 },
          senderOf: (tx, depositId) => senderOf({ rails }, tx, depositId),
          underWay: openAddresses,
        });
  const listening = { baseUrl: '' };
  const travelRule: TravelRule = connectTravelRule(base, {
    protocol: registry.travelProtocol(config),
    rails: () => rails,
    context: () => context,
    publicUrl: () => config.publicUrl ?? listening.baseUrl,
  });
  const stored = combined([sanctions, addressRisk, travelRule]);
  const storedWait: Pick<GateRules, 'storedWait'> =
    stored === undefined ? {} : { storedWait: (tx, input) => stored.wait(tx, input) };
  const transfers: TransferRules = {
    screenOwn: (tx, input) => screenOwn(tx, vault, input, stored),
    ...storedWait,
    ...{ isSwitchedOff: isSubmittingOff, peopleNeeded },
  };
  const gate: GateRules = {
    screenOwn: (tx, input) => screenOwn(tx, vault, input, stored, { accountNames: config.accountNames }),
    ...storedWait,
    isSwitchedOff: isSubmittingOff,
    peopleNeeded,
    heldDestination,
    unconfirmedUntil: waitsUntil,
    ...(sanctions === undefined ? {} : { isPayerDue: (tx, depositId) => sanctions.isPayerDue(tx, depositId) }),
    screeningMaxAgeMs: config.screeningMaxAgeS * 1_000,
  };
  const screener = environment.screener(
    openScreener({ db, vault, stored, rules: { accountNames: config.accountNames } }),
  );
  const payouts: PayoutContext = {
    ...{ db, clock, log, rails, report },
    openAccount: (tx, id) => openPayee(tx, vault, id),
    gate: (tx, payout) => askGate(context, tx, payout),
  };
  const context: OrdersContext = {
    ...{ db, clock, log, rails, screener, vault, gate, travelRule },
    submissions: openSubmissions(payouts),
  };
  const awake = (): Rail[] => [...rails.values()].filter((rail) => rail.isAsleep?.() !== true);
  return {
    rails,
    chains,
    report,
    context,
    payouts,
    transfers,
    stored,
    sanctions,
    addressRisk,
    travelRule,
    listening,
    awake,
  };
}

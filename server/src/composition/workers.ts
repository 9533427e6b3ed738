/**
 * Workers: everything that runs without a request: the handler of every kind of job, the recurring jobs, and the webhook
 * dispatcher.
 */
import { alertHandlers, type Channel } from '../alerts/index.ts';
import type { Handlers } from '../base/jobs.ts';
import { startWorkers } from '../base/workers.ts';
import {
  type AskedVerifier,
  checkHandlers,
  expiryHandlers,
  informationHandlers,
  openCase,
} from '../compliance/index.ts';
import { emptyOldDrafts, numberAccounts, sweepFiles } from '../customers/index.ts';
import { erasureHandlers } from '../erasure/index.ts';
import { type Sender, standard, startDispatcher } from '../events/index.ts';
import { monitoringHandlers } from '../monitoring/index.ts';
import { purgeSessions, purgeSsoLogins } from '../operators/index.ts';
import { type Orders, orderHandlers } from '../orders/index.ts';
import { assets, encryptLabels, findPartner, signingSecrets } from '../partners/index.ts';
import { plannedHandlers } from '../protocols/operator/index.ts';
import { purgeRequestLog } from '../protocols/v1/index.ts';
import { flatFormat, whitelabelFormat } from '../protocols/whitelabel/index.ts';
import { type PriceSource, quoteHandlers } from '../quotes/index.ts';
import { indexTexts } from '../rails/bank.ts';
import { payoutHandlers } from '../rails/payouts.ts';
import { reconcileHandlers } from '../reconcile/index.ts';
import { reportHandlers } from '../reports/index.ts';
import { purgeTeams } from '../team/index.ts';
import { levelHandlers, sweepHandlers, transferHandlers } from '../treasury/index.ts';
import type { Base } from './base.ts';
import type { RailParts } from './rails.ts';
import type { Readiness } from './readiness.ts';
import { enqueueRecurring, POLLS, recurringHandlers } from './recurring.ts';

/** Connections of the dispatcher's own pool, so that recording deliveries takes none from payouts. */
const DISPATCHER_CONNECTIONS = 4;

export async function startWork(
  base: Base,
  parts: RailParts,
  more: {
    sources: ReadonlyMap<string, PriceSource>;
    verifier: AskedVerifier;
    channels: ReadonlyMap<string, Channel>;
    metrics: Readiness['metrics'];
  },
): Promise<void> {
  const { db, clock, log, ending } = base;
  const handlers = more.metrics.measureJobs(handlersOf(base, parts, more));
  const workers = await startWorkers({ db, clock, log, handlers, polls: POLLS, concurrency: 12 });
  ending.add(() => workers.stop());
  await enqueueRecurring(db, clock, {
    rails: parts.awake().map(({ code }) => code),
    sources: [...more.sources.keys()],
    chains: [...parts.chains.keys()],
    lists: parts.sanctions?.lists ?? [],
    asksAddresses: parts.addressRisk !== undefined,
    alerts: more.channels.size > 0,
    monitors: true,
    plans: true,
    expiries: true,
    reports: true,
    erasures: true,
  });
}

function handlersOf(
  { config, db, clock, log, vault, blobs, erasing }: Base,
  parts: RailParts,
  more: {
    sources: ReadonlyMap<string, PriceSource>;
    verifier: AskedVerifier;
    channels: ReadonlyMap<string, Channel>;
  },
): Handlers {
  const { rails, chains, context } = parts;
  const { sources, verifier, channels } = more;
  return {
    ...orderHandlers(context),
    ...quoteHandlers({ db, clock, sources }),
    ...payoutHandlers(parts.payouts),
    ...sweepHandlers({ db, clock, log, chains, everyMs: 1_000 }),
    ...transferHandlers({ db, clock, log, chains, rules: parts.transfers, refresh: parts.stored?.ensure }),
    ...reconcileHandlers({ db, clock, rails }),
    ...levelHandlers({ db, clock, rails }),
    ...recurringHandlers({
      db,
      clock,
      rails,
      chains,
      purge: async (now) =>
        await Promise.all([
          ...[purgeRequestLog(db, now), sweepFiles(db, blobs, now), emptyOldDrafts(db, now)],
          ...[purgeSessions(db, now), purgeSsoLogins(db, now), purgeTeams(db, now), numberAccounts(db, vault)],
          ...[indexTexts(db, vault), encryptLabels(db, vault)],
        ]),
    }),
    ...parts.sanctions?.handlers,
    ...parts.addressRisk?.handlers,
    ...parts.travelRule.handlers,
    ...alertHandlers({ db, clock, log, channels, publicUrl: config.publicUrl }),
    ...plannedHandlers({ db, vault, clock, log }),
    ...reportHandlers({ db, vault, clock }),
    ...informationHandlers({ db, clock }),
    ...erasureHandlers({ erasing, clock, afterDays: config.eraseAfterDays }),
    ...expiryHandlers({ db, clock, noticeDays: config.documentNoticeDays }),
    ...monitoringHandlers({ db, vault, clock }),
    ...checkHandlers({ db, vault, clock, verifier, overdueMs: config.verificationOverdueS * 1_000 }),
  };
}

/** Delivers events to partners' endpoints, from a pool of its own. */
export async function startDelivery(
  { clock, log, vault, openPools, ending }: Base,
  { orders, send }: { orders: Orders; send: Sender },
): Promise<void> {
  const db = openPools({ partnerConnections: 1, systemConnections: DISPATCHER_CONNECTIONS });
  ending.add(() => db.close());
  const secrets = (apiKey: string) => db.asSystem((tx) => signingSecrets(tx, vault, apiKey, clock.now()));
  const dispatcher = await startDispatcher({
    ...{ db, clock, log, vault, send },
    formats: {
      standard,
      whitelabel: whitelabelFormat({
        partner: async (id) => (await db.asSystem((tx) => findPartner(tx, { id }))) ?? { kycWords: {} },
        secrets,
      }),
      flat: flatFormat({
        order: ({ partnerId, id }) =>
          db.readOnlyAsPartner(partnerId, async (tx) => ({
            order: await orders.get(tx, { id }),
            assets: await assets(tx),
          })),
        secrets,
      }),
    },
    onDead: (tx, { partnerId, endpointId, isOff, now }) =>
      openCase(tx, {
        kind: isOff ? 'webhook_off' : 'webhook_undelivered',
        subject: `endpoint:${endpointId}`,
        partnerId,
        reason: isOff
          ? 'every attempt has failed for five days: it is switched off'
          : 'events could not be delivered for three days',
        now,
      }),
  });
  ending.add(() => dispatcher.stop());
}

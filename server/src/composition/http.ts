/**
 * HTTP: every protocol on one server, and the metrics on a port of their own. A worker has health and readiness in place of the
 * protocols.
 */
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { defined } from '../base/defined.ts';
import { openOidc } from '../base/oidc.ts';
import { highestLevelOf } from '../compliance/index.ts';
import { CONSOLE, consolePages } from '../console/index.ts';
import type { Environment, SandboxFile } from '../environment.ts';
import { type EgressPolicy, type Sender } from '../events/index.ts';
import { opsRoutes, startMetrics } from '../ops/index.ts';
import { askGate, type Orders } from '../orders/index.ts';
import type { Partners } from '../partners/index.ts';
import { callbacks } from '../protocols/callbacks/index.ts';
import { checkout } from '../protocols/checkout/index.ts';
import { operator, readHandbook, type SingleSignOn } from '../protocols/operator/index.ts';
import { team } from '../protocols/team/index.ts';
import { travel } from '../protocols/travel/index.ts';
import { requestDesk, unreadablePath, v1 } from '../protocols/v1/index.ts';
import { createServer, nearestEndpoint, verificationWords, whitelabel } from '../protocols/whitelabel/index.ts';
import { chainCost, type PriceSource } from '../quotes/index.ts';
import { clearHalt, whyOff } from '../rails/chain.ts';
import { enqueueUnsubmitted } from '../rails/payouts.ts';
import { comparedBalances, openCorrections } from '../reconcile/index.ts';
import * as registry from '../registry.ts';
import { site } from '../site/index.ts';
import {
  levels,
  newestTransfers,
  openMovements,
  openTransfers,
  sweepUndone,
  waitingTransfers,
} from '../treasury/index.ts';
import type { Verifier } from '../verifiers/verifier.ts';
import type { Base } from './base.ts';
import type { RailParts } from './rails.ts';
import type { Readiness } from './readiness.ts';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

interface Served {
  environment: Environment;
  orders: Orders;
  partners: Partners;
  sources: ReadonlyMap<string, PriceSource>;
  verifier: Verifier;
  readiness: Readiness;
  outside: EgressPolicy;
  send: Sender;
  /** undefined until the sandbox is ready. */
  sandbox(): SandboxFile | undefined;
}

/** Mounts everything and listens. @returns the addresses */
export async function serve(
  base: Base,
  parts: RailParts,
  served: Served,
): Promise<{ baseUrl: string; metricsUrl: string }> {
  const { config, log } = base;
  const { environment, readiness } = served;
  const { metrics } = readiness;
  let baseUrl = '';
  let metricsUrl = '';
  const publicUrl = () => config.publicUrl ?? baseUrl;
  const trustProxy = [...(config.trustedProxies ?? [])];
  const app = createServer({
    ...{ log, logRequests: config.logRequests === '1', trustProxy },
    unreadable: unreadablePath(publicUrl),
    nearest: config.profile === 'sandbox' ? nearestEndpoint : undefined,
  });
  metrics.measureHttp(app);
  await app.register(opsRoutes(readiness.checks));
  await mountForCustomers(app, base, parts, { ...served, publicUrl });
  await mountForOperators(app, base, parts, environment, publicUrl);
  await app.register(consolePages({ dist: join(CONSOLE, 'dist'), publicUrl }));
  if (config.docs === '1') await app.register(site({ docs: DOCS, publicUrl, sends: config.profile === 'sandbox' }));
  const welcome = environment.welcome?.(() => ({ sandbox: served.sandbox(), baseUrl, metricsUrl }));
  if (welcome !== undefined) await app.register(welcome);
  ({ baseUrl, metricsUrl } = await listen(base, app, readiness));
  parts.listening.baseUrl = baseUrl;
  return { baseUrl, metricsUrl };
}

/** What a worker serves: health, readiness and metrics. @returns the addresses */
export async function serveHealth(base: Base, readiness: Readiness): Promise<{ baseUrl: string; metricsUrl: string }> {
  const app = createServer({ log: base.log, unreadable: () => NOT_OF_A_WORKER });
  readiness.metrics.measureHttp(app);
  await app.register(opsRoutes(readiness.checks));
  // Before anything of a request is read: no path of a protocol exists here, whatever its method and body.
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.url !== undefined) return;
    const { status, body } = NOT_OF_A_WORKER;
    await reply.code(status).header('x-request-id', request.id).send(body);
  });
  return await listen(base, app, readiness);
}

const NOT_OF_A_WORKER = {
  status: 404,
  body: {
    error: 'worker',
    message:
      'This process is a worker: it answers /healthz and /readyz only. Partners, customers and operators call a server whose role is api or all.',
  },
};

async function listen(
  { config, ending }: Base,
  app: FastifyInstance,
  { metrics }: Readiness,
): Promise<{ baseUrl: string; metricsUrl: string }> {
  await app.listen({ port: config.port, host: config.host });
  ending.add(() => app.close());
  const metricsServer = await startMetrics({ metrics, port: config.metricsPort, host: config.host });
  ending.add(() => metricsServer.stop());
  return {
    baseUrl: `http://${config.host}:${(app.server.address() as AddressInfo).port}`,
    metricsUrl: `http://${config.host}:${metricsServer.port}/metrics`,
  };
}

/** The partners' wire, the hosted pages, and the callbacks of verification providers. */
async function mountForCustomers(
  app: FastifyInstance,
  { config, db, vault, blobs, clock, log }: Base,
  { context, chains, travelRule }: RailParts,
  served: Served & { publicUrl(): string },
): Promise<void> {
  const { environment, orders, partners, sources, verifier, outside, send, publicUrl } = served;
  // A request may need a chain whose node has not been started yet.
  const front = environment.front?.(db) ?? db;
  const networkIds = new Map(
    registry.chainIdsOf(environment.connections).map(({ chain, chainId }) => [chain, Number(chainId)]),
  );
  const sandbox = environment.controls?.({ ...context, chains, prices: sources });
  await app.register(
    whitelabel({
      ...{ db: front, vault, blobs, clock, log, partners, orders, publicUrl, send },
      sandbox,
      egress: outside,
      networkIds,
      withdrawalFee: (market) =>
        db.asSystem((tx) => chainCost(tx, market, environment.gasAtRest?.(market.crypto.chain ?? ''))),
    }),
  );
  const codes = registry.codeSender(config);
  const coolingOffMs = config.destinationCoolingOffS * 1_000;
  const phoneIdleMs = config.phoneIdleDays * 86_400_000;
  await app.register(
    v1({
      ...{ db: front, vault, blobs, clock, log, partners, orders, context, publicUrl, coolingOffMs, networkIds },
      egress: outside,
      profile: config.profile,
      hasDocs: config.docs === '1',
      highestLevelFor: (kind) => highestLevelOf(verifier, kind),
      ...{ phoneIdleMs, ...defined({ codes, sandbox }) },
    }),
  );
  await app.register(team({ db, clock, log, publicUrl, profile: config.profile }));
  await app.register(
    checkout({
      ...{ db: front, vault, blobs, clock, log, publicUrl, orders, verifier, coolingOffMs, phoneIdleMs },
      sender: codes,
      statusWord: (customer, partner) => verificationWords(customer, partner).status,
    }),
  );
  await app.register(callbacks({ db, clock, log, verifier }));
  if (travelRule.exchange !== undefined) await app.register(travel({ log, exchange: travelRule.exchange }));
}

/** Operators' logins at an identity provider; undefined when none is configured. */
function singleSignOn(config: Base['config']): SingleSignOn | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config;
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    name: config.oidcName,
    client: openOidc({ issuer, clientId, clientSecret }),
    policy: { strong: config.oidcStrong, isFresh: config.oidcStepUp === 'provider' },
  };
}

async function mountForOperators(
  app: FastifyInstance,
  { config, db, vault, blobs, erasing, clock, log }: Base,
  { rails, chains, report, context, transfers }: RailParts,
  environment: Environment,
  publicUrl: () => string,
): Promise<void> {
  const bank = environment.connections.banks
    .find(({ openDesk }) => openDesk !== undefined)
    ?.openDesk?.({ ...{ db, clock, log, report, vault }, gate: (tx, payout) => askGate(context, tx, payout) });
  const codes = registry.codeSender(config);
  await app.register(
    operator({
      ...{ db, vault, blobs, erasing, clock, publicUrl },
      eraseAfterDays: config.eraseAfterDays,
      profile: config.profile,
      orders: context,
      submitAgain: enqueueUnsubmitted,
      movements: openMovements({ db, clock, rails, report }),
      corrections: openCorrections({ clock, rails, sweepUndone }),
      treasury: { levels, balances: comparedBalances, transfers: waitingTransfers, sweeps: newestTransfers },
      transfers: openTransfers({
        ...{ clock, chains, rules: transfers },
        coolingOffMs: config.destinationCoolingOffS * 1_000,
      }),
      requests: requestDesk,
      chainHalts: { codes: [...chains.keys()], why: whyOff, clear: clearHalt },
      networks: config.operatorNetworks ?? [],
      handbook: (page) => readHandbook(DOCS, page),
      ...defined({ sso: singleSignOn(config) }),
      alertChannels: config.alertChannels ?? [],
      messengers: registry.messengers(config),
      sendCode: (phone, code) => codes.sendCode(phone, code),
      ...(bank && { bank }),
    }),
  );
}

/**
 * Environment: the systems that an installation is connected to, and the one place where the profiles differ. server.ts builds
 * the same modules on either.
 *
 * sandbox/profile.ts provides an environment: database, chains, bank, publicly known keys, test controls. production/index.ts
 * gets the addresses of everything from its settings, and refuses to start with anything that belongs to a sandbox.
 */
import type { FastifyPluginAsync } from 'fastify';
import type { Clock } from './base/clock.ts';
import type { Vault } from './base/crypto.ts';
import type { Database } from './base/db.ts';
import type { Log } from './base/log.ts';
import type { Screener } from './compliance/index.ts';
import type { Sender } from './events/index.ts';
import type { Check } from './ops/index.ts';
import type { OrdersContext } from './orders/index.ts';
import type { Partners } from './partners/index.ts';
import type { SandboxDriver } from './protocols/whitelabel/index.ts';
import type { PriceSource } from './quotes/index.ts';
import type { ChainRail } from './rails/chain.ts';
import type { Connections } from './registry.ts';

/** sandbox.json: the information for partners' programs. */
export interface SandboxFile {
  baseUrl: string;
  partners: SeededPartner[];
  chains: ({ rpcUrl: string } & ListedChain)[];
  /** Offered chains whose node starts when first needed; a woken chain moves to `chains`. */
  asleep?: ListedChain[];
}

export interface SeededPartner {
  name: string;
  apiKey: string;
  apiSecret: string;
  /** Value for `Authorization: Bearer`, under /v1. */
  bearerToken: string;
}

interface ListedChain {
  code: string;
  /** URL of the chain's own API, if it differs from that of its EVM node. */
  tronUrl?: string;
  chainId: number;
  tokens: readonly { code: string; address: string; decimals: number }[];
}

export interface Profile {
  /** All encryption keys are derived from it. */
  masterKey: Buffer;
  /** The previous master key, while values are still encrypted with it. */
  oldMasterKey?: Buffer | undefined;
  /** Undefined where the process answers no requests. */
  operatorToken: string | undefined;
  /** The PostgreSQL to use, started if necessary; the URL of a role that may create schemas and roles. */
  database(): Promise<string>;
  /** Connects to everything outside. The rows that rails need exist when it resolves. */
  connect(deps: Connecting): Promise<Environment>;
}

export interface Connecting {
  db: Database;
  adminUrl: string;
  vault: Vault;
  clock: Clock;
  log: Log;
}

export interface Environment {
  connections: Connections;
  screener(usual: Screener): Screener;
  /** Lets a sandbox drop messages to partners. */
  webhooks?(usual: Sender): Sender;
  /** Additional readiness checks of this environment. */
  checks: readonly Check[];
  /** Its own steps once rails and workers run: seeds and opening funds. */
  begin(deps: {
    chains: ReadonlyMap<string, ChainRail>;
    partners: Partners;
    /** Starts the recurring jobs of a rail. */
    follow(rail: string): Promise<void>;
    /** Called when the chain of a rail was woken and funded: from now on it is like any other. */
    woken(rail: string): Promise<void>;
  }): Promise<void>;
  /** The database as protocols use it, for a sandbox whose chains are woken when needed. */
  front?(usual: Database): Database;
  /** Native units per unit of gas on a chain whose node has not been started yet; undefined for every other. */
  gasAtRest?(chain: string): bigint | undefined;
  /** Only a sandbox can drive orders. */
  controls?(
    context: OrdersContext & { chains: ReadonlyMap<string, ChainRail>; prices: ReadonlyMap<string, PriceSource> },
  ): SandboxDriver;
  /** Called once it serves. @returns the information for programs in a sandbox; in production only the URL */
  ready(baseUrl: string): SandboxFile;
  /** The page at `/`. Production has none. */
  welcome?(at: () => { sandbox: SandboxFile | undefined; baseUrl: string; metricsUrl: string }): FastifyPluginAsync;
  stop(): Promise<void>;
}

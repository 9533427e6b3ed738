/**
 * Environment: what an installation is connected to, and the one place where the profiles differ. server.ts puts the same modules
 * on top of either.
 *
 * sandbox/profile.ts brings a world along: database, chains, bank, keys that everybody knows, test controls.
 * production/index.ts is told where everything is, and refuses to start with anything of the other.
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
import type { SandboxFile } from './sandbox/seed.ts';

export interface Profile {
  /** From which all sealing keys derive. */
  masterKey: Buffer;
  operatorToken: string;
  /** PostgreSQL to use, started where there is none; the address of a role that may create schemas and roles. */
  database(): Promise<string>;
  /** Connects to everything outside. Rows that rails need are there when it resolves. */
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
  /** Where a sandbox can lose what is sent to partners. */
  webhooks?(usual: Sender): Sender;
  /** What readiness asks of this world in particular. */
  checks: readonly Check[];
  /** What it brings along once rails and workers run: seeds and opening funds. */
  begin(deps: {
    chains: ReadonlyMap<string, ChainRail>;
    partners: Partners;
    /** Begins the recurring jobs of a rail. */
    follow(rail: string): Promise<void>;
    /** A chain that was asleep is as any other from now on. */
    woken(): Promise<void>;
  }): Promise<void>;
  /** The database as protocols use it, where a sandbox has chains that are woken by what needs them. */
  front?(usual: Database): Database;
  /** Native units for one unit of gas on a chain whose node has yet to be started; undefined for every other. */
  gasAtRest?(chain: string): bigint | undefined;
  /** Only a sandbox can move orders at will. */
  controls?(
    context: OrdersContext & { chains: ReadonlyMap<string, ChainRail>; prices: ReadonlyMap<string, PriceSource> },
  ): SandboxDriver;
  /** Once it serves. @returns what a sandbox tells programs; in production the address and nothing else */
  ready(baseUrl: string): SandboxFile;
  /** What stands at `/`. In production there is nothing. */
  welcome?(at: () => { sandbox: SandboxFile | undefined; baseUrl: string; metricsUrl: string }): FastifyPluginAsync;
  stop(): Promise<void>;
}

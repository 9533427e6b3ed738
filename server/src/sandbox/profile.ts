/**
 * The sandbox profile: it provides everything, and nothing in it has value. Secrets are created once and stored beside the data
 * they protect; chain keys come from a published phrase; the customers' login code is known.
 */

import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defined } from '../base/defined.ts';
import { SettingError } from '../base/env.ts';
import { assert } from '../base/errors.ts';
import { randomHex } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { formatUnits } from '../base/money.ts';
import { startPostgres } from '../base/postgres.ts';
import { magicScreener } from '../compliance/index.ts';
import type { Config } from '../config.ts';
import type { Connecting, Environment, Profile, SandboxFile, SeededPartner } from '../environment.ts';
import type { Outcome } from '../events/index.ts';
import { assets } from '../partners/index.ts';
import { simulatedVerifier } from '../verifiers/simulated/index.ts';
import { isTron, railCode } from './catalogue.ts';
import { waking } from './chains.ts';
import { sandboxControls, screensOrders } from './controls.ts';
import { sandboxDriver } from './driver.ts';
import { startEnvironment } from './environment.ts';
import { openPayer } from './payer.ts';
import { type Funding, fundChain, seedFunds, seedLevels, seedPartners, seedPeopleRules } from './seed.ts';
import { ENERGY_PRICE } from './tron.ts';
import { welcome } from './welcome.ts';

export interface SandboxOptions {
  log: Log;
  /** PostgreSQL without fsync, for tests. */
  fast?: boolean | undefined;
  /** More settings of the embedded PostgreSQL. */
  settings?: Readonly<Record<string, string>> | undefined;
  ending: { add(step: () => unknown): void };
}

export function sandboxProfile(config: Config, { log, fast, settings, ending }: SandboxOptions): Profile {
  return {
    get masterKey() {
      const text = config.masterKey ?? keptSecret(join(config.dataDir, 'master.key'));
      if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new SettingError('MASTER_KEY must be 64 hex digits');
      return Buffer.from(text, 'hex');
    },
    get oldMasterKey() {
      const text = config.oldMasterKey;
      if (text === undefined) return undefined;
      if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new SettingError('OLD_MASTER_KEY must be 64 hex digits');
      return Buffer.from(text, 'hex');
    },
    get operatorToken() {
      return config.operatorToken ?? keptSecret(join(config.dataDir, 'operator.token'));
    },
    async database() {
      if (config.databaseUrl !== undefined) return config.databaseUrl;
      const postgres = await startPostgres({
        dataDir: config.dataDir,
        log: (line) => log.info({ postgres: line }),
        ...defined({ fast, settings }),
      });
      ending.add(() => postgres.stop());
      return postgres.adminUrl;
    },
    connect: (deps) => connect(config, deps),
  };
}

async function connect(config: Config, deps: Connecting): Promise<Environment> {
  const { db, vault, clock } = deps;
  const environment = await startEnvironment({ config, ...deps });
  const file = join(config.dataDir, 'sandbox.json');
  let seeded: SeededPartner[] = [];
  const webhooks = { dropped: false };
  const { sleepers } = environment;
  let isEnding = false;
  let written: SandboxFile | undefined;
  /** Writes the file again and updates the object already returned, so that both contain a woken chain. */
  const rewriteChains = (): void => {
    if (written !== undefined) writeSandboxFile(file, Object.assign(written, environment.chains()));
  };
  return {
    connections: environment.connections,
    screener: (usual) =>
      magicScreener(screensOrders(usual), vault, async ({ depositAsset = '', depositUnits = 0n }, tx) => {
        const asset = (await (tx === undefined ? db.asSystem(assets) : assets(tx))).get(depositAsset);
        return asset === undefined ? '' : formatUnits(depositUnits, asset.decimals);
      }),
    checks: [],
    async begin({ chains, partners, follow, woken }) {
      seeded = await seedPartners({ db, vault, clock, partners }, readSandboxFile(file)?.partners ?? []);
      await environment.seedMarkets();
      await seedPeopleRules(db);
      const { bank, tokens, finalize } = environment;
      const funding: Funding = { db, clock, bank, tokens, finalize, isEnding: () => isEnding };
      const awake = [...chains.values()].filter(({ chain }) => !sleepers.isAsleep(chain));
      await seedLevels(
        db,
        awake.map(({ chain }) => chain),
      );
      await seedFunds(funding, awake);
      environment.wakesWith(async (code) => {
        const rail = chains.get(railCode(code));
        assert(rail !== undefined, `chain ${code} has no rail`);
        rewriteChains();
        await follow(rail.code);
        await rail.refreshGas();
        await fundChain(funding, rail);
        await seedLevels(db, [code]);
        await woken(rail.code);
      });
    },
    front: (usual) => waking(usual, sleepers),
    gasAtRest: (chain) => (!sleepers.isAsleep(chain) ? undefined : isTron(chain) ? ENERGY_PRICE : GAS_AT_REST),
    webhooks: (usual) => (to) => (webhooks.dropped ? Promise.resolve(LOST) : usual(to)),
    controls(context) {
      const payer = openPayer({ db, vault, bank: environment.bank });
      const { bank, finalize, reorg } = environment;
      const wake = async (chain: string): Promise<void> => await sleepers.wake(chain);
      return {
        ...sandboxDriver({ ...context, vault, payer, verifier: simulatedVerifier }),
        controls: sandboxControls({ ...context, vault, bank, payer, finalize, reorg, wake, webhooks }),
      };
    },
    ready(baseUrl) {
      written = { baseUrl, partners: seeded, ...environment.chains() };
      rewriteChains();
      return written;
    },
    async stop() {
      isEnding = true;
      await environment.stop();
    },
    welcome: (at) => welcome(() => ({ ...at(), file: relative(process.cwd(), file), hasDocs: config.docs === '1' })),
  };
}

/** Gas price of a freshly started node: a base fee and a tip of 1 gwei each. */
const GAS_AT_REST = 2_000_000_000n;

/** The outcome of a dropped message: the same as if the receiver were down. */
const LOST: Outcome = { ok: false, status: null, error: 'connection_refused', answer: '', tookMs: 0 };

/**
 * Created once, 32 random bytes as hex. Without master.key no encrypted value can be read, so it is stored beside the data it
 * encrypts.
 */
function keptSecret(file: string): string {
  if (!existsSync(file)) {
    writeFileSync(`${file}.new`, `${randomHex(32)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  return readFileSync(file, 'utf8').trim();
}

function readSandboxFile(file: string): SandboxFile | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SandboxFile;
  } catch {
    // Missing, or half written by a crash: new keys are created.
    return undefined;
  }
}

function writeSandboxFile(file: string, content: SandboxFile): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}

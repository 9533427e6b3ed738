/**
 * The ground every run starts from: a migrated database with assets, markets, a partner and its customers, made once, in a
 * separate PostgreSQL.
 *
 * It is separate because a seed has to play the same twice. Autovacuum in the middle of a run gives a statement another plan, and
 * a plan decides the order of rows without an explicit order; activity in other databases of a server decides when a page is
 * pruned, and so where the next row goes. None of that may happen here. Statistics are collected once, before the first run.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openVault } from '../../src/base/crypto.ts';
import { openDatabase, txOn } from '../../src/base/db.ts';
import { migrate } from '../../src/base/migrate.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { addFiatAccount, enroll, recordVerification } from '../../src/customers/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { trustFundingSource } from '../../src/rails/chain.ts';
import { PARTNERS } from '../../src/sandbox/catalogue.ts';
import { seedCatalogue, seedMarkets } from '../../src/sandbox/seed.ts';
import { folderOfRun, memoryFolder } from '../support/memory.ts';
import { socketIn } from '../support/socket.ts';
import { chanceOf } from './chance.ts';
import { CLOCK_FILE, PREPARATION } from './database.ts';
import { CLEARING_MS, CONFIRMATIONS } from './guard.ts';
import { FIAT, OTHER_FIAT } from './outside.bank.ts';
import { CHAIN, FAUCET, RAIL, TOKENS } from './outside.chain.ts';
import { seedRandomness } from './time.ts';

export const vault = openVault(createHash('sha256').update('a master key for simulations').digest());
const PASSWORD = vault.derive('database login');
const CUSTOMERS = 3;
/** Accounts of each customer: every order uses two of its own. */
const ACCOUNTS = 60;

/** Before any run begins (time.ts), and always the same: ids follow from it. */
const MADE_AT = new Date(Date.UTC(2027, 0, 3));
const TEMPLATE = 'simulation';

const SETTINGS = {
  autovacuum: 'off',
  // The scheduler finds deadlocks itself, and sooner.
  deadlock_timeout: '1h',
  max_connections: '150',
  shared_buffers: '48MB',
  // Each run has a new database, so every statement is planned again: once, instead of for each of its first five values.
  plan_cache_mode: 'force_generic_plan',
  // A run opens about fifteen connections, and each login repeats this as often.
  scram_iterations: '1',
  // It may be in memory.
  max_wal_size: '128MB',
};

/** In memory if there is enough: a database is made for each run, and on a disk that takes a tenth of the run's time. */
function folderOfGround(): string {
  if (process.env.TEST_DATA_DIR !== undefined) return join(process.env.TEST_DATA_DIR, String(process.pid));
  return folderOfRun(
    memoryFolder('cloverleaf-simulation') ?? join(import.meta.dirname, '..', '..', '..', '.test-data'),
  );
}

/** Of the ids of what every run begins with. */
const GROUND_SEED = 1;

/** Location of a ground, for another process that uses it while its owner does not. */
export interface Place {
  adminUrl: string;
  /** Of the template, as a server of ours logs in. */
  serverUrl: string;
  clockFile: string;
}

/** A ground of its own. @returns what makes a database for one run */
export async function prepareFixture() {
  const folder = join(folderOfGround(), 'simulation');
  const socket = socketIn(folder);
  const postgres = await startPostgres({ dataDir: folder, fast: true, settings: { ...SETTINGS, ...socket.settings } });
  const ownUrl = socket.urlOf(postgres);
  const clockFile = join(folder, 'postgres', CLOCK_FILE);
  writeFileSync(clockFile, String(MADE_AT.getTime()));
  await onServer(ownUrl, `create database ${TEMPLATE}`);
  const adminUrl = urlOf(ownUrl, TEMPLATE);
  const serverUrl = await migrate(adminUrl, PASSWORD);
  const admin = new pg.Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  const db = openDatabase(serverUrl);
  // Rows are locked in the order of their ids: with other ids, a seed would play differently in every process.
  const restoreRandomness = seedRandomness(chanceOf(GROUND_SEED));
  try {
    await admin.query(PREPARATION);
    const tokens = new Map([
      [CHAIN, Object.entries(TOKENS).map(([code, address]) => ({ code, address, decimals: 6 }))],
    ]);
    await seedCatalogue(db, tokens);
    const now = MADE_AT;
    const { name } = PARTNERS[0] as (typeof PARTNERS)[number];
    await db.asSystem(async (tx) => {
      const partner = await createPartner(tx, { name, now, toleranceBps: 100n });
      await trustFundingSource(tx, RAIL, FAUCET, 'faucet');
      for (let n = 1; n <= CUSTOMERS; n += 1) {
        const enrolled = await enroll(tx, vault, {
          partnerId: partner.id,
          clientCustomerId: `customer-${n}`,
          kind: 'INDIVIDUAL',
          now,
        });
        const customer = await recordVerification(tx, {
          customer: enrolled,
          verifier: 'simulated',
          outcome: 'verified',
          level: 2,
          now,
        });
        for (let a = 1; a <= ACCOUNTS; a += 1) {
          const details = { account: `${n}${String(a).padStart(7, '0')}`, ifsc: 'HDFC0000001', name: 'A Customer' };
          // Ids follow from the time, and a sixth of a run of sixty within one moment would collide.
          const at = new Date(now.getTime() + n * 1_000 + a);
          await addFiatAccount(tx, vault, { customer, fiat: FIAT, details, now: at });
          if (a % 2 === 0) continue;
          const other = { account: `9${details.account}`, name: details.name };
          await addFiatAccount(tx, vault, {
            customer,
            fiat: OTHER_FIAT,
            details: other,
            now: new Date(at.getTime() + 500),
          });
        }
      }
    });
    await seedMarkets(db, tokens);
    const tx = txOn(admin);
    // Sweeps have a story of their own: no deposit here is large enough for one.
    await tx.run('update sweep_minimums set min_units = $1', [10n ** 30n]);
    // Times are short here: an hour elsewhere is a minute.
    await tx.run('update markets set deposit_ttl_s = 80, quote_ttl_s = 20');
    await tx.run("update markets set clearing_s = $1 where direction = 'onramp'", [CLEARING_MS / 1000]);
    // Markets not traded here need prices all the same. Refunds in another currency ask closed markets too.
    await tx.run(`update markets set enabled = false where fiat_asset <> $1 or crypto_asset <> $2`, [
      FIAT,
      `usdc.${CHAIN}`,
    ]);
    await tx.run('delete from confirmation_policies');
    await tx.run(
      `insert into confirmation_policies (chain, asset, from_units, confirmations)
       select $1, code || '.' || $1, from_units, blocks from unnest($2::text[]) as code,
              unnest($3::numeric[], $4::int[]) as step (from_units, blocks)`,
      [
        CHAIN,
        Object.keys(TOKENS),
        CONFIRMATIONS.map(({ fromUnits }) => fromUnits),
        CONFIRMATIONS.map(({ blocks }) => blocks),
      ],
    );
    // A customer verified up to the first level may pay less than most orders require.
    await tx.run(
      `insert into market_limits (market_id, level, max_units)
       select id, 1, case direction when 'onramp' then 600000 else 60000000 end from markets`,
    );
    // A mix of policies: automatic refunds, follow-on orders, kept fees.
    await tx.run(
      `insert into policies (market_id, question, answer)
       select m.id, q.question, q.answer::jsonb from markets m join (values
         ('onramp', 'late', '{"then": "new_order"}'), ('onramp', 'second', '{"then": "refund"}'),
         ('onramp', 'overpaid', '{"acceptBps": 0, "beyond": "refund_excess"}'),
         ('onramp', 'refundFees', '{"keep": ["operator", "rail"]}'),
         ('offramp', 'late', '{"then": "refund"}'), ('offramp', 'second', '{"then": "new_order"}'),
         ('offramp', 'refundFees', '{"keep": ["rail"]}')) as q (direction, question, answer) using (direction)`,
    );
    // Only a customer who has logged in may get a follow-on order of late money.
    await tx.run('update customers set logged_in_at = $1', [MADE_AT]);
    await tx.run('delete from sweep_minimums');
    await admin.query('vacuum analyze');
  } finally {
    restoreRandomness();
    await db.close();
    await admin.end();
  }
  return fixtureAt({ adminUrl: ownUrl, serverUrl, clockFile }, async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });
}

export type Fixture = ReturnType<typeof fixtureAt>;

/** A ground that another process has prepared, and will drop. The processes coordinate its use. */
export function fixtureAt(place: Place, end: () => Promise<void> = async () => {}) {
  const { adminUrl, serverUrl } = place;
  const clock = openClock(place.clockFile);
  return {
    place,
    /** @param of.capUnits the most that may be promised to the partner at a time */
    async database({ capUnits }: { capUnits?: bigint | undefined } = {}) {
      const name = `run_${randomBytes(4).toString('hex')}`;
      await onServer(adminUrl, `create database ${name} template ${TEMPLATE} strategy file_copy`);
      if (capUnits !== undefined)
        await onServer(
          urlOf(adminUrl, name),
          `insert into cloverleaf.exposure_caps (partner_id, fiat_asset, max_units)
           select id, '${FIAT}', ${capUnits} from cloverleaf.partners`,
        );
      const older = `${name}_older`;
      const urls = (of: string) => ({ adminUrl: urlOf(adminUrl, of), serverUrl: urlOf(serverUrl, of) });
      const drop = (one: string) => onServer(adminUrl, `drop database if exists ${one} with (force)`);
      return {
        ...urls(name),
        setClock: clock.set,
        /** A backup of its present state. No process is connected to it. */
        copy: () => onServer(adminUrl, `create database ${older} template ${name} strategy file_copy`),
        older: urls(older),
        async drop() {
          await drop(name);
          await drop(older);
        },
      };
    },
    async drop() {
      clock.close();
      await end();
    },
  };
}

async function onServer(adminUrl: string, statement: string): Promise<void> {
  const client = new pg.Client(adminUrl);
  await client.connect();
  await client.query(statement);
  await client.end();
}

const urlOf = (url: string, name: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href;

/** The file that PostgreSQL reads its time from. Never emptied, because it may be reading. */
function openClock(path: string) {
  const file = openSync(path, 'r+');
  return { set: (ms: number) => void writeSync(file, String(ms), 0), close: () => closeSync(file) };
}

/**
 * The ground every run starts from: a migrated database with assets, markets, a partner and its customers, made once, in a
 * PostgreSQL that nobody else uses.
 *
 * It is one of our own because a seed has to play the same twice. Autovacuum in the middle of a run gives a statement another
 * plan, and a plan decides in which order rows come back where nothing asks for an order; what other databases of a server
 * do decides when a page is tidied up, and so where the next row goes. Nothing of that may happen by itself here. Statistics
 * are taken once, before the first run.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { openVault } from '../../src/base/crypto.ts';
import { openDatabase, txOn } from '../../src/base/db.ts';
import { migrate } from '../../src/base/migrate.ts';
import { addFiatAccount, enroll, recordVerification } from '../../src/customers/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { trustFundingSource } from '../../src/rails/chain.ts';
import { PARTNERS } from '../../src/sandbox/catalogue.ts';
import { startPostgres } from '../../src/sandbox/postgres.ts';
import { seedCatalogue, seedMarkets } from '../../src/sandbox/seed.ts';
import { CLOCK_FILE, PREPARATION } from './database.ts';
import { FIAT } from './outside.bank.ts';
import { CHAIN, FAUCET, RAIL, TOKENS } from './outside.chain.ts';

export const vault = openVault(createHash('sha256').update('a master key for simulations').digest());
const PASSWORD = vault.derive('database login');
const CUSTOMERS = 3;
/** Accounts of each customer: every order takes two that no other has. */
const ACCOUNTS = 60;

/** Before any run begins (time.ts), and always the same: ids follow from it. */
const MADE_AT = new Date(Date.UTC(2027, 0, 3));
const TEMPLATE = 'simulation';

const SETTINGS = {
  autovacuum: 'off',
  // The scheduler sees whoever waits in a circle, and sooner.
  deadlock_timeout: '1h',
  max_connections: '60',
  shared_buffers: '48MB',
};

/** @returns what makes a database for one run */
export async function prepareGround() {
  const folders = process.env.TEST_DATA_DIR ?? join(resolve(import.meta.dirname, '..', '..', '..'), '.test-data');
  const folder = join(folders, String(process.pid), 'simulation');
  const postgres = await startPostgres({ dataDir: folder, fast: true, settings: SETTINGS });
  const onServer = async (statement: string): Promise<void> => {
    const client = new pg.Client(postgres.adminUrl);
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  const urlOf = (url: string, name: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const clock = openClock(join(folder, 'postgres', CLOCK_FILE));
  clock.set(MADE_AT.getTime());
  await onServer(`create database ${TEMPLATE}`);
  const adminUrl = urlOf(postgres.adminUrl, TEMPLATE);
  const serverUrl = await migrate(adminUrl, PASSWORD);
  const admin = new pg.Client({ connectionString: adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  const db = openDatabase(serverUrl);
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
        }
      }
    });
    await seedMarkets(db, tokens);
    const tx = txOn(admin);
    // Life is short here: what takes an hour elsewhere takes a minute. Moving custody is its own story.
    await tx.run('update markets set deposit_ttl_s = 80, quote_ttl_s = 20');
    await tx.run('delete from sweep_minimums');
    await admin.query('vacuum analyze');
  } finally {
    await db.close();
    await admin.end();
  }
  return {
    async database() {
      const name = `run_${randomBytes(4).toString('hex')}`;
      await onServer(`create database ${name} template ${TEMPLATE}`);
      return {
        adminUrl: urlOf(postgres.adminUrl, name),
        serverUrl: urlOf(serverUrl, name),
        setClock: clock.set,
        drop: () => onServer(`drop database ${name} with (force)`),
      };
    },
    async drop() {
      clock.close();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The file that PostgreSQL reads its time from. */
function openClock(path: string) {
  const file = openSync(path, 'w', 0o644);
  return { set: (ms: number) => void writeSync(file, String(ms), 0), close: () => closeSync(file) };
}

export type Ground = Awaited<ReturnType<typeof prepareGround>>;

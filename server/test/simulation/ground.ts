/** The ground every run starts from: a migrated database with assets, markets, a partner and its customers, made once. */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { openVault } from '../../src/base/crypto.ts';
import { openDatabase, txOn } from '../../src/base/db.ts';
import { migrate } from '../../src/base/migrate.ts';
import { addFiatAccount, enroll, recordVerification } from '../../src/customers/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { trustFundingSource } from '../../src/rails/chain.ts';
import { PARTNERS } from '../../src/sandbox/catalogue.ts';
import { seedCatalogue, seedMarkets } from '../../src/sandbox/seed.ts';
import { freshDatabase } from '../support/database.ts';
import { PREPARATION } from './database.ts';
import { FIAT } from './outside.bank.ts';
import { CHAIN, FAUCET, RAIL, TOKENS } from './outside.chain.ts';

export const vault = openVault(createHash('sha256').update('a master key for simulations').digest());
const PASSWORD = vault.derive('database login');
const CUSTOMERS = 3;
/** Accounts of each customer: every order takes two that no other has. */
const ACCOUNTS = 60;

/** @returns what makes a database for one run */
export async function prepareGround() {
  const template = await freshDatabase();
  const serverUrl = await migrate(template.adminUrl, PASSWORD);
  const admin = new pg.Client({ connectionString: template.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  const db = openDatabase(serverUrl);
  try {
    await admin.query(PREPARATION);
    const tokens = new Map([
      [CHAIN, Object.entries(TOKENS).map(([code, address]) => ({ code, address, decimals: 6 }))],
    ]);
    await seedCatalogue(db, tokens);
    const now = new Date();
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
    // Life is short here: what takes an hour elsewhere takes two minutes. Moving custody is its own story.
    await tx.run('update markets set deposit_ttl_s = 120, quote_ttl_s = 20');
    await tx.run('delete from sweep_minimums');
  } finally {
    await db.close();
    await admin.end();
  }
  const name = new URL(template.adminUrl).pathname.slice(1);
  return {
    async database() {
      const before = process.env.TEST_DATABASE_TEMPLATE;
      process.env.TEST_DATABASE_TEMPLATE = name;
      try {
        const made = await freshDatabase();
        const server = new URL(serverUrl);
        server.pathname = new URL(made.adminUrl).pathname;
        const client = new pg.Client(made.adminUrl);
        await client.connect();
        await client.query(`alter database ${new URL(made.adminUrl).pathname.slice(1)} set deadlock_timeout = '50ms'`);
        await client.end();
        return { ...made, serverUrl: server.href };
      } finally {
        if (before === undefined) delete process.env.TEST_DATABASE_TEMPLATE;
        else process.env.TEST_DATABASE_TEMPLATE = before;
      }
    },
    drop: () => template.drop(),
  };
}

export type Ground = Awaited<ReturnType<typeof prepareGround>>;

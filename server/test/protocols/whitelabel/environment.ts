/**
 * A server with this API over real HTTP and a real database, with a chain that only gives addresses and a fixed price: enough for
 * all tests in which no money moves.
 */
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { FastifyPluginAsync } from 'fastify';
import { Client as Postgres } from 'pg';
import { openFolder } from '../../../src/base/blobs.ts';
import { findCustomer, recordLogin, recordVerification } from '../../../src/customers/index.ts';
import { openSender, outsideFor } from '../../../src/events/index.ts';
import { type Orders, openOrders } from '../../../src/orders/index.ts';
import {
  createKey,
  createPartner,
  openPartners,
  type Partner,
  type Scope,
  upsertAsset,
  upsertMarket,
} from '../../../src/partners/index.ts';
import {
  createServer,
  nearestEndpoint,
  type SandboxControls,
  type SandboxDriver,
  type UploadLimits,
  whitelabel,
} from '../../../src/protocols/whitelabel/index.ts';
import { quoteHandlers } from '../../../src/quotes/index.ts';
import { fixedSource } from '../../../src/quotes/sources/fixed.ts';
import { readAddress } from '../../../src/rails/evm/addresses.ts';
import type { Rail } from '../../../src/rails/rail.ts';
import { simulatedVerifier } from '../../../src/verifiers/simulated/index.ts';
import { type Client, type Keys, newPhone, openClient } from '../../support/client.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';
import { freshFolder } from '../../support/folder.ts';
import { gateRules } from '../../support/gate.ts';
import { fiat } from '../../support/terms.ts';

/** Tests move the price of this source freely, up to threefold. */
const ONE_SOURCE = { priceQuorum: 1, singleSource: true, outlierBps: 300n, jumpBps: 20_000n };
/** Prices are of the table, so they must last for the slowest test file on a busy machine. */
const PRICES_FOR_MS = 20 * 60_000;
/** A source that was silent for a minute does not count, however old its prices may be. */
const FETCH_EVERY_MS = 15_000;

/** Tables that a request changes without an effect, or that prices change while a test runs. */
const CHANGE_BY_THEMSELVES = ['api_keys', 'request_log', 'prices', 'price_levels', 'price_sources', 'gas_prices'];

export type Environment = Awaited<ReturnType<typeof wireEnvironment>>;

export interface TestPartner extends Client {
  partner: Partner;
  /** A customer that has logged in and is verified, with one INR account. */
  customerId: string;
  fiatAccountId: string;
}

const SCOPES: Scope[] = ['read', 'trade', 'customers'];

/** An address of valid form that is not in use. */
export const contractOf = (code: string): string =>
  `0x${createHash('sha256').update(`contract ${code}`).digest('hex').slice(0, 40)}`;

/** A rail that only gives and reads addresses. */
const rail = (chain: string) =>
  ({
    code: `evm.${chain}`,
    kind: 'chain',
    chain,
    readAddress,
    targets: {
      are: 'derived',
      of: (index: bigint) => `0x${createHash('sha256').update(`${chain} ${index}`).digest('hex').slice(0, 40)}`,
    },
  }) as unknown as Rail;

/** A rail that only names the payee. */
const bank = {
  code: 'bank.simulated',
  kind: 'bank',
  targets: { are: 'derived', of: (index: bigint) => `CL${String(index).padStart(8, '0')}` },
  payee: () => ({
    holder: 'Test Operator',
    bank: 'Test Bank',
    branch: 'Nowhere',
    accountType: 'Current',
    accountNumber: '000100020003',
    ifsc: 'TEST0000001',
    iban: '',
    bic: '',
  }),
} as unknown as Rail;

/**
 * @param options.beside   mounts another protocol on the same server
 * @param options.controls the sandbox's controls are served, and do nothing
 *
 * Long because the environment is one closure: all of its functions share the server and its rows.
 */
export async function wireEnvironment(
  options: {
    production?: boolean;
    withdrawalFee?: boolean;
    uploadLimits?: UploadLimits;
    controls?: boolean;
    beside?: (fixture: Fixture & { publicUrl: () => string; orders: Orders; blobFolder: string }) => FastifyPluginAsync;
  } = {},
) {
  const fixture = await freshFixture();
  const { db, vault, clock, log } = fixture;
  const admin = new Postgres({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();

  await db.asSystem(async (tx) => {
    for (const code of ['inr', 'eur']) await upsertAsset(tx, fiat(code));
    for (const [coin, chain, decimals] of [
      ['usdc', 'matic20', 6],
      ['usdc', 'erc20', 6],
      ['dai', 'matic20', 18],
    ] as const) {
      const code = `${coin}.${chain}`;
      await upsertAsset(tx, { code, kind: 'crypto', coin, chain, contract: contractOf(code), decimals, native: false });
      const terms = { enabled: true, isDefault: chain === 'matic20', quoteTtlMs: 60_000, depositTtlMs: 3_600_000 };
      const prices = { priceSources: ['fixed'], priceMaxAgeMs: PRICES_FOR_MS, ...ONE_SOURCE };
      const unit = 10n ** BigInt(decimals);
      for (const fiat of ['inr', 'eur']) {
        const pair = {
          crypto: code,
          fiat,
          depositRail: `evm.${chain}`,
          payoutRail: 'bank.simulated',
          payoutDecimals: 2,
        };
        const paymentMethod = fiat === 'inr' ? 'IMPS' : 'SEPA_BANK_TRANSFER';
        await upsertMarket(tx, {
          ...terms,
          ...prices,
          ...pair,
          direction: 'offramp',
          paymentMethod,
          minUnits: unit,
          maxUnits: 10_000n * unit,
        });
      }
    }
    const back = { depositRail: 'bank.simulated', payoutRail: 'evm.matic20', payoutDecimals: 2, paymentMethod: 'UPI' };
    await upsertMarket(tx, {
      ...back,
      direction: 'onramp',
      crypto: 'usdc.matic20',
      fiat: 'inr',
      enabled: true,
      isDefault: true,
      minUnits: 10_000n,
      maxUnits: 10_000_000n,
      quoteTtlMs: 60_000,
      depositTtlMs: 3_600_000,
      priceSources: ['fixed'],
      priceMaxAgeMs: PRICES_FOR_MS,
      ...ONE_SOURCE,
    });
  });
  const source = fixedSource();
  const refresh = quoteHandlers({ db, clock, sources: new Map([['fixed', source]]) }).refresh_prices;
  await refresh?.('fixed');
  let fetching: Promise<unknown> = Promise.resolve();
  const fetches = setInterval(() => {
    // A file whose database is closed or broken has no use for prices.
    fetching = Promise.resolve(refresh?.('fixed')).catch(() => {});
  }, FETCH_EVERY_MS).unref();

  const rails = new Map([rail('matic20'), rail('erc20'), bank].map((one) => [one.code, one]));
  const orders = openOrders({ rails, clock, vault, gate: gateRules(vault) });
  const driven: { orderId: bigint; status: number }[] = [];
  const sandbox: SandboxDriver = {
    ...(options.controls === true ? { controls: {} as SandboxControls } : {}),
    driveOrder: async ({ orderId, status }) => void driven.push({ orderId, status }),
    // The sandbox's own verifier, so that a level it cannot reach fails a test here.
    verify: async (asked) => {
      const { code, finding } = simulatedVerifier;
      return { verifier: code, level: (await finding({ ...asked, key: asked.customerId })).level };
    },
  };
  const partners = openPartners({ db, vault, clock });

  const blobFolder = freshFolder('documents');
  fixture.personal.keeps(blobFolder);
  const app = createServer({ log, nearest: options.production ? undefined : nearestEndpoint });
  let baseUrl = '';
  await app.register(
    whitelabel({
      db,
      vault,
      clock,
      log,
      partners,
      orders,
      publicUrl: () => baseUrl,
      blobs: openFolder(blobFolder),
      ...(options.uploadLimits === undefined ? {} : { uploadLimits: options.uploadLimits }),
      egress: outsideFor(options.production === true ? 'production' : 'sandbox'),
      send: openSender(outsideFor(options.production === true ? 'production' : 'sandbox')),
      ...(options.production === true ? {} : { sandbox }),
      ...(options.withdrawalFee === false ? {} : { withdrawalFee: async () => 210_000n }),
    }),
  );
  if (options.beside !== undefined)
    await app.register(options.beside({ ...fixture, orders, blobFolder, publicUrl: () => baseUrl }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

  async function keyOf({ id }: Partner, over: { scopes?: Scope[]; key?: string; secret?: string } = {}): Promise<Keys> {
    return await db.asSystem((tx) =>
      createKey(tx, vault, { partnerId: id, label: 'test', scopes: SCOPES, now: clock.now(), ...over }),
    );
  }

  async function partner(
    name: string,
    settings: { quoteShape?: 'A' | 'B'; corsOrigins?: string[] } = {},
  ): Promise<TestPartner> {
    const made = await db.asSystem((tx) => createPartner(tx, { name, now: clock.now(), ...settings }));
    const client = openClient(baseUrl, await keyOf(made));
    const customerId = await customer(client, made, `${name}-customer`);
    const account = await client.post('bank/addFiatAccount', {
      customerId,
      fiatAccount: '000111222333',
      ifsc: 'HDFC0001234',
    });
    return { ...client, partner: made, customerId, fiatAccountId: account.body.data.fiatAccountId };
  }

  async function customer(client: Client, { id }: Partner, clientCustomerId: string, verified = true): Promise<string> {
    const enrolled = await client.post('kyc/url', {
      clientCustomerId,
      phoneNumber: newPhone(),
      type: 'INDIVIDUAL',
    });
    const { customerId } = enrolled.body.data;
    if (verified) {
      await db.asPartner(id, async (tx) => {
        await recordLogin(tx, customerId, clock.now());
        const found = await findCustomer(tx, customerId);
        await recordVerification(tx, {
          customer: found,
          verifier: 'test',
          outcome: 'verified',
          level: 2,
          now: clock.now(),
        });
      });
    }
    return customerId;
  }

  /** Hash over all tables except those that any request may change: equal before and after means that nothing has changed. */
  async function contents(besides: readonly string[] = []): Promise<string> {
    const tables = await admin.query(
      `select relname from pg_class where relnamespace = 'cloverleaf'::regnamespace and relkind = 'r' order by 1`,
    );
    const hash = createHash('sha256');
    for (const { relname } of tables.rows) {
      if ([...CHANGE_BY_THEMSELVES, ...besides].includes(relname)) continue;
      const rows = await admin.query(
        `select count(*)::text || coalesce(md5(string_agg(r::text, '|' order by r::text)), '') as sum from ${relname} r`,
      );
      hash.update(`${relname} ${rows.rows[0].sum}\n`);
    }
    return hash.digest('hex');
  }

  return {
    ...fixture,
    baseUrl,
    blobFolder,
    orders,
    driven,
    source,
    refreshPrices: async () => void (await refresh?.('fixed')),
    partner,
    customer,
    keyOf,
    contents,
    query: async (text: string, values: unknown[] = []) => (await admin.query(text, values)).rows,
    async stop() {
      clearInterval(fetches);
      await fetching;
      await app.close();
      await admin.end();
      await fixture.stop();
    },
  };
}

/**
 * An environment of one market for tests of sales: our modules and workers on a database, a chain that only reports, and a bank in
 * memory. It counts the transactions of the workers: each is a list of its statements.
 */
import assert from 'node:assert/strict';
import type { Database, Tx } from '../../src/base/db.ts';
import { defined } from '../../src/base/defined.ts';
import type { Screener } from '../../src/compliance/index.ts';
import { openScreener } from '../../src/compliance/index.ts';
import { addFiatAccount, enroll, openPayee, recordLogin, recordVerification } from '../../src/customers/index.ts';
import { chart, move, post } from '../../src/ledger/index.ts';
import type { OrdersContext } from '../../src/orders/context.ts';
import { askGate, type Order, openOrders, orderFacts, orderHandlers } from '../../src/orders/index.ts';
import { createPartner, marketById, upsertAsset, upsertMarket } from '../../src/partners/index.ts';
import type { BankContext } from '../../src/rails/bank.ts';
import { type Gate, openSubmissions, type PayoutContext, payoutHandlers } from '../../src/rails/payouts.ts';
import type { PayoutStatus, Rail, RailFact, Sending, Sent } from '../../src/rails/rail.ts';
import type { Fixture } from './fixture.ts';
import { gateRules } from './gate.ts';
import { fiat, marketTerms } from './terms.ts';

export interface SaleEnvironmentOptions {
  screener?: (usual: Screener) => Screener;
  bank?: Partial<Rail>;
  /** Instead of the bank in memory: a rail of this code, on the environment's context. */
  openBank?: (code: string, context: BankContext) => Rail;
  /** Details of a customer's account; each customer needs another number. */
  account?: () => Record<string, string>;
  submitMs?: number;
}

export async function openSaleEnvironment(fixture: Fixture, options: SaleEnvironmentOptions = {}) {
  const { clock, vault, log } = fixture;
  const transactions: string[][] = [];
  const db = counted(fixture.db, transactions);
  const sent: Sending[] = [];
  const bank = {
    answer: async (sending: Sending): Promise<Sent> => ({ outcome: 'submitted', reference: sending.key }),
    status: async (): Promise<PayoutStatus> => ({ outcome: 'unknown', why: 'it does not say' }),
  };
  const atBank: Partial<Rail> = {
    ...{ code: 'bank.test', kind: 'bank', wallets: { deposits: 'main', payouts: 'main' } },
    send: async (sending) => {
      sent.push(sending);
      return await bank.answer(sending);
    },
    status: () => bank.status(),
    ...options.bank,
  };
  const targets = { are: 'derived', of: (index: bigint) => `evm.test:${index}` } as const;
  const onChain: Partial<Rail> = {
    ...{ code: 'evm.test', kind: 'chain', wallets: { deposits: 'main', payouts: 'main' } },
    targets,
    readTo: async () => clock.now(),
  };
  const bankContext = { db, clock, vault, log, report: (tx: Tx, fact: RailFact) => report(tx, fact) };
  const theBank = options.openBank?.('bank.test', bankContext) ?? (atBank as Rail);
  const rails = new Map([onChain as Rail, theBank].map((rail) => [rail.code, rail]));
  const usual = openScreener({ db, vault });
  const payouts: PayoutContext = {
    ...{ db, clock, log, rails, ...defined({ submitMs: options.submitMs }) },
    report: (tx, fact) => report(tx, fact),
    openAccount: (tx, id) => openPayee(tx, vault, id),
    gate: (tx, payout) => gate.ask?.(tx, payout) ?? askGate(context, tx, payout),
  };
  const gate: { ask?: Gate | undefined } = {};
  const context: OrdersContext = {
    submissions: openSubmissions(payouts),
    ...{ db, clock, log, vault, rails, gate: gateRules(vault) },
    screener: options.screener?.(usual) ?? usual,
  };
  const facts = orderFacts(context);
  const report = (tx: Tx, fact: RailFact): Promise<void> => facts(tx, fact);
  const { partner, marketId } = await fixture.db.asSystem(async (tx) => {
    await upsertAsset(tx, fiat('inr'));
    const crypto = { kind: 'crypto', chain: 'test', decimals: 6, native: false } as const;
    await upsertAsset(tx, { ...crypto, code: 'usdc.test', coin: 'usdc', contract: '0x1' });
    await tx.run(
      `insert into prices (source, base, quote, num, den, priced_at, fetched_at) values ('fixed', 'usdc', 'inr', 80, 1, now(), now())`,
    );
    const lines = move(chart.custody('bank.test', 'main', 'inr'), chart.treasury('inr'), 10n ** 9n);
    await post(tx, { id: 'opening', kind: 'opening', at: clock.now(), lines });
    return {
      partner: await createPartner(tx, { name: 'One', now: clock.now() }),
      marketId: await upsertMarket(tx, {
        ...{ ...marketTerms, crypto: 'usdc.test', fiat: 'inr', maxUnits: 10n ** 12n, priceMaxAgeMs: 3_600_000 },
      }),
    };
  });
  let deposits = 0;

  return {
    ...{ db, context, partner, transactions, sent, bank, gate, report },
    handlers: () => ({
      ...orderHandlers(context),
      ...payoutHandlers(payouts),
    }),

    async sells(depositUnits = 1_000_000n): Promise<Order> {
      const now = clock.now();
      return await fixture.db.asPartner(partner.id, async (tx) => {
        const name = { partnerId: partner.id, clientCustomerId: String(Math.random()), kind: 'INDIVIDUAL' } as const;
        const customer = await enroll(tx, vault, { ...name, now });
        await recordLogin(tx, customer.id, now);
        await recordVerification(tx, { customer, verifier: 'test', outcome: 'verified', level: 2, now });
        const details = { account: String(Math.random()), ...options.account?.() };
        const account = await addFiatAccount(tx, vault, { customer, fiat: 'inr', details, now });
        return await openOrders({ ...context, vault }).create(tx, {
          ...{ partner, customer, depositUnits, fiatAccountId: account.id, now },
          market: await marketById(tx, marketId),
        });
      });
    },

    /** Its deposit is seen and confirmed. */
    async pays(order: Order, units = order.depositUnits): Promise<void> {
      deposits += 1;
      const fact = {
        ...{ rail: 'evm.test', externalId: `hash:${deposits}`, target: order.depositTarget, asset: 'usdc.test' },
        ...{ units, reference: '0x1', facts: {} },
      };
      await fixture.db.asSystem((tx) => report(tx, { type: 'deposit_seen', ...fact }));
      await fixture.db.asSystem((tx) => report(tx, { type: 'deposit_confirmed', ...fact }));
    },

    async stateOf({ id }: Order): Promise<Order['state']> {
      return (await fixture.db.asSystem((tx) => openOrders({ ...context, vault }).get(tx, { id }))).state;
    },

    async payoutOf({ id }: Order) {
      const row = await fixture.db.asSystem((tx) =>
        tx.row<{ id: string; state: string; submissions: number; waitsFor: string | null }>(
          'select id, state, submissions, waits_for from payouts where order_id = $1',
          [id],
        ),
      );
      assert.ok(row !== undefined, `order ${id} has no payout`);
      return row;
    },

    /** The jobs of an order and of its payout. */
    jobsOf: ({ id }: Order) =>
      fixture.db.asSystem((tx) =>
        tx.rows<{ kind: string; dueAt: Date; lease: string | null; enqueued: number }>(
          `select kind, due_at, lease, enqueued from jobs where subject in ($1, 'pay_' || $1 || '_1') order by kind`,
          [String(id)],
        ),
      ),
  };
}

/** Notes the statements of each transaction of the system's pool. */
function counted(db: Database, transactions: string[][]): Database {
  return {
    ...db,
    asSystem: (body) =>
      db.asSystem((tx) => {
        const said: string[] = [];
        transactions.push(said);
        return body(noting(tx, said));
      }),
  };
}

const noting = (tx: Tx, said: string[]): Tx => ({
  ...tx,
  rows: (text, values) => {
    said.push(text);
    return tx.rows(text, values);
  },
  row: (text, values) => {
    said.push(text);
    return tx.row(text, values);
  },
  run: (text, values) => {
    said.push(text);
    return tx.run(text, values);
  },
  defer: (text, values) => {
    said.push(text);
    tx.defer(text, values);
  },
  deferLast: (key, text, values, tell) => {
    said.push(text);
    tx.deferLast(key, text, values, tell);
  },
});

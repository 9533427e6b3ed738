/**
 * Stories: functions for the actions of a customer, a partner, a bank and a chain on a real server.
 *
 * The server runs in this process on a database and a data folder of its own, with the sandbox's nodes and bank outside it, reached
 * as usual by JSON-RPC and HTTP. A partner's requests go over HTTP; a customer pays with a wallet whose key the server does not
 * have; the books are read directly. Nothing sleeps: a story waits for conditions, with a deadline.
 *
 * `close` checks the same after every story: the books balance and agree with chain and bank, every order holds the amount that its
 * state requires, its history is complete, its events match, no background job met a bug of ours, and nothing of a person is in clear.
 *
 * Long because `openStory` is one closure: all functions of a story share its server, clock and partner.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import pino from 'pino';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { movableClock } from '../../src/base/clock.ts';
import type { Tx } from '../../src/base/db.ts';
import { enqueue } from '../../src/base/jobs.ts';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { openTexts } from '../../src/base/texts.ts';
import { readConfig } from '../../src/config.ts';
import { findCustomer } from '../../src/customers/index.ts';
import {
  type Account,
  type AccountKind,
  type Balance,
  balance,
  balancesOf,
  chart,
  move,
  post,
} from '../../src/ledger/index.ts';
import { fundsArrived } from '../../src/orders/custody/facts.ts';
import { type MoneyTrace, refundOrder, release, trace } from '../../src/orders/index.ts';
import type { OrderState } from '../../src/orders/machine.ts';
import {
  BUILT_IN_POLICY,
  findMarket,
  marketById,
  type PolicyAnswer,
  type PolicyQuestion,
  setConfirmationPolicy,
  setPolicy,
} from '../../src/partners/index.ts';
import { OBSERVE } from '../../src/rails/rail.ts';
import { HOUR_MS, startSimulatedBank } from '../../src/rails/simulated/index.ts';
import { openItems, reconcileRail } from '../../src/reconcile/index.ts';
import { CHAINS, railCode } from '../../src/sandbox/catalogue.ts';
import { BANK } from '../../src/sandbox/seed.ts';
import { MNEMONIC, VISITOR_ACCOUNT } from '../../src/sandbox/wallets.ts';
import { type Running, start } from '../../src/server.ts';
import { type BalanceReader, brokenBooks, untilSound } from './books.ts';
import { type Answer, newPhone, openClient } from './client.ts';
import { freshDatabase } from './database.ts';
import { openHurry } from './hurry.ts';
import { until as waitUntil } from './until.ts';

export type Story = Awaited<ReturnType<typeof openStory>>;

export interface StoryCustomer {
  id: string;
  fiatAccountId: string;
}

/** A sale as the partner sees it. Amounts as text. */
export interface Sale {
  id: bigint;
  customerId: string;
  chain: string;
  coin: string;
  /** Our code for what is sold, such as `usdc.matic20`. */
  asset: string;
  fiat: string;
  depositAddress: string;
  fromAmount: string;
  toAmount: string;
  /** As quoted, in the fiat's smallest units. */
  fees: { operator: bigint; partner: bigint; rail: bigint; chain: bigint };
}

/** A purchase as the partner sees it. Amounts as text. */
export interface Purchase {
  id: bigint;
  customerId: string;
  chain: string;
  coin: string;
  /** Our code for what is bought, such as `usdc.matic20`. */
  asset: string;
  fiat: string;
  /** The reference that the customer has to give with the transfer. */
  reference: string;
  /** The customer's wallet. */
  address: string;
  fromAmount: string;
  toAmount: string;
  /** As quoted, in the fiat's smallest units. */
  fees: Sale['fees'];
}

type Order = Sale | Purchase;
const directionOf = (order: Order) => ('address' in order ? 'onramp' : 'offramp');

/** A signed transfer from the customer's wallet: the same bytes can be sent again. */
export interface Paid {
  hash: Hex;
  raw: Hex;
  chain: string;
}

export interface StoryCase {
  kind: string;
  reason: string;
  open: boolean;
}

/** A line of the bank's statement. */
interface BankLine {
  id: string;
  direction: 'debit' | 'credit';
  /** INR by default. */
  currency?: string;
  units: bigint;
  reference: string;
  /** The key of our payment that it is. */
  key?: string;
  /** The key of our payment that it returns, and why. */
  returnOf?: string;
  why?: string;
}

/** keccak256 of Transfer(address,address,uint256). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** The state of an order as the partner, the operators and the books show it. */
export interface Standing {
  /** The number the partner is shown. */
  status: number;
  /** The state in the last event to the partner. */
  told: string;
  exception: string | null;
  /** Kinds of the open cases about the order. */
  cases: string[];
  /** Changes of the shared accounts that are named here; 0n for one without a change. */
  books: Record<string, bigint>;
}

/** The longest wait of a story. Blocks come once a second, and the machine may be busy. */
const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 20;
/** Time from the bank's acceptance of a payment to its line on the statement: as at a real bank, only faster. */
const SETTLE_MS = 100;
const DEPOSIT_TTL_MS = 3_600_000;
const NATIVE: Readonly<Record<string, string>> = Object.fromEntries(CHAINS.map(({ code, native }) => [code, native]));

export interface StoryOptions {
  bankDeduplicates?: boolean;
  bankSettleMs?: number;
  operators?: 'one' | 'two';
  /** More settings of the server. */
  settings?: Readonly<Record<string, string>>;
}

// Long because `openStory` is one closure: all functions of a story share its server, clock and partner.
export async function openStory(options: StoryOptions = {}) {
  const database = await freshDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'cloverleaf-story-'));
  // Removed only at exit, because the nodes use the folder until they have ended.
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const clock = movableClock();
  const complaints: string[] = [];
  const log = pino({ level: 'warn', base: null }, { write: (line: string) => void complaints.push(line) });
  const deduplicates = options.bankDeduplicates ?? true;
  const deduplicatesForMs = deduplicates ? 24 * HOUR_MS : 0;
  let server: Running;
  try {
    server = await start(
      readConfig({
        DATA_DIR: dataDir,
        DATABASE_URL: database.adminUrl,
        PORT: '0',
        SANDBOX_BANK_DEDUPLICATES_HOURS: deduplicates ? '24' : '0',
        OPERATORS: options.operators ?? 'one',
        ...options.settings,
      }),
      { clock, log },
    );
  } catch (error) {
    await database.drop();
    throw error;
  }
  const { db, vault, rails, orders, sandbox } = server;
  let metrics = '';
  const { personal } = database;
  personal.of(vault);
  personal.keeps(join(dataDir, 'documents'));
  personal.says('the log', () => complaints.join(''));
  personal.says('the metrics', () => metrics);
  // A second instance of the same bank on the same books: orders given here take effect there.
  const settleMs = options.bankSettleMs ?? SETTLE_MS;
  const bank = await startSimulatedBank({ adminUrl: database.adminUrl, clock, log, deduplicatesForMs, settleMs });
  const [keys, otherKeys] = sandbox.partners;
  assert(keys && otherKeys);
  const partner = openClient(server.baseUrl, keys);
  const read = <T>(body: (tx: Tx) => Promise<T> | T): Promise<T> => db.asSystem(body);

  async function told<T = Record<string, string>>(path: string, body: Record<string, string>): Promise<T> {
    const answer = await partner.post(path, body);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return answer.body.data as T;
  }

  // Sweeps would change custody at any time, while stories compare it to the unit: a story about sweeps sets its own minimums.
  await read((tx) => tx.run('delete from sweep_minimums'));

  // Waiting.

  const until = <T>(what: string, look: () => Promise<T | undefined | false>, withinMs = PATIENCE_MS): Promise<T> =>
    waitUntil(what, look, { withinMs, everyMs: LOOK_EVERY_MS, more: () => complaints.join('') });

  // The partner.

  async function verifiedCustomer(account: { ending?: string; iban?: string } = {}): Promise<StoryCustomer> {
    const { customerId: id = '' } = await told('kyc/url', {
      clientCustomerId: randomBytes(8).toString('hex'),
      phoneNumber: newPhone(),
      type: 'INDIVIDUAL',
    });
    await told('test/changeKycStatus', { customerId: id, status: 'ADVANCE_KYC_COMPLETED' });
    const number = `0001${randomBytes(3).readUIntBE(0, 3).toString().padStart(8, '0')}${account.ending ?? '0000'}`;
    const details = account.iban === undefined ? { fiatAccount: number, ifsc: 'HDFC0000001' } : { iban: account.iban };
    const { fiatAccountId = '' } = await told('bank/addFiatAccount', { customerId: id, ...details });
    return { id, fiatAccountId };
  }

  async function sells(
    amount: string,
    coin: string,
    how: { chain?: string; fiat?: string; customer?: StoryCustomer; reference?: string; refundAddress?: string } = {},
  ): Promise<Sale> {
    const { chain = 'matic20', fiat = 'INR', reference } = how;
    const customer = how.customer ?? (await verifiedCustomer());
    const pair = { fromCurrency: coin, toCurrency: fiat, chain, fromAmount: amount };
    const quote = await told<{ rate: string; toAmount: string; fees: Record<string, string>[] }>('offramp/quote', pair);
    const created = await told('offramp/createTransaction', {
      ...pair,
      toAmount: quote.toAmount,
      rate: quote.rate,
      customerId: customer.id,
      fiatAccountId: customer.fiatAccountId,
      ...(how.refundAddress === undefined ? {} : { refundAddress: how.refundAddress }),
      ...(reference === undefined ? {} : { merchantRecognitionId: reference }),
    });
    assert.equal(created.toAmount, quote.toAmount, 'the order differs from the quote');
    const fee = (name: string) => parseUnits(quote.fees[0]?.[name] ?? '', 2);
    return {
      id: BigInt(created.transactionId ?? ''),
      customerId: customer.id,
      chain,
      coin,
      asset: `${coin}.${chain}`,
      fiat,
      depositAddress: created.depositAddress ?? '',
      fromAmount: amount,
      toAmount: quote.toAmount,
      fees: { operator: fee('onrampFee'), partner: fee('clientFee'), rail: fee('gatewayFee'), chain: fee('gasFee') },
    };
  }

  async function buys(
    amount: string,
    coin: string,
    how: { chain?: string; fiat?: string; customer?: StoryCustomer; address?: string; reference?: string } = {},
  ): Promise<Purchase> {
    const { chain = 'matic20', fiat = 'INR', address = `0x${randomBytes(20).toString('hex')}`, reference } = how;
    const customer = how.customer ?? (await verifiedCustomer());
    const pair = {
      fromCurrency: fiat,
      toCurrency: coin,
      chain,
      fromAmount: amount,
      paymentMethodType: fiat === 'INR' ? 'UPI' : 'OPEN_BANKING',
    };
    const quote = await told<{ rate: string; toAmount: string; fees: Record<string, string>[] }>('onramp/quote', pair);
    const created = await told<{ transactionId: string; fiatPaymentInstructions: { otp: string } }>(
      'onramp/createTransaction',
      {
        ...pair,
        toAmount: quote.toAmount,
        rate: quote.rate,
        customerId: customer.id,
        depositAddress: address,
        ...(reference === undefined ? {} : { merchantRecognitionId: reference }),
      },
    );
    const fee = (name: string) => parseUnits(quote.fees[0]?.[name] ?? '', 2);
    return {
      id: BigInt(created.transactionId),
      customerId: customer.id,
      chain,
      coin,
      asset: `${coin}.${chain}`,
      fiat,
      reference: created.fiatPaymentInstructions.otp,
      address,
      fromAmount: amount,
      toAmount: quote.toAmount,
      fees: { operator: fee('onrampFee'), partner: fee('clientFee'), rail: fee('gatewayFee'), chain: fee('gasFee') },
    };
  }

  /** A credit arrives at our bank account. @returns the bank's line, which can be recalled */
  async function credits(order: Purchase, amount: string, how: { text?: string; name?: string } = {}): Promise<string> {
    const payer = how.name === undefined ? {} : { payerName: how.name };
    const credit = { currency: order.fiat, units: parseUnits(amount, 2), text: how.text ?? order.reference };
    const line = await bank.creditAccount({ ...credit, ...payer });
    await looksAtTheBank();
    return line;
  }

  /** Reads the statement at once, as after a bank's webhook, and not at its next scheduled time. */
  const looksAtTheBank = () => looksAt(BANK);
  const looksAt = (subject: string) => read((tx) => enqueue(tx, { kind: OBSERVE, subject, dueAt: clock.now() }));

  /** The bank's statement shows a line in rupees that the bank made by itself. */
  async function bankShows(line: BankLine): Promise<void> {
    const counter = new pg.Client(database.adminUrl);
    await counter.connect();
    try {
      await counter.query(
        `insert into simulated_bank.lines (seq, id, direction, currency, units, reference, key, return_of, why, booked_at)
         select coalesce(max(seq), 0) + 1, $1, $2, $8, $3, $4, $5, $6, $7, now() from simulated_bank.lines`,
        [
          ...[line.id, line.direction, line.units, line.reference, line.key, line.returnOf, line.why],
          line.currency ?? 'INR',
        ],
      );
    } finally {
      await counter.end();
    }
    await looksAtTheBank();
  }

  /** The bank shows that this amount of a payout was returned. */
  const bankReturns = (key: string, units: bigint): Promise<void> =>
    bankShows({
      ...{ id: `back-${key}`, direction: 'credit', units, reference: 'UTR-back' },
      ...{ returnOf: key, why: 'account_closed' },
    });

  const shown = (order: Order) =>
    told(`${directionOf(order)}/transaction`, { transactionId: String(order.id), customerId: order.customerId });
  const statusOf = async (order: Order): Promise<number> => Number((await shown(order)).status);

  /** Waits until the partner is shown a number. */
  async function reaches(order: Order, status: number): Promise<void> {
    let last: number | undefined;
    const say = async () => (await traceOf(order)).history.map((step) => step.stateTo).join(' → ');
    try {
      await until('', async () => {
        last = await statusOf(order);
        return last === status;
      });
    } catch {
      throw new Error(`the order shows ${last} and not ${status}: ${await say()}\n${complaints.join('')}`);
    }
  }

  // The customer's wallet and the chain.

  const chainOf = (code: string) => {
    const chain = sandbox.chains.find((one) => one.code === code);
    assert(chain, `the sandbox has no chain ${code}`);
    return chain;
  };
  const tokenOf = (coin: string, chain: string) => {
    const token = chainOf(chain).tokens.find((one) => one.code === coin);
    assert(token, `${chain} has no token ${coin}`);
    return token;
  };

  async function rpc<T>(chain: string, method: string, params: unknown[] = []): Promise<T> {
    const [answer] = await rpcBatch<T>(chain, [{ method, params }]);
    return answer as T;
  }

  async function rpcBatch<T>(chain: string, calls: { method: string; params: unknown[] }[]): Promise<T[]> {
    const response = await fetch(chainOf(chain).rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
      signal: AbortSignal.timeout(60_000),
    });
    const answers = (await response.json()) as { id: number; result?: T; error?: { message: string } }[];
    return calls.map(({ method }, id) => {
      const answer = answers.find((one) => one.id === id);
      assert(answer !== undefined && answer.error === undefined, `${method}: ${answer?.error?.message}`);
      return answer.result as T;
    });
  }

  const hurry = openHurry({
    ...{ chains: sandbox.chains.map(({ code }) => code), bank: BANK, clock, read, rpc },
  });

  const wallet = mnemonicToAccount(MNEMONIC, { addressIndex: VISITOR_ACCOUNT });

  async function signs(chain: string, transfers: { to: string; data?: Hex; value?: bigint }[]): Promise<Paid[]> {
    const [count, price] = await rpcBatch<Hex>(chain, [
      { method: 'eth_getTransactionCount', params: [wallet.address, 'pending'] },
      { method: 'eth_gasPrice', params: [] },
    ]);
    return await Promise.all(
      transfers.map(async ({ to, data, value = 0n }, at) => {
        const raw = await wallet.signTransaction({
          chainId: chainOf(chain).chainId,
          nonce: Number(count) + at,
          to: to as Hex,
          value,
          gas: 100_000n,
          maxFeePerGas: BigInt(price ?? 0) * 3n,
          maxPriorityFeePerGas: 1_000_000_000n,
          ...(data === undefined ? {} : { data }),
        });
        return { raw, chain, hash: '0x' as Hex };
      }),
    );
  }

  async function broadcasts(payments: Paid[]): Promise<Paid[]> {
    const calls = payments.map(({ raw }) => ({ method: 'eth_sendRawTransaction', params: [raw] }));
    const chain = payments[0]?.chain ?? '';
    const hashes = await rpcBatch<Hex>(chain, calls);
    hurry.sent(chain);
    return payments.map((paid, at) => ({ ...paid, hash: hashes[at] ?? '0x' }));
  }

  let lastPaid: Promise<unknown> = Promise.resolve();
  const tokensTo = (order: Sale, amount: string, coin: string) => {
    const token = tokenOf(coin, order.chain);
    const args = [order.depositAddress as Hex, parseUnits(amount, token.decimals)] as const;
    return { to: token.address, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }) };
  };

  /** Payments are sent one after the other even when requested at once, because each uses the wallet's next nonce. */
  async function pays(order: Sale, amount: string, coin = order.coin): Promise<Paid> {
    const sent = lastPaid.then(async () => await broadcasts(await signs(order.chain, [tokensTo(order, amount, coin)])));
    lastPaid = sent.catch(() => undefined);
    const [paid] = await sent;
    assert(paid);
    return paid;
  }

  const mines = async (blocks = 1, chain = 'matic20'): Promise<void> => {
    await rpc(chain, 'anvil_mine', [`0x${blocks.toString(16)}`]);
    await looksAt(railCode(chain));
  };

  const blockOf = async ({ hash, chain }: Paid): Promise<bigint | undefined> => {
    const receipt = await rpc<{ blockNumber: Hex } | null>(chain, 'eth_getTransactionReceipt', [hash]);
    return receipt === null ? undefined : BigInt(receipt.blockNumber);
  };

  /** Replaces the blocks from the payment's up to the newest with as many empty ones. */
  async function reorgsAway(paid: Paid): Promise<void> {
    await until('the payment is off the chain', async () => {
      const block = await blockOf(paid);
      if (block === undefined) return true;
      const head = BigInt(await rpc<Hex>(paid.chain, 'eth_blockNumber'));
      await rpc(paid.chain, 'anvil_reorg', [Number(head - block + 1n), []]);
      // The node's time went back with its blocks.
      await rpc(paid.chain, 'evm_setTime', [Math.floor(Date.now() / 1000)]);
      return false;
    });
  }

  // The books.

  const traceOf = (order: Order): Promise<MoneyTrace> => read((tx) => trace(tx, order.id));
  const stateOf = async (order: Order): Promise<string> => (await traceOf(order)).order.state;

  /** Waits until an order is in a state. */
  const becomes = async (order: Order, state: OrderState): Promise<void> => {
    await until(`the order is ${state}`, async () => (await stateOf(order)) === state);
  };

  /** Balances of all accounts that belong to no single order, by code, in smallest units. */
  async function balances(): Promise<Map<string, bigint>> {
    const all = await read((tx) => balancesOf(tx, SHARED));
    return new Map(all.map(({ code, units }) => [code, units]));
  }

  /** Changes in the books since then: account code → units, on the account's own side. */
  async function changesSince(before: Map<string, bigint>): Promise<Record<string, bigint>> {
    const changes = [...(await balances())].map(([code, units]) => [code, units - (before.get(code) ?? 0n)] as const);
    return Object.fromEntries(changes.filter(([, units]) => units !== 0n));
  }

  const casesOf = (order: Order): Promise<StoryCase[]> =>
    read((tx) =>
      tx.rows<StoryCase>(
        'select kind, reason, closed_at is null as open from cases where order_id = $1 order by opened_at, id',
        [order.id],
      ),
    );

  /** Kinds of the open cases about an order, the oldest first. */
  const openCaseKinds = async (order: Order): Promise<string[]> =>
    (await casesOf(order)).filter(({ open }) => open).map(({ kind }) => kind);

  /** Cases about missing funds of an asset, the oldest first. */
  const shortages = (asset: string): Promise<StoryCase[]> =>
    read((tx) =>
      tx.rows<StoryCase>(
        `select kind, reason, closed_at is null as open from cases
          where kind = 'treasury_short' and split_part(subject, ':', 2) = $1 order by opened_at, id`,
        [asset],
      ),
    );

  /** States announced to the partner; other changes of the order are announced as 'changed', see `changesOf`. */
  const eventsOf = async (order: Order): Promise<string[]> =>
    (await eventRows(order.id))
      .map(({ type }) => type.replace(/^order\./, ''))
      .filter((type) => !BESIDE_STATES.includes(`order.${type}`));
  const eventRows = (orderId: bigint) =>
    read(async (tx) => {
      const rows = await tx.rows<{
        type: string;
        subjectSeq: number;
        partnerId: bigint;
        body: Record<string, unknown>;
      }>('select type, subject_seq, partner_id, body from events where subject = $1 order by subject_seq', [
        `order:${orderId}`,
      ]);
      return rows.map((row) => ({ ...row, body: openTexts(vault, row.partnerId, row.body) }));
    });

  const people = ['a person', 'another person'];
  const action = (order: Order, why: string) => ({ orderId: order.id, by: 'a person', people, why, now: clock.now() });

  for (const fiat of ['inr', 'eur']) {
    await until(`the bank has shown the opening ${fiat}`, async () => {
      const { units } = await read((tx) => balance(tx, chart.treasury(fiat)));
      return units > 0n;
    });
  }

  const world = {
    server,
    dataDir,
    adminUrl: database.adminUrl,
    clock,
    vault,
    bank,
    partner,
    otherPartner: openClient(server.baseUrl, otherKeys),
    read,
    told,
    until,
    verifiedCustomer,
    sells,
    buys,
    credits,
    looksAtTheBank,
    bankShows,
    bankReturns,
    shown,
    statusOf,
    reaches,
    pays,
    mines,
    rpc,
    reorgsAway,
    traceOf,
    stateOf,
    becomes,
    balances,
    reconciles,
    changesSince,
    casesOf,
    openCaseKinds,
    /** Whether the customer of an order is blocked. */
    isBlocked: async ({ customerId }: Order): Promise<boolean> =>
      (await read((tx) => findCustomer(tx, customerId))).blocked,
    /** What the customer owes us through the order's partner, in the asset's smallest units. */
    async owed(order: Order, asset: string): Promise<bigint> {
      const { partnerId } = (await traceOf(order)).order;
      return (await read((tx) => balance(tx, chart.receivable(order.customerId, partnerId, asset)))).units;
    },
    eventsOf,
    eventBodies: async (order: Order) => (await eventRows(order.id)).map(({ body }) => body),
    /** Bodies of the events that are not about states. */
    changesOf: async (order: Order) =>
      (await eventRows(order.id)).filter(({ type }) => type === 'order.changed').map(({ body }) => body),

    /** Asks the sandbox to bring the order to a status. */
    drives: (order: Order, status: string): Promise<Answer> =>
      partner.post(directionOf(order) === 'onramp' ? 'test/changeOnrampStatus' : 'test/changeOfframpStatus', {
        customerId: order.customerId,
        transactionId: String(order.id),
        status,
      }),

    /** Several transfers in one and the same block. */
    async paysInOneBlock(order: Sale, ...amounts: string[]): Promise<Paid[]> {
      const transfers = amounts.map((amount) => tokensTo(order, amount, order.coin));
      const signed = await signs(order.chain, transfers);
      return await until('the payments stand in one block', async () => {
        const payments = await broadcasts(signed);
        await mines(1, order.chain);
        const [first, ...others] = await Promise.all(payments.map(blockOf));
        if (others.every((block) => block === first)) return payments;
        // The node has mined on its own in between, so the payments are sent again.
        if (payments[0] !== undefined) await reorgsAway(payments[0]);
        return false;
      });
    },

    async paysNative(order: Sale, amount: string): Promise<Paid> {
      const transfer = { to: order.depositAddress, value: parseUnits(amount, 18) };
      const [paid] = await broadcasts(await signs(order.chain, [transfer]));
      assert(paid);
      return paid;
    },

    /** Sends the same bytes again, as a wallet does whose transaction has left the chain. */
    async paysAgain(paid: Paid): Promise<void> {
      await broadcasts([paid]);
    },

    /** Whole tokens that an address has on the chain. */
    async tokensOf(address: string, coin: string, chain = 'matic20'): Promise<string> {
      const token = tokenOf(coin, chain);
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address as Hex] });
      const units = await rpc<Hex>(chain, 'eth_call', [{ to: token.address, data }, 'latest']);
      return formatUnits(BigInt(units), token.decimals);
    },

    /** The node mines no block on its own meanwhile, so that a reorg keeps its depth on a slow machine. */
    async blocksWait(body: () => Promise<void>, chain = 'matic20'): Promise<void> {
      await hurry.still(chain, async () => {
        await rpc(chain, 'evm_setIntervalMining', [0]);
        try {
          await body();
        } finally {
          await rpc(chain, 'evm_setIntervalMining', [1]);
        }
      });
    },

    /** The node answers nothing meanwhile. */
    async nodeDown(body: () => Promise<void>, chain = 'matic20'): Promise<void> {
      const { pid } = JSON.parse(readFileSync(join(dataDir, 'chains', chain, 'node.json'), 'utf8')) as { pid: number };
      process.kill(pid, 'SIGSTOP');
      try {
        await body();
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    },

    tokenAddress: (coin: string, chain: string): string => tokenOf(coin, chain).address,

    /** The chain rejects tokens to this address, as for the address of their own contract. */
    takesNothing(address: string, chain: string): void {
      const rail = rails.get(`evm.${chain}`);
      assert(rail !== undefined, `rail evm.${chain} is not running`);
      const send = rail.send;
      rail.send = async (sending) =>
        sending.destination.kind === 'address' && sending.destination.address.toLowerCase() === address.toLowerCase()
          ? { outcome: 'rejected', why: 'tokens to their own contract' }
          : await send(sending);
    },

    /** Another account of a customer, in rupees. */
    async verifiedAccount(customerId: string, ending = '0000'): Promise<{ fiatAccountId: string }> {
      const fiatAccount = `0001${randomBytes(3).readUIntBE(0, 3).toString().padStart(8, '0')}${ending}`;
      const { fiatAccountId = '' } = await told('bank/addFiatAccount', {
        customerId,
        fiatAccount,
        ifsc: 'HDFC0000001',
      });
      return { fiatAccountId };
    },

    chainIdOf: (chain: string): bigint => BigInt(chainOf(chain).chainId),
    /** Signature of a text by the wallet that customers pay from (EIP-191). */
    signsAsPayer: (text: string): Promise<Hex> => wallet.signMessage({ message: text }),
    /** An unused address. */
    newAddress: (): string => `0x${randomBytes(20).toString('hex')}`,

    /** Waits until an order has this standing; on failure the message shows its whole standing. */
    async stands(order: Order, since: Map<string, bigint>, as: Standing): Promise<void> {
      const look = async (): Promise<Standing> => {
        const changes = await changesSince(since);
        return {
          status: await statusOf(order),
          told: (await eventsOf(order)).at(-1) ?? '',
          exception: (await traceOf(order)).order.exception,
          cases: await openCaseKinds(order),
          books: Object.fromEntries(Object.keys(as.books).map((code) => [code, changes[code] ?? 0n])),
        };
      };
      let last = await look();
      await until('', async () => isDeepStrictEqual((last = await look()), as)).catch(() => {});
      assert.deepEqual(last, as, complaints.join(''));
    },

    /** Waits for an open case of a kind about the order. */
    opensCase: (order: Order, kind: string): Promise<StoryCase> =>
      until(`there is an open case ${kind}`, async () =>
        (await casesOf(order)).find((one) => one.kind === kind && one.open),
      ),
    /** Waits until the order waits for funds, and for the case about them, which it shares with others. */
    isShort: async (order: Order): Promise<StoryCase> => {
      await until('the order waits for funds', async () => (await stateOf(order)) === 'awaiting_liquidity');
      const asset = (await traceOf(order)).order.payoutAsset;
      return await until('there is a case about the funds', async () =>
        (await shortages(asset)).find(({ open }) => open),
      );
    },
    shortages,

    /** Lets the hour for paying pass. A chain counts as read to a deadline once a block is as late; blocks count whole seconds. */
    async deadlinePasses(chain = 'matic20'): Promise<void> {
      clock.advance(DEPOSIT_TTL_MS);
      const head = await rpc<{ timestamp: Hex }>(chain, 'eth_getBlockByNumber', ['latest', false]);
      const at = Math.max(Number(head.timestamp) + 1, Math.ceil(Date.now() / 1_000));
      await rpc(chain, 'evm_setNextBlockTimestamp', [at]);
      await mines(1, chain);
    },

    releases: (order: Order) => read((tx) => release(orders, tx, action(order, 'looked at and found good'))),
    rejects: (
      order: Order,
      refund: { failure: 'amount' | 'name' | 'other'; address?: string; fiatAccountId?: bigint },
    ) => refundOrder(orders, action(order, 'looked at and found bad'), refund),

    balance: (account: Account): Promise<Balance> => read((tx) => balance(tx, account)),

    /** The refund under way is mined and confirmed, and the partner is shown how the order ended. */
    async refundArrives(order: Sale, status: number): Promise<void> {
      await until('the refund is with the node', async () => {
        const { payouts } = await traceOf(order);
        return payouts.some(({ purpose, submittedAt }) => purpose === 'refund' && submittedAt !== null);
      });
      await mines(2, order.chain);
      await reaches(order, status);
    },

    /** The operator sets own funds aside, so that only this amount is left for orders. */
    async setsAside(asset: string, leaving: bigint): Promise<void> {
      await read(async (tx) => {
        const { units } = await balance(tx, chart.treasury(asset));
        const lines = move(chart.treasury(asset), chart.capital(asset), units - leaving);
        if (lines.length === 0) return;
        await post(tx, { id: `aside_${randomBytes(8).toString('hex')}`, kind: 'set_aside', at: clock.now(), lines });
      });
    },

    /**
     * Sets the policy for deviations of new orders on the market that sells or buys this coin for
     * rupees. The built-in policy applies to everything that is not named.
     */
    async goesBy(
      direction: 'offramp' | 'onramp',
      coin: string,
      answers: { readonly [Q in PolicyQuestion]?: PolicyAnswer<Q> },
    ): Promise<void> {
      await read(async (tx) => {
        const { id: marketId } = await findMarket(tx, { direction, coin, fiat: 'inr', chain: 'matic20' });
        for (const question of Object.keys(BUILT_IN_POLICY) as PolicyQuestion[])
          await setPolicy(tx, { marketId, partnerId: null, question, answer: answers[question] ?? null });
      });
    },

    /** Sets the time after which a credit in this fiat has cleared and a purchase takes it. */
    async clears(fiat: string, seconds: number): Promise<void> {
      const rows = await read((tx) =>
        tx.rows<{ id: bigint }>(
          `update markets set clearing_s = $2 where direction = 'onramp' and fiat_asset = $1 returning id`,
          [fiat, seconds],
        ),
      );
      await until('the market is read again', async () => {
        const market = await read((tx) => marketById(tx, rows[0]?.id ?? 0n));
        return market.clearingMs === seconds * 1000;
      });
    },

    /** The operator returns the funds that were set aside. */
    async brings(asset: string, units: bigint): Promise<void> {
      await read(async (tx) => {
        const lines = move(chart.capital(asset), chart.treasury(asset), units);
        await post(tx, { id: `back_${randomBytes(8).toString('hex')}`, kind: 'brought_back', at: clock.now(), lines });
        await fundsArrived(tx, clock.now());
      });
    },

    /** The payout is submitted to the node: signed, and perhaps not in a block yet. */
    payoutIsSubmitted: (order: Order): Promise<boolean> =>
      until('the payout is with the node', async () => {
        const { payouts } = await traceOf(order);
        return payouts.some(({ purpose, submittedAt }) => purpose === 'payout' && submittedAt !== null);
      }),

    /** Transfers of a purchase's coin to its wallet that the chain knows of: hash and units. */
    async transfersTo(order: Purchase): Promise<{ hash: string; units: bigint }[]> {
      const padded = `0x${order.address.slice(2).padStart(64, '0')}`;
      const { address } = tokenOf(order.coin, order.chain);
      const filter = { fromBlock: '0x0', toBlock: 'latest', address, topics: [TRANSFER, null, padded] };
      const logs = await rpc<{ transactionHash: string; data: Hex }[]>(order.chain, 'eth_getLogs', [filter]);
      return logs.map(({ transactionHash, data }) => ({ hash: transactionHash, units: BigInt(data) }));
    },

    /** Sets the charge of the bank on top of each payment. */
    async bankCharges(chargeUnits: bigint): Promise<void> {
      const settings = { deduplicatesForMs, settleMs, chargeUnits };
      await (await startSimulatedBank({ adminUrl: database.adminUrl, clock, log, ...settings })).stop();
    },

    /** Sets the confirmations that deposits of an asset need, whatever their amount. */
    async confirmsAfter(asset: string, confirmations: number): Promise<void> {
      const [, chain = ''] = asset.split('.');
      await read((tx) => setConfirmationPolicy(tx, { chain, asset, steps: [{ fromUnits: 0n, confirmations }] }));
    },

    /** Warnings and errors in the server's log; a story that causes some on purpose empties the list. */
    complaints,

    /** Checks all invariants that hold after any story, and stops everything that was started. */
    async close(): Promise<void> {
      try {
        await inOrder();
        metrics = await (await fetch(server.metricsUrl)).text();
      } finally {
        await hurry.stop();
        await bank.stop();
        await server.stop();
        await database.drop();
      }
    },
  };
  return world;

  /**
   * Compares every movement of chain and bank with the books in both directions, from the beginning, once all of it is final.
   * @throws AssertionError with the differences, as sentences
   */
  async function reconciles(): Promise<void> {
    for (const { code } of sandbox.chains) await mines(13, code);
    const awake = [...rails.values()].filter((rail) => rail.isAsleep?.() !== true);
    const looks = awake.map(async (rail) => {
      const unlike = async () => {
        await reconcileRail({ db, clock, graceMs: 0 }, rail, 'begin');
        const items = await read((tx) => openItems(tx, rail.code));
        return items.map(
          ({ kind, wallet, asset, key, outsideUnits, ledgerUnits, transit, why, names }) =>
            `${kind} ${rail.code} ${wallet} ${asset} ${key}: ${outsideUnits} outside, ${ledgerUnits} booked, ${transit ?? why} (${names.join(' ')})`,
        );
      };
      return await untilSound(unlike, 15_000);
    });
    assert.deepEqual((await Promise.all(looks)).flat(), []);
  }

  /** An order with its events: of one moment, because its deadline may pass between two looks. */
  async function withEvents(id: bigint) {
    for (;;) {
      const before = await read((tx) => trace(tx, id));
      const events = await eventRows(id);
      const after = await read((tx) => trace(tx, id));
      if (before.order.version === after.order.version) return { ...after, events };
    }
  }

  async function inOrder(): Promise<void> {
    const outside: BalanceReader = async (rail, wallet, asset) => await rails.get(rail)?.balance(wallet, asset);
    assert.deepEqual(await untilSound(() => read((tx) => brokenBooks(tx, outside, vault)), 5_000), []);
    await reconciles();
    const ids = await read((tx) => tx.rows<{ id: bigint }>('select id from orders order by id'));
    for (const { id } of ids) {
      const { order, history, events } = await withEvents(id);
      const steps = history.map((step) => step.stateTo);
      assert.deepEqual(
        ['none', ...steps.slice(0, -1)],
        history.map((step) => step.stateFrom),
        `history of ${id}`,
      );
      assert.deepEqual(
        history.map((step) => step.version),
        [...steps.keys()],
        `versions of ${id}`,
      );
      assert.equal(steps.at(-1), order.state);
      assert.deepEqual(
        events.map(({ type }) => type).filter((type) => !BESIDE_STATES.includes(type)),
        // A change without a new state is announced as a change.
        history
          // A legal block is not announced.
          .filter((step) => step.stateFrom !== step.stateTo && step.stateTo !== 'frozen')
          .map((step) => `order.${step.stateTo}`),
        `events of ${id}`,
      );
      assert.deepEqual(
        events.map((event) => event.subjectSeq),
        events.map((_, at) => at + 1),
      );
    }
    const bugs = complaints.filter((line) =>
      /"level":(5|6)0|"error":"(BugError|TypeError|RangeError|error)"/.test(line),
    );
    assert.deepEqual(bugs, [], 'a background job met a bug');
  }
}

/** Types of events about an order beside its states. */
const BESIDE_STATES = ['order.changed', 'order.payout_submitted'];

/** Every kind of account except those of an order. */
const SHARED: AccountKind[] = [
  'custody',
  'treasury',
  'capital',
  'fx',
  'fee_operator',
  'fee_partner',
  'fee_rail',
  'fee_chain',
  'tax',
  'cost',
  'rounding',
  'suspense',
  'uncovered',
  'difference',
  'blocked',
  'receivable',
  'loss',
];

export const nativeOf = (chain: string): string => `${NATIVE[chain]}.${chain}`;

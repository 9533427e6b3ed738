/**
 * Demo: one customer sells crypto for fiat and buys some back. This program plays the partner, the customer's wallet and the
 * bank.
 *
 * As the partner it calls the partner API under /v1 with the SDK. The sandbox verifies the customer and makes a bank pay; a
 * wallet of this program sends the coins.
 *
 * Runs against the server whose sandbox.json is in DATA_DIR, or starts one on free ports. Each step prints what happened, who
 * holds the money now and on what evidence; the end is the order's money trace and the trial balance. Exits with 1 when
 * anything is wrong.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cloverleaf, decimal, hasReason, type Order } from '../../../sdk/src/index.ts';
import { ask } from '../base/http.ts';
import { readConfig } from '../config.ts';
import { type Heard, openReceiver, type Partner } from '../demo/receiver.ts';
import { newAddress, sendTokens, tokensOf } from '../demo/wallet.ts';
import { start } from '../server.ts';

const COIN = { code: 'usdc', chain: 'matic20', asset: 'usdc.matic20' };
const FIAT = 'inr';
const SELL = '250.5';
/** Fiat paid for the purchase. */
const BUY_FOR = '5000';
const PATIENCE_MS = 120_000;
const COLUMNS = 120;
/** Limit for the operator's view of one order. */
const LONGEST_ANSWER = 8 * 1024 * 1024;

interface Sandbox {
  baseUrl: string;
  partners: Partner[];
  chains: {
    code: string;
    rpcUrl: string;
    chainId: number;
    tokens: readonly { code: string; address: string; decimals: number }[];
  }[];
}

interface Trace {
  order: { id: string; state: string; depositAsset: string; payoutAsset: string };
  heldBy: string;
  since: string;
  next: string;
  history: { state_from: string; event: string; state_to: string; at: string }[];
  deposits: { units: string; asset: string; state: string; reference: string }[];
  payouts: { id: string; units: string; asset: string; state: string; reference: string | null }[];
  balances: { code: string; units: string; heldUnits: string }[];
  entries: { entry: string; step: string; debit: string; credit: string; units: string; asset: string }[];
}

const say = (what: string, holder: string, evidence = ''): void => {
  const line = `  ${what.padEnd(52)} │ ${holder}`;
  const fits = line.length + evidence.length + 3 <= COLUMNS;
  const said = evidence === '' ? '' : fits ? ` │ ${evidence}` : `\n${' '.repeat(6)}${evidence}`;
  process.stdout.write(`${line}${said}\n`);
};

async function play(sandbox: Sandbox, operatorToken: string): Promise<void> {
  const [partner] = sandbox.partners;
  const chain = sandbox.chains.find(({ code }) => code === COIN.chain);
  const token = chain?.tokens.find(({ code }) => code === COIN.code);
  if (partner === undefined || chain === undefined || token === undefined)
    throw new Error('sandbox.json does not have what the demo needs');
  const client = new Cloverleaf({ baseUrl: sandbox.baseUrl, ...partner });
  const heard: Heard[] = [];
  const hear = (one: Heard): void => {
    heard.push(one);
    const verdict = one.isGenuine ? 'signature valid' : 'SIGNATURE WRONG';
    say(`webhook: ${one.what}`, 'the partner is notified', `#${one.sequence}, ${verdict}`);
  };
  const receiver = await openReceiver(client, partner, hear, ['standard']);
  const scene: Scene = { sandbox, operatorToken, client, chain, token, heard };

  process.stdout.write(`\nA customer of ${partner.name}\n\n`);
  const { id: customerId } = await client.customers.create({
    ...{ reference: randomUUID(), kind: 'individual' },
    // A phone belongs to one customer, so each run uses a new one.
    phone: `+91-9${String(Date.now()).slice(-9)}`,
  });
  // The sandbox's control replaces the customer's step on our pages.
  const verified = { customerId, status: 'ADVANCE_KYC_COMPLETED' } as const;
  await client.whitelabel.post('test/changeKycStatus', verified, { repeat: true });
  say('customer enrolled and verified', 'the customer', customerId);
  const { id: accountId } = await client.destinations.create(customerId, {
    ...{ kind: 'account', asset: FIAT, accountNumber: '000111222333', ifsc: 'HDFC0000001' },
  });
  say('bank account added', 'the customer', `destination ${accountId}`);

  const problems = [...(await sell(scene, customerId, accountId)), ...(await buy(scene, customerId))];
  if (!(await printTrialBalance(scene))) problems.push('the books do not balance');
  if (heard.some(({ isGenuine }) => !isGenuine)) problems.push('a webhook was not signed by the server');
  await receiver.close();
  if (problems.length > 0) throw new Error(`off: ${problems.join('; ')}`);
  process.stdout.write(
    '\nEverything is correct: one sale and one purchase are settled, once each, and the books balance.\n',
  );
}

interface Scene {
  sandbox: Sandbox;
  operatorToken: string;
  client: Cloverleaf;
  chain: Sandbox['chains'][number];
  token: Sandbox['chains'][number]['tokens'][number];
  /** Webhooks, as received. */
  heard: Heard[];
}

/** Waits until the partner has received the order's last event. @returns the faults found */
async function untilToldOfEnd({ heard }: Pick<Scene, 'heard'>, orderId: string): Promise<string[]> {
  const isTold = () => heard.some(({ subject, what }) => subject === `order:${orderId}` && what === 'order.settled');
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!isTold() && Date.now() < giveUpAt) await new Promise((wake) => setTimeout(wake, 50));
  return isTold() ? [] : [`no webhook announced the end of order ${orderId}`];
}

/** Requests a quote and orders on it. If the quote has expired by then, because the server was down, requests one more. */
async function order(
  client: Cloverleaf,
  asked: { payAsset: string; receiveAsset: string; payAmount: string },
  to: { customerId: string; destinationId: string },
): Promise<Order> {
  for (;;) {
    const { id: quoteId, pay, receive, rate } = await client.quotes.create(asked);
    say(`quoted ${pay.amount} ${pay.asset} → ${receive.amount} ${receive.asset} at ${rate}`, 'the customer');
    try {
      return await client.orders.create({ quoteId, ...to, reference: `demo ${quoteId}` });
    } catch (error) {
      if (!hasReason(error, 'quote_over')) throw error;
    }
  }
}

async function sell({ client, chain, token, ...scene }: Scene, customerId: string, to: string): Promise<string[]> {
  process.stdout.write(`\nSelling ${SELL} ${COIN.asset} for ${FIAT}\n\n`);
  const asked = { payAsset: COIN.asset, receiveAsset: FIAT, payAmount: SELL };
  const { id, payment, receive } = await order(client, asked, { customerId, destinationId: to });
  if (payment?.kind !== 'chain') throw new Error('a sale is not paid on a chain');
  say('order created, deposit address of its own', 'the customer', `order ${id} → ${payment.address}`);

  const hash = await sendTokens(chain, {
    token: token.address,
    to: payment.address,
    units: decimal.toUnits(SELL, token.decimals),
  });
  say("customer's wallet sent the tokens", 'under way to us', hash);

  const traced = await follow(scene, id);
  const untold = await untilToldOfEnd(scene, id);
  const { state, evidence } = await seen(client, id);
  printTrace(traced);
  const paid = evidence.find(({ what }) => what === 'payout_settled')?.amount?.amount;
  return [
    ...(state === 'settled' ? [] : [`the sale is ${state}, not settled`]),
    ...(evidence.some((one) => one.hash === hash) ? [] : ['the transaction hash is not that of the deposit']),
    ...(paid !== undefined && decimal.compare(paid, receive.amount) === 0
      ? []
      : ['another amount was paid than was quoted']),
    ...untold,
    ...wrongIn(traced),
  ];
}

async function buy({ client, chain, token, ...scene }: Scene, customerId: string): Promise<string[]> {
  process.stdout.write(`\nBuying ${COIN.asset} for ${BUY_FOR} ${FIAT}\n\n`);
  const wallet = newAddress();
  const { id: destinationId } = await client.destinations.create(customerId, {
    ...{ kind: 'address', chain: COIN.chain, address: wallet },
  });
  say('wallet added', 'the customer', `destination ${destinationId}, ${wallet}`);
  const asked = { payAsset: FIAT, receiveAsset: COIN.asset, payAmount: BUY_FOR };
  const { id, payment, receive } = await order(client, asked, { customerId, destinationId });
  if (payment?.kind !== 'bank') throw new Error('a purchase is not paid by bank');
  say('order created, with payee and reference', 'the customer', `order ${id}, ${payment.reference}`);
  // With an idempotency key, so that repeating it after a lost answer does not pay twice.
  await client.sandbox.pay({ transactionId: id }, { idempotencyKey: `demo ${id}`, repeat: true });
  say("customer's bank sent the money", 'under way to us', payment.reference);

  const traced = await follow(scene, id);
  const untold = await untilToldOfEnd(scene, id);
  const { state } = await seen(client, id);
  printTrace(traced);
  const arrived = await tokensOf(chain, token.address, wallet);
  const due = decimal.toUnits(receive.amount, token.decimals);
  return [
    ...(state === 'settled' ? [] : [`the purchase is ${state}, not settled`]),
    ...(arrived === due ? [] : [`${arrived} units arrived, not ${receive.amount}`]),
    ...untold,
    ...wrongIn(traced),
  ];
}

/** The partner's view of its order. */
async function seen(client: Cloverleaf, id: string) {
  const { state, heldBy, evidence } = await client.orders.trace(id);
  const last = evidence.at(-1);
  say(`the partner sees ${state}`, `the ${heldBy}`, last?.hash ?? last?.bankReference ?? '');
  return { state, evidence };
}

const wrongIn = ({ payouts, balances }: Trace): string[] => [
  ...(payouts.filter(({ state }) => state === 'settled').length === 1 ? [] : ['not exactly one payout settled']),
  ...(balances.every((one) => one.units === '0' && one.heldUnits === '0')
    ? []
    : ['a finished order still holds money']),
];

/** Prints every state of the order, as the operator sees it, until the order is over. */
async function follow(
  { sandbox, operatorToken }: Pick<Scene, 'sandbox' | 'operatorToken'>,
  id: string,
): Promise<Trace> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  let told = 1;
  for (;;) {
    const traced = await operatorGet<Trace>(sandbox, operatorToken, `/operator/v1/orders/${id}/trace`);
    for (const step of traced.history.slice(told)) {
      const last = traced.history.at(-1) === step;
      const what = `${step.event}: ${step.state_from} → ${step.state_to}`;
      say(what, last ? traced.heldBy : '', last ? evidenceOf(traced) : '');
    }
    told = Math.max(told, traced.history.length);
    if (['settled', 'refunded', 'expired', 'cancelled', 'frozen'].includes(traced.order.state)) return traced;
    if (Date.now() > giveUpAt) throw new Error(`order ${id} is not over after ${PATIENCE_MS / 1000} s`);
    await new Promise((wake) => setTimeout(wake, 150));
  }
}

const evidenceOf = ({ payouts, deposits }: Trace): string =>
  payouts.findLast(({ reference }) => reference !== null)?.reference ?? deposits.at(-1)?.reference ?? '';

function printTrace(traced: Trace): void {
  process.stdout.write(
    `\nMoney trace of order ${traced.order.id}: held by ${traced.heldBy} since ${traced.since}; next: ${traced.next}\n\n`,
  );
  for (const line of traced.entries) {
    const entry = line.entry.split(':')[1] ?? line.entry;
    process.stdout.write(
      `  ${entry.padEnd(16)} ${line.step.padEnd(6)} ${line.debit.padEnd(41)} → ${line.credit.padEnd(41)} ${line.units}\n`,
    );
  }
}

async function printTrialBalance({
  sandbox,
  operatorToken,
}: Pick<Scene, 'sandbox' | 'operatorToken'>): Promise<boolean> {
  const trial = await operatorGet<
    { asset: string; debits: string; credits: string; heldDebits: string; heldCredits: string }[]
  >(sandbox, operatorToken, '/operator/v1/trial-balance');
  process.stdout.write('\nTrial balance\n\n');
  const balanced = (row: (typeof trial)[number]) => row.debits === row.credits && row.heldDebits === row.heldCredits;
  for (const row of trial) {
    const verdict = balanced(row) ? 'balanced' : 'BROKEN';
    process.stdout.write(
      `  ${row.asset.padEnd(16)} debits ${row.debits.padStart(24)}   credits ${row.credits.padStart(24)}   ${verdict}\n`,
    );
  }
  return trial.every(balanced);
}

/** Waits while the server restarts. */
async function operatorGet<T>(sandbox: Sandbox, token: string, path: string): Promise<T> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      const { status, body } = await ask({
        url: sandbox.baseUrl + path,
        headers: { authorization: `Bearer ${token}` },
        deadline: AbortSignal.timeout(10_000),
        longestBytes: LONGEST_ANSWER,
      });
      if (status !== 200) throw new Error(`${path} answered ${status}`);
      return JSON.parse(body.toString('utf8')) as T;
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await new Promise((wake) => setTimeout(wake, 250));
    }
  }
}

/** The running server; undefined when there is none. */
async function running(dataDir: string): Promise<Sandbox | undefined> {
  try {
    const sandbox = JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8')) as Sandbox;
    const deadline = AbortSignal.timeout(2_000);
    const url = `${sandbox.baseUrl}/healthz`;
    const { status } = await ask({ url, deadline, longestBytes: 0, wants: () => 'none' });
    return status === 200 ? sandbox : undefined;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const config = readConfig({ ...process.env, PORT: process.env.PORT ?? '0' });
  const there = await running(config.dataDir);
  if (there === undefined)
    process.stdout.write('No server is running on this data folder: starting one on free ports.\n');
  const onProgress = (what: string) => void process.stdout.write(`· ${what}\n`);
  const own = there === undefined ? await start(config, { onProgress }) : undefined;
  // When interrupted, ends what it started.
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      void (own?.stop() ?? Promise.resolve()).then(() => process.exit(130));
    });
  }
  try {
    const token = readFileSync(join(config.dataDir, 'operator.token'), 'utf8').trim();
    await play(there ?? (own?.sandbox as Sandbox), token);
  } finally {
    await own?.stop();
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);

/**
 * Demo: one customer sells crypto for fiat, played as a partner, a wallet and a bank would.
 *
 * Runs against the server whose sandbox.json lies in DATA_DIR, or starts one on free ports. Each step says what happened, who
 * holds the money now and on what evidence; the end is the order's money trace and the trial balance. Exits with 1 where
 * anything is off.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config.ts';
import { start } from '../server.ts';
import { type Partner, partnerClient } from './client.ts';
import { sendTokens } from './wallet.ts';

const WL = '/onramp/api/v2/whiteLabel';
const SELL = { coin: 'usdc', fiat: 'INR', chain: 'matic20', amount: '250.5' };
const PATIENCE_MS = 120_000;

interface Sandbox {
  baseUrl: string;
  partners: Partner[];
  chains: {
    code: string;
    rpcUrl: string;
    chainId: number;
    tokens: { code: string; address: string; decimals: number }[];
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
  process.stdout.write(`  ${what.padEnd(58)} │ ${holder.padEnd(34)}${evidence === '' ? '' : ` │ ${evidence}`}\n`);
};

async function play(sandbox: Sandbox, operatorToken: string): Promise<void> {
  const [partner] = sandbox.partners;
  const chain = sandbox.chains.find(({ code }) => code === SELL.chain);
  const token = chain?.tokens.find(({ code }) => code === SELL.coin);
  if (partner === undefined || chain === undefined || token === undefined)
    throw new Error('sandbox.json lacks what the demo needs');
  const call = partnerClient(sandbox.baseUrl, partner);

  process.stdout.write(
    `\nSelling ${SELL.amount} ${SELL.coin} on ${SELL.chain} for ${SELL.fiat}, through ${partner.name}\n\n`,
  );
  const { customerId = '' } = await call(`${WL}/kyc/url`, {
    clientCustomerId: randomUUID(),
    phoneNumber: '+91-9000000000',
    type: 'INDIVIDUAL',
  });
  await call(`${WL}/test/changeKycStatus`, { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  say('customer enrolled and verified', 'the customer', customerId);

  const { fiatAccountId = '' } = await call(`${WL}/bank/addFiatAccount`, {
    customerId,
    fiatAccount: '000111222333',
    ifsc: 'HDFC0000001',
  });
  say('bank account added', 'the customer', `account ${fiatAccountId}`);

  const pair = { fromCurrency: SELL.coin, toCurrency: SELL.fiat, chain: SELL.chain };
  const quote = await call(`${WL}/offramp/quote`, { ...pair, fromAmount: SELL.amount });
  const { rate = '', toAmount = '' } = quote;
  say(`quoted ${SELL.amount} ${SELL.coin} → ${toAmount} ${SELL.fiat} at ${rate}`, 'the customer');

  const order = await call(`${WL}/offramp/createTransaction`, {
    ...pair,
    fromAmount: SELL.amount,
    toAmount,
    rate,
    customerId,
    fiatAccountId,
  });
  const { transactionId = '', depositAddress = '' } = order;
  say('order created, deposit address of its own', 'the customer', `order ${transactionId} → ${depositAddress}`);

  const units = BigInt(SELL.amount.replace('.', '').padEnd(SELL.amount.indexOf('.') + token.decimals, '0'));
  const hash = await sendTokens(chain, { token: token.address, to: depositAddress, units });
  say("customer's wallet sent the tokens", 'under way to us', hash);

  const traced = await follow(sandbox, operatorToken, transactionId);
  const shown = await call(`${WL}/offramp/transaction`, { transactionId, customerId });
  say(`the partner sees status ${shown.status}`, 'the customer (the payout)', shown.transactionHash);

  const balanced = await printBooks(sandbox, operatorToken, traced);
  const problems = [
    ...(shown.status === '6' ? [] : [`status is ${shown.status}, not 6`]),
    ...(shown.transactionHash === hash ? [] : ['the transaction hash is not that of the deposit']),
    ...(shown.toAmount === toAmount ? [] : ['another amount was paid than was quoted']),
    ...(traced.payouts.filter(({ state }) => state === 'settled').length === 1
      ? []
      : ['not exactly one payout settled']),
    ...(traced.balances.every((one) => one.units === '0' && one.heldUnits === '0')
      ? []
      : ['the finished order still holds money']),
    ...(balanced ? [] : ['the books do not balance']),
  ];
  if (problems.length > 0) throw new Error(`off: ${problems.join('; ')}`);
  process.stdout.write(`\nAll as it should be: order ${transactionId} is settled, once, and the books balance.\n`);
}

/** Says every state the order passes through, as the operator sees it, until it is over. */
async function follow(sandbox: Sandbox, operatorToken: string, id: string): Promise<Trace> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  let told = 1;
  for (;;) {
    const traced = await operatorGet<Trace>(sandbox, operatorToken, `/operator/v1/orders/${id}/trace`).catch(
      () => undefined,
    );
    if (traced !== undefined) {
      for (const step of traced.history.slice(told)) {
        const last = traced.history.at(-1) === step;
        say(
          `${step.event}: ${step.state_from} → ${step.state_to}`,
          last ? traced.heldBy : '',
          last ? evidenceOf(traced) : '',
        );
      }
      told = Math.max(told, traced.history.length);
      if (['settled', 'refunded', 'expired', 'cancelled', 'frozen'].includes(traced.order.state)) return traced;
    }
    if (Date.now() > giveUpAt) throw new Error(`order ${id} is not over after ${PATIENCE_MS / 1000} s`);
    await new Promise((wake) => setTimeout(wake, 150));
  }
}

const evidenceOf = ({ payouts, deposits }: Trace): string =>
  payouts.findLast(({ reference }) => reference !== null)?.reference ?? deposits.at(-1)?.reference ?? '';

async function printBooks(sandbox: Sandbox, operatorToken: string, traced: Trace): Promise<boolean> {
  process.stdout.write(
    `\nMoney trace of order ${traced.order.id}: held by ${traced.heldBy} since ${traced.since}; next: ${traced.next}\n\n`,
  );
  for (const line of traced.entries) {
    const entry = line.entry.split(':')[1] ?? line.entry;
    process.stdout.write(
      `  ${entry.padEnd(18)} ${line.step.padEnd(7)} ${line.debit.padEnd(46)} → ${line.credit.padEnd(46)} ${line.units}\n`,
    );
  }
  const trial = await operatorGet<
    { asset: string; debits: string; credits: string; heldDebits: string; heldCredits: string }[]
  >(sandbox, operatorToken, '/operator/v1/trial-balance');
  process.stdout.write('\nTrial balance\n\n');
  for (const row of trial) {
    const verdict = row.debits === row.credits && row.heldDebits === row.heldCredits ? 'balanced' : 'BROKEN';
    process.stdout.write(
      `  ${row.asset.padEnd(16)} debits ${row.debits.padStart(24)}   credits ${row.credits.padStart(24)}   ${verdict}\n`,
    );
  }
  return trial.every((row) => row.debits === row.credits && row.heldDebits === row.heldCredits);
}

async function operatorGet<T>(sandbox: Sandbox, token: string, path: string): Promise<T> {
  const response = await fetch(sandbox.baseUrl + path, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return (await response.json()) as T;
}

/** The server that runs already, if one does. */
async function running(dataDir: string): Promise<Sandbox | undefined> {
  try {
    const sandbox = JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8')) as Sandbox;
    const alive = await fetch(`${sandbox.baseUrl}/healthz`, { signal: AbortSignal.timeout(2_000) });
    return alive.ok ? sandbox : undefined;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const config = readConfig({ ...process.env, PORT: process.env.PORT ?? '0' });
  const there = await running(config.dataDir);
  if (there === undefined)
    process.stdout.write('No server is running on this data folder: starting one on free ports.\n');
  const own = there === undefined ? await start(config) : undefined;
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

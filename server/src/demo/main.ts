/**
 * Demo: one customer sells crypto for fiat and buys some back, with the parts of partner, wallet and bank played by this
 * program.
 *
 * Runs against the server whose sandbox.json is in DATA_DIR, or starts one on free ports. Each step prints what happened, who
 * holds the money now and on what evidence; the end is the order's money trace and the trial balance. Exits with 1 when
 * anything is wrong.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cloverleaf, decimal } from '../../../sdk/src/index.ts';
import { ask } from '../base/http.ts';
import { readConfig } from '../config.ts';
import { start } from '../server.ts';
import { type Heard, openReceiver, type Partner } from './receiver.ts';
import { newAddress, sendTokens, tokensOf } from './wallet.ts';

const SELL = { coin: 'usdc', fiat: 'INR', chain: 'matic20', amount: '250.5' };
/** Fiat paid for the purchase. */
const BUY_FOR = '5000';
const PATIENCE_MS = 120_000;
const COLUMNS = 120;
/** For the operator's view of one order. */
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
  const chain = sandbox.chains.find(({ code }) => code === SELL.chain);
  const token = chain?.tokens.find(({ code }) => code === SELL.coin);
  if (partner === undefined || chain === undefined || token === undefined)
    throw new Error('sandbox.json lacks what the demo needs');
  const client = new Cloverleaf({ baseUrl: sandbox.baseUrl, ...partner });
  const { post } = client.whitelabel;
  const heard: Heard[] = [];
  const receiver = await openReceiver(client, partner, (one) => {
    heard.push(one);
    const verdict = one.isGenuine ? 'signature valid' : 'SIGNATURE WRONG';
    say(`webhook ${one.format}: ${one.what}`, 'the partner is told', `#${one.sequence}, ${verdict}`);
  });
  const scene: Scene = { sandbox, operatorToken, client, chain, token, heard };

  process.stdout.write(`\nA customer of ${partner.name}\n\n`);
  const { customerId } = await post('kyc/url', {
    clientCustomerId: randomUUID(),
    // A phone belongs to one customer: each run uses a new one.
    phoneNumber: `+91-9${String(Date.now()).slice(-9)}`,
    type: 'INDIVIDUAL',
  });
  await post('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  say('customer enrolled and verified', 'the customer', customerId);
  const account = { fiatAccount: '000111222333', ifsc: 'HDFC0000001' };
  // Repeated after a lost answer: an account that is there twice harms nothing here.
  const { fiatAccountId } = await post('bank/addFiatAccount', { customerId, ...account }, { repeat: true });
  say('bank account added', 'the customer', `account ${fiatAccountId}`);

  const problems = [...(await sell(scene, customerId, fiatAccountId)), ...(await buy(scene, customerId))];
  if (!(await printTrialBalance(scene))) problems.push('the books do not balance');
  if (heard.some(({ isGenuine }) => !isGenuine)) problems.push('a webhook was not signed by the server');
  await receiver.close();
  if (problems.length > 0) throw new Error(`off: ${problems.join('; ')}`);
  process.stdout.write(
    '\nAll as it should be: one sale and one purchase are settled, once each, and the books balance.\n',
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

/** The last event of an order, in each format. */
const LAST_WORDS = [
  'OFFRAMP FIAT_TRANSFER_COMPLETED',
  'ONRAMP ON_CHAIN_COMPLETED',
  'offramp 6',
  'onramp 4',
  'order.settled',
];

/** Waits until the partner has received the last event. @returns what is wrong */
async function told({ heard }: Pick<Scene, 'heard'>, orderId: string): Promise<string[]> {
  const isTold = () =>
    ['whitelabel', 'flat', 'standard'].every((format) =>
      heard.some((one) => one.format === format && one.subject.endsWith(orderId) && LAST_WORDS.includes(one.what)),
    );
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!isTold() && Date.now() < giveUpAt) await new Promise((wake) => setTimeout(wake, 50));
  return isTold() ? [] : [`webhooks did not tell of the end of order ${orderId}`];
}

async function sell(
  { client, chain, token, ...scene }: Scene,
  customerId: string,
  fiatAccountId: string,
): Promise<string[]> {
  process.stdout.write(`\nSelling ${SELL.amount} ${SELL.coin} on ${SELL.chain} for ${SELL.fiat}\n\n`);
  const { post } = client.whitelabel;
  const pair = { fromCurrency: SELL.coin, toCurrency: SELL.fiat, chain: SELL.chain };
  const quote = await post('offramp/quote', { ...pair, fromAmount: SELL.amount });
  if (!('rate' in quote)) throw new Error('the quote names no rate');
  const { rate, toAmount } = quote;
  say(`quoted ${SELL.amount} ${SELL.coin} → ${toAmount} ${SELL.fiat} at ${rate}`, 'the customer');

  const asked = { ...pair, fromAmount: SELL.amount, toAmount, rate, customerId, fiatAccountId };
  const { transactionId, depositAddress } = await post('offramp/createTransaction', asked);
  say('order created, deposit address of its own', 'the customer', `order ${transactionId} → ${depositAddress}`);

  const hash = await sendTokens(chain, {
    token: token.address,
    to: depositAddress,
    units: decimal.toUnits(SELL.amount, token.decimals),
  });
  say("customer's wallet sent the tokens", 'under way to us', hash);

  const traced = await follow(scene, transactionId);
  const untold = await told(scene, transactionId);
  const shown = await post('offramp/transaction', { transactionId, customerId });
  say(`the partner sees status ${shown.status}`, 'the customer (the payout)', shown.transactionHash);
  printTrace(traced);
  return [
    ...(shown.status === '6' ? [] : [`status of the sale is ${shown.status}, not 6`]),
    ...(shown.transactionHash === hash ? [] : ['the transaction hash is not that of the deposit']),
    ...(shown.toAmount === toAmount ? [] : ['another amount was paid than was quoted']),
    ...untold,
    ...wrongIn(traced),
  ];
}

async function buy({ client, chain, token, ...scene }: Scene, customerId: string): Promise<string[]> {
  process.stdout.write(`\nBuying ${SELL.coin} on ${SELL.chain} for ${BUY_FOR} ${SELL.fiat}\n\n`);
  const { post } = client.whitelabel;
  const pair = { fromCurrency: SELL.fiat, toCurrency: SELL.coin, chain: SELL.chain };
  const quote = await post('onramp/quote', { ...pair, fromAmount: BUY_FOR });
  if (!('rate' in quote)) throw new Error('the quote names no rate');
  const { rate, toAmount } = quote;
  say(`quoted ${BUY_FOR} ${SELL.fiat} → ${toAmount} ${SELL.coin} at ${rate}`, 'the customer');

  const depositAddress = newAddress();
  const asked = { ...pair, fromAmount: BUY_FOR, toAmount, rate, customerId, depositAddress, paymentMethodType: 'IMPS' };
  const created = await post('onramp/createTransaction', asked);
  const { transactionId } = created;
  say(
    'order created, with whom to pay and a reference',
    'the customer',
    `order ${transactionId}, ${created.fiatPaymentInstructions.otp}`,
  );
  await post('test/changeOnrampStatus', { customerId, transactionId, status: '2' });
  say("customer's bank sent the money", 'under way to us', created.fiatPaymentInstructions.otp);

  const traced = await follow(scene, transactionId);
  const untold = await told(scene, transactionId);
  const shown = await post('onramp/transaction', { transactionId, customerId });
  say(`the partner sees status ${shown.status}`, 'the customer (the payout)', shown.transactionHash);
  printTrace(traced);
  const arrived = await tokensOf(chain, token.address, depositAddress);
  return [
    ...(shown.status === '4' ? [] : [`status of the purchase is ${shown.status}, not 4`]),
    ...(arrived === decimal.toUnits(toAmount, token.decimals) ? [] : [`${arrived} units arrived, not ${toAmount}`]),
    ...untold,
    ...wrongIn(traced),
  ];
}

const wrongIn = ({ payouts, balances }: Trace): string[] => [
  ...(payouts.filter(({ state }) => state === 'settled').length === 1 ? [] : ['not exactly one payout settled']),
  ...(balances.every((one) => one.units === '0' && one.heldUnits === '0')
    ? []
    : ['a finished order still holds money']),
];

/** Prints every state the order passes through, as the operator sees it, until it is over. */
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

/** While the server restarts it waits. */
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

/** The running server, if there is one. */
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
  // When interrupted, it stops what it started.
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

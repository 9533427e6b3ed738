/**
 * Waking a chain as processes see it: which processes run, a restart in the middle of an order, and kill -9 in the middle of a
 * wake. Opening funds are counted in the books and on the chain.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isAlive } from '../../src/base/processes.ts';
import { openBooksOf, untilSound } from '../support/books.ts';
import { type Answer, newPhone, openClient } from '../support/client.ts';
import {
  collect,
  freePort,
  makeDataDir,
  removeDataDir,
  run,
  type ServerProcess,
  startProcess,
} from '../support/process.ts';
import { until } from '../support/until.ts';

const dataDir = makeDataDir();
let port: number;
let server: ServerProcess;
before(async () => {
  port = await freePort();
  server = await startProcess({ dataDir, port });
});
after(async () => {
  await server?.interrupt();
  removeDataDir(dataDir);
});

const partner = () => {
  const [keys] = server.sandbox().partners;
  assert(keys);
  return openClient(server.sandbox().baseUrl, keys);
};
const noteOf = (chain: string): string => join(dataDir, 'chains', chain, 'node.json');
const nodeIn = (chain: string): number => (JSON.parse(readFileSync(noteOf(chain), 'utf8')) as { pid: number }).pid;
const isKnown = (chain: string): boolean => server.sandbox().chains.some(({ code }) => code === chain);

async function told(path: string, body: Record<string, string>): Promise<Record<string, string>> {
  const answer: Answer = await partner().post(path, body);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body.data;
}

/** Exit code and output. */
async function reconcile(): Promise<{ code: number | null; said: string }> {
  const child = run(['server/src/apps/reconcile.ts', 'reconcile'], { DATA_DIR: dataDir, LOG_LEVEL: 'error' });
  const output = collect(child);
  const code = await new Promise<number | null>((done) => child.once('exit', done));
  return { code, said: output() };
}

/** Number of entries that book opening funds, and the chain's balance of each coin in the hot wallet. */
async function fundsOf(
  chain: string,
): Promise<{ entries: number; usdc: bigint | undefined; usdt: bigint | undefined }> {
  const books = await openBooksOf(dataDir, server.sandbox());
  try {
    const row = await books.tx.row<{ count: bigint }>('select count(*) from entries where id like $1', [
      `fund_evm.${chain}_%`,
    ]);
    const hot = (coin: string) => books.chain(`evm.${chain}`, 'hot', `${coin}.${chain}`);
    return { entries: Number(row?.count), usdc: await hot('usdc'), usdt: await hot('usdt') };
  } finally {
    await books.close();
  }
}

const sale = (chain: string) => ({ fromCurrency: 'usdc', toCurrency: 'INR', chain, fromAmount: '100' });

test('only the nodes of two chains run, and reconciliation names no other chain', async () => {
  assert.deepEqual(readdirSync(join(dataDir, 'chains')).toSorted(), ['erc20', 'matic20']);
  const { code, said } = await reconcile();
  assert.equal(code, 0, said);
  assert.match(said, /evm\.matic20/);
  assert.doesNotMatch(said, /evm\.(bep20|arbitrum|base|optimism)/);
});

/** The state at the moment of the kill, in the order in which a wake creates it. */
const MOMENTS: readonly { chain: string; what: string; isThere: () => boolean }[] = [
  { chain: 'arbitrum', what: 'its process was begun', isThere: () => existsSync(noteOf('arbitrum')) },
  { chain: 'optimism', what: 'its tokens were there', isThere: () => isKnown('optimism') },
  {
    chain: 'base',
    what: 'its first blocks were saved and its wallets were being funded',
    isThere: () => isKnown('base') && existsSync(join(dataDir, 'chains', 'base', 'state.json.gz')),
  },
];

for (const { chain, what, isThere } of MOMENTS) {
  test(`a kill -9 while ${chain} was woken, when ${what}, is finished by the next start, and funds it once`, async () => {
    const asked = partner()
      .post('offramp/quote', sale(chain))
      .catch(() => undefined);
    await until(`${chain} is being woken`, isThere, { everyMs: 1, more: server.output });
    await server.kill();
    await asked;
    server = await startProcess({ dataDir, port });
    assert.ok(isKnown(chain), `${chain} was not started with the server`);
    const quote = await told('offramp/quote', sale(chain));
    assert.ok(Number(quote.toAmount) > 0);
    const funds = await fundsOf(chain);
    assert.deepEqual(funds, { entries: 2, usdc: 1_000_000_000_000n, usdt: 1_000_000_000_000n });
  });
}

test('an order on a woken chain continues after a kill, and settles once', async () => {
  const { customerId = '' } = await told('kyc/url', {
    clientCustomerId: 'woken',
    phoneNumber: newPhone(),
    type: 'INDIVIDUAL',
  });
  await told('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const { fiatAccountId = '' } = await told('bank/addFiatAccount', {
    customerId,
    fiatAccount: '000123456789',
    ifsc: 'HDFC0000001',
  });
  // On a machine that is busy a wake takes longer than a request waits.
  await until('bep20 is awake', async () => (await partner().post('offramp/quote', sale('bep20'))).status === 200, {
    withinMs: 30_000,
    more: server.output,
  });
  const quote = await told('offramp/quote', sale('bep20'));
  const { transactionId = '' } = await told('offramp/createTransaction', {
    ...sale('bep20'),
    ...{ toAmount: quote.toAmount ?? '', rate: quote.rate ?? '', customerId, fiatAccountId },
  });
  await told('/sandbox/v1/pay', { transactionId });
  await server.kill();
  server = await startProcess({ dataDir, port });
  await until(
    'the sale is settled',
    async () => (await told('offramp/transaction', { transactionId, customerId })).status === '6',
    { withinMs: 30_000, everyMs: 200, more: server.output },
  );
  const books = await openBooksOf(dataDir, server.sandbox());
  try {
    assert.deepEqual(await untilSound(books.broken, 60_000), []);
    assert.deepEqual([...(await books.payments()).values()], [1], 'the bank paid another number of times than once');
  } finally {
    await books.close();
  }
});

test('reconciliation includes every woken chain, beside the server and after it; no process is left', async () => {
  const chains = ['erc20', 'matic20', 'bep20', 'arbitrum', 'base', 'optimism'];
  let said = '';
  // A node that was restored from its file knows wallet balances only for blocks that it mines afterwards.
  const agrees = async () => {
    const ended = await reconcile();
    said = ended.said;
    return ended.code === 0 && ended;
  };
  const beside = await until('the books agree with chains and bank', agrees, { withinMs: 60_000, more: () => said });
  const nodes = chains.map(nodeIn);
  assert.ok(nodes.every(isAlive), 'a node does not run');
  assert.equal(await server.interrupt(), 0, server.output());
  assert.deepEqual(nodes.filter(isAlive), [], 'nodes outlived the server');
  const afterwards = await reconcile();
  // No process follows those blocks now, so balances are not compared, on these chains as on the two. Movements are.
  assert.notEqual(afterwards.code, 1, afterwards.said);
  for (const chain of chains)
    for (const shown of [beside.said, afterwards.said])
      assert.ok(shown.includes(`evm.${chain}`), `${chain} is not in:\n${shown}`);
});

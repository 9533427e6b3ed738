/** Chains whose node starts when it is first needed: they are offered from the start and have no process until then. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isAlive } from '../../src/base/processes.ts';
import { CHAINS, railCode } from '../../src/sandbox/catalogue.ts';
import type { Answer } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const SLEEPERS = CHAINS.filter(({ atStart }) => !atStart).map(({ code }) => code);

/** Process of a chain's node, where there is one. */
function nodeOf(chain: string): number | undefined {
  const note = join(world.dataDir, 'chains', chain, 'node.json');
  if (!existsSync(note)) return undefined;
  const { pid } = JSON.parse(readFileSync(note, 'utf8')) as { pid: number };
  return isAlive(pid) ? pid : undefined;
}
const sandboxFile = () =>
  JSON.parse(readFileSync(join(world.dataDir, 'sandbox.json'), 'utf8')) as {
    chains: { code: string; rpcUrl: string; tokens: { code: string; address: string }[] }[];
    asleep: { code: string; tokens: { code: string; address: string }[] }[];
  };
const jobsOf = async (chain: string): Promise<string[]> =>
  (
    await world.read((tx) => tx.rows<{ kind: string }>('select kind from jobs where subject = $1', [railCode(chain)]))
  ).map(({ kind }) => kind);
const readiness = async () => {
  const answer = await fetch(`${world.server.baseUrl}/readyz`);
  const { checks } = (await answer.json()) as { checks: { name: string; ok: boolean }[] };
  return { status: answer.status, checks };
};
const got = async (path: string) => {
  const answer = await fetchDeclared(`${world.server.baseUrl}${path}`);
  assert.equal(answer.status, 200, path);
  return ((await answer.json()) as { data: Record<string, never> }).data;
};
const openings = async (chain: string): Promise<number> => {
  const row = await world.read((tx) =>
    tx.row<{ count: bigint }>('select count(*) from entries where id like $1', [`fund_evm.${chain}_%`]),
  );
  return Number(row?.count);
};
/** On a busy machine a node may need longer to start than a request waits: then the request is repeated, as partners do. */
const whenAwake = (input: () => Promise<Answer>): Promise<Answer> =>
  world.until('the chain is awake', async () => {
    const answer = await input();
    return !(answer.status === 503 && /still starting/.test(answer.text)) && answer;
  });
const quoteOf = (chain: string, coin = 'usdc') =>
  world.partner.post('offramp/quote', { fromCurrency: coin, toCurrency: 'INR', fromAmount: '100', chain });

test('a chain that sleeps is offered everywhere and has no process, no jobs and no metrics', async () => {
  const networks = Object.values(await got('/onramp/api/v3/buy/public/listAllNetworks')) as {
    chainSymbol: string;
    networkId: number;
    nativeToken: number;
    hashLink: string;
  }[];
  const { networkConfig } = await got('/onramp/api/v2/sell/public/allConfig');
  const gas = (await got('/onramp/api/v1/public/allGasFee')) as { allGasFee?: Record<string, Record<string, object>> };
  const { body: coinLimits } = await world.partner.post('/onramp/api/v2/common/transaction/allCoinLimits', {
    fiatType: '1',
  });
  for (const { code, chainId } of CHAINS) {
    const network = networks.find(({ chainSymbol }) => chainSymbol === code);
    assert.equal(network?.networkId, chainId, code);
    assert.equal(network.hashLink, '', `${code} is local, and an explorer link is shown`);
    assert.ok(JSON.stringify(networkConfig).includes(`"chainSymbol":"${code}"`), code);
  }
  const numbers: readonly string[] = ['0', '1', '3', '13'];
  assert.deepEqual(
    numbers.filter((number) => !(number in (gas.allGasFee?.['116'] ?? {}))),
    [],
    'a chain without a gas fee',
  );
  assert.deepEqual(
    numbers.filter((number) => !(number in coinLimits.data['116'])),
    [],
    'a chain without limits',
  );

  const { status, checks } = await readiness();
  assert.equal(status, 200);
  const metrics = await (await fetch(world.server.metricsUrl)).text();
  const file = sandboxFile();
  assert.deepEqual(
    file.chains.map(({ code }) => code),
    ['erc20', 'matic20'],
  );
  assert.deepEqual(
    file.asleep.map(({ code }) => code),
    SLEEPERS,
  );
  assert.deepEqual(readdirSync(join(world.dataDir, 'chains')).toSorted(), ['erc20', 'matic20']);
  for (const chain of SLEEPERS) {
    assert.equal(nodeOf(chain), undefined, `${chain} has a process`);
    assert.deepEqual(await jobsOf(chain), [], `${chain} has jobs`);
    assert.deepEqual(
      checks.filter(({ name }) => name.endsWith(`.${chain}`)),
      [],
      `readiness asks ${chain}`,
    );
    assert.ok(!metrics.includes(railCode(chain)), `metrics show ${chain}`);
  }
});

test('a request that only reads prices wakes no chain', async () => {
  await world.partner.post('/onramp/api/v2/common/transaction/priceTicker', { type: '3', fiatType: '1' });
  await world.partner.post('/onramp/api/v2/common/transaction/limits', { type: '3' });
  await world.partner.post('/onramp/api/v2/common/transaction/allGasFee', {});
  assert.deepEqual(readdirSync(join(world.dataDir, 'chains')).toSorted(), ['erc20', 'matic20']);
});

test('a quote wakes its chain, and a sale and a purchase on it settle like any other', async () => {
  const before = sandboxFile().asleep.find(({ code }) => code === 'base');
  assert.equal((await whenAwake(() => quoteOf('base'))).status, 200);
  const sale = await world.sells('100.5', 'usdc', { chain: 'base' });
  assert.ok(nodeOf('base'), 'base has no process');
  assert.deepEqual(
    SLEEPERS.filter((chain) => nodeOf(chain) !== undefined),
    ['base'],
    'another chain was woken',
  );
  const woken = sandboxFile();
  assert.deepEqual(
    woken.chains.find(({ code }) => code === 'base')?.tokens,
    before?.tokens,
    'its tokens have other addresses',
  );
  assert.ok(!woken.asleep.some(({ code }) => code === 'base'));
  assert.deepEqual((await jobsOf('base')).toSorted(), (await jobsOf('matic20')).toSorted());

  await world.pays(sale, '100.5');
  await world.mines(2, 'base');
  await world.reaches(sale, 6);
  const purchase = await world.buys('5000', 'usdt', { chain: 'base' });
  await world.credits(purchase, '5000');
  await world.reaches(purchase, 4);

  assert.equal(await openings('base'), 2, 'two tokens were not funded once each');
  const { status, checks } = await readiness();
  assert.equal(status, 200);
  for (const name of ['rail evm.base', 'treasury usdc.base', 'treasury eth.base'])
    assert.equal(checks.find((check) => check.name === name)?.ok, true, name);
  // The counts in metrics may be five seconds old.
  await world.until('metrics show the chain', async () =>
    /cloverleaf_rail_healthy\{rail="evm\.base"\} 1/.test(await (await fetch(world.server.metricsUrl)).text()),
  );
});

test('tokens with 18 decimals are traded on bep20, and several requests at once wake it once', async () => {
  const answers = await Promise.all([
    whenAwake(() => quoteOf('bep20')),
    whenAwake(() => quoteOf('BEP20', 'usdt')),
    whenAwake(() => quoteOf('bep20')),
    whenAwake(() => world.partner.post('/sandbox/v1/reorg', { chain: 'bep20', blocks: '1' })),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
    answers.map(({ text }) => text).join('\n'),
  );
  assert.equal(await openings('bep20'), 2, 'two tokens were not funded once each');
  const sale = await world.sells('20.000000000000000001', 'usdt', { chain: 'bep20' });
  await world.pays(sale, '20.000000000000000001');
  await world.mines(2, 'bep20');
  await world.reaches(sale, 6);
});

test('a wake that fails says so, books nothing, and succeeds when it is asked for again', async () => {
  const home = join(world.dataDir, 'chains', 'optimism');
  writeFileSync(home, 'in the way');
  const customer = await world.verifiedCustomer();
  const refused = await quoteOf('optimism');
  assert.equal(refused.status, 503, refused.text);
  assert.match(refused.body.error, /node of optimism is not running yet .*has a file where/);
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assert.equal(refused.body.reason, 'unavailable');
  assert.deepEqual(await jobsOf('optimism'), []);
  assert.ok(!(await readiness()).checks.some(({ name }) => name.includes('optimism')));
  assert.deepEqual(
    sandboxFile().asleep.map(({ code }) => code),
    ['arbitrum', 'optimism', 'trc20'],
  );
  const link = { coinCode: 'usdc', network: 'optimism', quantity: '10', fiatType: '1', type: '2' };
  const generate = () => world.partner.post('/onramp/api/v2/common/transaction/generateLink', link);
  assert.equal((await generate()).status, 503);
  rmSync(home);
  const linked = await whenAwake(generate);
  assert.equal(linked.status, 200, linked.text);
  assert.ok(nodeOf('optimism'), 'a checkout link woke no chain');
  assert.equal((await fetch(linked.body.data.link)).status, 200);
  const sale = await world.sells('10', 'usdc', { chain: 'optimism', customer });
  assert.equal(await world.statusOf(sale), 0);
  assert.equal(await openings('optimism'), 2);
  for (const time of ['first', 'second']) {
    const loud = world.complaints.findIndex((line) => line.includes('could not be woken'));
    assert.notEqual(loud, -1, `the log has no line about the ${time} failure`);
    world.complaints.splice(loud, 1);
  }
});

test('the treasury control wakes a chain, which is funded before the control empties it', async () => {
  const wish = { currency: 'usdc', chain: 'arbitrum', state: 'DRY' };
  const emptied = await whenAwake(() => world.partner.post('/sandbox/v1/treasury', wish));
  assert.equal(emptied.status, 200, emptied.text);
  assert.deepEqual(emptied.body.data, { asset: 'usdc.arbitrum', available: '0' });
  assert.equal(await openings('arbitrum'), 2);
  const filled = await world.partner.post('/sandbox/v1/treasury', {
    currency: 'usdc',
    chain: 'arbitrum',
    state: 'FILLED',
    amount: '1000',
  });
  assert.deepEqual(filled.body.data, { asset: 'usdc.arbitrum', available: '1000' });
});

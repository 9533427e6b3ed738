/** A sale and a purchase on Tron: deposits that count when they are solidified, and a payout with a deadline. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { encodeBalanceOf } from '../../src/rails/erc20.ts';
import { accountOf, addressOf, readTronAddress } from '../../src/rails/tron/index.ts';
import { openStory, type Story } from '../support/story.ts';

const CHAIN = 'trc20';
const RAIL = 'tron.trc20';
/** The payout is queried at growing intervals, and counts when its block is solidified. */
const SETTLED_WITHIN_MS = 120_000;

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const nodeOf = (): { rpcUrl: string; tronUrl: string } => {
  const { chains } = JSON.parse(readFileSync(join(world.dataDir, 'sandbox.json'), 'utf8')) as {
    chains: { code: string; rpcUrl: string; tronUrl: string }[];
  };
  const found = chains.find(({ code }) => code === CHAIN);
  assert.ok(found, 'the chain is not awake');
  return found;
};
async function posts<T>(url: string, body: object): Promise<T> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200, url);
  return (await answer.json()) as T;
}
const loses = (what: 'bytes' | 'nothing') => posts(`${nodeOf().tronUrl}/sandbox/lose`, { what });

async function held(address: string): Promise<bigint> {
  const { constant_result } = await posts<{ constant_result: string[] }>(
    `${nodeOf().tronUrl}/wallet/triggerconstantcontract`,
    {
      owner_address: address,
      contract_address: world.tokenAddress('usdt', CHAIN),
      data: encodeBalanceOf(accountOf(address)).slice(2),
      visible: true,
    },
  );
  return BigInt(`0x${constant_result[0]}`);
}

/** Lets the chain's time pass, and solidifies it. */
async function passes(seconds: number): Promise<void> {
  const { rpcUrl } = nodeOf();
  const rpc = <T>(method: string, params: unknown[]) =>
    posts<{ result: T }>(rpcUrl, { jsonrpc: '2.0', id: 1, method, params });
  const { result } = await rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
  await rpc('evm_setNextBlockTimestamp', [Number(result.timestamp) + seconds]);
  await world.mines(1, CHAIN);
  await world.mines(13, CHAIN);
}

/** Mines a few blocks once the rail has read the existing ones: it reads them one by one, and a real chain is slower. */
async function goesOn(): Promise<void> {
  const [followed] = await world.read((tx) =>
    tx.rows<{ head: bigint }>('select head_number as head from chains where rail = $1', [RAIL]),
  );
  const { block_header } = await posts<{ block_header: { raw_data: { number: number } } }>(
    `${nodeOf().tronUrl}/wallet/getnowblock`,
    {},
  );
  if (Number(followed?.head) >= block_header.raw_data.number) await world.mines(3, CHAIN);
}

const payoutOf = (id: bigint) =>
  world.read((tx) =>
    tx.rows<{ version: number; state: string; nonce: null; why: string | null }>(
      'select version, state, nonce, why from chain_sends where key = $1 order by version',
      [`pay_${id}_1`],
    ),
  );

test('a sale on Tron is paid to an address of its own, and settles when the deposit is solidified', async () => {
  const sale = await world.sells('100.5', 'usdt', { chain: CHAIN });
  assert.equal(readTronAddress(sale.depositAddress), sale.depositAddress);
  const paid = await world.partner.post('/sandbox/v1/pay', { transactionId: String(sale.id) });
  assert.equal(paid.status, 200, paid.text);
  await world.mines(2, CHAIN);
  await world.reaches(sale, 1);
  await world.mines(13, CHAIN);
  await world.reaches(sale, 6);
  assert.equal(await held(sale.depositAddress), 100_500_000n);
});

test('a payout that never reached the chain is sent again once its deadline has provably passed, and arrives once', async () => {
  const address = addressOf(`0x${'77'.repeat(20)}`);
  const purchase = await world.buys('5000', 'usdt', { chain: CHAIN, address });
  await loses('bytes');
  await world.credits(purchase, '5000');
  await world.until('its bytes are lost', async () => (await payoutOf(purchase.id))[0]?.state === 'signed');
  await world.mines(13, CHAIN);
  assert.equal(await held(address), 0n);
  await passes(61);
  await world.until('it is proved absent', async () => {
    const [first] = await payoutOf(purchase.id);
    return first?.state === 'absent' && /is in none of the blocks/.test(first.why ?? '');
  });
  await loses('nothing');
  await world.until(
    'it is settled',
    async () => {
      await goesOn();
      return (await world.stateOf(purchase)) === 'settled';
    },
    SETTLED_WITHIN_MS,
  );
  await passes(61);
  const sends = await payoutOf(purchase.id);
  const { order } = await world.traceOf(purchase);
  assert.equal(sends.filter(({ state }) => state === 'confirmed').length, 1);
  assert.ok(sends.every(({ state, nonce }) => nonce === null && (state === 'absent' || state === 'confirmed')));
  assert.equal(await held(address), order.payoutUnits);
});

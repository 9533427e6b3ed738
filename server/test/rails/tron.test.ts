/**
 * Tron as a rail, on the sandbox's node of Tron (src/sandbox/tron.ts): the format of its transactions, and the rules of a chain
 * whose transactions have a deadline in place of a nonce.
 *
 * Long because all of its claims share one simulated node.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { ask, type Http } from '../../src/base/http.ts';
import { type ChainPace, type ChainRail, type RailContext, watchAddress } from '../../src/rails/chain.ts';
import { addressesOf } from '../../src/rails/evm/index.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { tronClient } from '../../src/rails/tron/http.ts';
import {
  accountOf,
  addressOf,
  decodeRawData,
  encodeRawData,
  readTronAddress,
  type TronOptions,
  tronAddressesOf,
  tronSignerOf,
} from '../../src/rails/tron/index.ts';
import { data } from '../support/anvil.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { targetOf } from '../support/targets.ts';
import { SOLID, startTrc20, TRON_CHAIN, type Trc20, tronWallets } from '../support/trc20.ts';

const USDT = 'usdt.tronvil';
const TRX = 'trx.tronvil';
const FRIEND = addressOf(`0x${'5'.repeat(40)}`);

test('solidified blocks are requested from their own nodes, and each node gets the key and its path', async () => {
  const asked: string[] = [];
  const http: Http = async ({ url, headers }) => {
    asked.push(`${url} ${headers?.['TRON-PRO-API-KEY']}`);
    if (url.startsWith('https://first.example')) throw new Error('it is down');
    return { status: 200, headers: {}, body: Buffer.from('{}') } as unknown as Awaited<ReturnType<Http>>;
  };
  const client = tronClient({
    ...{ urls: ['https://first.example', 'https://full.example/'], solidityUrls: ['https://solid.example'] },
    ...{ source: 'tron.test', apiKey: 'key', http },
  });
  await client('wallet/getnowblock');
  await client('walletsolidity/getnowblock');
  assert.deepEqual(asked, [
    'https://first.example/wallet/getnowblock key',
    'https://full.example/wallet/getnowblock key',
    'https://solid.example/walletsolidity/getnowblock key',
  ]);
});

describe('addresses of Tron', () => {
  test('an account has the standard base58 spelling', () => {
    // The contract of USDT on the main chain.
    const account = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c';
    assert.equal(addressOf(account), 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t');
    assert.equal(accountOf('TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'), account);
  });

  test('a typing error, another spelling and the zero address are refused', () => {
    const good = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    assert.equal(readTronAddress(good), good);
    for (const text of [
      '',
      good.toLowerCase(),
      `${good}t`,
      good.slice(0, -1),
      good.replace('j6t', 'j6u'),
      good.replace('N', 'M'),
      '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c',
      '41a614f803b6fd780986a42c78ec9c7f77e6ded13c',
      addressOf(`0x${'0'.repeat(40)}`),
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
    ])
      assert.equal(readTronAddress(text), undefined, text);
  });

  test('a deposit address is that of EVM chains in another spelling', () => {
    const xpub =
      'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8';
    for (const index of [0n, 7n, 2n ** 31n - 1n])
      assert.equal(accountOf(tronAddressesOf(xpub)(index)), addressesOf(xpub)(index));
  });
});

describe('transactions of Tron', () => {
  // Transactions that nodes of the Nile test chain built and included.
  const CALL =
    '0a028ad92208eaef69105495eb1540f09fc0cfcd335aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541495511a493d8c362be4267224e6d81013a6862ee121541eca9bc828a3005b9a3b909f2cc5c2a54794de05f2244a9059cbb00000000000000000000004150125bea243a640bf85348873b6c4f3c517aee7a00000000000000000000000000000000000000000000000000000000000000017090cbbccfcd33900180c2d72f';
  const CALL_ID = 'c70b20da8cb8d96a99c1aceb283412acb9dea313a9e467178431a3c6ae8b9f08';
  const CALL_SIGNATURE =
    '1788bf0281f67c42f5a09322523edee9969e808a863776f21ab6543de9dd42ca0e4955577879df8074086c620eb96709ba9a95d60a166de190a081e8d69801da00';
  const COIN =
    '0a0202a22208e216e254e43ee10840c8cbe4e3df2d5a67080112630a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412320a15415c68cc82c87446f602f019e5fd797437f5b79cc212154156a6076cd1537fa317c2606e4edfa4acd3e8e92e18a08d06709084e1e3df2d';
  const COIN_ID = '88817b9c6276e3c535e4f8f15baf546292ca6ad9d44a7d97857bd6f8909d63d4';
  const bytes = (text: string) => Buffer.from(text, 'hex');
  const sha = (text: string) => createHash('sha256').update(bytes(text)).digest('hex');

  test('transactions of the chain are decoded, and encoded to the same bytes', () => {
    assert.deepEqual([sha(CALL), sha(COIN)], [CALL_ID, COIN_ID]);
    const call = decodeRawData(bytes(CALL));
    assert.equal(accountOf(call?.owner ?? ''), '0x495511a493d8c362be4267224e6d81013a6862ee');
    assert.equal(accountOf(call?.target ?? ''), '0xeca9bc828a3005b9a3b909f2cc5c2a54794de05f');
    assert.deepEqual([call?.expirationMs, call?.feeLimit, call?.value], [1_773_182_914_544n, 100_000_000n, 0n]);
    const coin = decodeRawData(bytes(COIN));
    assert.deepEqual([coin?.value, coin?.data.length, coin?.feeLimit], [100_000n, 0, 0n]);
    for (const [raw, text] of [
      [call, CALL],
      [coin, COIN],
    ] as const) {
      assert.ok(raw);
      assert.equal(encodeRawData(raw).toString('hex'), text);
    }
  });

  test('a signature yields the account that the chain recorded', () => {
    const owner = decodeRawData(bytes(CALL))?.owner;
    assert.equal(tronSignerOf(bytes(CALL), bytes(CALL_SIGNATURE)), owner);
    assert.notEqual(tronSignerOf(bytes(COIN), bytes(CALL_SIGNATURE)), owner);
    assert.equal(tronSignerOf(bytes(CALL), bytes(CALL_SIGNATURE).subarray(1)), undefined);
  });

  test('bytes with anything beside a transfer are refused', () => {
    for (const [what, text] of [
      ['a memo', `${COIN.replace('5a67', '520161'.concat('5a67'))}`],
      ['another field', `${CALL}a80101`],
      ['a field twice', `${CALL}900180c2d72f`],
      [
        'a longer number',
        COIN.replace('18a08d06', '18a08d8600').replace('1232', '1233').replace('1263', '1264').replace('5a67', '5a68'),
      ],
      ['another contract', COIN.replace('5a670801', '5a670802')],
      ['half of it', CALL.slice(0, 200)],
      ['nothing', ''],
    ] as const)
      assert.equal(decodeRawData(bytes(text)), undefined, what);
  });
});

let fixture: Fixture;
let rows: Rows;
let chain: Trc20;
let worlds = 0;

before(async () => {
  [fixture, chain] = await Promise.all([freshFixture(), startTrc20()]);
  rows = await openRows(fixture.adminUrl);
  await rows.query(`select setval('deposit_indexes', 1000000)`);
  await rows.cryptoAsset(USDT, 'tronvil', chain.token);
  await rows.cryptoAsset(TRX, 'tronvil', null, 6);
  await rows.policy('tronvil', USDT, 0n, 2);
});
after(async () => {
  await rows.close();
  await chain.stop();
  await fixture.stop();
});

async function world({
  mayLeave,
  funded = true,
  pace = {},
}: Pick<RailContext, 'mayLeave'> & { funded?: boolean; pace?: Partial<ChainPace> } = {}) {
  worlds += 1;
  const code = `tron.world${worlds}`;
  const wallets = tronWallets(chain, { code, chain: 'tronvil', pace });
  const facts: RailFact[] = [];
  const context: RailContext = {
    ...fixture,
    ...(mayLeave === undefined ? {} : { mayLeave }),
    // Opening balance of the wallet.
    report: async (_, fact) => void (fact.type === 'credit_unexpected' || facts.push(fact)),
  };
  const open = (changes: Partial<TronOptions> = {}) => wallets.open(context, changes);
  const rail = open();
  if (funded) {
    await chain.fund(wallets.hot, 1_000n);
    await chain.mint(wallets.hot, 10n ** 9n);
  }
  await chain.mine(SOLID + 1);
  const look = async (by: ChainRail = rail) => {
    while ((await by.observe()).againInMs === 0);
  };
  await look();
  let index = BigInt(worlds) * 1_000n;
  return {
    code,
    rail,
    facts,
    wallets,
    open,
    look,
    typesOf: () => facts.splice(0).map(({ type }) => type),
    pay: (key: string, units: bigint, by: ChainRail = rail, to = FRIEND) =>
      by.send({ key, asset: USDT, units, destination: { kind: 'address', address: to } }),
    async address() {
      index += 1n;
      const target = targetOf(rail, index);
      const order = await rows.order(USDT, code, target);
      await fixture.db.asSystem((tx) => watchAddress(tx, { rail: code, address: target, index, ...order }));
      return target;
    },
    versions: (key: string) =>
      rows.query<{ version: number; state: string; hash: string; why: string | null; nonce: null; deadline: Date }>(
        'select version, state, hash, why, nonce, deadline from chain_sends where rail = $1 and key = $2 order by version',
        [code, key],
      ),
  };
}

/** A line to the node on which one call is answered differently. */
const answering =
  (path: string, change: (answer: Answered) => unknown): Http =>
  async (request) => {
    const answer = await ask(request);
    if (!request.url.endsWith(path)) return answer;
    return { ...answer, body: Buffer.from(JSON.stringify(change(JSON.parse(String(answer.body))))) };
  };
type Answered = { blockID: string; block_header: { raw_data: { timestamp: number } } };

const later = (block: Answered, ms: number): Answered => {
  const { raw_data } = block.block_header;
  return { ...block, block_header: { raw_data: { ...raw_data, timestamp: raw_data.timestamp + ms } } };
};

/** A block of after the expiration, and as many above it as it takes to solidify that. */
async function expires(): Promise<void> {
  await chain.passes(61);
  await chain.mine(SOLID);
}

/** Once it has expired, the only version of pay_1_1 is proved absent. */
async function endsAbsent(
  rail: ChainRail,
  { look, versions }: Pick<Awaited<ReturnType<typeof world>>, 'look' | 'versions'>,
): Promise<void> {
  await expires();
  await look(rail);
  await look(rail);
  assert.deepEqual(
    (await versions('pay_1_1')).map(({ state }) => state),
    ['absent'],
  );
  assert.deepEqual(await rail.status('pay_1_1'), { outcome: 'absent' });
}

// First, while the chain's time is ours.
describe('a restore, on Tron', () => {
  test('a payout of the lost time is found on the chain and adopted, and nothing leaves before that time was read', async () => {
    const { code, rail, open, pay, look, typesOf } = await world();
    const { orderId, partnerId } = await rows.order(USDT, code, 'a target');
    const lost = `pay_${orderId}_1`;
    const before = await chain.held(FRIEND);
    await pay(lost, 45n);
    await chain.mine(SOLID + 1);
    // The books are those from before it, so the payout is still open.
    await rows.query('alter table chain_sends disable trigger delete_unsigned');
    await rows.query('delete from chain_sends where rail = $1', [code]);
    await rows.query('alter table chain_sends enable trigger delete_unsigned');
    await rows.query(`insert into restores (backup_taken_at, restored_at) values (now() - interval '1 minute', now())`);
    await rows.query(
      `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, address, state, created_at)
       values ($1, $2, $3, 'payout', 1, $4, $5, 45, $6, 'created', now() - interval '1 day')`,
      [lost, orderId, partnerId, code, USDT, FRIEND],
    );
    try {
      const after = open();
      await look(after);
      const other = addressOf(`0x${'6'.repeat(40)}`);
      const early = await pay('pay_9_1', 5n, after, other);
      assert.match(early.outcome === 'unknown' ? early.why : early.outcome, /time that a restore has lost/);
      // Nothing signed before the restore can be included any more.
      await chain.passes(11 * 60);
      await chain.mine(SOLID);
      for (let n = 0; n < 3; n += 1) await look(after);
      assert.deepEqual(
        typesOf().filter((type) => type !== 'send_found' && type !== 'nonces_used'),
        ['send_matched', 'payout_settled'],
      );
      assert.equal((await rail.status(lost)).outcome, 'known');
      assert.equal((await pay(lost, 45n, after)).outcome, 'submitted');
      assert.equal((await pay('pay_9_1', 5n, after, other)).outcome, 'submitted');
      await chain.mine(SOLID + 1);
      await look(after);
      assert.equal((await chain.held(FRIEND)) - before, 45n);
      assert.equal(await chain.held(other), 5n);
    } finally {
      await rows.query('delete from restores');
      await rows.query('delete from payouts');
    }
  });

  test('a second restore in the life of a process, to before the first, is read from its own lost time', async () => {
    const { code, rail, open, pay, look } = await world();
    const { orderId, partnerId } = await rows.order(USDT, code, 'a target');
    const lost = `pay_${orderId}_1`;
    const before = await chain.held(FRIEND);
    await pay(lost, 45n);
    await chain.mine(SOLID + 1);
    await look();
    const restored = () =>
      rows.query(`insert into restores (backup_taken_at, restored_at) values (now() - interval '1 minute', now())`);
    const isLooked = async () =>
      (
        await rows.query(
          `select from chain_nonces where rail = $1 and looked_at > (select max(restored_at) from restores)`,
          [code],
        )
      ).length > 0;
    const process = open();
    try {
      // The first restore has lost nothing, and its time is read to the end.
      await restored();
      await chain.passes(11 * 60);
      await chain.mine(SOLID);
      for (let n = 0; n < 3; n += 1) await look(process);
      assert.equal(await isLooked(), true);
      // The second one has lost the send, whose block the process has read already.
      await rows.query('alter table chain_sends disable trigger delete_unsigned');
      await rows.query('delete from chain_sends where rail = $1', [code]);
      await rows.query('alter table chain_sends enable trigger delete_unsigned');
      await restored();
      await rows.query(
        `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, address, state, created_at)
         values ($1, $2, $3, 'payout', 1, $4, $5, 45, $6, 'created', now() - interval '1 day')`,
        [lost, orderId, partnerId, code, USDT, FRIEND],
      );
      await chain.passes(60);
      await chain.mine(SOLID);
      for (let n = 0; n < 3; n += 1) await look(process);
      assert.equal(await isLooked(), true);
      assert.equal((await rail.status(lost)).outcome, 'known', 'the payment of the lost time was not found');
      await pay(lost, 45n, process);
      await chain.mine(SOLID + 1);
      await look(process);
      assert.equal((await chain.held(FRIEND)) - before, 45n, 'it was paid again');
    } finally {
      await rows.query('delete from restores');
      await rows.query('delete from payouts');
    }
  });
});

describe('deposits on Tron', () => {
  test('a deposit is seen in its block and confirmed when that is solidified, under any policy', async () => {
    const { address, look, typesOf } = await world();
    const to = await address();
    await chain.mint(to, 7n);
    await chain.mine();
    await look();
    assert.deepEqual(typesOf(), ['deposit_seen']);
    await chain.mine(SOLID - 1);
    await look();
    assert.deepEqual(typesOf(), []);
    await chain.mine();
    await look();
    assert.deepEqual(typesOf(), ['deposit_confirmed']);
    await chain.mine(3);
    await look();
    assert.deepEqual(typesOf(), []);
  });

  test('a deposit that a reorg removes is reversed', async () => {
    const { address, look, typesOf } = await world();
    const to = await address();
    await chain.mint(to, 7n);
    await chain.mine();
    await look();
    await chain.anvil.rpc('anvil_reorg', [2, []]);
    await chain.mine();
    await look();
    assert.deepEqual(typesOf(), ['deposit_seen', 'deposit_reversed']);
  });

  test('a node that answers as if a block were empty is not trusted, and no deposit is missed', async () => {
    const { address, open, look, typesOf } = await world();
    const to = await address();
    await chain.mint(to, 7n);
    await chain.mine();
    const behind: Http = async (request) => {
      const answer = await ask(request);
      return request.url.endsWith('/gettransactioninfobyblocknum') ? { ...answer, body: Buffer.from('[]') } : answer;
    };
    await assert.rejects(look(open({ http: behind })), { name: 'Unavailable' });
    await look();
    assert.deepEqual(typesOf(), ['deposit_seen']);
  });

  test('a node of another chain halts the rail', async () => {
    const { open, look, typesOf } = await world();
    const other = open({ chainId: TRON_CHAIN + 1n });
    await look(other);
    assert.deepEqual(typesOf(), ['rail_halted']);
  });
});

describe('payouts on Tron', () => {
  test('a payout has no nonce, has a deadline, and settles when it is solidified, with the burnt amount as cost', async () => {
    const { rail, pay, look, facts, versions, typesOf } = await world();
    const before = await chain.held(FRIEND);
    const sent = await pay('pay_1_1', 250n);
    assert.equal(sent.outcome, 'submitted');
    const [send] = await versions('pay_1_1');
    assert.equal(sent.outcome === 'submitted' && sent.reference, send?.hash);
    assert.equal(send?.nonce, null);
    assert.ok((send?.deadline.getTime() ?? 0) > (await chain.chainMs()));
    assert.equal((await rail.status('pay_1_1')).outcome, 'known');
    await chain.mine();
    await look();
    await chain.mine(SOLID - 1);
    await look();
    assert.equal(facts.length, 0);
    await chain.mine();
    await look();
    const settled = facts.at(0);
    assert.ok(settled?.type === 'payout_settled' && settled.cost?.asset === TRX && settled.cost.units > 1_000_000n);
    assert.deepEqual(typesOf(), ['payout_settled']);
    assert.equal((await chain.held(FRIEND)) - before, 250n);
  });

  test('two payouts of one amount to one recipient are two transactions', async () => {
    const { pay, look, typesOf } = await world();
    const before = await chain.held(FRIEND);
    const sent = await Promise.all([pay('pay_1_1', 40n), pay('pay_2_1', 40n)]);
    assert.deepEqual(
      sent.map(({ outcome }) => outcome),
      ['submitted', 'submitted'],
    );
    await chain.mine(SOLID + 1);
    await look();
    assert.equal((await chain.held(FRIEND)) - before, 80n);
    assert.deepEqual(typesOf(), ['payout_settled', 'payout_settled']);
  });

  test('a payout whose answer is lost is found by the next process, and paid once', async () => {
    const { open, pay, look, typesOf } = await world();
    const before = await chain.held(FRIEND);
    chain.node.loseNext('answer');
    assert.equal((await pay('pay_1_1', 30n)).outcome, 'unknown');
    const next = open();
    assert.equal((await next.status('pay_1_1')).outcome, 'known');
    await chain.mine(SOLID + 1);
    await look(next);
    assert.equal((await pay('pay_1_1', 30n, next)).outcome, 'submitted');
    await expires();
    await look(next);
    assert.equal((await chain.held(FRIEND)) - before, 30n);
    assert.deepEqual(typesOf(), ['payout_settled']);
  });

  test('a payout that never arrived is absent only once its expiration is solidified, and then paid once', async () => {
    const { rail, open, pay, look, versions, typesOf } = await world({ pace: { rebroadcastMs: 600_000 } });
    const before = await chain.held(FRIEND);
    chain.node.loseNext('bytes');
    assert.equal((await pay('pay_1_1', 30n)).outcome, 'unknown');
    // The process has ended, and the transaction is not broadcast again in time.
    await chain.passes(61);
    await chain.mine(SOLID - 1);
    await look();
    assert.notEqual(
      (await rail.status('pay_1_1')).outcome,
      'absent',
      'the block after its expiration is not solidified',
    );
    await chain.mine();
    const next = open();
    await look(next);
    assert.equal((await next.status('pay_1_1')).outcome, 'absent');
    const [first] = await versions('pay_1_1');
    assert.equal(first?.state, 'absent');
    assert.match(
      first?.why ?? '',
      /^[0-9a-f]{64} is in none of the blocks \d+ to \d+, all final; .* is not before its expiration/,
    );
    assert.deepEqual(
      (await Promise.all([pay('pay_1_1', 30n, next), pay('pay_1_1', 30n)])).map(({ outcome }) => outcome),
      ['submitted', 'submitted'],
    );
    await chain.mine(SOLID + 1);
    await look(next);
    await expires();
    await look(next);
    const all = await versions('pay_1_1');
    assert.deepEqual(
      all.map(({ version, state }) => [version, state]),
      [
        [1, 'absent'],
        [2, 'confirmed'],
      ],
    );
    assert.equal((await chain.held(FRIEND)) - before, 30n);
    assert.deepEqual(typesOf(), ['payout_settled']);
  });

  test('a payout is not absent because its node’s head was ahead of the clock and its index lags', async () => {
    const { open, pay, look, rail, versions, typesOf } = await world({ pace: { rebroadcastMs: 600_000 } });
    const before = await chain.held(FRIEND);
    const ahead = open({ http: answering('/wallet/getnowblock', (block) => later(block, 5 * 60_000)) });
    assert.equal((await pay('pay_1_1', 30n, ahead)).outcome, 'submitted');
    await chain.mine();
    // Its block is older than the head that the node claimed.
    await chain.passes(6 * 60 + 1);
    await chain.mine(SOLID);
    let reads = 0;
    const behind = answering('/gettransactioninfobyid', () => ({}));
    const lagging = open({
      http: async (request) => {
        reads += Number(request.url.endsWith('/getblockbynum'));
        return await behind(request);
      },
    });
    // Steps that follow the chain read blocks, too.
    await look(lagging);
    reads = 0;
    await look(lagging);
    assert.deepEqual(
      (await versions('pay_1_1')).map(({ state }) => state),
      ['signed'],
    );
    assert.ok(reads > 0 && reads <= 2 * SOLID + 3, `the proof read ${reads} blocks`);
    assert.equal((await pay('pay_1_1', 30n, lagging)).outcome, 'unknown');
    await chain.mine(SOLID + 1);
    await look();
    assert.equal((await chain.held(FRIEND)) - before, 30n);
    assert.equal((await rail.status('pay_1_1')).outcome, 'known');
    assert.deepEqual(typesOf(), ['payout_settled']);
  });

  test('a payout that names a block of another branch is refused by every node, and absent after its expiration', async () => {
    const { open, pay, look, versions } = await world({ pace: { rebroadcastMs: 600_000 } });
    const other = (block: Answered): Answered => ({
      ...block,
      blockID: `${block.blockID.slice(0, 16)}${'ab'.repeat(24)}`,
    });
    const astray = open({ http: answering('/walletsolidity/getnowblock', other) });
    assert.equal((await pay('pay_1_1', 30n, astray)).outcome, 'unknown');
    await expires();
    await look();
    const [first] = await versions('pay_1_1');
    assert.equal(first?.state, 'absent');
    const [, from, to] = /none of the blocks (\d+) to (\d+)/.exec(first?.why ?? '') ?? [];
    const atMs = async (number: string | undefined) => {
      const params = [`0x${Number(number).toString(16)}`, false];
      return Number((await chain.anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', params)).timestamp) * 1_000;
    };
    const ended = first?.deadline.getTime() ?? 0;
    assert.ok((await atMs(to)) >= ended, 'the proof ends before the expiration');
    assert.ok(
      (await atMs(String(Number(from) - 1))) < ended - 600_000,
      'the proof starts after it may have been signed',
    );
  });

  test('a payout that a reorg removes after its expiration is absent, and paid again once', async () => {
    const { rail, pay, look, typesOf } = await world();
    const before = await chain.held(FRIEND);
    await pay('pay_1_1', 30n);
    await chain.mine();
    await look();
    await chain.anvil.rpc('anvil_reorg', [1, []]);
    await chain.anvil.rpc('anvil_dropAllTransactions');
    await chain.passes(61);
    await look();
    await chain.mine(SOLID);
    await look();
    await look();
    assert.equal((await rail.status('pay_1_1')).outcome, 'absent');
    assert.equal((await pay('pay_1_1', 30n)).outcome, 'submitted');
    await chain.mine(SOLID + 1);
    await look();
    assert.equal((await chain.held(FRIEND)) - before, 30n);
    assert.deepEqual(typesOf(), ['payout_settled']);
  });

  test('a payout that was included and failed is rejected with a cost, and not absent', async () => {
    const { rail, wallets, pay, look, facts } = await world();
    await pay('pay_1_1', 10n ** 9n);
    // Another holder of the key is faster.
    await chain.anvil.rpc('anvil_impersonateAccount', [accountOf(wallets.hot)]);
    await chain.anvil.rpc('anvil_setStorageAt', [...(await balanceSlot(wallets.hot)), `0x${'0'.repeat(64)}`]);
    await chain.mine(SOLID + 1);
    await look();
    const [fact] = facts;
    assert.equal(fact?.type, 'payout_rejected');
    assert.ok(fact?.type === 'payout_rejected' && (fact.cost?.units ?? 0n) > 0n);
    assert.equal((await rail.status('pay_1_1')).outcome, 'rejected');
    await expires();
    await look();
    assert.equal(facts.length, 1);
  });

  test('an impossible payout is rejected before anything is reserved', async () => {
    const { rail, pay, versions } = await world();
    assert.equal((await pay('pay_1_1', 10n ** 9n + 1n)).outcome, 'rejected');
    assert.equal((await pay('pay_2_1', 5n, rail, '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c')).outcome, 'rejected');
    assert.equal((await pay('pay_3_1', 5n, rail, chain.token)).outcome, 'rejected');
    for (const key of ['pay_1_1', 'pay_2_1', 'pay_3_1']) assert.deepEqual(await versions(key), []);
    const poor = await world({ funded: false });
    await chain.mint(poor.wallets.hot, 100n);
    await chain.mine();
    const sent = await poor.pay('pay_1_1', 5n);
    assert.match(sent.outcome === 'rejected' ? sent.why : '', /energy and bandwidth/);
  });

  test('a version that follows an absent one asks the gate again, and may be given up', async () => {
    let leaves = true;
    const { rail, pay, look, versions } = await world({
      pace: { rebroadcastMs: 600_000 },
      mayLeave: async () => (leaves ? { outcome: 'pay' } : { outcome: 'hold', why: 'blocked since' }),
    });
    chain.node.loseNext('bytes');
    await pay('pay_1_1', 30n);
    await expires();
    await look();
    await look();
    leaves = false;
    assert.equal((await pay('pay_1_1', 30n)).outcome, 'unknown');
    assert.deepEqual(
      (await versions('pay_1_1')).map(({ state }) => state),
      ['absent'],
    );
    assert.equal((await rail.status('pay_1_1')).outcome, 'absent');
  });

  test('a version that follows an absent one and was never signed does not count as submitted, and is given up', async () => {
    let leaves = true;
    const { open, pay, look, wallets, typesOf } = await world({
      pace: { rebroadcastMs: 600_000 },
      mayLeave: async () => (leaves ? { outcome: 'pay' } : { outcome: 'hold', why: 'blocked since' }),
    });
    chain.node.loseNext('bytes');
    await pay('pay_1_1', 30n);
    await expires();
    await look();
    await look();
    const { hot } = wallets.settings.signers ?? {};
    assert.ok(hot);
    const dead = open({
      signers: { hot: { ...hot, refuses: hot.refuses, sign: () => Promise.reject(new Error('killed')) } },
    });
    await assert.rejects(pay('pay_1_1', 30n, dead), /killed/);
    const asked = await dead.status('pay_1_1').catch(({ message }) => message);
    assert.equal(asked, 'killed', 'the status query did not sign the unknown transaction first');
    await rows.query(`update chain_sends set signing_at = null where key = 'pay_1_1' and state = 'reserved'`);
    leaves = false;
    assert.deepEqual(await open().status('pay_1_1'), { outcome: 'absent' });
    assert.deepEqual(typesOf(), []);
  });

  test('bytes of a process that was killed before it broadcast wait for the gate, and are proved absent if it holds them', async () => {
    let leaves = true;
    const { rail, open, pay, look, versions, typesOf } = await world({
      mayLeave: async () => (leaves ? { outcome: 'pay' } : { outcome: 'hold', why: 'blocked since' }),
    });
    const to = addressOf(`0x${'7'.repeat(40)}`);
    chain.node.loseNext('bytes');
    await pay('pay_1_1', 30n, rail, to);
    // The row that the killed process left: signed, and not marked as broadcast.
    await rows.query(`update chain_sends set broadcast_at = null where key = 'pay_1_1' and state = 'signed'`);
    leaves = false;
    const next = open();
    const kept = { outcome: 'unknown', why: 'it was signed and is not broadcast: blocked since' };
    assert.deepEqual(await pay('pay_1_1', 30n, next, to), kept);
    assert.deepEqual(await next.status('pay_1_1'), kept);
    await look(next);
    await chain.mine(SOLID + 1);
    await look(next);
    assert.equal(await chain.held(to), 0n);
    assert.deepEqual([...new Set(typesOf())], ['payout_unknown']);
    await endsAbsent(next, { look, versions });
    leaves = true;
    assert.equal((await pay('pay_1_1', 30n, next, to)).outcome, 'submitted');
    await chain.mine(SOLID + 1);
    await look(next);
    assert.equal(await chain.held(to), 30n);
    assert.deepEqual(typesOf(), ['payout_settled']);
  });

  test('bytes that a killed process did not store are proved absent as well: their hash follows from what was to be signed', async () => {
    let leaves = true;
    const { open, pay, look, versions, wallets } = await world({
      mayLeave: async () => (leaves ? { outcome: 'pay' } : { outcome: 'hold', why: 'blocked since' }),
    });
    const { hot } = wallets.settings.signers ?? {};
    assert.ok(hot);
    const dead = open({
      signers: { hot: { ...hot, refuses: hot.refuses, sign: () => Promise.reject(new Error('killed')) } },
    });
    await assert.rejects(pay('pay_1_1', 30n, dead), /killed/);
    leaves = false;
    const next = open();
    assert.deepEqual(await next.status('pay_1_1'), { outcome: 'unknown', why: 'it may be signed: blocked since' });
    await look(next);
    await chain.mine(SOLID + 1);
    await look(next);
    assert.equal((await next.status('pay_1_1')).outcome, 'unknown', 'the signed bytes may still be included');
    await endsAbsent(next, { look, versions });
  });

  /** The storage slot of a balance in the test token. */
  async function balanceSlot(of: string): Promise<[string, string]> {
    const account = accountOf(of);
    const token = accountOf(chain.token);
    const { accessList } = await chain.anvil.rpc<{ accessList: { address: string; storageKeys: string[] }[] }>(
      'eth_createAccessList',
      [{ to: token, data: data('balanceOf(address)', account) }, 'latest'],
    );
    const [key] = accessList.find(({ address }) => address.toLowerCase() === token)?.storageKeys ?? [];
    assert.ok(key);
    return [token, key];
  }
});

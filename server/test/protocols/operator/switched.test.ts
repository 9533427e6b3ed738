/** What kill switches stop and what goes on, as an operator reads it, and what waits for those that are set. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Refusal } from '../../../src/base/errors.ts';
import {
  isRailOff,
  isSubmittingOff,
  type KillSwitchKind,
  liftKillSwitch,
  requireOpen,
  setKillSwitch,
} from '../../../src/partners/index.ts';
import { createServer } from '../../../src/protocols/whitelabel/index.ts';
import type { Came } from '../../support/client.ts';
import { injectDeclared } from '../../support/declared.fetch.ts';
import { type Fixture, freshFixture } from '../../support/fixture.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { openRows, type Rows } from '../../support/rows.ts';
import { readCsv } from '../../support/terminal.ts';
import { operatorNamed, type Person } from './people.ts';

const CHAIN = 'evm.one';
const BANK = 'bank.simulated';

let fixture: Fixture;
let rows: Rows;
let app: ReturnType<typeof createServer>;
let vic: Person;
let partnerId = 0n;
let marketId = 0n;

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
  app = createServer({ log: fixture.log });
  await app.register(operatorApi(fixture));
  vic = await operatorNamed({ ...fixture, baseUrl: '' }, 'vic', 'viewer');
  await rows.query(
    `insert into assets (code, kind, coin, decimals) values ('inr', 'fiat', 'inr', 2) on conflict do nothing`,
  );
  await rows.cryptoAsset('usdc', CHAIN, '0xc0', 6);
  const orders: bigint[] = [];
  for (const n of [1, 2, 3]) {
    const made = await rows.order('usdc', CHAIN, `0xt${n}`);
    partnerId = made.partnerId;
    orders.push(made.orderId);
  }
  const [market] = await rows.query<{ id: string }>('select id from markets');
  marketId = BigInt(market?.id ?? 0);
  // Of three orders one is over.
  await rows.query(`update orders set state = 'expired' where id = $1`, [orders[2]]);
  for (const [id, order, rail, state, day] of [
    ['pay_1_1', orders[0], BANK, 'created', 2],
    ['pay_2_1', orders[1], BANK, 'created', 1],
    ['pay_2_2', orders[1], CHAIN, 'created', 3],
    ['pay_3_1', orders[2], BANK, 'submitted', 1],
    ['pay_1_2', orders[0], BANK, 'rejected', 1],
  ] as const)
    await rows.query(
      `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, address, state, created_at, ended_at)
       values ($1, $2, $3, 'payout', $4, $5, 'inr', 100, '0xa', $6, $7, $8)`,
      [id, order, partnerId, Number(id.slice(-1)), rail, state, dayOf(day), state === 'rejected' ? dayOf(day) : null],
    );
});
after(async () => {
  await app?.close();
  await rows?.close();
  await fixture?.stop();
});

const dayOf = (day: number) => `2027-03-0${day}T10:00:00.000Z`;
const asks = (path: string) =>
  injectDeclared(app, { url: `/operator/v1${path}`, headers: { authorization: `Bearer ${vic.token}` } });
async function reads(path: string): Promise<Came> {
  const reply = await asks(path);
  assert.equal(reply.statusCode, 200, reply.body);
  return reply.json();
}
async function whileSet<T>(kind: KillSwitchKind, subject: string, then: () => Promise<T>): Promise<T> {
  const stop = { kind, subject, by: 'ada', reason: '=a test', at: fixture.clock.now() };
  await fixture.db.asSystem((tx) => setKillSwitch(tx, stop));
  try {
    return await then();
  } finally {
    await fixture.db.asSystem((tx) => liftKillSwitch(tx, kind, subject));
  }
}

/** By kind: whether new orders are refused, whether submitting is off on the chain and on the bank, whether sweeps are. */
const STOPPED: Readonly<Record<KillSwitchKind, readonly [string | null, boolean, boolean, boolean]>> = {
  market: ['market_switched_off', false, false, false],
  partner: ['partner_switched_off', false, false, false],
  rail: [null, true, false, true],
  payouts: [null, true, true, false],
};
const SUBJECTS = (): Readonly<Record<KillSwitchKind, string>> => ({
  ...{ market: String(marketId), partner: String(partnerId), rail: CHAIN, payouts: 'all' },
});

for (const kind of ['market', 'partner', 'rail', 'payouts'] as const)
  test(`the words about a kill switch on ${kind} are those of the code that asks for it`, async () => {
    const now = await whileSet(kind, SUBJECTS()[kind], () =>
      fixture.db.asSystem(async (tx) => [
        await requireOpen(tx, { partnerId, marketId, exactly: true }).then(
          () => null,
          (error: unknown) => (error as Refusal).code,
        ),
        await isSubmittingOff(tx, CHAIN),
        await isSubmittingOff(tx, BANK),
        await isRailOff(tx, CHAIN),
      ]),
    );
    assert.deepEqual(now, STOPPED[kind]);
    const { prevents, continues } = (await reads('/kill-switches/kinds')).kinds.find((one: Came) => one.kind === kind);
    const [refused, chain, , sweeps] = STOPPED[kind];
    assert.equal(/new orders of this/.test(prevents), refused !== null);
    assert.equal(/new orders are taken/.test(continues), refused === null);
    assert.equal(/no payout or refund is submitted|none is submitted/.test(prevents), chain);
    assert.equal(/nothing is swept/.test(prevents), sweeps);
    assert.equal(/Deposits are swept/.test(continues), kind === 'payouts');
  });

test('without a kill switch nothing waits for one', async () => {
  assert.deepEqual((await reads('/kill-switches/waiting')).waiting, []);
});

test('what waits is counted: unsubmitted payouts of the rail or of all, and orders of a market or partner that go on', async () => {
  const counted = async () => {
    const [one] = (await reads('/kill-switches/waiting')).waiting;
    return [one.payouts, one.refunds, one.orders, one.oldestAt, one.underWay];
  };
  for (const [kind, subject, expected] of [
    ['rail', BANK, [2, 0, 2, dayOf(1), 0]],
    ['rail', CHAIN, [1, 0, 1, dayOf(3), 0]],
    ['rail', 'evm.none', [0, 0, 0, null, 0]],
    ['payouts', 'all', [3, 0, 2, dayOf(1), 0]],
    ['market', SUBJECTS().market, [0, 0, 0, null, 2]],
    ['partner', SUBJECTS().partner, [0, 0, 0, null, 2]],
  ] as const)
    assert.deepEqual(await whileSet(kind, subject, counted), expected, `${kind} ${subject}`);
});

test('the CSV has exactly the rows shown', async () => {
  await whileSet('rail', BANK, async () => {
    const csv = readCsv((await asks('/kill-switches/waiting?format=csv')).body);
    const { waiting } = await reads('/kill-switches/waiting');
    assert.deepEqual(
      csv,
      waiting.map((row: Came) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]))),
    );
  });
});

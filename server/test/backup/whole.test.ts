/**
 * The whole drill as an operator would do it: a server process with its embedded database, real commands, kill -9, and a lost
 * cluster. First from backup and archive, which loses nothing; then, in the long run (support/long.ts), from a backup alone, which is
 * older than chain and bank: they have paid what the restored books still owe.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { runningPostgres, startPostgres } from '../../src/base/postgres.ts';
import { isGoneWithin } from '../../src/base/processes.ts';
import { type Client, openClient } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { freshFolder } from '../support/folder.ts';
import { isLong } from '../support/long.ts';
import { collect, run, type ServerProcess, startProcess } from '../support/process.ts';
import { until as waitUntil } from '../support/until.ts';

const dataDir = freshFolder('whole');
const archive = join(freshFolder('whole-archive'), 'wal');
const backups = freshFolder('whole-backups');
const PATIENCE_MS = 30_000;
/** The wallet of all purchases. */
const WALLET = `0x${'ab'.repeat(20)}`;
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const RAILS = ['evm.matic20', 'bank.simulated'] as const;

let server: ServerProcess;
let partner: Client;
let customer: { customerId: string; fiatAccountId: string };

async function starts(): Promise<void> {
  server = await startProcess({ dataDir, port: 0, env: { WAL_ARCHIVE_DIR: archive } });
  const { baseUrl, partners } = server.sandbox();
  assert.ok(partners[0]);
  // Sweeps are not part of this test.
  await rows('delete from sweep_minimums');
  partner = openClient(baseUrl, partners[0]);
}

/** Runs an npm command and returns its output. */
async function command(args: string[]): Promise<{ code: number | null; said: string }> {
  const child = run(args, { DATA_DIR: dataDir, WAL_ARCHIVE_DIR: archive, LOG_LEVEL: 'error' });
  const said = collect(child);
  const code = await new Promise<number | null>((ended) => child.once('close', ended));
  return { code, said: said() };
}
const backup = () => command(['server/src/apps/backup.ts', 'backup', '--to', backups]);
const restore = (...more: string[]) => command(['server/src/apps/backup.ts', 'restore', ...more]);
const reconcile = () => command(['server/src/apps/reconcile.ts', 'reconcile']);
const newestBackup = (): string => join(backups, readdirSync(backups).toSorted().at(-1) ?? '');

/** Reads the tables directly. */
async function onDatabase<T>(body: (client: pg.Client) => Promise<T>, url = runningPostgres(dataDir)): Promise<T> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=cloverleaf' });
  await client.connect();
  try {
    return await body(client);
  } finally {
    await client.end();
  }
}
const rows = (text: string, values: unknown[] = []) =>
  onDatabase(async (client) => (await client.query(text, values)).rows);

const until = <T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> =>
  waitUntil(what, look, { withinMs: PATIENCE_MS, everyMs: 50, more: () => server.output() });

async function told(path: string, body: Record<string, string>): Promise<Record<string, string>> {
  const answer = await partner.post(path, body);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body.data;
}

/** An operator action over the operator API. */
async function operates(path: string, body: Record<string, string>): Promise<void> {
  const token = readFileSync(join(dataDir, 'operator.token'), 'utf8').trim();
  const response = await fetchDeclared(`${server.sandbox().baseUrl}/operator/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, reason: 'a drill' }),
  });
  assert.ok(response.ok, `${path}: ${await response.text()}`);
}

const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20', fromAmount: '50' };

async function sells(): Promise<string> {
  const { rate = '', toAmount = '' } = await told('offramp/quote', pair);
  const { transactionId = '' } = await told('offramp/createTransaction', { ...pair, rate, toAmount, ...customer });
  await told('test/changeOfframpStatus', { ...customer, transactionId, status: '2' });
  return transactionId;
}

async function buys(): Promise<string> {
  const input = { fromCurrency: 'INR', toCurrency: 'usdc', chain: 'matic20', fromAmount: '5000' };
  const { customerId } = customer;
  const { transactionId = '' } = await told('onramp/createTransaction', {
    ...input,
    customerId,
    depositAddress: WALLET,
    paymentMethodType: 'UPI',
  });
  await told('test/changeOnrampStatus', { customerId, transactionId, status: '2' });
  return transactionId;
}

const stateOf = async (id: string): Promise<string> =>
  (await rows('select state from orders where id = $1', [id]))[0]?.state;
const reach = (ids: string[], state: string) =>
  until(`${ids} are ${state}`, async () => (await Promise.all(ids.map(stateOf))).every((one) => one === state));
const payoutStates = async (ids: string[]): Promise<string[]> =>
  (await rows('select state from payouts where order_id = any($1) order by id', [ids])).map(({ state }) => state);
const orders = () => rows('select id, state, version, payout_reference from orders order by id');

/** The machine fails, and the disk with the cluster is lost. */
async function loses(): Promise<void> {
  const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  await server.kill();
  assert.ok(await isGoneWithin(pid, 20_000));
  rmSync(join(dataDir, 'postgres'), { recursive: true });
}

/** The bank is a separate institution: only our database was restored, and the bank's books are unchanged. */
const bankBooks = {
  keep: () =>
    rows(`select (select json_agg(p) from simulated_bank.payments p) as payments,
                           (select json_agg(l) from simulated_bank.lines l) as lines`),
  async putBack([world]: { payments: unknown; lines: unknown }[]): Promise<void> {
    const postgres = await startPostgres({ dataDir });
    try {
      await onDatabase(async (client) => {
        for (const table of ['payments', 'lines'] as const) {
          await client.query(`delete from simulated_bank.${table}`);
          await client.query(
            `insert into simulated_bank.${table} overriding system value
             select * from json_populate_recordset(null::simulated_bank.${table}, $1)`,
            [JSON.stringify(world?.[table])],
          );
        }
      }, postgres.adminUrl);
    } finally {
      await postgres.stop();
    }
  },
};

async function onChain<T>(method: string, params: unknown[]): Promise<T> {
  const chain = server.sandbox().chains.find(({ code }) => code === 'matic20');
  const response = await fetch(chain?.rpcUrl ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return ((await response.json()) as { result: T }).result;
}

/** Transfers to the wallet of all purchases, from the chain's logs. */
async function chainPayments(): Promise<string[]> {
  const chain = server.sandbox().chains.find(({ code }) => code === 'matic20');
  const contract = chain?.tokens.find(({ code }) => code === 'usdc')?.address;
  const topics = [TRANSFER_TOPIC, null, `0x${'00'.repeat(12)}${WALLET.slice(2)}`];
  const asked = [{ address: contract, topics, fromBlock: '0x0' }];
  const result = await onChain<{ transactionHash: string }[]>('eth_getLogs', asked);
  return result.map(({ transactionHash }) => transactionHash);
}

before(async () => {
  await starts();
  const { customerId = '' } = await told('kyc/url', {
    clientCustomerId: 'drilled',
    phoneNumber: '+91-9000000000',
    type: 'INDIVIDUAL',
  });
  await told('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const account = { customerId, fiatAccount: '000100000001', ifsc: 'HDFC0000001' };
  const { fiatAccountId = '' } = await told('bank/addFiatAccount', account);
  customer = { customerId, fiatAccountId };
});

after(async () => {
  await server?.interrupt();
});

test('a server that lost its cluster restores all of it from backup and archive, and submits nothing until the switch is lifted', async () => {
  const [taken, sale, purchase] = await Promise.all([backup(), sells(), buys()]);
  assert.equal(taken.code, 0, taken.said);
  await reach([sale, purchase], 'settled');
  const booksBefore = await orders();
  // The log segment is finished here, as PostgreSQL does after a minute.
  // Its name is read first, and a message is written to it, because an empty segment would not be finished.
  await rows(`select pg_logical_emit_message(true, 'drill', 'the last of it')`);
  const [{ piece }] = await rows('select pg_walfile_name(pg_current_wal_lsn()) as piece');
  await rows('select pg_switch_wal()');
  // PostgreSQL retries a segment that could not be archived after a minute.
  let archiver = '';
  await waitUntil(
    'the last piece is kept',
    async () => {
      const [told] = await rows('select to_json(a)::text as told from pg_stat_archiver a');
      archiver = String(told?.told);
      return existsSync(join(archive, `${piece}.gz`));
    },
    { withinMs: 90_000, everyMs: 200, more: () => `${piece}: ${archiver}` },
  );

  await loses();
  const restored = await restore('--from', newestBackup());
  assert.equal(restored.code, 0, restored.said);
  assert.match(restored.said, /Payouts are switched off/);
  await starts();
  assert.deepEqual(await orders(), booksBefore);
  const verified = await command(['server/src/apps/reconcile.ts', 'verify-ledger']);
  assert.equal(verified.code, 0, verified.said);
  const compared = await reconcile();
  assert.equal(compared.code, 0, compared.said);

  const [stop] = await rows('select kind, subject, by, reason from kill_switches');
  assert.deepEqual([stop?.kind, stop?.subject, stop?.by], ['payouts', 'all', 'the machine']);
  assert.match(stop?.reason, /^restored from the backup of .*payments made after that are not in the books$/);
  const [action] = await rows(`select action, role, subject, reason from audit order by id desc limit 1`);
  assert.deepEqual(action, {
    action: 'kill-switch.set',
    role: 'machine',
    subject: 'payouts:all',
    reason: stop?.reason,
  });
  const next = await sells();
  await reach([next], 'paying_out');
  assert.deepEqual(await payoutStates([next]), ['created']);
  await operates('/kill-switches/lift', { kind: 'payouts', subject: 'all' });
  await reach([next], 'settled');
});

if (isLong)
  test('after a restore from an older backup nothing is paid twice: the bank’s statement shows its payment, and so does the chain', async () => {
    for (const subject of RAILS) await operates('/kill-switches', { kind: 'rail', subject });
    const [sale, purchase] = [await sells(), await buys()];
    await reach([sale, purchase], 'paying_out');
    assert.equal((await backup()).code, 0);
    const [{ last }] = await rows('select last_value as last from deposit_indexes');
    for (const subject of RAILS) await operates('/kill-switches/lift', { kind: 'rail', subject });
    await reach([sale, purchase], 'settled');
    const lost = await sells();
    await reach([lost], 'settled');
    const world = await bankBooks.keep();
    await loses();

    const empty = join(backups, '..', `${Date.now()}`);
    mkdirSync(empty);
    const restored = await restore('--from', newestBackup(), '--archive', empty);
    rmSync(empty, { recursive: true });
    assert.equal(restored.code, 0, restored.said);
    await bankBooks.putBack(world);

    await starts();
    // The books and the kill switches of the rails are as in the backup; only the restore’s own switch stays on.
    for (const subject of RAILS) await operates('/kill-switches/lift', { kind: 'rail', subject });
    await reach([sale], 'settled');
    // Once it is final, the chain shows its payment, too; payouts are still stopped.
    await onChain('anvil_mine', ['0x10']);
    await reach([purchase], 'settled');
    const [{ now }] = await rows(`select nextval('deposit_indexes') as now`);
    assert.ok(BigInt(now) > BigInt(last) + 1_000_000n, 'an address of a lost order may be given out again');
    const [found] = await rows(`select facts from cases where kind = 'deposit_unknown_target' and closed_at is null`);
    assert.ok(found?.facts.index > Number(last), 'the deposit of the lost order was not found at its address');

    await operates('/kill-switches/lift', { kind: 'payouts', subject: 'all' });
    const next = await buys();
    await reach([next], 'settled');
    assert.equal((await chainPayments()).length, 3, 'there is not one payment for each purchase');
    await onChain('anvil_mine', ['0x10']);
    await until('the books agree with chain and bank', async () => (await reconcile()).code === 0);
    const payments = await rows('select key, count(*)::int as times from simulated_bank.payments group by key');
    assert.deepEqual(
      payments.filter(({ times }) => times !== 1),
      [],
    );
  });

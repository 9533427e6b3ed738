/**
 * Books: the invariants that hold after any history, with any interruptions.
 *
 * - debits and credits are equal per asset, and every running balance is the sum of its transfers;
 * - every order holds the amount that its state requires, and at most one payout of it settled;
 * - every custody account equals, to the unit, the balance that chain or bank report;
 * - the seals are valid, and no job was given up.
 *
 * The result lists the broken invariants as sentences, so that a caller can wait until payments under way have arrived.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { createPublicClient, erc20Abi, type Hex, http, keccak256 } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { Vault } from '../../src/base/crypto.ts';
import { type Tx, txOn } from '../../src/base/db.ts';
import { balancesOf } from '../../src/ledger/index.ts';
import { trace } from '../../src/orders/index.ts';
import { verifyLedger } from '../../src/reconcile/index.ts';
import { privateKey } from '../../src/sandbox/wallets.ts';
import { patience } from './patience.ts';
import type { Sandbox } from './process.ts';
import { waiting } from './until.ts';

/** The balance of one of our wallets as chain or bank report it. */
export type BalanceReader = (rail: string, wallet: string, asset: string) => Promise<bigint | undefined>;

/** @param vault verifies audit rows that an erasure has changed */
export async function brokenBooks(tx: Tx, outside: BalanceReader, vault?: Vault): Promise<string[]> {
  const { problems } = await verifyLedger(tx, { vault });
  const broken = problems.map(({ rule, subject, why }) => `${rule} ${subject}: ${why}`);
  for (const { id } of await tx.rows<{ id: bigint }>('select id from orders order by id')) {
    const { order, payouts } = await trace(tx, id);
    const settled = payouts.filter(({ state, purpose }) => state === 'settled' && purpose === 'payout');
    const paid = settled.length;
    // Another attempt may pay the rest of a short one: together they equal the amount of the order.
    const sum = settled.reduce((units, one) => units + (one.paidUnits ?? one.units), 0n);
    if (paid > 1 && sum > order.payoutUnits) broken.push(`order ${id} was paid ${paid} times`);
    if (paid > 0 && order.state === 'refunded') broken.push(`order ${id} was paid and refunded`);
    if (order.state === 'settled' && paid === 0 && !payouts.some(({ state }) => state === 'returned'))
      broken.push(`order ${id} is settled and no payout is`);
  }
  for (const { id } of await depositsGivenTwice(tx)) broken.push(`more of deposit ${id} went back than came in`);
  const uncovered = new Map((await balancesOf(tx, ['uncovered'])).map(({ code, units }) => [code, units]));
  for (const { code, units } of await balancesOf(tx, ['custody'])) {
    const [, rail = '', wallet = '', asset = ''] = code.split(':');
    const gone = wallet === 'deposits' ? 0n : (uncovered.get(`uncovered:${rail}:${asset}`) ?? 0n);
    const there = await outside(rail, wallet, asset);
    if (there !== units - gone) broken.push(`${code}: ${units} less ${gone} in the books, ${there} outside`);
  }
  const dead = await tx.rows<{ kind: string; subject: string; lastError: string }>(
    'select kind, subject, last_error from jobs where dead_at is not null',
  );
  for (const row of dead) broken.push(`${row.kind} ${row.subject} was given up: ${row.lastError}`);
  return broken;
}

/**
 * Compares the amounts that really left; the table's own check only counts the intended ones. A credit is compared with the parts
 * that its bank recalled: a payment that was shown late may have refunded them, too, and then its customer owes them.
 */
const depositsGivenTwice = (tx: Tx) =>
  tx.rows<{ id: string }>(
    `select coalesce(d.facts ->> 'partOf', d.id::text) as id
       from deposits d cross join lateral (
         select coalesce(sum(p.units), 0) as units from refunds r join payouts p on p.refund_id = r.id and p.state = 'settled'
          where r.deposit_id = d.id) paid
      group by 1 having sum(paid.units) > 0 and sum(paid.units) + sum(d.taken_units) > sum(d.units)`,
  );

/** The books of a server that runs as a process of its own, on its embedded database. */
export async function openBooksOf(dataDir: string, sandbox: Sandbox) {
  const port = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3]);
  const password = readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim();
  const login = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres', password };
  const client = new pg.Client({ ...login, options: '-c search_path=cloverleaf' });
  client.on('error', () => {});
  await client.connect();
  const tx = txOn(client);

  async function bank(asset: string): Promise<bigint> {
    const row = await tx.row<{ units: bigint }>(
      `select coalesce(sum(case direction when 'credit' then units else -units - charge end), 0)::numeric as units
         from simulated_bank.lines where currency = $1`,
      [asset.toUpperCase()],
    );
    return row?.units ?? 0n;
  }

  async function chain(rail: string, wallet: string, asset: string): Promise<bigint | undefined> {
    const [coin, code] = asset.split('.');
    const there = sandbox.chains.find((one) => one.code === code);
    if (there === undefined) return undefined;
    const token = there.tokens.find((one) => one.code === coin);
    const client = createPublicClient({ transport: http(there.rpcUrl), batch: { multicall: false } });
    const addresses =
      wallet === 'hot'
        ? [privateKeyToAddress(privateKey('hot') as Hex)]
        : (await tx.rows<{ address: Hex }>('select address from deposit_addresses where rail = $1', [rail])).map(
            (row) => row.address,
          );
    let sum = 0n;
    for (const address of addresses)
      sum +=
        token === undefined
          ? await client.getBalance({ address })
          : await client.readContract({
              address: token.address as Hex,
              abi: erc20Abi,
              functionName: 'balanceOf',
              args: [address],
            });
    return sum;
  }

  return {
    tx,
    broken: () =>
      brokenBooks(tx, (rail, wallet, asset) => (rail.startsWith('bank.') ? bank(asset) : chain(rail, wallet, asset))),
    /** The balance of one of our wallets on a chain; undefined where no node runs. */
    chain,
    /** Payments that the bank has made, by key, from its own records. */
    async payments(): Promise<Map<string, number>> {
      const rows = await tx.rows<{ key: string; times: number }>(
        `select key, count(*)::int as times from simulated_bank.payments where state <> 'rejected' group by key`,
      );
      return new Map(rows.map(({ key, times }) => [key, times]));
    },
    /**
     * The transfers to the wallet of each settled purchase, from the chain's logs, beside the hash of the bytes that were
     * stored before they were sent.
     */
    async purchases(): Promise<{ paid: string[]; stored: string | undefined }[]> {
      const orders = await tx.rows<{ wallet: Hex; asset: string; raw: Buffer | null }>(
        `select payout_address as wallet, payout_asset as asset, raw from orders
           left join chain_sends on rail = payout_rail and hash = payout_reference
          where direction = 'onramp' and orders.state = 'settled'`,
      );
      return await Promise.all(
        orders.map(async ({ wallet, asset, raw }) => {
          const [coin, code] = asset.split('.');
          const there = sandbox.chains.find((one) => one.code === code);
          const token = there?.tokens.find((one) => one.code === coin);
          const logs = await createPublicClient({ transport: http(there?.rpcUrl) }).getLogs({
            address: token?.address as Hex,
            event: erc20Abi.find((item) => item.type === 'event' && item.name === 'Transfer'),
            args: { to: wallet },
            fromBlock: 0n,
          });
          return { paid: logs.map((log) => log.transactionHash), stored: raw === null ? undefined : keccak256(raw) };
        }),
      );
    },
    close: () => client.end(),
  };
}

/** Waits until no invariant is broken. @returns those that are still broken after `patienceMs` */
export async function untilSound(look: () => Promise<string[]>, patienceMs = 10_000): Promise<string[]> {
  for (const isOver = patience(patienceMs); ; ) {
    const broken = await look();
    if (broken.length === 0 || isOver()) return broken;
    waiting();
    await new Promise((wake) => setTimeout(wake, 100));
  }
}

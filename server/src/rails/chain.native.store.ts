/** SQL of the native asset of a chain: balances as they were read, and our own transfers that explain them. */
import type { Tx } from '../base/db.ts';
import { MAX_BLOCK } from './chain.deposits.store.ts';

export async function nativeBalances(tx: Tx, rail: string, addresses: readonly string[]) {
  const rows = await tx.rows<{ address: string; units: bigint; block: bigint }>(
    'select address, units, block from native_balances where rail = $1 and address = any($2::text[])',
    [rail, addresses],
  );
  return new Map(rows.map((row) => [row.address, row]));
}

export async function setNativeBalance(
  tx: Tx,
  rail: string,
  address: string,
  units: bigint,
  block: bigint,
): Promise<void> {
  await tx.run(
    `insert into native_balances (rail, address, units, block) values ($1, $2, $3, $4)
     on conflict (rail, address) do update set units = excluded.units, block = excluded.block`,
    [rail, address, units, block],
  );
}

/**
 * Effect of our own sends on the native balances of addresses, after the block of the last stored balance and up to block `upTo`
 * (inclusive): gas that arrived, minus the cost of sends from there. `underWay`: one of these sends has not ended.
 */
export async function ownNativeMoves(
  tx: Tx,
  rail: string,
  addresses: readonly { address: string; index: bigint }[],
  upTo: bigint,
): Promise<Map<string, { movedUnits: bigint; underWay: boolean }>> {
  const rows = await tx.rows<{ address: string; movedUnits: bigint; underWay: boolean }>(
    `select a.address, coalesce(sum(s.moved) filter (where s.ended and s.block > coalesce(b.block, -1) and s.block <= $4), 0)
              ::numeric(78,0) as moved_units, bool_or(s.open) as under_way
       from unnest($2::text[], $3::text[]) as a (address, wallet)
       left join native_balances b on b.rail = $1 and b.address = a.address
       cross join lateral (
         select value as moved, block, state = 'confirmed' as ended, state in ('reserved', 'signed', 'mined') as open
           from chain_sends where rail = $1 and target = a.address and key like 'gas:%'
         union all
         select -cost_units, block, state in ('confirmed', 'failed'), state in ('reserved', 'signed', 'mined')
           from chain_sends where rail = $1 and wallet = a.wallet) s
      group by a.address`,
    [rail, addresses.map((row) => row.address), addresses.map((row) => `deposit:${row.index}`), upTo],
  );
  return new Map(rows.map((row) => [row.address, row]));
}

/**
 * Effect of our own sends from a wallet on its native balance in these blocks, and whether the cost of one of them is not known
 * yet.
 */
export async function walletMoves(
  tx: Tx,
  rail: string,
  wallet: string,
  after: bigint,
  upTo: bigint,
): Promise<{ movedUnits: bigint; underWay: boolean; isSending: boolean }> {
  const row = await tx.row<{ movedUnits: bigint; underWay: boolean; isSending: boolean }>(
    `select (select coalesce(-sum(cost_units + case when state = 'confirmed' then value else 0 end), 0)::numeric(78,0)
               from chain_sends where rail = $1 and wallet = $2 and block > $3 and block <= $4
                and state in ('confirmed', 'failed')) as moved_units,
            coalesce(bool_or(block <= $4), false) as under_way, count(*) > 0 as is_sending
       from chain_sends where rail = $1 and wallet = $2 and state in ('reserved', 'signed', 'mined')`,
    [rail, wallet, after, upTo],
  );
  return row ?? { movedUnits: 0n, underWay: false, isSending: false };
}

/** From this block on, native credits to the paying wallet are detected. */
export async function beginNativeWatch(
  tx: Tx,
  rail: string,
  from: { address: string; units: bigint; block: bigint },
): Promise<void> {
  await tx.run(
    'insert into native_balances (rail, address, units, block) values ($1, $2, $3, $4) on conflict do nothing',
    [rail, from.address, from.units, from.block],
  );
}

export const isNativeWatched = async (tx: Tx, rail: string, address: string): Promise<boolean> =>
  (await nativeBalances(tx, rail, [address])).has(address);

/**
 * Native balance of a deposit address according to the books: the amount that was found there, and the effect of our own final
 * sends since.
 */
export async function ownNativeAt(tx: Tx, rail: string, at: { address: string; index: bigint }): Promise<bigint> {
  const known = (await nativeBalances(tx, rail, [at.address])).get(at.address)?.units ?? 0n;
  const moved = (await ownNativeMoves(tx, rail, [at], MAX_BLOCK)).get(at.address)?.movedUnits ?? 0n;
  return known + moved;
}

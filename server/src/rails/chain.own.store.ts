/**
 * Addresses of the operator that this server has no key of: money that our wallets sent there stays ours, in a wallet of its own in
 * the books. The treasury registers them; a rail reads them for reconciliation.
 */
import type { Tx } from '../base/db.ts';

/** The wallet of such an address in the ledger. */
export const ownWallet = (id: bigint): string => `own.${id}`;

/** Wallets of this rail by address, also those to which nothing is sent any more. */
export async function ownWallets(tx: Tx, rail: string): Promise<Map<string, string>> {
  const rows = await tx.rows<{ id: bigint; address: string }>(
    'select id, address from treasury_addresses where rail = $1',
    [rail],
  );
  return new Map(rows.map(({ id, address }) => [address, ownWallet(id)]));
}

/** The address of such a wallet; undefined when there is none. */
export async function ownAddress(tx: Tx, rail: string, wallet: string): Promise<string | undefined> {
  return [...(await ownWallets(tx, rail))].find(([, name]) => name === wallet)?.[0];
}

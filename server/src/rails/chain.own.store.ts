/**
 * SQL of own addresses: addresses of the operator whose keys this server does not have. Money that our wallets sent there remains
 * ours, in a wallet of its own in the books. The treasury registers these addresses; a rail reads them for reconciliation.
 */
import type { Tx } from '../base/db.ts';

/** The wallet of an own address in the ledger. */
export const ownWallet = (id: bigint): string => `own.${id}`;

/** Wallets of this rail by address, including addresses to which nothing is sent any more. */
export async function ownWallets(tx: Tx, rail: string): Promise<Map<string, string>> {
  const rows = await tx.rows<{ id: bigint; address: string }>(
    'select id, address from treasury_addresses where rail = $1',
    [rail],
  );
  return new Map(rows.map(({ id, address }) => [address, ownWallet(id)]));
}

/** The address of such a wallet; undefined if there is none. */
export async function ownAddress(tx: Tx, rail: string, wallet: string): Promise<string | undefined> {
  return [...(await ownWallets(tx, rail))].find(([, name]) => name === wallet)?.[0];
}

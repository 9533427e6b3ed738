/**
 * Providers with which travel rule data is exchanged, identified by the host of their URLs. Personal data is sent to no other
 * host. A change inserts a new version; two concurrent changes become two versions.
 */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { type ProviderRow, exchangeSql as sql } from './exchange.store.ts';

const MAX_TRAVEL_PROVIDERS = 1_000;

export const travelProviders = (tx: Tx) => tx.rows<ProviderRow>(sql.providers, [MAX_TRAVEL_PROVIDERS]);

export const travelProvider = (tx: Tx, host: string) => tx.row<ProviderRow>(sql.provider, [host]);

/** Whether data may be sent to this URL, or accepted from the provider that is called there. */
export const isKnownHost = async (tx: Tx, url: string): Promise<boolean> =>
  (await travelProvider(tx, new URL(url).host))?.isOn === true;

export async function setTravelProvider(
  tx: Tx,
  p: { host: string; name: string; isOn: boolean; by: string; why: string; now: Date },
): Promise<ProviderRow> {
  await tx.run(sql.lockProviders);
  const before = await travelProvider(tx, p.host);
  const row = await tx.row<ProviderRow>(sql.insertProvider, [
    ...[p.host, p.name, (before?.version ?? 0) + 1, p.isOn, p.by, p.why, p.now],
  ]);
  assert(row !== undefined, 'the inserted provider was not returned');
  return row;
}

/**
 * Wallets: what a partner declares about the other side of a transfer: hosted by a provider or self-hosted, and who owns it.
 *
 * The owner of a self-hosted wallet proves control with a text signed by its key: by itself (EIP-191 on EVM chains), or in typed data
 * (EIP-712, rails/evm/wallet-proof.ts). The text names customer, rail and address, so a signature proves nothing for another one.
 */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { Refusal } from '../../base/errors.ts';
import { type ExchangeRow, exchangeSql } from './exchange.store.ts';
import { keptOf, reasonContext } from './exchange.ts';
import { type RecordRow, sql, type WalletRow } from './store.ts';

export const WALLET_KINDS = ['hosted', 'self_hosted'] as const;
export const WALLET_OWNERS = ['customer', 'other'] as const;

/** Per customer: each request may declare another wallet. */
const MOST_WALLETS = 1_000;

export interface WalletDetails {
  ownerName?: string;
  provider?: string;
  /** Travel address of the wallet at its provider, which receives our inquiries. */
  travelAddress?: string;
}

export interface Declared {
  customerId: string;
  partnerId: bigint;
  rail: string;
  /** In the rail's spelling. */
  address: string;
  kind: WalletRow['kind'];
  owner: WalletRow['owner'];
  ownerName?: string | undefined;
  provider?: string | undefined;
  travelAddress?: string | undefined;
  isProven: boolean;
}

/** The text that the owner of a wallet signs to prove control. */
export const walletText = ({ customerId, rail, address }: Pick<Declared, 'customerId' | 'rail' | 'address'>): string =>
  `I control ${address} on ${rail}, as customer ${customerId}`;

const contextOf = ({ customerId, rail, address }: Pick<WalletRow, 'customerId' | 'rail' | 'address'>): string =>
  `travel_wallets.details:${customerId}:${rail}:${address}`;

/** Inserts or updates a wallet. @throws Refusal 'malformed_field' when its kind or owner requires a name that is missing */
export async function declareWallet(tx: Tx, vault: Vault, w: Declared & { now: Date }): Promise<void> {
  const missing = (name: string, rule: string) => new Refusal('malformed_field', { fields: { [name]: rule } });
  if (w.kind === 'hosted' && w.provider === undefined) throw missing('provider', 'must be named of a hosted wallet');
  if (w.kind !== 'hosted' && w.travelAddress !== undefined)
    throw missing('travelAddress', 'must be named of a hosted wallet only');
  if (w.owner === 'other' && w.ownerName === undefined) throw missing('ownerName', "must be named of another's wallet");
  const counted = await tx.row<{ count: number }>(sql.countWallets, [w.customerId, w.rail, w.address]);
  if ((counted?.count ?? 0) >= MOST_WALLETS)
    throw missing('address', `must not be named: ${MOST_WALLETS} wallets of this customer are`);
  const details: WalletDetails = {
    ...(w.owner === 'other' ? defined({ ownerName: w.ownerName }) : {}),
    ...(w.kind === 'hosted' ? defined({ provider: w.provider, travelAddress: w.travelAddress }) : {}),
  };
  const bytes = vault.encrypt(JSON.stringify(details), contextOf(w));
  const provenAt = w.isProven && w.kind === 'self_hosted' ? w.now : null;
  await tx.run(sql.declare, [
    ...[w.customerId, w.partnerId, w.rail, w.address, w.kind, w.owner, bytes, provenAt, w.now],
  ]);
}

/** After an erasure only kind and owner are left. */
export const openWallet = (vault: Vault, row: WalletRow): WalletDetails =>
  row.details.length === 0 ? {} : (JSON.parse(vault.decrypt(row.details, contextOf(row))) as WalletDetails);

/** What is compared of a wallet of another person. */
export interface NamedOwner {
  customerId: string;
  partnerId: bigint;
  address: string;
  /** Undefined once erased, and if the wallet is the customer's own by now. */
  name: string | undefined;
  /** Grows with each declaration (migrations/0085_wallets_of_others.sql). */
  revision: number;
}

/** @param id of a row of travel_wallets */
export async function namedOwner(tx: Tx, vault: Vault, id: bigint): Promise<NamedOwner | undefined> {
  const row = await tx.row<WalletRow & { partnerId: bigint; namesRevision: number }>(sql.named, [id]);
  if (row === undefined) return undefined;
  const { customerId, partnerId, address, owner, namesRevision: revision } = row;
  return {
    customerId,
    partnerId,
    address,
    revision,
    name: owner === 'other' ? openWallet(vault, row).ownerName : undefined,
  };
}

/** The wallets of other persons that were declared for this customer. */
export const walletsOfOthers = (tx: Tx, customerId: string): Promise<{ id: bigint; address: string }[]> =>
  tx.rows(sql.ofOthers, [customerId]);

export const recordContext = ({ orderId, direction, address }: Pick<RecordRow, 'orderId' | 'direction' | 'address'>) =>
  `travel_records.ivms:${orderId}:${direction}:${address}`;

function openedRecord(vault: Vault, row: RecordRow) {
  const { orderId, direction, address, state, madeAt } = row;
  const ivms: unknown = row.ivms.length === 0 ? null : JSON.parse(vault.decrypt(row.ivms, recordContext(row)));
  return { orderId, direction, address, state, madeAt, ivms };
}

/** The data of an order's transfers, decrypted, for operators with the right to read it. */
export const recordsOfOrder = async (tx: Tx, vault: Vault, orderId: bigint) =>
  (await tx.rows<RecordRow>(sql.recordsOfOrder, [orderId])).map((row) => openedRecord(vault, row));

/** The messages of an exchange, decrypted, without the secret URLs. */
function openedExchange(vault: Vault, row: ExchangeRow) {
  const {
    id,
    orderId,
    direction,
    host,
    address,
    asset,
    units,
    state,
    outcome,
    tx,
    failure,
    createdAt,
    answeredAt,
    endedAt,
  } = row;
  const reason = row.reason.length === 0 ? null : vault.decrypt(row.reason, reasonContext(row));
  const ivms: unknown = keptOf(vault, row)?.ivms ?? null;
  return {
    ...{ id, orderId, direction, host, address, asset, units, state, outcome, tx, failure, reason, ivms },
    ...{ createdAt, answeredAt, endedAt },
  };
}

export const exchangesOfOrder = async (tx: Tx, vault: Vault, orderId: bigint) =>
  (await tx.rows<ExchangeRow>(exchangeSql.ofOrder, [orderId])).map((row) => openedExchange(vault, row));

/** All travel rule data of a customer, decrypted, for the customer's export. @returns `isCut` when a list has more than `limit` */
export async function travelDataOf(tx: Tx, vault: Vault, of: { customerId: string; limit: number }) {
  const values = [of.customerId, of.limit + 1];
  const wallets = await tx.rows<WalletRow>(sql.allWallets, values);
  const records = await tx.rows<RecordRow>(sql.allRecords, values);
  const exchanges = await tx.rows<ExchangeRow>(exchangeSql.ofCustomer, values);
  return {
    isCut: [wallets, records, exchanges].some(({ length }) => length > of.limit),
    exchanges: exchanges.slice(0, of.limit).map((row) => openedExchange(vault, row)),
    wallets: wallets.slice(0, of.limit).map((row) => {
      const { rail, address, kind, owner, provenAt, declaredAt } = row;
      return { rail, address, kind, owner, provenAt, declaredAt, ...openWallet(vault, row) };
    }),
    records: records.slice(0, of.limit).map((row) => openedRecord(vault, row)),
  };
}

export async function eraseTravelData(tx: Tx, customerId: string): Promise<number> {
  const wallets = await tx.run(sql.eraseWallets, [customerId]);
  const records = await tx.run(sql.eraseRecords, [customerId]);
  return wallets + records + (await tx.run(exchangeSql.erase, [customerId]));
}

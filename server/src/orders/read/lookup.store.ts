/**
 * Finds orders and deposits by any identifier. Each part uses its own index.
 */
import type { Tx } from '../../base/db.ts';

/** Maximum results per identifier. */
const MOST_FOUND = 50;

export interface FoundOrder {
  id: bigint;
  partnerId: bigint;
  customerId: string;
  direction: string;
  state: string;
  asset: string;
  depositUnits: bigint;
  createdAt: Date;
}

export interface FoundDeposit {
  id: bigint;
  rail: string;
  externalId: string;
  orderId: bigint | null;
  partnerId: bigint | null;
  state: string;
  asset: string;
  units: bigint;
  target: string;
  reference: string;
  why: string | null;
  seenAt: Date;
  confirmedAt: Date | null;
}

const ORDER = `id, partner_id, customer_id, direction, state, deposit_asset as asset,
  deposit_units, created_at`;
const DEPOSIT = `id, rail, external_id, order_id, partner_id, state, asset, units,
  target, reference, why, seen_at, confirmed_at`;

/**
 * @param input.number the text as an id, if it can be one; input.references the text as each partner's references are stored
 */
export const ordersLike = (
  tx: Tx,
  input: { text: string; references: readonly string[]; number: bigint | null; rails: readonly string[] },
) =>
  tx.rows<FoundOrder>(
    `select ${ORDER} from (
       select * from orders where id = $2
       union select * from orders where deposit_rail = any($3) and deposit_target in ($1, lower($1))
       union select * from orders where merchant_reference = any($4::text[])) as found
      order by id desc limit ${MOST_FOUND}`,
    [input.text, input.number, input.rails, input.references],
  );

export const depositOfId = (tx: Tx, id: bigint): Promise<FoundDeposit | undefined> =>
  tx.row<FoundDeposit>(`select ${DEPOSIT} from deposits where id = $1`, [id]);

/** @param input.typed the text as searchable operator texts may be stored */
export const depositsLike = (tx: Tx, input: { text: string; number: bigint | null; typed: readonly string[] }) =>
  tx.rows<FoundDeposit>(
    `select ${DEPOSIT} from (
       select * from deposits where id = $2
       union all select * from deposits where reference = $1 and reference <> ''
       union all select * from deposits where reference = lower($1) and reference <> '' and lower($1) <> $1
       union all select * from deposits where reference = any($3::text[]) and reference <> ''
       union all select * from deposits where target in ($1, lower($1)) and target <> '') as found
      order by id desc limit ${MOST_FOUND}`,
    [input.text, input.number, input.typed],
  );

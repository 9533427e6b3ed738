/**
 * Rows of deposits: amount, owner and state.
 */
import type { Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';

export interface DepositRow {
  id: bigint;
  rail: string;
  externalId: string;
  asset: string;
  units: bigint;
  target: string;
  orderId: bigint | null;
  partnerId: bigint | null;
  state: 'seen' | 'confirmed' | 'reversed' | 'applied' | 'suspense' | 'refunded' | 'lost' | 'written_off';
  reference: string;
  /** Whether the payer is the customer, as far as the rail and we know the names. */
  payer: 'same' | 'other' | 'unknown';
  bookedTo: string | null;
  why: string | null;
  facts: Record<string, string | number>;
  seenAt: Date;
  confirmedAt: Date | null;
  /** Until when a bank may reverse it; no payout of it leaves before. Null if it did not come from a bank. */
  clearsAt: Date | null;
  /** When it arrived by the rail's clock (the chain's block, the bank's booking); the latest possible time. */
  cameAt: Date | null;
  /** Whether that was after its order's deadline. */
  late: boolean;
  /** Where the money comes from: the rail, a returned payout, money released by law, or a refunded fee. */
  origin: 'rail' | 'returned' | 'released' | 'credit' | 'compensation';
  /** The part on its order's account, and the part that refunds name. The rest of the booked amount is in suspense. */
  takenUnits: bigint;
  refundUnits: bigint;
  /** For a deposit that its rail reversed: the amount booked as a loss or a debt, and the account. */
  lostUnits: bigint;
  lostTo: string | null;
  /** The state before the reversal; 'reversed' once its order has given up its claim. */
  stateBeforeLoss: DepositRow['state'] | null;
  /** Whether it is below its asset's dust threshold. */
  dust: boolean;
  /** The amount that is on the dormant account instead of in suspense, and when it becomes dormant, once that was announced. */
  dormantUnits: bigint;
  dormantFrom: Date | null;
}

export async function bringClearingForward(
  tx: Tx,
  { partnerId, ms }: { partnerId: bigint; ms: number },
): Promise<string[]> {
  const rows = await tx.rows<{ id: bigint }>(
    `update deposits set clears_at = clears_at - $2::float8 * interval '1 millisecond'
      where partner_id = $1 and clears_at is not null and state in ('seen', 'confirmed', 'suspense', 'applied')
      returning id`,
    [partnerId, ms],
  );
  return rows.map(({ id }) => String(id));
}

/** The rails' ids of these deposits. */
export const depositNames = (tx: Tx, ids: readonly bigint[]) =>
  tx.rows<{ id: bigint; externalId: string }>('select id, external_id from deposits where id = any($1::bigint[])', [
    ids,
  ]);

/**
 * The deposits among these that are known and not booked yet: they wait for confirmations or for clearing. With them the debits
 * that recalled a part of one.
 */
export const depositsWaiting = (tx: Tx, rail: string, externalIds: readonly string[]) =>
  tx.rows<{ externalId: string; clearsAt: Date | null }>(
    `select external_id, clears_at from deposits where rail = $1 and external_id = any($2::text[]) and state = 'seen'
     union all
     select p.external_id, d.clears_at from deposits p join deposits d on d.id = (p.facts ->> 'partOf')::bigint
      where p.rail = $1 and p.external_id = any($2::text[]) and p.state = 'reversed' and d.state = 'seen'`,
    [rail, externalIds],
  );

export async function lockDeposit(tx: Tx, rail: string, externalId: string): Promise<DepositRow | undefined> {
  return await tx.row<DepositRow>('select * from deposits where rail = $1 and external_id = $2 for update', [
    rail,
    externalId,
  ]);
}

/** The credits to a paying wallet that belong to no order and are wholly in suspense. */
const CREDITS = `state = 'suspense' and rail = $1 and asset = $2 and origin = 'credit' and order_id is null
        and taken_units = 0 and refund_units = 0`;

/** External ids of such credits, from any sender. Locks nothing. */
export const creditsInSuspense = async (tx: Tx, { rail, asset }: { rail: string; asset: string }): Promise<string[]> =>
  (await tx.rows<{ externalId: string }>(`select external_id from deposits where ${CREDITS}`, [rail, asset])).map(
    ({ externalId }) => externalId,
  );

/** Locks those of these credits that are still wholly in suspense, the oldest first. */
export const lockCredits = (
  tx: Tx,
  { rail, asset, externalIds }: { rail: string; asset: string; externalIds: readonly string[] },
): Promise<DepositRow[]> =>
  tx.rows<DepositRow>(
    `select * from deposits where ${CREDITS} and external_id = any($3::text[]) order by seen_at, id for update`,
    [rail, asset, externalIds],
  );

export const findDeposit = (tx: Tx, rail: string, externalId: string) =>
  tx.row<DepositRow>('select * from deposits where rail = $1 and external_id = $2', [rail, externalId]);

export async function markLost(
  tx: Tx,
  id: bigint,
  loss: { why: string; before: DepositRow['state']; units: bigint; to: string },
): Promise<void> {
  await tx.run(
    `update deposits set state = 'lost', why = $2, state_before_loss = $3, lost_units = $4, lost_to = $5 where id = $1`,
    [id, loss.why, loss.before, loss.units, loss.to],
  );
}

/**
 * This amount of a reversed deposit has arrived after all. If that is all of it, the deposit counts as one that never arrived.
 */
export async function makeGood(tx: Tx, id: bigint, units: bigint): Promise<void> {
  await tx.run(
    `update deposits set lost_units = lost_units - $2, state = case when lost_units = $2 then 'reversed' else state end,
            lost_to = case when lost_units = $2 then null else lost_to end
      where id = $1 and state = 'lost'`,
    [id, units],
  );
}

/** The reversed part was split off: the rest of the deposit is here, in the state it had before. */
export async function markFound(tx: Tx, id: bigint): Promise<void> {
  await tx.run(
    `update deposits set state = coalesce(state_before_loss, 'applied'), lost_units = 0, lost_to = null
      where id = $1 and state = 'lost'`,
    [id],
  );
}

/**
 * The order has given up its claim to its reversed deposits, which now count as deposits that never arrived. What a refund has sent of
 * one is still lost or owed, as of a deposit that was refunded and then reversed.
 */
export async function markGivenUp(tx: Tx, orderId: bigint): Promise<void> {
  await tx.run(
    `update deposits
        set state_before_loss = case when lost_units > taken_units then 'refunded' else 'reversed' end,
            lost_units = case when lost_units > taken_units then lost_units - taken_units else lost_units end,
            taken_units = 0
      where order_id = $1 and state = 'lost' and state_before_loss = 'applied'`,
    [orderId],
  );
}

/** Another deposit replaces it, so it counts as one that never arrived. */
export async function markReplaced(tx: Tx, id: bigint): Promise<void> {
  await tx.run(
    `update deposits set state = 'reversed', taken_units = 0, lost_units = 0, lost_to = null where id = $1`,
    [id],
  );
}

/** Other money replaces a part of a reversed deposit. */
export async function replacePart(tx: Tx, id: bigint, units: bigint): Promise<void> {
  await tx.run(
    `update deposits set lost_units = lost_units - $2, taken_units = greatest(taken_units - $2, 0) where id = $1`,
    [id, units],
  );
}

export async function nameDepositPartner(tx: Tx, id: bigint, partnerId: bigint): Promise<void> {
  await tx.run('update deposits set partner_id = $2 where id = $1', [id, partnerId]);
}

export const lockDepositById = (tx: Tx, id: bigint) =>
  tx.row<DepositRow>('select * from deposits where id = $1 for update', [id]);

/** Whether any deposit on the order's account has been reversed since. */
export async function hasLostDeposit(tx: Tx, orderId: bigint): Promise<boolean> {
  const row = await tx.row(
    `select from deposits where order_id = $1 and state = 'lost' and state_before_loss = 'applied' limit 1`,
    [orderId],
  );
  return row !== undefined;
}

export async function insertDeposit(
  tx: Tx,
  row: Pick<
    DepositRow,
    | 'rail'
    | 'externalId'
    | 'asset'
    | 'units'
    | 'target'
    | 'orderId'
    | 'partnerId'
    | 'state'
    | 'reference'
    | 'facts'
    | 'seenAt'
    | 'payer'
  > &
    Partial<Pick<DepositRow, 'origin' | 'clearsAt' | 'cameAt' | 'late'>>,
): Promise<DepositRow> {
  const made = await tx.row<DepositRow>(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, facts, seen_at, payer,
       origin, clears_at, came_at, late)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) returning *`,
    [
      row.rail,
      row.externalId,
      row.asset,
      row.units,
      row.target,
      row.orderId,
      row.partnerId,
      row.state,
      row.reference,
      JSON.stringify(row.facts),
      row.seenAt,
      row.payer,
      row.origin ?? 'rail',
      row.clearsAt ?? null,
      row.cameAt ?? null,
      row.late ?? false,
    ],
  );
  assert(made !== undefined, 'the insert of a deposit returned no row');
  return made;
}

/**
 * Splits a part off a deposit, under the name of the debit that took it back. The rest keeps the deposit's row.
 *
 * @param part.takenUnits how much of the part its order has accepted; the other units of it are in suspense
 */
export async function splitDeposit(
  tx: Tx,
  { id, state }: DepositRow,
  { line, units, takenUnits }: { line: string; units: bigint; takenUnits: bigint },
): Promise<DepositRow> {
  await tx.run('update deposits set units = units - $2, taken_units = taken_units - $3 where id = $1', [
    id,
    units,
    takenUnits,
  ]);
  const stateOfPart = state === 'confirmed' || state === 'seen' ? state : takenUnits > 0n ? 'applied' : 'suspense';
  const part = await tx.row<DepositRow>(
    `insert into deposits (rail, external_id, asset, units, taken_units, state, facts, target, order_id, partner_id, reference,
       seen_at, payer, origin, clears_at, came_at, late, booked_to, why, confirmed_at)
     select rail, $2, asset, $3, $4, $5, facts || jsonb_build_object('partOf', id::text), target, order_id, partner_id, reference,
       seen_at, payer, origin, clears_at, came_at, late, booked_to, why, confirmed_at
     from deposits where id = $1 returning *`,
    [id, line, units, takenUnits, stateOfPart],
  );
  assert(part !== undefined, `no part of deposit ${id} was split off`);
  return part;
}

export async function changeDeposit(
  tx: Tx,
  id: bigint,
  change: {
    state: DepositRow['state'];
    bookedTo?: string;
    why?: string;
    confirmedAt?: Date;
    reference?: string;
    /** The amount that the order accepts. A check constraint requires it for 'applied'. */
    takenUnits?: bigint;
    dust?: boolean;
  },
): Promise<void> {
  await tx.run(
    `update deposits set state = $2, booked_to = coalesce($3, booked_to), why = coalesce($4, why),
            confirmed_at = coalesce($5, confirmed_at), reference = coalesce($6, reference),
            taken_units = coalesce($7, taken_units), dust = coalesce($8, dust)
      where id = $1`,
    [
      id,
      change.state,
      change.bookedTo ?? null,
      change.why ?? null,
      change.confirmedAt ?? null,
      change.reference ?? null,
      change.takenUnits ?? null,
      change.dust ?? null,
    ],
  );
}

/** Assigns a deposit to another order, which was created from it. */
export async function giveDepositTo(tx: Tx, id: bigint, orderId: bigint): Promise<void> {
  await tx.run('update deposits set order_id = $2 where id = $1', [id, orderId]);
}

export async function waitWithDeposit(tx: Tx, id: bigint, clearsAt: Date): Promise<void> {
  await tx.run('update deposits set clears_at = $2 where id = $1', [id, clearsAt]);
}

/** Deposits that a correcting entry, or an entry for a further part, assigned to the operator. Locked. */
export const depositsBookedBy = (tx: Tx, entry: string, part: string) =>
  tx.rows<DepositRow>(
    `select * from deposits where state in ('applied', 'lost') and (booked_to = $1 or starts_with(booked_to, $1 || $2))
      order by id for update`,
    [entry, part],
  );

export const depositById = (tx: Tx, id: bigint) => tx.row<DepositRow>('select * from deposits where id = $1', [id]);

export const depositsOf = (tx: Tx, orderId: bigint) =>
  tx.rows<DepositRow>('select * from deposits where order_id = $1 order by id', [orderId]);

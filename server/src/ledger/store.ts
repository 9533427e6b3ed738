/** SQL of the ledger's tables. SQL of other modules does not name them. */
import type { Tx } from '../base/db.ts';
import type { AssetCode } from '../base/money.ts';
import type { Account, Side } from './chart.ts';
import type { Entry, ResolvedLine, StatementLine, TrialBalance } from './entry.ts';

/**
 * Joins transfers `t` with the account `a` of either side. The lateral join prevents plans that begin at the accounts: a fee
 * account has most of the journal's transfers, but PostgreSQL estimates a handful, as for an average account.
 */
export const EITHER_SIDE = `
  cross join lateral (values (t.debit), (t.credit)) as side (account) join accounts a on a.id = side.account`;

export interface AccountRow {
  id: bigint;
  code: string;
  asset: AssetCode;
  side: Side;
  debits: bigint;
  credits: bigint;
  debitsHeld: bigint;
  creditsHeld: bigint;
}

export interface HoldRow {
  id: string;
  debit: bigint;
  credit: bigint;
  asset: AssetCode;
  units: bigint;
  state: 'held' | 'settled' | 'voided';
}

export interface PostedLine {
  step: string;
  asset: AssetCode;
  units: bigint;
  debit: string;
  debitKind: Account['kind'];
  debitSide: Side;
  credit: string;
  creditKind: Account['kind'];
  creditSide: Side;
}

/** Key of the advisory lock for creating accounts; an arbitrary constant. */
const CREATE_LOCK = 0x61636374;

const COLUMNS = 'id, code, asset, side, debits, credits, debits_held, credits_held';
const sorted = <T extends bigint | string>(values: Iterable<T>): T[] =>
  [...new Set(values)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

export const store = {
  async accountIds(tx: Tx, codes: readonly string[]): Promise<Map<string, bigint>> {
    const rows = await tx.rows<{ code: string; id: bigint }>('select code, id from accounts where code = any($1)', [
      sorted(codes),
    ]);
    return new Map(rows.map(({ code, id }) => [code, id]));
  },

  /** Until `tx` ends, no other transaction creates an account that belongs to no order. */
  lockCreating: (tx: Tx) => tx.row('select pg_advisory_xact_lock($1)', [CREATE_LOCK]),
  /** As `lockCreating`, without waiting. @returns whether the lock was taken */
  async tryLockCreating(tx: Tx): Promise<boolean> {
    const row = await tx.row<{ has: boolean }>('select pg_try_advisory_xact_lock($1) as has', [CREATE_LOCK]);
    return row?.has === true;
  },

  /** Existing accounts stay unchanged. */
  createAccounts(tx: Tx, accounts: readonly Account[]): void {
    const missing = sorted(accounts.map(({ code }) => code));
    const opened = missing.map((code) => accounts.find((account) => account.code === code));
    tx.defer(
      `insert into accounts (code, kind, asset, side, order_id, partner_id)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
       on conflict (code) do nothing`,
      [
        missing,
        opened.map((account) => account?.kind),
        opened.map((account) => account?.asset),
        opened.map((account) => account?.side),
        opened.map((account) => account?.orderId ?? null),
        opened.map((account) => account?.partnerId ?? null),
      ],
    );
  },

  lockAccounts: (tx: Tx, ids: readonly bigint[]) =>
    tx.rows<AccountRow>(`select ${COLUMNS} from accounts where id = any($1::bigint[]) order by id for update`, [ids]),
  /** @throws SQLSTATE 55P03 if another transaction has locked one of them */
  lockFreeAccounts: (tx: Tx, ids: readonly bigint[]) =>
    tx.rows<AccountRow>(`select ${COLUMNS} from accounts where id = any($1::bigint[]) for update nowait`, [ids]),

  async lockHolds(tx: Tx, ids: readonly string[]): Promise<Map<string, HoldRow>> {
    const rows = await tx.rows<HoldRow>(
      'select id, debit, credit, asset, units, state from holds where id = any($1) order by id for update',
      [sorted(ids)],
    );
    return new Map(rows.map((row) => [row.id, row]));
  },

  async entryContent(tx: Tx, id: string): Promise<Buffer | undefined> {
    return (await tx.row<{ content: Buffer }>('select content from entries where id = $1', [id]))?.content;
  },

  /** The caller has locked its holds and accounts, and has checked that each hold to end is held. */
  insertEntry(tx: Tx, entry: Entry, content: Buffer, lines: readonly ResolvedLine[]): void {
    tx.defer('insert into entries (id, kind, order_id, content, at, facts) values ($1, $2, $3, $4, $5, $6)', [
      entry.id,
      entry.kind,
      entry.orderId ?? null,
      content,
      entry.at,
      JSON.stringify(entry.facts ?? {}),
    ]);
    tx.defer(
      `insert into transfers (entry, line, debit, credit, asset, units, step, hold)
       select $1, line, debit, credit, asset, units, step, hold
         from unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::text[], $6::numeric[], $7::text[], $8::text[])
           as lines (line, debit, credit, asset, units, step, hold)`,
      [
        entry.id,
        lines.map((_, index) => index + 1),
        lines.map((line) => line.debit),
        lines.map((line) => line.credit),
        lines.map((line) => line.asset),
        lines.map((line) => line.units),
        lines.map((line) => line.step),
        lines.map((line) => line.hold),
      ],
    );
    const begun = lines.filter(({ step }) => step === 'hold');
    if (begun.length > 0) {
      tx.defer(
        `insert into holds (id, debit, credit, asset, units)
         select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::numeric[])`,
        [
          begun.map((line) => line.hold),
          begun.map((line) => line.debit),
          begun.map((line) => line.credit),
          begun.map((line) => line.asset),
          begun.map((line) => line.units),
        ],
      );
    }
    for (const [step, state] of [
      ['settle', 'settled'],
      ['void', 'voided'],
    ]) {
      const ended = lines.filter((line) => line.step === step).map((line) => line.hold);
      if (ended.length > 0) tx.defer('update holds set state = $2 where id = any($1::text[])', [ended, state]);
    }
  },

  updateAccounts(tx: Tx, rows: readonly AccountRow[]): void {
    tx.defer(
      `update accounts set debits = new.debits, credits = new.credits,
              debits_held = new.debits_held, credits_held = new.credits_held
         from unnest($1::bigint[], $2::numeric[], $3::numeric[], $4::numeric[], $5::numeric[])
           as new (id, debits, credits, debits_held, credits_held)
        where accounts.id = new.id`,
      [
        rows.map((row) => row.id),
        rows.map((row) => row.debits),
        rows.map((row) => row.credits),
        rows.map((row) => row.debitsHeld),
        rows.map((row) => row.creditsHeld),
      ],
    );
  },

  /** The lines of an entry, with account codes. */
  linesOf: (tx: Tx, id: string) =>
    tx.rows<PostedLine>(
      `select t.step, t.asset, t.units, d.code as debit, d.kind as debit_kind, d.side as debit_side, c.code as credit,
              c.kind as credit_kind, c.side as credit_side
         from transfers t join accounts d on d.id = t.debit join accounts c on c.id = t.credit where t.entry = $1 order by t.line`,
      [id],
    ),

  accountByCode: (tx: Tx, code: string) =>
    tx.row<AccountRow>(`select ${COLUMNS} from accounts where code = $1`, [code]),
  accountsOfOrder: (tx: Tx, orderId: bigint) =>
    tx.rows<AccountRow>(`select ${COLUMNS} from accounts where order_id = $1 order by id`, [orderId]),
  accountsOfOrders: (tx: Tx, orderIds: readonly bigint[]) =>
    tx.rows<AccountRow & { orderId: bigint }>(
      `select order_id, ${COLUMNS} from accounts where order_id = any($1::bigint[]) order by id`,
      [orderIds],
    ),
  accountsOfKinds: (tx: Tx, kinds: readonly string[]) =>
    tx.rows<AccountRow>(`select ${COLUMNS} from accounts where kind = any($1) order by code`, [kinds]),

  trialBalance: (tx: Tx) =>
    tx.rows<TrialBalance>(
      `select asset, sum(debits)::numeric(78,0) as debits, sum(credits)::numeric(78,0) as credits,
              sum(debits_held)::numeric(78,0) as held_debits, sum(credits_held)::numeric(78,0) as held_credits
         from accounts group by asset order by asset`,
    ),

  statement: (tx: Tx, orderId: bigint) =>
    tx.rows<StatementLine>(
      `select e.id as entry, e.kind, e.at, t.step, d.code as debit, c.code as credit, t.asset, t.units
         from entries e join transfers t on t.entry = e.id
         join accounts d on d.id = t.debit join accounts c on c.id = t.credit
        where e.order_id = $1 order by e.seq, t.line`,
      [orderId],
    ),
};

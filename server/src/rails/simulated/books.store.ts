/**
 * The simulated bank's own books, in a schema that it creates itself: no other code reads or writes them, and they share no
 * transaction with ours. They outlive the process, so a bank that was killed finishes later what it accepted.
 *
 * One lock guards all writes. Such a bank need not be fast, and lines that are numbered under a lock become visible in number
 * order, on which reading a statement from a cursor relies.
 */
import pg from 'pg';
import { later } from '../../base/clock.ts';
import { surviveLostConnections, type Tx, txOn } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import { CHANNEL, type Changes, watchChanges } from './changes.ts';
import type { Fault, FaultKind, Payment, Settings, ShownLine } from './types.ts';

const SCHEMA = `
create schema if not exists simulated_bank;
set local search_path = simulated_bank;
create table if not exists settings (
  one                 boolean primary key default true check (one),
  deduplicates_for_ms integer not null,
  proves_absence      boolean not null,
  settle_ms           integer not null,
  charge_units        numeric(78,0) not null
);
-- Books of before keys were forgotten.
alter table settings drop column if exists deduplicates, add column if not exists deduplicates_for_ms integer not null default 0;
create table if not exists payments (
  id        bigint generated always as identity primary key,
  key       text not null,
  currency  text not null,
  units     numeric(78,0) not null check (units > 0),
  account   text not null,
  name      text not null,
  state     text not null check (state in ('accepted', 'settled', 'returned', 'rejected')),
  why       text,
  returns   boolean not null default false,
  reference text not null,
  due_at    timestamptz not null,
  taken_at  timestamptz not null default clock_timestamp()
);
alter table payments add column if not exists taken_at timestamptz not null default clock_timestamp();
create index if not exists payments_key on payments (key);
create index if not exists payments_due on payments (due_at) where state = 'accepted' or (state = 'settled' and returns);
create table if not exists lines (
  seq       bigint primary key,
  id        text not null unique,
  direction text not null check (direction in ('credit', 'debit')),
  currency  text not null,
  units     numeric(78,0) not null,
  charge    numeric(78,0) not null default 0,
  reference text not null,
  key       text,
  return_of text,
  why       text,
  text      text not null default '',
  name      text not null default '',
  account   text not null default '',
  booked_at timestamptz not null
);
create table if not exists faults (
  id         bigint generated always as identity primary key,
  kind       text not null,
  left_over  integer not null,
  delay_ms   integer not null default 0
);
-- Books of before a bank's answer was called a rejection.
update faults set kind = 'reject_next' where kind = 'refuse_next';
update payments set why = 'rejected_by_bank' where why = 'refused_by_bank';
create table if not exists lost_calls (key text primary key);
create or replace function tell() returns trigger language plpgsql as $$
begin
  perform pg_notify('${CHANNEL}', '');
  return null;
end $$;
create or replace trigger tell after insert or update or delete on lines for each statement execute function tell();
create or replace trigger tell after insert or update or delete on faults for each statement execute function tell();
`;

/** Advisory lock key, an arbitrary constant. */
const LOCK = 0x62616e6b;

export interface NewLine {
  /** By default the bank numbers its lines itself. */
  id?: string;
  direction: 'credit' | 'debit';
  currency: string;
  units: bigint;
  charge?: bigint;
  reference: string;
  key?: string;
  returnOf?: string;
  why?: string;
  text?: string;
  name?: string;
  account?: string;
  bookedAt: Date;
}

/** @param adminUrl any role that may create a schema */
export async function openBooks(adminUrl: string, settings: Settings) {
  const pool = new pg.Pool({ connectionString: adminUrl, max: 4, application_name: 'simulated_bank' });
  surviveLostConnections(pool);
  let changes: Changes | undefined;

  /** A transaction of the bank, with exclusive access to its books. */
  async function locked<T>(body: (tx: Tx, client: pg.ClientBase) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
      const result = await body(txOn(client), client);
      await client.query('commit');
      changes?.changed();
      return result;
    } catch (error) {
      await client.query('rollback').catch((rollbackError) => {
        broken = rollbackError;
      });
      throw error;
    } finally {
      client.release(broken);
    }
  }

  async function read<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    try {
      return await body(txOn(client));
    } finally {
      client.release();
    }
  }

  await locked(async (tx, client) => {
    await client.query(SCHEMA);
    await tx.run(
      `insert into simulated_bank.settings (deduplicates_for_ms, proves_absence, settle_ms, charge_units) values ($1, $2, $3, $4)
       on conflict (one) do update set deduplicates_for_ms = $1, proves_absence = $2, settle_ms = $3, charge_units = $4`,
      [settings.deduplicatesForMs, settings.provesAbsence, settings.settleMs, settings.chargeUnits],
    );
  });

  const watched = await watchChanges(adminUrl);
  changes = watched;
  async function close(): Promise<void> {
    await watched.stop();
    await pool.end();
  }
  return { locked, read, version: watched.version, close };
}

export async function readSettings(tx: Tx): Promise<Settings> {
  const row = await tx.row<Settings>(
    `select deduplicates_for_ms, proves_absence, settle_ms,
            charge_units
       from simulated_bank.settings`,
  );
  assert(row, 'the bank has no settings');
  return row;
}

/** Books a line. A known id changes nothing. @returns the id */
export async function bookLine(tx: Tx, line: NewLine): Promise<string> {
  const row = await tx.row<{ seq: bigint }>('select coalesce(max(seq), 0) + 1 as seq from simulated_bank.lines');
  const seq = row?.seq ?? 1n;
  const id = line.id ?? `SB${String(seq).padStart(10, '0')}`;
  await tx.run(
    `insert into simulated_bank.lines (seq, id, direction, currency, units, charge, reference, key, return_of, why, text, name, account, booked_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) on conflict (id) do nothing`,
    [
      seq,
      id,
      line.direction,
      line.currency,
      line.units,
      line.charge ?? 0n,
      line.reference,
      line.key ?? null,
      line.returnOf ?? null,
      line.why ?? null,
      line.text ?? '',
      line.name ?? '',
      line.account ?? '',
      line.bookedAt,
    ],
  );
  return id;
}

/** Lines after a cursor, as shown, and whether a fault is set. */
export async function readLines(
  tx: Tx,
  after: bigint,
  limit: number,
): Promise<{ lines: { seq: bigint; shown: ShownLine }[]; hasFaults: boolean }> {
  const rows = await tx.rows<Omit<ShownLine, 'bookedAt'> & { seq: bigint | null; bookedAt: Date; hasFaults: boolean }>(
    `select f.has_faults, l.seq, l.id, l.direction, l.currency, l.units::text, l.charge::text, l.reference, l.key,
            l.return_of, l.why, l.text, l.name, l.account, l.booked_at
       from (select exists (select from simulated_bank.faults where left_over > 0) as has_faults) f
       left join (select * from simulated_bank.lines where seq > $1 order by seq limit $2) l on true
      order by l.seq`,
    [after, limit],
  );
  return {
    // A page without lines is one row whose columns are null.
    lines: rows.flatMap(({ hasFaults: _hasFaults, seq, bookedAt, ...line }) =>
      seq === null ? [] : [{ seq, shown: { ...line, bookedAt: bookedAt.toISOString() } }],
    ),
    hasFaults: rows[0]?.hasFaults === true,
  };
}

export const readLineById = (tx: Tx, id: string) =>
  tx.row<{ currency: string; units: bigint; account: string; name: string }>(
    'select currency, units, account, name from simulated_bank.lines where id = $1',
    [id],
  );

export const setLineUnits = (tx: Tx, id: string, units: bigint): Promise<number> =>
  tx.run('update simulated_bank.lines set units = $2 where id = $1', [id, units]);

export const readPayments = (tx: Tx, key?: string): Promise<Payment[]> =>
  tx.rows<Payment>(
    `select id, key, currency, units, account, name, state, why, returns, reference from simulated_bank.payments
      where $1::text is null or key = $1 order by id`,
    [key ?? null],
  );

/**
 * The payment under a key, unless it was accepted longer ago than the bank recognises keys. Without key expiry every payment is
 * found.
 */
export async function readByKey(tx: Tx, key: string): Promise<Payment[]> {
  const { deduplicatesForMs } = await readSettings(tx);
  const all = await tx.rows<Payment & { ageMs: number }>(
    `select id, key, currency, units, account, name, state, why, returns, reference,
            (extract(epoch from clock_timestamp() - taken_at) * 1000)::float8 as age_ms
       from simulated_bank.payments where key = $1 order by id`,
    [key],
  );
  return deduplicatesForMs === 0 ? all : all.filter(({ ageMs }) => ageMs < deduplicatesForMs);
}

/** Makes all accepted payments older by this much. */
export const agePayments = (tx: Tx, ms: number): Promise<number> =>
  tx.run('update simulated_bank.payments set taken_at = taken_at - make_interval(secs => $1)', [ms / 1000]);

export const insertPayment = (tx: Tx, payment: Omit<Payment, 'id'> & { dueAt: Date }): Promise<number> =>
  tx.run(
    `insert into simulated_bank.payments (key, currency, units, account, name, state, why, returns, reference, due_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      payment.key,
      payment.currency,
      payment.units,
      payment.account,
      payment.name,
      payment.state,
      payment.why,
      payment.returns,
      payment.reference,
      payment.dueAt,
    ],
  );

/** Returns a payment once it has settled. @returns whether there was one that can be returned */
export const returnPayment = async (tx: Tx, key: string, now: Date): Promise<boolean> =>
  (await tx.run(
    `update simulated_bank.payments set returns = true, due_at = least(due_at, $2)
      where key = $1 and state in ('accepted', 'settled')`,
    [key, now],
  )) > 0;

/** Settles payments that are due, and returns those that are to bounce. @returns when the next pending payment is due */
export async function settleDue(tx: Tx, now: Date): Promise<Date | undefined> {
  const settings = await readSettings(tx);
  const due = await tx.rows<Payment>(
    `select id, key, currency, units, account, name, state, why, returns, reference from simulated_bank.payments
      where (state = 'accepted' or (state = 'settled' and returns)) and due_at <= $1 order by due_at, id`,
    [now],
  );
  for (const { id, key, currency, units, account, name, state, reference } of due) {
    const line = { currency, units, account, name, bookedAt: now };
    if (state === 'accepted') {
      await bookLine(tx, { ...line, direction: 'debit', charge: settings.chargeUnits, key, reference });
      await tx.run(`update simulated_bank.payments set state = 'settled', due_at = $2 where id = $1`, [
        id,
        later(now, settings.settleMs),
      ]);
    } else {
      await bookLine(tx, {
        ...line,
        direction: 'credit',
        returnOf: key,
        why: 'account_closed',
        reference: `R${reference}`,
      });
      await tx.run(`update simulated_bank.payments set state = 'returned' where id = $1`, [id]);
    }
  }
  const next = await tx.row<{ dueAt: Date }>(
    `select due_at from simulated_bank.payments where state = 'accepted' or (state = 'settled' and returns)
      order by due_at limit 1`,
  );
  return next?.dueAt;
}

export const readBalance = async (tx: Tx, currency: string): Promise<bigint> =>
  (
    await tx.row<{ units: bigint }>(
      `select coalesce(sum(case direction when 'credit' then units else -units - charge end), 0)::numeric as units
         from simulated_bank.lines where currency = $1`,
      [currency],
    )
  )?.units ?? 0n;

/** Amount accepted and not yet on the statement, in smallest units. */
export const readPending = async (tx: Tx, currency: string): Promise<bigint> =>
  (
    await tx.row<{ units: bigint }>(
      `select coalesce(sum(units), 0)::numeric as units from simulated_bank.payments where currency = $1 and state = 'accepted'`,
      [currency],
    )
  )?.units ?? 0n;

export const insertFault = (tx: Tx, fault: Fault): Promise<number> =>
  tx.run('insert into simulated_bank.faults (kind, left_over, delay_ms) values ($1, $2, $3)', [
    fault.kind,
    fault.times ?? 1,
    fault.delayMs ?? 0,
  ]);

/** The kinds of which a fault is set. */
export const setFaults = async (tx: Tx): Promise<ReadonlySet<FaultKind>> => {
  const rows = await tx.rows<{ kind: FaultKind }>('select kind from simulated_bank.faults where left_over > 0');
  return new Set(rows.map(({ kind }) => kind));
};

/** Consumes one fault of a kind, if one is set. */
export const fault = (tx: Tx, kind: FaultKind): Promise<{ delayMs: number } | undefined> =>
  tx.row<{ delayMs: number }>(
    `update simulated_bank.faults set left_over = left_over - 1
      where id = (select id from simulated_bank.faults where kind = $1 and left_over > 0 order by id limit 1 for update)
      returning delay_ms`,
    [kind],
  );

export const deleteFaults = (tx: Tx): Promise<number> => tx.run('delete from simulated_bank.faults');

/** @returns whether this is the first call under the key */
export const isFirstCall = async (tx: Tx, key: string): Promise<boolean> =>
  (await tx.run('insert into simulated_bank.lost_calls (key) values ($1) on conflict do nothing', [key])) > 0;

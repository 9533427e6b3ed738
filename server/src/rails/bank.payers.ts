/**
 * Payers: a blind index of the account that each bank credit came from, so that credits from one account are found without
 * decrypting every line. Monitoring uses it.
 *
 * It is keyed per partner of the deposit, so that a dump does not show that customers of two partners are paid from one account;
 * a look-up costs a hash for each partner. The line has the partner beside the index: a deposit may get another later, and the
 * exchange of the master key computes the index again.
 *
 * Lines are indexed after they are booked, because a line is stored before its deposit has a partner, and outside the path of
 * money. Lines of an older version are indexed in the same way, the newest first.
 */
import { comparedNumber } from '../base/accountnumbers.ts';
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { openDetails } from './bank.store.ts';

/** Index value of a line without an account: no look-up finds it, and it is not read again. */
const NO_ACCOUNT = Buffer.alloc(0);

/**
 * The values that `payer_index` may have for an account number, with any spacing and case: the present key's first. Empty for a
 * number that is too short to be one. @param partnerId null for a deposit without a partner
 */
export function payerIndexes(vault: Vault, partnerId: bigint | null, number: string): Buffer[] {
  const compared = comparedNumber(number);
  return compared === undefined ? [] : vault.indexes(compared, `bank_lines.payer:${partnerId ?? 'none'}`);
}

const SQL = {
  unindexed: `select l.rail, l.external_id, l.details, d.partner_id
    from bank_lines l left join deposits d on d.rail = l.rail and d.external_id = l.external_id
    where l.meaning = 'deposit' and l.payer_index is null and l.details is not null order by l.read_at desc limit $1`,
  // Does not apply to a line that was erased since it was read.
  setIndexes: `update bank_lines l set payer_index = n.payer_index, payer_partner_id = n.partner_id
    from unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[]) as n (rail, external_id, payer_index, partner_id)
    where l.rail = n.rail and l.external_id = n.external_id and l.payer_index is null and l.details is not null`,
  details: 'select details from bank_lines where rail = $1 and external_id = $2',
} as const;

interface Line {
  rail: string;
  externalId: string;
  details: Buffer | null;
}

/** Number of the payer's account; undefined when the statement shows none, or it was erased. */
const accountOf = (vault: Vault, { details, ...line }: Line): string | undefined =>
  details === null ? undefined : openDetails(vault, line, details).account;

/** Number of the account that a credit came from; undefined when its rail shows none. */
export async function payerNumber(
  tx: Tx,
  vault: Vault,
  of: { rail: string; externalId: string },
): Promise<string | undefined> {
  const row = await tx.row<{ details: Buffer | null }>(SQL.details, [of.rail, of.externalId]);
  return row === undefined ? undefined : accountOf(vault, { ...of, ...row });
}

const AT_ONCE = 500;
/** The job that runs it must end well before its lease; the next run continues. */
const INDEXING_FOR_MS = 5_000;

/**
 * Indexes the lines that are not yet, the newest first, a batch per transaction, for INDEXING_FOR_MS.
 *
 * @returns how many lines were indexed, and whether all are
 */
export async function indexPayers(
  db: Pick<Database, 'asSystem'>,
  vault: Vault,
): Promise<{ count: number; isAll: boolean }> {
  const began = performance.now();
  for (let count = 0; ; ) {
    const read = await db.asSystem(async (tx) => {
      const lines = await tx.rows<Line & { partnerId: bigint | null }>(SQL.unindexed, [AT_ONCE]);
      if (lines.length === 0) return 0;
      await tx.run(SQL.setIndexes, [
        lines.map(({ rail }) => rail),
        lines.map(({ externalId }) => externalId),
        lines.map((line) => payerIndexes(vault, line.partnerId, accountOf(vault, line) ?? '')[0] ?? NO_ACCOUNT),
        lines.map(({ partnerId }) => partnerId),
      ]);
      return lines.length;
    });
    count += read;
    if (read < AT_ONCE) return { count, isAll: true };
    if (performance.now() - began > INDEXING_FOR_MS) return { count, isAll: false };
  }
}

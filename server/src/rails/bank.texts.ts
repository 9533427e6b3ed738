/**
 * Texts of bank lines: a blind index of the remittance text, so that operators find a line by the text that a customer or a bank
 * quotes. The text itself stays encrypted, and no reply has it.
 *
 * A line is indexed as it is stored. Those of an older version are indexed by a job, the newest first.
 */
import type { Vault } from '../base/crypto.ts';
import type { Database } from '../base/db.ts';
import { openDetails } from './bank.store.ts';

/** A shorter text is in too many lines to identify one. */
const SHORTEST = 2;
/** Index value of a line without a text: no look-up finds it, and it is not read again. */
export const NO_TEXT = Buffer.alloc(0);

/** The values that `text_index` may have for a text, in any spacing and case: the present key's first. Empty without a text. */
export function textIndexes(vault: Vault, text: string | undefined): Buffer[] {
  const compared = (text ?? '').replaceAll(/\s+/g, '').toLowerCase();
  return compared.length < SHORTEST ? [] : vault.indexes(compared, 'bank_lines.text');
}

const AT_ONCE = 500;
/** The job that runs it must end well before its lease; the next run continues. */
const INDEXING_FOR_MS = 8_000;

const SQL = {
  textless: `select rail, external_id, details from bank_lines
    where text_index is null and details is not null order by read_at desc limit $1`,
  // Does not apply to a line that was erased since it was read.
  setIndexes: `update bank_lines l set text_index = n.text_index
    from unnest($1::text[], $2::text[], $3::bytea[]) as n (rail, external_id, text_index)
    where l.rail = n.rail and l.external_id = n.external_id and l.text_index is null and l.details is not null`,
} as const;

/** Indexes the lines that are not yet, a batch per transaction, for INDEXING_FOR_MS. @returns how many were indexed */
export async function indexTexts(db: Pick<Database, 'asSystem'>, vault: Vault): Promise<number> {
  const began = performance.now();
  for (let count = 0; ; ) {
    const read = await db.asSystem(async (tx) => {
      const lines = await tx.rows<{ rail: string; externalId: string; details: Buffer }>(SQL.textless, [AT_ONCE]);
      if (lines.length === 0) return 0;
      const indexes = lines.map(({ rail, externalId, details }) => {
        const { text } = openDetails(vault, { rail, externalId }, details);
        return textIndexes(vault, text)[0] ?? NO_TEXT;
      });
      await tx.run(SQL.setIndexes, [lines.map(({ rail }) => rail), lines.map((one) => one.externalId), indexes]);
      return lines.length;
    });
    count += read;
    if (read < AT_ONCE || performance.now() - began > INDEXING_FOR_MS) return count;
  }
}

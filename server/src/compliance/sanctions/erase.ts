/**
 * Erasing compared data of a customer, and exporting it for the customer. Which entry was found, its score and the decision stay:
 * they explain what happened to the money.
 */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { closeCases } from '../cases.ts';
import type { Subject } from './match.ts';
import { caseSubject, openInputs } from './results.ts';
import { type ResultRow, sql } from './store.ts';

/**
 * @param e.owners `customer:<id>` and `deposit:<id>` of its orders
 * @returns subjects of the audit and of cases about the erased data; the number of comparisons that had names, and of hits
 */
export async function eraseScreenings(
  tx: Tx,
  e: { owners: readonly string[]; now: Date },
): Promise<{ subjects: string[]; compared: number; hits: number }> {
  const compared = await tx.run(sql.eraseResults, [e.owners, e.now]);
  const hits = await tx.rows<{ id: bigint }>(sql.eraseHits, [e.owners]);
  const results = await tx.rows<{ id: bigint }>(sql.screeningsOf, [e.owners]);
  const cases = e.owners.map(caseSubject);
  // Such a case is still open only if the customer was erased before and a restore brought it back.
  for (const subject of cases) await closeCases(tx, { subject, outcome: 'erased', now: e.now });
  return {
    subjects: [...cases, ...hits.map(({ id }) => `sanctions_hit:${id}`), ...results.map(({ id }) => `screening:${id}`)],
    ...{ compared, hits: hits.length },
  };
}

/**
 * The compared data of a customer and its accounts, each once, with the time of the first comparison; oldest first. Hits are
 * excluded: a person who learns of a hit may move the money.
 *
 * @returns `isCut` when there are more than `limit` comparisons, also of the same data
 */
export async function comparedOf(
  tx: Tx,
  vault: Vault,
  of: { customerId: string; limit: number },
): Promise<{ compared: { subject: string; compared: Subject[]; firstAt: Date }[]; isCut: boolean }> {
  const rows = await tx.rows<ResultRow & { firstAt: Date }>(sql.comparedOf, [of.customerId, of.limit + 1]);
  const once = new Map<string, { subject: string; compared: Subject[]; firstAt: Date }>();
  for (const row of rows.slice(0, of.limit)) {
    const compared = openInputs(vault, row) ?? [];
    const text = JSON.stringify([row.subject, compared]);
    // A second row for the same names would reveal that something else was found.
    if (!once.has(text)) once.set(text, { subject: row.subject, compared, firstAt: row.firstAt });
  }
  return { compared: [...once.values()], isCut: rows.length > of.limit };
}

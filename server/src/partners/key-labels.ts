/**
 * Labels of keys that an older version of the server stored in clear. A label is a typed text (base/typed.ts), and partners name
 * people in them. New labels are encrypted where they are read from a request; a job encrypts the others.
 */
import type { Vault } from '../base/crypto.ts';
import type { Database } from '../base/db.ts';
import { encryptTyped, openTyped } from '../base/typed.ts';

const AT_ONCE = 500;

const sql = {
  inClear: `select key, label from api_keys where label !~ '^enc:op1:[A-Za-z0-9_-]{38,}\\.$' and key > $1 order by key limit $2`,
  // Does not apply to a label that was changed since it was read.
  encrypt: 'update api_keys set label = $3 where key = $1 and label = $2',
} as const;

/** Encrypts the labels that are in clear, also of revoked keys, a batch per transaction. @returns how many were encrypted */
export async function encryptLabels(db: Pick<Database, 'asSystem'>, vault: Vault): Promise<number> {
  let count = 0;
  for (let after = ''; ; ) {
    const { rows, changed } = await db.asSystem(async (tx) => {
      const found = await tx.rows<{ key: string; label: string }>(sql.inClear, [after, AT_ONCE]);
      let encrypted = 0;
      for (const { key, label } of found) {
        // A text around an encrypted part is one label, too.
        const whole = encryptTyped(vault, openTyped(vault, label));
        encrypted += await tx.run(sql.encrypt, [key, label, whole]);
      }
      return { rows: found, changed: encrypted };
    });
    count += changed;
    after = rows.at(-1)?.key ?? after;
    if (rows.length < AT_ONCE) return count;
  }
}

/** All rows of a database with every value decrypted that the master key decrypts. */
import type { Vault } from '../../src/base/crypto.ts';
import { openTyped } from '../../src/base/typed.ts';
import { PARTS } from '../../src/rotation/parts.ts';

type Query = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

/** @returns the rows' texts, by table */
export async function readableRows({
  query,
  vault,
}: {
  query: Query;
  vault: Vault;
}): Promise<Record<string, string[]>> {
  const partners = await query('select id from partners');
  const ids = partners.map(({ id }) => id as bigint);
  const tables = await query(
    `select relname from pg_class where relnamespace = 'cloverleaf'::regnamespace and relkind = 'r' order by 1`,
  );
  const all: Record<string, string[]> = {};
  for (const { relname } of tables) {
    const said: string[] = [];
    for (const row of await query(`select * from cloverleaf.${relname}`)) {
      const text = JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value));
      said.push(cleared(vault, ids, text));
      // The values that a key exchange would read, given to this vault in clear.
      for (const part of PARTS.filter(({ table }) => table === relname))
        part.rewrite({ from: vault, to: listener(vault, said) }, row);
    }
    all[String(relname)] = said;
  }
  return all;
}

/** Decrypts nothing, and records its input. */
const listener = (vault: Vault, said: string[]): Vault => ({
  ...vault,
  decrypt: () => {
    throw new Error('not this key’s');
  },
  encrypt: (text) => Buffer.from((said.push(text), text)),
});

const cleared = (vault: Vault, partners: readonly bigint[], text: string): string =>
  openTyped(vault, text).replace(/enc:v1:([A-Za-z0-9_-]{38,})/g, (token, bytes: string) => {
    for (const partner of partners)
      try {
        return vault.decrypt(Buffer.from(bytes, 'base64url'), `partner_text:${partner}`);
      } catch {
        // Another partner's text.
      }
    return token;
  });

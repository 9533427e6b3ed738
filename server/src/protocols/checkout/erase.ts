/** Erasing the keyed hashes of a customer's phone number from the links through which it was entered. */
import type { Vault } from '../../base/crypto.ts';
import type { Database } from '../../base/db.ts';
import { namedPhones } from './phone.ts';
import { checkouts } from './store.ts';

/** Links per transaction. */
const AT_ONCE = 1_000;

/**
 * Of a link with an order of the customer every hash goes: after an exchange of the master key they can be compared with no number.
 *
 * @returns number of changed links
 */
export async function erasePhones(
  { db, vault }: { db: Pick<Database, 'asSystem'>; vault: Vault },
  of: { partnerId: bigint; customerId: string; phone?: string },
): Promise<number> {
  const { partnerId, customerId, phone } = of;
  let [after, count] = ['', 0];
  for (;;) {
    const links = await db.asSystem(async (tx) => {
      const page = await checkouts.phonesOf(tx, { partnerId, after, limit: AT_ONCE });
      for (const { id, customerId: owner, phonesNamed } of page) {
        const its = phone === undefined ? [] : namedPhones(vault, id, phone);
        const left = owner === customerId ? [] : phonesNamed.filter((one) => !its.some((index) => index.equals(one)));
        if (left.length < phonesNamed.length) count += await checkouts.phonesLeft(tx, id, left);
      }
      return page;
    });
    if (links.length < AT_ONCE) return count;
    after = links.at(-1)?.id ?? '';
  }
}

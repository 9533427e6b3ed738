/**
 * Facts: what the kinds of rules read about an order.
 *
 * Accounts are compared by the blind indexes of their numbers, which are keyed per partner so that a dump does not link
 * partners' customers. With the master key a number has one value for each partner; all of them are looked up. Only counts leave
 * this file.
 */
import { comparedNumber } from '../base/accountnumbers.ts';
import { later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import {
  accountNumber,
  countryOfPhone,
  findCustomer,
  numberIndexes,
  openContact,
  statedCountry,
} from '../customers/index.ts';
import {
  isFirstPaid,
  type MonitoredOrder,
  othersAtAccount,
  othersPaidAt,
  tradedBefore,
  type Use,
  usesOf,
} from '../orders/index.ts';
import { partnerIds } from '../partners/index.ts';
import { payerIndexes, payerNumber } from '../rails/bank.ts';
import { type AtAccount, type Facts, type Kind, NOBODY } from './rules.ts';

const DAY_MS = 86_400_000;
const WINDOW_MS = 30 * DAY_MS;

/** @param kinds of the rules that will read the facts: accounts are decrypted only for the kind that compares them */
export async function factsOf(
  tx: Tx,
  vault: Vault,
  { order, kinds }: { order: MonitoredOrder; kinds: readonly Kind[] },
): Promise<Facts> {
  const { customerId, createdAt, orderId } = order;
  const customer = await findCustomer(tx, customerId);
  const { phone } = await openContact(tx, vault, customerId);
  const uses = await usesOf(tx, orderId);
  return {
    order,
    before: await tradedBefore(tx, order, later(createdAt, -WINDOW_MS)),
    isFirst: await isFirstPaid(tx, order),
    othersAtWallet: await othersAtWallet(tx, order, uses),
    atAccount: kinds.includes('shared_account') ? await atAccount(tx, vault, customerId, uses) : NOBODY,
    country: statedCountry(customer),
    phoneCountry: phone === undefined ? undefined : countryOfPhone(phone),
  };
}

/** Until the order is paid, those count who were paid before it was created. */
async function othersAtWallet(tx: Tx, order: MonitoredOrder, uses: readonly Use[]): Promise<number> {
  const { payoutAddress: address, customerId, createdAt } = order;
  if (address === null) return 0;
  const paid = uses.find((use) => use.address === address);
  return await othersPaidAt(tx, { address, until: paid?.at ?? createdAt, customerId });
}

async function atAccount(tx: Tx, vault: Vault, customerId: string, uses: readonly Use[]): Promise<AtAccount> {
  // The newest use of each account: uses are sorted.
  const numbers = new Map<string, Date>();
  for (const use of uses) {
    const number = comparedNumber(await numberUsed(tx, vault, use));
    if (number !== undefined && !numbers.has(number)) numbers.set(number, use.at);
  }
  if (numbers.size === 0) return NOBODY;
  const partners = await partnerIds(tx);
  let most = NOBODY;
  for (const [number, until] of numbers) {
    const payees = partners.flatMap((id) => numberIndexes(vault, id, { account: number }));
    const payers = [...partners, null].flatMap((id) => payerIndexes(vault, id, number));
    const others = await othersAtAccount(tx, { payees, payers, until, customerId });
    if (others.customers > most.customers) most = others;
  }
  return most;
}

/** '' for a wallet, a deposit of coins, and an account that is erased or was not shown. */
async function numberUsed(tx: Tx, vault: Vault, { fiatAccountId, rail, externalId }: Use): Promise<string> {
  if (fiatAccountId !== null) return await accountNumber(tx, vault, fiatAccountId);
  if (rail === null || externalId === null) return '';
  return (await payerNumber(tx, vault, { rail, externalId })) ?? '';
}

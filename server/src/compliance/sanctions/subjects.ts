/**
 * The subjects compared with lists, and their names: customers with the people behind a business, account holders, payers of
 * deposits, other persons who own a wallet that a customer uses.
 *
 * A key identifies them: `customer:<id>`, `account:<id>`, `payer:<deposit>`, `wallet:<row of travel_wallets>`. Names are decrypted here
 * for the comparison, and are stored only in its encrypted result.
 */
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import { assert } from '../../base/errors.ts';
import { companyNames, findCustomer, knownNames, openFiatAccount, personIn } from '../../customers/index.ts';
import type { Screening } from '../screener.ts';
import { namedOwner, walletsOfOthers } from '../travel-rule/wallets.ts';
import { type Subject, subjectText } from './match.ts';
import { sql } from './store.ts';

/** What is known of the payer of a deposit. */
export interface Payer {
  /** As its rail reports it, and as the provider that sent the coins names the originators. */
  names: readonly string[];
  /** On a chain. */
  address?: string | undefined;
  /** Grows when names come; of the same rows as the names (`countedFor` in travel-rule/exchange.store.ts). */
  revision: number;
}

/** The payer of a deposit; undefined when unknown. */
export type PayerOf = (tx: Tx, depositId: bigint) => Promise<Payer | undefined>;

export interface Known {
  /** The owner whose decisions count: `customer:<id>`, or `deposit:<id>` without a customer. */
  owner: string;
  customerId: string | null;
  partnerId: bigint | null;
  /**
   * Changes with the names: of a customer (customers/known-names.ts), of a payer (`Payer`), of a wallet (travel-rule/wallets.ts). 0 for
   * data that never changes.
   * The gate compares it with the rows of now (`standing` in store.ts).
   */
  revision: number;
  subjects: Subject[];
}

const LONGEST = 500;
const bounded = (name: string): string => name.trim().slice(0, LONGEST);

/** The current names of a subject. */
export async function knownOf(tx: Tx, vault: Vault, payerOf: PayerOf, key: string): Promise<Known> {
  const [kind, id = ''] = [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)];
  if (kind === 'customer') return await ofCustomer(tx, vault, id);
  const number = BigInt(id);
  if (kind === 'wallet') return await ofWallet(tx, vault, number);
  const isAccount = kind === 'account';
  const { names, address, revision } = isAccount
    ? { names: [await holderOf(tx, vault, number)], revision: 0 }
    : ((await payerOf(tx, number)) ?? { names: [], revision: 0 });
  const owner = await tx.row<Owner>(isAccount ? sql.accountOwner : sql.depositOwner, [number]);
  const { customerId = null, partnerId = null, senderOf } = owner ?? {};
  return {
    // An account that a deposit came from belongs to that deposit.
    owner: customerId === null ? `deposit:${senderOf ?? id}` : `customer:${customerId}`,
    ...{ customerId, partnerId, revision },
    subjects: eachOf(names, address),
  };
}

/** One subject for each name, because they are different people; the address is compared with the first. */
function eachOf(given: readonly string[], address?: string): Subject[] {
  const [first, ...others] = new Set(given.map(bounded).filter((name) => name !== ''));
  if (first === undefined) return address === undefined ? [] : [{ names: [], address }];
  return [{ names: [first], ...defined({ address }) }, ...others.map((name) => ({ names: [name] }))];
}

/** With the address: two people of one name with different wallets are two questions. */
async function ofWallet(tx: Tx, vault: Vault, id: bigint): Promise<Known> {
  const found = await namedOwner(tx, vault, id);
  assert(found !== undefined, `wallet ${id} does not exist`);
  const { customerId, partnerId, revision, name, address } = found;
  const subjects = name === undefined ? [] : eachOf([name], address);
  return { owner: `customer:${customerId}`, customerId, partnerId, revision, subjects };
}

/**
 * Keys of the wallets of other persons that this money goes to or came from. By address on whichever chain: one key owns it on all of
 * them.
 */
export async function walletKeys(
  tx: Tx,
  payerOf: PayerOf,
  { customerId, payoutAddress, depositIds = [] }: Pick<Screening, 'customerId' | 'payoutAddress' | 'depositIds'>,
): Promise<string[]> {
  const wallets = customerId === null ? [] : await walletsOfOthers(tx, customerId);
  if (wallets.length === 0) return [];
  const payers = await awaitAll(...depositIds.map((id) => payerOf(tx, id)));
  const used = new Set([payoutAddress, ...payers.map((payer) => payer?.address)]);
  return wallets.filter(({ address }) => used.has(address)).map(({ id }) => `wallet:${id}`);
}

interface Owner {
  customerId: string | null;
  partnerId: bigint | null;
  /** The deposit that came from this account, if the account is a payer's. */
  senderOf?: bigint | null;
}

async function holderOf(tx: Tx, vault: Vault, id: bigint): Promise<string> {
  const { details } = await openFiatAccount(tx, vault, id);
  return details.name ?? details.accountHolder ?? '';
}

async function ofCustomer(tx: Tx, vault: Vault, id: string): Promise<Known> {
  const { partnerId, kind } = await findCustomer(tx, id);
  const { revision, typed: details, read, verified } = await knownNames(tx, vault, id);
  const country = details.nationality ?? details.country;
  const born = details.dob ?? details.dateOfBirth;
  const documents = [verified, read].filter((names) => names !== undefined);
  // The form of a business asks for a contact person's name too.
  const persons = [details, ...documents].flatMap((given) => {
    const name = bounded(personIn({ ...given }) ?? '');
    return name === '' ? [] : [evidence({ names: [name], kind: 'person' }, given.dob ?? born, country)];
  });
  const companies = new Set([details, ...documents.map((names) => ({ ...names }))].flatMap(companyNames).map(bounded));
  const own: Subject[] = [
    ...new Map(persons.map((person) => [subjectText(person), person])).values(),
    ...(companies.size === 0 ? [] : [evidence({ names: [...companies], kind: 'entity' }, undefined, country)]),
  ];
  const behind = kind === 'INDIVIDUAL' ? [] : [...peopleIn(details.owners), ...peopleIn(details.directors)];
  return { owner: `customer:${id}`, customerId: id, partnerId, revision, subjects: [...own, ...behind] };
}

const evidence = (subject: Subject, born: string | undefined, country: string | undefined): Subject => ({
  ...subject,
  ...(born !== undefined && /^\d{4}-\d\d-\d\d$/.test(born) ? { born } : {}),
  ...(country !== undefined && /^[A-Z]{2}$/.test(country) ? { countries: [country] } : {}),
});

/** Owners and directors, in the format in which a submission stores them. */
function peopleIn(text: string | undefined): Subject[] {
  if (text === undefined) return [];
  const people = JSON.parse(text) as { firstName?: string; lastName?: string; dob?: string; country?: string }[];
  return people.flatMap(({ firstName = '', lastName = '', dob, country }) => {
    const name = bounded(`${firstName} ${lastName}`);
    return name === '' ? [] : [evidence({ names: [name], kind: 'person' }, dob, country)];
  });
}

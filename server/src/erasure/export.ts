/**
 * All data held about a person, for that person: decrypted, as data, under the names of this program. The caller reads the
 * content of files (`openFile`) outside the transaction.
 *
 * The export discloses no suspicion (decisions 73 and 78): no hit, finding, outcome or block by law, and of cases
 * only the kinds that SHOWN_CASES names. A new kind stays hidden until it is added there.
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { openTextOrNull } from '../base/texts.ts';
import { type CaseKind, comparedOf, travelDataOf } from '../compliance/index.ts';
import {
  clientIdOf,
  fiatAccounts,
  findCustomer,
  informationOf,
  knownNames,
  openCompared,
  openContact,
  openDraft,
  openFiatAccount,
  openSubmissions,
} from '../customers/index.ts';
import { selectOf } from '../orders/index.ts';
import { erasureOf } from './erase.ts';

/** Maximum rows of a kind: more than a person has. If there are more, `more` says so. */
const MOST = 5_000;
/** Each is read with its files. */
const MOST_SUBMISSIONS = 1_000;

/** Cases about the person's own money, data and answers, which the person knows of. */
const SHOWN_CASES: readonly CaseKind[] = [
  ...(['payout_held', 'payout_returned', 'travel_rule_missing'] as const),
  ...(['verification_review', 'verification_overdue', 'information_overdue', 'information_answered'] as const),
  ...(['overpaid', 'deposit_wrong_asset', 'deposit_wrong_chain', 'deposit_late', 'deposit_second'] as const),
  ...(['deposit_lost', 'customer_owes', 'dormant_soon', 'dormant'] as const),
  ...(['refund_destination', 'refund_short', 'refund_rejected', 'refund_returned'] as const),
];
const NAMES_OF_SHOWN = SHOWN_CASES.map((kind) => `'${kind}'`).join(', ');

/** Unencrypted data, by name. Each statement takes the customer's id. */
const ROWS: Readonly<Record<string, string>> = {
  verifications: 'select verifier, outcome, level, at from verifications where customer_id = $1 order by id',
  expiries: `select version, expires_on::text as expires_on, items, accepted_at, asked_at, lapsed_at, ended_at from document_expiries
    where customer_id = $1 order by version`,
  destinations: `select id, fiat_account_id, chain, address, created_at, usable_at, confirmed_at from customer_destinations
    where customer_id = $1 order by id`,
  orders: `select id, direction, case state when 'frozen' then 'on_hold' else state end as state, deposit_asset, deposit_units, payout_asset, payout_units, fiat_account_id, payout_address,
      refund_address, refund_account_id, merchant_reference, payer_reference, deposit_reference, payout_reference, created_at, updated_at
    from orders where customer_id = $1 order by id`,
  deposits: `select d.id, d.order_id, d.rail, d.asset, d.units, d.state, d.target, d.reference, d.seen_at, d.confirmed_at
    from deposits d where d.id in (${selectOf.deposits()}) order by d.id`,
  payouts: `select p.id, p.order_id, p.purpose, p.rail, p.asset, p.units, p.state, p.fiat_account_id, p.address, p.reference, p.created_at
    from payouts p where p.id in (${selectOf.payouts()}) order by p.created_at, p.id`,
  cases: `select c.id, c.kind, c.subject, c.opened_at, c.closed_at from cases c
    where c.kind in (${NAMES_OF_SHOWN}) and (c.subject = 'customer:' || $1
      or c.order_id in (select id from orders where customer_id = $1)) order by c.id`,
  events: `select id, type, subject, body, at from events where subject = 'customer:' || $1 order by id`,
  logins: 'select sent_at, used_at from login_sends where customer_id = $1 order by id',
  screenings: `select s.subject, s.at from screenings s where s.order_id in (select id from orders where customer_id = $1)
    order by s.at, s.subject`,
};

/** @throws Refusal 'unknown_customer' */
export async function exportCustomer(tx: Tx, vault: Vault, customerId: string): Promise<Record<string, unknown>> {
  const customer = await findCustomer(tx, customerId);
  const { storedClientId: _, loginEpoch: __, failedReason, ...shown } = customer;
  const open = (value: unknown) => opened(vault, customer.partnerId, value);
  const accounts = [];
  for (const { id } of await fiatAccounts(tx, customerId)) accounts.push(await openFiatAccount(tx, vault, id));
  const tables: Record<string, unknown> = {};
  const more: string[] = [];
  /** Of rows, of which one more was asked for. */
  const upTo = <R>(name: string, most: number, rows: readonly R[]): readonly R[] => {
    if (rows.length > most) more.push(name);
    return rows.slice(0, most);
  };
  for (const [name, text] of Object.entries(ROWS))
    tables[name] = upTo(name, MOST, await tx.rows<object>(`${text} limit ${MOST + 1}`, [customerId])).map(open);
  const information = upTo('information', MOST, await informationOf(tx, vault, { customerId, limit: MOST + 1 }));
  const limit = MOST_SUBMISSIONS + 1;
  const submissions = upTo('submissions', MOST_SUBMISSIONS, await openSubmissions(tx, vault, { customerId, limit }));
  const { typed, read = null, verified = null } = await knownNames(tx, vault, customerId);
  const documents = upTo('documentNumbers', MOST, await openCompared(tx, vault, customerId, MOST + 1));
  const { compared, isCut } = await comparedOf(tx, vault, { customerId, limit: MOST });
  if (isCut) more.push('compared');
  const { isCut: isTravelCut, ...travelRule } = await travelDataOf(tx, vault, { customerId, limit: MOST });
  if (isTravelCut) more.push('travelRule');
  return {
    customer: {
      ...shown,
      clientCustomerId: clientIdOf(vault, customer),
      failedReason: openTextOrNull(vault, customer.partnerId, failedReason),
    },
    contact: await openContact(tx, vault, customerId),
    details: typed,
    // As a verifier read them from the document.
    names: { read, verified },
    documentNumbers: documents.flatMap(({ kind, value }) => (kind === 'number' ? [value] : [])),
    submissions,
    draft: await openDraft(tx, vault, customerId),
    accounts,
    information,
    // Without findings: a hit is never disclosed (decision 73).
    compared,
    travelRule,
    ...tables,
    erasure: (await erasureOf(tx, customerId)) ?? null,
    more,
  };
}

/** Decrypts every text of the partner, at any depth. */
function opened(vault: Vault, partnerId: bigint, value: unknown): unknown {
  if (typeof value === 'string') return openTextOrNull(vault, partnerId, value);
  if (Array.isArray(value)) return value.map((one) => opened(vault, partnerId, one));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, opened(vault, partnerId, part)]));
}

/**
 * Payers: who paid a deposit, as its rail reports it, and the evidence that a sender must give before money is returned to them.
 *
 * A bank's report (name, account, text) is encrypted with its statement line, decrypted for an operator who requests it, and
 * stored nowhere else. A chain's report is an address, which is public.
 *
 * A bank account belongs to its holder, so two operators may return a credit to the account it came from. An address may not
 * belong to the sender: coins from an exchange come from an address of the exchange. So coins are returned to an address named in
 * a text signed with the key of the sending address, or named by the customer; never automatically to the sending address.
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import type { Payer, Rail } from '../../rails/rail.ts';
import type { DepositRow } from './store.ts';
import * as depositStore from './store.ts';

type Rails = { rails: ReadonlyMap<string, Rail> };

/** @throws Refusal 'unknown_deposit' */
async function paidDeposit(tx: Tx, depositId: bigint): Promise<DepositRow> {
  const deposit = await depositStore.depositById(tx, depositId);
  if (deposit === undefined) throw new Refusal('unknown_deposit', {});
  return deposit;
}

const shownBy = async ({ rails }: Rails, tx: Tx, { rail, externalId }: DepositRow): Promise<Payer | undefined> =>
  await rails.get(rail)?.payerOf?.(tx, externalId);

/** The payer of this deposit. @throws Refusal 'unknown_deposit' */
export async function payerOf(context: Rails, tx: Tx, depositId: bigint): Promise<Payer> {
  return (await shownBy(context, tx, await paidDeposit(tx, depositId))) ?? {};
}

/**
 * The address on a chain that a deposit came from; null if the chain does not show it. Undefined for money from a bank, and for
 * money that did not come from outside: a returned payout, money released by law, a compensation.
 */
export async function senderOf(
  context: Rails,
  tx: Tx,
  depositId: bigint,
): Promise<{ rail: string; address: string | null } | undefined> {
  const deposit = await paidDeposit(tx, depositId);
  const { rail, origin } = deposit;
  if (context.rails.get(rail)?.kind !== 'chain' || (origin !== 'rail' && origin !== 'credit')) return undefined;
  return { rail, address: (await shownBy(context, tx, deposit))?.address ?? null };
}

/** Ids of the deposits that a case is about: the case's own, its refund's, or those of its order. */
export async function depositsAbout(
  tx: Tx,
  about: { subject: string; facts: Readonly<Record<string, unknown>> },
): Promise<bigint[]> {
  const [kind, id = ''] = about.subject.split(':');
  const named = kind === 'deposit' ? id : String(about.facts.deposit ?? '');
  if (/^[0-9]{1,18}$/.test(named)) return [BigInt(named)];
  if (kind !== 'order' || !/^[0-9]{1,18}$/.test(id)) return [];
  return (await depositStore.depositsOf(tx, BigInt(id))).map((deposit) => deposit.id);
}

const wrong = (field: string, rule: string) => new Refusal('malformed_field', { fields: { [field]: rule } });

/**
 * The account that a bank credit came from: the fields that a payout needs, as far as the statement shows them.
 *
 * @throws Refusal 'unknown_deposit' | 'does_not_fit' if it did not come from a bank, or its statement shows no account
 */
export async function senderAccount(context: Rails, tx: Tx, depositId: bigint): Promise<Record<string, string>> {
  const deposit = await paidDeposit(tx, depositId);
  const no = (why: string) => new Refusal('does_not_fit', { why });
  if (context.rails.get(deposit.rail)?.kind !== 'bank')
    throw no('coins go back to an address that their sender proves');
  if (deposit.origin !== 'rail') throw no('it is no credit of the statement: its payout came back, or it was released');
  const { account = '', name } = (await shownBy(context, tx, deposit)) ?? {};
  if (account.trim() === '') throw no('the statement shows no account that this credit came from');
  return { account: account.trim(), ...(name === undefined || name.trim() === '' ? {} : { name: name.trim() }) };
}

/** The text that the sender of coins signs (EIP-191) with the key of the sending address. */
export const textToSign = (deposit: { id: bigint; rail: string; externalId: string }, address: string): string =>
  `Give back deposit ${deposit.id} (${deposit.rail} ${deposit.externalId}) to ${address}`;

/**
 * The address that the sender of coins named in a signed text.
 *
 * @throws Refusal 'unknown_deposit' | 'does_not_fit' | 'malformed_field' if the text is not signed by the sending address
 */
export async function requireSigned(
  context: Rails,
  tx: Tx,
  input: { depositId: bigint; address: string; signature: string },
): Promise<void> {
  const deposit = await paidDeposit(tx, input.depositId);
  const { address: from } = (await shownBy(context, tx, deposit)) ?? {};
  const rail = context.rails.get(deposit.rail);
  if (from === undefined || rail?.isSignedBy === undefined)
    throw new Refusal('does_not_fit', { why: 'the sending address is unknown, or no one can sign with it' });
  if (!(await rail.isSignedBy(from, textToSign(deposit, input.address), input.signature)))
    throw wrong('signature', `must be that of the address it came from, over: ${textToSign(deposit, input.address)}`);
}

/**
 * Refuses to return coins to the sending address only because an operator names it: that address may belong to an exchange.
 *
 * @param named by the customer, through the partner
 * @throws Refusal 'malformed_field'
 */
export async function requireNotSender(
  context: Rails,
  tx: Tx,
  input: { depositId: bigint; address: string; named: string | null },
): Promise<void> {
  if (input.named === input.address) return;
  const { address: from } = await payerOf(context, tx, input.depositId);
  if (from === input.address)
    throw wrong('address', 'must be proven by its owner (deposit return): the sending address may be an exchange');
}

/**
 * For an operator who helps a sender: the text to sign for an address, in the spelling that we store.
 *
 * @throws Refusal 'malformed_field'
 */
export async function returnText(
  context: Rails,
  tx: Tx,
  input: { depositId: bigint; address: string },
): Promise<string> {
  const deposit = await paidDeposit(tx, input.depositId);
  const address = context.rails.get(deposit.rail)?.readAddress?.(input.address);
  if (address === undefined) throw wrong('address', `must be an address on ${deposit.rail}`);
  return textToSign(deposit, address);
}

/**
 * Payers: who paid a deposit, as its rail shows it, and what the sender has to say before money goes back there.
 *
 * What a bank shows (name, account, text) lies encrypted with its line; a chain shows an address, which anybody can read there.
 * It is opened for a person who asks, and kept nowhere else.
 *
 * A bank account is its holder's, so two people may send a credit back to where it came from. An address is not: coins from an
 * exchange come from an address of the exchange. So they go back to an address that whoever holds the key of the sending one
 * names in a signed text, or that the customer names; never to the sending one by itself.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import type { Payer, Rail } from '../rails/rail.ts';
import { type DepositRow, store } from './store.ts';

type Rails = { rails: ReadonlyMap<string, Rail> };

/** @throws Refusal 'unknown_deposit' */
async function paidDeposit(tx: Tx, depositId: bigint): Promise<DepositRow> {
  const deposit = await store.depositById(tx, depositId);
  if (deposit === undefined) throw new Refusal('unknown_deposit', {});
  return deposit;
}

const shownBy = async ({ rails }: Rails, tx: Tx, { rail, external_id }: DepositRow): Promise<Payer | undefined> =>
  await rails.get(rail)?.payerOf?.(tx, external_id);

/** Who paid this deposit. @throws Refusal 'unknown_deposit' */
export async function payerOf(context: Rails, tx: Tx, depositId: bigint): Promise<Payer> {
  return (await shownBy(context, tx, await paidDeposit(tx, depositId))) ?? {};
}

/** Numbers of the deposits that a case is about: its own, its refund's, or those of its order. */
export async function depositsAbout(
  tx: Tx,
  about: { subject: string; facts: Readonly<Record<string, unknown>> },
): Promise<bigint[]> {
  const [kind, id = ''] = about.subject.split(':');
  const named = kind === 'deposit' ? id : String(about.facts.deposit ?? '');
  if (/^[0-9]{1,18}$/.test(named)) return [BigInt(named)];
  if (kind !== 'order' || !/^[0-9]{1,18}$/.test(id)) return [];
  return (await store.depositsOf(tx, BigInt(id))).map((deposit) => deposit.id);
}

const wrong = (field: string, rule: string) => new Refusal('malformed_field', { fields: { [field]: rule } });

/**
 * The account that a bank's credit came from: what a payout needs, as far as the statement shows it.
 *
 * @throws Refusal 'unknown_deposit' | 'does_not_fit' where no bank brought it, or its statement shows no account
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

/** What the sender of coins signs (EIP-191) with the key of the address that they came from. */
export const textToSign = (deposit: { id: bigint; rail: string; external_id: string }, address: string): string =>
  `Give back deposit ${deposit.id} (${deposit.rail} ${deposit.external_id}) to ${address}`;

/**
 * The address that the sender of coins has named in a signed text.
 *
 * @throws Refusal 'unknown_deposit' | 'does_not_fit' | 'malformed_field' where the text is not signed by the sending address
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
    throw new Refusal('does_not_fit', { why: 'nobody knows which address it came from, or none can sign there' });
  if (!(await rail.isSignedBy(from, textToSign(deposit, input.address), input.signature)))
    throw wrong('signature', `must be that of the address it came from, over: ${textToSign(deposit, input.address)}`);
}

/**
 * Coins never go back to the address that they came from because an operator names it: it may be an exchange's.
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

/** For whoever helps a sender: the text to sign for an address, in the spelling that is kept. @throws Refusal 'malformed_field' */
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

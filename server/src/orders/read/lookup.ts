/**
 * Look-up: orders, deposits, payouts and bank lines by id, address, hash or reference, for an operator who has only one of them.
 */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { spellingsOf, withSmall } from '../../base/spellings.ts';
import { textsLike } from '../../base/texts.ts';
import { typedLike } from '../../base/typed.ts';
import { type BankLine, bankLinesLike } from '../../rails/bank.ts';
import { findPayouts, type Payout } from '../../rails/payouts.ts';
import { depositOfId, depositsLike, type FoundDeposit, type FoundOrder, ordersLike } from './lookup.store.ts';

export type { FoundDeposit, FoundOrder } from './lookup.store.ts';

/** Without the age, which only the payout engine uses. */
type FoundPayout = Omit<Payout, 'firstSubmissionAgeMs'>;

function shown(payout: Payout): FoundPayout {
  const { firstSubmissionAgeMs: _, ...rest } = payout;
  return rest;
}

/**
 * All rows with this text, in any spacing, as their id, address, hash or reference; newest first, at most fifty of each. A bank line
 * is also found by its remittance text.
 */
export async function lookUp(
  tx: Tx,
  input: { text: string; rails: readonly string[]; vault: Vault; partnerIds: readonly bigint[] },
): Promise<{ orders: FoundOrder[]; deposits: FoundDeposit[]; payouts: FoundPayout[]; bankLines: BankLine[] }> {
  const { rails, vault } = input;
  const spellings = spellingsOf(input.text);
  const texts = withSmall(spellings);
  const references = input.partnerIds.flatMap((id) => spellings.flatMap((one) => textsLike(vault, id, one)));
  const number = spellings.find((one) => /^[0-9]{1,18}$/.test(one));
  const id = number === undefined ? null : BigInt(number);
  return {
    orders: await ordersLike(tx, { texts, references, number: id, rails }),
    deposits: await depositsLike(tx, {
      texts,
      number: id,
      rails,
      typed: spellings.flatMap((one) => typedLike(vault, one)),
    }),
    payouts: (await findPayouts(tx, texts)).map(shown),
    bankLines: await bankLinesLike(tx, vault, { texts: spellings, rails }),
  };
}

/** @throws Refusal 'unknown_deposit' */
export async function findDeposit(tx: Tx, id: bigint): Promise<FoundDeposit> {
  const found = await depositOfId(tx, id);
  if (found === undefined) throw new Refusal('unknown_deposit', {});
  return found;
}

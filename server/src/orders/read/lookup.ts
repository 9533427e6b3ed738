/**
 * Look-up: orders, deposits and payouts by id, address, hash or reference, for an operator who has only one of them.
 */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { textsLike } from '../../base/texts.ts';
import { typedLike } from '../../base/typed.ts';
import { findPayouts, type Payout } from '../../rails/payouts.ts';
import { depositOfId, depositsLike, type FoundDeposit, type FoundOrder, ordersLike } from './lookup.store.ts';

export type { FoundDeposit, FoundOrder } from './lookup.store.ts';

/** Without the age, which only the payout engine uses. */
type FoundPayout = Omit<Payout, 'firstSubmissionAgeMs'>;

function shown(payout: Payout): FoundPayout {
  const { firstSubmissionAgeMs: _, ...rest } = payout;
  return rest;
}

/** All rows with this text as their id, address, hash or reference; newest first, at most fifty of each. */
export async function lookUp(
  tx: Tx,
  input: { text: string; rails: readonly string[]; vault: Vault; partnerIds: readonly bigint[] },
): Promise<{ orders: FoundOrder[]; deposits: FoundDeposit[]; payouts: FoundPayout[] }> {
  const { text, rails } = input;
  const references = input.partnerIds.flatMap((id) => textsLike(input.vault, id, text));
  const number = /^[0-9]{1,18}$/.test(text) ? BigInt(text) : null;
  return {
    orders: await ordersLike(tx, { text, references, number, rails }),
    deposits: await depositsLike(tx, { text, number, typed: typedLike(input.vault, text) }),
    payouts: (await findPayouts(tx, text)).map(shown),
  };
}

/** @throws Refusal 'unknown_deposit' */
export async function findDeposit(tx: Tx, id: bigint): Promise<FoundDeposit> {
  const found = await depositOfId(tx, id);
  if (found === undefined) throw new Refusal('unknown_deposit', {});
  return found;
}

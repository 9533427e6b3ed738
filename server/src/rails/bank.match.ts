/**
 * Matches debits with payouts after the line was processed: by the payout's key when the payout is created again after a restore,
 * or by operators' decision, also several payouts with one debit. Operators also decide which debits paid none of our payouts.
 */
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import { isMadeSince } from './ahead.store.ts';
import { debitLike, explainLine, lockDebit, lockUnexplained, markForeign, type UnexplainedLine } from './bank.store.ts';
import { findPayout, notePaidUnits, payoutByKey, requireOtherAmount } from './payouts.ts';
import type { FollowOn, Report } from './rail.ts';

/** If exactly one debit with this payout's key and amount was shown before the payout existed, it settles the payout. */
export async function explainByKey(
  tx: Tx,
  rail: string,
  key: string,
  report: Report,
  also: { isBack?: true } = {},
): Promise<boolean> {
  const payout = await payoutByKey(tx, rail, key);
  if (payout === undefined || payout.endedAt !== null) return false;
  const lines = (await lockUnexplained(tx, rail, { key })).filter(
    (line) => line.asset === payout.asset && line.units === payout.units,
  );
  const [line] = lines;
  if (line === undefined || lines.length > 1) return false;
  await settleByLine(tx, rail, line, key, (tx2, fact) => report(tx2, { ...fact, ...also }));
  return true;
}

/**
 * Matches a debit that was booked as unexplained with this payout: reverses that booking, and settles the payout by the debit.
 *
 * @param input.otherAmount for a debit that has the payout's key, or the key of a lost attempt of the same payout, and another
 *   amount than the books have now
 * @throws Refusal 'does_not_fit' if the line does not exist, is explained, or has another amount
 */
export async function settlePayoutByLine(
  tx: Tx,
  input: {
    rail: string;
    key: string;
    line: string;
    otherAmount?: boolean | undefined;
    followOn?: FollowOn | undefined;
  },
  report: Report,
): Promise<void> {
  const payout = await payoutByKey(tx, input.rail, input.key);
  const [line] = await lockUnexplained(tx, input.rail, { externalId: input.line });
  if (payout === undefined || line === undefined || line.asset !== payout.asset)
    throw new Refusal('does_not_fit', { why: 'no unexplained debit of this name has its asset' });
  if (payout.state === 'settled' || payout.state === 'returned')
    throw new Refusal('does_not_fit', { why: `the payout is ${payout.state} by another movement` });
  if (line.units !== payout.units) {
    // The bank states the recipient only in free text. So the match is certain only if the debit has the payout's own key, or the
    // key of a lost payout whose deposit has become another order.
    const isMeant = line.key === payout.id || (await isLostAttempt(tx, line, payout.id));
    if (!isMeant && !(await isOfLost(tx, line, input.followOn)))
      throw new Refusal('does_not_fit', {
        why: 'the debit has another amount and does not carry the key of the payout',
      });
    requireOtherAmount(payout, line.units, input.otherAmount);
    await notePaidUnits(tx, payout.id, line.units);
  }
  await settleByLine(tx, input.rail, line, input.key, report);
}

/** The common prefix of the keys of all attempts of one payout or refund. */
export const attemptsLike = (key: string): string => key.replace(/[0-9]+$/, '');

/** Whether a debit has the key of an attempt of the same payout that these books lack. */
const isLostAttempt = async (tx: Tx, { key }: UnexplainedLine, payoutId: string): Promise<boolean> =>
  key !== null && attemptsLike(key) === attemptsLike(payoutId) && (await findPayout(tx, key)) === undefined;

/** Whether a debit may have paid a lost order that was made from the same deposit. */
async function isOfLost(tx: Tx, { key }: UnexplainedLine, followOn: FollowOn | undefined): Promise<boolean> {
  if (followOn === undefined || !(await isMadeSince(tx, followOn.madeAt))) return false;
  return key === null || (key.startsWith('pay_') && (await findPayout(tx, key)) === undefined);
}

/** An unexplained debit that may have paid this payout, about which operators decide first. See Rail.mayYetPay. */
export async function unexplainedLike(
  tx: Tx,
  rail: string,
  payout: { key: string; asset: AssetCode; units: bigint },
): Promise<string | undefined> {
  const line = await debitLike(tx, rail, payout);
  return (
    line &&
    `debit ${rail}:${line.externalId}, which no payout explains, may have paid it: settle it by that, or declare that foreign`
  );
}

/** An unexplained debit, locked. @throws Refusal 'does_not_fit' */
export async function lookDebit(tx: Tx, rail: string, externalId: string) {
  const { key: _, ...debit } = await requireDebit(tx, rail, externalId);
  return debit;
}

async function requireDebit(tx: Tx, rail: string, externalId: string) {
  const debit = await lockDebit(tx, rail, externalId);
  if (debit === undefined) throw new Refusal('does_not_fit', { why: 'this rail has no debit of this name' });
  return debit;
}

/**
 * Records the operators' decision that an unexplained debit paid no payout of ours: no payout waits for it any more.
 *
 * @throws Refusal 'does_not_fit' if it is explained, was decided before, or has the key of a payout that has not ended
 */
export async function declareForeign(tx: Tx, rail: string, externalId: string): Promise<void> {
  const { meaning, key } = await requireDebit(tx, rail, externalId);
  const payout = key === null || meaning !== 'unexplained' ? undefined : await payoutByKey(tx, rail, key);
  if (payout?.endedAt === null)
    throw new Refusal('does_not_fit', {
      why: `it carries the key of ${payout.id}, which the bank does not pay again: settle that by it (payout settle-by)`,
    });
  if ((await markForeign(tx, rail, externalId)) === 0)
    throw new Refusal('does_not_fit', {
      why: meaning === 'unexplained' ? 'it was declared foreign before' : 'a payout of ours explains the debit',
    });
}

/**
 * An unexplained debit that is none of our payments, locked. @throws Refusal 'does_not_fit' if it is explained or has the key of
 * one
 */
export async function requireNoPayment(tx: Tx, rail: string, externalId: string): Promise<void> {
  const { meaning, key } = await requireDebit(tx, rail, externalId);
  if (meaning !== 'unexplained') throw new Refusal('does_not_fit', { why: 'a payout of ours explains the debit' });
  if (key !== null && (/^(pay|ref)_/.test(key) || (await findPayout(tx, key)) !== undefined))
    throw new Refusal('does_not_fit', {
      why: 'it carries the key of a payment of ours: settle that by it (payout settle-by)',
    });
}

/**
 * Records that an unexplained debit recalled a part of a credit, or paid fees owed to a partner: no payout waits for it any more.
 *
 * @throws Refusal as `requireNoPayment`
 */
export async function declareNoPayment(tx: Tx, rail: string, externalId: string): Promise<void> {
  await requireNoPayment(tx, rail, externalId);
  // Operators may already have decided that it is no payment of ours.
  await markForeign(tx, rail, externalId);
}

/**
 * Settles several payouts by one debit that was booked as unexplained, each with its own amount. The debit may have another
 * amount than their sum: the difference is booked under the debit's id, and is no part of any payout.
 *
 * @param input.name what the line is linked to instead of one payout: the name of their file
 * @throws Refusal 'does_not_fit' if the line is explained, or a payout was settled meanwhile
 */
export async function settlePayoutsByLine(
  tx: Tx,
  input: { rail: string; line: string; name: string; keys: readonly string[] },
  report: Report,
): Promise<void> {
  const { rail, name, keys } = input;
  const [line] = await lockUnexplained(tx, rail, { externalId: input.line });
  if (line === undefined) throw new Refusal('does_not_fit', { why: 'no unexplained debit has this name' });
  const { externalId, asset, units, chargeUnits } = line;
  await explainLine(tx, rail, externalId, name);
  await report(tx, {
    ...{ type: 'debit_shared', rail, externalId, name, asset, units, payouts: keys },
    ...(chargeUnits === 0n ? {} : { cost: { asset, units: chargeUnits } }),
  });
}

async function settleByLine(tx: Tx, rail: string, line: UnexplainedLine, key: string, report: Report): Promise<void> {
  await explainLine(tx, rail, line.externalId, key);
  const { asset, chargeUnits } = line;
  await report(tx, {
    type: 'payout_settled',
    rail,
    key,
    reference: line.externalId,
    undoes: line.externalId,
    ...(chargeUnits === 0n ? {} : { cost: { asset, units: chargeUnits } }),
  });
}

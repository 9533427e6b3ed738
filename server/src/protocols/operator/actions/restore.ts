/**
 * Actions after a restore from an older backup: movements missing in the books are matched, or declared not ours; and a payout
 * whose outcome stays unknown is declared never paid. Each takes two people, whatever the amount, because it decides whether a
 * payment is repeated.
 */
import { Refusal } from '../../../base/errors.ts';
import { declareNeverPaid, requireUnpaid } from '../../../orders/index.ts';
import { type Action, action } from '../action.ts';
import { BANK } from '../declared/bank.ts';
import { MOVEMENTS, PAYOUTS } from '../declared/payouts.ts';
import type { BankDesk, OperatorDeps } from '../deps.ts';

const always = async () => 'always' as const;

/** Ends a movement without naming a payment of ours. */
const ending = (how: 'foreign' | 'cancel'): Action =>
  action({
    ...MOVEMENTS[how],
    subject: ({ movement }) => `movement:${movement}`,
    look: ({ movements }, tx, { movement }) => movements.look(tx, movement),
    needs: always,
    perform: async ({ movements }, tx, { movement }) => await movements[how](tx, movement),
  });

export const RESTORE_ACTIONS: readonly Action[] = [
  action({
    ...MOVEMENTS.match,
    subject: ({ movement }) => `movement:${movement}`,
    async look({ movements }, tx, { movement, key: to }) {
      return { ...(await movements.look(tx, movement)), to: await movements.ordered(tx, movement, to) };
    },
    needs: always,
    async perform({ movements }, tx, { movement, key: to, otherAmount }) {
      await movements.match(tx, { movement, key: to, otherAmount });
    },
  }),
  ending('foreign'),
  ending('cancel'),
  action({
    ...PAYOUTS.settleBy,
    subject: (input) => `payout:${input.payout}`,
    async look({ movements }, tx, input) {
      evidenceOf(input);
      return await movements.lookPayout(tx, input.payout);
    },
    needs: always,
    async outside({ db, movements }, input) {
      const { rail } = await db.asSystem((tx) => movements.lookPayout(tx, input.payout));
      const { otherAmount } = input;
      await movements.settleBy({ payout: input.payout, rail, by: evidenceOf(input), otherAmount });
    },
  }),
  action({
    ...PAYOUTS.neverPaid,
    subject: (input) => `payout:${input.payout}`,
    look: ({ movements }, tx, input) => movements.lookPayout(tx, input.payout),
    /** Refused at the request and again at the confirmation while the rail may still execute the payout. */
    async needs({ orders }, tx, input) {
      const { asset, units } = await requireUnpaid(orders, tx, input.payout);
      return { asset, units, asks: 'always' };
    },
    async outside({ orders }, { payout, evidence }, { people, reason }) {
      await declareNeverPaid(orders, { payout, evidence, by: people.join(', '), why: reason });
    },
  }),
  action({
    ...PAYOUTS.debitForeign,
    subject: ({ debit }) => `debit:${debit}`,
    look: ({ movements }, tx, { debit }) => movements.lookDebit(tx, debitOf(debit)),
    needs: always,
    async perform({ movements, submitAgain }, tx, { debit }, { now }) {
      await movements.debitForeign(tx, debitOf(debit));
      await submitAgain(tx, now);
    },
  }),
  action({
    ...BANK.confirmRestore,
    subject: () => 'bank:restore',
    async look(deps, tx) {
      const waits = await deskOf(deps).unconfirmed(tx);
      return waits === undefined ? { confirmed: true } : { confirmed: false, ...waits };
    },
    needs: always,
    async perform(deps, tx, _ask, { people, reason }) {
      await deskOf(deps).confirmRestore(tx, { by: people.join(', '), why: reason });
    },
  }),
];

/** Splits at the first colon, because a rail's code contains none. */
function debitOf(text: string): { rail: string; line: string } {
  const at = text.indexOf(':');
  return { rail: text.slice(0, at), line: text.slice(at + 1) };
}

/** @throws Refusal unless exactly one is given */
function evidenceOf({ hash, line }: { hash: string | undefined; line: string | undefined }) {
  if (hash !== undefined && line !== undefined)
    throw new Refusal('malformed_field', { fields: { line: 'must not be given with hash' } });
  if (hash !== undefined) return { hash };
  if (line !== undefined) return { line };
  throw new Refusal('missing_fields', { names: ['hash or line'] });
}

function deskOf({ bank }: OperatorDeps): BankDesk {
  if (bank === undefined) throw new Refusal('unknown_path');
  return bank;
}

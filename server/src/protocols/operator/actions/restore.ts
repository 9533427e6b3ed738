/**
 * Actions after a restore from an older backup: what happened outside and is not in the books is matched, or declared not
 * ours. Each takes two people, whatever the amount: it decides whether something is paid again.
 */
import { Refusal } from '../../../base/errors.ts';
import { type Action, action, type OperatorDeps } from '../action.ts';
import type { BankDesk } from '../bank.ts';
import { flag, id, optional, text } from '../fields.ts';

const key = text(160, /^[\x21-\x7e]+$/, 'the id of a payout or refund attempt, or the key of a sweep or its gas');
const payout = text(60, /^[a-z]+_[0-9]+_[0-9]+$/, "a payout's id, such as pay_17_1 or ref_4_2");
const always = async () => 'always' as const;

/** Ends a movement without naming what it paid. */
const ending = (how: 'foreign' | 'cancel'): Action =>
  action({
    name: `movement.${how}`,
    path: `/movements/:movement/${how}`,
    right: 'money',
    fields: { movement: id },
    subject: ({ movement }) => `movement:${movement}`,
    look: ({ movements }, tx, { movement }) => movements.look(tx, movement),
    needs: always,
    perform: async ({ movements }, tx, { movement }) => await movements[how](tx, movement),
  });

export const RESTORE_ACTIONS: readonly Action[] = [
  action({
    name: 'movement.match',
    path: '/movements/:movement/match',
    right: 'money',
    fields: { movement: id, key, otherAmount: optional(flag) },
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
    name: 'payout.settle-by',
    path: '/payouts/:payout/settle-by',
    right: 'money',
    fields: {
      payout,
      hash: optional(text(66, /^0x[0-9a-f]{64}$/, 'the hash of a transaction, in lower case')),
      line: optional(text(200, /\S/, "a statement line's id, as its case names it")),
      otherAmount: optional(flag),
    },
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
    name: 'debit.foreign',
    path: '/debits/foreign',
    right: 'money',
    fields: { debit: text(260, /^[a-z0-9.]+:./, "an unexplained debit as its case names it, 'rail:line'") },
    subject: ({ debit }) => `debit:${debit}`,
    look: ({ movements }, tx, { debit }) => movements.lookDebit(tx, debitOf(debit)),
    needs: always,
    async perform({ movements, submitAgain }, tx, { debit }, { now }) {
      await movements.debitForeign(tx, debitOf(debit));
      await submitAgain(tx, now);
    },
  }),
  action({
    name: 'bank.confirm-restore',
    path: '/bank-restore/confirm',
    right: 'money',
    fields: {},
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

/** A rail's code has no colon. */
function debitOf(text: string): { rail: string; line: string } {
  const at = text.indexOf(':');
  return { rail: text.slice(0, at), line: text.slice(at + 1) };
}

/** @throws Refusal unless exactly one is given */
function evidenceOf({ hash, line }: { hash: string | undefined; line: string | undefined }) {
  if (hash !== undefined && line !== undefined)
    throw new Refusal('malformed_field', { fields: { line: 'must not stand beside hash' } });
  if (hash !== undefined) return { hash };
  if (line !== undefined) return { line };
  throw new Refusal('missing_fields', { names: ['hash or line'] });
}

function deskOf({ bank }: OperatorDeps): BankDesk {
  if (bank === undefined) throw new Refusal('unknown_path');
  return bank;
}

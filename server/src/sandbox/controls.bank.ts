/** Controls of the simulated bank: recalls, returns, faults. */
import { type Order, trace } from '../orders/index.ts';
import type { BankFault } from '../protocols/whitelabel/index.ts';
import type { FaultKind } from '../rails/simulated/index.ts';
import { type Answered, type Asked, type ControlsContext, looksAtTheBank, ownLine, wrong } from './controls.context.ts';
import { BANK } from './seed.ts';

const FAULTS: Readonly<Record<BankFault, FaultKind>> = {
  LOSE_REQUEST: 'lose_answer_before_effect',
  LOSE_ANSWER: 'lose_answer_after_effect',
  DELAY_ANSWER: 'delay_answer',
  REJECT: 'reject_next',
  RETURN: 'return_next',
  NO_STATUS: 'status_unavailable',
  STATEMENT_TWICE: 'statement_twice',
  STATEMENT_REORDERED: 'statement_reordered',
};

export async function recall(context: ControlsContext, input: Asked<'recall'>): Answered<'recall'> {
  const { bank, db } = context;
  const line = 'line' in input ? input.line : await lastCredit(context, input.order);
  // Another partner's line is treated as unknown.
  if ('line' in input && !(line.startsWith(ownLine(input.partnerId)) && (await bank.hasLine(line))))
    throw wrong('line', 'must be one that credit or pay has answered you');
  const recalled = await bank.recall(line, `RECALL-${line}`);
  await db.asSystem((tx) => looksAtTheBank(context, tx));
  return { line: recalled };
}

/** A credit on the bank's statement that was accepted for this order. */
async function lastCredit({ bank, db }: ControlsContext, order: Order): Promise<string> {
  const { deposits } = await db.asSystem((tx) => trace(tx, order.id));
  const line = deposits.findLast(({ rail }) => rail === BANK)?.externalId;
  if (line === undefined || !(await bank.hasLine(line)))
    throw wrong('order', 'has no credit at the bank that could be recalled');
  return line;
}

export async function bounce({ bank, db }: ControlsContext, { order }: Asked<'bounce'>): Answered<'bounce'> {
  const { payouts } = await db.asSystem((tx) => trace(tx, order.id));
  const payment = payouts.findLast(({ rail }) => rail === BANK)?.id;
  if (payment === undefined || !(await bank.returnPayment(payment)))
    throw wrong('order', 'has nothing at the bank that could come back');
  return { payment };
}

export async function bankFault(
  { bank }: ControlsContext,
  { fault, times, delayMs }: Asked<'bankFault'>,
): Answered<'bankFault'> {
  if (fault === 'NONE') await bank.clearFaults();
  else await bank.setFault({ kind: FAULTS[fault], times, delayMs });
  return { fault: fault.toLowerCase(), times: fault === 'NONE' ? 0 : times };
}

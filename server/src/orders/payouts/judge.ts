/** The gate's decision: from facts about a payout to pay, wait or hold. Pure. */
import { defined } from '../../base/defined.ts';
import type { Waits } from '../../compliance/index.ts';
import type { Finding } from './rules.ts';

export interface GateFacts {
  /** Findings without an approval. */
  findings: readonly Finding[];
  switchedOff: boolean;
  notReady: { cause: 'clearing' | 'confirmations'; until: Date | null; why: string } | undefined;
  /** After a restore: an undecided unexplained debit that may have been this payout. */
  doubtful?: string | undefined;
  /**
   * After a restore: the rail's payments in the lost time are not read yet, and one of them may have paid this under another key.
   */
  unread?: boolean;
  /** After a restore: the rail of its deposit is not read yet, or a payment on it may be the refund of its deposit. */
  returned?: 'unread' | 'undecided' | undefined;
  /** Until when the destination waits for its customer's confirmation. */
  unconfirmedUntil?: Date | undefined;
  /** Undefined if the destination was never screened. */
  screenedAt: Date | undefined;
  maxAgeMs: number;
  /** Why the names have not been compared with the newest lists, or the addresses have not been checked. */
  stored?: Waits | undefined;
  now: Date;
}

export type Judgement =
  | { outcome: 'pay' }
  | {
      outcome: 'wait';
      cause:
        | 'switched_off'
        | 'restore'
        | 'clearing'
        | 'confirmations'
        | 'unconfirmed'
        | 'screening'
        | 'lists'
        | 'travel_rule';
      why: string;
      until?: Date;
    }
  | { outcome: 'hold'; reason: string };

/** The decision. Pure. A hold takes precedence, because money that may not leave must not look as if it only waits. */
export function judge(facts: GateFacts): Judgement {
  const { findings, switchedOff, screenedAt, maxAgeMs, now } = facts;
  const [first] = findings;
  if (first !== undefined) return { outcome: 'hold', reason: first.rule };
  if (switchedOff) return { outcome: 'wait', cause: 'switched_off', why: 'a kill switch is on' };
  if (facts.doubtful !== undefined)
    return {
      outcome: 'wait',
      cause: 'restore',
      why: `the unexplained debit ${facts.doubtful} may have paid it: people must decide about that first`,
    };
  if (facts.returned !== undefined)
    return {
      outcome: 'wait',
      cause: 'restore',
      why:
        facts.returned === 'unread'
          ? 'the rail of its deposit must first be read up to the restore (a bank with files: bank confirm-restore): the deposit may have been refunded'
          : 'a payment that fits no payout may be the refund of its deposit: people must decide about that first',
    };
  if (facts.notReady !== undefined) {
    const { cause, why, until } = facts.notReady;
    return { outcome: 'wait', cause, why, ...defined({ until: until ?? undefined }) };
  }
  if (facts.unconfirmedUntil !== undefined)
    return {
      outcome: 'wait',
      cause: 'unconfirmed',
      why: 'its customer has not confirmed the destination, and the cooling-off time has not passed',
      until: facts.unconfirmedUntil,
    };
  if (facts.unread === true)
    return {
      outcome: 'wait',
      cause: 'restore',
      why: 'its rail must first be read up to the restore: the same deposit may have paid another order',
    };
  if (screenedAt === undefined || now.getTime() - screenedAt.getTime() > maxAgeMs)
    return { outcome: 'wait', cause: 'screening', why: 'its screening result is too old and is requested again' };
  if (facts.stored !== undefined) return { outcome: 'wait', ...facts.stored };
  return { outcome: 'pay' };
}

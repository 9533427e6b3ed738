/**
 * Our own rules, over facts that are stored with each decision: blocks, deny lists, and the score of an account's holder. Pure, so a
 * decision can be made again from its facts (replay.ts).
 */
import { SAME_NAME } from '../customers/index.ts';
import type { HeldReason } from './screener.ts';

/** Facts as a decision keeps them, with the inputs of the other screening: ids and words only. */
export interface OwnFacts {
  /** Whether the customer was blocked. */
  readonly blocked: boolean;
  /** Blocks of other owners of the account from which the money came: ids and times. */
  readonly senderBlocks: readonly string[];
  /** Blocked customers who may be the same person, as `account <id and time>` or `document <id and time>`. */
  readonly twins: readonly string[];
  /** The deny lists that have the destination. */
  readonly foundOn: readonly string[];
  /** Score of the holder's name in ten-thousandths; `none` if no name is known, empty if it was not compared. */
  readonly holderScore: string;
}

/** The rules that hold the money, each once. */
export function rulesThatHold(f: OwnFacts): HeldReason[] {
  const twins = new Set(f.twins.map((one) => `${one.split(' ')[0]}_of_blocked` as HeldReason));
  return [
    ...(f.blocked ? (['customer_blocked'] as const) : []),
    ...(f.senderBlocks.length > 0 ? (['sender_blocked'] as const) : []),
    ...twins,
    ...(f.foundOn.length > 0 ? (['destination_denied'] as const) : []),
    ...(differs(f.holderScore) ? (['account_name_differs'] as const) : []),
  ];
}

const differs = (score: string): boolean => score === 'none' || (score !== '' && Number(score) < SAME_NAME);

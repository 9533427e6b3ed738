/**
 * Parts: a bank recalls a part of a customer's payment, in one of ten seeds.
 *
 * The debit names its credit, and comes at any moment: while the credit clears, while the payout waits or is submitted, after it
 * has settled, after a refund. Sometimes another part follows, or all that is left.
 *
 * The bank counts what it has recalled (outside.bank.ts). So the expected ends are those of any other order (ends.ts): what had
 * left of the recalled part is its customer's debt, to the unit, and what had not left is nobody's.
 *
 * They use separate random numbers, so that all other seeds play as they would without them.
 */
import type { Noted } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import { TOKENS } from './outside.chain.ts';
import type { Environment } from './process.ts';

export const recallsParts = (seed: number): boolean => seed % 20 === 4 || seed % 20 === 15;

export interface Parts {
  readonly done: ReadonlyMap<string, number>;
  /** No bank plans a further recall. */
  readonly isOver: boolean;
  /** A customer has paid this by the bank. */
  paid(one: Noted, line: string, units: bigint): void;
}

/** The share of payments by bank of which a part is recalled. */
const RECALLED = 0.4;
/** A payout leaves within a minute of its credit: parts are recalled before it and after it. */
const AFTER_MS = [1_000, 130_000] as const;

export function openParts(
  { scheduler, bank, chain }: Pick<Environment, 'scheduler' | 'bank' | 'chain'>,
  deps: { seed: number },
): Parts {
  const chance: Chance = chanceOf(deps.seed + 9_000_011);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  let planned = 0;

  /** When it happened, as the rails know it. */
  const moment = ({ address, accounts }: Noted): string =>
    chain.paidTo(address, TOKENS.usdc) > 0n
      ? 'after the payout'
      : accounts.some(({ number }) => bank.everTo(number) > 0n)
        ? 'after a refund'
        : 'before anything left';

  function recalls(one: Noted, line: string, units: bigint): void {
    planned += 1;
    scheduler.after(chance.int(...AFTER_MS), () => {
      planned -= 1;
      const isRest = chance.happens(0.2);
      const part = isRest ? units : (units * BigInt(chance.int(1, 60))) / 100n;
      if (bank.recallPart(line, part) === 0n) return;
      did(`${isRest ? 'the rest' : 'a part'} recalled ${moment(one)}`);
      if (chance.happens(0.4)) recalls(one, line, units);
    });
  }

  return {
    done,
    get isOver() {
      return planned === 0;
    },
    paid(one, line, units) {
      if (chance.happens(RECALLED)) recalls(one, line, units);
    },
  };
}

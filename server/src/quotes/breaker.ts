/**
 * Breaker: when a market stops quoting because of its prices, and when it resumes. Pure.
 *
 * Each price a market uses has a last accepted level. Quoting halts
 * - when the price is further from that level than the market's `jumpBps`, up or down; and
 * - when fewer sources than the quorum have been live for a while. (Without a quorum there is no quote anyway, at once. The
 *   halt makes it visible, and keeps an intermittent source from opening and closing the market.)
 *
 * A halted market resumes by itself when a quorum has agreed for `resumeMs`. At a *new* level that requires two sources: one
 * source repeating itself confirms nothing. So a market with a quorum of one resumes by itself near its old level only; an
 * operator confirms a new one.
 *
 * A slowly moving price is followed: each accepted price becomes the level.
 *
 * Source: docs/decisions/0034-prices-nobody-should-believe.md
 */
import { type Rate, ratesWithin } from '../base/money.ts';

export interface Level {
  level: Rate | null;
  levelAt: Date | null;
  missingSince: Date | null;
  haltedAt: Date | null;
  why: 'jump' | 'quorum' | null;
  /** While halted: the price that the sources agree on, and since when. */
  seen: Rate | null;
  seenSince: Date | null;
}

export interface BreakerRules {
  jumpBps: bigint;
  resumeMs: number;
  /** How long a quorum may be missing, in milliseconds. */
  missingMs: number;
}

/** The price that the sources agree on, and their number; undefined if there are fewer than the quorum. */
export type Agreed = { rate: Rate; sources: number } | undefined;

export type Turn = 'halted' | 'resumed' | undefined;

export const NO_LEVEL: Level = {
  level: null,
  levelAt: null,
  missingSince: null,
  haltedAt: null,
  why: null,
  seen: null,
  seenSince: null,
};

/** Symmetric: the jump from 100 to 10 is as large as the one from 10 to 100. */
export const isNear = (a: Rate, b: Rate, bps: bigint): boolean => ratesWithin(a, b, bps) && ratesWithin(b, a, bps);

/** @returns the new level (the same object when nothing has changed), and the resulting transition */
export function observe(before: Level, agreed: Agreed, rules: BreakerRules, now: Date): { level: Level; turn: Turn } {
  if (before.haltedAt !== null) return whileHalted(before, agreed, rules, now);
  if (agreed === undefined) {
    const missingSince = before.missingSince ?? now;
    if (now.getTime() - missingSince.getTime() < rules.missingMs)
      return { level: before.missingSince === null ? { ...before, missingSince } : before, turn: undefined };
    return { level: { ...before, missingSince, haltedAt: now, why: 'quorum' }, turn: 'halted' };
  }
  const { rate } = agreed;
  if (before.level !== null && !isNear(rate, before.level, rules.jumpBps))
    return {
      level: { ...before, missingSince: null, haltedAt: now, why: 'jump', seen: rate, seenSince: now },
      turn: 'halted',
    };
  const isSame = before.level !== null && isNear(rate, before.level, 0n) && before.missingSince === null;
  return { level: isSame ? before : accepted(rate, now), turn: undefined };
}

function whileHalted(before: Level, agreed: Agreed, rules: BreakerRules, now: Date): { level: Level; turn: Turn } {
  if (agreed === undefined)
    return { level: before.seen === null ? before : { ...before, seen: null, seenSince: null }, turn: undefined };
  const { rate, sources } = agreed;
  if (before.seen === null || before.seenSince === null || !isNear(rate, before.seen, rules.jumpBps))
    return { level: { ...before, seen: rate, seenSince: now }, turn: undefined };
  if (now.getTime() - before.seenSince.getTime() < rules.resumeMs) return { level: before, turn: undefined };
  const isKnown = before.level === null || isNear(rate, before.level, rules.jumpBps);
  if (!isKnown && sources < 2) return { level: before, turn: undefined };
  return { level: accepted(rate, now), turn: 'resumed' };
}

export const accepted = (rate: Rate, now: Date): Level => ({ ...NO_LEVEL, level: rate, levelAt: now });

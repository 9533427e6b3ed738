/**
 * Rules: the rules for outgoing money change while it is under way, in one of ten seeds.
 *
 * - Operators put the destination of an order on a deny list, and remove it much later.
 * - They set a limit across all orders of a customer, and lower it: earlier orders exceed it when they are paid.
 * - A result of the screener is valid for twenty seconds. The screener is unavailable for a while, and a kill switch stays on for
 *   minutes:
 *   waiting payments are screened again before they leave.
 *
 * The invariants at a payout's submission use knowledge from here and the rows of that moment (guard.ts), and not the gate. A
 * change counts from its commit, and a transaction of ours lasts no longer than `TX_MS`.
 *
 * They use separate random numbers, so that all other seeds play as they would without them.
 */
import { Unavailable } from '../../src/base/errors.ts';
import { replaceDenyList } from '../../src/compliance/index.ts';
import { liftKillSwitch, setCustomerLimit, setKillSwitch } from '../../src/partners/index.ts';
import type { Hands, Noted } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import { vault } from './ground.ts';
import type { Submission } from './guard.ts';
import { FIAT } from './outside.bank.ts';
import type { Environment } from './process.ts';
import { killSwitch, whenDone } from './stops.ts';

export const changesRules = (seed: number): boolean => seed % 10 === 6;

/** A result of the screener is valid for this long in these seeds. */
export const SCREENING_MAX_AGE_MS = 20_000;
/** PostgreSQL ends a transaction that is idle for fifteen seconds, and a wait for a lock after ten (database.ts). */
const TX_MS = 30_000;
/** A process stands still for at most this long (faults.ts): an answer is stored up to this much later. */
const FROZEN_MS = 120_000;
/** A change takes effect within two seconds (partners/customer-limits.ts). */
const REMEMBERED_MS = 2_000;
const PERSON = 'operator:2';
const AGAIN_MS = 15_000;
/** In rupees' hundredths: the value of a customer's orders here is between a few thousand and a lakh. */
const LIMIT_UNITS = [1_000_000, 9_000_000] as const;

interface Denial {
  list: string;
  /** Since when every transaction that begins sees it. */
  since: number;
  /** From when it may be removed. */
  until: number;
  /** Time of the last attempt to remove it. */
  triedAt: number;
  endsAt: number;
}

interface Detail {
  kind: 'address' | 'account';
  value: string;
}

export interface Rules {
  readonly done: ReadonlyMap<string, number>;
  /** Every destination is off the list again, and no switch of theirs is on. */
  readonly isOver: boolean;
  operate(): void;
  /** An order was made. */
  made(one: Noted): void;
  /** Called when the screener is asked. @throws Unavailable while it is unavailable */
  asked(): void;
  /** The violations of this by a submission, in sentences. */
  against(one: Submission, of: Looking): string[];
}

export interface Looking {
  destination: string;
  approved: (rule: string, entry: string) => boolean;
  screenedAt: number | undefined;
  spreadMs: number;
}

// Long because the rules are one closure over the random numbers of a run.
export function openRules(
  { scheduler, faults, stops: laid }: Pick<Environment, 'scheduler' | 'faults' | 'stops'>,
  deps: { seed: number; hands: () => Hands | undefined },
): Rules {
  const chance: Chance = chanceOf(deps.seed + 6_000_011);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const now = () => scheduler.time.now();
  const denials = new Map<string, Denial>();
  /** When one was set last, or may have been. */
  let limitedAt: number | undefined;
  const down = { from: 0, to: 0 };
  const stop = { isOn: false, endsAt: 0, triedAt: 0 };
  const later = (ms: number, body: () => void): void => scheduler.after(ms, body);

  for (let n = chance.int(1, 3); n > 0; n -= 1) later(chance.int(5_000, 110_000), limits);
  if (chance.happens(0.6)) later(chance.int(30_000, 80_000), stops);
  later(chance.int(20_000, 140_000), () => {
    Object.assign(down, { from: now(), to: now() + chance.int(5_000, 60_000) });
  });

  function limits(): void {
    if (faults.ended) return;
    const maxUnits = BigInt(chance.int(...LIMIT_UNITS));
    // The rows show which one applies (`against`); while it is being set, that is unknown.
    limitedAt = Number.POSITIVE_INFINITY;
    deps.hands()?.somewhere('limit a customer', async ({ context: { db, clock } }) => {
      const scope = { fiatAsset: FIAT, direction: null, marketId: null, level: 2, period: 'day' } as const;
      try {
        await db.asSystem((tx) =>
          setCustomerLimit(tx, { ...scope, maxUnits, now: clock.now() }, { by: PERSON, why: 'stepped in' }),
        );
        did('limited customers across their orders');
      } finally {
        limitedAt = now();
      }
    });
  }

  function stops(): void {
    if (faults.ended) return;
    stop.endsAt = now() + chance.int(190_000, 280_000);
    stop.isOn = true;
    deps
      .hands()
      ?.inTx('switch off for long', (tx, at) =>
        setKillSwitch(tx, { kind: 'payouts', subject: 'all', by: PERSON, reason: 'for a long time', at }),
      );
    did('switched off for long');
  }

  function lifts(): void {
    stop.triedAt = now();
    deps.hands()?.somewhere('lift what was on for long', async ({ context: { db } }) => {
      const over = laid.lifting(killSwitch('payouts', 'all'));
      await whenDone(
        db.asSystem((tx) => liftKillSwitch(tx, 'payouts', 'all')),
        over,
        over,
      );
      stop.isOn = false;
    });
  }

  function denies(destination: string, details: Detail): void {
    if (faults.ended || denials.has(destination)) return;
    const list = `list of ${destination}`;
    const denial = { list, since: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY, triedAt: 0 };
    const endsAt = now() + chance.int(60_000, 150_000);
    denials.set(destination, { ...denial, endsAt });
    deps.hands()?.somewhere('deny a destination', async ({ context: { db, clock } }) => {
      await db.asSystem((tx) =>
        replaceDenyList(tx, vault, { list, version: '1', destinations: [details], now: clock.now() }),
      );
      const its = denials.get(destination);
      if (its !== undefined) its.since = now();
      did('denied a destination');
    });
  }

  function allows(denial: Denial): void {
    denial.until = Math.min(denial.until, now());
    denial.triedAt = now();
    const { list } = denial;
    deps.hands()?.inTx('allow a destination', async (tx, at) => {
      await replaceDenyList(tx, vault, { list, version: '2', destinations: [], now: at });
    });
  }

  return {
    done,
    get isOver() {
      return !stop.isOn;
    },
    operate() {
      const at = now();
      if (stop.isOn && at > stop.endsAt && at - stop.triedAt > AGAIN_MS) lifts();
      // Repeated until the end: a transaction that was lost had no effect.
      for (const denial of denials.values())
        if ((at > denial.endsAt || faults.ended) && at - denial.triedAt > AGAIN_MS) allows(denial);
    },
    made({ order, address, accounts }) {
      const [first] = accounts;
      if (!chance.happens(0.3)) return;
      later(chance.int(500, 60_000), () => {
        if (order.direction === 'onramp') denies(`address:${address}`, { kind: 'address', value: address });
        else if (first !== undefined) denies(`account:${first.id}`, { kind: 'account', value: first.number });
      });
    },
    asked() {
      if (faults.ended || now() < down.from || now() > down.to) return;
      did('the screener was not to be had');
      throw new Unavailable('screener', 'no answer');
    },
    against(one, { destination, approved, screenedAt, spreadMs }) {
      const { at, denied = [], limits: versions = [], worth, others } = one;
      const found: string[] = [];
      const denial = denials.get(destination);
      const entries = denied.filter(({ list }) => list === denial?.list);
      if (
        denial !== undefined &&
        denial.since + TX_MS < at &&
        at < denial.until &&
        entries.some(({ entry }) => !approved('destination_denied', entry))
      )
        found.push(`leaves to ${destination}, which is denied`);
      const [newest] = versions;
      // As long as a process may not have seen the last change, no violation is reported.
      const isSettled = limitedAt !== undefined && limitedAt + TX_MS + REMEMBERED_MS < at;
      if (one.refund_id === null && isSettled && newest !== undefined && worth != null) {
        const sum = BigInt(worth) + BigInt(others ?? 0);
        const named = `day ${FIAT} both all ${newest}`;
        if (sum > BigInt(newest) && !approved('over_customer_limit', named))
          found.push(`leaves although its customer's orders come to ${sum}, and ${newest} is the limit`);
      }
      const oldest = SCREENING_MAX_AGE_MS + FROZEN_MS + TX_MS + spreadMs;
      if (screenedAt !== undefined && at - screenedAt > oldest)
        found.push(`leaves to ${destination}, which was screened ${Math.round(at - screenedAt)} ms before`);
      return found;
    },
  };
}

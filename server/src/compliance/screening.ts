/**
 * Screening: may this money go where it is about to go? Asked once before every payout and every refund.
 *
 * A screener answers `cleared` or `held`, with the rules and list versions it went by and the inputs it looked at, so that
 * the answer can be reckoned again years later. `held` is never the last word: a person releases or rejects.
 * A screener that cannot answer throws `Unavailable`; no answer is never taken for `cleared`.
 *
 * Here: the built-in one, which holds what goes to a denied destination or belongs to a blocked customer. A bought one
 * implements `Screener` too.
 */
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { findCustomer, openFiatAccount } from '../customers/index.ts';
import { type DestinationKind, look, sql } from './store.ts';

export interface Screener {
  /** Calls out where it must, so it takes no `tx`. @throws Unavailable */
  screen(ask: Screening): Promise<Verdict>;
}

/** Ids only: a screener opens what it needs. An order is one of these. */
export interface Screening {
  /** The order's; the refund's where there is none. */
  id: bigint;
  /** Null of money that belongs to no order we know: the destination alone is looked at. */
  partnerId: bigint | null;
  customerId: string | null;
  merchantReference: string | null;
  /** Where the money is about to go: an account of the customer, or an address. */
  fiatAccountId: bigint | null;
  payoutAddress: string | null;
  /** What the order was to be paid with. */
  depositAsset?: string;
  depositUnits?: bigint;
  /** A payout unless said otherwise; a refund brings its own destination. */
  purpose?: 'payout' | 'refund' | undefined;
}

export interface Verdict {
  outcome: 'cleared' | 'held';
  /** Why it is held. */
  reason?: HeldReason;
  /** Rules and list versions, such as `built-in 1, sanctions@2026-01-05`. */
  rules: string;
  /** Ids and words only: this is kept unsealed. */
  inputs: Readonly<Record<string, string | boolean | readonly string[]>>;
}

export type HeldReason = 'destination_denied' | 'customer_blocked' | 'held_by_magic_value';

/** Changes whenever what the built-in screener decides changes. */
const RULES = 'built-in 1';

export function openScreener({ db, vault }: { db: Database; vault: Vault }): Screener {
  return {
    screen: (ask) =>
      db.asSystem(async (tx): Promise<Verdict> => {
        const blocked = ask.customerId !== null && (await findCustomer(tx, ask.customerId)).blocked;
        const { kind, values } = await destinationOf(tx, vault, ask);
        const indexes = values.map((value) => indexOf(vault, kind, value));
        const { lists, foundOn } = await look(tx, kind, indexes);
        const reason = blocked ? 'customer_blocked' : foundOn.length > 0 ? 'destination_denied' : undefined;
        return {
          outcome: reason === undefined ? 'cleared' : 'held',
          ...(reason === undefined ? {} : { reason }),
          rules: [RULES, ...lists.map(({ list, version }) => `${list}@${version}`)].join(', '),
          inputs: {
            orderId: String(ask.id),
            customerId: ask.customerId ?? '',
            blocked,
            purpose: ask.purpose ?? 'payout',
            // The blind indexes themselves: with the key, and only with it, one can ask an old list again.
            destination: indexes.map((index) => `${kind}:${index.toString('hex')}`),
            foundOn,
          },
        };
      }),
  };
}

/** Every detail of an account is looked up: which of them a list names is up to the list. */
async function destinationOf(
  tx: Tx,
  vault: Vault,
  ask: Screening,
): Promise<{ kind: DestinationKind; values: string[] }> {
  if (ask.payoutAddress !== null) return { kind: 'address', values: [ask.payoutAddress] };
  assert(ask.fiatAccountId !== null, `order ${ask.id} has a destination`);
  const { details } = await openFiatAccount(tx, vault, ask.fiatAccountId);
  return { kind: 'account', values: Object.values(details) };
}

/** In the sandbox, an order with any of these is held on its way out. */
export const MAGIC_HOLDS = {
  reference: 'screen:hold',
  /** Whole units of what came in. */
  amount: '666',
  address: '0x000000000000000000000000000000000000dead',
} as const;

/**
 * The sandbox's screener: as usual, but for magic values. A refund passes, or what is rejected could never leave.
 *
 * @param amountOf what came in for an order, as text
 */
export function magicScreener(usual: Screener, amountOf: (ask: Screening) => Promise<string>): Screener {
  const isMagic = async (ask: Screening): Promise<boolean> =>
    ask.merchantReference === MAGIC_HOLDS.reference ||
    ask.payoutAddress?.toLowerCase() === MAGIC_HOLDS.address ||
    (await amountOf(ask)).replace(/\.0*$/, '') === MAGIC_HOLDS.amount;
  return {
    async screen(ask) {
      const verdict = await usual.screen(ask);
      if (ask.purpose === 'refund' || !(await isMagic(ask))) return verdict;
      return { ...verdict, outcome: 'held', reason: 'held_by_magic_value', rules: `${verdict.rules}, magic` };
    },
  };
}

/**
 * Replaces a list of denied destinations by a newer version of it.
 *
 * @param l.destinations addresses, or single details of an account (its number, IBAN or alias), in any spelling
 */
export async function replaceDenyList(
  tx: Tx,
  vault: Vault,
  l: { list: string; version: string; destinations: readonly { kind: DestinationKind; value: string }[]; now: Date },
): Promise<void> {
  await tx.run(sql.putList, [l.list, l.version, l.now]);
  await tx.run(sql.emptyList, [l.list]);
  await tx.run(sql.insertDenied, [
    l.list,
    l.destinations.map(({ kind }) => kind),
    l.destinations.map(({ kind, value }) => indexOf(vault, kind, value)),
  ]);
}

/**
 * Without spaces, hyphens and case. Some chains' addresses do differ by case alone; two that do are not made by chance,
 * and the worst of it is that a person looks once more.
 */
const indexOf = (vault: Vault, kind: DestinationKind, value: string): Buffer =>
  vault.index(value.replace(/[\s-]/g, '').toLowerCase(), `denied_destinations.${kind}`);

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
import { openTextOrNull } from '../base/texts.ts';
import { blockOf, openFiatAccount } from '../customers/index.ts';
import { type DestinationKind, look, sql } from './store.ts';

export interface Screener {
  /** Calls out where it must, so it takes no `tx`. @throws Unavailable */
  screen(input: Screening): Promise<Verdict>;
}

/** Ids only: a screener opens what it needs. An order is one of these. */
export interface Screening {
  /** The order's; the refund's where there is none. */
  id: bigint;
  /** Null of money that belongs to no order we know: the destination alone is looked at. */
  partnerId: bigint | null;
  customerId: string | null;
  /** As it is stored (base/texts.ts). */
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

/** One thing that screening found. */
export interface Hit {
  rule: HeldReason;
  /** What exactly was hit: the list's entry, the time of the block. An approval names it, so that only what is new is asked again. */
  entry: string;
  /** Found by our own blocks and lists, which the gate asks anew each time. */
  own: boolean;
}

export interface Verdict {
  outcome: 'cleared' | 'held';
  /** Why it is held: the rule of the first hit. */
  reason?: HeldReason;
  /** All that was found; empty where it is cleared. */
  hits: readonly Hit[];
  /** Rules and list versions, such as `built-in 1, sanctions@2026-01-05`. */
  rules: string;
  /** Ids and words only: this is kept unsealed. */
  inputs: Readonly<Record<string, string | boolean | readonly string[]>>;
}

export type HeldReason = 'destination_denied' | 'customer_blocked' | 'held_by_magic_value';

/** Changes whenever what the built-in screener decides changes. */
const RULES = 'built-in 1';

export const openScreener = ({ db, vault }: { db: Database; vault: Vault }): Screener => ({
  screen: (input) => db.asSystem((tx) => screenOwn(tx, vault, input)),
});

/**
 * Asks our own blocks and deny lists, as they stand in this transaction. The customer's row is locked against a block until
 * `tx` ends: a block that was committed before is seen, and one that comes later waits.
 */
export async function screenOwn(tx: Tx, vault: Vault, input: Screening): Promise<Verdict> {
  const blockedAt = input.customerId === null ? null : await blockOf(tx, input.customerId);
  const { kind, values } = await destinationOf(tx, vault, input);
  const indexes = values.map((value) => indexOf(vault, kind, value));
  const { lists, entries } = await look(tx, kind, indexes);
  const hits: Hit[] = [
    ...(blockedAt === null ? [] : [{ rule: 'customer_blocked' as const, entry: blockedAt.toISOString(), own: true }]),
    ...entries.map(({ entry }) => ({ rule: 'destination_denied' as const, entry, own: true })),
  ];
  return {
    ...verdictOf(hits),
    rules: [RULES, ...lists.map(({ list, version }) => `${list}@${version}`)].join(', '),
    inputs: {
      orderId: String(input.id),
      customerId: input.customerId ?? '',
      blocked: blockedAt !== null,
      purpose: input.purpose ?? 'payout',
      // The blind indexes themselves: with the key, and only with it, one can ask an old list again.
      destination: indexes.map((index) => `${kind}:${index.toString('hex')}`),
      foundOn: [...new Set(entries.map(({ list }) => list))],
    },
  };
}

const verdictOf = (hits: readonly Hit[]): Pick<Verdict, 'outcome' | 'reason' | 'hits'> => ({
  outcome: hits.length === 0 ? 'cleared' : 'held',
  ...(hits[0] === undefined ? {} : { reason: hits[0].rule }),
  hits,
});

/** Every detail of an account is looked up: which of them a list names is up to the list. */
async function destinationOf(
  tx: Tx,
  vault: Vault,
  input: Screening,
): Promise<{ kind: DestinationKind; values: string[] }> {
  if (input.payoutAddress !== null) return { kind: 'address', values: [input.payoutAddress] };
  assert(input.fiatAccountId !== null, `order ${input.id} has a destination`);
  const { details } = await openFiatAccount(tx, vault, input.fiatAccountId);
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
export function magicScreener(
  usual: Screener,
  vault: Vault,
  amountOf: (input: Screening) => Promise<string>,
): Screener {
  const isMagic = async (input: Screening): Promise<boolean> =>
    openTextOrNull(vault, input.partnerId ?? 0n, input.merchantReference) === MAGIC_HOLDS.reference ||
    input.payoutAddress?.toLowerCase() === MAGIC_HOLDS.address ||
    (await amountOf(input)).replace(/\.0*$/, '') === MAGIC_HOLDS.amount;
  return {
    async screen(input) {
      const verdict = await usual.screen(input);
      if (input.purpose === 'refund' || !(await isMagic(input))) return verdict;
      const hit: Hit = { rule: 'held_by_magic_value', entry: '', own: false };
      return { ...verdict, ...verdictOf([hit, ...verdict.hits]), rules: `${verdict.rules}, magic` };
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

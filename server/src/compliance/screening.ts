/**
 * Screening: may this money go to its destination? Called once before every payout and every refund.
 *
 * A screener answers `cleared` or `held`, with the rules, list versions and inputs it used, so that the answer can be
 * reproduced years later. `held` is never final: a person releases or refunds. A screener that cannot answer throws
 * `Unavailable`; a missing answer never counts as `cleared`.
 *
 * Here: the built-in one, which holds money for a denied destination or of a blocked customer. A bought one implements
 * `Screener` too.
 */
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { openTextOrNull } from '../base/texts.ts';
import { blockOf, openFiatAccount } from '../customers/index.ts';
import { accountNameHits } from './account-names.ts';
import { type DestinationKind, look, sql } from './store.ts';

export interface Screener {
  /** May call outside, so it takes no `tx`. @throws Unavailable */
  screen(input: Screening): Promise<Verdict>;
}

/** Ids only: a screener decrypts what it needs. An order has this shape. */
export interface Screening {
  /** The order's id; the refund's when there is no order. */
  id: bigint;
  /** Null for money without a known order: only the destination is checked. */
  partnerId: bigint | null;
  customerId: string | null;
  /** As stored (base/texts.ts). */
  merchantReference: string | null;
  /** Destination: an account of the customer's, or an address. */
  fiatAccountId: bigint | null;
  payoutAddress: string | null;
  /** The asset the order was to be paid in. */
  depositAsset?: string;
  depositUnits?: bigint;
  /** The deposits that fund it: who paid them is compared with sanctions lists. */
  depositIds?: readonly bigint[];
  /** A payout by default; a refund has its own destination. */
  purpose?: 'payout' | 'refund' | undefined;
}

/** One finding of screening. */
export interface Hit {
  rule: HeldReason;
  /** The exact hit: the list's entry, the time of the block. An approval names it, so that only new hits need another one. */
  entry: string;
  /** Found by our own blocks and lists, which the gate reads again each time. */
  own: boolean;
}

export interface NameScreening {
  /** Compares what has no result of now. May take seconds, so it takes no `tx`. @throws Unavailable without any list */
  ensure(input: Screening): Promise<void>;
  /** Hits that stand, as the gate and the screener take them. Rows only. */
  read(tx: Tx, input: Screening): Promise<{ hits: Hit[]; rules: string }>;
  /** Why money has to wait; undefined when everything is of now. Rows only. */
  wait(tx: Tx, input: Screening): Promise<{ cause: 'lists' | 'screening'; why: string } | undefined>;
}

export interface Verdict {
  outcome: 'cleared' | 'held';
  /** Why it is held: the rule of the first hit. */
  reason?: HeldReason;
  /** Everything found; empty when cleared. */
  hits: readonly Hit[];
  /** Rules and list versions, such as `built-in 1, sanctions@2026-01-05`. */
  rules: string;
  /** Ids and words only: stored unencrypted. */
  inputs: Readonly<Record<string, string | boolean | readonly string[]>>;
}

export type HeldReason =
  | 'destination_denied'
  | 'customer_blocked'
  | 'held_by_magic_value'
  /** A name is like one on a sanctions list, and nobody has decided. */
  | 'sanctions_undecided'
  /** People decided that it is the one on the list. */
  | 'sanctions_hit'
  /** Lists are configured, and no name of the customer is known to compare. */
  | 'sanctions_nameless'
  /** The holder of the account is not the customer, as far as names say (account-names.ts). */
  | 'account_name_differs';

/** What an operator asks of payouts besides; nothing by default. */
export interface OwnRules {
  accountNames?: 'pay' | 'hold';
}

/** Changes whenever the built-in screener's decisions change. */
const RULES = 'built-in 1';

export const openScreener = ({
  db,
  vault,
  names,
  rules,
}: {
  db: Database;
  vault: Vault;
  /** Where sanctions lists are configured. */
  names?: NameScreening | undefined;
  rules?: OwnRules;
}): Screener => ({
  async screen(input) {
    await names?.ensure(input);
    return await db.asSystem((tx) => screenOwn(tx, vault, input, names, rules));
  },
});

/**
 * Checks our own blocks and deny lists, and what comparisons with sanctions lists have found, as they are in this transaction. The customer's row is locked against a block until
 * `tx` ends: a block committed before is seen, and a later one waits.
 */
export async function screenOwn(
  tx: Tx,
  vault: Vault,
  input: Screening,
  names?: Pick<NameScreening, 'read'>,
  rules: OwnRules = {},
): Promise<Verdict> {
  const named = await names?.read(tx, input);
  const blockedAt = input.customerId === null ? null : await blockOf(tx, input.customerId);
  const { kind, values } = await destinationOf(tx, vault, input);
  const indexes = values.flatMap((value) => indexesOf(vault, kind, value));
  const { lists, entries } = await look(tx, kind, indexes);
  const hits: Hit[] = [
    ...(blockedAt === null ? [] : [{ rule: 'customer_blocked' as const, entry: blockedAt.toISOString(), own: true }]),
    ...entries.map(({ entry }) => ({ rule: 'destination_denied' as const, entry, own: true })),
    ...(named?.hits ?? []),
    ...(rules.accountNames === 'hold' ? await accountNameHits(tx, vault, input) : []),
  ];
  return {
    ...verdictOf(hits),
    rules: [
      RULES,
      ...(named === undefined ? [] : [named.rules]),
      ...lists.map(({ list, version }) => `${list}@${version}`),
    ].join(', '),
    inputs: {
      orderId: String(input.id),
      customerId: input.customerId ?? '',
      blocked: blockedAt !== null,
      purpose: input.purpose ?? 'payout',
      // The blind indexes themselves: with the key, and only with it, an old list can be checked again.
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

/** Every detail of an account is looked up, because a list may name any of them. */
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

/** In the sandbox, an order with any of these is held before its payout. */
export const MAGIC_HOLDS = {
  reference: 'screen:hold',
  /** Whole units received. */
  amount: '666',
  address: '0x000000000000000000000000000000000000dead',
} as const;

/**
 * The sandbox's screener: the built-in one plus magic values. A refund passes, because otherwise a held order's money could
 * never leave.
 *
 * @param amountOf amount received for an order, as text
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
 * Replaces a list of denied destinations with a newer version.
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
    l.destinations.map(({ kind, value }) => indexesOf(vault, kind, value)[0]),
  ]);
}

/** Entries of lists that were loaded before a time. */
export const deniedBefore = async (tx: Tx, time: Date): Promise<number> =>
  (await tx.row<{ count: number }>(sql.deniedBefore, [time]))?.count ?? 0;

/**
 * Without spaces, hyphens and case. Some chains' addresses do differ by case alone; two such addresses do not occur by
 * chance, and at worst a person checks once more.
 */
const indexesOf = (vault: Vault, kind: DestinationKind, value: string): Buffer[] =>
  vault.indexes(value.replace(/[\s-]/g, '').toLowerCase(), `denied_destinations.${kind}`);

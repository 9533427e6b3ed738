/**
 * Screening: may this money go to its destination? Called once before every payout and every refund.
 *
 * A screener answers `cleared` or `held`, with the rules, list versions and inputs it used, so that the answer can be
 * reproduced years later. `held` is never final: an operator releases or refunds. A screener that cannot answer throws
 * `Unavailable`; a missing answer never counts as `cleared`.
 *
 * Here: the built-in screener, which holds money that would go to a denied destination or belongs to a blocked customer. The
 * contract is screener.ts.
 */
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { openTextOrNull } from '../base/texts.ts';
import { blockedTwins, blockOf, blocksOfNumber, openFiatAccount } from '../customers/index.ts';
import { accountNameHit, holderScore } from './account-names.ts';
import { type OwnFacts, rulesThatHold } from './own-rules.ts';
import type { Hit, Screener, Screening, StoredScreening, Verdict } from './screener.ts';
import { type DestinationKind, look, sql } from './store.ts';

/** Further checks that an operator configures for payouts; none by default. */
export interface OwnRules {
  accountNames?: 'pay' | 'hold';
}

/** Changes whenever the built-in screener's decisions change. */
const RULES = 'built-in 1';

export const openScreener = ({
  db,
  vault,
  stored,
  rules,
}: {
  db: Database;
  vault: Vault;
  /** Present if sanctions lists or a provider of address risk are configured. */
  stored?: StoredScreening | undefined;
  rules?: OwnRules;
}): Screener => ({
  async screen(input) {
    await stored?.ensure(input);
    return await db.asSystem((tx) => screenOwn(tx, vault, input, stored, rules));
  },
  async within(tx, input) {
    if (stored !== undefined && (await stored.isEnsured?.(tx, input)) !== true) return undefined;
    return await screenOwn(tx, vault, input, stored, rules);
  },
});

/**
 * Checks our own blocks and deny lists, and stored results about names and addresses, in this transaction. The customer's row is
 * locked against a block until `tx` ends: a block committed before is seen, and a later one waits.
 */
export async function screenOwn(
  tx: Tx,
  vault: Vault,
  input: Screening,
  stored?: Pick<StoredScreening, 'read'>,
  rules: OwnRules = {},
): Promise<Verdict> {
  const read = await stored?.read(tx, input);
  const blockedAt = input.customerId === null ? null : await blockOf(tx, input.customerId);
  const { kind, values, blocks, account } = await destinationOf(tx, vault, input);
  const { customerId, partnerId } = input;
  const twins = customerId === null ? [] : await blockedTwins(tx, vault, { customerId, partnerId, account });
  const indexes = values.flatMap((value) => indexesOf(vault, kind, value));
  const { lists, entries } = await look(tx, kind, indexes);
  const score = rules.accountNames === 'hold' ? await holderScore(tx, vault, input) : undefined;
  const facts: OwnFacts = {
    blocked: blockedAt !== null,
    senderBlocks: blocks,
    twins: twins.map(({ by, ...block }) => `${by} ${blockEntry(block)}`),
    foundOn: [...new Set(entries.map(({ list }) => list))],
    holderScore: score ?? '',
  };
  const ownRules = rulesThatHold(facts);
  const hits: Hit[] = [
    ...(blockedAt === null ? [] : [{ rule: 'customer_blocked' as const, entry: blockedAt.toISOString(), own: true }]),
    ...blocks.map((entry) => ({ rule: 'sender_blocked' as const, entry, own: true })),
    ...twins.map(({ by, ...block }) => ({ rule: `${by}_of_blocked` as const, entry: blockEntry(block), own: true })),
    ...entries.map(({ entry }) => ({ rule: 'destination_denied' as const, entry, own: true })),
    ...(read?.hits ?? []),
    ...(score !== undefined && ownRules.includes('account_name_differs') ? [accountNameHit(input, score)] : []),
  ];
  return {
    ...verdictOf(hits),
    rules: [
      RULES,
      ...(read === undefined ? [] : [read.rules]),
      ...lists.map(({ list, version }) => `${list}@${version}`),
    ].join(', '),
    inputs: {
      orderId: String(input.id),
      customerId: input.customerId ?? '',
      purpose: input.purpose ?? 'payout',
      // The blind indexes are stored, because an old list can be checked again only with the key.
      destination: indexes.map((index) => `${kind}:${index.toString('hex')}`),
      // The decision can be made again from these (replay.ts).
      ...facts,
      ownRules,
      ...read?.inputs,
    },
  };
}

const verdictOf = (hits: readonly Hit[]): Pick<Verdict, 'outcome' | 'reason' | 'hits'> => ({
  outcome: hits.length === 0 ? 'cleared' : 'held',
  ...(hits[0] === undefined ? {} : { reason: hits[0].rule }),
  hits,
});

/** Every detail of an account is looked up, because a list may name any of them. */
async function destinationOf(tx: Tx, vault: Vault, input: Screening): Promise<Destination> {
  if (input.payoutAddress !== null) return { kind: 'address', values: [input.payoutAddress], blocks: [] };
  assert(input.fiatAccountId !== null, `order ${input.id} has no destination`);
  const { details, senderOf } = await openFiatAccount(tx, vault, input.fiatAccountId);
  // The account of a bank credit is known by its number only, so its owners under any partner count. Of a customer's own account
  // the partner's other customers count (blockedTwins): two partners must not learn of each other's customers.
  const owners = senderOf === null ? [] : await blocksOfNumber(tx, vault, details);
  const blocks = owners.filter(({ customerId }) => customerId !== input.customerId).map(blockEntry);
  const account = senderOf === null ? details : undefined;
  return { kind: 'account', values: Object.values(details), blocks, account };
}

/** Names one block of one customer: an approval does not apply to another block. */
export const blockEntry = ({ customerId, blockedAt }: { customerId: string; blockedAt: Date }): string =>
  `${customerId} ${blockedAt.toISOString()}`;

interface Destination {
  kind: DestinationKind;
  values: string[];
  /** The details of a customer's own account. */
  account?: Record<string, string> | undefined;
  /** Blocked customers other than the paid one who have an account with this number, each with the time of the block. */
  blocks: string[];
}

/** In the sandbox, an order with any of these is held before its payout. */
export const MAGIC_HOLDS = {
  reference: 'screen:hold',
  /** Amount received, in whole units. */
  amount: '666',
  address: '0x000000000000000000000000000000000000dead',
} as const;

/**
 * The sandbox's screener: the built-in one plus magic values. A refund always passes: otherwise a held order's money could
 * never leave.
 *
 * @param amountOf amount received for an order, as text; in `tx`, if there is one
 */
export function magicScreener(
  usual: Screener,
  vault: Vault,
  amountOf: (input: Screening, tx?: Tx) => Promise<string>,
): Screener {
  const isMagic = async (input: Screening, tx?: Tx): Promise<boolean> =>
    openTextOrNull(vault, input.partnerId ?? 0n, input.merchantReference) === MAGIC_HOLDS.reference ||
    input.payoutAddress?.toLowerCase() === MAGIC_HOLDS.address ||
    (await amountOf(input, tx)).replace(/\.0*$/, '') === MAGIC_HOLDS.amount;
  const changed = async (verdict: Verdict, input: Screening, tx?: Tx): Promise<Verdict> => {
    if (input.purpose === 'refund' || !(await isMagic(input, tx))) return verdict;
    const hit: Hit = { rule: 'held_by_magic_value', entry: '', own: false };
    return { ...verdict, ...verdictOf([hit, ...verdict.hits]), rules: `${verdict.rules}, magic` };
  };
  return {
    screen: async (input) => await changed(await usual.screen(input), input),
    async within(tx, input) {
      const verdict = await usual.within?.(tx, input);
      return verdict && (await changed(verdict, input, tx));
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

/** Number of entries of deny lists that were loaded before a time. */
export const deniedBefore = async (tx: Tx, time: Date): Promise<number> =>
  (await tx.row<{ count: number }>(sql.deniedBefore, [time]))?.count ?? 0;

/**
 * Normalises by removing spaces and hyphens and lowering case. Some chains' addresses do differ by case alone; two such
 * addresses do not occur by chance, and at worst an operator checks once more.
 */
const indexesOf = (vault: Vault, kind: DestinationKind, value: string): Buffer[] =>
  vault.indexes(value.replace(/[\s-]/g, '').toLowerCase(), `denied_destinations.${kind}`);

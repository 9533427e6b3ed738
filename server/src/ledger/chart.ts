/**
 * The chart of accounts: every account there is, whose money it holds, and on which side its balance stands.
 *
 * What we have stands on the debit side (custody, receivables, what was spent or lost); whom it belongs to stands on the
 * credit side (orders, treasury, fees earned or owed, suspense, blocked). Per asset both sides are always equal, which is
 * what the trial balance shows.
 */
import type { AssetCode } from '../base/money.ts';

export type Side = 'debit' | 'credit' | 'either';

export interface Account {
  /** Unique and readable: `order:17:usdc.matic20`. */
  readonly code: string;
  readonly kind: AccountKind;
  readonly asset: AssetCode;
  readonly side: Side;
  readonly orderId?: bigint;
  readonly partnerId?: bigint;
}

const SIDES = {
  /** What we hold outside: per rail and wallet. */
  custody: 'debit',
  /** What a customer gave us for an order, until it is paid out or refunded. */
  order: 'credit',
  /** The operator's own funds that orders are filled from. Never overdrawn: that is what `short` means. */
  treasury: 'credit',
  /** The operator's own funds set aside for running: native coin for gas. */
  capital: 'credit',
  /** Long or short position left by undoing a conversion that the treasury could not carry. */
  fx: 'either',
  fee_operator: 'credit',
  /** Owed to the partner. */
  fee_partner: 'credit',
  fee_rail: 'credit',
  fee_chain: 'credit',
  /** Withheld from customers, owed to the tax authority. */
  tax: 'credit',
  /** What chains and banks charged us. */
  cost: 'debit',
  rounding: 'credit',
  /** Money that arrived and belongs to somebody we have yet to tell. */
  suspense: 'credit',
  /** Of customers who have not claimed it for a long time: out of suspense, or out of an order's account. Still theirs. */
  dormant: 'credit',
  /** What left a wallet beyond what the books had free there: custody less this is what the outside has. */
  uncovered: 'credit',
  /**
   * What orders held for payouts that left with less, which stays with us, less what others left with beyond: two people matched
   * them with a movement of another amount.
   */
  difference: 'either',
  /** Money frozen by law. */
  blocked: 'credit',
  receivable: 'debit',
  /** Money that was booked as received and was reversed from us. */
  loss: 'debit',
} as const satisfies Record<string, Side>;

export type AccountKind = keyof typeof SIDES;

function account(
  kind: AccountKind,
  asset: AssetCode,
  of: string[] = [],
  owner: { orderId?: bigint; partnerId?: bigint } = {},
): Account {
  return { code: [kind, ...of, asset].join(':'), kind, asset, side: SIDES[kind], ...owner };
}

export const chart = {
  custody: (rail: string, wallet: string, asset: AssetCode) => account('custody', asset, [rail, wallet]),
  order: (orderId: bigint, partnerId: bigint, asset: AssetCode) =>
    account('order', asset, [String(orderId)], { orderId, partnerId }),
  treasury: (asset: AssetCode) => account('treasury', asset),
  capital: (asset: AssetCode) => account('capital', asset),
  fx: (asset: AssetCode) => account('fx', asset),
  feeOperator: (asset: AssetCode) => account('fee_operator', asset),
  feePartner: (partnerId: bigint, asset: AssetCode) =>
    account('fee_partner', asset, [String(partnerId)], { partnerId }),
  feeRail: (asset: AssetCode) => account('fee_rail', asset),
  feeChain: (asset: AssetCode) => account('fee_chain', asset),
  tax: (asset: AssetCode) => account('tax', asset),
  cost: (rail: string, asset: AssetCode) => account('cost', asset, [rail]),
  rounding: (asset: AssetCode) => account('rounding', asset),
  suspense: (rail: string, asset: AssetCode) => account('suspense', asset, [rail]),
  dormant: (rail: string, asset: AssetCode) => account('dormant', asset, [rail]),
  uncovered: (rail: string, asset: AssetCode) => account('uncovered', asset, [rail]),
  difference: (asset: AssetCode) => account('difference', asset),
  blocked: (asset: AssetCode) => account('blocked', asset),
  /** What a customer owes us: money reversed after it was paid out. */
  receivable: (customerId: string, partnerId: bigint, asset: AssetCode) =>
    account('receivable', asset, [customerId], { partnerId }),
  loss: (asset: AssetCode) => account('loss', asset),
} as const;

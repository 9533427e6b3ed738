/**
 * The chart of accounts: every kind of account, whose money it holds, and the side of its balance.
 *
 * The debit side has what we hold (custody, receivables, costs and losses); the credit side has its owners (orders, treasury,
 * fees earned or owed, suspense, blocked). Per asset both sides are always equal, as the trial balance shows.
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
  /** What a customer paid us for an order, until it is paid out or refunded. */
  order: 'credit',
  /** The operator's own funds that orders are filled from. Never overdrawn: `short` is the result instead. */
  treasury: 'credit',
  /** The operator's own funds set aside for running costs: native assets for gas. */
  capital: 'credit',
  /** Long or short position left by undoing a conversion that the treasury could not cover. */
  fx: 'either',
  fee_operator: 'credit',
  /**
   * Owed to the partner. Negative if an order was undone, or its fee paid back, after the partner was paid: the partner's next
   * fees cover the difference.
   */
  fee_partner: 'either',
  fee_rail: 'credit',
  fee_chain: 'credit',
  /** Withheld from customers, owed to the tax authority. */
  tax: 'credit',
  /** What chains and banks charged us. */
  cost: 'debit',
  rounding: 'credit',
  /** Money that arrived and whose owner is not determined yet. */
  suspense: 'credit',
  /** Money from suspense or an order's account that its customer has not claimed for a long time. Still owed to the customer. */
  dormant: 'credit',
  /**
   * Amounts that left a wallet beyond its free balance in the books. The balance at bank or chain is custody minus this account.
   */
  uncovered: 'credit',
  /**
   * Left over where two operators matched a payout with a movement of another amount: what orders held beyond the amount that
   * left, minus what left beyond the amount held.
   */
  difference: 'either',
  /** Money blocked by law. */
  blocked: 'credit',
  receivable: 'debit',
  /** Money that left and that no customer owes us: reversed deposits, and debits that match no payout. */
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
  /** A customer's debt to us: money that was reversed after its order was paid out. */
  receivable: (customerId: string, partnerId: bigint, asset: AssetCode) =>
    account('receivable', asset, [customerId], { partnerId }),
  loss: (asset: AssetCode) => account('loss', asset),
} as const;

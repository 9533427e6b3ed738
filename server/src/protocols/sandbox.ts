/**
 * The sandbox's controls, for the wires of partners: the white-label wire has them under /sandbox/v1, the partner API under
 * /v1/sandbox. sandbox/controls.ts carries them out. Production has none of them.
 */
import type { Order } from '../orders/index.ts';

/** How an order is paid: as requested, or with one of the usual mistakes of customers. */
export const PAY_HOW = ['EXACT', 'UNDER', 'OVER', 'LATE', 'TWICE', 'ANOTHER_TOKEN', 'ANOTHER_CHAIN'] as const;
export type PayHow = (typeof PAY_HOW)[number];
export const BANK_FAULTS = [
  'LOSE_REQUEST',
  'LOSE_ANSWER',
  'DELAY_ANSWER',
  'REJECT',
  'RETURN',
  'NO_STATUS',
  'STATEMENT_TWICE',
  'STATEMENT_REORDERED',
] as const;
export type BankFault = (typeof BANK_FAULTS)[number];

/**
 * Further sandbox controls for partners. Money really moves, on the chain and at the bank; the state machine derives the
 * state. An impossible request throws 'malformed_field', with the parameter's name in its declaration (controls.ts).
 */
export interface SandboxControls {
  /** @param input.key idempotency key @returns the rail's reference of each payment */
  pay(input: { order: Order; how: PayHow; units: bigint | undefined; key: string }): Promise<{ payments: string[] }>;
  /** A credit at the bank. @returns the bank's id of its line */
  credit(input: {
    order: Order;
    units: bigint | undefined;
    reference: 'RIGHT' | 'NONE' | 'WRONG';
    name: 'RIGHT' | 'WRONG' | 'NONE';
    key: string;
  }): Promise<{ line: string }>;
  /** The payer's bank recalls a credit: the order's latest, or the given line. */
  recall(input: { partnerId: bigint; order: Order } | { partnerId: bigint; line: string }): Promise<{ line: string }>;
  /** The customer's bank returns our payout. */
  bounce(input: { order: Order }): Promise<{ payment: string }>;
  /** Makes screening hold the order, or undoes that. */
  screening(input: { order: Order; fails: boolean }): Promise<{ list: string }>;
  /** Moves the due times of a partner's own rows. */
  advanceClock(input: {
    partnerId: bigint;
    ms: number;
  }): Promise<{ orders: number; quotes: number; deliveries: number }>;

  // Affects all partners.
  reorg(input: { chain: string; blocks: number }): Promise<{ chain: string; blocks: number }>;
  bankFault(input: {
    fault: BankFault | 'NONE';
    times: number;
    delayMs: number;
  }): Promise<{ fault: string; times: number }>;
  /** @param input.price fiat for one coin; undefined restores the table's price */
  movePrice(input: {
    coin: string;
    fiat: string;
    price: string | undefined;
  }): Promise<{ pair: string; price: string | null }>;
  /** @param input.units amount to add for `FILLED`; by default the opening funds */
  treasury(input: {
    currency: string;
    chain: string | undefined;
    state: 'DRY' | 'FILLED';
    amount: string | undefined;
  }): Promise<{ asset: string; available: string }>;
  dropWebhooks(input: { drop: boolean }): Promise<{ webhooks: 'dropped' | 'delivered' }>;
}

/** Causes, in the sandbox, the facts that bring an order to a status; real money movements on a simulated chain and bank. */
export interface SandboxDriver {
  readonly controls?: SandboxControls | undefined;
  /** @throws Refusal 'order_over'. A status already passed is a success. */
  driveOrder(input: { partnerId: bigint; orderId: bigint; status: number }): Promise<void>;
  /** Makes the sandbox's verifier verify a customer to a level. */
  verify(input: {
    customerId: string;
    kind: 'INDIVIDUAL' | 'BUSINESS';
    level: number;
  }): Promise<{ verifier: string; level: number }>;
}

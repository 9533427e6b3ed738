/** Controls that only a sandbox has: those of the white-label wire (/sandbox/v1), as endpoints of this API. */

import { about, amount, id, oneOf, optional, text, whole } from '../../declaration/fields.ts';
import { BANK_FAULTS, PAY_HOW } from '../../sandbox.ts';
import { declare } from '../declare.ts';
import { Happened } from '../schemas/sandbox.ts';

const order = { order: id };
const word = <const T extends string>(words: readonly T[], says: string, example?: T) =>
  about(oneOf(words.map((one) => one.toLowerCase()) as Lowercase<T>[]), says, example?.toLowerCase());
const coin = text(20, /^[a-z0-9]+$/, 'a code in lower-case letters');
const units = optional(about(amount, 'Amount to use instead of the requested one, in the same currency', '12.5'));
const LONGEST_S = 30 * 24 * 3_600;
const OF_ORDER = ['sandbox_only', 'unknown_order', 'order_over'] as const;

const control = <F extends Parameters<typeof declare>[0]['fields']>(
  declared: {
    name: string;
    path: string;
    scope: 'trade' | 'admin';
    says: string;
    fields: F;
    example?: Record<string, unknown>;
  } & {
    refuses?: readonly ('unknown_order' | 'order_over' | 'sandbox_only')[];
  },
) =>
  declare({
    ...declared,
    method: 'POST',
    member: 'develop',
    more: 'Exists in the sandbox only.',
    gives: Happened,
    refuses: declared.refuses ?? ['sandbox_only'],
  });

export const SANDBOX = {
  pay: control({
    name: 'controls.pay',
    path: '/sandbox/orders/:order/pay',
    scope: 'trade',
    says: 'Pays an order as its customer, on its chain or by bank: correctly, or with one of the mistakes that customers make.',
    fields: {
      ...order,
      how: optional(word(PAY_HOW, 'How it is paid; exactly by default', 'UNDER')),
      amount: units,
    },
    refuses: OF_ORDER,
  }),
  credit: control({
    name: 'controls.credit',
    path: '/sandbox/orders/:order/credit',
    scope: 'trade',
    says: 'Credits our bank account for a purchase, with the payer’s reference and name as you choose them.',
    fields: {
      ...order,
      amount: units,
      payerReference: optional(
        word(['RIGHT', 'NONE', 'WRONG'], 'Reference of the transfer; the correct one by default', 'NONE'),
      ),
      payerName: optional(word(['RIGHT', 'WRONG', 'NONE'], 'Name of the payer; the customer’s by default', 'WRONG')),
    },
    refuses: OF_ORDER,
  }),
  recall: control({
    name: 'controls.recall',
    path: '/sandbox/orders/:order/recall',
    scope: 'trade',
    says: 'Recalls the last bank credit of an order, as the payer’s bank.',
    fields: order,
    refuses: OF_ORDER,
  }),
  bounce: control({
    name: 'controls.bounce',
    path: '/sandbox/orders/:order/bounce',
    scope: 'trade',
    says: 'Returns an order’s payout to a bank account, as the receiving bank.',
    fields: order,
    refuses: OF_ORDER,
  }),
  screening: control({
    name: 'controls.screening',
    path: '/sandbox/orders/:order/screening',
    scope: 'trade',
    says: 'Sets the screening result of an order: screening holds it, or lets it pass.',
    fields: { ...order, outcome: word(['FAIL', 'PASS'], 'Result of the screening', 'FAIL') },
    refuses: OF_ORDER,
  }),
  clock: control({
    name: 'controls.clock',
    path: '/sandbox/clock',
    scope: 'admin',
    says: 'Moves the test clock forward: everything of yours that is due within this time becomes due now.',
    fields: { seconds: about(whole(1, LONGEST_S), 'By how many seconds, at most 30 days', 900) },
  }),
  webhooks: control({
    name: 'controls.webhooks',
    path: '/sandbox/webhooks',
    scope: 'admin',
    says: 'Drops all webhooks of all partners of this sandbox in transit, or delivers them normally again.',
    fields: { deliveries: word(['DROP', 'DELIVER'], 'Whether webhooks are dropped or delivered', 'DROP') },
  }),
  prices: control({
    name: 'controls.prices',
    path: '/sandbox/prices',
    scope: 'admin',
    says: 'Sets a price for all partners of this sandbox; without `price`, the price table applies again.',
    fields: {
      coin: about(coin, 'Coin', 'usdc'),
      fiat: about(coin, 'Fiat', 'inr'),
      price: optional(about(amount, 'Fiat for one coin', '91.5')),
    },
  }),
  treasury: control({
    name: 'controls.treasury',
    path: '/sandbox/treasury',
    scope: 'admin',
    says: 'Empties or fills the treasury account or wallet that funds payouts, for all partners of this sandbox.',
    fields: {
      currency: about(coin, 'A fiat, or a coin with its chain', 'inr'),
      chain: optional(about(coin, 'Chain of a coin', 'matic20')),
      level: word(['DRY', 'FILLED'], 'The new value', 'DRY'),
    },
  }),
  bank: control({
    name: 'controls.bank',
    path: '/sandbox/bank',
    scope: 'admin',
    says: 'Makes the bank fail on its next payments, for all partners of this sandbox.',
    fields: {
      fault: word(['NONE', ...BANK_FAULTS], 'The fault; `none` removes the remaining faults', 'LOSE_ANSWER'),
      times: optional(about(whole(1, 100), 'For how many payments; one by default', 1)),
    },
  }),
  reorg: control({
    name: 'controls.reorg',
    path: '/sandbox/reorg',
    scope: 'admin',
    says: 'Reorganizes a chain: its last blocks are discarded, for all partners of this sandbox.',
    fields: { chain: about(coin, 'Code of the chain', 'matic20'), blocks: about(whole(1, 12), 'Number of blocks', 2) },
  }),
} as const;

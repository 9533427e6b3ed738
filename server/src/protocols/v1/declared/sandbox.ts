/** Controls that only a sandbox has: those of the white-label wire (/sandbox/v1), as endpoints of this API. */

import { about, amount, id, oneOf, optional, text, whole } from '../../declaration/fields.ts';
import { BANK_FAULTS, PAY_HOW } from '../../sandbox.ts';
import { declare } from '../declare.ts';
import { Happened } from '../schemas/sandbox.ts';

const order = { order: id };
const word = <const T extends string>(words: readonly T[], says: string, example?: T) =>
  about(oneOf(words.map((one) => one.toLowerCase()) as Lowercase<T>[]), says, example?.toLowerCase());
const coin = text(20, /^[a-z0-9]+$/, 'a code in small letters');
const units = optional(about(amount, 'Instead of the amount asked for, in the same currency', '12.5'));
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
    more: 'In the sandbox only.',
    gives: Happened,
    refuses: declared.refuses ?? ['sandbox_only'],
  });

export const SANDBOX = {
  pay: control({
    name: 'controls.pay',
    path: '/sandbox/orders/:order/pay',
    scope: 'trade',
    says: 'The customer pays an order, on its chain or by bank: as asked, or in one of the ways that customers get wrong.',
    fields: {
      ...order,
      how: optional(word(PAY_HOW, 'How it is paid; exactly, if nothing is said', 'UNDER')),
      amount: units,
    },
    refuses: OF_ORDER,
  }),
  credit: control({
    name: 'controls.credit',
    path: '/sandbox/orders/:order/credit',
    scope: 'trade',
    says: 'Money comes to our bank for a purchase, as its payer wrote it.',
    fields: {
      ...order,
      amount: units,
      payerReference: optional(
        word(['RIGHT', 'NONE', 'WRONG'], 'Reference of the transfer; right, if nothing is said', 'NONE'),
      ),
      payerName: optional(
        word(['RIGHT', 'WRONG', 'NONE'], 'Name of the payer; the customer’s, if nothing is said', 'WRONG'),
      ),
    },
    refuses: OF_ORDER,
  }),
  recall: control({
    name: 'controls.recall',
    path: '/sandbox/orders/:order/recall',
    scope: 'trade',
    says: 'The bank of the payer takes the last credit of an order back.',
    fields: order,
    refuses: OF_ORDER,
  }),
  bounce: control({
    name: 'controls.bounce',
    path: '/sandbox/orders/:order/bounce',
    scope: 'trade',
    says: 'A payout to an account is returned.',
    fields: order,
    refuses: OF_ORDER,
  }),
  screening: control({
    name: 'controls.screening',
    path: '/sandbox/orders/:order/screening',
    scope: 'trade',
    says: 'Screening holds an order, or does so no longer.',
    fields: { ...order, outcome: word(['FAIL', 'PASS'], 'What screening finds', 'FAIL') },
    refuses: OF_ORDER,
  }),
  clock: control({
    name: 'controls.clock',
    path: '/sandbox/clock',
    scope: 'admin',
    says: 'Moves the test clock: everything of yours that is due within this time is due now.',
    fields: { seconds: about(whole(1, LONGEST_S), 'By how much, at most 30 days', 900) },
  }),
  webhooks: control({
    name: 'controls.webhooks',
    path: '/sandbox/webhooks',
    scope: 'admin',
    says: 'Webhooks of all partners of this sandbox are dropped on their way, or delivered again.',
    fields: { deliveries: word(['DROP', 'DELIVER'], 'What becomes of them', 'DROP') },
  }),
  prices: control({
    name: 'controls.prices',
    path: '/sandbox/prices',
    scope: 'admin',
    says: 'Moves a price, for all partners of this sandbox; without one it is the table’s again.',
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
    says: 'Empties what payouts are made from, or fills it, for all partners of this sandbox.',
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
    says: 'The bank gets the next payments wrong, for all partners of this sandbox.',
    fields: {
      fault: word(['NONE', ...BANK_FAULTS], 'The fault; none removes the remaining faults', 'LOSE_ANSWER'),
      times: optional(about(whole(1, 100), 'How often; once, if nothing is said', 1)),
    },
  }),
  reorg: control({
    name: 'controls.reorg',
    path: '/sandbox/reorg',
    scope: 'admin',
    says: 'A chain forgets its last blocks, for all partners of this sandbox.',
    fields: { chain: about(coin, 'Code of the chain', 'matic20'), blocks: about(whole(1, 12), 'How many', 2) },
  }),
} as const;

/**
 * What each kind of kill switch stops and what continues. The texts must match the code that checks each kill switch:
 *
 * - quotes/index.ts and orders/create.ts ask for market and partner (`requireOpen`), but not for a follow-on order or a requote;
 * - the gate of payouts and refunds, of signing, of transfers to own addresses and of payout files asks for rail and payouts
 *   (`isSubmittingOff`);
 * - sweeps and gas transfers ask for the rail only (`isRailOff`).
 */
import type { KillSwitchKind } from '../../partners/index.ts';
import { waitingForSwitches } from '../../reports/index.ts';
import { SWITCHED } from './declared/switched.ts';
import { type Read, read } from './read.ts';

const UNDER_WAY =
  'Orders under way: their deposits are booked, and they are paid out or refunded. New orders that are made of money that has come late or twice, and requotes.';

const EFFECTS: Readonly<Record<KillSwitchKind, { prevents: string; continues: string }>> = {
  market: {
    prevents:
      'New quotes and new orders of this market, by every partner; also an order by a quote that was made before.',
    continues: UNDER_WAY,
  },
  partner: {
    prevents:
      'New quotes and new orders of this partner, on every market; also an order by a quote that was made before.',
    continues: `${UNDER_WAY} The partner’s keys still read, and it receives webhooks; to stop its keys, suspend the partner.`,
  },
  rail: {
    prevents:
      'Everything that leaves by this rail: no payout or refund is submitted, no chain transaction is signed, nothing is swept, no gas is sent, no transfer to an own address begins, and no payout file is closed or downloaded.',
    continues:
      'Deposits that come in by this rail are booked, and new orders are taken. What was submitted, signed and broadcast, or downloaded before may still be paid. The other rails pay.',
  },
  payouts: {
    prevents:
      'Payouts and refunds by every rail: none is submitted or signed. No transfer to an own address begins, and no payout file is closed or downloaded.',
    continues:
      'Deposits are booked, and new orders are taken. Deposits are swept to our own wallets, with gas for it. What was submitted, signed and broadcast, or downloaded before may still be paid.',
  },
};

export const SWITCHED_READS: readonly Read[] = [
  read({
    ...SWITCHED.kinds,
    answer: async () => ({ kinds: Object.entries(EFFECTS).map(([kind, effect]) => ({ kind, ...effect })) }),
  }),
  read({
    ...SWITCHED.waiting,
    answer: async (_deps, tx) => ({ waiting: await waitingForSwitches(tx) }),
  }),
];

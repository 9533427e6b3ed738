/** One payout with its context, and all of our own transfers. */
import { Refusal } from '../../base/errors.ts';
import { lookUp } from '../../orders/index.ts';
import { PAYOUTS } from './declared/payouts.ts';
import { TREASURY } from './declared/treasury.ts';
import { type Read, read } from './read.ts';

export const MONEY_READS: readonly Read[] = [
  read({
    ...PAYOUTS.one,
    async answer({ orders, vault }, tx, { payout }) {
      const found = await lookUp(tx, { text: payout, vault, partnerIds: [], rails: [...orders.rails.keys()] });
      const one = found.payouts.find(({ id }) => id === payout);
      if (one === undefined) throw new Refusal('unknown_payout');
      return {
        ...{ id: one.id, purpose: one.purpose, partnerId: one.partnerId, orderId: one.orderId },
        ...{ refundId: one.refundId, depositId: one.depositId, attempt: one.attempt, rail: one.rail },
        ...{ asset: one.asset, units: one.units, paidUnits: one.paidUnits, state: one.state },
        ...{ address: one.address, fiatAccountId: one.fiatAccountId, submissions: one.submissions },
        ...{ unknownSince: one.unknownSince, waitsFor: one.waitsFor, why: one.why, reference: one.reference },
        ...{ createdAt: one.createdAt, submittedAt: one.submittedAt, endedAt: one.endedAt },
      };
    },
  }),
  read({
    ...TREASURY.sweeps,
    async answer({ treasury }, tx, { rail, below, limit: most = 50 }) {
      const found = await treasury.sweeps(tx, { rail, below, limit: most + 1 });
      const sweeps = found.slice(0, most).map((one) => ({
        ...{ key: one.key, kind: one.kind, rail: one.rail, asset: one.asset, units: one.units, state: one.state },
        ...{ why: one.why, reference: one.reference, createdAt: one.createdAt, endedAt: one.endedAt },
      }));
      return { sweeps, next: found.length > most ? sweeps.at(-1)?.key : null };
    },
  }),
];

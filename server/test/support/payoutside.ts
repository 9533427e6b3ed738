/**
 * Replaces the orders module for environments with a rail and without orders: it creates payouts as orders do, and applies facts
 * about them as orders do.
 */
import type { Tx } from '../../src/base/db.ts';
import { recordRejected, returned, settled } from '../../src/rails/payouts.observed.ts';
import { write } from '../../src/rails/payouts.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import type { Fixture } from './fixture.ts';
import type { openRows } from './rows.ts';

export async function openPayoutSide(
  { db, clock }: Fixture,
  rows: Awaited<ReturnType<typeof openRows>>,
  { rail, asset }: { rail: string; asset: string },
) {
  await rows.cryptoAsset('usdc.test', 'test', '0x01');
  const { orderId, partnerId } = await rows.order('usdc.test', 'evm.test', '0xabc');
  const facts: RailFact[] = [];
  const contradictions: string[] = [];
  const accounts = new Map<bigint, Record<string, string>>();
  let attempt = 0;
  return {
    facts,
    contradictions,
    openAccount: async (_tx: Tx, id: bigint) => accounts.get(id) ?? {},

    async report(tx: Tx, fact: RailFact): Promise<void> {
      facts.push(fact);
      const now = clock.now();
      if (fact.type === 'debit_shared')
        for (const key of fact.payouts) await settled(tx, { rail: fact.rail, key, reference: fact.externalId, now });
      const observed =
        fact.type === 'payout_settled'
          ? await settled(tx, { ...fact, now })
          : fact.type === 'payout_returned'
            ? await returned(tx, { ...fact, now })
            : fact.type === 'payout_rejected'
              ? await recordRejected(tx, { ...fact, now })
              : undefined;
      if (observed?.contradiction) contradictions.push(observed.payout.id);
    },

    of: <T extends RailFact['type']>(type: T) =>
      facts.filter((fact) => fact.type === type) as Extract<RailFact, { type: T }>[],

    /** @param key where the test needs a certain one. @returns the payout's id, which is its key */
    async writes(units: bigint, account: Record<string, string>, key?: string): Promise<string> {
      attempt += 1;
      const fiatAccountId = await rows.fiatAccount();
      accounts.set(fiatAccountId, account);
      const id = key ?? `pay_${orderId}_${attempt}`;
      const of = { id, orderId, partnerId, attempt, rail, asset, units, fiatAccountId };
      await db.asSystem((tx) => write(tx, { ...of, purpose: 'payout', now: clock.now() }));
      return id;
    },
  };
}

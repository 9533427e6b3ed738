/**
 * Payer: the simulated customer, who has a wallet on every chain and an account at the bank, and pays with money that really
 * moves. Each payment has a key; under the same key it is made once.
 */

import type { Vault } from '../base/crypto.ts';
import type { Database } from '../base/db.ts';
import { defined } from '../base/defined.ts';
import { Refusal, Unavailable } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import { customerName } from '../customers/index.ts';
import type { Order } from '../orders/index.ts';
import type { ChainRail } from '../rails/chain.ts';
import type { SimulatedBank } from '../rails/simulated/index.ts';

export type Payer = ReturnType<typeof openPayer>;

export function openPayer({ db, vault, bank }: { db: Database; vault: Vault; bank: SimulatedBank }) {
  return {
    /**
     * @returns the hash of the transfer
     * @throws Unavailable when the node has not accepted it; the sentence says whether it is stored and sent later
     */
    async fromWallet(
      rail: ChainRail,
      { key, asset, units, address }: { key: string; asset: AssetCode; units: bigint; address: string },
    ): Promise<string> {
      const destination = { kind: 'address', address } as const;
      const sent = await rail.sendFrom('customer', { key: `sandbox:${key}`, asset, units, destination });
      if (sent.outcome === 'rejected') throw new Refusal('order_over', { why: sent.why });
      if (sent.outcome === 'submitted') return sent.reference ?? '';
      const { outcome } = await rail.status(`sandbox:${key}`);
      const became =
        outcome === 'absent'
          ? 'nothing was paid'
          : 'the transfer is stored, and sent when the node accepts it; repeating the request pays nothing more';
      throw new Unavailable(rail.code, sent.why, {
        said: `The node of ${rail.chain} did not take the payment: ${became}.`,
      });
    },

    /** @param credit.name the payer's name; the customer's by default @returns the bank's id of its line */
    async fromAccount(
      order: Order,
      credit: { id: string; units: bigint; text: string; name?: string },
    ): Promise<string> {
      const { name = await nameOf(order), ...rest } = credit;
      const currency = order.depositAsset.toUpperCase();
      return await bank.creditAccount({ ...rest, currency, ...defined({ payerName: name }) });
    },
  };

  async function nameOf(order: Order): Promise<string | undefined> {
    return await db.asPartner(order.partnerId, (tx) => customerName(tx, vault, order.customerId));
  }
}

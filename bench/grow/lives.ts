/**
 * Lives: a few complete orders of every kind, made in a running sandbox for each of its partners. The generator multiplies
 * their rows, so every table that an order touches is filled as the server fills it.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Requests } from '../ours.ts';

export interface Kind {
  name: string;
  direction: 'offramp' | 'onramp';
  amount: string;
  /** Status number of the wire to which the sandbox drives the order. */
  status: string;
  /** Share of all orders. The small rest is held for an operator. */
  share: number;
}

/** Amounts are small, so that the fees of ten million orders stay below the sandbox's treasury. */
export const KINDS: readonly Kind[] = [
  { name: 'sale of 21.5', direction: 'offramp', amount: '21.5', status: '6', share: 0.24 },
  { name: 'sale of 30', direction: 'offramp', amount: '30', status: '6', share: 0.22 },
  { name: 'sale of 44.25', direction: 'offramp', amount: '44.25', status: '6', share: 0.2 },
  { name: 'purchase for 1200', direction: 'onramp', amount: '1200', status: '4', share: 0.13 },
  { name: 'purchase for 2750', direction: 'onramp', amount: '2750', status: '4', share: 0.1 },
  { name: 'sale that expired', direction: 'offramp', amount: '25', status: '-1', share: 0.06 },
  { name: 'sale that was cancelled', direction: 'offramp', amount: '25', status: '-2', share: 0.02 },
  { name: 'sale that was refunded', direction: 'offramp', amount: '25', status: '-4', share: 0.03 },
];
/** The amount is one of the sandbox's magic values: screening holds the order, and a case waits for an operator. */
export const HELD: Kind = { name: 'held sale', direction: 'offramp', amount: '666', status: '6', share: 0 };

export interface Lived {
  customerId: string;
  accountId: string;
  phone: string;
  orders: { kind: Kind; id: string }[];
}

const PATIENCE_MS = 300_000;
const WALLET = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65';

/** @param phone a number that no other customer has */
export async function live(partner: Requests, phone: string): Promise<Lived> {
  const { customerId } = await partner.call<{ customerId: string }>('kyc/url', {
    clientCustomerId: randomUUID(),
    phoneNumber: phone,
    type: 'INDIVIDUAL',
  });
  await partner.call('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const { fiatAccountId } = await partner.call<{ fiatAccountId: string }>('bank/addFiatAccount', {
    customerId,
    fiatAccount: '000111222333',
    ifsc: 'HDFC0000001',
  });
  const orders: Lived['orders'] = [];
  for (const kind of [...KINDS, HELD]) {
    const { direction, amount: fromAmount, status } = kind;
    const { transactionId } = await partner.call<{ transactionId: string }>(`${direction}/createTransaction`, {
      ...{ chain: 'matic20', fromAmount, customerId, merchantRecognitionId: randomUUID() },
      ...(direction === 'offramp'
        ? { fromCurrency: 'usdc', toCurrency: 'INR', fiatAccountId: String(fiatAccountId) }
        : { fromCurrency: 'INR', toCurrency: 'usdc', depositAddress: WALLET, paymentMethodType: 'IMPS' }),
    });
    orders.push({ kind, id: String(transactionId) });
    const drive = direction === 'offramp' ? 'test/changeOfframpStatus' : 'test/changeOnrampStatus';
    await partner.call(drive, { customerId, transactionId: String(transactionId), status });
  }
  return { customerId, accountId: String(fiatAccountId), phone, orders };
}

/** Counts orders that are still under way, because only finished orders may be multiplied. */
const UNDER_WAY = `
  select format('%s orders', count(*)) as what, count(*) as n from orders
    where state not in ('settled', 'refunded', 'expired', 'cancelled', 'on_hold')
  union all select 'own transfers', count(*) from own_transfers where booked_at is null
  union all select 'unswept deposits', count(*) from chain_deposits where sweep is null
  union all select 'payouts', count(*) from payouts where ended_at is null
  union all select 'entries to seal', count(*) from entries e where not exists (select from sealed_entries where entry_seq = e.seq)
  union all select 'events to publish', count(*) from event_feed where position is null
  union all select 'differences', count(*) from reconcile_items where closed_at is null
  union all select 'entries to compare', count(*) from entries e
    where seq > (select max(seq) from entries) - 50 and exists (
      select from transfers t join accounts a on a.id in (t.debit, t.credit)
       where t.entry = e.id and t.step in ('post', 'settle') and a.kind = 'custody')
      and not exists (select from booked_movements b where b.entry = e.id)
  union all select 'movements to match', count(*) from booked_movements where open
  union all select 'coin at deposit addresses to count', count(*) from own_transfers o
    where o.kind = 'sweep' and not exists (
      select from native_balances n join own_transfers g on g.sweep = o.key and g.kind = 'gas'
       where n.rail = o.rail and n.address = o.address and n.units = g.units - o.cost_units)`;

/** @param client must have the schema in its search path */
export async function allIsDone(client: pg.Client): Promise<void> {
  for (const giveUpAt = Date.now() + PATIENCE_MS; ; ) {
    const { rows } = await client.query<{ what: string; n: string }>(UNDER_WAY);
    const left = rows.filter(({ n }) => n !== '0');
    if (left.length === 0) return;
    if (Date.now() > giveUpAt)
      throw new Error(`the orders are not done: ${left.map(({ what, n }) => `${what} ${n}`).join(', ')}`);
    await new Promise((wake) => setTimeout(wake, 500));
  }
}

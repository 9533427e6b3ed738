/**
 * Driver: brings an order to a status by causing the facts that lead there, in an environment where customers do not pay by
 * themselves.
 *
 * It never writes a state. A deposit is money that really moves: a transfer on the sandbox's chain from the simulated
 * customer's wallet, or a credit at its bank. To pass a deadline it moves the deadline. For a wrong amount it pays half, passes
 * the deadline, and requests a refund as an operator would. After that the order continues by itself, through every state in
 * between and possibly past the requested one.
 */
import type { Vault } from '../base/crypto.ts';
import { Refusal } from '../base/errors.ts';
import { fiatAccounts } from '../customers/index.ts';
import {
  cancel,
  isFinal,
  type Order,
  type OrderState,
  type OrdersContext,
  openOrders,
  passDeadline,
  refundOrder,
  trace,
} from '../orders/index.ts';
import type { ChainRail } from '../rails/chain.ts';
import type { Verifier } from '../verifiers/verifier.ts';
import type { Payer } from './payer.ts';

/** States in which a forward number has been passed, for orders that ended differently. */
const PASSED_IN: Readonly<Record<number, readonly OrderState[]>> = {
  1: ['deposit_seen', 'deposit_confirmed'],
  2: ['deposit_confirmed'],
  3: ['on_hold', 'paying_out'],
  4: ['paying_out'],
  5: ['paying_out'],
};

const BY = 'sandbox';
/** Real time within which the facts of one step must arrive. */
const PATIENCE_MS = 30_000;

type DriverContext = OrdersContext & {
  chains: ReadonlyMap<string, ChainRail>;
  payer: Payer;
  vault: Vault;
  verifier: Verifier;
};

export function sandboxDriver(context: DriverContext) {
  const { db, clock } = context;
  const orders = openOrders(context);
  const read = (input: { partnerId: bigint; orderId: bigint }) =>
    db.asPartner(input.partnerId, (tx) => orders.get(tx, { id: input.orderId }));
  const action = (order: Order, why: string) => ({ orderId: order.id, by: BY, why, now: clock.now() });

  /** Makes the customer pay by wallet or bank, once per part however often it is requested. */
  async function pay(order: Order, units: bigint, part: string): Promise<void> {
    const rail = context.chains.get(order.depositRail);
    const address = order.depositTarget;
    if (rail === undefined)
      await context.payer.fromAccount(order, { id: `sandbox-${part}-${order.id}`, units, text: address });
    else
      await context.payer.fromWallet(rail, { key: `${part}:${order.id}`, asset: order.depositAsset, units, address });
  }

  /** Waits until `reached` holds for the order. After PATIENCE_MS it returns anyway, and the caller keeps polling. */
  async function until(order: Order, reached: (order: Order) => boolean): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (Date.now() < giveUpAt && !reached(await read({ partnerId: order.partnerId, orderId: order.id }))) {
      await new Promise((wake) => setTimeout(wake, 50));
    }
  }

  return {
    /** The sandbox's verifier returns the requested result. */
    async verify(input: { customerId: string; kind: 'INDIVIDUAL' | 'BUSINESS'; level: number }) {
      const { verifier } = context;
      const asked = { ...input, key: `sandbox:${input.customerId}:${input.level}` };
      await verifier.begin(asked);
      return { verifier: verifier.code, level: (await verifier.finding(asked)).level };
    },

    /**
     * @param input.status the wire's number: 1 and above forwards, -1 timed out, -2 cancelled, -4 wrong amount
     * @throws Refusal 'unknown_order'; 'order_over' when the order ended differently
     */
    async driveOrder(input: { partnerId: bigint; orderId: bigint; status: number }): Promise<void> {
      const order = await read(input);
      switch (input.status) {
        case 0:
          return;
        case -1:
          return await timeOut(order);
        case -2:
          return await giveUp(order);
        case -4:
          return await payWrongly(order);
        default:
          return await payRightly(order, input.status);
      }
    },
  };

  async function payRightly(order: Order, status: number): Promise<void> {
    const turnedBack = isFinal(order.state) || order.state === 'refunding' || order.state === 'refund_held';
    if (order.state === 'settled' || (!turnedBack && order.state !== 'created')) return;
    if (turnedBack) {
      const { history } = await db.asSystem((tx) => trace(tx, order.id));
      if (history.some(({ stateTo }) => PASSED_IN[status]?.includes(stateTo as OrderState))) return;
      throw new Refusal('order_over', { state: order.state });
    }
    await pay(order, order.depositUnits, 'pay');
    await until(order, ({ state }) => state !== 'created');
  }

  async function timeOut(order: Order): Promise<void> {
    if (order.state === 'expired') return;
    if (order.state !== 'created') throw new Refusal('order_over', { state: order.state });
    await db.asSystem((tx) => passDeadline(tx, action(order, 'status -1 requested')));
    await until(order, ({ state }) => state === 'expired');
  }

  async function giveUp(order: Order): Promise<void> {
    if (order.state === 'cancelled') return;
    if (order.state === 'created') {
      await db.asSystem((tx) => cancel(context, tx, action(order, 'status -2 asked for')));
      return;
    }
    await startRefund(order, 'other');
  }

  async function payWrongly(order: Order): Promise<void> {
    if (order.state === 'refunded' && order.failure === 'amount') return;
    if (order.state === 'created') {
      await pay(order, order.depositUnits / 2n, 'half');
      await until(order, ({ exception }) => exception === 'underpaid');
      await db.asSystem((tx) => passDeadline(tx, action(order, 'status -4 asked for')));
      await until(order, ({ state }) => state === 'on_hold');
    }
    await startRefund(await read({ partnerId: order.partnerId, orderId: order.id }), 'amount');
  }

  async function startRefund(order: Order, failure: 'amount' | 'other'): Promise<void> {
    const under = order.state === 'refunding' || order.state === 'refunded';
    if (under && order.failure === failure) return;
    if (order.state !== 'on_hold' && order.state !== 'payout_held')
      throw new Refusal('order_over', { state: order.state });
    await refundOrder(context, action(order, `status ${failure === 'amount' ? -4 : -2} asked for`), {
      failure,
      ...(await payerOf(context, order)),
    });
  }
}

/** The simulated customer's refund destination: the wallet that paid, or the account named for it. */
async function payerOf(
  { db, chains }: Pick<DriverContext, 'db' | 'chains'>,
  order: Order,
): Promise<{ address: string } | { fiatAccountId: bigint }> {
  const address = chains.get(order.depositRail)?.walletAddresses.customer;
  if (address !== undefined) return { address };
  const accounts = await db.asPartner(order.partnerId, (tx) => fiatAccounts(tx, order.customerId));
  const fiatAccountId = order.fiatAccountId ?? accounts.find(({ fiat }) => fiat === order.depositAsset)?.id;
  if (fiatAccountId === undefined) throw new Refusal('unknown_account', {});
  return { fiatAccountId };
}

/**
 * The load: customers of one partner who sell and buy, through the partner's wire, at any server that answers.
 *
 * A request without a conclusive answer is repeated at another server under its idempotency key. Every order has its own address
 * or account for its payout and its refund, so that chain and bank can be counted order by order. Every order is paid: one in ten
 * in two parts, and one in ten with an excess, which only the customer is owed and which waits with a case.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseUnits } from '../../src/base/money.ts';
import { ask, type Fields, sign } from '../support/client.ts';
import { CUSTOMER_NAME } from '../support/euros.ts';
import { CURRENCY } from './bank.ts';
import type { ChaosEnvironment } from './environment.ts';

export interface Made {
  id: string;
  direction: 'offramp' | 'onramp';
  customerId: string;
  depositUnits: bigint;
  /** The promise to the partner. */
  payoutUnits: bigint;
  /** An address, or the reference required in the bank's text. */
  depositTarget: string;
  /** Payout destination: an account of a sale, an address of a purchase. */
  payoutTo: string;
  refundTo: string;
  paid: boolean;
}

const PATIENCE_MS = 6_000;
const MOST_AT_ONCE = 30;

// Long because `openLoad` is one closure: all customers share the orders that are counted at the end.
export function openLoad(world: ChaosEnvironment, deps: { chance: (below: number) => number; perSecond: number }) {
  const { chance } = deps;
  const made: Made[] = [];
  const trouble: string[] = [];
  /** Customers who were refused because they are blocked: a reorg may have removed what they had been paid for. */
  const blocked = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  let gaveUp = false;
  let retries = 0;

  /** One request, until a server has answered it. */
  async function tell<T>(path: string, body: Fields): Promise<T> {
    const key = randomBytes(12).toString('hex');
    for (;;) {
      if (gaveUp) throw new GaveUp();
      const slot = world.slots[chance(world.slots.length)];
      const { headers, text } = sign(world.keys, body, { headers: { 'idempotency-key': key } });
      const answer = await ask(slot?.url ?? '', path, {
        method: 'POST',
        headers,
        body: text,
        signal: AbortSignal.timeout(PATIENCE_MS),
      }).catch(() => undefined);
      if (answer?.status === 200) return answer.body.data as T;
      const isFinal = answer !== undefined && answer.status < 500 && answer.status !== 429 && answer.status !== 409;
      if (answer?.status === 403 && answer.body.reason === 'customer_blocked') throw new Blocked();
      if (isFinal) throw new Error(`${path}: ${answer.status} ${answer.text}`);
      retries += 1;
      await sleep(100 + chance(400));
    }
  }

  async function sells(n: number, customerId: string): Promise<Made> {
    const fromAmount = String(2 + chance(500));
    const refundTo = freshAddress();
    const iban = freshIban(n);
    const { fiatAccountId } = await tell<{ fiatAccountId: string }>('bank/addFiatAccount', { customerId, iban });
    const pair = { fromCurrency: 'usdc', toCurrency: 'EUR', chain: 'base', fromAmount };
    const { rate, toAmount } = await tell<{ rate: string; toAmount: string }>('offramp/quote', pair);
    const order = await tell<{ transactionId: string; depositAddress: string }>('offramp/createTransaction', {
      ...pair,
      rate,
      toAmount,
      customerId,
      fiatAccountId,
      refundAddress: refundTo,
    });
    return {
      id: order.transactionId,
      direction: 'offramp',
      customerId,
      depositUnits: parseUnits(fromAmount, 6),
      payoutUnits: parseUnits(toAmount, 2),
      depositTarget: order.depositAddress.toLowerCase(),
      payoutTo: iban,
      refundTo,
      paid: false,
    };
  }

  async function buys(n: number, customerId: string): Promise<Made> {
    const fromAmount = String(5 + chance(500));
    const iban = freshIban(n);
    const { fiatAccountId } = await tell<{ fiatAccountId: string }>('bank/addFiatAccount', { customerId, iban });
    const payoutTo = freshAddress();
    const pair = { fromCurrency: 'EUR', toCurrency: 'usdc', chain: 'base', fromAmount };
    const { rate, toAmount } = await tell<{ rate: string; toAmount: string }>('onramp/quote', pair);
    const order = await tell<{ transactionId: string; fiatPaymentInstructions: { otp: string } }>(
      'onramp/createTransaction',
      {
        ...pair,
        rate,
        toAmount,
        paymentMethodType: 'SEPA_BANK_TRANSFER',
        customerId,
        depositAddress: payoutTo,
        fiatAccountId,
      },
    );
    return {
      id: order.transactionId,
      direction: 'onramp',
      customerId,
      depositUnits: parseUnits(fromAmount, 2),
      payoutUnits: parseUnits(toAmount, 6),
      depositTarget: order.fiatPaymentInstructions.otp,
      payoutTo,
      refundTo: iban,
      paid: false,
    };
  }

  async function pay(one: Made, units: bigint): Promise<void> {
    if (one.direction === 'offramp') await world.chain.pays(one.depositTarget, units);
    else
      await world.bank.creditAccount({
        currency: CURRENCY,
        units,
        text: `ref ${one.depositTarget}`,
        payerName: CUSTOMER_NAME,
        payerAccount: one.refundTo,
      });
  }

  async function pays(one: Made): Promise<void> {
    const { depositUnits } = one;
    const how = chance(10);
    if (how === 0) {
      await pay(one, depositUnits / 3n);
      await sleep(chance(3_000));
      await pay(one, depositUnits - depositUnits / 3n);
    } else {
      await pay(one, how === 1 ? depositUnits + depositUnits / 10n : depositUnits);
    }
    one.paid = true;
  }

  async function order(n: number): Promise<void> {
    const customerId = world.customers[n % world.customers.length] ?? '';
    try {
      const one = await (chance(2) === 0 ? sells : buys)(n, customerId);
      made.push(one);
      await pays(one);
    } catch (error) {
      if (error instanceof Blocked) blocked.add(customerId);
      else if (!(error instanceof GaveUp)) trouble.push(error instanceof Error ? error.message : String(error));
    }
  }

  const going = (async () => {
    for (let n = 1; !stopped; n += 1) {
      if (underWay.size < MOST_AT_ONCE) {
        const one: Promise<void> = order(n).finally(() => underWay.delete(one));
        underWay.add(one);
      }
      await sleep(1_000 / deps.perSecond);
    }
  })();

  return {
    made,
    trouble,
    blocked,
    get retries() {
      return retries;
    },
    /** No new orders; those being made are completed, for at most this long. */
    async stop(patienceMs: number): Promise<void> {
      stopped = true;
      await going;
      const timer = setTimeout(() => {
        gaveUp = true;
        trouble.push('orders could not be made after everything was healed');
      }, patienceMs);
      await Promise.all(underWay);
      clearTimeout(timer);
      gaveUp = false;
    },
    /** The number that the wire shows for each order but those that are gone, by its id. */
    async statuses(gone: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
      const shown = new Map<string, string>();
      const waiting = made.filter(({ id }) => !gone.has(id));
      const worker = async () => {
        for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
          const { id, direction, customerId } = one;
          const order = await tell<{ status: unknown }>(`${direction}/transaction`, { customerId, transactionId: id });
          shown.set(id, String(order.status));
        }
      };
      await Promise.all([worker(), worker(), worker(), worker()]);
      return shown;
    },
  };
}

class GaveUp extends Error {}
class Blocked extends Error {}

const freshAddress = (): string => `0x${randomBytes(20).toString('hex')}`;

/** British, with valid check digits; ends in 7, which is not a magic ending of the simulated bank. */
function freshIban(n: number): string {
  const bban = `NWBK601613${String(n * 10 + 7).padStart(8, '0')}`;
  const digits = [...`${bban}GB00`].map((sign) => Number.parseInt(sign, 36)).join('');
  return `GB${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${bban}`;
}

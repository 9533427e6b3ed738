/**
 * The operations of the pairs over HTTP: requests of a partner's program, each with its own values.
 */
import { type Prepared, send } from './load.ts';
import { newCustomer, type Ours } from './ours.ts';

const PAGE_SIZE = 50;
const LISTED = 200;

/** Names of the operations, known before a server runs. */
export const OPERATIONS = [
  'offramp quote',
  `list, a page of ${PAGE_SIZE}`,
  'get',
  'kyb/requirements',
  'order creation',
  'order creation, one row',
] as const;

export interface Operation {
  name: (typeof OPERATIONS)[number];
  goal: number;
  /** Requests per round. */
  count: number;
  /** The limit it is compared with: rows of the same size, or the same rows (limit.ts, limit.rows.ts). */
  beside: 'bytes' | 'rows';
  prepare(count: number): Promise<Prepared[]>;
}

export interface Made {
  id: string;
  customerId: string;
  /** The reply's item, as text. */
  item: string;
}

export async function operationsOn(ours: Ours): Promise<{ operations: Operation[]; orders: Made[] }> {
  const customers = await inTurn(20, () => newCustomer(ours));
  const [seller] = customers as [(typeof customers)[number]];
  let amount = 1_000;
  const pair = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20' };
  // A different amount each time, so that each request has its own quote.
  const asks = (count: number) =>
    Array.from({ length: count }, () => ({ ...pair, fromAmount: `${(amount += 1) / 10}` }));
  const create = async (count: number, pick: (at: number) => (typeof customers)[number]): Promise<Prepared[]> => {
    const made: Prepared[] = [];
    for (const [at, input] of asks(count).entries()) {
      const { rate, toAmount } = await ours.call<{ rate: string; toAmount: string }>('offramp/quote', input);
      made.push(ours.post('offramp/createTransaction', { ...input, rate, toAmount, ...pick(at) }));
    }
    return made;
  };
  for (const one of await create(LISTED, () => seller)) await send(ours.baseUrl, one);
  const page = (at: number) => ({ customerId: seller.customerId, page: String(at), pageSize: String(PAGE_SIZE) });
  const orders: Made[] = [];
  for (let at = 1; at <= LISTED / PAGE_SIZE; at += 1) {
    const items = await ours.call<{ transactionId: string }[]>('offramp/allUserTransaction', page(at));
    for (const item of items)
      orders.push({ id: item.transactionId, customerId: seller.customerId, item: JSON.stringify(item) });
  }
  const each = (count: number, one: (at: number) => Prepared) => Array.from({ length: count }, (_, at) => one(at));
  const creation = {
    count: 300,
    prepare: (count: number) => create(count, (at) => customers[at % customers.length] as (typeof customers)[number]),
  };
  const operations: Operation[] = [
    {
      name: 'offramp quote',
      goal: 0.8,
      count: 1_500,
      beside: 'bytes',
      prepare: async (count) => asks(count).map((input) => ours.post('offramp/quote', input)),
    },
    {
      name: OPERATIONS[1],
      goal: 0.8,
      count: 500,
      beside: 'bytes',
      prepare: async (count) =>
        // The limit does not count rows: the number is sent, and our server ignores it like every unknown field.
        each(count, (at) =>
          ours.post('offramp/allUserTransaction', { ...page((at % (LISTED / PAGE_SIZE)) + 1), total: String(LISTED) }),
        ),
    },
    {
      name: 'get',
      goal: 0.8,
      count: 1_500,
      beside: 'bytes',
      prepare: async (count) =>
        each(count, (at) => {
          const { id, customerId } = orders[at % orders.length] as Made;
          return ours.post('offramp/transaction', { transactionId: id, customerId });
        }),
    },
    {
      name: 'kyb/requirements',
      goal: 0.9,
      count: 8_000,
      beside: 'bytes',
      prepare: async (count) =>
        each(count, () => ({
          method: 'GET',
          path: '/onramp/api/v2/whiteLabel/kyb/requirements',
          headers: {},
          body: '',
        })),
    },
    { ...creation, name: 'order creation', goal: 0.6, beside: 'rows' },
    { ...creation, name: 'order creation, one row', goal: 0.2, beside: 'bytes' },
  ];
  return { operations, orders };
}

async function inTurn<T>(count: number, one: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let at = 0; at < count; at += 1) all.push(await one());
  return all;
}

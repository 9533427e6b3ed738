/**
 * Customers and operator. Customers order through a process of ours and pay as people do: exactly, too little, too much, in
 * parts, late, twice, in another coin, or not at all. The operator looks at what waits for a person and does one of the
 * things a person may do, so that everything comes to an end.
 */
import type { Tx } from '../../src/base/db.ts';
import { Refusal, Unavailable } from '../../src/base/errors.ts';
import { findCustomer, unblockCustomer } from '../../src/customers/index.ts';
import {
  nameDestination,
  type Order,
  refundDeposit,
  reject,
  release,
  retry,
  retryRefund,
} from '../../src/orders/index.ts';
import { findMarket, findPartner } from '../../src/partners/index.ts';
import { createQuote } from '../../src/quotes/index.ts';
import { PARTNERS } from '../../src/sandbox/catalogue.ts';
import type { Chance } from './chance.ts';
import { FAUCET, HOT_ADDRESS, TOKENS } from './outside.chain.ts';
import type { OurProcess, World } from './process.ts';

/** What a customer knows of an order, and where else money of it may go. */
export interface Noted {
  order: Order;
  /** Account numbers and ids: the first is where the order pays or refunds to, the second the customer's other one. */
  accounts: readonly { id: bigint; number: string }[];
  /** Its own address on the chain: of the payout or the refund. */
  address: string;
}

export interface Actors {
  readonly noted: Noted[];
  /** Orders that could not be made, for want of a price or a process. */
  readonly unmade: number;
  /** Nobody means to do anything more by himself. */
  readonly idle: boolean;
  operate(): void;
}

const FUNDS = { inr: 100_000_000_00n, usdc: 1_000_000_000_000n } as const;
/** How long a quote is good (ground.ts). */
const QUOTE_MS = 20_000;
const FEW = { inr: 9_000_00n, usdc: 100_000_000n } as const;

export function openActors(
  world: World,
  deps: {
    chance: Chance;
    orders: number;
    forMs: number;
    processes: () => OurProcess[];
    /** Told of every order. */
    made: (order: Order) => void;
  },
): Actors {
  const { scheduler, faults, bank, chain } = world;
  const { chance, forMs } = deps;
  const noted: Noted[] = [];
  let planned = 0;
  let unmade = 0;

  const later = (ms: number, body: () => void) => {
    planned += 1;
    scheduler.after(ms, () => {
      planned -= 1;
      body();
    });
  };

  // The operator's own money.
  const few = faults.strikes('short_of_funds');
  bank.credit(few ? FEW.inr : FUNDS.inr, 'opening', { funding: true });
  endow();

  /** Once the chain is followed: tokens that were there long before its first block that is looked at are not in the books. */
  function endow(): void {
    void scheduler
      .perform('the chain is followed', () =>
        world.backends.look<{ is: boolean }>('select exists (select from chains where head_number is not null) as is'),
      )
      .then(([followed]) => {
        if (followed?.is !== true) return later(2_000, endow);
        chain.transfer(FAUCET, HOT_ADDRESS, TOKENS.usdc, few ? FEW.usdc : FUNDS.usdc);
        // Nobody buys these, but what comes by mistake goes back out of this wallet, and nothing is swept here.
        chain.transfer(FAUCET, HOT_ADDRESS, TOKENS.usdt, FUNDS.usdc);
      });
  }

  for (let n = 0; n < deps.orders; n += 1) later(15_000 + chance.int(0, forMs), () => orderNumber(n, 1));

  function orderNumber(n: number, attempt: number): void {
    const alive = deps.processes().filter(({ dead }) => !dead);
    const process = alive.length === 0 ? undefined : chance.pick(alive);
    const again = () => {
      if (attempt < 8) later(chance.int(2_000, 15_000), () => orderNumber(n, attempt + 1));
      else unmade += 1;
    };
    if (process === undefined) return again();
    scheduler.within({ process, task: 'create' }, () => {
      make(process, n).then(
        (made) => {
          noted.push(made);
          deps.made(made.order);
          scheduler.within({ process: undefined, task: 'customer' }, () => pay(made));
        },
        (error: unknown) => {
          // A connection that is lost and a price that is missing are told to the customer, who comes again.
          if (!(error instanceof Unavailable) && !isLost(error)) world.complain('create', error);
          scheduler.within({ process: undefined, task: 'customer' }, again);
        },
      );
    });
  }

  async function make(process: OurProcess, n: number): Promise<Noted> {
    const { db, clock } = process.context;
    const direction = chance.happens(0.5) ? 'offramp' : 'onramp';
    const held = faults.strikes('held_by_screening');
    const name = PARTNERS[0]?.name ?? '';
    const partner = await db.asSystem((tx) => findPartner(tx, { name }));
    if (partner === undefined) throw new Error('the partner is there');
    const { market, accounts, customer, depositUnits, quote } = await db.asPartner(partner.id, async (tx) => {
      const found = await findMarket(tx, { direction, coin: 'usdc', fiat: 'inr' });
      const own = await accountsOf(tx, n);
      const units =
        direction === 'offramp' ? BigInt(chance.int(5_000_000, 200_000_000)) : BigInt(chance.int(50_000, 2_000_000));
      return {
        market: found,
        accounts: own,
        customer: await findCustomer(tx, own[0]?.customer ?? ''),
        depositUnits: units,
        quote: await createQuote(tx, { partner, market: found, depositUnits: units, now: clock.now() }),
      };
    });
    if (faults.strikes('quote_expired'))
      await new Promise((wake) => setTimeout(wake, QUOTE_MS + chance.int(1, 20_000)));
    return await db.asPartner(partner.id, async (tx) => {
      const address = `0xown${n}`;
      const [first] = accounts;
      const order = await process.orders.create(tx, {
        partner,
        customer,
        market,
        depositUnits,
        rate: quote.rate,
        payoutUnits: quote.payoutUnits,
        ...(first === undefined ? {} : { fiatAccountId: first.id }),
        ...(direction === 'onramp' ? { payoutAddress: address } : { refundAddress: address }),
        ...(held ? { merchantReference: 'screen:hold' } : {}),
        now: clock.now(),
      });
      return { order, accounts, address };
    });
  }

  /** Two accounts of one customer that no other order has. */
  async function accountsOf(tx: Tx, n: number) {
    const customers = await tx.rows<{ id: string }>('select id from customers order by client_customer_id');
    const customer = customers[n % customers.length]?.id ?? '';
    const at = Math.floor(n / customers.length) * 2;
    const rows = await tx.rows<{ id: bigint }>(
      'select id from fiat_accounts where customer_id = $1 order by hint limit 2 offset $2',
      [customer, at],
    );
    return rows.map(({ id }, k) => ({ id, customer, number: numberOf((n % customers.length) + 1, at + k + 1) }));
  }

  /** One payment into an order, by whichever rail it asks for. */
  function pays(one: Noted, units: bigint, contract: string = TOKENS.usdc): string {
    const { order } = one;
    if (order.direction === 'onramp') return bank.credit(units, order.depositTarget);
    chain.transfer(`0xcustomer${order.id}`, order.depositTarget, contract, units);
    return '';
  }

  function pay(one: Noted): void {
    const { depositUnits, direction } = one.order;
    if (faults.strikes('pays_nothing')) return;
    const soon = () => chance.int(500, 40_000);
    const much = (bps: number) => (depositUnits * BigInt(bps)) / 10_000n;
    if (faults.strikes('pays_wrong_asset') && direction === 'offramp')
      return later(soon(), () => void pays(one, depositUnits, TOKENS.usdt));
    if (faults.strikes('pays_less')) return later(soon(), () => void pays(one, much(chance.int(2_000, 9_900))));
    if (faults.strikes('pays_more')) return later(soon(), () => void pays(one, much(chance.int(10_100, 15_000))));
    if (faults.strikes('pays_late')) return later(chance.int(78_000, 120_000), () => void pays(one, depositUnits));
    if (faults.strikes('pays_in_parts')) {
      const part = much(chance.int(1_000, 9_000));
      later(soon(), () => void pays(one, part));
      return later(soon(), () => void pays(one, depositUnits - part));
    }
    later(soon(), () => {
      const line = pays(one, depositUnits);
      if (direction === 'onramp' && faults.strikes('recalls')) later(chance.int(1, 60_000), () => bank.recall(line));
    });
    if (faults.strikes('pays_twice')) later(soon(), () => void pays(one, depositUnits));
  }

  // The operator.

  function fund(): void {
    bank.credit(FUNDS.inr, 'more', { funding: true });
    chain.transfer(FAUCET, HOT_ADDRESS, TOKENS.usdc, FUNDS.usdc);
  }

  function through(process: OurProcess, what: string, body: () => Promise<unknown>): void {
    scheduler.within({ process, task: `operator ${what}` }, () => {
      body().catch((error: unknown) => {
        if (error instanceof Refusal && error.code === 'funds_short')
          return scheduler.within({ process: undefined, task: 'operator' }, fund);
        if (error instanceof Refusal || error instanceof Unavailable || isLost(error)) return;
        world.complain(`operator ${what}`, error);
      });
    });
  }

  interface Waiting {
    id: bigint;
    state: string;
    direction: string;
    /** A refund waits for funds. */
    short: boolean;
    refund: string | null;
    refund_rail: string | null;
    deposit: bigint | null;
    deposit_rail: string | null;
  }

  async function waiting(): Promise<Waiting[]> {
    return await world.backends.look<Waiting>(
      `select o.id, o.state, o.direction,
              exists (select from cases c where c.order_id = o.id and c.kind = 'refund_short' and c.closed_at is null) as short,
              (select min(r.state) from refunds r where r.order_id = o.id
                 and r.state in ('needs_destination', 'held', 'failed', 'returned')) as refund,
              (select min(d.rail) from refunds r join deposits d on d.id = r.deposit_id where r.order_id = o.id
                 and r.state in ('needs_destination', 'held', 'failed', 'returned')) as refund_rail,
              (select min(d.id) from deposits d where d.order_id = o.id and d.state = 'suspense'
                 and d.units > d.taken_units + d.refund_units) as deposit,
              (select min(d.rail) from deposits d where d.order_id = o.id and d.state = 'suspense'
                 and d.units > d.taken_units + d.refund_units) as deposit_rail
         from orders o order by o.id`,
    );
  }

  function operate(): void {
    void scheduler
      .perform('the operator looks', waiting)
      .then(async (rows) => {
        const blocked = await scheduler.perform('the operator looks at customers', () =>
          world.backends.look<{ id: string }>(
            'select id from customers where blocked_at is not null order by client_customer_id',
          ),
        );
        // They have paid what they owed, let us say.
        for (const { id } of blocked) if (faults.ended || chance.happens(0.3)) unblock(id);
        for (const row of rows) {
          if (!faults.ended && !chance.happens(0.4)) continue;
          act(row);
          if (faults.strikes('two_operators')) act(row);
        }
      })
      .catch((error: unknown) => world.complain('operator', error));
  }

  function unblock(id: string): void {
    const alive = deps.processes().filter(({ dead }) => !dead);
    if (alive.length === 0) return;
    const process = chance.pick(alive);
    const { db, clock } = process.context;
    through(process, 'unblock', () => db.asSystem((tx) => unblockCustomer(tx, id, clock.now())));
  }

  function act(row: Waiting): void {
    const alive = deps.processes().filter(({ dead }) => !dead);
    if (alive.length === 0) return;
    const process = chance.pick(alive);
    const one = noted.find(({ order }) => order.id === row.id);
    const { context } = process;
    const { db, clock } = context;
    const by = 'operator:1';
    const why = 'looked at';
    const base = () => ({ orderId: row.id, by, why, now: clock.now() });
    const other = one?.accounts[chance.int(0, 1)]?.id;
    const onChain = row.direction === 'offramp';
    const back = onChain
      ? { address: one?.address ?? '0xnobody' }
      : other === undefined
        ? {}
        : { fiatAccountId: other };
    const rejects = () => through(process, 'reject', () => reject(context, base(), { failure: 'other', ...back }));
    switch (row.state) {
      case 'on_hold':
        if (chance.happens(0.5))
          return through(process, 'release', () => db.asSystem((tx) => release(context, tx, base())));
        return rejects();
      case 'payout_held':
        if (chance.happens(0.5))
          return through(process, 'retry', () => db.asSystem((tx) => retry(context, tx, base())));
        return rejects();
      case 'refund_held':
        return through(process, 'retry refund', () => retryRefund(context, { ...base(), to: back }));
      case 'awaiting_liquidity':
        return fund();
    }
    if (row.short) fund();
    if (row.refund !== null) {
      const to = destinationOn(row.refund_rail, one);
      return through(process, 'name destination', () =>
        db.asSystem((tx) => nameDestination(context, tx, { orderId: row.id, to, now: clock.now() })),
      );
    }
    const { deposit } = row;
    if (deposit !== null && chance.happens(0.5)) {
      const to = destinationOn(row.deposit_rail, one);
      through(process, 'refund deposit', () =>
        db.asSystem((tx) => refundDeposit(context, tx, { ...base(), depositId: BigInt(deposit), to })),
      );
    }
  }

  /** Where the customer takes money that goes out by this rail. */
  const destinationOn = (rail: string | null, one: Noted | undefined) =>
    rail?.startsWith('bank.') ? { fiatAccountId: one?.accounts[1]?.id } : { address: one?.address ?? '0xnobody' };

  return {
    noted,
    get unmade() {
      return unmade;
    },
    get idle() {
      return planned === 0;
    },
    operate,
  };
}

/** As ground.ts numbers them. */
const numberOf = (customer: number, account: number): string => `${customer}${String(account).padStart(7, '0')}`;

export const isLost = (error: unknown): boolean =>
  error instanceof Error &&
  (/Connection terminated|not queryable|canceling statement/.test(error.message) ||
    ['40001', '40P01', '57014'].includes((error as { code?: string }).code ?? ''));

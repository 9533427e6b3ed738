/**
 * Generating: copies of lives, spread over customers and three years, as rows of COPY.
 *
 * One customer of the first partner has a tenth of all orders. The books stay consistent: every copy has its own accounts, the
 * entries of all copies are sealed in one chain, and one entry at the end offsets the copies' movements per wallet, so that every
 * wallet matches chain and bank.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Vault } from '../../server/src/base/crypto.ts';
import { firstIdAt, timeOfId } from '../../server/src/base/ids.ts';
import { encryptText } from '../../server/src/base/texts.ts';
import { makeReference } from '../../server/src/rails/reference.ts';
import { type Copy, isoOf, textOf } from './compile.ts';
import { Tables } from './copy.ts';
import type { Schema } from './schema.ts';
import { Sealer } from './sealer.ts';
import type { Compiled, OfPartner } from './templates.ts';

export interface Plan {
  orders: number;
  customers: number;
  seed: number;
  untilMs: number;
  years: number;
}

/** The first partner has three quarters of customers and orders. */
const SHARES = [0.75, 0.25];
const BIGGEST_SHARE = 0.1;
const BATCH = 2_500;
const YEAR_MS = 365 * 86_400_000;
/** Held orders are from the last hours: older ones would be overdue when the server starts. */
const HELD_WITHIN_MS = 12 * 3_600_000;
const HELD_SHARE = 0.0005;
const MOST_HELD = 500;

/** Mulberry32: the same seed gives the same numbers. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** A partner's customers, and the number of orders of each. */
interface Pool {
  of: OfPartner;
  ids: string[];
  accounts: string[];
  counts: { offramp: Uint32Array; onramp: Uint32Array };
  listed: { offramp: number; onramp: number };
  positions: number;
}

export interface Generated {
  orders: number;
  customers: number;
  rows: ReadonlyMap<string, number>;
  /** Number of copies of each life. */
  copies: ReadonlyMap<Compiled, number>;
  pools: readonly Pool[];
  firsts: ReadonlyMap<string, number>;
  indexes: number;
  /** The customer with a tenth of all orders. */
  biggest: { customerId: string; orders: number };
}

export class Generator {
  readonly #plan: Plan;
  readonly #vault: Vault;
  readonly #random: () => number;
  readonly #tables: Tables;
  readonly #sealer: Sealer;
  readonly #firsts: Map<string, number>;
  readonly #copies = new Map<Compiled, number>();
  readonly #pools: Pool[];
  #index: number;
  #nonce = -1;
  #made = 0;
  #enrolled = 0;

  constructor(
    client: pg.Client,
    schema: Schema,
    vault: Vault,
    plan: Plan,
    start: {
      partners: readonly OfPartner[];
      firsts: Map<string, number>;
      index: number;
      positions: ReadonlyMap<string, number>;
    },
    sealer: Sealer,
  ) {
    this.#plan = plan;
    this.#vault = vault;
    this.#random = randomFrom(plan.seed);
    this.#tables = new Tables(client, schema.columns);
    this.#sealer = sealer;
    this.#firsts = start.firsts;
    this.#index = start.index;
    this.#pools = start.partners.map((of, at) => {
      const size = Math.max(1, Math.round(plan.customers * (SHARES[at] ?? 0)));
      return {
        of,
        ids: [],
        accounts: [],
        counts: { offramp: new Uint32Array(size), onramp: new Uint32Array(size) },
        listed: { offramp: 0, onramp: 0 },
        positions: start.positions.get(String(of.partnerId)) ?? 0,
      };
    });
  }

  async run(tell: (what: string) => void): Promise<Generated> {
    const { orders, untilMs } = this.#plan;
    for (const pool of this.#pools) await this.#customers(pool);
    tell(`${this.#pools.reduce((sum, { ids }) => sum + ids.length, 0)} customers`);
    const held = Math.min(MOST_HELD, Math.round(orders * HELD_SHARE));
    const early = orders - 2 * held;
    const fromMs = this.#fromMs;
    const step = (untilMs - HELD_WITHIN_MS - fromMs) / Math.max(1, early);
    for (let n = 0; n < orders; n += 1) {
      const late = n - early;
      const ms = late < 0 ? fromMs + n * step : untilMs - HELD_WITHIN_MS + (late * HELD_WITHIN_MS) / (2 * held);
      this.#order(n / orders, Math.floor(ms + this.#share() * Math.min(step, 1_000)), late >= 0 && late % 2 === 0);
      if ((n + 1) % BATCH === 0) await this.#tables.send();
      if ((n + 1) % 100_000 === 0) tell(`${n + 1} orders`);
    }
    this.#countOrders();
    await this.#tables.end();
    const [first] = this.#pools as [Pool];
    return {
      ...{ orders, customers: this.#plan.customers, rows: this.#tables.rows, copies: this.#copies, pools: this.#pools },
      ...{ firsts: this.#firsts, indexes: this.#index },
      biggest: {
        customerId: first.ids[0] as string,
        orders: (first.counts.offramp[0] as number) + (first.counts.onramp[0] as number),
      },
    };
  }

  /** Ids begin with the first of 2024, so no order can be older. */
  get #fromMs(): number {
    return Math.max(this.#plan.untilMs - this.#plan.years * YEAR_MS, timeOfId(0n).getTime() + 8 * 86_400_000);
  }

  /** A random number from 0 up to 1, excluding 1. */
  #share(): number {
    return this.#random() / 2 ** 32;
  }

  async #customers(pool: Pool): Promise<void> {
    const { customer, partnerId } = pool.of;
    const { untilMs } = this.#plan;
    const size = pool.counts.offramp.length;
    const fromMs = this.#fromMs - 7 * 86_400_000;
    for (let n = 0; n < size; n += 1) {
      const ms = Math.floor(fromMs + ((untilMs - fromMs - HELD_WITHIN_MS) * n) / size);
      const id = `${this.#letters(10)}_${partnerId}`;
      // The partners' customers come at the same moments, so their accounts are a millisecond apart.
      const account = this.#idAt(ms + 500 + this.#pools.indexOf(pool), this.#enrolled++);
      pool.ids.push(id);
      pool.accounts.push(account);
      const names = customer.names.map((name) => {
        if (name.startsWith('enc:')) return encryptText(this.#vault, partnerId, `client-${n}`);
        if (name.startsWith('+')) return `+91-8${String(n).padStart(8, '0')}${partnerId % 10n}`;
        return name.includes('_') ? id : account;
      });
      this.#write(customer, this.#copy(customer, pool, ms, names));
      if ((n + 1) % (BATCH * 5) === 0) await this.#tables.send();
    }
  }

  /** @param through the elapsed share of the whole time @param isHeld some of the last orders are held */
  #order(through: number, ms: number, isHeld: boolean): void {
    const pool = this.#pools[this.#share() < (SHARES[0] as number) ? 0 : 1] as Pool;
    const life = isHeld ? pool.of.held : this.#kind(pool.of);
    const who = this.#customer(pool, through);
    const { direction } = life.kind as { direction: 'offramp' | 'onramp' };
    const index = this.#index++;
    const ids = { customer: pool.ids[who] as string, account: pool.accounts[who] as string };
    const names = life.names.map((name, at) => this.#name(name, at, { ...ids, ms, life, pool, index }));
    const counts = pool.counts[direction];
    counts[who] = (counts[who] as number) + 1;
    pool.listed[direction] += 1;
    const copy = this.#copy(life, pool, ms, names);
    Object.assign(copy, {
      index,
      nonce: this.#nonce,
      // Ten blocks per order, all below those of the sandbox's chain.
      blockShift: -10 * (this.#plan.orders - this.#made + 10),
      customerSeq: counts[who],
      listSeq: pool.listed[direction],
    } satisfies Partial<Copy>);
    this.#nonce -= life.nonces;
    this.#made += 1;
    this.#write(life, copy);
  }

  #kind({ orders }: OfPartner): Compiled {
    let rest = this.#share();
    for (const life of orders) {
      rest -= life.kind?.share ?? 0;
      if (rest < 0) return life;
    }
    return orders.at(-1) as Compiled;
  }

  /** Picks one of the customers enrolled by then. */
  #customer(pool: Pool, through: number): number {
    const size = pool.ids.length;
    if (pool === this.#pools[0] && this.#share() < BIGGEST_SHARE / (SHARES[0] as number)) return 0;
    const there = Math.max(1, Math.min(size, Math.floor(size * through)));
    return size === 1 ? 0 : Math.min(size - 1, 1 + Math.floor(this.#share() * there));
  }

  #name(
    name: string,
    at: number,
    of: { customer: string; account: string; ms: number; life: Compiled; pool: Pool; index: number },
  ): string {
    const { lived, partnerId } = of.pool.of;
    if (name === lived.customerId) return of.customer;
    if (name === lived.accountId) return of.account;
    if (name.startsWith('enc:')) return encryptText(this.#vault, partnerId, `ref-${this.#made}`);
    const hex = /^0x([0-9a-f]+)$/.exec(name)?.[1];
    if (hex !== undefined) return `0x${this.#hex(hex.length - 12)}${this.#tail(at, 12)}`;
    if (/^\d{12,}$/.test(name)) {
      const made = timeOfId(BigInt(name)).getTime() + of.ms - of.life.createdMs;
      return this.#idAt(made, this.#made);
    }
    if (name.startsWith('CL')) return makeReference(BigInt(of.index));
    if (/^(UTR|SB)/.test(name)) return `${name.slice(0, 2)}G${this.#tail(at, 14).toUpperCase()}`;
    throw new Error(`how ${name} is made for a copy is not known`);
  }

  /** An id of that millisecond. Real ids have random bits; these count, so that no two ids of a table are equal. */
  #idAt = (ms: number, n: number): string => String(firstIdAt(new Date(ms)) + BigInt(n % 8192));

  /** Text that distinguishes copies, and the names within one copy. */
  #tail = (at: number, length: number): string =>
    `${this.#made.toString(16).padStart(length - 2, '0')}${at.toString(16).padStart(2, '0')}`;

  #hex(length: number): string {
    let text = '';
    while (text.length < length) text += this.#random().toString(16).padStart(8, '0');
    return text.slice(0, length);
  }

  #letters(length: number): string {
    let text = '';
    while (text.length < length) text += this.#random().toString(36);
    return text.slice(0, length);
  }

  #copy(life: Compiled, pool: Pool, ms: number, names: readonly string[]): Copy {
    const firsts = new Map<string, number>();
    for (const [table, count] of life.counts) {
      const next = this.#firsts.get(table);
      if (next === undefined) continue;
      firsts.set(table, next);
      this.#firsts.set(table, next + count);
    }
    const position = pool.positions + 1;
    pool.positions += life.counts.get('event_feed') ?? 0;
    const none = { index: 0, nonce: 0, blockShift: 0, customerSeq: 0, listSeq: 0, contents: [] };
    const shiftMs = ms - life.createdMs;
    return { ...none, position, shiftMs, names, firsts, times: life.times.map((time) => isoOf(time + shiftMs)) };
  }

  #write(life: Compiled, copy: Copy): void {
    const contents = life.entries.map((entry) => createHash('sha256').update(textOf(entry.digested, copy)).digest());
    const whole = { ...copy, contents: contents.map((one) => one.toString('hex')) };
    life.entries.forEach((entry, n) => {
      this.#sealer.add(this.#tables, {
        seq: BigInt((copy.firsts.get('entries') as number) + n),
        id: textOf(entry.id, copy),
        kind: entry.kind,
        at: new Date(entry.atMs + copy.shiftMs),
        content: contents[n] as Buffer,
      });
    });
    for (const { table, pieces, rows } of life.tables) this.#tables.add(table, textOf(pieces, whole), rows);
    this.#copies.set(life, (this.#copies.get(life) ?? 0) + 1);
  }

  #countOrders(): void {
    for (const { of, ids, counts } of this.#pools)
      for (const direction of ['offramp', 'onramp'] as const)
        counts[direction].forEach((count, at) => {
          if (count > 0) this.#tables.add('order_counts', `${of.partnerId}\t${ids[at]}\t${direction}\t${count}\n`, 1);
        });
  }
}

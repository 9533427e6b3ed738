/** Orders, deposits and payouts as rows, for tests of the gate: what it is told by other modules is `says`. */
import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { type StoredScreening, screenOwn, type Verdict } from '../../src/compliance/index.ts';
import { addFiatAccount, findCustomer } from '../../src/customers/index.ts';
import type { GateContext } from '../../src/orders/context.ts';
import { approveStanding, askGate, keepVerdict } from '../../src/orders/payouts/gate.ts';
import { leavingOf } from '../../src/orders/payouts/leaving.ts';
import type { ApprovedAction } from '../../src/orders/payouts/rules.ts';
import { findPayout, type GateAnswer, write } from '../../src/rails/payouts.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';

export const MAX_AGE_MS = 60_000;
export const BANK = 'bank.simulated';
export const CHAIN = 'evm.test';
export const CUSTOMER = 'gatecaller_1';
export const OWN = '0xown';
export const ELSEWHERE = '0xelse';

/** Does not move, so that a result at the maximum age can be distinguished from an older one. */
let nowMs = Date.UTC(2026, 10, 1, 12);
export const clock = { now: () => new Date(nowMs) };
export const passes = (ms: number) => {
  nowMs += ms;
};

/** A hit of a provider that people may let pass. */
export const MAGIC = { rule: 'held_by_magic_value', entry: 'e', own: false } as const;

export let fixture: Fixture;
export let rows: Rows;
export let account = 0n;
export let marketId = 0n;
/** Default facts and rules; each test overrides the one it is about. */
export let says: {
  switchedOff: string[];
  people: number;
  notDeep?: string;
  held?: { since: Date; why: string; isRejected: boolean };
  stored?: StoredScreening;
  unconfirmedUntil?: Date;
  /** A debit that no payout explains. */
  debit?: string;
  /** The rail's payments in the time that a restore lost. */
  lostTime?: 'unread' | 'undecided';
  /** Its refunds in that time. */
  returned?: 'unread' | 'undecided';
};
export type Doubtful = Parameters<NonNullable<Rail['doubtful']>>[1];
export let doubted: Doubtful[] = [];
export let returns: { rail: string; order: object }[] = [];
/** What the rules about destinations were asked. */
export let about: object[] = [];
export let asked: ApprovedAction[] = [];
/** The deposits about whose depth the chain was asked, a list for each question. */
export let depths: (readonly string[])[] = [];

/** Registers what opens and closes them. To be called by each file that uses them. */
export function useGateRows(): void {
  before(async () => {
    fixture = await freshFixture();
    rows = await openRows(fixture.adminUrl);
    await rows.cryptoAsset('usdc.test', 'test', '0x01');
    await rows.order('usdc.test', CHAIN, '0xfirst');
    await rows.query(`insert into customers (id, partner_id, kind, created_at, updated_at)
      select '${CUSTOMER}', id, 'INDIVIDUAL', now(), now() from partners`);
    const [market] = await rows.query<{ id: string }>('select id::text from markets');
    marketId = BigInt(market?.id ?? 0);
    account = await fixture.db.asSystem(async (tx) => {
      const customer = await findCustomer(tx, CUSTOMER);
      const details = { account: '12345678', ifsc: 'SIMB0000001', name: 'Asha Rao' };
      return (await addFiatAccount(tx, fixture.vault, { customer, fiat: 'inr', details, now: clock.now() })).id;
    });
  });
  after(async () => {
    await rows?.close();
    await fixture?.stop();
  });
  beforeEach(() => {
    says = { switchedOff: [], people: 2 };
    asked = [];
    doubted = [];
    returns = [];
    about = [];
    depths = [];
  });
}

export const context = (): GateContext => {
  const restored = {
    doubtful: async (_: Tx, payout: Doubtful) => {
      doubted.push(payout);
      return says.debit;
    },
    mayHavePaid: async () => says.lostTime,
  };
  const returnedBy = (rail: string) => async (_: Tx, order: object) => {
    returns.push({ rail, order });
    return says.returned;
  };
  const bank = { code: BANK, kind: 'bank', ...restored, mayHaveReturned: returnedBy(BANK) };
  const chain = {
    ...restored,
    mayHaveReturned: returnedBy(CHAIN),
    code: CHAIN,
    kind: 'chain',
    chain: 'test',
    readAddress: (text: string) => (text.startsWith('0x') ? text : undefined),
    notDeep: async (_: Tx, externalIds: readonly string[]) => {
      depths.push(externalIds);
      return says.notDeep;
    },
  };
  return {
    clock,
    rails: new Map([bank, chain].map((rail) => [rail.code, rail as unknown as Rail])),
    gate: {
      screenOwn: (tx, input) => screenOwn(tx, fixture.vault, input, says.stored),
      storedWait: async (tx, input) => await says.stored?.wait(tx, input),
      isSwitchedOff: async (_, rail) => says.switchedOff.includes(rail),
      peopleNeeded: async (_, { action, now }) => {
        assert.deepEqual(now, clock.now());
        asked.push(action);
        return says.people;
      },
      heldDestination: async (_, destination) => {
        about.push(destination);
        return says.held;
      },
      unconfirmedUntil: async (_, destination) => {
        about.push(destination);
        return says.unconfirmedUntil;
      },
      screeningMaxAgeMs: MAX_AGE_MS,
    },
  };
};

export interface Made {
  orderId: bigint;
  depositId: bigint;
  payoutId: string;
}

/** An order that accepted its deposit and whose payout is created; or, to an address, a refund of that deposit. */
export async function made(refundTo?: string): Promise<Made> {
  const { orderId, partnerId } = await rows.order('usdc.test', CHAIN, `0x${Math.random().toString(16).slice(2)}`);
  await rows.query(
    `update orders set state = 'paying_out', fiat_account_id = $2, received_units = deposit_units, refund_address = $3,
       refund_to_by = 'partner', customer_id = $4 where id = $1`,
    [orderId, account, OWN, CUSTOMER],
  );
  const [row] = await rows.query<{ id: string }>(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at, taken_units)
     values ($1, $2, 'usdc.test', 1000000, '', $3, $4, 'applied', '', now(), 1000000) returning id::text`,
    [CHAIN, `tx ${orderId}`, orderId, partnerId],
  );
  const depositId = BigInt(row?.id ?? 0);
  const payoutId = refundTo === undefined ? `pay_${orderId}_1` : `ref_${orderId}_1`;
  const of = { id: payoutId, orderId, partnerId, attempt: 1, now: clock.now() };
  if (refundTo !== undefined) {
    await rows.query("update deposits set state = 'suspense', taken_units = 0 where id = $1", [depositId]);
    await rows.query(
      `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why,
         requested_by, state, address, key, attempt, created_at, updated_at)
       values ($1, $2, $1, $3, 'refund', $4, 'usdc.test', 1000000, 1000000, 'suspense', '', '', 'created', $5, $6, 1, now(), now())`,
      [orderId, depositId, partnerId, CHAIN, refundTo, payoutId],
    );
  }
  await fixture.db.asSystem((tx) =>
    write(tx, {
      ...of,
      ...(refundTo === undefined
        ? { purpose: 'payout', rail: BANK, asset: 'inr', units: 8_000n, fiatAccountId: account }
        : {
            purpose: 'refund',
            rail: CHAIN,
            asset: 'usdc.test',
            units: 1_000_000n,
            address: refundTo,
            depositId,
            refundId: orderId,
          }),
    }),
  );
  await screened({ orderId, depositId, payoutId });
  return { orderId, depositId, payoutId };
}

/** One more deposit of its order, in suspense. @param set changes its columns */
export async function another(one: Made, set: string): Promise<bigint> {
  const [row] = await rows.query<{ id: string }>(
    `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at, taken_units)
     select rail, external_id || gen_random_uuid(), asset, units, target, order_id, partner_id, 'suspense', '', now(), 0
       from deposits where id = $1 returning id::text`,
    [one.depositId],
  );
  const id = BigInt(row?.id ?? 0);
  await rows.query(`update deposits set ${set} where id = $1`, [id]);
  return id;
}

export const inTx = <T>(
  of: Made,
  body: (tx: Tx, leaving: Awaited<ReturnType<typeof leavingOf>>) => Promise<T>,
): Promise<T> =>
  fixture.db.asSystem(async (tx) => {
    const payout = await findPayout(tx, of.payoutId);
    assert(payout);
    return await body(tx, await leavingOf(tx, payout));
  });

/** The provider has answered, without hits or with these. */
export const screened = (of: Made, hits: Verdict['hits'] = []): Promise<void> =>
  inTx(of, async (tx, leaving) => {
    const outcome = hits.length === 0 ? 'cleared' : 'held';
    keepVerdict(tx, leaving, { outcome, hits, rules: 'a provider', inputs: {} }, clock.now());
  });

export const asks = (of: Made): Promise<GateAnswer> =>
  fixture.db.asSystem(async (tx) => {
    const payout = await findPayout(tx, of.payoutId);
    assert(payout);
    return await askGate(context(), tx, payout);
  });
export const holds = async (of: Made, why: string) =>
  assert.deepEqual(await asks(of), { outcome: 'hold', why: `held: ${why}` });
export const pays = async (of: Made, message?: string) => assert.deepEqual(await asks(of), { outcome: 'pay' }, message);

export const approves = (of: Made, people: string[]): Promise<void> =>
  inTx(of, (tx, leaving) => approveStanding(context(), tx, leaving, { people, reason: 'looked at', now: clock.now() }));

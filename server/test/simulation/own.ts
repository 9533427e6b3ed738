/**
 * Own addresses: operators move money from the hot wallet to addresses outside the server, in one of ten seeds.
 *
 * - Two people register an address and wait until it can be used. Two people send a part of the wallet's balance there, one person
 *   tries alone, and amounts may reach below the wallet's low threshold.
 * - Between the confirmation and the transaction, people set a kill switch, deny the address, end its registration, require a third
 *   person, or cancel the transfer. Some of it is lifted while the transfer waits, and it resumes; the rest is cancelled.
 * - Money comes back from an own address.
 * - After a restore people match what left in the lost time: with the transfer of the books, or with one that they order again.
 *
 * The amount of each transfer is unique. So chain and people show which transfer arrived, and how often; the books must agree
 * (own.ends.ts). The invariants when a transfer is created, signed and broadcast are in signing.ts.
 *
 * They use separate random numbers, so that all other seeds play as they would without them.
 *
 * Long because operators and what they know are one closure over the random numbers of a run.
 */
import { Refusal } from '../../src/base/errors.ts';
import { replaceDenyList } from '../../src/compliance/index.ts';
import { setRule } from '../../src/operators/index.ts';
import { liftKillSwitch, setKillSwitch } from '../../src/partners/index.ts';
import type { Action } from '../../src/protocols/operator/action.ts';
import { TREASURY_ACTIONS } from '../../src/protocols/operator/actions/treasury.ts';
import { setThreshold } from '../../src/treasury/index.ts';
import type { Hands } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import { vault } from './ground.ts';
import { CHAIN, HOT_ADDRESS, RAIL, TOKENS } from './outside.chain.ts';
import { type Arrival, arrivedTwice, type OwnRow, wrongOwn } from './own.ends.ts';
import { declines, does, proposes } from './people.ts';
import type { Environment, OurProcess } from './process.ts';
import type { OwnTruth } from './signing.ts';
import { killSwitch, whenDone } from './stops.ts';

export const sendsToOwn = (seed: number): boolean => seed % 20 === 10 || seed % 20 === 15;

export const OWN_COOLING_OFF_MS = 20_000;
/** PostgreSQL ends a transaction that is idle for fifteen seconds, and a wait for a lock after ten (database.ts). */
const TX_MS = 30_000;
const LOOK_MS = 4_000;
const AGAIN_MS = 15_000;
/** A process stands still for at most two minutes (faults.ts): what was not confirmed by then never is. */
const UNCONFIRMED_MS = 200_000;
/** A transfer that is held, or waits, is looked at after this time. */
const WAITED_MS = 60_000;
const PERSON = 'operator:own';
const RULE = { action: 'transfer.send', right: 'treasury', asset: '*', aboveUnits: 0n };
const THREE = 3;
const ADDRESSES = ['0xcold1', '0xcold2'] as const;
/** One person tries to register it alone. */
const ALONE = '0xalone';
const COINS = ['usdc', 'usdc', 'usdt'] as const;
const assetOf = (coin: keyof typeof TOKENS): string => `${coin}.${CHAIN}`;
const listOf = (address: string): string => `own list of ${address}`;

const named = (name: string): Action => {
  const found = TREASURY_ACTIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${name} is no action`);
  return found;
};

/** A movement that the books lack, after a restore. */
interface Lost {
  id: string;
  recipient: string | null;
  asset: string | null;
  units: string | null;
  succeeded: boolean | null;
}

export interface Own {
  readonly done: ReadonlyMap<string, number>;
  /** Every transfer has ended, and nothing that people set here is on. */
  readonly isOver: boolean;
  readonly truth: Pick<OwnTruth, 'isOrdered' | 'isDenied' | 'isNeeded'>;
  /** A restore is under way: people decide nothing else (restore.ts). @returns whether this movement is theirs */
  matches(movement: Lost): boolean;
  /** What has arrived twice by now. */
  twice(): string[];
  /** At the end. */
  wrong(): Promise<string[]>;
}

interface Seen {
  addresses: { id: string; address: string; ended: boolean; usable: number; by: string }[];
  transfers: (OwnRow & { created: number; why: string | null; sent: boolean })[];
  free: Map<string, bigint>;
  /** Proposals that nobody has confirmed. */
  proposals: { id: bigint; proposed: number }[];
  switches: { kind: 'payouts' | 'rail'; subject: string }[];
  denied: string[];
  isRuled: boolean;
}

type Spoils = 'a switch' | 'a denial' | 'the end of its address' | 'a third person' | 'a cancellation';
const SPOILS: readonly (Spoils | undefined)[] = [
  ...(['a switch', 'a switch', 'a denial', 'a denial', 'the end of its address'] as const),
  ...(['a third person', 'a cancellation', 'a cancellation', undefined, undefined, undefined, undefined] as const),
];

// Long because operators and what they know are one closure over the random numbers of a run.
export function openOwn(
  world: Environment,
  deps: {
    seed: number;
    forMs: number;
    hands: () => Hands | undefined;
    /** The database of this run is replaced by an older copy. */
    isRestored: boolean;
    /** Operators are ending a restore. */
    isRestoring: () => boolean;
  },
): Own {
  const { scheduler, backends, faults, stops, chain } = world;
  const chance: Chance = chanceOf(deps.seed + 11_000_003);
  const done = new Map<string, number>();
  const did = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const now = () => scheduler.time.now();
  const tried = new Map<string, number>();
  /** Transfers that two people have confirmed, or are confirming. */
  const ordered = new Set<string>();
  const orderOf = (address: string, units: bigint | string): string => `${address} ${units}`;
  const used = new Set<bigint>();
  /** Since when every transaction sees it, and until when it stays. */
  const denials = new Map<string, { since: number; until: number }>();
  const rule = { since: Number.POSITIVE_INFINITY, until: 0 };
  /** By when their kill switches are to be lifted, and registrations to be made again. */
  const switches = new Map<string, number>();
  const endedUntil = new Map<string, number>();
  const spoiled = new Set<string>();
  const came = new Set<string>();
  let seen: Seen | undefined;
  let [planned, settled] = [0, false];

  const isTime = (what: string, ms = AGAIN_MS): boolean => {
    if (now() - (tried.get(what) ?? Number.NEGATIVE_INFINITY) < ms) return false;
    tried.set(what, now());
    return true;
  };
  const later = (ms: number, body: () => void): void => {
    planned += 1;
    scheduler.after(ms, () => {
      planned -= 1;
      body();
    });
  };
  /** Refusals are answers here: more money is not needed for them. */
  const somewhere = (what: string, body: (process: OurProcess) => Promise<unknown>, refused?: (why: Refusal) => void) =>
    deps.hands()?.somewhere(what, async (process) => {
      try {
        await body(process);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refused?.(error);
      }
    });

  // What the rows and the chain show.

  async function looks(): Promise<Seen> {
    const { look } = backends;
    const free = await look<{ asset: string; free: string }>(
      `select asset, (debits - credits - credits_held)::text as free from accounts where code like 'custody:${RAIL}:hot:%'
        order by code`,
    );
    const denied = await look<{ list: string }>(
      `select distinct list from denied_destinations where list like 'own list of %' order by list`,
    );
    const ruled = await look(`select 1 from people_rules where action = $1 and for_right = $2`, [
      RULE.action,
      RULE.right,
    ]);
    return {
      addresses: await look(
        `select id::text, address, ended_at is not null as ended, registered_by as by,
                (extract(epoch from usable_at) * 1000)::float8 as usable from treasury_addresses order by id`,
      ),
      transfers: await look(
        `select key, target, asset, units::text, state, why, (extract(epoch from created_at) * 1000)::float8 as created,
                exists (select from chain_sends s where s.key = t.key and s.state <> 'absent') as sent,
                exists (select from cases c where c.kind = 'transfer_held' and c.subject = t.key and c.closed_at is null) as told
           from treasury_transfers t order by id`,
      ),
      free: new Map(free.map((one) => [one.asset, BigInt(one.free)])),
      proposals: await look(
        `select id, (extract(epoch from proposed_at) * 1000)::float8 as proposed from proposals
          where state = 'open' and action = any($1) order by id`,
        [['own-address.register', 'transfer.send']],
      ),
      switches: await look('select kind, subject from kill_switches where by = $1 order by kind, subject', [PERSON]),
      denied: denied.map(({ list }) => list),
      isRuled: ruled.length > 0,
    };
  }

  const arrivals = (): Arrival[] =>
    ADDRESSES.flatMap((target) =>
      (['usdc', 'usdt'] as const).flatMap((coin) =>
        chain.arrivals(target, TOKENS[coin]).map((units) => ({ target, asset: assetOf(coin), units })),
      ),
    );

  function look(): void {
    void scheduler
      .perform('people look at own addresses', looks)
      .then((rows) => {
        seen = rows;
        decide(rows);
      })
      .catch((error: unknown) => world.complain('own addresses', error));
    scheduler.after(faults.ended ? AGAIN_MS : LOOK_MS, look);
  }
  later(1_000, look);
  later(5_000, limits);
  later(chance.int(5_000, 40_000), alone);
  for (let n = chance.int(6, 9); n > 0; n -= 1) later(chance.int(35_000, deps.forMs + 40_000), orders);

  function decide(rows: Seen): void {
    lifts(rows);
    const open = rows.transfers.filter(({ state }) => state === 'created' || state === 'submitted');
    if (!deps.isRestoring()) {
      registers(rows);
      // Its process ended, or one person was alone.
      for (const { id, proposed } of rows.proposals)
        if (now() - proposed > AGAIN_MS && isTime(`decline ${id}`)) withdraws(id);
      for (const one of open) cancels(one);
      for (const one of rows.transfers) returns(one);
    }
    settled =
      planned === 0 && open.length === 0 && rows.switches.length === 0 && rows.denied.length === 0 && !rows.isRuled;
  }

  // Addresses.

  const registered = (address: string) => seen?.addresses.find((one) => one.address === address && !one.ended);

  function registers({ addresses }: Seen): void {
    if (faults.ended) return;
    for (const address of ADDRESSES) {
      const there = addresses.find((one) => one.address === address);
      const waits = there !== undefined && (!there.ended || now() < (endedUntil.get(address) ?? 0));
      if (!waits && isTime(`register ${address}`)) register(address);
    }
  }

  const register = (address: string): void =>
    void somewhere('register an own address', async (process) => {
      const confirms = await proposes(process, named('own-address.register'), { rail: RAIL, address, label: 'a safe' });
      const { status } = await confirms(1);
      if (status === 200) did('registered an address');
    });

  function alone(): void {
    if (faults.ended) return;
    void somewhere(
      'register an own address alone',
      async (process) => {
        const given = { rail: RAIL, address: ALONE, label: 'a safe' };
        const confirms = await proposes(process, named('own-address.register'), given);
        await confirms(0);
        world.complain('own addresses', new Error('one person has registered an address'));
      },
      ({ code }) => did(`one person alone: ${code}`),
    );
  }

  const withdraws = (id: bigint): void => void somewhere('withdraw a proposal', (process) => declines(process, id));

  // Transfers.

  /** Of the wallet's money, a share has to stay. */
  function limits(): void {
    const free = seen?.free.get(assetOf('usdc')) ?? 0n;
    if (free === 0n && !faults.ended) return later(5_000, limits);
    const share = BigInt(chance.int(0, 60));
    for (const coin of ['usdc', 'usdt'] as const) {
      const threshold = { rail: RAIL, wallet: 'hot', asset: assetOf(coin), alarmUnits: 0n };
      const lowUnits = ((seen?.free.get(assetOf(coin)) ?? 0n) * share) / 100n;
      deps.hands()?.inTx('set a threshold', (tx) => setThreshold(tx, { ...threshold, lowUnits }));
    }
  }

  function orders(): void {
    if (faults.ended || deps.isRestoring()) return;
    const coin = chance.pick(COINS);
    // Mostly one that is not denied: such a proposal is refused.
    const allowed = ADDRESSES.filter((one) => (denials.get(one)?.until ?? 0) < now());
    const address = chance.pick(chance.happens(0.85) && allowed.length > 0 ? allowed : ADDRESSES);
    const there = registered(address);
    const free = seen?.free.get(assetOf(coin)) ?? 0n;
    if (there === undefined || free === 0n) return later(AGAIN_MS, orders);
    let units = (free * BigInt(chance.int(1, 45))) / 100n + 1n;
    while (used.has(units)) units += 1n;
    used.add(units);
    const isAlone = chance.happens(0.15);
    const spoils = isAlone ? undefined : chance.pick(SPOILS);
    // It waits for a switch until the rest is in force.
    if (spoils === 'a denial' || spoils === 'a third person') switchesOff(chance.int(TX_MS + 12_000, TX_MS + 30_000));
    else if (spoils === 'the end of its address') switchesOff(chance.int(12_000, 25_000));
    else if (spoils === 'a switch' && chance.happens(0.5)) spoil(spoils, address, units);
    sends({ address, coin, units, id: there.id, isAlone });
    if (spoils !== undefined) later(chance.int(500, 9_000), () => spoil(spoils, address, units));
  }

  function sends(o: { address: string; coin: keyof typeof TOKENS; units: bigint; id: string; isAlone: boolean }): void {
    const { address, coin, units, id, isAlone } = o;
    void somewhere(
      'send to an own address',
      async (process) => {
        const text = String(units).padStart(7, '0');
        const amount = `${text.slice(0, -6)}.${text.slice(-6)}`;
        const confirms = await proposes(process, named('transfer.send'), { id, asset: assetOf(coin), amount });
        if (isAlone) {
          await confirms(0);
          return world.complain('own addresses', new Error('one person has sent to an own address'));
        }
        ordered.add(orderOf(address, units));
        const { status } = await confirms(1);
        const last = status === 202 ? (await confirms(2)).status : status;
        did(last === 200 ? `${status === 202 ? 'three' : 'two'} people sent` : 'a proposal was overtaken');
      },
      (why) => {
        did(isAlone ? `one person alone: ${why.code}` : `not sent: ${why.code}`);
        if (deps.isRestoring() && why.code === 'funds_short') makesRoom(coin);
      },
    );
  }

  /** What had left before a restore has to fit. */
  function makesRoom(coin: keyof typeof TOKENS): void {
    const threshold = { rail: RAIL, wallet: 'hot', asset: assetOf(coin), alarmUnits: 0n, lowUnits: 0n };
    deps.hands()?.inTx('set a threshold', (tx) => setThreshold(tx, threshold));
    deps.hands()?.fund();
  }

  // What people set meanwhile.

  function spoil(how: Spoils, address: string, units: bigint): void {
    if (faults.ended || deps.isRestoring()) return;
    const name = `${how} ${orderOf(address, units)}`;
    if (spoiled.has(name)) return;
    spoiled.add(name);
    switch (how) {
      case 'a switch':
        return switchesOff(chance.int(8_000, 30_000));
      case 'a denial':
        return denies(address, chance.int(70_000, 110_000));
      case 'a third person':
        return requires(chance.int(70_000, 110_000));
      case 'the end of its address':
        return ends(address, chance.int(20_000, 60_000));
      case 'a cancellation': {
        const one = seen?.transfers.find((row) => row.target === address && row.units === String(units));
        if (one !== undefined) return cancel(one.key);
        spoiled.delete(name);
        return later(LOOK_MS, () => spoil(how, address, units));
      }
    }
  }

  function switchesOff(forMs: number): void {
    const [kind, subject] = chance.pick([
      ['payouts', 'all'],
      ['rail', RAIL],
    ] as const);
    const name = killSwitch(kind, subject);
    switches.set(name, Math.max(switches.get(name) ?? 0, now() + forMs));
    deps
      .hands()
      ?.inTx(
        'switch off what leaves for own addresses',
        (tx, at) => setKillSwitch(tx, { kind, subject, by: PERSON, reason: 'stepped in', at }),
        { committed: stops.laying(name) },
      );
    did('switched off');
  }

  function denies(address: string, forMs: number): void {
    if (denials.has(address)) return;
    const denial = { since: Number.POSITIVE_INFINITY, until: now() + forMs };
    denials.set(address, denial);
    void somewhere('deny an own address', async ({ context: { db, clock } }) => {
      const destinations = [{ kind: 'address' as const, value: address }];
      await db.asSystem((tx) =>
        replaceDenyList(tx, vault, { list: listOf(address), version: '1', destinations, now: clock.now() }),
      );
      denial.since = now();
      did('denied an address');
    });
  }

  function requires(forMs: number): void {
    if (rule.until > 0) return;
    rule.until = now() + forMs;
    void somewhere('require a third person', async ({ context: { db } }) => {
      await db.asSystem((tx) => setRule(tx, { ...RULE, people: THREE }));
      rule.since = now();
      did('required a third person');
    });
  }

  function ends(address: string, forMs: number): void {
    const there = registered(address);
    if (there === undefined) return;
    endedUntil.set(address, now() + forMs);
    void somewhere('end an own address', async (process) => {
      await does(process, named('own-address.end'), { id: there.id });
      did('ended a registration');
    });
  }

  const cancel = (key: string): void =>
    void somewhere(
      'cancel a transfer',
      async (process) => {
        await does(process, named('transfer.cancel'), { transfer: key });
        did('cancelled a transfer');
      },
      ({ code }) => did(`not cancelled: ${code}`),
    );

  function cancels({ key, created, told, why }: Seen['transfers'][number]): void {
    const hasWaited = now() - created > WAITED_MS;
    if (told && isTime(`held ${key}`, WAITED_MS)) did(`held: ${why}`);
    // Of those that are held, a part goes on once the reason is gone.
    if (!told || !(hasWaited || faults.ended) || !isTime(`cancel ${key}`, AGAIN_MS)) return;
    if (faults.ended || chance.happens(0.15)) cancel(key);
  }

  function lifts({ switches: on, denied, isRuled }: Seen): void {
    for (const { kind, subject } of on) {
      const name = killSwitch(kind, subject);
      if ((!faults.ended && now() < (switches.get(name) ?? 0)) || !isTime(name)) continue;
      void somewhere('lift what was switched off', ({ context: { db } }) => {
        const over = stops.lifting(name);
        return whenDone(
          db.asSystem((tx) => liftKillSwitch(tx, kind, subject)),
          over,
          over,
        );
      });
    }
    for (const address of ADDRESSES) {
      const denial = denials.get(address);
      const isLate = faults.ended || deps.isRestoring() || now() > (denial?.until ?? 0);
      if (!denied.includes(listOf(address)) || !isLate || !isTime(`allow ${address}`)) continue;
      // It does not count any more, whether or not this succeeds.
      if (denial !== undefined) denial.since = Number.POSITIVE_INFINITY;
      deps.hands()?.inTx('allow an own address', async (tx, at) => {
        await replaceDenyList(tx, vault, { list: listOf(address), version: '2', destinations: [], now: at });
      });
    }
    if (!isRuled || (!faults.ended && !deps.isRestoring() && now() < rule.until) || !isTime('drop the rule')) return;
    rule.since = Number.POSITIVE_INFINITY;
    deps.hands()?.inTx('require two people again', (tx) => setRule(tx, { ...RULE, people: null }));
  }

  /** A part of what has settled comes back. In a restored run the books would not know from whom. */
  function returns({ key, target, asset, units, state }: Seen['transfers'][number]): void {
    if (state !== 'settled' || faults.ended || deps.isRestored || came.has(key)) return;
    came.add(key);
    if (!chance.happens(0.3)) return;
    const contract = TOKENS[(asset.split('.')[0] ?? '') as keyof typeof TOKENS];
    chain.transfer(target, HOT_ADDRESS, contract, (BigInt(units) * BigInt(chance.int(1, 100))) / 100n);
    did('money came back');
  }

  const isRestorable = ({ recipient, asset, units }: Lost): boolean =>
    recipient !== null && asset !== null && units !== null && ADDRESSES.some((one) => one === recipient);

  return {
    done,
    get isOver() {
      return settled;
    },
    truth: {
      isOrdered: (address, units) => ordered.has(orderOf(address, units)),
      isDenied: (address) =>
        !deps.isRestored && (denials.get(address)?.since ?? Number.POSITIVE_INFINITY) + TX_MS < now(),
      isNeeded: (people) => !deps.isRestored && people === THREE && rule.since + TX_MS < now(),
    },
    matches(movement) {
      if (!isRestorable(movement) || movement.succeeded !== true) return false;
      const { id, recipient: address, asset, units } = movement;
      const fits = seen?.transfers.find(
        (row) =>
          row.target === address &&
          row.asset === asset &&
          row.units === units &&
          !row.sent &&
          row.state !== 'cancelled',
      );
      if (fits !== undefined) {
        deps.hands()?.inTx('match a movement with a transfer', async (tx, _, { movements }) => {
          await movements.match(tx, { movement: BigInt(id), key: fits.key });
          did('matched after a restore');
        });
        return true;
      }
      const there = registered(String(address));
      if (there === undefined) {
        if (isTime(`register ${address}`)) register(String(address));
        return true;
      }
      if (now() < there.usable || !isTime(`order again ${units}`, UNCONFIRMED_MS)) return true;
      const coin = (String(asset).split('.')[0] ?? '') as keyof typeof TOKENS;
      sends({ address: String(address), coin, units: BigInt(units ?? 0), id: there.id, isAlone: false });
      did('ordered again after a restore');
      return true;
    },
    twice: () => arrivedTwice(arrivals()),
    async wrong() {
      const { transfers, addresses } = await looks();
      const booked = await backends.look<{ target: string; asset: string; units: string }>(
        `select a.address as target, c.asset, (c.debits - c.credits)::text as units from treasury_addresses a
           join accounts c on c.code = concat_ws(':', 'custody', a.rail, 'own.' || a.id, c.asset) order by c.code`,
      );
      const balances = ADDRESSES.flatMap((target) =>
        (['usdc', 'usdt'] as const).map((coin) => ({
          target,
          asset: assetOf(coin),
          there: chain.balance(target, TOKENS[coin]),
          booked: BigInt(booked.find((one) => one.target === target && one.asset === assetOf(coin))?.units ?? 0),
        })),
      );
      return [
        ...addresses
          .filter(({ by, address }) => new Set(by.split(', ')).size < 2 || address === ALONE)
          .map(({ by, address }) => `${address} is registered by ${by}`),
        ...wrongOwn(transfers, arrivals(), balances, (target, units) => ordered.has(orderOf(target, units))),
      ];
    },
  };
}

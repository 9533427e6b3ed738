/**
 * Strays: money without an order, and people's actions on it.
 *
 * Strangers pay into our account at the bank without a reference, and coins into the paying wallet; customers send coins that
 * their order does not accept. Operators then take one of the documented actions on each: it is returned to its source (a credit
 * to the account that the statement shows, coins to an address that the sending key has signed for or that the customer has
 * confirmed on a page), it is written off as dust, or it stays unclaimed and becomes dormant, permanently or until it is claimed.
 * Sometimes a request comes that must be rejected: a signature of another key, another address than the confirmed one, an amount
 * that is not dust.
 *
 * Every fifth seed has them. They come in currencies in which no order is made, so that dust and dormant money can be counted to
 * the unit on their accounts.
 *
 * The expected end of each follows from its plan and from the records of chain and bank (`wrongStrays`); of our rows only the
 * balances of four kinds of account are compared. Days pass by moving the rows of one deposit into the past.
 */
import { Refusal } from '../../src/base/errors.ts';
import {
  correctCase,
  makeReturnLink,
  returnText,
  setDormancy,
  setDustThreshold,
  wakeByHand,
  writeOffDust,
} from '../../src/orders/index.ts';
import { PAYER_ACTIONS } from '../../src/protocols/operator/actions/payers.ts';
import type { OperatorDeps } from '../../src/protocols/operator/deps.ts';
import type { Hands, Noted } from './actors.ts';
import { type Chance, chanceOf } from './chance.ts';
import type { Free, Held } from './ends.ts';
import { vault } from './ground.ts';
import { OTHER_CURRENCY, OTHER_FIAT } from './outside.bank.ts';
import { CHAIN, HOT_ADDRESS, signedBy, TOKENS } from './outside.chain.ts';
import type { Environment, OurProcess } from './process.ts';

/** The planned outcome of one. */
const PLANS = ['returned', 'dust', 'small', 'dormant', 'claimed', 'woken'] as const;
type Plan = (typeof PLANS)[number] | 'confirmed';

export interface Stray {
  plan: Plan;
  asset: string;
  units: bigint;
  /** The account or address that it came from, and its refund destination. */
  from: string;
  to: string;
  /** The bank's line, or the chain's hash. */
  name: string;
  /** Its recipient on the chain. */
  target?: string;
  one?: Noted;
}

export interface Strays {
  readonly all: readonly Stray[];
  /** No actor plans a further step on any of them. */
  readonly isOver: boolean;
  /** People's actions, with counts. */
  readonly done: ReadonlyMap<string, number>;
  operate(): void;
}

export const hasStrays = (seed: number): boolean => seed % 5 === 0;

const EUR = OTHER_FIAT;
const USDT = `usdt.${CHAIN}`;
const OPERATORS = ['operator:1', 'operator:2'];
/**
 * Below this a receipt opens no case (the sandbox's catalogue), and below that operators write it off once they have set it so.
 */
const SMALL: Readonly<Record<string, number>> = { [EUR]: 5, [USDT]: 10_000 };
const DUST: Readonly<Record<string, number>> = { [EUR]: 500, [USDT]: 1_000_000 };
const LONG = `interval '400 days'`;
const POLICY = { afterDays: 100, noticeDays: 30 };
const THIEF = '0xthief';
const TYPED = '0xtyped';
/** Destinations that may not be paid: counted if the address was not confirmed when it was returned. */
const UNCONFIRMED = 'returned unconfirmed';

/** SQL, with a deposit as `d`: a refund of it waits for funds. */
export const REFUND_IS_SHORT = `exists (select from short_refunds s join refunds r on s.subject = r.id::text
  where s.kind = 'screen_refund' and r.deposit_id = d.id)`;

interface Row {
  id: string;
  name: string;
  state: string;
  free: string;
  reference: string;
  units: string;
  dust: boolean;
  /** `announced`, `dormant`, or null. */
  dormancy: 'announced' | 'dormant' | null;
  refund: string | null;
  /** The refund waits for funds. */
  short: boolean;
  case: string | null;
  link: string | null;
  entered: string | null;
  confirmed: string | null;
}

const NAMEABLE = ['needs_destination', 'held', 'rejected', 'returned'];

// Long because its strays are one closure over the random numbers of a run.
export function openStrays(
  world: Environment,
  deps: { seed: number; forMs: number; noted: () => readonly Noted[]; hands: () => Hands | undefined },
): Strays {
  const { scheduler, backends, bank, chain, faults } = world;
  // Separate, so that the rest of a seed plays as it would without them.
  const chance: Chance = chanceOf(deps.seed + 1_000_003);
  const all: Stray[] = [];
  const done = new Map<string, number>();
  const agedAt = new Set<string>();
  let planned = 0;
  let settled = false;
  let looking = false;
  const count = (what: string): void => void done.set(what, (done.get(what) ?? 0) + 1);
  const step = <T>(what: string, body: () => Promise<T>, then?: (value: T) => void): Promise<void> =>
    scheduler
      .perform(what, body)
      .then(then)
      .catch((error: unknown) => world.complain(what, error));

  const later = (ms: number, body: () => void): void => {
    planned += 1;
    scheduler.after(ms, () => {
      planned -= 1;
      body();
    });
  };

  for (const plan of PLANS)
    for (const atBank of [true, false]) later(chance.int(20_000, deps.forMs), () => come(plan, atBank));
  for (let n = 0; n < 2; n += 1) later(chance.int(50_000, deps.forMs), confirmedOne);

  const unitsOf = (plan: Plan, asset: string): bigint => {
    const [small, dust] = [SMALL[asset] ?? 0, DUST[asset] ?? 0];
    if (plan === 'small') return BigInt(chance.int(1, small - 1));
    return BigInt(plan === 'dust' ? chance.int(small, dust - 1) : chance.int(dust * 10, dust * 200));
  };

  function come(plan: Plan, atBank: boolean): void {
    // What a wallet receives before its chain is first followed is part of its opening balance. Production books that; this
    // environment does not.
    if (!atBank && !chain.isFollowed) return later(5_000, () => come(plan, atBank));
    const asset = atBank ? EUR : USDT;
    const units = unitsOf(plan, asset);
    const n = all.length;
    if (atBank) {
      const from = `8${String(n).padStart(7, '0')}`;
      const name = bank.credit(units, `a gift ${n}`, { currency: OTHER_CURRENCY, account: from, name: 'A Stranger' });
      all.push({ plan, asset, units, from, to: from, name });
      return;
    }
    const from = `0xstranger${n}`;
    const name = chain.transfer(from, HOT_ADDRESS, TOKENS.usdt, units);
    all.push({ plan, asset, units, from, to: `${from}-other`, name, target: HOT_ADDRESS });
  }

  /** Coins that its customer's order does not accept. */
  function confirmedOne(): void {
    const sales = deps.noted().filter(({ order }) => order.direction === 'offramp');
    const one = sales.length === 0 ? undefined : chance.pick(sales);
    if (one === undefined) return;
    const units = unitsOf('confirmed', USDT);
    const from = `0xexchange${all.length}`;
    const target = one.order.depositTarget;
    const name = chain.transfer(from, target, TOKENS.usdt, units);
    all.push({ plan: 'confirmed', asset: USDT, units, from, to: one.back ?? '', name, target, one });
  }

  async function looks(): Promise<Map<string, Row>> {
    const rows = await backends.look<Row>(
      `select d.id::text, split_part(d.external_id, ':', 1) as name, d.state, d.reference, d.units::text, d.dust,
              (d.units - d.taken_units - d.refund_units)::text as free,
              case when d.dormant_units > 0 then 'dormant' when d.dormant_from is not null then 'announced' end as dormancy,
              (select r.state from refunds r where r.deposit_id = d.id and r.source = 'suspense'
                and r.state not in ('settled', 'cancelled') order by r.id limit 1) as refund,
              ${REFUND_IS_SHORT} as short,
              (select min(c.id)::text from cases c where c.subject = 'deposit:' || d.id and c.closed_at is null
                and c.kind in ('unexpected_credit', 'deposit_unknown_target', 'dormant')) as case,
              l.id as link, l.entered_address as entered, l.confirmed_address as confirmed
         from deposits d left join return_links l on l.deposit_id = d.id and l.replaced_at is null
        where split_part(d.external_id, ':', 1) = any($1) order by d.id`,
      [all.map(({ name }) => name)],
    );
    return new Map(rows.map((row) => [row.name, row]));
  }

  function operate(): void {
    if (looking) return;
    looking = true;
    void step('the operator looks at money of nobody', looks, decide).finally(() => {
      looking = false;
    });
  }

  function decide(rows: ReadonlyMap<string, Row>): void {
    const hands = deps.hands();
    if (hands === undefined) return;
    let open = planned;
    for (const stray of all) {
      const row = rows.get(stray.name);
      if (isAtItsEnd(stray, row)) continue;
      open += 1;
      if (row !== undefined && (faults.ended || chance.happens(0.7))) next(hands, stray, row);
    }
    settled = open === 0;
  }

  /** The received amount: less if a reorg has removed it for good. */
  const cameIn = ({ name, target, units }: Stray): bigint => (target === undefined || chain.isMined(name) ? units : 0n);

  function isAtItsEnd(stray: Stray, row: Row | undefined): boolean {
    if (row === undefined) return faults.ended && cameIn(stray) === 0n && chain.waiting.length === 0;
    if (row.state === 'reversed' || row.state === 'lost') return true;
    if (stray.plan === 'dust' || stray.plan === 'small') return row.state === 'written_off';
    if (stray.plan === 'dormant') return row.dormancy === 'dormant';
    return BigInt(row.free) === 0n && row.refund === null;
  }

  function next(hands: Hands, stray: Stray, row: Row): void {
    const id = BigInt(row.id);
    // A credit of the same account was recalled, so its money is missing.
    if (row.short) return hands.fund();
    const isWaiting = (row.state === 'suspense' && BigInt(row.free) > 0n) || NAMEABLE.includes(row.refund ?? '');
    if (!isWaiting) return;
    switch (stray.plan) {
      case 'small':
        return hands.inTx('write off dust', async (tx, now, { context }) => {
          await writeOffDust(context, tx, { asset: stray.asset, before: now, most: 10, by: OPERATORS.join(', '), now });
          count('dust written off');
        });
      case 'dust':
        hands.inTx('say what is dust', async (tx) => setDustThreshold(tx, stray.asset, BigInt(DUST[stray.asset] ?? 0)));
        return correctAsDust(hands, row);
      case 'dormant':
      case 'claimed':
      case 'woken':
        if (row.refund === null && !agedAt.has(`${row.id} dormant`)) {
          if (row.dormancy === 'dormant') agedAt.add(`${row.id} dormant`);
          else return daysPass(hands, row);
        }
        if (stray.plan === 'dormant') return;
        if (stray.plan === 'woken' && row.dormancy === 'dormant')
          return hands.inTx('wake', async (tx, now) => {
            await wakeByHand(tx, { depositId: id }, { by: OPERATORS[0] ?? '', why: 'somebody has called', now });
            count('woken');
          });
        count(`${stray.plan} after it was dormant`);
        return startRefund(hands, stray, id);
      case 'confirmed':
        return linked(hands, stray, row);
      default:
        // A write-off is also tried for an amount that is not dust.
        if (chance.happens(0.3)) correctAsDust(hands, row);
        return startRefund(hands, stray, id);
    }
  }

  function correctAsDust(hands: Hands, row: Row): void {
    const about = row.case;
    if (about === null) return;
    hands.inTx('correct as dust', async (tx, now, { context }) => {
      await correctCase(context, tx, {
        ...{ case: BigInt(about), as: 'dust', evidence: row.reference, units: BigInt(row.units) },
        ...{ by: OPERATORS.join(', '), now },
      });
      count('corrected as dust');
    });
  }

  /** A deposit has been untouched for long. */
  function daysPass(hands: Hands, row: Row): void {
    hands.inTx('what becomes dormant', async (tx, now) =>
      setDormancy(tx, POLICY, { by: OPERATORS[0] ?? '', reason: 'as the law has it', now }),
    );
    if (row.dormancy === 'announced')
      return void step('the notice is over', () =>
        backends.look(
          `update dormancies set dormant_from = dormant_from - ${LONG}
            where deposit_id = (select deposit_id from dormancies
              where deposit_id = $1 and ended_at is null and dormant_at is null and dormant_from > noticed_at
                for no key update skip locked) and ended_at is null`,
          [row.id],
        ),
      );
    if (agedAt.has(row.id)) return;
    agedAt.add(row.id);
    // The process that has locked it continues only after this: it is left for another time.
    void step('a year passes', async () => {
      const aged = await backends.look(
        `update deposits set seen_at = seen_at - ${LONG}, confirmed_at = confirmed_at - ${LONG}
          where id = (select id from deposits where id = $1 for no key update skip locked) returning id`,
        [row.id],
      );
      if (aged.length === 0) agedAt.delete(row.id);
    });
  }

  const RETURN = PAYER_ACTIONS.find(({ name }) => name === 'deposit.return');

  /** The operators' own action, confirmed by two of them. */
  function returns(hands: Hands, what: string, body: (process: OurProcess) => Promise<Record<string, unknown>>): void {
    hands.somewhere(what, async (process) => {
      const input = await body(process);
      const { context } = process;
      const desk = { orders: context, vault, clock: context.clock } as OperatorDeps;
      const isUnconfirmed = await context.db.asSystem(async (tx) => {
        const none = { address: undefined, signature: undefined, pastHits: undefined, despiteDebt: undefined };
        const asked = { ...none, ...input } as never;
        const seen = await RETURN?.look(desk, tx, asked);
        await RETURN?.perform?.(
          desk,
          tx,
          asked,
          {
            operator: { name: OPERATORS[0] },
            people: OPERATORS,
            reason: 'it is theirs',
            now: context.clock.now(),
          } as never,
          seen,
        );
        const confirmed = await tx.row(
          'select from return_links where deposit_id = $1 and replaced_at is null and confirmed_at is not null',
          [input['deposit']],
        );
        return confirmed === undefined;
      });
      // Its customer may have confirmed it since this was read.
      if (what !== UNCONFIRMED || isUnconfirmed) count(what);
    });
  }

  function startRefund(hands: Hands, stray: Stray, deposit: bigint): void {
    if (stray.target === undefined) return returns(hands, 'returned to its account', async () => ({ deposit }));
    const signed = (by: string, address: string) => async (process: OurProcess) => {
      const { context } = process;
      const text = await context.db.asSystem((tx) => returnText(context, tx, { depositId: deposit, address }));
      return { deposit, address, signature: signedBy(by, text) };
    };
    if (chance.happens(0.4)) return returns(hands, 'returned to a thief', signed(THIEF, THIEF));
    returns(hands, 'returned to a signed address', signed(stray.from, stray.to));
  }

  /** Link, page and action, one after the other, and sometimes out of order. */
  function linked(hands: Hands, stray: Stray, row: Row): void {
    const deposit = BigInt(row.id);
    const customerId = stray.one?.order.customerId ?? '';
    if (row.confirmed !== null) {
      if (chance.happens(0.3)) return returns(hands, 'returned elsewhere', async () => ({ deposit, address: TYPED }));
      // A debt of another deposit of its order is the customer's, who wants this one back all the same.
      return returns(hands, 'returned as confirmed', async () => ({ deposit, despiteDebt: faults.ended }));
    }
    const { link } = row;
    if (link === null)
      return hands.inTx('make a return link', async (tx, now, { context }) => {
        const expiresAt = new Date(now.getTime() + 86_400_000);
        await makeReturnLink(context, tx, { depositId: deposit, by: OPERATORS[0] ?? '', expiresAt, now });
        count('return link');
      });
    const asked = { id: link, customerId };
    const confirms = () =>
      hands.inTx('confirm an address', async (tx, now, { orders }) => {
        await orders.confirmReturnAddress(tx, { ...asked, address: stray.to, loggedInAt: now, now });
      });
    // The confirmed page may be an older one: another address was typed in another window.
    if (row.entered === TYPED && chance.happens(0.5)) return confirms();
    if (row.entered !== stray.to || chance.happens(0.2)) {
      const typed = row.entered === null ? TYPED : stray.to;
      if (chance.happens(0.3)) returns(hands, UNCONFIRMED, async () => ({ deposit }));
      return hands.inTx('enter an address', async (tx, _, { orders }) => {
        const why = await orders.enterReturnAddress(tx, { ...asked, text: typed });
        if (why !== undefined) throw new Refusal('does_not_fit', { why });
      });
    }
    confirms();
  }

  return {
    all,
    done,
    get isOver() {
      return settled && planned === 0;
    },
    operate,
  };
}

/** Chain's and bank's records of one, for its end. */
interface Known {
  cameIn: bigint;
  /** Returned to its source, and not come back. */
  wentBack: bigint;
}

const isReturned = ({ plan }: Stray): boolean => plan === 'returned' || plan === 'claimed' || plan === 'woken';

/**
 * The violations, in sentences.
 *
 * @param held our accounts, those of one kind and asset together
 * @param free money in suspense of orders
 */
export function wrongStrays(
  { bank, chain }: Pick<Environment, 'bank' | 'chain'>,
  strays: readonly Stray[],
  held: readonly Held[],
  free: readonly Free[],
): string[] {
  const wrong: string[] = [];
  const known = ({ name, target, asset, units, to }: Stray): Known =>
    target === undefined
      ? { cameIn: units, wentBack: bank.outTo(to, asset) }
      : { cameIn: chain.isMined(name) ? units : 0n, wentBack: chain.paidTo(to, TOKENS.usdt) };
  const sums = new Map<string, bigint>();
  const add = (kind: string, asset: string, units: bigint) =>
    void sums.set(`${kind} ${asset}`, (sums.get(`${kind} ${asset}`) ?? 0n) + units);
  for (const stray of strays) {
    // A customer's payment is checked with its order: of several that were confirmed to one destination only the sum is known.
    if (stray.plan === 'confirmed') continue;
    const { cameIn, wentBack } = known(stray);
    const must = isReturned(stray) ? cameIn : 0n;
    if (wentBack !== must)
      wrong.push(
        `${stray.units} ${stray.asset} of ${stray.from}, ${stray.plan}: ${wentBack} went back, and ${must} must`,
      );
    if (stray.plan === 'dormant') add('dormant', stray.asset, cameIn);
    if (stray.plan === 'dust' || stray.plan === 'small') add('rounding', stray.asset, cameIn);
  }
  for (const { asset, units } of free) add('suspense', asset, BigInt(units));
  for (const asset of [EUR, USDT])
    for (const kind of ['dormant', 'rounding', 'suspense']) {
      const holds = BigInt(held.find((one) => one.kind === kind && one.asset === asset)?.units ?? 0);
      const must = sums.get(`${kind} ${asset}`) ?? 0n;
      if (holds !== must) wrong.push(`${kind} holds ${holds} ${asset}, and must hold ${must}`);
    }
  for (const place of [THIEF, TYPED]) {
    const units = chain.paidTo(place, TOKENS.usdt);
    if (units > 0n) wrong.push(`${units} ${USDT} went to ${place}, whose it is not`);
  }
  return wrong;
}

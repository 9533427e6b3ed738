/**
 * Signing: the invariants of money between its submission and the node, and of transfers to own addresses.
 *
 * A transaction leaves the hot wallet in three steps, and each is checked here, without any part of our gates:
 *
 * - **Created**: the commit that inserts a transfer to an own address. Two people have ordered it, the address can be used, and the
 *   wallet keeps its low threshold.
 * - **Signed**: the commit after which a signer may be asked about a transaction. The rows of that moment, and what people know,
 *   decide whether a transfer to an own address may leave. A payout is checked once more like at its submission (guard.ts).
 * - **Offered**: a process gives signed bytes to a node for the first time. Its nonce was signed for exactly this transfer, and
 *   this same process has asked a gate about it: one that continues after another has ended asks again.
 *
 * Not here: what leaves twice (own.ts, checks.ts).
 */
import { TRANSFER_KEY } from '../../src/rails/chain.ts';
import { against, type Look, PEOPLE, type Submission, submissionsOf, type Truth } from './guard.ts';
import { RAIL } from './outside.chain.ts';
import { killSwitch } from './stops.ts';

/** The committed rows of a transfer to an own address when it is created or signed. Amounts as text, times in milliseconds. */
export interface Moving {
  key: string;
  rail: string;
  target: string;
  asset: string;
  units: string;
  people: readonly string[];
  /** It has ended. */
  over: boolean;
  /** The registered address. */
  address: string;
  address_rail: string;
  registered_by: string;
  usable_at: number;
  /** Its registration has ended. */
  ended: boolean;
  switched_off: boolean;
  /** Number of people that a rule asks for. */
  needed: number | null;
  /** The wallet's free money above its low threshold. */
  spare: string;
  /** Nonces of other transactions of its key that may be mined. */
  nonces: readonly string[];
}

/** What people know about transfers to own addresses. */
export interface OwnTruth {
  now(): number;
  spreadMs(): number;
  /** Two people have confirmed this transfer, or are confirming it. */
  isOrdered(address: string, units: string): boolean;
  /** Every transaction of ours sees that it is denied. */
  isDenied(address: string): boolean;
  /** Every transaction of ours sees that so many people are needed. */
  isNeeded(people: number): boolean;
  stops?: Truth['stops'];
}

const MOVING = `
  t.key, t.rail, t.target, t.asset, t.units::text, t.people, t.ended_at is not null as over,
  a.address, a.rail as address_rail, a.registered_by, a.ended_at is not null as ended,
  (extract(epoch from a.usable_at) * 1000)::float8 as usable_at,
  exists (select from kill_switches k where k.kind = 'payouts' or (k.kind = 'rail' and k.subject = t.rail)) as switched_off,
  (select max(r.people) from people_rules r where r.action = 'transfer.send' and r.for_right = 'treasury') as needed,
  (select (c.debits - c.credits - c.credits_held - coalesce(h.low_units, 0))::text
     from accounts c left join treasury_thresholds h on (h.rail, h.wallet, h.asset) = (t.rail, t.wallet, t.asset)
    where c.code = concat_ws(':', 'custody', t.rail, t.wallet, t.asset)) as spare,
  (select coalesce(json_agg(o.nonce::text), '[]') from chain_sends o
    where o.key = t.key and o.state <> 'absent' and s.nonce is not null and o.nonce <> s.nonce) as nonces`;
const CREATED = `
  select ${MOVING} from treasury_transfers t join treasury_addresses a on a.id = t.address_id
    left join chain_sends s on false
   where t.xmin = pg_current_xact_id()::xid`;
const SIGNED = `
  select ${MOVING} from chain_sends s join treasury_transfers t on t.key = s.key join treasury_addresses a on a.id = t.address_id
   where s.id = any($1)`;
const SENDS = `
  select key, nonce::text, target as contract, convert_from(data, 'utf8') as call from chain_sends
   where id = any($1) and length(data) > 0`;

/** All violations of a transfer to an own address, in sentences. */
export function againstMoving(one: Moving, truth: OwnTruth, moment: 'created' | 'signed'): string[] {
  const people = new Set(one.people).size;
  const stands = (kind: string, subject: string): boolean =>
    truth.stops?.since(killSwitch(kind, subject)) !== undefined;
  const now = truth.now() + truth.spreadMs();
  const found: (string | false)[] = [
    people < PEOPLE && `is ${moment} for ${people} people, and two have to agree`,
    one.needed !== null &&
      people < one.needed &&
      truth.isNeeded(one.needed) &&
      `is ${moment} for ${people} people of ${one.needed}`,
    !truth.isOrdered(one.target, one.units) &&
      `of ${one.units} to ${one.target} is ${moment}, and no two people have ordered it`,
    one.over && `is ${moment} although it has ended`,
    (one.address !== one.target || one.address_rail !== one.rail) &&
      `is ${moment} to ${one.target}, and the own address is ${one.address}`,
    new Set(one.registered_by.split(', ')).size < PEOPLE &&
      `is ${moment} to ${one.target}, which only ${one.registered_by} has registered`,
    one.ended && `is ${moment} to ${one.target}, which is not registered any more`,
    now < one.usable_at &&
      `is ${moment} to ${one.target} ${Math.round(one.usable_at - now)} ms before that can be used`,
    truth.isDenied(one.target) && `is ${moment} to ${one.target}, which is denied`,
    moment === 'created' && BigInt(one.spare) < 0n && `leaves the wallet ${-BigInt(one.spare)} below its threshold`,
    moment === 'signed' && one.switched_off && 'is signed although a kill switch is on',
    moment === 'signed' &&
      (stands('payouts', 'all') || stands('rail', one.rail)) &&
      'is signed although people have stopped it',
    moment === 'signed' && one.nonces.length > 0 && `is signed again beside nonce ${one.nonces.join(', ')}`,
  ];
  return found.filter((what) => what !== false);
}

export interface Signing {
  /** In the commit that creates transfers to own addresses. */
  creating(look: Look): Promise<void>;
  /** In the commit after which a signer may be asked about these rows of chain_sends. */
  signing(ids: readonly string[], look: Look): Promise<void>;
  /** A gate has let this process sign or broadcast. */
  lets(process: string, key: string): void;
  /** A process gives these bytes to a node. */
  offers(process: string, what: Offered): void;
  /** They have arrived there. */
  left(what: Offered): void;
  /** Number of transfers to own addresses that were checked as they were signed. */
  readonly looked: number;
}

export interface Offered {
  to: string;
  contract: string;
  units: bigint;
  nonce: bigint;
}

export function openSigning(deps: { truth: Truth; own: OwnTruth; violated: (what: string) => void }): Signing {
  const { truth, own, violated } = deps;
  /** Keys by the transfer and the nonce that were signed for them. */
  const signed = new Map<string, string>();
  const offered = new Set<string>();
  const permitted = new Set<string>();
  let looked = 0;
  const nameOf = ({ to, contract, units, nonce }: Offered): string => `${to} ${units} ${contract} ${nonce}`;

  return {
    async creating(look) {
      for (const one of (await look(CREATED, [])) as Moving[])
        for (const why of againstMoving(one, own, 'created')) violated(`${one.key} ${why}`);
    },
    async signing(ids, look) {
      const sends = (await look(SENDS, [ids])) as { key: string; nonce: string; contract: string; call: string }[];
      for (const { key, nonce, contract, call } of sends) signed.set(`${call} ${contract} ${nonce}`, key);
      for (const one of (await look(SIGNED, [ids])) as Moving[]) {
        looked += 1;
        for (const why of againstMoving(one, own, 'signed')) violated(`${one.key} ${why}`);
      }
      const payouts = sends.flatMap(({ key }) => (key.startsWith(TRANSFER_KEY) ? [] : [key]));
      if (payouts.length === 0) return;
      const rows: Submission[] = await submissionsOf(payouts, look, truth);
      for (const one of rows) for (const why of against(one, truth)) violated(`${one.id} ${why}, when it is signed`);
    },
    lets(process, key) {
      permitted.add(`${process} ${key}`);
    },
    offers(process, what) {
      const name = nameOf(what);
      if (offered.has(name)) return;
      const key = signed.get(name);
      const about = `${what.units} to ${what.to} with nonce ${what.nonce}`;
      if (key === undefined) return violated(`${about} is given to ${RAIL}, and it was not signed for any key`);
      if (!permitted.has(`${process} ${key}`))
        violated(`${key}, ${about}, is given to ${RAIL} by a process that has not asked whether it may leave`);
    },
    left(what) {
      offered.add(nameOf(what));
    },
    get looked() {
      return looked;
    },
  };
}

/**
 * The travel rule: from a threshold on, a transfer of coins leaves only with the data of originator and beneficiary, as
 * IVMS101.
 *
 * The rule of the customer's country and the order's fiat determines what an order needs. For each source address and for the
 * destination it needs the customer's name and what the partner says about the wallet (wallets.ts). Once that is complete, the
 * data of the transfer is stored as one encrypted record that never changes (records.ts).
 *
 * Until then the payout waits at the gate, with one case for its order and a deadline. At the deadline the rule's policy
 * decides: `hold` holds the payout until operators approve it; `send` lets it leave and records that data was missing; `return`
 * sends the deposit back; `refuse` ends the trade and keeps the money until two people return it. A refusal is stored: later data,
 * a later rule and an approval do not undo it.
 *
 * If the rule requires an exchange, we ask the provider of a hosted wallet before coins leave (exchange.ts), and a provider
 * that sends coins informs us of them (inbound.ts). If the other provider rejects the transfer, the payout is held at once.
 *
 * A refund needs no data: all rules allow sending back coins that came without data. It is screened like all money.
 */
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Database, type Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import type { Handled, Handlers } from '../../base/jobs.ts';
import type { Hit, Screening, StoredScreening } from '../screener.ts';
import { type ExchangeRow, exchangeSql } from './exchange.store.ts';
import { type ExchangeDeps, keptOf, step, TRAVEL_EXCHANGE } from './exchange.ts';
import { addressPath, type CallKind, type Reply, receive } from './inbound.ts';
import { namesOf } from './ivms.ts';
import type { Call, TravelProtocol } from './protocol.ts';
import {
  type Asked,
  askedOf,
  isReleasedOfRefused,
  type Leg,
  legsOf,
  lockWait,
  type Missing,
  type RecordsDeps,
  refuse,
  type Standing,
  settle,
  standingOf,
  TOO_LATE,
  TRAVEL_DUE,
  waitOf,
} from './records.ts';
import { type Declared, declareWallet, walletText } from './wallets.ts';

const RULES = 'travel 2';

/**
 * An order whose deposit cannot go back, or which cannot be refused, is looked at again after this time: people hold it, or its payout
 * is submitted.
 */
const HELD_AGAIN_MS = 300_000;

export interface TravelRuleDeps extends Omit<RecordsDeps, 'exchange'> {
  db: Database;
  /** Present if a protocol is configured. */
  exchange?: Omit<ExchangeDeps, 'db' | 'vault' | 'clock' | 'onNews'> | undefined;
  /**
   * Requests a refund of an order's deposit, unless the order was paid or a refund is under way.
   *
   * @returns `held` if people have to decide about the order first
   */
  requestRefund(orderId: bigint): Promise<'requested' | 'held'>;
  /**
   * Holds a refused order, for operators to decide about its deposit, unless its refund is requested already. Locks it.
   *
   * @returns `over` if its money has left or goes back already; `later` if it cannot be held now, because its payout is submitted
   *   or it has lost its deposit
   */
  holdRefused(tx: Tx, orderId: bigint): Promise<'held' | 'over' | 'later'>;
  /** Deposits that fund an order. */
  depositsOf(tx: Tx, orderId: bigint): Promise<readonly bigint[]>;
  /** The destination of an order and the rail that pays it. */
  payoutOf(tx: Tx, orderId: bigint): Promise<Pick<OrderOf, 'payoutAddress' | 'rail'> | undefined>;
  /** Makes the waiting payouts of an order ask the gate again. */
  wake(tx: Tx, orderId: bigint): Promise<void>;
  /** Whether the key of this address signed the text, by itself or in typed data. */
  isSignedBy(rail: string, address: string, text: string, signature: string): Promise<boolean>;
}

/** The fields of an order that its transfers need. */
export interface OrderOf {
  id: bigint;
  payoutAddress: string | null;
  /** The rail that pays the order. */
  rail: string;
}

export interface NeededWallet {
  direction: 'in' | 'out';
  rail: string;
  /** Null if the chain does not show it. */
  address: string | null;
  missing: readonly Missing[];
  /** The text to sign as proof of control; null without an address. */
  text: string | null;
}

export interface TravelRule extends StoredScreening {
  readonly handlers: Handlers;
  /** What an order still needs, and the deadline; empty when no rule applies, or when the order is refused. */
  needs(tx: Tx, of: OrderOf): Promise<{ needed: NeededWallet[]; dueAt: Date | null; refusedAt: Date | null }>;
  /**
   * Stores what a partner says about a wallet, and writes the records of this order that are now complete.
   *
   * @throws Refusal 'malformed_field' also for a signature that is not the address's
   */
  declare(tx: Tx, of: OrderOf, wallet: Omit<Declared, 'isProven'> & { signature?: string | undefined }): Promise<void>;
  /** Present if a protocol is configured. */
  readonly exchange:
    | {
        readonly protocol: TravelProtocol;
        /** The travel address of a sale. The customer passes it on to the provider that sends the coins. */
        addressOf(orderId: bigint): string;
        receive(kind: CallKind, token: string, call: Call): Promise<Reply>;
      }
    | undefined;
  /** Names of the originators of a deposit's coins, as the sending providers gave them, and the number of their messages. */
  originatorsOf(tx: Tx, depositId: bigint): Promise<{ names: string[]; revision: number }>;
}

type Found = { asked: Asked; legs: Leg[] } | undefined;

async function originatorsOf(vault: Vault, tx: Tx, depositId: bigint) {
  const rows = await tx.rows<ExchangeRow>(exchangeSql.ofDeposit, [depositId]);
  const names = rows.flatMap((row) => namesOf(keptOf(vault, row)?.ivms?.originator.originatorPersons));
  // Not the number of names: an erasure takes them out.
  return { names, revision: rows.length };
}

/**
 * Has the originators whom a provider has just named compared with sanctions lists, whatever becomes of the order. The gate does not
 * wait for this row: it sees by itself that the stored result is of fewer messages. The lock is the one under which an order's inquiries
 * are stored: of two messages at the same time the second counts both.
 */
async function noteOriginators(tx: Tx, orderId: bigint): Promise<void> {
  await tx.run(exchangeSql.lockInquiries, [orderId]);
  await tx.run(exchangeSql.noteOriginators, [orderId]);
}

type Deps = Omit<TravelRuleDeps, 'exchange'> & { exchange: ExchangeDeps | undefined };

async function ofOrder(deps: Deps, tx: Tx, { id, payoutAddress, rail }: OrderOf): Promise<Found> {
  const asked = await askedOf(tx, id);
  const depositIds = asked === undefined ? [] : await deps.depositsOf(tx, id);
  return asked && { asked, legs: await legsOf(deps, tx, { payoutAddress, rail, depositIds }) };
}

/**
 * At the deadline: writes what `send` lets go, refunds under `return`, or refuses under `refuse`. Otherwise the gate is asked at once,
 * and decides.
 */
async function atDeadline(deps: Deps, id: bigint): Promise<Handled> {
  let goesBack = false;
  const handled = await deps.db.asSystem(async (tx): Promise<Handled> => {
    const [wait, to] = await awaitAll(waitOf(tx, id), deps.payoutOf(tx, id));
    if (wait === undefined || to === undefined) return undefined;
    const leftMs = wait.dueAt.getTime() - deps.clock.now().getTime();
    if (leftMs > 0) return { againInMs: leftMs };
    const found = await ofOrder(deps, tx, { id, ...to });
    if (found === undefined) return undefined;
    await settle(deps, tx, found.asked, found.legs);
    const { policy, refusedAt } = found.asked;
    const standing = await standingOf(deps, tx, found.asked, found.legs);
    const isWithout = standing.some(({ isRecorded }) => !isRecorded);
    if (isWithout && policy === 'refuse' && refusedAt === null) return await refuseNow(deps, tx, found.asked);
    goesBack = policy === 'return' && isWithout && refusedAt === null;
    if (!goesBack) await deps.wake(tx, id);
    return undefined;
  });
  if (goesBack && (await deps.requestRefund(id)) === 'held') return { againInMs: HELD_AGAIN_MS };
  return handled;
}

/** The stored refusal and the hold of its order are one decision. */
async function refuseNow(deps: Deps, tx: Tx, asked: Asked): Promise<Handled> {
  if (await lockWait(tx, asked.orderId)) return undefined;
  const outcome = await deps.holdRefused(tx, asked.orderId);
  if (outcome === 'held') await refuse(tx, asked, deps.clock.now());
  return outcome === 'later' ? { againInMs: HELD_AGAIN_MS } : undefined;
}

export function openTravelRule({ exchange: parts, ...rest }: TravelRuleDeps): TravelRule {
  const { db, vault, clock } = rest;
  const exchange: ExchangeDeps | undefined = parts && { ...parts, db, vault, clock, onNews };
  const deps: Deps = { ...rest, exchange };

  /** Writes the records that a new answer or new data completes, and makes waiting payouts ask the gate again. */
  async function onNews(tx: Tx, id: bigint): Promise<void> {
    await noteOriginators(tx, id);
    const to = await deps.payoutOf(tx, id);
    const found = to && (await ofOrder(deps, tx, { id, ...to }));
    if (found !== undefined) await settle(deps, tx, found.asked, found.legs);
    await deps.wake(tx, id);
  }

  async function screened(tx: Tx, input: Screening): Promise<Found> {
    const { customerId, purpose, payoutAddress, rail, depositIds = [] } = input;
    const asked = customerId === null || purpose === 'refund' ? undefined : await askedOf(tx, input.id);
    return asked && { asked, legs: await legsOf(deps, tx, { payoutAddress, rail, depositIds }) };
  }

  /** Undefined when every record is written. */
  async function missingOf(tx: Tx, input: Screening) {
    if (await isReleasedOfRefused(tx, input)) return { hits: [tooLate({ orderId: input.id })], isTold: true };
    const found = await screened(tx, input);
    if (found === undefined) return undefined;
    const { asked, legs } = found;
    if (asked.refusedAt !== null) return { hits: [tooLate(asked)], isTold: true };
    const [standing, wait] = await awaitAll(standingOf(deps, tx, asked, legs), waitOf(tx, asked.orderId));
    if (standing.every(({ isRecorded }) => isRecorded)) return undefined;
    const isDue = wait !== undefined && wait.dueAt <= clock.now() && asked.policy !== 'send';
    return { hits: hitsOf(asked, standing, isDue), isTold: wait !== undefined && lacksAnything(standing) };
  }

  return {
    async ensure(input) {
      await db.asSystem(async (tx) => {
        const found = await screened(tx, input);
        if (found !== undefined) await settle(deps, tx, found.asked, found.legs);
      });
    },

    isEnsured: async (tx, input) => (await screened(tx, input)) === undefined,

    async read(tx, input) {
      return { hits: (await missingOf(tx, input))?.hits ?? [], rules: RULES };
    },

    async wait(tx, input) {
      const missing = await missingOf(tx, input);
      // With hits the payout is held, or operators have approved it; it does not wait here.
      if (missing === undefined || missing.hits.length > 0) return undefined;
      const why =
        'travel rule data of the counterparty is missing: its partner must name the wallet, or its provider must answer';
      return { cause: missing.isTold ? 'travel_rule' : 'screening', why };
    },

    async needs(tx, of) {
      const found = await ofOrder(deps, tx, of);
      if (found === undefined) return { needed: [], dueAt: null, refusedAt: null };
      const { asked, legs } = found;
      const { refusedAt } = asked;
      if (refusedAt !== null) return { needed: [], dueAt: null, refusedAt };
      const [standing, wait] = await awaitAll(standingOf(deps, tx, asked, legs), waitOf(tx, of.id));
      const needed = neededOf(asked, standing);
      return { needed, dueAt: wait?.dueAt ?? null, refusedAt };
    },

    async declare(tx, of, { signature, ...wallet }) {
      const { rail, address, travelAddress } = wallet;
      if (travelAddress !== undefined && exchange?.protocol.urlOf(travelAddress) === undefined)
        throw new Refusal('malformed_field', { fields: { travelAddress: 'must be a travel address' } });
      const text = walletText(wallet);
      if (signature !== undefined && !(await deps.isSignedBy(rail, address, text, signature)))
        throw new Refusal('malformed_field', { fields: { signature: `must be that of ${address} over: ${text}` } });
      await declareWallet(tx, vault, { ...wallet, isProven: signature !== undefined, now: clock.now() });
      const found = await ofOrder(deps, tx, of);
      if (found === undefined) return;
      await settle(deps, tx, found.asked, found.legs);
      await deps.wake(tx, of.id);
    },

    exchange: exchange && {
      protocol: exchange.protocol,
      addressOf: (orderId) =>
        exchange.protocol.addressOf(`${exchange.publicUrl()}/${addressPath(vault, exchange.protocol.code, orderId)}`),
      receive: (kind, token, call) => receive(exchange, kind, token, call),
    },

    originatorsOf: (tx, depositId) => originatorsOf(vault, tx, depositId),

    handlers: {
      async [TRAVEL_EXCHANGE](subject): Promise<Handled> {
        return exchange === undefined ? undefined : await step(exchange, subject);
      },

      [TRAVEL_DUE]: (subject) => atDeadline(deps, BigInt(subject)),
    },
  };
}

/**
 * False when everything was completed elsewhere, by another order's wallet or by the customer's name. `ensure` then writes the
 * record.
 */
const lacksAnything = (standing: readonly Standing[]): boolean =>
  standing.some(({ isRecorded, missing }) => !isRecorded && missing.length > 0);

/** Why the payout is held: another provider rejected the transfer, or the deadline has passed. Pure. */
function hitsOf({ orderId }: Asked, standing: readonly Standing[], isDue: boolean): Hit[] {
  const refused = standing.filter(({ isRecorded, missing }) => !isRecorded && missing.includes('refused'));
  if (refused.length > 0)
    return refused.map(({ address }) => ({ rule: 'travel_rule_refused', entry: `address:${address}`, own: true }));
  return isDue && lacksAnything(standing)
    ? [{ rule: 'travel_rule_missing', entry: `order:${orderId}`, own: true }]
    : [];
}

const tooLate = ({ orderId }: Pick<Asked, 'orderId'>): Hit => ({
  rule: TOO_LATE,
  entry: `order:${orderId}`,
  own: true,
});

const neededOf = ({ customerId }: Asked, standing: readonly Standing[]): NeededWallet[] =>
  standing
    .filter(({ isRecorded }) => !isRecorded)
    .map(({ direction, rail, address, missing }) => {
      const text = address === '' ? null : walletText({ customerId, rail, address });
      return { direction, rail, missing, text, address: address === '' ? null : address };
    });

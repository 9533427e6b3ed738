/**
 * Transfers from the paying wallet to an own address: cold storage, whose key this server does not have.
 *
 * Two operators register an own address; it can be used after the cooling-off time of destinations. A transfer is created when
 * enough operators have approved it, as a row and a hold in the ledger. A job then sends it through the rail under the row's key,
 * like payouts and sweeps: nonce and signed bytes are stored before they are broadcast, so it leaves once. It is booked when it
 * is final. Custody moves between two of our wallets, so the entry nets to zero; the chain's fee is a cost.
 *
 *   created ──gate──▶ submitted ──final──▶ settled (booked) | failed (the hold is released)
 *      └──an operator──▶ cancelled, as long as no transaction of it is reserved or signed
 *
 * `askTransfer` is the gate of these transfers, as the gate of payouts is for payouts (composition/rails.ts). The job calls it
 * before the send is reserved. The rail calls it in the transaction before it signs and before it first broadcasts the bytes. It
 * reads stored results of screening only: the job obtains them before it asks, and a transfer whose result is missing or too old
 * waits.
 *
 * Money that comes back from an own address to the paying wallet is booked the other way. If it is read before its transfer is
 * booked, it waits in suspense until then.
 *
 * Not here: what operators decide (transfers.desk.ts); the native asset; transfers between chains or banks; money that an own
 * address sends elsewhere: our keys cannot sign that, and reconciliation shows it as a difference of that wallet.
 */
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db.ts';
import { assert, Unavailable } from '../base/errors.ts';
import type { Handlers } from '../base/jobs.ts';
import type { Log } from '../base/log.ts';
import { closeCases, openCase, type Screening } from '../compliance/index.ts';
import { chart, isPosted, move, post, release, settle } from '../ledger/index.ts';
import { bookCost, fundsArrived, type GateRules, lockCreditsFrom, takeCreditsBack } from '../orders/index.ts';
import { type ChainRail, ownWallet, type SendAnswer } from '../rails/chain.ts';
import type { Rail, RailFact } from '../rails/rail.ts';
import * as store from './transfers.store.ts';

/** Job kind that sends one transfer; its subject is the transfer's key. */
export const TRANSFER = 'send_transfer';

export interface TransferContext {
  db: Database;
  clock: Clock;
  log: Log;
  chains: ReadonlyMap<string, ChainRail>;
  rules: TransferRules;
  /** Obtains results of screening that are missing or outdated. Calls outside. @throws Unavailable */
  refresh?: ((input: Screening) => Promise<void>) | undefined;
}

/** The gate's inputs from other modules. None of them makes an outside call. */
export interface TransferRules {
  screenOwn: GateRules['screenOwn'];
  storedWait?: GateRules['storedWait'];
  isSwitchedOff: GateRules['isSwitchedOff'];
  peopleNeeded(
    tx: Tx,
    need: { action: string; right: string; asset: string; units: bigint; by: readonly string[]; now: Date },
  ): Promise<number>;
}

/** The action and right whose approval rules apply when a transfer is sent: as declared for operators. */
const SENDING = { action: 'transfer.send', right: 'treasury' } as const;
const WAIT_MS = 5_000;
/** A provider that does not answer is asked again after this time. */
const SCREEN_MS = 30_000;
/** Interval for a transfer that has left: its rail follows it, and the job only checks whether it must be sent again. */
const SENT_MS = 60_000;

/** @param to.id number of the own address; 0 for one that is not registered yet */
const screeningOf = (to: { id: bigint; rail: string; address: string }): Screening => ({
  ...{ id: to.id, partnerId: null, customerId: null, merchantReference: null, fiatAccountId: null },
  ...{ payoutAddress: to.address, rail: to.rail, ownAddressId: to.id },
});

/** Whether our deny lists or stored screening results forbid money to an address of this rail. */
export async function isDenied(
  { screenOwn }: Pick<TransferRules, 'screenOwn'>,
  tx: Tx,
  to: { id: bigint; rail: string; address: string },
): Promise<boolean> {
  return (await screenOwn(tx, screeningOf(to))).hits.length > 0;
}

/**
 * The gate: whether this transfer may leave now. The row is locked until `tx` ends, so a cancellation and a send cannot overlap:
 * one of them sees the other.
 */
export async function askTransfer(
  { clock, rules }: Pick<TransferContext, 'clock' | 'rules'>,
  tx: Tx,
  { rail, key }: { rail: string; key: string },
): Promise<SendAnswer> {
  const row = await store.lockTransfer(tx, key);
  const held = (why: string): SendAnswer => ({ outcome: 'hold', why });
  if (row === undefined || row.rail !== rail) return held('it is not in the books');
  if (row.endedAt !== null) return held(`it is ${row.state}`);
  const now = clock.now();
  const to = await store.shareAddress(tx, row.addressId);
  assert(to !== undefined, `transfer ${key} has no registered address`);
  // A hold takes precedence over a wait, as in the gate of payouts.
  if (to.endedAt !== null) return held('its address is no longer registered as ours');
  if (to.address !== row.target || to.rail !== rail) return held('its address is another one');
  // Read before the hits, as in the gate of payouts, so that a result that is stored meanwhile is not current without its hit.
  const waits = await rules.storedWait?.(tx, screeningOf(to));
  if (await isDenied(rules, tx, to)) return held('screening denies its address');
  const { asset, units, people } = row;
  const needed = await rules.peopleNeeded(tx, { ...SENDING, asset, units, by: people, now });
  if (new Set(people).size < needed) return held(`the rules now require ${needed} people`);
  if (await rules.isSwitchedOff(tx, rail)) return { outcome: 'wait', why: 'a kill switch is on' };
  if (now < to.usableAt) return { outcome: 'wait', why: `its address is usable from ${to.usableAt.toISOString()}` };
  if (waits !== undefined) return { outcome: 'wait', why: waits.why };
  return { outcome: 'pay' };
}

export function transferHandlers(context: TransferContext): Handlers {
  const { db, chains } = context;
  return {
    async [TRANSFER](key) {
      const row = await db.asSystem((tx) => store.findTransfer(tx, key));
      if (row === undefined || row.endedAt !== null) return undefined;
      const rail = chains.get(row.rail);
      if (rail === undefined) return { againInMs: SENT_MS };
      try {
        return { againInMs: await advance(context, rail, row) };
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        await noted(context, row, error.message);
        return { againInMs: WAIT_MS };
      }
    },
  };
}

const noted = ({ db }: TransferContext, { key, state }: store.WalletTransfer, why: string | null) =>
  db.asSystem((tx) => store.noteTransfer(tx, key, { state: state === 'submitted' ? 'submitted' : 'created', why }));

/** @returns milliseconds until the next check @throws Unavailable */
async function advance(context: TransferContext, rail: ChainRail, row: store.WalletTransfer): Promise<number> {
  const { db, log } = context;
  const { key, asset, units, target } = row;
  const status = await rail.status(key);
  if (status.outcome === 'known') {
    await noted(context, { ...row, state: 'submitted' }, null);
    return SENT_MS;
  }
  if (status.outcome !== 'absent') {
    // Reserved or signed, and not broadcast. If the rail rejects it, the rail's report ends it.
    if (status.outcome === 'unknown') await noted(context, row, status.why);
    const pauseMs = await screened(context, row);
    await db.asSystem((tx) => asked(context, tx, row));
    return pauseMs;
  }
  if (!rail.canSend(row.wallet)) return WAIT_MS;
  const pauseMs = await screened(context, row);
  if ((await db.asSystem((tx) => asked(context, tx, row))).outcome !== 'pay') return pauseMs;
  const destination = { kind: 'address', address: target } as const;
  const sent = await rail.sendFrom(row.wallet, { key, asset, units, destination });
  if (sent.outcome === 'submitted') {
    await noted(context, { ...row, state: 'submitted' }, null);
    return SENT_MS;
  }
  log.info({ rail: rail.code, key, why: sent.why }, 'transfer to an own address not sent');
  // A rejected transfer reserved nothing, for example because of a limit of the signer or too little gas.
  if (sent.outcome === 'rejected') await db.asSystem((tx) => holdTransfer(context, tx, row, sent.why));
  else await noted(context, row, sent.why);
  return WAIT_MS;
}

/**
 * Obtains the results of screening that the gate reads. A provider that does not answer has a case of its own, and the gate lets
 * the transfer wait for it.
 *
 * @returns milliseconds until the next check, if the gate lets it wait
 */
async function screened({ refresh }: TransferContext, row: store.WalletTransfer): Promise<number> {
  const { addressId: id, rail, target: address } = row;
  try {
    await refresh?.(screeningOf({ id, rail, address }));
    return WAIT_MS;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return SCREEN_MS;
  }
}

/** Asks the gate, and opens a case if it holds the transfer. */
async function asked(context: TransferContext, tx: Tx, row: store.WalletTransfer): Promise<SendAnswer> {
  const answer = await askTransfer(context, tx, row);
  if (answer.outcome === 'hold') await holdTransfer(context, tx, row, answer.why);
  else {
    if (answer.outcome === 'wait') await store.noteTransfer(tx, row.key, { state: 'created', why: answer.why });
    await closeCases(tx, { kind: 'transfer_held', subject: row.key, outcome: 'it goes on', now: context.clock.now() });
  }
  return answer;
}

async function holdTransfer({ clock }: Pick<TransferContext, 'clock'>, tx: Tx, row: store.WalletTransfer, why: string) {
  const { key, rail, asset, units } = row;
  // Operators may have cancelled it since the job has read it, and its cases were closed then.
  if ((await store.lockTransfer(tx, key))?.endedAt !== null) return;
  await store.noteTransfer(tx, key, { state: 'created', why });
  const facts = { rail, asset, units: String(units) };
  await openCase(tx, { kind: 'transfer_held', subject: key, reason: why, facts, now: clock.now() });
}

type OwnFact = Extract<RailFact, { type: 'own_transfer_settled' | 'own_transfer_failed' }>;

/** Books the rail's final report of a transfer. */
export async function takeTransfer(
  context: { clock: Clock; rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  fact: OwnFact,
): Promise<void> {
  const { clock } = context;
  const now = clock.now();
  const row = await store.lockTransfer(tx, fact.key);
  assert(row !== undefined && row.rail === fact.rail, `transfer ${fact.key} has no row on this rail`);
  if (row.state === 'settled' || row.state === 'failed') return;
  assert(row.state !== 'cancelled', `transfer ${fact.key} has left although it was cancelled`);
  const { key, reference } = { ...row, reference: fact.reference };
  const { rail, asset, target: address } = row;
  const isFailed = fact.type === 'own_transfer_failed';
  const credits = isFailed ? [] : await lockCreditsFrom(context, tx, { rail, asset, address });
  const posted = await post(tx, {
    id: `${key}:${isFailed ? 'released' : 'settled'}`,
    kind: isFailed ? 'transfer_released' : 'transfer',
    at: now,
    facts: { reference },
    lines: isFailed ? release(key) : settle(key),
  });
  assert(posted.outcome === 'posted', `transfer ${key} was booked before`);
  const own = chart.custody(rail, ownWallet(row.addressId), asset);
  await takeCreditsBack(tx, credits, { own, key, now });
  await bookCost(context, tx, fact);
  const why = isFailed ? fact.why : null;
  await store.endTransfer(tx, key, { state: isFailed ? 'failed' : 'settled', why, reference, now });
  if (isFailed)
    await openCase(tx, { kind: 'transfer_held', subject: key, reason: fact.why, facts: { reference }, now });
  else await closeCases(tx, { kind: 'transfer_held', subject: key, outcome: 'it has arrived', now });
}

type Credit = Extract<RailFact, { type: 'credit_unexpected' | 'funding_confirmed' }>;

/**
 * Books money that came back from an own address: custody moves the other way.
 *
 * A funding source may be an own address, too. If the books have less there, its money is not booked as funding: the transfer
 * that it came from may not be booked yet, and both would count. It waits in suspense like that of any own address. An address
 * that was ended and never got a transfer is a funding source again.
 *
 * @returns what is left to be booked: nothing, the fact itself, or a credit in place of a funding
 */
export async function takeReturned(
  { clock, rails }: { clock: Clock; rails: ReadonlyMap<string, Rail> },
  tx: Tx,
  fact: Credit,
): Promise<Credit | undefined> {
  const { rail: code, externalId, asset, units, reference, payer } = fact;
  const from = payer === undefined ? undefined : await store.addressAt(tx, code, payer);
  const rail = rails.get(code);
  if (from === undefined || payer === undefined || rail === undefined) return fact;
  // Such a credit was booked before the address was registered.
  for (const before of ['credit', 'fund']) if (await isPosted(tx, `${before}_${code}_${externalId}`)) return fact;
  const to = chart.custody(code, rail.wallets.payouts, asset);
  const posted = await post(tx, {
    ...{ id: `back_${code}_${externalId}`, kind: 'transfer_back', at: clock.now(), facts: { reference } },
    lines: move(to, chart.custody(code, ownWallet(from.id), asset), units),
  });
  if (posted.outcome !== 'short') return void (await fundsArrived(tx, clock.now()));
  if (from.endedAt !== null && !(await store.hasTransfer(tx, from.id))) return fact;
  return { type: 'credit_unexpected', rail: code, externalId, asset, units, reference, payer };
}

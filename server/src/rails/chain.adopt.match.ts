/**
 * Matching: finds the payout that a transaction of ours on the chain has paid, and reports transactions that match no single
 * payout.
 */
import type { Tx } from '../base/db.ts';
import { timeOfId } from '../base/ids.ts';
import * as addressStore from './chain.addresses.store.ts';
import * as found from './chain.adopt.store.ts';
import { type Engine, HOT } from './chain.engine.ts';
import * as sendStore from './chain.sends.store.ts';

/** The treasury's next rows may match a transfer between our own wallets; after this time a case is opened. */
const REPORT_OWN_AFTER_MS = 10 * 60_000;

/**
 * Adopts movements that match exactly one payout which matches no other movement, and reports the others. @returns those still
 * waiting
 */
export async function matchFound(engine: Engine, tx: Tx): Promise<found.FoundMovement[]> {
  const { rail } = engine;
  // Two operators may be deciding about one of them just now, or another process may be matching it.
  const waiting = await found.lockWaiting(tx, rail, found.AT_ONCE);
  // An unread movement may turn out to be a second match.
  const unread = new Set(waiting.filter(({ state }) => state === 'unread').map(({ wallet }) => wallet));
  const open = waiting.filter(({ state, wallet }) => state === 'open' && !unread.has(wallet));
  if (open.length === 0) return waiting;
  const candidates = open.some(fitsPayouts) ? await found.unsentPayouts(tx, rail) : [];
  const perMovement = Map.groupBy(open.filter(fitsPayouts), place);
  const perPayout = Map.groupBy(candidates, place);
  for (const row of open) {
    const under = row.nonce === null ? [] : await found.sendsUnder(tx, rail, row.wallet, row.nonce);
    const own = under.at(-1);
    if (own !== undefined) {
      if (under.some(({ hash }) => hash === row.hash)) await settleAs(engine, tx, row, { ...own, known: true });
      else if (isSameCall(own, row)) await settleAs(engine, tx, row, { ...own, version: own.version + 1 });
      // Even if these books do not show that operators requested it: a restore may have lost that.
      else if (isCancel(engine, row)) {
        await endCancelled(engine, tx, row);
        await endKept(engine, tx, row, own.key);
      }
      continue;
    }
    if (row.signed && isCancel(engine, row)) {
      await endCancelled(engine, tx, row);
      continue;
    }
    // A transaction without a transfer paid no payout, whatever else it contains.
    if (!fitsPayouts(row)) continue;
    const [candidate, ...others] = perPayout.get(place(row)) ?? [];
    const isAlone = perMovement.get(place(row))?.length === 1 && others.length === 0;
    if (candidate === undefined || !isAlone || !isOlder(candidate, row)) continue;
    await settleAs(engine, tx, row, { ...candidate, version: 1 });
  }
  const left = await found.waitingFound(tx, rail, found.AT_ONCE);
  await reportMovements(
    engine,
    tx,
    left.filter(({ state, wallet }) => state === 'open' && !unread.has(wallet)),
  );
  return left;
}

async function settleAs(
  engine: Engine,
  tx: Tx,
  row: found.FoundMovement,
  as: { key: string; version: number; asset: string; units: bigint; known?: boolean },
): Promise<void> {
  const { rail, log, report } = engine;
  if (as.known === true) await found.endFound(tx, row.id, { state: 'adopted', key: as.key });
  else await found.adoptAs(tx, row, as);
  log.warn({ rail, key: as.key, hash: row.hash }, 'movement adopted: the chain has it already');
  await report(tx, {
    type: 'send_matched',
    rail,
    movement: row.id,
    key: as.key,
    left: await found.countReported(tx, rail),
  });
}

const isCancel = ({ adapter }: Engine, row: found.FoundMovement): boolean => {
  const call = adapter.account?.cancelCall?.(row.wallet);
  return call !== undefined && row.target === call.target && row.value === call.value && row.data?.length === 0;
};

/** The nonce is used up, so transactions that were signed under it can never be mined. Only the fee has left. */
async function endCancelled(engine: Engine, tx: Tx, row: found.FoundMovement): Promise<void> {
  const { rail, chain, log, report } = engine;
  await found.endFound(tx, row.id, { state: 'cancelled' });
  log.warn({ rail, nonce: row.nonce, hash: row.hash }, 'movement cancelled: an empty transfer has used its nonce');
  const native = (await addressStore.assetsOf(tx, chain)).find((asset) => asset.native)?.code;
  // For a deposit address, reconciliation finds the missing balance by the address.
  const isHot = row.wallet === HOT;
  if (native !== undefined && row.costUnits !== null && row.costUnits > 0n)
    await report(tx, {
      type: 'unexplained_debit',
      rail,
      externalId: isHot ? `${row.hash}:coin` : `native:${row.target}:${row.block}`,
      asset: native,
      units: row.costUnits,
      reference: row.hash ?? '',
      ...(isHot ? {} : { ofDeposits: true }),
    });
  await report(tx, {
    type: 'send_matched',
    rail,
    movement: row.id,
    key: 'an empty transfer that cancels it',
    left: await found.countReported(tx, rail),
  });
}

/**
 * A payout's bytes were signed and waited, because they may not leave. Its key is absent now: either the gate is asked again, or
 * the payout ends unpaid.
 */
async function endKept({ rail }: Engine, tx: Tx, { nonce, hash }: found.FoundMovement, key: string): Promise<void> {
  if (nonce !== null)
    await sendStore.markAbsentUnder(tx, rail, { key, nonce }, `nonce ${nonce} was cancelled by ${hash}`);
}

/** Reports each movement once. If it is not between our own wallets, the receiver halts the rail's payouts. */
async function reportMovements(engine: Engine, tx: Tx, open: readonly found.FoundMovement[]): Promise<void> {
  const { rail, report } = engine;
  const strange: found.FoundMovement[] = [];
  for (const row of open) {
    if (row.toldAt !== null) continue;
    const isOwn =
      row.wallet !== HOT ||
      (row.recipient !== null && (await addressStore.indexOf(tx, rail, row.recipient)) !== undefined);
    if (isOwn && Date.now() - row.foundAt.getTime() < REPORT_OWN_AFTER_MS) continue;
    if (!isOwn) strange.push(row);
    await found.markReported(tx, row.id);
    await report(tx, {
      type: 'send_found',
      rail,
      movement: row.id,
      reference: row.hash ?? '',
      ...(row.asset === null || row.units === null ? {} : { moved: { asset: row.asset, units: row.units } }),
      why: whyOpen(row),
    });
  }
  if (strange.length === 0) return;
  const nonces = strange.flatMap(({ nonce }) => (nonce === null ? [] : [String(nonce)]));
  const which = nonces.length === 1 ? `nonce ${nonces}` : `nonces ${nonces.join(', ')}`;
  const why =
    nonces.length === 0
      ? `transactions of wallet ${HOT} are not in the books`
      : `${which} of wallet ${HOT} used by transactions that are not in the books`;
  await report(tx, { type: 'nonces_used', rail, why });
}

const place = ({ recipient, asset, units }: { recipient: string | null; asset: string | null; units: bigint | null }) =>
  `${recipient} ${asset} ${units}`;

/** Only a successful transfer of one of our assets from the paying wallet may have paid a payout. */
const fitsPayouts = (row: found.FoundMovement): boolean =>
  row.wallet === HOT && row.succeeded === true && row.asset !== null && row.units !== null;

const isSameCall = (a: found.OwnSend, b: found.FoundMovement): boolean =>
  a.target === b.target && a.value === b.value && b.data !== null && a.data.equals(b.data);

/** Whether a payout was ordered before the movement's block. Otherwise that block cannot have paid it. */
function isOlder({ orderId, refundId, createdAt }: found.Candidate, { blockAt }: found.FoundMovement): boolean {
  const since = orderId !== null ? timeOfId(orderId) : refundId !== null ? timeOfId(refundId) : createdAt;
  return blockAt !== null && since.getTime() <= blockAt.getTime() + found.SKEW_MS;
}

function whyOpen(row: found.FoundMovement): string {
  if (row.succeeded === false)
    return 'sent by our wallet, reverted, and in no row of ours: it cost gas and moved nothing';
  if (row.asset === null) return 'sent by our wallet, in no row of ours, and no plain transfer';
  return 'sent by our wallet and in no row of ours: no payout fits it alone';
}

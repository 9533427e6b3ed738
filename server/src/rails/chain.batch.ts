/**
 * Batches: sweeps of many deposit addresses as one send of the paying wallet, with one nonce.
 *
 * The send is written, signed and broadcast like any other (chain.sends.ts). Its key is made from the sweeps in it, so the same
 * sweeps are the same send, and its call data lists them. A transaction that succeeds may have moved only some of them: the token
 * transfers in its receipt tell which, and only once it is final.
 */
import type { Tx } from '../base/db.ts';
import { Unavailable } from '../base/errors.ts';
import type { AssetCode } from '../base/money.ts';
import type { Receipt } from './chain.adapter.ts';
import { type Engine, HOT } from './chain.engine.ts';
import type { SendVersion } from './chain.sends.store.ts';
import * as sendStore from './chain.sends.store.ts';
import { reserveCall } from './chain.sends.ts';
import type { Sent } from './rail.ts';

export interface BatchSending {
  key: string;
  asset: AssetCode;
  moves: readonly { address: string; index: bigint; units: bigint }[];
  /** Asked in the transaction that writes the send: why it must not be written, or undefined. */
  guard(tx: Tx): Promise<string | undefined>;
}

export async function sendBatch(engine: Engine, { key, asset, moves, guard }: BatchSending): Promise<Sent> {
  const { adapter } = engine;
  const units = moves.reduce((sum, move) => sum + move.units, 0n);
  const recipient = adapter.wallets[HOT]?.address ?? '';
  try {
    return await reserveCall(engine, HOT, { key, asset, units, recipient, guard }, async (contract) => {
      const { batches } = adapter;
      if (batches === undefined || contract === null) return { rejected: 'this asset has no batches' };
      const call = batches.call(contract, moves);
      if ('rejected' in call) return call;
      const indexes = moves.map(({ index }) => index);
      return { call, prepare: () => batches.prepare(HOT, call, indexes) };
    });
  } catch (error) {
    if (error instanceof Unavailable) return { outcome: 'unknown', why: error.message };
    throw error;
  }
}

/** What a final batch has moved to the paying wallet. */
export function movedBy(
  { adapter }: Engine,
  version: SendVersion,
  { succeeded, moved = [] }: Receipt,
): { from: string; units: bigint }[] {
  const asked = adapter.batches?.moves(version);
  const hot = adapter.wallets[HOT]?.address;
  if (asked === undefined || !succeeded) return [];
  return moved.flatMap(({ contract, from, to, units }) =>
    contract === asked.contract && to === hot ? [{ from, units }] : [],
  );
}

/**
 * Records nonces of deposit addresses that a final batch has used up, so that a later transaction of such an address does not look
 * for the one that the books seem to lack.
 */
export async function passNonces({ adapter, rail }: Engine, tx: Tx, version: SendVersion): Promise<void> {
  for (const { index, nonce } of adapter.batches?.delegating(version) ?? []) {
    const wallet = `deposit:${index}`;
    const next = await sendStore.lockNonce(tx, rail, wallet, nonce + 1n);
    if (next <= nonce) await sendStore.setNextNonce(tx, rail, wallet, nonce + 1n);
  }
}

/**
 * Kept: operators cancel transactions that were signed, may not leave, and are not known to be broadcast.
 *
 * The server asks its gate before it signs and before it first broadcasts. If the answer has changed in between, or since a process
 * ended that had asked a signer, the bytes wait with their nonce, and every later transaction of the wallet waits behind them (rails/chain.sends.ts). Operators give the
 * reason some time to pass, and then cancel: an empty transfer uses the nonce, unless the signed one is mined first.
 *
 * They use separate random numbers.
 */
import type { Hands } from './actors.ts';
import { chanceOf } from './chance.ts';
import type { Environment } from './process.ts';

/** Operators cancel at the earliest after this time. */
const KEPT_MS = 40_000;

export interface Kept {
  readonly done: ReadonlyMap<string, number>;
  /** Called at each look of the operators, except while they end a restore (restore.ts). */
  operate(): void;
}

export function openKept(
  { scheduler, backends, faults, complain }: Pick<Environment, 'scheduler' | 'backends' | 'faults' | 'complain'>,
  deps: { seed: number; hands: () => Hands | undefined },
): Kept {
  const chance = chanceOf(deps.seed + 10_000_019);
  const done = new Map<string, number>();
  const since = new Map<string, number>();

  function cancels(ids: readonly string[]): void {
    const now = scheduler.time.now();
    for (const id of ids) {
      if (!since.has(id)) since.set(id, now);
      const isLate = now - (since.get(id) ?? now) > KEPT_MS;
      if (!isLate || (!faults.ended && !chance.happens(0.5))) continue;
      deps.hands()?.inTx('cancel what was signed', async (tx, _, { movements }) => {
        await movements.cancel(tx, BigInt(id));
        done.set('cancelled', (done.get('cancelled') ?? 0) + 1);
      });
    }
  }

  const operate = (): void =>
    void scheduler
      .perform('the operator looks at what was signed', () =>
        backends.look<{ id: string }>(
          `select f.id::text from found_movements f
            where f.state = 'unread' and f.signed and f.hash is null and f.cancel_at is null
              and exists (select from chain_sends s where s.rail = f.rail and s.wallet = f.wallet and s.nonce = f.nonce
                and (s.state = 'signed' or (s.state = 'reserved' and s.signing_at is not null))) order by f.id`,
        ),
      )
      .then((rows) => cancels(rows.map(({ id }) => id)))
      .catch((error: unknown) => complain('cancel what was signed', error));
  return { done, operate };
}

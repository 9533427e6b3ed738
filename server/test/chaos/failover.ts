/** The faults of a run with `--failover`: the primary dies, its standby takes its place, and the new primary gets a standby. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import type { ChaosEnvironment } from './environment.ts';
import type { Injected } from './faults.ts';

export const FAILOVER = 'primary killed and standby promoted';

export async function failOverFor(
  { postgres: { pair }, look }: Pick<ChaosEnvironment, 'postgres' | 'look'>,
  options: { times: number; behindMs: number; ms: number; signal: AbortSignal; say: (line: string) => void },
): Promise<Injected> {
  const { times, behindMs, signal, say } = options;
  if (pair === undefined) throw new Error('the world has no standby');
  const injected: Injected = { counts: {}, missed: [] };
  const pause = () => sleep(options.ms / (times + 1), undefined, { signal }).catch(() => {});
  for (let n = 1; n <= times; n += 1) {
    await pause();
    if (signal.aborted) return injected;
    const orders = async () => (await look<{ count: bigint }>('select count(*) from orders'))[0]?.count;
    const tookMs = await pair.failOver({ behindMs });
    injected.counts[FAILOVER] = n;
    say(
      `${FAILOVER}, after ${tookMs} ms${behindMs > 0 ? `, ${behindMs / 1_000} s behind` : ''}; it has ${await orders()} orders`,
    );
    // The last one is not attached: the run ends on a primary alone, as an operator has until the next machine is there.
    if (n < times) await pair.attach();
    if (n < times) say('the new primary has a standby');
  }
  await pause();
  return injected;
}

/**
 * What operators do after a failover that lost time: the servers have marked the database as restored and pay nothing. The run has
 * no manual bank, so two of them lift the kill switch once the servers are ready, which is as early as anybody could.
 */
export async function liftPayouts(
  { look, operates, confirms }: ChaosEnvironment,
  say: (line: string) => void,
): Promise<void> {
  const stopped = () => look<{ by: string }>(`select by from kill_switches where kind = 'payouts'`);
  if ((await stopped())[0]?.by !== 'the machine') throw new Error('nobody has marked the promoted database');
  say('the servers have marked the promoted database: two operators lift the kill switch');
  await until(
    'payouts are switched on',
    async () => {
      const { proposal } = await operates<{ proposal?: bigint }>('/kill-switches/lift', {
        kind: 'payouts',
        subject: 'all',
      });
      if (proposal !== undefined) await confirms(proposal).catch(() => {});
      return (await stopped()).length === 0;
    },
    { withinMs: 60_000, everyMs: 1_000 },
  );
}

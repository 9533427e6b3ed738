/**
 * The operator API of a test that starts no server of ours: its actions and reads on a database, without chains, treasury or
 * corrections. A test names what it needs besides, and rails where it has any.
 */
import type { FastifyPluginAsync } from 'fastify';
import type { OrdersContext } from '../../src/orders/context.ts';
import { operator } from '../../src/protocols/operator/index.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { openMovements, openTransfers } from '../../src/treasury/index.ts';
import { noCorrections, noTreasury } from './corrections.ts';
import type { Fixture } from './fixture.ts';

type Deps = Parameters<typeof operator>[0];
type Own = Partial<Omit<Deps, 'db' | 'vault' | 'clock'>> & {
  rails?: ReadonlyMap<string, Rail>;
  log?: object;
};

export function operatorApi(
  fixture: Pick<Fixture, 'db' | 'vault' | 'clock' | 'log'>,
  own: Own = {},
): FastifyPluginAsync {
  const { db, vault, clock } = fixture;
  const { rails = new Map<string, Rail>(), log = fixture.log, ...deps } = own;
  return operator({
    ...{ db, vault, clock },
    // The rest of the context is for payouts, which most of these tests do not make.
    orders: { db, vault, clock, log, rails } as unknown as OrdersContext,
    submitAgain: async () => {},
    publicUrl: () => 'https://pages.test',
    chainHalts: { codes: [], why: async () => null, clear: async () => {} },
    movements: openMovements({ db, clock, rails, report: async () => {} }),
    corrections: noCorrections(clock),
    treasury: noTreasury,
    transfers: openTransfers({
      ...{ clock, chains: new Map(), coolingOffMs: 0 },
      rules: { screenOwn: async () => ({ hits: [] }) as never },
    }),
    requests: { list: async () => [], named: async () => [] },
    ...deps,
  });
}

/** A bank that is known by its code and does nothing. */
export const silentBank: ReadonlyMap<string, Rail> = new Map([['bank.simulated', {} as Rail]]);

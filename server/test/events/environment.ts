/** Partners with endpoints, receivers behind them, and dispatchers to start: shared by the tests of delivery. */
import type { Database, Tx } from '../../src/base/db.ts';
import { defined } from '../../src/base/defined.ts';
import {
  addEndpoint,
  type Dispatcher,
  type EgressPolicy,
  type Endpoint,
  emit,
  type FeedPage,
  openSender,
  outsideFor,
  publish,
  readFeed,
  standard,
  startDispatcher,
} from '../../src/events/index.ts';
import { createKey, createPartner, findPartner, signingSecrets } from '../../src/partners/index.ts';
import { whitelabelFormat } from '../../src/protocols/whitelabel/index.ts';
import { freshFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';

export interface TestPartner {
  id: bigint;
  apiKey: string;
  apiSecret: string;
}

export async function deliveryEnvironment() {
  const fixture = await freshFixture();
  const { db, vault, clock, log } = fixture;
  const dispatchers = new Set<Dispatcher>();
  const dead: { partnerId: bigint; endpointId: string; isOff: boolean }[] = [];
  const formats = {
    standard,
    whitelabel: whitelabelFormat({
      partner: async (id) => (await db.asSystem((tx) => findPartner(tx, { id }))) ?? { kycWords: {} },
      secrets: (apiKey) => db.asSystem((tx) => signingSecrets(tx, vault, apiKey, clock.now())),
    }),
    // The wire's tests cover its own format: here there are no orders.
    flat: standard,
  };
  let partners = 0;

  return {
    ...fixture,
    formats,
    /** Events that were given up. */
    dead,

    async partner(): Promise<TestPartner> {
      partners += 1;
      return await db.asSystem(async (tx) => {
        const { id } = await createPartner(tx, { name: `Partner ${partners}`, now: clock.now() });
        const key = await createKey(tx, vault, { partnerId: id, label: 'test', scopes: ['admin'], now: clock.now() });
        return { id, ...key };
      });
    },

    endpoint: (
      partner: TestPartner,
      url: string,
      how: { format?: Endpoint['format']; filter?: string[] } = {},
    ): Promise<{ endpoint: Endpoint; secret: string }> =>
      db.asPartner(partner.id, (tx) =>
        addEndpoint(tx, vault, {
          partnerId: partner.id,
          url,
          format: how.format ?? 'standard',
          filter: how.filter ?? [],
          apiKey: partner.apiKey,
          now: clock.now(),
        }),
      ),

    /** An event as its cause writes it. */
    happens: (partner: TestPartner, subject: string, type: string, body: object = {}): Promise<void> =>
      db.asPartner(partner.id, (tx) => emit(tx, { partnerId: partner.id, subject, type, body, at: clock.now() })),

    publishes: (terms = { lease: 'none', leaseS: 0, room: 0 }) => publish({ db, clock, formats }, terms),
    feed: (partner: TestPartner, after = 0n, limit = 100): Promise<FeedPage> =>
      db.asPartner(partner.id, (tx) => readFeed(tx, vault, { partnerId: partner.id, after, limit })),
    read: <T>(body: (tx: Tx) => Promise<T>): Promise<T> => db.asSystem(body),

    async dispatcher(
      how: { outside?: EgressPolicy; deadlineMs?: number; pollMs?: number; over?: Database } = {},
    ): Promise<Dispatcher> {
      const options = how.deadlineMs === undefined ? {} : { deadlineMs: how.deadlineMs };
      const send = openSender(how.outside ?? outsideFor('sandbox'), options);
      const started = await startDispatcher({
        db: how.over ?? db,
        ...defined({ pollMs: how.pollMs }),
        clock,
        log,
        vault,
        formats,
        send,
        onDead: async (_tx, { partnerId, endpointId, isOff }) => void dead.push({ partnerId, endpointId, isOff }),
      });
      const dispatcher = {
        async stop() {
          dispatchers.delete(dispatcher);
          await started.stop();
        },
      };
      dispatchers.add(dispatcher);
      return dispatcher;
    },

    until,

    async stop() {
      await Promise.all([...dispatchers].map((dispatcher) => dispatcher.stop()));
      await fixture.stop();
    },
  };
}

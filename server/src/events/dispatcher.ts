/**
 * Webhook dispatcher: delivers events to endpoints. Separate from the jobs table and on its own connections, so that slow
 * receivers never occupy capacity that payouts need.
 *
 * The deliveries to one endpoint about one subject share an ordering key and go strictly one after the other. Ordering keys are
 * leased: if a process dies or hangs, another one takes its ordering keys once the lease has lapsed, and a message that was sent
 * but not recorded is sent again under the same id (at least once). The sequence in every message distinguishes stale from fresh.
 *
 * No endpoint waits for another. Each has a bounded number of ordering keys under way (ordering.ts); an endpoint that keeps failing has one,
 * after a pause that doubles. So a dead or slow endpoint occupies a bounded number of the AT_ONCE slots. When it answers again,
 * all its waiting deliveries are due at once.
 *
 * After a failure an ordering key pauses for 5 s, doubling up to an hour, with a random quarter more or less. After three days an
 * event is given up with a case, and the next event of its ordering key is tried. An endpoint that has accepted nothing for five
 * days by then is switched off. Events for an endpoint that a containment holds wait without attempts, and their three days start
 * again afterwards. Due times follow the clock, which may be moved; leases and signed times are real time.
 */
import { pauseAfter, shaken } from '../base/backoff.ts';
import { type Clock, later } from '../base/clock.ts';
import type { Vault } from '../base/crypto.ts';
import { awaitAll, type Database, type Tx } from '../base/db.ts';
import { randomHex } from '../base/ids.ts';
import { describeError, type Log } from '../base/log.ts';
import { openWakeup } from '../base/wakeup.ts';
import { secretsOf, switchOffDead } from './endpoints.ts';
import { BATCH, publish } from './feed.ts';
import { type Formats, happened, opened } from './format.ts';
import { purgeLog, recordAttempt } from './log.ts';
import {
  claim,
  FAILING_AFTER,
  type Item,
  type Leased,
  type LeaseTerms,
  type OrderingKey,
  oldestDue,
} from './ordering.ts';
import type { Outcome, Sender } from './sender.ts';
import { CHANNEL } from './store.ts';

const AT_ONCE = 256;
/** An attempt takes at most five seconds, plus recording it. */
const LEASE_S = 15;
/** Notifications start a round at once. This interval finds deliveries that fall due with time. */
const POLL_MS = 1_000;
/** While no delivery waits, none can fall due. This interval only finds events whose notification was lost. */
const IDLE_MS = 5_000;
export const PAUSES = { firstMs: 5_000, longestMs: 3_600_000 };
const LONGEST_ENDPOINT_PAUSE_MS = 900_000;
export const GIVE_UP_AFTER_MS = 3 * 24 * 3_600_000;
const PURGE_EVERY_MS = 600_000;

export interface DispatcherDeps {
  /** Separate connections: see the header. */
  db: Database;
  clock: Clock;
  log: Log;
  vault: Vault;
  formats: Formats;
  send: Sender;
  /** Called when an event is given up; `isOff` says whether its endpoint was switched off because of it. */
  onDead: (tx: Tx, dead: { partnerId: bigint; endpointId: string; isOff: boolean; now: Date }) => Promise<void>;
  leaseS?: number;
  /** Instead of POLL_MS and IDLE_MS. */
  pollMs?: number;
}

export interface Dispatcher {
  /** Claims nothing more, and waits for running deliveries. */
  stop(): Promise<void>;
}

const sql = {
  isAnyDue: `select (select endpoint_id from webhook_ordering_keys order by endpoint_id, subject limit 1) is not null as waits,
      exists (select from event_feed where position is null)
      or exists (select from webhook_endpoints e cross join lateral ${oldestDue('e.id', '$1')} as due
        where e.enabled and e.held_at is null and (e.paused_until is null or e.paused_until <= $1)) as some`,
  lockOrderingKey:
    'select from webhook_ordering_keys where endpoint_id = $1 and subject = $2 and lease = $3 for update',
  release: `update webhook_ordering_keys set lease = null, leased_until = null, due_at = $3, tries = $4
    where endpoint_id = $1 and subject = $2`,
  removeOrderingKey: `delete from webhook_ordering_keys where endpoint_id = $1 and subject = $2 and not exists (
    select from webhook_deliveries where endpoint_id = $1 and subject = $2 and state = 'waiting')`,
  end: `update webhook_deliveries set state = $3, attempts = attempts + $4, last_error = $5, ended_at = $6
    where endpoint_id = $1 and event_id = $2 and state = 'waiting'`,
  failed: `update webhook_deliveries set attempts = attempts + 1, last_error = $3
    where endpoint_id = $1 and event_id = $2 and state = 'waiting'`,
  endpointFails: `update webhook_endpoints set failures = failures + 1, failing_since = coalesce(failing_since, $2), paused_until = case when failures + 1 < ${FAILING_AFTER}
      then null else $2::timestamptz + least(${LONGEST_ENDPOINT_PAUSE_MS / 1000}, 5 * 2.0 ^ least(failures + 1 - ${FAILING_AFTER}, 20))
        * $3::float8 * interval '1 second' end
    where id = $1 returning held_at is not null as is_held`,
  endpointWorks: `update webhook_endpoints set failures = 0, paused_until = null, failing_since = null
    where id = $1 and failures > 0`,
  isAnotherDue: `select exists (select from webhook_endpoints e cross join lateral ${oldestDue('e.id', '$2')} as due
    where e.id = $1 and (e.paused_until is null or e.paused_until <= $2)) as some`,
  wakeOrderingKeys: `update webhook_ordering_keys set due_at = $2, tries = 0 where (endpoint_id, subject) in
    (select endpoint_id, subject from webhook_ordering_keys where endpoint_id = $1 and due_at > $2 for update skip locked)`,
  lockPurge: 'select pg_try_advisory_xact_lock(1702194542) as locked',
} as const;

export async function startDispatcher(deps: DispatcherDeps): Promise<Dispatcher> {
  const { db, clock, log, pollMs = POLL_MS } = deps;
  const running = new Set<Promise<void>>();
  /** The last claim took as much as there was room for, so more may be due. */
  let mayBeMore = false;
  /** A delivery has ended, and a claim would find another one for its room. */
  let hasRoom = false;
  /** Until then nothing falls due by time alone that is worth a claim. */
  let claimsAgainAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  const wakeup = openWakeup();
  const listening = await db.listen(CHANNEL, wakeup.signal);

  /** Most rounds without a notification find nothing. This query replaces the two transactions of a round. */
  const lookAround = () => db.asSystem((tx) => tx.row<{ some: boolean; waits: boolean }>(sql.isAnyDue, [clock.now()]));
  const terms = (room: number): LeaseTerms => ({ lease: randomHex(), leaseS: deps.leaseS ?? LEASE_S, room });

  async function round(): Promise<void> {
    let isDue = hasRoom || performance.now() >= claimsAgainAt;
    hasRoom = false;
    // What is committed after a batch was read notifies; only a full batch may have left something.
    for (let count = BATCH; !stopped && count === BATCH; ) {
      // Keys that wait to be claimed go before new ones.
      const published = await publish(deps, terms(mayBeMore ? 0 : Math.max(0, AT_ONCE - running.size)));
      begin(published.leased);
      count = published.count;
      // The notification of something else than an event: a replay.
      isDue ||= count === 0 || published.isMoreDue;
    }
    if (isDue) await claimDue();
  }

  async function claimDue(): Promise<void> {
    const room = AT_ONCE - running.size;
    mayBeMore = room <= 0;
    if (mayBeMore) return;
    const claimed = await db.asSystem((tx) => claim(tx, terms(room), clock.now()));
    claimsAgainAt = performance.now() + pollMs;
    mayBeMore = claimed.length === room;
    begin(claimed);
    // Another delivery has ended while this claim was made.
    if (mayBeMore && running.size < AT_ONCE) goOn();
  }

  function begin(leased: readonly Leased[]): void {
    for (const one of leased) {
      const job: Promise<void> = deliver(deps, one)
        .catch((error) => {
          // The lease lapses, and then a worker takes the ordering key.
          log.error({ endpoint: one.orderingKey.endpointId, ...describeError(error) }, 'delivery not recorded');
          return false;
        })
        .then((isMoreDue) => {
          running.delete(job);
          if (isMoreDue || mayBeMore) goOn();
        });
      running.add(job);
    }
  }

  function goOn(): void {
    hasRoom = true;
    wakeup.signal();
  }

  async function loop(): Promise<void> {
    let purgedAt = performance.now();
    let wasNotified = true;
    while (!stopped) {
      wakeup.begin();
      let pauseMs = pollMs;
      try {
        const around = wasNotified ? undefined : await lookAround();
        if (around?.some !== false) await round();
        else {
          if (!around.waits) pauseMs = deps.pollMs ?? IDLE_MS;
          claimsAgainAt = performance.now() + pollMs;
        }
        if (performance.now() - purgedAt > PURGE_EVERY_MS) {
          purgedAt = performance.now();
          await purge(deps);
        }
      } catch (error) {
        if (!stopped) log.error(describeError(error), 'events could not be delivered');
      }
      if (!stopped) wasNotified = await wakeup.wait(pauseMs);
    }
  }

  const looping = loop();
  return {
    async stop() {
      stopped = true;
      wakeup.signal();
      await looping;
      await Promise.allSettled(running);
      await listening.stop();
    },
  };
}

async function purge({ db, clock }: DispatcherDeps): Promise<void> {
  await db.asSystem(async (tx) => {
    const lock = await tx.row<{ locked: boolean }>(sql.lockPurge);
    if (lock?.locked === true) await purgeLog(tx, clock.now());
  });
}

/**
 * One attempt at the first event of a leased ordering key.
 *
 * @returns whether a delivery to the endpoint is due and has room now: without one, another round would find nothing
 */
async function deliver(deps: DispatcherDeps, { orderingKey, item }: Leased): Promise<boolean> {
  const { db, clock } = deps;
  // A containment holds the endpoint: the event waits like the others.
  if (item === undefined || item.endpoint.heldAt !== null) {
    return await db.asSystem((tx) => moveOn(tx, orderingKey, clock.now()));
  }
  const message = await deps.formats[item.endpoint.format].message(opened(deps.vault, happened(item)), {
    secrets: secretsOf(item.endpoint, deps.vault, clock.now()),
    apiKey: item.endpoint.apiKey,
    attempt: item.attempts,
    sentAt: new Date(),
    payloadForm: item.endpoint.payloadForm,
  });
  if (message === 'no_word') {
    return await db.asSystem(async (tx) => {
      await tx.run(sql.end, [orderingKey.endpointId, item.id, 'dropped', 0, null, clock.now()]);
      return await moveOn(tx, orderingKey, clock.now());
    });
  }
  const outcome: Outcome =
    message === 'no_key'
      ? { ok: false, status: null, error: 'no_key', answer: '', tookMs: 0 }
      : await deps.send({ url: item.endpoint.url, ...message });
  const isMoreDue = await db.asSystem((tx) => record(deps, tx, { orderingKey, item, outcome }));
  if (!outcome.ok || item.endpoint.failures < FAILING_AFTER) return isMoreDue;
  // The endpoint answers again, so its deliveries skip their pauses. In a separate transaction, because it locks many ordering
  // keys.
  await db.asSystem((tx) => tx.run(sql.wakeOrderingKeys, [orderingKey.endpointId, clock.now()]));
  return true;
}

async function record(
  { vault, clock, onDead }: DispatcherDeps,
  tx: Tx,
  { orderingKey, item, outcome }: { orderingKey: OrderingKey; item: Item; outcome: Outcome },
): Promise<boolean> {
  const now = clock.now();
  const { endpointId, partnerId } = orderingKey;
  const isOurs = await isLeased(tx, orderingKey);
  recordAttempt(tx, vault, { partnerId, endpointId, eventId: item.id, at: now, outcome });
  if (outcome.ok) {
    tx.defer(sql.end, [endpointId, item.id, 'delivered', 1, null, now]);
    tx.defer(sql.endpointWorks, [endpointId]);
    return isOurs && (await leave(tx, orderingKey, now));
  }
  const row = await tx.row<{ isHeld: boolean }>(sql.endpointFails, [endpointId, now, shaken(1)]);
  // The containment began during the attempt: the three days start again afterwards.
  if (row?.isHeld !== true && now.getTime() - item.since.getTime() >= GIVE_UP_AFTER_MS) {
    await tx.run(sql.end, [endpointId, item.id, 'dead', 1, outcome.error, now]);
    const isOff = await switchOffDead(tx, { id: endpointId, partnerId, now });
    await onDead(tx, { partnerId, endpointId, isOff, now });
    return isOurs && (await leave(tx, orderingKey, now));
  }
  await tx.run(sql.failed, [endpointId, item.id, outcome.error]);
  if (!isOurs) return false;
  const dueAt = later(now, Math.round(shaken(pauseAfter(orderingKey.tries, PAUSES))));
  tx.defer(sql.release, [endpointId, orderingKey.subject, dueAt, orderingKey.tries + 1]);
  return await isAnotherDue(tx, endpointId, now);
}

const isLeased = async (tx: Tx, { endpointId, subject, lease }: OrderingKey): Promise<boolean> =>
  (await tx.row(sql.lockOrderingKey, [endpointId, subject, lease])) !== undefined;

const moveOn = async (tx: Tx, orderingKey: OrderingKey, now: Date): Promise<boolean> =>
  (await isLeased(tx, orderingKey)) && (await leave(tx, orderingKey, now));

/**
 * Deletes a locked ordering key, or releases it if another event waits. A statement that begins under the lock reads what waits:
 * an event is inserted after its ordering key, so it is either visible here, or inserts the key again.
 *
 * @returns whether this key or another one of the endpoint is due now
 */
async function leave(tx: Tx, { endpointId, subject }: OrderingKey, now: Date): Promise<boolean> {
  const [removed, isMoreDue] = await awaitAll(
    tx.run(sql.removeOrderingKey, [endpointId, subject]),
    isAnotherDue(tx, endpointId, now),
  );
  if (removed === 0) tx.defer(sql.release, [endpointId, subject, now, 0]);
  return removed === 0 || isMoreDue;
}

/**
 * Whether a free ordering key of the endpoint waits for the room of one that ends with this transaction. One that falls due between
 * this statement and the commit is found with the next that ends, or by the poll.
 */
const isAnotherDue = async (tx: Tx, endpointId: string, now: Date): Promise<boolean> =>
  (await tx.row<{ some: boolean }>(sql.isAnotherDue, [endpointId, now]))?.some === true;

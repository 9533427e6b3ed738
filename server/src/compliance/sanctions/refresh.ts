/**
 * Reading the configured lists: a recurring job for each. It asks the source, stores what has changed, and keeps one case for each list
 * that cannot be read, is too old, or waits for people.
 *
 * Not here: the source (fetch.ts), what is stored (lists.ts), comparing customers with it (service.ts).
 */
import { pauseAfter } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import type { Database, Tx } from '../../base/db.ts';
import { Refusal, Unavailable } from '../../base/errors.ts';
import type { Http } from '../../base/http.ts';
import type { Handled } from '../../base/jobs.ts';
import { closeCases, upsertCase } from '../cases.ts';
import type { Downloads } from './download.ts';
import { fetchList, type Source } from './fetch.ts';
import { givenBy, keepList, type ListState, listStates, type Taken, takeList } from './lists.ts';
import type { SanctionsList } from './read.ts';

/** Publishers change their lists a few times a week, at any hour. */
const REFRESH_EVERY_MS = 3_600_000;
/** After a failure, so that a list that is refused is not downloaded twelve times an hour. */
const PAUSES = { firstMs: 300_000, longestMs: REFRESH_EVERY_MS };
export interface RefreshDeps {
  db: Database;
  vault: Vault;
  clock: Clock;
  ask: Http;
  /** How to connect to an address that a source of a list redirects to. */
  route?: Downloads['route'];
  /** Writes to the audit what a new version of a list has changed. */
  record: (
    tx: Tx,
    did: { action: string; subject: string; reason: string; after: unknown; now: Date },
  ) => Promise<void>;
  sources: readonly Source[];
  /** Money waits if a list's source has not delivered it for longer than this. */
  maxAgeMs: number;
}

/** The job that reads one list. */
export function refreshes(deps: RefreshDeps): (list: string) => Promise<Handled> {
  const { db, vault, clock, sources } = deps;
  /** Consecutive failures to read a list. */
  const failures = new Map<string, number>();
  /** Lists that this process has read in whole. */
  const haveRead = new Set<string>();

  async function refresh(list: string): Promise<Handled> {
    const source = sources.find((one) => one.list === list);
    // This list is no longer configured: its job ends here.
    if (source === undefined) return undefined;
    try {
      const taken = await readOnce(source);
      const why = taken.is === 'shrunken' ? waiting(taken) : undefined;
      await db.asSystem((tx) => updateListCase(tx, list, why));
      failures.delete(list);
      return { againInMs: REFRESH_EVERY_MS };
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof Unavailable)) throw error;
      const why = error instanceof Refusal ? String(error.facts.why) : error.message;
      await db.asSystem((tx) => updateListCase(tx, list, why));
      const failed = failures.get(list) ?? 0;
      failures.set(list, failed + 1);
      return { againInMs: pauseAfter(failed, PAUSES) };
    }
  }

  async function readOnce(source: Source): Promise<Taken> {
    const { list } = source;
    const beganAt = clock.now();
    // A newer version of this program may read more of the same bytes, so the first request of a process gets them in any case.
    const known = haveRead.has(list) ? await db.asSystem((tx) => givenBy(tx, list, source.from)) : undefined;
    const read = await fetchList({ ask: deps.ask, route: deps.route }, source, { now: beganAt, known });
    const now = clock.now();
    const taken = await db.asSystem(async (tx): Promise<Taken> => {
      if (read === undefined) {
        if (known !== undefined) await keepList(tx, { list, given: known, asOf: beganAt, now });
        return { is: 'same' };
      }
      const done = await takeList(tx, vault, { ...read, beganAt, now });
      if (done.is === 'new') await deps.record(tx, loaded(read, done, now));
      return done;
    });
    haveRead.add(list);
    return taken;
  }

  /** One case for each list that cannot be read, or is too old. */
  async function updateListCase(tx: Tx, list: string, failed?: string): Promise<void> {
    const now = clock.now();
    const state = (await listStates(tx)).find((one) => one.list === list);
    const old = agedWhy(state, list, { now, maxAgeMs: deps.maxAgeMs });
    const about = { kind: 'sanctions_list', subject: `sanctions list ${list}` } as const;
    if (old === undefined && failed === undefined)
      return await closeCases(tx, { ...about, outcome: 'it was read', now });
    const facts = { list, asOf: state?.asOf.toISOString() ?? null, moneyWaits: old !== undefined };
    await upsertCase(tx, { ...about, reason: (failed ?? old ?? '').slice(0, 200), facts, now });
  }

  return refresh;
}

/** What the audit says of a new version: counts, and no names. */
const loaded = (
  { list, published, sha256, entries }: SanctionsList,
  { version, delta }: Taken & { is: 'new' },
  now: Date,
) => ({
  action: 'sanctions.load',
  subject: `sanctions_list:${list}`,
  reason: 'a new version was read',
  after: {
    ...{ version: String(version), published, sha256: sha256.toString('hex'), entries: entries.size },
    ...{ added: delta.added.length, changed: delta.changed.length, removed: delta.removed.length },
  },
  now,
});

const waiting = ({ delta, before, olderThan }: Taken & { is: 'shrunken' }): string =>
  olderThan === undefined
    ? `The list lacks ${delta.removed.length} of the ${before} entries of the version before: two people accept it, or its source is wrong.`
    : `The list was published before the version in use, which is of ${olderThan}: two people accept it, or its source is wrong.`;

/** Why money may not leave because of a list's age; undefined when it is recent enough. */
export function agedWhy(
  state: Pick<ListState, 'asOf'> | undefined,
  list: string,
  { now, maxAgeMs }: { now: Date; maxAgeMs: number },
): string | undefined {
  if (state === undefined) return `sanctions list ${list} was never read`;
  if (now.getTime() - state.asOf.getTime() <= maxAgeMs) return undefined;
  return `sanctions list ${list} is from ${state.asOf.toISOString()}, which is older than allowed: a newer copy of it must be read`;
}

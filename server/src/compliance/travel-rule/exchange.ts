/**
 * Exchange: the messages between two providers about a transfer, before its coins move.
 *
 *   out:  created ──▶ sent ──▶ approved ──▶ ended (transferred, or canceled)
 *            └─────────┴─────▶ rejected
 *   in:   received ──▶ approved ──▶ told ──▶ ended            (received and decided: inbound.ts)
 *            └───────▶ rejected      └─▶ disowned: the named provider does not know the inquiry
 *
 * - **Stored before sent.** An inquiry's bytes are stored in the transaction that decides to ask; a job sends exactly them,
 *   under
 *   one request identifier. After a lost answer it sends the same bytes again.
 * - **Only a stored answer counts.** The gate reads rows (records.ts); no transaction contains an external call.
 * - **The first answer counts.** Repeating it changes nothing; a different one is refused.
 * - **Data goes to known providers only** (providers.ts): to the host of the travel address, and later messages to the same
 *   host. An
 *   approval of another address than the one to be paid counts as a rejection.
 * - An inbound inquiry counts once the provider it names has accepted our approval, at a URL of that provider: so a
 *   stranger who knows a travel address cannot make data count.
 *
 * Messages, addresses of callbacks and reasons are encrypted. A failure is kept as one word, without a byte of an answer.
 */
import { randomUUID } from 'node:crypto';
import { pauseAfter } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Database, type Tx } from '../../base/db.ts';
import { Unavailable } from '../../base/errors.ts';
import { randomHex } from '../../base/ids.ts';
import { enqueue, type Handled } from '../../base/jobs.ts';
import { digestOf, type ExchangeRow, exchangeSql as sql } from './exchange.store.ts';
import type { Ivms } from './ivms.ts';
import type { Resolution, TravelProtocol } from './protocol.ts';
import { isKnownHost, travelProvider } from './providers.ts';

/** The job's subject is the exchange's id. */
export const TRAVEL_EXCHANGE = 'travel_exchange';

/** How often an exchange checks whether its transfer was made. */
const LOOK_EVERY_MS = 15_000;
const PAUSES = { firstMs: 2_000, longestMs: 600_000 } as const;
/** Per order: its partner may name another wallet a few times. */
const MOST_INQUIRIES = 20;
/** About three days of attempts. By then the order is over, and only the other provider's records lack the message. */
const MOST_NOTIFY_TRIES = 400;

/** State of an order's transfer. */
export interface Fate {
  isOver: boolean;
  /** The transfer's id on its chain, once it is settled. */
  tx: string | null;
}

export interface ExchangeDeps {
  db: Database;
  vault: Vault;
  clock: Clock;
  protocol: TravelProtocol;
  publicUrl(): string;
  fateOf(tx: Tx, orderId: bigint, address: string): Promise<Fate>;
  /** @returns the address in the rail's own spelling; undefined when it is not an address of that rail */
  readAddress(rail: string, address: string): string | undefined;
  /** Whether one of these names is the customer's. */
  isCustomer(tx: Tx, customerId: string, names: readonly string[]): Promise<boolean>;
  /** Whether this order still accepts coins from its customer. */
  isOpen(tx: Tx, orderId: bigint): Promise<boolean>;
  /**
   * Called after an answer or inbound data: writes the records that are now complete, and makes waiting payouts ask the gate
   * again.
   */
  onNews(tx: Tx, orderId: bigint): Promise<void>;
}

/** The encrypted content of an exchange. */
export interface Kept {
  /** Outbound: where the inquiry goes. Inbound: where our resolution goes. */
  url: string;
  /** Outbound: the inquiry. Inbound: our resolution, once it is decided; '' before. */
  body: string;
  /** Inbound: the data of the other provider. */
  ivms?: Ivms;
}

type Keyed = Pick<ExchangeRow, 'orderId' | 'direction' | 'requestId'>;
export const messageContext = ({ orderId, direction, requestId }: Keyed): string =>
  `travel_exchanges.message:${orderId}:${direction}:${requestId}`;
const peerContext = ({ orderId, requestId }: Keyed): string => `travel_exchanges.peer:${orderId}:${requestId}`;
export const reasonContext = ({ orderId, requestId }: Keyed): string =>
  `travel_exchanges.reason:${orderId}:${requestId}`;

/** @returns undefined once erased */
export const keptOf = (vault: Vault, row: ExchangeRow): Kept | undefined =>
  row.message.length === 0 ? undefined : (JSON.parse(vault.decrypt(row.message, messageContext(row))) as Kept);

/**
 * Makes the URL at which the other provider reports on one transfer. @returns the URL, which contains a secret, and the hash of
 * the secret, which is stored
 */
export function newCallback(deps: ExchangeDeps, kind: 'resolution' | 'confirmation'): { url: string; token: Buffer } {
  const secret = randomHex(32);
  return { url: `${deps.publicUrl()}/travel-rule/${deps.protocol.code}/${kind}/${secret}`, token: digestOf(secret) };
}

export const outDigest = (o: { travelAddress: string; address: string; asset: string; units: bigint }): Buffer =>
  digestOf(o.travelAddress, o.address, o.asset, String(o.units));

export interface Asking
  extends Pick<ExchangeRow, 'orderId' | 'customerId' | 'partnerId' | 'rail' | 'address' | 'asset' | 'units'> {
  travelAddress: string;
  /** In whole coins. */
  amount: string;
  ivms: Ivms;
}

/**
 * Stores an inquiry and enqueues the job that sends it. Does nothing if the same inquiry exists, the order already has
 * MOST_INQUIRIES, or the provider or asset is unknown.
 */
export async function ask(deps: ExchangeDeps, tx: Tx, of: Asking): Promise<void> {
  const { vault, clock, protocol } = deps;
  const { orderId, customerId, partnerId, rail, address, asset, units, amount, ivms } = of;
  const url = protocol.urlOf(of.travelAddress);
  if (url === undefined || !protocol.names(asset) || !(await isKnownHost(tx, url))) return;
  const before = await tx.row<{ count: number }>(sql.countAsked, [orderId]);
  if ((before?.count ?? 0) >= MOST_INQUIRIES) return;
  const now = clock.now();
  const requestId = randomUUID();
  const callback = newCallback(deps, 'resolution');
  const kept: Kept = { url, body: protocol.writeInquiry({ asset, amount, callback: callback.url, ivms }) };
  const message = vault.encrypt(JSON.stringify(kept), messageContext({ orderId, direction: 'out', requestId }));
  const made = await tx.row<{ id: bigint }>(sql.insert, [
    ...[
      'out',
      orderId,
      customerId,
      partnerId,
      protocol.code,
      new URL(url).host,
      requestId,
      rail,
      address,
      asset,
      units,
    ],
    ...[outDigest(of), 'created', message, callback.token, now],
  ]);
  if (made !== undefined) enqueue(tx, { kind: TRAVEL_EXCHANGE, subject: String(made.id), dueAt: now });
}

/**
 * Stores the first answer. @returns 'again' for the same answer as before, 'otherwise' for a different one; both change nothing
 */
export async function resolve(
  deps: ExchangeDeps,
  tx: Tx,
  row: ExchangeRow,
  given: Exclude<Resolution, { outcome: 'pending' }>,
): Promise<'taken' | 'again' | 'otherwise'> {
  const { vault, clock } = deps;
  const peer = given.outcome === 'approved' ? given.callback : '';
  const said = saidOf(deps, row, given);
  if (row.state !== 'created' && row.state !== 'sent') {
    const before = row.peer.length === 0 ? '' : vault.decrypt(row.peer, peerContext(row));
    return row.state === said.state && (said.state === 'rejected' || before === peer) ? 'again' : 'otherwise';
  }
  const now = clock.now();
  await tx.run(sql.answered, [
    ...[row.id, said.state, peer === '' ? Buffer.alloc(0) : vault.encrypt(peer, peerContext(row))],
    ...[said.reason === '' ? Buffer.alloc(0) : vault.encrypt(said.reason, reasonContext(row)), now],
  ]);
  enqueue(tx, { kind: TRAVEL_EXCHANGE, subject: String(row.id), dueAt: now });
  await deps.onNews(tx, row.orderId);
  return 'taken';
}

function saidOf(
  deps: ExchangeDeps,
  { rail, address, host }: ExchangeRow,
  given: Exclude<Resolution, { outcome: 'pending' }>,
) {
  if (given.outcome === 'rejected') return { state: 'rejected', reason: given.reason } as const;
  if (deps.readAddress(rail, given.address) !== address)
    return { state: 'rejected', reason: 'it approved another address than the one to be paid' } as const;
  if (new URL(given.callback).host !== host)
    return { state: 'rejected', reason: 'it named a callback of another host' } as const;
  return { state: 'approved', reason: '' } as const;
}

/** The job: one step of an exchange. Calls outside between its transactions. */
export async function step(deps: ExchangeDeps, subject: string): Promise<Handled> {
  const { db, vault } = deps;
  const id = BigInt(subject);
  const found = await db.asSystem(async (tx) => {
    const row = await tx.row<ExchangeRow>(sql.find, [id]);
    if (row === undefined) return undefined;
    const [provider, fate] = await awaitAll(travelProvider(tx, row.host), deps.fateOf(tx, row.orderId, row.address));
    return { row, fate, isKnown: provider?.isOn === true };
  });
  const kept = found && keptOf(vault, found.row);
  if (found === undefined || kept === undefined || found.row.endedAt !== null) return undefined;
  return await (found.row.direction === 'out' ? outStep(deps, found, kept) : inStep(deps, found, kept));
}

interface Found {
  row: ExchangeRow;
  fate: Fate;
  /** Whether data is still exchanged with this provider. */
  isKnown: boolean;
}

async function outStep(deps: ExchangeDeps, { row, fate, isKnown }: Found, kept: Kept): Promise<Handled> {
  switch (row.state) {
    case 'created': {
      if (fate.isOver) return await ends(deps, row, 'canceled', null);
      if (!isKnown) return { againInMs: LOOK_EVERY_MS };
      const given = await tried(deps, row, () => deps.protocol.inquire({ ...kept, requestId: row.requestId }));
      if ('againInMs' in given) return given;
      await deps.db.asSystem(async (tx) => {
        const locked = await tx.row<ExchangeRow>(sql.lock, [row.id]);
        if (locked === undefined) return;
        if (given.answer.outcome === 'pending') await tx.run(sql.sent, [row.id]);
        else await resolve(deps, tx, locked, given.answer);
      });
      return { againInMs: LOOK_EVERY_MS };
    }
    case 'sent':
      return fate.isOver ? await ends(deps, row, 'canceled', null) : { againInMs: LOOK_EVERY_MS };
    case 'approved': {
      if (fate.tx === null && !fate.isOver) return { againInMs: LOOK_EVERY_MS };
      const confirmation = fate.tx === null ? { canceled: 'the transfer was not made' } : { tx: fate.tx };
      const url = deps.vault.decrypt(row.peer, peerContext(row));
      const body = deps.protocol.writeConfirmation(confirmation);
      const given = await tried(deps, row, () => deps.protocol.tell({ url, requestId: row.requestId, body }));
      if ('againInMs' in given)
        return row.attempts < MOST_NOTIFY_TRIES ? given : await ends(deps, row, 'untold', fate.tx);
      return await ends(deps, row, given.answer ? (fate.tx === null ? 'canceled' : 'transferred') : 'untold', fate.tx);
    }
    default:
      return undefined;
  }
}

/** Sends our resolution of an inquiry to its callback. inbound.ts decides it. */
async function inStep(deps: ExchangeDeps, { row, isKnown }: Found, kept: Kept): Promise<Handled> {
  if (row.toldAt !== null || (row.state !== 'approved' && row.state !== 'rejected')) return undefined;
  if (!isKnown) return { againInMs: LOOK_EVERY_MS };
  const given = await tried(deps, row, () =>
    deps.protocol.tell({ url: kept.url, requestId: row.requestId, body: kept.body }),
  );
  if ('againInMs' in given) return row.attempts < MOST_NOTIFY_TRIES ? given : await ends(deps, row, 'untold', null);
  await deps.db.asSystem(async (tx) => {
    await tx.run(given.answer ? sql.told : sql.disowned, [row.id, deps.clock.now()]);
    await deps.onNews(tx, row.orderId);
  });
  return undefined;
}

async function ends(deps: ExchangeDeps, { id }: ExchangeRow, outcome: ExchangeRow['outcome'], txId: string | null) {
  await deps.db.asSystem((tx) => tx.run(sql.ended, [id, deps.clock.now(), outcome, txId]));
  return undefined;
}

async function tried<T>(
  { db }: ExchangeDeps,
  { id, attempts }: ExchangeRow,
  call: () => Promise<T>,
): Promise<{ answer: T } | { againInMs: number }> {
  try {
    return { answer: await call() };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    await db.asSystem((tx) => tx.run(sql.failed, [id, error.message.slice(0, 200)]));
    return { againInMs: pauseAfter(Math.min(attempts, 20), PAUSES) };
  }
}

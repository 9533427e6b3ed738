/**
 * Inbound: the messages that other providers send us. An inquiry about coins that will come to one of our deposit addresses,
 * the resolution of our inquiry, and the confirmation that coins which we approved have moved.
 *
 * Each URL contains a secret. That of an inquiry is the travel address of one order, derived from the order's id and the master
 * key. The others are random, one per transfer, and only their hash is stored. A wrong or erased secret returns 404, whatever
 * the body.
 *
 * An inquiry is stored and answered later, by our request to its callback (exchange.ts). It is approved when it is about the
 * order's asset, the order still accepts coins, and its beneficiary has the name of the order's customer.
 *
 * Not here: HTTP (protocols/travel), records of transfers (records.ts).
 */
import { timingSafeEqual } from 'node:crypto';
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { enqueue } from '../../base/jobs.ts';
import { parseUnits } from '../../base/money.ts';
import { type AwaitedRow, type DepositRow, digestOf, type ExchangeRow, exchangeSql as sql } from './exchange.store.ts';
import {
  type ExchangeDeps,
  type Kept,
  keptOf,
  messageContext,
  newCallback,
  reasonContext,
  resolve,
  TRAVEL_EXCHANGE,
} from './exchange.ts';
import { namesOf } from './ivms.ts';
import { type Call, Misread } from './protocol.ts';
import { isKnownHost } from './providers.ts';

/** Per order: a customer sends coins a few times. */
const MOST_INQUIRIES = 20;
const PURPOSE = 'travel_rule.address';
const TOKEN_CHARS = 32;

export const CALL_KINDS = ['inquiry', 'resolution', 'confirmation'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** `pending`: accepted, and answered later. `why` contains nothing of the message. */
export type Reply =
  | { readonly outcome: 'pending' | 'taken' | 'unknown' | 'otherwise' | 'many' }
  | { readonly outcome: 'misread' | 'forbidden'; readonly why: string };

/** Path of an order's travel address, without a leading slash. */
export const addressPath = (vault: Vault, code: string, orderId: bigint): string =>
  `travel-rule/${code}/inquiry/${orderId}-${vault.index(String(orderId), PURPOSE).toString('hex').slice(0, TOKEN_CHARS)}`;

function orderNamedBy(vault: Vault, token: string): bigint | undefined {
  const [, id, secret] = /^([0-9]{1,18})-([0-9a-f]{32})$/.exec(token) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const given = Buffer.from(secret);
  const isRight = vault
    .indexes(id, PURPOSE)
    .some((index) => timingSafeEqual(Buffer.from(index.toString('hex').slice(0, TOKEN_CHARS)), given));
  return isRight ? BigInt(id) : undefined;
}

export async function receive(deps: ExchangeDeps, kind: CallKind, token: string, call: Call): Promise<Reply> {
  try {
    return await RECEIVE[kind](deps, token, call);
  } catch (error) {
    if (error instanceof Misread) return { outcome: 'misread', why: error.message };
    throw error;
  }
}

const RECEIVE: Readonly<Record<CallKind, (deps: ExchangeDeps, token: string, call: Call) => Promise<Reply>>> = {
  async inquiry(deps, token, call) {
    const { db, vault, clock, protocol } = deps;
    const orderId = orderNamedBy(vault, token);
    const order =
      orderId === undefined ? undefined : await db.asSystem((tx) => tx.row<AwaitedRow>(sql.awaited, [orderId]));
    if (order === undefined || deps.readAddress(order.rail, order.address) === undefined) return { outcome: 'unknown' };
    const { requestId, asset, amount, callback, ivms } = protocol.readInquiry(call);
    if (asset !== order.asset) throw new Misread('asset must be the one that this address takes');
    const units = unitsOf(amount, order.decimals);
    const kept: Kept = { url: callback, body: '', ivms };
    const digest = digestOf(requestId, call.body);
    return await db.asSystem(async (tx): Promise<Reply> => {
      if (!(await isKnownHost(tx, callback)))
        return { outcome: 'forbidden', why: 'callback must be at a registered provider' };
      await tx.run(sql.lockInquiries, [order.orderId]);
      const before = await tx.rows<Pick<ExchangeRow, 'digest' | 'requestId'>>(sql.inquiries, [order.orderId]);
      if (before.some((one) => one.digest.equals(digest))) return { outcome: 'pending' };
      if (before.some((one) => one.requestId === requestId)) return { outcome: 'otherwise' };
      if (before.length >= MOST_INQUIRIES) return { outcome: 'many' };
      const { customerId, partnerId, rail, address } = order;
      const now = clock.now();
      const made = await tx.row<{ id: bigint }>(sql.insert, [
        ...[
          'in',
          order.orderId,
          customerId,
          partnerId,
          protocol.code,
          new URL(callback).host,
          requestId,
          rail,
          address,
        ],
        ...[asset, units, digest, 'received'],
        ...[
          vault.encrypt(JSON.stringify(kept), messageContext({ orderId: order.orderId, direction: 'in', requestId })),
          null,
          now,
        ],
      ]);
      if (made !== undefined) await decide(deps, tx, made.id);
      return { outcome: 'pending' };
    });
  },

  async resolution(deps, token, call) {
    return await deps.db.asSystem(async (tx): Promise<Reply> => {
      const row = await tx.row<ExchangeRow>(sql.lockByToken, [digestOf(token), 'out']);
      if (row === undefined || row.message.length === 0) return { outcome: 'unknown' };
      const given = deps.protocol.readResolution(call);
      if (given.outcome === 'pending') throw new Misread('it must be resolved');
      const became = await resolve(deps, tx, row, given);
      return { outcome: became === 'otherwise' ? 'otherwise' : 'taken' };
    });
  },

  async confirmation(deps, token, call) {
    return await deps.db.asSystem(async (tx): Promise<Reply> => {
      const row = await tx.row<ExchangeRow>(sql.lockByToken, [digestOf(token), 'in']);
      if (row === undefined || row.message.length === 0 || row.state !== 'approved') return { outcome: 'unknown' };
      const given = deps.protocol.readConfirmation(call);
      const outcome = 'tx' in given ? 'transferred' : 'canceled';
      const txId = 'tx' in given ? given.tx : null;
      if (row.outcome !== null && row.outcome !== 'untold')
        return { outcome: row.outcome === outcome && row.tx === txId ? 'taken' : 'otherwise' };
      const now = deps.clock.now();
      // Only a provider that received our approval knows this URL, so the approval was delivered.
      await tx.run(sql.told, [row.id, now]);
      await tx.run(sql.confirmed, [row.id, txId, now, outcome]);
      await deps.onNews(tx, row.orderId);
      return { outcome: 'taken' };
    });
  },
};

/** Decides whether we accept these coins. The reason is neutral, because it must not reveal a finding about the customer. */
async function decide(deps: ExchangeDeps, tx: Tx, id: bigint): Promise<void> {
  const { vault, clock, protocol } = deps;
  const row = await tx.row<ExchangeRow>(sql.lock, [id]);
  const kept = row && keptOf(vault, row);
  if (row === undefined || kept?.ivms === undefined) return;
  const now = clock.now();
  const names = namesOf((kept.ivms.beneficiary as { beneficiaryPersons?: unknown }).beneficiaryPersons);
  const reason = !(await deps.isOpen(tx, row.orderId))
    ? 'this address takes no coins any more'
    : !(await deps.isCustomer(tx, row.customerId, names))
      ? 'the beneficiary does not match'
      : '';
  const callback = reason === '' ? newCallback(deps, 'confirmation') : undefined;
  const body = protocol.writeResolution(
    callback === undefined
      ? { outcome: 'rejected', reason }
      : { outcome: 'approved', address: row.address, callback: callback.url },
  );
  await tx.run(sql.decided, [
    ...[
      row.id,
      reason === '' ? 'approved' : 'rejected',
      vault.encrypt(JSON.stringify({ ...kept, body }), messageContext(row)),
    ],
    ...[callback?.token ?? null, reason === '' ? Buffer.alloc(0) : vault.encrypt(reason, reasonContext(row)), now],
  ]);
  enqueue(tx, { kind: TRAVEL_EXCHANGE, subject: String(row.id), dueAt: now });
}

function unitsOf(amount: string, decimals: number): bigint {
  try {
    return parseUnits(amount, decimals);
  } catch (error) {
    if (error instanceof Refusal) throw new Misread(`amount must have at most ${decimals} decimal places`);
    throw error;
  }
}

/**
 * Matches deposits with inbound exchanges: each deposit needs an exchange of its own whose approval was delivered and which was
 * not canceled, with the same asset and amount, and with the same transfer if the exchange names one. Pure.
 *
 * @returns undefined when a deposit has no exchange
 */
export function covering(
  deposits: readonly DepositRow[],
  exchanges: readonly ExchangeRow[],
): ExchangeRow[] | undefined {
  const free = exchanges.filter(
    ({ direction, state, toldAt, outcome }) =>
      direction === 'in' && state === 'approved' && toldAt !== null && outcome !== 'canceled',
  );
  const found: ExchangeRow[] = [];
  // Exchanges that name their transfer come first, so that a deposit takes its own rather than an unnamed one.
  const named = free.toSorted((a, b) => Number(a.tx === null) - Number(b.tx === null));
  for (const { asset, units, externalId } of deposits) {
    const at = named.findIndex(
      (one) => one.asset === asset && one.units === units && (one.tx === null || isOf(externalId, one.tx)),
    );
    const [one] = at < 0 ? [] : named.splice(at, 1);
    if (one === undefined) return undefined;
    found.push(one);
  }
  return found.length === 0 ? undefined : found;
}

/** A deposit's external id begins with the id of its chain transaction. */
const isOf = (externalId: string, tx: string): boolean =>
  externalId.toLowerCase() === tx.toLowerCase() || externalId.toLowerCase().startsWith(`${tx.toLowerCase()}:`);

/**
 * Records of transfers: what the travel rule requires for an order, which of it is missing, and the data of each transfer,
 * written once when it is complete. Reads and writes rows only.
 */
import { type Clock, later } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Tx } from '../../base/db.ts';
import { enqueueAt } from '../../base/jobs.ts';
import { formatUnits } from '../../base/money.ts';
import { legalDetails, type SourcedCountry, statedCountry } from '../../customers/index.ts';
import type { Sender } from '../address-risk/service.ts';
import { closeCases, openCase } from '../cases.ts';
import type { Screening } from '../screener.ts';
import { type DepositRow, type ExchangeRow, exchangeSql } from './exchange.store.ts';
import { ask, type ExchangeDeps, keptOf, outDigest } from './exchange.ts';
import { covering } from './inbound.ts';
import { customerPerson, type Ivms, ivmsOf } from './ivms.ts';
import { isKnownHost } from './providers.ts';
import { strictest } from './rules.ts';
import { sql, type TravelRuleRow, type WalletRow } from './store.ts';
import { openWallet, recordContext } from './wallets.ts';

/** The job's subject is the order's id. */
export const TRAVEL_DUE = 'travel_rule_due';
const CASE = 'travel_rule_missing';
/** Kind of the case of a refused order, and the finding that keeps its payout. No approval covers it. */
export const TOO_LATE = 'travel_rule_too_late' as const;

export interface RecordsDeps {
  vault: Vault;
  clock: Clock;
  senderOf(tx: Tx, depositId: bigint): Promise<Sender | undefined>;
  /** Present if a protocol is configured. */
  exchange?: ExchangeDeps | undefined;
}

/** One transfer of an order, with the address on the other side. */
export interface Leg {
  direction: 'in' | 'out';
  rail: string;
  /** '' if the chain does not show it. */
  address: string;
  /** Deposits that came from this address. */
  depositIds: readonly bigint[];
}

/** What is missing for a leg. */
export const MISSING = [
  'wallet',
  'proof',
  'name',
  'sender',
  // For a hosted wallet, if data is exchanged: its travel address, a known provider, the provider's answer, the provider's
  // data.
  'travel_address',
  'provider',
  'answer',
  'refused',
  'data',
] as const;
export type Missing = (typeof MISSING)[number];

/** An order that a travel rule applies to. */
export interface Asked
  extends Pick<TravelRuleRow, 'isOn' | 'thresholdUnits' | 'proofUnits' | 'deadlineS' | 'policy' | 'exchange'>,
    SourcedCountry {
  orderId: bigint;
  partnerId: bigint;
  customerId: string;
  ruleId: bigint;
  worthUnits: bigint;
  payoutAsset: string;
  payoutUnits: bigint;
  payoutDecimals: number;
  /** When the order was refused for want of its data. Nothing changes that. */
  refusedAt: Date | null;
}

export interface Standing extends Leg {
  isRecorded: boolean;
  wallet: WalletRow | undefined;
  /** Exchanges whose data covers this leg's deposits. */
  covered: readonly ExchangeRow[] | undefined;
  missing: Missing[];
}

/** @returns undefined when no rule applies to the order */
export async function askedOf(tx: Tx, orderId: bigint): Promise<Asked | undefined> {
  const rows = await tx.rows<Asked>(sql.required, [orderId]);
  const [row] = rows;
  if (row === undefined || row.refusedAt !== null) return row;
  return strictest(rows, row.worthUnits);
}

export async function legsOf(
  { senderOf }: RecordsDeps,
  tx: Tx,
  of: { payoutAddress: string | null; rail: string | undefined; depositIds: readonly bigint[] },
): Promise<Leg[]> {
  const legs = new Map<string, Leg>();
  for (const id of of.depositIds) {
    const sender = await senderOf(tx, id);
    if (sender === undefined) continue;
    const { rail, address } = sender;
    const key = JSON.stringify([rail, address]);
    const depositIds = [...(legs.get(key)?.depositIds ?? []), id];
    legs.set(key, { direction: 'in', rail, address: address ?? '', depositIds });
  }
  const out: Leg[] =
    of.payoutAddress === null || of.rail === undefined
      ? []
      : [{ direction: 'out', rail: of.rail, address: of.payoutAddress, depositIds: [] }];
  return [...legs.values(), ...out];
}

export async function standingOf(deps: RecordsDeps, tx: Tx, asked: Asked, legs: readonly Leg[]): Promise<Standing[]> {
  const { orderId, customerId: id } = asked;
  const [records, wallets, details, exchanges, deposits] = await awaitAll(
    tx.rows<{ direction: string; address: string }>(sql.recordsOf, [orderId]),
    tx.rows<WalletRow>(sql.walletsOf, [id, legs.map(({ rail }) => rail), legs.map(({ address }) => address)]),
    legalDetails(tx, deps.vault, id),
    tx.rows<ExchangeRow>(exchangeSql.ofOrder, [orderId]),
    tx.rows<DepositRow>(exchangeSql.deposits, [legs.flatMap(({ depositIds }) => depositIds)]),
  );
  const isNamed = customerPerson({ id, residence: statedCountry(asked), details }) !== undefined;
  const taken = new Set<bigint>();
  const standing: Standing[] = [];
  for (const leg of legs) {
    const { direction, rail, address, depositIds } = leg;
    const wallet = wallets.find((one) => one.rail === rail && one.address === address);
    const covered =
      direction === 'out'
        ? undefined
        : covering(
            deposits.filter((one) => depositIds.includes(one.id)),
            exchanges.filter((one) => !taken.has(one.id)),
          );
    for (const one of covered ?? []) taken.add(one.id);
    const missing: Missing[] = address === '' ? ['sender'] : [];
    // Where the sending provider has named the originator, the wallet need not be declared.
    if (address !== '' && covered === undefined)
      missing.push(...(await missingOfWallet(deps, tx, asked, direction, wallet, exchanges)));
    if (!isNamed) missing.push('name');
    const isRecorded = records.some((one) => one.direction === direction && one.address === address);
    standing.push({ ...leg, isRecorded, wallet, covered, missing });
  }
  return standing;
}

/** What is missing of the declaration of a wallet on the other side, its proof, and the data that its provider has. */
async function missingOfWallet(
  deps: RecordsDeps,
  tx: Tx,
  asked: Asked,
  direction: Leg['direction'],
  wallet: WalletRow | undefined,
  exchanges: readonly ExchangeRow[],
): Promise<Missing[]> {
  if (wallet === undefined) return ['wallet'];
  const { proofUnits, worthUnits, exchange } = asked;
  const needsProof = proofUnits !== null && worthUnits >= proofUnits;
  if (wallet.kind === 'self_hosted') return needsProof && wallet.provenAt === null ? ['proof'] : [];
  if (exchange !== 'required') return [];
  return direction === 'in' ? ['data'] : await askedOfProvider(deps, tx, asked, wallet, exchanges);
}

/** What is missing before the receiving provider has approved the transfer. */
async function askedOfProvider(
  { vault, exchange: deps }: RecordsDeps,
  tx: Tx,
  asked: Asked,
  wallet: WalletRow,
  exchanges: readonly ExchangeRow[],
): Promise<Missing[]> {
  const { travelAddress } = openWallet(vault, wallet);
  const url = travelAddress === undefined ? undefined : deps?.protocol.urlOf(travelAddress);
  if (travelAddress === undefined || url === undefined) return ['travel_address'];
  const { payoutAsset: asset, payoutUnits: units } = asked;
  const digest = outDigest({ travelAddress, address: wallet.address, asset, units });
  const found = exchanges.find((one) => one.direction === 'out' && one.digest.equals(digest));
  if (found?.state === 'approved') return [];
  if (found?.state === 'rejected') return ['refused'];
  return found === undefined && !(await isKnownHost(tx, url)) ? ['provider'] : ['answer'];
}

export const waitOf = (tx: Tx, orderId: bigint) => tx.row<{ dueAt: Date }>(sql.waitOf, [orderId]);

/** Whether the travel rule has refused the order: it is not paid, and people decide about its deposit. */
export const isRefusedByTravelRule = async (tx: Tx, orderId: bigint): Promise<boolean> =>
  (await tx.row(sql.isRefused, [orderId])) !== undefined;

/**
 * Whether this is the payout of a refused order after all: the law blocked its converted money and released it, and it leaves as a
 * refund.
 */
export const isReleasedOfRefused = async (tx: Tx, { purpose, id, depositIds = [] }: Screening): Promise<boolean> =>
  purpose === 'refund' && (await tx.row(sql.releasedOfRefused, [id, depositIds])) !== undefined;

/** Locks the wait of an order until `tx` ends, so that two jobs do not refuse it. @returns whether it is refused already */
export const lockWait = async (tx: Tx, orderId: bigint): Promise<boolean> =>
  (await tx.row<{ refusedAt: Date | null }>(sql.lockWait, [orderId]))?.refusedAt != null;

/** Stores that the order is refused: its case becomes one about the refusal. The caller has locked and held the order. */
export async function refuse(tx: Tx, asked: Asked, now: Date): Promise<void> {
  const { orderId, partnerId, ruleId } = asked;
  await tx.run(sql.refuse, [orderId, ruleId, now]);
  const subject = `order:${orderId}`;
  await closeCases(tx, { kind: CASE, subject, outcome: 'refused at the deadline', now });
  await openCase(tx, {
    ...{ kind: TOO_LATE, subject, orderId, partnerId, now },
    reason: 'the data of the travel rule was missing at the deadline: the order is refused',
    facts: { rule: String(ruleId) },
  });
}

/** Writes the records that are complete, asks providers, and opens or closes the order's case. */
export async function settle(deps: RecordsDeps, tx: Tx, asked: Asked, legs: readonly Leg[]): Promise<void> {
  const { orderId, policy } = asked;
  if (asked.refusedAt !== null) return;
  const now = deps.clock.now();
  const open = (await standingOf(deps, tx, asked, legs)).filter(({ isRecorded }) => !isRecorded);
  const wait = await waitOf(tx, orderId);
  const goesWithout = policy === 'send' && wait !== undefined && wait.dueAt <= now;
  const written = open.filter(({ missing }) => missing.length === 0 || (goesWithout && !missing.includes('refused')));
  for (const one of written) await writeRecord(deps, tx, asked, one, now);
  for (const one of open)
    if (one.missing.length === 1 && one.missing[0] === 'answer') await askProvider(deps, tx, asked, one);
  if (written.length < open.length) return await openMissingDataCase(tx, asked, wait, now);
  const about = { kind: CASE, subject: `order:${orderId}` } as const;
  if (wait !== undefined) await closeCases(tx, { ...about, outcome: 'the data has arrived, or is not needed', now });
}

async function writeRecord(deps: RecordsDeps, tx: Tx, asked: Asked, of: Standing, now: Date): Promise<void> {
  const { orderId, customerId, partnerId, ruleId } = asked;
  const { direction, address, missing } = of;
  const ivms = JSON.stringify(await dataOf(deps, tx, asked, of));
  const bytes = deps.vault.encrypt(ivms, recordContext({ orderId, direction, address }));
  const state = missing.length === 0 ? 'complete' : 'without';
  await tx.run(sql.insertRecord, [orderId, customerId, partnerId, direction, address, ruleId, state, bytes, now]);
}

/** The originator as the sending provider names it, or as our customer's partner says if there is no such data. */
async function dataOf({ vault }: RecordsDeps, tx: Tx, asked: Asked, of: Standing): Promise<Ivms> {
  const { orderId, customerId } = asked;
  const { direction, address, wallet, covered = [] } = of;
  const details = await legalDetails(tx, vault, customerId);
  const said = wallet === undefined ? undefined : openWallet(vault, wallet);
  const customer = { id: customerId, residence: statedCountry(asked), details };
  const own = ivmsOf({ direction, address, orderId, customer, wallet: said });
  const sent = covered.map((one) => keptOf(vault, one)?.ivms).find((one) => one !== undefined);
  if (sent === undefined) return own;
  const { originator, originatingVASP } = sent;
  return { ...own, originator, ...(originatingVASP === undefined ? {} : { originatingVASP }) };
}

async function askProvider(deps: RecordsDeps, tx: Tx, asked: Asked, of: Standing): Promise<void> {
  const { exchange, vault } = deps;
  const travelAddress = of.wallet === undefined ? undefined : openWallet(vault, of.wallet).travelAddress;
  if (exchange === undefined || travelAddress === undefined) return;
  const { orderId, customerId, partnerId, payoutAsset: asset, payoutUnits: units, payoutDecimals } = asked;
  const { rail, address } = of;
  const ivms = await dataOf(deps, tx, asked, of);
  const amount = formatUnits(units, payoutDecimals);
  await ask(exchange, tx, { orderId, customerId, partnerId, rail, address, asset, units, amount, travelAddress, ivms });
}

async function openMissingDataCase(tx: Tx, asked: Asked, wait: { dueAt: Date } | undefined, now: Date): Promise<void> {
  const { orderId, partnerId, ruleId, policy } = asked;
  const dueAt = wait?.dueAt ?? later(now, asked.deadlineS * 1_000);
  if (wait === undefined) {
    await tx.run(sql.insertWait, [orderId, ruleId, now, dueAt]);
    enqueueAt(tx, { kind: TRAVEL_DUE, subject: String(orderId), dueAt });
  }
  // It was refused after this transaction had read it: the case about the refusal is open instead.
  if (await lockWait(tx, orderId)) return;
  await openCase(tx, {
    ...{ kind: CASE, subject: `order:${orderId}`, orderId, partnerId, now },
    reason: 'the travel rule needs data about the counterparty wallet',
    facts: { dueAt: dueAt.toISOString(), then: policy },
  });
}

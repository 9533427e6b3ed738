/**
 * Records of transfers: what the travel rule asks of an order, what of it is missing, and the data of each transfer, written once
 * when all is there. Rows only.
 */
import { type Clock, later } from '../../base/clock.ts';
import type { Vault } from '../../base/crypto.ts';
import { awaitAll, type Tx } from '../../base/db.ts';
import { enqueueAt } from '../../base/jobs.ts';
import { openGivenDetails } from '../../customers/index.ts';
import type { Sender } from '../address-risk/service.ts';
import { closeCases, openCase } from '../cases.ts';
import { customerPerson, ivmsOf } from './ivms.ts';
import { sql, type TravelRuleRow, type WalletRow } from './store.ts';
import { openWallet, recordContext } from './wallets.ts';

/** Subject: the order. */
export const TRAVEL_DUE = 'travel_rule_due';
const CASE = 'travel_rule_missing';

export interface RecordsDeps {
  vault: Vault;
  clock: Clock;
  senderOf(tx: Tx, depositId: bigint): Promise<Sender | undefined>;
}

/** One transfer of an order, seen from its other side. */
export interface Leg {
  direction: 'in' | 'out';
  rail: string;
  /** '' where the chain does not say. */
  address: string;
}

/** What is missing for a leg. */
export type Missing = 'wallet' | 'proof' | 'name' | 'sender';

/** An order of which a rule asks something. */
export interface Asked extends Pick<TravelRuleRow, 'isOn' | 'thresholdUnits' | 'proofUnits' | 'deadlineS' | 'policy'> {
  orderId: bigint;
  partnerId: bigint;
  customerId: string;
  country: string;
  ruleId: bigint;
  worthUnits: bigint;
}

export interface Standing extends Leg {
  isRecorded: boolean;
  wallet: WalletRow | undefined;
  missing: Missing[];
}

/** Undefined where no rule asks anything of the order. */
export async function askedOf(tx: Tx, orderId: bigint): Promise<Asked | undefined> {
  const row = await tx.row<Asked>(sql.required, [orderId]);
  return row !== undefined && row.isOn && row.worthUnits >= row.thresholdUnits ? row : undefined;
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
    legs.set(JSON.stringify([rail, address]), { direction: 'in', rail, address: address ?? '' });
  }
  const out: Leg[] =
    of.payoutAddress === null || of.rail === undefined
      ? []
      : [{ direction: 'out', rail: of.rail, address: of.payoutAddress }];
  return [...legs.values(), ...out];
}

export async function standingOf({ vault }: RecordsDeps, tx: Tx, asked: Asked, legs: readonly Leg[]) {
  const { orderId, customerId: id, country, proofUnits, worthUnits } = asked;
  const [records, wallets, details] = await awaitAll(
    tx.rows<{ direction: string; address: string }>(sql.recordsOf, [orderId]),
    tx.rows<WalletRow>(sql.walletsOf, [id, legs.map(({ rail }) => rail), legs.map(({ address }) => address)]),
    openGivenDetails(tx, vault, id),
  );
  const isNamed = customerPerson({ id, country, details: details ?? {} }) !== undefined;
  const needsProof = proofUnits !== null && worthUnits >= proofUnits;
  return legs.map((leg): Standing => {
    const { direction, rail, address } = leg;
    const wallet = wallets.find((one) => one.rail === rail && one.address === address);
    const missing: Missing[] = [];
    if (address === '') missing.push('sender');
    else if (wallet === undefined) missing.push('wallet');
    else if (wallet.kind === 'self_hosted' && needsProof && wallet.provenAt === null) missing.push('proof');
    if (!isNamed) missing.push('name');
    const isRecorded = records.some((one) => one.direction === direction && one.address === address);
    return { ...leg, isRecorded, wallet, missing };
  });
}

export const waitOf = (tx: Tx, orderId: bigint) => tx.row<{ dueAt: Date }>(sql.waitOf, [orderId]);

/** Writes what is complete, and opens or closes the order's case. */
export async function settle(deps: RecordsDeps, tx: Tx, asked: Asked, legs: readonly Leg[]): Promise<void> {
  const { orderId, policy } = asked;
  const now = deps.clock.now();
  const open = (await standingOf(deps, tx, asked, legs)).filter(({ isRecorded }) => !isRecorded);
  const wait = await waitOf(tx, orderId);
  const goesWithout = policy === 'send' && wait !== undefined && wait.dueAt <= now;
  const written = open.filter(({ missing }) => missing.length === 0 || goesWithout);
  for (const one of written) await writeRecord(deps, tx, asked, one, now);
  if (written.length < open.length) return await tellMissing(tx, asked, wait, now);
  const about = { kind: CASE, subject: `order:${orderId}` } as const;
  if (wait !== undefined) await closeCases(tx, { ...about, outcome: 'the data is there, or not needed', now });
}

async function writeRecord({ vault }: RecordsDeps, tx: Tx, asked: Asked, of: Standing, now: Date): Promise<void> {
  const { orderId, customerId, partnerId, country, ruleId } = asked;
  const { direction, address, wallet, missing } = of;
  const details = (await openGivenDetails(tx, vault, customerId)) ?? {};
  const said = wallet === undefined ? undefined : openWallet(vault, wallet);
  const customer = { id: customerId, country, details };
  const ivms = JSON.stringify(ivmsOf({ direction, address, orderId, customer, wallet: said }));
  const bytes = vault.encrypt(ivms, recordContext({ orderId, direction, address }));
  const state = missing.length === 0 ? 'complete' : 'without';
  await tx.run(sql.insertRecord, [orderId, customerId, partnerId, direction, address, ruleId, state, bytes, now]);
}

async function tellMissing(tx: Tx, asked: Asked, wait: { dueAt: Date } | undefined, now: Date): Promise<void> {
  const { orderId, partnerId, ruleId, policy } = asked;
  const dueAt = wait?.dueAt ?? later(now, asked.deadlineS * 1_000);
  if (wait === undefined) {
    await tx.run(sql.insertWait, [orderId, ruleId, now, dueAt]);
    enqueueAt(tx, { kind: TRAVEL_DUE, subject: String(orderId), dueAt });
  }
  await openCase(tx, {
    ...{ kind: CASE, subject: `order:${orderId}`, orderId, partnerId, now },
    reason: 'the travel rule asks for the wallet on the other side',
    facts: { dueAt: dueAt.toISOString(), then: policy },
  });
}

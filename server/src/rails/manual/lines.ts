/** Lines of a statement in their stored form: interpreted, with encrypted content. */

import type { Tx } from '../../base/db.ts';
import { defined } from '../../base/defined.ts';
import type { BankContext, StatementLine } from '../bank.ts';
import type { Ends } from './continuity.ts';
import { refuseFile } from './decode.ts';
import { batchIn } from './files.ts';
import { keyIn } from './payee.ts';
import type { ReadLine, ReadStatement } from './read.ts';
import { returnReason } from './reasons.ts';
import { type ManualAccount, plainAccount } from './settings.ts';
import * as statementStore from './statements.store.ts';
import * as store from './store.ts';

/** The encrypted part of a line; the rest is in columns. */
export type LineContent = Pick<
  StatementLine,
  'reference' | 'key' | 'returnOf' | 'recallOf' | 'funding' | 'free' | 'bookedOn'
> &
  Pick<ReadLine, 'bookedTime'> & {
    /** The file and the payouts of ours that a debit names, if it is not the debit of one payout. */
    names?: { file?: string; payouts: readonly string[] };
  };
export const LINES_AT_ONCE = 2000;
export const contentPlace = (rail: string, externalId: string): string => `manual_lines.content:${rail}:${externalId}`;

/** A file that was read to its end and is consistent in itself. Nothing of it is taken in yet. */
export interface ReadFile {
  readonly rail: string;
  readonly account: ManualAccount;
  readonly format: 'csv' | 'camt.053';
  readonly statements: readonly ReadStatement[];
  readonly sha256: Buffer;
  readonly bytes: number;
}

/** Stores the balance of the account before its first statement, which is the operator's own money. */
export async function storeOpening(
  context: BankContext,
  tx: Tx,
  { rail, account: { asset } }: ReadFile,
  statementId: bigint,
  { opening, from }: Ends,
): Promise<void> {
  if (opening < 0n) throw refuseFile('The first statement of the account has a negative opening balance.');
  if (opening === 0n) return;
  const externalId = statementStore.openingId(asset);
  const content: LineContent = { reference: 'opening balance', funding: true, free: {} };
  await store.insertLines(tx, rail, asset, [
    {
      externalId,
      direction: 'credit',
      units: opening,
      chargeUnits: 0n,
      bookedOn: from,
      statementId,
      relation: null,
      content: context.vault.encrypt(JSON.stringify(content), contentPlace(rail, externalId)),
    },
  ]);
}

export async function storeLines(
  context: BankContext,
  tx: Tx,
  { rail, account }: ReadFile,
  statementId: bigint,
  fresh: readonly { line: ReadLine; id: string }[],
): Promise<void> {
  // A reversal of a credit is stored after the credit, whatever the order of the file.
  const undoes = ({ line }: { line: ReadLine }) =>
    line.direction === 'debit' && (line.reversal || line.returned !== undefined);
  const inOrder = [...fresh.filter((one) => !undoes(one)), ...fresh.filter(undoes)];
  let waiting: store.NewLine[] = [];
  const flush = async () => {
    if (waiting.length > 0) await store.insertLines(tx, rail, account.asset, waiting);
    waiting = [];
  };
  for (const { line, id } of inOrder) {
    const relations = relationsOf(context, account.asset, line);
    if (undoes({ line })) await flush();
    const recallOf =
      undoes({ line }) && relations.length > 0 ? await undone(tx, rail, account.asset, relations, line) : {};
    const content: LineContent = { ...meaningOf(line, account, id), ...recallOf };
    waiting.push({
      externalId: id,
      direction: line.direction,
      units: line.units,
      chargeUnits: line.chargeUnits,
      bookedOn: line.bookedOn,
      statementId,
      relation: relations[0] ?? null,
      content: context.vault.encrypt(JSON.stringify(content), contentPlace(rail, id)),
    });
    if (waiting.length >= LINES_AT_ONCE) await flush();
  }
  await flush();
}

/** The one credit that this debit reverses, whole or in part, if exactly one fits: of this amount, or else of a larger one. */
async function undone(
  tx: Tx,
  rail: string,
  asset: string,
  relations: readonly Buffer[],
  line: ReadLine,
): Promise<Partial<LineContent>> {
  const credits = await store.creditsRelated(tx, rail, asset, relations, line.units);
  const whole = credits.filter(({ units }) => units === line.units);
  const [credit, other] = whole.length > 0 ? whole : credits;
  if (credit === undefined || other !== undefined) return {};
  return { recallOf: { externalId: credit.id, why: returnReason(line.returned ?? '') } };
}

/**
 * The blind index of the reference that a payment keeps when it is returned or reversed: the payer's, or the bank's. Empty if
 * there is none; during a key rotation the present key's comes first.
 */
function relationsOf(context: BankContext, asset: string, line: ReadLine): Buffer[] {
  const reference = line.endToEnd || line.paymentId || line.bankRef;
  return reference === '' ? [] : context.vault.indexes(`${asset} ${reference}`, 'manual_lines.relation');
}

function namesIn(line: ReadLine): LineContent['names'] {
  if (line.direction === 'credit') return undefined;
  const { mentions = [] } = line;
  const file = batchIn({ ...line, text: [line.text, ...mentions].join(' ') });
  const payouts = [...new Set(mentions.flatMap((one) => keyIn(one) ?? []))];
  if (file === undefined && payouts.length === 0) return undefined;
  return { ...defined({ file: file === undefined ? undefined : String(file) }), payouts };
}

function meaningOf(line: ReadLine, account: ManualAccount, id: string): LineContent {
  const comesBack = line.reversal || line.returned !== undefined;
  const key = keyIn(line.endToEnd, line.text);
  const isFunding =
    line.direction === 'credit' && !comesBack && account.fundingAccounts.includes(plainAccount(line.account));
  return {
    reference: line.bankRef || line.paymentId || id,
    ...(line.direction === 'debit' && !comesBack && key !== undefined ? { key } : {}),
    ...(line.direction === 'credit' && comesBack && key !== undefined
      ? { returnOf: { key, why: returnReason(line.returned ?? '') } }
      : {}),
    ...(isFunding ? { funding: true } : {}),
    ...(line.dayIs === 'valued' ? { bookedOn: 'unknown' } : {}),
    ...defined({ bookedTime: line.bookedTime, names: key === undefined && !comesBack ? namesIn(line) : undefined }),
    free: {
      // Our reference may be in either of the two.
      text: `${line.text} ${line.endToEnd}`.trim(),
      ...(line.name === '' ? {} : { name: line.name }),
      ...(line.account === '' ? {} : { account: line.account }),
    },
  };
}

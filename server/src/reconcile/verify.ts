/**
 * `verify-ledger`: verifies the books from the database alone: seals, contents, balances, holds, both sides of each asset, every
 * order against its accounts and its history, and the audit against its seals.
 *
 * It runs in one transaction, or two, with one snapshot, so it can run beside the server. It writes nothing.
 *
 * Not here: the computations on the journal (ledger/verify.ts), on orders (orders/read/check.ts) and on the audit
 * (operators/seals.ts).
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { checkSettlements, type JournalSummary, type Problem, verifyJournal, verifySums } from '../ledger/index.ts';
import { type AuditSummary, verifyAudit } from '../operators/index.ts';
import { checkDormant, checkOrders } from '../orders/index.ts';

export interface Verified extends JournalSummary {
  orders: bigint;
  audit: AuditSummary;
  problems: (Omit<Problem, 'rule'> & { rule: Problem['rule'] | 'order' | 'dormant' | 'settlement' | 'audit' })[];
  /** Number of problems beyond those listed. */
  more: number;
  tookMs: number;
}

interface Kept {
  number: bigint;
  hash: string;
}

/** Maximum number of listed problems, of entries and of sums each: those of a thoroughly broken journal would fill the memory. */
const MAX_PROBLEMS = 1_000;

export interface Verifying {
  /** Number and hash of a seal of the journal, as kept elsewhere. */
  kept?: Kept | undefined;
  /** The same of the audit. */
  keptAudit?: Kept | undefined;
  now?: Date;
  /** Verifies audit rows whose texts were encrypted again. */
  vault?: Vault | undefined;
  /** A second transaction with the snapshot of the first: sums are verified on it, while the entries are read on the first. */
  beside?: Tx;
}

/** @param tx with one snapshot (`repeatable read`) */
export async function verifyLedger(
  tx: Tx,
  { kept, keptAudit, now = new Date(), vault, beside }: Verifying = {},
): Promise<Verified> {
  const from = performance.now();
  const [ofEntries, ofSums] = [collector(), collector()];
  const entries = async () => await verifyJournal(tx, ofEntries.tell, kept);
  const sums = async (on: Tx) => {
    const { tell } = ofSums;
    await verifySums(on, tell);
    const orders = await checkOrders(on, (id, why) => tell({ rule: 'order', subject: `order ${id}`, why }));
    await checkDormant(on, (subject, why) => tell({ rule: 'dormant', subject, why }));
    await checkSettlements(on, (subject, why) => tell({ rule: 'settlement', subject, why }));
    const audit = await verifyAudit(on, (problem) => tell({ rule: 'audit', ...problem }), now, keptAudit, vault);
    return { orders, audit };
  };
  const [summary, summed] =
    beside === undefined ? [await entries(), await sums(tx)] : await Promise.all([entries(), sums(beside)]);
  const problems = [...ofEntries.problems, ...ofSums.problems];
  const more = ofEntries.more() + ofSums.more();
  return { ...summary, ...summed, problems, more, tookMs: performance.now() - from };
}

/** Keeps the first problems it is told, and counts the others. */
function collector() {
  const problems: Verified['problems'] = [];
  let more = 0;
  const tell = (problem: Verified['problems'][number]): void => {
    if (problems.length < MAX_PROBLEMS) problems.push(problem);
    else more += 1;
  };
  return { problems, tell, more: () => more };
}

const RULES: readonly [Verified['problems'][number]['rule'], string][] = [
  ['content', 'every entry has the transfers it was posted with'],
  ['seal', 'every seal is the hash of its rows and of the previous seal'],
  ['unsealed', 'no entry slipped in among sealed ones'],
  ['balance', 'every account is the sum of its transfers'],
  ['hold', 'every hold is what its transfers say'],
  ['double_entry', 'both sides of every asset are equal'],
  ['daily_total', 'every daily total is the sum of its entries'],
  ['order', 'every order holds what its state says, and its history leads there'],
  ['dormant', 'dormant money is what its rows say, deposit by deposit and order by order'],
  ['settlement', 'every settlement of partner fees is the debit that paid it'],
  ['audit', 'no row of the audit was changed, removed or inserted since it was sealed'],
];

/** The result as text. */
export function verifiedTable(verified: Verified): string {
  const { entries, transfers, seals, unsealed, orders, audit, newest, problems, more, tookMs } = verified;
  const seconds = tookMs / 1000;
  const lines = [
    `${entries} entries of ${transfers} transfers, ${seals} seals (${unsealed} entries not sealed yet), ${orders} orders`,
    `${audit.rows} sealed rows of the audit, ${audit.seals} seals (${audit.unsealed} rows not sealed yet)`,
    `in ${seconds.toFixed(1)} s: ${Math.round(Number(transfers) / Math.max(seconds, 0.001))} transfers a second`,
    '',
    ...RULES.map(([rule, says]) => {
      const broken = problems.filter((problem) => problem.rule === rule).length;
      return `${broken === 0 ? 'holds ' : 'BROKEN'}  ${rule.padEnd(12)}  ${says}${broken === 0 ? '' : `: ${broken} do not`}`;
    }),
    '',
    ...problems.map(({ rule, subject, why }) => `${rule.padEnd(12)}  ${subject}: ${why}`),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(problems.length > 0 ? [''] : []),
    newest === null
      ? 'Nothing is sealed yet.'
      : `Newest seal: ${newest.number}:${newest.hash}\nKeep it elsewhere, and hand it to a later run: npm run verify-ledger -- --seal ${newest.number}:<hash>`,
    ...(audit.newest === null
      ? []
      : [`Newest seal of the audit: ${audit.newest.number}:${audit.newest.hash}, for --audit-seal`]),
  ];
  return `${lines.join('\n')}\n`;
}

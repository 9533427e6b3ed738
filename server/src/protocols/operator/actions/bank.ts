/**
 * Actions at the desk of a bank without an API: closing, downloading and withdrawing a file of payouts, settling its payouts by one
 * debit, taking in a statement.
 *
 * A file sends money out and a statement is evidence of money in, so by default each takes two people, whatever the amount; a
 * rule that names the action may set a limit. A statement up to the limit of its asset takes one person. The opening balance of
 * an account's first statement counts towards the limit, because it is booked as the operator's own money. A proposal to close
 * a file names the payouts that were shown: the file contains exactly these, or is not closed. Later payouts go into the next
 * file.
 *
 * Not here: reading statements (../bank.ts), the meaning of a file or a line (rails/manual).
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { MAX_AUDIT, type Need, namesOf, readAudit, recordLooks } from '../../../operators/index.ts';
import { payeesOf } from '../../../orders/index.ts';
import { isSubmittingOff } from '../../../partners/index.ts';
import { text } from '../../declaration/fields.ts';
import { type Action, action, actionOfRequest } from '../action.ts';
import { BANK } from '../declared/bank.ts';
import type { BankDesk, OperatorDeps, StatementFile } from '../deps.ts';

export function bankActions(desk: BankDesk): readonly Action[] {
  const subjectOfFile = (input: { id: bigint }): string => `${desk.code}:${input.id}`;
  const lookAtFile = async (_deps: OperatorDeps, tx: Tx, input: { id: bigint }) => {
    const { id: file, asset: of, payouts, units, sha256, withdrawnAt } = await desk.batch(tx, input.id);
    return { file, asset: of, payouts, units, sha256, withdrawn: withdrawnAt !== null };
  };
  const amountOfFile = async (tx: Tx, file: bigint): Promise<Need> => {
    const { asset: of, units } = await desk.batch(tx, file);
    return { asset: of, units, asks: 'named' };
  };
  return [
    action({
      ...BANK.takeOff,
      subject: ({ key }) => `${desk.code}:${key}`,
      look: async () => null,
      async perform(_deps, tx, { key }) {
        await desk.takeOff(tx, key);
        return { key };
      },
    }),
    action({
      ...BANK.close,
      async bind({ clock }, tx, input) {
        await unlessSwitchedOff(tx, desk.code);
        if (input.payouts !== undefined) return input;
        const { keys } = await desk.next(tx, { asset: input.asset, until: input.until ?? clock.now() });
        return { ...input, payouts: keys };
      },
      subject: (input) => `${desk.code}:${input.asset}`,
      async look(_deps, tx, input) {
        await unlessSwitchedOff(tx, desk.code);
        const { keys, units } = await shownOf(desk, tx, input);
        return {
          asset: input.asset,
          units,
          payouts: keys,
          lastFile: (await lastFileOf(desk, tx, input.asset)) ?? null,
        };
      },
      async needs(_deps, tx, input): Promise<Need> {
        const { keys, units } = await shownOf(desk, tx, input);
        if (keys.length === 0) throw new Refusal('batch_refused', { why: 'None of these payouts waits for a file.' });
        // Every file counts separately, although all files of an asset have one subject.
        const counts = `${desk.code}:${input.asset}:after ${(await lastFileOf(desk, tx, input.asset)) ?? 'none'}`;
        return { asset: input.asset, units, asks: 'named', counts };
      },
      async perform(_deps, tx, input, { operator }) {
        const { payouts: keys = [] } = input;
        return { ...(await desk.closeBatch(tx, { asset: input.asset, by: operator.name, keys })) };
      },
      refused: (_deps, tx, input) => desk.lookAgain(tx, { asset: input.asset }),
    }),
    action({
      ...BANK.download,
      subject: subjectOfFile,
      async look(deps, tx, input) {
        await unlessSwitchedOff(tx, desk.code);
        return await lookAtFile(deps, tx, input);
      },
      async needs(_deps, tx, input) {
        // Checked before anything is proposed, with the desk's own message.
        await desk.requireMayLeave(tx, input.id);
        return await amountOfFile(tx, input.id);
      },
      refused: (_deps, tx, input) => desk.lookAgain(tx, { file: input.id }),
      // The file has names and account numbers of its payees: each has a row in the audit, as after any other look at it.
      async perform(_deps, tx, input, doing) {
        const file = await desk.file(tx, input.id);
        const subjects = await payeesOf(tx, await desk.keysOfFile(tx, input.id));
        await recordLooks(tx, doing, { subjects, after: { file: subjectOfFile(input) } });
        return { file };
      },
    }),
    action({
      ...BANK.withdraw,
      subject: subjectOfFile,
      look: lookAtFile,
      needs: (_deps, tx, input) => amountOfFile(tx, input.id),
      async perform(_deps, tx, input, { operator, reason: statement }) {
        return { ...(await desk.withdrawBatch(tx, input.id, { by: operator.name, statement })) };
      },
    }),
    action({
      ...BANK.settle,
      async bind(_deps, tx, input) {
        return { ...input, payouts: input.payouts ?? (await desk.openOfFile(tx, input.id)) };
      },
      subject: subjectOfFile,
      look: async (_deps, tx, input) => await desk.fileDebit(tx, input),
      async needs(_deps, tx, input): Promise<Need> {
        const { named } = await desk.requireSettleable(tx, input);
        if (!named && !(await wasDownloaded(tx, subjectOfFile(input))))
          throw new Refusal('batch_refused', {
            why: 'The file was never downloaded, and the debit does not name it: the bank cannot have it.',
          });
        return 'always';
      },
      perform: (_deps, tx, input) => desk.settleFile(tx, input),
    }),
    // In the list of actions without a file: such a proposal is confirmed only by uploading its file, and declined like any
    // other.
    takeStatement(desk, undefined),
  ];
}

/** A statement, with its file if uploaded. */
export const takeStatement = <File extends StatementFile>(desk: BankDesk<File>, file: File | undefined): Action =>
  (file === undefined ? action : actionOfRequest)({
    ...BANK.take,
    // Its file is represented by its hash, in the proposal and in the audit.
    fields: { ...BANK.take.fields, sha256: text(64, /^[0-9a-f]{64}$/, 'the SHA-256 of the file') },
    subject: ({ sha256 }) => `${desk.code}:${sha256}`,
    async look(_deps, tx, input) {
      if (file === undefined) return null;
      return { asset: input.asset, sha256: input.sha256, ...(await desk.newOf(tx, file)) };
    },
    async needs(_deps, tx, input) {
      const credits = file === undefined ? 0n : (await desk.newOf(tx, file)).creditUnits;
      return credits === 0n ? undefined : { asset: input.asset, units: credits };
    },
    async perform(_deps, tx, _ask, { operator }) {
      if (file === undefined) throw new Refusal('file_needed', { how: HOW });
      // Renamed, because the reply of an action has an `outcome` of its own.
      const { outcome, ...taken } = await desk.takeStatement(tx, { file, by: operator.name });
      return { ...taken, taken: outcome };
    },
    ...(file === undefined ? { byFile: HOW } : {}),
  });

const lastFileOf = async (desk: BankDesk, tx: Tx, of: string): Promise<bigint | undefined> =>
  (await desk.batches(tx)).find((file) => file.asset === of)?.id;

async function wasDownloaded(tx: Tx, subject: string): Promise<boolean> {
  for (const action of namesOf(BANK.download.name)) {
    const rows = await readAudit(tx, { action, subject, limit: MAX_AUDIT });
    if (rows.some(({ outcome }) => outcome === 'done')) return true;
  }
  return false;
}

const HOW = 'another operator sends the same file to bank/statements';

/** The shown payouts that are still waiting. */
const shownOf = (desk: BankDesk, tx: Tx, input: { asset: string; payouts?: readonly string[] | undefined }) =>
  desk.stillWaiting(tx, { asset: input.asset, keys: input.payouts ?? [] });

/** A file sends money out, so a kill switch on submission also stops files: none leaves after the switch was set. */
export async function unlessSwitchedOff(tx: Tx, rail: string): Promise<void> {
  if (await isSubmittingOff(tx, rail))
    throw new Refusal('batch_refused', {
      why: 'Submission of payouts is switched off, so no payout file can be closed or downloaded.',
    });
}

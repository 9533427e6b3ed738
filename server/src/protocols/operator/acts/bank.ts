/**
 * Acts at the desk of a bank without an API: a file of payouts is closed, handed out and withdrawn, a statement is taken in.
 *
 * A file is how money leaves and a statement how it is believed to have come, so by default two people do each, however much
 * it is; a rule that names the act may set a limit. A statement up to the limit of its asset is one person's; the opening
 * balance of an account's first one counts, because it is booked as the operator's own. A proposal to close a file names its payouts, as they
 * were shown: the file that is closed holds exactly these, or nothing is closed. Later ones are left for the next file.
 *
 * Not here: reading statements (../bank.ts), what a file or a line is (rails/manual).
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import type { Need } from '../../../operators/index.ts';
import { isHandingStopped } from '../../../partners/index.ts';
import { type Act, act, type OperatorDeps } from '../act.ts';
import type { BankDesk, StatementFile } from '../bank.ts';
import { id, listOf, optional, text, time } from '../fields.ts';

const asset = text(60);
const payoutKey = text(60, /^[\x21-\x7e]+$/, 'the id of a payout');
/** As many as a file holds. */
const MOST_PAYOUTS = 1_000;

export function bankActs(desk: BankDesk): readonly Act[] {
  const subjectOfFile = (ask: { id: bigint }): string => `${desk.code}:${ask.id}`;
  const lookAtFile = async (_deps: OperatorDeps, tx: Tx, ask: { id: bigint }) => {
    const { id: file, asset: of, payouts, units, sha256, withdrawnAt } = await desk.batch(tx, ask.id);
    return { file, asset: of, payouts, units, sha256, withdrawn: withdrawnAt !== null };
  };
  const amountOfFile = async (tx: Tx, file: bigint): Promise<Need> => {
    const { asset: of, units } = await desk.batch(tx, file);
    return { asset: of, units, ask: 'named' };
  };
  return [
    act({
      name: 'bank.take_off',
      path: '/bank/payouts/:key/take-off',
      right: 'money',
      fields: { key: text(60) },
      subject: ({ key }) => `${desk.code}:${key}`,
      look: async () => null,
      async perform(_deps, tx, { key }) {
        await desk.takeOff(tx, key);
        return { key };
      },
    }),
    act({
      name: 'bank.close_file',
      path: '/bank/files',
      right: 'money',
      /** `until`: payouts that were listed later are left for the next file. `payouts`: exactly these. */
      fields: { asset, until: optional(time), payouts: optional(listOf(payoutKey, MOST_PAYOUTS)) },
      async bind({ clock }, tx, ask) {
        await unlessStopped(tx, desk.code);
        if (ask.payouts !== undefined) return ask;
        const { keys } = await desk.next(tx, { asset: ask.asset, until: ask.until ?? clock.now() });
        return { ...ask, payouts: keys };
      },
      subject: (ask) => `${desk.code}:${ask.asset}`,
      async look(_deps, tx, ask) {
        await unlessStopped(tx, desk.code);
        const { keys, units } = await shownOf(desk, tx, ask);
        return { asset: ask.asset, units, payouts: keys, lastFile: (await lastFileOf(desk, tx, ask.asset)) ?? null };
      },
      weighs: true,
      async needs(_deps, tx, ask): Promise<Need> {
        const { keys, units } = await shownOf(desk, tx, ask);
        if (keys.length === 0) throw new Refusal('batch_refused', { why: 'None of these payouts waits for a file.' });
        // Every file counts on its own: all of an asset have one subject.
        const counts = `${desk.code}:${ask.asset}:after ${(await lastFileOf(desk, tx, ask.asset)) ?? 'none'}`;
        return { asset: ask.asset, units, ask: 'named', counts };
      },
      async perform(_deps, tx, ask, { operator }) {
        const { payouts: keys = [] } = ask;
        return { ...(await desk.closeBatch(tx, { asset: ask.asset, by: operator.name, keys })) };
      },
      refused: (_deps, tx, ask) => desk.lookAgain(tx, { asset: ask.asset }),
    }),
    act({
      name: 'bank.hand_out_file',
      path: '/bank/files/:id/hand-out',
      right: 'money',
      fields: { id },
      subject: subjectOfFile,
      async look(deps, tx, ask) {
        await unlessStopped(tx, desk.code);
        return await lookAtFile(deps, tx, ask);
      },
      weighs: true,
      async needs(_deps, tx, ask) {
        // Asked before anything is proposed, and in words of the desk.
        await desk.requireMayLeave(tx, ask.id);
        return await amountOfFile(tx, ask.id);
      },
      refused: (_deps, tx, ask) => desk.lookAgain(tx, { file: ask.id }),
      perform: async (_deps, tx, ask) => ({ file: await desk.file(tx, ask.id) }),
    }),
    act({
      name: 'bank.withdraw_file',
      path: '/bank/files/:id/withdraw',
      right: 'money',
      fields: { id },
      subject: subjectOfFile,
      look: lookAtFile,
      weighs: true,
      needs: (_deps, tx, ask) => amountOfFile(tx, ask.id),
      async perform(_deps, tx, ask, { operator, reason: statement }) {
        return { ...(await desk.withdrawBatch(tx, ask.id, { by: operator.name, statement })) };
      },
    }),
    // Confirmed by its file and no other way; declined like any other.
    takeStatement(desk, undefined),
  ];
}

/** A statement, with its file where it is at hand. */
export const takeStatement = <File extends StatementFile>(desk: BankDesk<File>, file: File | undefined): Act =>
  act({
    name: 'bank.take_statement',
    path: '/bank/statements',
    right: 'money',
    fields: { asset, sha256: text(64, /^[0-9a-f]{64}$/, 'the SHA-256 of the file') },
    subject: ({ sha256 }) => `${desk.code}:${sha256}`,
    async look(_deps, tx, ask) {
      if (file === undefined) return null;
      return { asset: ask.asset, sha256: ask.sha256, ...(await desk.newOf(tx, file)) };
    },
    weighs: true,
    async needs(_deps, tx, ask) {
      const credits = file === undefined ? 0n : (await desk.newOf(tx, file)).creditUnits;
      return credits === 0n ? undefined : { asset: ask.asset, units: credits };
    },
    async perform(_deps, tx, _ask, { operator }) {
      if (file === undefined) throw new Refusal('file_needed', { how: HOW });
      // What it came to stands above what this act came to.
      const { outcome, ...taken } = await desk.takeStatement(tx, { file, by: operator.name });
      return { ...taken, taken: outcome };
    },
    ...(file === undefined ? { byFile: HOW } : {}),
  });

const lastFileOf = async (desk: BankDesk, tx: Tx, of: string): Promise<bigint | undefined> =>
  (await desk.batches(tx)).find((file) => file.asset === of)?.id;

const HOW = 'another operator sends the same file to bank/statements';

/** What was shown, as far as it waits still. */
const shownOf = (desk: BankDesk, tx: Tx, ask: { asset: string; payouts?: readonly string[] | undefined }) =>
  desk.stillWaiting(tx, { asset: ask.asset, keys: ask.payouts ?? [] });

/** A file is how money leaves here, so what stops handing over stops files: none leaves after the switch has answered. */
export async function unlessStopped(tx: Tx, rail: string): Promise<void> {
  if (await isHandingStopped(tx, rail))
    throw new Refusal('batch_refused', { why: 'Handing over is stopped, so no file leaves.' });
}

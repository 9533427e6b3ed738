/** Two people, as they do it at the console: one proposes, another confirms. */
import { createOperator, type Operator, operators } from '../../src/operators/index.ts';
import { type Action, type ActionReply, confirm, decline, perform } from '../../src/protocols/operator/action.ts';
import type { OperatorDeps } from '../../src/protocols/operator/deps.ts';
import { vault } from './ground.ts';
import type { OurProcess } from './process.ts';

const NAMES = ['ada', 'bea', 'cyd'];
export const PEOPLE_NAMED: readonly string[] = NAMES;
const WHY = 'stepped in';

const deskOf = ({ context, transfers, movements }: OurProcess): OperatorDeps =>
  ({
    ...{ orders: context, db: context.db, vault, clock: context.clock, submitAgain: async () => {} },
    ...{ transfers, movements },
  }) as never;

const callers = ({ context: { db, clock } }: OurProcess): Promise<Operator[]> =>
  db.asSystem(async (tx) => {
    const there = await operators(tx);
    for (const name of NAMES)
      if (!there.some((one) => one.name === name))
        there.push(await createOperator(tx, { name, role: 'admin', now: clock.now() }));
    return NAMES.flatMap((name) => there.find((one) => one.name === name) ?? []);
  });

async function callerOf(process: OurProcess, nth: number) {
  const operator = (await callers(process))[nth];
  if (operator === undefined) throw new Error(`operator ${NAMES[nth]} is missing`);
  return { operator, address: '::1' };
}

/** One person does it. @throws Refusal of the action */
export async function does(process: OurProcess, action: Action, given: Record<string, unknown>): Promise<ActionReply> {
  return await perform(deskOf(process), action, await callerOf(process, 0), { ...given, reason: WHY });
}

/** The first person withdraws their proposal. */
export async function declines(process: OurProcess, proposal: bigint): Promise<void> {
  await decline(deskOf(process), new Map(), await callerOf(process, 0), { reason: WHY }, proposal);
}

/**
 * The first person proposes it. @returns what confirms it, by the person of that number: 0 is the proposer
 *
 * @throws Refusal of the action
 */
export async function proposes(
  process: OurProcess,
  action: Action,
  given: Record<string, unknown>,
): Promise<(nth: number) => Promise<ActionReply>> {
  const { status, body } = await does(process, action, given);
  if (status !== 202) throw new Error(`${action.name} takes one person`);
  const all = new Map([[action.name, action]]);
  return async (nth) =>
    await confirm(deskOf(process), all, await callerOf(process, nth), { reason: WHY }, body['proposal'] as bigint);
}

/** Actions on questions about a customer: asking, withdrawing, and marking answers as read. */
import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { openTyped } from '../../../base/typed.ts';
import { informationEnded, informationRead } from '../../../compliance/index.ts';
import { askInformation, endInformation, findCustomer, informationOf, MAX_REQUESTS } from '../../../customers/index.ts';
import { type Action, action } from '../action.ts';
import { INFORMATION } from '../declared/information.ts';
import type { OperatorDeps } from '../deps.ts';

const DAY_MS = 86_400_000;
const subject = (input: { customer: string }): string => `customer:${input.customer}`;
const requestsOf = async ({ vault }: OperatorDeps, tx: Tx, customerId: string) =>
  await informationOf(tx, vault, { customerId, limit: MAX_REQUESTS });

/** Requests by number only, because question and answer may be personal. */
async function look(deps: OperatorDeps, tx: Tx, input: { customer: string }): Promise<unknown> {
  await findCustomer(tx, input.customer);
  const all = await requestsOf(deps, tx, input.customer);
  const idsIn = (state: string) => all.filter((one) => one.state === state).map(({ id }) => String(id));
  return { open: idsIn('open'), answered: idsIn('answered') };
}

export const INFORMATION_ACTIONS: readonly Action[] = [
  action({
    ...INFORMATION.ask,
    subject,
    look,
    async perform({ vault }, tx, input, { operator, now }) {
      const question = openTyped(vault, input.question);
      const dueAt = later(now, input.days * DAY_MS);
      const of = { customerId: input.customer, question, dueAt, by: operator.name, now };
      return { request: String((await askInformation(tx, vault, of)).id), dueAt };
    },
  }),
  action({
    ...INFORMATION.withdraw,
    subject,
    look,
    async perform({ vault }, tx, input, { now }) {
      const of = { customerId: input.customer, id: input.request, answer: null, now };
      await informationEnded(tx, { ...(await endInformation(tx, vault, of)), now });
    },
  }),
  action({
    ...INFORMATION.answers,
    subject,
    look,
    async perform(deps, tx, input, { operator, now }) {
      const all = await requestsOf(deps, tx, input.customer);
      const ids = all.filter(({ state }) => state === 'answered').map(({ id }) => id);
      await informationRead(tx, { ids, by: operator.name, now });
      const questions = all.map(({ id, state, question, answer, files, askedAt, dueAt, endedAt }) => ({
        ...{ id: String(id), state, question, answer, askedAt, dueAt, endedAt },
        files: files.map(({ id: file, type, bytes }) => ({ id: file, type, bytes })),
      }));
      return { questions };
    },
  }),
];

/**
 * Actions on our own money: addresses outside this server, and transfers to them.
 *
 * Registering an address takes two people, and so does sending money to it later. The rules are read again when money is sent
 * (treasury/transfers.ts). A proposal shows the address, and money goes to exactly that one.
 */
import { randomUUID } from 'node:crypto';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { parseUnits } from '../../../base/money.ts';
import { assets } from '../../../partners/index.ts';
import { type Action, action } from '../action.ts';
import { TREASURY } from '../declared/treasury.ts';
import type { OperatorDeps } from '../deps.ts';

const subjectOf = (input: { id: bigint }): string => `own-address:${input.id}`;

async function lookAt({ transfers }: OperatorDeps, tx: Tx, { id }: { id: bigint }) {
  const { rail, address, label, usableAt, endedAt } = await transfers.addressOf(tx, id);
  return { rail, address, label, usableAt, open: endedAt === null };
}

async function askOf(tx: Tx, said: { id: bigint; asset: string; amount: string }) {
  const known = (await assets(tx)).get(said.asset);
  if (known === undefined) throw new Refusal('malformed_field', { fields: { asset: 'must be the code of an asset' } });
  return { address: said.id, asset: said.asset, units: parseUnits(said.amount, known.decimals) };
}

export const TREASURY_ACTIONS: readonly Action[] = [
  action({
    ...TREASURY.register,
    // In the rail's spelling, so that approvers see the address that money is sent to.
    bind: async ({ transfers }, _tx, input) => ({ ...input, address: transfers.spelled(input.rail, input.address) }),
    subject: ({ rail, address }) => `own-address:${rail}:${address}`,
    async look({ transfers }, tx, { rail, address }) {
      const found = await transfers.addressAt(tx, rail, transfers.spelled(rail, address));
      if (found === undefined) return null;
      const { id, label, usableAt, endedAt } = found;
      return { id, rail, address: found.address, label, usableAt, open: endedAt === null };
    },
    async needs({ transfers }, tx, { rail, address }) {
      await transfers.requireNew(tx, { rail, address });
      return 'always';
    },
    async perform({ transfers }, tx, { rail, address, label }, { people, now }) {
      await transfers.register(tx, { rail, address, label, by: people.join(', '), now });
    },
  }),
  action({
    ...TREASURY.endAddress,
    subject: subjectOf,
    look: lookAt,
    async perform({ transfers }, tx, { id }, { operator, now }) {
      await transfers.end(tx, { id, by: operator.name, now });
    },
  }),
  action({
    ...TREASURY.send,
    subject: subjectOf,
    look: lookAt,
    async needs({ transfers }, tx, said) {
      const input = await askOf(tx, said);
      await transfers.require(tx, input);
      // Every transfer counts, although all of one address have one subject.
      const counts = `transfer:${randomUUID()}`;
      return ['always', { asset: input.asset, units: input.units, asks: 'always', counts }];
    },
    async perform({ transfers }, tx, said, { people, reason, now }) {
      return { transfer: await transfers.create(tx, { ...(await askOf(tx, said)), people, reason, now }) };
    },
  }),
  action({
    ...TREASURY.cancel,
    subject: ({ transfer }) => transfer,
    async look({ transfers }, tx, { transfer: key }) {
      const { rail, target, asset, units, state, why } = await transfers.look(tx, key);
      return { key, rail, target, asset, units, state, why };
    },
    async perform({ transfers }, tx, { transfer: key }, { operator, now }) {
      await transfers.cancel(tx, { key, by: operator.name, now });
    },
  }),
];

/**
 * Accounts at the provider of single sign-on, bound to operators. Binding an account gives a person access, so it takes two
 * people, like a token for another person: the second one compares the account with its owner. Ending a binding takes one
 * person.
 */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { bindIdentity, findOperator, identitiesOf, lockNamed, unbindIdentity } from '../../../operators/index.ts';
import { type Action, action } from '../action.ts';
import { IDENTITY } from '../declared/sso.ts';
import type { OperatorDeps } from '../deps.ts';
import { read } from '../read.ts';
import { twoOnceThereAre } from './operators.ts';

const subject = ({ operator }: { operator: string }): string => `operator:${operator}`;

async function look(_deps: OperatorDeps, tx: Tx, input: { operator: string }): Promise<unknown> {
  await lockNamed(tx, input.operator);
  const { id, role, disabledAt } = await findOperator(tx, input.operator);
  const identities = (await identitiesOf(tx, id)).map(({ id: identity, issuer, kind, value }) => ({
    ...{ identity: String(identity), issuer, kind, value },
  }));
  return { role, disabled: disabledAt !== null, identities };
}

/** @throws Refusal 'malformed_field' */
function accountOf({ account, email }: { account?: string | undefined; email?: string | undefined }) {
  if ((account === undefined) === (email === undefined))
    throw new Refusal('malformed_field', { fields: { account: 'must be sent, or email, but not both' } });
  return account === undefined
    ? { kind: 'email' as const, value: email ?? '' }
    : { kind: 'subject' as const, value: account };
}

export const IDENTITY_ACTIONS: readonly Action[] = [
  action({
    ...IDENTITY.bind,
    subject,
    async look(deps, tx, input) {
      accountOf(input);
      if (deps.sso === undefined) throw new Refusal('sso_off');
      return await look(deps, tx, input);
    },
    needs: async (_deps, tx) => await twoOnceThereAre(tx),
    async perform({ sso, vault }, tx, input, { now }) {
      if (sso === undefined) throw new Refusal('sso_off');
      const { id: operatorId } = await findOperator(tx, input.operator);
      await bindIdentity(tx, vault, { ...accountOf(input), operatorId, issuer: sso.client.issuer, now });
    },
  }),
  action({
    ...IDENTITY.unbind,
    subject,
    look,
    async perform(_deps, tx, input, { now }) {
      const { id: operatorId } = await findOperator(tx, input.operator);
      await unbindIdentity(tx, { operatorId, identity: input.identity, now });
    },
  }),
];

export const IDENTITY_READS = [
  read({
    ...IDENTITY.list,
    answer: async (_deps, tx, input) => ({
      identities: await identitiesOf(tx, (await findOperator(tx, input.operator)).id),
    }),
  }),
];

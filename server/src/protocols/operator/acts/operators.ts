/**
 * Acts on operators and on what needs two of them.
 *
 * Who may confirm decides what two are worth, so making such an operator, or a token for somebody else, needs two as soon as
 * there ever were two. The first ones are made by one. Taking away never needs two.
 */
import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { formatUnits, parseUnits } from '../../../base/money.ts';
import {
  createOperator,
  disable,
  enable,
  findOperator,
  GATES,
  hasTwoConfirmers,
  issueToken,
  ROLES,
  revokeToken,
  secondOperatorRules,
  setRole,
  setSecondOperatorRule,
  tokensOf,
} from '../../../operators/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Act, act, type OperatorDeps } from '../act.ts';
import { amount, id, oneOf, text, whole } from '../fields.ts';

const DAY_MS = 24 * 3_600_000;
/** A token made for somebody else has been in other hands: it is for making one's own. */
const DAYS_FOR_OTHERS = 7;

export const operatorName = text(
  40,
  /^[a-z0-9][a-z0-9._-]{1,39}$/,
  'a name of 2 to 40 small letters, digits, dots, hyphens and underscores',
);
const subject = ({ operator }: { operator: string }): string => `operator:${operator}`;
const role = oneOf(ROLES);

async function look(_deps: OperatorDeps, tx: Tx, ask: { operator: string }): Promise<unknown> {
  const found = await findOperator(tx, ask.operator);
  const tokens = (await tokensOf(tx, found.id)).filter((token) => token.revoked_at === null);
  return {
    role: found.role,
    disabled: found.disabledAt !== null,
    tokens: tokens.map(({ id: number, label, expires_at }) => ({ token: number, label, expiresAt: expires_at })),
  };
}

const twoOnceThereAre = async (tx: Tx) => ((await hasTwoConfirmers(tx)) ? ('always' as const) : undefined);
const mayConfirm = (one: string): boolean => one === 'finance' || one === 'admin';

export const OPERATOR_ACTS: readonly Act[] = [
  act({
    name: 'operator.create',
    path: '/operators',
    right: 'operators',
    fields: { operator: operatorName, role },
    subject,
    async look(deps, tx, ask) {
      try {
        return await look(deps, tx, ask);
      } catch (error) {
        if (error instanceof Refusal && error.code === 'unknown_operator') return null;
        throw error;
      }
    },
    needs: async (_deps, tx, ask) => (mayConfirm(ask.role) ? await twoOnceThereAre(tx) : undefined),
    async perform(_deps, tx, ask, { now }) {
      const made = await createOperator(tx, { name: ask.operator, role: ask.role, now });
      const expiresAt = later(now, DAYS_FOR_OTHERS * DAY_MS);
      return { token: await issueToken(tx, { operatorId: made.id, label: 'first', now, expiresAt }) };
    },
  }),
  act({
    name: 'operator.role',
    path: '/operators/:operator/role',
    right: 'operators',
    fields: { operator: operatorName, role },
    subject,
    look,
    // Down, too: whoever could lower all others would be the only one who may confirm, and make the next alone.
    needs: async (_deps, tx, ask) =>
      mayConfirm(ask.role) || mayConfirm((await findOperator(tx, ask.operator)).role)
        ? await twoOnceThereAre(tx)
        : undefined,
    async perform(_deps, tx, ask) {
      await setRole(tx, (await findOperator(tx, ask.operator)).id, ask.role);
    },
  }),
  act({
    name: 'operator.disable',
    path: '/operators/:operator/disable',
    right: 'operators',
    fields: { operator: operatorName },
    subject,
    look,
    async perform(_deps, tx, ask, { now }) {
      await disable(tx, (await findOperator(tx, ask.operator)).id, now);
    },
  }),
  act({
    name: 'operator.enable',
    path: '/operators/:operator/enable',
    right: 'operators',
    fields: { operator: operatorName },
    subject,
    look,
    needs: async (_deps, tx) => await twoOnceThereAre(tx),
    async perform(_deps, tx, ask) {
      await enable(tx, (await findOperator(tx, ask.operator)).id);
    },
  }),
  act({
    name: 'operator.token',
    path: '/operators/:operator/token',
    right: 'operators',
    fields: { operator: operatorName, label: text(60), days: whole(1, DAYS_FOR_OTHERS) },
    subject,
    look,
    needs: async (_deps, tx) => await twoOnceThereAre(tx),
    async perform(_deps, tx, ask, { now }) {
      const { id: operatorId } = await findOperator(tx, ask.operator);
      const expiresAt = later(now, ask.days * DAY_MS);
      return { token: await issueToken(tx, { operatorId, label: ask.label, now, expiresAt }) };
    },
  }),
  act({
    name: 'operator.revoke-token',
    path: '/operators/:operator/revoke-token',
    right: 'operators',
    fields: { operator: operatorName, token: id },
    subject,
    look,
    async perform(_deps, tx, ask, { now }) {
      await revokeToken(tx, { operatorId: (await findOperator(tx, ask.operator)).id, token: ask.token, now });
    },
  }),
  // Everybody's own: a new token while the old one still works, and its end.
  act({
    name: 'self.token',
    path: '/self/token',
    right: 'read',
    fields: { label: text(60), days: whole(1, 365) },
    subject: () => 'self',
    look: async () => null,
    async perform(_deps, tx, ask, { operator, now }) {
      const expiresAt = later(now, ask.days * DAY_MS);
      return { token: await issueToken(tx, { operatorId: operator.id, label: ask.label, now, expiresAt }) };
    },
  }),
  act({
    name: 'self.revoke-token',
    path: '/self/revoke-token',
    right: 'read',
    fields: { token: id },
    subject: () => 'self',
    look: async () => null,
    async perform(_deps, tx, ask, { operator, now }) {
      await revokeToken(tx, { operatorId: operator.id, token: ask.token, now });
    },
  }),
  act({
    name: 'second-operator.set',
    path: '/second-operator',
    right: 'operators',
    fields: { what: text(60, /^[a-z0-9._-]+$/, `an asset's code, or ${GATES.join(', ')}`), above: amount },
    subject: ({ what }) => `second-operator:${what}`,
    async look(_deps, tx, ask) {
      const rule = (await secondOperatorRules(tx)).find((one) => one.what === ask.what);
      const decimals = await decimalsOf(tx, ask.what);
      return { what: ask.what, above: rule === undefined ? null : formatUnits(rule.above_units, decimals) };
    },
    needs: async () => 'always' as const,
    async perform(_deps, tx, ask) {
      await setSecondOperatorRule(tx, ask.what, parseUnits(ask.above, await decimalsOf(tx, ask.what)));
    },
  }),
];

/** A gate has no places: 0 needs two, 1 does not. @throws Refusal 'malformed_field' */
async function decimalsOf(tx: Tx, what: string): Promise<number> {
  if ((GATES as readonly string[]).includes(what)) return 0;
  const asset = (await assets(tx)).get(what);
  if (asset === undefined)
    throw new Refusal('malformed_field', { fields: { what: `must be an asset's code, or ${GATES.join(', ')}` } });
  return asset.decimals;
}

/**
 * Actions on operators and on how many of them an action takes.
 *
 * The value of a second person depends on who may confirm, so creating such an operator, or a token for another person, takes
 * two as soon as there ever were two. One person creates the first ones. Removing rights never takes two.
 *
 * A token for another person is created by that person, who passes on only its SHA-256. So neither the proposer nor the
 * person who confirms could sign in with it; the latter compares the hash with that person first.
 */
import { later } from '../../../base/clock.ts';
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { parseUnits } from '../../../base/money.ts';
import {
  admitToken,
  createOperator,
  disable,
  enable,
  endSessions,
  FINDINGS,
  type Finding,
  findOperator,
  hasTwoConfirmers,
  installation,
  issueToken,
  lockNamed,
  lockRules,
  MAX_RULES,
  may,
  peopleRules,
  ROLES,
  type Role,
  type Rule,
  revokeToken,
  setRole,
  setRule,
  takesForChange,
  tokensOf,
  unmetRules,
} from '../../../operators/index.ts';
import { assets } from '../../../partners/index.ts';
import { ACTIONS, type Action, action } from '../action.ts';
import { DAYS_FOR_OTHERS, OPERATORS, RULES } from '../declared/people.ts';
import type { OperatorDeps } from '../deps.ts';

const DAY_MS = 24 * 3_600_000;

const subject = ({ operator }: { operator: string }): string => `operator:${operator}`;

async function look(_deps: OperatorDeps, tx: Tx, input: { operator: string }): Promise<unknown> {
  const found = await findOperator(tx, input.operator);
  const tokens = (await tokensOf(tx, found.id)).filter((token) => token.revokedAt === null);
  return {
    role: found.role,
    disabled: found.disabledAt !== null,
    disabledAt: found.disabledAt,
    tokens: tokens.map(({ id: number, label, expiresAt }) => ({ token: number, label, expiresAt })),
  };
}

/** Whether an operator with this role could confirm actions. */
const mayConfirm = (role: Role): boolean =>
  [...ACTIONS.values()].some(({ right, needs }) => needs !== undefined && may({ role }, right));

/** With one declared operator the delay applies from the start: creating another operator must not avoid it. */
export const twoOnceThereAre = async (tx: Tx) =>
  (await installation(tx)).operators === 'one' || (await hasTwoConfirmers(tx, ROLES.filter(mayConfirm)))
    ? ('always' as const)
    : undefined;

export const OPERATOR_ACTIONS: readonly Action[] = [
  action({
    ...OPERATORS.create,
    subject,
    async look(deps, tx, input) {
      try {
        return await look(deps, tx, input);
      } catch (error) {
        if (error instanceof Refusal && error.code === 'unknown_operator') return null;
        throw error;
      }
    },
    needs: async (_deps, tx, input) => (mayConfirm(input.role) ? await twoOnceThereAre(tx) : undefined),
    async perform(_deps, tx, input, { now }) {
      const made = await createOperator(tx, { name: input.operator, role: input.role, now });
      const expiresAt = later(now, DAYS_FOR_OTHERS * DAY_MS);
      await admitToken(tx, { operatorId: made.id, sha256: input.tokenSha256, label: 'first', now, expiresAt });
    },
  }),
  action({
    ...OPERATORS.role,
    subject,
    look,
    needs: async (_deps, tx, input) =>
      mayConfirm(input.role) || mayConfirm((await findOperator(tx, input.operator)).role)
        ? await twoOnceThereAre(tx)
        : undefined,
    async perform(_deps, tx, input) {
      await setRole(tx, (await findOperator(tx, input.operator)).id, input.role);
    },
  }),
  action({
    ...OPERATORS.disable,
    subject,
    look,
    async perform(_deps, tx, input, { now }) {
      await disable(tx, (await findOperator(tx, input.operator)).id, now);
    },
  }),
  action({
    ...OPERATORS.endSessions,
    subject,
    look,
    async perform(_deps, tx, input, { now }) {
      await endSessions(tx, (await findOperator(tx, input.operator)).id, now);
    },
  }),
  action({
    ...OPERATORS.enable,
    subject,
    async look(deps, tx, input) {
      await lockNamed(tx, input.operator);
      return await look(deps, tx, input);
    },
    needs: async (_deps, tx) => await twoOnceThereAre(tx),
    async perform(_deps, tx, input) {
      await enable(tx, (await findOperator(tx, input.operator)).id);
    },
  }),
  action({
    ...OPERATORS.token,
    subject,
    look,
    needs: async (_deps, tx) => await twoOnceThereAre(tx),
    async perform(_deps, tx, input, { now }) {
      const { id: operatorId } = await findOperator(tx, input.operator);
      const expiresAt = later(now, input.days * DAY_MS);
      await admitToken(tx, { operatorId, sha256: input.tokenSha256, label: input.label, now, expiresAt });
    },
  }),
  action({
    ...OPERATORS.revoke,
    subject,
    look,
    async perform(_deps, tx, input, { now }) {
      await revokeToken(tx, { operatorId: (await findOperator(tx, input.operator)).id, token: input.token, now });
    },
  }),
  // Open to every operator: a new token while the old one still works, and revoking a token.
  action({
    ...OPERATORS.selfToken,
    subject: () => 'self',
    look: async () => null,
    async perform(_deps, tx, input, { operator, now }) {
      const expiresAt = later(now, input.days * DAY_MS);
      return { token: await issueToken(tx, { operatorId: operator.id, label: input.label, now, expiresAt }) };
    },
  }),
  action({
    ...OPERATORS.selfRevoke,
    subject: () => 'self',
    look: async () => null,
    async perform(_deps, tx, input, { operator, now }) {
      await revokeToken(tx, { operatorId: operator.id, token: input.token, now });
    },
  }),
  action({
    ...RULES.set,
    subject: (input) => `rule:${[input.action, input.right ?? '*', input.asset ?? '*', input.above ?? '0'].join(':')}`,
    async look(_deps, tx, input) {
      await lockRules(tx);
      const key = await ruleOf(tx, input);
      const rule = (await peopleRules(tx)).find(
        (one) =>
          one.action === key.action &&
          one.right === key.right &&
          one.asset === key.asset &&
          one.aboveUnits === key.aboveUnits,
      );
      return { ...shownRule(key), people: rule?.people ?? null, roles: rule?.roles ?? [] };
    },
    // The stricter of the old and the new rule: two people cannot lower a rule that takes three, nor without a role that it names.
    async needs(_deps, tx, input) {
      const rule = await ruleOf(tx, input);
      const rules = await peopleRules(tx);
      requireKnown(rules, rule);
      await requireMet(tx, rule);
      const { people, roles } = takesForChange(rules, rule);
      return ['always' as const, { atLeast: people, roles }];
    },
    async perform(_deps, tx, input) {
      const rule = await ruleOf(tx, input);
      if (rule.people !== null && (await peopleRules(tx)).length >= MAX_RULES)
        throw new Refusal('malformed_field', {
          fields: { action: `cannot be added: there are already ${MAX_RULES} rules` },
        });
      await setRule(tx, rule);
    },
  }),
];

interface AskedRule {
  action: string;
  people: number | 'none';
  right?: string | undefined;
  asset?: string | undefined;
  above?: string | undefined;
  roles?: readonly Role[] | undefined;
}

/** @throws Refusal 'malformed_field' where too few operators have a role that the rule names: nobody could do what it decides */
async function requireMet(tx: Tx, { people, ...rule }: AsSet): Promise<void> {
  const [unmet] = people === null ? [] : await unmetRules(tx, [{ ...rule, people }]);
  if (unmet === undefined) return;
  const { role, needs, has } = unmet;
  const roles = `cannot be met: it takes ${needs} enabled ${needs === 1 ? 'operator' : 'operators'} with the role ${role}, and there ${has === 1 ? 'is 1' : `are ${has}`}`;
  throw new Refusal('malformed_field', { fields: { roles } });
}

type AsSet = Omit<Rule, 'people'> & { people: number | null };

/** The actions and findings that the name in a rule stands for. */
const actionsNamed = (action: string): ReturnType<typeof findingAction>[] =>
  [...ACTIONS.values(), ...FINDINGS.map(findingAction)].filter(
    ({ name }) => action === '*' || name === action || (action.endsWith('.*') && name.startsWith(action.slice(0, -1))),
  );

/**
 * Refuses an unknown name: a misspelt one would have no effect while looking as if it did. A rule that exists can be removed,
 * whatever has become of its action.
 *
 * @throws Refusal 'malformed_field'
 */
function requireKnown(rules: readonly Rule[], { action, people }: AsSet): void {
  if (actionsNamed(action).length > 0 || (people === null && rules.some((rule) => rule.action === action))) return;
  const known = 'must be an existing action or finding, such as order.release, a family of them, or *';
  throw new Refusal('malformed_field', { fields: { action: known } });
}

/** @throws Refusal 'malformed_field' */
async function ruleOf(tx: Tx, input: AskedRule): Promise<AsSet> {
  const { action, right = '*', asset = '*', above = '0', roles = [] } = input;
  const wrong = (fields: Record<string, string>) => new Refusal('malformed_field', { fields });
  if (input.people === 'none' && roles.length > 0) throw wrong({ roles: 'must be left out if people is none' });
  if (input.people !== 'none' && roles.length > input.people)
    throw wrong({ roles: `must be at most as many as people: ${input.people}` });
  const named = actionsNamed(action);
  const known = asset === '*' ? undefined : (await assets(tx)).get(asset);
  if (asset !== '*' && known === undefined) throw wrong({ asset: "must be an asset's code, or *" });
  const aboveUnits = known === undefined ? 0n : parseUnits(above, known.decimals);
  if (known === undefined && !/^0+(\.0+)?$/.test(above)) throw wrong({ above: 'must be left out if asset is *' });
  // Refuses a rule about an action that needs no approval: it would have no effect. An existing rule may be removed.
  if (input.people !== 'none' && named.length > 0) {
    const asking = named.filter(
      ({ needs, onlyNamed }) => needs !== undefined && !(action === '*' && onlyNamed === true),
    );
    if (asking.length === 0) throw wrong({ action: `needs no approval, so a rule for ${action} would have no effect` });
    const ofRight = asking.filter((one) => right === '*' || one.right === right);
    if (ofRight.length === 0)
      throw wrong({
        right: `must be left out or ${[...new Set(asking.map((one) => one.right))].join(', ')}: ${action} needs no other right`,
      });
    if (asset !== '*' && !ofRight.some(({ weighs }) => weighs === true))
      throw wrong({ asset: `must be left out: ${action} has no amount that could be compared with a limit` });
  }
  const people = input.people === 'none' ? null : input.people;
  return { action, right, asset, aboveUnits, people, roles: [...roles].toSorted() };
}

/** A finding in the form in which rules match it. */
const findingAction = (name: Finding): Pick<Action, 'name' | 'right' | 'needs' | 'weighs' | 'onlyNamed'> => ({
  ...{ name, right: 'money', weighs: true, onlyNamed: true },
  needs: async () => undefined,
});

/** All rules, and of each the roles that too few enabled operators have. */
export async function shownRules(tx: Tx) {
  const all = await peopleRules(tx);
  const short = await unmetRules(tx, all);
  return all.map((rule) => ({
    ...{ ...shownRule(rule), people: rule.people, roles: rule.roles },
    unmet: short.filter((one) => one.rule === rule).map(({ role }) => role),
  }));
}

/** A rule as shown to operators: `aboveUnits` is in units of `asset`. */
const shownRule = ({ action, right, asset, aboveUnits }: Omit<Rule, 'people' | 'roles'>) => ({
  ...{ action, right },
  ...(asset === '*' ? { asset, above: '0' } : { asset, aboveUnits }),
});

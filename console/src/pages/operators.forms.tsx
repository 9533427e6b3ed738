/** Forms about operators and rules: each shows the rights of a role, who loses access, and the rule it replaces. */
import type { ReactNode } from 'react';
import { OPERATOR_ACTIONS, RIGHTS, RULE_SET } from '../actions.people.ts';
import { ActionDialog, Turn, type Typed } from '../form.tsx';
import { grouped } from '../format.ts';
import { type Rule, taken, useRules } from '../rules.ts';

const DOES: Readonly<Record<string, string>> = {
  read: 'read orders, cases, the books and the audit',
  personal: 'open personal data',
  cases: 'work on cases',
  reviews: 'decide reviews',
  kill_switch: 'set kill switches',
  block: 'block customers, suspend partners, revoke keys',
  resume: 'lift kill switches',
  money: 'move money, and confirm it',
  partners: 'create partners and their keys',
  terms: 'change markets, fees and limits',
  operators: 'let operators in, and set rules',
};
const rightsOf = (role: string): readonly string[] =>
  Object.keys(RIGHTS).filter((right) => RIGHTS[right]?.includes(role) === true);
const does = (rights: readonly string[]) => (
  <ul>
    {rights.map((right) => (
      <li key={right}>{DOES[right] ?? right}</li>
    ))}
  </ul>
);

function NewRole({ operator, from, to }: { operator: string; from: string; to: string }) {
  const [had, has] = [rightsOf(from), rightsOf(to)];
  const gained = has.filter((right) => !had.includes(right));
  const lost = had.filter((right) => !has.includes(right));
  if (from === to) return <p>Nothing is changed yet: {operator} has this role.</p>;
  return (
    <>
      <p>
        {operator}: <Turn from={from} to={to} />
      </p>
      {gained.length > 0 && <p>Gains the right to:</p>}
      {gained.length > 0 && does(gained)}
      {lost.length > 0 && <p>Loses the right to:</p>}
      {lost.length > 0 && does(lost)}
    </>
  );
}

const COMPARE = 'Before it is confirmed, the other operator compares the hash with the person over another channel.';

export interface Named {
  readonly name: string;
  readonly role: string;
}
export type OperatorForm = Exclude<keyof typeof OPERATOR_ACTIONS, 'create'>;

/** @param number of the token or the account that it is about */
const effects: Readonly<Record<OperatorForm, (of: Named, typed: Typed, number: string) => ReactNode>> = {
  role: ({ name, role }, typed) => <NewRole operator={name} from={role} to={typed.role ?? role} />,
  token: ({ name }, typed) => (
    <>
      <p>
        {name} enrols a passkey with the token, or works at a terminal with it, for {typed.days || 'up to 7'} days.
        Other tokens and passkeys of {name} stay.
      </p>
      <p>{COMPARE}</p>
    </>
  ),
  revoke: ({ name }, _, token) => (
    <p>
      Token {token} stops working at once. Passkeys and sessions of {name} stay.
    </p>
  ),
  bind: ({ name }, { account = '', email = '' }) => (
    <>
      <p>
        Anyone who signs in as {account || email || 'this account'} at the provider acts here as {name}. Actions over
        money still require the passkey, unless a setting of this server allows otherwise.
      </p>
      <p>Before it is confirmed, the other operator compares the account with {name} over another channel.</p>
    </>
  ),
  unbind: ({ name }, _, identity) => (
    <p>
      Account {identity} no longer signs in as {name}, and its sessions end at once. Passkeys stay.
    </p>
  ),
  endSessions: ({ name }) => <p>{name} is signed out everywhere at once, and may sign in again with a passkey.</p>,
  disable: ({ name }) => (
    <ul>
      <li>Sessions of {name} end at once. Its passkeys, recovery codes and bound accounts end for good.</li>
      <li>Its tokens do not work while it is disabled.</li>
      <li>What {name} did stays in the audit.</li>
    </ul>
  ),
  enable: ({ name, role }) => (
    <>
      <p>
        {name} may work as {role} again. Tokens that are neither revoked nor expired work again. Passkeys do not: {name}{' '}
        enrols a new one. The role has the right to:
      </p>
      {does(rightsOf(role))}
    </>
  ),
};

/** What a form is about besides the operator, by its number. */
export interface Part {
  readonly kind: 'token' | 'identity';
  readonly number: string;
}
const PART = { token: 'token', identity: 'account' } as const;

export const OperatorDialog = (p: { form: OperatorForm; of: Named; part?: Part; onClose: () => void }) => (
  <ActionDialog
    action={OPERATOR_ACTIONS[p.form]}
    about={p.part === undefined ? p.of.name : `${PART[p.part.kind]} ${p.part.number} of ${p.of.name}`}
    given={{ operator: p.of.name, ...(p.part === undefined ? {} : { [p.part.kind]: p.part.number }) }}
    now={p.form === 'role' ? { role: p.of.role } : p.form === 'token' ? { days: '7' } : {}}
    effect={(typed) => effects[p.form](p.of, typed, p.part?.number ?? '')}
    onClose={p.onClose}
  />
);

export const CreateDialog = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    action={OPERATOR_ACTIONS.create}
    given={{}}
    now={{ role: 'viewer' }}
    effect={({ operator, role = '' }) => (
      <>
        <p>
          {operator || 'The operator'} gets the role {role}. The token works for 7 days and enrols the first passkey.
          The role has the right to:
        </p>
        {does(rightsOf(role))}
        <p>{COMPARE}</p>
      </>
    )}
    onClose={onClose}
  />
);

/** `05.500` as `5.5`: rules are the same where their amounts are. */
const plain = (amount: string): string =>
  amount
    .replace(/^0+(?=\d)/, '')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
const keyOf = (rule: Typed | Rule): string => {
  const { action, right, asset } = rule;
  const above = ('aboveUnits' in rule ? rule.aboveUnits : 'above' in rule ? rule.above : '') ?? '';
  return [action, right || '*', asset || '*', plain(above || '0')].join(' ');
};
const counted = (people: string | undefined, roles: readonly string[] = []): string =>
  people === undefined || people === 'none' ? 'no rule' : taken(people, roles);
const rolesIn = (typed: Typed): string[] =>
  (typed.roles ?? '')
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '')
    .toSorted();

/** Purpose of the rule, in words. */
const scopeOf = ({ action = '', right = '', asset = '', above = '' }: Typed): string =>
  [
    action === '*' ? 'any action' : action,
    right === '' || right === '*' ? '' : `with right ${right}`,
    asset === '' || asset === '*' ? '' : `above ${grouped(above || '0')} ${asset}`,
  ]
    .filter((part) => part !== '')
    .join(' ');

function NewRule({ typed }: { typed: Typed }) {
  const rules = useRules().data;
  if ((typed.action ?? '') === '') return <p>Names an action first.</p>;
  const before = rules?.rules.find((one) => keyOf(one) === keyOf(typed));
  const after = typed.people ?? '';
  const roles = [...new Set([...(before?.roles ?? []), ...(after === 'none' ? [] : rolesIn(typed))])];
  return (
    <>
      <p>
        {scopeOf(typed)}:{' '}
        <Turn
          from={counted(before === undefined ? undefined : String(before.people), before?.roles)}
          to={counted(after, rolesIn(typed))}
        />
      </p>
      {after === 'none' && (
        <p>The next more general rule decides then; without one, it takes {rules?.otherwise ?? 2}.</p>
      )}
      <p>Where the old or the new rule says three people, changing it takes three.</p>
      {roles.length > 0 && (
        <p>
          The old or the new rule names {roles.join(' and ')}: changing it takes an operator of each such role, too.
          Operators of a role that a rule names approve without the right of the action.
        </p>
      )}
    </>
  );
}

/** @param of the rule that is changed, if there is one */
export const RuleDialog = ({ of, onClose }: { of: Rule | undefined; onClose: () => void }) => (
  <ActionDialog
    action={RULE_SET}
    {...(of === undefined ? {} : { about: scopeOf(valuesOf(of)) })}
    given={{}}
    now={of === undefined ? { people: '2' } : valuesOf(of)}
    effect={(typed) => <NewRule typed={typed} />}
    onClose={onClose}
  />
);
const valuesOf = ({ action, people, right, asset, aboveUnits, roles }: Rule): Typed => ({
  ...{ action, people: String(people), right, roles: roles.join(', ') },
  ...(asset === '*' ? {} : { asset }),
  ...(aboveUnits === undefined ? {} : { above: aboveUnits }),
});

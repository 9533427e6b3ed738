/**
 * Rules: how many people an action takes, and of which roles.
 *
 * A rule is a row: action, right, asset, the amount above which it applies, the number of people, and the roles that must be
 * among them (takes.ts). The most specific matching rule decides: one that names the action before one that names its family
 * (`order.*`) before `*`, then one that names the right, then one that names the asset. Among equally specific rules every exceeded
 * limit counts; below all of them one person is enough. An action without a matching rule takes two.
 *
 * Amounts add up per person over 24 hours. A limit from which an action takes three people is compared with everything that the
 * person approved under the same rules with fewer than three, proposing or confirming, plus this action; a limit for two with
 * what the person did alone. Of several people, the one with the largest sum decides, so splitting an amount among proposers with
 * one confirmer, or among confirmers, does not help. One subject counts once, with its largest amount, because its money leaves
 * once. Actions that as many people of the same roles approved as the limit asks, or that waited out the delay, do not count.
 * Callers hold the locks of all these people (people.ts), so concurrent actions see each other.
 *
 * An installation declared to have one operator has no second person. There one is enough after a delay (proposals.ts); with a
 * delay of zero, as in the sandbox, at once.
 *
 * Not here: what each action requires (protocols/operator).
 */
import { awaitAll, type Tx } from '../base/db.ts';
import { recordByMachine } from './audit.ts';
import { nameToday } from './renamed.ts';
import { type Installation, type Role, type Rule, store } from './store.ts';
import { missingRoles, stricter, type Takes } from './takes.ts';

/** Findings that any action may involve. Only a rule that names the finding, or its family, allows less than two people. */
export const FINDINGS = [
  /** Sending money despite a screening hit. */
  'release.screening_hit',
  /** Sending money to a destination held because a key of its partner leaked. */
  'release.destination_held',
  /** Sending money of a blocked customer. */
  'release.customer_blocked',
  /** Sending money to an address or account that neither a partner nor a customer named. */
  'destination.new',
  /** Correcting ledger entries, by any action: at least two people. */
  'entry.correct',
] as const;
export type Finding = (typeof FINDINGS)[number];

/**
 * The approval that an action needs:
 * - `rule`: as the rules for the action say;
 * - `named`: two people, unless a rule names the action or its family;
 * - `ruled`: one person, unless a rule names the action or its family;
 * - `always`: at least two people, whatever a rule says;
 * - an amount: as the rules for the action with this amount of the asset say; with `ask`, like `named` and `always`. `counts` is
 *   the subject under which it counts in a person's day, if that is not the action's subject;
 * - a finding: the same for the finding, and a rule has to name it; `counts` as for an amount;
 * - a number: at least that many people, and of these roles.
 */
export type Need =
  | 'rule'
  | 'named'
  | 'ruled'
  | 'always'
  | { asset: string; units: bigint; asks?: 'named' | 'always'; counts?: string }
  | { finding: Finding; asset?: string; units?: bigint; counts?: string }
  | { atLeast: number; roles?: readonly Role[] };

export const DEFAULT_PEOPLE = 2;
export const MAX_PEOPLE = 3;
export const MAX_RULES = 1_000;

interface Question {
  action: string;
  right: string;
  asset?: string | undefined;
  units?: bigint | undefined;
  /** Rules for every action (`*`) do not apply. */
  isNamed?: boolean;
}

const familyOf = (action: string): string => `${action.split('.')[0]}.*`;
const asksFor = (rule: Rule, { action, right, asset }: Question): boolean =>
  [action, familyOf(action), '*'].includes(rule.action) &&
  [right, '*'].includes(rule.right) &&
  [asset ?? '*', '*'].includes(rule.asset);
const weight = ({ action, right, asset }: Rule): number =>
  (action === '*' ? 0 : action.endsWith('.*') ? 4 : 8) + (right === '*' ? 0 : 2) + (asset === '*' ? 0 : 1);
const sameRules = (a: Rule, b: Rule): boolean => a.action === b.action && a.right === b.right && a.asset === b.asset;

/** The deciding rules: all equally specific, one per limit. None when no rule matches. */
export function decidingRules(rules: readonly Rule[], question: Question): Rule[] {
  const matching = rules.filter(
    (rule) => asksFor(rule, question) && !(question.isNamed === true && rule.action === '*'),
  );
  const [first] = matching.toSorted((a, b) => weight(b) - weight(a));
  return first === undefined ? [] : matching.filter((rule) => sameRules(rule, first));
}

/** @param sum amount compared with the limit of this rule */
export function takenBy(deciding: readonly Rule[], sum: (rule: Rule) => bigint): Takes {
  if (deciding.length === 0) return { ...NOBODY_ELSE, people: DEFAULT_PEOPLE };
  // A rule for any asset (`*`) has no limit and always counts; the others only above their limit.
  const passed = deciding.filter((rule) => rule.asset === '*' || sum(rule) > rule.aboveUnits);
  return passed.reduce(stricter, NOBODY_ELSE);
}

/** One person is enough. */
const NOBODY_ELSE: Takes = { people: 1, roles: [] };

/** What is required, before it is limited by how many people there are. */
async function asked(
  tx: Tx,
  rules: readonly Rule[],
  question: Question & {
    /** Those who approve it; the one with the largest sum of the day decides. */
    operators?: readonly bigint[];
    subject?: string | undefined;
    /** Other amounts that the same action sends, by the subject under which they count. */
    besides?: ReadonlyMap<string, bigint>;
    now: Date;
  },
): Promise<Takes> {
  const { asset, units = 0n, operators = [], subject, besides = new Map<string, bigint>(), now } = question;
  const deciding = decidingRules(rules, question);
  const [first] = deciding;
  const whole = [...besides.values()].reduce((sum, one) => sum + one, units);
  if (first === undefined || first.asset === '*' || asset === undefined || operators.length === 0)
    return takenBy(deciding, () => whole);
  let most = NOBODY_ELSE;
  for (const operator of operators) {
    const day = (await store.approved(tx, operator, asset, now)).filter((row) => {
      const action = nameToday(row.action);
      const isNamed = row.isNamed || FINDINGS.some((finding) => finding === action);
      const [other] = decidingRules(rules, { action, right: row.right, asset, isNamed });
      return other !== undefined && sameRules(first, other);
    });
    const sum = (rule: Rule): bigint => {
      const bySubject = new Map(besides);
      const note = (of: string, more: bigint) => bySubject.set(of, max(more, bySubject.get(of) ?? 0n));
      for (const row of day)
        if (row.people < rule.people || missingRoles(rule.roles, row.roles).length > 0) note(row.subject, row.units);
      // Without a subject the amount counts by itself.
      if (subject !== undefined) note(subject, units);
      return [...bySubject.values()].reduce((all, one) => all + one, subject === undefined ? units : 0n);
    };
    most = stricter(most, takenBy(deciding, sum));
  }
  return most;
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** The installation as declared. */
export async function installation(tx: Tx): Promise<Installation> {
  return (await store.installation(tx)) ?? { operators: 'two', delayS: 0 };
}

/** Stores the declared installation, with an audit row if it has changed. */
export async function declareInstallation(
  tx: Tx,
  declared: { operators: 'one' | 'two'; delayS: number; now: Date },
): Promise<void> {
  const before = await installation(tx);
  const after = { operators: declared.operators, delayS: declared.delayS };
  if (before.operators === after.operators && before.delayS === after.delayS) return;
  await store.setInstallation(tx, after);
  await recordByMachine(tx, {
    action: 'installation.declare',
    subject: 'installation',
    reason: 'the settings of the server that started',
    now: declared.now,
    before,
    after,
  });
}

/** The requirement on the people behind an action, or behind money that is about to leave. */
export interface Wanted {
  action: string;
  right: string;
  needs: readonly Need[];
  /** Those who approve it: the proposer, and who has confirmed. */
  operators: readonly { id: bigint; role: Role }[];
  subject: string;
  now: Date;
}

/** What an action takes in an installation with more than one operator. */
async function peopleWanted(tx: Tx, wanted: Wanted): Promise<Takes> {
  const { needs, operators: by, ...rest } = wanted;
  if (needs.length === 0) return NOBODY_ELSE;
  const about = { ...rest, operators: by.map(({ id }) => id) };
  const rules = await store.rules(tx);
  let most = NOBODY_ELSE;
  const raise = (takes: Takes): void => void (most = stricter(most, takes));
  for (const need of needs) {
    if (need === 'always') {
      raise({ people: DEFAULT_PEOPLE, roles: [] });
      raise(await asked(tx, rules, { ...about, isNamed: true }));
    } else if (need === 'named') raise(await asked(tx, rules, { ...about, isNamed: true }));
    else if (need === 'ruled') {
      const question = { ...about, isNamed: true };
      if (decidingRules(rules, question).length > 0) raise(await asked(tx, rules, question));
    } else if (need === 'rule') raise(await asked(tx, rules, about));
    else if ('atLeast' in need) raise({ people: Math.min(need.atLeast, MAX_PEOPLE), roles: need.roles ?? [] });
    else if ('finding' in need)
      raise(
        await asked(tx, rules, {
          ...{ ...about, action: need.finding, asset: need.asset, units: need.units, isNamed: true },
          subject: need.counts ?? about.subject,
        }),
      );
    else {
      const { asset, units, asks, counts: subject = about.subject } = need;
      const besides = besidesOf(needs, { asset, subject, of: about.subject });
      raise(await asked(tx, rules, { ...about, asset, units, subject, besides, isNamed: asks !== undefined }));
      if (asks === 'always') raise({ people: DEFAULT_PEOPLE, roles: [] });
    }
  }
  return most;
}

/** The other amounts that an action sends in this asset. If several count under one subject, the largest counts. */
function besidesOf(
  needs: readonly Need[],
  { asset, subject, of }: { asset: string; subject: string; of: string },
): Map<string, bigint> {
  const besides = new Map<string, bigint>();
  for (const need of needs) {
    if (typeof need === 'string' || !('units' in need) || 'finding' in need || need.asset !== asset) continue;
    const { units = 0n, counts = of } = need;
    if (counts !== subject && units > (besides.get(counts) ?? 0n)) besides.set(counts, units);
  }
  return besides;
}

/**
 * Records what these people approved, to be added to later actions of each of them.
 *
 * @param wanted.operators all who approved it: a limit that takes more people, or others, counts it
 */
export async function noteApproved(tx: Tx, { needs, action, right, operators, ...rest }: Wanted): Promise<void> {
  for (const need of needs) {
    if (typeof need === 'string' || !('units' in need) || need.asset === undefined || need.units === undefined)
      continue;
    const isFinding = 'finding' in need;
    const noted = {
      ...{ right, asset: need.asset, units: need.units, people: operators.length, now: rest.now },
      roles: operators.map(({ role }) => role).toSorted(),
      action: isFinding ? need.finding : action,
      isNamed: isFinding || need.asks !== undefined,
      subject: need.counts ?? rest.subject,
    };
    for (const { id: operator } of operators) await store.insertApproved(tx, { ...noted, operator });
  }
}

/**
 * How many people must have approved money that is about to leave. One in an installation with one operator.
 *
 * @param need.action   an action's name or a finding
 * @param need.units    of `asset`, in its smallest units
 * @param need.operator whose daily sum counts with it, when one person asks
 * @param need.by       names of those who approved it; if a role that the rules name is not among them, more than they are
 */
export async function peopleNeeded(
  tx: Tx,
  need: {
    action: string;
    right?: string | undefined;
    asset?: string | undefined;
    units?: bigint | undefined;
    operator?: bigint | undefined;
    by?: readonly string[];
    now: Date;
  },
): Promise<number> {
  const { operator, right = 'money', by = [], ...rest } = need;
  // One round trip. Roles are read now: whose role was taken away since the approval does not count.
  const [declared, rules, held] = await awaitAll(
    installation(tx),
    store.rules(tx),
    by.length > 0 ? store.rolesOf(tx, by) : [],
  );
  if (declared.operators === 'one') return 1;
  const isNamed = FINDINGS.some((finding) => finding === need.action);
  const operators = operator === undefined ? [] : [operator];
  const takes = await asked(tx, rules, { ...rest, right, operators, isNamed });
  if (takes.roles.length === 0) return takes.people;
  const missing = missingRoles(
    takes.roles,
    held.map(({ role }) => role),
  );
  // Without names: somebody of no role.
  return Math.max(takes.people, Math.max(new Set(by).size, 1) + missing.length);
}

export const peopleRules = (tx: Tx): Promise<Rule[]> => store.rules(tx);

/** Prevents rule changes until `tx` ends. */
export const lockRules = (tx: Tx): Promise<unknown> => store.lockRules(tx);

/** Leaves an existing rule unchanged. */
export const seedRule = async (tx: Tx, rule: Omit<Rule, 'roles'>): Promise<void> =>
  void (await store.seedRule(tx, { ...rule, roles: [] }));

/** @param people null removes the rule */
export async function setRule(
  tx: Tx,
  rule: Omit<Rule, 'people' | 'roles'> & { people: number | null; roles?: readonly Role[] },
): Promise<void> {
  const { people, roles = [], ...key } = rule;
  if (people === null) await store.dropRule(tx, key);
  else await store.setRule(tx, { ...key, people, roles: [...roles].toSorted() });
}

/**
 * The stricter of the old and the new rule: as many people, and of the same roles, as the new rule says, and as any rule that matches
 * an action which this one matches, because this one may replace it.
 */
export function takesForChange(
  rules: readonly Rule[],
  changed: Omit<Rule, 'people' | 'roles'> & { people: number | null; roles?: readonly Role[] },
): Takes {
  const meet = (a: string, b: string): boolean =>
    a === b ||
    a === '*' ||
    b === '*' ||
    (a.endsWith('.*') && familyOf(b) === a) ||
    (b.endsWith('.*') && familyOf(a) === b);
  return rules
    .filter(
      (one) => meet(one.action, changed.action) && meet(one.right, changed.right) && meet(one.asset, changed.asset),
    )
    .reduce(stricter, {
      people: Math.max(DEFAULT_PEOPLE, changed.people ?? 0),
      roles: [...(changed.roles ?? [])].toSorted(),
    });
}

/** A rule that names more people of a role than there are: what it decides, nobody can do. */
export interface Unmet {
  rule: Rule;
  role: Role;
  needs: number;
  has: number;
}

/** The rules that name a role which too few operators have, disabled ones left out. None where one operator is declared. */
export async function unmetRules(tx: Tx, rules: readonly Rule[]): Promise<Unmet[]> {
  if (rules.every(({ roles }) => roles.length === 0) || (await installation(tx)).operators === 'one') return [];
  const active = new Map((await store.activeRoles(tx)).map(({ role, count }) => [role, count]));
  return rules.flatMap((rule) =>
    [...new Set(rule.roles)].flatMap((role) => {
      const [needs, has] = [rule.roles.filter((one) => one === role).length, active.get(role) ?? 0];
      return needs > has ? [{ rule, role, needs, has }] : [];
    }),
  );
}

/**
 * What is really taken by those who approve. Where one operator is declared, the delay replaces everybody else: if a role is
 * missing, the action takes a second person, so that it waits, and no role.
 */
export async function takesHere(tx: Tx, wanted: Wanted): Promise<Takes> {
  const takes = await peopleWanted(tx, wanted);
  if (takes.roles.length === 0 || (await installation(tx)).operators !== 'one') return takes;
  const held = wanted.operators.map(({ role }) => role);
  const isMissing = missingRoles(takes.roles, held).length > 0;
  return { people: isMissing ? Math.max(takes.people, DEFAULT_PEOPLE) : takes.people, roles: [] };
}

/** The roles that any rule names: who has one of them may confirm what the rule decides, even without the right to propose it. */
export const rolesInRules = async (tx: Tx): Promise<Role[]> => [
  ...new Set((await store.rules(tx)).flatMap(({ roles }) => roles)),
];

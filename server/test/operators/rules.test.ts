/** How many people an action takes: which rule decides, which amounts add up, and the approvals for changing a rule. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  isNearer,
  missingRoles,
  peopleTaken,
  type Role,
  type Rule,
  stricter,
  takesForChange,
} from '../../src/operators/index.ts';
import { decidingRules, takenBy } from '../../src/operators/rules.ts';

const rule = (text: string): Rule => {
  const [action = '', right = '', asset = '', above = '', people = '', ...roles] = text.split(' ');
  return { action, right, asset, aboveUnits: BigInt(above), people: Number(people), roles: roles as Role[] };
};
const RULES = [
  '* money inr 100 2',
  '* money inr 900 3',
  '* terms * 0 1',
  'order.* * * 0 3',
  'order.retry * inr 50 2',
  'order.retry money * 0 1',
  'bank.* * * 0 1',
  'destination.new * inr 500 2',
].map(rule);

describe('the most specific rule decides', () => {
  for (const [action, right, asset, units, people] of [
    // By amount, and every exceeded limit.
    ['deposit.refund', 'money', 'inr', 100n, 1],
    ['deposit.refund', 'money', 'inr', 101n, 2],
    ['deposit.refund', 'money', 'inr', 901n, 3],
    // Another asset has no rule.
    ['deposit.refund', 'money', 'eur', 1n, 2],
    ['fee.set', 'terms', undefined, undefined, 1],
    ['key.create', 'partners', undefined, undefined, 2],
    // The family before everything, the action before its family, the right before any right.
    ['order.release', 'money', 'inr', 1n, 3],
    ['order.retry', 'money', 'inr', 1_000n, 1],
    ['order.retry', 'kill_switch', 'inr', 51n, 2],
    ['order.retry', 'kill_switch', 'inr', 50n, 1],
    ['bank.close_file', 'money', undefined, undefined, 1],
  ] as const)
    test(`${action} (${right}) of ${units ?? 'no'} ${asset ?? 'amount'} takes ${people}`, () => {
      assert.equal(takenBy(decidingRules(RULES, { action, right, asset }), () => units ?? 0n).people, people);
    });

  test('a rule for every action does not lower an action that a rule has to name', () => {
    const named = (action: string, units: bigint) =>
      takenBy(decidingRules(RULES, { action, right: 'money', asset: 'inr', isNamed: true }), () => units).people;
    assert.deepEqual([named('release.screening_hit', 1n), named('destination.new', 500n)], [2, 1]);
  });
});

describe('changing a rule takes', () => {
  for (const [changed, people] of [
    // As many as it says, and at least two.
    ['key.create partners * 0 1', 2],
    ['key.create partners * 0 3', 3],
    // As many as the previous rule says, and as any rule that it could replace.
    ['order.* * * 0 2', 3],
    ['order.release * * 0 1', 3],
    ['* * * 0 1', 3],
    ['* money eur 0 1', 3],
    ['* terms * 0 2', 3],
    ['deposit.refund money inr 5 1', 3],
    ['deposit.refund money eur 5 1', 2],
    ['bank.close_file * * 0 1', 3],
    ['bank.close_file terms eur 0 1', 2],
  ] as const)
    test(`${changed.split(' ').slice(0, 4).join(' ')} to ${changed.at(-1)}: ${people}`, () => {
      assert.equal(takesForChange(RULES, rule(changed)).people, people);
    });

  test('the same number of people to remove it', () => {
    assert.equal(takesForChange(RULES, { ...rule('* money inr 900 1'), people: null }).people, 3);
  });
});

const words = (text: string): Role[] => text.split(' ').filter((one) => one !== '') as Role[];

describe('roles among those who approve', () => {
  for (const [takes, held, missing, inAll] of [
    // The roles that a rule names, the roles of those who approve, what is missing, and how many it takes in all.
    ['2', 'finance finance', '', 2],
    ['2 compliance', 'finance', 'compliance', 2],
    ['2 compliance', 'compliance', '', 2],
    ['2 compliance', 'finance finance', 'compliance', 3],
    ['2 compliance compliance', 'compliance', 'compliance', 2],
    ['2 compliance compliance', 'finance', 'compliance compliance', 3],
    ['1 compliance', 'finance', 'compliance', 2],
    ['1 compliance', 'compliance', '', 1],
    ['3 compliance treasury', 'finance compliance', 'treasury', 3],
    ['3 compliance treasury', 'finance finance', 'compliance treasury', 4],
  ] as const)
    test(`it takes ${takes}, and ${held || 'nobody'} approved: ${missing || 'none'} missing, ${inAll} in all`, () => {
      const [people, ...roles] = takes.split(' ');
      const one = { people: Number(people), roles: roles as Role[] };
      assert.deepEqual(missingRoles(one.roles, words(held)), words(missing));
      assert.equal(peopleTaken(one, words(held)), inAll);
    });

  for (const [takes, held, role, wanted] of [
    ['2 compliance', 'finance', 'finance', false],
    ['2 compliance', 'finance', 'compliance', true],
    ['3 compliance', 'finance', 'finance', true],
    ['3 compliance', 'finance finance', 'admin', false],
    ['2 compliance compliance', 'compliance', 'admin', false],
    // Nobody is turned away where only the number is missing.
    ['3', 'finance finance', 'admin', true],
  ] as const)
    test(`of ${takes} with ${held}, ${role} is ${wanted ? 'one' : 'not one'} of those who are missing`, () => {
      const [people, ...roles] = takes.split(' ');
      assert.equal(isNearer({ people: Number(people), roles: roles as Role[] }, words(held), role), wanted);
    });

  test('of two requirements each is met: the higher number, and each role as often as either says', () => {
    const one = { people: 2, roles: words('compliance finance') };
    const other = { people: 3, roles: words('compliance compliance') };
    const both = { people: 3, roles: words('compliance compliance finance') };
    assert.deepEqual(stricter(one, other), both);
    assert.deepEqual(stricter(other, one), both);
  });

  const NAMED = [
    '* money inr 100 2',
    '* money inr 900 2 compliance',
    'order.* * * 0 2 treasury',
    'key.* partners * 0 2 admin admin',
  ].map(rule);
  const decided = (action: string, units: bigint) =>
    takenBy(decidingRules(NAMED, { action, right: 'money', asset: 'inr' }), () => units);

  test('are asked above the limit of the rule that names them, and only there', () => {
    assert.deepEqual(decided('deposit.refund', 900n), { people: 2, roles: [] });
    assert.deepEqual(decided('deposit.refund', 901n), { people: 2, roles: ['compliance'] });
    assert.deepEqual(decided('order.release', 1n), { people: 2, roles: ['treasury'] });
  });

  for (const [changed, roles] of [
    // The roles of the new rule, and of each rule that it could replace.
    ['fee.set terms * 0 2 finance', 'finance'],
    ['fee.set terms * 0 1', ''],
    ['deposit.refund money inr 5 1', 'compliance'],
    ['order.release money inr 5 1', 'compliance treasury'],
    ['key.create partners * 0 1', 'admin admin'],
    ['key.create partners * 0 2 admin compliance', 'admin admin compliance'],
    ['* * * 0 2', 'admin admin compliance treasury'],
  ] as const)
    test(`changing to ${changed} takes ${roles || 'no role'}`, () => {
      assert.deepEqual(takesForChange(NAMED, rule(changed)).roles, words(roles));
    });

  test('that a removed rule names approve its removal', () => {
    const removed = takesForChange(NAMED, { ...rule('order.* * * 0 2'), people: null, roles: [] });
    assert.deepEqual(removed.roles, ['compliance', 'treasury']);
  });
});

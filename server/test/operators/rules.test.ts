/** How many people an action takes: which rule decides, which amounts add up, and the approvals for changing a rule. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { peopleForChange, type Rule } from '../../src/operators/index.ts';
import { decidingRules, peopleBy } from '../../src/operators/rules.ts';

const rule = (text: string): Rule => {
  const [action = '', right = '', asset = '', above = '', people = ''] = text.split(' ');
  return { action, right, asset, aboveUnits: BigInt(above), people: Number(people) };
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
      assert.equal(
        peopleBy(decidingRules(RULES, { action, right, asset }), () => units ?? 0n),
        people,
      );
    });

  test('a rule for every action does not lower an action that a rule has to name', () => {
    const named = (action: string, units: bigint) =>
      peopleBy(decidingRules(RULES, { action, right: 'money', asset: 'inr', isNamed: true }), () => units);
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
      assert.equal(peopleForChange(RULES, rule(changed)), people);
    });

  test('the same number of people to remove it', () => {
    assert.equal(peopleForChange(RULES, { ...rule('* money inr 900 1'), people: null }), 3);
  });
});

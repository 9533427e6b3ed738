/**
 * The form of a policy against the rules of the server: it has every question and field, it takes each value that the server takes
 * and no other, and it makes the answer that a person typed.
 *
 * UPDATE_DOCS=1 regenerates console/src/policies.json.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MARKET_ACTIONS } from '../../../console/src/actions.trade.ts';
import {
  type Answer,
  answerOf,
  fieldsOf,
  LABELS,
  partsOf,
  phrasesOf,
  policyForm,
  QUESTIONS,
  type Question,
  TITLES,
  typedOf,
  WORDS,
} from '../../../console/src/policies.ts';
import type { Refusal } from '../../src/base/errors.ts';
import { BUILT_IN_POLICY, POLICY_QUESTIONS, requirePolicy } from '../../src/partners/index.ts';
import { policyForms } from '../../src/protocols/operator/policyforms.ts';
import { testFresh } from '../support/described.ts';

testFresh({ 'console/src/policies.json': policyForms() });

const builtIn = (question: Question): Answer => BUILT_IN_POLICY[question];
/** The answer of somebody who changes only these values of the form. */
const typing = (question: Question, typed: Record<string, unknown>, own: Answer | null = null): Answer => {
  const named = Object.entries(typed).map(([name, value]) => [`${question}.${name}`, value]);
  return answerOf(question, { own, inForce: { ...builtIn(question), ...own } }, Object.fromEntries(named));
};

describe('the form of a policy', () => {
  test('has every question, and words for each field and value', () => {
    assert.deepEqual(QUESTIONS, POLICY_QUESTIONS);
    assert.deepEqual(Object.keys(TITLES), QUESTIONS);
    for (const question of QUESTIONS)
      for (const { field, kind, choices = [] } of partsOf(question)) {
        assert.ok(`${question}.${field}` in LABELS || field in LABELS, `${question}.${field} has no label`);
        if (kind === 'word') for (const word of choices) assert.ok(word in WORDS, `${word} has no words`);
      }
  });

  for (const question of QUESTIONS)
    test(`takes for ${question} what the server takes, and nothing else`, () => {
      assert.deepEqual(
        [...new Set(partsOf(question).map(({ field }) => field))],
        Object.keys(builtIn(question)),
        'it has other fields than the answer',
      );
      for (const one of partsOf(question)) {
        const name = [one.field, one.part].filter((part) => part !== undefined).join('.');
        const takes = (value: unknown) => requirePolicy(question, typing(question, { [name]: value }));
        const refuses = (value: unknown) =>
          assert.throws(
            () => takes(value),
            ({ code, facts }: Refusal) =>
              code === 'malformed_field' && `${question}.${one.field}` in (facts.fields as Record<string, string>),
            String(value),
          );
        if (one.kind === 'word') {
          for (const word of one.choices ?? []) takes(word);
          refuses('another word');
        } else if (one.kind === 'words') {
          for (const word of one.choices ?? []) {
            const answer = typing(question, { [`${name}.${word}`]: true });
            assert.deepEqual(answer, { [one.field]: [word] });
            requirePolicy(question, answer);
          }
        } else {
          const { min = 0, max = 0 } = one;
          for (const value of [min, max]) takes(String(value));
          for (const value of [min - 1, max + 1, 'many', '']) refuses(String(value));
          if (one.orNull === true) takes('none');
          else refuses('none');
        }
      }
    });

  test('asks nothing of which there is one value', () => {
    const names = fieldsOf('waiting').map(({ name }) => name);
    assert.ok(names.includes('waiting.paying_out.afterS') && !names.includes('waiting.paying_out.then'));
    assert.ok(names.includes('waiting.on_hold.then'));
  });

  test('begins with the answer in force, and asks for the time', () => {
    assert.deepEqual(typedOf('priceMoved', builtIn('priceMoved')), {
      ...{ 'priceMoved.lockS': 'none', 'priceMoved.bps': '0', 'priceMoved.then': 'honour' },
    });
    assert.equal(typedOf('refundFees', { keep: ['rail'] })['refundFees.keep.rail'], 'true');
    const { fields = [], isPartial, path } = policyForm(MARKET_ACTIONS.policy, 'late');
    assert.deepEqual([fields.map(({ name }) => name), isPartial], [['late.then', 'effectiveAt'], true]);
    assert.equal(path, MARKET_ACTIONS.policy.path);
  });
});

describe('the answer that the form makes', () => {
  test('has the fields that were changed, and those that were stored', () => {
    assert.deepEqual(typing('underpaid', { acceptBps: '50' }), { acceptBps: 50 });
    assert.deepEqual(typing('underpaid', { acceptBps: '50' }, { beyond: 'refund' }), {
      ...{ beyond: 'refund', acceptBps: 50 },
    });
  });
  test('has both parts of a deadline when one is changed', () => {
    assert.deepEqual(typing('waiting', { 'on_hold.then': 'refund' }), { on_hold: { afterS: 86_400, then: 'refund' } });
    assert.deepEqual(typing('waiting', { 'paying_out.afterS': '60' }), { paying_out: { afterS: 60, then: 'case' } });
  });
  test('can keep fees that were kept before, and no fee', () => {
    const own = { keep: ['operator', 'rail'] };
    assert.deepEqual(typing('refundFees', { 'keep.rail': false }, own), { keep: ['operator'] });
    assert.deepEqual(typing('refundFees', { 'keep.rail': false, 'keep.operator': false }, own), { keep: [] });
  });
  test('is said in words', () => {
    assert.deepEqual(phrasesOf('underpaid', { acceptBps: 50, beyond: 'refund' }), [
      'Accept up to this much less: 50 bps',
      'Beyond that: refund it',
    ]);
    assert.deepEqual(phrasesOf('waiting', { on_hold: { afterS: 90_000, then: 'case' } }), [
      'On hold: after 25 hours, open a case',
    ]);
    assert.deepEqual(phrasesOf('priceMoved', { lockS: null }), [
      'Price is locked for: until the deadline of the deposit',
    ]);
    assert.deepEqual(phrasesOf('refundFees', { keep: [] }), ['Keep the fee: none']);
  });
});

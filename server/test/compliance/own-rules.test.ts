/** Our own rules over the facts that a decision keeps. Decisions made again from them on a real server: ../erasure/requests.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OwnFacts, rulesThatHold } from '../../src/compliance/own-rules.ts';

const NONE: OwnFacts = { blocked: false, senderBlocks: [], twins: [], foundOn: [], holderScore: '' };
const BLOCK = '8tvxR5aVmM_1 2026-01-05T00:00:00.000Z';

test('each fact holds the money by its own rule, once, and without a fact nothing does', () => {
  for (const [facts, rules] of [
    [{}, []],
    [{ blocked: true }, ['customer_blocked']],
    [{ senderBlocks: [BLOCK] }, ['sender_blocked']],
    [{ twins: [`account ${BLOCK}`, `account ${BLOCK}`] }, ['account_of_blocked']],
    [{ twins: [`document ${BLOCK}`] }, ['document_of_blocked']],
    [{ foundOn: ['own', 'other'] }, ['destination_denied']],
    [{ holderScore: '8499' }, ['account_name_differs']],
    [{ holderScore: '8500' }, []],
    [{ holderScore: 'none' }, ['account_name_differs']],
    [{ blocked: true, foundOn: ['own'] }, ['customer_blocked', 'destination_denied']],
  ] as const)
    assert.deepEqual(rulesThatHold({ ...NONE, ...facts }), rules, JSON.stringify(facts));
});

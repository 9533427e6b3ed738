/** Cases: the text of a kind, and operators' actions on a case. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { later } from '../../src/base/clock.ts';
import type { Tx } from '../../src/base/db.ts';
import {
  assignCase,
  CASE_KINDS,
  closeCase,
  closeCases,
  findCase,
  listCases,
  meaningOf,
  noteCase,
  openCase,
} from '../../src/compliance/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

const OPERATING = new URL('../../../docs/operating/', import.meta.url);

test('every kind of case has its meaning and its resolution, and an existing page describes it', () => {
  for (const [kind, { means, remedy, page }] of Object.entries(CASE_KINDS)) {
    assert.ok(means.length > 20 && remedy.length > 10, kind);
    assert.ok(existsSync(new URL(page, OPERATING)), `${kind}: docs/operating/${page} is there`);
    assert.match(readFileSync(new URL(page, OPERATING), 'utf8'), new RegExp(`\`${kind}\``), `${page} tells of ${kind}`);
  }
});

test('a kind that another version opened is shown all the same', () => {
  assert.equal(meaningOf('of next year').who, 'operator');
  assert.equal(meaningOf('toString').who, 'operator');
});

describe('cases as rows', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await freshFixture();
  });
  after(() => fixture?.stop());
  const inTx = <T>(body: (tx: Tx) => Promise<T>) => fixture.db.asSystem(body);
  const now = new Date('2026-01-05T00:00:00Z');
  const open = (subject: string, minutes: number) =>
    inTx((tx) => openCase(tx, { kind: 'rail_halted', subject, reason: 'a test', now: later(now, minutes * 60_000) }));

  test('are listed oldest first, in pages, in whatever order they were created', async () => {
    for (const [subject, minutes] of [
      ['c', 3],
      ['a', 1],
      ['d', 3],
      ['b', 2],
    ] as const) {
      await open(subject, minutes);
    }
    const subjects: string[] = [];
    let last: { openedAt: Date; id: bigint } | undefined;
    for (;;) {
      const page = await inTx((tx) => listCases(tx, { open: true, after: last, limit: 3 }));
      subjects.push(...page.map(({ subject }) => subject));
      last = page.at(-1);
      if (page.length < 3) break;
    }
    assert.deepEqual(subjects, ['a', 'b', 'c', 'd']);
    assert.equal((await inTx((tx) => listCases(tx, { open: true, kind: 'uncovered', limit: 9 }))).length, 0);
  });

  test('keep an unchangeable record of each action and its operator', async () => {
    await open('kept', 9);
    const [{ id = 0n } = {}] = (await inTx((tx) => listCases(tx, { open: true, limit: 99 }))).slice(-1);
    await inTx(async (tx) => {
      await assignCase(tx, { id, to: 'ada', by: 'bob', why: 'knows the node', now });
      await noteCase(tx, { id, what: 'noted', note: 'node restarted', by: 'ada', now });
      await closeCase(tx, { id, outcome: 'mended', by: 'ada', now });
    });
    const { found, actions } = (await inTx((tx) => findCase(tx, id))) ?? assert.fail();
    assert.deepEqual([found.assignee, found.outcome, found.who], ['ada', 'mended', 'operator']);
    assert.deepEqual(
      actions.map(({ by, what, note }) => [by, what, note]),
      [
        ['bob', 'assigned', 'ada: knows the node'],
        ['ada', 'noted', 'node restarted'],
        ['ada', 'closed', 'mended'],
      ],
    );
    for (const statement of [`update case_actions set note = 'x'`, 'delete from case_actions'])
      await assert.rejects(
        inTx((tx) => tx.run(statement)),
        /append-only|permission denied/,
      );
  });

  test('that are closed take no assignee and are not closed twice', async () => {
    await open('over', 20);
    const [{ id = 0n } = {}] = (await inTx((tx) => listCases(tx, { open: true, limit: 99 }))).slice(-1);
    await inTx((tx) => closeCases(tx, { subject: 'over', outcome: 'by itself', now }));
    const refusal = { code: 'unknown_case' };
    await assert.rejects(
      inTx((tx) => assignCase(tx, { id, to: 'ada', by: 'bob', why: 'x', now })),
      refusal,
    );
    await assert.rejects(
      inTx((tx) => closeCase(tx, { id, outcome: 'again', by: 'bob', now })),
      refusal,
    );
    await assert.rejects(
      inTx((tx) => noteCase(tx, { id: 999_999n, what: 'noted', note: 'x', by: 'bob', now })),
      refusal,
    );
  });
});

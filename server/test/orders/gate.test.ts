/** The gate's decision as a table, the scope of an approval, and that no code sends money without the gate. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isCovered } from '../../src/orders/payouts/gate.ts';
import { type GateFacts, judge } from '../../src/orders/payouts/judge.ts';
import type { Finding } from '../../src/orders/payouts/rules.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const NOW = new Date('2026-11-01T12:00:00Z');
const BLOCKED: Finding = { rule: 'customer_blocked', entry: 't1', action: 'release.customer_blocked' };
const GONE: Finding = { rule: 'deposit_lost', entry: '', action: null };
const WELL: GateFacts = {
  findings: [],
  switchedOff: false,
  notReady: undefined,
  screenedAt: NOW,
  maxAgeMs: 1_000,
  now: NOW,
};
const clearing = { cause: 'clearing', until: new Date(NOW.getTime() + 5_000), why: 'not cleared' } as const;
const depth = { cause: 'confirmations', until: null, why: 'not deep enough' } as const;
const ago = (ms: number) => new Date(NOW.getTime() - ms);

const TABLE: readonly [string, Partial<GateFacts>, string][] = [
  ['nothing stands against it', {}, 'pay'],
  ['a hit', { findings: [BLOCKED] }, 'hold customer_blocked'],
  ['something that no person can approve', { findings: [GONE] }, 'hold deposit_lost'],
  ['a hit while a kill switch is on', { findings: [BLOCKED], switchedOff: true }, 'hold customer_blocked'],
  ['a hit before it has cleared', { findings: [BLOCKED], notReady: clearing }, 'hold customer_blocked'],
  ['a kill switch', { switchedOff: true }, 'wait switched_off'],
  ['not cleared by the bank', { notReady: clearing }, 'wait clearing'],
  ['not deep enough', { notReady: depth }, 'wait confirmations'],
  ['a destination without its confirmation', { unconfirmedUntil: ago(-9) }, 'wait unconfirmed'],
  ['the same before it has cleared', { unconfirmedUntil: ago(-9), notReady: clearing }, 'wait clearing'],
  ['a debit that may have paid it', { doubtful: 'line 1', notReady: clearing }, 'wait restore'],
  [
    'a deposit that may have been refunded before a restore',
    { returned: 'undecided', notReady: undefined },
    'wait restore',
  ],
  [
    'the rail of a deposit that is not read up to a restore',
    { returned: 'unread', screenedAt: undefined },
    'wait restore',
  ],
  ['a rail that is not read up to a restore', { unread: true, screenedAt: undefined }, 'wait restore'],
  ['never screened', { screenedAt: undefined }, 'wait screening'],
  ['a result as old as it may be', { screenedAt: ago(1_000) }, 'pay'],
  ['a result one millisecond older', { screenedAt: ago(1_001) }, 'wait screening'],
  ['a sanctions list that is too old', { stored: { cause: 'lists', why: 'of last year' } }, 'wait lists'],
  ['a name without a result of the newest lists', { stored: { cause: 'screening', why: 'new' } }, 'wait screening'],
  [
    'a hit while a list is too old',
    { findings: [BLOCKED], stored: { cause: 'lists', why: '' } },
    'hold customer_blocked',
  ],
];

const untilOf = ({ notReady, unconfirmedUntil }: Partial<GateFacts>): Date | undefined =>
  (notReady === undefined ? unconfirmedUntil : notReady.until) ?? undefined;

test('the gate follows the table', () => {
  for (const [what, facts, wanted] of TABLE) {
    const answer = judge({ ...WELL, ...facts });
    const said =
      answer.outcome === 'pay' ? 'pay' : answer.outcome === 'wait' ? `wait ${answer.cause}` : `hold ${answer.reason}`;
    assert.equal(said, wanted, what);
    if (answer.outcome !== 'wait') continue;
    assert.ok(answer.why.length > 3 || facts.stored?.why === answer.why, `${what}: nobody is told why`);
    assert.deepEqual(answer.until, facts.switchedOff || facts.doubtful ? undefined : untilOf(facts), what);
  }
});

test('an approval covers one hit, one entry, up to its amount, with as many people as are asked now', () => {
  const approval = { id: 1n, rule: 'customer_blocked', entry: 't1', units: 100n, people: ['ada', 'bea'] };
  const covers = (finding: Finding, units: bigint, needed: number, people = approval.people) =>
    isCovered(finding, { units, needed }, [{ ...approval, people }]);
  assert.equal(covers(BLOCKED, 100n, 2), true);
  assert.equal(covers(BLOCKED, 101n, 2), false, 'the approval covered a larger amount');
  assert.equal(covers({ ...BLOCKED, entry: 't2' }, 100n, 2), false, 'the approval covered a later block');
  assert.equal(covers({ ...BLOCKED, rule: 'destination_denied' }, 100n, 2), false, 'the approval covered another rule');
  assert.equal(covers(BLOCKED, 100n, 3), false, 'too few people were enough');
  assert.equal(covers(BLOCKED, 100n, 2, ['ada', 'ada']), false, 'one person counted twice');
  assert.equal(isCovered(BLOCKED, { units: 1n, needed: 1 }, []), false, 'a hit passed without an approval');
  const named: Finding = { rule: 'destination_new', entry: '', action: 'destination.new' };
  assert.equal(
    isCovered(named, { units: 1n, needed: 1 }, []),
    true,
    'one person could not name a destination although the rules allow it',
  );
  assert.equal(isCovered(named, { units: 1n, needed: 2 }, []), false);
});

test('money is submitted from one place, after the gate', () => {
  const found = (pattern: RegExp): string[] =>
    globSync('**/*.ts', { cwd: SRC })
      .filter((file) => pattern.test(readFileSync(join(SRC, file), 'utf8')))
      .toSorted();
  // Every caller of a rail's `send` first marks the payout as being submitted, and that is one function.
  assert.deepEqual(found(/\bbeginSubmission\(tx/), ['rails/payouts.ts']);
  assert.deepEqual(found(/railOf\(context, payout\)\.send\(/), ['rails/payouts.ts']);
  assert.deepEqual(
    found(/\brail\.send\(|\.get\([^)]*\)\??\.send\(/),
    [],
    'code sends to a rail without the payout engine',
  );
  assert.deepEqual(
    found(/\binsertBatch\(tx/),
    ['rails/manual/desk.files.ts'],
    'a payout file is written past the desk',
  );
  // The other ways to a chain. What signs and broadcasts is one file, which asks the gate first, and the file that fills the nonce
  // of a lost transaction with an empty one.
  assert.deepEqual(found(/\brail\.sendBatch\(/), ['treasury/batches.ts'], 'code sends a batch past the sweeps');
  const cancels = ['rails/chain.adopt.signed.ts', 'rails/chain.adopt.ts'];
  assert.deepEqual(found(/\bsendCancel\(/), cancels, 'code fills a nonce that was not given up');
  const engines = ['rails/chain.adopt.signed.ts', 'rails/chain.sends.ts'];
  assert.deepEqual(found(/\badapter\.sign\(/), engines, 'code has a transaction signed past the engine of a chain');
  assert.deepEqual(found(/\.broadcast\(/), engines, 'code broadcasts past the engine of a chain');
  const adapters = ['rails/evm/sends.ts', 'rails/tron/sends.ts'];
  assert.deepEqual(found(/\bsigner\.sign\(/), adapters, 'code asks a signer past the adapter of its chain');
  const sends = readFileSync(join(SRC, 'rails/chain.sends.ts'), 'utf8');
  assert.match(
    sends,
    /await askAgain\(engine, newest\)[\s\S]{0,200}await sign\(engine, newest\)/,
    'signed without the gate',
  );
  assert.match(
    sends,
    /await whyKept\(engine, versions\)[\s\S]{0,200}adapter\.broadcast\(/,
    'broadcast without the gate',
  );
  const cancel = readFileSync(join(SRC, 'rails/chain.adopt.signed.ts'), 'utf8');
  assert.match(
    cancel,
    /const call = account\?\.cancelCall\?\.\(row\.wallet\);[\s\S]{0,1200}adapter\.sign\(row\.wallet, call,/,
    'a cancellation signs another call than the empty one',
  );
  const engine = readFileSync(join(SRC, 'rails/payouts.ts'), 'utf8');
  assert.equal(engine.match(/beginSubmission\(tx/g)?.length, 1);
  assert.match(
    engine,
    /context\.gate\(tx, payout\);[\s\S]{0,1200}beginSubmission\(tx/,
    'a submission begins without the gate',
  );
  assert.equal(engine.match(/insertSubmitting\(tx/g)?.length, 1);
  assert.match(
    engine,
    /if \(!\(await passes\(context, tx, payout\)\)\) return undefined;[\s\S]{0,700}insertSubmitting\(tx[\s\S]*async function passes[^}]*context\.gate\(tx, payout\)\)\.outcome === 'pay'/,
    'a payout is created as submitting without the gate',
  );
  assert.deepEqual(found(/\binsertSubmitting\(tx|\bbeginSubmission\(tx/), ['rails/payouts.ts']);
  const desk = readFileSync(join(SRC, 'rails/manual/desk.files.ts'), 'utf8');
  assert.match(
    desk,
    /async function closeBatch[\s\S]{0,1100}await kept\([\s\S]*insertBatch\(tx/,
    'a file is closed without the gate',
  );
});

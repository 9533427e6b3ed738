/** Reasons of a verification without success: which a partner is told, and their table in the docs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { toldReason, VERIFICATION_REASONS, verificationReason } from '../../src/customers/index.ts';

test('the table in the docs has each reason with its remedy', () => {
  const text = readFileSync(new URL('../../../docs/site/customers.md', import.meta.url), 'utf8');
  const section = text.split('### Reasons of a failed verification')[1]?.split('In the white-label')[0] ?? '';
  // The first row is that of the names of the columns.
  const rows = [...section.matchAll(/^\| `(\w+)` \| (.*) \| (.*) \|$/gm)]
    .slice(1)
    .map(([, code, means, remedy]) => [code, { means, remedy }]);
  assert.deepEqual(Object.fromEntries(rows), VERIFICATION_REASONS);
});

test('a word that is no code, and a suspicion, become the reason that says nothing', () => {
  for (const given of ['forgery', 'sanctions', 'constructor', '', null, undefined]) {
    assert.equal(toldReason('failed', given), 'not_verified');
    assert.equal(toldReason('refused', given), 'not_accepted');
  }
  assert.equal(toldReason('failed', 'not_accepted'), 'not_verified', 'one who may try again is told to give up');
  assert.equal(toldReason('refused', 'document_unreadable'), 'not_accepted', 'one who is refused is told to try again');
  assert.equal(toldReason('refused', 'under_age'), 'under_age');
});

test('a customer has a reason only while the verification is without success', () => {
  const of = { failedReason: 'forgery', documentLapsedAt: null };
  for (const verification of ['none', 'in_review', 'verified'] as const)
    assert.equal(verificationReason({ ...of, verification }), undefined);
  assert.equal(verificationReason({ ...of, verification: 'failed' }), 'not_verified');
  assert.equal(
    verificationReason({ ...of, verification: 'failed', documentLapsedAt: new Date(0) }),
    'document_expired',
  );
});

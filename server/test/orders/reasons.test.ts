/**
 * Every internal reason for something unusual about an order has a public word, and reasons that reveal a review have the neutral
 * one. The reasons are read from the source, so that a new one without a word fails here.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { hasPublicReason, PUBLIC_REASONS, publicReason } from '../../src/orders/index.ts';

const SRC = new URL('../../src/', import.meta.url);
/** The sources of reasons: orders' decisions, findings of screening, answers of banks. */
const FOLDERS = [
  'orders',
  'orders/custody',
  'orders/deposits',
  'orders/payouts',
  'orders/read',
  'orders/refunds',
  'compliance',
  'rails',
  'rails/manual',
  'rails/simulated',
];

/** How a reason is written: as a value under one of these names, or as an argument of one of these functions. */
const WRITTEN = [
  /\b(?:exception|failedReason): '([a-z_]+)'/g,
  /\breason: '([a-z]+(?:_[a-z]+)+)'/g,
  /\breason: ([a-z]+(?:_[a-z]+)*) === /g,
  /\bwhy: '([a-z]+(?:_[a-z]+)+)'/g,
  /\bwhy \?\? '([a-z_]+)'/g,
  /\brule: (?:isRejected \? )?'([a-z_]+)'/g,
  /\b(?:never|person|refuse|reject)\([^()]*?'([a-z]+(?:_[a-z]+)+)'/g,
  /\b(?:PAID_OTHER_AMOUNT|wrongAmount|reason) = (?:.*? [?:] )?'([a-z_]+)'/g,
  /isRejected \? '[a-z_]+' : '([a-z_]+)'/g,
];
/** `why` of other subjects: unsuitable addresses, an unreadable statement line. */
const NOT_OF_ORDERS = ['no_address', 'token_contract', 'unusable'];

/** Unions and tables whose members are reasons. */
const TABLES: readonly (readonly [file: string, from: string, to: string, word: RegExp])[] = [
  ['orders/decide.ts', 'export type DepositTrouble', ';', /'([a-z_]+)'/g],
  ['compliance/screener.ts', 'export type HeldReason', ';', /'([a-z_]+)'/g],
  ['orders/decide.ts', 'export function holdBeforePayout', '{', /'([a-z_]+)'/g],
  ['rails/manual/reasons.ts', 'const REASONS', '};', /: '([a-z_]+)'/g],
  ['rails/manual/reasons.ts', 'export const returnReason', ';\n', /'([a-z]+_[a-z_]+)'/g],
];

function reasonsInCode(): Map<string, string> {
  const found = new Map<string, string>();
  for (const folder of FOLDERS)
    for (const name of readdirSync(new URL(`${folder}/`, SRC))) {
      if (!name.endsWith('.ts')) continue;
      const text = readFileSync(new URL(`${folder}/${name}`, SRC), 'utf8');
      for (const pattern of WRITTEN)
        for (const [, word = ''] of text.matchAll(pattern)) found.set(word, `${folder}/${name}`);
    }
  for (const [file, from, to, word] of TABLES) {
    const text = readFileSync(new URL(file, SRC), 'utf8');
    const start = text.indexOf(from);
    assert.ok(start >= 0, `${file} has no ${from}`);
    for (const [, reason = ''] of text.slice(start, text.indexOf(to, start)).matchAll(word)) found.set(reason, file);
  }
  for (const word of NOT_OF_ORDERS) found.delete(word);
  return found;
}

test('every reason in the code has a public word', () => {
  const found = reasonsInCode();
  // Checks the search itself: one of each kind.
  for (const known of [
    'underpaid',
    'deposit_replaced',
    'payer_name',
    'price_moved',
    'waited_too_long',
    'over_level_limit',
    'paid_before',
    'destination_rejected',
    'destination_held',
    'customer_blocked',
    'second',
    'payout_returned',
    'released_by_law',
    'account_closed',
    'no_iban',
    'never_arrived',
    'returned_by_bank',
  ])
    assert.ok(found.has(known), `${known} is not found in the code`);
  assert.deepEqual(
    [...found].filter(([word]) => !hasPublicReason(word)),
    [],
    'reasons without a public word: orders/read/reasons.ts',
  );
});

test('reasons of screening, limits, containment, suspicion and law are shown as under review', () => {
  const text = readFileSync(new URL('compliance/screener.ts', SRC), 'utf8');
  const union = /export type HeldReason =\s([^;]+);/.exec(text)?.[1] ?? '';
  const hits = [...union.matchAll(/'([a-z_]+)'/g)].map(([, word = '']) => word);
  assert.equal(hits.length, 16);
  const looked = [
    'over_level_limit',
    'over_customer_limit',
    'destination_held',
    'destination_rejected',
    'released_by_law',
  ];
  for (const inner of [
    ...hits,
    ...looked,
    'fraud (FRAD)',
    'legal_decision (LEGL)',
    'regulatory (RR04)',
    'account_blocked (AC06)',
  ])
    assert.equal(publicReason(inner), 'under_review', inner);
  for (const inner of [...hits, ...looked])
    assert.equal(publicReason(`held: ${inner}`, 'payout_rejected'), 'under_review', `held: ${inner}`);
});

test('a reason that is no word of ours is neutral, and a rail’s own words are not repeated', () => {
  assert.equal(publicReason('Ada thinks that this is a mule'), 'under_review');
  assert.equal(publicReason('held: by Ada', 'payout_rejected'), 'under_review');
  assert.equal(publicReason('reverted on chain', 'payout_rejected'), 'payout_rejected');
  assert.equal(publicReason('account_closed (AC04)', 'payout_rejected'), 'account_closed');
  assert.equal(publicReason('toString'), 'under_review');
  assert.equal(new Set(PUBLIC_REASONS).size, PUBLIC_REASONS.length);
});

/**
 * Which actions one person may take alone, from the declarations: every other one has a rule for two. An action that moves or
 * frees money, or changes what guards it, and is missing from these lists fails.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Right } from '../../../src/operators/index.ts';
import type { DeclaredAction } from '../../../src/protocols/operator/declare.ts';
import { ENDPOINTS } from '../../../src/protocols/operator/declared/index.ts';
import { ALL_ACTIONS } from './desk.ts';

/** Rights that move nothing: reading, cases, and taking rights away. The night desk has them, apart from personal data. */
const HARMLESS: readonly Right[] = ['read', 'personal', 'cases', 'kill_switch', 'block'];

/** Actions with another right that one person takes alone, and why that is enough. */
const ALONE: Readonly<Record<string, string>> = {
  'order.cancel': 'only an order without money',
  'order.block': 'keeps money from leaving, by an order that cannot wait',
  'order.wake': 'dormant money waits again; paying it takes its own action',
  'deposit.wake': 'the same',
  'deposit.return-link': 'the page asks for a code sent to the customer; paying takes `deposit.return`',
  'alert.set': 'the replaced rule says so on its channel',
  'alert.remove': 'the rule says so on its channel',
  'alert.test': 'sends a text',
  'channel.test': 'sends a text',
  'code-sender.test': 'sends a code that is valid for no login',
  'customer.detach_phone': 'the customer can log in no longer',
  'customer.ask': 'asks a question',
  'customer.withdraw-question': 'ends a question',
  'customer.legal_hold': 'keeps data; lifting it takes two',
  'customer.withdraw_erasure': 'keeps data; the erasure can be asked for again, which takes two',
  'sanctions.confirm': 'keeps money from leaving',
  'risk.confirm': 'keeps money from leaving',
  'shortage.pass': 'orders that may leave do so in another order',
  'shortage.queue': 'ends that',
  'bank.take_off': 'keeps a payout out of the next file',
  'partner.create': 'without a key, which takes two, a partner can do nothing',
  'partner.resetBranding': 'takes a name and colours away',
  'held.reject': 'keeps money from leaving, permanently',
  'key.collect': 'only for the person who requested the key, after another confirmed it',
  'team.collect': 'the same for a link',
  'operator.end-sessions': 'takes access away',
  'operator.disable': 'takes access away',
  'operator.revoke-token': 'takes access away',
  'operator.unbind': 'takes access away',
};

/** Actions that take one person unless a rule names them: the installation decides. */
const RULED = ['review.decide', 'requirements.set', 'plan.withdraw'];

test('every action that is not listed takes two people, by its declaration', () => {
  const alone = ALL_ACTIONS.filter(({ people, right }) => people === 'one' && !HARMLESS.includes(right));
  assert.deepEqual(alone.map(({ name }) => name).sort(), Object.keys(ALONE).sort());
  const ruled = ALL_ACTIONS.filter(({ people }) => people === 'ruled');
  assert.deepEqual(ruled.map(({ name }) => name).sort(), RULED.toSorted());
});

test('no endpoint but an action, a login and a proposal changes anything', () => {
  const names = new Set(ALL_ACTIONS.map(({ name }) => name));
  const others = ENDPOINTS.filter(({ method }) => method !== 'GET').filter(
    (one) => !names.has((one as DeclaredAction).name),
  );
  const paths = others.map(({ path }) => path).filter((path) => !/^\/(session|sessions|proposals)\b/.test(path));
  assert.deepEqual(paths, ['/bank/statements/preview']);
});

/** The forms of the console against the declarations of the operator interface, and its states against the order machine. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { CORRECT, MOVEMENT_ACTIONS, PAYOUT_ACTIONS, TRANSFER_ACTIONS } from '../../../console/src/actions.money.ts';
import { ALERT_ACTIONS, OPERATOR_ACTIONS, RIGHTS as ROLES_OF, RULE_SET } from '../../../console/src/actions.people.ts';
import { ADDRESS_HIT_ACTIONS, ADDRESS_HIT_STATES, TRAVEL_ACTIONS } from '../../../console/src/actions.risk.ts';
import {
  HELD_ACTIONS,
  KEY_ACTIONS,
  MARKET_ACTIONS,
  PARTNER_ACTIONS,
  PLAN_WITHDRAW,
} from '../../../console/src/actions.trade.ts';
import {
  AGAIN_REASONS,
  ATTACHMENT_ACTIONS,
  BANK_ACTIONS,
  CASE_ACTIONS,
  CUSTOMER_ACTIONS,
  DATA_ACTIONS,
  DELIVERY_STATES,
  DEPOSIT_ACTIONS,
  DEPOSIT_STATES,
  type FormAction,
  HIT_ACTIONS,
  HIT_STATES,
  LIMIT_SET,
  ORDER_ACTIONS,
  ORDER_STATES,
  PAYOUT_STATES,
  PROPOSAL_ACTIONS,
  REVIEW_ACTIONS,
  REVIEW_DECIDE,
  REVIEW_OUTCOMES,
  PROPOSAL_STATES as SHOWN_STATES,
  SUSPENSE_STATES,
  SWITCH_ACTIONS,
} from '../../../console/src/actions.ts';
import { RUNBOOKS, sectionOf } from '../../../console/src/runbooks.ts';
import { CASE_KINDS } from '../../src/compliance/index.ts';
import { FIELD_REASONS } from '../../src/customers/index.ts';
import { PROPOSAL_STATES, RIGHTS } from '../../src/operators/index.ts';
import { type OrderEvent, STATES, TRANSITIONS } from '../../src/orders/machine.ts';
import { ENDPOINTS } from '../../src/protocols/operator/declared/index.ts';

const FORMS: readonly FormAction[] = [
  ...ORDER_ACTIONS,
  ...Object.values(CASE_ACTIONS),
  ...Object.values(ATTACHMENT_ACTIONS),
  ...Object.values(SWITCH_ACTIONS),
  ...Object.values(PROPOSAL_ACTIONS),
  ...DEPOSIT_ACTIONS,
  ...Object.values(BANK_ACTIONS),
  ...Object.values(REVIEW_ACTIONS),
  ...Object.values(CUSTOMER_ACTIONS),
  ...Object.values(DATA_ACTIONS),
  ...Object.values(HIT_ACTIONS),
  LIMIT_SET,
  ...Object.values(ADDRESS_HIT_ACTIONS),
  ...Object.values(TRAVEL_ACTIONS),
  ...Object.values(OPERATOR_ACTIONS),
  ...Object.values(ALERT_ACTIONS),
  ...Object.values(PAYOUT_ACTIONS),
  ...Object.values(MOVEMENT_ACTIONS),
  ...Object.values(CORRECT),
  ...Object.values(TRANSFER_ACTIONS),
  RULE_SET,
  ...Object.values(PARTNER_ACTIONS),
  ...Object.values(KEY_ACTIONS),
  ...Object.values(HELD_ACTIONS),
  ...Object.values(MARKET_ACTIONS),
  PLAN_WITHDRAW,
];
/** Filled in by the page, and not by a field of the form. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  'case.assign': ['to'],
  'kill-switch.lift': ['kind', 'subject'],
  // One account at a time, with all payouts waiting for it: exact payouts are named at the terminal.
  'bank.close_file': ['asset', 'payouts'],
  'review.document': ['file'],
  'operator.revoke-token': ['token'],
  'operator.unbind': ['identity'],
  // One item at a time: limits are for all of them, at the terminal.
  'held.release': ['items', 'kind', 'since', 'upTo'],
  'held.reject': ['items', 'kind', 'since', 'upTo'],
  'alert.test': ['name'],
  'alert.remove': ['name'],
};

describe('a form of the console', () => {
  for (const form of FORMS)
    test(`${form.name} (${form.label}) matches its declaration`, () => {
      const declared = ENDPOINTS.find(({ method, path }) => method === 'POST' && path === form.path);
      assert.ok(declared, `nothing is declared at ${form.path}`);
      assert.equal(form.right, declared.right);
      if (form.people !== undefined) assert.equal(form.people, (declared as { people?: string }).people);
      const inPath = [...form.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
      const { fields = [] } = form;
      const typed = new Set([...inPath, ...fields.map(({ name }) => name), ...(GIVEN[form.name] ?? [])]);
      assert.deepEqual([...typed].toSorted(), Object.keys(declared.fields).toSorted());
      for (const { name, isRequired = false, choices, isFlag = false, isSwitch = false, isTime = false } of fields) {
        const { schema, optional = false } = declared.fields[name] as {
          optional?: boolean;
          schema: { enum?: readonly string[]; type?: string; format?: string };
        };
        assert.equal(isRequired, !optional, `${name} is required`);
        if (name !== 'people') assert.deepEqual(choices, schema.enum, `choices of ${name}`);
        assert.equal(isFlag || isSwitch, schema.type === 'boolean', `${name} is true or false`);
        if (isTime) assert.equal(schema.format, 'date-time', `${name} is a time`);
      }
    });
});

describe('an action on an order', () => {
  const FITS: Readonly<Record<string, OrderEvent>> = {
    'order.release': 'released',
    'order.cancel': 'cancelled',
    'order.refund': 'refund_requested',
    'order.requote': 'requoted',
    'order.settle-by': 'payout_found',
    'order.block': 'blocked',
  };
  for (const [name, event] of Object.entries(FITS))
    test(`${name} is offered in every state from which an order continues by ${event}`, () => {
      const { states = [] } = ORDER_ACTIONS.find((one) => one.name === name) ?? {};
      // An unpaid order is requoted by its market, and not one at a time.
      const from = TRANSITIONS.filter(({ on }) => on === event)
        .flatMap((row) => row.from)
        .filter((state) => !(event === 'requoted' && state === 'created'));
      assert.deepEqual(
        from.filter((state) => !states.includes(state)),
        [],
      );
    });

  test('is usual in states that there are', () => {
    for (const { name, states = [] } of ORDER_ACTIONS)
      assert.ok(states.length > 0 && states.every((state) => state in STATES), name);
  });
});

test('the filters of the console have every state of an order and of a proposal', () => {
  assert.deepEqual(ORDER_STATES.toSorted(), Object.keys(STATES).toSorted());
  assert.deepEqual(SHOWN_STATES, [...PROPOSAL_STATES]);
  const statesAt = (path: string) => {
    const { schema } = (ENDPOINTS.find((one) => one.path === path)?.fields ?? {}).state as unknown as {
      schema: { enum: string[] };
    };
    return schema.enum;
  };
  for (const [path, states] of [
    ['/deposits', DEPOSIT_STATES],
    ['/suspense', SUSPENSE_STATES],
    ['/payouts', PAYOUT_STATES],
    ['/endpoints/:endpoint/deliveries', DELIVERY_STATES],
    ['/sanctions/hits', HIT_STATES],
    ['/address-risk/hits', ADDRESS_HIT_STATES],
  ] as const)
    assert.deepEqual(states, statesAt(path), path);
});

test('a rule takes as many people as the console offers, and roles have the rights that it shows', () => {
  const { people } = ENDPOINTS.find(({ method, path }) => method === 'POST' && path === '/rules')?.fields ?? {};
  assert.ok(people);
  const { anyOf } = people.schema as unknown as { anyOf: { minimum?: number; maximum?: number; const?: string }[] };
  const { minimum = 0, maximum = 0 } = anyOf[0] ?? {};
  const counts = Array.from({ length: maximum - minimum + 1 }, (_, at) => String(minimum + at));
  const field = RULE_SET.fields.find(({ name }) => name === 'people');
  assert.deepEqual(field && 'choices' in field && field.choices, [...counts, anyOf[1]?.const]);
  assert.deepEqual(ROLES_OF, RIGHTS);
});

test('the decision on a review has the outcomes and reasons of its declaration', () => {
  const declared = ENDPOINTS.find(({ path }) => path === REVIEW_DECIDE.path);
  assert.equal(declared?.right, REVIEW_DECIDE.right);
  const { schema } = (declared?.fields ?? {}).outcome as unknown as { schema: { enum: string[] } };
  assert.deepEqual([...REVIEW_OUTCOMES], schema.enum);
  const { missing: _, ...reasons } = FIELD_REASONS;
  assert.deepEqual(AGAIN_REASONS, reasons);
});

describe('the runbook beside a case', () => {
  for (const [kind, { page, heading }] of RUNBOOKS)
    test(`of ${kind} is a section of ${page}`, () => {
      assert.ok(kind in CASE_KINDS, 'it is not a kind of case');
      const text = readFileSync(new URL(`../../../docs/operating/${page}`, import.meta.url), 'utf8');
      const section = sectionOf(text, heading);
      assert.notEqual(section, text, `there is no heading ${heading}`);
      assert.match(section, /\*\*Do:\*\*/);
    });
});

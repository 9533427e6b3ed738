/** One declaration of a control is the same control on both wires of partners, although each spells its parameters differently. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refusal } from '../../src/base/errors.ts';
import type { Order } from '../../src/orders/index.ts';
import { CONTROLS, type Control, runControl } from '../../src/protocols/controls.ts';
import type { Fields } from '../../src/protocols/declaration/fields.ts';
import { readFields as readV1 } from '../../src/protocols/declaration/fields.ts';
import type { SandboxControls } from '../../src/protocols/sandbox.ts';
import { CONTROL_ENDPOINTS } from '../../src/protocols/v1/declared/sandbox.ts';
import type { Body } from '../../src/protocols/whitelabel/body.ts';
import * as whitelabel from '../../src/protocols/whitelabel/endpoints/controls.ts';
import { readFields } from '../../src/protocols/whitelabel/fields.ts';

const ORDER = { id: 5n } as Order;

/** What the sandbox is asked to do. */
async function asked(wire: 'whitelabel' | 'v1', control: Control, values: Readonly<Record<string, unknown>>) {
  const calls: unknown[] = [];
  const record = (_: object, name: string) => (input: object) => {
    calls.push([name, input]);
    return {};
  };
  await runControl(control, new Proxy({}, { get: record as never }) as SandboxControls, {
    ...{ wire, values, partnerId: 1n, keyOf: () => 'key' },
    orderOf: async (reference) => (assert.equal(String(reference), '5'), ORDER),
    unitsOf: async (_order, amount) => (amount === undefined ? undefined : BigInt(amount.replace('.', ''))),
  });
  return calls;
}

const examples = (fields: Readonly<Record<string, { example?: unknown }>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])),
  );

const onWhitelabel = (control: Control): Record<string, unknown> => {
  const fields = whitelabel.fieldsOf(control);
  const { transactionId, ...rest } = whitelabel.exampleOf(control);
  const given = { ...examples(fields), ...rest, ...(transactionId === undefined ? {} : { transactionId: '5' }) };
  const body = new Map(Object.entries(given).map(([name, value]) => [name, String(value)]));
  return readFields(fields, body as Body, { only: true });
};
const onV1 = ({ name }: Control): Record<string, unknown> => {
  const fields: Fields = CONTROL_ENDPOINTS.find(({ control }) => control.name === name)?.declared.fields ?? {};
  return readV1(fields, { ...examples(fields), ...('order' in fields ? { order: '5' } : {}) });
};

describe('the example of a control', () => {
  for (const control of CONTROLS)
    test(`${control.name} causes the same on both wires`, async () => {
      const calls = await asked('whitelabel', control, onWhitelabel(control));
      assert.equal(calls.length, 1);
      assert.deepEqual(await asked('v1', control, onV1(control)), calls);
    });
});

test('a missing parameter is named as the wire names it', async () => {
  const recall = CONTROLS.find(({ name }) => name === 'recall') as Control;
  const isMissing = (names: string[]) => (error: unknown) => {
    assert.ok(error instanceof Refusal && error.code === 'missing_fields');
    assert.deepEqual(error.facts, { names });
    return true;
  };
  await assert.rejects(asked('whitelabel', recall, {}), isMissing(['transactionId']));
  await assert.rejects(asked('v1', recall, {}), isMissing(['order']));
});

test('a parameter that the sandbox refuses is named as the wire names it', async () => {
  const bounce = CONTROLS.find(({ name }) => name === 'bounce') as Control;
  const refusing = {
    bounce: async () => {
      throw new Refusal('malformed_field', { fields: { order: 'has nothing', amount: 'is no parameter of it' } });
    },
  } as unknown as SandboxControls;
  for (const [wire, name] of [
    ['whitelabel', 'transactionId'],
    ['v1', 'order'],
  ] as const) {
    const request = { wire, values: { [name]: '5' }, partnerId: 1n, keyOf: () => '', orderOf: async () => ORDER };
    const run = runControl(bounce, refusing, { ...request, unitsOf: async () => undefined });
    await assert.rejects(run, (error: unknown) => {
      assert.ok(error instanceof Refusal && error.code === 'malformed_field');
      assert.deepEqual(error.facts, { fields: { [name]: 'has nothing', amount: 'is no parameter of it' } });
      return true;
    });
  }
});

test('an installation without controls refuses them', async () => {
  const [pay] = CONTROLS as readonly [Control];
  const request = { wire: 'v1', values: {}, partnerId: 1n, keyOf: () => '', orderOf: async () => ORDER } as const;
  const run = runControl(pay, undefined, { ...request, unitsOf: async () => undefined });
  await assert.rejects(run, (error: unknown) => error instanceof Refusal && error.code === 'sandbox_only');
});

/** `npm run grow:measure` measures every read that the operator API declares, or says why not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEFT_OUT, operatorOperations } from '../../bench/grow/operations.ts';
import { ENDPOINTS } from '../src/protocols/operator/declared/index.ts';

const reads = ENDPOINTS.filter(({ method }) => method === 'GET').map(({ path }) => path);

test('every declared read is measured, or left out with a reason', () => {
  const measured = new Set([...operatorOperations({}).keys()].map((name) => name.split('?', 1)[0]));
  const missing = reads.filter((path) => !measured.has(path) && !(path in LEFT_OUT));
  assert.deepEqual(missing, []);
  for (const [path, why] of Object.entries(LEFT_OUT)) {
    assert.ok(reads.includes(path), `${path} is no read`);
    assert.ok(why.length > 5, path);
  }
});

test('a read is asked with values of the database, a page at a time; without a value it is not asked', () => {
  const known = new Proxy({}, { get: (_, name) => `the ${String(name)}` });
  const asked = operatorOperations(known);
  assert.equal(asked.get('/deposits'), '/deposits?limit=50');
  assert.equal(asked.get('/orders/:order/webhooks'), '/orders/the%20order/webhooks?limit=50');
  assert.equal(asked.get('/lookup?text={text}'), '/lookup?text=the%20text');
  assert.deepEqual(
    [...asked.values()].filter((path) => path === undefined),
    [],
  );
  const nothing = operatorOperations({});
  assert.equal(nothing.get('/orders/:order/webhooks'), undefined);
  assert.equal(nothing.get('/deposits'), '/deposits?limit=50');
});

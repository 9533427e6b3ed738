/** A credit that the wallet for payouts receives and that no order waits for. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { DepositRow } from '../../src/orders/deposits/store.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openSaleEnvironment } from '../support/sale.environment.ts';

let fixture: Fixture;
let sale: Awaited<ReturnType<typeof openSaleEnvironment>>;
before(async () => {
  fixture = await freshFixture();
  sale = await openSaleEnvironment(fixture);
});
after(() => fixture?.stop());

test('a credit to the wallet for payouts waits in suspense once, without a target, with a case', async () => {
  const fact: RailFact = {
    type: 'credit_unexpected',
    ...{ rail: 'evm.test', externalId: 'hash:of-a-credit', asset: 'usdc.test' },
    ...{ units: 5_000_000n, reference: '0x5', payer: '0xpayer' },
  };
  for (const _ of [1, 2]) await fixture.db.asSystem((tx) => sale.report(tx, fact));
  const rows = await fixture.db.asSystem((tx) =>
    tx.rows<Partial<DepositRow>>(
      "select units, target, state, origin, payer, why from deposits where external_id = 'hash:of-a-credit'",
      [],
    ),
  );
  assert.deepEqual(rows, [
    {
      ...{ units: 5_000_000n, target: '', state: 'suspense', origin: 'credit' },
      ...{ payer: 'unknown', why: 'unexpected_credit' },
    },
  ]);
  const cases = await fixture.db.asSystem((tx) =>
    tx.rows<{ facts: unknown }>("select facts from cases where kind = 'unexpected_credit'", []),
  );
  assert.deepEqual(cases, [{ facts: { units: '5000000', asset: 'usdc.test', reference: '0x5', payer: '0xpayer' } }]);
});

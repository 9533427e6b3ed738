/** Accounts at the provider of single sign-on, on real rows, while the master key is exchanged. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openVault } from '../../src/base/crypto.ts';
import { encryptTypedSame } from '../../src/base/typed.ts';
import { bindIdentity, createOperator } from '../../src/operators/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';

let fixture: Fixture;
before(async () => {
  fixture = await freshFixture();
});
after(async () => await fixture?.stop());

test('an account bound under the old master key is bound to nobody else under the new one', async () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  const before_ = openVault(oldKey);
  const during = openVault(newKey, oldKey);
  const now = fixture.clock.now();
  const bind = (vault: typeof during, name: string, account: string) =>
    fixture.db.asSystem(async (tx) => {
      const { id } = await createOperator(tx, { name, role: 'viewer', now });
      const value = encryptTypedSame(vault, account);
      await bindIdentity(tx, vault, { operatorId: id, issuer: 'https://sso.test', kind: 'subject', value, now });
    });
  await bind(before_, 'ines', 'sub-1');
  await assert.rejects(bind(during, 'omar', 'sub-1'), { code: 'identity_bound' });
  await bind(during, 'omar', 'sub-2');
});

/** Which destinations fit money that is refunded: the rule alone, on accounts in memory. Its stories: stories/destinations.test.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Tx } from '../../src/base/db.ts';
import { Refusal } from '../../src/base/errors.ts';
import { fitsRefund, type Outgoing, requireFits } from '../../src/orders/refunds/destinations.ts';
import type { Rail } from '../../src/rails/rail.ts';

const ACCOUNTS: Record<string, { customerId: string; fiat: string; senderOf: bigint | null }> = {
  '1': { customerId: 'ann', fiat: 'inr', senderOf: null },
  '2': { customerId: 'bob', fiat: 'inr', senderOf: null },
  '3': { customerId: 'ann', fiat: 'eur', senderOf: null },
  '4': { customerId: 'ann', fiat: 'inr', senderOf: 7n },
};
const tx = {
  row: async (_: string, [id]: readonly unknown[] = []) => ACCOUNTS[String(id)],
} as unknown as Tx;
const context = {
  rails: new Map(
    Object.entries({
      bank: { kind: 'bank', code: 'bank' },
      evm: { kind: 'chain', code: 'evm', chain: 'base', readAddress: (text: string) => text.toLowerCase() },
      bare: { kind: 'chain', code: 'bare', readAddress: (text: string) => text },
      mute: { kind: 'chain', code: 'mute', chain: 'mute' },
    }),
  ) as unknown as ReadonlyMap<string, Rail>,
};

type To = { address?: string; fiatAccountId?: bigint };
const bank: Outgoing = { rail: 'bank', asset: 'inr', customerId: 'ann' };
const chain: Outgoing = { rail: 'evm', asset: 'usdc', customerId: 'ann' };

const FITS: readonly [what: string, money: Outgoing, to: To][] = [
  ['an address in the spelling that its chain stores', chain, { address: '0xab' }],
  ['the customer’s own account in the money’s currency', bank, { fiatAccountId: 1n }],
  ['any customer’s account, for money without a customer', { ...bank, customerId: undefined }, { fiatAccountId: 2n }],
  ['the account that the deposit came from', { ...bank, customerId: undefined, depositId: 7n }, { fiatAccountId: 4n }],
];
const REFUSED: readonly [
  what: string,
  money: Outgoing,
  to: To,
  code: Refusal['code'],
  fields?: Record<string, string>,
][] = [
  [
    'an account on a chain',
    chain,
    { address: '0xab', fiatAccountId: 1n },
    'malformed_field',
    { fiatAccountId: 'must be left out: on evm there are addresses' },
  ],
  ['no address on a chain', chain, {}, 'malformed_field', { address: 'must be an address on base' }],
  ['another spelling', chain, { address: '0xAB' }, 'malformed_field', { address: 'must be an address on base' }],
  [
    'no address on a chain without a name',
    { ...chain, rail: 'bare' },
    {},
    'malformed_field',
    { address: 'must be an address on bare' },
  ],
  [
    'a rail that reads no address',
    { ...chain, rail: 'mute' },
    { address: '0xab' },
    'malformed_field',
    { address: 'must be an address on mute' },
  ],
  [
    'an address at a bank',
    bank,
    { address: '0xab', fiatAccountId: 1n },
    'malformed_field',
    { address: 'must be left out: bank pays to accounts' },
  ],
  ['no account at a bank', bank, {}, 'malformed_field', { fiatAccountId: 'is missing' }],
  ['an account that is not there', bank, { fiatAccountId: 9n }, 'unknown_account'],
  ['another customer’s account', bank, { fiatAccountId: 2n }, 'unknown_account'],
  ['an account in another currency', bank, { fiatAccountId: 3n }, 'unknown_account'],
  ['the account that another deposit came from', { ...bank, depositId: 8n }, { fiatAccountId: 4n }, 'unknown_account'],
  ['the account of a payer, for the money of an order', bank, { fiatAccountId: 4n }, 'unknown_account'],
];

describe('a refund may go to', () => {
  for (const [what, money, to] of FITS)
    test(what, async () => {
      await requireFits(context, tx, money, to);
      assert.equal(await fitsRefund(context, tx, money, to), true);
    });
});

describe('a refund may not go to', () => {
  for (const [what, money, to, code, fields] of REFUSED)
    test(what, async () => {
      await assert.rejects(requireFits(context, tx, money, to), (error) => {
        assert.ok(error instanceof Refusal);
        assert.equal(error.code, code);
        if (fields !== undefined) assert.deepEqual(error.facts, { fields });
        return true;
      });
      assert.equal(await fitsRefund(context, tx, money, to), false);
    });

  test('where the question itself fails: that is no answer', async () => {
    const lost = { row: () => Promise.reject(new Error('lost')) } as unknown as Tx;
    await assert.rejects(fitsRefund(context, lost, bank, { fiatAccountId: 1n }), /lost/);
  });
});

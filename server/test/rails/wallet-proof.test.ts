/** A wallet that is proven by typed data (EIP-712), as docs/operating/travel-rule.md shows it, and by nothing else that its key signs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { HDKey } from '@scure/bip32';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { walletText } from '../../src/compliance/travel-rule/wallets.ts';
import { evmAdapter } from '../../src/rails/evm/adapter.ts';

const OWNER = privateKeyToAccount(generatePrivateKey());
const STRANGER = privateKeyToAccount(generatePrivateKey());
const { isSignedBy, isWalletProof } = evmAdapter({
  ...{ code: 'evm.test', chain: 'test', rpcUrl: 'http://node.invalid/', chainId: 137n, finality: 10 },
  ...{ xpub: HDKey.fromMasterSeed(Buffer.alloc(32, 7)).publicExtendedKey, maxGasPrice: 1n },
});
assert.ok(isSignedBy !== undefined && isWalletProof !== undefined);

const of = { customerId: 'customer_1', rail: 'evm.test', address: OWNER.address.toLowerCase() };
const TEXT = walletText(of);
const isProof = (signature: string, { address = of.address, text = TEXT } = {}) =>
  isWalletProof(address, text, signature);

interface Parts {
  domain: { name: string; version: string; chainId?: number };
  primaryType: string;
  fields: { name: string; type: string }[];
  message: Record<string, string>;
}

/** The typed data of the operator guide, with this message. */
function documented(): Parts {
  const page = readFileSync(new URL('../../../docs/operating/travel-rule.md', import.meta.url), 'utf8');
  const { domain, primaryType, types } = JSON.parse(/```json\n(\{\n {2}"domain"[\s\S]*?)```/.exec(page)?.[1] ?? '');
  // The types of the domain follow from its fields.
  const of = types.EIP712Domain.map(({ name, type }: { name: string; type: string }) => `${type} ${name}`);
  assert.deepEqual(of, ['string name', 'string version', 'uint256 chainId']);
  return { domain, primaryType, fields: types.WalletProof, message: { statement: TEXT, wallet: OWNER.address } };
}
const proof = documented();

function signs(change: Partial<Parts>, by = OWNER): Promise<string> {
  const { fields, primaryType, ...rest } = { ...proof, ...change };
  return by.signTypedData({ ...rest, primaryType, types: { [primaryType]: fields } } as never);
}

test('typed data as documented proves the wallet, in any spelling of its address, and only for its text', async () => {
  const signature = await signs({});
  assert.equal(await isProof(signature), true);
  assert.equal(await isProof(signature, { address: OWNER.address }), true);
  assert.equal(await isProof(signature, { address: STRANGER.address }), false);
  for (const other of [
    { customerId: 'customer_2' },
    { rail: 'evm.other' },
    { address: STRANGER.address.toLowerCase() },
  ])
    assert.equal(await isProof(signature, { text: walletText({ ...of, ...other }) }), false, JSON.stringify(other));
  assert.equal(await isSignedBy(of.address, TEXT, signature), false, 'typed data counts as the signed text');
  assert.equal(await isProof(await signs({}, STRANGER)), false, "another key's signature was accepted");
});

test('a signed text proves the wallet as before, and is no typed data', async () => {
  const signature = await OWNER.signMessage({ message: TEXT });
  assert.equal(await isSignedBy(of.address, TEXT, signature), true);
  assert.equal(await isProof(signature), false);
});

test('typed data over another domain, chain, type or field is refused', async () => {
  const permit = [...proof.fields, { name: 'spender', type: 'address' }];
  const changes: Record<string, Partial<Parts>> = {
    name: { domain: { ...proof.domain, name: 'Permit' } },
    version: { domain: { ...proof.domain, version: '2' } },
    chain: { domain: { ...proof.domain, chainId: 1 } },
    'no chain': { domain: { name: proof.domain.name, version: '1' } },
    statement: { message: { ...proof.message, statement: `${TEXT} ` } },
    wallet: { message: { ...proof.message, wallet: STRANGER.address } },
    'order of the fields': { fields: proof.fields.toReversed() },
    'another field': { fields: permit, message: { ...proof.message, spender: STRANGER.address } },
    'name of the type': { primaryType: 'Permit' },
  };
  assert.equal(await isProof(await signs({})), true);
  for (const [what, change] of Object.entries(changes)) assert.equal(await isProof(await signs(change)), false, what);
});

test('what is no signature is refused and does not throw', async () => {
  const signature = await signs({});
  for (const broken of ['', '0x', '0x1b', signature.slice(0, -2), `${signature}00`, `0x${'0'.repeat(130)}`])
    assert.equal(await isProof(broken), false, broken);
});

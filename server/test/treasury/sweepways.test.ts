/** What the study of sweeps (decision 100) says of gas and of the sweeper contract, on a real node. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Chain, type Contract, call, HOT, type Owner, openChain, UNITS } from '../../../bench/sweeps/chain.ts';
import { measureGas } from '../../../bench/sweeps/gas.ts';
import { GAS_EACH } from '../../../bench/sweeps/ways.ts';
import type { Hex } from '../support/anvil.ts';

const page = readFileSync(new URL('../../../docs/decisions/0100-batched-sweeps.md', import.meta.url), 'utf8');

let chain: Chain;
let token: Contract;
let sweeper: Contract;

before(async () => {
  chain = await openChain();
  const [first] = await chain.anvil.rpc<Hex[]>('eth_accounts');
  token = await chain.deploy('GuardedToken');
  await chain.anvil.send({ to: token.address, data: call(token, 'mint', [first, 10n ** 24n]) });
  sweeper = await chain.deploySweeper();
});
after(() => chain.stop());

const authorizedBy = async (owner: Owner, chainId = chain.chainId) => {
  const signed = await chain.authorized(owner, sweeper, chainId);
  owner.nonce += 1;
  return signed;
};
const itemOf = ({ account }: Owner, units = UNITS): Hex =>
  `0x${account.address.slice(2)}${units.toString(16).padStart(24, '0')}`;
const sweeps = (owners: readonly Owner[]): Hex =>
  call(sweeper, 'sweep', [token.address, GAS_EACH, owners.map((one) => itemOf(one))]);

async function paid(count: number): Promise<Owner[]> {
  const owners = chain.owners(count);
  await chain.pay(
    token,
    owners.map(({ account }) => account.address),
  );
  return owners;
}
const left = (owners: readonly Owner[]): Promise<bigint[]> =>
  Promise.all(owners.map(({ account }) => chain.balance(token, account.address)));

test('the table of decision 100 has the gas that a batch of ten uses', async () => {
  const measured = await measureGas([10], (way, name) => name === 'plain' && !way.name.includes('CREATE2'));
  for (const { way, perDeposit } of measured) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${way} |`));
    const [first, second] = (row?.split('|')[3] ?? '').split('/').map((text) => Number(text.replaceAll(/[ ,]/g, '')));
    for (const [at, noted] of [first, second].entries()) {
      const found = perDeposit[at]?.gasByRule ?? Number.NaN;
      // A signature or an address with a zero byte more or less changes it by a few units.
      assert.ok(Math.abs(found - (noted ?? Number.NaN)) < 20, `${way}: ${noted} in the table, ${found} measured`);
    }
  }
  assert.ok(measured.length >= 4);
});

test('a deposit that cannot move does not stop the others of its batch, and the call alone does not tell', async () => {
  const owners = await paid(4);
  const [, blocked, undelegated] = owners;
  assert.ok(blocked && undelegated);
  await chain.anvil.send({ to: token.address, data: call(token, 'setBlocked', [blocked.account.address, true]) });
  await chain.anvil.mine();
  const authorizations = await Promise.all(owners.filter((one) => one !== undelegated).map((one) => authorizedBy(one)));
  await chain.mined([{ from: chain.hot, to: sweeper.address, data: sweeps(owners), authorizations }]);
  assert.deepEqual(await left(owners), [0n, UNITS, UNITS, 0n]);
});

test('nobody but the hot wallet can sweep, and nobody at all can call a deposit address', async () => {
  const [owner] = await paid(1);
  assert.ok(owner);
  const authorizations = [await authorizedBy(owner)];
  await chain.mined([{ from: chain.hot, to: HOT.address, authorizations }]);
  const move = call(sweeper, 'move', [token.address, UNITS]);
  const calls: [from: Hex, to: Hex, data: Hex][] = [
    [token.address, sweeper.address, sweeps([owner])],
    [token.address, owner.account.address, move],
    [HOT.address, owner.account.address, move],
    [HOT.address, owner.account.address, sweeps([owner])],
  ];
  for (const [from, to, data] of calls)
    await assert.rejects(chain.anvil.rpc('eth_call', [{ from, to, data }, 'latest']), /revert/);
  assert.deepEqual(await left([owner]), [UNITS]);
});

test('an authorization for another chain or another nonce delegates nothing', async () => {
  const [elsewhere, later] = chain.owners(2);
  assert.ok(elsewhere && later);
  later.nonce = 1;
  const authorizations = [await authorizedBy(elsewhere, chain.chainId + 1), await authorizedBy(later)];
  await chain.mined([{ from: chain.hot, to: HOT.address, authorizations }]);
  for (const { account } of [elsewhere, later]) assert.equal(await chain.codeOf(account.address), '0x');
});

test('an authorization that others submit first changes nothing: its batch moves the tokens all the same', async () => {
  const [owner] = await paid(1);
  assert.ok(owner);
  const authorizations = [await authorizedBy(owner)];
  const [thief] = chain.owners(1);
  assert.ok(thief);
  await chain.anvil.rpc('anvil_setBalance', [thief.account.address, '0xde0b6b3a7640000']);
  await chain.mined([{ from: thief, to: HOT.address, authorizations }]);
  await chain.mined([{ from: chain.hot, to: sweeper.address, data: sweeps([owner]), authorizations }]);
  assert.deepEqual(await left([owner]), [0n]);
});

test('a delegated address accepts the native asset, but not from a sender that offers exactly 21,000 gas', async () => {
  const [owner] = chain.owners(1);
  assert.ok(owner);
  await chain.mined([{ from: chain.hot, to: HOT.address, authorizations: [await authorizedBy(owner)] }]);
  const to = owner.account.address;
  const given = (gas: string) => chain.anvil.rpc('eth_call', [{ from: HOT.address, to, value: '0x1', gas }, 'latest']);
  await assert.rejects(given('0x5208'), /gas/i);
  assert.equal(await given('0x5300'), '0x');
  const estimate = await chain.anvil.rpc<Hex>('eth_estimateGas', [{ from: HOT.address, to, value: '0x1' }]);
  assert.ok(Number(estimate) < 21_200, `${Number(estimate)} gas`);
});

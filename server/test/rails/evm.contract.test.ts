/** The EVM family against the contract of rails, on a real node for each claim. */
import { createHash, randomBytes } from 'node:crypto';
import { after, before } from 'node:test';
import { HDKey } from '@scure/bip32';
import { randomHex } from '../../src/base/ids.ts';
import { watchAddress } from '../../src/rails/chain.ts';
import { evmRail, localSigner } from '../../src/rails/evm/index.ts';
import type { RailFact } from '../../src/rails/rail.ts';
import { testRail } from '../contracts/rail.ts';
import { data, deployToken, startAnvil } from '../support/anvil.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { openRows, type Rows } from '../support/rows.ts';
import { targetOf } from '../support/targets.ts';

const FINALITY = 10;
const ETHER = 10n ** 18n;
/** Of the order that a claim pays. */
const INDEXES = [7n, 8n];

let fixture: Fixture;
let rows: Rows;
let worlds = 0;

before(async () => {
  fixture = await freshFixture();
  rows = await openRows(fixture.adminUrl);
});
after(async () => {
  await rows.close();
  await fixture.stop();
});

testRail('evm', async () => {
  worlds += 1;
  const anvil = await startAnvil();
  const token = await deployToken(anvil);
  const chain = `contract${worlds}`;
  const [asset, code] = [`usdc.${chain}`, `evm.${chain}`];
  await rows.cryptoAsset(asset, chain, token);
  await rows.cryptoAsset(`eth.${chain}`, chain, null, 18);
  await rows.policy(chain, asset, 0n, 2);

  const facts: RailFact[] = [];
  const limits = {
    chainId: anvil.chainId,
    allowedContracts: { [token]: 10n ** 12n },
    maxNativeUnitsPerTransfer: ETHER,
    maxFeeUnits: ETHER,
  };
  const rail = evmRail(
    {
      ...{ code, chain, rpcUrl: anvil.url, chainId: anvil.chainId, finality: FINALITY },
      xpub: HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'/0").publicExtendedKey,
      signers: { hot: localSigner(`0x${randomHex(32)}`, limits), faucet: localSigner(`0x${randomHex(32)}`, limits) },
      maxGasPrice: 500n * 10n ** 9n,
      pace: { lowerBranchMs: 0, nativeEveryMs: 0, idleMs: 0, rebroadcastMs: 0 },
    },
    {
      ...fixture,
      // Opening balances of the wallets.
      report: async (_, fact) => void (fact.type === 'credit_unexpected' || facts.push(fact)),
    },
  );
  for (const address of Object.values(rail.walletAddresses)) {
    await anvil.rpc('anvil_setBalance', [address, `0x${(100n * ETHER).toString(16)}`]);
    await anvil.send({ to: token, data: data('mint(address,uint256)', address, 10n ** 12n) });
  }
  const look = async () => {
    while ((await rail.observe()).againInMs === 0);
  };
  await anvil.mine();
  await look();

  let isDark = false;
  const ownerOf = (key: string) => `0x${createHash('sha1').update(`${code} ${key}`).digest('hex')}`;
  return {
    rail,
    facts,
    sending: (key) => ({ key, asset, units: 5n, destination: { kind: 'address', address: ownerOf(key) } }),
    async effects(key) {
      await anvil.mine();
      const held = await anvil.rpc<string>('eth_call', [
        { to: token, data: data('balanceOf(address)', ownerOf(key)) },
        'latest',
      ]);
      return Number(BigInt(held) / 5n);
    },
    async pays(target) {
      const index = INDEXES.find((one) => targetOf(rail, one) === target) ?? 0n;
      const order = await rows.order(asset, code, target);
      await fixture.db.asSystem((tx) => watchAddress(tx, { rail: code, address: target, index, ...order }));
      await anvil.send({ to: token, data: data('mint(address,uint256)', target, 3n) });
    },
    async settles() {
      await anvil.mine(FINALITY + 1);
      await look();
    },
    async goesDark() {
      isDark = true;
      await anvil.stop();
    },
    stop: async () => void (isDark || (await anvil.stop())),
  };
});

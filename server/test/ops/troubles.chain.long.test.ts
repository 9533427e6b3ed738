/** Incidents at chain and bank: a deep reorg that reverses a sweep, and an unexplained debit; played and shown on pages. */
import assert from 'node:assert/strict';
import pg from 'pg';
import { formatUnits } from '../../src/base/money.ts';
import { chart } from '../../src/ledger/index.ts';
import type { ChainRail } from '../../src/rails/chain.ts';
import { openItems, reconcileRail } from '../../src/reconcile/index.ts';
import { setMinimum } from '../../src/treasury/index.ts';
import { pagesOf } from '../support/transcript.ts';

const RAIL = 'evm.matic20';
const USDC = 'usdc.matic20';

const plays = pagesOf();

plays('deep-reorg-with-sweep', 'A reorg deeper than final, with a sweep in it', async (scene) => {
  const { world, names, says, types } = scene;
  const rail = world.server.rails.get(RAIL) as ChainRail;
  const compared = () => reconcileRail({ db: world.server.db, clock: world.clock, graceMs: 0 }, rail, 'begin');
  const sale = await world.sells('40', 'usdc');
  scene.named(sale);
  says(
    'A customer sells 40 usdc and is paid. Then a sweep moves the coins from the deposit address to the hot wallet.',
  );
  await types('npm run sandbox -- pay <order>');
  await world.mines(3);
  await world.reaches(sale, 6);
  await world.read((tx) => setMinimum(tx, USDC, 1_000_000n));
  world.clock.advance(600_000);
  const sweep = await world.until('it is swept', async () => {
    await world.mines(3);
    return await world.read((tx) =>
      tx.row<{ key: string; reference: `0x${string}` }>(
        `select key, reference from own_transfers where kind = 'sweep' and booked_at is not null and units = 40000000`,
      ),
    );
  });
  names.sweep = sweep.key;
  says(`In the sandbox a block is final after 12 others. Now its node drops more blocks than that, and the sweep with them. A chain does this in
a bad fork, and a node does it when it is reset to an older state.`);
  await world.blocksWait(async () => {
    await world.reorgsAway({ hash: sweep.reference, raw: '0x', chain: 'matic20' });
    await world.mines(14);
    await world.until('the chain has stopped by itself', async () => {
      await world.mines(1);
      return await world.read(
        async (tx) => (await tx.rows(`select from cases where kind = 'rail_halted' and closed_at is null`)).length > 0,
      );
    });
  });
  // The log has to contain an error about it.
  const loud = world.complaints.findIndex((line) => line.includes('a reorg deeper than'));
  assert.notEqual(loud, -1, 'the log has no line about the reorg');
  world.complaints.splice(loud, 1);
  await scene.caseOpens('rail_halted');
  says('The server halted the chain by itself. It reads nothing from it and sends nothing.');
  await types('npm run operator -- cases');
  await types('npm run operator -- case <case>');
  says(`Finn compares the newest block with a public explorer: the node is on the same chain as everybody else. So finn clears the halt, and the
server reads again from below the block that was final when it halted.`);
  await types(
    `npm run operator -- rail clear ${RAIL} --restart true --reason 'the explorer shows the same newest block'`,
  );
  const found = await world.until('the break is found', async () => {
    await world.mines(1);
    await compared();
    const items = await world.read((tx) => openItems(tx, RAIL));
    // The sweep in both wallets, and the gas that is seen at the address again.
    return items.length === 4 && items.every(({ transit }) => transit === null) && items;
  });
  const item = found.find(({ key, asset, wallet }) => key === sweep.key && asset === USDC && wallet === 'hot');
  names.break = String(item?.id);
  says('Reconciliation finds what the books have and the chain no longer has.');
  await types(`npm run operator -- breaks --rail ${RAIL}`);
  await types('npm run reconcile', 1);
  says(`The reorg undid the sweep: the coins are at the deposit address again. Two operators reverse the sweep's entry in both wallets. The server
broadcasts the same bytes again, so the coins cannot move twice.`);
  await scene.bothDo(
    `npm run operator -- break correct <break> sweep_undone 40 <sweep> --reason 'the reorg reversed it'`,
    'compared with the explorer',
  );
  await world.until('it is swept again', async () => {
    await world.mines(3);
    return (await world.balance(chart.custody(RAIL, 'deposits', USDC))).units === 0n;
  });
  const dust = await world.until('only the coin for gas is left', async () => {
    await world.mines(1);
    await compared();
    const items = await world.read((tx) => openItems(tx, RAIL));
    const [item] = items;
    return items.length === 1 && item?.transit === null && item.key.startsWith('native:') && item;
  });
  says(`The sweep is mined and booked again. One item is left: while the sweep was undone, the server booked the native asset for gas at the address
as a customer's, and the sweep has used it since. Two operators correct it as dust.`);
  await types(`npm run operator -- breaks --rail ${RAIL}`);
  names.dust = dust.id === undefined ? '' : String(dust.id);
  names.native = dust.key;
  names.difference = formatUnits(dust.ledgerUnits - dust.outsideUnits, 18);
  await scene.bothDo(
    `npm run operator -- break correct <dust> dust <difference> <native> --reason 'gas of the sweep that was undone'`,
    'gas, by its address',
  );
});

plays(
  'unexplained-debit',
  "A debit at the bank that no payout explains, and it was the bank's own charge",
  async (scene) => {
    const { world, says, types } = scene;
    says('A bank statement shows a debit of 125 rupees. None of our payouts has this amount or this reference.');
    const bank = new pg.Client({ connectionString: world.adminUrl });
    await bank.connect();
    await bank.query(
      `insert into simulated_bank.lines (seq, id, direction, currency, units, reference, booked_at)
     select max(seq) + 1, 'quarterly-fee', 'debit', 'INR', 12500, 'FEES Q4', now() from simulated_bank.lines`,
    );
    await bank.end();
    await world.looksAtTheBank();
    await scene.caseOpens('unexplained_debit');
    says('An alert calls finn: this may be theft. The books show the debit as a loss until its cause is known.');
    await types('npm run operator -- cases');
    await types('npm run operator -- case <case>');
    says('Nothing else is unexplained. Finn switches off the bank and asks it: no more money leaves there meanwhile.');
    await types(`npm run operator -- kill-switch set rail bank.simulated --reason 'a debit that nobody ordered'`);
    await types('npm run operator -- kill-switches');
    says(
      'The bank answers that this is its quarterly charge, and sends the tariff. Two operators book the loss as a cost.',
    );
    await scene.bothDo(
      `npm run operator -- case correct <case> fee 125 'FEES Q4' --reason 'charge of the quarter, by the tariff of the bank'`,
      'read the tariff',
    );
    await types(`npm run operator -- kill-switch lift rail bank.simulated --reason 'it was a charge of the bank'`);
    await types('npm run operator -- case <case>');
  },
);

/**
 * Plays docs/operating/when-money-is-stuck.md: each incident happens to a real server, the commands of the page are run at a real
 * terminal, and their output must be the one that the page shows.
 *
 * UPDATE_TRANSCRIPT=1 writes the page again. Values that differ between runs are replaced with placeholders of the same length, so
 * that columns stay aligned.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Purchase, Sale, Story } from '../support/story.ts';
import { comparable, openStage, REWRITE, type Stage, type StandIns } from '../support/transcript.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PAGE = `${ROOT}docs/operating/when-money-is-stuck.md`;
const page = readFileSync(PAGE, 'utf8');

let stage: Stage;
let world: Story;
let shows: StandIns;
/** Names that the page uses in the current incident. */
let names: Record<string, string> = {};

before(async () => {
  stage = await openStage({ finn: 'finance', ada: 'admin' }, { bankDeduplicates: false });
  world = stage.world;
  shows = stage.standIns();
});
after(async () => await stage?.world.close());

/** For each incident, the events before each block of commands of its section. */
const TROUBLES: Record<string, (() => Promise<void>)[]> = {};
const play = (section: string, scenes: (() => Promise<void>)[]) => {
  TROUBLES[section] = scenes;
};
const nothing = async () => {};

// What happens.

let order: Sale | Purchase;

async function paid(amount: string, how: Parameters<Story['sells']>[2] = {}): Promise<Sale> {
  const sale = await world.sells(amount, 'usdc', how);
  order = sale;
  await world.pays(sale, amount);
  await world.mines(2);
  names = { order: String(sale.id), customer: sale.customerId };
  return sale;
}

/** The id of the case of this kind. */
async function caseOpens(kind: string): Promise<void> {
  const id = await world.until(`there is an open case ${kind}`, async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>('select id from cases where kind = $1 and closed_at is null', [kind]),
    );
    return row?.id;
  });
  names.case = String(id);
}
async function casesClosed(): Promise<void> {
  let open: unknown[] = [];
  try {
    await world.until('no case is open', async () => {
      open = await world.read((tx) => tx.rows('select kind, subject, reason from cases where closed_at is null'));
      return open.length === 0;
    });
  } catch {
    assert.deepEqual(open, []);
  }
}
const isIn = (state: string) =>
  world.until(`the order is ${state}`, async () => (await world.stateOf(order)) === state);

async function newAccount(customerId: string): Promise<void> {
  const { fiatAccountId = '' } = await world.told('bank/addFiatAccount', {
    customerId,
    fiatAccount: '000177770000',
    ifsc: 'HDFC0000001',
  });
  names.account = fiatAccountId;
}

play('The treasury is short', [
  async () => {
    await world.setsAside('inr', 0n);
    await paid('100');
    await caseOpens('treasury_short');
  },
  nothing,
  async () => {
    await world.bank.fund({ currency: 'INR', units: 1_000_000_000_00n, id: 'from the reserve' });
    await isIn('settled');
    await casesClosed();
  },
]);

play('A bank that lost its answer', [
  async () => {
    await world.bank.setFault({ kind: 'lose_answer_before_effect' });
    await world.bank.setFault({ kind: 'status_unavailable', times: 1_000 });
    await paid('100');
    await world.until('nobody knows what became of it', async () => {
      const { payouts } = await world.traceOf(order);
      return payouts.some(({ state }) => state === 'unknown');
    });
    world.clock.advance(16 * 60_000);
    await caseOpens('payout_unknown');
  },
  nothing,
  async () => {
    await world.bank.clearFaults();
    // Waits out the minute in which bytes may still be under way.
    await world.read((tx) =>
      tx.run(`update payouts set submitting_until = submitting_until - interval '2 minutes' where state = 'unknown'`),
    );
    world.clock.advance(5 * 60_000);
    await isIn('settled');
    await casesClosed();
    const payments = (await world.bank.payments()).filter(({ key }) => key.startsWith(`pay_${order.id}_`));
    assert.deepEqual(
      payments.map(({ key, state }) => [key, state]),
      [[`pay_${order.id}_2`, 'settled']],
      'paid once',
    );
  },
]);

play('A payout that bounced', [
  async () => {
    await paid('100', { customer: await world.verifiedCustomer({ ending: '9002' }) });
    await caseOpens('payout_returned');
  },
  async () => await newAccount(order.customerId),
  async () => {
    await casesClosed();
    await world.until('it is paid again', async () => {
      await world.looksAtTheBank();
      const { payouts } = await world.traceOf(order);
      return payouts.at(-1)?.state === 'settled' && payouts.length === 2;
    });
  },
]);

play('An unknown credit', [
  async () => {
    const customer = await world.verifiedCustomer();
    const purchase = await world.buys('5000', 'usdc', { customer });
    order = purchase;
    await world.credits(purchase, '5000', { text: 'for my coins' });
    names = { order: String(purchase.id), account: customer.fiatAccountId };
    await caseOpens('deposit_unknown_target');
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>(`select id from deposits where state = 'suspense' and order_id is null`),
    );
    names.deposit = String(row?.id);
  },
  async () => {
    await world.deadlinePasses();
    await isIn('expired');
  },
  async () => {
    const refund = await world.until('it is paid back', async () => {
      await world.looksAtTheBank();
      const [row] = await world.read((tx) =>
        tx.rows<{ id: bigint; key: string }>(
          `select id, key from refunds where deposit_id = $1 and state = 'settled'`,
          [names.deposit],
        ),
      );
      return row;
    });
    names.refund = String(refund.id);
    await casesClosed();
  },
]);

play('A deposit that a reorg reversed', [
  async () => {
    await world.confirmsAfter('usdc.matic20', 2);
    const sale = await world.sells('100', 'usdc', { reference: 'screen:hold' });
    order = sale;
    names = { order: String(sale.id), address: world.newAddress() };
    const payment = await world.pays(sale, '100');
    await world.mines(2);
    await isIn('on_hold');
    await world.reorgsAway(payment);
    await caseOpens('deposit_lost');
  },
  nothing,
  nothing,
  casesClosed,
]);

async function types(line: string): Promise<string> {
  const { printed } = await stage.types(line, names);
  const proposal = /confirm (\d+)|proposal +(\d+)/.exec(printed);
  if (proposal !== null) names.proposal ??= proposal[1] ?? proposal[2] ?? '';
  return shows(printed);
}

let rewritten = page;
for (const [, title = '', body = ''] of page.matchAll(/^## (.+)\n([^]*?)(?=^## |$(?![^]))/gm)) {
  test(`${title}: the page shows what happens`, async () => {
    const blocks = [...body.matchAll(/```console\n([^]*?)```/g)].map(([block]) => block);
    const scenes = TROUBLES[title] ?? assert.fail('no incident with this title is played');
    const shown: string[] = [];
    for (const [at, block] of blocks.entries()) {
      await scenes[at]?.();
      const lines = [];
      for (const [, line = ''] of block.matchAll(/^\$ (.*)$/gm)) lines.push(`$ ${line}`, await types(line), '');
      shown.push(['```console', ...lines.slice(0, -1), '```'].join('\n'));
    }
    if (REWRITE) {
      for (const [at, block] of blocks.entries()) rewritten = rewritten.replace(block, () => shown[at] ?? '');
      writeFileSync(PAGE, rewritten);
    } else assert.deepEqual(blocks.map(comparable), shown.map(comparable));
  });
}

test('every incident that is played is on the page', () => {
  assert.deepEqual(
    [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title),
    Object.keys(TROUBLES),
  );
});

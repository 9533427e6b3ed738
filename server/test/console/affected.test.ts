/** The orders that a change of a fee affected, from the list of changes: each with its difference, and the difference of the whole. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import type { Came } from '../support/client.ts';
import { openStory, type Story } from '../support/story.ts';
import { type Desk, deskOf, isGood } from './window.ts';

describe('a change of a fee that was wrong', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let page: Page;
  let market = '';

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    const where = { db: world.server.db, baseUrl: world.server.baseUrl, clock: world.clock };
    ada = await deskOf(browser, origin, where, 'ada');
    page = ada.page;
    // An order of before the change, which it does not affect, names the market.
    await world.sells('10', 'usdc');
    market = (await ada.person.reads('/orders?limit=1')).body.orders[0].marketId;
    const bea = await operatorNamed(where, 'bea', 'admin');
    const said = (await ada.person.does(`/markets/${market}/fees`, { kind: 'operator', bps: 500 })).body;
    if (said.proposal !== undefined) await bea.does(`/proposals/${said.proposal}/confirm`);
    const { fees } = (await ada.person.reads(`/markets/${market}`)).body;
    assert.equal(String(fees.find(({ kind }: Came) => kind === 'operator').bps), '500');
    world.clock.advance(1_000);
    const settled = await world.sells('100', 'usdc');
    await world.pays(settled, '100');
    await world.mines(2);
    await world.reaches(settled, 6);
    await world.sells('50', 'usdc');
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const row = (name: string) =>
    page.getByRole('region', { name: 'Difference of the whole' }).getByRole('row', { name });

  test('leads to its orders, with the difference of those that are charged and of those under way', async () => {
    await page.goto(`${origin}/console/changes?what=fee`);
    await page.getByRole('link', { name: 'fee operator' }).first().click();
    await page.getByRole('link', { name: 'Orders that it affected' }).click();
    await page.getByRole('heading', { level: 1, name: 'Affected orders' }).waitFor();
    await row('Charged already').waitFor();
    const query = Object.fromEntries(new URL(page.url()).searchParams);
    const { charged, promised, orders } = (await ada.person.reads(`/reports/affected?${new URLSearchParams(query)}`))
      .body;
    assert.deepEqual([charged.orders, promised.orders, orders.length], [1, 1, 2]);
    assert.ok(Number(charged.difference) > 0, 'the higher fee took nothing more');
    const shown = async (name: string) => (await row(name).innerText()).replaceAll(/[^0-9.]+/g, ' ');
    for (const [name, sum] of [
      ['Charged already', charged],
      ['Under way', promised],
    ] as const)
      for (const amount of [sum.was, sum.other, sum.difference])
        assert.ok(
          (await shown(name)).replaceAll(' ', '').includes(amount),
          `${name} lacks ${amount}: ${await row(name).innerText()}`,
        );
    await isGood(page, 'Affected orders');
  });

  test('is compared with another fee by its fixed part and its minimum, too', async () => {
    await page.getByLabel('Before change').fill('');
    await page.getByLabel('Another fee').selectOption('operator');
    await page.getByLabel('Its fixed part').fill('20');
    await page.getByLabel('Its minimum').fill('30');
    await page.keyboard.press('Enter');
    await page.getByText('fee operator, fixed 20, bps 0, minimum 30').waitFor();
    const query = new URL(page.url()).searchParams;
    assert.deepEqual([query.get('fixed'), query.get('minimum'), query.get('change')], ['20', '30', null]);
    assert.match(await row('Charged already').innerText(), /\b30\b/);
  });

  test('asks no other origin, and runs into no policy and no error', () => {
    assert.deepEqual(ada.amiss, []);
  });
});

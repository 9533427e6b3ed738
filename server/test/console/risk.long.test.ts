/**
 * Risk of addresses and the travel rule at the console, in a real browser: a hit with the answers of the provider is decided by
 * people, a rule is set by two, and names of a transfer are shown only once they were opened with a reason.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { trp } from '../../src/compliance/travel-rule/protocols/trp/index.ts';
import { buildConsole } from '../../src/console/index.ts';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import type { Came } from '../support/client.ts';
import { openStory, type Purchase, type Story } from '../support/story.ts';
import { openV1 } from '../support/v1.ts';
import { type Desk, deskOf, formOn, isGood } from './window.ts';

const SETTINGS = {
  ADDRESS_RISK: 'simulated',
  ...{ TRAVEL_PROTOCOL: 'trp', TRP_LEGAL_NAME: 'A Ramp Ltd', TRP_ASSETS: 'usdc.matic20=dti:4H95J0R2X' },
};
/** A provider where nobody listens. */
const NOBODY = '127.0.0.1:19';

describe('address risk and the travel rule in the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };
  let page: Page;
  let risky: Purchase;
  let hit: Came;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two', settings: SETTINGS });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    ada = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'ada');
    bea = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'bea');
    page = ada.page;
    risky = await world.buys('5000', 'usdc', { address: `${world.newAddress().slice(0, -4)}bad4` });
    await world.credits(risky, '5000');
    await world.opensCase(risky, 'on_hold');
    hit = await world.until('there is a hit', async () => (await ada.person.reads('/address-risk/hits')).body.hits[0]);
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const goes = (path: string, on = page) => on.goto(`${origin}/console${path}`);
  const heading = (name: string, on = page) => on.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const confirms = async (reason: string) => {
    await goes('/proposals', bea.page);
    await bea.page.locator('main a[data-row]').first().click();
    await bea.page.getByRole('button', { name: /^Confirm/ }).waitFor();
    await bea.page.keyboard.press('y');
    await formOn(bea.page).sends(reason);
    await bea.page.getByText('The server says: done.').waitFor();
  };

  test('a hit is listed, shows what the provider said, and two people accept the risk', async () => {
    await goes('/address-risk');
    await heading('Address risk');
    await page.getByText('belongs to a sanctioned entity').waitFor();
    await isGood(page, 'Address risk');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await heading(`Address hit ${hit.id}`);
    await page.getByRole('region', { name: 'Answers' }).getByText('severe', { exact: true }).first().waitFor();
    await isGood(page, `Address hit ${hit.id}`, 'Address hit');
    await page.getByRole('button', { name: 'Accept the risk' }).click();
    await formOn(page).sends('the customer has shown where it is from');
    await page.getByText('Nothing is done yet.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('ada proposed to accept the risk').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Accept the risk' }).count(), 0);
    assert.equal((await ada.person.reads('/address-risk/hits')).body.hits.length, 1, 'one person accepted it');
    await confirms('seen');
    await page.getByText('bea', { exact: false }).first().waitFor();
    const { hits } = (await ada.person.reads('/address-risk/hits?state=false_positive')).body;
    assert.deepEqual(hits[0].people.toSorted(), ['ada', 'bea']);
    await goes('/address-risk?state=false_positive');
    await page.getByRole('link', { name: String(hit.id), exact: true }).waitFor();
  });

  test('a risk that was accepted is confirmed by one, and nothing is left to decide', async () => {
    await goes(`/address-risk/${hit.id}`);
    await page.getByRole('button', { name: 'Confirm', exact: true }).click();
    await formOn(page).sends('it is real after all');
    await formOn(page).isDone();
    await page.getByText('Nothing is left to decide.').waitFor();
    await goes('/address-risk/999');
    await page.getByText('There is no such hit.').waitFor();
  });

  test('a rule is set by two; the wallet that an order waits for, and then its names, are opened with a reason', async () => {
    await goes('/travel-rules');
    await heading('Travel rule');
    await page.getByText('No travel rule is set').waitFor();
    await page.getByRole('button', { name: 'Set a rule' }).click();
    const { dialog, sends, isConfirmedBy } = formOn(page);
    for (const [label, value] of [
      ['Country', '*'],
      ['Fiat', 'inr'],
      ['From', '4000'],
      ['Hours to wait', '2'],
    ] as const)
      await dialog().getByLabel(label, { exact: true }).fill(value);
    await dialog().getByLabel('At the deadline').selectOption('hold');
    await dialog().getByLabel('Exchange').selectOption('required');
    await sends('as the law of the country asks');
    await isConfirmedBy(bea.page, 'travel.set', 'travel_rule:*:inr');
    await page.getByText('every other').first().waitFor();
    await page.getByText('No provider is set: no data is exchanged').waitFor();
    await page.getByRole('button', { name: 'Set a provider' }).click();
    await dialog().getByLabel('Host', { exact: true }).fill(NOBODY);
    await dialog().getByLabel('Legal name').fill('An Exchange Ltd');
    await sends('its due diligence is done');
    await isConfirmedBy(bea.page, 'travel.provider', `travel_provider:${NOBODY}`);
    await page.getByText('An Exchange Ltd').waitFor();
    await isGood(page, 'Travel rule');

    const customer = await world.verifiedCustomer();
    await world.read(async (tx) => {
      const found = await findCustomer(tx, customer.id);
      const details = { firstName: 'Zebulon', lastName: 'Quagmire', dob: '1990-01-31' };
      await saveDetails(tx, world.server.vault, { customer: found, details, now: world.clock.now() });
    });
    const owner = privateKeyToAccount(generatePrivateKey());
    const order = await world.buys('5000', 'usdc', { address: owner.address.toLowerCase(), customer });
    await world.credits(order, '5000', { name: 'Zebulon Quagmire' });
    await world.until('it waits', async () => /travel rule/.test((await world.traceOf(order)).next));
    await goes(`/orders/${order.id}`);
    const panel = page.getByRole('region', { name: 'Travel rule' });
    await panel.getByRole('button', { name: 'Look at the data' }).click();
    await sends('the partner asks');
    await panel.getByText('the partner has not named the wallet').waitFor();
    const [keys] = world.server.sandbox.partners;
    assert.ok(keys);
    const api = openV1(world.server.baseUrl, keys);
    const names = (body: object) =>
      api.does('POST', `/orders/${order.id}/wallets`, {
        kind: 'self_hosted',
        owner: 'customer',
        address: owner.address,
        ...body,
      });
    await names({});
    await world.reaches(order, 4);
    await goes(`/orders/${order.id}`);
    assert.equal(await page.getByText('Quagmire').count(), 0, 'a name is shown before it was opened');
    await panel.getByRole('button', { name: 'Look at the data' }).click();
    await sends('the partner asks again');
    await panel.getByText('Quagmire').first().waitFor();
    assert.doesNotMatch(page.url(), /quagmire/i);
    await isGood(page, `Order ${order.id}`, 'Order, travel rule');

    // At a provider that does not answer.
    const hosted = await world.buys('5100', 'usdc', { address: world.newAddress().toLowerCase(), customer });
    await world.credits(hosted, '5100', { name: 'Zebulon Quagmire' });
    await world.until('it waits', async () => /travel rule/.test((await world.traceOf(hosted)).next));
    const context = { ask: () => assert.fail('it asks nobody'), deadlineMs: 1, plain: true };
    const travelAddress = trp.create({ assets: new Map() }, context).addressOf(`http://${NOBODY}/x/1`);
    await api.does('POST', `/orders/${hosted.id}/wallets`, {
      ...{ kind: 'hosted', owner: 'customer', provider: 'An Exchange Ltd', address: hosted.address, travelAddress },
    });
    await world.until('it was asked', async () =>
      world.read((tx) => tx.row('select 1 from travel_exchanges where failure is not null', [])),
    );
    await goes(`/orders/${hosted.id}`);
    await panel.getByRole('button', { name: 'Look at the data' }).click();
    await sends('the provider does not answer');
    await panel.getByText('the provider of the wallet has not answered').waitFor();
    await panel.getByText(NOBODY).waitFor();
    await panel.getByText('The last try failed').waitFor();
    await isGood(page, `Order ${hosted.id}`, 'Order, travel rule asked');
    assert.deepEqual([...ada.amiss, ...bea.amiss], []);
  });
});

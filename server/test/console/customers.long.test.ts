/**
 * Sanctions hits, customers, their limits, operators and rules in a real browser: personal data is shown after a reason and in no
 * URL, actions for two people are done by two operators in two browsers, and other people's texts stay texts.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { grouped } from '../../../console/src/format.ts';
import { buildConsole } from '../../src/console/index.ts';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { operatorNamed, type Person, takes } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import type { Came } from '../support/client.ts';
import { openStory, type Story, type StoryCustomer } from '../support/story.ts';
import { type Desk, enrol, isGood, openDesk, signIn } from './window.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';
const IN_XML = SCRIPT.replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const OLDER_THAN_ALLOWED_MS = 315_360_000_000 + 60_000;

const LIST = `<Designations><Designation><UniqueID>XXX0001</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
  <Names><Name><Name1>Taras Ilyich</Name1><Name6>ORLENKOV</Name6><NameType>Primary Name</NameType></Name>
  <Name><Name1>The Eagle</Name1><Name6>${IN_XML}</Name6><NameType>Alias</NameType><AliasStrength>Low quality a.k.a</AliasStrength></Name></Names>
  <IndividualDetails><Individual><DOBs><DOB>dd/mm/1989</DOB></DOBs></Individual></IndividualDetails></Designation>
  <Designation><UniqueID>XXX0002</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
  <Names><Name><Name1>Harun Mustafa</Name1><Name6>KHAYALI</Name6><NameType>Primary Name</NameType></Name></Names></Designation></Designations>`;

describe('screening, customers, limits and operators in the console', { skip: noChromium }, () => {
  let world: Story;
  let dir: string;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };
  let page: Page;
  let customer: StoryCustomer;
  let payer: StoryCustomer;
  /** Numbers of their hits. */
  let [named, paid] = ['', ''];

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    dir = mkdtempSync(join(tmpdir(), 'sanctions-'));
    writeFileSync(join(dir, 'uk.xml'), LIST);
    world = await openStory({ operators: 'two', settings: { SANCTIONS_LISTS: `uk=${join(dir, 'uk.xml')}` } });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    await world.read((tx) => takes(tx, 1, { right: 'terms' }));
    await world.read((tx) => takes(tx, 3, { right: 'money', asset: 'inr', above: 123_456_700n }));
    browser = await startChromium();
    ada = await desk('ada');
    bea = await desk('bea');
    page = ada.page;
    await world.until('the list is read', async () => {
      const { lists } = (await ada.person.reads('/sanctions/lists')).body;
      return lists.length === 1;
    });
    const across = { fiat: 'inr', level: 5, per: 'day' };
    for (const [more, reason] of [
      [{ max: '90000.5' }, 'the first'],
      [{ max: '80000' }, SCRIPT],
      [{ per: 'order', max: '50000' }, 'as the bank wants it'],
    ] as const)
      assert.equal((await ada.person.does('/customer-limits', { ...across, ...more, reason })).status, 200);
    customer = await world.verifiedCustomer();
    await world.read(async (tx) => {
      const found = await findCustomer(tx, customer.id);
      const details = { firstName: 'Taras', lastName: 'Orlenkov', dob: '1990-01-31' };
      await saveDetails(tx, world.server.vault, { customer: found, details, now: world.clock.now() });
    });
    const sale = await world.sells('32', 'usdc', { customer });
    await world.pays(sale, '32');
    await world.mines(2);
    await world.opensCase(sale, 'on_hold');
    payer = await world.verifiedCustomer();
    const bought = await world.buys('5000', 'usdc', { customer: payer });
    await world.credits(bought, '5000', { name: 'HARUN KHAYALI' });
    [named, paid] = [await hitOf(customer), await hitOf(payer)];
    for (const { page: their, person } of [ada, bea]) {
      await their.goto(`${origin}/console/`);
      await enrol(their, person.token);
      await signIn(their, person.name);
    }
  });
  after(async () => {
    await browser?.close();
    await world?.close();
    if (dir !== undefined) rmSync(dir, { recursive: true });
  });

  async function desk(name: string): Promise<Desk & { person: Person }> {
    const { db, baseUrl } = world.server;
    const person = await operatorNamed({ db, baseUrl, clock: world.clock }, name, 'admin');
    return { ...(await openDesk(browser, origin)), person };
  }
  const goes = (path: string, at = page) => at.goto(`${origin}/console${path}`);
  const heading = (name: string, at = page) => at.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const hitOf = async ({ id }: StoryCustomer): Promise<string> =>
    String(
      await world.until('there is a hit', async () => {
        const { hits } = (await ada.person.reads('/sanctions/hits')).body;
        return hits.find(({ customerId }: Came) => customerId === id)?.id;
      }),
    );
  const hitNow = async (id: string, state: string): Promise<Came> =>
    (await ada.person.reads(`/sanctions/hits?state=${state}`)).body.hits.find((one: Came) => String(one.id) === id);
  const done = () => page.getByText('The server says: done.').waitFor();

  /** Clicks its button in the open dialog, with a reason. */
  async function sends(button: string, reason: string, at = page): Promise<void> {
    await at.getByLabel('Reason').fill(reason);
    await at.getByRole('dialog').getByRole('button', { name: button, exact: true }).click();
  }

  test('hits are listed with filters in the URL, beside the state of each list', async () => {
    await goes('/');
    await heading('What needs a person');
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await heading('Screening');
    await page.getByRole('link', { name: customer.id }).waitFor();
    await page.getByText('up to date', { exact: true }).waitFor();
    assert.equal(await page.getByText(/orlenkov|khayali/i).count(), 0, 'a name is shown before the hit was opened');
    await isGood(page, 'Screening');
    await page.getByLabel('State').selectOption('false_positive');
    await page.waitForURL(/\?state=false_positive$/);
    await page.getByText('No hit is in this state.').waitFor();
  });

  test('a list that is too old is reported, with the payments that wait for it', async () => {
    const asOf = new Date(world.clock.now().getTime() - OLDER_THAN_ALLOWED_MS);
    await world.read((tx) => tx.run('update sanctions_lists set as_of = $1', [asOf]));
    await goes('/screening');
    await page.getByText('older than allowed', { exact: true }).waitFor();
    await page.getByText('Payouts and refunds wait.').waitFor();
    await isGood(page, 'Screening', 'Screening, a list too old');
    await world.read((tx) => tx.run('update sanctions_lists set as_of = $1', [world.clock.now()]));
  });

  test('the case of a hit leads to the hits, and each hit to its customer', async () => {
    const { cases } = (await ada.person.reads('/cases?kind=sanctions_hit')).body;
    const about = cases.find(({ subject }: Came) => subject === `sanctions:customer:${customer.id}`);
    await goes(`/cases/${about.id}`);
    await page.getByRole('link', { name: customer.id }).waitFor();
    await page.getByRole('link', { name: 'Hits that wait for a decision' }).click();
    await heading('Screening');
    await page.getByRole('link', { name: customer.id }).click();
    await heading(`Customer ${customer.id}`);
  });

  test('a hit is opened with a reason, both sides side by side, and dismissed by two operators in two browsers', async () => {
    await goes('/screening');
    await page.getByRole('link', { name: named, exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await heading(`Hit ${named}`);
    await page.getByRole('button', { name: 'Look at the hit' }).waitFor();
    assert.equal(await page.getByText(/orlenkov/i).count(), 0, 'the hit is shown before it was opened');
    await isGood(page, `Hit ${named}`, 'Hit');
    await page.keyboard.press('l');
    await sends('Look at the hit', 'to compare both');
    const both = page.getByRole('region', { name: 'Side by side' });
    await both.getByText('Taras Orlenkov', { exact: true }).waitFor();
    await both.getByText('Taras Ilyich ORLENKOV', { exact: true }).waitFor();
    await both.getByText('1989-01-01 to 1989-12-31').waitFor();
    await both.getByText('near', { exact: true }).waitFor();
    await both.getByText(SCRIPT).waitFor();
    assert.doesNotMatch(page.url(), /orlenkov/i);
    await isGood(page, `Hit ${named}`, 'Hit, looked at');

    await page.keyboard.press('d');
    await sends('Dismiss', `another person ${SCRIPT}`);
    await page.getByText('Nothing is done yet.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('ada proposed to dismiss it').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Dismiss' }).isDisabled(), true);
    assert.equal((await hitNow(named, 'open'))?.state, 'open', 'one operator alone dismissed it');
    await isGood(page, `Hit ${named}`, 'Hit, proposed');

    await goes(`/screening/${named}`, bea.page);
    await bea.page.getByRole('link', { name: /^proposal / }).click();
    await bea.page.getByText(SCRIPT).first().waitFor();
    await bea.page.keyboard.press('y');
    await sends('Confirm', 'it is somebody else', bea.page);
    await bea.page.getByText('The server says: done.').waitFor();
    assert.deepEqual((await hitNow(named, 'false_positive'))?.people?.toSorted(), ['ada', 'bea']);
    await page.getByText('false positive', { exact: true }).waitFor();
    const { audit } = (await ada.person.reads(`/audit?subject=sanctions_hit:${named}`)).body;
    assert.ok(audit.some(({ action, reason }: Came) => action === 'sanctions.open' && reason === 'to compare both'));
  });

  test('a hit is confirmed by one, and its customer is blocked and cannot be unblocked by one', async () => {
    await goes(`/screening/${paid}`);
    await heading(`Hit ${paid}`);
    await page.getByRole('link', { name: payer.id }).waitFor();
    await page.keyboard.press('y');
    await sends('Confirm', 'the bank names the very one');
    await done();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('ada decided').waitFor();
    await page.getByRole('link', { name: payer.id }).click();
    await heading(`Customer ${payer.id}`);
    await page.getByText('Blocked: no new orders').waitFor();
    await page.getByRole('button', { name: 'Unblock', exact: true }).click();
    await sends('Unblock', 'a try of one');
    await page.getByText('Nothing is done yet.').waitFor();
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /proposal/ })
      .click();
    await page.getByText('It is your own proposal').waitFor();
    const { blocked } = (await ada.person.reads(`/customers/${payer.id}`)).body;
    assert.equal(blocked, true);
  });

  test('a customer is shown with the usage of its limits; a question is asked, shown as text and withdrawn', async () => {
    await goes('/');
    await heading('What needs a person');
    await page.keyboard.press('Control+k');
    await page.keyboard.type(customer.id);
    await page.keyboard.press('Enter');
    await heading(`Customer ${customer.id}`);
    const { limits } = (await ada.person.reads(`/customers/${customer.id}/limits`)).body;
    const { used } = limits.find(({ per }: Came) => per === 'day');
    await page.getByRole('row', { name: 'any 24 hours' }).getByText(grouped(used), { exact: false }).first().waitFor();
    await isGood(page, `Customer ${customer.id}`, 'Customer');

    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Question').fill(`Whose money is it? ${SCRIPT}`);
    await page.getByLabel('Days').fill('many');
    await sends('Ask', 'the amount is new');
    await page.getByText('a whole number from 1 to 90').first().waitFor();
    await page.getByLabel('Days').fill('7');
    await sends('Ask', 'the amount is new');
    await done();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Look at questions' }).click();
    await sends('Look at questions', 'to see whether it is answered');
    await page.getByText(`Whose money is it? ${SCRIPT}`).waitFor();
    await isGood(page, `Customer ${customer.id}`, 'Customer, a question');
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await sends('Withdraw', 'it was found out');
    await page.getByRole('button', { name: 'Look at questions' }).waitFor();
  });

  test('a customer is blocked and held by law, its contact is read with a reason, and nothing personal is in the address', async () => {
    await goes(`/customers/${customer.id}`);
    await heading(`Customer ${customer.id}`);
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await sends('Block', SCRIPT);
    await page.getByRole('region', { name: 'What the block found' }).waitFor();
    await page.getByText('ada did it').waitFor();
    await page.getByRole('button', { name: 'Legal hold', exact: true }).click();
    await sends('Legal hold', 'file 47 of the court');
    await done();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Lift the hold' }).waitFor();
    await page.getByText('legal hold', { exact: true }).waitFor();
    assert.equal(await page.getByText(/orlenkov/i).count(), 0, 'a name is shown before the data was opened');
    await page.getByRole('button', { name: 'Look at contact' }).click();
    await sends('Look at contact', 'the court asks');
    await page.getByRole('region', { name: 'Contact' }).getByText('Taras Orlenkov').waitFor();
    assert.doesNotMatch(page.url(), /orlenkov/i);
    await isGood(page, `Customer ${customer.id}`, 'Customer, blocked');
    const { audit } = (await ada.person.reads(`/audit?subject=customer:${customer.id}&action=customer.personal`)).body;
    assert.deepEqual(
      audit.map(({ reason }: Came) => reason),
      ['the court asks'],
    );
    await page.reload();
    await page.getByRole('button', { name: 'Look at contact' }).waitFor();
    assert.equal(await page.getByText(/orlenkov/i).count(), 0, 'the personal data stays after leaving the page');
    for (const [button, path] of [
      ['Lift the hold', 'lift-legal-hold'],
      ['Unblock', 'unblock'],
    ] as const) {
      const { proposal } = (await ada.person.does(`/customers/${customer.id}/${path}`)).body;
      await page.getByRole('button', { name: button, exact: true }).waitFor();
      assert.equal((await bea.person.does(`/proposals/${proposal}/confirm`)).status, 200);
      await page.reload();
      await page.getByRole('button', { name: button, exact: true }).waitFor({ state: 'detached' });
    }
    for (const name of ['Legal hold', 'Block']) await page.getByRole('button', { name, exact: true }).waitFor();
    assert.equal(await page.getByText('Blocked: no new orders').count(), 0);
  });

  test('limits are shown with all of their versions, and another one is set', async () => {
    await goes('/limits');
    await heading('Limits of customers');
    await page.getByRole('region', { name: 'Versions' }).getByText('90\u202f000.5').waitFor();
    await page.getByRole('region', { name: 'In force' }).getByText(SCRIPT).waitFor();
    await isGood(page, 'Limits of customers');
    await page.getByRole('button', { name: 'Set a limit' }).click();
    await page.getByRole('dialog').getByLabel('Fiat').fill('inr');
    await page.getByLabel('Up to level').fill('1');
    await page.getByLabel('Within').selectOption('month');
    await page.getByLabel('At most').fill('500000');
    await page.getByLabel('Direction').selectOption('offramp');
    await isGood(page, 'Limits of customers', 'Limits, a form');
    await sends('Set a limit', 'a new rule');
    await done();
    await page.getByRole('button', { name: 'Close' }).click();
    await page
      .getByRole('region', { name: 'In force' })
      .getByRole('row', { name: /any 30 days sales/ })
      .waitFor();
    const { limits } = (await ada.person.reads('/customer-limits')).body;
    assert.equal(limits.find(({ per }: Came) => per === 'month')?.max, '500000');
  });

  test('operators and rules are shown, with the tokens of one and no token itself', async () => {
    const { db, baseUrl } = world.server;
    await operatorNamed({ db, baseUrl, clock: world.clock }, 'old', 'support');
    assert.equal((await ada.person.does('/operators/old/disable')).status, 200);
    await goes('/');
    await heading('What needs a person');
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await heading('Operators and rules');
    await page.getByText('disabled', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Rules' }).getByText('1\u202f234\u202f567').waitFor();
    await isGood(page, 'Operators and rules');
    await page.getByRole('link', { name: 'bea', exact: true }).click();
    await page.waitForURL(/row=bea$/);
    await page.getByRole('dialog').getByRole('region', { name: 'Tokens of bea' }).getByText('test').waitFor();
    await isGood(page, 'Operators and rules', 'Operators, tokens');
    assert.equal(await page.getByText(bea.person.token).count(), 0);
    await page.keyboard.press('Escape');
    await page.waitForURL(/operators$/);
  });

  test('requests no other origin, executes no text, and triggers no policy violation and no error', async () => {
    assert.deepEqual([ada.amiss, bea.amiss], [[], []]);
    for (const { page: their } of [ada, bea]) assert.notEqual(await their.title(), '1');
  });
});

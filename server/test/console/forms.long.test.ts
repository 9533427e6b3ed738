/**
 * Forms of the console in a real browser: each shows its effect before it is sent and the number of people it takes, names the
 * field and the rule when the server declines, works by keyboard alone, and is confirmed by another operator in another browser.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { buildConsole } from '../../src/console/index.ts';
import { changeBranding } from '../../src/partners/index.ts';
import { drawLogo } from '../../src/protocols/v1/logo.ts';
import { type Person, takes } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import type { Came } from '../support/client.ts';
import { openStory, type Story } from '../support/story.ts';
import { type Desk, deskOf, formOn, isGood } from './window.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';
const HASH = '5e'.repeat(32);

describe('the forms of the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };
  let page: Page;
  let form: ReturnType<typeof formOn>;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    ada = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'ada');
    bea = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'bea');
    page = ada.page;
    form = formOn(page);
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const goes = (path: string) => page.goto(`${origin}/console${path}`);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const operatorNow = async (name: string): Promise<Came> => (await ada.person.reads(`/operators/${name}`)).body;
  const isRefused = async (rule: string, field: string) => {
    await form.dialog().getByText(rule).first().waitFor();
    assert.equal(await page.evaluate('document.activeElement.name'), field);
  };

  test('an operator is let in by a hash: the rights are shown, a wrong hash is named, and another one confirms', async () => {
    await goes('/operators');
    await heading('Operators and rules');
    const button = page.getByRole('button', { name: 'Let an operator in' });
    await button.focus();
    await page.keyboard.press('Enter');
    await form.dialog().waitFor();
    await page.keyboard.type('mia');
    await page.keyboard.press('Tab');
    await page.keyboard.type('support');
    await form.effect().getByText('mia gets the role support').waitFor();
    await form.effect().getByText('decide reviews').waitFor();
    assert.equal(await form.effect().getByText('move money').count(), 0, 'support moves money');
    await page.keyboard.press('Tab');
    await page.keyboard.type('5e5e');
    await form.sends(SCRIPT);
    await isRefused('64 lower-case hex digits', 'tokenSha256');
    await isGood(page, 'Operators and rules', 'Form, operator');
    await page.keyboard.press('Control+a');
    await page.keyboard.type(HASH);
    await form.sends(SCRIPT);
    await form.isConfirmedBy(bea.page, 'operator.create', 'operator:mia');
    assert.equal((await operatorNow('mia')).role, 'support');
  });

  test('two operators change a role, and the form shows the gained and lost rights', async () => {
    await page.getByRole('link', { name: 'mia', exact: true }).click();
    await form.opens('Change role');
    await form.dialog().getByLabel('Role').selectOption('night');
    await form.effect().getByText('open personal data').waitFor();
    await form.effect().getByText('Loses the right to').waitFor();
    await form.effect().getByText('Gains the right to').waitFor();
    await isGood(page, 'Operators and rules', 'Form, role');
    await form.dialog().getByLabel('Role').selectOption('finance');
    await form.sends('a new task');
    await page.getByText('Nothing is done yet.').waitFor();
    await form.dialog().getByRole('button', { name: 'Close' }).click();
    assert.equal((await operatorNow('mia')).role, 'support', 'one operator alone changed it');
    await isGood(page, 'Operators and rules', 'Operator, opened');
    const { proposals } = (await bea.person.reads('/proposals?state=open')).body;
    assert.equal((await bea.person.does(`/proposals/${proposals[0].id}/confirm`)).status, 200);
    await form.dialog().getByText('finance').waitFor();
  });

  test('a token is admitted and revoked; an operator is disabled by one and enabled by two', async () => {
    await form.opens('Admit a token');
    await form.dialog().getByLabel('Name of the token').fill('laptop');
    await form.dialog().getByLabel('Days').fill('90');
    await form.dialog().getByLabel('SHA-256').fill('6f'.repeat(32));
    await form.sends('a lost passkey');
    await isRefused('a whole number from 1 to 7', 'days');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('5');
    await form.effect().getByText('for 5 days').waitFor();
    await isGood(page, 'Operators and rules', 'Form, token');
    await page.keyboard.press('Escape');
    const [token] = (await operatorNow('mia')).tokens;
    await form.opens(`Revoke token ${token.id}`);
    await form.effect().getByText('stops working at once').waitFor();
    await form.sends('it was lost');
    await form.isDone();
    await form.dialog().getByText('revoked', { exact: true }).waitFor();
    await form.opens('Disable');
    await form.effect().getByText('Sessions of mia end at once').waitFor();
    await isGood(page, 'Operators and rules', 'Form, disable');
    await form.sends('has left');
    await form.isDone();
    assert.notEqual((await operatorNow('mia')).disabledAt, null);
    await form.opens('Enable');
    await form.effect().getByText('mia may work as finance again').waitFor();
    await form.sends('is back');
    await page.getByText('Nothing is done yet.').waitFor();
    await form.dialog().getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('Escape');
    await page.waitForURL(/operators$/);
    assert.notEqual((await operatorNow('mia')).disabledAt, null, 'one operator alone enabled it');
  });

  test('a rule is proposed beside the one it replaces, decided by another operator, changed and removed', async () => {
    await form.opens('Set a rule');
    await form.dialog().getByLabel('Action').fill('order.nothing');
    await form.dialog().getByLabel('People').selectOption('1');
    await form.dialog().getByLabel('Asset').fill('inr');
    await form.dialog().getByLabel('Above').fill('5000');
    await form.effect().getByText('order.nothing above 5\u202f000 inr').waitFor();
    await form.effect().getByText('no rule').waitFor();
    await form.sends(SCRIPT);
    await isRefused('must be an existing action or finding', 'action');
    await isGood(page, 'Operators and rules', 'Form, rule');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('order.release');
    await form.sends(SCRIPT);
    await form.isConfirmedBy(bea.page, 'rule.set', 'rule:order.release:*:inr:5000');
    await page.getByRole('row', { name: 'order.release' }).getByRole('button', { name: 'Change' }).click();
    await form.dialog().getByLabel('People').selectOption('none');
    await form.effect().getByText('1 person').waitFor();
    await form.sends('not needed');
    await form.isConfirmedBy(bea.page, 'rule.set', 'rule:order.release:*:inr:5000');
    await page.getByRole('row', { name: 'order.release' }).waitFor({ state: 'detached' });
    await isGood(page, 'Operators and rules', 'Operators, after');
  });

  test('terms of a market are changed: only changed fields are sent, and another operator confirms them', async () => {
    await world.read((tx) => takes(tx, 2, { action: 'market.set' }));
    const market = (await ada.person.reads('/markets')).body.markets.find(({ fiat }: Came) => fiat === 'inr');
    await goes(`/markets/${market.id}`);
    await form.opens('Change terms');
    await form.effect().getByText('Nothing is changed yet.').waitFor();
    const send = form.dialog().getByRole('button', { name: 'Change terms' });
    assert.equal(await send.isDisabled(), true);
    await form.dialog().getByLabel('Maximum deposit').fill('much');
    await form.sends('a new limit of the bank');
    await isRefused('an amount such as 100 or 0.5', 'max');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('4321');
    assert.equal(
      await form.dialog().getByText('an amount such as 100 or 0.5').count(),
      0,
      'the rule of the previous value is still shown',
    );
    await form.dialog().getByLabel('Default market').selectOption(String(!market.isDefault));
    await form.effect().getByText(`${market.max} becomes 4321`).waitFor();
    await isGood(page, await page.locator('h1').innerText(), 'Form, market');
    await form.sends('a new limit of the bank');
    await form.isConfirmedBy(bea.page, 'market.set', `market:${market.id}`);
    const { isDefault, max, ...rest } = (await ada.person.reads(`/markets/${market.id}`)).body;
    assert.deepEqual([isDefault, max], [!market.isDefault, '4321']);
    assert.deepEqual([rest.min, rest.quoteTtlS, rest.taxBps], [market.min, market.quoteTtlS, market.taxBps]);
  });

  test('a fee, a limit and a policy of a market are set beside the values they replace', async () => {
    const title = await page.locator('h1').innerText();
    await form.opens('Change the fee of the operator');
    await form.dialog().getByLabel('Share').fill('75');
    await form.effect().getByText('becomes 75 bps').waitFor();
    await isGood(page, title, 'Form, fee');
    await form.sends('a new price list');
    await form.isDone();
    await page.getByRole('region', { name: 'Fees' }).getByText('75 bps').waitFor();
    const limits = page.getByRole('region', { name: 'Limits of one order' });
    await form.opens('Change the limit of level 1');
    await form.effect().getByText('as now').waitFor();
    await form.dialog().getByLabel('At most').fill('250');
    await form
      .effect()
      .getByText(/becomes\s+250/)
      .waitFor();
    await isGood(page, title, 'Form, limit of a market');
    await form.sends('a new rule');
    await form.isDone();
    const level = limits.getByRole('row').filter({ hasText: 'a new rule' });
    await level.getByText('its own limit').waitFor();
    await level.getByText('ada').waitFor();
    await form.opens('Change the limit of level 1');
    await form.dialog().getByLabel('At most').fill('none');
    await form
      .effect()
      .getByText(/as for level 2/)
      .waitFor();
    await form.dialog().getByRole('button', { name: 'Cancel' }).click();

    const policy = page.getByRole('region', { name: 'Policy' });
    const late = policy.getByRole('row', { name: /Money arrived after the order had ended/ });
    await late.getByText('built in').waitFor();
    await form.opens('Change: Money arrived after the order had ended');
    await form.effect().getByText('Nothing is changed yet.').waitFor();
    assert.ok(await form.dialog().getByRole('button', { name: 'Set a policy' }).isDisabled());
    await form.dialog().getByLabel('What happens').selectOption('refund');
    await form.effect().getByText('hold it, with a case').waitFor();
    await form.effect().getByText('refund it').waitFor();
    await isGood(page, title, 'Form, policy');
    await form.sends('as agreed');
    await form.isDone();
    await late.getByText('the market').waitFor();
    await form.opens('Change: Less arrived than was asked for');
    await form.dialog().getByLabel('Accept up to this much less').fill('20000');
    await form.sends('as agreed');
    await isRefused('a whole number from 0 to 10000', 'underpaid.acceptBps');
    await isGood(page, title, 'Form, policy declined');
    await form.dialog().getByLabel('Accept up to this much less').fill('50');
    await form.effect().getByText('50 bps').waitFor();
    await form.sends('as agreed');
    await form.isDone();
    await form.opens('Change: How long an order may wait');
    await form.dialog().getByLabel('On hold: after').fill('7200');
    await form.effect().getByText('2 hours').waitFor();
    await isGood(page, title, 'Form, policy with deadlines');
    await form.dialog().getByRole('button', { name: 'Cancel' }).click();
    await isGood(page, title, 'Market with limits and policy');
    await form.opens('Remove: Less arrived than was asked for');
    await form.effect().getByText('50 bps').waitFor();
    await form.effect().getByText('0 bps').first().waitFor();
    await isGood(page, title, 'Form, remove a policy');
    await form.sends('no longer agreed');
    await form.isDone();
    await policy
      .getByRole('button', { name: 'Remove: Less arrived than was asked for' })
      .waitFor({ state: 'detached' });
    const { markets } = (await ada.person.reads('/markets')).body;
    const { id } = markets.find(({ max }: Came) => max === '4321');
    const { policy: now, fees } = (await ada.person.reads(`/markets/${id}`)).body;
    assert.deepEqual([now.late.then, now.underpaid.acceptBps], ['refund', 0]);
    assert.equal(fees.find(({ kind }: Came) => kind === 'operator').bps, '75');
  });

  test('a halted market quotes again at a level that an operator vouches for', async () => {
    const { markets } = (await ada.person.reads('/markets')).body;
    const { id, crypto } = markets.find(({ max }: Came) => max === '4321');
    const coin = crypto.split('.')[0];
    // It would resume by itself once the sources have agreed for long enough.
    const { proposal } = (await ada.person.does(`/markets/${id}`, { resumeAfterS: 86_400 })).body;
    assert.equal((await bea.person.does(`/proposals/${proposal}/confirm`)).status, 200);
    await world.read((tx) =>
      tx.run(`update price_levels set halted_at = $1, why = 'jump' where market_id = $2 and coin = $3`, [
        world.clock.now(),
        id,
        coin,
      ]),
    );
    await page.reload();
    await form.opens('Confirm a level');
    await form.dialog().getByLabel('Level').fill('many');
    await form.sends('compared with two banks');
    await isRefused('an amount such as 100 or 0.5', 'level');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('87.5');
    await form.effect().getByText('The market accepts 87.5 inr for one').waitFor();
    await isGood(page, await page.locator('h1').innerText(), 'Form, price');
    await form.sends('compared with two banks');
    await form.isDone();
    await page.getByRole('button', { name: 'Confirm a level' }).waitFor({ state: 'detached' });
    const { prices } = (await ada.person.reads(`/markets/${id}`)).body;
    assert.equal(prices.find((one: Came) => one.coin === coin).haltedAt, null);
  });

  test('a market that is there already, on a rail that is not there, is declined with both fields', async () => {
    await goes('/markets');
    await form.opens('Create a market');
    const values = {
      ...{ Crypto: 'usdc.matic20', Fiat: 'usd', 'Deposit on': 'evm.nowhere', 'Payout on': 'bank.simulated' },
      ...{
        'Method of payment': 'ACH',
        'Minimum deposit': '10',
        'Maximum deposit': '1000',
        'Decimals of a payout': '2',
        Sources: 'fixed',
      },
    };
    for (const [label, value] of Object.entries(values))
      await form.dialog().getByRole('textbox', { name: label, exact: true }).fill(value);
    await form.dialog().getByLabel('One source is intended').selectOption('true');
    await form.effect().getByText('sell usdc.matic20 for usd').waitFor();
    await form.sends('a new fiat');
    await isRefused('has this market already', 'crypto');
    await form.dialog().getByText('must be one of evm.').waitFor();
    await isGood(page, 'Markets', 'Form, new market');
    await page.keyboard.press('Escape');
  });

  test('a partner is created, capped, suspended and resumed, and a key is revoked', async () => {
    await goes('/partners');
    await form.opens('Create a partner');
    await form.dialog().getByLabel('Name').fill('Corner shop');
    await form.dialog().getByLabel('Price may move by').fill('a lot');
    await form.sends('a contract');
    await isRefused('a whole number from 0 to 10000', 'toleranceBps');
    await isGood(page, 'Partners', 'Form, partner');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('50');
    await form.sends('a contract');
    await form.isDone();
    await page.getByRole('link', { name: 'Corner shop' }).click();
    await heading('Corner shop');
    const { partners } = (await ada.person.reads('/partners')).body;
    const { id } = partners.find(({ name }: Came) => name === 'Corner shop');
    const made = await ada.person.does(`/partners/${id}/keys`, { label: 'main', scopes: ['read'] });
    assert.equal(made.status, 200);

    await world.read((tx) => takes(tx, 2, { action: 'partner.set' }));
    await form.opens('Change terms');
    await form.effect().getByText('Nothing is changed yet.').waitFor();
    await form.dialog().getByLabel('Level required to trade').fill('2');
    await form.dialog().getByLabel('Price may move by').fill('75');
    await form.effect().getByText('50 bps becomes 75 bps').waitFor();
    await isGood(page, 'Corner shop', 'Form, terms of a partner');
    await form.sends('a wider margin');
    await form.isConfirmedBy(bea.page, 'partner.set', `partner:${id}`);
    await page.getByText('75 bps', { exact: true }).waitFor();
    const own = (await ada.person.reads(`/partners/${id}`)).body;
    assert.deepEqual([own.tradeLevel, own.toleranceBps, own.quoteShape], [2, '75', 'B']);

    await form.opens('Set a cap');
    await form.dialog().getByLabel('Fiat').fill('inr');
    await form.dialog().getByLabel('At most').fill('50000');
    await form.effect().getByText('none becomes 50\u202f000 inr').waitFor();
    await isGood(page, 'Corner shop', 'Form, cap');
    await form.sends('a small shop');
    await form.isDone();
    await page.getByRole('region', { name: 'Caps' }).getByText('50\u202f000').waitFor();

    await form.opens(`Revoke ${made.body.apiKey}`);
    await form.effect().getByText('It cannot be undone').waitFor();
    await form.sends('it was lost');
    await form.isDone();
    await page.getByRole('region', { name: 'Keys' }).getByText('revoked', { exact: true }).waitFor();

    await form.opens('Suspend');
    await form.dialog().getByLabel('A key may have leaked since').fill('2020-01-01T00:00');
    await form.effect().getByText('made since then is held').waitFor();
    await form.sends('a leak');
    await isRefused('must be within the last 90 days', 'since');
    await isGood(page, 'Corner shop', 'Form, suspend');
    await form.dialog().getByLabel('A key may have leaked since').fill('');
    await form.sends('a leak');
    await form.isDone();
    await page.getByText('suspended', { exact: true }).waitFor();
    await isGood(page, 'Corner shop', 'Partner, suspended');
    await form.opens('Resume');
    await form.sends('the leak is closed');
    await form.isDone();
    await page.getByText('suspended', { exact: true }).waitFor({ state: 'detached' });
  });

  test('an operator sees how a partner’s pages look, and resets it', async () => {
    const { partners } = (await ada.person.reads('/partners')).body;
    const { id } = partners.find(({ name }: Came) => name === 'Corner shop');
    const size = { width: 480, height: 144, channels: 4 } as const;
    const picture = await sharp({ create: { ...size, background: '#7a1fa2' } })
      .png()
      .toBuffer();
    const change = { displayName: SCRIPT, accent: '#7a1fa2', logo: await drawLogo(picture.toString('base64'), 1n) };
    await world.read((tx) => changeBranding(tx, { partnerId: BigInt(id), ...change, now: world.clock.now() }));
    await goes(`/partners/${id}`);
    await page.getByText(SCRIPT, { exact: true }).waitFor();
    await page.getByText('#7a1fa2').waitFor();
    await page.getByAltText('Its logo').waitFor();
    await world.until('the logo is drawn', () =>
      page.evaluate(`document.querySelector('img.logo').naturalWidth === 480`),
    );
    await isGood(page, 'Corner shop', 'Partner, branded');
    await form.opens('Reset');
    await form.effect().getByText('use its name and the default colours').waitFor();
    await form.sends('it reads like a bank');
    await form.isDone();
    await page.getByText('its name', { exact: true }).waitFor();
    assert.equal(await page.getByAltText('Its logo').count(), 0);
    assert.equal((await ada.person.reads(`/partners/${id}`)).body.branding.logo, null);
  });

  test('two operators register an own address and put tokens away there, and the page follows the transfer', async () => {
    const address = world.newAddress();
    await goes('/treasury/own');
    await heading('Own addresses');
    await page.getByText('No address is registered.').waitFor();
    await form.opens('Register an address');
    await form.effect().getByText('It needs two operators').waitFor();
    await form.dialog().getByLabel('Chain').fill('evm.matic20');
    await form.dialog().getByLabel('Address', { exact: true }).fill('0x12');
    await form.dialog().getByLabel('What it is').fill(SCRIPT);
    await form.sends('a new safe');
    await isRefused('must be an address of evm.matic20', 'address');
    await isGood(page, 'Own addresses', 'Form, own address');
    await form.dialog().getByLabel('Address', { exact: true }).fill(address);
    await form.sends('a new safe');
    await form.isConfirmedBy(bea.page, 'own-address.register', `own-address:evm.matic20:${address}`);
    await form.opens(`Send: ${SCRIPT}`);
    await form.dialog().getByLabel('Asset').fill('usdc.matic20');
    await form.dialog().getByLabel('Amount').fill('100000000');
    await form.sends('more than a day needs');
    await form.dialog().getByText('Our wallet has too little usdc.matic20').waitFor();
    await form.dialog().getByLabel('Amount').fill('12');
    await form.sends('more than a day needs');
    await form.isConfirmedBy(bea.page, 'transfer.send', 'own-address:1');
    await world.until('the transfer is over', async () => {
      await world.mines(1);
      return (await page.getByText('settled', { exact: true }).count()) === 1;
    });
    assert.equal(await world.tokensOf(address, 'usdc'), '12');
    await isGood(page, 'Own addresses');
    await form.opens(`End: ${SCRIPT}`);
    await form.sends('the safe is given up');
    await form.isDone();
    await page.getByText('ended', { exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: `Send: ${SCRIPT}` }).count(), 0);
  });

  test('requests no other origin, executes no text, and triggers no policy violation and no error', async () => {
    assert.deepEqual([ada.amiss, bea.amiss], [[], []]);
    for (const { page: their } of [ada, bea]) assert.notEqual(await their.title(), '1');
  });
});

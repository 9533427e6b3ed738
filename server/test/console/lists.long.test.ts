/**
 * The lists and reports of the console in a real browser, on a server with money that moves: the CSV has exactly the rows shown,
 * filters are in the URL, lists work by keyboard alone, and other people's texts stay texts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openCase } from '../../src/compliance/index.ts';
import { buildConsole } from '../../src/console/index.ts';
import { recordByMachine, sealAudit } from '../../src/operators/index.ts';
import { setExposureCap } from '../../src/partners/index.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import type { Came } from '../support/client.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';
import { readCsv } from '../support/terminal.ts';
import { type Desk, enrol, isGood, openDesk, signIn } from './window.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';
const FORMULA = '=HYPERLINK("http://evil.test")';
const MANY = 180;

describe('the lists of the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let page: Page;
  let sale: Sale;
  let bought: Purchase;
  let partner: string;
  let market: string;
  let endpoint: string;
  let business: string;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    const hook = await world.partner.post('/v1/webhooks', { url: 'http://localhost:65002/hook?secret=s3cr3t' });
    endpoint = hook.body.data.id;
    const customer = await world.verifiedCustomer();
    sale = await world.sells('20', 'usdc', { customer });
    await world.pays(sale, '20');
    await world.mines(2);
    await world.until('it is settled', async () => (await world.stateOf(sale)) === 'settled');
    bought = await world.buys('5000', 'usdc', { customer });
    await world.credits(bought, '5100');
    await world.credits(bought, '77', { text: `for ${SCRIPT}` });
    await world.until('it is settled', async () => (await world.stateOf(bought)) === 'settled');
    await world.until('two amounts lie in suspense', async () => {
      const { rows } = await world.read(async (tx) => ({
        rows: await tx.rows(`select from deposits where taken_units < units and state <> 'seen'`),
      }));
      return rows.length === 2;
    });
    const { order } = await world.traceOf(sale);
    [partner, market] = [String(order.partnerId), String(order.marketId)];
    await world.sells('12.5', 'usdc', { customer });
    business = await submitted();
    await world.read(async (tx) => {
      await tx.run('update partners set name = $1 where id = $2', [`Shop ${SCRIPT}`, partner]);
      await setExposureCap(tx, { partnerId: BigInt(partner), fiat: 'inr', maxUnits: 10_000_000n });
      for (let n = 1; n <= MANY; n += 1)
        await recordByMachine(tx, {
          ...{ action: 'a.test', subject: `subject:${n}`, now: world.clock.now() },
          reason: n === MANY ? FORMULA : n === MANY - 1 ? SCRIPT : `reason ${n}`,
          after: { note: SCRIPT },
        });
    });
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    const people = { db, baseUrl, clock: world.clock };
    ada = { ...(await openDesk(browser, origin)), person: await operatorNamed(people, 'ada', 'admin') };
    const bea = await operatorNamed(people, 'bea', 'admin');
    assert.equal((await bea.does('/operators/bea/role', { role: 'finance', reason: SCRIPT })).status, 202);
    page = ada.page;
    await goes('/');
    await enrol(page, ada.person.token);
    await signIn(page, 'ada');
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const goes = (path: string) => page.goto(`${origin}/console${path}`);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const keysShown = async () => (await page.locator('main a[data-row]').allInnerTexts()).map((text) => text.trim());

  /** As an evaluation, and not as a wait of the page: its policy does not let it run text. */
  const isOn = (row: string | undefined) =>
    world.until(
      `row ${row} has the focus`,
      async () => (await page.evaluate('document.activeElement.textContent')) === row,
    );

  /** Files in a review whose content is not what its type says, but in one. */
  const FILES: Readonly<Record<string, string>> = {
    photo: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
    drawing: btoa('<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=1"></svg>'),
    markup: btoa('<html><script>document.title=1</script></html>'),
  };
  async function sendsFiles(): Promise<void> {
    await page.route('**/review/open', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const files = Object.keys(FILES).map((slot) => ({ id: slot, slot, type: 'image/png', bytes: 70 }));
      body.review.submission = { id: '1', state: 'open', reasons: {}, files };
      await route.fulfill({ response, json: body });
    });
    await page.route('**/review/document', (route) => {
      const { file } = route.request().postDataJSON();
      const type = file === 'drawing' ? 'image/svg+xml' : 'image/png';
      return route.fulfill({ json: { outcome: 'done', document: { type, content: FILES[file] } } });
    });
  }

  async function submitted(): Promise<string> {
    const given = { clientCustomerId: 'a business', phoneNumber: '+919812345670', type: 'BUSINESS' };
    const { customerId } = (await world.partner.post('kyc/url', given)).body.data;
    const details = {
      firstName: SCRIPT,
      secondSurname: 'Vrblova',
      dob: '1990-01-31',
      sourceOfFunds: 'salary',
      sex: 'female',
    };
    const address = { addressLine1: '1 Main Road', city: 'Pune', postalCode: '411001' };
    const said = await world.partner.post('kyb/submit', { customerId, identityNumber: 'QZXNEVER', details, address });
    assert.equal(said.status, 200, said.text);
    const now = world.clock.now();
    const about = { kind: 'verification_review', subject: `customer:${customerId}` } as const;
    await world.read((tx) => openCase(tx, { ...about, reason: 'a person has to look', facts: {}, now }));
    return customerId;
  }

  /** The button's CSV, at the moment at which the page shows its rows. */
  async function csvOf(button = 'CSV'): Promise<Record<string, string>[]> {
    const href = await page.getByRole('link', { name: button, exact: true }).first().getAttribute('href');
    const reply = await page.request.get(`${origin}${href}`);
    assert.match(String(reply.headers()['content-type']), /^text\/csv/);
    return readCsv(await reply.text());
  }

  for (const [path, title, column, shown] of [
    ['/orders', 'Orders', 'id', String],
    ['/deposits', 'Deposits', 'id', String],
    ['/suspense', 'Suspense', 'deposit', String],
    ['/payouts', 'Payouts and refunds', 'id', String],
    ['/proposals', 'Proposals', 'action', String],
    ['/webhooks', 'Webhook endpoints', 'url', String],
    ['/audit', 'Audit', 'id', String],
    ['/cases', 'Cases', 'kind', (kind: string) => kind.replaceAll('_', ' ')],
  ] as const)
    test(`${title}: the CSV has the rows of the screen, in their order`, async () => {
      await goes(path);
      await heading(title);
      await page.locator('main a[data-row]').first().waitFor();
      const rows = await world.until('both tell the same', async () => {
        const csv = (await csvOf()).map((row) => shown(row[column] ?? ''));
        const screen = await keysShown();
        return screen.join() === csv.join() && screen;
      });
      assert.ok(rows.length > 0);
      // browser.test.ts checks these.
      if (!['Orders', 'Cases', 'Proposals'].includes(title)) await isGood(page, title);
    });

  test('filters apply to the URL and to the CSV; an amount needs an asset', async () => {
    await goes('/orders');
    await page.getByLabel('Asset').fill('usdc.matic20');
    await page.getByLabel('At least').fill('20');
    await page.getByLabel('At most').fill('20');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/asset=usdc\.matic20&min=20&max=20$/);
    await world.until('one order is left', async () => (await keysShown()).join() === String(sale.id));
    assert.deepEqual(
      (await csvOf()).map(({ id }) => id),
      [String(sale.id)],
    );
    await page.getByLabel('Asset').fill('');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('alert').getByText('must be given with min or max').waitFor();
  });

  test('a view is saved under a name, is there in another browser, and is deleted there', async () => {
    const other = await openDesk(browser, origin);
    await goes('/deposits?state=applied');
    await page.getByRole('button', { name: 'Save this view' }).click();
    await page.getByLabel('Name of the view').fill(`Paid ${SCRIPT}`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('link', { name: `Paid ${SCRIPT}` }).waitFor();
    await other.page.goto(`${origin}/console/deposits`);
    await enrol(other.page, ada.person.token);
    await signIn(other.page, 'ada');
    await other.page.getByRole('link', { name: `Paid ${SCRIPT}` }).click();
    await other.page.waitForURL(/\?state=applied$/);
    await isGood(other.page, 'Deposits', 'Deposits, a saved view');
    assert.equal(await other.page.getByRole('button', { name: 'Save this view' }).count(), 0, 'it is saved already');
    await other.page.getByRole('button', { name: 'Delete the view' }).click();
    await other.page.getByRole('link', { name: `Paid ${SCRIPT}` }).waitFor({ state: 'detached' });
    await goes('/deposits?state=applied');
    await page.getByRole('button', { name: 'Save this view' }).waitFor();
    assert.equal(await page.getByRole('link', { name: `Paid ${SCRIPT}` }).count(), 0);
    assert.deepEqual(other.amiss, []);
    await other.close();
  });

  test('views that an earlier version kept in this browser are offered once, and moved beside those of the server', async () => {
    const search = 'state=applied&asset=usdc.matic20';
    await ada.person.sends('/session/views', { page: '/deposits', name: 'Paid', search });
    await page.evaluate(
      `localStorage.setItem('views ada /deposits', ${JSON.stringify(
        JSON.stringify([
          { name: 'Paid', filters: { state: 'held' } },
          { name: 'Of one asset', filters: { asset: 'a&b' } },
        ]),
      )})`,
    );
    await goes('/deposits');
    const offer = page.getByRole('region', { name: 'Views of this browser' });
    await offer.getByRole('link', { name: 'Of one asset' }).waitFor();
    await isGood(page, 'Deposits', 'Deposits, views of this browser');
    await offer.getByRole('button', { name: 'Keep in all browsers' }).click();
    await offer.waitFor({ state: 'detached' });
    const { views } = (await ada.person.reads('/session/views')).body;
    assert.deepEqual(
      views.map(({ name, search: filters }: Came) => [name, filters]),
      [
        ['Paid', search],
        ['Paid 2', 'state=held'],
        ['Of one asset', 'asset=a%26b'],
      ],
    );
    await page.reload();
    await page.getByRole('link', { name: 'Paid 2' }).click();
    await page.waitForURL(/\?state=held$/);
    assert.equal(await offer.count(), 0);
  });

  test('a long list works by keyboard from end to end, although the page contains only the visible rows', async () => {
    await goes('/audit?limit=200');
    await page.locator('table[aria-rowcount]').waitFor();
    const count = Number(await page.locator('table[aria-rowcount]').getAttribute('aria-rowcount'));
    assert.ok(count > MANY);
    assert.ok((await keysShown()).length < count / 2, 'all rows are in the page');
    const ids = (await csvOf()).map(({ id }) => id);
    for (let at = 0; at < 100; at += 1) {
      await page.keyboard.press('j');
      await isOn(ids[at]);
    }
    await page.keyboard.press('k');
    await isOn(ids[98]);
    await page.evaluate(`window.dispatchEvent(new Event('beforeprint'))`);
    assert.deepEqual(await keysShown(), ids, 'paper has not all rows');
    await page.evaluate(`window.dispatchEvent(new Event('afterprint'))`);
    await isOn(ids[98]);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: `a.test, row ${ids[98]}` }).waitFor();
    await dialog.getByText(SCRIPT).waitFor();
    await page.waitForURL(new RegExp(`row=${ids[98]}`));
    await isGood(page, 'Audit', 'Audit, a row');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.waitForURL(/limit=200$/);
    await isOn(ids[98]);
    assert.ok(Number(await page.evaluate('window.scrollY')) > 0, 'the list has jumped to its top');
  });

  test('the chain of seals is verified on the page, with the newest seal to keep', async () => {
    await world.until('every row is sealed', async () =>
      world.read(async (tx) => (await sealAudit(tx, world.clock.now())) === 0),
    );
    await goes('/audit');
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText('The audit matches its seals.').waitFor();
    await page.getByText(/Newest: seal [0-9]+/).waitFor();
    await isGood(page, 'Audit', 'Audit, verified');
  });

  test('a spreadsheet gets no formula from a reason', async () => {
    await goes('/audit?action=a.test');
    await page.getByRole('cell', { name: FORMULA }).waitFor();
    const [newest] = await csvOf();
    assert.equal(newest?.reason, `'${FORMULA}`);
  });

  test('a deposit in suspense is opened by keyboard, with its age and the possible actions', async () => {
    await goes('/suspense');
    await page.getByRole('group', { name: 'Ages of the rows below' }).waitFor();
    await page.locator('main a[data-row]').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /^Deposit / }).waitFor();
    await page.getByText('What may be done').waitFor();
    await isGood(page, await page.locator('h1').innerText(), 'Deposit');
  });

  test('deliveries of an endpoint are listed, and a delivery shows its attempts', async () => {
    await goes(`/webhooks/${endpoint}`);
    await page.locator('main a[data-row]').first().waitFor();
    assert.equal(await page.getByText('s3cr3t').count(), 0, 'a query of an endpoint is shown');
    await isGood(page, `Deliveries to ${endpoint}`, 'Deliveries');
    await page.locator('main a[data-row]').last().click();
    await page.getByRole('dialog').getByRole('region', { name: 'Attempts' }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('the treasury shows levels, wallets against the books, exposure and sweeps, each with its CSV', async () => {
    await goes('/treasury');
    await heading('Treasury');
    for (const name of ['Levels', 'Wallets against the books', 'Exposure by market', 'Sweeps that are not booked'])
      await page.getByRole('heading', { level: 2, name }).waitFor();
    await page.getByRole('link', { name: /^sell: usdc\.matic20 to inr$/ }).waitFor();
    assert.ok((await csvOf()).some(({ asset }) => asset === 'usdc.matic20'));
    await isGood(page, 'Treasury');
  });

  test('wallets over time: a chart for each asset, and for each wallet its amounts', async () => {
    await goes('/treasury');
    await page.getByRole('link', { name: 'Wallets over time' }).click();
    await heading('Wallets over time');
    const chart = page.getByRole('region', { name: 'usdc.matic20 over time' });
    await chart.getByRole('img', { name: /^At the end: .*usdc\.matic20/ }).waitFor();
    await page
      .getByRole('row', { name: /^usdc\.matic20/ })
      .first()
      .waitFor();
    await page.getByRole('link', { name: '3 days' }).click();
    await page.waitForURL(/span=3d/);
    await chart.waitFor();
    assert.ok((await csvOf()).some(({ asset }) => asset === 'usdc.matic20'));
    await isGood(page, 'Wallets over time');
  });

  test('reports: trial balance at a time, revenue with sums, and the statement of a customer', async () => {
    await goes('/reports');
    await heading('Trial balance');
    await page.getByText('are equal').first().waitFor();
    assert.equal(await page.getByText('are not equal').count(), 0);
    assert.ok((await csvOf()).some(({ account }) => account?.startsWith('custody:')));
    await isGood(page, 'Trial balance');
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false);
    await page.emulateMedia({ media: 'screen' });
    await goes('/reports/revenue');
    await heading('Revenue');
    await page.getByRole('region', { name: 'Sums of the rows below' }).waitFor();
    const { length } = await csvOf();
    assert.equal(await page.getByRole('region', { name: 'Revenue', exact: true }).locator('tbody tr').count(), length);
    await isGood(page, 'Revenue');
    await goes('/reports/statement');
    await page.getByText('Fill in “Customer”, “Lines from” and “Lines before” to run this report.').waitFor();
    await page.getByRole('textbox', { name: 'Customer' }).fill(sale.customerId);
    await page.getByLabel('Lines from').fill('2020-01-01T00:00');
    await page.getByLabel('Lines before').fill('2090-01-01T00:00');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page
      .getByRole('link', { name: String(sale.id), exact: true })
      .first()
      .waitFor();
    await isGood(page, 'Statement of a customer');
  });

  test('partners and one partner: keys without secrets, endpoints by place, caps', async () => {
    await goes('/partners');
    await page.getByRole('link', { name: `Shop ${SCRIPT}` }).waitFor();
    await isGood(page, 'Partners');
    await page.getByRole('link', { name: `Shop ${SCRIPT}` }).click();
    await heading(`Shop ${SCRIPT}`);
    await page.getByText('localhost:65002/hook').waitFor();
    assert.equal(await page.getByText('s3cr3t').count(), 0, 'a query of an endpoint is shown');
    await page.getByRole('region', { name: 'Caps' }).getByText('100\u202f000').waitFor();
    await isGood(page, `Shop ${SCRIPT}`, 'Partner');
    await page.getByRole('link', { name: 'History of its terms' }).click();
    await page.waitForURL(new RegExp(`/changes\\?partner=${partner}$`));
    await page.getByRole('link', { name: 'exposure inr' }).waitFor();
    const changes = await csvOf();
    assert.equal(changes[0]?.what, 'exposure');
    assert.ok(changes.every(({ partnerId }) => partnerId === partner));
    await goes(`/partners/${partner}`);
    await page.getByRole('link', { name: 'What operators did' }).click();
    await page.waitForURL(new RegExp(`/audit\\?subject=partner%3A${partner}$`));
  });

  test('markets show the state of their prices, and a market its fees for a partner', async () => {
    await goes('/markets');
    await page.getByText('quotes', { exact: true }).first().waitFor();
    await page.getByLabel('Fiat').fill('inr');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(/fiat=inr/);
    const { prices } = (await ada.person.reads('/prices')).body;
    const { level } = prices.find((one: Came) => one.marketId === market && one.coin === 'usdc');
    await page
      .getByRole('row', { name: 'sell usdc.matic20 for inr' })
      .getByText(level, { exact: false })
      .first()
      .waitFor();
    await isGood(page, 'Markets');
    await goes(`/markets/${market}?partner=${partner}`);
    await page.getByRole('heading', { name: `Fees of partner ${partner}` }).waitFor();
    await isGood(page, await page.locator('h1').innerText(), 'Market');
  });

  test('a review is claimed, looked at with a reason that the audit keeps, and decided item by item', async () => {
    await goes('/reviews');
    await page.getByRole('link', { name: business }).waitFor();
    await isGood(page, 'Reviews');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await heading(`Review of ${business}`);
    await page.getByRole('button', { name: 'Claim' }).waitFor();
    await page.keyboard.press('c');
    await page.getByRole('dialog').getByRole('button', { name: 'Claim' }).click();
    await page.getByText('The server says: done.').waitFor();
    await page.keyboard.press('Enter');
    assert.equal(await page.getByText('Vrblova').count(), 0, 'it is shown before it was opened');
    await sendsFiles();
    await page.getByRole('button', { name: 'Look at the submission' }).click();
    await page.getByLabel('Reason').fill('to verify the business');
    await page.getByRole('dialog').getByRole('button', { name: 'Look at the submission' }).click();
    await page.getByText('Vrblova').waitFor();
    await page.getByText(SCRIPT).waitFor();
    for (const slot of Object.keys(FILES)) {
      await page.getByRole('listitem').filter({ hasText: slot }).getByRole('button').click();
      await page.getByLabel('Reason').first().fill('does it match');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.getByRole('img', { name: 'photo' }).waitFor();
    assert.match(
      String(await page.locator('.marked:has(img)').getAttribute('data-mark')),
      /^ada \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
    );
    await page.getByRole('button', { name: 'Save drawing' }).waitFor();
    await page.getByRole('button', { name: 'Save markup' }).waitFor();
    assert.equal(await page.locator('main :is(img, iframe, object, embed)').count(), 1, 'a hostile file is rendered');
    await page.getByLabel('Outcome').selectOption('failed');
    await page.getByLabel('Why dob must be given again').selectOption('does_not_match');
    await page.getByText('To be given again: dob (does not match)').waitFor();
    await isGood(page, `Review of ${business}`, 'Review');
    await page.getByLabel('Reason').fill('the date is not that of the papers');
    await page.getByRole('button', { name: 'Decide' }).click();
    await page.getByText('The server says: done.').waitFor();
    const { audit } = (await ada.person.reads(`/audit?subject=customer:${business}`)).body;
    assert.deepEqual(audit.map(({ action }: { action: string }) => action).toSorted(), [
      'personal.read',
      'review.decide',
      'review.open',
    ]);
    const { cases } = (await ada.person.reads('/cases?kind=verification_review')).body;
    assert.deepEqual(cases, []);
  });

  test('a server without such a bank says so at the bank desk', async () => {
    await goes('/bank');
    await page.getByText('has no manual bank').waitFor();
    await isGood(page, 'Bank desk', 'Bank desk, none');
  });

  test('the menu of a phone leads to every page, by touch and by key', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await goes('/');
    await page.getByRole('button', { name: 'Pages' }).click();
    await isGood(page, 'What needs a person', 'Menu');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Suspense' }).click();
    await heading('Suspense');
    assert.equal(await page.getByRole('navigation', { name: 'Pages' }).isVisible(), false, 'the menu stays open');
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('requests no other origin, executes no text, and triggers no policy violation and no error', async () => {
    assert.deepEqual(ada.amiss, []);
    assert.notEqual(await page.title(), '1');
  });
});

/**
 * Changes of terms with a time, in a real browser on a real server: planned in the form, confirmed by another operator, listed, made by
 * the server's own job at its time, and withdrawn.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import { type Person, takes } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import type { Came } from '../support/client.ts';
import { openStory, type Story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { type Desk, deskOf, formOn, isGood, signIn } from './window.ts';

const HOUR_MS = 3_600_000;

describe('a change of terms with a time', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };
  let page: Page;
  let form: ReturnType<typeof formOn>;
  let market = '';

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    await db.asSystem((tx) => takes(tx, 2, { right: 'terms' }));
    ada = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'ada');
    bea = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'bea');
    page = ada.page;
    form = formOn(page);
    const { markets } = (await ada.person.reads('/markets')).body;
    market = markets.find((one: Came) => one.direction === 'offramp' && one.fiat === 'inr').id;
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const title = () => page.locator('h1').innerText();
  const feeNow = async (): Promise<string> => {
    const { fees } = (await ada.person.reads(`/markets/${market}`)).body;
    return fees.find(({ kind }: Came) => kind === 'operator').bps;
  };
  /** As the field for a time takes it. */
  const typedIn = (ms: number): string => {
    const at = new Date(world.clock.now().getTime() + ms);
    return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  };
  /** @returns the answer of the confirmation */
  async function isPlanned(): Promise<Came> {
    await page.getByText('Nothing is done yet.').waitFor();
    await form.dialog().getByRole('button', { name: 'Close' }).click();
    const { proposals } = (await bea.person.reads('/proposals?state=open')).body;
    const said = (await bea.person.does(`/proposals/${proposals[0].id}/confirm`)).body;
    assert.equal(said.outcome, 'planned');
    return said;
  }

  test('is typed in local time, shown in UTC, and declined beside its field where it is past', async () => {
    await page.goto(`${origin}/console/markets/${market}`);
    await form.opens('Change the fee of the operator');
    await form.dialog().getByLabel('Share').fill('75');
    await form.dialog().getByLabel('From when').fill(typedIn(-HOUR_MS));
    await form.sends('the price list of winter');
    await form.dialog().getByText('must be in the future').first().waitFor();
    await isGood(page, await title(), 'Form, a time that is past');
    const at = typedIn(2 * HOUR_MS);
    await form.dialog().getByLabel('From when').fill(at);
    const shown = new Date(at).toISOString().replace('T', ' ').slice(0, 19);
    await form.effect().getByText(`${shown} UTC`).waitFor();
    await isGood(page, await title(), 'Form, planned fee');
    await form.sends('the price list of winter');
    await isPlanned();
  });

  test('stands on the page of its market with its people, and in the list of all', async () => {
    const body = { max: '4321', effectiveAt: new Date(world.clock.now().getTime() + 30 * HOUR_MS).toISOString() };
    const proposed = (await ada.person.does(`/markets/${market}`, { ...body, reason: 'more for winter' })).body;
    assert.equal((await bea.person.does(`/proposals/${proposed.proposal}/confirm`)).status, 200);
    const here = page.getByRole('region', { name: 'Planned' });
    await here.getByText('Share 75').waitFor();
    await here.getByText('Maximum deposit 4321').waitFor();
    await here.getByText('bea').first().waitFor();
    const answer = { question: 'late', answer: { then: 'refund' }, effectiveAt: body.effectiveAt };
    const asked = (await ada.person.does(`/markets/${market}/policies`, answer)).body;
    const { plan } = (await bea.person.does(`/proposals/${asked.proposal}/confirm`)).body;
    await here.getByText('Money arrived after the order had ended, What happens: refund it').waitFor();
    assert.equal((await ada.person.does(`/planned/${plan}/withdraw`)).body.outcome, 'done');
    await here.getByText('What happens: refund it').waitFor({ state: 'detached' });
    await isGood(page, await title(), 'Market with planned changes');
    await page.getByRole('link', { name: 'All planned changes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Planned changes' }).waitFor();
    const fee = page.getByRole('link', { name: 'Fee operator: Share 75' });
    await fee.waitFor();
    await isGood(page, 'Planned changes', 'Planned changes');
    await fee.click();
    await page.getByRole('dialog').getByText('the price list of winter').waitFor();
    await isGood(page, 'Planned changes', 'Planned change');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  });

  test('takes effect by itself at its time', async () => {
    assert.notEqual(await feeNow(), '75');
    world.clock.advance(2 * HOUR_MS + 60_000);
    await until('the fee has changed', async () => (await feeNow()) === '75');
    // Two hours without a request end a session.
    await page.goto(`${origin}/console/planned?state=done`);
    await signIn(page, 'ada');
    await page.getByText('Share 75').waitFor();
    await page.goto(`${origin}/console/audit?action=fee.set`);
    await page.getByText('the machine').first().waitFor();
    await isGood(page, 'Audit', 'Audit with a planned change');
  });

  test('is withdrawn before its time, and the page says what does not happen', async () => {
    await page.goto(`${origin}/console/planned`);
    await page.getByRole('button', { name: /^Withdraw planned change/ }).click();
    await form.effect().getByText('Maximum deposit 4321').waitFor();
    await isGood(page, 'Planned changes', 'Form, withdraw');
    await form.sends('the winter is short');
    await form.isDone();
    await page.getByText('No planned change matches these filters.').waitFor();
    world.clock.advance(40 * HOUR_MS);
    await page.goto(`${origin}/console/planned?state=withdrawn`);
    await signIn(page, 'ada');
    await page.getByText('Maximum deposit 4321').waitFor();
    assert.notEqual((await ada.person.reads(`/markets/${market}`)).body.max, '4321');
    assert.deepEqual([...ada.amiss, ...bea.amiss], []);
  });
});

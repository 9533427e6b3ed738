/**
 * A fresh login in the middle of an action, for an operator who signed in by single sign-on and has no passkey: a fresh
 * login at the provider, or a passkey that is enrolled on the spot. No one signs out for it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import { operatorNamed, type Person, twoDo } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { realProvider } from '../support/oidcprovider.ts';
import { openStory, type Story } from '../support/story.ts';
import { type Desk, isGood, openDesk } from './window.ts';

const STEP_UP_MS = 10 * 60_000;

describe('a fresh login without a passkey', { skip: noChromium }, () => {
  let provider: Awaited<ReturnType<typeof realProvider>>;
  let world: Story;
  let browser: Browser;
  let origin: string;
  let cat: Person;
  let desk: Desk;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    provider = await realProvider();
    const settings = { OIDC_NAME: 'the bank', OIDC_STRONG: 'amr=hwk', OIDC_STEP_UP: 'provider' };
    world = await openStory({ operators: 'two', settings: { ...provider.settings, ...settings } });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    provider.opens(`${origin}/console/sso`);
    const served = { db: world.server.db, baseUrl: world.server.baseUrl, clock: world.clock };
    const [ada, bea] = [await operatorNamed(served, 'ada', 'admin'), await operatorNamed(served, 'bea', 'admin')];
    cat = await operatorNamed(served, 'cat', 'admin');
    await twoDo(ada, bea, '/operators/cat/bind', { account: 'cat-at-the-bank' });
    browser = await startChromium();
    desk = await openDesk(browser, origin);
    await desk.page.goto(`${origin}/console/sessions`);
    await desk.page.getByRole('button', { name: 'Sign in with the bank' }).click();
    await provesAtProvider(desk.page);
    await desk.page.getByText('cat, ').waitFor();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
    await provider?.stop();
  });

  async function provesAtProvider(page: Page): Promise<void> {
    await page.getByRole('heading', { name: 'The provider' }).waitFor();
    await page.getByLabel('Name').fill('cat-at-the-bank');
    await page.getByLabel('With a security key').check();
    await page.getByRole('button', { name: 'Log in' }).click();
  }
  const sessionNow = async () => await (await desk.page.request.get(`${origin}/operator/v1/session`)).json();
  /** The last login is too old from now on. */
  async function isAskedAgain(): Promise<void> {
    world.clock.advance(STEP_UP_MS + 1_000);
    await desk.page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await desk.page.getByRole('heading', { name: 'Show your passkey again' }).waitFor();
  }
  const codes = () => desk.page.getByRole('region', { name: 'Recovery codes' }).getByRole('listitem');

  test('the provider requires a fresh login although it remembers the person, and the action is done after it, on the same page', async () => {
    const { page } = desk;
    const before = await sessionNow();
    await isAskedAgain();
    await isGood(page, 'Sessions and passkeys', 'Step-up with a provider');
    await page.getByRole('button', { name: 'Log in again with the bank' }).click();
    await page.getByRole('heading', { name: 'The provider' }).waitFor();
    assert.equal((await sessionNow()).session, before.session, 'the session ended before another one began');
    await provesAtProvider(page);
    await page.getByRole('heading', { level: 1, name: 'Sessions and passkeys' }).waitFor();
    await page.getByRole('button', { name: 'Make new recovery codes' }).click();
    await codes().first().waitFor();
    assert.equal(await codes().count(), 10);
    const { session, name } = await sessionNow();
    assert.equal(name, 'cat');
    assert.notEqual(session, before.session, 'the old session goes on');
  });

  test('a passkey is enrolled with a token in the middle of an action, which then goes on by itself', async () => {
    const { page } = desk;
    await isAskedAgain();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('No passkey on this device').click();
    await dialog.getByLabel('Operator token').fill(`clo_${'x'.repeat(43)}`);
    await dialog.getByRole('button', { name: 'Enrol a passkey' }).click();
    await dialog.getByText('The operator token or session is missing, wrong, expired or revoked.').waitFor();
    await isGood(page, 'Sessions and passkeys', 'Step-up with a wrong token');
    await dialog.getByLabel('Operator token').fill(cat.token);
    await dialog.getByRole('button', { name: 'Enrol a passkey' }).click();
    await dialog.getByText('Your passkey is enrolled.').waitFor();
    await dialog.getByRole('button', { name: 'Use passkey' }).click();
    await dialog.waitFor({ state: 'detached' });
    await codes().first().waitFor();
    assert.deepEqual(
      desk.amiss.filter((one) => !one.startsWith(provider.issuer)),
      [],
    );
  });
});

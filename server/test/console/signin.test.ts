/**
 * Signing in to the operators' console in a real browser, besides a passkey alone: at a real provider of single sign-on, with and
 * without a passkey after it, and with a recovery code. What an operator sees when it fails.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildConsole } from '../../src/console/index.ts';
import { operatorNamed, type Person, twoDo } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { isLong } from '../support/long.ts';
import { realProvider } from '../support/oidcprovider.ts';
import { openStory, type Story } from '../support/story.ts';
import { type Desk, deskOf, enrol, isGood, openDesk } from './window.ts';

const STEP_UP_MS = 10 * 60_000;
const TITLE = 'Cloverleaf console';

describe('signing in to the console', { skip: noChromium }, () => {
  let provider: Awaited<ReturnType<typeof realProvider>>;
  let world: Story;
  let browser: Browser;
  let origin: string;
  let ada: Desk & { person: Person };
  let bea: Desk & { person: Person };
  let cat: Person;

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    provider = await realProvider();
    const settings = { ...provider.settings, OIDC_NAME: 'the bank', OIDC_STRONG: 'amr=hwk' };
    world = await openStory({ operators: 'two', settings });
    origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    provider.opens(`${origin}/console/sso`);
    browser = await startChromium();
    const served = { db: world.server.db, baseUrl: world.server.baseUrl, clock: world.clock };
    ada = await deskOf(browser, origin, served, 'ada');
    bea = await deskOf(browser, origin, served, 'bea');
    cat = await operatorNamed(served, 'cat', 'admin');
  });
  after(async () => {
    await browser?.close();
    await world?.close();
    await provider?.stop();
  });

  const goes = (page: Page, path: string) => page.goto(`${origin}/console${path}`);
  const atProvider = (page: Page) => page.getByRole('button', { name: 'Sign in with the bank' });
  async function logsIn(page: Page, name: string, isStrong: boolean): Promise<void> {
    await atProvider(page).click();
    await page.getByRole('heading', { name: 'The provider' }).waitFor();
    await page.getByLabel('Name').fill(name);
    if (isStrong) await page.getByLabel('With a security key').check();
    await page.getByRole('button', { name: 'Log in' }).click();
  }
  /** A browser that nobody has signed in with. */
  const newDesk = () => openDesk(browser, origin);
  /** The provider is another site: its address is no mistake here. */
  const amissAt = (desk: Desk): string[] => desk.amiss.filter((one) => !one.startsWith(provider.issuer));

  test('an account is bound on the page of operators, by two', async () => {
    const { page } = ada;
    await goes(page, '/operators?row=cat');
    await page.getByText('No account for single sign-on is bound.').waitFor();
    await isGood(page, 'Operators and rules', 'Operator with accounts');
    await page.getByRole('button', { name: 'Bind an account' }).click();
    await page.getByLabel('Id of the account').fill('cat-at-the-bank');
    await page.getByText('Anyone who signs in as cat-at-the-bank').waitFor();
    await isGood(page, 'Operators and rules', 'Bind an account');
    await page.getByLabel('Reason').fill('asked cat on the telephone');
    await page.getByRole('dialog').getByRole('button', { name: 'Bind an account' }).click();
    await page.getByText('Nothing is done yet.').waitFor();
    const { proposals } = (await bea.person.reads('/proposals?action=operator.bind')).body;
    assert.equal((await bea.person.does(`/proposals/${proposals[0].id}/confirm`)).status, 200);
    await goes(page, '/operators?row=cat');
    await page.getByText('subject cat-at-the-bank').waitFor();
    await isGood(page, 'Operators and rules', 'Operator with an account');
  });

  test('who shows a key at the provider is in, on the page asked for, and money still asks for a passkey', async () => {
    const desk = await newDesk();
    const { page } = desk;
    await goes(page, '/kill-switches?x=1');
    await atProvider(page).waitFor();
    await isGood(page, TITLE, 'Sign in with a provider');
    await logsIn(page, 'cat-at-the-bank', true);
    await page.getByRole('heading', { level: 1, name: 'Kill switches' }).waitFor();
    await page.getByText('cat, ').waitFor();
    assert.ok(page.url().startsWith(`${origin}/console/kill-switches`), page.url());
    const [session] = (await page.context().cookies(origin)).filter(({ name }) => name === 'console');
    assert.deepEqual([session?.sameSite, session?.httpOnly], ['Strict', true]);
    await goes(page, '/sessions');
    await page.getByText('this one').waitFor();
    await page.getByRole('button', { name: 'Enrol another passkey' }).click();
    await page.getByRole('heading', { name: 'Show your passkey again' }).waitFor();
    assert.deepEqual(amissAt(desk), []);
    await desk.close();
  });

  if (isLong)
    test('who shows a password alone shows a passkey, too; one of somebody else does not count', async () => {
      const desk = await newDesk();
      const { page } = desk;
      await goes(page, '/');
      await enrol(page, cat.token);
      await logsIn(page, 'cat-at-the-bank', false);
      await page.getByText('show your passkey, too').waitFor();
      assert.equal(new URL(page.url()).search, '', 'the answer of the provider stays in the address');
      await isGood(page, TITLE, 'Passkey after the provider');
      assert.equal(
        (await page.request.get(`${origin}/operator/v1/session`)).status(),
        401,
        'a password alone signed in',
      );
      await page.getByRole('button', { name: 'Use passkey' }).click();
      await page.getByRole('heading', { level: 1, name: 'What needs a person' }).waitFor();
      await page.getByText('cat, ').waitFor();
      assert.deepEqual(amissAt(desk), []);
      await desk.close();

      const other = bea.page;
      await other.getByRole('button', { name: 'Sign out' }).click();
      await logsIn(other, 'cat-at-the-bank', false);
      await other.getByRole('button', { name: 'Use passkey' }).click();
      await other.getByText('belongs to another operator').waitFor();
      await isGood(other, TITLE, 'Passkey of another operator');
    });

  if (isLong)
    test('a stranger, a cancelled login and a provider that is down are told apart, and nobody is let in', async () => {
      const desk = await newDesk();
      const { page } = desk;
      await goes(page, '/');
      await logsIn(page, 'somebody-else', true);
      await page.getByText('No enabled operator is bound to this account.').waitFor();
      await isGood(page, TITLE, 'Account that nobody bound');
      await page.getByRole('link', { name: 'Back to the sign-in page' }).click();
      await page.context().clearCookies();
      await atProvider(page).click();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('The provider declined the login.').waitFor();
      await page.getByRole('link', { name: 'Back to the sign-in page' }).click();

      await atProvider(page).click();
      await page.getByLabel('Name').fill('cat-at-the-bank');
      await page.route('**/session/sso/answer', async (route) => {
        provider.goesDown(true);
        await route.continue();
      });
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByText('The provider of single sign-on does not answer.').waitFor();
      await isGood(page, TITLE, 'Provider down');
      provider.goesDown(false);
      assert.equal((await page.request.get(`${origin}/operator/v1/session`)).status(), 401);
      await desk.close();
    });

  if (isLong)
    test('an address with somebody else’s answer, or another place to go to, signs nobody in and leads nowhere', async () => {
      const desk = await newDesk();
      const { page } = desk;
      for (const query of ['code=stolen&state=stolen', 'next=https://evil.test', 'error=x&to=//evil.test', '']) {
        await goes(page, `/sso?${query}`);
        await page.getByRole('alert').waitFor();
        assert.equal(page.url(), `${origin}/console/sso`);
      }
      await goes(page, '//evil.test/');
      await logsIn(page, 'cat-at-the-bank', true);
      await page.getByText('cat, ').waitFor();
      assert.equal(new URL(page.url()).origin, origin);
      assert.deepEqual(amissAt(desk), []);
      await desk.close();
    });

  if (isLong)
    test('an operator who is disabled meanwhile is out, and the provider does not let them in again', async () => {
      const desk = await newDesk();
      const { page } = desk;
      await goes(page, '/');
      await logsIn(page, 'cat-at-the-bank', true);
      await page.getByText('cat, ').waitFor();
      assert.equal((await ada.person.does('/operators/cat/disable')).status, 200);
      await page.reload();
      await atProvider(page).waitFor();
      // The provider would remember the person.
      await page.context().clearCookies();
      await logsIn(page, 'cat-at-the-bank', true);
      await page.getByText('No enabled operator is bound to this account.').waitFor();
      await twoDo(ada.person, bea.person, '/operators/cat/enable');
      await desk.close();
    });

  if (isLong)
    test('recovery codes are made after a fresh login, and one enrols another passkey on another device', async () => {
      const { page } = ada;
      await goes(page, '/sessions');
      await page.getByText('You have none.').waitFor();
      world.clock.advance(STEP_UP_MS + 1_000);
      await page.getByRole('button', { name: 'Make new recovery codes' }).click();
      await page.getByRole('button', { name: 'Use passkey' }).click();
      const codes = page.getByRole('region', { name: 'Recovery codes' }).getByRole('listitem');
      await codes.first().waitFor();
      assert.equal(await codes.count(), 10);
      await isGood(page, 'Sessions and passkeys', 'Recovery codes');
      const [code = ''] = await codes.allInnerTexts();

      const desk = await newDesk();
      const other = desk.page;
      await goes(other, '/');
      await other.getByText('Passkey lost, recovery code at hand').click();
      await other.getByLabel('Recovery code').fill('00000-00000-00000-00000');
      await other.getByRole('button', { name: 'Enrol a new passkey' }).click();
      await other.getByText('This recovery code is wrong, was used, or was replaced.').waitFor();
      await isGood(other, TITLE, 'Recovery code that is wrong');
      await other.getByLabel('Recovery code').fill(code.toUpperCase());
      await other.getByRole('button', { name: 'Enrol a new passkey' }).click();
      await other.getByText('Codes left: 9.').waitFor();
      assert.equal((await other.request.get(`${origin}/operator/v1/session`)).status(), 401, 'a code signed in');
      await other.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await other.getByText('ada, ').waitFor();
      await goes(page, '/sessions');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();

      await goes(other, '/cases?kind=recovery_code_used');
      await other.getByRole('link', { name: 'recovery code used' }).first().click();
      await other.getByText('Ask the operator, by telephone or in person').first().waitFor();
      await isGood(other, await other.locator('h1').innerText(), 'Case of a recovery code');
      assert.deepEqual(desk.amiss, []);
      await desk.close();
    });
});

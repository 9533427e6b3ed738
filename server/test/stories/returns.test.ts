/** The customer logs in by code and confirms the full address for a refund of crypto in suspense, which two operators send. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { getAddress } from 'viem';
import { replaceDenyList } from '../../src/compliance/index.ts';
import { openBrowser } from '../protocols/checkout/environment.ts';
import { confirmedBy, type Person, type Said } from '../protocols/operator/people.ts';
import { salePaidTwice } from '../support/orders.ts';
import { openStaffedStory } from '../support/staffed.ts';
import type { Story } from '../support/story.ts';

let world: Story;
let ada: Person;
let bea: Person;
let vic: Person;
before(async () => {
  ({ world, ada, bea, vic } = await openStaffedStory({ ada: 'admin', bea: 'admin', vic: 'viewer' }));
});
after(async () => await world?.close());

const ASK = 'Where we send your coins back';
const CHECK = 'Is this your address?';
const WAITS = 'We have your address';

const paidTwice = (amount = '25') => salePaidTwice(world, amount);

async function linkFor(deposit: bigint): Promise<string> {
  const { status, body } = await ada.does(`/deposits/${deposit}/return-link`, { reason: 'ticket 12' });
  assert.equal(status, 200, JSON.stringify(body));
  return body.returnUrl;
}

/** Logs in by code, types an address and confirms it. */
async function confirms(url: string, address: string) {
  const browser = openBrowser();
  await browser.login(url);
  const shown = await browser.go('address', { wallet: address });
  assert.equal(shown.title, CHECK, shown.text);
  const after = await browser.go('confirm', { address: shownAddress(shown.text) });
  return { browser, shown, after };
}

const shownAddress = (text: string): string => /name="address" value="([^"]+)"/.exec(text)?.[1] ?? '';
const linksOf = async (deposit: bigint) => (await vic.reads(`/deposits/${deposit}`)).body.returnLinks;
const casesAbout = async (deposit: bigint, kind = 'return_confirmed') =>
  (await vic.reads(`/cases?kind=${kind}`)).body.cases.filter(
    ({ subject }: { subject: string }) => subject === `deposit:${deposit}`,
  );
const agreed = async (said: Said): Promise<number> => (await confirmedBy(bea, said)).status;

describe('a customer confirms a refund address', () => {
  test('from the link to the refund: the address is shown in full, stored as evidence, used by two people, and announced', async () => {
    const { order, deposit } = await paidTwice();
    const url = await linkFor(deposit);
    const target = getAddress(world.newAddress());
    const browser = openBrowser();
    const login = await browser.open(url);
    assert.equal(login.title, 'Log in');
    assert.doesNotMatch(login.text, /USDC|0x[0-9a-fA-F]{40}|matic20/, 'the page shows the deposit before the login');
    const page = await browser.login(url);
    assert.equal(page.title, ASK);
    assert.match(page.text, /25 USDC/);
    assert.match(page.text, /matic20/);
    assert.match(page.text, new RegExp(`${order.id}`));
    assert.doesNotMatch(
      page.text,
      new RegExp(`suspense|second_payment|>${deposit}<|ada|ticket`),
      'the page shows internals',
    );

    const check = await browser.go('address', { wallet: ` ${target} ` });
    assert.equal(check.title, CHECK);
    assert.equal(shownAddress(check.text).toLowerCase(), target.toLowerCase());
    assert.deepEqual(await casesAbout(deposit), [], 'typing an address confirmed it');
    assert.equal((await ada.does(`/deposits/${deposit}/return`)).body.reason, 'missing_fields');

    const again = await browser.go('other');
    assert.equal(again.title, ASK);
    await browser.go('address', { wallet: target.toLowerCase() });
    const twice = await Promise.all([1, 2].map(() => browser.send('confirm', { address: shownAddress(check.text) })));
    assert.deepEqual(
      twice.map(({ status }) => status),
      [303, 303],
    );
    const waits = await browser.open(url);
    assert.equal(waits.title, WAITS);
    assert.match(waits.text, new RegExp(shownAddress(check.text)));

    const [link, ...others] = await linksOf(deposit);
    assert.deepEqual([others.length, link.madeBy, link.confirmedAddress], [0, 'ada', shownAddress(check.text)]);
    assert.ok(
      link.confirmedAt !== null && link.loggedInAt !== null,
      'the link lacks the time of the login or of the confirmation',
    );
    const [found] = await casesAbout(deposit);
    assert.equal(found.reason, 'the customer has confirmed the address for its return');
    const { lines, next } = (await vic.reads(`/orders/${order.id}/timeline`)).body;
    assert.match(next, new RegExp(`two people return deposit ${deposit}`));
    assert.ok(
      lines.some(({ what }: { what: string }) => /customer confirmed the destination of the refund/.test(what)),
    );
    const line = (await vic.reads('/suspense')).body.suspense.find(
      (one: { deposit?: string; id?: string }) => String(one.deposit ?? one.id) === String(deposit),
    );
    assert.equal(line.waitsFor, 'operator');
    const { audit } = (await vic.reads(`/audit?subject=deposit:${deposit}`)).body;
    assert.deepEqual([audit[0].action, audit[0].outcome], ['deposit.return-link', 'done']);
    assert.ok(!JSON.stringify(audit).includes(url.slice(-40)), 'the audit contains the link');

    const elsewhere = await ada.does(`/deposits/${deposit}/return`, { address: world.newAddress() });
    assert.deepEqual([elsewhere.status, Object.keys(elsewhere.body.fields)], [400, ['address']]);
    const proposed = await ada.does(`/deposits/${deposit}/return`, { reason: 'the customer confirmed it' });
    const { seen } = (await bea.reads(`/proposals/${proposed.body.proposal}`)).body;
    assert.deepEqual([seen.to, seen.confirmed.link], [shownAddress(check.text), link.id]);
    assert.equal(await agreed(proposed), 200);
    await world.until('the refund is with the node', async () => {
      const { payouts } = await world.traceOf(order);
      return payouts.some(({ purpose, submittedAt }) => purpose === 'refund' && submittedAt !== null);
    });
    await world.mines(2);
    await world.until('the customer sees that it was sent', async () => {
      const seenThere = await browser.open(url);
      return seenThere.title === 'Your coins were sent back' && /Sent by the transaction/.test(seenThere.text);
    });
    assert.equal(await world.tokensOf(target, 'usdc'), '25');
    assert.deepEqual(await casesAbout(deposit), []);
  });

  test('refuses a malformed address, a wrong checksum, a token contract and our own addresses, and gives the reason', async () => {
    const { order, deposit } = await paidTwice();
    const browser = openBrowser();
    await browser.login(await linkFor(deposit));
    const right = getAddress(world.newAddress());
    const at = [...right].findIndex((char, index) => index > 1 && /[a-fA-F]/.test(char));
    const char = right[at] ?? '';
    const flipped = char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase();
    const token = world.tokenAddress('usdc', 'matic20');
    for (const [wallet, why] of [
      ['', /Enter: Your address/],
      ['0x1234', /not an address/],
      ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', /not an address/],
      [`${right.slice(0, at)}${flipped}${right.slice(at + 1)}`, /not an address/],
      ['<script>alert(1)</script>', /not an address/],
      [token, /contract of a token/],
      [order.depositAddress, /address of ours/],
    ] as const) {
      const said = await browser.go('address', { wallet });
      assert.equal(said.status, 400, wallet);
      assert.match(said.text, why, wallet);
      assert.doesNotMatch(said.text, /<script>alert/);
    }
    assert.deepEqual(
      (await linksOf(deposit)).map(({ enteredAddress }: { enteredAddress: unknown }) => enteredAddress),
      [null],
    );
  });

  test('confirms only the address that was shown, and only once: an older form changes nothing', async () => {
    const { deposit } = await paidTwice();
    const url = await linkFor(deposit);
    const browser = openBrowser();
    await browser.login(url);
    const first = shownAddress((await browser.go('address', { wallet: world.newAddress() })).text);
    await browser.go('other');
    const second = shownAddress((await browser.go('address', { wallet: world.newAddress() })).text);
    assert.equal((await browser.go('confirm', { address: first })).title, CHECK);
    assert.equal((await browser.go('confirm', { address: second })).title, WAITS);
    for (const action of ['other', 'address', 'confirm'])
      assert.equal((await browser.go(action, { address: first, wallet: first })).title, WAITS, action);
    assert.equal((await linksOf(deposit))[0].confirmedAddress, second);
  });

  test('ends an older link, with its confirmation, when a newer one is made', async () => {
    const { deposit } = await paidTwice();
    const url = await linkFor(deposit);
    const { browser } = await confirms(url, world.newAddress());
    const newer = await linkFor(deposit);
    assert.equal((await browser.open(url)).status, 410);
    assert.equal((await ada.does(`/deposits/${deposit}/return`)).body.reason, 'missing_fields');
    assert.deepEqual(await casesAbout(deposit), []);
    assert.equal((await browser.open(newer)).title, ASK);
  });
});

describe('a link', () => {
  test('opens nothing without its own login, for another customer, altered, or as another page', async () => {
    const [one, other] = [await paidTwice('25'), await paidTwice('31')];
    const [url, others] = [await linkFor(one.deposit), await linkFor(other.deposit)];
    const browser = openBrowser();
    assert.equal((await browser.login(others)).title, ASK);
    const foreign = await browser.open(url);
    assert.equal(foreign.title, 'Log in', 'the page accepted the session of another customer');
    assert.doesNotMatch(foreign.text, /USDC|0x[0-9a-fA-F]{40}|matic20/);
    const posted = await browser.send('address', { wallet: world.newAddress() });
    assert.equal((await browser.open(posted.location ?? url)).title, 'Log in');
    assert.equal((await linksOf(one.deposit))[0].enteredAddress, null);
    const token = url.slice(url.lastIndexOf('/') + 1);
    assert.doesNotMatch(Buffer.from(token, 'base64url').toString('latin1'), /customer|deposit|until/i);
    for (const path of ['kyc', 'bank', 'checkout'])
      assert.equal((await browser.ask(`${world.server.baseUrl}/${path}/${token}`)).status, 404, path);
    const middle = token.length >> 1;
    const altered = `${token.slice(0, middle)}${token[middle] === 'A' ? 'B' : 'A'}${token.slice(middle + 1)}`;
    assert.equal((await browser.ask(`${world.server.baseUrl}/return/${altered}`)).status, 404);
    const bare = await browser.ask(url, { method: 'POST', body: new URLSearchParams({ action: 'confirm' }) });
    assert.equal(bare.status, 403, 'a form without the text of this session was accepted');
  });

  test('is made only for crypto of a known customer in suspense; a refusal says what to do instead', async () => {
    const credit = await world.bank.creditAccount({
      currency: 'INR',
      units: 90_000n,
      text: 'thanks',
      payerName: 'Ravi',
    });
    await world.looksAtTheBank();
    const nobodys = await world.until('an unknown credit', async () => {
      const [row] = await world.read((tx) =>
        tx.rows<{ id: bigint }>(`select id from deposits where external_id = $1 and state = 'suspense'`, [credit]),
      );
      return row?.id;
    });
    const bank = await ada.does(`/deposits/${nobodys}/return-link`);
    assert.deepEqual([bank.status, bank.body.reason], [409, 'does_not_fit']);
    assert.match(bank.body.error, /deposit return/);

    const { order, deposit } = await paidTwice();
    await world.read((tx) => tx.run('update deposits set order_id = null where id = $1', [deposit]));
    const unknown = await ada.does(`/deposits/${deposit}/return-link`);
    assert.equal(unknown.body.reason, 'does_not_fit');
    assert.match(unknown.body.error, /return-text.*deposit assign/);
    await world.read((tx) => tx.run('update deposits set order_id = $2 where id = $1', [deposit, order.id]));
    const [applied] = (await world.traceOf(order)).deposits.filter(({ state }) => state === 'applied');
    assert.equal((await ada.does(`/deposits/${applied?.id}/return-link`)).body.reason, 'deposit_unfit');
    assert.equal((await vic.does(`/deposits/${deposit}/return-link`)).body.reason, 'role_missing');
    assert.equal((await ada.does('/deposits/999999/return-link')).status, 404);
  });
});

describe('reasons against a refund are not shown', () => {
  test('a denied address, a block and a hold look as any other to the customer, and none lets the refund leave', async () => {
    const pages: string[] = [];
    for (const against of ['nothing', 'denied', 'blocked', 'held'] as const) {
      const { order, deposit } = await paidTwice();
      const url = await linkFor(deposit);
      const target = world.newAddress();
      if (against === 'denied')
        await world.read((tx) =>
          replaceDenyList(tx, world.vault, {
            ...{ list: 'sanctions', version: '2026-11-02', now: world.clock.now() },
            destinations: [{ kind: 'address', value: target }],
          }),
        );
      if (against === 'blocked') await ada.does(`/customers/${order.customerId}/block`);
      if (against === 'held') await ada.does(`/deposits/${deposit}/hold`);
      const { shown, after } = await confirms(url, target);
      const neutral = (text: string) =>
        [
          String(order.id),
          ...text.matchAll(
            /0x[0-9a-fA-F]{40,64}|csrf" value="[0-9a-f]+|<span>[0-9a-fx]{1,4}<\/span>|\/return\/[\w-]+|data-news="\w+|\d{4}-\d\d-\d\d, \d\d:\d\d/g,
          ),
        ]
          .map(String)
          .reduce((rest, own) => rest.replaceAll(own, '…'), text);
      pages.push(neutral(shown.text) + neutral(after.text));
      if (against === 'nothing') continue;
      const said = await ada.does(`/deposits/${deposit}/return`);
      if (said.status === 202) {
        const { seen } = (await bea.reads(`/proposals/${said.body.proposal}`)).body;
        assert.ok(
          seen.approves.length > 1 || against === 'held',
          'the proposal does not show the confirming operator the reasons against it',
        );
        await bea.does(`/proposals/${said.body.proposal}/confirm`);
        await world.until('its refund is held', async () => {
          const { refunds } = (await vic.reads(`/deposits/${deposit}`)).body;
          return refunds[0]?.state === 'held';
        });
        assert.equal((await openBrowserAt(url)).title, WAITS, 'the page shows that the refund is held');
      } else assert.equal(said.body.reason, 'deposit_unfit');
      assert.equal(await world.tokensOf(target, 'usdc'), '0');
    }
    for (const page of pages) assert.equal(page, pages[0]);
  });
});

async function openBrowserAt(url: string) {
  // A customer can request one code per minute.
  world.clock.advance(61_000);
  return await openBrowser().login(url);
}

test('a partner whose customer has to name a destination receives an event once it is confirmed', async () => {
  const { order, deposit } = await paidTwice();
  const told = async () =>
    await world.told<{ needsDestination: boolean; refunds: { status: string }[] }>('offramp/transaction', {
      transactionId: String(order.id),
      customerId: order.customerId,
    });
  assert.equal((await ada.does(`/deposits/${deposit}/refund`)).status, 200);
  assert.equal((await told()).needsDestination, true);
  const types = () =>
    world.read((tx) =>
      tx.rows<{ type: string }>('select type from events where subject = $1 order by subject_seq', [
        `order:${order.id}`,
      ]),
    );
  const before = (await types()).length;
  await confirms(await linkFor(deposit), world.newAddress());
  const { needsDestination, refunds } = await told();
  assert.deepEqual([needsDestination, refunds.map(({ status }) => status)], [false, ['under_review']]);
  assert.deepEqual((await types()).slice(before), [{ type: 'order.changed' }]);
});

test('a link expires after seven days, and an address cannot be confirmed afterwards', async () => {
  const { deposit } = await paidTwice();
  const url = await linkFor(deposit);
  const browser = openBrowser();
  await browser.login(url);
  const shown = await browser.go('address', { wallet: world.newAddress() });
  world.clock.advance(7 * 24 * 3_600_000);
  assert.equal((await browser.go('confirm', { address: shownAddress(shown.text) })).status, 410);
  assert.equal((await linksOf(deposit))[0].confirmedAddress, null);
});

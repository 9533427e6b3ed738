/** A number that was idle for long: a right code proves the number, and not that its holder is the customer of long ago. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { later } from '../../../src/base/clock.ts';
import { isPhoneIdle } from '../../../src/customers/index.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import { BACK, DETAILS, openBrowser, type PagesEnvironment, pagesEnvironment, type Shown } from './environment.ts';

const DAY = 86_400_000;
const IDLE_DAYS = 180;
let world: PagesEnvironment;
let acme: TestPartner;

before(async () => {
  world = await pagesEnvironment({ phoneIdleMs: IDLE_DAYS * DAY });
  acme = await world.partner('Acme Wallet');
});
after(async () => await world?.stop());

const BUY = { coinCode: 'usdc', network: 'matic20', fiatAmount: '5000', fiatType: '1', type: '1', redirectUrl: BACK };
async function newLink(over: object = {}): Promise<string> {
  await world.refreshPrices();
  const { status, body, text } = await acme.post('/onramp/api/v2/common/transaction/generateLink', { ...BUY, ...over });
  assert.equal(status, 200, text);
  return body.data.link;
}
let phones = 0;
const newPhone = (): string => `+91 90007 ${String(10_000 + (phones += 1))}`;
type Browser = ReturnType<typeof openBrowser>;

/** Enters the number and the right code through an anonymous link. */
async function withCode(phone: string, link?: string): Promise<{ browser: Browser; shown: Shown; link: string }> {
  const opened = link ?? (await newLink());
  const browser = openBrowser();
  await browser.open(`${opened}?go=1`);
  await browser.go('phone', { phone });
  await browser.go('code');
  return { browser, shown: await browser.go('login', { code: '123456' }), link: opened };
}
const customersOf = async (phone: string) => {
  const rows = await world.query(
    'select id, phone_index, level from customers where partner_id = $1 order by created_at, id',
    [acme.partner.id],
  );
  const own = await world.query('select id from customers where phone_index = any($1)', [
    world.vault.indexes(phone.replace(/[^0-9]/g, ''), `customers.phone:${acme.partner.id}`),
  ]);
  return { rows, holders: own.map(({ id }) => String(id)) };
};
const holderOf = async (phone: string): Promise<string> => (await customersOf(phone)).holders[0] ?? '';
const activity = async (customerId: string) =>
  (
    await world.query('select action, facts from partner_activity where subject = $1 order by id', [
      `customer:${customerId}`,
    ])
  ).filter(({ action }) => ['customer.identity_proved', 'customer.number_passed_on'].includes(String(action)));
const isProof = ({ title }: Shown): boolean => title === 'Is it still you?';
const PROOF = { identityNumber: DETAILS.identityNumber, dob: DETAILS.dob };

/** A customer of a number who has given details, and then stayed away. */
async function away(days = IDLE_DAYS) {
  const phone = newPhone();
  const { browser } = await withCode(phone);
  const identityNumber = `ID${phone.slice(-5)}`;
  const done = await browser.go('details', { ...DETAILS, identityNumber });
  assert.doesNotMatch(done.title, /details/i, done.text);
  const customerId = await holderOf(phone);
  world.clock.advance(days * DAY);
  return { phone, customerId, proof: { ...PROOF, identityNumber } };
}

test('a code opens a customer whose number was idle for less than the time, and asks for a proof from then on', async () => {
  const early = await away(IDLE_DAYS - 1);
  assert.ok(!isProof((await withCode(early.phone)).shown));
  world.clock.advance(IDLE_DAYS * DAY);
  const { shown, browser, link } = await withCode(early.phone);
  assert.ok(isProof(shown), shown.title);
  for (const value of [early.phone, DETAILS.firstName, DETAILS.lastName, DETAILS.dob, early.proof.identityNumber])
    assert.ok(!shown.text.includes(value), 'the page names what is on file');
  const [row] = await world.query('select logged_in_at from customers where id = $1', [early.customerId]);
  assert.ok(row?.logged_in_at < later(world.clock.now(), -DAY), 'the code was recorded as a login');
  assert.ok(isProof(await browser.open(`${link}?go=1`)), 'a reload opens the customer');
  assert.ok(isProof(await browser.go('details', DETAILS)), 'a form of a later step was accepted');
});

test('the number of the document, in any spelling, and the date of birth open the customer, who then is not asked again', async () => {
  const { phone, customerId, proof } = await away();
  const { browser, shown } = await withCode(phone);
  assert.ok(isProof(shown));
  const spelled = `${proof.identityNumber.slice(0, 3)}-${proof.identityNumber.slice(3)}`.toLowerCase();
  assert.equal((await browser.go('prove', { ...proof, dob: '1984-02-30' })).status, 400);
  const opened = await browser.go('prove', { ...proof, identityNumber: spelled });
  assert.ok(!isProof(opened) && opened.title !== 'Log in', opened.title);
  assert.equal(await holderOf(phone), customerId);
  assert.ok(!isProof((await withCode(phone)).shown));
  assert.deepEqual(
    (await activity(customerId)).map(({ action }) => action),
    ['customer.identity_proved'],
  );
});

test('one right answer of two is wrong; the third wrong one locks every session for a day, also for right answers', async () => {
  const { phone, customerId, proof } = await away();
  const { browser } = await withCode(phone);
  const other = await withCode(phone);
  assert.equal((await browser.go('prove', { ...proof, dob: '1984-02-28' })).status, 400);
  assert.equal((await other.browser.go('prove', { ...proof, identityNumber: 'ZZ000000' })).status, 400);
  assert.equal((await browser.go('prove', { ...proof, identityNumber: 'ZZ000001' })).status, 429);
  const locked = await other.browser.go('prove', proof);
  assert.ok(isProof(locked) && locked.status === 429, 'right answers opened a locked customer');
  world.clock.advance(DAY - 60_000);
  assert.equal((await (await withCode(phone)).browser.go('prove', proof)).status, 429, 'a new code ended the lock');
  world.clock.advance(60_000);
  assert.ok(!isProof(await (await withCode(phone)).browser.go('prove', proof)), 'the lock has no end');
  assert.equal((await activity(customerId)).length, 1);
});

test('guesses at once share the three tries', async () => {
  const { phone, customerId } = await away();
  const sessions = await Promise.all(Array.from({ length: 4 }, () => withCode(phone)));
  const guesses = sessions.flatMap(({ browser }, at) =>
    [0, 1].map((more) => browser.send('prove', { ...PROOF, identityNumber: `GUESS${at}${more}` })),
  );
  const answers = await Promise.all(guesses);
  assert.equal(answers.filter(({ status }) => status === 400).length, 2);
  assert.equal(answers.filter(({ status }) => status === 429).length, 6);
  const [row] = await world.query('select proof_tries from customers where id = $1', [customerId]);
  assert.equal(row?.proof_tries, 3);
});

test('a customer who has given nothing gets the same pages, and no answer is right', async () => {
  const phone = newPhone();
  await withCode(phone);
  world.clock.advance(IDLE_DAYS * DAY);
  const known = await away();
  const [bare, full] = [await withCode(phone), await withCode(known.phone)];
  const plain = ({ text }: Shown) => text.replaceAll(/[0-9a-f]{32,}|\/checkout\/[\w-]+/g, '');
  assert.equal(plain(bare.shown), plain(full.shown));
  const empty = { identityNumber: 'undefined', dob: '1970-01-01' };
  for (const status of [400, 400, 429, 429]) {
    const [a, b] = [await bare.browser.go('prove', empty), await full.browser.go('prove', empty)];
    assert.deepEqual([a.status, b.status], [status, status]);
    assert.equal(plain(a), plain(b));
  }
});

test('who cannot prove it goes on as a new customer: the former one keeps everything but the number', async () => {
  const { phone, customerId, proof } = await away();
  const { browser } = await withCode(phone);
  const second = await withCode(phone);
  const before = await world.query('select level, verification, blocked_at from customers where id = $1', [customerId]);
  const next = await browser.go('new');
  assert.equal(next.title, 'Your details', 'the new customer has the former one’s verification');
  assert.ok(!next.text.includes(DETAILS.firstName));
  const made = await holderOf(phone);
  assert.ok(made !== '' && made !== customerId);
  const { rows } = await customersOf(phone);
  assert.equal(rows.find(({ id }) => id === customerId)?.phone_index, null);
  assert.deepEqual(
    await world.query('select level, verification, blocked_at from customers where id = $1', [customerId]),
    before,
  );
  assert.deepEqual(await activity(customerId), [{ action: 'customer.number_passed_on', facts: { to: made } }]);
  // A session that had the code too proves nothing any more.
  assert.equal((await second.browser.go('prove', proof)).title, 'Log in');
  assert.equal((await withCode(phone)).shown.title, 'Your details');
  assert.equal(await holderOf(phone), made);
});

test('a session that has the code only does not become the customer when another session proves the identity', async () => {
  const { phone, customerId, proof } = await away();
  const [one, two] = [await withCode(phone), await withCode(phone)];
  await one.browser.go('prove', proof);
  assert.ok(isProof(await two.browser.open(`${two.link}?go=1`)));
  const again = await two.browser.go('new');
  assert.equal(again.title, 'Your phone number');
  assert.equal(await holderOf(phone), customerId, 'the number was taken from a customer who has just proved it');
});

test('a second former customer of the number is not opened either', async () => {
  const { phone, customerId } = await away(IDLE_DAYS + 1);
  await world.query(
    `insert into customers (id, partner_id, kind, phone, phone_index, level, logged_in_at, created_at, updated_at)
      select 'secondhand' || '_' || partner_id, partner_id, kind, phone, phone_index, 1, created_at, created_at + interval '1 hour',
        updated_at from customers where id = $1`,
    [customerId],
  );
  const { browser } = await withCode(phone);
  await browser.go('new');
  const { holders } = await customersOf(phone);
  assert.equal(holders.length, 1);
  assert.ok(holders[0] !== customerId && holders[0]?.startsWith('secondhand') === false);
});

test('two sessions that begin again at once make one new customer', async () => {
  const { phone, customerId } = await away();
  const sessions = await Promise.all([withCode(phone), withCode(phone), withCode(phone)]);
  await Promise.all(sessions.map(({ browser }) => browser.send('new')));
  const { holders } = await customersOf(phone);
  assert.equal(holders.length, 1);
  assert.notEqual(holders[0], customerId);
  assert.equal((await activity(customerId)).length, 1);
});

test('a link in which the partner names its customer needs the code only, and a named customer is never found by a number', async () => {
  const phoneNumber = newPhone();
  const named = { clientCustomerId: `named ${phoneNumber}`, phoneNumber };
  const { kycUrl, customerId } = await world.invited(acme, named);
  await openBrowser().login(kycUrl);
  world.clock.advance(IDLE_DAYS * DAY);
  const again = await acme.post('kyc/url', { customerId, phoneNumber, type: 'INDIVIDUAL' });
  assert.equal((await openBrowser().login(again.body.data.kycUrl)).title, 'Your details');
  const { shown } = await withCode(phoneNumber);
  assert.equal(shown.title, 'Your details');
  assert.equal((await customersOf(phoneNumber)).holders.length, 2);
});

/** A customer whom the partner has named, and who has given details and stayed away. */
async function namedAway(days = IDLE_DAYS) {
  const phoneNumber = newPhone();
  const { kycUrl, customerId } = await world.invited(acme, { clientCustomerId: `first ${phoneNumber}`, phoneNumber });
  const browser = openBrowser();
  await browser.login(kycUrl);
  const identityNumber = `ID${phoneNumber.slice(-5)}`;
  await browser.go('details', { ...DETAILS, identityNumber });
  world.clock.advance(days * DAY);
  return { phoneNumber, customerId, proof: { ...PROOF, identityNumber } };
}
/** Somebody signs up at the partner with the number. @returns the customerId that its program gets, to repeat the call with */
async function signsUp(phoneNumber: string, clientCustomerId = `second ${phoneNumber}`): Promise<string> {
  const { status, body } = await acme.post('kyc/url', { clientCustomerId, phoneNumber, type: 'INDIVIDUAL' });
  assert.equal(status, 400);
  assert.match(body.error, /already linked to customerId/);
  return body.customerId;
}

for (const [how, more] of [
  [
    'with the new name and the number',
    (phoneNumber: string) => ({ clientCustomerId: `second ${phoneNumber}`, phoneNumber }),
  ],
  ['with the id alone', () => ({})],
] as const)
  test(`an id that was told because of a number that was idle for long, repeated ${how}, needs a proof`, async () => {
    const { phoneNumber, customerId, proof } = await namedAway();
    assert.equal(await signsUp(phoneNumber), customerId);
    const again = await acme.post('kyc/url', { customerId, type: 'INDIVIDUAL', ...more(phoneNumber) });
    assert.equal(again.body.data.customerId, customerId);
    const browser = openBrowser();
    const shown = await browser.login(again.body.data.kycUrl);
    assert.ok(isProof(shown), shown.title);
    assert.ok(!isProof(await browser.go('prove', proof)));
    // It is confirmed now, so the next links need the code only.
    const next = await acme.post('kyc/url', { customerId, type: 'INDIVIDUAL' });
    assert.ok(!isProof(await openBrowser().login(next.body.data.kycUrl)));
  });

test('who cannot prove it through a link of the partner takes the number along, and is enrolled as another customer', async () => {
  const { phoneNumber, customerId, proof } = await namedAway();
  await signsUp(phoneNumber);
  const link = (await acme.post('kyc/url', { customerId, type: 'INDIVIDUAL', kycRedirectUrl: BACK })).body.data.kycUrl;
  const [browser, other] = [openBrowser(), openBrowser()];
  assert.ok(isProof(await browser.login(link)));
  // A link sends its next code after a pause.
  world.clock.advance(120_000);
  assert.ok(isProof(await other.login(link)));
  assert.equal((await browser.go('new')).title, 'The number is yours');
  assert.equal(await holderOf(phoneNumber), '');
  assert.deepEqual(await activity(customerId), [{ action: 'customer.number_passed_on', facts: {} }]);
  assert.equal((await other.go('prove', proof)).title, 'Log in', 'the former customer was opened without its number');
  const made = await world.invited(acme, { clientCustomerId: `third ${phoneNumber}`, phoneNumber });
  assert.notEqual(made.customerId, customerId);
  assert.equal((await openBrowser().login(made.kycUrl)).title, 'Your details');
});

test('a number that the partner sets after it was told the id is proved too, and one that was used lately is not', async () => {
  const { phoneNumber, customerId } = await namedAway();
  await signsUp(phoneNumber);
  const moved = await acme.post('kyc/url', { customerId, phoneNumber: newPhone(), type: 'INDIVIDUAL' });
  assert.ok(isProof(await openBrowser().login(moved.body.data.kycUrl)), 'a newer number opened the customer');
  const early = await namedAway(IDLE_DAYS - 1);
  await signsUp(early.phoneNumber);
  const link = await acme.post('kyc/url', { customerId: early.customerId, type: 'INDIVIDUAL' });
  assert.ok(!isProof(await openBrowser().login(link.body.data.kycUrl)));
  // A name that is used again tells nobody anything about the number.
  const same = await namedAway();
  const named = { clientCustomerId: `first ${same.phoneNumber}`, phoneNumber: newPhone(), type: 'INDIVIDUAL' };
  assert.equal((await acme.post('kyc/url', named)).body.customerId, same.customerId);
  const own = await acme.post('kyc/url', { customerId: same.customerId, type: 'INDIVIDUAL' });
  assert.ok(!isProof(await openBrowser().login(own.body.data.kycUrl)));
});

for (const [how, again] of [
  ['by a refusal', (phoneNumber: string) => signsUp(phoneNumber, `third ${phoneNumber}`)],
  [
    'by a second name for the id',
    async (phoneNumber: string, customerId: string) => {
      const named = { customerId, clientCustomerId: `third ${phoneNumber}`, phoneNumber, type: 'INDIVIDUAL' };
      assert.equal((await acme.post('kyc/url', named)).status, 200);
    },
  ],
] as const)
  test(`a number that was set after the id was told is not confirmed by telling the id again, ${how}`, async () => {
    const { phoneNumber, customerId, proof } = await namedAway();
    const isIdle = () =>
      world.db.asSystem((tx) => {
        const now = world.clock.now();
        return isPhoneIdle(tx, { customerId, isByPhone: false, idleMs: IDLE_DAYS * DAY, now });
      });
    const link = async (): Promise<string> =>
      (await acme.post('kyc/url', { customerId, type: 'INDIVIDUAL' })).body.data.kycUrl;
    await signsUp(phoneNumber);
    world.clock.advance(60_000);
    const other = newPhone();
    await acme.post('kyc/url', { customerId, phoneNumber: other, type: 'INDIVIDUAL' });
    assert.equal(await isIdle(), true);
    world.clock.advance(60_000);
    await again(other, customerId);
    assert.equal(await isIdle(), true, 'the second telling confirmed the number');
    const browser = openBrowser();
    assert.ok(isProof(await browser.login(await link())));
    assert.ok(!isProof(await browser.go('prove', proof)));
    // A login ends the first telling, and the next one counts again.
    assert.equal(await isIdle(), false);
    world.clock.advance(IDLE_DAYS * DAY);
    assert.equal(await isIdle(), false);
    await again(other, customerId);
    assert.equal(await isIdle(), true, 'a telling after the login was not noted');
  });

test('a number that was typed and never confirmed is not asked for a proof', async () => {
  const phone = newPhone();
  const browser = openBrowser();
  await browser.open(`${await newLink()}?go=1`);
  await browser.go('phone', { phone });
  world.clock.advance(2 * IDLE_DAYS * DAY);
  assert.ok(!isProof((await withCode(phone)).shown));
});

test('no answer of a proof is stored', async () => {
  const { phone, proof } = await away();
  const { browser } = await withCode(phone);
  await browser.go('prove', { identityNumber: 'SECRET4711', dob: '1901-01-01' });
  await browser.go('prove', proof);
  const stored = await world.contents();
  for (const value of ['SECRET4711', '1901-01-01', proof.identityNumber]) assert.ok(!stored.includes(value));
});

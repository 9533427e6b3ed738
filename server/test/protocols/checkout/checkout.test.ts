/**
 * Buying and selling by a link, over HTTP: from generateLink to the page of the order, with the errors on the way.
 *
 * Long because its pages share one server and one browser.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { encryptText, openText } from '../../../src/base/texts.ts';
import { checkCode, issueCode } from '../../../src/customers/index.ts';
import { setCustomerLimit, setExposureCap, setLimit } from '../../../src/partners/index.ts';
import { openClient } from '../../support/client.ts';
import { findInDump } from '../../support/dump.ts';
import { contractOf, type TestPartner } from '../whitelabel/environment.ts';
import {
  BACK,
  DETAILS,
  openBrowser,
  type PagesEnvironment,
  pagesEnvironment,
  type Shown,
  unescaped,
  wayBack,
} from './environment.ts';

let world: PagesEnvironment;
let acme: TestPartner;
let other: TestPartner;

before(async () => {
  world = await pagesEnvironment();
  acme = await world.partner('Acme Wallet');
  other = await world.partner('Other');
});
after(async () => await world?.stop());
beforeEach(() => {
  world.verifier.finding = undefined;
});

const GENERATE = '/onramp/api/v2/common/transaction/generateLink';
const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';
const BUY = { coinCode: 'usdc', network: 'matic20', fiatAmount: '5000', fiatType: '1', type: '1', redirectUrl: BACK };
const SELL = { coinCode: 'usdc', network: 'matic20', quantity: '100', fiatType: 1, type: 2, redirectUrl: BACK };

async function linked(fields: Record<string, unknown>, partner = acme): Promise<string> {
  const { status, body, text } = await partner.post(GENERATE, fields);
  assert.equal(status, 200, text);
  return body.data.link;
}

let phones = 0;
/** A phone number that no customer has. */
const newPhone = (): string => `+91 90000 ${String(10_000 + (phones += 1))}`;

/** Logs in with the code; by phone where the link names no customer. */
async function entered(link: string, phone?: string) {
  const browser = openBrowser();
  await browser.open(`${link}?go=1`);
  if (phone !== undefined) await browser.go('phone', { phone });
  await browser.go('code');
  const shown = await browser.go('login', { code: '123456' });
  return { browser, shown };
}

const quoteIn = ({ text }: Shown): string => /name="quote" value="(\d+)"/.exec(text)?.[1] ?? '';
const rowOf = ({ text }: Shown, name: string): string =>
  unescaped(new RegExp(`<dt>${name}</dt><dd>(?:<span[^>]*>)?(.*?)<`).exec(text)?.[1] ?? '');
const ordersOf = async (customerId: string) =>
  await world.query('select * from orders where customer_id = $1 order by id', [customerId]);
const customersOf = async (partner: TestPartner) =>
  await world.query('select id, phone, level from customers where partner_id = $1 and client_customer_id is null', [
    partner.partner.id,
  ]);
const tick = () => world.clock.advance(61_000);
/** Advances the clock, and fetches prices again because they age too. */
const later = async (ms: number) => {
  world.clock.advance(ms);
  await world.refreshPrices();
};

describe('a link', () => {
  test('points to our host, has an id and an expiry, and contains nothing readable', async () => {
    const { status, body } = await acme.post(GENERATE, {
      ...BUY,
      phoneNumber: '+91 98765 43210',
      walletAddress: WALLET,
    });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body.data), ['link', 'urlHash', 'expiresAt']);
    assert.ok(body.data.link.startsWith(`${world.baseUrl}/checkout/`));
    assert.match(body.data.urlHash, /^[0-9A-Za-z]{20}$/);
    assert.equal(Date.parse(body.data.expiresAt) - world.clock.now().getTime() > 23 * 3_600_000, true);
    const encrypted = Buffer.from(new URL(body.data.link).pathname.split('/')[2] ?? '', 'base64url').toString('latin1');
    for (const secret of ['98765', WALLET, acme.customerId]) assert.ok(!encrypted.includes(secret));
  });

  test('is made from the requests of published programs, in every spelling and format', async () => {
    for (const fields of [
      { coinCode: 'USDC', network: 'MATIC20', fiatAmount: 5000.0, fiatType: 1, flowType: 1 },
      { coinCode: 'usdc', network: 'matic20', fiatAmount: 5000, fiatType: 1, flowType: 2 },
      { coinId: 116, chainId: 3, fiatAmount: 200.5, fiatType: 1, type: 1, coinCode: null, network: undefined },
      { coinId: '116', chainId: '3', quantity: '12.5', fiatType: 'INR', type: '2', paymentMethod: 'imps' },
      {
        coinCode: 'usdc',
        fiatAmount: '200',
        fiatType: '1',
        type: '1',
        paymentMethod: '1',
        customerId: '',
        walletAddress: '',
      },
    ]) {
      for (const format of ['json', 'form', 'multipart'] as const) {
        const sent = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
        const { status, text } = await acme.post(GENERATE, sent, { format, spelling: 'prefixed' });
        assert.equal(status, 200, text);
      }
    }
  });

  test('requested twice under one key is one link and enrolls one customer; another body under the key is a 409', async () => {
    const asked = { ...BUY, clientCustomerId: 'linked once', phoneNumber: newPhone() };
    const keyed = { headers: { 'Idempotency-Key': 'link-1' } };
    const first = await acme.post(GENERATE, asked, keyed);
    assert.equal(first.status, 200, first.text);
    assert.equal((await acme.post(GENERATE, asked, keyed)).text, first.text);
    assert.equal((await acme.post(GENERATE, { ...asked, fiatAmount: '5001' }, keyed)).status, 409);
    assert.notEqual((await acme.post(GENERATE, asked)).text, first.text, 'two requests without a key made one link');
  });

  test('for a sale given in fiat has the quantity that is worth it, before fees', async () => {
    const link = await linked({ ...SELL, quantity: undefined, fiatAmount: '5000', customerId: acme.customerId });
    const shown = await openBrowser().open(link);
    const [rate = ''] = /[\d.]+(?= INR)/.exec(rowOf(shown, 'Rate')) ?? [];
    const quantity = Number(rowOf(shown, 'You send').split(' ')[0]);
    assert.ok(Math.abs(quantity * Number(rate) - 5000) < 0.01, `${quantity} at ${rate}`);
  });

  test('is refused for a bad request before it is made, and the refusal names the field', async () => {
    const earlier = await world.contents();
    const refused = async (fields: Record<string, unknown>, status: number, said: RegExp) => {
      const answer = await acme.post(GENERATE, fields);
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.body.error, said);
      assert.equal(answer.body.message, answer.body.error);
    };
    await refused({}, 400, /^Missing parameter -> coinCode, fiatAmount, fiatType, type\.$/);
    await refused({ type: '2' }, 400, /^Missing parameter -> coinCode, quantity, fiatType\.$/);
    await refused({ ...BUY, type: '3' }, 400, /type must be 1 or 2/);
    await refused({ ...BUY, flowType: '2' }, 400, /flowType must be the same as type/);
    await refused({ ...BUY, fiatAmount: '-1' }, 400, /fiatAmount/);
    await refused({ ...BUY, fiatAmount: '1.001' }, 400, /fiatAmount/);
    await refused({ ...BUY, fiatAmount: true }, 409, /fiatAmount must be a string/);
    await refused({ ...SELL, quantity: '1.0000001' }, 400, /quantity/);
    await refused({ ...BUY, redirectUrl: 'javascript:alert(1)' }, 400, /redirectUrl/);
    await refused({ ...BUY, redirectUrl: { a: 1 } }, 409, /redirectUrl/);
    await refused({ ...BUY, phoneNumber: '12' }, 400, /^Please provide a valid phone number string$/);
    await refused({ ...BUY, walletAddress: '0x1' }, 400, /walletAddress is not an address on matic20/);
    await refused({ ...BUY, walletAddress: WALLET.replace('E', 'e') }, 400, /walletAddress/);
    await refused(
      { ...BUY, walletAddress: contractOf('usdc.matic20') },
      400,
      /walletAddress is the contract of a token/,
    );
    await refused({ ...BUY, merchantRecognitionId: 'x'.repeat(129) }, 400, /merchantRecognitionId/);
    await refused({ ...BUY, clientCustomerId: 'nobody yet' }, 400, /^Missing parameter -> phoneNumber\.$/);
    await refused({ ...BUY, customerId: 'AAAAAAAAAA_1' }, 404, /^Customer not found/);
    await refused({ ...BUY, customerId: other.customerId }, 404, /^Customer not found/);
    await refused({ ...BUY, customerId: acme.customerId, clientCustomerId: 'another' }, 404, /^Customer not found/);
    await refused(
      { ...BUY, clientCustomerId: 'x', phoneNumber: '+4912345678', coinCode: 'nocoin' },
      406,
      /not supported/,
    );
    await refused({ ...BUY, network: 'bep20' }, 406, /bep20/);
    await refused({ ...BUY, fiatType: '99' }, 406, /not supported/);
    await refused({ ...BUY, paymentMethod: 'CASH' }, 406, /payment method/);
    await refused({ ...SELL, paymentMethod: '1' }, 406, /payment method/);
    await refused({ ...BUY, fiatAmount: '1' }, 413, /minimum 100, maximum 100000 INR/);
    await refused({ ...SELL, quantity: '1000000' }, 413, /minimum 1, maximum 10000 USDC/);
    const reader = openClient(world.baseUrl, await world.keyOf(acme.partner, { scopes: ['read'] }));
    assert.equal((await reader.post(GENERATE, BUY)).status, 403);
    assert.equal(await world.contents(), earlier, 'a refused request enrolled a customer or made a quote');
  });

  test('still opens when every value has its maximum length', async () => {
    const link = await linked({
      ...BUY,
      walletAddress: WALLET,
      phoneNumber: `+${'9 '.repeat(15)}1`.slice(0, 30),
      merchantRecognitionId: '語'.repeat(128),
      redirectUrl: `https://wallet.example/${'x'.repeat(977)}`,
    });
    assert.ok(link.length < 4_000, `${link.length} characters`);
    assert.equal((await openBrowser().open(link)).title, 'Buy USDC');
  });

  test('with a clientCustomerId is for that customer, who is created if unknown; two calls make one customer', async () => {
    const fields = { ...BUY, clientCustomerId: 'by-link', phoneNumber: '+91 91111 11111' };
    const links = [await linked(fields), await linked(fields)];
    const made = await world.query('select id from customers where client_customer_id = $1', [
      encryptText(world.vault, acme.partner.id, 'by-link'),
    ]);
    assert.equal(made.length, 1);
    const { shown } = await entered(links[1] ?? '');
    assert.equal(shown.title, 'Your details');
    const again = await linked({ ...BUY, clientCustomerId: 'by-link' });
    assert.equal((await openBrowser().open(`${again}?go=1`)).title, 'Log in');
  });
});

describe('the page', () => {
  test('shows the price with each fee before the login, without a binding quote', async () => {
    const link = await linked({ ...SELL, customerId: acme.customerId });
    const earlier = await world.contents();
    const shown = await openBrowser().open(link);
    assert.deepEqual([shown.status, shown.title], [200, 'Sell USDC']);
    assert.match(shown.text, /For Acme Wallet/);
    const quoted = (await acme.post('offramp/quote', { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '100' }))
      .body.data;
    assert.equal(rowOf(shown, 'You send'), '100 USDC');
    assert.equal(rowOf(shown, 'Rate'), `1 USDC = ${quoted.rate} INR`);
    assert.equal(rowOf(shown, 'You receive'), `${quoted.toAmount} INR`);
    assert.equal(rowOf(shown, 'Our fee'), `${quoted.fees[0].onrampFee} INR`);
    for (const name of ['Fee of Acme Wallet', 'Fee of the bank', 'Fee of the network'])
      assert.match(rowOf(shown, name), / INR$/);
    assert.ok(earlier.length > 0);
    assert.match(shown.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  });

  test('does not open for a link that is altered, too old, or of another page', async () => {
    const link = await linked(BUY);
    const browser = openBrowser();
    assert.equal((await browser.open(`${link.slice(0, -3)}AAA`)).status, 404);
    assert.equal((await browser.open(link.replace('/checkout/', '/kyc/'))).status, 404);
    const { kycUrl } = await world.invited(acme);
    assert.equal((await browser.open(kycUrl.replace('/kyc/', '/checkout/'))).status, 404);
    assert.equal((await browser.ask(link, { method: 'PUT' })).status, 405);
    assert.equal((await browser.open(`${world.baseUrl}/checkout`)).status, 404);
    await later(24 * 3_600_000);
    assert.deepEqual(
      [(await browser.open(link)).status, (await browser.open(link)).title],
      [410, 'This link has ended'],
    );
  });
});

describe('buying', () => {
  test('by a link without a customer asks for phone, code, details and wallet, and then shows the payee', async () => {
    const phone = newPhone();
    const link = await linked({ ...BUY, merchantRecognitionId: 'shop-7', paymentMethod: 'UPI' });
    const browser = openBrowser();
    assert.equal((await browser.open(link)).title, 'Buy USDC');
    assert.equal((await browser.open(`${link}?go=1`)).title, 'Your phone number');
    const wrong = await browser.go('phone', { phone: 'call me' });
    assert.deepEqual([wrong.status, /id="phone-why"/.test(wrong.text)], [400, true]);
    const asked = await browser.go('phone', { phone });
    assert.equal(asked.title, 'Log in');
    assert.ok(asked.text.includes(`ending in ${phone.slice(-2)}`));
    assert.match((await browser.go('code')).text, /the code is 123456/);
    assert.equal((await browser.go('login', { code: '000000' })).status, 400);
    const details = await browser.go('login', { code: '123456' });
    assert.equal(details.title, 'Your details');
    assert.equal((await browser.go('order', { quote: '1', wallet: WALLET })).title, 'Your details', 'not before');
    const offer = await browser.go('details', DETAILS);
    assert.equal(offer.title, 'Buy USDC');
    assert.match(offer.text, /This price is valid until \d\d:\d\d:\d\d UTC/);
    const quote = quoteIn(offer);
    assert.equal(quoteIn(await browser.open(link)), quote, 'opening the page again made another quote');
    for (const wallet of ['', '0x1', WALLET.replace('E', 'e'), contractOf('usdc.matic20'), '<script>']) {
      const again = await browser.go('order', { quote, wallet });
      assert.equal(again.status, 400, wallet);
      assert.match(again.text, /id="wallet-why"/);
      assert.doesNotMatch(again.text, /<script>/);
    }
    const order = await browser.go('order', { quote, wallet: ` ${WALLET} ` });
    assert.equal(order.title, 'Pay in INR');
    const [customer] = (await customersOf(acme)).slice(-1);
    const [made] = await ordersOf(customer.id);
    assert.equal(made.payout_address, WALLET.toLowerCase());
    assert.deepEqual([made.payment_method, made.quote_id], ['UPI', BigInt(quote)]);
    assert.equal(openText(world.vault, acme.partner.id, made.merchant_reference), 'shop-7');
    assert.equal(rowOf(order, 'Reference'), made.deposit_target);
    assert.equal(rowOf(order, 'Account number'), '000100020003');
    assert.match(order.text, /Transfer exactly 5000 INR/);
    assert.equal(
      rowOf(order, 'You receive'),
      rowOf(offer, 'You receive'),
      'the order differs from the offer that was shown',
    );
    const back = wayBack(order);
    assert.deepEqual(Object.fromEntries(back?.searchParams ?? []), {
      flow: '7',
      orderId: String(made.id),
      customerId: customer.id,
    });
    const program = await acme.post('onramp/transaction', { transactionId: String(made.id), customerId: customer.id });
    assert.equal(program.status, 200, 'the partner does not find the order by its ids');
    assert.deepEqual(await findInDump(world.adminUrl, [phone, phone.replaceAll(' ', '')]), []);
  });

  test('uses the wallet that the partner named, and ignores the form’s', async () => {
    const link = await linked({ ...BUY, customerId: acme.customerId, walletAddress: WALLET });
    const { browser, shown } = await entered(link);
    assert.ok(shown.text.includes(WALLET.toLowerCase()));
    assert.doesNotMatch(shown.text, /name="wallet"/);
    await browser.go('order', { quote: quoteIn(shown), wallet: `0x${'1'.repeat(40)}` });
    const [order] = (await ordersOf(acme.customerId)).slice(-1);
    assert.equal(order.payout_address, WALLET.toLowerCase());
  });
});

describe('selling', () => {
  test('adds an account, chooses it, and then shows the address, its QR code, the amount and a warning', async () => {
    const customerId = await world.customer(acme, acme.partner, 'seller');
    const link = await linked({ ...SELL, customerId });
    const { browser, shown } = await entered(link);
    assert.equal(shown.title, 'Add a bank account');
    const wrong = await browser.go('account', { account: '1', ifsc: '' });
    assert.equal(wrong.status, 400);
    const offer = await browser.go('account', { account: '5010 0283 7465', ifsc: 'HDFC0001234' });
    assert.match(offer.text, /<option value="\d+" selected>Account ending in 7465/);
    await browser.open(`${link}?add=1`);
    const two = await browser.go('account', { account: '5010 0283 9999', ifsc: 'HDFC0001234' });
    const [first = '', second = ''] = [...two.text.matchAll(/<option value="(\d+)"/g)].map(([, id]) => id);
    assert.match(two.text, new RegExp(`value="${second}" selected`));
    for (const fiatAccount of ['', '1', acme.fiatAccountId]) {
      assert.equal((await browser.go('order', { quote: quoteIn(two), fiatAccount })).status, 400);
    }
    const order = await browser.go('order', { quote: quoteIn(two), fiatAccount: first });
    assert.equal(order.title, 'Send your USDC');
    const [made] = await ordersOf(customerId);
    assert.equal(String(made.fiat_account_id), first);
    assert.ok(order.text.includes(`id="address">${made.deposit_target}`));
    assert.match(order.text, /<svg class="qr" role="img" aria-label="QR code of the address 0x/);
    assert.match(order.text, /Send exactly 100 USDC on the network matic20/);
    assert.match(order.text, /Send only USDC, and only on the network matic20/);
    assert.ok(order.text.includes(`${made.expires_at.toISOString().slice(11, 16)} UTC`));
    assert.doesNotMatch(order.text, /501002839999|5010 0283/);
  });

  test('reload, back, and the same form twice at once make one order', async () => {
    const customerId = await world.customer(acme, acme.partner, 'twice');
    await acme.post('bank/addFiatAccount', { customerId, fiatAccount: '111222333444', ifsc: 'HDFC0001234' });
    const link = await linked({ ...SELL, customerId });
    const { browser, shown } = await entered(link);
    const fiatAccount = /<option value="(\d+)"/.exec(shown.text)?.[1] ?? '';
    const values = { quote: quoteIn(shown), fiatAccount };
    const sent = await Promise.all([1, 2, 3].map(() => browser.send('order', values)));
    assert.deepEqual(new Set(sent.map(({ status }) => status)), new Set([303]));
    assert.equal((await browser.go('order', values)).title, 'Send your USDC');
    assert.equal((await ordersOf(customerId)).length, 1);
    world.clock.advance(31_000);
    const elsewhere = await entered(link);
    assert.equal(
      elsewhere.shown.title,
      'Send your USDC',
      'the same customer does not see the order in another browser',
    );
    assert.equal((await ordersOf(customerId)).length, 1);
  });
});

describe('changes while the page is open', () => {
  async function ready(name: string, fields: Record<string, unknown> = {}) {
    const customerId = await world.customer(acme, acme.partner, name);
    const link = await linked({ ...BUY, walletAddress: WALLET, customerId, ...fields });
    return { customerId, link, ...(await entered(link)) };
  }

  test('an expired quote is accepted while the price is unchanged, without a notice of a change', async () => {
    const { browser, shown, customerId } = await ready('unmoved');
    tick();
    await world.refreshPrices();
    const order = await browser.go('order', { quote: quoteIn(shown) });
    assert.deepEqual([order.status, order.title], [200, 'Pay in INR'], order.text);
    assert.equal(rowOf(order, 'You receive'), rowOf(shown, 'You receive'));
    assert.equal((await ordersOf(customerId)).length, 1);
  });

  test('a changed price is shown and has to be confirmed again before an order is created', async () => {
    const { browser, shown, customerId } = await ready('moved');
    tick();
    await world.query('update prices set num = num * 101, den = den * 100');
    const again = await browser.go('order', { quote: quoteIn(shown) });
    assert.equal(again.status, 409);
    assert.match(again.text, /The price has changed/);
    assert.notEqual(quoteIn(again), quoteIn(shown));
    assert.deepEqual(await ordersOf(customerId), []);
    assert.equal((await browser.go('order', { quote: quoteIn(shown) })).status, 409, 'the old quote was accepted');
    assert.equal((await browser.go('order', { quote: quoteIn(again) })).title, 'Pay in INR');
    assert.equal((await ordersOf(customerId)).length, 1);
    await world.refreshPrices();
  });

  test('a quote other than the one shown is not accepted', async () => {
    const { browser, customerId } = await ready('forged');
    for (const quote of ['', '1', 'x', '99999999999999999999']) {
      const again = await browser.go('order', { quote });
      assert.deepEqual([again.status, /out of date/.test(again.text)], [409, true], quote);
      assert.doesNotMatch(again.text, /price has changed/);
    }
    assert.deepEqual(await ordersOf(customerId), []);
  });

  test('limits of the customer, a reached cap and a missing price are explained in plain words', async () => {
    const [{ id }] = await world.query(`select id from markets where direction = 'onramp'`);
    await world.db.asSystem((tx) => setLimit(tx, { marketId: id, level: 2, maxUnits: 100_000n }));
    const limited = await ready('limited');
    assert.deepEqual([limited.shown.status, limited.shown.title], [409, 'Buy USDC']);
    assert.match(limited.shown.text, /must be between 100 INR and 1000 INR/);
    await world.db.asSystem((tx) => setLimit(tx, { marketId: id, level: 2, maxUnits: 9_999n }));
    const nothing = await ready('nothing');
    assert.deepEqual(
      [nothing.shown.status, /cannot place this order at the moment/.test(nothing.shown.text)],
      [409, true],
    );
    await world.db.asSystem((tx) => setLimit(tx, { marketId: id, level: 2, maxUnits: null }));

    const across = { fiatAsset: 'inr', direction: null, marketId: null, level: 5, period: 'day' } as const;
    const limit = (maxUnits: bigint | null) =>
      world.db.asSystem((tx) =>
        setCustomerLimit(tx, { ...across, maxUnits, now: new Date() }, { by: 'ada', why: 'a test' }),
      );
    await limit(100_000n);
    const day = await ready('day');
    assert.match(day.shown.text, /more than you may trade in 24 hours: 1000 INR of 1000 INR are left/);
    await limit(null);

    const cap = { partnerId: acme.partner.id, fiat: 'inr' };
    await world.db.asSystem((tx) => setExposureCap(tx, { ...cap, maxUnits: 1n }));
    const capped = await ready('capped');
    assert.match(capped.shown.text, /cannot place this order at the moment/);
    await world.db.asSystem((tx) => setExposureCap(tx, { ...cap, maxUnits: null }));

    await world.query(`update prices set fetched_at = now() - interval '1 hour'`);
    const noPrice = await limited.browser.open(limited.link);
    assert.deepEqual([noPrice.status, /We have no price at the moment/.test(noPrice.text)], [503, true]);
    await world.refreshPrices();
    assert.equal((await limited.browser.open(limited.link)).status, 200);
  });

  test('a closed market, a suspended partner and a blocked customer create no order', async () => {
    const { browser, link, customerId, shown } = await ready('closing');
    await world.query('update customers set blocked_at = now() where id = $1', [customerId]);
    const blocked = await browser.go('order', { quote: quoteIn(shown) });
    assert.equal(blocked.title, 'We cannot verify you');
    assert.deepEqual(await ordersOf(customerId), []);
    await world.query('update customers set blocked_at = null where id = $1', [customerId]);
    await world.query('update partners set suspended_at = now() where id = $1', [acme.partner.id]);
    assert.equal((await browser.open(link)).status, 403);
    await world.query('update partners set suspended_at = null where id = $1', [acme.partner.id]);
    assert.equal((await browser.open(link)).status, 200);
  });

  test('a customer with too low a verification level gives details first, and one who cannot be verified is told so', async () => {
    const link = await linked({ ...BUY, walletAddress: WALLET });
    const { browser, shown } = await entered(link, newPhone());
    assert.equal(shown.title, 'Your details');
    world.verifier.finding = { outcome: 'in_review', level: 0 };
    assert.equal((await browser.go('details', DETAILS)).title, 'We are checking your details');
    assert.equal((await browser.open(link)).title, 'We are checking your details');
    world.verifier.finding = { outcome: 'failed', level: 0 };
    assert.equal((await browser.go('check')).title, 'Your details');
    world.verifier.finding = { outcome: 'refused', level: 0 };
    assert.equal((await browser.go('details', DETAILS)).title, 'We cannot verify you');
  });
});

describe('a link without a customer', () => {
  /** Two numbers with the same ending: one of an existing customer, and an unused one. */
  async function twoNumbers(prepare: (known: string) => Promise<void>) {
    const ending = String(1_000 + (phones += 1)).slice(-4);
    const [known, unknown] = [`+91 81000 7${ending}`, `+91 82000 7${ending}`];
    await prepare(known);
    return [known, unknown];
  }
  const cameBefore = async (phone: string) => void (await entered(await linked(BUY), phone));

  /** Ten codes that others have requested for a number by links and from networks of their own; each tried one in vain. */
  async function othersTry(phone: string): Promise<void> {
    await cameBefore(phone);
    const [customer] = await world.query(
      'select id, partner_id from customers order by created_at desc, id desc limit 1',
    );
    world.clock.advance(3_600_001);
    await world.refreshPrices();
    const now = world.clock.now();
    for (let n = 0; n < 10; n += 1) {
      const asking = { session: `${phone} ${n}`, link: `link ${phone} ${n}`, isOpen: true, network: `10.0.${n}.0` };
      const tried = { customerId: customer.id, code: '000000', session: asking.session, now };
      await world.db.asSystem(async (tx) => {
        const whose = { id: customer.id, partnerId: BigInt(customer.partner_id) };
        const issued = await issueCode(tx, world.vault, { customer: whose, code: '111111', asking, now });
        assert.equal(issued.outcome === 'issued' && issued.isSent, true, 'fewer than ten were sent');
        assert.equal(await checkCode(tx, world.vault, tried), 'wrong');
      });
    }
  }

  /** The whole answer without the parts that differ each time. */
  function saying({ status, text, headers, location }: Shown, link: string): unknown {
    const token = link.split('/').at(-1) ?? '';
    const plain = (said: string) =>
      said.replaceAll(token, 'TOKEN').replaceAll(/name="csrf" value="[0-9a-f]+"/g, 'CSRF');
    const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
    return {
      status,
      text: plain(text),
      location: location === undefined ? undefined : plain(location),
      headers: kept.map(([name, value]) => [name, name === 'set-cookie' ? value.replace(/=[^;]+/, '=') : plain(value)]),
    };
  }

  /** The steps that a holder of a link can take with a number, and the answer to each. */
  async function tells(phone: string): Promise<unknown[]> {
    const link = await linked(BUY);
    const browser = openBrowser();
    await browser.open(`${link}?go=1`);
    const said: Shown[] = [await browser.send('phone', { phone }), await browser.open(`${link}?go=1`)];
    said.push(await browser.send('code'), await browser.open(`${link}?go=1`), await browser.send('code'));
    for (let n = 0; n < 7; n += 1) said.push(await browser.send('login', { code: '000000' }));
    said.push(await browser.send('other'), await browser.send('phone', { phone }));
    for (let n = 0; n < 6; n += 1) {
      await browser.send('other');
      said.push(await browser.send('phone', { phone: newPhone() }));
    }
    await browser.send('other');
    said.push(await browser.send('phone', { phone }));
    return said.map((one) => saying(one, link));
  }

  for (const [what, prepare] of [
    ['that logged in before', cameBefore],
    [
      'that has just asked for a code',
      async (phone) => {
        await cameBefore(phone);
        world.clock.advance(61_000);
        const browser = openBrowser();
        await browser.open(`${await linked(BUY)}?go=1`);
        await browser.go('phone', { phone });
        await browser.go('code');
      },
    ],
    ['that others have tried ten times by links of their own', othersTry],
    [
      'that was guessed at until nothing more is sent',
      async (phone) => {
        for (let n = 0; n < 10; n += 1) {
          const browser = openBrowser();
          await browser.open(`${await linked(BUY)}?go=1`);
          await browser.go('phone', { phone });
          await browser.go('code');
          for (let guess = 0; guess < 5; guess += 1) await browser.go('login', { code: '000000' });
        }
      },
    ],
  ] as [string, (phone: string) => Promise<void>][]) {
    test(`answers the same about a number ${what} and an unused one`, async () => {
      const [known = '', unknown = ''] = await twoNumbers(prepare);
      const [ofKnown, ofUnknown] = [await tells(known), await tells(unknown)];
      assert.deepEqual(ofKnown, ofUnknown);
      assert.ok(ofKnown.length > 15, 'too few steps were taken');
    });
  }

  test('locks out the guessing session, and the owner of the number gets in', async () => {
    const phone = newPhone();
    await cameBefore(phone);
    world.clock.advance(3_600_001);
    await world.refreshPrices();
    const guesser = openBrowser();
    await guesser.open(`${await linked(BUY)}?go=1`);
    await guesser.go('phone', { phone });
    let last = 0;
    for (let guess = 0; guess < 15; guess += 1) {
      if (guess % 5 === 0) {
        tick();
        await guesser.send('code');
      }
      last = (await guesser.send('login', { code: '000000' })).status;
    }
    assert.equal(last, 429, 'fifteen wrong codes did not lock the session');
    const { shown } = await entered(await linked(BUY), phone);
    assert.equal(shown.title, 'Your details', 'the owner could not log in by another link');
  });

  test('lets the owner of the number in after ten tries of others, and each newcomer has two messages sent', async () => {
    const phone = newPhone();
    await othersTry(phone);
    const { shown } = await entered(await linked(BUY), phone);
    assert.equal(shown.title, 'Your details', 'the code that was sent to the owner did not let the owner in');
    const asks = async () => {
      const other = openBrowser();
      await other.open(`${await linked(BUY)}?go=1`);
      await other.go('phone', { phone });
      await other.go('code');
    };
    const sends = async () =>
      (
        await world.query(
          `select id from login_sends where is_open and is_sent and sent_at > $1
        and customer_id = (select customer_id from login_sends order by id desc limit 1)`,
          [new Date(world.clock.now().getTime() - 3_600_000)],
        )
      ).length;
    for (let n = 0; n < 3; n += 1) await asks();
    assert.equal(await sends(), 12, 'one network had more than two messages sent after the ten');
  });

  test('does not block the customer’s own link, however many codes were requested', async () => {
    const phone = newPhone();
    const named = await acme.post('kyc/url', {
      clientCustomerId: `own ${phone}`,
      phoneNumber: phone,
      type: 'INDIVIDUAL',
    });
    for (let n = 0; n < 12; n += 1) {
      const browser = openBrowser();
      await browser.open(`${await linked(BUY)}?go=1`);
      await browser.go('phone', { phone });
      await browser.go('code');
    }
    assert.equal((await openBrowser().login(named.body.data.kycUrl)).title, 'Your details');
  });

  test('takes the same time whether or not a message is sent, and sends at most ten', async () => {
    const sent: string[] = [];
    let release = () => {};
    const gate = new Promise<void>((opened) => {
      release = opened;
    });
    const slow = await pagesEnvironment({
      sender: {
        async sendCode(phone) {
          sent.push(phone);
          await gate;
        },
      },
    });
    try {
      const partner = await slow.partner('Slow');
      const phone = newPhone();
      for (let n = 0; n < 7; n += 1) {
        const { body } = await partner.post(GENERATE, BUY);
        const browser = openBrowser();
        await browser.open(`${body.data.link}?go=1`);
        await browser.go('phone', { phone });
        // No message has been sent completely: an answer that waited for one would never arrive.
        assert.equal((await browser.send('code')).status, 303);
      }
      assert.equal(sent.length, 5, 'one network has another number of messages sent');
    } finally {
      release();
      await slow.stop();
    }
  });

  test('a network names thirty numbers, and is then asked to wait', async () => {
    const few = await pagesEnvironment({ requestsPerMinute: 12 });
    try {
      const partner = await few.partner('Few');
      const { body } = await partner.post(GENERATE, BUY);
      const browser = openBrowser();
      await browser.open(`${body.data.link}?go=1`);
      const said = [];
      for (let n = 0; n < 4; n += 1) said.push((await browser.send('phone', { phone: newPhone() })).status);
      assert.deepEqual(said, [303, 303, 303, 429]);
    } finally {
      await few.stop();
    }
  });
});

describe('the owner of an order or link', () => {
  test('is the customer of the order, and other holders of the link do not see it', async () => {
    const link = await linked({ ...BUY, walletAddress: WALLET });
    const phone = newPhone();
    const mine = await entered(link, phone);
    const offer = await mine.browser.go('details', DETAILS);
    const order = await mine.browser.go('order', { quote: quoteIn(offer) });
    assert.equal(order.title, 'Pay in INR');
    const reference = rowOf(order, 'Reference');

    const elsewhere = await entered(await linked(BUY), newPhone());
    const used = await elsewhere.browser.open(link);
    assert.deepEqual([used.status, used.title], [403, 'This link has been used']);
    assert.ok(!used.text.includes(reference));
    const asked = await elsewhere.browser.go('other');
    assert.equal(asked.title, 'Log in', 'the link asks for another phone although it belongs to that customer now');
    assert.ok(asked.text.includes(`ending in ${phone.slice(-2)}`) && !asked.text.includes(reference));
    const own = await ordersOf((await customersOf(acme)).at(-1)?.id);
    assert.equal((await elsewhere.browser.go('phone', { phone: newPhone() })).title, 'Log in');
    assert.deepEqual(
      await ordersOf((await customersOf(acme)).at(-1)?.id),
      own,
      'a customer was made for another number',
    );
    world.clock.advance(31_000);
    await elsewhere.browser.go('code');
    const back = await elsewhere.browser.go('login', { code: '123456' });
    assert.equal(back.title, 'Pay in INR', 'the owner of the phone is not logged in as the customer');
  });

  test('can log in with the same phone on the same link on every later day', async () => {
    const link = await linked({ ...BUY, walletAddress: WALLET });
    const phone = newPhone();
    const { browser } = await entered(link, phone);
    await browser.go('details', DETAILS);
    for (let n = 0; n < 8; n += 1) {
      await later(3_600_000);
      const { shown } = await entered(link, phone);
      assert.deepEqual([shown.status, shown.title], [200, 'Buy USDC'], `visit ${n + 2}`);
    }
  });

  test('has one customer per phone and partner, apart from customers that the partner named', async () => {
    const phone = newPhone();
    const named = await acme.post('kyc/url', {
      clientCustomerId: 'same-phone',
      phoneNumber: phone,
      type: 'INDIVIDUAL',
    });
    const before = (await customersOf(acme)).length;
    const links = [await linked(BUY), await linked(BUY)];
    const [one, two] = await Promise.all(links.map(() => openBrowser()));
    await Promise.all([one, two].map((browser, n) => browser?.open(`${links[n]}?go=1`)));
    await Promise.all([one, two].map((browser) => browser?.go('phone', { phone: phone.replaceAll(' ', '-') })));
    const own = await customersOf(acme);
    assert.equal(own.length, before + 1);
    assert.notEqual(own.at(-1)?.id, named.body.data.customerId);
    const theirs = openBrowser();
    await theirs.open(`${await linked(BUY, other)}?go=1`);
    await theirs.go('phone', { phone });
    assert.equal((await customersOf(other)).length, 1);
  });

  test('is not logged in by a session of another partner’s customer', async () => {
    const first = await entered(await linked(BUY), newPhone());
    assert.equal(first.shown.title, 'Your details');
    const there = await first.browser.open(`${await linked(BUY, other)}?go=1`);
    assert.equal(there.title, 'Your phone number');
    const here = await first.browser.open(await linked(BUY));
    assert.equal(here.status, 200);
  });

  test('a link sends codes to five phones and no more', async () => {
    const link = await linked(BUY);
    const browser = openBrowser();
    await browser.open(`${link}?go=1`);
    for (let n = 0; n < 5; n += 1) {
      assert.equal((await browser.go('phone', { phone: newPhone() })).title, 'Log in');
      await browser.go('other');
    }
    const before = (await customersOf(acme)).length;
    const sixth = await browser.go('phone', { phone: newPhone() });
    assert.deepEqual([sixth.status, /Too many phone numbers/.test(sixth.text)], [429, true]);
    assert.equal((await customersOf(acme)).length, before);
  });

  test('the same number again does not count as another, even after five', async () => {
    const link = await linked(BUY);
    const browser = openBrowser();
    await browser.open(`${link}?go=1`);
    const own = newPhone();
    for (const phone of [own, newPhone(), newPhone(), newPhone(), newPhone(), own.replaceAll(' ', '')]) {
      assert.equal((await browser.go('phone', { phone })).title, 'Log in', phone);
      await browser.go('other');
    }
  });

  test('a number that the partner put into the link is not shown, and the code goes to it', async () => {
    const phone = newPhone();
    const link = await linked({ ...BUY, phoneNumber: phone });
    const browser = openBrowser();
    const pages = [await browser.open(link), await browser.open(`${link}?go=1`)];
    for (const { text } of pages)
      assert.ok(!text.replaceAll(/[^0-9]/g, '').includes(phone.replaceAll(/[^0-9]/g, '').slice(2)));
    assert.ok(pages[1]?.text.includes(`ending in ${phone.slice(-2)}`), 'the page does not show which number is meant');
    assert.equal((await browser.go('phone', { linked: '1' })).title, 'Log in');
    await browser.go('code');
    assert.equal((await browser.go('login', { code: '123456' })).title, 'Your details');
    const another = openBrowser();
    await another.open(`${link}?go=1&other=1`);
    assert.equal((await another.go('phone', { phone: newPhone() })).title, 'Log in');
  });

  test('a form from another page, or without a cookie, changes nothing', async () => {
    const link = await linked({ ...BUY, customerId: acme.customerId, walletAddress: WALLET });
    const { browser, shown } = await entered(link);
    const count = (await ordersOf(acme.customerId)).length;
    const forged = await browser.ask(link, {
      method: 'POST',
      body: new URLSearchParams({ csrf: '0'.repeat(32), intent: 'order', quote: quoteIn(shown) }),
    });
    assert.equal(forged.status, 403);
    const bare = await openBrowser().ask(link, {
      method: 'POST',
      body: new URLSearchParams({ csrf: browser.csrf(), intent: 'order', quote: quoteIn(shown) }),
    });
    assert.equal(bare.status, 403);
    assert.equal((await ordersOf(acme.customerId)).length, count);
  });
});

describe('the page of an order', () => {
  test('shows each state in words with exceptions, deposits and refunds, and refreshes only while something can change', async () => {
    const customerId = await world.customer(acme, acme.partner, 'watcher');
    const link = await linked({ ...BUY, walletAddress: WALLET, customerId });
    const { browser, shown } = await entered(link);
    const created = await browser.go('order', { quote: quoteIn(shown) });
    const news = ({ text }: Shown) => /data-news="([^"]*)"/.exec(text)?.[1];
    assert.match(created.text, /<noscript><meta http-equiv="refresh" content="20"><\/noscript>/);
    assert.equal(news(await browser.open(link)), news(created), 'the page reports news although nothing has happened');

    const [{ id }] = await ordersOf(customerId);
    const [deposit] = await world.query(
      `insert into deposits (rail, external_id, asset, units, target, order_id, partner_id, state, reference, seen_at)
       values ('bank.simulated', 'd-1', 'inr', 250000, '', $1, $2, 'confirmed', '', now()) returning id`,
      [id, acme.partner.id],
    );
    await world.query(`update orders set exception = 'underpaid' where id = $1`, [id]);
    const half = await browser.open(link);
    assert.notEqual(news(half), news(created));
    assert.equal(half.title, 'Pay the rest in INR');
    assert.match(half.text, /2500 INR of 5000 INR have arrived/);
    assert.match(half.text, /Transfer exactly 2500 INR/, 'the page asks for the whole amount again');
    assert.equal(rowOf(half, 'Received'), '2500 INR: arrived');
    await world.query(`update orders set state = 'deposit_seen' where id = $1`, [id]);
    const seen = await browser.open(link);
    assert.equal(
      seen.title,
      'Pay the rest in INR',
      'once a part was seen, the page no longer shows where the rest goes',
    );
    assert.equal(rowOf(seen, 'Reference'), rowOf(half, 'Reference'));
    assert.equal(rowOf(seen, 'Until'), rowOf(half, 'Until'));

    await world.query(
      `update deposits set units = 500000, state = 'applied', taken_units = 500000, booked_to = 'an order' where id = $1`,
      [deposit.id],
    );
    await world.query(`update orders set exception = null where id = $1`, [id]);
    await world.query(
      `insert into refunds (id, deposit_id, order_id, partner_id, purpose, rail, asset, gross_units, net_units, source, why,
         requested_by, state, attempt, key, fiat_account_id, created_at, updated_at)
       values (77, $4, $1, $2, 'refund', 'bank.simulated', 'inr', 250000, 250000, 'order', 'underpaid', 'policy', 'submitted', 2,
         'ref_77_2', $3, now(), now())`,
      [id, acme.partner.id, BigInt(acme.fiatAccountId), deposit.id],
    );
    for (const [key, attempt, state] of [
      ['ref_77_1', 1, 'rejected'],
      ['ref_77_2', 2, 'created'],
    ])
      await world.query(
        `insert into payouts (id, order_id, partner_id, purpose, attempt, rail, asset, units, fiat_account_id, deposit_id, refund_id, created_at, state, ended_at, submissions)
         values ($5, $1, $2, 'refund', $6, 'bank.simulated', 'inr', 250000, $3, $4, 77, now(), $7::text, case when $7::text = 'refused' then now() end, 1)`,
        [id, acme.partner.id, BigInt(acme.fiatAccountId), deposit.id, key, attempt, state],
      );
    const states: [string, string, boolean][] = [
      ['deposit_seen', 'Your payment is on its way', true],
      ['deposit_confirmed', 'Your payment is here', true],
      ['awaiting_liquidity', 'Your payment is here', true],
      ['on_hold', 'We are checking your payment', true],
      ['paying_out', 'Your payout is on its way', true],
      ['payout_held', 'Your payout did not go through', true],
      ['refunding', 'We are refunding your payment', true],
      ['refund_held', 'Your refund did not go through', true],
      ['refunded', 'Your payment was refunded', false],
      ['settled', 'Done', false],
      ['expired', 'The time to pay is over', false],
      ['cancelled', 'This order was cancelled', false],
      // A legal block looks like any review.
      ['frozen', 'We are checking your payment', true],
    ];
    for (const [state, title, waits] of states) {
      await world.query('update orders set state = $2 where id = $1', [id, state]);
      const page = await browser.open(link);
      assert.deepEqual([page.status, page.title, / data-waits/.test(page.text)], [200, title, waits], state);
      assert.notEqual(news(page), undefined, 'the last page has no state for the previous page to compare with');
      assert.equal(/<noscript>/.test(page.text), waits);
      assert.equal(rowOf(page, 'Refund'), '2500 INR: on its way');
      assert.doesNotMatch(
        page.text,
        /could not send the code/,
        'the page shows a failed attempt beside the one under way',
      );
      assert.doesNotMatch(page.text, /id="reference"/, 'the page still asks for a payment');
      assert.doesNotMatch(page.text, /law|blocked|frozen/);
      assert.equal(wayBack(page)?.searchParams.get('orderId'), String(id));
    }
    await world.query(`update orders set exception = 'something_new' where id = $1`, [id]);
    assert.doesNotMatch((await browser.open(link)).text, /something_new/);
    await later(25 * 3_600_000);
    const next = await entered(link);
    assert.equal(
      next.shown.title,
      'We are checking your payment',
      'the order cannot be seen after the link has expired',
    );
    await later(30 * 24 * 3_600_000);
    assert.equal((await browser.open(link)).status, 410);
  });
});

describe('a server that cannot send codes', () => {
  let silent: PagesEnvironment;
  before(async () => {
    silent = await pagesEnvironment({ sender: null });
  });
  after(async () => await silent?.stop());

  test('accepts no phone number, and the page says so', async () => {
    const partner = await silent.partner('Silent');
    const link = (await partner.post(GENERATE, BUY)).body.data.link;
    const earlier = await silent.contents();
    const browser = openBrowser();
    assert.equal((await browser.open(link)).title, 'Buy USDC');
    const asked = await browser.open(`${link}?go=1`);
    assert.deepEqual([asked.status, /cannot log in here yet/.test(asked.text)], [503, true]);
    assert.equal((await browser.go('phone', { phone: newPhone() })).status, 403, 'a form was accepted');
    assert.equal(await silent.contents(), earlier);
  });
});

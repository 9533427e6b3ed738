/** Fuzzing of the hosted pages: links and forms that a browser did not make. No submitted text is returned as markup. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import {
  BACK,
  DETAILS,
  openBrowser,
  type PagesEnvironment,
  pagesEnvironment,
} from '../protocols/checkout/environment.ts';
import { assertUnpolluted, fuzz, nasty } from './fuzz.ts';

let world: PagesEnvironment;
const links: Record<string, string> = {};
const cookies: Record<string, Map<string, string>> = {};

before(async () => {
  world = await pagesEnvironment();
  const acme = await world.partner('acme');
  const { customerId, kycUrl } = await world.invited(acme);
  links.kyc = kycUrl;
  const bank = await acme.post('bank/addFiatAccountUrl', { customerId, redirectUrl: BACK });
  const buy = { coinCode: 'usdc', network: 'matic20', fiatAmount: '5000', fiatType: '1', type: '1', redirectUrl: BACK };
  const sell = { coinCode: 'usdc', network: 'matic20', quantity: '100', fiatType: '1', type: '2', redirectUrl: BACK };
  const generate = '/onramp/api/v2/common/transaction/generateLink';
  const [buying, selling] = [await acme.post(generate, buy), await acme.post(generate, sell)];
  links.bank = bank.body.data.bankUrl;
  links.buy = buying.body.data.link;
  links.sell = selling.body.data.link;
  for (const [page, link] of Object.entries(links)) {
    const browser = openBrowser();
    await browser.open(link);
    const phone = page === 'buy' ? '+91 98000 00001' : '+91 98000 00002';
    await browser.go('phone', { phone });
    await browser.go('code', { phone });
    await browser.go('login', { code: '123456' });
    cookies[page] = browser.cookies;
  }
});
after(async () => await world?.stop());

/** Number of answers per status. */
const seen = new Map<number, number>();

const SCRIPT = '"><script>fuzz()</script>';
const OPERATOR_API_ACTIONS = [
  '',
  'phone',
  'code',
  'login',
  'details',
  'check',
  'account',
  'order',
  'other',
  'nonsense',
  '__proto__',
];
const FORM = [
  ...Object.keys(DETAILS),
  'code',
  'phone',
  'fiatAccount',
  'ifsc',
  'iban',
  'wallet',
  'address',
  'quote',
  'fiatAccountId',
  'account',
  'csrf',
];
const INSIDE = /node_modules|\.ts:\d|select .* from|insert into|violates/i;

fuzz(
  'requests: pages',
  'answer in form and write nothing of what was sent as markup',
  120,
  fc.tuple(
    fc.constantFrom('kyc', 'bank', 'buy', 'sell'),
    fc.constantFrom(...OPERATOR_API_ACTIONS),
    fc.dictionary(fc.constantFrom(...FORM), fc.oneof(nasty, fc.constantFrom(SCRIPT, '123456', '1984-02-29'))),
    fc.boolean(),
    fc.option(nasty, { nil: undefined, freq: 6 }),
  ),
  async ([page, action, values, isKnown, other]) => {
    const link = links[page] ?? assert.fail(page);
    const mangled = (text: string) =>
      `${link.slice(0, link.lastIndexOf('/') + 1)}${encodeURIComponent(text.toWellFormed().slice(0, 300))}`;
    const browser = openBrowser(new Map(isKnown ? cookies[page] : []));
    const texts = Object.entries({ ...DETAILS, ...values }).map(([name, value]) => [
      name,
      value.toWellFormed().slice(0, 1_000),
    ]);
    const shown = [
      await browser.open(other === undefined ? link : mangled(other)),
      await browser.send(action, Object.fromEntries(texts)),
      await browser.open(link),
    ];
    for (const { status, text } of shown) {
      assert.ok(status < 500, `${page} ${action}: ${status}`);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      assert.ok(!INSIDE.test(text) && !text.includes('<script>fuzz'), text);
    }
    if (action === 'login' && values.code !== '123456' && !isKnown) assert.notEqual(shown[1]?.status, 200);
    assertUnpolluted();
  },
);

test('few of these were stopped by a limit before anything looked at them', () => {
  const all = [...seen.values()].reduce((sum, count) => sum + count, 0);
  assert.ok((seen.get(429) ?? 0) < all / 4, JSON.stringify([...seen]));
  assert.ok((seen.get(200) ?? 0) > all / 4, JSON.stringify([...seen]));
});

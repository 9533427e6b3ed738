/**
 * Every row of the interface's endpoint list, and the test that covers it.
 *
 * A row that is not served fails, and so does a path that is served and not listed, a row without a story, and one whose
 * story no longer speaks of it. What later versions bring is listed as `later`, and must not be there yet. The sandbox's
 * controls are all told in one story, so their rows are made of their declarations.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CONTROLS, ROUTES } from '../../../src/protocols/whitelabel/index.ts';
import { ask } from '../../support/client.ts';
import { type World, wireWorld } from './world.ts';

const WL = '/onramp/api/v2/whiteLabel/';
const BANK_WL = '/onramp-bank/api/v2/whiteLabel/';
const BANK_V1 = '/onramp-bank/api/v1/';
const COMMON = '/onramp/api/v2/common/';

interface Row {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** Aliases of the path. */
  aliases?: readonly string[];
  what: string;
  /** Test file, and words in it that show the path in use. */
  story: readonly [file: string, words: string] | 'later';
}

const wl = (
  method: Row['method'],
  path: string,
  what: string,
  story: Row['story'],
  aliases: readonly string[] = [],
): Row => ({ method, path: `${WL}${path}`, aliases: [`${BANK_WL}${path}`, ...aliases], what, story });
const plain = (method: Row['method'], path: string, what: string, story: Row['story']): Row => ({
  method,
  path,
  what,
  story,
});

const LIFE = 'protocols/whitelabel/life.test.ts';
const COMMON_TEST = 'protocols/whitelabel/common.test.ts';
const IDENTITY = 'protocols/whitelabel/identity.test.ts';
const OPEN = 'protocols/whitelabel/open.test.ts';
const SELLING = 'blackbox/offramp.test.ts';
const BUYING = 'blackbox/onramp.test.ts';
const WEBHOOKS = 'protocols/whitelabel/webhooks.test.ts';
const v1 = (path: string) => [`${BANK_V1}${path}`];

const ROWS: readonly Row[] = [
  wl('POST', 'kyc/url', 'a customer, and a link to be verified by', [SELLING, 'kyc/url']),
  wl('POST', 'kyc/status', 'how far verification has come', [SELLING, 'kyc/status'], v1('kyc/status')),
  wl(
    'POST',
    'kyc/requirements',
    'what a person must supply',
    [COMMON_TEST, 'kyc/requirements'],
    v1('kyc/requirements'),
  ),
  wl('POST', 'kyc/submit', 'details and documents of a person', [IDENTITY, 'kyc/submit']),
  wl('GET', 'kyb/requirements', 'what a business must supply', [SELLING, 'kyb/requirements']),
  wl('POST', 'kyb/submit', 'details of a business', [IDENTITY, 'kyb/submit']),
  wl('POST', 'kyb/files', 'documents of a business', ['protocols/whitelabel/files.test.ts', 'kyb/files']),
  wl('POST', 'kyb/status', 'how far its verification has come', [IDENTITY, 'kyb/status']),
  wl('POST', 'onramp/quote', 'a price for buying', [BUYING, 'onramp/quote']),
  wl('POST', 'offramp/quote', 'a price for selling', [SELLING, 'offramp/quote']),
  wl('POST', 'onramp/createTransaction', 'a purchase', [BUYING, 'onramp/createTransaction']),
  wl('POST', 'offramp/createTransaction', 'a sale', [SELLING, 'offramp/createTransaction']),
  wl('POST', 'onramp/transaction', 'one purchase', [BUYING, 'onramp/transaction']),
  wl('POST', 'offramp/transaction', 'one sale', [SELLING, 'offramp/transaction']),
  wl(
    'POST',
    'onramp/allUserTransaction',
    'a customer’s purchases',
    [BUYING, 'onramp/allUserTransaction'],
    v1('onramp/allUserTransaction'),
  ),
  wl(
    'POST',
    'offramp/allUserTransaction',
    'a customer’s sales',
    [SELLING, 'offramp/allUserTransaction'],
    v1('offramp/allUserTransaction'),
  ),
  wl('POST', 'onramp/allTransaction', 'all purchases', [COMMON_TEST, 'onramp/allTransaction']),
  wl('POST', 'offramp/allTransaction', 'all sales', [COMMON_TEST, 'offramp/allTransaction']),
  wl('PUT', 'onramp/referenceId', 'the payer’s bank reference', [BUYING, 'onramp/referenceId']),
  // Ours, beside the interface.
  wl('PUT', 'offramp/refundDestination', 'where a sale’s deposit goes back to', [
    'stories/refunds.test.ts',
    'offramp/refundDestination',
  ]),
  wl('PUT', 'onramp/refundDestination', 'where a purchase’s deposit goes back to', [
    'stories/refunds.test.ts',
    'onramp/refundDestination',
  ]),
  wl('POST', 'offramp/refunds', 'what came in for a sale, goes back, and came back', [
    'stories/told.test.ts',
    "'offramp'",
  ]),
  wl('POST', 'onramp/refunds', 'the same of a purchase', ['stories/told.test.ts', 'onramp/refunds']),
  wl('POST', 'bank/bankDetails', 'payment instructions again', [BUYING, 'bank/bankDetails']),
  wl('POST', 'bank/addFiatAccount', 'an account to be paid to', [SELLING, 'bank/addFiatAccount']),
  wl('POST', 'bank/addFiatAccountUrl', 'a page to add one on', [
    'protocols/checkout/bank.test.ts',
    'addFiatAccountUrl',
  ]),
  wl('POST', 'bank/fiatAccounts', 'the accounts', [LIFE, 'bank/fiatAccounts']),
  wl('POST', 'test/changeKycStatus', 'sandbox: verification', [SELLING, 'test/changeKycStatus']),
  wl('POST', 'test/changeKybStatus', 'sandbox: verification of a business', [LIFE, 'test/changeKybStatus']),
  wl('POST', 'test/changeOnrampStatus', 'sandbox: a purchase', [BUYING, 'test/changeOnrampStatus']),
  wl('POST', 'test/changeOfframpStatus', 'sandbox: a sale', [SELLING, 'test/changeOfframpStatus']),
  wl('GET', 'public/listSupportedFiat', 'fiats', [OPEN, 'public/listSupportedFiat']),
  plain('GET', `${COMMON}public/fetchPaymentMethodType`, 'payment methods', [OPEN, 'fetchPaymentMethodType']),
  plain('GET', `${COMMON}public/currentTimestamp`, 'our clock', [OPEN, 'currentTimestamp']),
  plain('GET', `${COMMON}public/fetchAllCountryConfig`, 'what is on by fiat', [OPEN, 'fetchAllCountryConfig']),
  plain('GET', '/onramp/api/v3/buy/public/listAllCoins', 'coins', [OPEN, 'listAllCoins']),
  plain('GET', '/onramp/api/v3/buy/public/listAllNetworks', 'chains', [OPEN, 'listAllNetworks']),
  plain('GET', '/onramp/api/v2/sell/public/allConfig', 'coins and chains together', [OPEN, 'v2/sell/public/allConfig']),
  plain('GET', '/onramp/api/v1/public/allGasFee', 'fees of chains, numbers', [OPEN, 'v1/public/allGasFee']),
  plain('POST', `${COMMON}transaction/allConfigMapping`, 'codes to numbers', [COMMON_TEST, 'allConfigMapping']),
  plain('POST', `${COMMON}transaction/allChainMapping`, 'coins and chains', [COMMON_TEST, 'allChainMapping']),
  plain('POST', `${COMMON}transaction/allGasFee`, 'fees of chains, text', [COMMON_TEST, 'allGasFee']),
  plain('POST', `${COMMON}transaction/limits`, 'limits by fiat', [COMMON_TEST, "'limits'"]),
  plain('POST', `${COMMON}transaction/allCoinLimits`, 'least fiat by coin', [COMMON_TEST, 'allCoinLimits']),
  plain('POST', `${COMMON}transaction/priceTicker`, 'prices', [COMMON_TEST, 'priceTicker']),
  plain('POST', `${COMMON}transaction/orderStatus`, 'status by number', [COMMON_TEST, 'orderStatus']),
  plain('POST', `${COMMON}transaction/quotes`, 'a price in numbers', [COMMON_TEST, "'quotes'"]),
  plain('POST', `${COMMON}transaction/generateLink`, 'a page to buy or sell on', [
    'protocols/checkout/checkout.test.ts',
    'generateLink',
  ]),
  plain('POST', '/onramp/api/v1/transaction/merchantHistory', 'flat history', [COMMON_TEST, 'merchantHistory']),
  plain('POST', '/onramp/api/v1/merchant/setWebhookUrl', 'where webhooks go', [WEBHOOKS, 'setWebhookUrl']),
  plain('POST', '/onramp/api/v1/merchant/resendWebhook', 'one again', [WEBHOOKS, 'resendWebhook']),
  plain('POST', '/onramp/api/v1/merchant/sendDummyWebhook', 'one to try', [WEBHOOKS, 'sendDummyWebhook']),
  // Ours, beside the interface.
  plain('GET', '/v1/events', 'events to pull', [WEBHOOKS, '/v1/events']),
  plain('GET', '/v1/webhooks', 'the endpoints', [WEBHOOKS, "get('/v1/webhooks')"]),
  plain('POST', '/v1/webhooks', 'one more', [WEBHOOKS, "post('/v1/webhooks'"]),
  plain('GET', '/v1/webhooks/:id', 'one', [WEBHOOKS, '/v1/webhooks/${']),
  plain('PUT', '/v1/webhooks/:id', 'changed', [WEBHOOKS, 'put(`/v1/webhooks/${']),
  plain('DELETE', '/v1/webhooks/:id', 'removed', [WEBHOOKS, 'remove(`/v1/webhooks/${']),
  plain('POST', '/v1/webhooks/:id/rotate', 'a new secret', [WEBHOOKS, '/rotate`']),
  plain('POST', '/v1/webhooks/:id/resume', 'sent to again', ['stories/leaked-key.test.ts', '/resume`']),
  plain('POST', '/v1/webhooks/:id/test', 'one to try', [WEBHOOKS, '/test`']),
  plain('POST', '/v1/webhooks/:id/replay', 'events again', [WEBHOOKS, '/replay`']),
  plain('GET', '/v1/webhooks/:id/deliveries', 'what was sent', [WEBHOOKS, '/deliveries`']),
  plain('GET', '/v1/webhooks/:id/deliveries/:event', 'each attempt', [WEBHOOKS, '/deliveries/${']),
  ...CONTROLS.map(({ name, says, route: { method, paths } }) =>
    plain(method, paths[0] ?? '', says, ['stories/controls.test.ts', `('${name}', `]),
  ),
];

let world: World;
before(async () => {
  world = await wireWorld({ controls: true });
});
after(async () => await world?.stop());

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;
/** The answer to an unsigned, empty request shows whether the path is served and which method it takes. */
const look = async (method: string, path: string) => (await ask(world.baseUrl, path, { method })).status;

test('every row is served under all its paths and by its own method only, and a later row is not served', async () => {
  for (const { method, path, aliases = [], story } of ROWS) {
    const methods = ROWS.filter((row) => row.path === path).map((row) => row.method);
    for (const url of [path, ...aliases].map((one) => one.replaceAll(/:[a-z]+/g, 'x'))) {
      for (const tried of METHODS.filter((one) => one === method || !methods.includes(one))) {
        const status = await look(tried, url);
        if (story === 'later') assert.equal(status, 404, `${tried} ${url} comes later`);
        else if (tried !== method) assert.equal(status, 405, `${tried} ${url}`);
        else assert.ok(status === 200 || status === 401, `${tried} ${url} → ${status}`);
      }
    }
  }
});

test('nothing is served that is not in a row', () => {
  const paths = ROUTES.flatMap(({ method, paths }) => paths.map((path) => `${method} ${path}`));
  const listed = new Set(
    ROWS.filter(({ story }) => story !== 'later').flatMap((row) =>
      [row.path, ...(row.aliases ?? [])].map((path) => `${row.method} ${path}`),
    ),
  );
  assert.ok(paths.length > 60, `${paths.length} paths were found in the table`);
  assert.deepEqual(
    paths.filter((path) => !listed.has(path)),
    [],
  );
});

test('every row that is served has a story, and the story speaks of it', () => {
  for (const { path, story } of ROWS) {
    if (story === 'later') continue;
    const [file, words] = story;
    const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
    assert.ok(text.includes(words), `${file} says nothing of ${words} (${path})`);
  }
});

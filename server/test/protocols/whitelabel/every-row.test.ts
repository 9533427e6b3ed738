/**
 * Every declared endpoint of the wire, and the test that covers it.
 *
 * A declared endpoint that is not served fails, and so does one without a story, a story without an endpoint, and one whose story no longer
 * mentions it. The sandbox's controls are all in one story, so their rows are made from their declarations.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CONTROLS, ROUTES } from '../../../src/protocols/whitelabel/index.ts';
import { ask } from '../../support/client.ts';
import { type Environment, wireEnvironment } from './environment.ts';

const WL = '/onramp/api/v2/whiteLabel/';
const BANK_WL = '/onramp-bank/api/v2/whiteLabel/';
const BANK_V1 = '/onramp-bank/api/v1/';
const COMMON = '/onramp/api/v2/common/';

/** Paths that programs also call under `BANK_V1`. */
const IN_BANK_V1 = ['kyc/status', 'kyc/requirements', 'onramp/allUserTransaction', 'offramp/allUserTransaction'];

/** Test file, and words in it that show the path in use. */
type Story = readonly [file: string, words: string];

const LIFE = 'protocols/whitelabel/life.test.ts';
const COMMON_TEST = 'protocols/whitelabel/common.test.ts';
const IDENTITY = 'protocols/whitelabel/identity.test.ts';
const PARTS = 'protocols/whitelabel/identity.parts.test.ts';
const OPEN = 'protocols/whitelabel/open.test.ts';
const SELLING = 'blackbox/offramp.test.ts';
const BUYING = 'blackbox/onramp.test.ts';
const WEBHOOKS = 'protocols/whitelabel/webhooks.test.ts';

/** By method and path, without the prefix that most share. */
const STORIES: Readonly<Record<string, Story>> = {
  'POST kyc/url': [SELLING, 'kyc/url'],
  'POST kyc/status': [SELLING, 'kyc/status'],
  'POST kyc/requirements': [COMMON_TEST, 'kyc/requirements'],
  'POST kyc/submit': [IDENTITY, 'kyc/submit'],
  'GET kyb/requirements': [SELLING, 'kyb/requirements'],
  'POST kyc/submitData': [PARTS, 'kyc/submitData'],
  'POST kyc/submitFiles': [PARTS, 'kyc/submitFiles'],
  'POST kyb/submit': [IDENTITY, 'kyb/submit'],
  'POST kyb/files': ['protocols/whitelabel/files.test.ts', 'kyb/files'],
  'POST kyb/status': [IDENTITY, 'kyb/status'],
  'POST onramp/quote': [BUYING, 'onramp/quote'],
  'POST offramp/quote': [SELLING, 'offramp/quote'],
  'POST onramp/createTransaction': [BUYING, 'onramp/createTransaction'],
  'POST offramp/createTransaction': [SELLING, 'offramp/createTransaction'],
  'POST onramp/transaction': [BUYING, 'onramp/transaction'],
  'POST offramp/transaction': [SELLING, 'offramp/transaction'],
  'POST onramp/allUserTransaction': [BUYING, 'onramp/allUserTransaction'],
  'POST offramp/allUserTransaction': [SELLING, 'offramp/allUserTransaction'],
  'POST onramp/allTransaction': [COMMON_TEST, 'onramp/allTransaction'],
  'POST offramp/allTransaction': [COMMON_TEST, 'offramp/allTransaction'],
  'PUT onramp/referenceId': [BUYING, 'onramp/referenceId'],
  // Ours, beside the interface.
  'PUT offramp/refundDestination': ['stories/refunds.test.ts', 'offramp/refundDestination'],
  'PUT onramp/refundDestination': ['stories/refunds.test.ts', 'onramp/refundDestination'],
  'POST offramp/refunds': ['stories/told.test.ts', "'offramp'"],
  'POST onramp/refunds': ['stories/told.test.ts', 'onramp/refunds'],
  'POST bank/bankDetails': [BUYING, 'bank/bankDetails'],
  'POST bank/addFiatAccount': [SELLING, 'bank/addFiatAccount'],
  'POST bank/addFiatAccountUrl': ['protocols/checkout/bank.test.ts', 'addFiatAccountUrl'],
  'POST bank/fiatAccounts': [LIFE, 'bank/fiatAccounts'],
  'POST test/changeKycStatus': [SELLING, 'test/changeKycStatus'],
  'POST test/changeKybStatus': [LIFE, 'test/changeKybStatus'],
  'POST test/changeOnrampStatus': [BUYING, 'test/changeOnrampStatus'],
  'POST test/changeOfframpStatus': [SELLING, 'test/changeOfframpStatus'],
  'GET public/listSupportedFiat': [OPEN, 'public/listSupportedFiat'],
  'GET common/public/fetchPaymentMethodType': [OPEN, 'fetchPaymentMethodType'],
  'GET common/public/currentTimestamp': [OPEN, 'currentTimestamp'],
  'GET common/public/fetchAllCountryConfig': [OPEN, 'fetchAllCountryConfig'],
  'GET /onramp/api/v3/buy/public/listAllCoins': [OPEN, 'listAllCoins'],
  'GET /onramp/api/v3/buy/public/listAllNetworks': [OPEN, 'listAllNetworks'],
  'GET /onramp/api/v2/sell/public/allConfig': [OPEN, 'v2/sell/public/allConfig'],
  'GET /onramp/api/v1/public/allGasFee': [OPEN, 'v1/public/allGasFee'],
  'POST common/transaction/allConfigMapping': [COMMON_TEST, 'allConfigMapping'],
  'POST common/transaction/allChainMapping': [COMMON_TEST, 'allChainMapping'],
  'POST common/transaction/allGasFee': [COMMON_TEST, 'allGasFee'],
  'POST common/transaction/limits': [COMMON_TEST, "'limits'"],
  'POST common/transaction/allCoinLimits': [COMMON_TEST, 'allCoinLimits'],
  'POST common/transaction/priceTicker': [COMMON_TEST, 'priceTicker'],
  'POST common/transaction/orderStatus': [COMMON_TEST, 'orderStatus'],
  'POST common/transaction/quotes': [COMMON_TEST, "'quotes'"],
  'POST common/transaction/generateLink': ['protocols/checkout/checkout.test.ts', 'generateLink'],
  'POST /onramp/api/v1/transaction/merchantHistory': [COMMON_TEST, 'merchantHistory'],
  'POST /onramp/api/v1/merchant/setWebhookUrl': [WEBHOOKS, 'setWebhookUrl'],
  'POST /onramp/api/v1/merchant/resendWebhook': [WEBHOOKS, 'resendWebhook'],
  'POST /onramp/api/v1/merchant/sendDummyWebhook': [WEBHOOKS, 'sendDummyWebhook'],
  // Ours, beside the interface.
  'GET /v1/events': [WEBHOOKS, '/v1/events'],
  'GET /v1/webhooks': [WEBHOOKS, "get('/v1/webhooks')"],
  'POST /v1/webhooks': [WEBHOOKS, "post('/v1/webhooks'"],
  'GET /v1/webhooks/:id': [WEBHOOKS, '/v1/webhooks/${'],
  'PUT /v1/webhooks/:id': [WEBHOOKS, 'put(`/v1/webhooks/${'],
  'DELETE /v1/webhooks/:id': [WEBHOOKS, 'remove(`/v1/webhooks/${'],
  'POST /v1/webhooks/:id/rotate': [WEBHOOKS, '/rotate`'],
  'POST /v1/webhooks/:id/resume': ['stories/leaked-key.test.ts', '/resume`'],
  'POST /v1/webhooks/:id/test': [WEBHOOKS, '/test`'],
  'POST /v1/webhooks/:id/replay': [WEBHOOKS, '/replay`'],
  'GET /v1/webhooks/:id/deliveries': [WEBHOOKS, '/deliveries`'],
  'GET /v1/webhooks/:id/deliveries/:event': [WEBHOOKS, '/deliveries/${'],
  ...Object.fromEntries(
    CONTROLS.map(({ name, route: { method, paths } }): [string, Story] => [
      `${method} ${paths[0]}`,
      ['stories/controls.long.test.ts', `('${name}', `],
    ]),
  ),
};

const ROWS = ROUTES.map(({ method, paths }) => {
  const [path = ''] = paths;
  return { method, path, paths, row: `${method} ${path.replace(WL, '').replace(COMMON, 'common/')}` };
});

let world: Environment;
before(async () => {
  world = await wireEnvironment({ controls: true });
});
after(async () => await world?.stop());

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;
/** The answer to an unsigned, empty request shows whether the path is served and which method it takes. */
const look = async (method: string, path: string) => (await ask(world.baseUrl, path, { method })).status;

test('every endpoint is served under all its paths and by its own method only', async () => {
  assert.ok(ROWS.length > 60, `${ROWS.length} endpoints were found`);
  for (const { method, path, paths } of ROWS) {
    const methods: string[] = ROWS.filter((row) => row.path === path).map((row) => row.method);
    for (const url of paths.map((one) => one.replaceAll(/:[a-z]+/g, 'x'))) {
      for (const tried of METHODS.filter((one) => one === method || !methods.includes(one))) {
        const status = await look(tried, url);
        if (tried !== method) assert.equal(status, 405, `${tried} ${url}`);
        else assert.ok(status === 200 || status === 401, `${tried} ${url} → ${status}`);
      }
    }
  }
});

test('both prefixes serve every white-label path, and some of them a third', () => {
  for (const { path, paths } of ROWS.filter((row) => row.path.startsWith(WL)))
    assert.ok(paths.includes(path.replace(WL, BANK_WL)), `${path} is served under one prefix only`);
  const third = ROWS.flatMap(({ paths }) => paths.filter((path) => path.startsWith(BANK_V1)));
  assert.deepEqual(third.toSorted(), IN_BANK_V1.map((path) => `${BANK_V1}${path}`).toSorted());
});

test('every endpoint has a story, and every story an endpoint', () => {
  assert.deepEqual(ROWS.map(({ row }) => row).toSorted(), Object.keys(STORIES).toSorted());
});

test('a story speaks of its endpoint', () => {
  for (const [row, [file, words]] of Object.entries(STORIES)) {
    const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
    assert.ok(text.includes(words), `${file} does not mention ${words} (${row})`);
  }
});

/** The sandbox trades every fiat that reference data marks as live, both ways, with its own limits, prices and accounts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { formatUnits, parseUnits } from '../../src/base/money.ts';
import { fiatNumber, LIVE } from '../../src/protocols/whitelabel/reference.ts';
import { FIATS } from '../../src/sandbox/catalogue.ts';
import { newPhone } from '../support/client.ts';
import { isLong } from '../support/long.ts';
import { openStory, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

/** A valid account of each country, the account that a customer is told to pay to, and an account of a wrong shape. */
const ACCOUNTS: Readonly<
  Record<string, { account: Record<string, string>; paysTo: Record<string, RegExp>; wrong: Record<string, string> }>
> = {
  inr: {
    account: { fiatAccount: '000100020007', ifsc: 'HDFC0000001' },
    paysTo: { accountNumber: /^\d+$/, ifsc: /^SIMU0/ },
    wrong: { ifsc: '1' },
  },
  eur: {
    account: { iban: 'DE89370400440532013000' },
    paysTo: { iban: /^DE/, bic: /^SIMU/ },
    wrong: { iban: 'DE89370400440532013001' },
  },
  try: {
    account: { iban: 'TR33 0006 1005 1978 6457 8413 26' },
    paysTo: { iban: /^TR\d{24}$/ },
    wrong: { iban: 'DE89370400440532013000' },
  },
  aed: {
    account: { fiatAccount: 'AE070331234567890123456' },
    paysTo: { iban: /^AE\d{21}$/ },
    wrong: { fiatAccount: 'AE070331234567890123457' },
  },
  mxn: {
    account: { fiatAccount: '032180000118359719' },
    paysTo: { accountNumber: /^\d{18}$/ },
    wrong: { fiatAccount: '032180000118359718' },
  },
  ngn: {
    account: { fiatAccount: '0123456789', bankCode: '058' },
    paysTo: { accountNumber: /^\d{10}$/, bankCode: /^\d+$/ },
    wrong: { fiatAccount: '012345678' },
  },
  brl: {
    account: { fiatAccount: '123.456.789-09'.replaceAll('.', '') },
    paysTo: { accountNumber: /^\d{14}$/ },
    wrong: { fiatAccount: '1234' },
  },
  php: {
    account: { fiatAccount: '001234567890', bankCode: 'BOPIPHMM' },
    paysTo: { accountNumber: /^\d+$/, bankCode: /./ },
    wrong: { fiatAccount: '123' },
  },
  gbp: {
    account: { fiatAccount: '31926819', sortCode: '60-16-13' },
    paysTo: { accountNumber: /^\d{8}$/, sortCode: /^\d{6}$/ },
    wrong: { sortCode: '6016' },
  },
  usd: {
    account: { fiatAccount: '000123456789', routingNumber: '021000021' },
    paysTo: { accountNumber: /^\d+$/, routingNumber: /^\d{9}$/ },
    wrong: { routingNumber: '021000022' },
  },
  kes: {
    account: { fiatAccount: '254712345678' },
    paysTo: { accountNumber: /^\d+$/, bankCode: /^\d+$/ },
    wrong: { fiatAccount: '12345' },
  },
};

async function told<T = Record<string, string>>(path: string, body: Record<string, string>): Promise<T> {
  const answer = await world.partner.post(path, body);
  assert.equal(answer.status, 200, `${path} ${JSON.stringify(body)}: ${answer.text}`);
  return answer.body.data as T;
}

async function customerWith(account: Record<string, string>, fiat: string) {
  const { customerId = '' } = await told('kyc/url', {
    clientCustomerId: `fiats ${fiat} ${newPhone()}`,
    phoneNumber: newPhone(),
    type: 'INDIVIDUAL',
  });
  await told('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const added = { customerId, fiatType: fiat.toUpperCase() };
  const { fiatAccountId = '' } = await told('bank/addFiatAccount', { ...added, ...account });
  return { customerId, fiatAccountId, added };
}

test('the sandbox has a market both ways for exactly the fiats that are live', async () => {
  assert.deepEqual(FIATS.map(({ code }) => code).toSorted(), Object.keys(LIVE).toSorted());
  assert.deepEqual(Object.keys(ACCOUNTS).toSorted(), Object.keys(LIVE).toSorted());
  for (const { code, buyMethod, sellMethod } of FIATS)
    for (const method of [buyMethod, sellMethod]) assert.ok(LIVE[code]?.includes(method), `${code} ${method}`);
  const { body } = await world.partner.get('public/listSupportedFiat');
  const live = Object.fromEntries(Object.keys(LIVE).map((coin) => [fiatNumber({ coin }), coin.toUpperCase()]));
  assert.deepEqual(body.data, { onramp: live, offramp: live });
  const limits = (await told<{ onramp: object; offramp: object }>('/onramp/api/v2/common/transaction/limits', {
    type: '3',
  })) as Record<string, Record<string, { min: number; max: number }>>;
  for (const side of ['onramp', 'offramp'])
    for (const number of Object.keys(live)) {
      const { min = 0, max = 0 } = limits[side]?.[number] ?? {};
      assert.ok(min > 0 && max > min, `${side} ${live[number]}: ${min} to ${max}`);
    }
});

/** In `npm test` those with an IBAN and with a mobile number as account; the others differ from them in their table alone. */
const TRADED = FIATS.filter(({ code }) => isLong || code === 'eur' || code === 'kes');
assert.ok(TRADED.length >= 2);
for (const { code, decimals, minWhole, buyMethod } of TRADED) {
  const fiat = code.toUpperCase();
  test(`${fiat}: a sale and a purchase are quoted, made, paid and settled, with an account of its country`, async () => {
    const shape = ACCOUNTS[code];
    assert.ok(shape);
    const { customerId, fiatAccountId, added } = await customerWith(shape.account, code);
    const wrong = await world.partner.post('bank/addFiatAccount', { ...added, ...shape.account, ...shape.wrong });
    assert.equal(wrong.status, 400, `${fiat} takes ${JSON.stringify(shape.wrong)}`);
    const [field = ''] = Object.keys(shape.wrong);
    assert.match(wrong.text, new RegExp(field), wrong.text);

    const sale = { fromCurrency: 'usdt', toCurrency: fiat, chain: 'matic20', fromAmount: '50' };
    const quote = await told('offramp/quote', sale);
    const terms = { toAmount: quote.toAmount ?? '', rate: quote.rate ?? '' };
    const sold = await told('offramp/createTransaction', { ...sale, ...terms, customerId, fiatAccountId });
    await told('test/changeOfframpStatus', { transactionId: sold.transactionId ?? '', customerId, status: '6' });

    const fromAmount = formatUnits(minWhole * 10n * 10n ** BigInt(decimals), decimals);
    const purchase = {
      fromCurrency: fiat,
      toCurrency: 'usdt',
      chain: 'matic20',
      fromAmount,
      paymentMethodType: buyMethod,
    };
    const priced = await told('onramp/quote', purchase);
    const bought = await told<{
      transactionId: string;
      fiatPaymentInstructions: { type: string; bank: Record<string, string> };
    }>('onramp/createTransaction', {
      ...purchase,
      ...{ toAmount: priced.toAmount ?? '', rate: priced.rate ?? '' },
      ...{ customerId, depositAddress: world.newAddress() },
    });
    const { type, bank } = bought.fiatPaymentInstructions;
    assert.equal(type, buyMethod);
    for (const [name, form] of Object.entries(shape.paysTo)) assert.match(bank[name] ?? '', form, `${fiat} ${name}`);
    await told('test/changeOnrampStatus', { transactionId: bought.transactionId, customerId, status: '4' });

    for (const [id, side] of [
      [sold.transactionId ?? '', 'offramp'],
      [bought.transactionId, 'onramp'],
    ] as const)
      await world.until(`the ${side} in ${fiat} is settled`, async () => {
        await world.mines(1);
        return (await world.stateOf({ id: BigInt(id) } as Parameters<Story['stateOf']>[0])) === 'settled';
      });
    const [payment] = await world.bank.payments(`pay_${sold.transactionId}_1`);
    assert.deepEqual([payment?.currency, payment?.units], [fiat, parseUnits(quote.toAmount ?? '', decimals)]);
  });
}

/** TRP: travel addresses against a published vector, numbers as other programs write them, and the settings. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { createBase58check } from '@scure/base';
import { SettingError } from '../../../src/base/env.ts';
import { travelAddressOf, urlOfTravelAddress } from '../../../src/compliance/travel-rule/protocols/trp/address.ts';
import { trp } from '../../../src/compliance/travel-rule/protocols/trp/index.ts';

const PLAIN = { plain: true };
const PROPER = { plain: false };

test('a travel address is that of the published example', () => {
  const example = 'ta2W2HPKfHxgSgrzY178knqXHg1H3jfeQrwQ9JrKBs9wv';
  assert.equal(travelAddressOf('https://beneficiary.com/x/12345'), example);
  assert.equal(urlOfTravelAddress(example, PROPER), 'https://beneficiary.com/x/12345?t=i');
});

test('outside a sandbox a travel address of this machine is called with TLS, and inside one without', () => {
  const address = travelAddressOf('http://127.0.0.1:8080/x');
  assert.equal(urlOfTravelAddress(address, PROPER), 'https://127.0.0.1:8080/x?t=i');
  assert.equal(urlOfTravelAddress(address, PLAIN), 'http://127.0.0.1:8080/x?t=i');
  assert.equal(urlOfTravelAddress(travelAddressOf('http://a.example.com/x'), PLAIN), 'https://a.example.com/x?t=i');
});

test('what is no address with the query of an inquiry is no travel address, whatever it decodes to', () => {
  const base58check = createBase58check((bytes: Uint8Array) => createHash('sha256').update(bytes).digest());
  for (const text of [
    ...[
      'a.example.com/x',
      'a.example.com/x?t=p',
      'https://a.example.com/x?t=i',
      'u:p@a.example.com/x?t=i',
      'a.example.com?t=i',
    ],
    ...[
      'a.example.com/x?t=i#f',
      'a.example.com/ x?t=i',
      'a.example.com/\nx?t=i',
      '//a.example.com/x?t=i',
      '/x?t=i',
      '',
    ],
  ])
    assert.equal(urlOfTravelAddress(`ta${base58check.encode(Buffer.from(text))}`, PLAIN), undefined, text);
  assert.equal(urlOfTravelAddress(`ta${base58check.encode(Buffer.from([0xff, 0xfe]))}`, PLAIN), undefined);
});

const read = (amount: string): string => {
  const persons = [
    { legalPerson: { name: { nameIdentifier: [{ legalPersonName: 'A', legalPersonNameIdentifierType: 'LEGL' }] } } },
  ];
  const IVMS101 = { originator: { originatorPersons: persons }, beneficiary: { beneficiaryPersons: persons } };
  const rest = JSON.stringify({ callback: 'https://a.example.com/', asset: { slip0044: 60 }, IVMS101 }).slice(1);
  return trp
    .create(
      { legalName: 'A', assets: new Map([['eth', { slip0044: 60 }]]) },
      { ask: () => assert.fail(), deadlineMs: 1, plain: false },
    )
    .readInquiry({
      headers: { 'api-version': '3.2.1', 'request-identifier': '1' },
      body: Buffer.from(`{"amount":${amount},${rest}`),
    }).amount;
};

test('an amount is read as it was written, also with an exponent and as a text', () => {
  for (const [written, amount] of [
    ['61', '61'],
    ['6.1e1', '61'],
    ['6.1E+1', '61'],
    ['2.1e-8', '0.000000021'],
    ['1e-18', '0.000000000000000001'],
    ['1.5e3', '1500'],
    ['12.5e1', '125'],
    ['12.34e1', '123.4'],
    ['0.10', '0.10'],
    ['"0.1"', '0.1'],
    ['0.1000000000000000055', '0.1000000000000000055'],
  ] as const)
    assert.equal(read(written), amount, written);
  for (const wrong of ['0e5', '-1', '"1e99"', '1e31', '"0x10"', '" 1"', '"١"', 'true', 'null', '[1]'])
    assert.throws(() => read(wrong), /amount/, wrong);
});

test('assets are named once each, and a certificate has its key', () => {
  const { assets } = trp.settings;
  assert(assets !== undefined);
  const given = assets.read('usdc.matic20=dti:4H95J0R2X, eth.eth=slip0044:60') as ReadonlyMap<string, unknown>;
  assert.deepEqual(
    [...given],
    [
      ['usdc.matic20', { dti: '4H95J0R2X' }],
      ['eth.eth', { slip0044: 60 }],
    ],
  );
  for (const wrong of [
    'usdc.matic20',
    'usdc.matic20=4H95J0R2X',
    'usdc.matic20=dti:short',
    'a=dti:4H95J0R2X,a=dti:4H95J0R2Y',
    'a=dti:4H95J0R2X,b=dti:4H95J0R2X',
  ])
    assert.throws(() => assets.read(wrong), SettingError, wrong);
  const context = { ask: () => assert.fail(), deadlineMs: 1, plain: false };
  assert.throws(() => trp.create({ assets: new Map(), certificate: 'PEM' }, context), SettingError);
});

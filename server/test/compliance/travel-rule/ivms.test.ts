/** IVMS101: who is originator and who beneficiary, and under which names of the data model. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customerPerson, ivmsOf, type Known } from '../../../src/compliance/travel-rule/ivms.ts';

const PERSON = { id: 'abc_1', residence: 'DE', details: { firstName: 'Asha', lastName: 'Rao', dob: '1990-01-31' } };
const COMPANY = {
  id: 'abc_2',
  residence: 'AE',
  details: { firstName: 'Asha', lastName: 'Rao', companyName: 'Rao Trading LLC' },
};
const known = (more: Partial<Known>): Known => ({
  ...{ direction: 'out', address: '0xabc', orderId: 17n, customer: PERSON, wallet: {} },
  ...more,
});

const ASHA = {
  naturalPerson: {
    name: { nameIdentifier: [{ primaryIdentifier: 'Rao', secondaryIdentifier: 'Asha', nameIdentifierType: 'LEGL' }] },
    customerIdentification: 'abc_1',
    countryOfResidence: 'DE',
  },
};

test('coins that go to the customer’s own wallet have the customer on both sides', () => {
  assert.deepEqual(ivmsOf(known({})), {
    originator: { originatorPersons: [ASHA], accountNumber: ['order 17'] },
    beneficiary: { beneficiaryPersons: [ASHA], accountNumber: ['0xabc'] },
  });
});

test('coins that come from another’s hosted wallet name that person and its provider as the originating side', () => {
  const wallet = { ownerName: 'Bela Kiss', provider: 'An Exchange Ltd' };
  assert.deepEqual(ivmsOf(known({ direction: 'in', wallet })), {
    originator: {
      originatorPersons: [
        {
          naturalPerson: { name: { nameIdentifier: [{ primaryIdentifier: 'Bela Kiss', nameIdentifierType: 'LEGL' }] } },
        },
      ],
      accountNumber: ['0xabc'],
    },
    beneficiary: { beneficiaryPersons: [ASHA], accountNumber: ['order 17'] },
    originatingVASP: {
      legalPerson: {
        name: {
          nameIdentifier: [{ legalPersonName: 'An Exchange Ltd', legalPersonNameIdentifierType: 'LEGL' }],
        },
      },
    },
  });
});

test('a business is a legal person, also where its form asks for a person’s name', () => {
  assert.deepEqual(customerPerson(COMPANY), {
    legalPerson: {
      name: { nameIdentifier: [{ legalPersonName: 'Rao Trading LLC', legalPersonNameIdentifierType: 'LEGL' }] },
      customerNumber: 'abc_2',
      countryOfRegistration: 'AE',
    },
  });
});

test('a residence that nobody has stated is left out', () => {
  const person = customerPerson({ ...PERSON, residence: undefined });
  const { countryOfResidence: _, ...others } = ASHA.naturalPerson;
  assert.deepEqual(person, { naturalPerson: others });
  assert.doesNotMatch(JSON.stringify(customerPerson({ ...COMPANY, residence: undefined })), /country/);
});

test('a customer without a name is no person; one with a single name has it as the primary one', () => {
  assert.equal(customerPerson({ ...PERSON, details: {} }), undefined);
  assert.equal(customerPerson({ ...PERSON, details: { firstName: '  ' } }), undefined);
  const single = JSON.stringify(customerPerson({ ...PERSON, details: { firstName: 'Suharto' } }));
  assert.match(single, /"primaryIdentifier":"Suharto","nameIdentifierType"/);
});

test('no text is longer than the model allows, and missing data is omitted', () => {
  const wallet = { ownerName: 'x'.repeat(200), provider: 'y'.repeat(200) };
  for (const [longest] of JSON.stringify(ivmsOf(known({ wallet }))).matchAll(/x{5,}|y{5,}/g))
    assert.equal(longest.length, 100);
  const nothing = ivmsOf(known({ direction: 'in', address: '', wallet: undefined }));
  assert.deepEqual(nothing.originator, { originatorPersons: [], accountNumber: [] });
});

/** Answers of a person and of a business that fill in the default forms completely. */
export const ADDRESS = { addressLine1: '1 Main Road', city: 'Pune', postalCode: '411001' };

export const PERSON = {
  identityNumber: 'ABCDE1234F',
  details: { firstName: 'Asha', lastName: 'Rao', dob: '1990-01-31' },
  address: ADDRESS,
};

export const BUSINESS = {
  identityNumber: 'ABCDE1234F',
  details: { firstName: 'Asha', secondSurname: 'Rao', dob: '1990-01-31', sourceOfFunds: 'salary', sex: 'female' },
  address: ADDRESS,
};

/**
 * The default forms: the data that a business and a person must supply to be verified, when no other form was set.
 *
 * The patterns are part of the partner API, where programs validate input with them; our own pages use the same ones. The form of
 * a business is part of the interface: its content and order are served unchanged.
 */
import type { Form, Requirement } from './form.ts';

const NO_LEADING_SPACE = '^(?!\\s).*$';

export const BUSINESS_FORM = {
  identityNumber: { label: 'Identity Number', required: 1, regex: '^[a-zA-Z0-9]*$' },
  details: {
    firstName: { label: 'First Name', required: 1, regex: NO_LEADING_SPACE },
    firstSurname: { label: 'First Surname', required: 0, regex: NO_LEADING_SPACE },
    secondSurname: { label: 'Second Surname', required: 1, regex: NO_LEADING_SPACE },
    dob: {
      label: 'Date of Birth',
      required: 1,
      type: 'date',
      regex: '^(19|20)\\d{2}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$',
    },
    sourceOfFunds: { label: 'Source of Funds', required: 1, type: 'select' },
    sex: { label: 'Sex', required: 1, type: 'select', regex: '^[a-zA-Z]+$' },
  },
  address: {
    addressLine1: { label: 'Address Line 1', required: 1 },
    addressLine2: { label: 'Address Line 2', required: 0 },
    city: { label: 'City', required: 1, regex: '^[a-zA-Z ]+$' },
    postalCode: { label: 'Postal Code', required: 1, regex: '^[a-zA-Z0-9 ]+$' },
  },
  documents: {
    1: { idName: 'National ID', files: ['idFront1.jpg', 'idBack1.jpg', 'selfie.jpg'] },
    3: { idName: 'Passport', files: ['passportFront.jpg', 'passportBack.jpg', 'selfie.jpg'] },
    4: { idName: 'Driving License', files: ['drivingLicenseFront.jpg', 'drivingLicenseBack.jpg', 'selfie.jpg'] },
  },
} as const satisfies {
  identityNumber: Requirement;
  details: Record<string, Requirement>;
  address: Record<string, Requirement>;
  documents: Record<number, { idName: string; files: readonly string[] }>;
};

export const PERSON_FORM = {
  identityNumber: BUSINESS_FORM.identityNumber,
  details: {
    firstName: BUSINESS_FORM.details.firstName,
    lastName: { label: 'Last Name', required: 1, regex: NO_LEADING_SPACE },
    dob: BUSINESS_FORM.details.dob,
    sourceOfFunds: { label: 'Source of Funds', required: 0, type: 'select' },
    sex: { label: 'Sex', required: 0, type: 'select', regex: '^[a-zA-Z]+$' },
  },
  address: BUSINESS_FORM.address,
  documents: BUSINESS_FORM.documents,
} as const satisfies Form;

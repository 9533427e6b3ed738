/** Endpoints about customers: who they are, verification, accounts. */
import type { RefusalCode } from '../../../base/errors.ts';
import {
  accountsFields,
  addAccount,
  addAccountFields,
  addAccountFieldsOf,
  addAccountUrl,
  addAccountUrlFields,
  listAccounts,
} from '../endpoints/accounts.ts';
import { kycStatus, kycStatusFields, kycUrl, kycUrlFields } from '../endpoints/customers.ts';
import {
  kybFiles,
  kybFilesFields,
  kybStatus,
  kybStatusFields,
  kybSubmit,
  kybSubmitFields,
  kycSubmit,
  kycSubmitFields,
} from '../endpoints/identity.ts';
import { kybRequirements } from '../endpoints/public.ts';
import { kycRequirements, kycRequirementsFields } from '../endpoints/requirements.ts';
import * as replies from '../replies.ts';
import { open, type Route, signed, wl } from '../route.ts';
import { COUNTED, IDEMPOTENT, onBank, sent } from './parts.ts';

const SUBMITTING: readonly RefusalCode[] = [...IDEMPOTENT, 'unknown_customer', 'customer_blocked', 'submission_exists'];

export const CUSTOMERS: readonly Route[] = [
  signed({
    paths: wl('kyc/url'),
    scope: 'customers',
    says: 'Makes a link by which a customer logs in and is verified; the first time, it enrols the customer.',
    takes: kycUrlFields,
    forms: [kycUrlFields(sent()), kycUrlFields(sent(['customerId', '1']))],
    gives: replies.KYC_LINK,
    refuses: ['customer_exists', 'unknown_customer'],
    answer: kycUrl,
  }),
  signed({
    paths: wl('kyc/status', onBank('kyc/status')),
    scope: 'read',
    says: 'Tells how far the verification of a customer has come.',
    takes: kycStatusFields,
    gives: replies.KYC_STATUS,
    refuses: ['unknown_customer'],
    answer: kycStatus,
  }),
  signed({
    paths: wl('kyc/requirements', onBank('kyc/requirements')),
    scope: 'read',
    says: 'Tells what a person must supply to be verified.',
    takes: kycRequirementsFields,
    forms: [kycRequirementsFields(sent()), kycRequirementsFields(sent(['countryCode', 'IN']))],
    gives: replies.KYC_REQUIREMENTS,
    refuses: ['unknown_customer', 'unsupported_pair'],
    answer: kycRequirements,
  }),
  signed({
    paths: wl('kyc/submit'),
    scope: 'customers',
    files: true,
    says: 'Submits what a person must supply, by which the verifier verifies it.',
    takes: kycSubmitFields,
    forms: [kycSubmitFields(sent())],
    gives: replies.SUBMITTED,
    refuses: [...SUBMITTING, 'unsupported_pair'],
    answer: kycSubmit,
  }),
  signed({
    paths: wl('kyb/submit'),
    scope: 'customers',
    says: 'Submits what a business must supply, at once or in parts: what is missing still, and what must be corrected, is in `reasons`.',
    takes: kybSubmitFields,
    forms: [kybSubmitFields(sent())],
    gives: replies.SUBMITTED,
    refuses: [...SUBMITTING, 'unknown_submission', 'submission_over'],
    answer: kybSubmit,
  }),
  signed({
    paths: wl('kyb/files'),
    scope: 'customers',
    files: true,
    says: 'Takes the files of documents of a business, as multipart/form-data, each named as in the requirements: JPEG, PNG, WEBP or PDF of at most 5 MiB.',
    takes: kybFilesFields,
    gives: replies.SUBMITTED,
    refuses: [...SUBMITTING, 'unknown_submission', 'submission_over'],
    answer: kybFiles,
  }),
  signed({
    paths: wl('kyb/status'),
    scope: 'read',
    says: 'Tells what became of a submission of a business: the one named, or the newest.',
    takes: kybStatusFields,
    gives: replies.SUBMISSION,
    refuses: ['unknown_customer', 'unknown_submission'],
    answer: kybStatus,
  }),
  open({
    paths: wl('kyb/requirements'),
    auth: 'optional',
    says: 'Tells what a business must supply to be verified; signed, the form of the calling partner.',
    gives: replies.REQUIREMENTS,
    answer: kybRequirements,
  }),
  signed({
    paths: wl('bank/addFiatAccount'),
    scope: 'customers',
    says: 'Adds a bank account of a customer.',
    takes: addAccountFieldsOf,
    forms: [addAccountFields],
    gives: replies.ADDED_ACCOUNT,
    refuses: ['unknown_customer', 'login_required', 'customer_blocked', 'unsupported_pair'],
    answer: addAccount,
  }),
  signed({
    paths: wl('bank/addFiatAccountUrl'),
    scope: 'customers',
    says: 'Makes a link to a page on which the customer adds a bank account.',
    takes: addAccountUrlFields,
    gives: replies.ACCOUNT_LINK,
    refuses: ['unknown_customer', 'unsupported_pair'],
    answer: addAccountUrl,
  }),
  signed({
    paths: wl('bank/fiatAccounts'),
    scope: 'customers',
    says: 'Lists the bank accounts of a customer.',
    takes: accountsFields,
    gives: replies.ACCOUNTS,
    headers: COUNTED,
    refuses: ['unknown_customer'],
    answer: listAccounts,
  }),
];

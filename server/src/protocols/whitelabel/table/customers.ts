/** Endpoints about customers: who they are, verification, accounts. */
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
import { kybRequirements } from '../endpoints/public.ts';
import { kycRequirements, kycRequirementsFields } from '../endpoints/requirements.ts';
import * as replies from '../replies.ts';
import { open, type Route, signed, wl } from '../route.ts';
import { COUNTED, onBank, sent } from './parts.ts';

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

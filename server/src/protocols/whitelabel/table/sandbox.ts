/** Endpoints that only a sandbox has. */
import {
  changeKybFields,
  changeKybStatus,
  changeKycFields,
  changeKycStatus,
  changeOfframpStatus,
  changeOnrampStatus,
  changeOrderFields,
} from '../endpoints/sandbox.ts';
import * as replies from '../replies.ts';
import { type Route, signed, wl } from '../route.ts';
import { DRIVEN, ONE_OF_ITS } from './parts.ts';

export const SANDBOX: readonly Route[] = [
  signed({
    paths: wl('test/changeKycStatus'),
    scope: 'customers',
    sandbox: true,
    says: 'Sandbox: sets the verification status of a person.',
    takes: changeKycFields,
    gives: replies.CHANGED_STATUS,
    refuses: ['unknown_customer'],
    answer: changeKycStatus,
  }),
  signed({
    paths: wl('test/changeKybStatus'),
    scope: 'customers',
    sandbox: true,
    says: 'Sandbox: sets the verification status of a business.',
    takes: changeKybFields,
    gives: replies.CHANGED_STATUS,
    refuses: ['unknown_customer', 'unknown_submission', 'submission_exists'],
    answer: changeKybStatus,
  }),
  signed({
    paths: wl('test/changeOfframpStatus'),
    scope: 'trade',
    sandbox: true,
    says: 'Sandbox: drives a sale to a status, by causing the facts that lead there.',
    takes: changeOrderFields,
    gives: replies.CHANGED_STATUS,
    refuses: [...ONE_OF_ITS, ...DRIVEN],
    answer: changeOfframpStatus,
  }),
  signed({
    paths: wl('test/changeOnrampStatus'),
    scope: 'trade',
    sandbox: true,
    says: 'Sandbox: drives a purchase to a status, by causing the facts that lead there.',
    takes: changeOrderFields,
    gives: replies.CHANGED_STATUS,
    refuses: [...ONE_OF_ITS, ...DRIVEN],
    answer: changeOnrampStatus,
  }),
];

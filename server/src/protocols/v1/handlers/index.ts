/** The handler of each declared endpoint. */
import type { Handled } from '../handler.ts';
import { BRANDING_HANDLERS } from './branding.ts';
import { ACCOUNT_HANDLERS, CATALOGUE_HANDLERS } from './catalogue.ts';
import { CUSTOMER_HANDLERS } from './customers.ts';
import { INFORMATION_HANDLERS } from './information.ts';
import { ORDER_HANDLERS } from './orders.ts';
import { QUOTE_HANDLERS } from './quotes.ts';
import { REQUEST_HANDLERS } from './requests.ts';
import { SANDBOX_HANDLERS } from './sandbox.ts';
import { STATEMENT_HANDLERS } from './statement.ts';
import { SUBMISSION_HANDLERS } from './submissions.ts';
import { TEAM_HANDLERS } from './team.ts';
import { WEBHOOK_HANDLERS } from './webhooks.ts';

export const HANDLERS: readonly Handled[] = [
  ...CATALOGUE_HANDLERS,
  ...QUOTE_HANDLERS,
  ...ORDER_HANDLERS,
  ...CUSTOMER_HANDLERS,
  ...SUBMISSION_HANDLERS,
  ...INFORMATION_HANDLERS,
  ...WEBHOOK_HANDLERS,
  ...ACCOUNT_HANDLERS,
  ...REQUEST_HANDLERS,
  ...TEAM_HANDLERS,
  ...BRANDING_HANDLERS,
  ...STATEMENT_HANDLERS,
  ...SANDBOX_HANDLERS,
];

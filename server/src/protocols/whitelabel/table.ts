/**
 * The table of this API's endpoints: the path of each, who may call it, its fields, its replies, its refusals. Routes, checks
 * and the API description (openapi.ts) are generated from it only.
 */
import { type Route } from './route.ts';
import { BUYING } from './table/buying.ts';
import { COMMON } from './table/common.ts';
import { CONTROLS } from './table/controls.ts';
import { CUSTOMERS } from './table/customers.ts';
import { PUBLIC } from './table/public.ts';
import { SANDBOX } from './table/sandbox.ts';
import { SELLING } from './table/selling.ts';
import { WEBHOOKS } from './table/webhooks.ts';

/** Groups of endpoints, as in the description. */
export const GROUPS: readonly { readonly name: string; readonly says: string; readonly routes: readonly Route[] }[] = [
  { name: 'Customers', says: 'Enrolment, verification and bank accounts.', routes: CUSTOMERS },
  { name: 'Selling', says: 'Coins in, fiat out.', routes: SELLING },
  { name: 'Buying', says: 'Fiat in, coins out.', routes: BUYING },
  { name: 'Common', says: 'Numbers, limits, prices, hosted pages and accounting.', routes: COMMON },
  { name: 'Webhooks', says: 'Events, and the endpoints they are posted to.', routes: WEBHOOKS },
  { name: 'Public', says: 'Reference data that needs no signature.', routes: PUBLIC },
  {
    name: 'Sandbox',
    says: 'Only in the sandbox: they cause facts, and the server draws its conclusions.',
    routes: [...SANDBOX, ...CONTROLS.map(({ route }) => route)],
  },
];

/** Every possible endpoint; `served` (index.ts) selects those that a server offers. */
export const ROUTES: readonly Route[] = GROUPS.flatMap(({ routes }) => routes);

/**
 * All endpoints of this wire, in the order of the description. An endpoint is described in its declaration only;
 * docs/openapi-v1.json, docs/api-v1.md and the routes are generated from this table.
 */
import type { Declared } from '../declare.ts';
import { ACCOUNT, CATALOGUE, REQUESTS } from './catalogue.ts';
import { CUSTOMERS, DESTINATIONS, INFORMATION } from './customers.ts';
import { ORDERS } from './orders.ts';
import { QUOTES } from './quotes.ts';
import { SANDBOX } from './sandbox.ts';
import { STATEMENT } from './statement.ts';
import { SUBMISSIONS } from './submissions.ts';
import { BRANDING, KEYS, SETTINGS, TEAM } from './team.ts';
import { EVENTS, WEBHOOKS } from './webhooks.ts';

interface Group {
  readonly name: string;
  readonly says: string;
  readonly endpoints: readonly Declared[];
}

const group = (name: string, says: string, part: Readonly<Record<string, unknown>>): Group => ({
  name,
  says,
  endpoints: Object.values(part) as Declared[],
});

export const GROUPS: readonly Group[] = [
  group('Catalogue', 'What there is to trade.', CATALOGUE),
  group('Quotes', 'An amount at a price that holds for a while.', QUOTES),
  group('Orders', 'Sales and purchases, their money, and who holds it.', ORDERS),
  group('Customers', 'Who trades.', CUSTOMERS),
  group('Submissions', 'What customers supply to be verified.', SUBMISSIONS),
  group('Questions', 'What the operator asks about a customer.', INFORMATION),
  group('Destinations', 'Bank accounts and addresses to which customers are paid.', DESTINATIONS),
  group('Events', 'What happened, to be read in order.', EVENTS),
  group('Webhooks', 'Where events are posted to.', WEBHOOKS),
  group('Key and limits', 'What your key may do, and how much.', ACCOUNT),
  group('Request log', 'Your requests, their replies, and the reasons.', REQUESTS),
  group('Keys', 'Keys of your programs.', KEYS),
  group('Team', 'People who sign in to the console, and their changes.', TEAM),
  group('Settings', 'How you appear, and which pages may call.', SETTINGS),
  group('Branding', 'How hosted pages look to your customers.', BRANDING),
  group('Statement', 'Volume and earnings, by day.', STATEMENT),
  group('Sandbox', 'What can be made to happen, in the sandbox only.', SANDBOX),
];

export const ENDPOINTS: readonly Declared[] = GROUPS.flatMap(({ endpoints }) => endpoints);

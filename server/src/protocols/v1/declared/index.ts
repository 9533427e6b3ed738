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
  group('Catalogue', 'Markets, assets, chains and payment methods.', CATALOGUE),
  group('Quotes', 'Offers at a fixed price that is valid for a short time.', QUOTES),
  group('Orders', 'Sales and purchases, their deposits, payouts and refunds, and who holds the money.', ORDERS),
  group('Customers', 'Your customers, their verification and their limits.', CUSTOMERS),
  group('Submissions', 'Answers and files for the verification of customers.', SUBMISSIONS),
  group('Information requests', 'Questions of the operator about a customer, and your answers.', INFORMATION),
  group('Destinations', 'Bank accounts and addresses to which customers are paid.', DESTINATIONS),
  group('Events', 'A feed of everything that happened, in order.', EVENTS),
  group('Webhooks', 'Endpoints to which events are posted, and their deliveries.', WEBHOOKS),
  group('Key and limits', 'What your key may do, and your limits.', ACCOUNT),
  group('Request log', 'Your past requests, their replies, and the reasons of declined ones.', REQUESTS),
  group('Keys', 'API keys of your programs.', KEYS),
  group('Team', 'The people who sign in to the console, and the changes that they make.', TEAM),
  group('Settings', 'Your name, and the origins whose pages may use your keys.', SETTINGS),
  group('Branding', 'How hosted pages look to your customers.', BRANDING),
  group('Statement', 'Volume and earnings by day, and your account in the books.', STATEMENT),
  group('Sandbox', 'Controls that simulate events, in the sandbox only.', SANDBOX),
];

export const ENDPOINTS: readonly Declared[] = GROUPS.flatMap(({ endpoints }) => endpoints);

/**
 * All endpoints of the operator API, in the order of the description. An endpoint is described in its declaration only;
 * docs/operator-api.md, docs/operator-openapi.json and the commands of `npm run operator` are generated from this table.
 */
import type { Declared } from '../declare.ts';
import { ACCOUNTS } from './accounts.ts';
import { ADDRESS_RISK } from './addressrisk.ts';
import { ALERTS } from './alerts.ts';
import { BANK } from './bank.ts';
import { CASES, CUSTOMERS } from './cases.ts';
import { DEPOSITS, UNCLAIMED } from './deposits.ts';
import { ERASURES } from './erasure.ts';
import { INFORMATION } from './information.ts';
import { CUSTOMER_LIMITS } from './limits.ts';
import { MONITORING } from './monitoring.ts';
import { BULK, ORDERS } from './orders.ts';
import { OUTSIDE } from './outside.ts';
import { PARTNERS } from './partners.ts';
import { MOVEMENTS, PAYOUTS } from './payouts.ts';
import { AUDITED, OPERATORS, PROPOSALS, RULES } from './people.ts';
import { PLANNED_CHANGES } from './planned.ts';
import { REPORTS_OF } from './reports.ts';
import { SANCTIONS } from './sanctions.ts';
import { SESSIONS } from './session.ts';
import { IDENTITY, SSO } from './sso.ts';
import { SWITCHES } from './switches.ts';
import { TEAM } from './team.ts';
import { TERMS_OF_TRADE } from './terms.ts';
import { TRAVEL } from './travel.ts';
import { TREASURY } from './treasury.ts';

interface Group {
  readonly name: string;
  readonly says: string;
  readonly endpoints: readonly Declared[];
}

const group = (name: string, says: string, ...parts: readonly Readonly<Record<string, unknown>>[]): Group => ({
  name,
  says,
  endpoints: parts.flatMap((part) => Object.values(part) as Declared[]),
});

export const GROUPS: readonly Group[] = [
  group('Orders', 'One order at a time.', ORDERS),
  group('Orders of a span', 'All orders of a market and a span of time at once.', BULK),
  group('Deposits', 'Deposits, and money in suspense.', DEPOSITS),
  group('Unclaimed money', 'Dormant money and dust.', UNCLAIMED),
  group('Payouts', 'Money that leaves.', PAYOUTS),
  group('Movements and breaks', 'What the books and the outside do not agree on.', MOVEMENTS),
  group('Treasury', 'Our own wallets, what markets owe, and sweeps.', TREASURY),
  group('Debts and bank lines', 'What customers owe, and what banks showed.', OUTSIDE),
  group('Cases', 'What waits for a person.', CASES),
  group('Alerts', 'Who is notified about cases, and through which channel.', ALERTS),
  group('Customers', 'Customers, their reviews, and their personal data.', CUSTOMERS, ACCOUNTS, INFORMATION, ERASURES),
  group('Sanctions screening', 'Sanctions lists, hits in them, and the decisions about hits.', SANCTIONS),
  group('Address risk', 'Addresses on chains whose risk is too high, and the decisions about them.', ADDRESS_RISK),
  group('Travel rule', 'From which amounts on transfers need data, and the data of transfers.', TRAVEL),
  group('Transaction monitoring', 'Rules over the orders of customers, and their findings.', MONITORING),
  group('Switching off and on', 'Kill switches, halted chains, screening, shortages.', SWITCHES),
  group('Bank', 'The desk of a bank without an API. Served only where there is such a bank.', BANK),
  group('Partners', 'Partners, their keys, and items held after a leak.', PARTNERS, TEAM),
  group('Terms', 'Markets, prices, fees, limits, policies.', TERMS_OF_TRADE, CUSTOMER_LIMITS),
  group(
    'Planned changes',
    'Changes of terms that take effect at a time. An action of the group before that is given `effectiveAt` answers `outcome` `planned`, `plan` (its number) and `effectiveAt`; its people are asked for when it is decided.',
    PLANNED_CHANGES,
  ),
  group(
    'Proposals',
    'Actions that wait for others to agree, or for their delay. Such an action answers 202 with `action`, `subject`, `outcome` (`proposed`, or `agreed` where others are still wanted), `proposal` (its number), `people`, `agreed`, `expiresAt` and `readyAt`.',
    PROPOSALS,
  ),
  group('Reports', 'The audit, the trial balance, statements and revenue.', AUDITED, REPORTS_OF),
  group(
    'Sessions',
    'The console of operators: a passkey begins a session, and a token enrols the first passkey. A session ends after half an hour without a request, and after twelve hours.',
    SESSIONS,
    SSO,
  ),
  group('Operators', 'Operators, their tokens, and how many people an action takes.', OPERATORS, IDENTITY, RULES),
];

export const ENDPOINTS: readonly Declared[] = GROUPS.flatMap(({ endpoints }) => endpoints);

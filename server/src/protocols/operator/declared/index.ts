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
import { CHANNELS } from './channels.ts';
import { DEPOSITS, UNCLAIMED } from './deposits.ts';
import { ERASURES } from './erasure.ts';
import { INFORMATION } from './information.ts';
import { CUSTOMER_LIMITS } from './limits.ts';
import { MARKET_TERMS } from './marketterms.ts';
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
import { SWITCHED } from './switched.ts';
import { SWITCHES } from './switches.ts';
import { TEAM } from './team.ts';
import { TERMS_OF_TRADE } from './terms.ts';
import { TRAVEL } from './travel.ts';
import { TREASURY } from './treasury.ts';
import { URGENT } from './urgent.ts';

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
  group('Orders', 'Reads, and actions on one order.', ORDERS),
  group('Orders of a span', 'Actions on all orders of a market that were created in a period.', BULK),
  group('Deposits', 'Deposits, and money in suspense.', DEPOSITS),
  group('Unclaimed money', 'Dormant money and dust.', UNCLAIMED),
  group('Payouts', 'Payouts and refunds, and evidence of their outcome.', PAYOUTS),
  group('Movements and breaks', 'Differences between the books and the chains and banks.', MOVEMENTS),
  group('Treasury', 'Our own wallets, the obligations of markets, and sweeps.', TREASURY),
  group('Debts and bank lines', 'Debts of customers, and lines of bank statements.', OUTSIDE),
  group('Cases', 'Cases that an operator has to look at.', CASES, URGENT),
  group('Alerts', 'Who is notified about cases, and through which channel.', ALERTS),
  group('Channels', 'Channels of alerts and senders of login codes, and whether they work.', CHANNELS),
  group('Customers', 'Customers, their reviews, and their personal data.', CUSTOMERS, ACCOUNTS, INFORMATION, ERASURES),
  group('Sanctions screening', 'Sanctions lists, hits in them, and decisions about hits.', SANCTIONS),
  group('Address risk', 'Chain addresses whose risk is too high, and decisions about them.', ADDRESS_RISK),
  group('Travel rule', 'The amounts from which transfers need data, and the data of transfers.', TRAVEL),
  group('Transaction monitoring', 'Rules over the orders of customers, and their findings.', MONITORING),
  group('Switching off and on', 'Kill switches, halted chains, screening, shortages.', SWITCHES, SWITCHED),
  group('Bank', 'The desk of a manual bank: payout files and statements. Served only if there is such a bank.', BANK),
  group('Partners', 'Partners, their keys, and items held after a leak.', PARTNERS, TEAM),
  group('Terms', 'Markets, prices, fees, limits, policies.', TERMS_OF_TRADE, MARKET_TERMS, CUSTOMER_LIMITS),
  group(
    'Planned changes',
    'Changes of terms that take effect at a later time. An action of the previous group with `effectiveAt` replies with `outcome` `planned`, `plan` (the number of the change) and `effectiveAt`. Operators approve the change when it is planned, not when it takes effect.',
    PLANNED_CHANGES,
  ),
  group(
    'Proposals',
    'Actions that wait for the approval of other operators, or for their delay. The reply to such an action is 202 with `action`, `subject`, `outcome` (`proposed`, or `agreed` if more approvals are needed), `proposal` (its number), `people`, `agreed`, `expiresAt` and `readyAt`.',
    PROPOSALS,
  ),
  group('Reports', 'The audit, the trial balance, statements and revenue.', AUDITED, REPORTS_OF),
  group(
    'Sessions',
    'Sessions of the operators’ console. A passkey begins a session, and a token enrols the first passkey. A session ends after half an hour without a request, and after twelve hours at the latest.',
    SESSIONS,
    SSO,
  ),
  group(
    'Operators',
    'Operators, their tokens, and the rules for how many operators an action needs.',
    OPERATORS,
    IDENTITY,
    RULES,
  ),
];

export const ENDPOINTS: readonly Declared[] = GROUPS.flatMap(({ endpoints }) => endpoints);

/**
 * Reports for auditors and operators over time, computed from the data of orders and ledger. Read-only, and never rounded:
 * every amount is units of one asset.
 *
 * The SQL is in the stores of the modules that own the tables (ledger/reports.ts, orders/read/lists.store.ts), except for
 * queries over tables of two modules (countries.ts, differences.ts, hooks.ts, switched.ts,
 * urgent.ts).
 */
export { type Affected, type AffectedOrders, affectedOrders, type OtherTerms } from './affected.ts';
export { type CountryRow, ordersByCountry } from './countries.ts';
export {
  BREAK_KINDS,
  BREAK_STATES,
  listBreaks,
  listImports,
  listMovements,
  MOVEMENT_PLACE,
  MOVEMENT_STATES,
} from './differences.ts';
export { hooksOf } from './hooks.ts';
export { partnerAccount, partnerStatement, partnerVolume } from './partner.ts';
export { type RevenueRow, revenue } from './revenue.ts';
export { customerStatement, type StatementRow } from './statement.ts';
export { waitingForSwitches } from './switched.ts';
export { urgentCases, WORTH_PLACES } from './urgent.ts';

/**
 * Reports for auditors and operators over time, computed from the data of orders and ledger. Never rounded:
 * every amount is units of one asset.
 *
 * The SQL is in the stores of the modules that own the tables (ledger/reports.ts, orders/read/lists.store.ts), except for
 * queries over tables of two modules (countries.ts, differences.ts, hooks.ts, reconciliation.ts, switched.ts,
 * urgent.ts). One table is written here: the signed reconciliation reports (reconciliation.ts).
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
export {
  keepDailyReport,
  type ReconciliationReport,
  reconciliationDays,
  reconciliationOfDay,
  reconciliationReport,
  reportHandlers,
  reportKeys,
  SIGN_REPORT,
} from './reconciliation.ts';
export { type RevenueRow, revenue } from './revenue.ts';
export { RECONCILED, type Verified, verifySigned } from './signed.ts';
export { customerStatement, type StatementRow } from './statement.ts';
export { waitingForSwitches } from './switched.ts';
export { urgentCases, WORTH_PLACES } from './urgent.ts';

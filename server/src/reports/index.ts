/**
 * Reports: what auditors and operators ask of the books over time, put together from what orders and ledger keep. Only read,
 * and never rounded: every amount is units of one asset.
 *
 * The SQL is in the stores of the modules that own the tables (ledger/reports.ts, orders/lists.store.ts).
 */
export { type Affected, type AffectedOrders, affectedOrders, type OtherTerms } from './affected.ts';
export { type RevenueRow, revenue } from './revenue.ts';
export { customerStatement, type StatementRow } from './statement.ts';

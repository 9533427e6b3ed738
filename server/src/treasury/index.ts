/**
 * Treasury: the operator's side of custody. It moves money from deposit addresses to the paying wallet, and warns before the
 * wallet runs low. Two operators can also move money from that wallet to an own address outside this server (transfers.ts).
 *
 * movements.ts matches transactions that our wallets sent before a restore with their rows. sweeps.ts moves deposits and books
 * the moves, levels.ts compares wallets with their thresholds, store.ts is the SQL of both. Rails send and report; the ledger
 * records who owns the money.
 *
 * Not here: payouts (rails/payouts.ts), orders that wait while the treasury is short (orders/jobs.ts), comparing the books with
 * chain and bank (reconciliation).
 */
export { holdings, type Level, levelHandlers, levels, WATCH } from './levels.ts';
export { openMovements } from './movements.ts';
export { bookOpening } from './opening.ts';
export {
  newestTransfers,
  type OwnTransfer,
  seedMinimum,
  seedThreshold,
  setMinimum,
  setThreshold,
  waitingTransfers,
} from './store.ts';
export { SWEEP, sweepHandlers, sweepUndone, takeOwnTransfer } from './sweeps.ts';
export { openTransfers } from './transfers.desk.ts';
export {
  askTransfer,
  type TransferRules,
  takeReturned,
  takeTransfer,
  transferHandlers,
} from './transfers.ts';

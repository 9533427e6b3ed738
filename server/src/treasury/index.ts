/**
 * Treasury: the operator's side of custody. It moves money from deposit addresses to the paying wallet, and warns before
 * there is too little of it.
 *
 * movements.ts matches what our wallets sent before a restore with what it was. sweeps.ts moves deposits and books it,
 * levels.ts compares wallets with their thresholds, store.ts is the SQL of both. Rails send and report; the ledger says whose
 * the money is.
 *
 * Not here: payouts (rails/payouts.ts), what orders do when the treasury is short (orders/jobs.ts), whether the books agree
 * with chain and bank (reconciliation).
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

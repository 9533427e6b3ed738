/**
 * Erasure: deleting a customer's personal data, permanently. Refusals are checked first (why.ts): unfinished money, open cases,
 * a legal hold, the retention time required by law. Then erase.ts, step by step; the list outside the database
 * (base/erasurelist.ts) repeats every erasure after a restore. requests.ts waits until nothing prevents an erasure any more;
 * statement.ts proves what was erased and what remains. export.ts returns all data about a person.
 *
 * Orders, amounts, ids and the books stay unchanged.
 */
export { type Erased, type Erasing, erase, erasureOf, orderErasure, replayErasures } from './erase.ts';
export { exportCustomer } from './export.ts';
export {
  ERASE_REQUESTED,
  type ErasureRequest,
  erasureHandlers,
  requestErasure,
  requestOf,
  withdrawRequest,
} from './requests.ts';
export { erasureStatement, type Remains, type Statement } from './statement.ts';
export { holdOf, isCaseHeld, liftHold, placeHold, requireErasable } from './why.ts';

/**
 * Erasure: forgetting a customer, for good. Refusals first (why.ts): money that is not at its end, open cases, a legal hold, the time
 * that the law has records kept. Then erase.ts, step by step; the list outside the database (base/erasurelist.ts) has every erased
 * customer erased again after a restore. export.ts has everything that is held about a person.
 *
 * Orders, amounts, ids and the books stay as they are.
 */
export { type Erased, type Erasing, erase, erasureOf, orderErasure, replayErasures } from './erase.ts';
export { exportCustomer } from './export.ts';
export { holdOf, liftHold, placeHold, requireErasable } from './why.ts';

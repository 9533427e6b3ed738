/** Reconcile: the books against themselves (verify.ts). */
export { type Verified, verifyLedger } from './verify.ts';

/**
 * Partners: who may ask, and on what terms.
 *
 * A partner has keys (credentials.ts) and settings (partners.ts), trades on markets (markets.ts) within limits (limits.ts)
 * and pays fees (fees.ts). What its orders do when money comes otherwise than asked is its policy (policies.ts). What changes of these is kept (changes.ts).
 * Everything read on a request is remembered for two or three seconds at most, so a changed row acts without a restart.
 */

export {
  capRow,
  feeRow,
  limitRow,
  type MarketChange,
  marketChanges,
  policyRow,
  type Reason,
} from './changes.ts';
export {
  type Credential,
  createKey,
  findKey,
  keysOf,
  openPartners,
  type Partners,
  revokeKey,
  rotateKey,
  SCOPES,
  type Scope,
  signingSecrets,
} from './credentials.ts';
export { feesFor, setFee } from './fees.ts';
export { exposureCap, maxUnitsFor, setExposureCap, setLimit } from './limits.ts';
export {
  type Asset,
  allMarkets,
  assets,
  findMarket,
  lockMarkets,
  type Market,
  marketById,
  markets,
  setConfirmationPolicy,
  upsertAsset,
  upsertMarket,
} from './markets.ts';
export { createPartner, findPartner, listPartners, type Partner, resumePartner, suspendPartner } from './partners.ts';
export {
  BUILT_IN_POLICY,
  type Deadline,
  POLICY_QUESTIONS,
  type Policy,
  type PolicyAnswer,
  type PolicyQuestion,
  policyFor,
  readPolicy,
  setPolicy,
} from './policies.ts';
export { kybRequirementsOf, type OwnRequirements, setKybRequirements } from './requirements.ts';
export {
  isHandingStopped,
  isRailStopped,
  liftStop,
  requireOpen,
  type Stop,
  type StopKind,
  setStop,
  stops,
} from './stops.ts';

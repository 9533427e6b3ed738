/**
 * Partners: who may send requests, and on what terms.
 *
 * A partner has keys (credentials.ts) and settings (partners.ts), trades on markets (markets.ts) within limits (limits.ts) and
 * pays fees (fees.ts). The activity of its keys is recorded (activity.ts), and held when one has leaked (containment.ts). Its
 * policy says how its orders handle money that differs from the request (policies.ts). Changes to these are recorded
 * (changes.ts). Everything read on a request is cached for two or three seconds at most, so a changed row takes effect without a
 * restart.
 */

export {
  ACTIVITIES,
  type Activity,
  type ActivityKind,
  activityOf,
  closeActivity,
  cutOff,
  MAX_ACTIVITY,
  recordActivity,
  recordedFrom,
  type Through,
} from './activity.ts';
export {
  type Branding,
  type BrandingChange,
  brandingOf,
  changeBranding,
  type Drawn,
  logoBytes,
  logoPath,
  resetBranding,
} from './branding.ts';
export {
  capRow,
  feeRow,
  findChange,
  limitRow,
  type MarketChange,
  marketChanges,
  partnerRow,
  policyRow,
  type Reason,
  setByPeople,
} from './changes.ts';
export { colourFault, contrast, GROUNDS, isReadable, type PageColours, pageColours } from './colours.ts';
export {
  addedSince,
  type Containment,
  changedSince,
  containments,
  decideHeld,
  type FoundItem,
  freeOf,
  HELD_KINDS,
  HELD_STATES,
  type HeldItem,
  type HeldLimits,
  heldByIds,
  heldCounts,
  heldDestination,
  heldItems,
  holdItems,
  isContained,
  isLinkHeld,
  MAX_HELD,
  MOST_SINCE_MS,
  NOT_CREDENTIALS,
  namedSince,
  newestHeld,
  openContainment,
  requireNotHeld,
} from './containment.ts';
export {
  bearerToken,
  type Credential,
  changeKey,
  collectSecret,
  createKey,
  findKey,
  keysOf,
  openPartners,
  type Partners,
  revokeKey,
  rotateKey,
  SCOPES,
  type Scope,
  type ShownKey,
  setUnsignedWrites,
  signingSecrets,
} from './credentials.ts';
export {
  allCustomerLimits,
  type CustomerLimit,
  covers,
  customerLimitRow,
  customerLimits,
  customerLimitsNow,
  customerLimitVersions,
  inForce,
  isSameScope,
  type LimitScope,
  levelWithMore,
  lockCustomerOrders,
  PERIODS,
  type Period,
  setCustomerLimit,
} from './customer-limits.ts';
export {
  addFees,
  chargingGas,
  everyFee,
  type FeeKind,
  type FeeTerm,
  feeKey,
  feesFor,
  partnersWithOwnFee,
  setFee,
} from './fees.ts';
export { encryptLabels } from './key-labels.ts';
export {
  isRailOff,
  isSubmittingOff,
  type KillSwitch,
  type KillSwitchKind,
  killSwitches,
  layersOf,
  liftKillSwitch,
  lockKillSwitches,
  MACHINE,
  requireOpen,
  setKillSwitch,
} from './kill-switches.ts';
export { exposureCaps, levelMaxUnitsNow, lockExposure, maxUnitsFor, setExposureCap, setLimit } from './limits.ts';
export {
  type Asset,
  addMarkets,
  allMarkets,
  assets,
  currentMarkets,
  findMarket,
  listed,
  lockMarkets,
  type Market,
  marketById,
  markets,
  setConfirmationPolicy,
  upsertAsset,
  upsertMarket,
} from './markets.ts';
export {
  createPartner,
  findPartner,
  listPartners,
  type Partner,
  partnerIds,
  resumePartner,
  setOrigins,
  setPartner,
  suspendedSince,
  suspendPartner,
} from './partners.ts';
export {
  BUILT_IN_POLICY,
  type Deadline,
  POLICY_QUESTIONS,
  type Policy,
  type PolicyAnswer,
  type PolicyQuestion,
  policyFor,
  policyInputs,
  readPolicy,
  requirePolicy,
  setPolicy,
} from './policies.ts';
export { remember } from './remember.ts';

/**
 * Compliance: whether an action is allowed, and who decides when a program cannot.
 *
 * Every decision is a row with its rules, list versions and inputs, written in the transaction that acts on it. A question for an
 * operator is a case (cases.ts), whose kind describes its meaning and the next steps (kinds.ts).
 *
 * Names are compared with sanctions lists (sanctions/). A provider says how risky addresses are (address-risk/).
 * Transfers of coins leave with the data that the travel rule asks for (travel-rule/).
 *
 * A customer's check at a verifier is followed to its result (checks.ts).
 *
 * Not here: limits of a market (partners), how far a customer is verified (customers).
 */
export {
  ADDRESS_HIT_STATES,
  decideAddressHit,
  eraseAddressHits,
  findAddressHit,
  listAddressHits,
  listAnswers,
  MAX_ADDRESS_HITS,
  MAX_ANSWERS,
} from './address-risk/decisions.ts';
export {
  type AddressRiskContext,
  type AddressRiskProvider,
  LEVELS,
  THRESHOLDS,
} from './address-risk/provider.ts';
export { type AddressRisk, openAddressRisk, REFRESH_ADDRESSES, type Sender } from './address-risk/service.ts';
export {
  type Attachment,
  attachFile,
  attachmentsOf,
  eraseAttachments,
  findAttachment,
  MAX_ATTACHMENTS,
  readAttachment,
  removeAttachment,
  type StoredAttachment,
  storeAttachment,
} from './attachments.ts';
export {
  assignCase,
  type Case,
  type CaseAction,
  casesOfOrder,
  closeCase,
  closeCases,
  eraseCaseTexts,
  findCase,
  listCases,
  lockCase,
  MAX_CASES,
  noteCase,
  openCase,
  openCaseCounts,
  requireUnclaimed,
  upsertCase,
} from './cases.ts';
export { type AskedVerifier, askVerifier, checkHandlers, highestLevelOf, recordAnswer } from './checks.ts';
export { decisionsOf, eraseDecisions, record } from './decisions.ts';
export { DUE, OTHERS } from './due.ts';
export { expiryHandlers, FOLLOW_EXPIRIES } from './expiries.ts';
export { informationEnded, informationHandlers, informationRead } from './information.ts';
export { CASE_KINDS, type CaseKind, type CaseMeaning, isCaseKind, meaningOf, type NextActor } from './kinds.ts';
export { DECISION_KINDS, type Decided, type DecisionKind, findDecided, type Replay, replayDecision } from './replay.ts';
export { askReview, decideReview, openReview, reviewed, reviewRisks } from './reviews.ts';
export {
  decideHit,
  findHit,
  HIT_STATES,
  listedPayers,
  listHits,
  MAX_HITS,
  openHit,
  scoreText,
} from './sanctions/decisions.ts';
export { LIST_CODES } from './sanctions/entry.ts';
export { comparedOf, eraseScreenings } from './sanctions/erase.ts';
export { listSources } from './sanctions/fetch.ts';
export {
  acceptShrunken,
  findShrunken,
  type ListState,
  listStates,
  REFRESH_LIST,
  reloadAddresses,
} from './sanctions/lists.ts';
export { RULES_VERSION, USUAL_THRESHOLD } from './sanctions/match.ts';
export { agedWhy } from './sanctions/refresh.ts';
export { renewedHit, renewedResult } from './sanctions/results.ts';
export { openSanctions, type Sanctions, SCREEN_NAMES } from './sanctions/service.ts';
export {
  combined,
  ProviderDown,
  type Screener,
  type Screening,
  type StoredScreening,
  type Verdict,
  type Waits,
} from './screener.ts';
export {
  blockEntry,
  deniedBefore,
  MAGIC_HOLDS,
  magicScreener,
  openScreener,
  replaceDenyList,
  screenOwn,
} from './screening.ts';
export {
  type Approval,
  approvalsFor,
  approve,
  type Bound,
  extendScreening,
  keepScreening,
  keptScreening,
  screeningMaxAgeMs,
  useApprovals,
} from './screenings.ts';
export type { ProviderRow } from './travel-rule/exchange.store.ts';
export type { Fate } from './travel-rule/exchange.ts';
export { CALL_KINDS, type CallKind, type Reply } from './travel-rule/inbound.ts';
export type { Call, TravelContext, TravelProtocol } from './travel-rule/protocol.ts';
export {
  setTravelProvider,
  travelProvider,
  travelProviders,
} from './travel-rule/providers.ts';
export { isRefusedByTravelRule, MISSING, TOO_LATE } from './travel-rule/records.ts';
export {
  MAX_TRAVEL_RULES,
  setTravelRule,
  TRAVEL_EXCHANGES,
  TRAVEL_POLICIES,
  travelRule,
  travelRules,
  travelRuleVersions,
} from './travel-rule/rules.ts';
export { openTravelRule, type TravelRule } from './travel-rule/service.ts';
export type { TravelRuleRow } from './travel-rule/store.ts';
export {
  eraseTravelData,
  exchangesOfOrder,
  recordsOfOrder,
  travelDataOf,
  WALLET_KINDS,
  WALLET_OWNERS,
} from './travel-rule/wallets.ts';

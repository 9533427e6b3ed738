/**
 * Operators: the people who run this installation, each with a name, a role and tokens (people.ts); their actions (audit.ts,
 * sealed by seals.ts); how many of them an action takes (rules.ts); actions that wait for others' approval (proposals.ts);
 * decided changes that wait for their time (planned.ts); and the views of lists that each of them has saved (views.ts).
 *
 * Not here: which actions exist (protocols/operator).
 */
export { type Doing, MAX_AUDIT, readAudit, recordAction, recordByMachine, recordLook, recordLooks } from './audit.ts';
export { eraseAuditTexts } from './erase.ts';
export {
  beginSsoLogin,
  bindIdentity,
  identitiesOf,
  operatorOfAccount,
  operatorOfIdentity,
  purgeSsoLogins,
  type SsoPolicy,
  takeSsoLogin,
  unbindIdentity,
  worthOf,
} from './identities.ts';
export {
  admitToken,
  createOperator,
  disable,
  enable,
  findOperator,
  issueToken,
  lockNamed,
  lockOperator,
  may,
  operatorById,
  operatorOf,
  operators,
  RIGHTS,
  type Right,
  ROLES,
  revokeToken,
  setRole,
  startOperator,
  tokensOf,
} from './people.ts';
export {
  endPlan,
  findPlan,
  lockDuePlan,
  lockPlan,
  MAX_PLANNED,
  nextPlanAt,
  PLAN_STATES,
  type PlannedRow,
  plan,
  plans,
  requireAhead,
  requireRoom,
  withdrawPlan,
} from './planned.ts';
export {
  agree,
  confirmers,
  decideProposal,
  expireProposals,
  failProposal,
  findProposal,
  hasTwoConfirmers,
  isAsSeen,
  lockApprovers,
  lockProposal,
  MAX_PROPOSALS,
  openProposal,
  type Proposed,
  proposals,
  propose,
  requireOther,
  validAgreers,
} from './proposals.ts';
export { newRecoveryCodes, operatorOfCode, recoveryCodesOf, spendCode } from './recovery.ts';
export { namesOf } from './renamed.ts';
export {
  declareInstallation,
  FINDINGS,
  type Finding,
  installation,
  lockRules,
  MAX_PEOPLE,
  MAX_RULES,
  type Need,
  noteApproved,
  peopleNeeded,
  peopleRules,
  rolesInRules,
  seedRule,
  setRule,
  takesForChange,
  takesHere,
  type Unmet,
  unmetRules,
  type Wanted,
} from './rules.ts';
export {
  type AuditProblem,
  type AuditSummary,
  MAX_SEALS,
  proveAudit,
  sealAudit,
  verifyAudit,
  verifySeals,
} from './seals.ts';
export {
  beginSession,
  checkEnrolment,
  checkLogin,
  endSession,
  endSessions,
  enrolOptions,
  loginOptions,
  operatorOfSession,
  passkeysOf,
  purgeSessions,
  revokePasskey,
  type Session,
  type Site,
  sessionsOf,
} from './sessions.ts';
export type { Operator } from './store.ts';
export { PROPOSAL_STATES, type ProposalRow, type ProposalState, type Role, type Rule } from './store.ts';
export { isNearer, missingRoles, peopleTaken, stricter, type Takes } from './takes.ts';
export { deleteView, MAX_VIEWS, saveView, viewsOf } from './views.ts';

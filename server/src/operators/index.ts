/**
 * Operators: the people who run this, each with a name, a role and tokens (people.ts), everything they did (audit.ts), and
 * what one of them does only when another agrees (proposals.ts).
 *
 * Not here: what can be done (protocols/operator).
 */
export { type Doing, MAX_AUDIT, readAudit, recordAct, recordByMachine } from './audit.ts';
export {
  createOperator,
  disable,
  enable,
  findOperator,
  issueToken,
  may,
  type Operator,
  operatorOf,
  operators,
  type Right,
  ROLES,
  revokeToken,
  setRole,
  startOperator,
  tokensOf,
} from './people.ts';
export {
  decideProposal,
  findProposal,
  GATES,
  hasTwoConfirmers,
  isAsSeen,
  lockProposal,
  MAX_PROPOSALS,
  type Needs,
  needsSecond,
  proposals,
  propose,
  secondOperatorRules,
  seedSecondOperatorRule,
  setSecondOperatorRule,
} from './proposals.ts';
export type { ProposalRow, ProposalState, Role } from './store.ts';

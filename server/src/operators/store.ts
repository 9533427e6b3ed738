/** Rows of operators: who they are, their tokens, the audit (only ever added to), proposals, and what needs two. */
import type { Tx } from '../base/db.ts';

export type Role = 'viewer' | 'support' | 'finance' | 'admin';
export type Outcome = 'done' | 'begun' | 'proposed' | 'confirmed' | 'declined' | 'overtaken' | 'refused';
export type ProposalState = 'open' | 'confirmed' | 'declined' | 'overtaken' | 'expired';

export interface OperatorRow {
  id: bigint;
  name: string;
  role: Role;
  created_at: Date;
  disabled_at: Date | null;
}

export interface TokenRow {
  id: bigint;
  label: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

export interface ProposalRow {
  id: bigint;
  act: string;
  subject: string;
  ask: Record<string, unknown>;
  seen: unknown;
  reason: string;
  proposed_by: bigint;
  proposer: string;
  proposed_at: Date;
  expires_at: Date;
  state: ProposalState;
  decider: string | null;
  decided_at: Date | null;
}

export interface AuditRow {
  id: bigint;
  at: Date;
  operator: string;
  role: Role | 'machine';
  address: string;
  act: string;
  subject: string;
  reason: string;
  outcome: Outcome;
  proposal: bigint | null;
  before: unknown;
  after: unknown;
}

const OPERATOR = 'id, name, role, created_at, disabled_at';
const AUDIT = 'id, at, operator, role, address, act, subject, reason, outcome, proposal, before, after';
const PROPOSAL = `p.id, p.act, p.subject, p.ask, p.seen, p.reason, p.proposed_by, by.name as proposer, p.proposed_at, p.expires_at,
  p.state, d.name as decider, p.decided_at`;
const PROPOSALS = `from proposals p join operators by on by.id = p.proposed_by left join operators d on d.id = p.decided_by`;

const sql = {
  operators: `select ${OPERATOR} from operators order by id limit 500`,
  byName: `select ${OPERATOR} from operators where name = $1`,
  insertOperator: `insert into operators (name, role, created_at) values ($1, $2, $3)
    on conflict (name) do nothing returning ${OPERATOR}`,
  setRole: 'update operators set role = $2 where id = $1',
  disable: 'update operators set disabled_at = coalesce(disabled_at, $2) where id = $1',
  enable: 'update operators set disabled_at = null where id = $1',
  // Also those who are disabled now: switching everybody else off must not make one person two.
  everConfirmers: `select count(*) as count from operators where role in ('finance', 'admin')`,

  byToken: `select o.id, o.name, o.role, o.created_at, o.disabled_at, t.id as token, t.expires_at, t.revoked_at, t.last_used_at
    from operator_tokens t join operators o on o.id = t.operator_id where t.hash = $1`,
  insertToken: `insert into operator_tokens (operator_id, hash, label, created_at, expires_at) values ($1, $2, $3, $4, $5)
    on conflict (hash) do nothing`,
  tokensOf: `select id, label, created_at, expires_at, revoked_at, last_used_at from operator_tokens
    where operator_id = $1 order by id desc limit 100`,
  revokeToken: `update operator_tokens set revoked_at = coalesce(revoked_at, $3) where id = $2 and operator_id = $1`,
  noteUse: 'update operator_tokens set last_used_at = $2 where id = $1',

  rules: 'select what, above_units from second_operator order by what',
  rule: 'select above_units from second_operator where what = $1',
  setRule: `insert into second_operator (what, above_units) values ($1, $2)
    on conflict (what) do update set above_units = excluded.above_units`,
  seedRule: 'insert into second_operator (what, above_units) values ($1, $2) on conflict (what) do nothing',

  insertProposal: `insert into proposals (act, subject, ask, seen, reason, proposed_by, proposed_at, expires_at)
    values ($1, $2, $3::jsonb, $4::jsonb, $5, $6, $7, $8) on conflict (act, subject) where state = 'open' do nothing returning id`,
  expireProposals: `update proposals set state = 'expired' where state = 'open' and expires_at <= $1`,
  proposals: `select ${PROPOSAL} ${PROPOSALS} where ($1::text is null or p.state = $1) order by p.id desc limit $2`,
  proposal: `select ${PROPOSAL} ${PROPOSALS} where p.id = $1`,
  lockProposal: 'select id from proposals where id = $1 for update',
  decide: `update proposals set state = $2, decided_by = $3, decided_at = $4 where id = $1 and state = 'open'`,

  insertAudit: `insert into audit (at, operator, role, address, act, subject, reason, outcome, proposal, before, after)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11::jsonb)`,
  audit: `select ${AUDIT} from audit where ($1::text is null or operator = $1) and ($2::text is null or subject = $2)
      and ($3::bigint is null or id < $3) order by id desc limit $4`,
} as const;

export interface KnownToken extends OperatorRow {
  token: bigint;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

export const store = {
  operators: (tx: Tx) => tx.rows<OperatorRow>(sql.operators),
  byName: (tx: Tx, name: string) => tx.row<OperatorRow>(sql.byName, [name]),
  insertOperator: (tx: Tx, o: { name: string; role: Role; now: Date }) =>
    tx.row<OperatorRow>(sql.insertOperator, [o.name, o.role, o.now]),
  setRole: (tx: Tx, id: bigint, role: Role) => tx.run(sql.setRole, [id, role]),
  disable: (tx: Tx, id: bigint, now: Date) => tx.run(sql.disable, [id, now]),
  enable: (tx: Tx, id: bigint) => tx.run(sql.enable, [id]),
  everConfirmers: async (tx: Tx) => (await tx.row<{ count: bigint }>(sql.everConfirmers))?.count ?? 0n,

  byToken: (tx: Tx, hash: Buffer) => tx.row<KnownToken>(sql.byToken, [hash]),
  insertToken: (tx: Tx, t: { operatorId: bigint; hash: Buffer; label: string; now: Date; expiresAt: Date | null }) =>
    tx.run(sql.insertToken, [t.operatorId, t.hash, t.label, t.now, t.expiresAt]),
  tokensOf: (tx: Tx, operatorId: bigint) => tx.rows<TokenRow>(sql.tokensOf, [operatorId]),
  revokeToken: (tx: Tx, operatorId: bigint, token: bigint, now: Date) =>
    tx.run(sql.revokeToken, [operatorId, token, now]),
  noteUse: (tx: Tx, token: bigint, now: Date) => tx.run(sql.noteUse, [token, now]),

  rules: (tx: Tx) => tx.rows<{ what: string; above_units: bigint }>(sql.rules),
  rule: (tx: Tx, what: string) => tx.row<{ above_units: bigint }>(sql.rule, [what]),
  setRule: (tx: Tx, what: string, aboveUnits: bigint) => tx.run(sql.setRule, [what, aboveUnits]),
  seedRule: (tx: Tx, what: string, aboveUnits: bigint) => tx.run(sql.seedRule, [what, aboveUnits]),

  insertProposal: (
    tx: Tx,
    p: {
      act: string;
      subject: string;
      ask: string;
      seen: string;
      reason: string;
      by: bigint;
      now: Date;
      expiresAt: Date;
    },
  ) =>
    tx.row<{ id: bigint }>(sql.insertProposal, [p.act, p.subject, p.ask, p.seen, p.reason, p.by, p.now, p.expiresAt]),
  expireProposals: (tx: Tx, now: Date) => tx.run(sql.expireProposals, [now]),
  proposals: (tx: Tx, state: ProposalState | null, limit: number) =>
    tx.rows<ProposalRow>(sql.proposals, [state, limit]),
  proposal: (tx: Tx, id: bigint) => tx.row<ProposalRow>(sql.proposal, [id]),
  async lockProposal(tx: Tx, id: bigint): Promise<ProposalRow | undefined> {
    await tx.row(sql.lockProposal, [id]);
    return await tx.row<ProposalRow>(sql.proposal, [id]);
  },
  decide: (tx: Tx, id: bigint, state: ProposalState, by: bigint | null, now: Date) =>
    tx.run(sql.decide, [id, state, by, now]),

  insertAudit: (tx: Tx, a: Omit<AuditRow, 'id' | 'before' | 'after'> & { before: string; after: string }) =>
    tx.run(sql.insertAudit, [
      a.at,
      a.operator,
      a.role,
      a.address,
      a.act,
      a.subject,
      a.reason,
      a.outcome,
      a.proposal,
      a.before,
      a.after,
    ]),
  audit: (tx: Tx, ask: { operator: string | null; subject: string | null; below: bigint | null; limit: number }) =>
    tx.rows<AuditRow>(sql.audit, [ask.operator, ask.subject, ask.below, ask.limit]),
};

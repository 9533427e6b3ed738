/**
 * Rows of operators: people, their tokens, the audit (insert-only), proposals, rules, and the amounts that each person approved.
 */
import type { Tx } from '../base/db.ts';
import { conditions, parameters } from '../base/scan.ts';

export type Role = 'viewer' | 'night' | 'support' | 'compliance' | 'treasury' | 'finance' | 'admin';
export type Outcome =
  | 'done'
  | 'begun'
  | 'proposed'
  | 'agreed'
  | 'confirmed'
  | 'declined'
  | 'overtaken'
  | 'refused'
  | 'failed'
  | 'planned';
export const PROPOSAL_STATES = ['open', 'confirmed', 'declined', 'overtaken', 'expired', 'failed'] as const;
export type ProposalState = (typeof PROPOSAL_STATES)[number];

/** Which actions or proposals are listed. */
interface ListedBy {
  action?: string | undefined;
  /** Name of the operator: who acted, or who proposed. */
  operator?: string | undefined;
  /** At or after this time (inclusive), and before `until` (exclusive). */
  from?: Date | undefined;
  until?: Date | undefined;
  /** The last id of the previous page. */
  below?: bigint | undefined;
  limit: number;
}
export interface AuditFilter extends ListedBy {
  subject?: string | undefined;
}
export interface ProposalFilter extends ListedBy {
  state?: ProposalState | undefined;
}

export interface Operator {
  readonly id: bigint;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
}

export interface OperatorRow {
  id: bigint;
  name: string;
  role: Role;
  createdAt: Date;
  disabledAt: Date | null;
}

export interface TokenRow {
  id: bigint;
  label: string;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

export interface ProposalRow {
  id: bigint;
  action: string;
  subject: string;
  input: Record<string, unknown>;
  seen: unknown;
  reason: string;
  proposedBy: bigint;
  proposer: string;
  proposedAt: Date;
  expiresAt: Date;
  state: ProposalState;
  decider: string | null;
  decidedAt: Date | null;
  /** Number of people required, including the proposer. */
  people: number;
  /** With a single operator: time from which its proposer may confirm it. */
  readyAt: Date | null;
  /** Why it failed: the code of the Refusal. */
  failedWhy: string | null;
  /** Names of those who confirmed besides the proposer, in order. */
  agreed: string[];
  /** Roles that it takes among them. */
  roles: Role[];
  /** Present roles of the proposer and of those who confirmed, without disabled ones. */
  held: Role[];
}

/**
 * A rule: an action with this right, above this amount of this asset, takes this many people, and among them one for each of the
 * roles. `*` matches any.
 */
export interface Rule {
  action: string;
  right: string;
  asset: string;
  aboveUnits: bigint;
  people: number;
  roles: Role[];
}

export interface Installation {
  operators: 'one' | 'two';
  delayS: number;
}

/** An amount that a person approved, as proposer or by confirming. */
export interface ApprovedRow {
  action: string;
  right: string;
  subject: string;
  units: bigint;
  /** How many people approved it. */
  people: number;
  /** Their roles then. */
  roles: Role[];
  /** Rules for every action (`*`) do not apply to it. */
  isNamed: boolean;
}

export interface AuditRow {
  id: bigint;
  at: Date;
  operator: string;
  role: Role | 'machine';
  address: string;
  /** `token`, `recovery` or `session:<number>`; null in older rows and for the machine. */
  via: string | null;
  action: string;
  subject: string;
  reason: string;
  outcome: Outcome;
  proposal: bigint | null;
  before: unknown;
  after: unknown;
}

const OPERATOR = 'id, name, role, created_at, disabled_at';
const AUDIT = 'id, at, operator, role, address, via, action, subject, reason, outcome, proposal, before, after';
const PROPOSAL = `p.id, p.action, p.subject, p.input, p.seen, p.reason, p.proposed_by, by.name as proposer, p.proposed_at, p.expires_at,
  p.state, d.name as decider, p.decided_at, p.people, p.ready_at, p.failed_why,
  array(select o.name from proposal_approvals a join operators o on o.id = a.operator_id
    where a.proposal_id = p.id order by a.at, o.name) as agreed, p.roles,
  array(select o.role from operators o where o.disabled_at is null and (o.id = p.proposed_by
    or exists (select from proposal_approvals a where a.proposal_id = p.id and a.operator_id = o.id))) as held`;
const PROPOSALS = `from proposals p join operators by on by.id = p.proposed_by left join operators d on d.id = p.decided_by`;

/** Advisory lock, exclusive for rule changes. Any constant. */
const RULES_LOCK = 0x72756c65;

const sql = {
  operators: `select ${OPERATOR} from operators order by id limit 500`,
  byName: `select ${OPERATOR} from operators where name = $1`,
  byId: `select ${OPERATOR} from operators where id = $1`,
  insertOperator: `insert into operators (name, role, created_at) values ($1, $2, $3)
    on conflict (name) do nothing returning ${OPERATOR}`,
  setRole: 'update operators set role = $2 where id = $1',
  // Locks the operator: its role and whether it is disabled cannot change until the transaction ends, and its actions are
  // serialized.
  lockOperator: `select ${OPERATOR} from operators where id = $1 for no key update`,
  // All in one order: two people who confirm each other's proposals at once do not wait for each other.
  lockOperators: `select ${OPERATOR} from operators where id = any($1::bigint[]) order by id for no key update`,
  // Disabling again stores a new time, so that an older proposal to enable refers to the earlier disabling.
  disable: `update operators set disabled_at = greatest($2, disabled_at + interval '1 millisecond') where id = $1`,
  enable: 'update operators set disabled_at = null where id = $1',
  // Includes disabled ones: disabling all others must not let one person count as two.
  activeRoles: 'select role, count(*)::int as count from operators where disabled_at is null group by role',
  rolesOf: 'select name, role from operators where name = any($1::text[]) and disabled_at is null',
  everOfRoles: 'select count(*) as count from operators where role = any($1::text[])',

  byToken: `select o.id, o.name, o.role, o.created_at, o.disabled_at, t.id as token, t.expires_at, t.revoked_at, t.last_used_at
    from operator_tokens t join operators o on o.id = t.operator_id where t.hash = $1`,
  insertToken: `insert into operator_tokens (operator_id, hash, label, created_at, expires_at) values ($1, $2, $3, $4, $5)
    on conflict (hash) do nothing`,
  tokensOf: `select id, label, created_at, expires_at, revoked_at, last_used_at from operator_tokens
    where operator_id = $1 order by id desc limit 100`,
  revokeToken: `update operator_tokens set revoked_at = coalesce(revoked_at, $3) where id = $2 and operator_id = $1`,
  noteUse: 'update operator_tokens set last_used_at = $2 where id = $1',

  installation: 'select operators, delay_s from installation',
  setInstallation: 'update installation set operators = $1, delay_s = $2',

  rules: `select action, for_right as right, asset, above_units, people, roles from people_rules
    order by action, for_right, asset, above_units`,
  lockRules: 'select pg_advisory_xact_lock($1)',
  setRule: `insert into people_rules (action, for_right, asset, above_units, people, roles) values ($1, $2, $3, $4, $5, $6)
    on conflict (action, for_right, asset, above_units) do update set people = excluded.people, roles = excluded.roles`,
  seedRule: `insert into people_rules (action, for_right, asset, above_units, people, roles) values ($1, $2, $3, $4, $5, $6)
    on conflict (action, for_right, asset, above_units) do nothing`,
  dropRule: 'delete from people_rules where action = $1 and for_right = $2 and asset = $3 and above_units = $4',

  // By both clocks: a row counts until a day has passed on the server's and on the database's.
  approved: `select action, for_right as right, subject, people, roles, is_named, max(units) as units from alone_amounts
    where operator_id = $1 and asset = $2
      and (at > $3::timestamptz - interval '24 hours' or recorded_at > clock_timestamp() - interval '24 hours')
    group by action, for_right, subject, people, roles, is_named`,
  insertApproved: `insert into alone_amounts (operator_id, at, action, for_right, subject, asset, units, people, is_named, roles)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,

  insertProposal: `insert into proposals
      (action, subject, input, seen, reason, proposed_by, proposed_at, expires_at, people, ready_at, delay_s, roles)
    values ($1, $2, $3::jsonb, $4::jsonb, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (action, subject) where state = 'open' do nothing returning id`,
  expireProposals: `update proposals set state = 'expired' where state = 'open' and expires_at <= $1 returning id`,
  openProposal: `select ${PROPOSAL} ${PROPOSALS} where p.action = $1 and p.subject = $2 and p.state = 'open'`,
  proposal: `select ${PROPOSAL} ${PROPOSALS} where p.id = $1`,
  lockProposal: 'select id from proposals where id = $1 for update',
  decide: `update proposals set state = $2, decided_by = $3, decided_at = $4 where id = $1 and state = 'open'`,
  raiseTakes: 'update proposals set people = $2, roles = $3 where id = $1 and (people <> $2 or roles <> $3)',
  fail: `update proposals set state = 'failed', failed_why = $2, decided_by = $3, decided_at = $4
    where id = $1 and state = $5`,
  isDelayOver: `select clock_timestamp() >= recorded_at + make_interval(secs => delay_s) as over from proposals where id = $1`,
  approve: `insert into proposal_approvals (proposal_id, operator_id, at, reason) values ($1, $2, $3, $4)
    on conflict do nothing`,
  approvers: 'select operator_id from proposal_approvals where proposal_id = $1',

  insertAudit: `insert into audit (at, operator, role, address, action, subject, reason, outcome, proposal, before, after, via)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11::jsonb, $12)`,
  insertLooks: `insert into audit (at, operator, role, address, via, reason, action, subject, outcome, before, after)
    select $1, $2, $3, $4, $5, $6, $7, subject, 'done', 'null', $9::jsonb from unnest($8::text[]) as subject`,
  hasDone: 'select from audit where subject = $1 and operator = $2 and action = $3 and at > $4 limit 1',
} as const;

export interface KnownToken extends OperatorRow {
  token: bigint;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

const valuesOf = (r: Rule) => [r.action, r.right, r.asset, r.aboveUnits, r.people, r.roles];

export const store = {
  operators: (tx: Tx) => tx.rows<OperatorRow>(sql.operators),
  byName: (tx: Tx, name: string) => tx.row<OperatorRow>(sql.byName, [name]),
  byId: (tx: Tx, id: bigint) => tx.row<OperatorRow>(sql.byId, [id]),
  insertOperator: (tx: Tx, o: { name: string; role: Role; now: Date }) =>
    tx.row<OperatorRow>(sql.insertOperator, [o.name, o.role, o.now]),
  setRole: (tx: Tx, id: bigint, role: Role) => tx.run(sql.setRole, [id, role]),
  disable: (tx: Tx, id: bigint, now: Date) => tx.run(sql.disable, [id, now]),
  enable: (tx: Tx, id: bigint) => tx.run(sql.enable, [id]),
  activeRoles: (tx: Tx) => tx.rows<{ role: Role; count: number }>(sql.activeRoles),
  rolesOf: (tx: Tx, names: readonly string[]) => tx.rows<{ name: string; role: Role }>(sql.rolesOf, [names]),
  everOfRoles: async (tx: Tx, roles: readonly Role[]) =>
    (await tx.row<{ count: bigint }>(sql.everOfRoles, [roles]))?.count ?? 0n,

  byToken: (tx: Tx, hash: Buffer) => tx.row<KnownToken>(sql.byToken, [hash]),
  insertToken: (tx: Tx, t: { operatorId: bigint; hash: Buffer; label: string; now: Date; expiresAt: Date | null }) =>
    tx.run(sql.insertToken, [t.operatorId, t.hash, t.label, t.now, t.expiresAt]),
  tokensOf: (tx: Tx, operatorId: bigint) => tx.rows<TokenRow>(sql.tokensOf, [operatorId]),
  revokeToken: (tx: Tx, operatorId: bigint, token: bigint, now: Date) =>
    tx.run(sql.revokeToken, [operatorId, token, now]),
  noteUse: (tx: Tx, token: bigint, now: Date) => tx.run(sql.noteUse, [token, now]),

  lockOperator: (tx: Tx, id: bigint) => tx.row<OperatorRow>(sql.lockOperator, [id]),
  lockOperators: (tx: Tx, ids: readonly bigint[]) => tx.rows<OperatorRow>(sql.lockOperators, [ids]),

  installation: (tx: Tx) => tx.row<Installation>(sql.installation),
  setInstallation: (tx: Tx, i: Installation) => tx.run(sql.setInstallation, [i.operators, i.delayS]),

  rules: (tx: Tx) => tx.rows<Rule>(sql.rules),
  lockRules: (tx: Tx) => tx.row(sql.lockRules, [RULES_LOCK]),
  setRule: (tx: Tx, r: Rule) => tx.run(sql.setRule, valuesOf(r)),
  seedRule: (tx: Tx, r: Rule) => tx.run(sql.seedRule, valuesOf(r)),
  dropRule: (tx: Tx, r: Omit<Rule, 'people' | 'roles'>) =>
    tx.run(sql.dropRule, [r.action, r.right, r.asset, r.aboveUnits]),

  approved: (tx: Tx, operator: bigint, asset: string, now: Date) =>
    tx.rows<ApprovedRow>(sql.approved, [operator, asset, now]),
  insertApproved: (tx: Tx, a: ApprovedRow & { operator: bigint; asset: string; now: Date }) =>
    tx.run(sql.insertApproved, [
      ...[a.operator, a.now, a.action, a.right, a.subject, a.asset, a.units],
      ...[a.people, a.isNamed, a.roles],
    ]),

  insertProposal: (
    tx: Tx,
    p: {
      action: string;
      subject: string;
      input: string;
      seen: string;
      reason: string;
      by: bigint;
      now: Date;
      expiresAt: Date;
      people: number;
      roles: readonly Role[];
      readyAt: Date | null;
      delayS: number | null;
    },
  ) =>
    tx.row<{ id: bigint }>(sql.insertProposal, [
      p.action,
      p.subject,
      p.input,
      p.seen,
      p.reason,
      p.by,
      p.now,
      p.expiresAt,
      p.people,
      p.readyAt,
      p.delayS,
      p.roles,
    ]),
  expireProposals: (tx: Tx, now: Date) => tx.rows<{ id: bigint }>(sql.expireProposals, [now]),
  openProposal: (tx: Tx, action: string, subject: string) => tx.row<ProposalRow>(sql.openProposal, [action, subject]),
  proposals(tx: Tx, input: ProposalFilter) {
    const { values, put } = parameters();
    // As text: open ones have an index of their own, which a plan for any state would not use.
    const ofState = input.state === undefined ? 'true' : `p.state = '${input.state}'`;
    const where = conditions(put, [
      ['p.id <', input.below],
      ['p.action =', input.action],
      ['by.name =', input.operator],
      ['p.proposed_at >=', input.from],
      ['p.proposed_at <', input.until],
    ]);
    return tx.rows<ProposalRow>(
      `select ${PROPOSAL} ${PROPOSALS} where ${ofState} and ${where} order by p.id desc limit ${put(input.limit)}`,
      values,
    );
  },
  proposal: (tx: Tx, id: bigint) => tx.row<ProposalRow>(sql.proposal, [id]),
  async lockProposal(tx: Tx, id: bigint): Promise<ProposalRow | undefined> {
    await tx.row(sql.lockProposal, [id]);
    return await tx.row<ProposalRow>(sql.proposal, [id]);
  },
  decide: (tx: Tx, id: bigint, state: ProposalState, by: bigint | null, now: Date) =>
    tx.run(sql.decide, [id, state, by, now]),
  raiseTakes: (tx: Tx, id: bigint, people: number, roles: readonly Role[]) =>
    tx.run(sql.raiseTakes, [id, people, roles]),
  fail: (tx: Tx, f: { id: bigint; why: string; by: bigint; now: Date; from: ProposalState }) =>
    tx.run(sql.fail, [f.id, f.why, f.by, f.now, f.from]),
  isDelayOver: async (tx: Tx, id: bigint) => (await tx.row<{ over: boolean }>(sql.isDelayOver, [id]))?.over ?? false,
  approve: (tx: Tx, a: { id: bigint; by: bigint; now: Date; reason: string }) =>
    tx.run(sql.approve, [a.id, a.by, a.now, a.reason]),
  approvers: async (tx: Tx, id: bigint) =>
    (await tx.rows<{ operatorId: bigint }>(sql.approvers, [id])).map((row) => row.operatorId),

  hasDone: async (tx: Tx, a: Pick<AuditRow, 'subject' | 'operator' | 'action'>, since: Date): Promise<boolean> =>
    (await tx.row(sql.hasDone, [a.subject, a.operator, a.action, since])) !== undefined,

  insertLooks: (
    tx: Tx,
    a: Pick<AuditRow, 'at' | 'operator' | 'role' | 'address' | 'via' | 'reason' | 'action'> & {
      subjects: readonly string[];
      after: string;
    },
  ) =>
    tx.run(sql.insertLooks, [...[a.at, a.operator, a.role, a.address, a.via, a.reason, a.action, a.subjects, a.after]]),
  insertAudit: (tx: Tx, a: Omit<AuditRow, 'id' | 'before' | 'after'> & { before: string; after: string }) =>
    tx.run(sql.insertAudit, [
      a.at,
      a.operator,
      a.role,
      a.address,
      a.action,
      a.subject,
      a.reason,
      a.outcome,
      a.proposal,
      a.before,
      a.after,
      a.via,
    ]),
  /**
   * Newest first. Only the given filters are in the statement, so that each has its index. Acts of a span are read in the order of
   * their times: in that of their ids, all later ones would be read first.
   */
  audit(tx: Tx, input: AuditFilter) {
    const { values, put } = parameters();
    const where = conditions(put, [
      ['operator =', input.operator],
      ['subject =', input.subject],
      ['action =', input.action],
      ['at >=', input.from],
      ['at <', input.until],
    ]);
    const isSpan = input.from !== undefined || input.until !== undefined;
    const id = input.below === undefined ? undefined : put(input.below);
    const place = isSpan ? `(at, id) < ((select at from audit where id = ${id}), ${id})` : `id < ${id}`;
    const order = isSpan ? 'at desc, id desc' : 'id desc';
    // The ids alone come from the filter's index without a look at the rows. PostgreSQL takes reading the rows backwards for cheaper
    // than those of a filter, and would read all of them for an action that is rare. The limit is text: of an unknown one it
    // expects a tenth of the table.
    return tx.rows<AuditRow>(
      `select ${AUDIT} from audit where id in (select id from audit where ${where} and ${id === undefined ? 'true' : place}
        order by ${order} limit ${Math.trunc(input.limit)}) order by ${order}`,
      values,
    );
  },
};

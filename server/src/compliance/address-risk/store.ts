/** Rows of address risk: a provider's answers (insert-only), hits. */
import type { Level, Threshold } from './provider.ts';

export interface AnswerRow {
  id: bigint;
  rail: string;
  address: string;
  provider: string;
  rules: string;
  threshold: Threshold;
  level: Level;
  score: string;
  reason: string;
  askedAt: Date;
}

export interface HitRow {
  id: bigint;
  /** `customer:<id>`, `deposit:<id>`, or `own:<id>` of an own address. */
  owner: string;
  customerId: string | null;
  /** `payer:<deposit>` or `destination`. */
  subject: string;
  rail: string;
  address: string;
  riskId: bigint;
  level: Level;
  finding: string;
  state: 'open' | 'true_hit' | 'false_positive';
  people: string[] | null;
  reason: string | null;
  foundAt: Date;
  decidedAt: Date | null;
}

const ANSWER = 'id, rail, address, provider, rules, threshold, level, score, reason, asked_at';
const HIT =
  'id, owner, customer_id, subject, rail, address, risk_id, level, finding, state, people, reason, found_at, decided_at';
const NEWEST = 'order by asked_at desc, id desc';

export const sql = {
  insertAnswer: `insert into address_risks
      (rail, address, provider, rules, threshold, level, score, reason, digest, asked_at, kept_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
  answers: `select ${ANSWER}, encode(digest, 'hex') as digest from address_risks where address = $1 ${NEWEST} limit $2`,
  // With the hits of this finding, for whichever owner.
  answerById: `select ${ANSWER}, (select count(*)::int from address_hits h where h.rail = r.rail and h.address = r.address
      and h.level = r.level and h.finding = r.reason) as hits from address_risks r where id = $1`,
  // For each address its newest answer, and this owner's hit with the same finding. An answer dated in the future by a wrong
  // clock is ignored until that time, because it would hide newer answers.
  standing: `select a.rail, a.address, r.id, r.rules, r.level, r.reason, r.asked_at, h.state
    from unnest($1::text[], $2::text[]) as a (rail, address)
    left join lateral (select ${ANSWER} from address_risks r
      where r.rail = a.rail and r.address = a.address and r.asked_at <= $4 ${NEWEST} limit 1) as r on true
    left join address_hits h on h.owner = $3 and h.rail = a.rail and h.address = a.address
      and h.level = r.level and h.finding = r.reason`,
  standingHits: `select h.id, h.state from address_hits h
    join unnest($1::text[], $2::text[]) as a (rail, address) on h.rail = a.rail and h.address = a.address
    where h.owner = $3 and h.state in ('open', 'true_hit') order by h.id limit 100`,
  // Those of the given addresses that have no answer under these rules since $4.
  due: `select a.rail, a.address from unnest($1::text[], $2::text[]) as a (rail, address)
    where not exists (select from address_risks r
      where r.rail = a.rail and r.address = a.address and r.rules = $3 and r.asked_at > $4 and r.asked_at <= $5)`,
  insertHit: `insert into address_hits (owner, customer_id, subject, rail, address, risk_id, level, finding, state, found_at)
    select $1, $2, $3, r.rail, r.address, r.id, r.level, r.reason, 'open', $5 from address_risks r where r.id = $4
    on conflict (owner, rail, address, level, finding) do nothing`,
  lockOwner: `select pg_advisory_xact_lock(hashtextextended('address hits ' || $1, 0))`,
  openOf: `select count(*) as count from address_hits where owner = $1 and state = 'open'`,
  hits: `select ${HIT} from address_hits where state = $1 and id > $2 order by id limit $3`,
  hitById: `select ${HIT} from address_hits where id = $1 for update`,
  decide: 'update address_hits set state = $2, people = $3, reason = $4, decided_at = $5 where id = $1',
  erase: `update address_hits set reason = without_typed(reason) where owner = any($1::text[]) returning id`,
} as const;

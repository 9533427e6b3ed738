/**
 * Replaying stored decisions: each kind says where its kept inputs are, and how its rule is applied to them again under the version
 * that was in use. Every kind answers in the same way:
 *
 * - `same` or `different`, with the stored result and the repeated one;
 * - `inputs_erased` after an erasure, `inputs_not_kept` for a decision of an older version of the program;
 * - `rules_changed` if this version has no longer the rule.
 *
 * `basis` is `inputs` where everything was computed again. It is `kept_answer` where an answer or a measurement was kept and cannot be
 * obtained again (a provider's answer, a deny list that was replaced, the score of two names): then only our rule is applied again.
 */
import type { Vault } from '../base/crypto.ts';
import type { Database, Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { replayRisk, riskDecision } from './address-risk/replay.ts';
import { type OwnFacts, rulesThatHold } from './own-rules.ts';
import { findScreening, replayScreening } from './sanctions/decisions.ts';
import { look, sql } from './store.ts';

/** `names`: a comparison with sanctions lists; `address_risk`: an answer about an address; `own`: blocks, deny lists, account names. */
export const DECISION_KINDS = ['names', 'address_risk', 'own'] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];

export interface Decided {
  readonly subject: string;
  readonly customerId: string | null;
  readonly rules: string;
  /** Newest version of the sanctions lists in a comparison of names. */
  readonly screenedTo: bigint | null;
  /** Number of findings. */
  readonly found: number;
  readonly isErased: boolean;
}

export type Replay =
  | {
      readonly outcome: 'same' | 'different';
      readonly basis: 'inputs' | 'kept_answer';
      stored: unknown;
      found: unknown;
    }
  | { readonly outcome: 'inputs_erased' | 'inputs_not_kept' | 'rules_changed' };

interface Replayable {
  /** @throws Refusal 'unknown_screening' */
  find(tx: Tx, id: bigint): Promise<Decided>;
  /** @throws Refusal 'unknown_screening' */
  replay(db: Pick<Database, 'asSystem'>, vault: Vault, id: bigint): Promise<Replay>;
}

interface DecisionRow {
  about: string;
  orderId: bigint | null;
  rules: string;
  inputs: Partial<OwnFacts> & { customerId?: string; destination?: string[]; ownRules?: string[] };
}

async function decisionOf(tx: Tx, id: bigint): Promise<DecisionRow> {
  const row = await tx.row<DecisionRow>(sql.decisionById, [id]);
  if (row === undefined || row.inputs.destination === undefined) throw new Refusal('unknown_screening');
  return row;
}

/** An erasure takes out the indexes of accounts and of addresses. */
const isErased = ({ inputs }: DecisionRow): boolean =>
  inputs.destination?.some((one) => one.endsWith(':erased')) === true;

const OWN: Replayable = {
  async find(tx, id) {
    const row = await decisionOf(tx, id);
    const { customerId, ownRules = [] } = row.inputs;
    const subject = row.orderId === null ? row.about : `${row.about} of order ${row.orderId}`;
    const about = { subject, customerId: customerId || null, rules: row.rules, screenedTo: null };
    return { ...about, found: ownRules.length, isErased: isErased(row) };
  },
  async replay(db, _vault, id) {
    return await db.asSystem(async (tx) => {
      const row = await decisionOf(tx, id);
      const { ownRules, destination = [], ...kept } = row.inputs;
      if (isErased(row)) return { outcome: 'inputs_erased' };
      if (ownRules === undefined) return { outcome: 'inputs_not_kept' };
      const facts = kept as OwnFacts;
      const [kind = ''] = destination[0]?.split(':') ?? [];
      const indexes = destination.map((one) => Buffer.from(one.slice(one.indexOf(':') + 1), 'hex'));
      const { lists, entries } = await look(tx, kind as 'address' | 'account', indexes);
      // A replaced list keeps no older version: then what was found in it counts.
      const isListed = lists.every(({ list, version }) => row.rules.split(', ').includes(`${list}@${version}`));
      const foundOn = isListed ? [...new Set(entries.map(({ list }) => list))] : facts.foundOn;
      const found = rulesThatHold({ ...facts, foundOn });
      const basis = isListed && facts.holderScore === '' ? 'inputs' : 'kept_answer';
      return { ...comparedWith(ownRules, found), basis };
    });
  },
};

const NAMES: Replayable = {
  find: findScreening,
  async replay(db, vault, id) {
    const replayed = await replayScreening(db, vault, id);
    return 'stored' in replayed ? { ...replayed, basis: 'inputs' } : replayed;
  },
};

const ADDRESS_RISK: Replayable = {
  find: riskDecision,
  async replay(db, _vault, id) {
    const { stored, found } = await db.asSystem((tx) => replayRisk(tx, id));
    return { ...comparedWith(stored, found), basis: 'kept_answer' };
  },
};

const KINDS: Readonly<Record<DecisionKind, Replayable>> = { names: NAMES, address_risk: ADDRESS_RISK, own: OWN };

const comparedWith = (stored: unknown, found: unknown) => ({
  outcome: JSON.stringify(stored) === JSON.stringify(found) ? ('same' as const) : ('different' as const),
  ...{ stored, found },
});

/** @throws Refusal 'unknown_screening' */
export const findDecided = (tx: Tx, d: { kind: DecisionKind; id: bigint }): Promise<Decided> =>
  KINDS[d.kind].find(tx, d.id);

/** @throws Refusal 'unknown_screening' */
export const replayDecision = (
  { db, vault }: { db: Pick<Database, 'asSystem'>; vault: Vault },
  d: { kind: DecisionKind; id: bigint },
): Promise<Replay> => KINDS[d.kind].replay(db, vault, d.id);

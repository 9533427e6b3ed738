/**
 * Address risk of a running server: which addresses money comes from and goes to, and whether the provider's answers about them
 * let it leave.
 *
 * The gate reads rows (`read`, `wait`) in its own transaction and makes no external call. An answer counts while it is not
 * older than ADDRESS_RISK_MAX_AGE_S and was read under the current rules; without such an answer money waits, and `ensure` asks
 * about the address. A recurring job asks in advance about the destinations of open orders.
 *
 * While the provider is down, money waits and one case is open; nothing is paid unscreened. While two operators have extended
 * the age of screening results (`screening extend`), an older answer counts; an address without any answer still waits, and a
 * hit holds at any age.
 *
 * An address at or above the threshold is a hit of the money's owner, which operators decide (decisions.ts). A hit is a row:
 * the money waits until the row exists.
 *
 * Not here: asking and keeping answers (answers.ts), the effect on money (orders/payouts/gate.ts), addresses on sanctions lists
 * (../sanctions).
 */
import { awaitAll, type Tx } from '../../base/db.ts';
import { assert } from '../../base/errors.ts';
import type { Handlers } from '../../base/jobs.ts';
import type { Hit, Screening, StoredScreening } from '../screener.ts';
import { type AnswersDeps, columnsOf, openAnswers } from './answers.ts';
import { updateOwnerCase } from './decisions.ts';
import type { AskedAddress } from './provider.ts';
import { sql } from './store.ts';

export const REFRESH_ADDRESSES = 'refresh_address_risk';

/** Where a deposit came from; `address` is null where its chain does not say. */
export interface Sender {
  readonly rail: string;
  readonly address: string | null;
}

export interface AddressRiskDeps extends AnswersDeps {
  /** Undefined for money that did not come from a chain. */
  senderOf(tx: Tx, depositId: bigint): Promise<Sender | undefined>;
}

export interface AddressRisk extends StoredScreening {
  readonly handlers: Handlers;
}

/** An address and its role: source of a deposit, or destination. */
interface Use extends AskedAddress {
  subject: string;
}

export function openAddressRisk(deps: AddressRiskDeps): AddressRisk {
  const { db, clock } = deps;
  const answers = openAnswers(deps);

  async function usesOf(tx: Tx, input: Screening): Promise<{ uses: Use[]; unknown: bigint[] }> {
    const { payoutAddress, rail, depositIds = [] } = input;
    const uses = new Map<string, Use>();
    const unknown: bigint[] = [];
    for (const id of depositIds) {
      const sender = await deps.senderOf(tx, id);
      if (sender === undefined) continue;
      const { address, rail: from } = sender;
      if (address === null) unknown.push(id);
      else uses.set(keyOf({ rail: from, address }), { rail: from, address, subject: `payer:${id}` });
    }
    if (payoutAddress !== null && rail !== undefined) {
      const to = { rail, address: payoutAddress };
      uses.set(keyOf(to), { ...to, subject: 'destination' });
    }
    return { uses: [...uses.values()], unknown };
  }

  /** Inserts a hit for each risky address that has none yet. */
  async function writeHits(tx: Tx, input: Screening, uses: readonly Use[]): Promise<void> {
    const [owner, now] = [ownerOf(input), clock.now()];
    const subjects = new Map(uses.map((one) => [keyOf(one), one.subject]));
    let found = 0;
    for (const one of await answers.standingOf(tx, owner, uses)) {
      if (!answers.isHit(one) || one.state !== null) continue;
      const subject = subjects.get(keyOf(one));
      assert(subject !== undefined, 'an answer is for an address that was not queried');
      found += await tx.run(sql.insertHit, [owner, input.customerId, subject, one.id, now]);
    }
    if (found > 0) await updateOwnerCase(tx, { owner, now });
  }

  return {
    async ensure(input) {
      const { uses } = await db.asSystem((tx) => usesOf(tx, input));
      for (const one of uses) await answers.ensure(one);
      if (uses.length > 0) await db.asSystem((tx) => writeHits(tx, input, uses));
    },

    async read(tx, input) {
      const owner = ownerOf(input);
      const { uses, unknown } = await usesOf(tx, input);
      const [standings, holding] = await awaitAll(
        answers.standingOf(tx, owner, uses),
        uses.length === 0
          ? []
          : tx.rows<{ id: bigint; state: 'open' | 'true_hit' }>(sql.standingHits, [...columnsOf(uses), owner]),
      );
      return {
        hits: [
          ...holding.map(
            ({ id, state }): Hit => ({
              rule: state === 'open' ? 'address_risk_undecided' : 'address_risk_hit',
              entry: String(id),
              own: true,
            }),
          ),
          ...unknown.map((id): Hit => ({ rule: 'sender_unknown', entry: `deposit:${id}`, own: true })),
        ],
        rules: `${answers.rules}, hit from ${deps.threshold}`,
        inputs: { addressRisks: standings.flatMap(({ id, level }) => (id === null ? [] : [`${level}:${id}`])) },
      };
    },

    async wait(tx, input) {
      const { uses } = await usesOf(tx, input);
      const [standings, counts] = await awaitAll(answers.standingOf(tx, ownerOf(input), uses), answers.countsSince(tx));
      // A hit without a row is not listed for operators, so the money waits until `ensure` has inserted it.
      const isReady = standings.every((one) => counts(one) && (!answers.isHit(one) || one.state !== null));
      return isReady ? undefined : { cause: 'screening', why: 'its addresses must be screened first' };
    },

    handlers: { [REFRESH_ADDRESSES]: answers.refresh },
  };
}

const keyOf = ({ rail, address }: AskedAddress): string => JSON.stringify([rail, address]);

/** The owner of the decisions: the customer, for money without a customer its deposit, and for our own the address it goes to. */
const ownerOf = ({ customerId, depositIds = [], ownAddressId, id }: Screening): string =>
  ownAddressId !== undefined
    ? `own:${ownAddressId}`
    : customerId === null
      ? `deposit:${depositIds[0] ?? id}`
      : `customer:${customerId}`;

/**
 * Facts: books what rails report, and applies it to the orders concerned.
 *
 * Every fact may arrive twice and in any order; each is applied once, keyed by its row. Incoming money is never rejected: money
 * without an owner is booked to suspense and becomes a case. Everything runs in the rail's transaction, so a fact is stored
 * together with its effects, and no cursor passes an unstored fact.
 *
 * Lock order everywhere: order, deposit, accounts.
 */
import type { Tx } from '../base/db.ts';
import { assert, unreachable } from '../base/errors.ts';
import { openCase } from '../compliance/index.ts';
import { setKillSwitch } from '../partners/index.ts';
import type { RailFact, Report } from '../rails/rail.ts';
import type { Context } from './context.ts';
import { bookFunding, costChanged, unexpectedCredit, unexplainedDebit } from './custody/facts.ts';
import { movementKnown } from './custody/movements.ts';
import { depositConfirmed, depositSeen } from './deposits/facts.ts';
import { depositReversed } from './deposits/reversed.ts';
import { payoutRejected, payoutReturned, payoutSettled, payoutSubmitted, payoutUnknown } from './payouts/facts.ts';
import { debitShared } from './payouts/shared-debit.ts';

/** Handles reported transfers between our own wallets. */
export type OwnTransfers = (
  tx: Tx,
  fact: Extract<RailFact, { type: 'own_transfer_settled' | 'own_transfer_failed' }>,
) => Promise<void>;

/** @param ownTransfers the treasury's handler, if there is one: sweeps and their gas concern no order */
export function orderFacts(context: Context, ownTransfers?: OwnTransfers): Report {
  return async (tx, fact) => {
    switch (fact.type) {
      case 'deposit_seen':
        return await depositSeen(context, tx, fact);
      case 'deposit_confirmed':
        return await depositConfirmed(context, tx, fact);
      case 'deposit_reversed':
        return await depositReversed(context, tx, fact);
      case 'payout_submitted':
        return await payoutSubmitted(context, tx, fact);
      case 'payout_settled':
        return await payoutSettled(context, tx, fact);
      case 'payout_rejected':
        return await payoutRejected(context, tx, fact);
      case 'payout_returned':
        return await payoutReturned(context, tx, fact);
      case 'payout_unknown':
        return await payoutUnknown(context, tx, fact);
      case 'funding_confirmed':
        return await bookFunding(context, tx, fact);
      case 'credit_unexpected':
        return await unexpectedCredit(context, tx, fact);
      case 'own_transfer_settled':
      case 'own_transfer_failed':
        assert(ownTransfers !== undefined, `no receiver for own transfer ${fact.key}`);
        return await ownTransfers(tx, fact);
      case 'cost_changed':
        return await costChanged(context, tx, fact);
      case 'unexplained_debit':
        return await unexplainedDebit(context, tx, fact);
      case 'debit_shared':
        return await debitShared(context, tx, fact);
      case 'line_refused':
        return await openCase(tx, {
          kind: 'statement_line_refused',
          subject: `${fact.rail}:${fact.externalId}`,
          reason: fact.why,
          facts: {},
          now: context.clock.now(),
        });
      case 'statement_gap':
        return await openCase(tx, {
          kind: 'statement_gap',
          subject: `${fact.rail}:statement:${fact.statement}`,
          reason: fact.why,
          facts: { asset: fact.asset },
          now: context.clock.now(),
        });
      case 'send_found':
        return await openCase(tx, {
          kind: 'movement_unmatched',
          subject: `movement:${fact.movement}`,
          reason: fact.why,
          facts: {
            rail: fact.rail,
            reference: fact.reference,
            ...(fact.moved === undefined ? {} : { asset: fact.moved.asset, units: String(fact.moved.units) }),
          },
          now: context.clock.now(),
        });
      case 'send_matched':
        return await movementKnown(tx, { ...fact, outcome: `matched with ${fact.key}`, now: context.clock.now() });
      case 'nonces_used':
      case 'rail_halted':
        // The follower continues, so that the books can be compared with the chain.
        if (fact.type === 'nonces_used')
          await setKillSwitch(tx, {
            kind: 'rail',
            subject: fact.rail,
            by: 'the machine',
            reason: fact.why,
            at: context.clock.now(),
          });
        return await openCase(tx, {
          kind: 'rail_halted',
          subject: fact.rail,
          reason: fact.why,
          facts: {},
          now: context.clock.now(),
        });
      default:
        unreachable(fact);
    }
  };
}

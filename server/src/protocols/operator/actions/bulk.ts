/**
 * Actions on all unpaid orders of a market created in a time span: for orders created at a wrong price.
 */
import { Refusal } from '../../../base/errors.ts';
import { beginBulk, lastBulk } from '../../../orders/index.ts';
import { type Action, action } from '../action.ts';
import { BULK } from '../declared/orders.ts';
import { marketOf, requirePartner } from './terms.ts';

const bulk = (kind: 'cancel' | 'requote'): Action =>
  action({
    ...BULK[kind],
    subject: ({ market }) => `market:${market}`,
    // Orders may be paid or expire before the second person confirms; only another bulk operation on them supersedes the
    // proposal.
    async look({ clock }, tx, { market, from, until, partner }) {
      const { id: marketId } = await marketOf(tx, market);
      await requirePartner(tx, partner);
      const wrong = (field: string, why: string) => new Refusal('malformed_field', { fields: { [field]: why } });
      if (from >= until) throw wrong('until', 'must be later than from');
      if (until > clock.now())
        throw wrong('until', 'must not be in the future: operators can only decide about orders that exist');
      return { last: (await lastBulk(tx, marketId)) ?? null };
    },
    needs: async () => 'rule' as const,
    async perform(_deps, tx, input, { operator, people, reason, now }) {
      const { market: marketId, partner: partnerId = null, from, until } = input;
      const done = { kind, marketId, partnerId, from, until, by: operator.name, people, why: reason, now };
      return { bulk: await beginBulk(tx, done) };
    },
  });

export const BULK_ACTIONS: readonly Action[] = [bulk('cancel'), bulk('requote')];

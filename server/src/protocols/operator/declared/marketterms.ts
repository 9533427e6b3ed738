/** Terms of a market by their origin: limits of one order by level of verification, and the answers of its policy. */
import { about, id, optional } from '../../declaration/fields.ts';
import { amount, maybe, object, text, time, whole } from '../../declaration/parts.ts';
import { declareRead } from '../declare.ts';
import { rows } from '../replies.ts';

export const MARKET_TERMS = {
  limits: declareRead({
    path: '/markets/:market/limits',
    says: 'Lists the largest amount of one order by level of verification, and the latest change of each limit.',
    fields: { market: id },
    refuses: ['unknown_market'],
    gives: rows(
      'limits',
      [
        { level: whole('Level of verification of the customer') },
        { inForce: amount('The largest amount of one order of a customer of this level') },
        { max: maybe(amount('The limit that is set at this level; null where the next one holds')) },
        { at: maybe(time('When the limit was changed last; null where it never was')) },
        { by: maybe(text('Operator who changed it')) },
        { why: maybe(text('The reason that the operator gave')) },
      ],
      [{ market: text('Number of the market') }, { of: text('Asset of the amounts') }],
    ),
    command: {
      words: 'market limits',
      list: 'limits',
      columns: ['level', 'inForce', 'max', 'at', 'by', 'why'],
    },
  }),
  policies: declareRead({
    path: '/markets/:market/policies',
    says: 'Lists the questions of a policy: the answer in force, and the answers that the market and a partner have of their own.',
    fields: { market: id, partner: optional(about(id, 'With the answers of this partner', '1')) },
    refuses: ['unknown_market', 'unknown_partner'],
    gives: rows(
      'policies',
      [
        { question: text('The question') },
        { inForce: object('The answer that holds for new orders') },
        { ofPartner: maybe(object('The fields that the partner has of its own; null without any')) },
        { ofMarket: maybe(object('The fields that the market has of its own; null without any')) },
        { builtIn: object('The answer where neither has one') },
      ],
      [{ market: text('Number of the market') }],
    ),
    command: {
      words: 'market policies',
      list: 'policies',
      columns: ['question', 'inForce', 'ofPartner', 'ofMarket', 'builtIn'],
    },
  }),
};

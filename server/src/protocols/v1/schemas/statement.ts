/** The two statements: by day and market, and from the books. */
import { Type } from 'typebox';
import { closed, direction, id, maybe, moneyAs, text, time, whole, word } from './parts.ts';

export const StatementDay = Type.Object(
  {
    day: text('Day in UTC on which the orders were created', '2026-11-23'),
    market: id('Id of the market', '3'),
    direction: direction(),
    created: whole('How many orders were created', 12),
    settled: whole('How many of them have settled', 10),
    refunded: whole('How many of them were refunded', 1),
    paid: moneyAs('What customers paid for the settled orders', '2500.00', 'usdc.matic20'),
    received: moneyAs('What customers received for the settled orders', '201000.00', 'inr'),
    earned: moneyAs('Your fees of the settled orders', '1005.00', 'inr'),
    fees: moneyAs('All fees of the settled orders, including yours', '3015.00', 'inr'),
  },
  { ...closed, description: 'The totals of one day on one market' },
);

const LINES = ['opening', 'paid_in', 'paid_out', 'fees_earned', 'fees_returned', 'fees_settled', 'closing'] as const;
const count = (description: string) => whole(description, 12);
export const BookStatement = Type.Object(
  {
    from: time('Beginning of the period'),
    until: time('End of the period, which does not belong to it'),
    created: count('How many orders were created in the period'),
    settled: count('How many of them have settled'),
    refunded: count('How many of them were refunded'),
    totals: Type.Array(
      Type.Object(
        {
          opening: moneyAs('What the operator owed you at the beginning', '100.00', 'inr'),
          earned: moneyAs('Fees that you earned', '1005.00', 'inr'),
          returned: moneyAs('Fees that you returned with refunds', '5.00', 'inr'),
          settled: moneyAs('What the operator paid you', '900.00', 'inr'),
          closing: moneyAs('What the operator owed you at the end', '200.00', 'inr'),
        },
        closed,
      ),
      { description: 'Your fees by asset: the opening balance, what changed it, and the closing balance' },
    ),
    lines: Type.Array(
      Type.Object(
        {
          day: maybe(text('Day or month in UTC; null for a line about the whole period', '2026-11-23')),
          what: word(LINES, 'What the line is about: volume of settled orders, fees, or a balance'),
          market: maybe(id('Id of the market of a volume', '3')),
          amount: moneyAs('The amount; fees that were returned or settled are negative', '1005.00', 'inr'),
          count: maybe(count('How many orders or postings it adds up; null for a balance')),
          owed: maybe(moneyAs('What the operator owes you after this line; null for volume', '1105.00', 'inr')),
        },
        closed,
      ),
      { description: 'Volume by market, then the balances and fees by asset in the order in which they were booked' },
    ),
  },
  { ...closed, description: 'Your statement from the books of the operator' },
);

/** A line of the statement. */
import { Type } from 'typebox';
import { closed, direction, id, moneyAs, text, whole } from './parts.ts';

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

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
    paid: moneyAs('What customers paid for the settled ones', '2500.00', 'usdc.matic20'),
    received: moneyAs('What customers received', '201000.00', 'inr'),
    earned: moneyAs('Your fee in the settled ones', '1005.00', 'inr'),
    fees: moneyAs('All fees in the settled ones, yours included', '3015.00', 'inr'),
  },
  { ...closed, description: 'A day on a market' },
);

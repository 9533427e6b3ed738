/** Replies of the sandbox's controls, as schemas (the others: ../replies.ts). */
import { type TSchema, Type } from 'typebox';

const object = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
const text = (description: string) => Type.String({ description });
const whole = (description: string) => Type.Integer({ description });

export const PAID = object({
  payments: Type.Array(Type.String(), { description: 'What the rail calls each payment' }),
});
export const CREDITED = object({ line: text('Line at the bank') });
export const RECALLED = object({ line: text('Line at the bank by which the credit is taken back') });
export const BOUNCED = object({ payment: text('Payment that comes back') });
export const DRIVEN_TO = object({
  status: whole('Number of the status that the order is driven to'),
  word: text('Its word'),
});
export const SCREENED = object({ list: text('List that holds the destination') });
export const ADVANCED = object({
  orders: whole('Orders whose due times moved'),
  quotes: whole('Quotes whose end moved'),
  deliveries: whole('Deliveries of webhooks whose next attempt moved'),
});
export const REORGANISED = object({ chain: text('The chain'), blocks: whole('Blocks that were replaced') });
export const BANK_FAULT = object({ fault: text('What goes wrong'), times: whole('How often') });
export const PRICE_MOVED = object({
  pair: text('Coin and fiat'),
  price: Type.Union([Type.String(), Type.Null()], {
    description: 'Fiat for one coin; null where the table decides again',
  }),
});
export const TREASURY = object({
  asset: text('Code of the asset'),
  available: text('What may be paid out, in that currency'),
});
export const DELIVERIES = object({
  webhooks: Type.Union([Type.Literal('dropped'), Type.Literal('delivered')], {
    description: 'What becomes of deliveries',
  }),
});

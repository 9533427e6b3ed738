/** What a control of the sandbox reports about its effect, as schemas. */
import { type TSchema, Type } from 'typebox';

const object = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
const text = (description: string) => Type.String({ description });
const whole = (description: string) => Type.Integer({ description });

export const PAID = object({
  payments: Type.Array(Type.String(), { description: 'Ids of the payments on the rail' }),
});
export const CREDITED = object({ line: text('Line of the bank statement') });
export const RECALLED = object({ line: text('Line of the bank statement that recalls the credit') });
export const BOUNCED = object({ payment: text('Payment that is returned') });
export const SCREENED = object({ list: text('List that holds the destination') });
export const ADVANCED = object({
  orders: whole('Orders whose due times moved'),
  quotes: whole('Quotes whose expiry moved'),
  deliveries: whole('Deliveries of webhooks whose next attempt moved'),
});
export const REORGANISED = object({ chain: text('The chain'), blocks: whole('Blocks that were replaced') });
export const BANK_FAULT = object({ fault: text('The fault'), times: whole('How often') });
export const PRICE_MOVED = object({
  pair: text('Coin and fiat'),
  price: Type.Union([Type.String(), Type.Null()], {
    description: 'Fiat for one coin; null if the price table applies again',
  }),
});
export const TREASURY = object({
  asset: text('Code of the asset'),
  available: text('Amount available for payouts, in that currency'),
});
export const DELIVERIES = object({
  webhooks: Type.Union([Type.Literal('dropped'), Type.Literal('delivered')], {
    description: 'Whether webhooks are dropped or delivered',
  }),
});

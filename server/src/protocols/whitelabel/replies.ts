/**
 * Replies of this API, as schemas: `data` of every success. Each object has these fields and no others. A `title` names a
 * schema in the API description (openapi.ts).
 *
 * Amounts are exact decimals: as text, or, where the interface has numbers, as a JSON number with all of its digits.
 *
 * The schemas are in replies/, one file per topic.
 */
export * from './replies/customers.ts';
export * from './replies/reference.ts';
export * from './replies/trading.ts';
export * from './replies/webhooks.ts';

/** Building blocks of replies: kinds of values, and fields that several replies have. */
import { type TSchema, Type } from 'typebox';

export const object = <P extends Record<string, TSchema>>(
  properties: P,
  about: { title?: string; description?: string } = {},
) => Type.Object(properties, { additionalProperties: false, ...about });
export const text = (description: string, more: Record<string, unknown> = {}) => Type.String({ description, ...more });
export const whole = (description: string) => Type.Integer({ description });
export const maybe = (schema: TSchema) => Type.Union([schema, Type.Null()]);
export const byKey = (value: TSchema, description: string) => Type.Record(Type.String(), value, { description });

const DECIMAL = '^[0-9]+(\\.[0-9]+)?$';
export const amountText = (description: string) =>
  text(`${description}: a plain decimal`, { pattern: DECIMAL, examples: ['849.24'] });
export const amountNumber = (description: string) =>
  Type.Number({ description: `${description}: exact to its last digit`, minimum: 0 });
export const numberText = (description: string) =>
  text(description, { pattern: '^[0-9]{1,18}$', examples: ['747983292881815'] });
export const isoTime = (description: string) =>
  text(`${description}, ISO 8601 in UTC`, {
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
    examples: ['2026-05-08T12:38:11.000Z'],
  });
export const spacedTime = (description: string) =>
  text(`${description}, UTC`, {
    pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$',
    examples: ['2026-05-08 12:38:11'],
  });
export const url = (description: string) => text(description, { pattern: '^https?://' });

export const transactionId = numberText('Number of the transaction');
export const customerId = text('Our id of the customer');
export const hash = (description: string) => text(`${description}, in lower case; empty before there is one`);
export const statusText = text('Status number of the transaction, as text: see the table of statuses', {
  pattern: '^-?[0-9]{1,2}$',
});

/**
 * Parts of the schemas of /v1: amounts are decimals as text beside the code of their asset; ids are text; times are RFC 3339 in
 * UTC; null means that a value does not exist. Every leaf has a meaning and an example, so that every endpoint has an example
 * reply.
 */
import { type TSchema, Type } from 'typebox';
import { defined } from '../../../base/defined.ts';
import { PUBLIC_REASONS, STATES } from '../../../orders/index.ts';

const AT = '2026-11-23T09:30:00.000Z';
export const HASH = '0x9f2e4d1c7b6a5948372615049382716050493827160504938271605049382716';
export const ADDRESS = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

export const text = (description: string, example: string) => Type.String({ description, examples: [example] });
export const id = (description: string, example = '747983292881815') =>
  Type.String({ description, pattern: '^[0-9]{1,18}$', examples: [example] });
export const time = (description: string, example = AT) =>
  Type.String({
    description,
    format: 'date-time',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
    examples: [example],
  });
export const yes = (description: string, example = true) => Type.Boolean({ description, examples: [example] });
export const whole = (description: string, example: number) => Type.Integer({ description, examples: [example] });
export const decimal = (description: string, example: string) =>
  Type.String({ description, pattern: '^-?[0-9]+(\\.[0-9]+)?$', examples: [example] });
export const word = <const T extends readonly string[]>(words: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...words], description, examples: [words[0]] });
/** The value may be null: it does not exist, or is not known yet. */
export const maybe = <S extends TSchema>(schema: S) => {
  const { description } = schema as { description?: string };
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
};
/** The same, with null in the example, because a value would not fit the rest of the example. */
export const rarely = <S extends TSchema>(schema: S) => {
  const { description } = schema as { description?: string };
  return Type.Union([schema, Type.Null()], {
    examples: [null],
    ...defined({ description }),
  });
};
export const list = <S extends TSchema>(items: S, description: string) => Type.Array(items, { description });
export const closed = { additionalProperties: false } as const;

/** A page of a list. */
export const pageOf = <S extends TSchema>(items: S) =>
  Type.Object(
    {
      data: list(items, 'Rows of this page'),
      nextCursor: maybe(text('Send it as `cursor` to get the next page; null on the last page', 'MTcwMA')),
    },
    closed,
  );
/** A list that is short enough to be returned whole. */
export const listOf = <S extends TSchema>(items: S) => Type.Object({ data: list(items, 'All rows') }, closed);

export const moneyAs = (description: string, amount: string, asset: string) =>
  Type.Object(
    {
      amount: decimal('Plain decimal number, as text', '250.50'),
      asset: text('Code of the asset: `inr`, or a coin on a chain such as `usdc.matic20`', 'usdc.matic20'),
    },
    { ...closed, description, examples: [{ amount, asset }] },
  );
const MONEY_EXAMPLE = ['250.50', 'usdc.matic20'] as const;
export const money = (description: string) => moneyAs(description, ...MONEY_EXAMPLE);
export const Money = money('An amount of an asset');

export const DIRECTIONS = ['sell', 'buy'] as const;
export const direction = () => word(DIRECTIONS, '`sell`: crypto is paid, fiat received. `buy`: the reverse');
/** The states shown to a partner: an order frozen by law is shown as held. */
export const SHOWN_STATES = (Object.keys(STATES) as (keyof typeof STATES)[]).filter(
  (state): state is Exclude<keyof typeof STATES, 'frozen'> => state !== 'frozen',
);
export const state = () =>
  Type.Unsafe<(typeof SHOWN_STATES)[number]>({
    type: 'string',
    enum: SHOWN_STATES,
    description: 'State of the order',
    examples: ['created'],
  });
/** The amounts that a limit across orders counts. */
export const LIMIT_SCOPE = {
  per: word(
    ['order', 'day', 'month'] as const,
    'The limit applies to one order, to any 24 hours (`day`), or to any 30 days (`month`)',
  ),
  asset: text('Fiat in which the value of orders is counted', 'inr'),
  direction: maybe(word(DIRECTIONS, 'Only orders in this direction count; null: both directions together')),
  market: maybe(id('Only orders on this market count; null: all markets of the fiat together', '3')),
};
export const LIMIT_AMOUNTS = {
  max: decimal('The maximum', '50000'),
  used: decimal('Total value of the counted orders of the customer', '42000'),
  left: decimal('The remainder', '8000'),
};
export const reason = () => word(PUBLIC_REASONS, 'What is exceptional about it');

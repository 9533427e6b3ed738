/**
 * A read: a path, its parameters, and the answer; and for a table, which part of the answer is written as CSV.
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits } from '../../base/money.ts';
import { findCustomer } from '../../customers/index.ts';
import { assets, findPartner } from '../../partners/index.ts';
import type { Caller, OperatorDeps } from './action.ts';
import { marketOf } from './actions/terms.ts';
import { type Fields, id, oneOf, optional, text, time, type Values, whole } from './fields.ts';

/** Rows of an answer, and the order of their cells. */
export interface Table {
  list: string;
  columns: readonly string[];
}

export interface Read<F extends Fields = Fields> {
  path: string;
  fields: F;
  /** For a read that offers CSV: with `format=csv` the answer has exactly the rows of the JSON. */
  table?: Table;
  answer(deps: OperatorDeps, tx: Tx, input: Values<F>, caller: Caller): Promise<unknown>;
}

/** Format of a table. */
const FORMAT = { format: optional(oneOf(['json', 'csv'])) };

export const read = <F extends Fields>(written: Read<F>): Read =>
  ({
    ...written,
    fields: written.table === undefined ? written.fields : { ...written.fields, ...FORMAT },
  }) as unknown as Read;

export const limit = (most: number) => optional(whole(1, most));

/** Filters of lists, each alone or combined. */
export const FILTERS = {
  partner: optional(id),
  customer: optional(text(40)),
  market: optional(id),
  from: optional(time),
  until: optional(time),
};

/** @throws Refusal 'malformed_field' when a time span ends before it begins */
export function requireSpan(input: { from?: Date | undefined; until?: Date | undefined }): void {
  if (input.from !== undefined && input.until !== undefined && input.until <= input.from)
    throw new Refusal('malformed_field', { fields: { until: 'must be after from' } });
}

/**
 * Resolves the filters of a list, so that an unknown name is an error and does not look like an empty list.
 *
 * @throws Refusal 'unknown_partner' | 'unknown_customer' | 'unknown_market' | 'malformed_field'
 */
export async function narrowed(
  tx: Tx,
  input: {
    partner?: bigint | undefined;
    customer?: string | undefined;
    market?: bigint | undefined;
    from?: Date | undefined;
    until?: Date | undefined;
  },
) {
  requireSpan(input);
  if (input.partner !== undefined && (await findPartner(tx, { id: input.partner })) === undefined)
    throw new Refusal('unknown_partner');
  const customer = input.customer === undefined ? undefined : await findCustomer(tx, input.customer);
  if (customer !== undefined && input.partner !== undefined && customer.partnerId !== input.partner)
    throw new Refusal('unknown_customer');
  const market = input.market === undefined ? undefined : await marketOf(tx, input.market);
  return {
    partnerId: customer?.partnerId ?? input.partner,
    customerId: customer?.id,
    marketId: market?.id,
    from: input.from,
    until: input.until,
  };
}

/** Formats amounts as plain decimals of their asset; null without an amount. */
export type Amounts = (units: bigint | null, asset: string) => string | null;

export async function amountsIn(tx: Tx): Promise<Amounts> {
  const known = await assets(tx);
  return (units, asset) => (units === null ? null : formatUnits(units, known.get(asset)?.decimals ?? 0));
}

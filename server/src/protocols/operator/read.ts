/**
 * A read: a path, its parameters, and the reply; for a table, also which part of the reply is available as CSV.
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits, parseUnits } from '../../base/money.ts';
import { findCustomer } from '../../customers/index.ts';
import type { AmountFilter } from '../../orders/index.ts';
import { assets, findPartner } from '../../partners/index.ts';
import type { Fields, Values } from '../declaration/fields.ts';
import type { Caller } from './action.ts';
import { marketOf } from './actions/terms.ts';
import type { DeclaredRead } from './declare.ts';
import type { OperatorDeps } from './deps.ts';

export interface Read<F extends Fields = Fields> extends DeclaredRead<F> {
  answer(deps: OperatorDeps, tx: Tx, input: Values<F>, caller: Caller): Promise<unknown>;
  /** Ids of customers whose personal texts the reply shows: the audit gets a row for each, in the transaction of the read. */
  personal?(body: unknown): readonly string[];
}

/** Type helper: keeps the types of the declared fields. */
export const read = <F extends Fields>(written: Read<F>): Read => written as unknown as Read;

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

/**
 * The asset of a filter and the amounts beside it, in units.
 *
 * @throws Refusal 'malformed_field' | 'malformed_amount'
 */
export async function amountOf(
  tx: Tx,
  { asset, min, max }: { asset: string | undefined; min?: string | undefined; max?: string | undefined },
): Promise<AmountFilter | undefined> {
  const wrong = (rule: string) => new Refusal('malformed_field', { fields: { asset: rule } });
  if (asset === undefined) {
    if (min !== undefined || max !== undefined) throw wrong('must be given with min or max: an amount needs its asset');
    return undefined;
  }
  const decimals = (await assets(tx)).get(asset)?.decimals;
  if (decimals === undefined) throw wrong('must be the code of an asset');
  const units = (text: string | undefined) => (text === undefined ? undefined : parseUnits(text, decimals));
  return { asset, minUnits: units(min), maxUnits: units(max) };
}

/** Formats amounts as plain decimals of their asset; null without an amount. */
export type Amounts = (units: bigint | null, asset: string) => string | null;

export async function amountsIn(tx: Tx): Promise<Amounts> {
  const known = await assets(tx);
  return (units, asset) => (units === null ? null : formatUnits(units, known.get(asset)?.decimals ?? 0));
}

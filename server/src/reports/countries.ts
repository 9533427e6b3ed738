/**
 * Countries: the orders created in a time span, by their customer's country and by fiat.
 *
 * The country is the customer's present one, with its source: the customer on a form, the partner, the
 * accepted document, or the prefix of a phone number. Without a source it is the installation's default, and is shown as assumed. Orders are selected by their id, which
 * grows with time.
 */
import type { Tx } from '../base/db.ts';
import { firstIdAt } from '../base/ids.ts';
import type { AssetCode } from '../base/money.ts';

export interface CountryRow {
  country: string;
  saidBy: 'form' | 'partner' | 'document' | 'phone' | 'assumed';
  fiat: AssetCode;
  customers: bigint;
  orders: bigint;
  settled: bigint;
  /**
   * Volume of settled orders before fees: what customers paid in the fiat, or the fiat value into which their coins were
   * converted.
   */
  settledUnits: bigint;
}

/** A country has at most five rows for each fiat. */
const MOST_ROWS = 10_000;

const SQL = `select c.country, coalesce(c.country_by, 'assumed') as said_by, o.fiat_asset as fiat,
    count(distinct o.customer_id) as customers, count(*) as orders,
    count(*) filter (where o.state = 'settled') as settled,
    coalesce(sum(case when o.deposit_asset = o.fiat_asset then o.deposit_units else o.gross_units end)
      filter (where o.state = 'settled'), 0) as settled_units
  from orders o join customers c on c.id = o.customer_id
  where o.id >= $1 and o.id < $2 and ($3::bigint is null or o.partner_id = $3)
  group by 1, 2, 3 order by 1, 2, 3 limit ${MOST_ROWS}`;

export const ordersByCountry = (
  tx: Tx,
  input: { from: Date; until: Date; partnerId?: bigint | undefined },
): Promise<CountryRow[]> =>
  tx.rows<CountryRow>(SQL, [firstIdAt(input.from), firstIdAt(input.until), input.partnerId ?? null]);

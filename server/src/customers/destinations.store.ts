/** SQL of the destinations of customers. */

export interface DestinationRow {
  id: bigint;
  customerId: string;
  fiat: string | null;
  hint: string | null;
  chain: string | null;
  address: string | null;
  createdAt: Date;
  usableAt: Date | null;
  confirmedAt: Date | null;
}

// Accounts with their destination data, and addresses. Each half reads only its customer's rows, through an index.
const ALL = `select a.id, a.customer_id, a.fiat, a.hint, null::text as chain, null::text as address, a.created_at, d.usable_at, d.confirmed_at
    from fiat_accounts a left join customer_destinations d on d.fiat_account_id = a.id where a.customer_id = $1
  union all
  select id, customer_id, null, null, chain, address, created_at, usable_at, confirmed_at
    from customer_destinations where customer_id = $1 and address is not null`;

export const destinationSql = {
  page: `select * from (${ALL}) as found where id > $2 order by id limit $3`,
  byId: `select * from (${ALL}) as found where id = $2`,
  byAddress: `select id, customer_id, null as fiat, null as hint, chain, address, created_at, usable_at, confirmed_at
    from customer_destinations where customer_id = $1 and chain = $2 and address = $3`,
  idsOf: `select d.id, d.customer_id, d.chain, d.address from customer_destinations d
    join unnest($1::text[], $2::text[], $3::text[]) as asked (customer_id, chain, address)
      on (d.customer_id, d.chain, d.address) = (asked.customer_id, asked.chain, asked.address)`,
  insert: `insert into customer_destinations (id, partner_id, customer_id, fiat_account_id, chain, address, created_at, usable_at, confirmed_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
  confirm: `update customer_destinations set confirmed_at = coalesce(confirmed_at, $3) where customer_id = $1 and id = $2`,
  // Locks the row, so that the phone read afterwards to send a code is the one that phone_changed_at refers to.
  phoneChanged: 'select phone_changed_at from customers where id = $1 for share',
  waits: `select max(usable_at) as usable_at from customer_destinations
    where customer_id = $1 and (fiat_account_id = $2 or address = $3) and confirmed_at is null and usable_at > $4
    having max(usable_at) is not null`,
};

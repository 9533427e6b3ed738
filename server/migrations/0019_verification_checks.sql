-- A verifier may answer hours later. A job asks it again until it has, so the row says at which verifier its version has begun
-- and how often that had no result; the pauses between two questions grow with it.

set search_path = cloverleaf;

alter table customer_details
  -- Code of the verifier; null before.
  add column begun_with text,
  add column polls integer not null default 0 check (polls >= 0);

-- The page enqueues the job with the details, in its partner's role.
alter policy own_rows on jobs to cloverleaf_partner using (
  case when kind = 'expire_order' and ordering_key is null and subject ~ '^[0-9]{1,18}$'
       then exists (select from orders where orders.id = jobs.subject::bigint)
       when kind = 'check_verification' and ordering_key is null
       then exists (select from customers where customers.id = jobs.subject) else false end);

grant update (begun_with, polls) on customer_details to cloverleaf_partner;

-- What is under way now was asked about only when its customer opened the page.
insert into jobs (kind, subject, due_at)
  select 'check_verification', customer_id, clock_timestamp() from customer_details
   where outcome is null or outcome = 'in_review';

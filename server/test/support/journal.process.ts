/**
 * Creates a journal of any length and measures its verification: `node scripts/run.mjs server/test/support/journal.process.ts
 * [transfers]`, one million by default. It is run by hand and is not a test.
 *
 * Entries are inserted in bulk without the ledger, with the content hashes that posting would have given them, over accounts of
 * orders as in a year of business; the ledger itself makes the seals.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { txOn } from '../../src/base/db.ts';
import { seal } from '../../src/ledger/index.ts';
import { verifiedTable, verifyLedger } from '../../src/reconcile/verify.ts';
import { freshFixture } from './fixture.ts';

/** Per order: deposit in, conversion, fee, payout held, payout settled. */
const PER_ORDER = 5;
const AT_ONCE = 20_000;

const [transfers = 1_000_000] = parseArgs({ allowPositionals: true }).positionals.map(Number);
const orders = Math.ceil(transfers / PER_ORDER);
const fixture = await freshFixture();
const client = new pg.Client({ connectionString: fixture.adminUrl, options: '-c search_path=cloverleaf' });
await client.connect();
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const startedAt = performance.now();
await client.query(
  `insert into assets (code, kind, coin, decimals) values ('inr', 'fiat', 'inr', 2) on conflict do nothing`,
);
await client.query(
  `insert into accounts (code, kind, asset, side) values ('custody:x:in:inr', 'custody', 'inr', 'debit'),
     ('custody:x:out:inr', 'custody', 'inr', 'debit'), ('treasury:inr', 'treasury', 'inr', 'either'),
     ('fee_operator:inr', 'fee_operator', 'inr', 'credit'), ('capital:inr', 'capital', 'inr', 'credit')`,
);
await client.query(`update accounts set side = 'either' where code like 'custody:x:%'`);
for (let from = 1; from <= orders; from += AT_ONCE) {
  const to = Math.min(from + AT_ONCE - 1, orders);
  await client.query(
    `insert into accounts (code, kind, asset, side, debits, credits)
     select 'order:' || n || ':inr', 'order', 'inr', 'credit', 1000, 1000 from generate_series($1::int, $2::int) n`,
    [from, to],
  );
  // The order pays 1000 in, 10 of which are the fee; 990 are held and paid out.
  await client.query(
    `with made as (
       select n, format('ord_%s:receive:1', n) as receive, format('ord_%s:convert_and_hold:2', n) as convert,
              format('ord_%s:settle_payout:3', n) as settle, format('pay_%s_1', n) as hold, format('order:%s:inr', n) as own
         from generate_series($1::int, $2::int) n),
     each_entry as (
       select n, 1 as turn, receive as id, 'receive' as kind,
              format('["receive","%s",[["post","","custody:x:in:inr","%s","1000"]]]', n, own) as text from made
       union all
       select n, 2, convert, 'convert_and_hold',
              format('["convert_and_hold","%s",[["post","","%s","treasury:inr","990"],["post","","%s","fee_operator:inr","10"],["hold","%s","treasury:inr","custody:x:out:inr","990"]]]', n, own, own, hold) from made
       union all
       select n, 3, settle, 'settle_payout', format('["settle_payout","%s",[["settle","%s"]]]', n, hold) from made)
     insert into entries (id, kind, order_id, content, at)
     select id, kind, n, sha256(convert_to(text, 'UTF8')), '2026-01-01' from each_entry order by n, turn`,
    [from, to],
  );
  await client.query(
    `insert into holds (id, debit, credit, asset, units, state)
     select format('pay_%s_1', n), t.id, c.id, 'inr', 990, 'settled' from generate_series($1::int, $2::int) n
       join accounts t on t.code = 'treasury:inr' join accounts c on c.code = 'custody:x:out:inr'`,
    [from, to],
  );
  await client.query(
    `with a as (select code, id from accounts where order_id is null and kind <> 'order')
     insert into transfers (entry, line, debit, credit, asset, units, step, hold)
     select format('ord_%s:%s', n, l.name), l.line, coalesce(d.id, o.id), coalesce(c.id, o.id), 'inr', l.units, l.step,
            case l.step when 'post' then null else format('pay_%s_1', n) end
       from generate_series($1::int, $2::int) n
       join accounts o on o.code = 'order:' || n || ':inr'
       cross join (values ('receive:1', 1, 'custody:x:in:inr', null, 1000, 'post'),
                          ('convert_and_hold:2', 1, null, 'treasury:inr', 990, 'post'),
                          ('convert_and_hold:2', 2, null, 'fee_operator:inr', 10, 'post'),
                          ('convert_and_hold:2', 3, 'treasury:inr', 'custody:x:out:inr', 990, 'hold'),
                          ('settle_payout:3', 1, 'treasury:inr', 'custody:x:out:inr', 990, 'settle'))
              as l (name, line, debit, credit, units, step)
       left join a d on d.code = l.debit left join a c on c.code = l.credit`,
    [from, to],
  );
}
await client.query(
  `update accounts set debits = v.d * $1::numeric, credits = v.c * $1::numeric from (values ('custody:x:in:inr', 1000, 0),
     ('custody:x:out:inr', 0, 990), ('treasury:inr', 990, 990), ('fee_operator:inr', 0, 10)) as v (code, d, c)
    where accounts.code = v.code`,
  [orders],
);
await client.query('analyze');
while ((await fixture.db.asSystem((tx) => seal(tx, new Date()))) > 0);
await client.query('analyze');
say(
  `${orders * PER_ORDER} transfers written and encrypted in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
);

await client.query('begin isolation level repeatable read read only');
const verified = await verifyLedger(txOn(client));
say(verifiedTable(verified));
say(`${Math.round(process.memoryUsage().rss / 1e6)} MB of memory`);
await client.end();
await fixture.stop();
process.exitCode = verified.problems.length === 0 ? 0 : 1;

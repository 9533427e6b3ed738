/**
 * The limit: the cost of the same wire with only the unavoidable work. A bare HTTP server that checks the same
 * signature, and reads or writes rows of the same bytes through the same client, pool, role, policy and durability.
 *
 * It prices nothing, validates nothing, and stores no request. It is the divisor of our figures.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import pg from 'pg';

const { url, secret, requirements, bytes } = JSON.parse(process.env.LIMIT ?? '{}');
const pool = new pg.Pool({ connectionString: url, max: 10, options: '-c role=limit_partner -c search_path=bench' });
const PAGE = 'select body, filler from orders where customer_id = $1 and seq > $2 and seq <= $3 order by seq desc';
const ONE = 'select body, filler from orders where id = $1 and customer_id = $2';
const PUT = 'insert into written (id, partner_id, filler) values ($1, 1, $2)';
let next = 0n;
const filler = (length: number): string => 'x'.repeat(length);

async function inTx(name: string, text: string, values: unknown[]): Promise<{ body: string }[]> {
  const client = await pool.connect();
  try {
    await client.query("begin; set local bench.partner = '1'");
    const { rows } = await client.query({ name, text, values });
    await client.query('commit');
    return rows;
  } finally {
    client.release();
  }
}

function isSigned({ headers }: IncomingMessage): boolean {
  const payload = String(headers['x-onramp-payload']);
  const wanted = createHmac('sha512', secret).update(payload).digest();
  const { timestamp } = JSON.parse(Buffer.from(payload, 'base64').toString());
  return timingSafeEqual(wanted, Buffer.from(String(headers['x-onramp-signature']), 'hex')) && timestamp > 0;
}

const server = createServer(async (request, reply) => {
  const send = (text: string) => reply.setHeader('content-type', 'application/json').end(text);
  if (request.method === 'GET') return send(requirements);
  let text = '';
  for await (const chunk of request) text += chunk;
  if (!isSigned(request)) return reply.writeHead(401).end();
  const body = JSON.parse(text);
  if (request.url?.endsWith('/transaction')) {
    const [row] = await inTx('one', ONE, [body.transactionId, body.customerId]);
    return send(`{"status":1,"code":200,"data":${row?.body}}`);
  }
  if (request.url?.endsWith('/allUserTransaction')) {
    const upTo = Number(body.total) - (Number(body.page) - 1) * Number(body.pageSize);
    const rows = await inTx('page', PAGE, [body.customerId, upTo - Number(body.pageSize), upTo]);
    return send(`{"status":1,"code":200,"data":[${rows.map((row) => row.body).join(',')}]}`);
  }
  const length = request.url?.endsWith('/quote') ? bytes.quote : bytes.order;
  await inTx('put', PUT, [(next += 1n), filler(length)]);
  return send('{"status":1,"code":200,"data":{}}');
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));

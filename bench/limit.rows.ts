/**
 * The second limit of order creation: a bare HTTP server that checks the signature, as in limit.ts, and inserts the same rows
 * into the same tables, with their keys, indexes, triggers and policies, in one statement, without pricing or checking anything.
 * The rows are those of the orders that ours has just created (creation.ts); each request writes the rows of one order.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import pg from 'pg';

const { url, secret } = JSON.parse(process.env.LIMIT ?? '{}');
const pool = new pg.Pool({
  connectionString: url,
  max: 10,
  options: '-c role=cloverleaf_partner -c search_path=cloverleaf',
});
let statement = '';
const waiting: { partner: string; values: (string | null)[] }[] = [];

async function write(): Promise<void> {
  const next = waiting.shift();
  if (next === undefined) throw new Error('no rows are left');
  const client = await pool.connect();
  try {
    await client.query(`begin; set local cloverleaf.partner = '${next.partner}'`);
    await client.query({ name: 'write', text: statement, values: next.values });
    await client.query('commit');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function isSigned({ headers }: IncomingMessage): boolean {
  const payload = String(headers['x-onramp-payload']);
  const wanted = createHmac('sha512', secret).update(payload).digest();
  const { timestamp } = JSON.parse(Buffer.from(payload, 'base64').toString());
  return timingSafeEqual(wanted, Buffer.from(String(headers['x-onramp-signature']), 'hex')) && timestamp > 0;
}

const server = createServer(async (request, reply) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  if (!isSigned(request) || typeof JSON.parse(text) !== 'object') return reply.writeHead(401).end();
  try {
    await write();
    reply.setHeader('content-type', 'application/json').end('{"status":1,"code":200,"data":{}}');
  } catch (error) {
    reply.writeHead(500).end(String(error));
  }
});
process.on('message', (fed: { statement: string; rows: typeof waiting }) => {
  statement = fed.statement;
  waiting.push(...fed.rows);
  process.send?.('fed');
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));

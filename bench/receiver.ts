/**
 * A receiver of webhooks as a process of its own, so that its time is not counted. On request it reports what it has received.
 */
import { createServer } from 'node:http';

export interface Got {
  headers: Record<string, string>;
  body: string;
}

let got: Got[] = [];
const server = createServer(async (request, reply) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  reply.writeHead(204).end();
  got.push({ headers: request.headers as Record<string, string>, body });
});
process.on('message', (asked) => {
  if (asked === 'count') process.send?.(got.length);
  if (asked === 'all') process.send?.(got.splice(0));
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as { port: number }).port));

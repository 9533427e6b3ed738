// Receives webhooks of every format: checks the signature, drops duplicates and what is older than what it knows.
import { createServer } from 'node:http';
import { verifyWebhook, WebhookError } from 'cloverleaf-ramp';

// Of the formats whitelabel and flat: the secret of your key. Of the format standard: that of the endpoint.
const secret = process.env.WEBHOOK_SECRET ?? process.env.CLOVERLEAF_SECRET ?? '';
const seen = new Set<string>(); // in your program: a table with the event's id as its key
const newest = new Map<string, number>(); // in your program: a column beside the order

type Webhook = Awaited<ReturnType<typeof verifyWebhook>>;

function take({ id, subject, sequence, event }: Webhook): string {
  if (seen.has(id)) return `duplicate ${id}`;
  seen.add(id);
  if (sequence < (newest.get(subject) ?? 0)) return `older ${id}`;
  newest.set(subject, sequence);
  return `new ${'type' in event ? event.type : `${event.eventType} ${event.status}`}`; // here your program does its work
}

createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  try {
    // The body as it came: never parse it first.
    console.log(take(await verifyWebhook({ headers: request.headers, body: Buffer.concat(parts) }, { secret })));
    response.writeHead(200).end();
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    console.log('wrong signature');
    response.writeHead(401).end();
  }
}).listen(Number(process.env.PORT ?? 8000), '127.0.0.1', () => console.log('listening'));

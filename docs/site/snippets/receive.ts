// Receives webhooks of the format whitelabel: checks the signature, drops duplicates and what is older than what it knows.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { CLOVERLEAF_SECRET = '', PORT = '8000' } = process.env;
const seen = new Set<number>(); // in your program: a table with the event's id as its key
const newest = new Map<string, number>(); // in your program: a column beside the order

/** The signature covers the text of the header, and the header is base64 of the body. */
function isGenuine(headers: NodeJS.Dict<string | string[]>, body: Buffer): boolean {
  const payload = String(headers['x-onramp-payload'] ?? '');
  const given = Buffer.from(String(headers['x-onramp-signature'] ?? ''));
  const expected = Buffer.from(createHmac('sha512', CLOVERLEAF_SECRET).update(payload).digest('hex'));
  const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
  return isSigned && payload === body.toString('base64');
}

function take(body: Buffer): string {
  const { referenceId, eventType, status, metadata } = JSON.parse(body.toString());
  const { eventId, sequence, customerId } = metadata;
  if (seen.has(eventId)) return `duplicate ${eventId}`;
  seen.add(eventId);
  const subject = String(referenceId ?? customerId);
  if (sequence < (newest.get(subject) ?? 0)) return `older ${eventId}`;
  newest.set(subject, sequence);
  return `new ${eventType} ${status}`; // here your program does its work
}

createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const isOurs = isGenuine(request.headers, body);
  console.log(isOurs ? take(body) : 'wrong signature');
  response.writeHead(isOurs ? 200 : 401).end();
}).listen(Number(PORT), '127.0.0.1', () => console.log('listening'));

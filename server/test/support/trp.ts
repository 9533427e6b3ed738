/**
 * A provider of the travel rule that is no server of ours: it keeps what it is asked, and answers as it is told. And the messages that
 * such a provider sends.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { trp } from '../../src/compliance/travel-rule/protocols/trp/index.ts';

export interface Other {
  host: string;
  asked: { path: string; headers: Record<string, unknown>; body: string }[];
  answers: (at: number) => { status: number; body?: unknown } | 'silence';
  travelAddress(path: string): string;
  server: Server;
}

const protocol = trp.create(
  { legalName: 'A Test', assets: new Map() },
  {
    ask: () => assert.fail('it asks nobody'),
    deadlineMs: 1,
    plain: true,
  },
);

/** Opens one on loopback. The caller closes its server. */
export async function openOther(): Promise<Other> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      other.asked.push({ path: request.url ?? '', headers: request.headers, body });
      const answer = other.answers(other.asked.length);
      if (answer === 'silence') return request.socket.destroy();
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const other: Other = {
    ...{ host, server, asked: [] },
    answers: () => ({ status: 200, body: { version: '3.1.0' } }),
    travelAddress: (path) => protocol.addressOf(`http://${host}/${path}`),
  };
  return other;
}

/** Sends a message to one of our addresses, as version 3.1.0. */
export const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'api-version': '3.1.0',
      'request-identifier': 'a-request',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
};

/** A person in the format of IVMS101. */
export const person = (secondaryIdentifier: string, primaryIdentifier: string) => ({
  naturalPerson: { name: { nameIdentifier: [{ primaryIdentifier, secondaryIdentifier, nameIdentifierType: 'LEGL' }] } },
});

/** Where a travel address takes inquiries. */
export const urlOf = (travelAddress: string): string => {
  const url = protocol.urlOf(travelAddress);
  assert(url !== undefined);
  return url;
};

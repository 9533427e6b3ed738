/** A connection that listens, against a server of the protocol's bytes: it is lost at a moment that a real one meets by chance. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { listenOn } from '../../src/base/listening.ts';
import { until } from '../support/until.ts';

/** One message of PostgreSQL's protocol: its letter, its length, its content. */
function message(letter: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}
const text = (...parts: string[]): Buffer => Buffer.from(`${parts.join('\0')}\0`);
const READY = message('Z', Buffer.from('I'));
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), READY]);
const LISTENS = Buffer.concat([message('C', text('LISTEN')), READY]);
const SHUTS_DOWN = message('E', text('SFATAL', 'C57P01', 'Mterminating connection', ''));

const servers: Server[] = [];
after(() => {
  for (const server of servers) server.close();
});

/** @param answerOf what the nth connection, from 1, is answered to `listen` */
async function serverThat(answerOf: (n: number, socket: Socket) => void) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const n = connections;
    socket.on('error', () => {});
    let isGreeted = false;
    socket.on('data', (bytes) => {
      if (!isGreeted) socket.write(WELCOME);
      else if (bytes.toString('latin1').includes('listen')) answerOf(n, socket);
      isGreeted = true;
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

const config = (port: number) => ({ host: '127.0.0.1', port, user: 'u', database: 'd', ssl: false as const });

test('a first connection that is lost as soon as it listens is an error', async () => {
  const { port } = await serverThat((_, socket) => socket.end(Buffer.concat([LISTENS, SHUTS_DOWN])));
  await assert.rejects(listenOn(config(port), 'news', { onNotify: () => {} }), {
    name: 'Unavailable',
    source: 'postgres',
    message: /the connection was lost/,
  });
});

test('a later one that is lost as soon as it listens is opened again, and only one that stays counts as listening', async () => {
  let first: Socket | undefined;
  const { port, connections } = await serverThat((n, socket) => {
    if (n === 1) first = socket;
    if (n === 2) socket.end(Buffer.concat([LISTENS, SHUTS_DOWN]));
    else socket.write(LISTENS);
  });
  let [listening, lost] = [0, 0];
  const listener = await listenOn(config(port), 'news', {
    onNotify: () => (listening += 1),
    onLost: () => (lost += 1),
  });
  assert.deepEqual([listening, lost], [1, 0]);
  first?.end(SHUTS_DOWN);
  await until('the third connection listens', async () => listening === 2);
  assert.deepEqual([connections(), lost], [3, 2]);
  await listener.stop();
});

/** The HTTP server closes once requests under way are answered, although other connections are open. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { openLog } from '../../../src/base/log.ts';
import { createServer } from '../../../src/protocols/whitelabel/index.ts';

const GET = 'GET /asked HTTP/1.1\r\nhost: x\r\n';
/** Node itself would wait for a minute. */
const PATIENCE = { timeout: 20_000 };

test(
  'a request under way is answered completely, and connections without a request are not waited for',
  PATIENCE,
  async (t) => {
    const { app, port, asked, answer } = await serving(t, { lastAnswersMs: 60_000 });
    const [silent, halfway, kept, asking] = await Promise.all([opened(port), opened(port), opened(port), opened(port)]);
    halfway.write(GET);
    kept.write('GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n');
    assert.match(String((await once(kept, 'data'))[0]), /^HTTP\/1\.1 404 /);
    asking.write(`${GET}\r\n`);
    await asked;

    const closed = app.close();
    await Promise.all([silent, halfway, kept].map((socket) => once(socket.resume(), 'close')));
    assert.equal(asking.closed, false);
    answer('paid');
    assert.match(await text(asking), /^HTTP\/1\.1 200 [^]*\r\n\r\npaid$/);
    await closed;
  },
);

test('an incomplete request is not waited for longer than an answer may take', PATIENCE, async (t) => {
  const { app, port } = await serving(t, { lastAnswersMs: 50 });
  const socket = await opened(port);
  socket.write('POST /asked HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"a"');
  await once(app.server, 'request');
  await Promise.all([app.close(), once(socket.resume(), 'close')]);
});

/** Answers /asked with the value passed to `answer`, as soon as it is called. */
async function serving(t: TestContext, options: { lastAnswersMs: number }) {
  const app = createServer({ log: openLog('silent'), ...options });
  t.after(() => app.server.closeAllConnections());
  const { promise: asked, resolve: hasBeenAsked } = Promise.withResolvers<void>();
  const { promise: answered, resolve: answer } = Promise.withResolvers<string>();
  app.get('/asked', async () => {
    hasBeenAsked();
    return await answered;
  });
  app.post('/asked', async () => 'read');
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { app, port: (app.server.address() as AddressInfo).port, asked, answer };
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  // A closed connection may be reported as a reset.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

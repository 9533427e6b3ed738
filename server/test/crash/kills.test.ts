/**
 * kill -9 of the server at random moments of the demo, each followed by a new start: the order settles, once.
 *
 * Payments are counted at the bank, from its own records, and on the chain, from its logs, not from our rows; the mined
 * transactions are the stored bytes; and in the end the books are sound (support/books.ts). `KILLS=20` for the long run
 * (docs/operating), one otherwise. A round prints its moment, so that a failing one can be identified.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openBooksOf, untilSound } from '../support/books.ts';
import {
  collect,
  freePort,
  makeDataDir,
  removeDataDir,
  run,
  type ServerProcess,
  startProcess,
} from '../support/process.ts';

const KILLS = Number.parseInt(process.env.KILLS ?? '1', 10);
/** By then every sweep under way is final: gas and sweep are each a block, and twelve more. */
const SWEPT_MS = 60_000;
/** From the demo's first call to a little after its last. */
const WINDOW_MS = 9_000;

const dataDir = makeDataDir();
let server: ServerProcess;
after(async () => {
  // Also when a round failed: its nodes outlive the server and only this ends them.
  await server.interrupt();
  removeDataDir(dataDir);
});

test(`after ${KILLS} kills of the server every order settled, and bank and chain paid each once`, {
  // The start and the wait for the sweeps are as long with one kill as with twenty.
  timeout: 120_000 + KILLS * 60_000,
}, async (t) => {
  const port = await freePort();
  server = await startProcess({ dataDir, port });
  let settled = 0;
  for (let round = 1; round <= KILLS; round += 1) {
    const demo = run(['server/src/apps/demo.ts'], { DATA_DIR: dataDir, LOG_LEVEL: 'error' });
    const output = collect(demo);
    const ended = new Promise<number | null>((resolve) => demo.once('exit', (code) => resolve(code)));
    // A demo that finds no server starts its own, so it must have found ours first.
    while (!output().includes('A customer of') && demo.exitCode === null)
      await new Promise((wake) => setTimeout(wake, 10));
    // The moments are spread over the window with jitter, so that a few rounds already meet different stages.
    const atMs = Math.round(((round - Math.random()) / KILLS) * WINDOW_MS);
    await new Promise((wake) => setTimeout(wake, atMs));
    await server.kill();
    const from = Date.now();
    server = await startProcess({ dataDir, port });
    const backMs = Date.now() - from;
    const code = await ended;
    const lastBefore = output()
      .split('\n')
      .filter((line) => line.includes('│')).length;
    t.diagnostic(
      `round ${round}: killed ${atMs} ms in, back after ${backMs} ms, demo ended with ${code} after ${lastBefore} steps`,
    );
    assert.equal(code, 0, `round ${round}, killed ${atMs} ms in:\n${output()}\n${server.output()}`);
    if (output().includes('settled, once')) settled += 1;
  }
  const books = await openBooksOf(dataDir, server.sandbox());
  const [broken, payments] = [await untilSound(books.broken, SWEPT_MS), await books.payments()];
  const purchases = await books.purchases();
  await books.close();
  assert.deepEqual(broken, [], 'the books are broken or disagree with chain and bank');
  assert.equal(settled, KILLS);
  assert.equal(payments.size, KILLS, 'an order has several payment keys');
  assert.deepEqual(
    [...payments.values()].filter((times) => times !== 1),
    [],
    'each paid once',
  );
  assert.equal(purchases.length, KILLS, 'a round has no purchase');
  for (const { paid, stored } of purchases)
    assert.deepEqual(paid, [stored], 'a wallet was not paid exactly once with the stored bytes');
});

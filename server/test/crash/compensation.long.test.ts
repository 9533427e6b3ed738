/**
 * kill -9 of the server at random moments of a compensation, each followed by a new start: the fee is paid back, once.
 *
 * The operator repeats the request after every kill, like a caller without an answer. Payments are counted at the bank, from its
 * own records; the books are sound in the end (support/books.ts), and the fee has lost exactly the amount paid back. `KILLS=20`
 * for the long run, one otherwise. A round prints its moment, so that a failing one can be identified.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openBooksOf, untilSound } from '../support/books.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import {
  collect,
  freePort,
  makeDataDir,
  removeDataDir,
  run,
  type ServerProcess,
  startProcess,
} from '../support/process.ts';
import { until } from '../support/until.ts';

const KILLS = Number.parseInt(process.env.KILLS ?? '1', 10);
/** By then every sweep under way is final: gas and sweep are each a block, and twelve more. */
const SWEPT_MS = 60_000;
/** From the operator's request to a little after the bank shows the payment. */
const WINDOW_MS = 2_500;
/** Amount of each, in rupees. */
const AMOUNT = { typed: '0.50', units: 50n };

const dataDir = makeDataDir();
let server: ServerProcess;
after(async () => {
  await server.interrupt();
  removeDataDir(dataDir);
});

interface Answer {
  status: number;
  text: string;
}

/** The server's answer, or undefined when it is killed meanwhile. */
async function says(path: string, body: Record<string, unknown>): Promise<Answer | undefined> {
  const token = readFileSync(join(dataDir, 'operator.token'), 'utf8').trim();
  try {
    const response = await fetchDeclared(`${server.sandbox().baseUrl}/operator/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, reason: 'the fee was typed wrong' }),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}

test(`after ${KILLS} kills of the server in the midst of a compensation each was paid back once`, {
  timeout: 120_000 + KILLS * 60_000,
}, async (t) => {
  const port = await freePort();
  server = await startProcess({ dataDir, port });
  const demo = run(['server/src/apps/demo.ts'], { DATA_DIR: dataDir, LOG_LEVEL: 'error' });
  const output = collect(demo);
  assert.equal(await new Promise((resolve) => demo.once('exit', resolve)), 0, output());
  const look = async <R>(text: string, values: unknown[] = []): Promise<R[]> => {
    const books = await openBooksOf(dataDir, server.sandbox());
    return await books.tx.rows<R>(text, values).finally(() => books.close());
  };
  const feeOf = async () =>
    (await look<{ units: bigint }>(`select credits - debits as units from accounts where code = 'fee_operator:inr'`))[0]
      ?.units ?? 0n;
  const [order] = await look<{ id: bigint }>(
    `select id from orders where state = 'settled' and direction = 'offramp' order by id`,
  );
  assert(order);
  const before = await feeOf();
  const states = async () =>
    (
      await look<{ state: string }>(
        `select r.state from refunds r join deposits d on d.id = r.deposit_id
          where d.order_id = $1 and d.origin = 'compensation' order by r.id`,
        [order.id],
      )
    ).map(({ state }) => state);

  for (let round = 1; round <= KILLS; round += 1) {
    const compensates = (): Promise<Answer | undefined> =>
      says(`/orders/${order.id}/compensate`, { fee: 'operator', amount: AMOUNT.typed, asset: 'inr', nth: round });
    const asked = compensates();
    const atMs = Math.round(((round - Math.random()) / KILLS) * WINDOW_MS);
    await new Promise((wake) => setTimeout(wake, atMs));
    await server.kill();
    const first = await asked;
    server = await startProcess({ dataDir, port });
    const again = await compensates();
    assert(again !== undefined, 'the server that was started again does not answer');
    t.diagnostic(`round ${round}: killed ${atMs} ms in, answered ${first?.status ?? 'nothing'}, then ${again.status}`);
    if (first?.status === 200) assert.equal(again.status, 409, `done twice: ${again.text}`);
    else assert.ok(again.status === 200 || /already compensated/.test(again.text), again.text);
    await until(`round ${round} is paid back`, async () => {
      const found = await states();
      return found.length === round && found.every((state) => state === 'settled');
    });
  }

  const books = await openBooksOf(dataDir, server.sandbox());
  const [broken, payments] = [await untilSound(books.broken, SWEPT_MS), await books.payments()];
  await books.close();
  assert.deepEqual(broken, [], 'the books are broken or disagree with chain and bank');
  const back = [...payments].filter(([key]) => key.startsWith('ref_'));
  assert.deepEqual(
    back.map(([, times]) => times),
    Array.from({ length: KILLS }, () => 1),
    'the bank paid each back once',
  );
  assert.equal(before - (await feeOf()), AMOUNT.units * BigInt(KILLS));
});

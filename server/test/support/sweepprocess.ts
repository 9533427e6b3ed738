/** What tests of sweeps share: processes that sweep one rail with the real books behind them, and a node that takes nothing. */
import { createServer } from 'node:http';
import type { TestContext } from 'node:test';
import { defined } from '../../src/base/defined.ts';
import { balancesOf, chart, move, post } from '../../src/ledger/index.ts';
import { orderFacts } from '../../src/orders/index.ts';
import type { ChainRail, RailContext } from '../../src/rails/chain.ts';
import { type EvmOptions, evmRail } from '../../src/rails/evm/index.ts';
import type { Rail, RailFact } from '../../src/rails/rail.ts';
import { SWEEP, sweepHandlers, takeOwnTransfer } from '../../src/treasury/index.ts';
import type { Fixture } from './fixture.ts';

/** Opens processes of one rail. `facts` are what all of them have reported. */
export function sweepProcesses(p: {
  fixture: Fixture;
  settings: EvmOptions;
  mayLeave?: RailContext['mayLeave'] | undefined;
}) {
  const { fixture, settings } = p;
  const { code } = settings;
  const facts: RailFact[] = [];
  /** Another process, or this one after a restart. */
  const open = (changes: Partial<EvmOptions> = {}, tamper: (rail: ChainRail) => ChainRail = (rail) => rail) => {
    const chains = new Map<string, ChainRail>();
    const rail = evmRail(
      { ...settings, ...changes },
      {
        ...fixture,
        ...defined({ mayLeave: p.mayLeave }),
        report: async (tx, fact) => {
          facts.push(fact);
          const context = { rails: chains as ReadonlyMap<string, Rail>, clock: fixture.clock };
          await orderFacts(context, (inner, own) => takeOwnTransfer({ ...context, chains }, inner, own))(tx, fact);
        },
      },
    );
    const handle = sweepHandlers({ ...fixture, chains: new Map([[code, tamper(rail)]]), everyMs: 1 })[SWEEP];
    chains.set(code, rail);
    const follow = async () => {
      while ((await rail.observe()).againInMs === 0);
    };
    return { rail, follow, look: async () => await handle?.(code) };
  };
  return { facts, open };
}

/** Books the native asset that a new hot wallet has been given. */
export const bookCapital = ({ db }: Fixture, code: string, asset: string, units: bigint) =>
  db.asSystem((tx) =>
    post(tx, {
      id: `opening:${code}`,
      kind: 'capital',
      at: new Date(),
      lines: move(chart.custody(code, 'hot', asset), chart.capital(asset), units),
    }),
  );

/** Units that the books have at a wallet of this rail. */
export async function bookedAt({ db }: Fixture, code: string, wallet: string, asset: string): Promise<bigint> {
  const all = await db.asSystem((tx) => balancesOf(tx, ['custody']));
  return all.find((account) => account.code === `custody:${code}:${wallet}:${asset}`)?.units ?? 0n;
}

/** A node behind a proxy that refuses transactions. */
export async function deafNode(nodeUrl: string, t: TestContext): Promise<string> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    if (body.includes('eth_sendRawTransaction')) return request.socket.destroy();
    const headers = { 'content-type': 'application/json' };
    response.end(await (await fetch(nodeUrl, { method: 'POST', headers, body })).text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

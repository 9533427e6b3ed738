/**
 * A stand-in for a server that is killed: starts one thing in a folder, prints its result as one line of JSON, and stays.
 *
 * `node holder.process.ts postgres|node|lock <folder>`; prints `{ "error": … }` and ends when it could not.
 */
import { lockDataDir } from '../../src/base/lock.ts';
import { startPostgres } from '../../src/base/postgres.ts';
import { type SandboxNode, startNode } from '../../src/sandbox/nodes.ts';

const [what = '', dataDir = ''] = process.argv.slice(2);
const mnemonic = 'test test test test test test test test test test test junk';

const starts: Record<string, () => Promise<object>> = {
  postgres: () => startPostgres({ dataDir }),
  node: () =>
    startNode({ code: 'matic20', chainId: 137 }, { dataDir, mnemonic, blockMs: 100 }) satisfies Promise<SandboxNode>,
  lock: async () => ({ release: lockDataDir(dataDir) }),
};

try {
  const got = await starts[what]?.();
  console.log(JSON.stringify(got));
  setInterval(() => {}, 60_000);
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).message }));
}

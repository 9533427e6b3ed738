/**
 * A production server except for its bank: the simulated one, which is reached over HTTP, loses answers, and deduplicates or not.
 * The chain is polled more often, because its blocks come faster than a real one's.
 */
import { readConfig } from '../../src/config.ts';
import type { Profile } from '../../src/environment.ts';
import { productionProfile } from '../../src/production/index.ts';
import { simulatedBankAt } from '../../src/rails/simulated/index.ts';
import { start } from '../../src/server.ts';
import { BANK } from './bank.ts';

const { CHAOS_BANK_URL: url = '', CHAOS_BANK_TOKEN: token = '', CHAOS_BANK_DEDUPLICATES_FOR_MS } = process.env;
const config = readConfig(process.env);
const production = productionProfile(config);
const profile: Profile = {
  ...production,
  async connect(deps) {
    const world = await production.connect(deps);
    const pace = { pollMs: 250, nativeEveryMs: 3_000, lowerBranchMs: 2_000, rebroadcastMs: 3_000 };
    return {
      ...world,
      connections: {
        chains: world.connections.chains.map((chain) => ({ ...chain, open: (context) => chain.open(context, pace) })),
        banks: [
          simulatedBankAt({ code: BANK, url, token, deduplicatesForMs: Number(CHAOS_BANK_DEDUPLICATES_FOR_MS ?? 0) }),
        ],
      },
    };
  },
};

const starting = start(config, { profile });
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    starting
      .then((running) => running.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  });
starting.then(
  ({ baseUrl }) => process.stdout.write(`it is ready: ${baseUrl}\n`),
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  },
);

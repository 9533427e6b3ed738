/**
 * A production server in one role, except for two things that a test on one machine cannot have: its bank is the simulated one,
 * and its webhooks reach this machine. Only a worker knows where the bank is.
 */
import { doesWork, readConfig } from '../../src/config.ts';
import type { Profile } from '../../src/environment.ts';
import { openSender, outsideFor } from '../../src/events/index.ts';
import { productionProfile } from '../../src/production/index.ts';
import { simulatedBankAt } from '../../src/rails/simulated/index.ts';
import { start } from '../../src/server.ts';
import { BANK } from '../chaos/bank.ts';

const config = readConfig(process.env);
const { ROLES_BANK_URL = '', ROLES_BANK_TOKEN = '' } = process.env;
const [url, token] = doesWork(config) ? [ROLES_BANK_URL, ROLES_BANK_TOKEN] : ['http://127.0.0.1:9', 'unknown'];
const production = productionProfile(config);
const profile: Profile = {
  ...production,
  async connect(deps) {
    const world = await production.connect(deps);
    return {
      ...world,
      connections: { ...world.connections, banks: [simulatedBankAt({ code: BANK, url, token, deduplicatesForMs: 0 })] },
      webhooks: () => openSender(outsideFor('sandbox')),
    };
  },
};

start(config, { profile }).then(
  ({ baseUrl, metricsUrl, stop }) => {
    process.once('SIGINT', () => void stop().then(() => process.exit(0)));
    process.stdout.write(`it is ready: ${baseUrl} ${metricsUrl}\n`);
  },
  (error: Error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  },
);

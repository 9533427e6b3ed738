/**
 * The sandbox's verifier: verifies everybody to the requested level, at once.
 *
 * The level is the only input, so a test that needs another outcome records it directly, instead of a flag here. Production
 * refuses to start with it.
 */
import { adapter } from '../../base/adapter.ts';
import type { Verifier } from '../verifier.ts';

export const simulatedVerifier: Verifier = {
  code: 'simulated',
  highestLevel: 5,
  begin: async () => ({ pageUrl: undefined }),
  finding: async ({ level }) => ({ outcome: 'verified', level: Math.min(level, simulatedVerifier.highestLevel) }),
};

export const simulatedFindings = adapter({
  code: 'simulated',
  about: 'Believes everybody at once',
  sandboxOnly: 'it verifies everybody',
  settings: {},
  create: () => simulatedVerifier,
});

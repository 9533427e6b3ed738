/**
 * The sandbox's verifier: believes everybody, to the level asked, at once.
 *
 * The level is the only input, so a test that wants another outcome asks for it by what it records, not by a flag here.
 * Production refuses to start with it.
 */
import { adapter } from '../../base/adapter.ts';
import type { Verifier } from '../verifier.ts';

export const simulatedVerifier: Verifier = {
  code: 'simulated',
  highestLevel: 4,
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

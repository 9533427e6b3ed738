/**
 * The sandbox's provider of address risk: the last characters of an address determine its risk, and every other address is low
 * risk.
 *
 * It keeps no state and makes no requests. Production does not start with it.
 */
import { adapter } from '../../../base/adapter.ts';
import { Unavailable } from '../../../base/errors.ts';
import type { AddressRiskProvider, Level } from '../provider.ts';

/** Address suffixes, in any case. They contain no zero, so that a base58 address can have them too. */
export const MAGIC_ENDINGS = [
  { ending: 'bad2', level: 'medium', reason: 'received a part of its funds from a mixer' },
  { ending: 'bad3', level: 'high', reason: 'received most of its funds from a mixer' },
  { ending: 'bad4', level: 'severe', reason: 'belongs to a sanctioned entity' },
  { ending: 'bad5', level: undefined, reason: 'the provider does not answer' },
] as const satisfies readonly { ending: string; level: Level | undefined; reason: string }[];

export const simulatedRisk = adapter({
  code: 'simulated',
  about: 'Reads the risk from the end of the address',
  sandboxOnly: 'it has no real risk data',
  settings: {},
  create: (): AddressRiskProvider => ({
    code: 'simulated',
    rules: '1',
    async assess({ rail, address }) {
      const magic = MAGIC_ENDINGS.find(({ ending }) => address.toLowerCase().endsWith(ending));
      if (magic !== undefined && magic.level === undefined) throw new Unavailable('simulated', 'it does not answer');
      const { level = 'low', reason = '' } = magic ?? {};
      return { level, score: level, reason, answer: Buffer.from(JSON.stringify({ rail, address, level })) };
    },
  }),
});

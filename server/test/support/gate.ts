/** The rules of the gate as in a server, for tests that compose modules without one. */
import type { Vault } from '../../src/base/crypto.ts';
import { screenOwn } from '../../src/compliance/index.ts';
import type { GateRules } from '../../src/orders/index.ts';
import { isSubmittingOff } from '../../src/partners/index.ts';

export const gateRules = (vault: Vault, people = 1): GateRules => ({
  screenOwn: (tx, input) => screenOwn(tx, vault, input),
  isSwitchedOff: isSubmittingOff,
  peopleNeeded: async () => people,
  screeningMaxAgeMs: 86_400_000,
});

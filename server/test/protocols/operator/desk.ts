/** The desk of a bank without an API, on the database of a test that sends nothing through it. */
import { bankActions } from '../../../src/protocols/operator/actions/bank.ts';
import { OPERATOR_API_ACTIONS } from '../../../src/protocols/operator/index.ts';
import { type ManualDesk, openManualDesk, readManualBank } from '../../../src/rails/manual/index.ts';
import type { Fixture } from '../../support/fixture.ts';
import { SETTINGS } from '../../support/statements.ts';

export const idleDesk = (fixture: Pick<Fixture, 'db' | 'vault' | 'clock' | 'log'>): ManualDesk =>
  openManualDesk(readManualBank(JSON.stringify(SETTINGS)), {
    ...fixture,
    report: async () => {},
    gate: async () => ({ outcome: 'pay' }),
  });

/** The actions of an installation with such a desk: their names, paths, rights and people. */
export const ALL_ACTIONS = [...OPERATOR_API_ACTIONS, ...bankActions({} as Parameters<typeof bankActions>[0])];

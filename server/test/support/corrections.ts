/** The desk for corrections where a test has no rails. */
import type { Clock } from '../../src/base/clock.ts';
import { type Corrections, openCorrections } from '../../src/reconcile/index.ts';
import { sweepUndone } from '../../src/treasury/index.ts';

export const noCorrections = (clock: Clock): Corrections => openCorrections({ clock, rails: new Map(), sweepUndone });

/** The target of a number, on a rail that derives its targets. */
import assert from 'node:assert/strict';
import type { Rail } from '../../src/rails/rail.ts';

export function targetOf({ code, targets }: Rail, index: bigint): string {
  assert(targets.are === 'derived', `${code} derives no targets`);
  return targets.of(index);
}

/** The ways out of our wallets beside payouts, read from the source: each stands behind its gate. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
const textOf = (file: string): string => readFileSync(join(SRC, file), 'utf8');

test('a wallet sends for sweeps and for transfers to own addresses only, and those ask their gate before the rail and again in it', () => {
  const senders = globSync('**/*.ts', { cwd: SRC }).filter((file) => /\.sendFrom\(/.test(textOf(file)));
  assert.deepEqual(senders.filter((file) => !file.startsWith('sandbox/')).toSorted(), [
    'treasury/sweeps.ts',
    'treasury/transfers.ts',
  ]);
  const transfers = textOf('treasury/transfers.ts');
  assert.equal(transfers.match(/\.sendFrom\(/g)?.length, 1);
  assert.match(
    transfers,
    /asked\(context, tx, row\)\)\)\.outcome !== 'pay'\) return pauseMs;[\s\S]{0,200}\.sendFrom\(/,
    'a transfer is sent without its gate',
  );
  assert.match(
    textOf('composition/rails.ts'),
    /mayLeave: \(tx, what\) =>\s+what\.key\.startsWith\(TRANSFER_KEY\)\s+\? askTransfer\(/,
    'a transfer is signed without its gate',
  );
});

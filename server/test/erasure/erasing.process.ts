/**
 * A process that erases one customer and kills itself with SIGKILL at a point of the erasure, as a machine that loses its power does.
 *
 * Arguments: database, master key in hex, folder of files, customer, point.
 */
import { openFolder } from '../../src/base/blobs.ts';
import { openVault } from '../../src/base/crypto.ts';
import { openDatabase } from '../../src/base/db.ts';
import { openErasureList } from '../../src/base/erasurelist.ts';
import { requestsErasing } from '../../src/composition/erasing.ts';
import type { Erasing } from '../../src/erasure/index.ts';
import { erase } from '../../src/erasure/index.ts';

const [url = '', key = '', folder = '', customer = '', point = ''] = process.argv.slice(2);
/** Nothing runs after it, not even a `finally`. */
const dieAt = async (here: string): Promise<void> => {
  if (here !== point) return;
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
};

const db = openDatabase(url);
const vault = openVault(Buffer.from(key, 'hex'));
const [blobs, list] = [openFolder(folder), openErasureList(folder)];
let isListed = false;
let removed = 0;
const erasing: Erasing = {
  ...{ vault, backupsKeptDays: 90 },
  db: {
    asSystem: (body) =>
      db.asSystem(async (tx) => {
        const result = await body(tx);
        const row = await tx.row<{ erased: boolean }>(
          'select erased_at is not null as erased from customers where id = $1',
          [customer],
        );
        // Everything is overwritten, and nothing is committed.
        if (row?.erased === true) await dieAt('in the transaction');
        return result;
      }),
  },
  list: {
    ...list,
    async add(id) {
      await dieAt('before the list');
      await list.add(id);
      isListed = true;
      await dieAt('after the list');
    },
  },
  blobs: {
    ...blobs,
    async remove(id) {
      await dieAt(removed === 0 ? 'before the files' : 'between two files');
      await blobs.remove(id);
      removed += 1;
    },
  },
  async eraseRequests(of) {
    const counts = await requestsErasing({ db, vault })(of);
    if (isListed) await dieAt('after the requests');
    return counts;
  },
};
await erase(erasing, customer, new Date());
await dieAt('at the end');

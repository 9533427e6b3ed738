/** `kill -9` in the middle of an erasure: the next start completes it, whatever the point, and touches nobody else. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Blobs, openFolder } from '../../src/base/blobs.ts';
import { type ErasureList, openErasureList } from '../../src/base/erasurelist.ts';
import { requestsErasing } from '../../src/composition/erasing.ts';
import * as customers from '../../src/customers/index.ts';
import { type Erasing, orderErasure, replayErasures } from '../../src/erasure/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { newPhone } from '../support/client.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { jpeg } from '../support/pictures.ts';

const POINTS = [
  ...['before the list', 'after the list', 'after the requests', 'in the transaction'],
  ...['before the files', 'between two files', 'at the end'],
] as const;

let fixture: Fixture;
let folder: string;
let blobs: Blobs;
let list: ErasureList;
let erasing: Erasing;
let partnerId: bigint;

before(async () => {
  fixture = await freshFixture();
  folder = mkdtempSync(join(tmpdir(), 'erasing-'));
  [blobs, list] = [openFolder(folder), openErasureList(folder)];
  const { db, vault, clock } = fixture;
  erasing = { ...{ db, vault, blobs, list, backupsKeptDays: 90 }, eraseRequests: requestsErasing({ db, vault }) };
  partnerId = (await db.asSystem((tx) => createPartner(tx, { name: 'Mine', now: clock.now(), tradeLevel: 1 }))).id;
});
after(async () => {
  await fixture?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

/** A customer with a name and two files. */
async function enrolled(): Promise<{ id: string; files: string[] }> {
  const { db, vault, clock } = fixture;
  const now = clock.now();
  return await db.asPartner(partnerId, async (tx) => {
    const given = { partnerId, clientCustomerId: newPhone(), phone: newPhone(), kind: 'BUSINESS', now } as const;
    const made = await customers.enroll(tx, vault, given);
    await customers.saveDetails(tx, vault, { customer: made, details: { firstName: 'Zebulona' }, now });
    const key = await customers.customerKey(tx, vault, made, now);
    const sent = ['selfie.jpg', 'front.jpg'].map((slot) => {
      const content = jpeg({ more: [[0xfe, Buffer.from(`${slot} of ${made.id}`)]] });
      const sentDigest = createHash('sha256').update(content).digest('hex');
      return { slot, type: 'image/jpeg', content, sentDigest } as const;
    });
    const files = await customers.storeFiles(blobs, vault, { customerId: made.id, key, files: sent });
    const form = await customers.formFor(tx, { kind: 'BUSINESS' }, now);
    const submitted = { answers: { firstName: 'Zebulona' }, files };
    await customers.submit(tx, vault, { customerId: made.id, form, given: submitted, inParts: true, now });
    return { id: made.id, files: files.map(({ id }) => id) };
  });
}

const stateOf = async ({ id, files }: { id: string; files: readonly string[] }) => {
  const row = await fixture.db.asSystem((tx) =>
    tx.row<{ phone: Buffer | null; erasedAt: Date | null; keys: bigint; texts: bigint }>(
      `select phone, erased_at, (select count(*) from customer_keys where customer_id = $1) as keys,
          (select count(*) from customer_details where customer_id = $1 and details is not null and details <> ''::bytea) as texts
        from customers where id = $1`,
      [id],
    ),
  );
  const left = await Promise.all(files.map((file) => blobs.read(file).then(Boolean, () => false)));
  return {
    isErased: row?.erasedAt !== null && row?.phone === null,
    keys: row?.keys,
    texts: row?.texts,
    files: left.filter(Boolean).length,
  };
};
const GONE = { isErased: true, keys: 0n, texts: 0n, files: 0 };

test('killed at any point of an erasure, the next start completes it once, and others keep everything', async () => {
  const other = await enrolled();
  const kept = await stateOf(other);
  assert.deepEqual(kept, { isErased: false, keys: 1n, texts: 1n, files: 2 });
  for (const point of POINTS) {
    const one = await enrolled();
    const now = fixture.clock.now();
    await fixture.db.asSystem((tx) => orderErasure(tx, { customerId: one.id, by: 'ada', now }));
    const key = createHash('sha256').update('a master key for tests').digest('hex');
    const file = join(import.meta.dirname, 'erasing.process.ts');
    const child = spawn(process.execPath, [file, fixture.serverUrl, key, folder, one.id, point], { stdio: 'inherit' });
    const [, signal] = await once(child, 'exit');
    assert.equal(signal, 'SIGKILL', `it was not killed ${point}`);
    const isDone = point === 'at the end';
    if (!isDone) assert.notDeepEqual(await stateOf(one), GONE, `nothing was left to do after a kill ${point}`);
    await replayErasures(erasing, now);
    const { files, ...rows } = await stateOf(one);
    assert.deepEqual({ ...rows, files: 0 }, GONE, point);
    // A file whose row is gone has no key any more; the store deletes it when it purges files without a row.
    if (!['before the files', 'between two files'].includes(point)) assert.equal(files, 0, point);
    assert.ok((await list.all()).includes(one.id), point);
    assert.equal(await replayErasures(erasing, now), 0, `it was erased again after a kill ${point}`);
  }
  assert.deepEqual(await stateOf(other), kept);
});

/** A bucket instead of a folder: a written blob is read, listed by age, and removed; and a missing answer counts as none. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { newBlobId } from '../../src/base/blobs.ts';
import { Unavailable } from '../../src/base/errors.ts';
import { openS3Blobs, openS3List, signed } from '../../src/base/s3.ts';
import { startS3, type TestS3 } from '../support/s3.ts';

// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
describe('the examples that AWS publishes', () => {
  const account = {
    ...{ endpoint: 'https://examplebucket.s3.amazonaws.com', region: 'us-east-1' },
    ...{ accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  };
  const at = new Date('2013-05-24T00:00:00Z');
  const none = Buffer.alloc(0);
  for (const [what, request, signature] of [
    [
      'an object',
      { method: 'GET', path: '/test.txt', body: none, more: { range: 'bytes=0-9' } },
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'an object that is written, with a name to be escaped',
      {
        method: 'PUT',
        path: '/test$file.text',
        body: Buffer.from('Welcome to Amazon S3.'),
        more: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      },
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'a query without a value',
      { method: 'GET', path: '/', query: { lifecycle: '' }, body: none },
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'a listing',
      { method: 'GET', path: '/', query: { prefix: 'J', 'max-keys': '2' }, body: none },
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ] as const)
    test(what, () => {
      const { headers } = signed(account, { ...request, at });
      assert.match(headers.authorization ?? '', new RegExp(`Signature=${signature}$`));
    });
});

describe('a bucket', () => {
  let store: TestS3;
  before(async () => void (store = await startS3()));
  after(() => store?.stop());
  beforeEach(() => void store.objects.clear());
  const blobs = () => openS3Blobs({ ...store.bucket, deadlineMs: 60_000 });
  const list = () => openS3List({ ...store.bucket, deadlineMs: 60_000 });
  async function olderThan(time: Date, notBefore?: Date): Promise<string[]> {
    const found: string[] = [];
    for await (const ids of blobs().olderThan(time, notBefore)) found.push(...ids);
    return found.sort();
  }
  const age = (id: string, hours: number) => {
    const object = store.objects.get(`a shop/blobs/${id}`);
    assert.ok(object !== undefined);
    object.at = new Date(Date.now() - hours * 3_600_000);
  };

  test('has the written object under its prefix, and none under another id', async () => {
    const [id, bytes] = [newBlobId(), Buffer.from([0, 255, 10, 13, 0])];
    await blobs().write(id, bytes);
    assert.deepEqual(await blobs().read(id), bytes);
    assert.deepEqual([...store.objects.keys()], [`a shop/blobs/${id}`]);
    assert.equal(await blobs().read(newBlobId()), undefined);
    await blobs().remove(id);
    await blobs().remove(id);
    assert.equal(await blobs().read(id), undefined);
    await assert.rejects(blobs().write('../other', bytes));
  });

  test('lists objects in a time range, over all pages, and no others', async () => {
    const ids = Array.from({ length: 7 }, newBlobId).sort();
    for (const id of ids) await blobs().write(id, Buffer.from('x'));
    ids.forEach((id, at) => age(id, at + 1));
    for (const stranger of ['b shop/blobs/x', 'a shop/blobs/not-ours', 'a shop/erased/x'])
      store.objects.set(stranger, { body: Buffer.alloc(0), at: new Date(0) });
    store.pageSize = 2;
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    assert.deepEqual(await olderThan(hoursAgo(3.5)), ids.slice(3));
    assert.deepEqual(await olderThan(hoursAgo(3.5), hoursAgo(5.5)), ids.slice(3, 5));
    store.pageSize = 1_000;
  });

  test('keeps the erasure list, each id once, for every server', async () => {
    const ids = ['Ab3dEf9hIj_17', 'Zb3dEf9hIj_18'];
    await Promise.all([...ids, ...ids].map((id) => list().add(id)));
    await blobs().write(newBlobId(), Buffer.from('x'));
    assert.deepEqual((await list().all()).sort(), ids);
    await assert.rejects(list().add('someone else'));
  });

  test('that is missing, refuses, is silent or answers nonsense is Unavailable, and never reports a file as deleted', async () => {
    const id = newBlobId();
    const trials: readonly [string, () => Promise<unknown>][] = [
      ['no bucket', () => openS3Blobs({ ...store.bucket, bucket: 'gone' }).read(id)],
      ['another key', () => openS3Blobs({ ...store.bucket, secretKey: 'wrong' }).read(id)],
      ['an old signature', () => openS3Blobs({ ...store.bucket, realNow: () => new Date(0) }).read(id)],
      ['nobody there', () => openS3Blobs({ ...store.bucket, endpoint: 'http://127.0.0.1:1' }).read(id)],
    ];
    for (const [what, trial] of trials)
      await assert.rejects(trial(), (error) => error instanceof Unavailable && !error.message.includes('wrong'), what);
    const page = (inside: string) => `<ListBucketResult>${inside}</ListBucketResult>`;
    for (const body of [
      '',
      'no XML',
      page(''),
      page('<IsTruncated>true</IsTruncated>'),
      page('<IsTruncated>false</IsTruncated><Contents><Key>a shop/blobs/x</Key></Contents>'),
      page('<IsTruncated>false</IsTruncated>').slice(0, -3),
      `<!DOCTYPE x>${page('<IsTruncated>false</IsTruncated>')}`,
    ]) {
      store.instead.push({ status: 200, body });
      await assert.rejects(olderThan(new Date()), Unavailable, body);
    }
    store.instead.push({ status: 500, body: '' });
    await assert.rejects(blobs().write(id, Buffer.from('x')), Unavailable);
    store.how = 'dark';
    await assert.rejects(openS3Blobs({ ...store.bucket, deadlineMs: 100 }).read(id), Unavailable);
    store.how = 'right';
  });
});

/** Files of customers over the API: accepted in their slots, encrypted on disk, bounded, and kept apart by customer. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openFolder } from '../../../src/base/blobs.ts';
import { openFile, sweepFiles } from '../../../src/customers/index.ts';
import { type Answer, ask, newPhone, sign } from '../../support/client.ts';
import { jpeg, lookOf, pdf, png } from '../../support/pictures.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

const LIMITS = { fileBytes: 100_000, files: 4, bytes: 250_000, ms: 1_500 };
const BOUNDARY = 'a-boundary';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const END = Buffer.from(`--${BOUNDARY}--\r\n`);

let world: Environment;
let acme: TestPartner;
let other: TestPartner;
before(async () => {
  world = await wireEnvironment({ uploadLimits: LIMITS });
  acme = await world.partner('acme');
  other = await world.partner('other');
});
after(async () => await world?.stop());

let count = 0;
async function customer(type: 'INDIVIDUAL' | 'BUSINESS', client = acme): Promise<string> {
  const asked = { clientCustomerId: `files-${(count += 1)}`, phoneNumber: newPhone(), type };
  return (await client.post('kyc/url', asked)).body.data.customerId;
}

const field = (name: string, value: string): Buffer =>
  Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
const file = (name: string, content: Buffer, filename = 'scan.jpg'): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\ncontent-type: image/jpeg\r\n\r\n`,
    ),
    content,
    Buffer.from('\r\n'),
  ]);

const send = (
  path: string,
  signed: Record<string, unknown>,
  parts: Buffer[],
  client = acme,
  type = TYPE,
): Promise<Answer> =>
  ask(world.baseUrl, path, {
    method: 'POST',
    headers: { ...sign(client, signed).headers, 'content-type': type },
    body: Buffer.concat(parts),
  });
const upload = (customerId: string, ...files: Buffer[]): Promise<Answer> =>
  send('kyb/files', { customerId }, [field('customerId', customerId), ...files, END]);

const onDisk = (): string[] =>
  readdirSync(world.blobFolder, { recursive: true, encoding: 'utf8' }).filter((name) => /[0-9a-f]{32}/.test(name));
const PASSPORT = ['passportFront.jpg', 'passportBack.jpg', 'selfie.jpg'];

describe('a business', () => {
  test('sends its files; a begun document must be completed, and each file is stored encrypted under a name of ours', async () => {
    const customerId = await customer('BUSINESS');
    const secret = Buffer.from('Quillonia Zebrafell');
    const picture = jpeg({ more: [[0xfe, secret]] });
    const first = await upload(customerId, file('passportFront.jpg', picture, 'Quillonia Zebrafell.jpg'));
    assert.equal(first.status, 200, first.text);
    const { submissionId, status, reasons } = first.body.data;
    assert.equal(status, 'UPDATE_REQUIRED');
    assert.deepEqual(
      [reasons['passportBack.jpg'], reasons['selfie.jpg'], reasons['passportFront.jpg']],
      ['is missing', 'is missing', undefined],
    );
    // The slot is given by the name of the part without its extension, or by the file name.
    const more = await upload(customerId, file('passportBack', png()), file('files', pdf(), 'selfie.jpg'));
    assert.deepEqual(
      [more.body.data.submissionId, Object.keys(more.body.data.reasons).filter((name) => /\./.test(name))],
      [submissionId, []],
    );

    const rows = await world.query(
      'select id, slot, type, bytes from submission_files where customer_id = $1 order by slot',
      [customerId],
    );
    assert.deepEqual(
      rows.map(({ slot, type }) => [slot, type]),
      [
        ['passportBack.jpg', 'image/png'],
        ['passportFront.jpg', 'image/jpeg'],
        ['selfie.jpg', 'application/pdf'],
      ],
    );
    for (const name of onDisk()) {
      assert.match(name, /^[0-9a-f]{2}\/[0-9a-f]{32}$/);
      const bytes = readFileSync(join(world.blobFolder, name));
      for (const clear of [secret, Buffer.from('JFIF'), Buffer.from('IHDR'), Buffer.from('%PDF')])
        assert.ok(!bytes.includes(clear));
    }
    // A program that sends the same file again is recognised, however this version encodes it.
    const [kept] = await world.query('select digest from submission_files where slot = $1 and customer_id = $2', [
      'passportFront.jpg',
      customerId,
    ]);
    const sentDigest = createHash('sha256').update(picture).digest('hex');
    assert.deepEqual(kept?.digest, world.vault.index(sentDigest, `submission_files:${customerId}`));
    const all = await world.query('select f::text as row from submission_files f');
    assert.doesNotMatch(JSON.stringify(all), /Quillonia|scan\.jpg/);
    const blobs = openFolder(world.blobFolder);
    const id = rows[1]?.id as string;
    const opened = await openFile({ ...world, blobs }, { customerId, id });
    assert.equal(opened?.type, 'image/jpeg');
    const content = opened?.content ?? Buffer.alloc(0);
    assert.equal(await lookOf(content), 'jpeg 32x16');
    assert.ok(!content.includes(secret), 'what was written beside the picture was stored');
    assert.equal(await openFile({ ...world, blobs }, { customerId: acme.customerId, id }), undefined);
  });

  test('a file sent again replaces the one before', async () => {
    const customerId = await customer('BUSINESS');
    await upload(customerId, file('selfie.jpg', jpeg()));
    await upload(customerId, file('selfie.jpg', png()));
    const rows = await world.query(
      'select type, replaced_at is null as now from submission_files where customer_id = $1 order by created_at, type',
      [customerId],
    );
    assert.deepEqual(rows, [
      { type: 'image/jpeg', now: false },
      { type: 'image/png', now: true },
    ]);
  });

  test('two concurrent uploads are both stored, in one submission', async () => {
    const customerId = await customer('BUSINESS');
    const both = await Promise.all(PASSPORT.slice(0, 2).map((name) => upload(customerId, file(name, jpeg()))));
    assert.deepEqual(
      both.map(({ status }) => status),
      [200, 200],
      both.map(({ text }) => text).join(),
    );
    assert.equal(new Set(both.map(({ body }) => body.data.submissionId)).size, 1);
  });

  test('the same signed texts with other files are another request; with the same files they are the same one', async () => {
    const customerId = await customer('BUSINESS');
    const { headers } = sign(acme, { customerId });
    const once = (content: Buffer) =>
      ask(world.baseUrl, 'kyb/files', {
        method: 'POST',
        headers: { ...headers, 'content-type': TYPE },
        body: Buffer.concat([field('customerId', customerId), file('selfie.jpg', content), END]),
      });
    const [first, again, another] = [await once(jpeg()), await once(jpeg()), await once(png())];
    assert.deepEqual(again.body, first.body);
    assert.equal(another.status, 200, another.text);
    const rows = await world.query(
      'select type from submission_files where customer_id = $1 order by created_at, type',
      [customerId],
    );
    assert.deepEqual(rows.map(({ type }) => type).toSorted(), ['image/jpeg', 'image/png']);
  });

  test('another partner’s customer is 404, and so is a submission of another customer; nothing is kept', async () => {
    const [customerId, second] = [await customer('BUSINESS'), await customer('BUSINESS')];
    const parts = [field('customerId', customerId), file('selfie.jpg', jpeg()), END];
    const before = onDisk().length;
    assert.equal((await send('kyb/files', { customerId }, parts, other)).body.reason, 'unknown_customer');
    assert.equal(onDisk().length, before);
    const { submissionId } = (await upload(customerId, file('selfie.jpg', jpeg()))).body.data;
    const mixed = [field('customerId', second), field('submissionId', submissionId), file('selfie.jpg', jpeg()), END];
    assert.equal(
      (await send('kyb/files', { customerId: second, submissionId }, mixed)).body.reason,
      'unknown_submission',
    );
    assert.equal((await world.query('select 1 from submission_files where customer_id = $1', [second])).length, 0);
  });
});

test('a person sends answers and files in one request', async () => {
  const customerId = await customer('INDIVIDUAL');
  const texts = {
    ...{ customerId, fiatType: '1', identityNumber: 'ABCDE1234F' },
    details: JSON.stringify({ firstName: 'Asha', lastName: 'Rao', dob: '1990-01-31' }),
    address: JSON.stringify({ addressLine1: '1 Main Road', city: 'Pune', postalCode: '411001' }),
  };
  const fields = Object.entries(texts).map(([name, value]) => field(name, value));
  const half = await send('kyc/submit', texts, [...fields, file('passportFront.jpg', jpeg()), END]);
  assert.deepEqual([half.status, Object.keys(half.body.fields)], [400, ['passportBack.jpg', 'selfie.jpg']]);
  const whole = await send('kyc/submit', texts, [...fields, ...PASSPORT.map((name) => file(name, jpeg())), END]);
  assert.equal(whole.body.data?.status, 'IN_REVIEW', whole.text);
});

describe('refused', () => {
  test('a file that is no picture, by its slot; a name without a slot, without repeating it; and nothing is stored', async () => {
    const customerId = await customer('BUSINESS');
    const before = onDisk().length;
    const wrong = await upload(
      customerId,
      file('selfie.jpg', Buffer.from('<html><script>alert(1)</script></html>')),
      file('passportFront.jpg', jpeg()),
    );
    assert.deepEqual([wrong.status, wrong.body.fields], [400, { 'selfie.jpg': 'must be a JPEG, PNG, WEBP or PDF' }]);
    const names = [
      '../../../etc/passwd',
      '..\\..\\boot.ini',
      'C:\\x.jpg',
      '/etc/shadow',
      'selfie.jpg\0.exe',
      'selfie.jpg/../x',
      '<script>alert(1)</script>',
      "'; drop table x",
      'CON',
      '%2e%2e%2fx',
      '\u202egpj.exe',
      'Selfie.JPG',
      '__proto__',
      '${jndi:ldap://x}',
      '.',
      '..',
      ' ',
    ];
    for (const name of names) {
      const answer = await upload(customerId, file('file', jpeg(), name.replaceAll('"', '')));
      assert.equal(answer.status, 400, `${name}: ${answer.text}`);
      if (name.length > 3) assert.ok(!answer.text.includes(JSON.stringify(name).slice(1, -1)), answer.text);
    }
    assert.equal(onDisk().length, before);
    assert.equal((await world.query('select 1 from submissions where customer_id = $1', [customerId])).length, 0);
  });

  test('too large a file, too much in all, too many files and parts', async () => {
    const customerId = await customer('BUSINESS');
    const large = (bytes: number) =>
      jpeg({ more: [[0xfe, Buffer.alloc(60_000)]] }).subarray(0, 0).length === 0 && Buffer.alloc(bytes, 1);
    const one = await upload(customerId, file('selfie.jpg', large(100_001) as Buffer));
    assert.deepEqual([one.status, one.body.reason], [413, 'body_too_large']);
    const all = await upload(customerId, ...PASSPORT.map((name) => file(name, large(90_000) as Buffer)));
    assert.deepEqual([all.status, all.body.reason], [413, 'body_too_large']);
    const many = await upload(customerId, ...Array.from({ length: 5 }, () => file('selfie.jpg', jpeg())));
    assert.match(many.body.error, /more than 4 files/);
    const parts = Array.from({ length: 101 }, (_, n) => field(`f${n}`, 'x'));
    assert.match((await send('kyb/files', { customerId }, [...parts, END])).body.error, /more than 100 parts/);
    const long = await send('kyb/files', { customerId }, [
      field('customerId', customerId),
      field('more', 'x'.repeat(70_000)),
      END,
    ]);
    assert.match(long.body.error, /too long/);
  });

  test('a wrong boundary, a body that is cut off, none at all, and one without files', async () => {
    const customerId = await customer('BUSINESS');
    const parts = [field('customerId', customerId), file('selfie.jpg', jpeg())];
    const wrong = await send('kyb/files', { customerId }, [...parts, END], acme, 'multipart/form-data; boundary=other');
    assert.deepEqual([wrong.status, wrong.body.reason], [400, 'malformed_body']);
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary='])
      assert.equal((await send('kyb/files', { customerId }, [...parts, END], acme, type)).status, 400, type);
    assert.equal(
      (await send('kyb/files', { customerId }, parts)).body.reason,
      'malformed_body',
      'a body without its end was accepted',
    );
    assert.equal((await send('kyb/files', { customerId }, [END])).status, 400);
    const none = await send('kyb/files', { customerId }, [field('customerId', customerId), END]);
    assert.deepEqual([none.body.reason, Object.keys(none.body.fields)], ['missing_fields', ['files']]);
    assert.equal((await acme.post('kyb/files', { customerId })).body.reason, 'missing_fields', 'as JSON');
  });

  test('texts that were signed and differ are a 401, and so is a wrong signature; files are not signed', async () => {
    const customerId = await customer('BUSINESS');
    const parts = [field('customerId', customerId), file('selfie.jpg', jpeg()), END];
    assert.equal((await send('kyb/files', { customerId: 'another' }, parts)).status, 401);
    assert.equal((await send('kyb/files', { customerId, submissionId: '1' }, parts)).status, 401);
    const headers = { ...sign(acme, { customerId }).headers, 'content-type': TYPE, signature: '0'.repeat(128) };
    const unsigned = await ask(world.baseUrl, 'kyb/files', { method: 'POST', headers, body: Buffer.concat(parts) });
    assert.equal(unsigned.status, 401);
    const more = [field('note', 'unsigned'), ...parts];
    assert.equal((await send('kyb/files', { customerId }, more)).status, 200);
  });

  test('one that arrives too slowly ends in time, and does not delay others', async () => {
    const customerId = await customer('BUSINESS');
    const url = new URL('/onramp/api/v2/whiteLabel/kyb/files', world.baseUrl);
    const headers = { ...sign(acme, { customerId }).headers, 'content-type': TYPE };
    const slow = request(url, { method: 'POST', headers });
    const answered = new Promise<number>((done, failed) => {
      slow.on('response', (response) => done(response.statusCode ?? 0));
      slow.on('error', failed);
    });
    slow.write(field('customerId', customerId));
    assert.equal((await upload(customerId, file('selfie.jpg', jpeg()))).status, 200);
    assert.equal(await answered, 400);
    slow.destroy();
  });
});

test('files without a row are swept after an hour, and others stay', async () => {
  const blobs = openFolder(world.blobFolder);
  const customerId = await customer('BUSINESS');
  await upload(customerId, file('selfie.jpg', jpeg()));
  const orphan = '0'.repeat(32);
  await blobs.write(orphan, Buffer.from('x'));
  assert.equal(await sweepFiles(world.db, blobs, new Date()), 0);
  assert.ok((await sweepFiles(world.db, blobs, new Date(Date.now() + 3_700_000))) >= 1);
  const known = await world.query('select id from submission_files order by id');
  assert.deepEqual(
    onDisk()
      .map((name) => name.slice(3))
      .toSorted(),
    known.map(({ id }) => id),
    'rows and files do not match',
  );
});

/**
 * Hostile files over HTTP: both wires refuse each by the name of its slot, store nothing of it, and answer the next request. The
 * check itself is tested without a server (server/test/customers/inspect.test.ts).
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { inspect } from '../../src/customers/index.ts';
import { type V1Environment, v1Environment } from '../protocols/v1/environment.ts';
import { ask, newPhone, openClient, sign } from '../support/client.ts';
import { HOSTILE, stream } from '../support/hostilefiles.ts';
import { ordinaryPdfs } from '../support/pdfs.ts';
import { jpeg, pdf, png } from '../support/pictures.ts';

const SLOT = 'selfie.jpg';

let w: V1Environment;
let customerId = '';
/** Its files under /v1. */
let path = '';
before(async () => {
  w = await v1Environment();
  const asked = { reference: randomUUID(), kind: 'individual', phone: newPhone() };
  customerId = (await w.api.does('POST', '/customers', asked)).id;
  const { id } = await w.api.does('POST', `/customers/${customerId}/submissions`, { asset: 'inr' });
  path = `/customers/${customerId}/submissions/${id}/files`;
});
after(async () => await w?.s.close());

/** Sends a file to `kyc/submitFiles`, in the slot, under a file name that is no slot. */
function toWire(content: Buffer, name = 'scan.pdf') {
  const client = openClient(w.s.server.baseUrl, w.keys);
  const form = new FormData();
  form.set('customerId', customerId);
  form.set(SLOT, new Blob([Uint8Array.from(content)]), name);
  const { 'content-type': _, ...headers } = sign(client, { customerId }).headers;
  return ask(w.s.server.baseUrl, 'kyc/submitFiles', { method: 'POST', headers, body: form });
}
const toV1 = (content: Buffer) => w.api.upload(path, { [SLOT]: content });

/** Files in the store, and their rows. */
async function stored(): Promise<[files: number, rows: number]> {
  const folder = join(w.s.dataDir, 'documents');
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const row = await w.s.read((tx) => tx.row<{ n: bigint }>('select count(*) as n from submission_files'));
  return [names.filter((name) => /[0-9a-f]{32}$/.test(name)).length, Number(row?.n)];
}

/** Their structure is that of a picture, so only the process that decodes pictures refuses them. */
const UNDECODABLE = {
  'a JPEG whose tables are none': Buffer.from(
    jpeg().map((byte, at, all) => (all[at - 4] === 0xff && all[at - 3] === 0xc4 ? 0x33 : byte)),
  ),
  'a PNG whose picture is shorter than it says': png({ width: 9_000, height: 5_000 }),
};

describe('a hostile file', () => {
  // A browser leaves an empty file out.
  for (const [what, [content, why]] of Object.entries(HOSTILE))
    test(`is refused by both wires: ${what}`, async () => {
      const before = await stored();
      const wire = await toWire(content);
      assert.deepEqual(
        [wire.status, wire.body.code, Object.keys(wire.body.fields ?? {})],
        [400, 400, [SLOT]],
        wire.text,
      );
      assert.match(wire.body.fields[SLOT], why);
      const v1 = await toV1(content);
      assert.deepEqual(
        [v1.status, v1.body.reason, Object.keys(v1.body.fields ?? {})],
        [400, 'malformed_field', [SLOT]],
      );
      assert.equal(v1.body.fields[SLOT], wire.body.fields[SLOT], 'the wires give two reasons');
      assert.deepEqual(await stored(), before, 'something of it is stored');
    });

  for (const [what, content] of Object.entries(UNDECODABLE))
    test(`that only a decoder finds out is refused by both wires: ${what}`, async () => {
      const before = await stored();
      assert.ok('type' in inspect(content));
      for (const { status, body } of [await toWire(content), await toV1(content)]) {
        assert.equal(status, 400, JSON.stringify(body));
        assert.match(body.fields[SLOT], /JPEG, PNG, WEBP or PDF/);
      }
      assert.deepEqual(await stored(), before);
    });

  test('is refused under any name and declared type, and beside a good one nothing is taken', async () => {
    const before = await stored();
    const hostile = HOSTILE['a PDF that runs a script']?.[0] ?? Buffer.alloc(0);
    for (const name of ['selfie.jpg', '../../selfie.jpg', 'selfie.jpg\u0000.pdf', '"><script>.png'])
      assert.equal((await toWire(hostile, name)).status, 400, name);
    const both = await w.api.upload(path, { 'passportFront.jpg': jpeg(), [SLOT]: hostile });
    assert.deepEqual([both.status, Object.keys(both.body.fields)], [400, [SLOT]]);
    assert.deepEqual(await stored(), before);
  });

  test('of the largest size, made to be read slowly, is refused, and others are answered', async () => {
    for (const part of ['1 0 obj<</S/URI>>', '/#41', '/S/S', '1 0 obj<</A(']) {
      const content = pdf(part.repeat(Math.floor(5_000_000 / part.length)));
      const [slow, status] = await Promise.all([toV1(content), w.api.get(`/customers/${customerId}`)]);
      assert.deepEqual([slow.status, status.status], [400, 200], part);
    }
    const inside = pdf(stream('/Length 9', '1 0 obj<<>>'.repeat(400_000)));
    assert.equal((await toWire(inside)).status, 400);
  });
});

test('ordinary files are taken by both wires after all of them', async () => {
  const [files, rows] = await stored();
  const good = [jpeg(), png(), ...Object.values(ordinaryPdfs())];
  for (const [at, content] of good.entries()) {
    const { status, text } = at % 2 === 0 ? await toWire(content) : await toV1(content);
    assert.equal(status, 200, text);
  }
  assert.deepEqual(await stored(), [files + good.length, rows + good.length]);
});

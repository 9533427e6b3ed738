/**
 * Files attached to cases: stored encrypted, handed out with a line in the audit each time, removed by two people; hostile files and
 * bodies are refused and leave nothing behind.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openFolder } from '../../../src/base/blobs.ts';
import { closeCases, MAX_ATTACHMENTS, openCase } from '../../../src/compliance/index.ts';
import { sweepFiles } from '../../../src/customers/index.ts';
import type { Came } from '../../support/client.ts';
import { assertDeclaredOperator } from '../../support/declared.operator.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { jpeg, pdf, png } from '../../support/pictures.ts';
import { operatorTypes } from '../../support/terminal.ts';
import { type Environment, wireEnvironment } from '../whitelabel/environment.ts';
import { operatorNamed, type Person } from './people.ts';

const folder = mkdtempSync(join(tmpdir(), 'attachments-'));
let world: Environment;
let ada: Person;
let bea: Person;
let nia: Person;
let vic: Person;
before(async () => {
  world = await wireEnvironment({
    beside: (fixture) => operatorApi(fixture, { blobs: openFolder(fixture.blobFolder) }),
  });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  nia = await operatorNamed(world, 'nia', 'night');
  vic = await operatorNamed(world, 'vic', 'viewer');
});
after(async () => {
  await world?.stop();
  rmSync(folder, { recursive: true });
});

let cases = 0;
async function opened(subject = `payout:pay_1_${++cases}`): Promise<string> {
  const { db, clock } = world;
  await db.asSystem((tx) =>
    openCase(tx, { kind: 'payout_contradiction', subject, reason: 'a test', now: clock.now() }),
  );
  const [row] = await world.query('select id from cases where subject = $1 and closed_at is null', [subject]);
  return String(row?.id);
}

interface Sent {
  content?: Buffer;
  label?: string;
  reason?: string;
  more?: Readonly<Record<string, string>>;
  name?: string;
}
async function attach(person: Person, id: string, { content, label, reason, more, name }: Sent = {}) {
  const form = new FormData();
  form.set('label', label ?? 'letter of the bank');
  form.set('reason', reason ?? 'it came by mail');
  for (const [key, value] of Object.entries(more ?? {})) form.set(key, value);
  if (content !== undefined) form.set('file', new Blob([new Uint8Array(content)]), name ?? 'x');
  return await posts(person, id, { body: form });
}
async function posts(person: Person, id: string, init: RequestInit) {
  const path = `/cases/${id}/attachments`;
  const reply = await fetch(`${world.baseUrl}/operator/v1${path}`, {
    method: 'POST',
    ...init,
    headers: { authorization: `Bearer ${person.token}`, ...(init.headers as Record<string, string>) },
  });
  const body: Came = await reply.json();
  assertDeclaredOperator({ method: 'POST', path }, reply.status, body);
  return { status: reply.status, body };
}
async function saves(person: Person, id: string, attachment: string) {
  const reply = await fetch(`${world.baseUrl}/operator/v1/cases/${id}/attachments/${attachment}/open`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ reason: 'to compare it' }),
  });
  return { status: reply.status, headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) };
}
const stored = (): string[] =>
  readdirSync(world.blobFolder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^..\/[0-9a-f]{32}$/.test(name),
  );
const rows = (id: string) =>
  world.query('select * from case_attachments where case_id = $1 order by attached_at, id', [id]);

const TEXT = Buffer.from('Dear Ms Quagmire,\r\nyour transfer of 31 January came back.\n');

test('each kind of file is attached, listed with its case, and handed out byte by byte with a line in the audit', async () => {
  const id = await opened();
  for (const [type, ending, content] of [
    ['image/jpeg', 'jpg', jpeg()],
    ['image/png', 'png', png()],
    ['application/pdf', 'pdf', pdf()],
    ['text/plain', 'txt', TEXT],
  ] as const) {
    const said = await attach(nia, id, { content, label: `a ${ending}`, name: `Quagmire.${ending}` });
    assert.equal(said.status, 200, JSON.stringify(said.body));
    const { attachment } = said.body;
    const got = await saves(ada, id, attachment);
    assert.equal(got.status, 200);
    assert.ok(got.bytes.equals(content));
    assert.deepEqual(
      ['content-type', 'content-disposition', 'x-content-sha256', 'cache-control'].map((name) => got.headers.get(name)),
      [
        type,
        `attachment; filename="case-${id}-${attachment.slice(0, 8)}.${ending}"`,
        createHash('sha256').update(content).digest('hex'),
        'no-store',
      ],
    );
  }
  const { attachments, actions } = (await ada.reads(`/cases/${id}`)).body;
  assert.deepEqual(
    attachments.map((one: Record<string, unknown>) => [one.label, one.type, one.attachedBy, one.removedAt]),
    [
      ['a jpg', 'image/jpeg', 'nia', null],
      ['a png', 'image/png', 'nia', null],
      ['a pdf', 'application/pdf', 'nia', null],
      ['a txt', 'text/plain', 'nia', null],
    ],
  );
  assert.match(actions[0].note, /^attached a jpg \([0-9a-f]{32}\)$/);
  const { audit } = (await ada.reads(`/audit?subject=case:${id}`)).body;
  const audited = audit.map(({ action, operator }: Record<string, unknown>) => `${action} ${operator}`).toSorted();
  assert.deepEqual(audited, [...Array(4).fill('case.attach nia'), ...Array(4).fill('case.attachment ada')].toSorted());
  // Neither file names nor contents are anywhere in clear.
  const kept = JSON.stringify(
    [await rows(id), await world.query('select * from audit'), await world.query('select * from case_actions')],
    (_, value) => (typeof value === 'bigint' ? String(value) : value),
  );
  assert.doesNotMatch(kept, /Quagmire|a txt|a pdf/);
  for (const name of stored()) {
    const bytes = readFileSync(join(world.blobFolder, name));
    assert.doesNotMatch(bytes.toString('latin1'), /Quagmire|%PDF|JFIF|PNG/);
    assert.equal(statSync(join(world.blobFolder, name)).mode & 0o077, 0);
  }
});

test('a hostile file is refused with the rule that it breaks, and leaves neither a file nor a row', async () => {
  const id = await opened();
  const before = stored().length;
  const hostile: Readonly<Record<string, Buffer>> = {
    'a page named as a picture': Buffer.from('<html><script>alert(1)</script></html>'),
    'an SVG': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
    'a script in a comment of a picture': jpeg({ more: [[0xfe, Buffer.from('<script>alert(1)</script>')]] }),
    'a picture with an archive behind its end': Buffer.concat([jpeg(), Buffer.from('PK\u0003\u0004')]),
    'a picture of gigabytes': png({ width: 60_000, height: 60_000 }),
    'a PDF that acts': pdf('/OpenAction << /S /JavaScript /JS (app.alert(1)) >>'),
    'an archive': Buffer.from('PK\u0003\u0004 and so on, and so on'),
    'a program': Buffer.from('\u007fELF\u0002\u0001\u0001\u0000\u0000\u0000\u0000\u0000'),
    'text with a control character': Buffer.from('paid\u001b[2J'),
    'text that reorders what is shown': Buffer.from('invoice\u202egpj.exe'),
    'text in another encoding': Buffer.from([0x66, 0xfc, 0x72, 0x20, 0x66, 0xfc, 0x72]),
    'a PDF inside a text': Buffer.from(`a letter\n${pdf().toString('latin1')}`),
    'white space': Buffer.from(' \n'),
    nothing: Buffer.alloc(0),
  };
  for (const [what, content] of Object.entries(hostile)) {
    const { status, body } = await attach(ada, id, { content });
    assert.deepEqual([status, body.reason, Object.keys(body.fields ?? {})], [400, 'malformed_field', ['file']], what);
  }
  assert.deepEqual([(await rows(id)).length, stored().length], [0, before]);
});

test('a body that is no form, lacks its file, has two, or is too large is refused', async () => {
  const id = await opened();
  const before = stored().length;
  const reasonOf = async (said: Promise<{ status: number; body: { reason: string } }>) => {
    const { status, body } = await said;
    return [status, body.reason];
  };
  const headers = { 'content-type': 'application/json' };
  assert.deepEqual(await reasonOf(posts(ada, id, { headers, body: '{"label":"x"}' })), [400, 'malformed_body']);
  assert.deepEqual(await reasonOf(attach(ada, id)), [400, 'missing_fields']);
  assert.deepEqual(await reasonOf(attach(ada, id, { content: jpeg(), more: { owner: 'x' } })), [
    400,
    'malformed_field',
  ]);
  assert.deepEqual(await reasonOf(attach(ada, id, { content: jpeg(), more: { case: '1' } })), [400, 'malformed_field']);
  assert.deepEqual(await reasonOf(attach(ada, id, { content: jpeg(), reason: 'x' })), [400, 'malformed_field']);
  const large = Buffer.alloc(5 * 1_048_576 + 1, 'a');
  assert.deepEqual(await reasonOf(attach(ada, id, { content: large })), [413, 'body_too_large']);
  const two = new FormData();
  for (const [name, value] of [
    ['label', 'x'],
    ['reason', 'a test'],
  ] as const)
    two.set(name, value);
  for (const name of ['file', 'other']) two.set(name, new Blob([new Uint8Array(jpeg())]), name);
  assert.deepEqual(await reasonOf(posts(ada, id, { body: two })), [400, 'malformed_body']);
  assert.deepEqual([(await rows(id)).length, stored().length], [0, before]);
});

test('rights: a viewer attaches nothing, the night desk reads nothing, and a case has only its own files', async () => {
  const [id, other] = [await opened(), await opened()];
  assert.equal((await attach(vic, id, { content: TEXT })).status, 403);
  const { attachment } = (await attach(nia, id, { content: TEXT })).body;
  assert.equal((await saves(nia, id, attachment)).status, 403);
  assert.equal((await saves(ada, other, attachment)).status, 404);
  assert.equal((await saves(ada, id, '0'.repeat(32))).status, 404);
  assert.equal((await ada.does(`/cases/${other}/attachments/${attachment}/remove`)).body.reason, 'unknown_attachment');
});

test('only an open case takes a file, and at most twenty, also when they come at once', async () => {
  const id = await opened('payout:pay_9_9');
  const sent = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const all = [];
      for (let n = 0; n < 6; n += 1) all.push((await attach(ada, id, { content: TEXT })).status);
      return all;
    }),
  );
  assert.equal(sent.flat().filter((status) => status === 200).length, MAX_ATTACHMENTS);
  assert.equal((await attach(ada, id, { content: TEXT })).body.reason, 'too_many_attachments');
  assert.equal((await rows(id)).length, MAX_ATTACHMENTS);
  const closed = await opened('payout:pay_9_8');
  await world.db.asSystem((tx) =>
    closeCases(tx, { subject: 'payout:pay_9_8', outcome: 'over', now: world.clock.now() }),
  );
  const before = stored().length;
  assert.equal((await attach(ada, closed, { content: TEXT })).body.reason, 'unknown_case');
  assert.equal((await attach(ada, '999999', { content: TEXT })).body.reason, 'unknown_case');
  assert.equal(stored().length, before, 'a declined file stays in the store');
});

test('two people remove a file: its key is gone at once, the sweep deletes it, and its line stays', async () => {
  const id = await opened();
  const [gone, stays] = [
    (await attach(ada, id, { content: TEXT })).body.attachment,
    (await attach(ada, id, { content: jpeg() })).body.attachment,
  ];
  const path = `/cases/${id}/attachments/${gone}/remove`;
  const said = await ada.does(path);
  assert.equal(said.status, 202);
  assert.equal((await ada.does(`/proposals/${said.body.proposal}/confirm`)).body.reason, 'own_proposal');
  assert.equal((await saves(ada, id, gone)).status, 200);
  assert.equal((await bea.does(`/proposals/${said.body.proposal}/confirm`)).status, 200);
  assert.equal((await saves(ada, id, gone)).status, 404);
  assert.equal((await ada.does(path)).body.reason, 'unknown_attachment');
  const [row] = await world.query('select wrapped from case_attachments where id = $1', [gone]);
  assert.deepEqual(row?.wrapped, Buffer.alloc(0));
  await sweepFiles(world.db, openFolder(world.blobFolder), new Date(Date.now() + 3_700_000));
  const names = stored().map((name) => name.slice(3));
  assert.deepEqual([names.includes(gone), names.includes(stays)], [false, true]);
  assert.equal((await saves(ada, id, stays)).status, 200);
  const { attachments } = (await ada.reads(`/cases/${id}`)).body;
  assert.deepEqual(
    attachments.map((one: { removedAt: string | null }) => one.removedAt !== null),
    [true, false],
  );
});

test('while its customer is under a legal hold, no file of a case is removed, not even by an older proposal', async () => {
  const shop = await world.partner('Shop');
  const { customerId } = shop;
  const id = await opened(`customer:${customerId}`);
  const { attachment } = (await attach(ada, id, { content: TEXT })).body;
  const said = await ada.does(`/cases/${id}/attachments/${attachment}/remove`);
  assert.equal(said.status, 202);
  assert.equal((await ada.does(`/customers/${customerId}/legal-hold`)).status, 200);
  assert.equal((await bea.does(`/proposals/${said.body.proposal}/confirm`)).body.reason, 'erasure_refused');
  assert.equal((await ada.does(`/cases/${id}/attachments/${attachment}/remove`)).body.reason, 'erasure_refused');
  assert.equal((await saves(ada, id, attachment)).status, 200);
});

test('at a terminal a file is attached, its case lists it, and it is saved for its owner only', async () => {
  const id = await opened();
  writeFileSync(join(folder, 'Quagmire.txt'), TEXT);
  const types = (...words: string[]) => operatorTypes({ baseUrl: world.baseUrl, token: ada.token, cwd: folder }, words);
  const made = await types('case', 'attach', id, 'letter', 'Quagmire.txt', '--reason', 'it came by mail', '--json');
  assert.equal(made.code, 0, made.err);
  const { attachment } = JSON.parse(made.out);
  assert.match((await types('case', id)).out, /letter/);
  const saved = await types('case', 'attachment', id, attachment, '--out', 'saved.txt', '--reason', 'to read it');
  assert.equal(saved.code, 0, saved.err);
  assert.ok(readFileSync(join(folder, 'saved.txt')).equals(TEXT));
  assert.equal(statSync(join(folder, 'saved.txt')).mode & 0o077, 0);
  assert.equal((await types('case', 'attach', id, 'letter', 'missing.txt', '--reason', 'a test')).code, 2);
});

/**
 * Verification with files by the hosted page alone, over HTTP: what is sent, kept, refused and sent again; and what a hostile
 * browser gets.
 */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openFolder } from '../../../src/base/blobs.ts';
import { decideReview } from '../../../src/compliance/index.ts';
import {
  filesOf,
  givenDetails,
  openFile,
  openGivenDetails,
  saveForm,
  submissionsOf,
} from '../../../src/customers/index.ts';
import { findInDump } from '../../support/dump.ts';
import { jpeg, lookOf, pdf, png } from '../../support/pictures.ts';
import { until } from '../../support/until.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import { type Chosen, openBrowser, type PagesEnvironment, pagesEnvironment, unescaped } from './environment.ts';

const FORM = {
  details: {
    name: { label: 'Full name', required: 1 },
    taxNumber: { label: 'Tax number', required: 1, regex: '^[A-Z]{2}[0-9]{6}$', example: 'AB123456' },
    note: { label: 'Note', required: 0, regex: '^[a-z ]*$', example: 'none' },
  },
  proof: { label: 'Proof of address', required: 1, type: 'file' },
  documents: {
    1: { idName: 'National ID', files: ['idFront1.jpg', 'idBack1.jpg', 'selfie.jpg'] },
    3: { idName: 'Passport', files: ['passportFront.jpg', 'selfie.jpg'] },
  },
} as const;
const ANSWERS = { 'answer-name': 'Zebulon Quagmire', 'answer-taxNumber': 'ZQ471108' };
const PASSPORT: readonly Chosen[] = [
  ['file-passportFront.jpg', jpeg({ width: 33 })],
  ['file-selfie.jpg', png()],
];
const PROOF: Chosen = ['file-proof', pdf(), 'bill.pdf'];

let world: PagesEnvironment;
let acme: TestPartner;

before(async () => {
  world = await pagesEnvironment({ uploadLimits: { fileBytes: 200_000, files: 10, bytes: 600_000, ms: 1_000 } });
  acme = await world.partner('Acme Wallet');
  world.clock.advance(1_000);
  const now = world.clock.now();
  const form = {
    form: FORM as unknown as Record<string, unknown>,
    needsDocument: true,
    effectiveAt: now,
    by: 'ada',
    now,
  };
  await world.db.asSystem((tx) => saveForm(tx, { kind: 'INDIVIDUAL', ...form }));
});
after(async () => await world?.stop());
beforeEach(() => {
  world.verifier.finding = undefined;
});

async function arrives() {
  const { kycUrl, customerId } = await world.invited(acme);
  const browser = openBrowser();
  const shown = await browser.login(kycUrl);
  return { kycUrl, customerId, browser, shown };
}
const newest = async (customerId: string) =>
  await world.db.asSystem(async (tx) => {
    const [submission] = await submissionsOf(tx, { customerId, limit: 2 });
    return submission && { ...submission, files: await filesOf(tx, submission.id) };
  });
const slotsOf = async (customerId: string): Promise<string[]> =>
  ((await newest(customerId))?.files ?? []).map(({ slot }) => slot).toSorted();
const detailsOf = (id: string) => world.db.asSystem((tx) => openGivenDetails(tx, world.vault, id));
const beside = (text: string, id: string): string | undefined => {
  const found = new RegExp(`<p class="why" id="${id.replaceAll('.', '\\.')}-why">([^<]*)</p>`).exec(text)?.[1];
  return found === undefined ? undefined : unescaped(found);
};

/** A reviewer decides about the newest details. */
async function decides(customerId: string, outcome: 'verified' | 'failed', fields = {}): Promise<void> {
  world.verifier.finding = undefined;
  const of = { customerId, outcome, level: outcome === 'verified' ? 1 : 0, reason: 'looked at', told: 'looked at' };
  await world.db.asSystem(async (tx) => {
    const { version = 0 } = (await givenDetails(tx, customerId)) ?? {};
    await decideReview(tx, { ...of, version, fields, by: 'ada', now: world.clock.now() });
  });
}

describe('a person', () => {
  test('sends answers and files on the page and is verified; the files are stored by what they are, under no name from outside', async () => {
    const { customerId, browser, shown } = await arrives();
    for (const label of ['Proof of address', 'National ID', 'Passport', 'Page with your photo', 'A photo of your face'])
      assert.ok(shown.text.includes(label), label);
    assert.match(shown.text, /enctype="multipart\/form-data"/);
    const done = await browser.upload('details', ANSWERS, [PROOF, ...PASSPORT], {
      empty: ['file-idFront1.jpg', 'file-idBack1.jpg'],
    });
    assert.equal(done.title, 'You are verified');
    const { files = [], state } = (await newest(customerId)) ?? {};
    assert.equal(state, 'completed');
    assert.deepEqual(files.map(({ slot, type }) => [slot, type]).toSorted(), [
      ['passportFront.jpg', 'image/jpeg'],
      ['proof', 'application/pdf'],
      ['selfie.jpg', 'image/png'],
    ]);
    const { id = '' } = files.find(({ slot }) => slot === 'passportFront.jpg') ?? {};
    const deps = { db: world.db, vault: world.vault, blobs: openFolder(world.blobFolder) };
    const found = await openFile(deps, { customerId, id });
    assert.equal(await lookOf(found?.content ?? Buffer.alloc(0)), 'jpeg 33x16');
    assert.deepEqual(await findInDump(world.adminUrl, ['bill.pdf', 'photo.jpg']), []);
  });

  test('is told every missing file beside its input, and what was typed is kept', async () => {
    const { customerId, browser } = await arrives();
    const lacks = await browser.upload('details', ANSWERS);
    assert.equal(lacks.status, 400);
    assert.equal(beside(lacks.text, 'file-proof'), 'Choose a file: Proof of address');
    assert.equal(beside(lacks.text, 'file-selfie.jpg'), 'Choose a file: A photo of your face');
    assert.match(lacks.text, /href="#file-proof"/);
    assert.match(lacks.text, /value="Zebulon Quagmire"/);
    assert.equal(await detailsOf(customerId), undefined, 'it was reviewed without its files');
    // The form of a document that was begun names the rest of that document.
    const begun = await browser.upload('details', ANSWERS, [PROOF, PASSPORT[0] as Chosen]);
    assert.equal(beside(begun.text, 'file-selfie.jpg'), 'Choose a file: A photo of your face');
    assert.equal(beside(begun.text, 'file-proof'), undefined);
    assert.match(begun.text, /Received: PDF, 1 KB/);
    assert.equal((await browser.upload('details', ANSWERS, [PASSPORT[1] as Chosen])).title, 'You are verified');
  });

  test('loses no file when an answer or another file is wrong', async () => {
    const { customerId, browser } = await arrives();
    const script = Buffer.from('<html><script>alert(1)</script></html>');
    const values = { ...ANSWERS, 'answer-taxNumber': 'zq' };
    const wrong = await browser.upload('details', values, [PROOF, ['file-selfie.jpg', script]]);
    assert.equal(wrong.status, 400);
    assert.match(beside(wrong.text, 'answer-taxNumber') ?? '', /Tax number must match .*, for example AB123456/);
    assert.equal(beside(wrong.text, 'file-selfie.jpg'), 'A photo of your face must be a JPEG, PNG, WEBP or PDF');
    assert.deepEqual(await slotsOf(customerId), ['proof']);
    assert.equal((await browser.upload('details', ANSWERS, PASSPORT)).title, 'You are verified');
  });

  test('saves files on a phone and goes on elsewhere: they are there, and nothing was sent', async () => {
    const { customerId, browser, kycUrl } = await arrives();
    const saved = await browser.upload('draft', { 'answer-name': 'Zebulon Quagmire' }, [PROOF, ...PASSPORT]);
    assert.match(saved.text, /Saved\. Open the link again/);
    assert.equal((await newest(customerId))?.state, 'open');
    world.clock.advance(5 * 60_000);
    const desktop = openBrowser();
    assert.doesNotMatch((await desktop.open(kycUrl)).text, /Received|Zebulon/, 'shown before the login');
    const shown = await desktop.login(kycUrl);
    assert.equal(shown.text.match(/Received: /g)?.length, 3);
    assert.match(shown.text, /<details name="document" open="">\s*<summary>Passport/);
    assert.match(shown.text, /value="Zebulon Quagmire"/);
    const replaced = await desktop.upload('draft', {}, [['file-proof', jpeg()]]);
    assert.match(replaced.text, /Received: JPEG, 1 KB/);
    assert.equal((await desktop.upload('details', ANSWERS)).title, 'You are verified');
    assert.equal((await newest(customerId))?.files.find(({ slot }) => slot === 'proof')?.type, 'image/jpeg');
  });

  test('sees each refusal with its remedy and sends only what was refused; saving the last part does not send it', async () => {
    const { customerId, browser } = await arrives();
    world.verifier.finding = { outcome: 'in_review', level: 0 };
    const waits = await browser.upload('details', ANSWERS, [PROOF, ...PASSPORT]);
    assert.equal(waits.title, 'We are checking your details');
    await decides(customerId, 'failed', { taxNumber: 'does_not_match', proof: 'expired' });
    const failed = await browser.go('nothing');
    assert.match(failed.text, /We need these again/);
    assert.equal(
      beside(failed.text, 'answer-taxNumber'),
      'Tax number does not match the other answers. Correct it, so that it agrees with the other answers and the documents. For example AB123456.',
    );
    assert.equal(beside(failed.text, 'file-proof'), 'Proof of address has expired. Send one that is still valid.');
    assert.doesNotMatch(failed.text, /name="answer-name"|name="file-selfie.jpg"|National ID/, 'asks for the accepted');
    assert.match(failed.text, /<dt>Full name<\/dt>\s*<dd><span [^>]*>Zebulon Quagmire/);
    assert.match(failed.text, /Received and accepted/);

    const other = await browser.upload('details', { 'answer-taxNumber': 'ZQ471109' }, [
      ['file-selfie.jpg', jpeg({ width: 64 })],
      PROOF,
    ]);
    assert.equal(other.status, 400);
    assert.match(unescaped(other.text), /A photo of your face was accepted: only proof, taxNumber may be sent again/);
    const same = await browser.upload('details', { 'answer-taxNumber': 'ZQ471109' });
    assert.equal(beside(same.text, 'file-proof'), 'Proof of address has expired. Send one that is still valid.');
    const last = await browser.upload('draft', {}, [['file-proof', jpeg()]]);
    assert.match(last.text, /nothing else is missing\. Choose it again/);
    assert.equal((await newest(customerId))?.state, 'open', 'saving has sent it');
    const sent = await browser.upload('details', { 'answer-taxNumber': 'ZQ471109' }, [['file-proof', jpeg()]]);
    assert.equal(sent.title, 'You are verified');
    assert.deepEqual(await detailsOf(customerId), { name: 'Zebulon Quagmire', taxNumber: 'ZQ471109' });
  });

  test('who sends twice at once has one submission, asked about once', async () => {
    const { customerId, browser } = await arrives();
    const asked = world.asked.length;
    const both = await Promise.all(
      [1, 2].map(() => openBrowserAt(browser).upload('details', ANSWERS, [PROOF, ...PASSPORT])),
    );
    assert.ok(
      both.every(({ status }) => status === 200),
      JSON.stringify(both.map(({ status, title }) => [status, title])),
    );
    const rows = await world.query('select id from submissions where customer_id = $1', [customerId]);
    assert.equal(rows.length, 1);
    const keys = world.asked.slice(asked).filter((one) => one.customerId === customerId);
    assert.deepEqual([...new Set(keys.map(({ key }) => key))], [`details:${customerId}:1`]);
    assert.deepEqual(await slotsOf(customerId), ['passportFront.jpg', 'proof', 'selfie.jpg']);
  });
});

/** Another window of the same browser, on the same page. */
function openBrowserAt(browser: ReturnType<typeof openBrowser>): ReturnType<typeof openBrowser> {
  return browser;
}

describe('a hostile browser', () => {
  const HOSTILE: readonly [what: string, content: Buffer, why: RegExp][] = [
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), /must be a JPEG, PNG, WEBP or PDF/],
    ['a drawing', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), /must be a JPEG/],
    ['an empty file', Buffer.alloc(0), /must be a JPEG/],
    ['a program', Buffer.concat([Buffer.from('MZ'), Buffer.alloc(600)]), /must be a JPEG/],
    ['a picture with a page behind', Buffer.concat([jpeg(), Buffer.from('<script>x()</script>')]), /whole/],
    [
      'a picture with a script in it',
      jpeg({ more: [[0xfe, Buffer.from('<script>x()</script>')]] }),
      /nothing but the picture/,
    ],
    ['a picture of 50,000 pixels', png({ width: 50_000, height: 50_000 }), /pixels a side/],
    [
      'a PDF that runs',
      pdf('1 0 obj\n<< /OpenAction << /S /JavaScript /JS (app.alert(1)) >> >>\nendobj\n'),
      /without a password, scripts/,
    ],
    ['a PDF that hides its name', pdf('1 0 obj\n<< /S /L#61unch >>\nendobj\n'), /without a password, scripts/],
  ];
  for (const [what, content, why] of HOSTILE)
    test(`cannot send ${what}, and the page says why beside the field`, async () => {
      const { customerId, browser } = await arrives();
      const refused = await browser.upload('draft', {}, [['file-proof', content, '"><script>alert(1)</script>.pdf']]);
      assert.equal(refused.status, 400);
      assert.match(beside(refused.text, 'file-proof') ?? '', why);
      assert.equal(refused.text.match(/<script/g)?.length, 1, 'the page has another script than our own');
      assert.equal(await newest(customerId), undefined);
    });

  test('names no slot of its own: neither by the input nor by the file', async () => {
    const { customerId, browser } = await arrives();
    for (const [name, fileName] of [
      ['file-../../etc/passwd', 'a.jpg'],
      ['proof', 'proof'],
      ['file-licence', 'selfie.jpg'],
      ['file-__proto__', '../../x'],
    ] as const) {
      const refused = await browser.upload('draft', {}, [[name, jpeg(), fileName]]);
      assert.equal(refused.status, 400, name);
      assert.doesNotMatch(refused.text, /passwd|licence/);
    }
    assert.equal(await newest(customerId), undefined);
  });

  test('gets its texts back when a file, or all together, are too large, and nothing is stored', async () => {
    const { customerId, browser } = await arrives();
    const large = jpeg({ more: Array.from({ length: 4 }, () => [0xfe, Buffer.alloc(60_000)]) });
    const one = await browser.upload('details', ANSWERS, [['file-proof', large]]);
    assert.deepEqual([one.status, one.title], [413, 'Your details']);
    assert.match(one.text, /larger than 5 MB/);
    assert.match(one.text, /value="Zebulon Quagmire"/);
    const most = jpeg({ more: Array.from({ length: 3 }, () => [0xfe, Buffer.alloc(60_000)]) });
    const slots = ['proof', 'idFront1.jpg', 'idBack1.jpg', 'selfie.jpg'];
    const all = await browser.upload(
      'details',
      ANSWERS,
      slots.map((slot) => [`file-${slot}`, most]),
    );
    assert.equal(all.status, 413);
    const many = await browser.upload(
      'details',
      ANSWERS,
      Array.from({ length: 11 }, () => PROOF),
    );
    assert.equal(many.status, 400);
    assert.match(many.text, /At most ten files/);
    assert.equal(await newest(customerId), undefined);
    assert.equal((await browser.upload('details', ANSWERS, [PROOF, ...PASSPORT])).title, 'You are verified');
  });

  test('is not read without a login, is refused without the form’s own token, and on pages without files', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const stranger = openBrowser();
    await stranger.open(kycUrl);
    const unread = await stranger.upload('details', ANSWERS, [PROOF, ...PASSPORT]);
    assert.deepEqual([unread.status, unread.title], [403, 'This form is too old']);
    const browser = openBrowser();
    await browser.login(kycUrl);
    for (const csrf of ['', '0'.repeat(32)])
      assert.equal((await browser.upload('details', { ...ANSWERS, csrf }, [PROOF, ...PASSPORT])).status, 403);
    assert.equal(await newest(customerId), undefined);
    const bank = await acme.post('bank/addFiatAccountUrl', { customerId, redirectUrl: 'https://wallet.example' });
    await browser.open(bank.body.data.bankUrl);
    assert.equal((await browser.upload('account', {}, [PROOF])).status, 415);
  });

  test('that is cut off, or no multipart, is answered and stores nothing', async () => {
    const { customerId, browser, kycUrl } = await arrives();
    const type = 'multipart/form-data; boundary=xyz';
    for (const body of ['', 'nothing', '--xyz\r\n', '--xyz\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n1']) {
      const shown = await browser.ask(kycUrl, { method: 'POST', body, headers: { 'content-type': type } });
      assert.ok([400, 403].includes(shown.status), `${shown.status} ${JSON.stringify(body)}`);
    }
    const bare = await browser.ask(kycUrl, {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'multipart/form-data' },
    });
    assert.equal(bare.status, 415);
    assert.equal(await newest(customerId), undefined);
  });

  test('that sends drop by drop is ended after the time of an upload', async () => {
    const { browser, kycUrl } = await arrives();
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { cookie, 'content-type': 'multipart/form-data; boundary=xyz', 'content-length': '5000' };
    const csrf = `--xyz\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n${browser.csrf()}\r\n`;
    const begunAt = performance.now();
    const [status, text] = await new Promise<[number | undefined, string]>((done, failed) => {
      const sending = request(kycUrl, { method: 'POST', headers }, (reply) => {
        let all = '';
        reply.on('data', (chunk: Buffer) => (all += chunk.toString('utf8')));
        reply.on('end', () => done([reply.statusCode, all]));
      });
      sending.on('error', failed);
      sending.write(`${csrf}--xyz\r\ncontent-disposition: form-data; name="intent"\r\n\r\ndraft\r\n--xyz\r\n`);
    });
    assert.deepEqual([status, /took too long to arrive/.test(text)], [400, true]);
    assert.ok(performance.now() - begunAt < 10_000);
  });

  test('has two bodies under way at most, and after sixty waits', async () => {
    const { browser, kycUrl } = await arrives();
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { cookie, 'content-type': 'multipart/form-data; boundary=xyz', 'content-length': '5000' };
    const open = [1, 2].map(() => {
      const sending = request(kycUrl, { method: 'POST', headers });
      sending.on('error', () => {});
      sending.write('--xyz\r\n');
      return sending;
    });
    try {
      await until('a third one is refused', async () => (await browser.upload('draft', {}, [PROOF])).status === 503);
    } finally {
      for (const sending of open) sending.destroy();
    }
    await until('both are over', async () => (await browser.upload('draft', { csrf: 'x' })).status === 403);
    const seen = [];
    for (let at = 0; at < 60; at += 1) seen.push((await browser.upload('draft', { csrf: 'x' })).status);
    assert.deepEqual([...new Set(seen)].toSorted(), [403, 429]);
    const waits = await browser.upload('draft', {}, [PROOF]);
    assert.equal(waits.title, 'Too many files');
    assert.ok(Number(waits.headers.get('retry-after')) > 0);
  });
});

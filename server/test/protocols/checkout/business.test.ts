/**
 * A business, and a reviewer's questions, by the hosted page alone, over HTTP: owners and directors, files, a change of device,
 * a refusal, a question with a file, and the decision.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openFolder } from '../../../src/base/blobs.ts';
import { decideReview, listCases } from '../../../src/compliance/index.ts';
import {
  askInformation,
  BUSINESS_FORM,
  endInformation,
  findCustomer,
  givenDetails,
  informationOf,
  openDraft,
  openFile,
  openGivenDetails,
  saveForm,
  submissionsOf,
} from '../../../src/customers/index.ts';
import { findInDump } from '../../support/dump.ts';
import { jpeg, pdf, png } from '../../support/pictures.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import {
  type Chosen,
  DETAILS,
  openBrowser,
  type PagesEnvironment,
  pagesEnvironment,
  type Shown,
  unescaped,
} from './environment.ts';

const DAY_MS = 86_400_000;
let world: PagesEnvironment;
let acme: TestPartner;

before(async () => {
  world = await pagesEnvironment();
  acme = await world.partner('Acme Wallet');
});
after(async () => await world?.stop());
beforeEach(() => {
  world.verifier.finding = undefined;
});

type Device = ReturnType<typeof openBrowser>;

async function arrives(type = 'BUSINESS') {
  const { kycUrl, customerId } = await world.invited(acme, { type });
  const browser = openBrowser();
  const shown = await browser.login(kycUrl);
  return { kycUrl, customerId, browser, shown };
}
const detailsOf = (id: string) => world.db.asSystem((tx) => openGivenDetails(tx, world.vault, id));
const draftOf = (id: string) => world.db.asSystem((tx) => openDraft(tx, world.vault, id));
const stateOf = async (customerId: string) =>
  (await world.db.asSystem((tx) => submissionsOf(tx, { customerId, limit: 1 })))[0]?.state;
const beside = (text: string, id: string): string | undefined => {
  const found = new RegExp(`<p class="why" id="${id.replaceAll('.', '\\.')}-why">([^<]*)</p>`).exec(text)?.[1];
  return found === undefined ? undefined : unescaped(found);
};
async function decides(customerId: string, outcome: 'verified' | 'failed', fields = {}): Promise<void> {
  const of = { customerId, outcome, level: outcome === 'verified' ? 1 : 0, reason: 'looked at', told: 'looked at' };
  await world.db.asSystem(async (tx) => {
    const { version = 0 } = (await givenDetails(tx, customerId)) ?? {};
    await decideReview(tx, { ...of, version, fields, by: 'ada', now: world.clock.now() });
  });
}

/** Adds a person by the buttons of the page, with what was typed meanwhile. */
async function adds(
  browser: Device,
  role: 'owners' | 'directors',
  person: Record<string, string>,
  typed: Record<string, string> = {},
): Promise<Shown> {
  const form = await browser.upload(`add-${role}`, typed);
  assert.equal(form.title, role === 'owners' ? 'Add an owner' : 'Add a director');
  return await browser.go('person', { person: role, ...person });
}
const idOf = ({ text }: Shown, name: string): string => {
  const found = new RegExp(`value="edit-((?:owners|directors)-[0-9a-z]+)">Change<span class="unseen"> ${name}`).exec(
    text,
  );
  assert.ok(found?.[1], `no button to change ${name}`);
  return found[1];
};
const ASHA = { firstName: 'Asha', lastName: 'Rao', share: '51.5', dob: '1980-05-17', country: 'IN' };
const VIKRAM = { firstName: 'Vikram', lastName: 'Sen', share: '48.5' };

describe('a business', () => {
  test('states itself, its owners and directors on the page, across two devices, and is verified', async () => {
    const { kycUrl, customerId, browser, shown } = await arrives();
    for (const text of ['Your business', 'Name of the business', 'Owners', 'Directors', 'Address of the business'])
      assert.ok(shown.text.includes(text), text);
    const one = await adds(browser, 'owners', ASHA, { entityName: 'Rao <b>Traders</b>', city: 'Pune' });
    assert.match(one.text, /Together: 51\.5 %/);
    assert.match(one.text, /51\.5 % · 1980-05-17 · India/);
    assert.match(one.text, /value="Rao &#60;b&#62;Traders/, 'what was typed is lost');
    await adds(browser, 'directors', { firstName: 'Meera', lastName: '<i>Nair</i>' });
    assert.equal(await stateOf(customerId), undefined, 'saving has begun a submission');
    assert.equal(await detailsOf(customerId), undefined);

    world.clock.advance(5 * 60_000);
    const desktop = openBrowser();
    const there = await desktop.login(kycUrl);
    assert.match(there.text, /Asha Rao/);
    assert.match(there.text, /Meera &#60;i&#62;Nair/);
    const over = await adds(desktop, 'owners', { ...VIKRAM, share: '50' }, { entityName: 'Rao Traders' });
    assert.equal(over.status, 400);
    assert.equal(beside(over.text, 'share'), 'Owners must hold at most 100 percent together');
    const both = await desktop.go('person', { person: 'owners', ...VIKRAM });
    assert.match(both.text, /Together: 100 %/);
    const done = await desktop.upload('details', { ...DETAILS, entityName: 'Rao Traders' });
    assert.equal(done.title, 'You are verified');

    const details = await detailsOf(customerId);
    assert.equal(details?.entityName, 'Rao Traders');
    assert.deepEqual(JSON.parse(details?.owners ?? ''), [ASHA, VIKRAM].map(inOrder));
    assert.deepEqual(JSON.parse(details?.directors ?? ''), [{ firstName: 'Meera', lastName: '<i>Nair</i>' }]);
    assert.deepEqual(await draftOf(customerId), {}, 'the draft is kept after it was sent');
    assert.deepEqual(await findInDump(world.adminUrl, ['Vikram', 'Meera', 'Rao Traders']), []);
  });

  test('changes and removes people, each by itself: another device has removed one meanwhile', async () => {
    const { customerId, browser } = await arrives();
    await adds(browser, 'owners', ASHA);
    const both = await adds(browser, 'owners', VIKRAM);
    const [asha, vikram] = [idOf(both, 'Asha Rao'), idOf(both, 'Vikram Sen')];
    const form = await browser.upload(`edit-${vikram}`);
    assert.equal(form.title, 'Change an owner');
    assert.match(form.text, /name="share"[^>]* value="48\.5"/);
    const gone = await browser.upload(`remove-${asha}`);
    assert.doesNotMatch(gone.text, /Asha Rao/);
    const changed = await browser.go('person', { person: vikram, ...VIKRAM, share: '100' });
    assert.match(changed.text, /Together: 100 %/);
    assert.doesNotMatch(changed.text, /Asha Rao/, 'the removed owner is back');
    await browser.go('person', { person: asha, ...ASHA });
    const { owners = '' } = await draftOf(customerId);
    assert.deepEqual(
      JSON.parse(owners).map(({ firstName, share }: Record<string, string>) => [firstName, share]),
      [['Vikram', '100']],
    );
  });

  test('is told what is wrong with a person, by the rule of the wires, and at most twenty are taken', async () => {
    const { browser } = await arrives();
    const wrong = await adds(browser, 'owners', { ...ASHA, share: '51,5', dob: '2999-01-01', country: 'XX' });
    assert.equal(wrong.status, 400);
    assert.match(
      beside(wrong.text, 'share') ?? '',
      /Share in percent must be a percentage above 0 .* for example 51\.5/,
    );
    assert.match(beside(wrong.text, 'dob') ?? '', /Date of birth must be a day in the past/);
    assert.match(beside(wrong.text, 'country') ?? '', /must be a country/);
    assert.equal(beside((await browser.go('person', { person: 'owners' })).text, 'firstName'), 'Enter: First name');
    const long = await browser.go('person', { person: 'owners', ...ASHA, firstName: 'x'.repeat(129) });
    assert.equal(long.status, 400);
    for (let at = 0; at < 20; at += 1)
      await browser.go('person', { person: 'directors', firstName: 'Meera', lastName: `Nair ${at}` });
    const more = await browser.go('person', { person: 'directors', firstName: 'Meera', lastName: 'Nair' });
    assert.equal(beside(more.text, 'firstName'), 'Directors must be at most 20 people');
  });

  test('sends again only the list of owners and the file that were refused', async () => {
    const now = world.clock.now();
    const form = { ...BUSINESS_FORM, extract: { label: 'Extract of the register', required: 1, type: 'file' } };
    await world.db.asSystem((tx) =>
      saveForm(tx, { kind: 'BUSINESS', country: 'PT', form, needsDocument: false, effectiveAt: now, by: 'ada', now }),
    );
    const { kycUrl, customerId } = await world.invited(acme, { type: 'BUSINESS' });
    await acme.post('kyb/submit', { customerId, country: 'PT', entityName: 'Rao Traders' });
    const browser = openBrowser();
    await browser.login(kycUrl);
    await adds(browser, 'owners', ASHA);
    await adds(browser, 'directors', { firstName: 'Meera', lastName: 'Nair' });
    const answers = Object.fromEntries(Object.entries(DETAILS).map(([name, value]) => [`answer-${name}`, value]));
    const extract: Chosen = ['file-extract', pdf()];
    world.verifier.finding = { outcome: 'in_review', level: 0 };
    assert.equal((await browser.upload('details', answers, [extract])).title, 'We are checking your details');
    await decides(customerId, 'failed', { owners: 'incomplete', extract: 'expired' });
    const failed = await browser.go('nothing');
    assert.match(failed.text, /The list of owners is incomplete\. Send all of it\./);
    assert.equal(
      beside(failed.text, 'file-extract'),
      'Extract of the register has expired. Send one that is still valid.',
    );
    assert.doesNotMatch(failed.text, /Add a director|name="answer-city"/, 'asks for the accepted');
    const without = await browser.upload('details', {}, [['file-extract', png()]]);
    assert.match(without.text, /<a href="#owners">The list of owners is incomplete/);
    await adds(browser, 'owners', VIKRAM);
    assert.equal((await browser.upload('details')).title, 'We are checking your details');
    await decides(customerId, 'verified');
    world.verifier.finding = undefined;
    assert.equal((await browser.go('nothing')).title, 'You are verified');
    assert.deepEqual(JSON.parse((await detailsOf(customerId))?.owners ?? ''), [ASHA, VIKRAM].map(inOrder));
    const customer = await world.db.asSystem((tx) => findCustomer(tx, customerId));
    assert.deepEqual([customer.verification, customer.level], ['verified', 1]);
  });

  test('is not sent before its owners hold what the form asks for, and nothing typed or chosen is lost', async () => {
    const now = world.clock.now();
    const form = {
      name: { label: 'Name of the firm', required: 1 },
      extract: { label: 'Extract of the register', required: 1, type: 'file' },
      owners: { minimumTotalShare: 75 },
    } as const;
    await world.db.asSystem((tx) =>
      saveForm(tx, { kind: 'BUSINESS', country: 'ES', form, needsDocument: false, effectiveAt: now, by: 'ada', now }),
    );
    const { kycUrl, customerId } = await world.invited(acme, { type: 'BUSINESS' });
    await acme.post('kyb/submit', { customerId, country: 'ES' });
    const browser = openBrowser();
    const asked = await browser.login(kycUrl);
    const rule = 'Name owners who hold at least 75 percent together.';
    assert.match(asked.text, new RegExp(`at most 100 percent\\. ${rule}`));
    const typed = { 'answer-name': 'Rao Traders' };
    const none = await browser.upload('details', typed, [['file-extract', pdf()]]);
    assert.equal(none.status, 400);
    assert.match(none.text, new RegExp(`<a href="#owners">${rule}`));
    assert.match(none.text, /value="Rao Traders"/);
    await adds(browser, 'owners', ASHA, typed);
    assert.match((await browser.upload('details', typed)).text, new RegExp(`<a href="#owners">${rule}`));
    await adds(browser, 'owners', VIKRAM, typed);
    assert.equal((await browser.upload('details', typed)).title, 'You are verified');
    assert.equal(await stateOf(customerId), 'completed');
  });

  test('has no people taken from anyone else: a person’s page, another session, a draft that was sent', async () => {
    const person = await arrives('INDIVIDUAL');
    assert.equal((await person.browser.go('person', { person: 'owners', ...ASHA })).title, 'Your details');
    assert.deepEqual(await draftOf(person.customerId), {});
    const { customerId, browser, kycUrl } = await arrives();
    assert.equal((await browser.send('person', { person: 'owners', ...ASHA, csrf: 'x' })).status, 403);
    assert.equal((await openBrowser().open(`${kycUrl}?person=owners`)).title, 'Log in');
    assert.equal((await browser.upload('details', DETAILS)).title, 'You are verified');
    assert.equal((await browser.go('person', { person: 'owners', ...ASHA })).title, 'You are verified');
    assert.deepEqual(await draftOf(customerId), {});
  });
});

/** As the rule of the wires orders them. */
const inOrder = (person: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    ['firstName', 'lastName', 'dob', 'country', 'share'].flatMap((name) => {
      const value = person[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

describe('a person with our own form', () => {
  test('may add a document, and a refusal names what to send again', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    assert.match((await browser.login(kycUrl)).text, /An identity document, if you have one at hand/);
    world.verifier.finding = {
      outcome: 'failed',
      level: 0,
      fields: { city: 'not_accepted', 'idBack1.jpg': 'unreadable' },
    };
    const front: Chosen[] = ['idFront1', 'idBack1', 'selfie'].map((name) => [`file-${name}.jpg`, jpeg()]);
    const failed = await browser.upload('details', DETAILS, front);
    assert.equal(beside(failed.text, 'city'), 'City is not accepted. Send another one. For example Pune.');
    assert.equal(
      beside(failed.text, 'file-idBack1.jpg'),
      'National ID: Back cannot be read. Send it again, complete, sharp and well lit.',
    );
    world.verifier.finding = undefined;
    const sent = await browser.upload('details', { city: 'Pune' }, [['file-idBack1.jpg', png()]]);
    assert.equal(sent.title, 'You are verified');
    const customer = await world.db.asSystem((tx) => findCustomer(tx, customerId));
    assert.equal(customer.level, 1);
  });
});

describe('a question of a reviewer', () => {
  const QUESTION = 'Whose house is it?\nSend the <b>contract</b>.';
  const asks = (customerId: string, question = QUESTION) =>
    world.db.asSystem(async (tx) => {
      const now = world.clock.now();
      const dueAt = new Date(now.getTime() + 7 * DAY_MS);
      return await askInformation(tx, world.vault, { customerId, question, dueAt, by: 'ada', now });
    });
  const answerOf = async (customerId: string) =>
    (await world.db.asSystem((tx) => informationOf(tx, world.vault, { customerId, limit: 5 })))[0];
  const casesAbout = async (id: bigint) =>
    (await world.db.asSystem((tx) => listCases(tx, { open: true, kind: 'information_answered', limit: 100 }))).filter(
      ({ subject }) => subject === `information:${id}`,
    );

  async function waits() {
    const arrived = await arrives('INDIVIDUAL');
    world.verifier.finding = { outcome: 'in_review', level: 0 };
    const shown = await arrived.browser.upload('details', DETAILS);
    assert.equal(shown.title, 'We are checking your details');
    return arrived;
  }

  test('is shown while the check is pending, answered with a file, and the reviewer reads both and decides', async () => {
    const { customerId, browser, kycUrl } = await waits();
    const { id } = await asks(customerId);
    const page = await browser.open(kycUrl);
    assert.match(page.text, /We have a question for you/);
    assert.match(page.text, new RegExp(`data-news="review ${id}"`), 'an open page would not show the question');
    const shown = await browser.open(`${kycUrl}?question=${id}`);
    assert.equal(shown.title, 'A question for you');
    assert.match(shown.text, /Send the &#60;b&#62;contract/);

    const script = Buffer.from('<script>alert(1)</script>');
    const none = await browser.upload('answer', { question: String(id), answer: ' ' }, [
      ['file-answer', pdf(), 'contract.pdf'],
      ['file-answer', script, '<img src=x onerror=alert(1)>.pdf'],
    ]);
    assert.equal(none.status, 400);
    assert.equal(beside(none.text, 'answer'), 'Enter: Your answer');
    assert.equal(beside(none.text, 'file-answer'), 'File 2 must be a JPEG, PNG, WEBP or PDF.');
    assert.match(none.text, /Received: 1 \(PDF\)/);
    assert.doesNotMatch(none.text, /onerror/);
    const sent = await browser.upload('answer', { question: String(id), answer: 'Mine.\r\nSee the contract.' }, [
      ['file-answer', jpeg(), 'page two.jpg'],
    ]);
    assert.equal(sent.title, 'We are checking your details');
    assert.doesNotMatch(sent.text, /question for you/);

    const answered = await answerOf(customerId);
    assert.deepEqual([answered?.state, answered?.answer], ['answered', 'Mine. See the contract.']);
    assert.deepEqual(
      answered?.files.map(({ slot, type }) => [slot, type]),
      [
        ['file-1', 'application/pdf'],
        ['file-2', 'image/jpeg'],
      ],
    );
    const deps = { db: world.db, vault: world.vault, blobs: openFolder(world.blobFolder) };
    const file = await openFile(deps, { customerId, id: answered?.files[0]?.id ?? '' });
    assert.ok(file?.content.equals(pdf()));
    assert.equal((await casesAbout(id)).length, 1);
    assert.deepEqual(await findInDump(world.adminUrl, ['See the contract', 'page two.jpg']), []);
    await decides(customerId, 'verified');
    assert.equal((await browser.open(kycUrl)).title, 'You are verified');
  });

  test('sent twice at once is answered once; one that was withdrawn, or is another customer’s, is not there', async () => {
    const { customerId, browser, kycUrl } = await waits();
    const { id } = await asks(customerId);
    await browser.open(kycUrl);
    const values = { question: String(id), answer: 'Mine.' };
    const both = await Promise.all([1, 2].map(() => browser.upload('answer', values)));
    assert.ok(both.every(({ title }) => title === 'We are checking your details'));
    assert.equal((await casesAbout(id)).length, 1);
    assert.equal((await browser.open(`${kycUrl}?question=${id}`)).title, 'We are checking your details');

    const next = await asks(customerId, 'And the car?');
    const stranger = await waits();
    const theirs = await stranger.browser.open(`${stranger.kycUrl}?question=${next.id}`);
    assert.equal(theirs.title, 'We are checking your details');
    await stranger.browser.upload('answer', { question: String(next.id), answer: 'Not mine.' }, [
      ['file-answer', png()],
    ]);
    assert.deepEqual([(await answerOf(customerId))?.state, (await answerOf(customerId))?.files], ['open', []]);
    await world.db.asSystem((tx) =>
      endInformation(tx, world.vault, { customerId, id: next.id, answer: null, now: world.clock.now() }),
    );
    await browser.open(kycUrl);
    await browser.upload('answer', { question: String(next.id), answer: 'Mine.' });
    assert.equal((await answerOf(customerId))?.state, 'withdrawn');
  });

  test('takes ten files and four thousand characters, and is read only after a login', async () => {
    const { customerId, browser, kycUrl } = await waits();
    const { id } = await asks(customerId);
    const url = `${kycUrl}?question=${id}`;
    const stranger = await openBrowser().open(url);
    assert.equal(stranger.title, 'Log in');
    assert.doesNotMatch(stranger.text, /contract/);
    await browser.open(url);
    const values = { question: String(id), answer: 'x'.repeat(4_001) };
    const files = Array.from({ length: 6 }, (): Chosen => ['file-answer', png()]);
    const long = await browser.upload('answer', values, files);
    assert.match(beside(long.text, 'answer') ?? '', /at most 4000 characters/);
    const more = await browser.upload('answer', values, files);
    assert.match(beside(more.text, 'file-answer') ?? '', /Files must be at most 10 for one question/);
    assert.equal((await answerOf(customerId))?.files.length, 6);
    assert.equal((await browser.upload('answer', { ...values, answer: 'Mine.' })).status, 200);
    assert.equal((await answerOf(customerId))?.state, 'answered');
  });
});

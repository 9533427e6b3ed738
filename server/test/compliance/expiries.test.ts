/** Documents that expire: a new one is asked for in time, and the customer does not trade after the last valid day. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '../../src/base/errors.ts';
import { decideReview, expiryHandlers, FOLLOW_EXPIRIES } from '../../src/compliance/index.ts';
import {
  blockCustomer,
  findCustomer,
  givenDetails,
  PERSON_FORM,
  recordVerification,
  requireTrading,
  saveForm,
} from '../../src/customers/index.ts';
import { DETAILS, openBrowser, type PagesEnvironment, pagesEnvironment } from '../protocols/checkout/environment.ts';
import type { TestPartner } from '../protocols/whitelabel/environment.ts';

const DAY = 86_400_000;
const NOTICE_DAYS = 30;
const FORM = {
  ...PERSON_FORM,
  validUntil: { label: 'Valid until', required: 1, type: 'date', expires: ['identityNumber'] },
} as const;

let world: PagesEnvironment;
let acme: TestPartner;
const job = () => expiryHandlers({ db: world.db, clock: world.clock, noticeDays: NOTICE_DAYS });
const run = async () => await job()[FOLLOW_EXPIRIES]?.('all');

before(async () => {
  world = await pagesEnvironment();
  acme = await world.partner('Acme Wallet');
  const at = { effectiveAt: world.clock.now(), by: 'ada', now: world.clock.now() };
  await world.db.asSystem((tx) => saveForm(tx, { kind: 'INDIVIDUAL', form: FORM, needsDocument: false, ...at }));
});
after(async () => await world?.stop());

const dayIn = (days: number): string => new Date(world.clock.now().getTime() + days * DAY).toISOString().slice(0, 10);
const answers = (over: object = {}) =>
  Object.fromEntries(Object.entries({ ...DETAILS, ...over }).map(([name, value]) => [`answer-${name}`, String(value)]));
let count = 0;

/** A customer who is verified with a document that is valid for so many days. */
async function verified(days: number) {
  world.verifier.finding = undefined;
  const { kycUrl, customerId } = await world.invited(acme);
  const browser = openBrowser();
  await browser.login(kycUrl);
  count += 1;
  const identityNumber = `DOC${10_000 + count}`;
  const done = await browser.go('details', answers({ identityNumber, validUntil: dayIn(days) }));
  assert.equal(done.title, 'You are verified', done.text);
  return { customerId, identityNumber };
}
/** The customer's browser on another day. */
async function back(customerId: string) {
  const { body, text } = await acme.post('kyc/url', {
    customerId,
    phoneNumber: `+91 ${80_000 + (count += 1)} 43210`,
    type: 'INDIVIDUAL',
  });
  const browser = openBrowser();
  const shown = await browser.login(body.data?.kycUrl ?? text);
  return { browser, shown };
}
const standing = async (customerId: string) => {
  const { level, verification } = await world.db.asSystem((tx) => findCustomer(tx, customerId));
  return { level, verification };
};
const mayTrade = async (customerId: string): Promise<boolean> => {
  const customer = await world.db.asSystem((tx) => findCustomer(tx, customerId));
  try {
    requireTrading(customer, acme.partner);
    return true;
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'verification_required', String(error));
    return false;
  }
};
const submissionOf = async (customerId: string) =>
  await world.query('select id::text as id, state, reasons from submissions where customer_id = $1 order by id', [
    customerId,
  ]);
const events = async (customerId: string, type: string) =>
  (
    await world.query('select body from events where subject = $1 and type = $2 order by id', [
      `customer:${customerId}`,
      type,
    ])
  ).map(({ body }) => body as Record<string, unknown>);

test('a new document is asked for once, some days before, with reason and remedy; the customer trades on, and a new one ends it', async () => {
  const { customerId } = await verified(100);
  await run();
  assert.deepEqual(await events(customerId, 'document.expiring'), []);
  world.clock.advance(69 * DAY);
  await run();
  assert.deepEqual(await events(customerId, 'document.expiring'), []);
  world.clock.advance(DAY);
  await Promise.all([run(), run()]);
  await run();
  const [submission] = await submissionOf(customerId);
  assert.deepEqual(submission?.reasons, { identityNumber: 'expired', validUntil: 'expired' });
  assert.deepEqual(await events(customerId, 'document.expiring'), [
    { customerId, submissionId: submission?.id, expiresOn: dayIn(30), items: ['validUntil', 'identityNumber'] },
  ]);
  assert.ok(await mayTrade(customerId));

  const { browser, shown } = await back(customerId);
  assert.match(shown.text, /has expired/i);
  assert.doesNotMatch(shown.text, /name="answer-firstName"/, 'what is still valid is asked for again');
  const over = await browser.go('details', { 'answer-identityNumber': 'NEW12345', 'answer-validUntil': dayIn(-1) });
  assert.match(over.text, /must be today or later/);
  const done = await browser.go('details', { 'answer-identityNumber': 'NEW12345', 'answer-validUntil': dayIn(400) });
  assert.equal(done.title, 'You are verified', done.text);
  world.clock.advance(60 * DAY);
  await run();
  assert.deepEqual(await standing(customerId), { level: 1, verification: 'verified' });
  assert.equal((await events(customerId, 'document.expiring')).length, 1);
  world.clock.advance(330 * DAY);
  await run();
  assert.equal((await events(customerId, 'document.expiring')).length, 2, 'the new document has no expiry');
});

test('on the last day the customer still trades; after it the customer does not, and a new document ends that', async () => {
  const { customerId } = await verified(40);
  world.clock.advance(40 * DAY);
  await run();
  assert.ok(await mayTrade(customerId));
  world.clock.advance(DAY);
  await run();
  await run();
  assert.deepEqual(await standing(customerId), { level: 1, verification: 'failed' });
  assert.ok(!(await mayTrade(customerId)));
  assert.equal(
    (await events(customerId, 'customer.verification')).filter(({ verification }) => verification === 'failed').at(-1)
      ?.failedReason,
    'document_expired',
  );
  const fallen = await world.query(`select outcome from verifications where customer_id = $1 and verifier = 'expiry'`, [
    customerId,
  ]);
  assert.equal(fallen.length, 1);
  const status = (await acme.post('kyc/status', { customerId })).body.data;
  assert.doesNotMatch(JSON.stringify(status), /DOC1/);
  const { browser, shown } = await back(customerId);
  assert.match(shown.text, /has expired/i);
  const done = await browser.go('details', { 'answer-identityNumber': 'NEW98765', 'answer-validUntil': dayIn(400) });
  assert.equal(done.title, 'You are verified', done.text);
  assert.deepEqual(await standing(customerId), { level: 1, verification: 'verified' });
});

test('a new document is checked for the level that the customer has, not for the one from which customers trade', async () => {
  const { customerId } = await verified(40);
  await world.db.asSystem(async (tx) => {
    const raised = {
      customer: await findCustomer(tx, customerId),
      verifier: 'ada',
      outcome: 'verified',
      level: 3,
    } as const;
    await recordVerification(tx, { ...raised, now: world.clock.now() });
  });
  world.clock.advance(11 * DAY);
  await run();
  const { browser } = await back(customerId);
  const done = await browser.go('details', { 'answer-identityNumber': 'NEW45678', 'answer-validUntil': dayIn(400) });
  assert.equal(done.title, 'You are verified', done.text);
  assert.equal(world.asked.findLast((one) => one.customerId === customerId)?.level, 3);
  assert.deepEqual(await standing(customerId), { level: 3, verification: 'verified' });
});

test('a job that did not run for long asks and ends trading in one run', async () => {
  const { customerId } = await verified(5);
  world.clock.advance(50 * DAY);
  await run();
  assert.ok(!(await mayTrade(customerId)));
  assert.equal((await events(customerId, 'document.expiring')).length, 1);
  assert.equal((await submissionOf(customerId))[0]?.state, 'open');
});

test('a new document that is still being checked after the last day does not let the customer trade', async () => {
  const { customerId } = await verified(10);
  await run();
  world.verifier.finding = { outcome: 'in_review', level: 0, pending: { callsBack: true } };
  const { browser } = await back(customerId);
  await browser.go('details', { 'answer-identityNumber': 'ANY12345', 'answer-validUntil': dayIn(400) });
  assert.equal((await standing(customerId)).verification, 'in_review');
  assert.ok(await mayTrade(customerId));
  world.clock.advance(11 * DAY);
  await run();
  assert.deepEqual(await standing(customerId), { level: 1, verification: 'in_review' });
  assert.ok(!(await mayTrade(customerId)));
  const version = (await world.db.asSystem((tx) => givenDetails(tx, customerId)))?.version ?? 0;
  await decided(customerId, version);
  assert.deepEqual(await standing(customerId), { level: 1, verification: 'verified' });
  await run();
  assert.ok(await mayTrade(customerId));
});

const decided = async (customerId: string, version: number, expiresOn?: string) =>
  await world.db.asSystem((tx) =>
    decideReview(tx, {
      ...{ customerId, version, outcome: 'verified', level: 1, reason: 'seen', told: 'seen', by: 'ada' },
      ...{ expiresOn, now: world.clock.now() },
    }),
  );

test('the day that a reviewer reads in the document replaces the one that was given with it', async () => {
  world.verifier.finding = { outcome: 'in_review', level: 0, pending: { callsBack: true } };
  const { kycUrl, customerId } = await world.invited(acme);
  const browser = openBrowser();
  await browser.login(kycUrl);
  await browser.go('details', answers({ identityNumber: 'READ12345', validUntil: dayIn(900) }));
  await decided(customerId, 1, dayIn(20));
  await run();
  assert.equal((await events(customerId, 'document.expiring'))[0]?.expiresOn, dayIn(20));
});

test('a day that a provider finds in the document counts from today on; one in the past does not end what it verified', async () => {
  for (const [expiresOn, asked] of [
    [dayIn(-200), []],
    [dayIn(15), [dayIn(15)]],
  ] as const) {
    world.verifier.finding = { outcome: 'verified', level: 1, expiresOn };
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    const own = { identityNumber: `PROV${expiresOn.replaceAll('-', '')}`, validUntil: dayIn(900) };
    assert.equal((await browser.go('details', answers(own))).title, 'You are verified');
    await run();
    assert.deepEqual(
      (await events(customerId, 'document.expiring')).map((one) => one.expiresOn),
      asked,
    );
    assert.ok(await mayTrade(customerId));
  }
});

test('a customer who is blocked is not asked before the block ends, and does not trade then', async () => {
  const { customerId } = await verified(10);
  await world.db.asSystem((tx) => blockCustomer(tx, customerId, world.clock.now()));
  world.clock.advance(11 * DAY);
  await run();
  assert.deepEqual(await events(customerId, 'document.expiring'), []);
  await world.query('update customers set blocked_at = null where id = $1', [customerId]);
  assert.ok(!(await mayTrade(customerId)));
  await run();
  assert.equal((await events(customerId, 'document.expiring')).length, 1);
});

test('a customer whose step fails does not keep the others from being asked, and the job fails at its end', async () => {
  // The one that fails comes first: its document expires earlier.
  const first = await verified(9);
  const second = await verified(10);
  const guard = `create function cloverleaf.refuse_one() returns trigger language plpgsql as $$ begin
      if new.customer_id = '${first.customerId}' then raise exception 'broken'; end if; return new; end $$;
    create trigger refuse_one before update on cloverleaf.document_expiries for each row execute function cloverleaf.refuse_one()`;
  await world.query(guard);
  try {
    await assert.rejects(run(), /broken/);
    assert.equal((await events(second.customerId, 'document.expiring')).length, 1);
    assert.deepEqual(await events(first.customerId, 'document.expiring'), []);
  } finally {
    await world.query('drop trigger refuse_one on cloverleaf.document_expiries; drop function cloverleaf.refuse_one()');
  }
  await run();
  assert.equal((await events(first.customerId, 'document.expiring')).length, 1);
});

test('a form may say what expires only of a date, and only of its own fields and files', async () => {
  const refused = async (field: object): Promise<unknown> => {
    const form = { ...PERSON_FORM, validUntil: { label: 'Valid until', required: 1, ...field } };
    const at = { effectiveAt: world.clock.now(), by: 'ada', now: world.clock.now() };
    const saving = world.db.asSystem((tx) =>
      saveForm(tx, { kind: 'INDIVIDUAL', level: 5, form, needsDocument: false, ...at }),
    );
    return await saving.then(
      () => undefined,
      (error: Refusal) => error.facts.fields,
    );
  };
  assert.deepEqual(await refused({ expires: ['identityNumber'] }), {
    'validUntil.expires': 'must be part of a field of the type date',
  });
  const why = { 'validUntil.expires': 'must be a list of fields and files of this form' };
  for (const expires of [['passport'], [], 'identityNumber', [7]])
    assert.deepEqual(await refused({ type: 'date', expires }), why);
  assert.equal(await refused({ type: 'date', expires: ['passportFront.jpg'] }), undefined);
});

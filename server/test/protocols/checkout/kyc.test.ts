/**
 * The verification page over HTTP: the way of a customer through it, and its answers to strangers and mistakes.
 *
 * Long because its pages share one server and one browser.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  BUSINESS_FORM,
  blockCustomer,
  detachPhone,
  findCustomer,
  recordFinding,
  saveDetails,
  saveForm,
} from '../../../src/customers/index.ts';
import { suspendPartner } from '../../../src/partners/index.ts';
import { newPhone } from '../../support/client.ts';
import { findInDump } from '../../support/dump.ts';
import { untilLocked } from '../../support/locks.ts';
import type { TestPartner } from '../whitelabel/environment.ts';
import {
  BACK,
  DETAILS,
  openBrowser,
  type PagesEnvironment,
  pagesEnvironment,
  unescaped,
  wayBack,
} from './environment.ts';

let world: PagesEnvironment;
let acme: TestPartner;

before(async () => {
  world = await pagesEnvironment();
  acme = await world.partner('Acme <b>&"Wallet"</b>');
});
after(async () => await world?.stop());
beforeEach(() => {
  world.verifier.finding = undefined;
  world.verifier.isAway = false;
});

const stand = async (customerId: string) => (await acme.post('kyc/status', { customerId })).body.data;
const MINUTE = 60_000;

describe('a customer', () => {
  test('logs in by a code, gives details, is verified and goes back with id and status', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    const first = await browser.open(kycUrl);
    assert.equal(first.status, 200);
    assert.equal(first.title, 'Log in');
    assert.match(first.text, /ending in 10\./);
    assert.doesNotMatch(first.text, /98765/, 'the page shows the whole number');
    assert.equal((await stand(customerId)).status, 'LOGIN_REQUIRED');

    const sent = await browser.go('code');
    assert.match(sent.text, /the code is 123456/);
    const form = await browser.go('login', { code: '123 456' });
    assert.equal(form.title, 'Your details');
    assert.equal((await stand(customerId)).status, 'OTP_COMPLETED');

    const done = await browser.go('details', DETAILS);
    assert.equal(done.title, 'You are verified');
    assert.equal((await stand(customerId)).status, 'BASIC_KYC_COMPLETED');
    const back = wayBack(done);
    assert.equal(back?.origin + (back?.pathname ?? ''), 'https://wallet.example/back');
    assert.deepEqual(Object.fromEntries(back?.searchParams ?? []), {
      flow: '7',
      customerId,
      status: 'BASIC_KYC_COMPLETED',
    });
    assert.equal((await openBrowser(browser.cookies).open(kycUrl)).title, 'You are verified', 'also later');
  });

  test('continues here the submission that a program has begun, with its form, and completes it', async () => {
    const begun = async () => {
      const { kycUrl, customerId } = await world.invited(acme, { type: 'BUSINESS' });
      const { body } = await acme.post('kyb/submit', { customerId, entityName: 'Rao Traders' });
      assert.equal(body.data.status, 'UPDATE_REQUIRED', JSON.stringify(body));
      return { kycUrl, customerId, submissionId: body.data.submissionId };
    };
    const verified = async (kycUrl: string) => {
      const browser = openBrowser();
      const shown = await browser.login(kycUrl);
      assert.match(shown.text, /name="entityName"[^>]* value="Rao Traders"/);
      assert.equal((await browser.go('details', DETAILS)).title, 'You are verified');
    };
    const one = await begun();
    await verified(one.kycUrl);
    const { status, reasons } = (await acme.post('kyb/status', { customerId: one.customerId })).body.data;
    assert.deepEqual([status, reasons], ['COMPLETED', undefined]);
    const { customerId, submissionId } = one;
    const added = await acme.post('kyb/submit', { customerId, submissionId, entityName: 'Rao & Sons' });
    assert.deepEqual([added.status, added.body.reason], [417, 'submission_over']);

    const other = await begun();
    const now = world.clock.now();
    const form = { form: { ...BUSINESS_FORM, licence: { label: 'Licence', required: 1 } }, needsDocument: false };
    const saved = await world.db.asSystem((tx) =>
      saveForm(tx, { kind: 'BUSINESS', level: 5, ...form, effectiveAt: now, by: 'ada', now }),
    );
    await world.query('update submissions set form_id = $2 where id = $1', [other.submissionId, saved?.id]);
    const browser = openBrowser();
    assert.match((await browser.login(other.kycUrl)).text, /<label for="answer-licence">Licence/);
    const answers = Object.entries(DETAILS).map(([name, value]) => [`answer-${name}`, value]);
    const lacks = await browser.go('details', Object.fromEntries(answers));
    assert.match(lacks.text, /Enter: Licence/);
    const done = await browser.go('details', { ...Object.fromEntries(answers), 'answer-licence': 'L-4711' });
    assert.equal(done.title, 'You are verified');
  });

  test('whose number was detached is logged out in every browser', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    assert.equal((await browser.login(kycUrl)).title, 'Your details');
    await world.db.asSystem(async (tx) => {
      await detachPhone(tx, await findCustomer(tx, customerId), world.clock.now());
    });
    assert.equal((await browser.open(kycUrl)).title, 'Log in', 'the former owner of the number is still the customer');
    const sent = await browser.go('details', DETAILS);
    assert.equal(sent.title, 'Log in', 'a form of the ended session was accepted');
    assert.equal((await stand(customerId)).status, 'LOGIN_REQUIRED');
  });

  test('whose number was detached and who logs in with another one has only that session', async () => {
    const given = { clientCustomerId: `moved ${Math.random()}`, phoneNumber: newPhone() };
    const { kycUrl, customerId } = await world.invited(acme, given);
    const [before, after] = [openBrowser(), openBrowser()];
    assert.equal((await before.login(kycUrl)).title, 'Your details');
    await world.db.asSystem(async (tx) => {
      await detachPhone(tx, await findCustomer(tx, customerId), world.clock.now());
    });
    const again = await acme.post('kyc/url', { customerId, phoneNumber: newPhone(), type: 'INDIVIDUAL' });
    assert.equal((await after.login(again.body.data.kycUrl)).title, 'Your details');
    assert.equal((await before.open(kycUrl)).title, 'Log in', 'the old cookie is a login again');
    assert.equal((await before.go('details', DETAILS)).title, 'Log in', 'a form of the old session was accepted');
    assert.equal((await after.open(kycUrl)).title, 'Your details');
    const other = await acme.post('kyc/url', { customerId, phoneNumber: newPhone(), type: 'INDIVIDUAL' });
    assert.equal(other.status, 200, other.text);
    assert.equal((await after.open(kycUrl)).title, 'Log in', 'a number that the partner has replaced is logged in');
  });

  test('with closeAfterLogin returns as soon as the code was right, and without a return address is told to close the page', async () => {
    const { kycUrl, customerId } = await world.invited(acme, { closeAfterLogin: true });
    const gone = await openBrowser().login(kycUrl);
    const refresh = unescaped(/http-equiv="refresh" content="0;url=([^"]*)"/.exec(gone.text)?.[1] ?? '');
    assert.equal(refresh, `${BACK}&customerId=${customerId}&status=OTP_COMPLETED`);

    const { kycUrl: nowhere } = await world.invited(acme, { closeAfterLogin: true, kycRedirectUrl: '' });
    const closed = await openBrowser().login(nowhere);
    assert.match(closed.text, /data-close/);
    assert.match(closed.text, /You can close this window/);
    assert.doesNotMatch(closed.text, /http-equiv/);
  });

  test('sees every mistake at once, each at its field, and keeps the valid answers', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    const wrong = await browser.go('details', {
      ...DETAILS,
      firstName: ' Leading',
      lastName: '',
      dob: '2023-02-31',
      identityNumber: 'A-1',
      sex: 'unlisted',
      city: 'Köln',
      postalCode: 'x'.repeat(200),
    });
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /<title>Error: /);
    for (const name of ['firstName', 'lastName', 'dob', 'identityNumber', 'sex', 'city', 'postalCode']) {
      assert.match(wrong.text, new RegExp(`href="#${name}"`), name);
      assert.match(
        wrong.text,
        new RegExp(`id="${name}"[^>]*aria-describedby="${name}-why"[^>]*aria-invalid="true"`),
        name,
      );
    }
    assert.doesNotMatch(wrong.text, /id="addressLine1"[^>]*aria-invalid/);
    assert.match(wrong.text, /value="17 Fjordmail Crescent"/);
    assert.equal((await stand(customerId)).status, 'OTP_COMPLETED');
    assert.equal(
      (await browser.go('details', { ...DETAILS, dob: '2999-01-01' })).status,
      400,
      'a date of birth in the future was accepted',
    );
  });

  test('who sends the form twice at once is verified once', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    const before = world.asked.length;
    const answers = await Promise.all(Array.from({ length: 4 }, () => browser.send('details', DETAILS)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [303, 303, 303, 303],
    );
    assert.equal((await browser.send('details', DETAILS)).status, 303);
    const keys = new Set(world.asked.slice(before).map(({ key }) => key));
    assert.deepEqual([...keys], [`details:${customerId}:1`]);
    const rows = await world.query('select outcome from verifications where customer_id = $1 order by id', [
      customerId,
    ]);
    assert.deepEqual(
      rows.map(({ outcome }) => outcome),
      ['in_review', 'verified'],
    );
  });

  test('whose second form is read before the first one is verified is verified once', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    const before = world.asked.length;
    // The first submission is stored, verified and committed while the second one waits to store its own.
    const late = await world.db.asSystem(async (tx) => {
      const customer = await findCustomer(tx, customerId);
      const now = world.clock.now();
      const { version } = await saveDetails(tx, world.vault, { customer, details: DETAILS, now });
      const finding = { outcome: 'verified', level: 1 } as const;
      await recordFinding(tx, { customerId, version, verifier: 'simulated', finding, now });
      const sent = browser.send('details', DETAILS);
      await untilLocked('the second one waits', tx);
      return { sent };
    });
    assert.equal((await late.sent).status, 303);
    assert.deepEqual(await world.query('select version from customer_details where customer_id = $1', [customerId]), [
      { version: 1 },
    ]);
    assert.deepEqual(world.asked.slice(before), [], 'the verifier was asked about details that it had verified');
    assert.equal((await stand(customerId)).status, 'BASIC_KYC_COMPLETED');
  });

  test('who corrects failed details twice at once is checked once more', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    world.verifier.finding = { outcome: 'failed', level: 0, reason: 'unreadable' };
    await browser.go('details', DETAILS);
    world.verifier.finding = undefined;
    const before = world.asked.length;
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.send('details', DETAILS)));
    assert.ok(answers.every(({ status }) => status === 303));
    const keys = new Set(world.asked.slice(before).map(({ key }) => key));
    assert.deepEqual([...keys], [`details:${customerId}:2`]);
  });

  test('who sends the right code twice is logged in', async () => {
    const { kycUrl } = await world.invited(acme);
    const browser = openBrowser();
    await browser.open(kycUrl);
    await browser.go('code');
    const values = { csrf: browser.csrf(), intent: 'login', code: '123456' };
    const post = () =>
      fetch(kycUrl, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') },
        body: new URLSearchParams(values),
      });
    const both = await Promise.all([post(), post()]);
    assert.deepEqual(
      both.map(({ status }) => status),
      [303, 303],
    );
  });

  test('sees a pending check refresh, and can correct the details when it fails', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    world.verifier.finding = { outcome: 'in_review', level: 0 };
    assert.equal((await browser.go('details', DETAILS)).title, 'We are checking your details');
    assert.equal((await stand(customerId)).status, 'IN_REVIEW');
    world.verifier.finding = { outcome: 'failed', level: 0, reason: 'unreadable' };
    const failed = await browser.go('check');
    assert.equal(failed.title, 'Your details');
    assert.match(failed.text, /could not confirm your details/);
    assert.equal((await stand(customerId)).status, 'TEMPORARY_FAILED');
    world.verifier.finding = undefined;
    assert.equal((await browser.go('details', DETAILS)).title, 'You are verified');
    assert.equal(world.asked.at(-1)?.key, `details:${customerId}:2`, 'another verification');
  });

  test('keeps the details while the verifier is unavailable, and the same details are checked later', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    world.verifier.isAway = true;
    const away = await browser.go('details', DETAILS);
    assert.equal(away.status, 503);
    assert.match(away.text, /We have saved your details/);
    world.verifier.isAway = false;
    assert.equal((await browser.open(kycUrl)).title, 'We are checking your details');
    assert.equal((await browser.go('check')).title, 'You are verified');
    assert.equal(world.asked.at(-1)?.key, `details:${customerId}:1`);
  });

  test('who is blocked or refused for good is shown no form, and a form from them is refused', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    await world.db.asSystem((tx) => blockCustomer(tx, customerId, world.clock.now()));
    assert.equal((await browser.go('details', DETAILS)).title, 'We cannot verify you');
    const rows = await world.query('select 1 from customer_details where customer_id = $1', [customerId]);
    assert.equal(rows.length, 0);
  });
});

describe('the database', () => {
  test('has no details, phone numbers or codes in clear in a dump', async () => {
    const { kycUrl } = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(kycUrl);
    await browser.go('details', DETAILS);
    const { rows } = { rows: await world.query('select octet_length(details) as bytes from customer_details') };
    assert.ok(rows.length > 0 && rows.every(({ bytes }) => bytes > 100));
    const words = [
      'Zebulon',
      'Quagmire',
      '1984-02-29',
      'ZQ4711X0815',
      'Fjordmail',
      'Wolverhampton',
      'WV1 4QZ',
      '9876543210',
    ];
    assert.deepEqual(await findInDump(world.adminUrl, words), []);
    const codes = await world.query(`select code from login_sends where code is not null`);
    assert.equal(
      new Set(codes.map(({ code }) => code.toString('hex'))).size,
      codes.length,
      'equal codes are stored as equal values',
    );
    assert.ok(codes.every(({ code }) => code.length === 32 && !code.includes('123456')));
  });
});

describe('codes', () => {
  test('five wrong ones and the right one no longer counts; a new one does', async () => {
    const { kycUrl } = await world.invited(acme);
    const browser = openBrowser();
    await browser.open(kycUrl);
    await browser.go('code');
    for (let i = 0; i < 4; i += 1) {
      const wrong = await browser.go('login', { code: '000000' });
      assert.equal(wrong.status, 400);
      assert.match(wrong.text, /not the code we sent/);
      assert.match(wrong.text, /id="code"[^>]*aria-invalid="true"/);
    }
    assert.match((await browser.go('login', { code: '000000' })).text, /can no longer be used/);
    assert.match((await browser.go('login', { code: '123456' })).text, /can no longer be used/);
    world.clock.advance(MINUTE);
    await browser.go('code');
    assert.equal((await browser.go('login', { code: '123456' })).title, 'Your details');
  });

  test('are also counted when they are sent at once', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.open(kycUrl);
    await browser.go('code');
    await Promise.all(Array.from({ length: 20 }, () => browser.send('login', { code: '000000' })));
    const rows = await world.query('select tries from login_sends where customer_id = $1', [customerId]);
    assert.deepEqual(rows, [{ tries: 5 }]);
  });

  test('expire after five minutes', async () => {
    const { kycUrl } = await world.invited(acme);
    const browser = openBrowser();
    await browser.open(kycUrl);
    await browser.go('code');
    world.clock.advance(5 * MINUTE);
    const late = await browser.go('login', { code: '123456' });
    assert.equal(late.status, 400);
    assert.equal(late.title, 'Log in');
  });

  test('are sent at most every half minute, and five times an hour', async () => {
    const { kycUrl } = await world.invited(acme);
    const browser = openBrowser();
    await browser.open(kycUrl);
    await browser.go('code');
    const soon = await browser.go('code');
    assert.equal(soon.status, 429);
    assert.ok(Number(soon.headers.get('retry-after')) <= 30);
    for (let i = 0; i < 4; i += 1) {
      world.clock.advance(MINUTE);
      assert.equal((await browser.send('code')).status, 303);
    }
    world.clock.advance(MINUTE);
    const many = await browser.go('code');
    assert.equal(many.status, 429);
    assert.ok(Number(many.headers.get('retry-after')) > 3_000);
  });

  test('fifteen wrong in an hour lock the session that guessed; the customer gets in from another', async () => {
    const { kycUrl } = await world.invited(acme);
    const browser = openBrowser();
    await browser.open(kycUrl);
    let last = 0;
    for (let i = 0; i < 15; i += 1) {
      if (i % 5 === 0) {
        world.clock.advance(MINUTE);
        await browser.go('code');
      }
      last = (await browser.go('login', { code: '000000' })).status;
    }
    assert.equal(last, 429);
    world.clock.advance(MINUTE);
    assert.match((await browser.go('code')).text, /too many wrong codes/);
    assert.match((await browser.go('login', { code: '123456' })).text, /too many wrong codes/);
    assert.equal(
      (await openBrowser().login(kycUrl)).title,
      'Your details',
      'the same link could not be used in another session',
    );
  });

  test('can be requested by another link of the customer when one link has used up its number', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    for (let i = 0; i < 5; i += 1) {
      const guesser = openBrowser();
      await guesser.open(kycUrl);
      assert.equal((await guesser.send('code')).status, 303);
      world.clock.advance(MINUTE);
    }
    const sixth = openBrowser();
    await sixth.open(kycUrl);
    assert.equal((await sixth.go('code')).status, 429);
    const { body } = await acme.post('kyc/url', { customerId });
    assert.equal((await openBrowser().login(body.data.kycUrl)).title, 'Your details');
  });

  test('are valid in one browser only', async () => {
    const { kycUrl } = await world.invited(acme);
    const [one, two] = [openBrowser(), openBrowser()];
    await two.open(kycUrl);
    assert.equal((await one.login(kycUrl)).title, 'Your details');
    for (const code of ['123456', '000000']) {
      const stolen = await two.go('login', { code });
      assert.deepEqual([stolen.title, stolen.status], ['Log in', 400]);
    }
  });

  test('are not offered by a server that cannot send them, and the page says so', async () => {
    const production = await pagesEnvironment({ sender: null });
    try {
      const { kycUrl } = await production.invited(await production.partner('Nosender'));
      const browser = openBrowser();
      const page = await browser.open(kycUrl);
      assert.equal(page.status, 503);
      assert.match(page.text, /cannot send codes/);
      assert.doesNotMatch(page.text, /123456/);
    } finally {
      await production.stop();
    }
  });

  test('are six random digits where a real sender is configured', async () => {
    const seen: { phone: string; code: string }[] = [];
    const real = await pagesEnvironment({
      sender: { sendCode: async (phone, code) => void seen.push({ phone, code }) },
    });
    try {
      const partner = await real.partner('Sender');
      for (let i = 0; i < 3; i += 1) {
        const { kycUrl } = await real.invited(partner);
        const browser = openBrowser();
        await browser.open(kycUrl);
        const sent = await browser.go('code');
        assert.doesNotMatch(sent.text, new RegExp(seen.at(-1)?.code ?? 'none'));
        assert.equal((await browser.go('login', { code: seen.at(-1)?.code ?? '' })).title, 'Your details');
      }
      assert.ok(seen.every(({ phone, code }) => /^\+91 [0-9]{5} 43210$/.test(phone) && /^\d{6}$/.test(code)));
      assert.ok(new Set(seen.map(({ code }) => code)).size > 1);
    } finally {
      await real.stop();
    }
  });
});

describe('strangers', () => {
  test('with a forged, cut or foreign token get one plain page, with an expired one another', async () => {
    const { kycUrl } = await world.invited(acme);
    const browser = openBrowser();
    for (const url of [`${kycUrl.slice(0, -3)}AAA`, `${world.baseUrl}/kyc/x`, kycUrl.replace('/kyc/', '/bank/')]) {
      const page = await browser.open(url);
      assert.equal(page.status, 404, url);
      assert.equal(page.title, 'This link does not work');
      assert.equal(page.headers.get('set-cookie'), null);
    }
    const post = await browser.ask(`${world.baseUrl}/kyc/x`, {
      method: 'POST',
      body: new URLSearchParams({ intent: 'code' }),
    });
    assert.equal(post.status, 404);
    assert.equal((await browser.open(`${world.baseUrl}/kyc`)).status, 404);
    assert.equal((await browser.open(`${world.baseUrl}/kyc/a/b`)).status, 404);
    assert.equal((await browser.ask(kycUrl, { method: 'HEAD' })).status, 200);
    const put = await browser.ask(kycUrl, { method: 'PUT' });
    assert.equal(put.status, 405);
    assert.equal(put.headers.get('allow'), 'GET, HEAD, POST');
    world.clock.advance(24 * 60 * MINUTE);
    const ended = await browser.open(kycUrl);
    assert.equal(ended.status, 410);
    assert.equal(ended.title, 'This link has ended');
  });

  test('without the form’s own token do nothing', async () => {
    const { kycUrl, customerId } = await world.invited(acme);
    const browser = openBrowser();
    await browser.open(kycUrl);
    for (const csrf of ['', '0'.repeat(32), browser.csrf().slice(1)]) {
      const refused = await browser.send('code', { csrf });
      assert.equal(refused.status, 403, csrf);
    }
    const bare = await fetch(kycUrl, {
      method: 'POST',
      body: new URLSearchParams({ csrf: browser.csrf(), intent: 'code' }),
    });
    assert.equal(bare.status, 403, 'a form without a cookie was accepted');
    assert.deepEqual(await world.query('select 1 from login_sends where customer_id = $1', [customerId]), []);
    await browser.login(kycUrl);
    assert.equal((await browser.send('details', { ...DETAILS, csrf: 'x' })).status, 403);
    assert.deepEqual(await world.query('select 1 from customer_details where customer_id = $1', [customerId]), []);
  });

  test("with another customer's session have none", async () => {
    const mine = await world.invited(acme);
    const theirs = await world.invited(acme);
    const browser = openBrowser();
    await browser.login(mine.kycUrl);
    const cookies = new Map(browser.cookies);
    const refused = await openBrowser(cookies).ask(theirs.kycUrl, {
      method: 'POST',
      body: new URLSearchParams({ csrf: browser.csrf(), intent: 'details', ...DETAILS }),
    });
    assert.equal(refused.status, 403);
    assert.equal((await openBrowser(cookies).open(theirs.kycUrl)).title, 'Log in');
    const [name = '', encrypted = ''] = [...browser.cookies][0] ?? [];
    const bent = new Map([[name, `${encrypted.slice(0, -4)}AAAA`]]);
    assert.equal((await openBrowser(bent).open(mine.kycUrl)).title, 'Log in', 'an altered cookie was accepted');
    assert.equal((await browser.open(mine.kycUrl)).title, 'Your details');
    world.clock.advance(31 * MINUTE);
    assert.equal((await browser.open(mine.kycUrl)).title, 'Log in', 'the session is still valid after half an hour');
  });

  test('put no markup into a page: not by a name, not by a form, not by the return address', async () => {
    const script = `"><script>alert(1)</script>'`;
    const { kycUrl } = await world.invited(acme, {
      kycRedirectUrl: `https://wallet.example/'"><script>x</script>?a=${encodeURIComponent(script)}`,
    });
    const browser = openBrowser();
    const first = await browser.open(kycUrl);
    assert.match(first.text, /Acme &#60;b&#62;&#38;&#34;Wallet&#34;/);
    await browser.login(kycUrl);
    const wrong = await browser.go('details', { ...DETAILS, firstName: script, city: script, intent: 'details' });
    const done = await browser.go('details', { ...DETAILS, firstName: script });
    assert.equal(done.title, 'You are verified');
    for (const { text } of [first, wrong, done]) {
      assert.equal(text.match(/<script/g)?.length, 1, 'the page has another script than our own');
      assert.doesNotMatch(text, /<b>|alert\(1\)<|onerror=/);
    }
    assert.equal(wayBack(done)?.searchParams.get('a'), script);
    assert.equal(
      (
        await acme.post('kyc/url', {
          clientCustomerId: 'x1',
          phoneNumber: '+91 98765 43210',
          type: 'INDIVIDUAL',
          kycRedirectUrl: 'javascript:alert(1)',
        })
      ).status,
      400,
    );
  });

  test('get strict headers with every answer', async () => {
    const { kycUrl } = await world.invited(acme);
    const browser = openBrowser();
    for (const answer of [
      await browser.open(kycUrl),
      await browser.send('code'),
      await browser.open(`${world.baseUrl}/kyc/x`),
    ]) {
      const csp = answer.headers.get('content-security-policy') ?? '';
      for (const rule of [
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ]) {
        assert.ok(csp.includes(rule), rule);
      }
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(answer.headers.get('strict-transport-security'), null, 'the header was sent over plain HTTP');
    }
    const { text } = await browser.open(kycUrl);
    assert.doesNotMatch(text, / style=| on[a-z]+=|https?:\/\//, 'the page has inline code or a foreign URL');
    for (const [, address = ''] of text.matchAll(/(?:href|src)="(\/hosted\/[^"]+)"/g)) {
      const asset = await fetch(`${world.baseUrl}${address}`);
      assert.equal(asset.status, 200);
      assert.match(asset.headers.get('content-type') ?? '', /^text\/(css|javascript)/);
    }
  });

  test('cannot send a large body, or anything but a form', async () => {
    const { kycUrl } = await world.invited(acme);
    const browser = openBrowser();
    await browser.open(kycUrl);
    assert.equal((await browser.send('details', { firstName: 'x'.repeat(70_000) })).status, 413);
    const json = await browser.ask(kycUrl, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(json.status, 415);
    assert.match(json.headers.get('content-type') ?? '', /^text\/html/);
    assert.equal((await browser.send('nonsense')).status, 200);
  });

  test('of a suspended partner see nothing', async () => {
    const closing = await world.partner('Closing');
    const { kycUrl } = await world.invited(closing);
    await world.db.asSystem((tx) => suspendPartner(tx, closing.partner.id, world.clock.now()));
    assert.equal((await openBrowser().open(kycUrl)).status, 403);
  });
});

test('behind TLS a browser gets a cookie bound to TLS and a strict transport header', async () => {
  const secure = await pagesEnvironment({ publicUrl: 'https://pay.example/ramp/' });
  try {
    const { kycUrl } = await secure.invited(await secure.partner('Secure'));
    const page = await openBrowser().open(kycUrl);
    assert.match(
      page.headers.get('set-cookie') ?? '',
      /^__Host-cloverleaf=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    assert.match(page.headers.get('strict-transport-security') ?? '', /max-age=/);
    assert.match(page.text, /action="\/ramp\/kyc\//, 'the action does not use the path of the public address');
  } finally {
    await secure.stop();
  }
});

test('an address that sends too many requests is told to wait, whatever it requests', async () => {
  const limited = await pagesEnvironment({ requestsPerMinute: 5 });
  try {
    const answers = [];
    for (let i = 0; i < 6; i += 1)
      answers.push(await openBrowser().open(`${limited.baseUrl}/${i % 2 ? 'kyc' : 'bank'}/x`));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 404, 404, 404, 404, 429],
    );
    assert.ok(Number(answers.at(-1)?.headers.get('retry-after')) > 0);
  } finally {
    await limited.stop();
  }
});

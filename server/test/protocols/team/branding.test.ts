/** Branding: a member sets name, colours and logo of the hosted pages, on a real server; pages of another partner stay as they are. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { contrast, GROUNDS, type pageColours } from '../../../src/partners/index.ts';
import { type Came, newPhone } from '../../support/client.ts';
import { chunk, jpeg, pdf, png } from '../../support/pictures.ts';
import { openBrowser } from '../checkout/environment.ts';
import { operatorNamed, type Person } from '../operator/people.ts';
import { type V1Environment, v1Environment } from '../v1/environment.ts';
import { type MemberClient, memberNamed, type Teamed } from './people.ts';

const SCRIPT = '<script>alert(1)</script>';
const PATH = '/settings/branding';

let world: V1Environment;
let team: Teamed;
let operator: Person;
let owner: MemberClient;
let stranger: MemberClient;
let partnerId = 0n;

before(async () => {
  world = await v1Environment();
  team = { db: world.s.server.db, baseUrl: world.s.server.baseUrl, clock: world.s.clock };
  operator = await operatorNamed(team, 'op', 'admin');
  const idOf = async (apiKey: string): Promise<bigint> =>
    (await world.s.read((tx) =>
      tx.row<{ id: bigint }>('select partner_id as id from api_keys where key = $1', [apiKey]),
    ))!.id;
  partnerId = await idOf(world.keys.apiKey);
  owner = await memberNamed(team, partnerId, 'olga', 'owner');
  stranger = await memberNamed(team, await idOf(world.otherKeys.apiKey), 'sven', 'owner');
});
after(() => world?.s.close());

const picture = (width = 900, height = 300, background = '#cc2200') =>
  sharp({ create: { width, height, channels: 4, background } });
const sets = (body: Record<string, unknown>, by = owner) => by.does('PATCH', PATH, body);
const unsets = () => sets({ displayName: null, accent: null, accentDark: null, logo: null });
const base64 = (bytes: Buffer): string => bytes.toString('base64');
const fetched = (path: string) => fetch(`${team.baseUrl}${path}`);

const GENERATE = '/onramp/api/v2/common/transaction/generateLink';
const TRADE = { type: '2', coinCode: 'usdc', network: 'matic20', quantity: '100', fiatType: '1' };

/** The first page of each kind of link. */
async function pages(): Promise<Record<string, string>> {
  const id = await world.customer();
  const account = await world.account(id);
  const { link } = await world.s.told(GENERATE, TRADE);
  const links = {
    kyc: await world.api.does('POST', `/customers/${id}/verification-link`, {}),
    bank: await world.api.does('POST', `/customers/${id}/account-link`, {}),
    confirm: await world.api.does('POST', `/customers/${id}/destinations/${account.id}/confirmation-link`, {}),
    checkout: { url: link },
  };
  return await opened(links);
}

/** The same of the other partner, for a customer who has not logged in. */
async function othersPages(): Promise<Record<string, string>> {
  const enrolled = { reference: 'branding', kind: 'individual', phone: newPhone() };
  const { id } = await world.other.does('POST', '/customers', enrolled);
  return await opened({
    kyc: await world.other.does('POST', `/customers/${id}/verification-link`, {}),
    bank: await world.other.does('POST', `/customers/${id}/account-link`, {}),
  });
}

async function opened(links: Record<string, Came>): Promise<Record<string, string>> {
  const shown = await Promise.all(
    Object.entries(links).map(async ([kind, { url }]) => [kind, (await openBrowser().open(url)).text] as const),
  );
  return Object.fromEntries(shown);
}

describe('the colours of a partner', () => {
  test('that are hard to read are declined by field and rule, with one that is not', async () => {
    const bad = await owner.asks('PATCH', PATH, { accent: '#ffcc00', accentDark: '#331100' });
    assert.equal(bad.status, 400);
    const { accent, accentDark } = bad.body.fields;
    assert.match(
      accent,
      /contrast of at least 4\.5 to 1 with the light background #ffffff \(WCAG 2\.2, 1\.4\.3\), and has 1\.51/,
    );
    assert.match(accentDark, /with the dark background #17171b/);
    assert.equal((await owner.does('GET', PATH)).accent, null, 'a declined colour was stored');
    const nearest = (said: string): string => /#[0-9a-f]{6}$/.exec(said)?.[0] ?? '';
    const shown = await sets({ accent: nearest(accent), accentDark: nearest(accentDark) });
    assert.deepEqual([shown.colours.light.accent, shown.colours.dark.accent], [nearest(accent), nearest(accentDark)]);
    await unsets();
  });

  test('of any hue have enough contrast on both grounds, the dark one made of the other', async () => {
    for (const accent of ['#000000', '#0000ff', '#767676', '#b00020', '#5b2a86', '#006400', '#8a4b00']) {
      const { colours } = await sets({ accent });
      for (const ground of ['light', 'dark'] as const satisfies (keyof ReturnType<typeof pageColours>)[]) {
        const has = contrast(colours[ground].accent, GROUNDS[ground]);
        assert.ok(has >= 4.5, `${accent} on ${ground} ground has ${has}`);
        assert.equal(colours[ground].contrast, has.toFixed(2));
      }
      const same = await owner.does('GET', `${PATH}/colours?accent=${encodeURIComponent(accent)}`);
      assert.deepEqual(same, colours);
    }
    await unsets();
  });

  test('are no other text, and no style sheet is made of one', async () => {
    for (const accent of ['red', '#fff', '#0B5CAD', '#0b5cad;}', 'url(//evil.example)', SCRIPT])
      assert.match(
        (await owner.asks('PATCH', PATH, { accent })).body.fields.accent,
        /must be a colour such as/,
        accent,
      );
    for (const name of ['ffcc00-8fe3c4', '0b4f3c-17171b', '0b4f3c', '0b4f3c-8fe3c4;', '..%2f..%2fpage'])
      assert.equal((await fetched(`/hosted/accent/${name}.css`)).status, 404, name);
  });
});

describe('a logo', () => {
  test('of each format is re-encoded as a small PNG, and served under the hash of its content', async () => {
    for (const sent of [picture().png(), picture().jpeg(), picture().webp()]) {
      const secret = 'taken at 52.1, 4.3';
      const { logo } = await sets({ logo: base64(await sent.withExif({ IFD0: { Copyright: secret } }).toBuffer()) });
      assert.deepEqual([logo.width, logo.height], [432, 144]);
      const reply = await fetched(logo.path);
      const bytes = Buffer.from(await reply.arrayBuffer());
      assert.equal(reply.status, 200);
      assert.equal(logo.path, `/hosted/logo/${createHash('sha256').update(bytes).digest('hex')}.png`);
      assert.ok(!bytes.includes(secret), 'what the file said besides is served');
      assert.equal((await sharp(bytes).metadata()).format, 'png');
      const said = (name: string) => reply.headers.get(name);
      assert.equal(said('content-type'), 'image/png');
      assert.equal(said('x-content-type-options'), 'nosniff');
      assert.equal(said('content-security-policy'), "default-src 'none'; sandbox");
      assert.equal(said('cross-origin-resource-policy'), 'same-origin');
      assert.equal(said('cache-control'), 'public, max-age=31536000, immutable');
    }
    const { logo } = await owner.does('GET', PATH);
    await unsets();
    assert.equal((await fetched(logo.path)).status, 404, 'a removed logo is still served');
  });

  test('that is no whole picture, is too large, or has something else in it is declined, and nothing is stored', async () => {
    const whole = await picture(64, 64).png().toBuffer();
    const HOSTILE: Record<string, Buffer> = {
      'an SVG': Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`),
      'a web page': Buffer.from(`<html>${SCRIPT}</html>`),
      'a PDF': pdf(),
      'a GIF': await picture(64, 64).gif().toBuffer(),
      'a picture with a page behind it': Buffer.concat([whole, Buffer.from(SCRIPT)]),
      'a picture with a script in its comment': png({ more: [chunk('tEXt', Buffer.from(`Comment\0${SCRIPT}`))] }),
      'a picture that is cut off': whole.subarray(0, -8),
      'a PNG whose pixels are missing': png({ width: 3_000, height: 3_000 }),
      'a JPEG that no decoder reads': withoutTable(jpeg()),
      'a picture of 25 million pixels': await picture(5_000, 5_000).png({ palette: true }).toBuffer(),
    };
    for (const [what, bytes] of Object.entries(HOSTILE)) {
      const { status, body } = await owner.asks('PATCH', PATH, { logo: base64(bytes) });
      assert.deepEqual([status, body.reason], [400, 'malformed_field'], what);
      assert.match(body.fields.logo, /must be/, what);
      assert.ok(!JSON.stringify(body).includes('script'), `${what}: the answer quotes it`);
    }
    const large = base64(Buffer.alloc(257 * 1024, whole));
    assert.match((await owner.asks('PATCH', PATH, { logo: large })).body.fields.logo, /at most 256 KiB/);
    assert.equal((await owner.asks('PATCH', PATH, { logo: 'A'.repeat(400_000) })).status, 413);
    assert.equal((await owner.does('GET', PATH)).logo, null);
    for (const name of [`${'0'.repeat(64)}.png`, 'x.png', '..%2f..%2fpage.css'])
      assert.equal((await fetched(`/hosted/logo/${name}`)).status, 404, name);
  });
});

/** A decoder needs this table; a check of the structure does not look for it. */
function withoutTable(bytes: Buffer): Buffer {
  const broken = Buffer.from(bytes);
  broken[broken.indexOf(Buffer.from([0xff, 0xdb])) + 1] = 0xef;
  return broken;
}

describe('pages with branding', () => {
  test('have name, colours and logo of their partner on every link; those of another partner have none of it', async () => {
    const before = await pages();
    const logo = base64(await picture().png().toBuffer());
    const set = await sets({ displayName: `Zoë & <b>Co</b>`, accent: '#5b2a86', logo });
    for (const [kind, text] of Object.entries(await pages())) {
      assert.match(text, /For Zoë &#38; &#60;b&#62;Co&#60;\/b&#62;</, kind);
      assert.match(text, new RegExp(`<img class="logo" src="${set.logo.path}" width="432" height="144" alt="">`), kind);
      const sheet = /href="(\/hosted\/accent\/[^"]+)"/.exec(text)?.[1] ?? '';
      const css = await fetched(sheet);
      assert.equal(css.headers.get('content-type'), 'text/css; charset=utf-8');
      assert.match(await css.text(), /--intent: #5b2a86;[\s\S]*prefers-color-scheme: dark/, kind);
    }
    const others = await othersPages();
    for (const [kind, text] of Object.entries(others))
      assert.ok(!/Zoë|hosted\/accent|hosted\/logo/.test(text), `${kind} of another partner: ${text}`);
    assert.equal((await stranger.does('GET', PATH)).displayName, null);
    await unsets();
    const top = (text = '') => text.slice(0, text.indexOf('<h1>'));
    const again = await pages();
    for (const [kind, text] of Object.entries(before)) {
      assert.match(top(text), /<header><p>For acme-wallet<\/p><\/header>/, kind);
      assert.ok(!/hosted\/accent|hosted\/logo/.test(text), `${kind} without branding: ${text}`);
      assert.equal(top(again[kind]), top(text), kind);
    }
  });

  test('allow pictures of this origin and nothing else', async () => {
    const { url } = await world.api.does('POST', `/customers/${await world.customer()}/verification-link`, {});
    const { headers } = await openBrowser().open(url);
    assert.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
  });
});

describe('branding is set', () => {
  test('by a member with the right, and by no key, viewer or name that reads as another', async () => {
    const viewer = await memberNamed(team, partnerId, 'vera', 'viewer');
    assert.equal((await viewer.asks('PATCH', PATH, { accent: '#0b5cad' })).body.reason, 'role_missing');
    assert.equal((await viewer.does('GET', PATH)).accent, null);
    const byKey = await world.api.patch(PATH, { accent: '#0b5cad' });
    assert.equal(byKey.body.reason, 'session_required');
    for (const displayName of [' Acme', 'Acme\nBank', 'emcA\u202e', 'a'.repeat(61), '\u2066x'])
      assert.equal((await owner.asks('PATCH', PATH, { displayName })).status, 400, JSON.stringify(displayName));
  });

  test('part by part; the change is in the activity, and the request log has no picture', async () => {
    const logo = base64(await picture(100, 50).png().toBuffer());
    await sets({ displayName: 'Acme' });
    await sets({ accent: '#0b5cad' });
    const set = await sets({ logo });
    assert.deepEqual([set.displayName, set.accent, set.logo.width], ['Acme', '#0b5cad', 100]);
    const { data } = await owner.does('GET', '/activity?limit=1');
    assert.deepEqual([data[0].action, data[0].by], ['branding.changed', 'member olga']);
    const line: Came = await world.s.until('its line is written', async () => {
      const found = await owner.does('GET', '/request-log?operation=branding.update&limit=1');
      const detail = await owner.does('GET', `/request-log/${found.data[0].id}`);
      // Lines are written a moment after the answers, so that the newest may be of an earlier request with all parts.
      return Object.keys(detail.request).join() === 'logo' && detail;
    });
    assert.deepEqual(line.request, { logo: '(left out)' });
  });

  test('and operators see it, and reset it', async () => {
    const branding = async () => (await operator.reads(`/partners/${partnerId}`)).body.branding;
    const { displayName, accent, logo } = await branding();
    assert.deepEqual([displayName, accent], ['Acme', '#0b5cad']);
    assert.equal((await fetched(logo)).status, 200);
    const done = await operator.does(`/partners/${partnerId}/branding/reset`);
    assert.equal(done.status, 200, JSON.stringify(done.body));
    assert.deepEqual(await branding(), {
      ...{ displayName: null, accent: null, accentDark: null, changedAt: null, logo: null },
    });
    assert.equal((await owner.does('GET', PATH)).displayName, null);
    assert.equal((await operator.does('/partners/999999/branding/reset')).body.reason, 'unknown_partner');
  });
});

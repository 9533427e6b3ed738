/** Multipart bodies: read like a form, compared with what was signed like a form, and hostile ones refused by name. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Refusal } from '../../../src/base/errors.ts';
import { readMultipart } from '../../../src/protocols/whitelabel/multipart.ts';
import { type Answer, ask, sign } from '../../support/client.ts';
import { type Environment, type TestPartner, wireEnvironment } from './environment.ts';

const TYPE = 'multipart/form-data; boundary=xx';
const part = (name: string, value: string, more = '') =>
  `--xx\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const END = '--xx--\r\n';
const read = (text: string | Buffer, type = TYPE) => readMultipart(Buffer.from(text), type);

const refuses = async (text: string | Buffer, said: RegExp, type?: string) => {
  const error = await read(text, type).then(
    (fields) => assert.fail(`was read: ${JSON.stringify([...fields])}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Refusal, String(error));
  assert.match(`${error.code} ${JSON.stringify(error.facts)}`, said);
};

describe('reading', () => {
  test('parts are fields: empty, with spaces, in other scripts, with a content type, with any name', async () => {
    const typed =
      '--xx\r\nContent-Disposition: form-data; name="j"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n';
    const fields = await read(
      `${part('a', '')}${part('b', ' 1 \r\n2')}${part('c', 'Ōtaki €')}${part('d[e]', 'x')}${part('__proto__', 'y')}${typed}${END}`,
    );
    assert.deepEqual(
      [...fields],
      [
        ['a', ''],
        ['b', ' 1 \r\n2'],
        ['c', 'Ōtaki €'],
        ['d[e]', 'x'],
        ['__proto__', 'y'],
        ['j', '{"a":1}'],
      ],
    );
    assert.equal((await read(END)).size, 0);
    assert.equal((await read(part('a', '1') + END, 'Multipart/Form-Data; charset=utf-8; boundary="xx"')).get('a'), '1');
  });

  test('the last part of a repeated name counts', async () => {
    assert.deepEqual([...(await read(part('a', '1') + part('b', '2') + part('a', '3') + END))].sort(), [
      ['a', '3'],
      ['b', '2'],
    ]);
  });

  test('a file is refused with the name of its part, whatever marks it as a file and whatever its content', async () => {
    const file = /^malformed_field .*"selfie":"is a file/;
    await refuses(part('a', '1') + part('selfie', 'x', '; filename="s.jpg"') + END, file);
    await refuses(part('selfie', '', '; filename=""') + END, file);
    await refuses(part('selfie', 'x', "; filename*=UTF-8''s.jpg") + END, file);
    await refuses(part('selfie', 'x'.repeat(30_000), '; filename="s"') + part('b', '1') + END, file);
    const bytes = Buffer.concat([
      Buffer.from('--xx\r\ncontent-disposition: form-data; name="selfie"; filename="s"\r\n\r\n'),
      Buffer.from([0xff, 0xd8, 0xff, 0x00]),
      Buffer.from(`\r\n${END}`),
    ]);
    await refuses(bytes, file);
    await refuses(
      `--xx\r\ncontent-disposition: form-data; name="selfie"\r\ncontent-type: application/octet-stream\r\n\r\nx\r\n${END}`,
      file,
    );
  });

  test('a body that is not multipart is refused, and so is one that is cut off anywhere', async () => {
    const whole = part('a', '1') + part('bb', '22') + END;
    for (let length = 1; length < whole.length - 2; length += 1)
      await refuses(whole.slice(0, length), /malformed_body/);
    for (const text of ['x', '\r\n', '--yy\r\n\r\n', part('a', '1').replaceAll('xx', 'yy') + '--yy--\r\n', '{"a":1}'])
      await refuses(text, /malformed_body/);
    for (const type of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary=${'x'.repeat(5_000)}`,
    ])
      await refuses(whole, /malformed_body/, type);
    await refuses(`--xx\r\n\r\nx\r\n${END}`, /malformed_body/);
    await refuses(part('', 'x') + END, /malformed_body.*name/);
    await refuses(
      Buffer.concat([Buffer.from(part('a', 'x')), Buffer.from([0xff]), Buffer.from(`\r\n${END}`)]),
      /malformed_body/,
    );
    const notText = Buffer.concat([
      Buffer.from('--xx\r\ncontent-disposition: form-data; name="a"\r\n\r\n'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from(`\r\n${END}`),
    ]);
    await refuses(notText, /malformed_body.*UTF-8/);
  });

  test('a hundred parts are accepted and no more, and endless headers are refused', async () => {
    const parts = (count: number) => Array.from({ length: count }, (_, n) => part(`f${n}`, '1')).join('') + END;
    assert.equal((await read(parts(100))).size, 100);
    await refuses(parts(101), /malformed_body.*100 parts/);
    const padded = `--xx\r\n${`x-a: ${'b'.repeat(200)}\r\n`.repeat(200)}content-disposition: form-data; name="a"\r\n\r\n1\r\n${END}`;
    await refuses(padded, /malformed_body/);
  });
});

describe('over HTTP', () => {
  let world: Environment;
  let acme: TestPartner;
  before(async () => {
    world = await wireEnvironment();
    acme = await world.partner('acme');
  });
  after(async () => await world?.stop());
  const quote = { fromCurrency: 'usdc', toCurrency: 'inr', fromAmount: '100' };
  const send = (body: string, type: string, signed: Record<string, unknown>): Promise<Answer> => {
    const { headers } = sign(acme, signed);
    return ask(world.baseUrl, 'offramp/quote', { method: 'POST', headers: { ...headers, 'content-type': type }, body });
  };
  const parts = Object.entries(quote)
    .map(([name, value]) => part(name, value))
    .join('');

  test('POST and PUT accept a multipart body, signed as the object of its texts', async () => {
    const answer = await acme.post('offramp/quote', quote, {
      format: 'multipart',
      signs: 'text',
      spelling: 'prefixed',
    });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.data.fromAmount, '100');
    const spaced = await acme.post('offramp/quote', { ...quote, fromAmount: 100 }, { format: 'multipart' });
    assert.equal(spaced.status, 200, 'a signed number did not match the text that was sent');
    const put = await acme.put('onramp/referenceId', {}, { format: 'multipart' });
    assert.equal(put.body.error, 'Missing parameter -> customerId, transactionId, referenceId.');
  });

  test('fields that differ from those signed, or were not signed, are a 401', async () => {
    for (const signed of [{ ...quote, fromAmount: '1' }, {}, { fromCurrency: 'usdc' }, { ...quote, more: '1' }])
      assert.equal((await send(parts + END, TYPE, signed)).status, 401);
    const twice = await send(parts + part('fromAmount', '1') + END, TYPE, quote);
    assert.equal(twice.status, 401, 'a value other than the last one was compared');
  });

  test('a file is a 400 naming its part, a broken body a 400, one that is too large a 413; only a signed request learns which', async () => {
    const file = await send(parts + part('selfie', 'x', '; filename="s.jpg"') + END, TYPE, quote);
    assert.deepEqual([file.status, file.body.reason], [400, 'malformed_field']);
    assert.deepEqual(file.body.fields, { selfie: 'is a file, and none is taken here' });
    assert.match(file.body.error, /^Invalid parameter -> selfie /);
    const cut = await send(parts, TYPE, quote);
    assert.deepEqual([cut.status, cut.body.reason], [400, 'malformed_body']);
    assert.equal((await send(parts + END, 'multipart/form-data', quote)).status, 400);
    const large = await send(part('a', 'x'.repeat(66_000)) + END, TYPE, quote);
    assert.deepEqual([large.status, large.body.reason], [413, 'body_too_large']);
    const unsigned = await ask(world.baseUrl, 'offramp/quote', {
      method: 'POST',
      headers: { 'content-type': TYPE },
      body: 'x',
    });
    assert.equal(unsigned.status, 401);
  });
});

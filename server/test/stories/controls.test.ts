/** What the sandbox's controls refuse: other partners' orders, wrong input, a request that is not signed. What they do: controls.long.test.ts. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CONTROLS } from '../../src/protocols/whitelabel/index.ts';
import type { Fields } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';

let world: Story;
before(async () => {
  world = await openStory();
});
after(async () => await world?.close());

const does = (name: string, body: Fields, by = world.partner) => by.post(`/sandbox/v1/${name}`, body);
const of = (order: Sale | Purchase, more: Fields = {}): Fields => ({ transactionId: String(order.id), ...more });

describe('a control', () => {
  test('finds no order of another partner, whatever the control', async () => {
    const order = await world.sells('10', 'usdc');
    const more: Record<string, Fields> = { status: { status: '1' }, screening: { outcome: 'fail' } };
    for (const { name, takes } of CONTROLS.filter((one) => 'transactionId' in one.takes)) {
      const answer = await does(name, of(order, more[name]), world.otherPartner);
      assert.deepEqual([answer.status, answer.body.reason], [404, 'unknown_order'], `${name} ${Object.keys(takes)}`);
    }
    const credited = await does('credit', of(await world.buys('1000', 'usdc'), { reference: 'none' }));
    assert.equal(credited.status, 200, credited.text);
    const { line } = credited.body.data;
    const answer = await does('recall', { line: String(line) }, world.otherPartner);
    assert.equal(answer.body.fields.line, 'must be one that credit or pay has answered you');
  });

  for (const [name, body, field, why] of [
    ['pay', { transactionId: '', how: 'exact' }, 'transactionId', 'is missing'],
    ['clock', { advance: '31d' }, 'advance', 'must be a length of time such as 90s, 15m, 2h or 3d, at most 30d'],
    ['clock', { advance: '-1h' }, 'advance', 'must be a length of time such as 90s, 15m, 2h or 3d, at most 30d'],
    ['reorg', { chain: 'matic20', blocks: '13' }, 'blocks', 'must be less than 13'],
    ['reorg', { chain: 'bitcoin', blocks: '1' }, 'chain', 'must be erc20 or matic20'],
    ['bank', { fault: 'explode' }, 'fault', 'must be NONE or'],
    [
      'prices',
      { coin: 'usdc', fiat: 'xyz', price: '1' },
      'fiat',
      'must be inr or eur or try or aed or mxn or ngn or brl or php or gbp or usd or kes',
    ],
    ['prices', { coin: 'gold', fiat: 'inr', price: '1' }, 'coin', 'must be one of'],
    [
      'treasury',
      { currency: 'usdc', state: 'dry' },
      'currency',
      'must be inr, eur, try, aed, mxn, ngn, brl, php, gbp, usd, kes, or a token with its chain',
    ],
    ['treasury', { currency: 'inr', state: 'full' }, 'state', 'must be DRY or FILLED'],
    ['webhooks', { deliveries: 'maybe' }, 'deliveries', 'must be DROP or DELIVER'],
    ['recall', {}, 'transactionId', 'is missing'],
  ] as const) {
    test(`with wrong input is refused by its field and rule: ${name} ${JSON.stringify(body)}`, async () => {
      const answer = await does(name, body);
      assert.equal(answer.status, 400, answer.text);
      assert.ok(answer.body.fields[field].startsWith(why), answer.text);
    });
  }

  test('is refused when the request is not signed', async () => {
    const response = await fetchDeclared(`${world.server.baseUrl}/sandbox/v1/clock`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(response.status, 401);
  });
});

/** What `npm run operator` says about a command line that it cannot use: the option and the rule, and exit code 2, with no request sent. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Ended, operatorTypes } from '../support/terminal.ts';

/** Nothing listens there: a request would end with exit code 4. */
const types = (...words: string[]): Promise<Ended> =>
  operatorTypes({ baseUrl: 'http://127.0.0.1:1', token: 'none' }, words);

describe('a command line that cannot be used', { concurrency: 2 }, () => {
  for (const [words, why] of [
    [['ordr', 'release', '5'], /^there is no command "ordr release 5"; --help lists them$/m],
    [['order', 'release', '5'], /^an action needs --reason "why"$/m],
    [['order', 'release', '5', '--reason'], /^--reason needs a value$/m],
    [['order', 'release', '--reason', 'why'], /^npm run operator -- order release <order> --reason <why>/m],
    [['order', 'release', '5', '6', '--reason', 'why'], /^npm run operator -- order release <order>/m],
    [
      ['lookup', 'x', '--colour', 'red'],
      /^--colour is not an option of this command\nnpm run operator -- lookup <text>/m,
    ],
    [['lookup', 'x', '--colour=red'], /^--colour is not an option of this command$/m],
    [['lookup', 'x', '--market', '5'], /^--market is not an option of this command$/m],
    [['lookup', 'x', '--csv'], /^--csv is not an option of this command$/m],
    [['lookup', 'x', '--all'], /^--all is not an option of this command$/m],
    [['lookup', 'x', '--brief'], /^--brief is not an option of this command$/m],
    [['lookup', 'x', '--dry-run'], /^--dry-run is not an option of this command$/m],
    [['lookup', 'x', '--out', 'file'], /^--out is not an option of this command$/m],
    [['lookup', 'x', '--json=yes'], /^--json takes no value$/m],
    [['orders', 'list', '--csv', '--json'], /^--csv and --json exclude each other$/m],
  ] as const) {
    test(words.join(' '), async () => {
      const { code, err, out } = await types(...words);
      assert.match(err, why);
      assert.equal(out, '');
      assert.equal(code, 2);
    });
  }
});

test('options may stand anywhere, and a word with one dash is a value', async () => {
  for (const words of [
    ['lookup', '-5'],
    ['--json', 'lookup', 'x'],
    ['orders', '--below=5', 'list', '--csv'],
    ['--reason', '--why', 'order', 'release', '5'],
  ])
    assert.equal((await types(...words)).code, 4, words.join(' '));
});

test('help is shown for all commands, those that begin with a word, and one', async () => {
  const all = await types();
  assert.equal(all.code, 0);
  assert.equal((await types('-h')).out, all.out);
  const orders = await types('orders', '--help');
  assert.match(orders.out, /^ {2}orders list /m);
  assert.doesNotMatch(orders.out, /^ {2}lookup /m);
  const one = await types('orders', 'list', '-h');
  assert.match(one.out, /--below +`next` of the previous page/);
});

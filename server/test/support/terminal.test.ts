/** Replies that our programs read at a terminal are compared with their declarations, and not only printed. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { operatorTypes, run } from './terminal.ts';

let answers: { status: number; body: unknown };
const server = createServer((_request, response) => {
  response.writeHead(answers.status, { 'content-type': 'application/json' }).end(JSON.stringify(answers.body));
});
before(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
after(() => server.close());

const baseUrl = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const types = (...words: string[]) => operatorTypes({ baseUrl: baseUrl(), token: 'a-token-of-a-test-server' }, words);

test('a reply that matches its declaration is printed, and one with another field is an error', async () => {
  answers = { status: 200, body: { cases: [], next: null } };
  assert.equal((await types('cases')).code, 0);
  answers = { status: 200, body: { cases: [], next: null, odd: 1 } };
  await assert.rejects(types('cases'), /GET \/cases answers what it does not declare/);
});

test('a reason that the endpoint does not declare is an error', async () => {
  answers = { status: 404, body: { error: 'There is no such case.', reason: 'unknown_case' } };
  assert.equal((await types('case', '1')).code, 1);
  answers = { status: 404, body: { error: 'There is no such key.', reason: 'unknown_key' } };
  await assert.rejects(types('case', '1'), /declines for unknown_key, which it does not declare/);
});

test('replies to a program that uses fetch are compared, too', async () => {
  answers = { status: 200, body: { status: 1, code: 200, data: 'soon' } };
  const call = `await (await fetch('${baseUrl()}/onramp/api/v2/common/public/currentTimestamp')).json()`;
  await assert.rejects(
    run(['--input-type=module', '--eval', call], { env: { PATH: process.env.PATH } }),
    /currentTimestamp answers what it does not declare/,
  );
});

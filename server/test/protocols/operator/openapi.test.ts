/**
 * The description of the operator API and the commands of the terminal are up to date with the declarations, and complete.
 *
 * UPDATE_DOCS=1 regenerates docs/operator-openapi.json, docs/operator-api.md and server/src/cli/commands.json.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import { systemClock } from '../../../src/base/clock.ts';
import { COMMANDS, type Command } from '../../../src/cli/commands.ts';
import { adviceOf, reasonsOf } from '../../../src/protocols/operator/advice.ts';
import { commands, commandsFile } from '../../../src/protocols/operator/commands.ts';
import type { DeclaredAction } from '../../../src/protocols/operator/declare.ts';
import { ENDPOINTS } from '../../../src/protocols/operator/declared/index.ts';
import type { BankDesk } from '../../../src/protocols/operator/deps.ts';
import { OPERATOR_API_ACTIONS, type SingleSignOn } from '../../../src/protocols/operator/index.ts';
import { exampleOf } from '../../../src/protocols/operator/meaning.ts';
import { openapi, takenBy } from '../../../src/protocols/operator/openapi.ts';
import { referencePage } from '../../../src/protocols/operator/reference.ts';
import { assertExplained, testFresh, testLints, version } from '../../support/described.ts';
import type { Fixture } from '../../support/fixture.ts';
import { operatorApi } from '../../support/operatorapi.ts';

const FILES = {
  'docs/operator-openapi.json': `${JSON.stringify(openapi(version), null, 1)}\n`,
  'docs/operator-api.md': referencePage(),
  'server/src/cli/commands.json': commandsFile(),
};

testFresh(FILES);

testLints('docs/operator-openapi.json');

test('every served endpoint is declared once, and every declared endpoint is served', async () => {
  const app = fastify();
  const served: string[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) if (one !== 'HEAD') served.push(`${one} ${url.replace(/^\/operator\/v1/, '')}`);
  });
  // Nothing is called: a database, a bank and a provider that are not there are enough to mount all routes.
  const nothing = { clock: systemClock } as Pick<Fixture, 'db' | 'vault' | 'clock' | 'log'>;
  await app.register(operatorApi(nothing, { bank: {} as BankDesk, sso: {} as SingleSignOn }));
  await app.close();
  assert.deepEqual(served.toSorted(), ENDPOINTS.map(({ method, path }) => `${method} ${path}`).toSorted());
  assert.equal(new Set(served).size, served.length, 'two endpoints have the same path');
});

test('every part of a path is a field, and every argument and option of a command', () => {
  for (const declared of ENDPOINTS) {
    for (const [, name = ''] of declared.path.matchAll(/:(\w+)/g))
      assert.ok(name in declared.fields, `${declared.path}: ${name} is no field`);
    for (const { words, args = [], options = [], sendsFile, sendsForm } of [declared.command ?? []].flat()) {
      const names = [...args, ...options].filter((name) => !((sendsFile ?? sendsForm) === true && name === 'file'));
      for (const name of names) assert.ok(name in declared.fields, `${words}: ${name} is no field`);
    }
  }
});

test('every required field has an example, and every field accepts its example', () => {
  for (const declared of ENDPOINTS)
    for (const [name, field] of Object.entries(takenBy(declared))) {
      const example = exampleOf(name, field);
      if (example === undefined) assert.ok(field.optional === true, `${declared.path}: ${name} has no example`);
      else assert.notEqual(field.read(example), undefined, `${declared.path}: the example of ${name} is refused`);
    }
});

test('every name in a reply has a meaning', () => {
  assertExplained(
    ENDPOINTS.map(({ method, path, gives }) => [`${method} ${path}`, gives]),
    ['after', 'outcome'],
  );
});

test('the names of fields are camelCase, in requests and replies', () => {
  const names = new Set<string>();
  JSON.parse(JSON.stringify(openapi(version)), (key, value: unknown) => {
    if (key === 'properties') for (const name of Object.keys(value as object)) names.add(name);
    if (key === 'parameters' && Array.isArray(value)) for (const { name } of value) names.add(name);
    return value;
  });
  assert.deepEqual(
    [...names].filter((name) => !/^[a-z][A-Za-z0-9]*$/.test(name)),
    [],
  );
});

test('every reason has advice', () => {
  for (const declared of ENDPOINTS)
    for (const reason of reasonsOf(declared)) assert.ok(adviceOf(reason), `${declared.path}: ${reason} has no advice`);
});

test('an action that declares one person asks for no confirmation, and one that asks declares how many people it takes', () => {
  for (const action of OPERATOR_API_ACTIONS) {
    const { people, name } = action as DeclaredAction;
    if (action.needs === undefined)
      assert.equal(people, 'one', `${name} asks for no confirmation and declares more than one person`);
    assert.ok(action.onlyNamed !== true || people !== 'rules', `${name} is for rules that name it`);
  }
});

test('no two commands have the same words', () => {
  const made: readonly Command[] = commands() as unknown as readonly Command[];
  assert.equal(new Set(made.map(({ words }) => words)).size, made.length);
  assert.equal(COMMANDS.length, made.length);
});

/**
 * Every bank that registry.ts lists and every family of rails/families.ts, held against the contract of rails. A new line there adds
 * its claims here; without its fixture it fails, by the name of the missing file. In a file of its own because each claim starts a
 * bank or a node.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHAIN_FAMILIES } from '../../src/rails/families.ts';
import { LISTS } from '../../src/registry.ts';
import { fixtureOf } from './fixtures.ts';
import { type RailEnvironment, testRail } from './rail.ts';

/** How each environment of a rail is made, by what it shows of the rail. */
type RailFixture = Readonly<Record<string, () => Promise<RailEnvironment>>>;

for (const [kind, list] of [
  ['banks', LISTS.banks],
  ['chains', CHAIN_FAMILIES],
] as const)
  for (const { code } of list) {
    const environments = await fixtureOf<RailFixture>(kind, code);
    if (environments === undefined) test(code, () => assert.fail(`server/test/fixtures/${kind}/${code}.ts is missing`));
    else for (const [name, make] of Object.entries(environments)) testRail(name, make);
  }

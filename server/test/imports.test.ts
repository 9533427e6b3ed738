/**
 * Which module may import which. A test enforces these rules, because reviews miss violations.
 *
 * The table in ARCHITECTURE.md is written from the rules: UPDATE_DOCS=1 npm test -- server/test/imports.test.ts
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

/**
 * The modules that each module may use; `base` may be used by all. `(top)` is the input of a profile: settings, lists and the
 * contract of an environment. `(composition)` puts a process together from everything; only programs use it.
 */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  base: [],
  ledger: [],
  events: [],
  partners: [],
  operators: [],
  alerts: ['compliance'],
  team: ['partners'],
  cli: [],
  customers: ['events', 'partners'],
  compliance: ['customers'],
  quotes: ['partners', 'compliance'],
  rails: [],
  verifiers: [],
  site: [],
  console: [],
  signer: ['rails'],
  orders: ['quotes', 'customers', 'compliance', 'partners', 'ledger', 'events', 'rails'],
  treasury: ['orders', 'partners', 'ledger', 'rails', 'compliance'],
  reports: ['orders', 'quotes', 'partners', 'ledger', 'compliance'],
  monitoring: ['orders', 'customers', 'compliance', 'partners', 'rails'],
  protocols: [
    'reports',
    'monitoring',
    'orders',
    'quotes',
    'customers',
    'partners',
    'ledger',
    'events',
    'compliance',
    'operators',
    'erasure',
    'alerts',
    'team',
  ],
  ops: [
    'operators',
    'partners',
    'treasury',
    'reconcile',
    'events',
    'quotes',
    'orders',
    'ledger',
    'rails',
    'compliance',
  ],
  reconcile: ['orders', 'ledger', 'rails', 'compliance', 'operators'],
  sandbox: [
    'treasury',
    'orders',
    'customers',
    'quotes',
    'partners',
    'ledger',
    'rails',
    'verifiers',
    'signer',
    'compliance',
    'protocols',
    'operators',
    'events',
    '(top)',
  ],
  backup: ['partners', 'operators'],
  erasure: ['customers', 'orders', 'compliance', 'events', 'ledger', 'partners', 'operators', 'rails'],
  rotation: ['customers', 'compliance', 'operators', 'rails'],
  production: ['treasury', 'ops', 'partners', 'rails', 'signer', '(top)'],
  // It plays a partner and a wallet, with their means: the SDK, and the test phrase of the sandbox.
  demo: ['sandbox', 'sdk'],
  '(top)': ['*'],
  '(composition)': ['*'],
  apps: ['*'],
};

/** Engines and contracts beside a module's front that are meant for other modules. */
const FRONTS: readonly RegExp[] = [
  /\/index\.ts$/,
  /^\.\.\/\.\.\/sdk\/src\/index\.ts$/,
  /^rails\/(rail|payouts|chain|bank|families)\.ts$/,
  /^verifiers\/verifier\.ts$/,
  /^quotes\/sources\/[a-z]+\.ts$/,
  /^alerts\/channels\/[a-z]+\.ts$/,
  /^compliance\/address-risk\/providers\/[a-z]+\.ts$/,
  /^compliance\/travel-rule\/protocols\/[a-z]+\/index\.ts$/,
];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const moduleOf = (file: string): string => {
  if (file.startsWith('../../sdk/')) return 'sdk';
  if (file === 'server.ts' || file.startsWith('composition/')) return '(composition)';
  return file.includes('/') ? (file.split('/')[0] ?? '') : '(top)';
};

const imports = files.flatMap((file) => {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => ({
    file,
    target: relative(SRC, resolve(SRC, dirname(file), match[1] ?? '')),
  }));
});

test('there are files and imports to look at', () => {
  assert.ok(files.length > 50 && imports.length > 200, `${files.length} files, ${imports.length} imports`);
});

test('every module is known here', () => {
  assert.deepEqual(
    [...new Set(files.map(moduleOf))].filter((name) => !(name in MAY_USE)),
    [],
  );
});

test('every permission is used', () => {
  const used = new Set(imports.map(({ file, target }) => `${moduleOf(file)} → ${moduleOf(target)}`));
  const unused = Object.entries(MAY_USE)
    .flatMap(([from, may]) => may.map((to) => `${from} → ${to}`))
    .filter((arrow) => !arrow.endsWith('*') && !used.has(arrow));
  assert.deepEqual(unused, []);
});

test('modules use only permitted modules', () => {
  const wrong = imports.filter(({ file, target }) => {
    const [from, to] = [moduleOf(file), moduleOf(target)];
    const may = MAY_USE[from] ?? [];
    const isOuter = to === 'apps' || (to === '(composition)' && from !== 'apps');
    return from !== to && to !== 'base' && !may.includes(to) && (!may.includes('*') || isOuter);
  });
  assert.deepEqual(
    wrong.map(({ file, target }) => `${file} → ${target}`),
    [],
  );
});

test("from outside, only a module's front is imported", () => {
  const wrong = imports.filter(({ file, target }) => {
    const [from, to] = [moduleOf(file), moduleOf(target)];
    // A program is the command of its module, and may use its inside.
    if (from === to || from === 'apps' || ['base', '(top)', '(composition)'].includes(to)) return false;
    // The sandbox is part of the composition.
    if (to === 'sandbox') return !['(composition)', 'demo'].includes(from);
    return !FRONTS.some((front) => front.test(target));
  });
  assert.deepEqual(
    wrong.map(({ file, target }) => `${file} → ${target}`),
    [],
  );
});

test('no file and no module imports itself through others, not even for types', () => {
  const files = new Map<string, string[]>();
  const modules = new Map<string, string[]>();
  for (const { file, target } of imports) {
    files.set(file, [...(files.get(file) ?? []), target]);
    const [from, to] = [moduleOf(file), moduleOf(target)];
    if (from !== to) modules.set(from, [...(modules.get(from) ?? []), to]);
  }
  assert.deepEqual(circlesOf(files), []);
  assert.deepEqual(circlesOf(modules), []);
  const planted = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
  ]);
  assert.deepEqual(circlesOf(planted), ['a, b, c']);
});

/** Groups of files that reach each other (Tarjan's strongly connected components). */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const index = new Map<string, number>();
  const path: string[] = [];
  const circles: string[] = [];
  const visit = (file: string): number => {
    const at = index.size;
    index.set(file, at);
    let lowest = at;
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!index.has(next)) lowest = Math.min(lowest, visit(next));
      else if (path.includes(next)) lowest = Math.min(lowest, index.get(next) ?? at);
    }
    if (lowest === at) {
      const group = path.splice(path.indexOf(file));
      if (group.length > 1) circles.push(group.toSorted().join(', '));
    }
    return lowest;
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return circles;
}

const ARCHITECTURE = fileURLToPath(new URL('../../ARCHITECTURE.md', import.meta.url));
const TABLE = /\| Module \| May use \|\n(?:\|.*\n)+/;

/** What the table calls names that are no folder. */
const CALLED: Readonly<Record<string, string>> = {
  '(top)': 'the files at the top',
  '(composition)': '`server.ts`, `composition/`',
  apps: '`apps/`',
  sdk: '`sdk/src/index.ts`, as partners do',
};

/** The rows of modules that may use all others, and what no permission says. */
const ROWS: Readonly<Record<string, string>> = {
  '(top)':
    '| `environment.ts`, `registry.ts`, `config.ts` (the files at the top) | all that does not use them; no program and no composition |',
  '(composition)': '| `server.ts`, `composition/` | all, but no program |',
  apps: '| `apps/` | all; nothing imports them |',
};
const BESIDES: Readonly<Record<string, string>> = {
  protocols: '; never a rail, SQL of a module, or another protocol',
};

function tableOfRules(): string {
  const called = (name: string): string => CALLED[name] ?? name;
  const [alone, others] = [true, false].map((isAlone) =>
    Object.entries(MAY_USE).filter(([name, may]) => name !== 'base' && (may.length === 0) === isAlone),
  );
  const rows = (others ?? []).map(
    ([name, may]) => ROWS[name] ?? `| ${name} | ${may.map(called).join(', ')}${BESIDES[name] ?? ''} |`,
  );
  const first = `| ${(alone ?? []).map(([name]) => name).join(', ')} | base only |`;
  return `${['| Module | May use |', '|---|---|', first, ...rows].join('\n')}\n`;
}

test('ARCHITECTURE.md has these rules', () => {
  const before = readFileSync(ARCHITECTURE, 'utf8');
  assert.match(before, TABLE);
  const after = before.replace(TABLE, () => tableOfRules());
  if (process.env.UPDATE_DOCS === '1') writeFileSync(ARCHITECTURE, after);
  else assert.equal(before, after, 'stale: UPDATE_DOCS=1 npm test -- server/test/imports.test.ts');
});

/** Folders inside a module that are not separate protocols. */
const SHARED = new Set(['declaration']);

test('no protocol imports another, and no rail imports another', () => {
  const inner = (path: string, module: string) =>
    path.startsWith(`${module}/`) && path.split('/').length > 2 ? path.split('/')[1] : undefined;
  const wrong = imports.filter(({ file, target }) =>
    ['protocols', 'rails'].some((module) => {
      const [from, to] = [inner(file, module), inner(target, module)];
      return from !== undefined && to !== undefined && from !== to && !SHARED.has(to);
    }),
  );
  assert.deepEqual(
    wrong.map(({ file, target }) => `${file} → ${target}`),
    [],
  );
});

test('the core names a direction only where a row or a market does', () => {
  const allowed = new Set(['orders/row.ts', 'quotes/price.ts', 'quotes/index.ts']);
  const wrong = files
    .filter((file) => /^(orders|ledger|rails|quotes)\//.test(file) && !allowed.has(file))
    .filter((file) => /onramp|offramp/i.test(readFileSync(join(SRC, file), 'utf8')));
  assert.deepEqual(wrong, []);
});

/** Tables of other modules that a module's SQL reads; the owner is the module that writes to a table. */
const READS_OF_OTHERS: Readonly<Record<string, readonly string[]>> = {
  alerts: ['cases', 'deposits', 'kill_switches', 'orders', 'proposals'],
  backup: ['entries', 'order_history'],
  compliance: ['assets', 'customer_details', 'customers', 'deposits', 'fiat_accounts', 'orders', 'refunds'],
  customers: ['case_attachments', 'restores'],
  erasure: [
    ...[
      'address_hits',
      'approvals',
      'audit',
      'cases',
      'compared_documents',
      'customer_destinations',
      'customer_details',
    ],
    ...['customers', 'decisions', 'deposits', 'document_expiries', 'entries', 'events'],
    ...['fiat_accounts', 'information_requests', 'login_sends', 'manual_lines', 'manual_payouts', 'name_screenings'],
    ...['order_history', 'orders', 'payouts', 'refunds', 'sanctions_hits', 'screenings'],
    ...['submission_files', 'submissions', 'verifications'],
  ],
  ops: ['jobs', 'orders', 'quotes'],
  ledger: ['assets', 'orders'],
  orders: ['bank_lines', 'customers', 'fiat_accounts', 'jobs', 'payouts'],
  quotes: ['gas_prices', 'markets'],
  rails: ['assets', 'confirmation_policies', 'deposits', 'restores', 'treasury_addresses'],
  reconcile: ['assets'],
  reports: [
    ...['assets', 'cases', 'customers', 'deposits', 'event_feed', 'events', 'found_movements', 'kill_switches'],
    ...['manual_imports', 'orders', 'payouts', 'prices', 'reconcile_balances', 'reconcile_items', 'reconcile_rails'],
    ...['webhook_deliveries', 'webhook_endpoints', 'webhook_ordering_keys'],
  ],
  treasury: ['orders', 'payouts'],
  rotation: ['audit_reencrypted', 'manual_imports', 'manual_statements', 'partners'],
};

/** By table, the modules whose code has one of these words before its name. Comments and sentences are no SQL. */
function modulesThat(words: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of files) {
    const text = readFileSync(join(SRC, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    for (const [, table = ''] of text.matchAll(new RegExp(`(?:${words})\\s+([a-z_]+)\\b(?!\\s*:|\\()`, 'g')))
      if (TABLES.has(table)) found.set(table, (found.get(table) ?? new Set()).add(moduleOf(file)));
  }
  return found;
}

test('one module writes to a table, and its readers are listed', () => {
  const owners = modulesThat('insert into|update|delete from');
  assert.ok(owners.size > 100, `${owners.size} tables were found`);
  const shared = [...owners]
    .filter(([, modules]) => modules.size > 1)
    .map(([table, modules]) => `${table}: ${[...modules].join(', ')}`);
  assert.deepEqual(shared, []);

  const reads: Record<string, string[]> = {};
  // A table that only a trigger writes to has no owner here.
  for (const [table, modules] of modulesThat('\\bfrom|\\bjoin'))
    for (const module of modules) if (owners.get(table)?.has(module) === false) (reads[module] ??= []).push(table);
  assert.deepEqual(
    Object.fromEntries(Object.entries(reads).map(([module, tables]) => [module, tables.toSorted()])),
    READS_OF_OTHERS,
  );
});

const MIGRATIONS = fileURLToPath(new URL('../migrations/', import.meta.url));
const TABLES = new Set(
  readdirSync(MIGRATIONS).flatMap((name) =>
    [...readFileSync(join(MIGRATIONS, name), 'utf8').matchAll(/create table ([a-z_]+)/g)].map(
      (match) => match[1] ?? '',
    ),
  ),
);

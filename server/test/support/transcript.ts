/**
 * Transcripts: incidents played on a real server with the documented commands, and the pages in docs/operating that show them.
 *
 * A story describes the events, types commands at a real terminal, sends a partner's requests, and writes the page meanwhile. The
 * page must equal the stored one: UPDATE_TRANSCRIPT=1 writes it again. Every command has to end with the exit code that the story
 * expects, and every story ends with `npm run reconcile`.
 *
 * Values that differ between runs are replaced with placeholders of the same length, so that columns stay aligned. Dates are those
 * of the page: it begins on 2026-01-05, and only days that pass are shown.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import type { Role } from '../../src/operators/index.ts';
import { unescaped } from '../protocols/checkout/environment.ts';
import { amountsDecide, operatorNamed, type Person } from '../protocols/operator/people.ts';
import type { Came, Client } from './client.ts';
import { openStory, type Purchase, type Sale, type Story } from './story.ts';
import { run } from './terminal.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDER = `${ROOT}docs/operating/troubles/`;
export const REWRITE = process.env.UPDATE_TRANSCRIPT === '1';
const DAY_MS = 86_400_000;
/** Events from a moment before a story began belong to its first day. */
const SLACK_MS = 3_600_000;
const FIRST_DAY = Date.parse('2026-01-05T03:12:00.000Z');
const WHITE_LABEL = '/onramp/api/v2/whiteLabel/';

/** The ids of these start so high that no amount is mistaken for one. */
const NUMBERED = {
  cases: 31,
  deposits: 32,
  proposals: 33,
  reconcile_items: 34,
  audit: 35,
  partner_activity: 36,
  held_items: 37,
} as const;

const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  operator: ['server/src/apps/operator.ts'],
  sandbox: ['server/src/apps/sandbox.ts'],
  reconcile: ['server/src/apps/reconcile.ts', 'reconcile'],
  'verify-ledger': ['server/src/apps/reconcile.ts', 'verify-ledger'],
};

/** Names on a page: `<order>` in a command stands for the order's number. */
export type Names = Record<string, string>;

export interface Typed {
  printed: string;
  code: number;
}

export interface Stage {
  world: Story;
  people: Record<string, Person>;
  types(line: string, names: Names): Promise<Typed>;
  /** For one page. */
  standIns(): StandIns;
}

export type StandIns = (text: string) => string;

/** A server, operators with tokens, and rows whose ids can be recognised. */
export async function openStage(
  operators: Readonly<Record<string, Role>>,
  options: Parameters<typeof openStory>[0] = {},
): Promise<Stage> {
  const world = await openStory({ operators: 'two', ...options });
  const { db, baseUrl } = world.server;
  const people: Record<string, Person> = {};
  for (const [name, role] of Object.entries(operators))
    people[name] = await operatorNamed({ db, baseUrl, clock: world.clock }, name, role);
  await db.asSystem(amountsDecide);
  const admin = new pg.Client({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  for (const [table, begin] of Object.entries(NUMBERED))
    await admin.query(`alter table ${table} alter column id restart with ${begin}001`);
  await admin.end();
  return {
    world,
    people,
    types: async (line, names) => await types(world, people, line, names),
    standIns: () => standIns(world.clock.now().getTime()),
  };
}

async function types(world: Story, people: Record<string, Person>, line: string, names: Names): Promise<Typed> {
  const said = line.replace(
    /<(\w+)>/g,
    (_, name: string) => names[name] ?? assert.fail(`no value for <${name}> in ${line}`),
  );
  const [, who = 'finn', program = '', words = ''] =
    /^(?:OPERATOR_TOKEN_FILE=(\w+)\.token )?npm run ([\w-]+)(?: -- (.*))?$/.exec(said) ??
    assert.fail(`not a command: ${line}`);
  const argv = (words.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''));
  const { OPERATOR_TOKEN_FILE: _, ...env } = process.env;
  const token = program === 'operator' ? (people[who]?.token ?? assert.fail(`${who} is no operator here`)) : '';
  const { code, printed } = await run([...(PROGRAMS[program] ?? assert.fail(`no program ${program}`)), ...argv], {
    cwd: ROOT,
    env: {
      ...env,
      DATA_DIR: world.dataDir,
      DATABASE_URL: world.adminUrl,
      OPERATOR_URL: world.server.baseUrl,
      OPERATOR_TOKEN: token,
    },
  });
  return { code: code ?? -1, printed: code === 0 ? printed : `${printed}[ends with ${code}]\n` };
}

const counted = (begin: string, length: number) => (n: number) =>
  begin + String(n).padStart(length - begin.length, '0');

/** Each real value has one placeholder on a page, numbered by first appearance. */
function standIns(opened: number): StandIns {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  const standIn = (kind: string, real: string, make: (n: number) => string): string => {
    const before = known.get(real);
    if (before !== undefined) return before;
    const n = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, n);
    const made = make(n);
    assert.equal(made.length, real.length, `${made} is not as long as ${real}`);
    known.set(real, made);
    return made;
  };
  const numbered = Object.values(NUMBERED).join('|');
  const time = (real: string, t: string, ms?: string): string => {
    const days = Math.floor((Date.parse(`${real.slice(0, 19).replace(' ', 'T')}Z`) - opened + SLACK_MS) / DAY_MS);
    const [date = ''] = new Date(FIRST_DAY + days * DAY_MS).toISOString().split('T');
    return `${date}${t}03:12:00${ms === undefined ? '' : '.000Z'}`;
  };
  const day = (real: string): string => {
    const days = Math.round((Date.parse(real) - Math.floor(opened / DAY_MS) * DAY_MS) / DAY_MS);
    return new Date(FIRST_DAY + days * DAY_MS).toISOString().slice(0, 10);
  };
  return (text) =>
    aligned(text.replaceAll('\r', ''))
      .replace(/\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d{3}Z)?/g, time)
      .replace(/\d{4}-\d\d-\d\d, \d\d:\d\d(?= UTC)/g, (real) =>
        time(`${real.slice(0, 10)} ${real.slice(12)}:00`, ', ').slice(0, -3),
      )
      .replace(/\b\d{4}-\d\d-\d\d\b(?!(?:[T ]|, )\d)/g, day)
      .replace(/0x[0-9a-fA-F]{130}/g, (real) => standIn('signature', real, counted('0x51', 132)))
      .replace(/0x[0-9a-fA-F]{64}/g, (real) => standIn('hash', real, counted('0xfeed', 66)))
      .replace(/0x[0-9a-fA-F]{40}/g, (real) => standIn('address', real, counted('0xc0ffee', 42)))
      .replace(/(?<=\blink(?: +|":"))[0-9a-f]{32}\b/g, (real) => standIn('link', real, counted('link', 32)))
      .replace(/\b[0-9a-f]{64}\b/g, (real) => standIn('hash', real, counted('5ea1', 64)))
      .replace(/\b[0-9A-Za-z]{10}_[0-9]{1,3}\b/g, (real) =>
        standIn('customer', real, (n) => `Customer${String(n).padStart(2, '0')}${real.slice(10)}`),
      )
      // The token of a link to a hosted page is longer than a line and of no use to a reader.
      .replace(/(?<=\/(?:return|bank)\/)[0-9A-Za-z_-]{60,}/g, '…')
      .replace(/whsec_[0-9A-Za-z+/=]+/g, (real) => standIn('secret', real, counted('whsec_', real.length)))
      .replace(/\b(?=[0-9a-z]*[A-Z])[0-9A-Za-z]{32,64}\b/g, (real) => standIn('key', real, counted('Key', real.length)))
      .replace(/UTR[0-9A-F]{16}/g, (real) => standIn('utr', real, counted('UTR', 19)))
      .replace(/\bSB[0-9]{10}\b/g, (real) => standIn('statement', real, counted('SB', 12)))
      .replace(/\b[0-9a-f]{16}\b/g, (real) => standIn('client', real, counted('c', 16)))
      .replace(/\bsandbox-(\d+)-[0-9a-f]{8,}-(\d)\b/g, (real, owner: string, n: string) =>
        standIn(
          'line',
          real,
          (at) => `sandbox-${owner}-${String(at).padStart(real.length - owner.length - 11, '0')}-${n}`,
        ),
      )
      .replace(/\bCL[0-9A-Z]{10}\b/g, (real) => standIn('reference', real, counted('CL', 12)))
      .replace(/(?<![0-9])[0-9]{15}(?![0-9])/g, (real) => standIn('id', real, counted('7', 15)))
      .replace(new RegExp(`(?<![\\d.])(?:${numbered})\\d{3}(?!\\d|\\.\\d)`, 'g'), (real) =>
        standIn(real.slice(0, 2), real, counted(real.slice(0, 2), 5)),
      )
      .replace(/^(?:\d+ (?:entries of|sealed rows)|in [\d.]+ s:).*$/gm, (line) =>
        line.replaceAll(/\d+(?:\.\d+)?/g, 'N'),
      )
      .replace(/\b\d+:5ea1/g, 'N:5ea1')
      .replace(/(?<=below block )\d+/g, '182')
      .replace(/\bwhe_[0-9A-Za-z]{16}\b/g, (real) => standIn('endpoint', real, counted('whe_', 20)))
      .replace(/(?<=--seal )\d+(?=:)/g, 'N')
      .replace(/(?<=(?:127\.0\.0\.1|localhost):)\d{4,5}\b/g, (port) => '8080'.padEnd(port.length, '0'))
      .trimEnd();
}

/** The cost of gas differs in every run: such amounts are left out, and the columns of tables are aligned again. */
const GAS = /-?\d+\.\d{9,}/g;
function aligned(text: string): string {
  const lines = text.split('\n');
  if (/^rail +wallet +asset +ledger/.test(lines[0] ?? '')) {
    const end = lines.indexOf('');
    const rows = lines.slice(0, end).map((line) => line.split(/ {2,}/));
    for (const row of rows) if (/^(matic|eth)\./.test(row[2] ?? '')) for (const at of [3, 4, 5, 6]) row[at] = '(gas)';
    lines.splice(0, end, ...set(rows, 3));
  }
  for (const [at, line] of lines.entries()) {
    if (!/^-+(?: {2}-+)+$/.test(line)) continue;
    const starts = [...line.matchAll(/-+/g)].map(({ index }) => index);
    const isRow = (text: string) =>
      text !== '' && starts.every((start) => text.slice(Math.max(0, start - 2), start).trim() === '');
    const over = lines.findIndex((other, i) => i > at && !isRow(other));
    const end = over === -1 ? lines.length : over;
    const rows = [...lines.slice(at - 1, at), ...lines.slice(at + 1, end)].map((row) =>
      starts.map((start, i) =>
        row
          .slice(start, starts[i + 1])
          .trimEnd()
          .replace(GAS, '(gas)'),
      ),
    );
    const [head = '', ...others] = set(rows, starts.length);
    const dashes = widthsOf(rows).map((width) => '-'.repeat(width));
    lines.splice(at - 1, end - at + 1, head, dashes.join('  '), ...others);
  }
  return lines.join('\n').replace(GAS, '(gas)');
}

const widthsOf = (rows: readonly (readonly string[])[]): number[] =>
  (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));

/** Rows in columns; those from a given column on are right-aligned. */
function set(rows: readonly (readonly string[])[], numbers: number): string[] {
  const widths = widthsOf(rows);
  return rows.map((row) =>
    row
      .map((cell, at) => (at < numbers ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** The balance of a refilled sandbox account, less the amounts that waiting orders took from it meanwhile. */
const TAKEN_ALREADY = /(?<="available": ")[0-9]{9}(?=")/g;
const OF_A_MOMENT = /^(?:2026-|3[1-7]###|BREAK )/;
/**
 * Events within a millisecond may appear in either order: the rows of one moment are compared as a set, and the order of their
 * placeholders has no meaning.
 */
export function comparable(block: string): string[] {
  const [rows, rest] = [[] as string[], [] as string[]];
  const uncounted = block
    .replaceAll(/(?<=0x51|0xfeed|5ea1|0xc0ffee|UTR|\bc|\bCL|\bSB|Customer)[0-9]{2,}/g, (n) => '#'.repeat(n.length))
    .replaceAll(/(?<=\b7)[0-9]{14}\b/g, '#'.repeat(14))
    .replaceAll(TAKEN_ALREADY, '#')
    .replaceAll(new RegExp(`(?<![\\d.])(${Object.values(NUMBERED).join('|')})\\d{3}(?!\\d|\\.\\d)`, 'g'), '$1###');
  for (const line of uncounted.trim().split('\n')) (OF_A_MOMENT.test(line) ? rows : rest).push(line);
  return [...rest, ...rows.toSorted()];
}

/** The text of a hosted page. Its tags are ours, so no parser is needed. */
function textOf(html: string): string {
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? assert.fail('no page');
  return unescaped(
    main
      .replaceAll(/<input type="hidden"[^>]*>/g, '')
      .replaceAll(/<select[\s\S]*?<\/select>/g, '________')
      .replaceAll(/<input[^>]* value="([^"]*)"[^>]*>/g, (_, given: string) => given || '________')
      .replaceAll(/<(?:button|a class="button")[^>]*>([\s\S]*?)<\/(?:button|a)>/g, '[ $1 ]')
      .replaceAll('</dt>', ': ')
      .replaceAll(/<br>|<\/(?:p|h1|h2|li|div|label|form|legend)>/g, '\n')
      .replaceAll(/<[^>]*>/g, ''),
  )
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** One page as it is played. */
export interface Scene {
  world: Story;
  names: Names;
  /** A paragraph of the page. */
  says(text: string): void;
  /** A command of an operator, shown with its output. It must end with exit code 0, or with the given one. */
  types(line: string, ends?: number): Promise<string>;
  /** Runs a command without showing it. */
  looks(line: string): Promise<string>;
  /** A partner's request and the answer to it. */
  asks(path: string, body: Record<string, string>, status?: number): Promise<Came>;
  /** A hosted page as a customer sees it, as text: fields as lines, buttons in brackets. */
  sees(html: string): void;
  puts(path: string, body: Record<string, string>): Promise<Came>;
  /** The same with another key, or another method. */
  calls(
    by: Client,
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body: Record<string, string>,
    status?: number,
  ): Promise<Came>;
  /** Finn proposes; ada looks at the proposal and confirms it. */
  bothDo(line: string, why: string): Promise<void>;
  /** Finn acts alone where that is enough; otherwise another operator confirms. */
  does(line: string, why: string): Promise<string>;
  /** Waits for an open case of this kind that has no name yet, and calls it `<case>`, or as named. */
  caseOpens(kind: string, as?: string, subject?: string): Promise<void>;
  /** Waits until the bank shows that the deposit of this name was refunded. */
  isPaidBack(deposit: string): Promise<void>;
  noCaseIsOpen(): Promise<void>;
  isIn(order: Sale | Purchase, state: string): Promise<void>;
  /** Calls the order `<order>`, or as named, and its customer `<customer>`. */
  named(order: Sale | Purchase, as?: string): void;
}

/** Pages of one test file, played in turn on one server. */
export function pagesOf(
  operators: Readonly<Record<string, Role>> = { finn: 'finance', ada: 'admin' },
  options: Parameters<typeof openStory>[0] = {},
): (file: string, title: string, play: (scene: Scene) => Promise<void>) => void {
  let stage: Stage;
  before(async () => {
    stage = await openStage(operators, options);
  });
  after(async () => await stage?.world.close());
  return (file, title, play) => {
    test(`${title}: the page shows what happens`, async () => {
      const shown = `${await played(stage, title, play)}\n`;
      const at = `${FOLDER}${file}.md`;
      if (REWRITE) writeFileSync(at, shown);
      const kept = existsSync(at)
        ? readFileSync(at, 'utf8')
        : assert.fail(`${at} is missing: UPDATE_TRANSCRIPT=1 writes it`);
      const [ours, theirs] = [blocksOf(kept).map(comparable), blocksOf(shown).map(comparable)];
      // The first block that differs is more helpful than both pages in full.
      const differs = ours.findIndex((block, at) => !isDeepStrictEqual(block, theirs[at]));
      if (differs >= 0) assert.deepEqual(theirs[differs], ours[differs], `${file}.md is out of date`);
      assert.equal(theirs.length, ours.length, `${file}.md is out of date`);
    });
  };
}

const DONE_OR_WAITS = -1;
const blocksOf = (page: string): string[] => page.split(/^(?=```)/m);

// Long because one function renders a transcript in one pass.
async function played(stage: Stage, title: string, play: (scene: Scene) => Promise<void>): Promise<string> {
  const { world } = stage;
  const names: Names = {};
  const shows = stage.standIns();
  const page: string[] = [`# ${title}`];
  let isOpen = false;
  let last = 0;
  const shell = (lines: string): void => {
    if (isOpen) page[page.length - 1] = (page.at(-1) ?? '').replace(/```$/, `\n${lines}\n\`\`\``);
    else page.push(`\`\`\`console\n${lines}\n\`\`\``);
    isOpen = true;
  };
  const filled = (text: string): string =>
    text.replace(
      /<(\w+)>/g,
      (_, called: string) => names[called] ?? assert.fail(`no value for <${called}> in ${text}`),
    );
  async function asks(
    by: Client,
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body: Record<string, string>,
    status: number,
  ): Promise<Came> {
    const sent = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, filled(value)]));
    const to = filled(path);
    const answer = await (method === 'GET' ? by.get(to) : method === 'PUT' ? by.put(to, sent) : by.post(to, sent));
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
    const full = path.startsWith('/') ? path : `${WHITE_LABEL}${path}`;
    const request = method === 'GET' ? `GET ${full}` : `${method} ${full}\n${shows(JSON.stringify(body))}`;
    const answered = shows(JSON.stringify(answer.body.data ?? answer.body, null, 2));
    page.push(`\`\`\`http\n${request}\n\n${answer.status}\n${answered}\n\`\`\``);
    isOpen = false;
    return answer.body.data;
  }
  const scene: Scene = {
    world,
    names,
    says(text) {
      page.push(text.replaceAll(/\s*\n\s*/g, '\n').trim());
      isOpen = false;
    },
    async types(line, ends = 0) {
      const { printed, code } = await stage.types(line, names);
      last = code;
      assert.ok(
        code === ends || (ends === DONE_OR_WAITS && (code === 0 || code === 3)),
        `${line} ended with ${code}: ${printed}`,
      );
      shell(`$ ${line}\n${shows(printed)}`);
      const proposal = /^proposal +(\d+)/m.exec(printed)?.[1];
      if (proposal !== undefined) names.proposal = proposal;
      return printed;
    },
    looks: async (line) => (await stage.types(line, names)).printed,
    asks: (path, body, status = 200) => asks(world.partner, 'POST', path, body, status),
    sees(html) {
      page.push(`\`\`\`text\n${shows(textOf(html))}\n\`\`\``);
      isOpen = false;
    },
    puts: (path, body) => asks(world.partner, 'PUT', path, body, 200),
    calls: (by, method, path, body, status = 200) => asks(by, method, path, body, status),
    async bothDo(line, why) {
      await scene.types(line, 3);
      await scene.types(`OPERATOR_TOKEN_FILE=ada.token npm run operator -- confirm <proposal> --reason '${why}'`);
    },
    async does(line, why) {
      const printed = await scene.types(line, DONE_OR_WAITS);
      const other = line.startsWith('OPERATOR_TOKEN_FILE=ada') ? 'bea' : 'ada';
      if (last !== 3) return printed;
      return await scene.types(
        `OPERATOR_TOKEN_FILE=${other}.token npm run operator -- confirm <proposal> --reason '${why}'`,
      );
    },
    async caseOpens(kind, as = 'case', subject) {
      names[as] = await world.until(`there is an open case ${kind}`, async () => {
        const row = await world.read((tx) =>
          tx.row<{ id: bigint }>(
            `select id from cases where kind = $1 and closed_at is null and not id::text = any($2::text[])
                and ($3::text is null or subject = $3) limit 1`,
            [kind, Object.values(names), subject ?? null],
          ),
        );
        return row && String(row.id);
      });
    },
    async isPaidBack(deposit) {
      await world.until(`${deposit} is paid back`, async () => {
        await world.looksAtTheBank();
        const query = `select id from refunds where deposit_id = $1 and state = 'settled'`;
        return (await world.read((tx) => tx.row(query, [names[deposit]]))) !== undefined;
      });
    },
    async noCaseIsOpen() {
      let open: unknown[] = [];
      await world
        .until('no case is open', async () => {
          open = await world.read((tx) => tx.rows('select kind, subject, reason from cases where closed_at is null'));
          return open.length === 0;
        })
        .catch(() => assert.deepEqual(open, [], 'cases are open'));
    },
    async isIn(order, state) {
      let last = '';
      await world
        .until(`the order is ${state}`, async () => (last = await world.stateOf(order)) === state)
        .catch(() => assert.equal(last, state, `order ${order.id} is not ${state}`));
    },
    named(order, as = 'order') {
      names[as] = String(order.id);
      names.customer = order.customerId;
    },
  };
  await play(scene);
  await scene.noCaseIsOpen();
  await world.reconciles();
  scene.says('At the end no case is open, and books, chains and bank agree, item by item.');
  await scene.types('npm run operator -- cases');
  const reconciled = await scene.types('npm run reconcile');
  assert.match(reconciled, /Books and outside agree\.\n$/, 'something is still in transit');
  return page.join('\n\n');
}

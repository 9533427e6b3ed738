/**
 * docs/operating/when-money-is-stuck.md, played: each trouble happens to a real server, the commands of the page are typed at
 * a real terminal, and what they print is what the page shows.
 *
 * UPDATE_TRANSCRIPT=1 writes the page anew. What differs from run to run is shown by stand-ins of the same length, so that
 * columns stay columns.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { openStory, type Purchase, type Sale, type Story } from '../support/story.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PAGE = `${ROOT}docs/operating/when-money-is-stuck.md`;
const REWRITE = process.env.UPDATE_TRANSCRIPT === '1';
const page = readFileSync(PAGE, 'utf8');

let world: Story;
let people: Record<string, Person>;
/** What the page calls things, in the trouble that is being played. */
let names: Record<string, string> = {};

before(async () => {
  world = await openStory({ bankDeduplicates: false });
  const { db, baseUrl } = world.server;
  const operator = (name: string, role: 'finance' | 'admin') =>
    operatorNamed({ db, baseUrl, clock: world.clock }, name, role);
  people = { finn: await operator('finn', 'finance'), ada: await operator('ada', 'admin') };
  // Numbers of three digits from the first on, whatever was numbered before.
  const admin = new Client({ connectionString: world.adminUrl, options: '-c search_path=cloverleaf' });
  await admin.connect();
  for (const table of ['cases', 'deposits', 'proposals'])
    await admin.query(`alter table ${table} alter column id restart with 101`);
  await admin.end();
});
after(async () => await world?.close());

/** Each: what happens before each block of commands of its section. */
const TROUBLES: Record<string, (() => Promise<void>)[]> = {};
const play = (section: string, scenes: (() => Promise<void>)[]) => {
  TROUBLES[section] = scenes;
};
const nothing = async () => {};

// What happens.

let order: Sale | Purchase;

async function paid(amount: string, how: Parameters<Story['sells']>[2] = {}): Promise<Sale> {
  const sale = await world.sells(amount, 'usdc', how);
  order = sale;
  await world.pays(sale, amount);
  await world.mines(2);
  names = { order: String(sale.id), customer: sale.customerId };
  return sale;
}

/** The case of this kind, by its number. */
async function caseOpens(kind: string): Promise<void> {
  const id = await world.until(`there is an open case ${kind}`, async () => {
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>('select id from cases where kind = $1 and closed_at is null', [kind]),
    );
    return row?.id;
  });
  names.case = String(id);
}
async function casesClosed(): Promise<void> {
  let open: unknown[] = [];
  try {
    await world.until('no case is open', async () => {
      open = await world.read((tx) => tx.rows('select kind, subject, reason from cases where closed_at is null'));
      return open.length === 0;
    });
  } catch {
    assert.deepEqual(open, []);
  }
}
const isIn = (state: string) =>
  world.until(`the order is ${state}`, async () => (await world.stateOf(order)) === state);

async function newAccount(customerId: string): Promise<void> {
  const { fiatAccountId = '' } = await world.told('bank/addFiatAccount', {
    customerId,
    fiatAccount: '000177770000',
    ifsc: 'HDFC0000001',
  });
  names.account = fiatAccountId;
}

play('The treasury is short', [
  async () => {
    await world.setsAside('inr', 0n);
    await paid('100');
    await caseOpens('treasury_short');
  },
  nothing,
  async () => {
    await world.bank.fund({ currency: 'INR', units: 1_000_000_000_00n, id: 'from the reserve' });
    await isIn('settled');
    await casesClosed();
  },
]);

play('A bank that lost its answer', [
  async () => {
    await world.bank.setFault({ kind: 'lose_answer_before_effect' });
    await world.bank.setFault({ kind: 'status_unavailable', times: 1_000 });
    await paid('100');
    await world.until('nobody knows what became of it', async () => {
      const { payouts } = await world.traceOf(order);
      return payouts.some(({ state }) => state === 'unknown');
    });
    world.clock.advance(16 * 60_000);
    await caseOpens('payout_unknown');
  },
  nothing,
  async () => {
    await world.bank.clearFaults();
    // The minute in which bytes may still have been under way.
    await world.read((tx) =>
      tx.run(`update payouts set handing_until = handing_until - interval '2 minutes' where state = 'unknown'`),
    );
    world.clock.advance(5 * 60_000);
    await isIn('settled');
    await casesClosed();
    const payments = (await world.bank.payments()).filter(({ key }) => key.startsWith(`pay_${order.id}_`));
    assert.deepEqual(
      payments.map(({ key, state }) => [key, state]),
      [[`pay_${order.id}_2`, 'settled']],
      'paid once',
    );
  },
]);

play('A payout that bounced', [
  async () => {
    await paid('100', { customer: await world.verifiedCustomer({ ending: '9002' }) });
    await caseOpens('payout_returned');
  },
  async () => await newAccount(order.customerId),
  async () => {
    await casesClosed();
    await world.until('it is paid again', async () => {
      await world.looksAtTheBank();
      const { payouts } = await world.traceOf(order);
      return payouts.at(-1)?.state === 'settled' && payouts.length === 2;
    });
  },
]);

play('A credit that nobody knows', [
  async () => {
    const customer = await world.verifiedCustomer();
    const purchase = await world.buys('5000', 'usdc', { customer });
    order = purchase;
    await world.credits(purchase, '5000', { text: 'for my coins' });
    names = { order: String(purchase.id), account: customer.fiatAccountId };
    await caseOpens('deposit_unknown_target');
    const [row] = await world.read((tx) =>
      tx.rows<{ id: bigint }>(`select id from deposits where state = 'suspense' and order_id is null`),
    );
    names.deposit = String(row?.id);
  },
  async () => {
    world.deadlinePasses();
    await isIn('expired');
  },
  async () => {
    const refund = await world.until('it is paid back', async () => {
      await world.looksAtTheBank();
      const [row] = await world.read((tx) =>
        tx.rows<{ id: bigint; key: string }>(
          `select id, key from refunds where deposit_id = $1 and state = 'settled'`,
          [names.deposit],
        ),
      );
      return row;
    });
    names.refund = String(refund.id);
    await casesClosed();
  },
]);

play('A deposit that a reorg took back', [
  async () => {
    await world.confirmsAfter('usdc.matic20', 2);
    const sale = await world.sells('100', 'usdc', { reference: 'screen:hold' });
    order = sale;
    names = { order: String(sale.id), address: world.newAddress() };
    const payment = await world.pays(sale, '100');
    await world.mines(2);
    await isIn('on_hold');
    await world.reorgsAway(payment);
    await caseOpens('deposit_lost');
  },
  nothing,
  nothing,
  casesClosed,
]);

// The terminal.

function types(line: string): Promise<string> {
  const said = line.replace(/<(\w+)>/g, (_, name: string) => names[name] ?? assert.fail(`what is ${name}?`));
  const [, who = 'finn', words = ''] =
    /^(?:OPERATOR_TOKEN_FILE=(\w+)\.token )?npm run operator -- (.*)$/.exec(said) ?? assert.fail(line);
  const argv = (words.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'|'$/g, ''));
  return new Promise((resolve) => {
    const { OPERATOR_TOKEN_FILE: _, ...env } = process.env;
    const child = spawn(process.execPath, ['server/src/cli/main.ts', ...argv], {
      cwd: ROOT,
      env: { ...env, OPERATOR_URL: world.server.baseUrl, OPERATOR_TOKEN: people[who]?.token ?? '' },
    });
    let printed = '';
    child.stdout.on('data', (part) => (printed += part));
    child.stderr.on('data', (part) => (printed += part));
    child.once('close', (code) => resolve(code === 0 ? printed : `${printed}[ends with ${code}]\n`));
  });
}

/** Numbers that count up over the whole page keep their place in it; a stand-in is as long as what it stands for. */
const standIns = new Map<string, string>();
function standIn(real: string, make: (n: number) => string): string {
  const known = standIns.get(real);
  if (known !== undefined) return known;
  const made = make(standIns.size + 1);
  assert.equal(made.length, real.length, `${made} for ${real}`);
  standIns.set(real, made);
  return made;
}
const counted = (begin: string, length: number) => (n: number) =>
  begin + String(n).padStart(length - begin.length, '0');

function normalised(text: string): string {
  const own = /confirm (\d+)|proposal +(\d+)/.exec(text);
  if (own !== null) names.proposal ??= own[1] ?? own[2] ?? '';
  return text
    .replace(
      /\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d{3}Z)?/g,
      (_, t: string, ms?: string) => `2026-01-05${t}03:12:00${ms === undefined ? '' : '.000Z'}`,
    )
    .replace(/0x[0-9a-fA-F]{64}/g, (real) => standIn(real, counted('0xfeed', 66)))
    .replace(/0x[0-9a-fA-F]{40}/g, (real) => standIn(real, counted('0xc0ffee', 42)))
    .replace(/\b[0-9A-Za-z]{10}_[0-9]{1,3}\b/g, (real) =>
      standIn(real, (n) => `Customer${String(n).padStart(2, '0')}${real.slice(10)}`),
    )
    .replace(/UTR[0-9A-F]{16}/g, (real) => standIn(real, counted('UTR', 19)))
    .replace(/\b[0-9a-f]{16}\b/g, (real) => standIn(real, counted('c', 16)))
    .replace(/\bCL[0-9A-Z]{10}\b/g, (real) => standIn(real, counted('CL', 12)))
    .replace(/(?<![0-9])[0-9]{15}(?![0-9])/g, (real) => standIn(real, counted('7', 15)))
    .trimEnd();
}

/** What happened within a millisecond may stand in either order: the rows of one moment are compared as a set. */
function comparable(block: string): string[] {
  const [rows, rest] = [[] as string[], [] as string[]];
  for (const line of block.trim().split('\n')) (line.startsWith('2026-01-05 ') ? rows : rest).push(line);
  return [...rest, ...rows.toSorted()];
}

let rewritten = page;
for (const [, title = '', body = ''] of page.matchAll(/^## (.+)\n([^]*?)(?=^## |$(?![^]))/gm)) {
  test(`${title}: the page shows what happens`, async () => {
    const blocks = [...body.matchAll(/```console\n([^]*?)```/g)].map(([block]) => block);
    const scenes = TROUBLES[title] ?? assert.fail('somebody plays it');
    const shown: string[] = [];
    for (const [at, block] of blocks.entries()) {
      await scenes[at]?.();
      const lines = [];
      for (const [, line = ''] of block.matchAll(/^\$ (.*)$/gm))
        lines.push(`$ ${line}`, normalised(await types(line)), '');
      shown.push(['```console', ...lines.slice(0, -1), '```'].join('\n'));
    }
    if (REWRITE) {
      for (const [at, block] of blocks.entries()) rewritten = rewritten.replace(block, () => shown[at] ?? '');
      writeFileSync(PAGE, rewritten);
    } else assert.deepEqual(blocks.map(comparable), shown.map(comparable));
  });
}

test('every trouble that is played stands on the page', () => {
  assert.deepEqual(
    [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title),
    Object.keys(TROUBLES),
  );
});

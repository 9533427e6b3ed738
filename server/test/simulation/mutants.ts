/**
 * Mutants: planted bugs, each in a copy of the source, each to be found by the simulation. What it does not find is named.
 *
 * A mutant is a text that has to stand exactly once in its file, and what takes its place: one that no longer applies is an
 * error, and not a mutant that was found. A seed has found it when it shows a violation of a kind that fits the bug, and when
 * the same seed with the same orders is clean on the source as it is.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Kind } from './checks.ts';
import { type Lanes, openLanes } from './lanes.ts';

interface Mutant {
  name: string;
  /** What it may be found by. */
  kinds: readonly Kind[];
  changes: readonly { file: string; from: string; to: string }[];
}

/** What the hunt came to, as JSON. */
export interface Hunt {
  command: string;
  seconds: number;
  planted: number;
  found: number;
  mutants: { mutant: string; files: string[]; found: boolean; seed?: number; kind?: Kind; violation?: string }[];
}

const PAYOUTS = 'src/rails/payouts.ts';
const SENDS = 'src/rails/chain.sends.ts';

const MUTANTS: readonly Mutant[] = [
  {
    name: 'sent before it is written down that it is being sent',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: 'const handing = await beginHanding(tx, payout, context.handingMs ?? HANDING_MS);',
        to: 'const handing: Payout | undefined = payout;',
      },
    ],
  },
  {
    name: 'a new key for each try',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: 'send({\n      key: payout.id,',
        to: 'send({\n      key: payout.handings === 1 ? payout.id : `${payout.id}.${payout.handings}`,',
      },
    ],
  },
  {
    name: 'an unknown answer is taken for a refusal',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: 'return await recordStillUnknown(context, tx, payout, sent.why);',
        to: "return await refuse(context, tx, payout, 'never_arrived');",
      },
    ],
  },
  {
    name: 'sent again under its key to a bank that does not deduplicate',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: 'if (!rail.deduplicates) return await endIfAbsent(context, tx, payout);',
        to: '',
      },
    ],
  },
  {
    name: 'absent is believed while bytes may be under way',
    kinds: ['paid_twice'],
    changes: [{ file: PAYOUTS, from: 'if (overForMs > graceMs)', to: 'if (graceMs > 0)' }],
  },
  {
    name: 'what a dead worker was handing over is handed over again',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: "if (payout.state === 'written') return await begin(context, tx, payout);",
        to: "if (payout.state === 'written' || (payout.state === 'handing' && (payout.handingLeftMs ?? 0) <= 0)) return await begin(context, tx, payout);",
      },
    ],
  },
  {
    // The lease of the work alone does no harm: whoever comes second finds the row of the payout in another's hands.
    name: 'neither the lease of the work nor that of the handing is checked',
    kinds: ['paid_twice'],
    changes: [
      {
        file: 'src/base/work.ts',
        from: 'and (leased_until is null or leased_until < clock_timestamp())\n',
        to: '',
      },
      {
        file: PAYOUTS,
        from: 'if (leftMs > 0) return { handled: { againInMs: leftMs + 100 } };',
        to: 'if (leftMs > 0) return await begin(context, tx, payout);',
      },
    ],
  },
  {
    // Either guard alone is enough: the look, and the key that makes a second row impossible.
    name: 'no unique key of a statement line, and nobody looks whether it is there',
    kinds: ['paid_twice', 'books', 'bug'],
    changes: [
      {
        file: 'migrations/0006_rails.sql',
        from: '  read_at     timestamptz not null,\n  primary key (rail, external_id)\n);\ncreate index bank_lines_key',
        to: '  read_at     timestamptz not null\n);\ncreate index bank_lines_key',
      },
      {
        file: 'src/rails/bank.store.ts',
        from: '$10, clock_timestamp()) on conflict (rail, external_id) do nothing`',
        to: '$10, clock_timestamp())`',
      },
      {
        file: 'src/rails/bank.ts',
        from: 'if (there !== undefined) {',
        to: 'if (there !== undefined && there.asset !== asset) {',
      },
    ],
  },
  {
    name: 'a higher fee takes another nonce',
    kinds: ['paid_twice'],
    changes: [
      {
        file: SENDS,
        from: 'await store.reserveSend(tx, rail, { ...newest, version: newest.version + 1, fee }, new Date());',
        to: 'const nonce = await store.lockNonce(tx, rail, newest.wallet, newest.nonce);\n      const added = await store.reserveSend(tx, rail, { ...newest, nonce, version: newest.version + 1, fee }, new Date());\n      if (added) await store.setNextNonce(tx, rail, newest.wallet, nonce + 1n);',
      },
    ],
  },
  {
    // Either guard alone is enough: the key, which the insert names, and the look under the lock of the nonces.
    name: 'no unique key of a send, and nobody looks under the lock whether it is there',
    kinds: ['paid_twice'],
    changes: [
      { file: 'migrations/0006_rails.sql', from: '  unique (rail, key, version),\n', to: '' },
      { file: 'src/rails/chain.store.ts', from: ' on conflict (rail, key, version) do nothing`', to: '`' },
      { file: SENDS, from: 'if (there.length > 0) return there;', to: '' },
    ],
  },
  {
    name: 'a payout is locked before its order',
    kinds: ['deadlock'],
    changes: [
      {
        file: 'src/orders/facts.ts',
        from: '  const payout = await payoutByKey(tx, rail, key);\n  return payout?.orderId == null',
        to: "  await tx.rows('select id from payouts where id = $1 for update', [key]);\n  const payout = await payoutByKey(tx, rail, key);\n  return payout?.orderId == null",
      },
    ],
  },
  {
    name: 'accounts are locked in no order',
    kinds: ['deadlock'],
    changes: [
      {
        file: 'src/ledger/store.ts',
        from: 'from accounts where id = any($1::bigint[]) order by id for update',
        to: 'from accounts where id = any($1::bigint[]) order by md5(id::text || $1::text) for update',
      },
    ],
  },
  {
    name: 'an event is written after its transaction and not in it',
    kinds: ['untold'],
    changes: [
      {
        file: 'src/base/db.ts',
        from: "'a transaction whose statement failed was committed');\n",
        to: "'a transaction whose statement failed was committed');\n      for (const tell of (tx as Tx & { after?: Body<void>[] }).after ?? []) await transact(pool, begin, tell);\n",
      },
      {
        file: 'src/events/store.ts',
        from: '  tx.send(sql.insertAlone, [e.partnerId, e.type, e.subject, e.body, e.at]);\n  tx.send(sql.notify);',
        to: '  ((tx as Tx & { after?: unknown[] }).after ??= []).push(async (other: Tx) => {\n    other.send(sql.insertAlone, [e.partnerId, e.type, e.subject, e.body, e.at]);\n    other.send(sql.notify);\n  });',
      },
    ],
  },
  {
    name: 'an order that is being paid out may be rejected',
    kinds: ['paid_twice'],
    changes: [
      {
        file: 'src/orders/machine.ts',
        from: "  { from: ['paying_out'], on: 'payout_settled',",
        to: "  { from: ['paying_out'], on: 'rejected', to: 'refunding', post: 'void_payout', then: 'send_refund' },\n  { from: ['paying_out'], on: 'payout_settled',",
      },
    ],
  },
  {
    name: 'a deposit that a reorg took back stays',
    kinds: ['paid_twice', 'books', 'lost'],
    changes: [
      {
        file: 'src/rails/chain.follow.ts',
        from: 'if (caughtUp) await giveUpAdrift(tx);',
        to: 'if (!caughtUp) await giveUpAdrift(tx);',
      },
    ],
  },
  {
    name: 'a statement line is taken as often as it is shown',
    kinds: ['paid_twice', 'books', 'bug'],
    changes: [
      {
        file: 'src/rails/bank.ts',
        from: 'if (there !== undefined) {',
        to: 'if (there !== undefined && there.asset !== asset) {',
      },
      { file: 'src/rails/bank.ts', from: 'if (!fresh) return;\n    for', to: 'for' },
    ],
  },
  {
    name: 'rounded up when selling',
    kinds: ['rounding'],
    changes: [
      {
        file: 'src/quotes/price.ts',
        from: "baseToQuote(depositUnits, terms.rate, decimals, 'down')",
        to: "baseToQuote(depositUnits, terms.rate, decimals, 'up')",
      },
    ],
  },
  {
    name: 'rounded up when buying',
    kinds: ['rounding'],
    changes: [
      {
        file: 'src/quotes/price.ts',
        from: "quoteToBase(left, terms.rate, decimals, 'down')",
        to: "quoteToBase(left, terms.rate, decimals, 'up')",
      },
    ],
  },
  {
    name: 'the hold of a payout that failed is not voided',
    kinds: ['books', 'bug', 'stuck'],
    changes: [
      {
        file: 'src/orders/machine.ts',
        from: "to: 'payout_held', post: 'void_payout', then: 'open_case'",
        to: "to: 'payout_held', then: 'open_case'",
      },
    ],
  },
];

const root = resolve(import.meta.dirname, '..', '..', '..');

export async function findMutants(options: {
  command: string;
  seeds: readonly [number, number];
  orders: number;
  lanes: number;
  /** Part of a name: only those. */
  only?: string;
}): Promise<Hunt> {
  const began = performance.now();
  const { command, orders, lanes, only = '' } = options;
  const chosen = MUTANTS.filter(({ name }) => name.includes(only));
  const unmutated = await openLanes(1);
  const clean = new Map<number, boolean>();
  const isClean = async (seed: number): Promise<boolean> => {
    if (!clean.has(seed))
      await unmutated.play([{ seed, orders }], ({ violations }) => void clean.set(seed, violations.length === 0));
    return clean.get(seed) === true;
  };
  const mutants: Hunt['mutants'] = [];
  for (const mutant of chosen) {
    const copy = mkdtempSync(join(tmpdir(), 'cloverleaf-mutant-'));
    try {
      plant(copy, mutant);
      const open = await openLanes(lanes, copy);
      const found = await find(open, mutant, { ...options, isClean }).finally(() => open.close());
      const files = [...new Set(mutant.changes.map(({ file }) => file))];
      mutants.push({ mutant: mutant.name, files, found: found !== undefined, ...found });
      console.log(
        `${(found === undefined ? 'NOT FOUND' : `seed ${found.seed}`).padEnd(9)} ${mutant.name} (${files.join(', ')})`,
      );
      if (found !== undefined) console.log(`          ${found.kind}: ${found.violation}`);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }
  await unmutated.close();
  const found = mutants.filter((one) => one.found).length;
  console.log(`${found} of ${mutants.length} mutants found`);
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  return { command, seconds, planted: mutants.length, found, mutants };
}

/** The lowest seed of those that the lanes had begun when one was found. */
async function find(
  open: Lanes,
  { kinds }: Mutant,
  {
    seeds,
    orders,
    isClean,
  }: { seeds: readonly [number, number]; orders: number; isClean: (n: number) => Promise<boolean> },
) {
  const [from, to] = seeds;
  for (let seed = from; seed <= to; ) {
    const caught: { seed: number; kind: Kind; violation: string }[] = [];
    const plays = Array.from({ length: to - seed + 1 }, (_, n) => ({ seed: seed + n, orders }));
    await open.play(plays, (told) => {
      seed = Math.max(seed, told.seed + 1);
      const fits = told.violations.find(({ kind }) => kinds.includes(kind));
      if (fits === undefined) return undefined;
      caught.push({ seed: told.seed, kind: fits.kind, violation: fits.what.slice(0, 300) });
      return false;
    });
    const [first] = caught;
    if (first === undefined) return undefined;
    if (await isClean(first.seed)) return first;
  }
  return undefined;
}

/** Those that no longer stand where they were planted, in sentences: the source has moved on. */
export function misplaced(): string[] {
  return MUTANTS.flatMap(({ name, changes }) =>
    changes
      .filter(({ file, from }) => readFileSync(join(root, 'server', file), 'utf8').split(from).length !== 2)
      .map(({ file }) => `${name}: what it changes in ${file} does not stand there once`),
  );
}

function plant(copy: string, { name, changes }: Mutant): void {
  for (const part of [
    'server/src',
    'server/test',
    'server/migrations',
    'server/package.json',
    'scripts',
    'package.json',
  ])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const { file, from, to } of changes) {
    const path = join(copy, 'server', file);
    const text = readFileSync(path, 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${name}: what it changes in ${file} does not stand there once`);
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
  }
}

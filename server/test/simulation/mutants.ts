/**
 * Mutants: planted bugs, each in a copy of the source, each to be found by the simulation. What it does not find is named.
 *
 * A mutant is a text that has to stand exactly once in its file, and what takes its place: one that no longer applies is an
 * error, and not a mutant that was found.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

interface Mutant {
  name: string;
  changes: readonly { file: string; from: string; to: string }[];
}

const PAYOUTS = 'rails/payouts.ts';

const MUTANTS: readonly Mutant[] = [
  {
    name: 'an unknown answer is taken for a refusal',
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
    changes: [{ file: PAYOUTS, from: 'if (overForMs > graceMs)', to: 'if (graceMs > 0)' }],
  },
  {
    name: 'what a dead worker was handing over is handed over again',
    changes: [
      {
        file: PAYOUTS,
        from: "if (payout.state === 'written') return await begin(context, tx, payout);",
        to: "if (payout.state === 'written' || (payout.state === 'handing' && (payout.handingLeftMs ?? 0) <= 0)) return await begin(context, tx, payout);",
      },
    ],
  },
  {
    name: 'a statement line is taken as often as it is shown',
    changes: [
      {
        file: 'rails/bank.ts',
        from: 'if (there !== undefined) {',
        to: 'if (there !== undefined && there.asset !== asset) {',
      },
      { file: 'rails/bank.ts', from: 'if (!fresh) return;\n    for', to: 'for' },
    ],
  },
  {
    name: 'a deposit that a reorg took back stays',
    changes: [
      {
        file: 'rails/chain.follow.ts',
        from: 'if (caughtUp) await giveUpAdrift(tx);',
        to: 'if (!caughtUp) await giveUpAdrift(tx);',
      },
    ],
  },
  {
    name: 'the hold of a payout that failed is not voided',
    changes: [
      {
        file: 'orders/machine.ts',
        from: "to: 'payout_held', post: 'void_payout', then: 'open_case'",
        to: "to: 'payout_held', then: 'open_case'",
      },
    ],
  },
  {
    name: 'a payout is sent before it is written down that it is being sent',
    changes: [
      {
        file: PAYOUTS,
        from: 'const handing = await beginHanding(tx, payout, context.handingMs ?? HANDING_MS);',
        to: 'const handing: Payout | undefined = payout;',
      },
    ],
  },
];

const root = resolve(import.meta.dirname, '..', '..', '..');

/** @returns how many were not found */
export async function findMutants(options: { seeds: string; orders: string }): Promise<number> {
  let missed = 0;
  for (const mutant of MUTANTS) {
    const copy = mkdtempSync(join(tmpdir(), 'cloverleaf-mutant-'));
    try {
      plant(copy, mutant);
      const { found, said } = await play(copy, options);
      if (found === undefined) missed += 1;
      console.log(`${found === undefined ? 'NOT FOUND' : `seed ${found}`.padEnd(9)} ${mutant.name}`);
      const why = said.split('\n').find((line) => line.startsWith('  '));
      if (why !== undefined) console.log(`          ${why.trim().slice(0, 160)}`);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }
  console.log(`${MUTANTS.length - missed} of ${MUTANTS.length} mutants found`);
  return missed;
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
    const path = join(copy, 'server', 'src', file);
    const text = readFileSync(path, 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${name}: what it changes in ${file} does not stand there once`);
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
  }
}

function play(copy: string, { seeds, orders }: { seeds: string; orders: string }) {
  const words = ['server/test/simulation/main.process.ts', '--seeds', seeds, '--orders', orders, '--first'];
  const child = spawn(process.execPath, words, {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  return new Promise<{ found: string | undefined; said: string }>((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => {
      const found = /^seed ([0-9]+) FAILED/m.exec(said)?.[1];
      if (code !== 0 && found === undefined) return failed(new Error(`the simulation itself failed: ${said}`));
      done({ found, said });
    });
  });
}

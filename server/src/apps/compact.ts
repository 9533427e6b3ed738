/**
 * `npm run compact`: rewrites the tables with personal data, so that the database's files have no bytes of erased values any more.
 * It may be stopped and run again at any time. Exit codes: 0 all are rewritten, 1 some stayed locked, 2 it could not continue.
 */
import { parseArgs } from 'node:util';
import { SettingError } from '../base/env.ts';
import { onDatabase, runCommand } from '../composition/command.ts';
import { readConfig } from '../config.ts';
import { type CompactReport, compact } from '../rotation/index.ts';

const HELP = `
  npm run compact [-- --lock-timeout <seconds>]
      Rewrites the tables with personal data, one after the other. Each is locked meanwhile, and requests that need it wait.
      --lock-timeout: maximum wait for a table that others use, 5 by default. If it was stopped, run it again.
      docs/operating/personal-data.md
`;

async function main(): Promise<number> {
  const lockTimeoutMs = readTimeout(process.argv.slice(2)) * 1_000;
  const onTable = (of: CompactReport['rewritten'][number]) => void process.stdout.write(shown(of));
  return await onDatabase(readConfig(process.env), async (adminUrl) => {
    const { rewritten, left } = await compact(adminUrl, { lockTimeoutMs, onTable });
    for (const table of left) process.stdout.write(`  ${table}: not rewritten, because others kept it locked\n`);
    process.stdout.write(
      left.length === 0
        ? `${rewritten.length} tables are rewritten. A backup from now on has no bytes of erased values in its tables.\n`
        : 'Some tables are not rewritten: run this command again, if need be while no server runs.\n',
    );
    return left.length === 0 ? 0 : 1;
  });
}

const shown = ({ table, lockedMs, bytesBefore, bytesAfter }: CompactReport['rewritten'][number]): string =>
  `  ${table}: locked for at most ${(lockedMs / 1_000).toFixed(1)} s, ${bytesBefore / 1_024n} KiB before, ${bytesAfter / 1_024n} KiB now\n`;

function readTimeout(args: string[]): number {
  try {
    const { values } = parseArgs({ args, options: { 'lock-timeout': { type: 'string', default: '5' } } });
    if (/^[1-9][0-9]{0,2}$/.test(values['lock-timeout'])) return Number(values['lock-timeout']);
  } catch (error) {
    throw new SettingError(`${(error as Error).message}\n${HELP}`);
  }
  throw new SettingError(`--lock-timeout must be a whole number from 1 to 999\n${HELP}`);
}

runCommand(main, 2);

/**
 * `npm run rotate-master-key`: re-encrypts everything from OLD_MASTER_KEY to MASTER_KEY, whether servers run or not. It may be
 * stopped and run again at any time. Exit codes: 0 nothing is left under the old key, 1 something is left, 2 it could not
 * continue.
 */
import { parseArgs } from 'node:util';
import { openDatabase } from '../base/db.ts';
import { SettingError } from '../base/env.ts';
import { migrateFor } from '../base/migrate.ts';
import { configuredVault, onDatabase, runCommand } from '../composition/command.ts';
import { readConfig } from '../config.ts';
import { noteRotation, type RotationReport, rotate } from '../rotation/index.ts';

const HELP = `
  npm run rotate-master-key [-- --batch <rows>]
      Re-encrypts with MASTER_KEY everything that OLD_MASTER_KEY has encrypted. --batch: rows per transaction, 200 by default.
      If it was stopped, run it again: it continues where it stopped. docs/operating/master-key.md
`;

async function main(): Promise<number> {
  const batch = readBatch(process.argv.slice(2));
  const config = readConfig(process.env);
  const vault = configuredVault(config);
  if (vault.old === undefined)
    throw new SettingError('OLD_MASTER_KEY is not set: there is no old key whose values could be re-encrypted');
  return await onDatabase(config, async (adminUrl) => {
    const db = openDatabase(await migrateFor(adminUrl, vault));
    try {
      await noteRotation(db, vault);
    } finally {
      await db.close();
    }
    const report = await rotate(adminUrl, vault, { batch });
    process.stdout.write(shown(report));
    return report.left.length === 0 ? 0 : 1;
  });
}

function shown({ rewritten, left }: RotationReport): string {
  const lines = rewritten.map(({ part, values }) => `  ${part}: ${values} re-encrypted`);
  for (const { part, values, how } of left) lines.push(`  ${part}: ${values} still encrypted with the old key; ${how}`);
  lines.push(
    left.length === 0
      ? 'No value is encrypted with the old master key any more. Remove OLD_MASTER_KEY from every server after all earlier links have expired.'
      : 'Some values are still encrypted with the old master key: keep OLD_MASTER_KEY set.',
  );
  return `${lines.join('\n')}\n`;
}

function readBatch(args: string[]): number {
  try {
    const { values } = parseArgs({ args, options: { batch: { type: 'string', default: '200' } } });
    if (/^[1-9][0-9]{0,3}$/.test(values.batch)) return Number(values.batch);
  } catch (error) {
    throw new SettingError(`${(error as Error).message}\n${HELP}`);
  }
  throw new SettingError(`--batch must be a whole number from 1 to 9999\n${HELP}`);
}

runCommand(main, 2);

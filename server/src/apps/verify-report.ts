/**
 * `npm run verify-report -- <report.json> --key <key.pem>`: whether a signed report is genuine, and what it says. It needs no server, no
 * database and no setting.
 *
 * Exit codes: 0 genuine, 1 not genuine, 2 could not check.
 */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { SettingError } from '../base/env.ts';
import { csvOf } from '../protocols/operator/csv.ts';
import type { ReconciliationReport } from '../reports/index.ts';
import { RECONCILED, verifySigned } from '../reports/signed.ts';

const HELP = `
  npm run verify-report -- <report.json> --key <seal-key.pem> [--csv <lines.csv>]
      Checks the signature of a reconciliation report with the public key that its operator has published, and prints it.
      --csv  also checks that this CSV has exactly the lines of the report
`;
const GENUINE = 0;
const NOT_GENUINE = 1;
const COULD_NOT = 2;

function main(): number {
  const { positionals, values } = parsed();
  const [report] = positionals;
  if (report === undefined || positionals.length > 1 || values.key === undefined) throw new SettingError(HELP);
  const found = verifySigned(content(report), content(values.key));
  if (!found.isGenuine) {
    process.stdout.write(`NOT GENUINE: ${found.why}.\n`);
    return NOT_GENUINE;
  }
  const shown = found.report as unknown as ReconciliationReport;
  if (shown.kind !== 'reconciliation report' || shown.version !== 1)
    throw new SettingError('The signature is right, but this is no reconciliation report that this version knows.');
  process.stdout.write(textOf(shown, found));
  if (values.csv === undefined) return GENUINE;
  const isSame = csvOf({ list: 'lines', columns: RECONCILED }, found.report) === content(values.csv);
  process.stdout.write(isSame ? 'The CSV has exactly these lines.\n' : 'NOT GENUINE: the CSV has other lines.\n');
  return isSame ? GENUINE : NOT_GENUINE;
}

/** The verdict first: a reader sees an open difference before anything else. */
function textOf(report: ReconciliationReport, { sha256, key }: { sha256: string; key: string }): string {
  const { verdict, isOpen, day, at, seal, unsealed, lines } = report;
  const head = ['what', 'rail', 'wallet', 'asset', 'books', 'outside', 'difference', 'since', 'why'];
  const rows = lines.map((one) => [
    ...[one.what, one.rail, one.wallet, one.asset, one.ledgerUnits, one.outsideUnits ?? 'not read'],
    ...[one.differenceUnits ?? '', `${one.at} (${age(one.ageS)})`, one.why ?? ''],
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)));
  const table = [head, ...rows].map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '));
  return `${[
    `${isOpen ? '!! ' : ''}${verdict}`,
    '',
    `Genuine: signed with the key ${key}`,
    `Made at ${at}${day === null ? '' : `, for the day ${day}`}; SHA-256 ${sha256}`,
    seal === null
      ? 'Nothing of the journal was sealed.'
      : `Newest seal of the journal: ${seal.number}:${seal.hash}, of ${seal.at}; about ${unsealed} entries since`,
    ...report.assets.map(({ asset, debits, credits }) => `Books ${asset}: debits ${debits}, credits ${credits}`),
    '',
    ...table.map((line) => line.trimEnd()),
  ].join('\n')}\n`;
}

const age = (seconds: number): string =>
  seconds < 3_600
    ? `${Math.floor(seconds / 60)} min`
    : seconds < 172_800
      ? `${Math.floor(seconds / 3_600)} h`
      : `${Math.floor(seconds / 86_400)} days`;

/** @throws SettingError when the file cannot be read, or is no text in UTF-8 */
function content(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new SettingError(`${path} cannot be read: ${(error as Error).message}`);
  }
  // Other bytes would become the same replacement character, and two files the same text.
  if (!isUtf8(bytes)) throw new SettingError(`${path}: must be text in UTF-8`);
  return bytes.toString();
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { key: { type: 'string' }, csv: { type: 'string' } },
    });
  } catch (error) {
    throw new SettingError(`${(error as Error).message}\n${HELP}`);
  }
}

try {
  process.exitCode = main();
} catch (error) {
  process.stderr.write(`${error instanceof SettingError ? error.message : String(error)}\n`);
  process.exitCode = COULD_NOT;
}

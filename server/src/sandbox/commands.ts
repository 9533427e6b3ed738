/**
 * `npm run sandbox -- <control> …`: the controls from a terminal. A thin client of `/sandbox/v1`, acting for a partner of
 * sandbox.json; the list of controls, their parameters and the help come from the table that the server's routes are made
 * from.
 *
 * Values may be given without names, in the table's order: `pay 17 under`, `pay 17 --how under`.
 */
import { partsOf } from '../base/commandline.ts';
import { defined } from '../base/defined.ts';
import { CONTROLS, type Control } from '../protocols/whitelabel/index.ts';

export class WrongCommand extends Error {}

export const findControl = (name: string): Control | undefined => CONTROLS.find((control) => control.name === name);

/**
 * Parses the arguments after the control's name.
 *
 * @returns the fields of the request, and the partner that `--partner` names
 * @throws WrongCommand
 */
export function readArguments(
  control: Control,
  args: readonly string[],
): { fields: Record<string, string>; partner?: string } {
  const names = Object.keys(control.takes);
  const fields: Record<string, string> = {};
  let partner: string | undefined;
  for (const part of partsOf(args, [], [...names, 'partner'])) {
    const name = 'option' in part ? part.option : names.find((one) => !(one in fields));
    const value = 'option' in part ? part.value : part.word;
    if (name === undefined) throw new WrongCommand(`${value} is one value too many\n\n${helpOf(control)}`);
    if (name !== 'partner' && !names.includes(name))
      throw new WrongCommand(`${control.name} takes no --${name}\n\n${helpOf(control)}`);
    const says = name === 'partner' ? 'the name of a partner' : (control.takes[name]?.says ?? '');
    if (value === undefined) throw new WrongCommand(`--${name} needs a value: ${plain(says)}`);
    if (name === 'partner') partner = value;
    else if (name in fields) throw new WrongCommand(`${name} was given twice`);
    else fields[name] = value;
  }
  const missing = names.filter((name) => control.takes[name]?.optional === false && !(name in fields));
  if (missing.length > 0) throw new WrongCommand(`${missing.join(', ')} missing\n\n${helpOf(control)}`);
  return { fields, ...defined({ partner }) };
}

const plain = (text: string): string => text.replaceAll('`', '');

export function helpOf(control: Control): string {
  const takes = Object.entries(control.takes);
  const usage = takes.map(([name, { optional }]) => (optional ? `[--${name} …]` : `<${name}>`)).join(' ');
  const width = Math.max(...takes.map(([name]) => name.length));
  return [
    `npm run sandbox -- ${control.name} ${usage}`,
    `  ${plain(control.says)}${control.shared ? '; for every partner of this sandbox' : ''}`,
    ...takes.map(([name, { says }]) => `    ${name.padEnd(width)}  ${plain(says)}`),
    `  for example: npm run sandbox -- ${control.example}`,
  ].join('\n');
}

export function help(): string {
  const width = Math.max(...CONTROLS.map(({ name }) => name.length), 'doctor'.length);
  const line = (name: string, says: string): string => `  ${name.padEnd(width)}  ${plain(says)}`;
  const beside = [
    line('listen', "receives a partner's webhooks in every format, checks their signatures and prints them"),
    line('doctor', 'explains why a request is refused: which part of its signature, body or clock is wrong'),
  ];
  const rows = (shared: boolean) =>
    CONTROLS.filter((one) => one.shared === shared).map(({ name, says }) => line(name, says));
  return [
    'npm run sandbox -- <command> [values] [--partner <name>]',
    '',
    ...beside,
    '',
    "Your own orders and due times, in the name of sandbox.json's first partner or of the one named:",
    ...rows(false),
    '',
    'What all partners of this sandbox share:',
    ...rows(true),
    '',
    '<command> --help lists its options. All commands and magic values: docs/sandbox.md',
  ].join('\n');
}

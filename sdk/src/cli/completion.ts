/**
 * Shell completion. The scripts call the program itself (`__complete`), so they know all its commands.
 */
import type { Field } from '../generated/commands.ts';
import { type Command, positional } from './commands.ts';
import { Misuse } from './misuse.ts';

const NAME = 'cloverleaf-ramp';

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_cloverleaf_ramp() {
  COMPREPLY=($(compgen -W "$(${NAME} __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _cloverleaf_ramp ${NAME}`,
  zsh: `#compdef ${NAME}
_cloverleaf_ramp() { compadd -- $(${NAME} __complete -- "\${words[@]:1:CURRENT-2}" 2>/dev/null) }
compdef _cloverleaf_ramp ${NAME}`,
  fish: `complete -c ${NAME} -f -a '(${NAME} __complete -- (commandline -opc)[2..] 2>/dev/null)'`,
};

/** @throws Misuse */
export function completion(shell: string): string {
  const script = SCRIPTS[shell];
  if (script === undefined) throw new Misuse(`the shell must be ${Object.keys(SCRIPTS).join(', ')}`);
  return script;
}

/** Options of every command. */
const COMMON = ['--json', '--help'];

/** The possible next words: commands, then the next field's values, options, or an option's values. */
export function suggestions(commands: readonly Command[], typed: readonly string[]): string[] {
  const words = typed.filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  const command = commands
    .filter(({ words: own }) => `${words.join(' ')} `.startsWith(`${own} `))
    .toSorted((a, b) => b.words.length - a.words.length)[0];
  const named = command?.fields.find(({ name }) => `--${name}` === last);
  if (named !== undefined) return valuesOf(named);
  const next = commands
    .map(({ words: own }) => own.split(' '))
    .filter((own) => words.length < own.length && words.every((word, at) => own[at] === word))
    .map((own) => own[words.length] ?? '');
  if (command === undefined) return [...new Set(next)].toSorted();
  const unnamed = words.slice(command.words.split(' ').length).filter((word) => !word.startsWith('--'));
  const open = command.words === 'completion' ? Object.keys(SCRIPTS) : valuesOf(positional(command)[unnamed.length]);
  const options = [
    ...command.fields.map(({ name }) => `--${name}`),
    ...Object.keys(command.options ?? {}).map((one) => `--${one}`),
    ...COMMON,
  ].filter((option) => !words.includes(option));
  return [...new Set([...next, ...(words.some((word) => word.startsWith('--')) ? [] : open), ...options])].toSorted();
}

const valuesOf = (field: Field | undefined): string[] => (field?.words ?? []).map((one) => one.toLowerCase());

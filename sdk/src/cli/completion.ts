/**
 * Shell completion. The scripts ask the program itself (`__complete`), so they know each command that it has.
 */
import type { Command } from './commands.ts';
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

/** The words that may follow what was typed: of commands, then options, or what an option may be. */
export function suggestions(commands: readonly Command[], typed: readonly string[]): string[] {
  const words = typed.filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  const command = commands
    .filter(({ words: own }) => `${words.join(' ')} `.startsWith(`${own} `))
    .toSorted((a, b) => b.words.length - a.words.length)[0];
  const field = command?.fields.find(({ name }) => `--${name}` === last);
  if (field !== undefined) return (field.words ?? []).map((one) => one.toLowerCase());
  const next = commands
    .map(({ words: own }) => own.split(' '))
    .filter((own) => words.length < own.length && words.every((word, at) => own[at] === word))
    .map((own) => own[words.length] ?? '');
  const options =
    command === undefined
      ? []
      : [
          ...command.fields.map(({ name }) => `--${name}`),
          ...Object.keys(command.options ?? {}).map((one) => `--${one}`),
        ];
  return [...new Set([...next, ...options])].toSorted();
}

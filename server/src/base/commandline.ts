/**
 * The command line of a program whose commands are declared elsewhere: `parseArgs` of node:util with the options of the
 * declarations. The program says in its own words what is wrong, and therefore gets unknown options and absent values too.
 *
 * A word with one dash is a value, such as the status -4. An option takes the next word even if that begins with a dash. After
 * `--`, every word is a value.
 *
 * Not here: programs with a fixed list of options, which call `parseArgs` themselves.
 */
import { parseArgs } from 'node:util';

export type Part =
  | { readonly word: string }
  /** @property value absent of a flag, of an unknown option without `=`, and of an option that nothing follows */
  | { readonly option: string; readonly value: string | undefined };

/**
 * The parts of a command line, in order.
 *
 * @param flags options without a value @param named options with a value
 */
export function partsOf(argv: readonly string[], flags: readonly string[], named: readonly string[]): readonly Part[] {
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries([
      ...flags.map((name) => [name, { type: 'boolean' }] as const),
      ...named.map((name) => [name, { type: 'string' }] as const),
    ]),
    ...{ strict: false, allowPositionals: true, tokens: true },
  });
  let last = -1;
  return tokens.flatMap((token): readonly Part[] => {
    // parseArgs makes a token of each letter after one dash.
    const isSame = token.index === last;
    last = token.index;
    if (isSame || token.kind === 'option-terminator') return [];
    const isOption = token.kind === 'option' && token.rawName.startsWith('--');
    return isOption ? [{ option: token.name, value: token.value }] : [{ word: argv[token.index] ?? '' }];
  });
}

/** Spellings: a text that a person pasted, as it may be stored. */

/**
 * Without the spaces around it; with one space where it has several or a line break; and without any. Each once, in this order:
 * an IBAN in groups of four, a hash with a line break and a reference of several words are all found.
 */
export function spellingsOf(pasted: string): string[] {
  const trimmed = pasted.trim();
  return [...new Set([trimmed, trimmed.replaceAll(/\s+/g, ' '), trimmed.replaceAll(/\s+/g, '')])];
}

/** The same spellings, and each in small letters: hashes and addresses are stored so. */
export const withSmall = (spellings: readonly string[]): string[] => [
  ...new Set(spellings.flatMap((one) => [one, one.toLowerCase()])),
];

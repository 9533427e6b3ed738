/** Numbers of bank accounts, as blind indexes compare them. */

/** A shorter text is no number: too many people would have it. */
const SHORTEST = 5;

/** Without spaces and hyphens, in capitals; undefined when it is too short to be a number. */
export function comparedNumber(number: string): string | undefined {
  const plain = number.replace(/[\s-]/g, '').toUpperCase();
  return plain.length < SHORTEST ? undefined : plain;
}

/** The command was not understood: exit code 2. */
export class Misuse extends Error {
  override name = 'Misuse';
}

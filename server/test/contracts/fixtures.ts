/** Fixtures of what registry.ts lists, by kind and code. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The default export of an adapter's fixture; undefined when there is no such file. */
export async function fixtureOf<F>(kind: string, code: string): Promise<F | undefined> {
  const path = fileURLToPath(new URL(`../fixtures/${kind}/${code}.ts`, import.meta.url));
  return existsSync(path) ? ((await import(path)) as { default: F }).default : undefined;
}

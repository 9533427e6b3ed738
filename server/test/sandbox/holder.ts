/** Starts holder.process.ts and reads its output, for tests that kill a server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export interface Holder {
  child: ChildProcess;
  got: Record<string, unknown>;
  /** Kill -9, and wait until it is dead. */
  kill(): Promise<void>;
}

export interface HoldOptions {
  /** Words before the command, such as `setpriv …`. */
  through?: readonly string[];
  /** A copy of the project to run it from. */
  clone?: string;
}

const ROOT = join(import.meta.dirname, '..', '..', '..');
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function hold(
  what: 'postgres' | 'node' | 'lock',
  dataDir: string,
  options: HoldOptions = {},
): Promise<Holder> {
  const { child, died } = startHolding(what, dataDir, options);
  let said = '';
  const line = new Promise<string>((done) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('\n')) done(said);
    });
  });
  const first = await Promise.race([line, died.then(() => said)]);
  if (first === '') throw new Error(`holder of ${what} died without a word`);
  const kill = async () => {
    child.kill('SIGKILL');
    await died;
  };
  return { child, got: JSON.parse(first) as Record<string, unknown>, kill };
}

/** The same without waiting for its output. */
export function startHolding(
  what: string,
  dataDir: string,
  { through = [], clone = ROOT }: HoldOptions = {},
): { child: ChildProcess; died: Promise<void> } {
  const file = join(clone, 'server', 'test', 'sandbox', 'holder.process.ts');
  const [command = '', ...args] = [...through, process.execPath, file, what, dataDir];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  const died = new Promise<void>((done) =>
    child.once('exit', () => {
      running.delete(child);
      done();
    }),
  );
  return { child, died };
}

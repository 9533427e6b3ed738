/**
 * Processes of this machine, by number: is it alive, since when, what is it, wait until it is gone.
 *
 * Three traps this file exists for. A killed process whose parent never collects it stays as a zombie, for which signal 0
 * still succeeds: dead, unless other threads of it still run, which hold its ports and files. A number is given out again
 * after a restart of the machine or the container: the start time tells two holders of one number apart. A signal to
 * another user's process answers EPERM: alive.
 *
 * Linux answers from /proc; elsewhere `ps` is asked.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const hasProc = process.platform === 'linux';

export function isAlive(pid: number): boolean {
  if (hasProc) {
    const stat = statOf(pid);
    if (stat === undefined || stat.state === 'X') return false;
    return stat.state !== 'Z' || threadsOf(pid) > 1;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A text that two processes of the same number never share; undefined when there is no such process. */
export function startOf(pid: number): string | undefined {
  if (!hasProc) return ps(pid, 'lstart=');
  const stat = statOf(pid);
  if (stat === undefined) return undefined;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${stat.startTicks}`;
}

/** The command line of a process, words separated by spaces; empty when there is no such process. */
export function commandOf(pid: number): string {
  if (!hasProc) return ps(pid, 'command=') ?? '';
  return read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() ?? '';
}

/** Answers false when it is still there after `timeoutMs`. Polls, because only a parent is told of a death. */
export async function isGoneWithin(pid: number, timeoutMs: number): Promise<boolean> {
  for (const until = Date.now() + timeoutMs; isAlive(pid); await sleep(10)) if (Date.now() > until) return false;
  return true;
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * A TCP port of 127.0.0.1 that nobody listens on now: `wanted` if that is so, else any.
 *
 * Not from the range from which the kernel gives ports to outgoing connections (from 32,768 on): while its listener is
 * dead and being brought back, such a port is taken by whoever calls anywhere, and a caller retrying it may even reach
 * itself. Another process may still take the port first, so who uses it must cope.
 */
export async function portOrAnother(wanted = 0): Promise<number> {
  if (wanted !== 0 && (await isFree(wanted))) return wanted;
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });
}

/** State and start time: fields 3 and 22 of /proc/<pid>/stat, counted after the name, which may itself hold spaces and brackets. */
function statOf(pid: number): { state: string; startTicks: string } | undefined {
  const text = read(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? 'X', startTicks: fields[19] ?? '' };
}

function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // gone between two looks
  }
}

function ps(pid: number, column: string): string | undefined {
  const text = spawnSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim();
  return text === '' ? undefined : text;
}

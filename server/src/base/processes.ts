/**
 * Processes of this machine, by process id: whether one is alive, since when, its command line, and waiting until it is gone.
 *
 * This file handles three traps. A killed process whose parent never reaps it stays a zombie, for which signal 0 still succeeds:
 * it counts as dead, unless other threads of it still run and hold its ports and files. A process id is reused after a restart of
 * the machine or the container: the start time tells two processes with one id apart. A signal to another user's process fails
 * with EPERM: alive.
 *
 * Linux reads /proc; other systems run `ps`.
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

/** A text that differs between two processes with the same id; undefined if there is no such process. */
export function startOf(pid: number): string | undefined {
  if (!hasProc) return ps(pid, 'lstart=');
  const stat = statOf(pid);
  if (stat === undefined) return undefined;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${stat.startTicks}`;
}

/** The command line of a process, words separated by spaces; empty if there is no such process. */
export function commandOf(pid: number): string {
  if (!hasProc) return ps(pid, 'command=') ?? '';
  return read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() ?? '';
}

/** False if the process still exists after `timeoutMs`. Polls, because only a parent is notified of an exit. */
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
 * A TCP port of 127.0.0.1 that is free now: `wanted` if possible, else any.
 *
 * It is not from the kernel's range for outgoing connections (from 32,768 on): while a listener is being restarted, any outgoing
 * connection may take such a port, and a client that retries it may even connect to itself. Another process may take the port
 * before the caller does, so the caller must handle that.
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

/**
 * State and start time: fields 3 and 22 of /proc/<pid>/stat, counted after the name, which may itself contain spaces and
 * brackets.
 */
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
    return undefined; // gone between the two reads
  }
}

function ps(pid: number, column: string): string | undefined {
  const text = spawnSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim();
  return text === '' ? undefined : text;
}

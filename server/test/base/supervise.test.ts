/** Programs that we start: each on a free port, restarted, ended. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { Unavailable } from '../../src/base/errors.ts';
import { isAlive } from '../../src/base/processes.ts';
import { bringBack, endProcess, startOnFreePort } from '../../src/base/supervise.ts';

const isTaken = (why: string) => why.includes('in use');

test('a port that another program takes in between costs a try, and five of them fail the start', async () => {
  const tried: number[] = [];
  const started = await startOnFreePort(
    async (port) => {
      tried.push(port);
      if (tried.length < 5) throw new Error('address in use');
      return port;
    },
    { isTaken },
  );
  assert.deepEqual([started, tried.length], [tried[4], 5]);
  let tries = 0;
  const never = async () => {
    tries += 1;
    throw new Error('address in use');
  };
  await assert.rejects(startOnFreePort(never, { isTaken }), /address in use/);
  assert.equal(tries, 5);
});

test('a start that fails for another reason is not tried again', async () => {
  let tries = 0;
  const broken = async () => {
    tries += 1;
    throw new Error('no such file');
  };
  await assert.rejects(startOnFreePort(broken, { isTaken }), /no such file/);
  assert.equal(tries, 1);
});

test('the wanted port is used if it is free, otherwise another one', async () => {
  const own = async (port: number) => port;
  const free = await startOnFreePort(own, { isTaken });
  assert.equal(await startOnFreePort(own, { wanted: free, isTaken }), free);
  const other = createServer();
  await new Promise<void>((up) => other.listen({ port: free, host: '127.0.0.1' }, up));
  assert.notEqual(await startOnFreePort(own, { wanted: free, isTaken }), free);
  await new Promise((down) => other.close(down));
});

test('a program that died is restarted until it runs, and each failure is reported', async () => {
  const said: string[] = [];
  let tries = 0;
  const back = await bringBack(
    async () => {
      tries += 1;
      if (tries < 4) throw new Error(`not yet ${tries}`);
      return 'up';
    },
    { pauses: { firstMs: 1, longestMs: 2 }, isWanted: () => true, onFailure: (why) => said.push(why), ref: true },
  );
  assert.deepEqual([back, said], ['up', ['not yet 1', 'not yet 2', 'not yet 3']]);
});

test('a program that is no longer wanted is not restarted', async () => {
  let tries = 0;
  const options = { pauses: { firstMs: 1, longestMs: 1 }, onFailure: () => {}, ref: true };
  const fails = async () => {
    tries += 1;
    throw new Error('no');
  };
  assert.equal(await bringBack(fails, { ...options, isWanted: () => tries < 3 }), undefined);
  assert.equal(tries, 3);
  assert.equal(await bringBack(fails, { ...options, isWanted: () => false }), undefined);
  assert.equal(tries, 3, 'a start was tried');
});

test('a program is ended by the gentlest signal that does it', async () => {
  const child = spawn(process.execPath, [
    '-e',
    'process.on("SIGINT", () => {}); console.log("up"); setInterval(() => {}, 9)',
  ]);
  await new Promise((up) => child.stdout.once('data', up));
  const ended = new Promise<string | null>((done) => child.once('exit', (_code, signal) => done(signal)));
  const pid = child.pid ?? 0;
  await assert.rejects(endProcess(pid, { name: 'a program', signals: [['SIGINT', 50]] }), (error) => {
    assert.ok(error instanceof Unavailable);
    assert.equal(error.message, `a program: process ${pid} does not end`);
    return true;
  });
  assert.ok(isAlive(pid), 'the program ended at the signal that it ignores');
  const signals = [
    ['SIGINT', 50],
    ['SIGTERM', 60_000],
    ['SIGKILL', 60_000],
  ] as const;
  await endProcess(pid, { name: 'a program', signals, isStill: (asked) => asked === pid && isAlive(pid) });
  assert.equal(await ended, 'SIGTERM');
});

test('a process that only has the number of the one meant is left alone', async () => {
  const child = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 9)']);
  await new Promise((up) => child.stdout.once('data', up));
  const signals = [['SIGKILL', 50]] as const;
  await endProcess(child.pid ?? 0, { name: 'a program', signals, isStill: () => false });
  assert.equal(child.exitCode ?? child.signalCode, null);
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGKILL');
  await ended;
});

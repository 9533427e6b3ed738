/**
 * The signer as a separate process with its own keys: started as an operator starts it, from a key file.
 */
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomHex } from '../../src/base/ids.ts';
import { connectTo } from '../../src/signer/address.ts';
import type { ChainLimits } from '../../src/signer/index.ts';
import { encryptKeys, keysOf, newPhrase, publicOf } from '../../src/signer/keys.ts';
import { freshFolder } from './folder.ts';
import { patience } from './patience.ts';
import { collect, run } from './process.ts';

const READY_MS = 60_000;

export type SignerProcess = Awaited<ReturnType<typeof startSigner>>;

/** @param options.folder by default a new folder of the test */
export async function startSigner(options: { limits: readonly ChainLimits[]; folder?: string }) {
  const dir = options.folder ?? freshFolder('signer');
  const socket = join(dir, 's.sock');
  const keys = keysOf(newPhrase());
  if (keys === undefined) throw new Error('a new phrase is a phrase');
  const secret = randomHex(32);
  const passphrase = randomHex(16);
  const keystore = join(dir, 'keys.json');
  const limitsFile = join(dir, 'limits.json');
  writeFileSync(keystore, encryptKeys(keys, passphrase), { mode: 0o600 });
  let child: ChildProcess;
  let ended: Promise<void>;

  const allow = (limits: readonly ChainLimits[]) =>
    writeFileSync(
      limitsFile,
      JSON.stringify({ chains: limits }, (_, part) => (typeof part === 'bigint' ? String(part) : part)),
    );

  async function start(): Promise<void> {
    child = run(['server/src/apps/signer.ts'], {
      SIGNER_LISTEN: socket,
      SIGNER_SECRET: secret,
      SIGNER_LIMITS: limitsFile,
      SIGNER_DIR: join(dir, 'journal'),
      SIGNER_KEYSTORE: keystore,
      SIGNER_PASSPHRASE: passphrase,
    });
    const output = collect(child);
    ended = new Promise((done) => child.once('exit', () => done()));
    for (const isOver = patience(READY_MS); !output().includes('is ready'); await sleep(10)) {
      if (child.exitCode !== null || isOver()) throw new Error(`the signer did not get ready:\n${output()}`);
    }
  }

  allow(options.limits);
  await start();
  return {
    socket,
    secret,
    expected: publicOf(keys),
    connect: () => connectTo({ path: socket }),
    start,
    /** Writes new limits; the signer reads them at its next start. */
    allow,
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await ended;
    },
    async stop(): Promise<void> {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}

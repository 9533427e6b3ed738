/**
 * The signer as a process: `npm run signer`. It has keys, limits and a journal, listens for the server, and does nothing by
 * itself. `npm run signer -- new-keys` and `restore-keys` create its key file, `show` prints the public part for the server.
 *
 * It reads no database and opens no connection. A kill at any moment loses nothing: a signature is on disk before it is
 * returned.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { readSettings, readTextFile, type Setting, SettingError, secret, text } from '../base/env.ts';
import { Unavailable } from '../base/errors.ts';
import { lockDataDir } from '../base/lock.ts';
import { readSignerAddress, SIGNER_ADDRESS_RULE, type SignerAddress } from '../signer/address.ts';
import { openSigner } from '../signer/core.ts';
import { JournalError, openJournal } from '../signer/journal.ts';
import { encryptKeys, type Keys, keysOf, newPhrase, openKeys, publicOf } from '../signer/keys.ts';
import { readLimits } from '../signer/limits.ts';
import { serveOn } from '../signer/serve.ts';
import { isTestAddress, isTestXpub } from '../signer/wellknown.ts';

const SETTINGS = {
  listen: text('SIGNER_LISTEN', 'unix socket, or port of this machine, on which the signer listens', undefined),
  secret: secret('SIGNER_SECRET', 'shared with the server, at least 32 characters'),
  limits: text('SIGNER_LIMITS', 'file with the limits', undefined),
  dir: text('SIGNER_DIR', 'folder of the journal; one signer at a time', 'signer'),
  keystore: text('SIGNER_KEYSTORE', 'file with the encrypted keys', undefined),
  passphrase: secret('SIGNER_PASSPHRASE', 'passphrase of the key file; at least 12 characters'),
  phrase: secret('SIGNER_PHRASE', 'the phrase itself, instead of a key file'),
} as const satisfies Record<string, Setting<unknown>>;

type Given = ReturnType<typeof readSettings<typeof SETTINGS>>;

const MOST_CONNECTIONS = 32;

async function main(): Promise<void> {
  const given = readSettings(SETTINGS, process.env);
  const command = readCommand(process.argv.slice(2));
  if (command === 'serve') return await serve(given);
  if (command === 'show') return show(keysFrom(given));
  if (command === 'new-keys') {
    const phrase = newPhrase();
    makeKeys(given, phrase);
    process.stdout.write(
      `Write these words on paper. Anyone who reads them can spend the money, so show them to no one:\n\n  ${phrase}\n\n`,
    );
    return show(keysFrom(given));
  }
  if (command === 'restore-keys') {
    makeKeys(given, await readAll(process.stdin));
    return show(keysFrom(given));
  }
  throw new SettingError(COMMANDS);
}

const COMMANDS = 'the commands are: serve (without a word), new-keys, restore-keys (words on standard input), show';

/** @throws SettingError that lists the commands, when there are options or several words */
function readCommand(args: string[]): string {
  try {
    const { positionals } = parseArgs({ args, options: {}, allowPositionals: true });
    if (positionals.length <= 1) return positionals[0] ?? 'serve';
  } catch {
    // The command takes no options.
  }
  throw new SettingError(COMMANDS);
}

function show(keys: Keys): void {
  const { wallets, xpub } = publicOf(keys);
  const { hot = '' } = wallets;
  process.stdout.write(`For the chains file of the server:\n  hotWallet  ${hot}\n  xpub       ${xpub}\n`);
}

/** The file is written completely or not at all, and an existing one is kept. */
function makeKeys({ keystore, passphrase }: Given, phrase: string): void {
  if (keystore === undefined) throw new SettingError('SIGNER_KEYSTORE must name the key file to create');
  if (existsSync(keystore)) throw new SettingError('SIGNER_KEYSTORE exists already; it is not overwritten');
  if (passphrase === undefined || passphrase.length < 12)
    throw new SettingError('SIGNER_PASSPHRASE must have at least 12 characters');
  const keys = keysOf(phrase);
  if (keys === undefined) throw new SettingError('these words are not a valid phrase: a word or their order is wrong');
  writeFileSync(keystore, encryptKeys(keys, passphrase), { mode: 0o600, flag: 'wx' });
}

function keysFrom({ keystore, passphrase, phrase }: Given): Keys {
  if (phrase !== undefined && keystore !== undefined)
    throw new SettingError('SIGNER_PHRASE and SIGNER_KEYSTORE are both set; the keys come from one of them');
  if (phrase !== undefined) {
    const keys = keysOf(phrase);
    if (keys === undefined)
      throw new SettingError('SIGNER_PHRASE is not a valid phrase: a word or their order is wrong');
    return keys;
  }
  if (keystore === undefined) throw new SettingError('SIGNER_KEYSTORE must name the file with the encrypted keys');
  const keys = openKeys(readTextFile('SIGNER_KEYSTORE', keystore), passphrase ?? '');
  if (keys === undefined)
    throw new SettingError('SIGNER_PASSPHRASE does not open SIGNER_KEYSTORE, or SIGNER_KEYSTORE is not a key file');
  return keys;
}

async function serve(given: Given): Promise<void> {
  const address = readSignerAddress(given.listen ?? '');
  if (address === undefined) throw new SettingError(`SIGNER_LISTEN ${SIGNER_ADDRESS_RULE}`);
  const shared = given.secret ?? '';
  if (shared.length < 32) throw new SettingError('SIGNER_SECRET must have at least 32 characters');
  if (given.limits === undefined) throw new SettingError('SIGNER_LIMITS must name the file with the limits');
  const limits = readLimits('SIGNER_LIMITS', readTextFile('SIGNER_LIMITS', given.limits));
  const keys = keysFrom(given);
  const { wallets, xpub } = publicOf(keys);
  if (Object.values(wallets).some(isTestAddress) || isTestXpub(xpub))
    throw new SettingError('the keys come from the public phrase of local test nodes; anyone can spend their money');

  const dir = resolve(given.dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const release = lockDataDir(dir, 'It is a signer: two with one journal would each have its own limits.');
  const journal = openJournal(join(dir, 'signed.jsonl'));
  const core = openSigner(keys, limits, journal);
  const said = (line: string) => process.stdout.write(`${new Date().toISOString()} ${line}\n`);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serveOn(socket, { core, secret: shared, said });
  });
  server.maxConnections = MOST_CONNECTIONS;
  await listen(server, address);
  said(`Signer is ready at ${given.listen}, for chains ${core.describe().chainIds.join(', ')}`);

  const end = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    journal.close();
    release();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
}

/** Removes a socket that a killed signer left behind; the lock has shown that it is dead. */
async function listen(server: Server, address: SignerAddress): Promise<void> {
  if ('path' in address && existsSync(address.path)) {
    if (!lstatSync(address.path).isSocket()) throw new SettingError('SIGNER_LISTEN is a file but not a socket');
    rmSync(address.path);
  }
  // Private from its creation on, not only after a chmod.
  const before = process.umask(0o177);
  try {
    await new Promise<void>((ready, failed) => {
      server.once('error', failed);
      server.listen(address, ready);
    });
  } finally {
    process.umask(before);
  }
  if ('path' in address) chmodSync(address.path, 0o600);
}

main().catch((error: unknown) => {
  const code = (error as NodeJS.ErrnoException).code;
  const expected = error instanceof SettingError || error instanceof Unavailable || error instanceof JournalError;
  const words = expected || code !== undefined ? (error as Error).message : ((error as Error)?.stack ?? String(error));
  process.stderr.write(`${words}\n`);
  process.exit(1);
});

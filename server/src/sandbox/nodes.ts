/**
 * The sandbox's chains: one local EVM node (anvil) each, mined and saved by us, and recovered after a crash.
 *
 * Modes of a node at start, tried in this order:
 *   adopted   an earlier server was killed and its node still runs: the very process we noted, with our chain id and genesis
 *   returned  the node is gone but its saved state is there: it continues from the last saved block
 *   fresh     there is neither: a new genesis
 *
 * Nodes do not mine by themselves. A loop here checks once per `blockMs` and mines one block while there is activity (a
 * transaction waiting, or one in the last 16 blocks, so that it gets its confirmations), else one per `idleMs`, so that the
 * head stays recent and the chain short.
 *
 * After a block the whole state is saved, because anvil offers nothing else. Blocks, transactions, receipts and logs come
 * back under the same hashes; balances at past blocks and the pool of waiting transactions do not. Saving costs 13 µs per
 * block of the chain's length (measured: 2 ms at 100 blocks, 67 ms and 1.1 MB at 5,000), so it may take a tenth of the time,
 * and only beyond that are blocks left unsaved: at most `MAX_UNSAVED`. A crash loses as much as a reorg of that depth plus
 * one. With past states included a save of 5,000 blocks is larger than half a gigabyte, so they are not. A returned node also
 * forgets empty blocks older than `EMPTY_BLOCKS_KEPT`.
 *
 * A node that dies while we run is restarted on the same port, with back-off. It is deliberately not bound to our process: it
 * outlives a kill -9 of the server, and only `stop` ends it.
 *
 * Not here: what is deployed on it (tokens.ts), and how the server reads it (rails/evm).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { Unavailable } from '../base/errors.ts';
import { ask } from '../base/http.ts';
import { isAlive, startOf } from '../base/processes.ts';
import { bringBack, endProcess, startOnFreePort } from '../base/supervise.ts';

/** Shallower than any finality used here: anvil calls a block final after two epochs, which is 16 blocks. */
const MAX_UNSAVED = 4;
const SLOTS_IN_AN_EPOCH = 8;
/** This many blocks after a transaction are mined quickly: until it is final. */
const BUSY_BLOCKS = 16;
const EMPTY_BLOCKS_KEPT = 1_024;
/** Saving takes at most one tenth of the time: after a save of 80 ms the next one is at least 720 ms away. */
const REST_AFTER_SAVING = 9;

export interface NodeSpec {
  /** The chain's code, and the name of its folder. */
  code: string;
  chainId: number;
}

export interface NodeOptions {
  dataDir: string;
  /** Ten funded accounts, unlocked in the node: the first deploys tokens, the second holds them. Never a real one. */
  mnemonic: string;
  log?: (line: string) => void;
  blockMs?: number;
  idleMs?: number;
}

export interface SandboxNode {
  code: string;
  chainId: number;
  /** Does not change while the server runs, even if the node restarts. */
  rpcUrl: string;
  adopted: boolean;
  /** A new genesis: everything recorded about this chain before is invalid. */
  fresh: boolean;
  /** Mines now, and has saved when it resolves. */
  mine(blocks?: number): Promise<void>;
  /** Replaces this many of the newest blocks with empty ones, and has saved when it resolves. */
  reorg(blocks: number): Promise<void>;
  /** Saves, ends the node and waits for its exit. */
  stop(): Promise<void>;
  /** Stops mining and leaves the node running, for the next server to adopt. */
  detach(): void;
}

/** @throws Unavailable when there is no anvil for this machine, or it does not start; the message contains its output */
export async function startNode(spec: NodeSpec, options: NodeOptions): Promise<SandboxNode> {
  const home = join(resolve(options.dataDir), 'chains', spec.code);
  mkdirSync(home, { recursive: true });
  const log = (line: string) => options.log?.(`chain ${spec.code}: ${line}`);
  const { blockMs = 1_000, idleMs = 15_000 } = options;

  const { adopted, fresh, ...begun } = await adoptOrLaunch(home, spec, options, log);
  let { note } = begun;
  const rpcUrl = urlOf(note.port);

  let ending = false;
  let savedHash = '';
  let unsaved = 0;
  let nextSaveAt = 0;
  let lastMinedAt = 0;
  let busyUntil = 0;

  const inTurn = turns();

  async function look(): Promise<void> {
    await bringBackIfDead();
    const pool = await call<{ pending: string }>(rpcUrl, 'txpool_status');
    const head = await headOf(rpcUrl);
    // The head is checked, too, because another process may have mined.
    if (head.transactions.length > 0) busyUntil = Math.max(busyUntil, Number(head.number) + BUSY_BLOCKS);
    const isBusy = Number(pool.pending) > 0 || Number(head.number) < busyUntil;
    const isTime = isBusy || Date.now() - lastMinedAt >= idleMs;
    await saveIfDue(isTime ? await mineNow(1) : head.hash);
  }

  /** @returns the new head's hash */
  async function mineNow(blocks: number): Promise<string> {
    await bringBackIfDead();
    if (blocks === 1) await call(rpcUrl, 'evm_mine');
    else await call(rpcUrl, 'anvil_mine', [`0x${blocks.toString(16)}`], 5_000 + blocks * MINING_MS);
    lastMinedAt = Date.now();
    unsaved += blocks;
    const head = await headOf(rpcUrl);
    if (head.transactions.length > 0) busyUntil = Number(head.number) + BUSY_BLOCKS;
    return head.hash;
  }

  async function saveIfDue(hash: string): Promise<void> {
    if (unsaved >= MAX_UNSAVED || Date.now() >= nextSaveAt) await save(hash);
  }

  async function save(hash: string): Promise<void> {
    if (hash === savedHash) return;
    const began = Date.now();
    await saveState(home, rpcUrl);
    savedHash = hash;
    unsaved = 0;
    nextSaveAt = Date.now() + REST_AFTER_SAVING * (Date.now() - began);
  }

  async function bringBackIfDead(): Promise<void> {
    if (isAlive(note.pid)) return;
    log(`the node (process ${note.pid}) has died; bringing it back from its saved state`);
    await bringBack(
      async () => {
        note = await launch(home, spec, options.mnemonic, note.port);
        busyUntil = Number((await headOf(rpcUrl)).number) + BUSY_BLOCKS;
        log(`the node is back, process ${note.pid}`);
      },
      {
        pauses: { firstMs: 200, longestMs: 5_000 },
        isWanted: () => !ending,
        ref: false,
        onFailure: (why) => log(`the node did not start: ${why}`),
      },
    );
  }

  async function loop(): Promise<void> {
    while (!ending) {
      try {
        await inTurn(async () => {
          if (!ending) await look();
        });
      } catch (error) {
        log(messageOf(error)); // The node may be dead; the next check detects that.
      }
      await sleep(blockMs, undefined, { ref: false });
    }
  }

  const head = await headOf(rpcUrl);
  busyUntil = Number(head.number) + BUSY_BLOCKS; // Transactions of a killed server get their confirmations.
  await save(head.hash); // Saves the genesis too, so that a node that dies before its first block returns to the same chain.
  void loop();

  return {
    ...spec,
    rpcUrl,
    adopted,
    fresh,
    reorg: (blocks) =>
      inTurn(async () => {
        await bringBackIfDead();
        await call(rpcUrl, 'anvil_reorg', [blocks, []]);
        // The node's clock goes back with its blocks; left behind, it would delay all deadlines.
        await call(rpcUrl, 'evm_setTime', [Math.floor(Date.now() / 1000)]);
        const newest = await headOf(rpcUrl);
        // Transactions that were reorged out are sent again by their senders, and need confirmations.
        busyUntil = Number(newest.number) + BUSY_BLOCKS;
        await save(newest.hash);
      }),
    mine: (blocks = 1) => inTurn(async () => save(await mineNow(blocks))),
    stop: async () => {
      ending = true;
      await inTurn(async () => {});
      if (!isAlive(note.pid)) return;
      await saveState(home, rpcUrl).catch((error) => log(`not saved at its end: ${messageOf(error)}`));
      await endIfSame(note);
    },
    detach: () => {
      ending = true;
    },
  };
}

/** The node of an earlier server, if it is still ours; else a new one, on the chain that was saved. */
async function adoptOrLaunch(
  home: string,
  spec: NodeSpec,
  options: NodeOptions,
  log: (line: string) => void,
): Promise<{ note: Note; adopted: boolean; fresh: boolean }> {
  const earlier = readNote(home);
  if (earlier !== undefined && (await isOurs(earlier, spec))) {
    log(`adopted the node of an earlier server, process ${earlier.pid}`);
    return { note: earlier, adopted: true, fresh: false };
  }
  const fresh = !existsSync(statePath(home));
  if (earlier !== undefined) await endIfSame(earlier);
  const note = await launchOnSomePort(home, spec, options.mnemonic, earlier?.port);
  log(fresh ? 'a new chain' : 'continues from its saved state');
  return { note, adopted: false, fresh };
}

/** Serializes all access to a node. */
function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
}

/** What the next server must know about a running node. */
interface Note {
  pid: number;
  /** Start time of the process, which tells it from a later one with the same number. */
  start: string | undefined;
  port: number;
  chainId: number;
  /** Absent between the start of the process and its first answer. */
  genesis?: string;
}

function readNote(home: string): Note | undefined {
  const path = join(home, 'node.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Note) : undefined;
}

function writeNote(home: string, note: Note): Note {
  const path = join(home, 'node.json');
  writeFileSync(`${path}.new`, `${JSON.stringify(note)}\n`);
  renameSync(`${path}.new`, path);
  return note;
}

function isSameProcess(note: Note): boolean {
  return isAlive(note.pid) && startOf(note.pid) === note.start;
}

async function isOurs(note: Note, spec: NodeSpec): Promise<boolean> {
  if (!isSameProcess(note) || note.chainId !== spec.chainId || note.genesis === undefined) return false;
  try {
    const url = urlOf(note.port);
    return Number(await call(url, 'eth_chainId')) === spec.chainId && (await genesisOf(url)) === note.genesis;
  } catch {
    return false; // The process is alive and ours but does not answer: it is killed, and restored from its saved state.
  }
}

async function endIfSame(note: Note): Promise<void> {
  await endProcess(note.pid, {
    name: 'anvil',
    signals: [
      ['SIGTERM', 5_000],
      ['SIGKILL', 5_000],
    ],
    isStill: () => isSameProcess(note),
  });
}

/** On its previous port if that is free, so that a wallet configured with it still works. */
async function launchOnSomePort(home: string, spec: NodeSpec, mnemonic: string, wanted = 0): Promise<Note> {
  return await startOnFreePort((port) => launch(home, spec, mnemonic, port), {
    wanted,
    isTaken: (why) => why.includes('in use'),
  });
}

async function launch(home: string, spec: NodeSpec, mnemonic: string, port: number): Promise<Note> {
  const args = [
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--chain-id',
    String(spec.chainId),
    '--mnemonic',
    mnemonic,
  ];
  args.push('--no-mining', '--slots-in-an-epoch', String(SLOTS_IN_AN_EPOCH), '--quiet', '--color', 'never');
  // anvil keeps past states for look-ups and reorgs; beyond this number it would write them into the user's home.
  args.push('--prune-history', '256');
  const plain = unpackState(home);
  if (plain !== undefined) args.push('--load-state', plain);

  const logPath = join(home, 'node.log');
  const output = openSync(logPath, 'w');
  const child = spawn(anvil(), args, {
    stdio: ['ignore', output, output],
    detached: true,
    cwd: home,
    env: { ...process.env, HOME: home },
  });
  closeSync(output);
  child.unref();
  const died = new Promise<string>((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', () => done(lastWords(logPath)));
  });
  if (child.pid === undefined) throw new Unavailable('anvil', await died);
  // Stored before the node's first answer, so that a kill in between leaves no unknown node.
  const started = { pid: child.pid, start: startOf(child.pid), port, chainId: spec.chainId };
  writeNote(home, started);
  const genesis = await firstAnswer(urlOf(port), child, died);
  if (plain !== undefined) rmSync(plain, { force: true });
  return writeNote(home, { ...started, genesis });
}

/** The node's output; empty if its folder is gone. */
function lastWords(logPath: string): string {
  try {
    return readFileSync(logPath, 'utf8').slice(0, 2_000);
  } catch {
    return '';
  }
}

async function firstAnswer(url: string, child: ChildProcess, died: Promise<string>): Promise<string> {
  for (const until = Date.now() + 30_000; Date.now() < until; await sleep(10)) {
    const said = await Promise.race([died, genesisOf(url).catch(() => null)]);
    if (child.exitCode !== null || child.signalCode !== null) break;
    if (said !== null) return said;
  }
  child.kill('SIGKILL');
  throw new Unavailable('anvil', `did not start; it said: ${await died}`);
}

function statePath(home: string): string {
  return join(home, 'state.json.gz');
}

/** Atomic: written beside, flushed to disk, renamed. */
async function saveState(home: string, url: string): Promise<void> {
  const hex = await call<string>(url, 'anvil_dumpState', [], 60_000);
  const path = statePath(home);
  const file = await open(`${path}.new`, 'w');
  try {
    await file.writeFile(Buffer.from(hex.slice(2), 'hex'));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

/** anvil loads plain JSON only. */
function unpackState(home: string): string | undefined {
  if (!existsSync(statePath(home))) return undefined;
  const text = gunzipSync(readFileSync(statePath(home))).toString('utf8');
  const plain = join(home, 'state.json');
  writeFileSync(plain, pruned(text));
  return plain;
}

/**
 * Also removes the geneses of later processes: each process makes its own, dumps it beside the chain's, and of several loaded
 * under number 0 the one written last would win. The chain's own is the oldest.
 */
function pruned(text: string): string {
  interface State {
    best_block_number: string | number;
    blocks: { header: { number: string; timestamp: string }; transactions: unknown[] }[];
  }
  const state = JSON.parse(text) as State;
  const kept = Number(state.best_block_number) - EMPTY_BLOCKS_KEPT;
  const geneses = state.blocks.filter(({ header }) => Number(header.number) === 0);
  const [genesis] = geneses.toSorted((a, b) => Number(a.header.timestamp) - Number(b.header.timestamp));
  const matters = (block: State['blocks'][number]) => {
    const number = Number(block.header.number);
    if (number === 0) return block === genesis;
    return number > kept || block.transactions.length > 0;
  };
  if (state.blocks.every(matters)) return text;
  return JSON.stringify({ ...state, blocks: state.blocks.filter(matters) });
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

async function headOf(url: string): Promise<{ number: string; hash: string; transactions: unknown[] }> {
  return await call(url, 'eth_getBlockByNumber', ['latest', false]);
}

async function genesisOf(url: string): Promise<string> {
  return (await call<{ hash: string }>(url, 'eth_getBlockByNumber', ['0x0', false])).hash;
}

/** Time allowed per block when one call mines several. */
const MINING_MS = 30;

/** A node's whole state is one answer; Node.js cannot hold a longer text. */
const LONGEST_ANSWER = 512 * 1024 * 1024;

/** One JSON-RPC call. @throws Unavailable without an answer in time, or when the answer is an error */
export async function call<T>(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  timeoutMs = 5_000,
): Promise<T> {
  let answer: { result?: T; error?: { message: string } };
  try {
    const { body } = await ask({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      deadline: AbortSignal.timeout(timeoutMs),
      longestBytes: LONGEST_ANSWER,
    });
    answer = JSON.parse(body.toString('utf8')) as typeof answer;
  } catch (cause) {
    throw new Unavailable('anvil', `${method} was not answered`, { cause });
  }
  if (answer.error !== undefined) throw new Unavailable('anvil', `${method}: ${answer.error.message}`);
  return answer.result as T;
}

function anvil(): string {
  // The only platform with a complete package; elsewhere anvil must be on the PATH, as Foundry installs it.
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'anvil';
  const manifest = createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/package.json');
  return join(dirname(manifest), 'bin', 'anvil');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

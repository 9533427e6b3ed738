/**
 * Reading a bank's statement, beside the XML parser alone over the same bytes: two files of 50,000 entries each, the maximum of
 * one file. Storing them afterwards is not included.
 *
 * The limit does the unavoidable part: it decodes the bytes and lets the parser find every tag and text.
 */
import { SaxesParser } from 'saxes';
import { readCamt } from '../server/src/rails/manual/camt.ts';
import type { ManualAccount } from '../server/src/rails/manual/settings.ts';
import { camt, IBAN } from '../server/test/support/statements.ts';

const FILES = 2;
const ENTRIES = 50_000;
const CHUNK = 64 * 1024;
const DECIMALS = 2;
const ACCOUNT = { asset: 'eur', currency: 'EUR', holder: 'Bench', accountNumber: '', iban: IBAN } as ManualAccount;

export interface StatementFigures {
  entries: number;
  bytes: number;
  /** CPU microseconds per entry. */
  ours: number;
  limit: number;
  /** Limit ÷ ours, the median of the rounds. */
  ratio: number;
  /** Most memory in use after an entry count, in bytes: of the first file, and of both. */
  heap: readonly number[];
}

const fileOf = (n: number): Buffer =>
  Buffer.from(
    camt({
      id: `S${n}`,
      entries: Array.from({ length: ENTRIES }, (_, at) => ({
        units: at % 3 === 0 ? -1_234n - BigInt(at) : 5_000n + BigInt(at),
        ref: `R${n}-${at}`,
        endToEnd: `E2E-${n}-${at}`,
        name: `Customer ${at}`,
        text: `Payment CL${String(at).padStart(8, '0')} and thanks`,
      })),
    }),
  );

function* chunksOf(file: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < file.length; at += CHUNK) yield file.subarray(at, at + CHUNK);
}

async function read(file: Buffer): Promise<void> {
  const statements = await readCamt(chunksOf(file), ACCOUNT, DECIMALS);
  if (statements[0]?.lines.length !== ENTRIES) throw new Error('the statement was not read to its end');
}

function parse(file: Buffer): void {
  let seen = 0;
  const parser = new SaxesParser({ xmlns: true, position: false });
  parser.on('opentag', () => {
    seen += 1;
  });
  parser.on('text', () => {});
  parser.on('closetag', () => {});
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (const chunk of chunksOf(file)) parser.write(decoder.decode(chunk, { stream: true }));
  parser.close();
  if (seen < ENTRIES) throw new Error('the file was not parsed to its end');
}

async function cpu(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

export async function measureStatement(rounds: number): Promise<StatementFigures> {
  const files = Array.from({ length: FILES }, (_, n) => fileOf(n));
  const done: { ours: number; limit: number }[] = [];
  const heap: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const one = { ours: 0, limit: 0 };
    for (const file of files) {
      one.ours += await cpu(() => read(file));
      if (round === 0) heap.push(process.memoryUsage().heapUsed);
      one.limit += await cpu(() => parse(file));
    }
    if (round > 0) done.push(one); // the first warms both up
  }
  const median = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
  const entries = FILES * ENTRIES;
  return {
    entries,
    bytes: files.reduce((sum, { length }) => sum + length, 0),
    ours: median(done.map(({ ours }) => ours)) / entries,
    limit: median(done.map(({ limit }) => limit)) / entries,
    ratio: median(done.map(({ ours, limit }) => limit / ours)),
    heap,
  };
}

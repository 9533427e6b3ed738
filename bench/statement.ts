/**
 * Reading a bank's statement, compared with the XML parser alone over the same bytes: two files of 50,000 entries each, the
 * maximum of one file. Storing the entries afterwards is not included.
 *
 * The limit does the unavoidable part: it decodes the bytes, and the parser finds every tag and text.
 */
import { SaxesParser } from 'saxes';
import { readCamt } from '../server/src/rails/manual/camt.ts';
import type { ManualAccount } from '../server/src/rails/manual/settings.ts';
import { camt, IBAN } from '../server/test/support/statements.ts';
import { medianOf, type Pair } from './pairs.ts';

const FILES = 2;
const ENTRIES = 50_000;
const GOAL = 0.5;
const CHUNK = 64 * 1024;
const DECIMALS = 2;
const ACCOUNT = { asset: 'eur', currency: 'EUR', holder: 'Bench', accountNumber: '', iban: IBAN } as ManualAccount;

const fileOf = (n: number, entries: number): Buffer =>
  Buffer.from(
    camt({
      id: `S${n}`,
      entries: Array.from({ length: entries }, (_, at) => ({
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

async function read(file: Buffer, entries: number): Promise<void> {
  const statements = await readCamt(chunksOf(file), ACCOUNT, DECIMALS);
  if (statements[0]?.lines.length !== entries) throw new Error('the statement was not read to its end');
}

function parse(file: Buffer, entries: number): void {
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
  if (seen < entries) throw new Error('the file was not parsed to its end');
}

async function cpu(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** @param scale factor for the number of entries per file */
export async function measureStatement({ scale, rounds }: { scale: number; rounds: number }): Promise<Pair> {
  const entries = ENTRIES * scale;
  const files = Array.from({ length: FILES }, (_, n) => fileOf(n, entries));
  const done: { ours: number; limit: number }[] = [];
  const heap: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const one = { ours: 0, limit: 0 };
    for (const file of files) {
      one.ours += await cpu(() => read(file, entries));
      if (round === 0) heap.push(process.memoryUsage().heapUsed);
      one.limit += await cpu(() => parse(file, entries));
    }
    if (round > 0) done.push(one); // The first round warms both up.
  }
  const of = (side: 'ours' | 'limit') => medianOf(done.map((one) => one[side])) / (FILES * entries);
  return {
    name: 'camt.053, an entry',
    goal: GOAL,
    ratio: medianOf(done.map(({ ours, limit }) => limit / ours)),
    ours: of('ours'),
    limit: of('limit'),
    notes: [
      `${FILES} files of ${entries} entries; heap after each: ${heap.map((bytes) => (bytes / 1e6).toFixed(0)).join(', ')} MB`,
    ],
  };
}

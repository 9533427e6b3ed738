/** Seals over generated entries: the chain that the server would have made, batch by batch. */
import { FIRST, hasherOver, type SealedEntry } from '../../server/src/ledger/seals.ts';
import type { Tables } from './copy.ts';

const BATCH = 1_000;
/** Batches that are left unsealed for the server, because sealing is measured. */
const LEFT = 10;

export interface LastSeal {
  number: bigint;
  hash: Buffer;
}

export class Sealer {
  #number: bigint;
  #previous: Buffer;
  readonly #waiting: SealedEntry[] = [];

  constructor(last: LastSeal | undefined) {
    this.#number = last?.number ?? 0n;
    this.#previous = last?.hash ?? FIRST;
  }

  /** Entries must be added in ascending order. */
  add(tables: Tables, entry: SealedEntry): void {
    this.#waiting.push(entry);
    if (this.#waiting.length === BATCH * (LEFT + 1)) this.#write(tables, this.#waiting.splice(0, BATCH));
  }

  #write(tables: Tables, batch: readonly SealedEntry[]): void {
    const [first, last] = [batch[0], batch.at(-1)];
    if (first === undefined || last === undefined) return;
    const hasher = hasherOver(this.#previous);
    for (const entry of batch) hasher.add(entry);
    const hash = hasher.hash();
    this.#number += 1n;
    const values = [
      this.#number,
      first.seq,
      last.seq,
      batch.length,
      bytes(this.#previous),
      bytes(hash),
      last.at.toISOString(),
    ];
    tables.add('seals', `${values.join('\t')}\n`, 1);
    const sealed = batch.map(({ seq }, at) => `${seq}\t${this.#number}\t${at + 1}\n`);
    tables.add('sealed_entries', sealed.join(''), batch.length);
    this.#previous = hash;
  }

  /** Number of the newest seal. */
  get number(): bigint {
    return this.#number;
  }
}

const bytes = (hash: Buffer): string => `\\\\x${hash.toString('hex')}`;

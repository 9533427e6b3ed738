/**
 * Identity of a line, by which it is recognised when another file shows it again.
 *
 * The identity is the bank's own reference with the day, if there is one, or else the line's content. Of the text only ASCII
 * letters and digits count, so that the same statement in another encoding, or with other line breaks, gives the same identity.
 * Two lines of one file that are equal in all this are still two lines, so they are numbered: the second is `…2`. The amount is
 * part of the identity only if there is no reference: under the same bank reference, another amount is a contradiction and not
 * another line.
 */
import { createHash } from 'node:crypto';
import type { AssetCode } from '../../base/money.ts';
import type { ReadLine } from './read.ts';

/** @returns an id per line, in the order of the lines, stable however the file is ordered */
export function lineIds(asset: AssetCode, lines: readonly ReadLine[]): string[] {
  const kinds = lines.map((line) => kindOf(asset, line));
  // Equal lines are numbered from the smallest amount up and not in file order.
  const order = lines.map((_, i) => i).toSorted((a, b) => compare(lines[a], lines[b]) || a - b);
  const counts = new Map<string, number>();
  const ids: string[] = [];
  for (const i of order) {
    const kind = kinds[i] ?? '';
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    ids[i] = count === 1 ? kind : `${kind}-${count}`;
  }
  return ids;
}

const compare = (a: ReadLine | undefined, b: ReadLine | undefined): number => {
  const [left, right] = [a?.units ?? 0n, b?.units ?? 0n];
  return left < right ? -1 : left > right ? 1 : 0;
};

function kindOf(asset: AssetCode, line: ReadLine): string {
  const shared = [asset, line.bookedOn, line.direction];
  const reference = plain(line.bankRef);
  const parts =
    reference === ''
      ? [
          'said',
          ...shared,
          String(line.units),
          plain(line.endToEnd, line.paymentId, line.text, line.name, line.account),
        ]
      : ['ref', ...shared, reference];
  return `line_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
}

const plain = (...texts: readonly string[]): string =>
  texts.map((text) => text.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase()).join('|');

/** How well the matching rules separate the pairs of server/test/fixtures/sanctions/pairs.tsv. */
import { readFileSync } from 'node:fs';
import type { ListEntry, SubjectKind } from '../../../src/compliance/sanctions/entry.ts';
import { matchEntry, prepare, type Subject, USUAL_THRESHOLD } from '../../../src/compliance/sanctions/match.ts';
import { nameOf } from '../../../src/compliance/sanctions/names.ts';

export interface Pair {
  isSame: boolean;
  group: string;
  subject: Subject;
  entry: ListEntry;
}

export const pairs: readonly Pair[] = readFileSync(
  new URL('../../fixtures/sanctions/pairs.tsv', import.meta.url),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line, index) => {
    const [same = '', group = '', kind = '', given = '', listed = '', born = '', birth = ''] = line.split('\t');
    const [from, to] = birth.split('/');
    const isPerson = kind === 'person' || group === 'kind' || kind === 'vessel';
    return {
      isSame: same === 'yes',
      group,
      subject: {
        names: [given],
        kind: isPerson ? ('person' as const) : ('entity' as const),
        ...(born === '' ? {} : { born }),
      },
      entry: {
        id: `pair.${index + 1}`,
        kind: kind as SubjectKind,
        names: [{ text: listed, quality: 'strong' as const, isPrimary: true }],
        births: from !== undefined && to !== undefined ? [{ from, to, isCirca: false }] : [],
        countries: [],
        identifiers: [],
        addresses: [],
      },
    };
  });

export const scoreOf = ({ subject, entry }: Pair): number =>
  matchEntry(subject, subject.names.map(nameOf), prepare(entry))?.score ?? 0;

/** True pairs that are hits, and false pairs that are hits, at a threshold. */
export function measured(threshold: number = USUAL_THRESHOLD) {
  const isHit = (pair: Pair) => scoreOf(pair) >= threshold;
  const [same, others] = [pairs.filter(({ isSame }) => isSame), pairs.filter(({ isSame }) => !isSame)];
  const [missed, wrong] = [same.filter((pair) => !isHit(pair)), others.filter(isHit)];
  return { same: same.length, others: others.length, missed, wrong };
}

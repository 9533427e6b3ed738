/** A declaration in words: its fields, and how many people an action takes. */
import { meaningsOf } from '../declaration/names.ts';
import type { DeclaredAction, People } from './declare.ts';
import { NAMES } from './names.ts';

export const MEANINGS = meaningsOf(NAMES);
export const { meaningOf, exampleOf } = MEANINGS;

const PEOPLE: Readonly<Record<People, string>> = {
  one: 'Takes one person.',
  rules: 'Takes as many people as the rules say; two if no rule matches.',
  named: 'Takes two people, unless a rule names the action or its family.',
  ruled: 'Takes one person, unless a rule names the action or its family.',
  two: 'Takes at least two people, whatever the rules say.',
  second: 'Takes one person until two operators may confirm; then at least two.',
};

export const peopleSentence = ({ people, morePeople }: Pick<DeclaredAction, 'people' | 'morePeople'>): string =>
  morePeople === undefined ? PEOPLE[people] : `${PEOPLE[people]} ${morePeople}`;

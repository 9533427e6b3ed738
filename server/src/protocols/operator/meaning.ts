/** A declaration in words: its fields, and how many people an action takes. */
import { meaningsOf } from '../declaration/names.ts';
import type { DeclaredAction, People } from './declare.ts';
import { NAMES } from './names.ts';

export const MEANINGS = meaningsOf(NAMES);
export const { meaningOf, exampleOf } = MEANINGS;

const PEOPLE: Readonly<Record<People, string>> = {
  one: 'One operator is enough.',
  rules: 'The rules determine how many operators are needed: two if no rule matches.',
  named: 'Two operators are needed, unless a rule names the action or its family.',
  ruled: 'One operator is enough, unless a rule names the action or its family.',
  two: 'At least two operators are needed, even if a rule allows one.',
  second: 'One operator is enough while fewer than two operators may confirm actions; then at least two are needed.',
};

export const peopleSentence = ({ people, morePeople }: Pick<DeclaredAction, 'people' | 'morePeople'>): string =>
  morePeople === undefined ? PEOPLE[people] : `${PEOPLE[people]} ${morePeople}`;

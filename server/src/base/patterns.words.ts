/**
 * Words of a pattern: texts that its parts accept.
 *
 * They serve two purposes. `attacksOn` repeats what a repetition accepts, behind what comes before it, and ends it so that the whole
 * fails: an engine that backtracks then tries every way to divide the text. Overlapping alternatives are met because each word
 * prefers the same few characters wherever a class accepts them: the ends of all ranges of the pattern. `sampleOf` is one text
 * that the whole pattern accepts, as an example for people.
 *
 * Everything is computed from the pattern alone: the same one always gets the same words.
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp';

const parser = new RegExpParser();
type Alternatives = readonly AST.Alternative[];

/** A longer text costs more time, but an answer of a form is never longer than this (customers/identity/answers.ts). */
const ATTACK_CHARS = 256;
const MAX_ATTACKS = 4_000;
const ROUNDS = 24;
/** Words of repetitions in repetitions would grow without end. */
const MAX_WORD_CHARS = 300;
const USUAL = ['A', 'a', '1', '0', ' ', '-', '.', '_', '/', '@', '\u00e9', '\u4e2d', '\n', '!'];

/** Which characters a word prefers, and which alternative it takes. */
interface Choice {
  readonly characters: readonly string[];
  pick(of: number): number;
  /** Whether a word has the parts that a pattern permits and does not require, if they are blank. */
  readonly hasBlanks: boolean;
  readonly accepts: (set: AST.Node, character: string) => boolean;
}

const parsed = (source: string): AST.Pattern =>
  parser.parsePattern(source, undefined, undefined, { unicode: true, unicodeSets: false });

/** Texts of up to 256 characters on which a pattern that backtracks badly takes long, the simplest first. */
export function attacksOn(source: string): string[] {
  const { alternatives } = parsed(source);
  const accepts = membership();
  const own = charactersOf(alternatives);
  const characters = [...new Set([...own, ...USUAL])];
  const endings = ['\n!', '', '\u0000', ...own.slice(0, 8)];
  const texts = new Set<string>();
  for (const one of characters.slice(0, 60)) texts.add(`${one.repeat(ATTACK_CHARS - 2)}\n!`);
  for (let round = 0; round < ROUNDS && texts.size < MAX_ATTACKS; round += 1) {
    const random = generator(round);
    const choice: Choice = {
      characters: round === 0 ? characters : shuffled(characters, random),
      pick: (of) => (round === 0 ? 0 : Math.floor(random() * of)),
      ...{ hasBlanks: true, accepts },
    };
    for (const { before, body } of repetitionsIn(alternatives, '', choice)) {
      const times = 1 + (round % 3);
      const pumped = Array.from({ length: times }, () => wordOf(body, choice) ?? '').join('');
      if (pumped === '') continue;
      const long = `${before}${pumped.repeat(Math.ceil(ATTACK_CHARS / pumped.length))}`.slice(0, ATTACK_CHARS - 2);
      for (const ending of [...endings.slice(0, 3), endings[3 + (round % Math.max(1, endings.length - 3))] ?? ''])
        texts.add(`${long}${ending}`);
    }
  }
  return [...texts].slice(0, MAX_ATTACKS);
}

/**
 * A text that the pattern accepts, of visible characters where it permits them.
 *
 * @returns undefined when none follows from the parts alone: for a pattern that looks around, refers back, or has an anchor in its middle
 */
export function sampleOf(source: string): string | undefined {
  let alternatives: Alternatives;
  try {
    ({ alternatives } = parsed(source));
  } catch {
    return undefined;
  }
  const characters = [...new Set([...charactersOf(alternatives).filter((one) => /[\p{L}\p{N}]/u.test(one)), ...USUAL])];
  const choice: Choice = { characters, pick: () => 0, hasBlanks: false, accepts: membership() };
  for (const alternative of alternatives) {
    const { elements } = alternative;
    const inner = elements.filter((element, at) => !isAnchor(element, at, elements.length));
    const word = inner.every(isPlainPart) ? sequenceOf(inner, choice) : undefined;
    if (word !== undefined && word.trim() !== '') return word;
  }
  return undefined;
}

const isAnchor = (element: AST.Node, at: number, of: number): boolean =>
  element.type === 'Assertion' && ((element.kind === 'start' && at === 0) || (element.kind === 'end' && at === of - 1));

/** Whether a word of the part is accepted wherever it stands. */
function isPlainPart(node: AST.Node): boolean {
  if (node.type === 'Quantifier') return isPlainPart(node.element);
  if (node.type === 'Group' || node.type === 'CapturingGroup')
    return node.alternatives.every(({ elements }) => elements.every(isPlainPart));
  return node.type === 'Character' || node.type === 'CharacterClass' || node.type === 'CharacterSet';
}

/** Every repetition, with a word of what comes before it. */
function* repetitionsIn(
  alternatives: Alternatives,
  before: string,
  choice: Choice,
): Generator<{ before: string; body: AST.Node }> {
  for (const { elements } of alternatives) {
    let text = before;
    for (const element of elements) {
      if (element.type === 'Quantifier' && element.max > 1) yield { before: text, body: element.element };
      const inside = element.type === 'Quantifier' ? element.element : element;
      if ('alternatives' in inside) yield* repetitionsIn(inside.alternatives, text, choice);
      text = `${text}${wordOf(element, choice) ?? ''}`.slice(0, MAX_WORD_CHARS);
    }
  }
}

/** A text that the node accepts; undefined when none is found. What consumes nothing is the empty text. */
function wordOf(node: AST.Node, choice: Choice): string | undefined {
  switch (node.type) {
    case 'Character':
      return String.fromCodePoint(node.value);
    case 'CharacterClass':
    case 'CharacterSet':
      return choice.characters.find((one) => choice.accepts(node, one));
    case 'Quantifier': {
      const word = wordOf(node.element, choice);
      const isLeftOut = node.max === 0 || (!choice.hasBlanks && word?.trim() === '');
      const times = node.min === 0 && !isLeftOut ? 1 : node.min;
      return word?.repeat(Math.min(times, Math.ceil(MAX_WORD_CHARS / Math.max(1, word.length))));
    }
    case 'Group':
    case 'CapturingGroup': {
      const first = choice.pick(node.alternatives.length);
      for (let at = 0; at < node.alternatives.length; at += 1) {
        const word = sequenceOf(node.alternatives[(first + at) % node.alternatives.length]?.elements ?? [], choice);
        if (word !== undefined) return word;
      }
      return undefined;
    }
    default:
      return '';
  }
}

function sequenceOf(elements: readonly AST.Node[], choice: Choice): string | undefined {
  let text = '';
  for (const element of elements) {
    const word = wordOf(element, choice);
    if (word === undefined || text.length > MAX_WORD_CHARS) return undefined;
    text += word;
  }
  return text;
}

/** The characters that a pattern names, and the ends of its ranges. */
function charactersOf(alternatives: Alternatives): string[] {
  const found = new Set<string>();
  const visit = (node: AST.Node): void => {
    if (node.type === 'Character') found.add(String.fromCodePoint(node.value));
    else if (node.type === 'CharacterClassRange') for (const end of [node.min, node.max]) visit(end);
    else if (node.type === 'CharacterClass') node.elements.forEach(visit);
    else if (node.type === 'Quantifier') visit(node.element);
    else if ('alternatives' in node) for (const { elements } of node.alternatives) elements.forEach(visit);
  };
  for (const { elements } of alternatives) elements.forEach(visit);
  return [...found].slice(0, 100);
}

/** Whether a class accepts a character: the engine itself is asked. */
function membership(): Choice['accepts'] {
  const classes = new Map<string, RegExp>();
  return ({ raw }, character) => {
    const known = classes.get(raw) ?? new RegExp(`^${raw}$`, 'u');
    classes.set(raw, known);
    return known.test(character);
  };
}

function shuffled(list: readonly string[], random: () => number): string[] {
  return list
    .map((one) => ({ one, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ one }) => one);
}

/** Numbers from 0 to 1 that a seed determines. Source: mulberry32 */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

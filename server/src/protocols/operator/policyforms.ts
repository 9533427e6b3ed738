/**
 * Generates the form of a policy from its rules: the questions, the fields of each answer, their units and allowed values. The
 * console loads nothing of the server, so the form is written to a file that it imports (console/src/policies.json); a test
 * compares the file with the output of this function, and tries each value.
 */
import { Refusal } from '../../base/errors.ts';
import { BUILT_IN_POLICY, POLICY_QUESTIONS, requirePolicy } from '../../partners/index.ts';

/** One field of an answer. `word` is one of `choices`, `words` any of them. */
interface Form {
  readonly kind: 'number' | 'word' | 'words';
  readonly unit?: 'bps' | 's';
  readonly min?: number;
  readonly max?: number;
  /** Null is a value, too. */
  readonly orNull?: true;
  readonly choices?: readonly string[];
}

const YEAR_S = 365 * 86_400;

/** The rule that an answer without a sensible value breaks. */
function ruleOf(question: string, field: string): string {
  try {
    requirePolicy(question, { [field]: {} });
  } catch (error) {
    if (error instanceof Refusal) return String((error.facts.fields as Record<string, string>)[`${question}.${field}`]);
    throw error;
  }
  throw new Error(`${question}.${field} takes an empty object`);
}

const words = (text: string | undefined, between: RegExp): readonly string[] => (text ?? '').split(between);

/** The parts of a field: one, and for a deadline its time and its word. */
function partsOf(rule: string): readonly (Form & { part?: string })[] {
  const deadline = /^must be \{afterS: whole seconds from 1 to a year, then: (.+)\}$/.exec(rule);
  if (deadline !== null)
    return [
      { part: 'afterS', kind: 'number', unit: 's', min: 1, max: YEAR_S },
      { part: 'then', kind: 'word', choices: words(deadline[1], / or /) },
    ];
  const bps = /^must be basis points: a whole number from (\d+) to (\d+)$/.exec(rule);
  if (bps !== null) return [{ kind: 'number', unit: 'bps', min: Number(bps[1]), max: Number(bps[2]) }];
  if (rule === 'must be a whole number of seconds up to a year, or null')
    return [{ kind: 'number', unit: 's', min: 0, max: YEAR_S, orNull: true }];
  const some = /^must be a list of (.+), each at most once$/.exec(rule);
  if (some !== null) return [{ kind: 'words', choices: words(some[1], /, /) }];
  const one = /^must be one of (.+)$/.exec(rule);
  if (one !== null) return [{ kind: 'word', choices: words(one[1], /, /) }];
  throw new Error(`a form has no field for the rule "${rule}"`);
}

/** Content of the file, one field per line. */
export function policyForms(): string {
  const questions = POLICY_QUESTIONS.map((question) => {
    const lines = Object.keys(BUILT_IN_POLICY[question]).flatMap((field) =>
      partsOf(ruleOf(question, field)).map((form) => JSON.stringify({ field, ...form })),
    );
    return `  ${JSON.stringify(question)}: [\n${lines.map((line) => `    ${line}`).join(',\n')}\n  ]`;
  });
  return `{\n${questions.join(',\n')}\n}\n`;
}

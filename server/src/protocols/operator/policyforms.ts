/**
 * Generates the form of a policy: the questions, the fields of each answer, their units and allowed values. The console loads
 * nothing of the server, so the form is written to a file that it imports (console/src/policies.json); a test compares the file
 * with the output of this function, and tries each value.
 */
import { POLICY_QUESTIONS, policyInputs } from '../../partners/index.ts';

/** Content of the file, one input per line. */
export function policyForms(): string {
  const questions = POLICY_QUESTIONS.map((question) => {
    const lines = policyInputs(question).flatMap(({ field, inputs }) =>
      inputs.map((input) => `    ${JSON.stringify({ field, ...input })}`),
    );
    return `  ${JSON.stringify(question)}: [\n${lines.join(',\n')}\n  ]`;
  });
  return `{\n${questions.join(',\n')}\n}\n`;
}

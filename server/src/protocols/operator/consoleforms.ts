/**
 * Generates forms of the console from the declarations: for actions that have no form of their own there. The console loads
 * nothing of the server, so the forms are written to a file that it imports (console/src/declared.json); a test compares the file
 * with the output of this function.
 */
import { defined } from '../../base/defined.ts';
import type { Field } from '../declaration/fields.ts';
import type { DeclaredAction } from './declare.ts';
import { ENDPOINTS } from './declared/index.ts';
import { meaningOf } from './meaning.ts';

/** `forHours` as `For hours`. */
const labelOf = (name: string): string => {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

/** A field in the format of console/src/actions.ts. */
function fieldOf(declared: DeclaredAction, name: string, { schema, optional, rule }: Field<unknown>) {
  const { type, format, enum: choices } = schema;
  if (type === 'object' || type === 'array') throw new Error(`${declared.name}: a form has no ${String(type)}`);
  // A rule that is a choice or a time shows in the field itself.
  const hint = [meaningOf(declared, name), ...((choices ?? format ?? type === 'boolean') ? [] : [rule])].join('; ');
  return {
    ...{ name, label: labelOf(name), hint },
    ...(optional === true ? {} : { isRequired: true }),
    ...defined({ choices }),
    ...(format === 'date-time' ? { isTime: true } : {}),
    ...(type === 'boolean' ? { isSwitch: true } : {}),
  };
}

/** Content of the file, one form per line. `named` takes two people unless a rule names it, so its form says that rules decide. */
export function consoleForms(names: readonly string[]): string {
  const lines = names.map((name) => {
    const declared = ENDPOINTS.find((one): one is DeclaredAction => (one as Partial<DeclaredAction>).name === name);
    if (declared === undefined) throw new Error(`no action ${name} is declared`);
    const { path, right, says, people, fields } = declared;
    return JSON.stringify({
      ...{ name, path, right, says, people: people === 'named' ? 'rules' : people },
      fields: Object.entries(fields).map(([field, form]) => fieldOf(declared, field, form)),
    });
  });
  return `[\n${lines.map((line) => `  ${line}`).join(',\n')}\n]\n`;
}

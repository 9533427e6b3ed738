/** Pages for people, generated from declarations: the parts that all declared interfaces share. */
import type { Fields } from './fields.ts';
import type { Meanings } from './names.ts';
import type { Json } from './openapi.ts';

/** Escapes a text for a table cell. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The table of an endpoint's fields. */
export function fieldRows(
  meanings: Meanings,
  declared: { readonly path: string; readonly fields: Fields },
  where: (name: string) => string,
): string[] {
  return [
    '| Field | Where | Required | Form | Meaning |',
    '|---|---|---|---|---|',
    ...Object.entries(declared.fields).map(([name, field]) => {
      const isRequired = field.optional === true ? '' : 'yes';
      return `| \`${name}\` | ${where(name)} | ${isRequired} | ${cell(field.rule)} | ${cell(meanings.meaningOf(declared, name))} |`;
    }),
  ];
}

const ALL = { skipped: () => false, says: {} };

/**
 * The reply, two levels deep.
 *
 * @param options.skipped whether a name at the top is described elsewhere
 * @param options.says    descriptions of names that have none of their own
 */
export function replyLines(
  schema: Json,
  { skipped, says }: { skipped: (name: string, beside: Json) => boolean; says: Readonly<Record<string, string>> } = ALL,
): string[] {
  const lines: string[] = [];
  const walk = (one: Json, indent: string, depth: number): void => {
    const { properties, items, anyOf } = one as { properties?: Record<string, Json>; items?: Json; anyOf?: Json[] };
    if (items !== undefined) return walk(items, indent, depth);
    const forms = anyOf?.filter((form) => 'properties' in form || 'items' in form) ?? [];
    if (forms.length > 0) {
      for (const [at, form] of forms.entries()) {
        if (forms.length > 1) lines.push(`${indent}- form ${at + 1}:`);
        walk(form, forms.length > 1 ? `${indent}  ` : indent, depth);
      }
      return;
    }
    for (const [name, property] of Object.entries(properties ?? {})) {
      if (depth === 0 && skipped(name, properties ?? {})) continue;
      const meaning = typeof property.description === 'string' ? property.description : says[name];
      lines.push(`${indent}- \`${name}\`${meaning === undefined ? '' : `: ${meaning}`}`);
      if (depth < 2) walk(property, `${indent}  `, depth + 1);
    }
    if (properties === undefined && depth === 0) lines.push(`- ${String(one.description ?? one.type)}`);
    else if (depth === 0 && Object.keys(properties ?? {}).length === 0 && typeof one.description === 'string')
      lines.push(`- ${one.description}`);
  };
  walk(schema, '', 0);
  return lines.length === 0 ? [] : ['Answers:', '', ...lines, ''];
}

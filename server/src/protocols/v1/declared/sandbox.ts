/** The sandbox's controls as endpoints of this API, made from their declarations (protocols/controls.ts). */
import { CONTROLS, type Control, type Kind, namedOn, type Parameter } from '../../controls.ts';
import { about, amount, type Field, type Fields, id, oneOf, optional, text, whole } from '../../declaration/fields.ts';
import { type Declared, declare } from '../declare.ts';
import { Happened } from '../schemas/sandbox.ts';

const capital = (sentence: string): string => `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;

/** A field whose values are those of the declaration. */
const as = <T>(field: Field<T>, valueOf: (read: T) => unknown): Field<unknown> => ({
  ...field,
  read(given) {
    const read = field.read(given);
    return read === undefined ? undefined : valueOf(read as T);
  },
});

/** Words are in lower case, and durations in seconds. */
function fieldOf(kind: Kind): Field<unknown> {
  switch (kind.is) {
    case 'order':
      return id;
    case 'line':
      return text(100);
    case 'amount':
      return amount;
    case 'code':
      return text(20, /^[a-z0-9]+$/, 'a code in lower-case letters');
    case 'word':
      return as(oneOf(kind.words.map((one) => one.toLowerCase())), (read) => read.toUpperCase());
    case 'whole':
      return whole(kind.min, kind.max);
    case 'duration':
      return as(whole(1, kind.maxMs / 1_000), (seconds) => seconds * 1_000);
  }
}

function exampleOf({ kind, example }: Parameter, inControl: string | number | undefined) {
  const value = inControl ?? example;
  if (value === undefined) return undefined;
  return kind.is === 'duration' ? Number(value) / 1_000 : kind.is === 'word' ? String(value).toLowerCase() : value;
}

/** An order is in the path, so it is always given. */
const fieldsOf = (control: Control): Fields =>
  Object.fromEntries(
    namedOn('v1', control).flatMap(([wireName, name]): (readonly [string, Field<unknown>])[] => {
      const one = control.takes[name];
      if (one === undefined) return [];
      const says = one.kind.is === 'duration' ? `${one.says}, in seconds` : one.says;
      const field = about(fieldOf(one.kind), capital(says), exampleOf(one, control.example[name]));
      return [[wireName, one.optional && one.kind.is !== 'order' ? optional(field) : field]];
    }),
  );

const ofOrder = (control: Control): boolean => Object.values(control.takes).some(({ kind }) => kind.is === 'order');

function endpoint(control: Control): Declared<Fields, typeof Happened> {
  const { name, says, more, shared, scope, refuses } = control;
  return declare({
    name: `controls.${name}`,
    method: 'POST',
    path: ofOrder(control) ? `/sandbox/orders/:order/${name}` : `/sandbox/${name}`,
    scope,
    member: 'develop',
    says: `${capital(says)}.`,
    more: [
      ...(more === undefined ? [] : [`${more}.`]),
      ...(shared ? ['Affects all partners of this sandbox.'] : []),
      'Exists in the sandbox only.',
    ].join(' '),
    fields: fieldsOf(control),
    gives: Happened,
    refuses: ['sandbox_only', ...refuses],
  });
}

/** Each with the control that it carries out. */
export const CONTROL_ENDPOINTS = CONTROLS.map((control) => ({ control, declared: endpoint(control) }));

export const SANDBOX: Readonly<Record<string, Declared>> = Object.fromEntries(
  CONTROL_ENDPOINTS.map(({ control, declared }) => [control.name, declared]),
);

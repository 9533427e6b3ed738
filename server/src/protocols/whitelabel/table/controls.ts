/**
 * The sandbox's controls as endpoints of this wire, made from their declarations (protocols/controls.ts), and `status`, which
 * only this wire has. The commands of `npm run sandbox`, their help, and the table in docs/sandbox.md are made from this list.
 */
import type { TSchema } from 'typebox';
import type { RefusalCode } from '../../../base/errors.ts';
import { CONTROLS as DECLARED, type Control as Declared } from '../../controls.ts';
import * as does from '../endpoints/controls.ts';
import type { Field, Fields } from '../fields.ts';
import { ok, type Route, type SignedRequest, signed } from '../route.ts';
import { DRIVEN } from './parts.ts';

export interface Control {
  /** The path below `/sandbox/v1/`, and the word of the command. */
  readonly name: string;
  readonly says: string;
  /** Whether it affects every partner of the sandbox. */
  readonly shared: boolean;
  /** Its parameters, in the order in which a command line may omit their names; `words` lists the allowed values, if few. */
  readonly takes: Readonly<Record<string, { says: string; optional: boolean; words: readonly string[] }>>;
  /** Example as a command. */
  readonly example: string;
  readonly route: Route;
}

interface Parts<F extends Fields> extends Pick<Declared, 'name' | 'says' | 'shared' | 'scope'> {
  readonly takes: F;
  /** Example request, in the order of its fields. */
  readonly example: Readonly<Record<string, string | number>>;
  readonly gives: TSchema;
  readonly refuses: readonly RefusalCode[];
  readonly answer: (input: SignedRequest<F>) => Promise<object>;
}

function control<F extends Fields>({
  name,
  says,
  shared,
  scope,
  takes,
  example,
  gives,
  refuses,
  answer,
}: Parts<F>): Control {
  return {
    ...{ name, says, shared },
    takes: Object.fromEntries(Object.entries(takes).map(([field, one]) => [field, parameterOf(name, field, one)])),
    example: commandOf(name, takes, example),
    route: signed({
      ...{ paths: [`/sandbox/v1/${name}`], scope, says: `Sandbox: ${says}.`, takes, example, gives },
      refuses: [...refuses, 'sandbox_only'],
      sandbox: true,
      control: true,
      answer: async (input: SignedRequest<F>) => ok(await answer(input)),
    }),
  };
}

function parameterOf(control: string, name: string, { says, schema, optional }: Field<unknown>) {
  if (says === undefined) throw new Error(`${control}: the field ${name} has no meaning`);
  const words = Array.isArray(schema.enum) ? schema.enum.map(String) : [];
  return { says, optional: optional === true, words };
}

/** Required values and the first one are written without names; words in lower case. */
const commandOf = (name: string, takes: Fields, example: Readonly<Record<string, string | number>>): string =>
  Object.entries(example).reduce((line, [field, value], at) => {
    const typed = takes[field]?.schema.enum === undefined ? value : String(value).toLowerCase();
    return at === 0 || takes[field]?.optional !== true ? `${line} ${typed}` : `${line} --${field} ${typed}`;
  }, name);

const declared = (one: Declared): Control =>
  control({
    ...one,
    says: one.more === undefined ? one.says : `${one.says}. ${one.more}`,
    takes: does.fieldsOf(one),
    example: does.exampleOf(one),
    answer: (input) => does.run(one, input),
  });

const STATUS = control({
  name: 'status',
  says: 'drives an order to a status by causing the facts that lead there; the order then continues automatically',
  shared: false,
  scope: 'trade',
  takes: does.statusFields,
  example: does.statusExample,
  gives: does.DRIVEN_TO,
  refuses: ['unknown_order', ...DRIVEN],
  answer: does.status,
});

export const CONTROLS: readonly Control[] = [
  ...DECLARED.filter(({ shared }) => !shared).map(declared),
  STATUS,
  ...DECLARED.filter(({ shared }) => shared).map(declared),
];

/** The page of one person behind a business: an owner or a director, who is added or changed (people.ts has the lists). */
import { randomHex } from '../../base/ids.ts';
import { lockCustomer, openDraft, type Person, readPeople, saveDraft } from '../../customers/index.ts';
import { type Asked, askedOf } from './asked.ts';
import { countriesIn } from './choices.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { html } from './html.ts';
import type { Messages } from './messages.ts';
import { button, fields } from './pages.ts';
import { type Listed, type Named, partsOf, type Role } from './people.ts';
import { formOf, type Outcome, show, type Visit } from './visit.ts';

/** The person that the URL names. */
function namedIn(text: string | null): Named | undefined {
  const [, role, id] = /^(owners|directors)(?:-([0-9a-z]{1,40}))?$/.exec(text ?? '') ?? [];
  return role === undefined ? undefined : { role: role as Role, id };
}

/** The page of a person who is added or changed; undefined when the URL names none. */
export async function personPage(visit: Visit): Promise<Outcome | undefined> {
  const named = namedIn(visit.query.get('person'));
  if (named === undefined) return undefined;
  const asked = await visit.inTx((tx) => askedOf(visit, tx));
  const known = personNamed(asked, named);
  return known === undefined ? undefined : shown(visit, named, { given: new URLSearchParams(partsAsText(known)) });
}

/** @returns no parts for a new person; undefined when there is none, or its list takes no change */
function personNamed({ people }: Asked, { role, id }: Named): Partial<Person> | undefined {
  if (people === undefined || people.fixed.includes(role)) return undefined;
  if (id === undefined) return {};
  const found = people[role].find((one) => one.id === id);
  return found && (partsOf(found) as unknown as Person);
}

const partsAsText = (parts: Partial<Person>): Record<string, string> => ({ ...parts }) as Record<string, string>;

function shown(visit: Visit, named: Named, p: { given: URLSearchParams; problems?: Problems }): Outcome {
  const { look } = visit;
  const words = look.m.business;
  const { add, change } = words.people[named.role];
  const body = html`${formOf(visit, {
    intent: 'person',
    body: html`<input type="hidden" name="person" value="${named.role}${named.id !== undefined && `-${named.id}`}">
${fields(look, personFields(look.m, named.role), p.given, p.problems ?? new Map())}`,
    button: button(words.keep),
  })}
<p><a href="${visit.action}">${words.back}</a></p>`;
  return show(visit, { title: named.id === undefined ? add : change, body, problems: p.problems });
}

/** What is right is decided for the whole list, below. */
function personFields(m: Messages, role: Role): Field[] {
  const words = m.business.person;
  const field = (name: keyof typeof words, more: Partial<Field>): Field => ({
    ...{ name, label: words[name], required: false, autocomplete: 'off', read: (given) => given, ...more },
  });
  return [
    field('firstName', { required: true }),
    field('lastName', { required: true }),
    field('dob', { kind: 'date' }),
    field('country', { kind: countriesIn(m.lang) }),
    ...(role === 'owners' ? [field('share', { required: true, hint: m.business.shareHint, decimal: true })] : []),
  ];
}

/** Adds or changes a person, if the whole list is then right. */
export async function keepPerson(visit: Visit): Promise<Outcome> {
  const { deps, look, now } = visit;
  const sent = visit.form ?? new URLSearchParams();
  const named = namedIn(sent.get('person'));
  if (named === undefined) return { goTo: visit.action };
  return await visit.inTx(async (tx): Promise<Outcome> => {
    // Two devices change the list one after the other.
    await lockCustomer(tx, visit.customer.id);
    const asked = await askedOf(visit, tx);
    // It was removed on another device, or the details were sent.
    if (personNamed(asked, named) === undefined) return { goTo: visit.action };
    const { values, problems } = readForm(personFields(look.m, named.role), sent, look.m);
    if (problems.size > 0) return shown(visit, named, { given: sent, problems });
    const before = asked.people?.[named.role] ?? [];
    const at = named.id === undefined ? before.length : before.findIndex(({ id }) => id === named.id);
    const trimmed = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()]));
    const one = { ...trimmed, id: named.id ?? randomHex() } as unknown as Listed;
    const list = before.toSpliced(at, 1, one);
    const read = readPeople(named.role, list.map(partsOf), now);
    if ('faults' in read)
      return shown(visit, named, { given: sent, problems: faultsOf(look.m, named.role, at, read.faults) });
    const answers = await openDraft(tx, deps.vault, visit.customer.id);
    await saveDraft(tx, deps.vault, {
      ...{ customer: visit.customer, answers: { ...answers, [named.role]: JSON.stringify(list) }, now },
    });
    return { goTo: `${visit.action}#${named.role}` };
  });
}

/** Faults of the list, at the field of this person that can mend them. */
function faultsOf(m: Messages, role: Role, at: number, faults: Readonly<Record<string, string>>): Problems {
  const { roles, person } = m.business;
  const own = `${role}[${at}].`;
  return new Map(
    Object.entries(faults).map(([path, why]) => {
      if (!path.startsWith(own)) return [role === 'owners' ? 'share' : 'firstName', `${roles[role]} ${why}`];
      const name = path.slice(own.length) as keyof typeof person;
      return [name, `${person[name]} ${why}`];
    }),
  );
}

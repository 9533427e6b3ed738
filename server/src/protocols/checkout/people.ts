/**
 * The people behind a business on its verification page: owners with their shares, and directors.
 *
 * They are part of the draft (customers/identity/drafts.ts) until the details are sent, so a list that was begun on one device
 * is continued on another. Each change is checked by the rule of the wires, `readPeople`: so what is saved can be sent. A person
 * has an id of its own in the draft, because positions change when another device removes one.
 */
import { type Person, readPeople, sharesOf } from '../../customers/index.ts';
import { countriesIn } from './choices.ts';
import type { Problems } from './form.ts';
import { type Html, html } from './html.ts';
import type { Messages } from './messages.ts';
import { button, group, type Look } from './pages.ts';

export const ROLES = ['owners', 'directors'] as const;
export type Role = (typeof ROLES)[number];

export type Listed = Person & { readonly id: string };

export interface People {
  readonly owners: readonly Listed[];
  readonly directors: readonly Listed[];
  /** Lists that the customer has changed since they were sent. */
  readonly changed: readonly Role[];
  /** Lists that were accepted, while something else was refused. */
  readonly fixed: readonly Role[];
  /** Percent that the owners must hold together; undefined when the form does not ask for owners. */
  readonly minimumTotalShare: number | undefined;
}

type Texts = Readonly<Record<string, string>>;

export function peopleIn(of: {
  saved: Texts;
  known: Texts;
  isFixed: (name: Role) => boolean;
  minimumTotalShare: number | undefined;
}): People {
  const list = (role: Role): Listed[] => listIn(of.isFixed(role) ? of.known[role] : (of.saved[role] ?? of.known[role]));
  return {
    owners: list('owners'),
    directors: list('directors'),
    changed: ROLES.filter((role) => of.saved[role] !== undefined && !of.isFixed(role)),
    fixed: ROLES.filter(of.isFixed),
    minimumTotalShare: of.minimumTotalShare,
  };
}

/** People that were sent have no ids: then their position is the id. */
const listIn = (text: string | undefined): Listed[] =>
  text === undefined
    ? []
    : (JSON.parse(text) as (Person & { id?: string })[]).map((one, at) => ({ ...one, id: one.id ?? `at${at}` }));

/** The lists to send: those that were changed. They were checked when they were saved. */
export function changedPeople(people: People | undefined, now: Date): { owners?: Person[]; directors?: Person[] } {
  const lists = (people?.changed ?? []).map((role) => {
    const read = readPeople(role, people?.[role].map(partsOf) ?? [], now);
    return [role, 'people' in read ? read.people : []] as const;
  });
  return Object.fromEntries(lists);
}

export const partsOf = ({ id: _id, ...parts }: Listed): Record<string, string> => ({ ...parts });

/** The lists, with buttons that save the page's form first. */
export function peopleFields({ m }: Look, people: People, problems: Problems): Html {
  return html`${ROLES.map((role) => {
    const words = m.business.people[role];
    const isFixed = people.fixed.includes(role);
    const why = problems.get(role);
    const total = role === 'owners' && people.owners.length > 0 && m.business.total(sharesOf(people.owners) / 100);
    const least = role === 'owners' ? people.minimumTotalShare : undefined;
    const entries = people[role].map(
      (one) => html`<li><div><strong>${nameOf(one)}</strong>${aboutOf(m, one)}</div>
${!isFixed && html`<div class="actions">${rowButton(`edit-${role}-${one.id}`, m.business.edit, nameOf(one))}${rowButton(`remove-${role}-${one.id}`, m.business.remove, nameOf(one))}</div>`}</li>`,
    );
    return html`<div id="${role}" tabindex="-1"${why !== undefined && html` class="wrong"`}>${group(
      m.business.roles[role],
      html`<p class="hint">${words.intro}${least !== undefined && html` ${m.business.least(least)}`}</p>
${why !== undefined && html`<p class="why">${why}</p>`}
${people[role].length === 0 ? html`<p>${words.none}</p>` : html`<ul class="people">${entries}</ul>`}
${total !== false && html`<p>${total}</p>`}
${!isFixed && button(words.add, 'second', { name: 'intent', value: `add-${role}` })}`,
    )}</div>`;
  })}`;
}

/** @param whom read by screen readers after the button's text, because several buttons have the same */
const rowButton = (value: string, text: string, whom: string): Html =>
  html`<button type="submit" class="link" name="intent" value="${value}">${text}<span class="unseen"> ${whom}</span></button>`;

const nameOf = ({ firstName, lastName }: Person): string => `${firstName} ${lastName}`;

function aboutOf(m: Messages, { share, dob, country }: Person): Html | undefined {
  const parts = [
    share === undefined ? undefined : `${share} %`,
    dob,
    country === undefined ? undefined : (countriesIn(m.lang).get(country) ?? country),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : html`<br><span class="hint">${parts.join(' · ')}</span>`;
}

export interface Named {
  readonly role: Role;
  /** undefined: a new person. */
  readonly id: string | undefined;
}

/** The intent of a button of the lists. */
export function pressedIn(intent: string): (Named & { what: 'add' | 'edit' | 'remove' }) | undefined {
  const [, what, role, id] = /^(add|edit|remove)-(owners|directors)(?:-([0-9a-z]{1,40}))?$/.exec(intent) ?? [];
  if (what === undefined || (what === 'add') !== (id === undefined)) return undefined;
  return { what: what as 'add', role: role as Role, id };
}

/** The page of one person, in the URL of the verification page. */
export const personUrl = (action: string, { role, id }: Named): string =>
  `${action}?person=${role}${id === undefined ? '' : `-${id}`}`;

/** The saved texts of the lists, without the removed person. */
export function peopleTexts(people: People | undefined, removed?: Named): Record<string, string> {
  if (people === undefined) return {};
  const lists = ROLES.filter((role) => !people.fixed.includes(role)).flatMap((role) => {
    const isCut = removed?.role === role;
    if (!isCut && !people.changed.includes(role)) return [];
    return [[role, JSON.stringify(people[role].filter(({ id }) => !isCut || id !== removed.id))]];
  });
  return Object.fromEntries(lists);
}

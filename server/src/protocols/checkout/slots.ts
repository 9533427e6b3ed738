/**
 * The files that the verification page asks for: the file fields of a form, and the kinds of document of which one is enough.
 *
 * Each is an input of its own, named after its slot. A slot says which file has arrived, so a customer who continues on another
 * device sees what is there; another file replaces it. A slot that was accepted while something else was refused takes no file.
 * Files that all kinds of document share, such as a selfie, are asked for once.
 *
 * Not here: receiving files (upload.ts), what a file may be (customers/identity/inspect.ts).
 */
import {
  type ChosenForm,
  documentsOf,
  type FieldReasons,
  type Form,
  fieldsOf,
  filesOf as storedFiles,
} from '../../customers/index.ts';
import { inWords } from './choices.ts';
import type { Problems } from './form.ts';
import { type Html, html } from './html.ts';
import type { Messages } from './messages.ts';
import { fileInput, group, type Look, note } from './pages.ts';

type Stored = Pick<Awaited<ReturnType<typeof storedFiles>>[number], 'slot' | 'type' | 'bytes'>;

interface Slot {
  readonly name: string;
  readonly label: string;
  /** undefined: it depends on the other files of its document. */
  readonly required: boolean | undefined;
  readonly arrived: Stored | undefined;
  /** It was accepted: no other file is taken. */
  readonly isFixed: boolean;
  readonly isRefused: boolean;
}

export interface Slots {
  readonly fields: readonly Slot[];
  readonly kinds: readonly { readonly label: string; readonly slots: readonly Slot[]; readonly isOpen: boolean }[];
  /** Slots of every kind of document. */
  readonly shared: readonly Slot[];
  /** Whether a document must be sent. */
  readonly needsDocument: boolean;
  has(name: string): boolean;
}

/** @param of.missing names of the slots that are still needed @param of.refused reasons of a verifier, for any part of the form */
export function slotsIn(
  { form, needsDocument }: ChosenForm,
  of: { files: readonly Stored[]; missing: readonly string[]; refused: FieldReasons; m: Messages },
): Slots {
  const { files, missing, refused, m } = of;
  const isAgain = Object.keys(refused).length > 0;
  const slot = (name: string, label: string, required?: boolean): Slot => {
    const arrived = files.find((one) => one.slot === name);
    const isRefused = Object.hasOwn(refused, name);
    const isFixed = isAgain && arrived !== undefined && !missing.includes(name);
    return { name, label, required, arrived, isFixed, isRefused };
  };
  const documents = documentsOf(form);
  const shared = sharedBy(documents);
  const all = documents.map(({ idName, files: names }) => {
    const own = names.filter((name) => !shared.includes(name));
    const slots = own.map((name) => slot(name, slotWords(name, m)));
    return { label: idName, slots, isBegun: slots.some(({ arrived }) => arrived !== undefined) };
  });
  const begun = all.filter(({ isBegun }) => isBegun);
  const kinds = (isAgain && begun.length > 0 ? begun : all).filter(({ slots }) => slots.length > 0);
  const first = begun[0] ?? (needsDocument ? kinds[0] : undefined);
  const fields = fieldsOf(form).filter(({ type }) => type === 'file');
  const names = new Set([...documents.flatMap((kind) => kind.files), ...fields.map(({ name }) => name)]);
  return {
    fields: fields.map(({ name, label, required }) => slot(name, label, required === 1)),
    kinds: kinds.map(({ label, slots }) => ({
      ...{ label, slots },
      isOpen: kinds.length === 1 || label === first?.label || slots.some(({ name }) => Object.hasOwn(refused, name)),
    })),
    shared: shared.map((name) => slot(name, slotWords(name, m))),
    needsDocument,
    has: (name) => names.has(name),
  };
}

const sharedBy = (documents: ReturnType<typeof documentsOf>): string[] =>
  documents.length < 2
    ? []
    : (documents[0]?.files ?? []).filter((name) => documents.every(({ files }) => files.includes(name)));

/** Labels for sentences that stand away from the input. */
export function slotLabels(form: Form, m: Messages): [string, string][] {
  const documents = documentsOf(form);
  const shared = sharedBy(documents);
  return documents
    .toReversed()
    .flatMap(({ idName, files }) =>
      files.map((name): [string, string] => [
        name,
        shared.includes(name) ? slotWords(name, m) : `${idName}: ${slotWords(name, m)}`,
      ]),
    );
}

/** `selfie.jpg` in words: the catalogue's for the slots of our default forms. */
const slotWords = (name: string, m: Messages): string =>
  (m.files.slots as Readonly<Record<string, string>>)[name] ?? inWords(name.replace(/\.[a-z]+$/, ''));

/** Inputs for all files. @param problems by the names of the page */
export function fileFields(look: Look, slots: Slots, problems: Problems): Html | undefined {
  const { m } = look;
  const { fields, kinds, shared, needsDocument } = slots;
  if (fields.length === 0 && kinds.length === 0 && shared.length === 0) return undefined;
  const used = new Set<string>();
  const inputs = (list: readonly Slot[]): Html[] =>
    list.map(({ name, label, required, arrived, isFixed, isRefused }) => {
      // Two kinds of document may have a file of the same name: a file for either is the same.
      const id = used.has(name) ? `file-${name}-${used.size}` : `file-${name}`;
      used.add(name);
      const state =
        arrived && !isRefused ? m.files.arrived(m.files.types[arrived.type], sizeOf(arrived.bytes)) : undefined;
      if (isFixed)
        return html`<div class="field done" id="${id}"><p class="name">${label}</p>${received(m.files.accepted)}</div>`;
      return fileInput(look, {
        ...{ id, name: `file-${name}`, label, required },
        ...{ state, why: problems.get(`file-${name}`) },
      });
    });
  const isOne = kinds.length < 2;
  const documents =
    kinds.length + shared.length > 0 &&
    group(
      needsDocument ? m.files.document : m.files.documentOptional,
      html`${kinds.length > 1 && note(m.files.oneOf)}
${kinds.map(({ label, slots: list, isOpen }) => {
  const isWrong = list.some(({ name }) => problems.has(`file-${name}`));
  return isOne
    ? html`<h2>${label}</h2>${inputs(list)}`
    : html`<details name="document"${(isOpen || isWrong) && html` open=""`}><summary>${label}</summary>${inputs(list)}</details>`;
})}
${!isOne && shared.length > 0 && html`<h2>${m.files.shared}</h2>`}${inputs(shared)}`,
    );
  const files = fields.length > 0 && group(m.files.title, html`${inputs(fields)}`);
  const why = problems.get('files');
  return html`<div id="files" tabindex="-1">${why !== undefined && html`<p class="why">${why}</p>`}${files}${documents}</div>`;
}

export const received = (text: string): Html => html`<p class="received">${text}</p>`;

/** Of a stored file, rounded up. */
export const sizeOf = (bytes: number): string =>
  bytes < 1_048_576 ? `${Math.ceil(bytes / 1_024)} KB` : `${(Math.ceil((bytes * 10) / 1_048_576) / 10).toFixed(1)} MB`;

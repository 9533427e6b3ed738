/**
 * Actions of a PDF: which of them a file may have.
 *
 * Allowed is what ordinary programs write, and what does nothing by itself:
 * - a link to a web page, a mail address or a telephone number. Bank statements have them. The console draws a PDF on a canvas, where
 *   nothing can be pressed; a reader of a saved copy follows a link only when a person presses it. A link to anything else, such as a
 *   file of the reader's computer, is refused;
 * - an action that chooses a page, also when the file is opened: LibreOffice writes one into every file. When it is given by its number, no
 *   object of the file may be a link, because it could be the one;
 * - a form whose fields only show values: signed contracts and completed forms have it. Its scripts, its triggers (/AA), XFA, and
 *   actions that send, read or reset it are refused.
 *
 * Everything else that a reader runs, plays, opens or loads is refused, such as a name of a menu (/Named, which can print), a thread, a
 * screen, and content in another file (/F, /FS /URL, /Ref). What has a name of its own that is long enough is in pdf.ts.
 *
 * Keys are compared with what follows them, wherever they stand. A remark between the two is refused: no program writes one there.
 * Source: ISO 32000-1, 7.11 (file specifications), 8.10.4 (reference XObjects), 12.5.6 (annotations), 12.6 (actions)
 */

const KEYS = /\/(S|Subtype|FS|U?F|Ref|URI|Next|OpenAction)(?![^\0\t\n\f\r ()<>[\]{}/%])[\0\t\n\f\r ]*/g;
const REFERENCE = /^\d{1,10}[\0\t\n\f\r ]+\d{1,10}[\0\t\n\f\r ]+R/;
/** The longest text that is looked at behind a key: an action that opens the file must end in it. */
const MAX_VALUE_CHARS = 400;
/** More than any program writes into the largest file that is taken. */
const MAX_KEYS = 400_000;

const ACTIONS = new Set([
  ...['Launch', 'Thread', 'Sound', 'Movie', 'Hide', 'Named', 'Rendition', 'Trans', 'JavaScript', 'NOP', 'SetState'],
  ...['GoToR', 'GoToE', 'GoToDp', 'GoTo3DView', 'SubmitForm', 'ResetForm', 'ImportData', 'SetOCGState'],
  ...['RichMediaExecute'],
]);
const ANNOTATIONS = new Set(['Screen', '3D', 'Movie', 'Sound', 'RichMedia', 'FileAttachment', 'PS', 'U3D', 'PRC']);
/** Fewer spaces than are looked at, so that a text which seems to end is empty. */
const LINK = /^[\0\t\n\f\r ]{0,20}(?:(?:https?|mailto|tel):|www\.|$)/i;

export interface Found {
  /** Something that a file must not have. */
  readonly isRefused: boolean;
  /** An action is run when the file is opened, and is given by its number. */
  readonly opensByNumber: boolean;
  readonly hasLink: boolean;
}

/** @param text a part of a file, with the names decoded */
export function actionsIn(text: string): Found {
  let [opensByNumber, hasLink] = [false, false];
  let left = MAX_KEYS;
  for (const { 0: found, 1: key = '', index } of text.matchAll(KEYS)) {
    const from = index + found.length;
    const value = text.slice(from, from + MAX_VALUE_CHARS);
    left -= 1;
    if (left < 0 || value.startsWith('%') || RULES[key]?.(value) === true)
      return { isRefused: true, opensByNumber: false, hasLink: false };
    if (key === 'OpenAction' && REFERENCE.test(value)) opensByNumber = true;
    if (key === 'S' && nameIn(value) === 'URI') hasLink = true;
  }
  return { isRefused: false, opensByNumber, hasLink };
}

const nameIn = (value: string): string | undefined =>
  /^\/([A-Za-z0-9]{1,20})(?![^\0\t\n\f\r ()<>[\]{}/%])/.exec(value)?.[1];
/** Readers resolve a name that is given by its number. */
const isOneOf = (names: ReadonlySet<string>) => (value: string) =>
  REFERENCE.test(value) || names.has(nameIn(value) ?? '');
const isText = (value: string): boolean => /^(?:\(|<(?!<))/.test(value);

/** Per key, whether its value is refused. */
const RULES: Readonly<Record<string, (value: string) => boolean>> = {
  S: isOneOf(ACTIONS),
  Subtype: isOneOf(ANNOTATIONS),
  FS: (value) => value.startsWith('/'),
  // Of an annotation it is a number.
  F: isText,
  UF: isText,
  // Of an element of the structure it is an array.
  Ref: (value) => value.startsWith('<<') || REFERENCE.test(value),
  URI: (value) => /^(?:<<|[\d[])/.test(value) || (isText(value) && !LINK.test(beginningOf(value))),
  // Of a bookmark it is always given by its number.
  Next: (value) => /^(?:<<|\[)/.test(value),
  OpenAction: (value) => !REFERENCE.test(value) && !/^\[[^<>[\]]*\]/.test(value) && !choosesPage(value),
};

/** What a literal text begins with, as it is spelt, or the first characters of one in hex. */
function beginningOf(value: string): string {
  if (value.startsWith('(')) return value.startsWith('()') ? '' : value.slice(1, 40);
  const [, digits = ''] = /^<([\da-fA-F\0\t\n\f\r ]*)/.exec(value) ?? [];
  return Buffer.from(digits.replaceAll(/[^\da-fA-F]/g, '').slice(0, 80), 'hex').toString('latin1');
}

function choosesPage(value: string): boolean {
  const [, inside = ''] = /^<<([^<>]*)>>/.exec(value) ?? [];
  const keys = [...inside.matchAll(/\/S[\0\t\n\f\r ]*\/([A-Za-z]*)/g)].map(([, name]) => name);
  return keys.length === 1 && keys[0] === 'GoTo' && !/\/(?:URI|Next|S[\0\t\n\f\r ]+\d)/.test(inside);
}

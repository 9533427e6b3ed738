/**
 * HTML: a template tag that escapes whatever is put in, so that leaving it out is not possible by forgetting.
 *
 * `html` takes text, other `html`, and lists of either. Attributes are always written with double quotes around them.
 */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | false | undefined | readonly Part[];

export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map(written)));

function written(part: Part): string {
  if (part instanceof Html) return part.text;
  if (part === undefined || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escape(String(part));
  return part.map(written).join('');
}

const escape = (text: string): string => text.replace(/[&<>"'`]/g, (char) => `&#${char.charCodeAt(0)};`);

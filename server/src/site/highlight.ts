/**
 * Syntax colours for code: comments, strings, numbers and keywords, without a grammar. A library that knows each language is
 * many times the size of this site, and our examples do not need more.
 */
import { escape } from './html.ts';

const SLASHES = String.raw`\/\/[^\n]*|\/\*[^]*?\*\/`;
/** A hash begins a comment only at the start of a word: `$#` and `${#a}` are the shell's own. */
const HASH = String.raw`(?<=^|\s)#[^\n]*`;
const QUOTES = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;
const NUMBER = String.raw`\b\d[\d_]*(?:\.\d+)?\b`;

const words = (text: string): string => String.raw`\b(?:${text.trim().split(/\s+/).join('|')})\b`;

interface Language {
  comment?: string;
  text: string;
  keyword?: string;
}
const C_LIKE = `${SLASHES}`;
const LANGUAGES: Readonly<Record<string, Language>> = {
  ts: {
    comment: C_LIKE,
    text: String.raw`${QUOTES}|\`(?:\\.|[^\`\\])*\``,
    keyword: words(`import from export const let function async await return if else for of in new throw try catch
      finally typeof while type interface extends true false null undefined class switch case default break`),
  },
  py: {
    comment: HASH,
    text: String.raw`"""[^]*?"""|f?${QUOTES}`,
    keyword: words(`import from def return if elif else for in while with as try except raise not and or is None True
      False class lambda pass global`),
  },
  php: {
    comment: `${C_LIKE}|${HASH}`,
    text: QUOTES,
    keyword: words(`function return if else elseif for foreach while as new throw try catch require const static true
      false null use exit print echo array string int bool match fn`),
  },
  java: {
    comment: C_LIKE,
    text: String.raw`"""[^]*?"""|${QUOTES}`,
    keyword: words(`import package public private static final class interface record void int long boolean byte new
      return if else for while try catch throw throws true false null var switch case`),
  },
  go: {
    comment: C_LIKE,
    text: String.raw`${QUOTES}|\`[^\`]*\``,
    keyword: words(`package import func return if else for range var const type struct map interface defer go chan nil
      true false switch case err`),
  },
  sh: {
    comment: HASH,
    text: String.raw`"(?:\\.|[^"\\])*"|'[^']*'`,
    keyword: words('if then else fi for do done while case esac function return local export printf'),
  },
  json: { text: QUOTES, keyword: words('true false null') },
};

const compiled = new Map<string, RegExp>();
function patternOf(language: string): RegExp | undefined {
  const known = LANGUAGES[language];
  if (known === undefined) return undefined;
  const { comment = '(?!)', text, keyword = '(?!)' } = known;
  const pattern =
    compiled.get(language) ?? new RegExp(`(?<c>${comment})|(?<s>${text})|(?<k>${keyword})|(?<n>${NUMBER})`, 'gm');
  compiled.set(language, pattern);
  return pattern;
}

/** @returns HTML with a `<span class>` of one letter for each coloured part: c comment, s string, k keyword, n number */
export function highlight(text: string, language: string): string {
  const pattern = patternOf(language);
  if (pattern === undefined) return escape(text);
  let html = '';
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    const kind = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0];
    html += `${escape(text.slice(at, match.index))}<span class="${kind}">${escape(match[0])}</span>`;
    at = match.index + match[0].length;
  }
  return html + escape(text.slice(at));
}

/**
 * Markdown to HTML, for the few constructs that our pages use: headings with anchors, scrolling tables, code that can be
 * copied, and the same program in several languages as tabs.
 *
 * The text is ours (docs/), but it never becomes HTML unescaped: a tag in the text is shown as text. Comments name blocks: the
 * table after `<!-- table: … -->` gets the name's first word as a class, so that site.css can draw some tables as pictures.
 *
 * Code blocks with a title (```py title="Python"```) that follow one another are one group of tabs. Tabs are radio buttons, so
 * they work without a script.
 */
import { Marked, type Token, type Tokens } from 'marked';
import { highlight } from './highlight.ts';
import { escape } from './html.ts';

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** Target of a link or picture; undefined when the file is not part of the site, and then only the link's text is shown. */
export type Resolve = (href: string) => string | undefined;

/** The anchor of a heading, computed as GitHub does, so that links work in both places. */
export const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Text without Markdown syntax: for titles, summaries and the search. */
export const plain = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll(/\\(.)/g, '$1');

/** @param code returns HTML for inline code that names something with a page, and undefined otherwise */
export function renderMarkdown(
  markdown: string,
  { resolve, code }: { resolve: Resolve; code?: (text: string) => string | undefined },
): Rendered {
  const headings: Heading[] = [];
  const taken = new Map<string, number>();
  let name = '';
  let groups = 0;
  let isInLink = false;

  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text }) => {
        name = /^<!--\s*table:\s*([a-z-]+)\s*-->/.exec(text.trim())?.[1] ?? (text.startsWith('<!--') ? name : '');
        if (/^<!--\s*end\s*-->/.test(text.trim())) name = '';
        return text.trim().startsWith('<!--') ? '' : escape(text);
      },
      heading({ tokens, depth, text }) {
        const base = anchorOf(plain(text));
        const count = taken.get(base) ?? 0;
        taken.set(base, count + 1);
        const id = count === 0 ? base : `${base}-${count}`;
        headings.push({ id, text: plain(text), depth });
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
        const label = escape(`Link to “${plain(text)}”`);
        return `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="${label}">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        isInLink = true;
        const inner = this.parser.parseInline(tokens);
        isInLink = false;
        const to = resolve(href);
        return to === undefined ? inner : `<a href="${escape(to)}">${inner}</a>`;
      },
      codespan({ text }) {
        const linked = isInLink ? undefined : code?.(text);
        return linked ?? `<code>${escape(text)}</code>`;
      },
      image({ href, text }) {
        const from = resolve(href);
        if (from === undefined) return escape(text);
        return `<span class="picture" role="group" tabindex="0" aria-label="Picture"><img src="${escape(from)}" alt="${escape(text)}" loading="lazy"></span>`;
      },
      code: (token) => block(token.text, token.lang ?? ''),
      table(token) {
        const cell = (tag: 'th' | 'td', one: Tokens.TableCell, at: number): string => {
          const align = one.align === null ? '' : ` class="${one.align}"`;
          const scope = tag === 'th' ? ' scope="col"' : '';
          const told = tag === 'td' ? ` data-head="${escape(plain(token.header[at]?.text ?? ''))}"` : '';
          return `<${tag}${scope}${align}${told}>${this.parser.parseInline(one.tokens)}</${tag}>`;
        };
        const head = token.header.map((one, at) => cell('th', one, at)).join('');
        const rows = token.rows.map((row) => `<tr>${row.map((one, at) => cell('td', one, at)).join('')}</tr>`);
        const label = escape(headings.at(-1)?.text ?? 'Table');
        const kind = name === '' ? '' : ` ${name.split('-')[0]}`;
        return `<div class="table${kind}" role="group" tabindex="0" aria-label="Table: ${label}"><table>
<thead><tr>${head}</tr></thead>\n<tbody>\n${rows.join('\n')}\n</tbody></table></div>\n`;
      },
    },
  });

  function tabs(codes: readonly Tokens.Code[]): string {
    groups += 1;
    const group = `tabs-${groups}`;
    const parts = codes.map(({ text, lang = '' }, at) => {
      const title = titleOf(lang) ?? '';
      const id = `${group}-${at + 1}`;
      const input = `<input type="radio" name="${group}" id="${id}" data-language="${escape(title)}"${at === 0 ? ' checked' : ''}>`;
      return `${input}<label for="${id}">${escape(title)}</label>${block(text, lang)}`;
    });
    return `<fieldset class="tabs"><legend>Language</legend>${parts.join('\n')}</fieldset>\n`;
  }

  const tokens = marked.lexer(markdown);
  const out: string[] = [];
  let group: Tokens.Code[] = [];
  const flush = (): void => {
    if (group.length > 0) out.push(tabs(group));
    group = [];
  };
  let plainTokens: Token[] = [];
  const render = (): void => {
    // `links` of the lexer's list resolves reference links; our pages have none.
    if (plainTokens.length > 0) out.push(marked.parser(plainTokens));
    plainTokens = [];
  };
  for (const token of tokens) {
    if (token.type === 'code' && titleOf((token as Tokens.Code).lang ?? '') !== undefined) {
      render();
      group.push(token as Tokens.Code);
    } else if (token.type !== 'space' || group.length === 0) {
      flush();
      plainTokens.push(token);
    }
  }
  flush();
  render();
  return { html: out.join(''), headings };
}

const titleOf = (info: string): string | undefined => /title="([^"]+)"/.exec(info)?.[1];

/** A block of code; the script adds a button that copies it. */
function block(text: string, info: string): string {
  const [language = ''] = info.split(/\s/, 1);
  const label = titleOf(info) ?? { sh: 'Shell', json: 'JSON', text: 'Text' }[language] ?? 'Code';
  return `<div class="code"><pre tabindex="0" role="group" aria-label="${escape(label)}"><code>${highlight(text, language)}</code></pre></div>\n`;
}

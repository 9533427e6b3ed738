/**
 * The layout of every page: heading, search, list of pages, sections of this page, previous and next page. Plain documents: all
 * content and navigation works without a script.
 */
import { escape } from './html.ts';
import { type Library, type Page, ROOT } from './library.ts';
import type { Heading } from './markdown.ts';
import type { Found } from './search.ts';

export interface Assets {
  readonly css: string;
  readonly js: string;
  readonly icon: string;
}

const urlOf = ({ path }: Pick<Page, 'path'>): string => `${ROOT}${path === '' ? '' : `/${path}`}`;

function frame(
  { assets, library }: { assets: Assets; library: Library },
  p: { title: string; description: string; at: string; question?: string; body: string; aside?: string },
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(p.title)}</title>
<meta name="description" content="${escape(p.description)}">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.css}">
<script src="${assets.js}" defer></script>
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header class="top">
<a class="brand" href="${ROOT}"><svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true"><use href="${assets.icon}#leaf"></use></svg>Cloverleaf <span>docs</span></a>
<form class="search" role="search" action="${ROOT}/search" method="get">
<label for="q" class="unseen">Search the docs</label>
<input id="q" name="q" type="search" placeholder="Search" maxlength="100" autocomplete="off" value="${escape(p.question ?? '')}">
<div id="found" hidden></div>
</form>
<a class="explore" href="${ROOT}/explorer">Explorer</a>
</header>
<div class="page">
<nav class="pages" aria-label="Pages">
<details class="menu" open><summary>Pages</summary>
${pageList(library, p.at)}
</details>
</nav>
<main id="main" tabindex="-1">
${p.body}
</main>
${p.aside ?? ''}
</div>
</body>
</html>
`;
}

const pageList = (library: Library, at: string): string =>
  library.sections
    .filter(({ pages }) => pages.length > 0)
    .map(({ title, pages }) => {
      const items = pages.map((page) => {
        const current = page.path === at ? ' aria-current="page"' : '';
        return `<li><a href="${urlOf(page)}"${current}>${escape(page.title)}</a></li>`;
      });
      return `<h2>${escape(title)}</h2>\n<ul>${items.join('')}</ul>`;
    })
    .join('\n');

const onThisPage = (headings: readonly Heading[]): string => {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return '';
  const items = shown.map(({ id, text, depth }) => `<li class="d${depth}"><a href="#${id}">${escape(text)}</a></li>`);
  return `<nav class="toc" aria-labelledby="toc-title"><h2 id="toc-title">On this page</h2><ul>${items.join('')}</ul></nav>`;
};

export function documentOf(look: { assets: Assets; library: Library }, page: Page): string {
  const { library } = look;
  const { html, headings } = library.render(page);
  const { before, after } = library.neighbours(page);
  const parent = page.isListed ? undefined : library.pages.get(page.parent);
  const up = parent === undefined ? '' : `<p class="up"><a href="${urlOf(parent)}">${escape(parent.title)}</a></p>\n`;
  const link = (one: Page | undefined, rel: string, says: string) =>
    one === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${urlOf(one)}"><small>${says}</small> ${escape(one.title)}</a>`;
  const turn =
    before === undefined && after === undefined
      ? ''
      : `<nav class="turn" aria-label="Next pages">${link(before, 'prev', 'Before')}${link(after, 'next', 'Next')}</nav>`;
  return frame(look, {
    title: page.path === '' ? page.title : `${page.title} – Cloverleaf`,
    description: page.summary,
    at: page.parent,
    body: `<article>\n${up}${html}</article>\n<p class="source"><a href="${urlOf(page)}${page.path === '' ? '/index' : ''}.md">This page as Markdown</a></p>\n${turn}`,
    aside: onThisPage(headings),
  });
}

export function resultsOf(
  look: { assets: Assets; library: Library },
  question: string,
  found: readonly Found[],
): string {
  const said =
    question === ''
      ? '<p>Type a word, the name of a field, an endpoint or an error.</p>'
      : found.length === 0
        ? `<p>Nothing was found for “${escape(question)}”. Try the name of a field, an endpoint or an error.</p>`
        : `<p>${found.length === 1 ? 'One place' : `${found.length} places`} for “${escape(question)}”.</p>`;
  return frame(look, {
    title: 'Search – Cloverleaf',
    description: 'Search the docs',
    at: 'search',
    question,
    body: `<article>\n<h1>Search</h1>\n${said}\n<ol class="results">${found.map(resultOf).join('\n')}</ol>\n</article>`,
  });
}

const resultOf = ({ title, section, excerpt, url }: Found): string =>
  `<li><a href="${escape(url)}">${escape(title)}${section === '' ? '' : ` <span>${escape(section)}</span>`}</a><p>${escape(excerpt)}</p></li>`;

export function nothingHere(look: { assets: Assets; library: Library }): string {
  return frame(look, {
    title: 'Nothing here – Cloverleaf',
    description: 'There is no such page',
    at: '',
    body: `<article>\n<h1>There is no such page</h1>\n<p>Search for it above, or begin at <a href="${ROOT}">the first page</a>.</p>\n</article>`,
  });
}

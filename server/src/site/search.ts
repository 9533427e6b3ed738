/**
 * Search: the sections of every page in an in-memory index, built at the first query. The server searches, so search works
 * without a script and no index is sent to browsers.
 *
 * The length of a query is bounded, because fuzzy matching costs more for longer queries.
 */
import { setImmediate } from 'node:timers/promises';
import MiniSearch from 'minisearch';
import { type Library, type Page, ROOT } from './library.ts';
import { anchorOf, plain } from './markdown.ts';

export interface Found {
  readonly title: string;
  /** The heading of the section, if it is not the page's own. */
  readonly section: string;
  readonly excerpt: string;
  readonly url: string;
}

interface Entry {
  id: number;
  title: string;
  section: string;
  text: string;
  url: string;
  isListed: boolean;
}

const MOST_WORDS = 8;
export const MOST_CHARS = 100;
const EXCERPT_CHARS = 160;

/** Compound names are indexed whole: `price_moved`, `setWebhookUrl`, `orders.create`. */
const wholes = (text: string): string[] =>
  text.split(/[^\p{L}\p{N}_.-]+/u).flatMap((word) => {
    const bare = word.replaceAll(/^[.-]+|[.-]+$/g, '');
    return bare === '' ? [] : [bare];
  });

/** The index terms: whole names, and the words in them. */
const words = (text: string): string[] => [
  ...new Set(
    wholes(text).flatMap((word) => [
      word,
      ...word.split(/[._-]+|(?<=[a-z0-9])(?=[A-Z])/).filter((part) => part !== ''),
    ]),
  ),
];

export type Search = (question: string, most: number) => Promise<Found[]>;

export function openSearch(library: Library): Search {
  let index: Promise<MiniSearch<Entry>> | undefined;
  const entries: Entry[] = [];
  const build = async (): Promise<MiniSearch<Entry>> => {
    const built = new MiniSearch<Entry>({
      fields: ['title', 'section', 'text'],
      tokenize: words,
      processTerm: (term) => term.toLowerCase(),
      searchOptions: {
        boost: { title: 5, section: 3 },
        prefix: (word) => word.length > 2,
        fuzzy: (word) => (word.length > 4 ? 0.2 : false),
        combineWith: 'AND',
      },
    });
    // Indexes page by page, so that the first search does not block requests about money.
    for (const page of library.pages.values()) {
      for (const part of partsOf(page)) {
        const entry = { id: entries.length, isListed: page.isListed, ...part };
        entries.push(entry);
        built.add(entry);
      }
      await setImmediate();
    }
    return built;
  };
  return async (question, most) => {
    const asked = wholes(question.slice(0, MOST_CHARS)).slice(0, MOST_WORDS);
    if (asked.length === 0) return [];
    const search = await (index ??= build());
    const boost = { boostDocument: (id: number) => (entries[id]?.isListed === true ? 1.5 : 1) };
    const how = { ...boost, tokenize: wholes };
    const strict = search.search(asked.join(' '), how);
    const hits =
      strict.length > 0 ? strict : search.search(asked.join(' '), { ...how, tokenize: words, combineWith: 'OR' });
    const found = new Map<string, Found>();
    // Keeps the best section of each page.
    for (const { id, terms } of hits) {
      const entry = entries[id as number];
      const page = entry?.url.split('#', 1)[0] ?? '';
      if (entry === undefined || found.has(page)) continue;
      const { title, section, url, text } = entry;
      found.set(page, { title, section, url, excerpt: excerptOf(text, terms) });
      if (found.size === most) break;
    }
    return [...found.values()];
  };
}

/** Splits a page into sections: text before the first heading belongs to the page. */
function partsOf(page: Page): { title: string; section: string; text: string; url: string }[] {
  const url = `${ROOT}${page.path === '' ? '' : `/${page.path}`}`;
  const seen = new Map<string, number>();
  // A comment in a code block is not a heading.
  const text = page.markdown.replaceAll(/^```[^]*?^```/gm, (block) => block.replaceAll(/^#/gm, ' #'));
  return text.split(/^(?=#{1,3} )/m).flatMap((part) => {
    const [, marks = '', heading = ''] = /^(#{1,3}) (.+)/.exec(part) ?? [];
    if (part.trim() === '') return [];
    const inside = textOf(part.replace(/^#{1,3} .+/, ''));
    const section = plain(heading);
    const base = anchorOf(section);
    const count = seen.get(base) ?? 0;
    seen.set(base, count + 1);
    const isTop = marks.length <= 1;
    return [
      {
        title: page.title,
        section: isTop ? '' : section,
        text: inside,
        url: isTop ? url : `${url}#${base}${count === 0 ? '' : `-${count}`}`,
      },
    ];
  });
}

const textOf = (markdown: string): string =>
  plain(
    markdown
      .replaceAll(/<!--[^]*?-->/g, ' ')
      .replaceAll(/^```.*$/gm, ' ')
      .replaceAll(/^\|[-|: ]+\|$/gm, ' ')
      .replaceAll('|', ' '),
  )
    .replaceAll(/\s+/g, ' ')
    .trim();

/** The text around the first match. */
function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term.toLowerCase())).filter((at) => at >= 0);
  const at = Math.max(0, Math.min(...(places.length === 0 ? [0] : places)) - EXCERPT_CHARS / 3);
  const begin = at === 0 ? 0 : text.indexOf(' ', at) + 1;
  const cut = text.slice(begin, begin + EXCERPT_CHARS).replace(/\s+\S*$/, '');
  return `${begin === 0 ? '' : '… '}${cut}${begin + cut.length < text.length ? ' …' : ''}`;
}

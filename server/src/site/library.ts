/**
 * The library: the list of pages, their order, and their content. Written pages are Markdown files of docs/ (most in
 * docs/site/); the reference is generated from the OpenAPI descriptions. A page is rendered at its first request, and kept.
 *
 * Links between Markdown files work in the repository; here they lead to the page of that file. A file that is not a page of
 * this site (the source, the operator's handbook) is named and not linked.
 */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { LANGUAGES } from './examples.ts';
import { escape } from './html.ts';
import { plain, type Rendered, renderMarkdown } from './markdown.ts';
import { type Endpoint, type Interface, readInterface } from './openapi.ts';
import { endpointPage, interfacePage, nameOf, type ReasonEverywhere, reasonPage, reasonsPage } from './reference.ts';

export const ROOT = '/docs';

export interface Page {
  /** Path below the root, without a leading slash; empty for the first page. */
  readonly path: string;
  readonly title: string;
  /** Summary shown in the list of pages, without backquotes. */
  readonly summary: string;
  readonly section: string;
  /**
   * False for an endpoint or a reason: it is not in the list of pages, and is found through its interface's page, search and
   * links.
   */
  readonly isListed: boolean;
  /** The page under which it is listed. */
  readonly parent: string;
  /** Path of its Markdown file, for resolving links; undefined for a generated page. */
  readonly file?: string;
  readonly markdown: string;
}

interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

export interface Library {
  readonly version: string;
  readonly sections: readonly Section[];
  readonly pages: ReadonlyMap<string, Page>;
  readonly interfaces: readonly { readonly api: Interface; readonly root: string; readonly title: string }[];
  /** Files served unchanged, by path below the root. */
  readonly files: ReadonlyMap<string, string>;
  render(page: Page): Rendered;
  /**
   * Markdown of a page for programs: links lead to the Markdown of other pages, and files that are not pages here are named
   * only.
   */
  source(page: Page): string;
  /** The previous and next page of the list. */
  neighbours(page: Page): { before: Page | undefined; after: Page | undefined };
}

/** Path of each page, and its file below docs/. Reference pages have no file and are generated below. */
const CONTENTS: readonly { title: string; pages: readonly (readonly [path: string, file: string])[] }[] = [
  {
    title: 'Begin',
    pages: [
      ['', 'site/index.md'],
      ['start', 'site/start.md'],
      ['calling', 'site/calling.md'],
      ['sdk', 'site/sdk.md'],
      ['signing', 'site/signing.md'],
      ['console', 'site/console.md'],
    ],
  },
  {
    title: 'How money moves',
    pages: [
      ['selling', 'site/selling.md'],
      ['buying', 'site/buying.md'],
      ['customers', 'site/customers.md'],
      ['webhooks', 'webhooks.md'],
      ['receivers', 'site/receivers.md'],
      ['checkout-links', 'checkout-links.md'],
    ],
  },
  {
    title: 'Ten situations',
    pages: [
      ['situations', 'site/situations/README.md'],
      ['situations/duplicate-webhook', 'site/situations/duplicate-webhook.md'],
      ['situations/late-webhook', 'site/situations/late-webhook.md'],
      ['situations/out-of-order-webhook', 'site/situations/out-of-order-webhook.md'],
      ['situations/wrong-signature', 'site/situations/wrong-signature.md'],
      ['situations/underpayment', 'site/situations/underpayment.md'],
      ['situations/requote', 'site/situations/requote.md'],
      ['situations/bounced-payout', 'site/situations/bounced-payout.md'],
      ['situations/refund', 'site/situations/refund.md'],
      ['situations/expired-quote', 'site/situations/expired-quote.md'],
      ['situations/unavailable', 'site/situations/unavailable.md'],
    ],
  },
  {
    title: 'Before production',
    pages: [
      ['sandbox', 'sandbox.md'],
      ['moving', 'site/moving.md'],
      ['going-live', 'site/going-live.md'],
      ['versioning', 'site/versioning.md'],
    ],
  },
  {
    title: 'Look up',
    pages: [
      ['v1', ''],
      ['api', ''],
      ['statuses', 'site/statuses.md'],
      ['verification', 'site/verification.md'],
      ['errors', ''],
      ['headers', 'site/headers.md'],
      ['webhook-types', 'site/webhook-types.md'],
      ['magic-values', 'site/magic-values.md'],
      ['limits', 'site/limits.md'],
      ['files', 'site/files.md'],
    ],
  },
];

const INTERFACES = [
  {
    root: 'v1',
    file: 'openapi-v1.json',
    title: 'API reference',
    intro:
      'The partner API, for new integrations: every path is under `/v1`. Made from the declarations of the endpoints; the same as OpenAPI 3.1: [openapi-v1.json](/docs/openapi-v1.json). [Calling `/v1`](/docs/calling) says what every request and reply has, [errors](/docs/errors) what a declined one means. The [explorer](/docs/explorer) shows every schema unfolded, and sends requests to a sandbox.',
  },
  {
    root: 'api',
    file: 'openapi.json',
    title: 'White-label reference',
    intro:
      'The interface that programs written for the public white-label services speak. Made from the declarations of the endpoints; the same as OpenAPI 3.1: [openapi.json](/docs/openapi.json). A field that is not listed is ignored; the sandbox names it in the header `x-ignored-fields`. [Signing requests](/docs/signing) says how a request is signed, [errors](/docs/errors) what a declined one means. The [explorer](/docs/explorer?api=whitelabel) shows every schema unfolded.',
  },
] as const;

/** Served as a file without a page: the interface of the partners' console. */
const CONSOLE_FILE = 'openapi-partner.json';

/** Generated Markdown files of docs/, and the pages that replace them here. */
const REFERENCES: Readonly<Record<string, string>> = { 'api.md': 'api', 'api-v1.md': 'v1' };

const titleOf = (markdown: string): string => plain(/^# (.+)$/m.exec(markdown)?.[1] ?? '');

/** The first paragraph, shortened for lists and search results. */
function summaryOf(markdown: string): string {
  const paragraph = markdown
    .split(/\n\s*\n/)
    .map((one) => one.trim())
    .find((one) => one !== '' && !/^(?:#|<!--|\||```|- |[0-9]+\.)/.test(one));
  const text = plain((paragraph ?? '').replaceAll(/\s+/g, ' '));
  return text.length <= 180 ? text : `${text.slice(0, 177).replace(/\s+\S*$/, '')} …`;
}

/**
 * @param docs the folder docs/
 * @throws Error when a page or description is missing or unreadable
 */
export function openLibrary(docs: string): Library {
  const interfaces = INTERFACES.filter(({ file }) => existsSync(join(docs, file))).map(
    ({ file, root, title, intro }) => {
      const api = readInterface(join(docs, file));
      return {
        api,
        root: `${ROOT}/${root}`,
        title,
        file,
        markdown: interfacePage(title, intro, `${ROOT}/${root}`, api),
      };
    },
  );
  const errors = `${ROOT}/errors`;
  const reasons = reasonsOf(interfaces);
  const made: Readonly<Record<string, string>> = {
    ...Object.fromEntries(interfaces.map(({ root, markdown }) => [root.slice(ROOT.length + 1), markdown])),
    errors: reasonsPage(interfaces, errors),
  };

  const pages = new Map<string, Page>();
  const add = (page: Omit<Page, 'title' | 'summary'>): Page => {
    const whole = { ...page, title: titleOf(page.markdown), summary: summaryOf(page.markdown) };
    pages.set(page.path, whole);
    return whole;
  };
  const sections = CONTENTS.map(({ title: section, pages: list }) => ({
    title: section,
    pages: list.flatMap(([path, file]) => {
      const written = file === '' ? '' : withSnippets(readFileSync(join(docs, file), 'utf8'), docs);
      const markdown = file === '' ? made[path] : withErrors(written, reasons);
      if (markdown === undefined) return [];
      return [
        add({
          path,
          section,
          markdown,
          isListed: true,
          parent: path,
          ...(file === '' ? {} : { file: join(docs, file) }),
        }),
      ];
    }),
  }));
  for (const { api, root, title: section } of interfaces)
    for (const endpoint of api.endpoints)
      add({
        ...{ path: `${root.slice(ROOT.length + 1)}/${endpoint.slug}`, section, isListed: false },
        ...{ parent: root.slice(ROOT.length + 1), markdown: endpointPage(endpoint, api, errors) },
      });
  for (const reason of reasons)
    add({
      ...{ path: `errors/${reason.code}`, section: 'Errors', isListed: false, parent: 'errors' },
      markdown: reasonPage(reason),
    });

  const pictures = globSync('site/pictures/*.svg', { cwd: docs });
  const byFile = new Map([...pages.values()].flatMap(({ file, path }) => (file === undefined ? [] : [[file, path]])));
  const named = namedIn(interfaces);
  const rendered = new Map<string, Rendered>();
  const listed = sections.flatMap((section) => section.pages);
  return {
    version: interfaces[0]?.api.version ?? '',
    sections,
    pages,
    interfaces,
    files: new Map(
      [...interfaces.map(({ file }) => file), CONSOLE_FILE, ...pictures].map((file) => [
        file.replace(/^site\//, ''),
        join(docs, file),
      ]),
    ),
    render(page) {
      const known = rendered.get(page.path);
      if (known !== undefined) return known;
      const one = renderMarkdown(page.markdown, {
        resolve: (href) => resolveLink(href, page, byFile, docs),
        code: (text) => {
          const to = named.get(text);
          return to === undefined || to === `${ROOT}/${page.path}`
            ? undefined
            : `<a class="named" href="${to}"><code>${escape(text)}</code></a>`;
        },
      });
      rendered.set(page.path, one);
      return one;
    },
    source: (page) =>
      page.markdown.replaceAll(/\[([^\]\n]*)\]\(([^()\s]+)\)/g, (all, text: string, href: string) => {
        const to = resolveLink(href, page, byFile, docs);
        if (to === undefined) return text;
        return to === href ? all : `[${text}](${asMarkdown(to, pages)})`;
      }),
    neighbours(page) {
      const at = listed.indexOf(page);
      return at < 0 ? { before: undefined, after: undefined } : { before: listed[at - 1], after: listed[at + 1] };
    },
  };
}

function reasonsOf(interfaces: readonly { api: Interface; root: string; title: string }[]): ReasonEverywhere[] {
  const codes = new Set(interfaces.flatMap(({ api }) => api.reasons.map(({ code }) => code)));
  return [...codes].toSorted().map((code) => ({
    code,
    used: interfaces.flatMap(({ api, root, title }) =>
      api.reasons
        .filter((reason) => reason.code === code)
        .map((reason) => ({
          ...{ ...reason, root, title },
          endpoints: api.endpoints.filter(({ reasons }) => reasons.some((one) => one.reason === code)),
        })),
    ),
  }));
}

/** Maps inline code to the page of an endpoint: by method and path, or by path alone if only one endpoint has it. */
function namedIn(interfaces: readonly { api: Interface; root: string }[]): Map<string, string> {
  const named = new Map<string, string>();
  const twice = new Set<string>();
  const put = (name: string, to: string): void => {
    if (named.has(name)) twice.add(name);
    named.set(name, to);
  };
  for (const { api, root } of interfaces)
    for (const endpoint of api.endpoints) {
      for (const name of namesOf(endpoint)) put(name, `${root}/${endpoint.slug}`);
    }
  for (const name of twice) named.delete(name);
  return named;
}

const namesOf = (endpoint: Endpoint): Set<string> => {
  const { method, path, short } = endpoint;
  const last = short.split('/').at(-1) ?? '';
  // A single word counts only if it is camelCase, such as `setWebhookUrl`: `quote` and `transaction` are common words.
  const own = /[a-z][A-Z]/.test(last) ? [last] : [];
  return new Set([path, nameOf(endpoint), `${method} ${path}`, ...(short.includes('/') ? [short] : []), ...own]);
};

/** The URL of a page's Markdown, instead of that of the page. */
function asMarkdown(to: string, pages: ReadonlyMap<string, Page>): string {
  const [address = '', hash] = to.split('#', 2);
  const path = address.slice(ROOT.length + 1);
  if (!pages.has(path)) return to;
  return `${ROOT}/${path === '' ? 'index' : path}.md${hash === undefined ? '' : `#${hash}`}`;
}

/** @returns undefined for a file that is not a page here */
function resolveLink(href: string, page: Page, byFile: ReadonlyMap<string, string>, docs: string): string | undefined {
  if (/^(?:https?:|mailto:|#|\/)/.test(href)) return href;
  const [target = '', hash] = href.split('#', 2);
  const file = resolve(dirname(page.file ?? join(docs, 'site', 'x.md')), target);
  const path = byFile.get(file);
  const end = hash === undefined ? '' : `#${hash}`;
  if (path !== undefined) return `${ROOT}${path === '' ? '' : `/${path}`}${end}`;
  const below = relative(docs, file);
  const reference = REFERENCES[below];
  if (reference !== undefined) return `${ROOT}/${reference}`;
  if (/^site\/pictures\/[a-z-]+\.svg$/.test(below)) return `${ROOT}/${below.slice('site/'.length)}`;
  return /^openapi[a-z0-9-]*\.json$/.test(below) ? `${ROOT}/${below}` : undefined;
}

/**
 * 409 `quote_over` becomes a link to the page of that reason. A reason without its status is not linked: some reasons of orders
 * have the same name and another meaning.
 */
function withErrors(markdown: string, reasons: readonly { code: string }[]): string {
  const known = new Set(reasons.map(({ code }) => code));
  return markdown.replaceAll(/\b([45][0-9]{2}) `([a-z_]+)`/g, (all, status: string, code: string) =>
    known.has(code) ? `${status} [\`${code}\`](${ROOT}/errors/${code})` : all,
  );
}

/** `<!-- snippets: sell -->` becomes the files docs/site/snippets/sell.*, as code blocks of their languages. */
function withSnippets(markdown: string, docs: string): string {
  const folder = join(docs, 'site', 'snippets');
  return markdown.replaceAll(/^<!-- snippets: ([a-z-]+) -->$/gm, (_all, name: string) => {
    const files = readdirSync(folder).filter((file) => file.toLowerCase().startsWith(`${name}.`));
    return LANGUAGES.flatMap(({ title, ending }) => {
      const file = files.find((one) => one.endsWith(`.${ending}`));
      if (file === undefined) return [];
      return [`\`\`\`${ending} title="${title}"\n${readFileSync(join(folder, file), 'utf8').trimEnd()}\n\`\`\``];
    }).join('\n\n');
  });
}

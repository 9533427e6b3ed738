/**
 * The docs at `/docs`: pages for partners' engineers, with search, and the same content for programs. They are read-only and
 * the same for every reader. A page loads nothing from other origins, which its content security policy enforces.
 *
 * The Markdown is read at the first request and pages are rendered at their first request, so unread docs cost nothing.
 * `DOCS=0` switches the docs off.
 *
 * | File | What it does |
 * |---|---|
 * | library.ts | the list of pages, and their Markdown |
 * | openapi.ts, reference.ts, examples.ts | the reference: from OpenAPI to Markdown, with requests in six languages |
 * | markdown.ts, highlight.ts, look.ts, site.css, site.js | from Markdown to pages |
 * | search.ts, programs.ts | search; llms.txt and the collection |
 * | explorer.ts, explorer.css, explorer.js | the OpenAPI descriptions in a viewer, to try requests in the sandbox |
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { explorer } from './explorer.ts';
import { type Library, openLibrary, ROOT } from './library.ts';
import { type Assets, documentOf, nothingHere, resultsOf } from './look.ts';
import { collection, everything, llmsText } from './programs.ts';
import { MOST_CHARS, openSearch } from './search.ts';

export interface SiteDeps {
  /** The folder docs/ of this repository. */
  readonly docs: string;
  /** URL at which clients reach this server, for the collection. */
  readonly publicUrl: () => string;
  /** Whether the explorer may send requests: in the sandbox. */
  readonly sends: boolean;
}

const asset = (name: string, type: string) => {
  const text = readFileSync(new URL(name, import.meta.url), 'utf8');
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 12);
  const [stem = '', ending = ''] = name.split('.');
  return { text, type, url: `${ROOT}/assets/${stem}-${hash}.${ending}` };
};
const CSS = asset('site.css', 'text/css; charset=utf-8');
const JS = asset('site.js', 'text/javascript; charset=utf-8');
const SVG = 'image/svg+xml';
const ICON = asset('icon.svg', SVG);
const ASSETS: Assets = { css: CSS.url, js: JS.url, icon: ICON.url };

const POLICY = [
  "default-src 'none'",
  ...["style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'", "form-action 'self'"],
  ...["base-uri 'none'", "frame-ancestors 'none'"],
].join('; ');
const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
};
const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

const MOST_RESULTS = 20;
const MOST_SUGGESTED = 8;

export const site =
  ({ docs, publicUrl, sends }: SiteDeps): FastifyPluginAsync =>
  async (app) => {
    let opened: { library: Library; search: ReturnType<typeof openSearch> } | undefined;
    const open = () => {
      const library = opened?.library ?? openLibrary(docs);
      opened ??= { library, search: openSearch(library) };
      return opened;
    };

    for (const { url, text, type } of [CSS, JS, ICON])
      app.get(url, async (_request, reply) => {
        reply.headers({ ...HEADERS, 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' });
        return reply.send(text);
      });

    explorer(app, { root: ROOT, icon: ICON.url, sends, headers: HEADERS });

    app.get(`${ROOT}/search`, async (request, reply) => {
      const { library, search } = open();
      const question = questionOf(request);
      const found = await search(question, MOST_RESULTS);
      return reply
        .headers({ ...HEADERS, 'cache-control': 'no-store' })
        .type(HTML)
        .send(resultsOf({ assets: ASSETS, library }, question, found));
    });
    app.get(`${ROOT}/search.json`, async (request, reply) => {
      const found = await open().search(questionOf(request), MOST_SUGGESTED);
      return reply
        .headers({ ...HEADERS, 'cache-control': 'no-store' })
        .type(JSON_TYPE)
        .send(JSON.stringify(found));
    });

    const files: Readonly<Record<string, readonly [type: string, text: (library: Library) => string]>> = {
      'llms.txt': [TEXT, llmsText],
      'llms-full.txt': [TEXT, everything],
      'collection.json': [JSON_TYPE, (library) => JSON.stringify(collection(library, publicUrl()), null, 2)],
    };
    const page = async (request: FastifyRequest, reply: FastifyReply) => {
      const { library } = open();
      const path = pathOf(request);
      // Object.hasOwn, so that a path such as `constructor` does not match.
      const file = Object.hasOwn(files, path) ? files[path] : undefined;
      if (file !== undefined) return send(request, reply, file[0], file[1](library));
      const stored = library.files.get(path);
      if (stored !== undefined) {
        const type = path.endsWith('.svg') ? SVG : JSON_TYPE;
        return send(request, reply, type, readFileSync(stored, 'utf8'));
      }
      const found = library.pages.get(path);
      if (found !== undefined) return send(request, reply, HTML, documentOf({ assets: ASSETS, library }, found));
      const source = path === 'index.md' ? '' : /^(.+)\.md$/.exec(path)?.[1];
      const raw = source === undefined ? undefined : library.pages.get(source);
      if (raw !== undefined) return send(request, reply, MARKDOWN, library.source(raw));
      return reply
        .code(404)
        .headers({ ...HEADERS, 'cache-control': 'no-store' })
        .type(HTML)
        .send(nothingHere({ assets: ASSETS, library }));
    };
    app.get(ROOT, page);
    app.get(`${ROOT}/*`, page);
    app.get('/llms.txt', async (request, reply) => send(request, reply, TEXT, llmsText(open().library)));
  };

const questionOf = ({ query }: FastifyRequest): string => {
  const { q } = query as { q?: unknown };
  return typeof q === 'string' ? q.trim().slice(0, MOST_CHARS) : '';
};

/** `/docs/start/` equals `/docs/start`, because people type both. */
const pathOf = ({ url }: FastifyRequest): string => {
  const [path = ''] = url.split('?', 1);
  return path.slice(ROOT.length).replaceAll(/^\/+|\/+$/g, '');
};

/** Sends an ETag, so that a browser revalidates and gets 304 when nothing changed. */
function send(request: FastifyRequest, reply: FastifyReply, type: string, text: string): FastifyReply {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 16)}"`;
  reply.headers({ ...HEADERS, 'content-type': type, 'cache-control': 'no-cache', etag });
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(text);
}

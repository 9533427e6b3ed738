/**
 * The explorer: the OpenAPI descriptions in Swagger UI. A reader can unfold every schema and, in the sandbox, send every
 * request.
 *
 * Its script and style are files of this repository (server/vendor/swagger-ui): the package on npm has an install script that
 * sends telemetry. The page has its own content security policy, which allows the inline pictures of that style but nothing
 * from other origins. Requests go to the server that the page came from; in production the page sends none.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const compress = promisify(gzip);
const POLICY = [
  "default-src 'none'",
  ...["style-src 'self'", "script-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

const VENDOR = new URL('../../vendor/swagger-ui/', import.meta.url);
const HERE = new URL('.', import.meta.url);
const CSS = 'text/css; charset=utf-8';
const JS = 'text/javascript; charset=utf-8';
const FILES = [
  { name: 'swagger-ui.css', at: VENDOR, type: CSS },
  { name: 'explorer.css', at: HERE, type: CSS },
  { name: 'swagger-ui-bundle.js', at: VENDOR, type: JS },
  { name: 'explorer.js', at: HERE, type: JS },
] as const;

/** @param how.sends whether the page may send requests: in the sandbox */
export function explorer(
  app: FastifyInstance,
  how: { root: string; icon: string; sends: boolean; headers: Readonly<Record<string, string>> },
): void {
  const page = `${how.root}/explorer`;
  const text = pageOf(page, how);
  app.get(page, async (_request, reply) =>
    reply
      .headers({ ...how.headers, 'content-security-policy': POLICY, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(text),
  );
  for (const { name, at, type } of FILES) {
    // Read when the page is first opened: 1.9 MB.
    let opened: Promise<{ etag: string; bytes: Buffer }> | undefined;
    const open = async () => {
      const plain = readFileSync(new URL(name, at));
      const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 16)}"`;
      return { etag, bytes: await compress(plain) };
    };
    app.get(`${page}/${name}`, async (request: FastifyRequest, reply: FastifyReply) => {
      opened ??= open();
      const { etag, bytes } = await opened;
      reply.headers({ ...how.headers, 'content-type': type, 'cache-control': 'no-cache', etag });
      if (request.headers['if-none-match'] === etag) return reply.code(304).send();
      // Every browser that can run the page accepts gzip.
      return reply.header('content-encoding', 'gzip').send(bytes);
    });
  }
}

function pageOf(page: string, p: { root: string; icon: string; sends: boolean }): string {
  const styles = FILES.filter(({ type }) => type === CSS).map(
    ({ name }) => `<link rel="stylesheet" href="${page}/${name}">`,
  );
  const scripts = FILES.filter(({ type }) => type === JS).map(
    ({ name }) => `<script src="${page}/${name}" defer></script>`,
  );
  const note = p.sends
    ? 'Press Authorize, give the token of a sandbox key, and send requests from here. Each write gets an <code>Idempotency-Key</code> of its own.'
    : 'Requests are sent from here only in a sandbox.';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API explorer – Cloverleaf</title>
<link rel="icon" href="${p.icon}" type="image/svg+xml">
${[...styles, ...scripts].join('\n')}
</head>
<body>
<header class="bar">
<a class="brand" href="${p.root}"><svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true"><use href="${p.icon}#leaf"></use></svg>Cloverleaf <span>docs</span></a>
<nav aria-label="Interfaces"><a href="?api=v1">Partner API</a><a href="?api=whitelabel">White-label</a><a href="${p.root}/v1">Reference as pages</a></nav>
</header>
<main>
<h1 class="unseen">API explorer</h1>
<p class="note">${note}</p>
<noscript><p class="note">The explorer needs scripts. The <a href="${p.root}/v1">reference as pages</a> does not.</p></noscript>
<div id="explorer" data-root="${p.root}" data-sends="${p.sends}"></div>
</main>
</body>
</html>
`;
}

/**
 * The operators' console at /console and the partners' at /partner: the files of their build (build.ts), read once at start. A
 * request is looked up in that map and never becomes a path of the file system. A path without a file is a route of the app and
 * returns the app's page. Both share scripts and styles, below /console/assets.
 *
 * Not here: the consoles' requests, and their permissions (protocols/operator, protocols/team, protocols/v1).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';

export { buildConsole, CONSOLE } from './build.ts';

const ROOT = '/console';
/** Path of each app, and its page. */
const APPS = { [ROOT]: 'index.html', '/partner': 'partner.html' } as const;
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.pfb': 'application/octet-stream',
};
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["font-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"],
].join('; ');
const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
};
const HOUR_S = 3_600;

/** Compressed already: a second time would only cost. */
const COMPRESSED: ReadonlySet<string> = new Set(['image/png', 'font/woff2']);
/** Encodings that we offer, the smaller first. Browsers ask for brotli by HTTPS only. */
const ENCODINGS = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
} as const;
type Encoding = keyof typeof ENCODINGS;

interface Built {
  readonly type: string;
  readonly bytes: Buffer;
  /** Filled by the first request that accepts the encoding, on another thread: some files are never requested. */
  readonly compressed: Map<Encoding, Promise<Buffer>>;
}

/** @param dist the built folder; without it, each app says that the console was not built */
export const consolePages =
  ({ dist, publicUrl }: { dist: string; publicUrl: () => string }): FastifyPluginAsync =>
  async (app) => {
    const files = filesIn(dist);
    const headers = () => ({
      ...HEADERS,
      ...(publicUrl().startsWith('https://') && { 'strict-transport-security': `max-age=${365 * 24 * HOUR_S}` }),
    });
    app.get(`${ROOT}/assets/*`, async (request, reply) => {
      const { '*': name = '' } = request.params as { '*'?: string };
      const file = files.get(`assets/${name}`);
      if (file === undefined)
        return reply
          .code(404)
          .headers({ ...headers(), 'cache-control': 'no-store' })
          .type('text/plain; charset=utf-8')
          .send('There is no such file.\n');
      return sendFile(
        request,
        reply.headers({ ...headers(), 'cache-control': 'public, max-age=31536000, immutable' }),
        file,
      );
    });
    for (const [root, name] of Object.entries(APPS)) {
      const page = files.get(name);
      for (const url of [root, `${root}/*`])
        app.get(url, async (request, reply) => {
          reply.headers({ ...headers(), 'cache-control': 'no-store' });
          if (page !== undefined) return sendFile(request, reply, page);
          return reply
            .code(503)
            .type('text/plain; charset=utf-8')
            .send('The console is not built. The log of the start of this server says why.\n');
        });
    }
  };

/** As small as the client accepts it. */
async function sendFile({ headers }: FastifyRequest, reply: FastifyReply, file: Built): Promise<FastifyReply> {
  reply.type(file.type);
  if (COMPRESSED.has(file.type)) return reply.send(file.bytes);
  reply.header('vary', 'accept-encoding');
  const encoding = acceptedOf(headers['accept-encoding'] ?? '');
  if (encoding === undefined) return reply.send(file.bytes);
  const kept = file.compressed.get(encoding) ?? ENCODINGS[encoding](file.bytes);
  file.compressed.set(encoding, kept);
  return reply.header('content-encoding', encoding).send(await kept);
}

/** @param accepts the header's value: encodings, each perhaps with a weight, of which zero means no */
function acceptedOf(accepts: string): Encoding | undefined {
  const wanted = new Set(
    accepts
      .toLowerCase()
      .split(',')
      .map((one) => one.split(';').map((part) => part.trim()))
      .filter(([, weight]) => !/^q=0(?:\.0*)?$/.test(weight ?? ''))
      .map(([name]) => name),
  );
  return (Object.keys(ENCODINGS) as Encoding[]).find((name) => wanted.has(name));
}

/** Files by path, with slashes. */
function filesIn(dist: string): ReadonlyMap<string, Built> {
  if (!existsSync(dist)) return new Map();
  const found = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    found.flatMap((entry): [string, Built][] => {
      const path = join(entry.parentPath, entry.name);
      const type = TYPES[extname(path)];
      return type === undefined
        ? []
        : [[relative(dist, path).replaceAll(sep, '/'), { type, bytes: readFileSync(path), compressed: new Map() }]];
    }),
  );
}

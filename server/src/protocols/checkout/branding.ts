/**
 * A partner's branding of its pages: a style sheet with its colours, and its logo. Both are files of this origin whose path
 * depends on their content, so the content security policy needs no exception and browsers may cache them forever.
 *
 * The style sheet is generated from the two colours in its path, without stored data; colours that are hard to read get none.
 * Not here: the rules of colours and logos (partners, protocols/v1).
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Branding, GROUNDS, isReadable, logoBytes, logoPath } from '../../partners/index.ts';
import { networkOf, openLimiter } from '../limit.ts';
import type { Look } from './pages.ts';
import type { CheckoutDeps } from './visit.ts';

const KEPT = 'public, max-age=31536000, immutable';
/** In addition to the headers of every page: if the logo is opened as a page of its own, nothing in it can run. */
const PICTURE = {
  'content-type': 'image/png',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
};

/** @param root the path of the public URL */
export function brandingOn({ colours, logo }: Branding, root: string): NonNullable<Look['brand']> {
  const sheet = colours && `${root}/hosted/accent/${colours.light.slice(1)}-${colours.dark.slice(1)}.css`;
  return {
    css: sheet,
    logo: logo === null ? undefined : { ...logo, src: `${root}${logoPath(logo)}` },
  };
}

const sheetOf = (light: string, dark: string): string => `:root {
  --intent: ${light};
  --on-intent: ${GROUNDS.light};
}
@media (prefers-color-scheme: dark) {
  :root {
    --intent: ${dark};
    --on-intent: ${GROUNDS.dark};
  }
}
`;

/** @param nothing answers a path without a file */
export function serveBranding(
  app: FastifyInstance,
  { db, requestsPerMinute }: { db: CheckoutDeps['db']; requestsPerMinute: number },
  nothing: (reply: FastifyReply, status: 404 | 429) => FastifyReply,
): void {
  const limiter = openLimiter();
  app.get('/hosted/accent/:colours', async (request, reply) => {
    const { colours } = request.params as { colours: string };
    const [, light = '', dark = ''] = /^([0-9a-f]{6})-([0-9a-f]{6})\.css$/.exec(colours) ?? [];
    if (light === '' || !isReadable(`#${light}`, 'light') || !isReadable(`#${dark}`, 'dark'))
      return nothing(reply, 404);
    return reply
      .headers({ 'content-type': 'text/css; charset=utf-8', 'cache-control': KEPT })
      .send(sheetOf(`#${light}`, `#${dark}`));
  });
  app.get('/hosted/logo/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    const [, hash] = /^([0-9a-f]{64})\.png$/.exec(name) ?? [];
    if (hash === undefined) return nothing(reply, 404);
    if (!limiter.take(networkOf(request.ip), requestsPerMinute).allowed) return nothing(reply, 429);
    const bytes = await db.asSystem((tx) => logoBytes(tx, hash));
    return bytes === undefined ? nothing(reply, 404) : reply.headers({ ...PICTURE, 'cache-control': KEPT }).send(bytes);
  });
}

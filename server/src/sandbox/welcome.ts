/**
 * Welcome: the answer to `GET /` of a sandbox, so that a visitor sees what it is and what to do next. A page for browsers,
 * the same as JSON for all others, by the `Accept` header.
 *
 * It needs no script and loads nothing. It names keys but no secrets: those are in sandbox.json, which only this machine's
 * user can read. Production has no such page: there `/` is an unknown path.
 */
import { createHash } from 'node:crypto';
import type { FastifyPluginAsync } from 'fastify';
import type { SandboxFile } from '../environment.ts';
import { html } from '../protocols/checkout/index.ts';

export interface Welcome {
  /** Undefined while the sandbox is starting. */
  sandbox: SandboxFile | undefined;
  baseUrl: string;
  metricsUrl: string;
  /** Path of sandbox.json. */
  file: string;
  /** Whether this server serves the docs at /docs. */
  hasDocs: boolean;
}

const STEPS = [
  { run: 'npm run demo', does: 'sells coins for rupees, buys some back, and shows every entry of the ledger' },
  {
    run: 'npm run sandbox',
    does: 'lists what can be made to happen: late money, reorgs, lost answers, a clock that jumps',
  },
  { run: 'npm run operator -- --help', does: 'lists what an operator can see and do' },
] as const;

const DOCS = [
  { path: '/docs/start', file: 'docs/site/start.md', says: 'a first sale in your language, in five minutes' },
  { path: '/docs/situations', file: 'docs/site/situations/README.md', says: 'ten situations that you will meet' },
  { path: '/docs/sandbox', file: 'docs/sandbox.md', says: 'what the sandbox trades, its controls and magic values' },
  {
    path: '/docs/v1',
    file: 'docs/api-v1.md',
    says: 'every endpoint: fields, replies, errors, requests in six languages',
  },
  { path: '/docs/webhooks', file: 'docs/webhooks.md', says: 'events and webhooks, and how to check their signatures' },
] as const;

/** Public reference data: a first answer without a key. */
const OPEN_PATH = '/onramp/api/v3/buy/public/listAllCoins';

export const welcome =
  (at: () => Welcome): FastifyPluginAsync =>
  async (app) => {
    app.get('/', async (request, reply) => {
      const shown = shownOf(at());
      reply.headers({ vary: 'accept', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      if (!wantsPage(request.headers.accept)) return await reply.send(shown);
      return await reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY).send(pageOf(shown));
    });
  };

/** Browsers name HTML; a program that accepts anything gets JSON. */
const wantsPage = (accept = ''): boolean => accept.toLowerCase().includes('text/html');

type Shown = ReturnType<typeof shownOf>;

function shownOf({ sandbox, baseUrl, metricsUrl, file, hasDocs }: Welcome) {
  return {
    name: 'Cloverleaf sandbox',
    api: baseUrl,
    // A passkey belongs to a host name, and an IP address is not one.
    console: `${baseUrl.replace('//127.0.0.1', '//localhost')}/console`,
    readiness: `${baseUrl}/readyz`,
    metrics: metricsUrl,
    coins: `${baseUrl}${OPEN_PATH}`,
    next: STEPS,
    docs: DOCS.map(({ path, ...doc }) => ({ ...(hasDocs && { url: `${baseUrl}${path}` }), ...doc })),
    partners: (sandbox?.partners ?? []).map(({ name, apiKey }) => ({ name, apiKey })),
    chains: (sandbox?.chains ?? []).map(({ code, chainId, rpcUrl }) => ({ code, chainId, rpcUrl })),
    secrets: file,
  };
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1b1f; --soft: #4a4a55; --ground: #fff; --shade: #f0f2f1; --line: #c9cdcb; --action: #0b4f3c }
@media (prefers-color-scheme: dark) {
  :root { --ink: #f2f2f4; --soft: #c4c4cc; --ground: #17171b; --shade: #25252b; --line: #4a4a52; --action: #8fe3c4 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-inline-size: 46rem; margin-inline: auto; padding: 2.5rem 1.25rem 4rem }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.25 }
h2 { margin: 2.25rem 0 .5rem; font-size: 1.125rem }
p { margin: .5rem 0 }
.soft { color: var(--soft) }
a { color: var(--action) }
code { padding: .1em .35em; border-radius: .25rem; background: var(--shade); font: .9375em/1.5 ui-monospace, monospace }
dl { margin: 0; display: grid; grid-template-columns: minmax(0, 15rem) minmax(0, 1fr) }
dt, dd { margin: 0; padding-block: .5rem; border-block-end: 1px solid var(--line) }
dt { padding-inline-end: 1.25rem }
@media (max-width: 36rem) {
  dl { display: block } dt { padding-block-end: 0; border: 0 }
}
`;
const hash = createHash('sha256').update(STYLE).digest('base64');
const POLICY = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

function pageOf(shown: Shown): string {
  const link = (url: string) => html`<a href="${url}">${url.replace(shown.api, '')}</a>`;
  const rows = (all: readonly (readonly [ReturnType<typeof html>, ReturnType<typeof html> | string])[]) =>
    html`<dl>${all.map(([term, what]) => html`<dt>${term}</dt><dd>${what}</dd>`)}</dl>`;
  const style = `<style>${STYLE}</style>`;
  const page = html`<main>
<h1>Cloverleaf sandbox</h1>
<p class="soft">A crypto on-ramp and off-ramp with local chains and a simulated bank. The money in it is worth nothing.</p>
<h2>Try next</h2>
<p>In another terminal, in the folder that it was started from.</p>
${rows(shown.next.map(({ run, does }) => [html`<code>${run}</code>`, does]))}
<h2>Look around</h2>
${rows([
  [html`Console of operators`, html`<a href="${shown.console}">${shown.console}</a>`],
  [html`Coins and chains`, link(shown.coins)],
  [html`Health checks`, link(shown.readiness)],
  [html`Metrics`, link(shown.metrics)],
])}
<h2>Partners</h2>
<p>Requests are signed with a partner's key and secret. The secrets are in <code>${shown.secrets}</code>.</p>
${rows(shown.partners.map(({ name, apiKey }) => [html`${name}`, html`<code>${apiKey}</code>`]))}
<h2>Chains</h2>
<p>For a wallet of your own: the address of each node, and its chain id.</p>
${rows(shown.chains.map(({ code, chainId, rpcUrl }) => [html`${code}, chain id ${chainId}`, html`<code>${rpcUrl}</code>`]))}
<h2>Read</h2>
${rows(shown.docs.map(({ url, file, says }) => [url === undefined ? html`<code>${file}</code>` : link(url), says]))}
<p class="soft">The same as JSON: <code>curl ${shown.api}/</code></p>
</main>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Cloverleaf sandbox</title>${style}</head><body>${page.text}</body></html>`;
}

/**
 * What programs read of these docs: `llms.txt`, the whole text in one file, and a collection for Postman and Bruno. Made from
 * the same library as the pages.
 */
import { exampleOf } from './examples.ts';
import { type Library, type Page, ROOT } from './library.ts';

const addressOf = ({ path }: Page): string => `${ROOT}/${path === '' ? 'index' : path}.md`;

/** https://llmstxt.org: a title, a summary, and lists of links to Markdown. */
export function llmsText(library: Library): string {
  const first = library.pages.get('');
  const lines = [
    '# Cloverleaf',
    '',
    `> ${first?.summary ?? ''}`,
    '',
    `Every page is also Markdown under its address with .md. All of it in one file: ${ROOT}/llms-full.txt`,
    '',
  ];
  for (const { title, pages } of library.sections)
    lines.push(`## ${title}`, '', ...pages.map((page) => `- [${page.title}](${addressOf(page)}): ${page.summary}`), '');
  for (const { title, api, root } of library.interfaces)
    lines.push(
      `## ${title}: endpoints`,
      '',
      ...api.endpoints.map(({ method, path, slug, says }) => `- [${method} ${path}](${root}/${slug}.md): ${says}`),
      '',
    );
  return `${lines.join('\n').trimEnd()}\n`;
}

export const everything = (library: Library): string =>
  [...library.pages.values()]
    .filter(({ parent, isListed }) => isListed || parent !== 'errors')
    .map((page) => `<!-- ${ROOT}/${page.path} -->\n\n${page.markdown.trim()}\n`)
    .join('\n\n');

/**
 * Signs each request as it is sent: in Postman and in Bruno, which reads Postman's scripts. The body of a GET is signed as
 * an empty object.
 */
export const SIGNING_SCRIPT = `const CryptoJS = require('crypto-js');
const text = pm.request.method === 'GET' || !pm.request.body || !pm.request.body.raw ? '{}' : pm.variables.replaceIn(pm.request.body.raw);
const json = JSON.stringify({ body: JSON.parse(text), timestamp: String(Date.now()) });
const payload = CryptoJS.enc.Base64.stringify(CryptoJS.enc.Utf8.parse(json));
const signature = CryptoJS.HmacSHA512(payload, pm.variables.get('apiSecret')).toString();
pm.request.headers.upsert({ key: 'apiKey', value: pm.variables.get('apiKey') });
pm.request.headers.upsert({ key: 'payload', value: payload });
pm.request.headers.upsert({ key: 'signature', value: signature });
`;

/** Postman's collection format 2.1, which Bruno imports. */
export function collection(library: Library, baseUrl: string): object {
  const white = library.interfaces.find(({ root }) => root === `${ROOT}/api`);
  if (white === undefined) return {};
  return {
    info: {
      name: 'Cloverleaf, white-label',
      description: `Set the variables baseUrl, apiKey and apiSecret. Requests are signed as they are sent: ${ROOT}/signing.`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'apiKey', value: '' },
      { key: 'apiSecret', value: '', type: 'secret' },
    ],
    event: [{ listen: 'prerequest', script: { type: 'text/javascript', exec: SIGNING_SCRIPT.trimEnd().split('\n') } }],
    item: white.api.groups.map(({ name, says, endpoints }) => ({
      name,
      description: says,
      item: endpoints.map((endpoint) => {
        const { method, path, body } = exampleOf(endpoint);
        const [plainPath = '', query = ''] = path.split('?', 2);
        return {
          name: `${method} ${endpoint.short}`,
          request: {
            method,
            description: endpoint.says,
            header: body === undefined ? [] : [{ key: 'content-type', value: 'application/json' }],
            ...(body === undefined
              ? {}
              : { body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } } }),
            url: {
              raw: `{{baseUrl}}${path}`,
              host: ['{{baseUrl}}'],
              path: plainPath.slice(1).split('/'),
              ...(query === ''
                ? {}
                : { query: [...new URLSearchParams(query)].map(([key, value]) => ({ key, value })) }),
            },
          },
        };
      }),
    })),
  };
}

/**
 * The docs for programs: `llms.txt`, the whole text in one file, and a collection for Postman and Bruno. Generated from the
 * same library as the pages.
 */
import { exampleOf } from './examples.ts';
import { type Library, type Page, ROOT } from './library.ts';
import type { Endpoint } from './openapi.ts';

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
    .map((page) => `<!-- ${ROOT}/${page.path} -->\n\n${library.source(page).trim()}\n`)
    .join('\n\n');

/** Signs each request when it is sent, in Postman and in Bruno, which runs Postman's scripts. A GET is signed over `{}`. */
export const WHITELABEL_SCRIPT = `const CryptoJS = require('crypto-js');
const text = pm.request.method === 'GET' || !pm.request.body || !pm.request.body.raw ? '{}' : pm.variables.replaceIn(pm.request.body.raw);
const json = JSON.stringify({ body: JSON.parse(text), timestamp: String(Date.now()) });
const payload = CryptoJS.enc.Base64.stringify(CryptoJS.enc.Utf8.parse(json));
const signature = CryptoJS.HmacSHA512(payload, pm.variables.get('apiSecret')).toString();
pm.request.headers.upsert({ key: 'apiKey', value: pm.variables.get('apiKey') });
pm.request.headers.upsert({ key: 'payload', value: payload });
pm.request.headers.upsert({ key: 'signature', value: signature });
`;

/** Sets the bearer token; a write also gets a new Idempotency-Key and the signature that production requires. */
export const V1_SCRIPT = `const CryptoJS = require('crypto-js');
const base64 = (words) => CryptoJS.enc.Base64.stringify(words);
const key = pm.variables.get('apiKey');
const hmac = (text) => CryptoJS.HmacSHA256(text, pm.variables.get('apiSecret'));
const mac = (text) => base64(hmac(text));
const token = hmac('cloverleaf bearer ' + key).toString();
pm.request.headers.upsert({ key: 'Authorization', value: 'Bearer ' + key + '.' + token });
if (pm.request.method !== 'GET') {
  const body = pm.request.body && pm.request.body.raw ? pm.variables.replaceIn(pm.request.body.raw) : '';
  const once = pm.variables.replaceIn('{{$guid}}');
  const digest = 'sha-256=:' + base64(CryptoJS.SHA256(body)) + ':';
  const params = '("@method" "@path" "content-digest" "idempotency-key");created=' + Math.floor(Date.now() / 1000) + ';keyid="' + key + '";alg="hmac-sha256"';
  const lines = ['"@method": ' + pm.request.method, '"@path": ' + pm.request.url.getPath(), '"content-digest": ' + digest, '"idempotency-key": ' + once, '"@signature-params": ' + params];
  pm.request.headers.upsert({ key: 'Idempotency-Key', value: once });
  pm.request.headers.upsert({ key: 'Content-Digest', value: digest });
  pm.request.headers.upsert({ key: 'Signature-Input', value: 'sig=' + params });
  pm.request.headers.upsert({ key: 'Signature', value: 'sig=:' + mac(lines.join('\\n')) + ':' });
}
`;

/** Postman's collection format 2.1, which Bruno can import: one folder per interface, with a script that signs its requests. */
export function collection(library: Library, baseUrl: string): object {
  return {
    info: {
      name: 'Cloverleaf',
      description: `Set the variables baseUrl, apiKey and apiSecret. Requests are signed as they are sent: ${ROOT}/calling, ${ROOT}/signing.`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'apiKey', value: '' },
      { key: 'apiSecret', value: '', type: 'secret' },
    ],
    item: library.interfaces.map(({ title, root, api }) => {
      const script = root === `${ROOT}/api` ? WHITELABEL_SCRIPT : V1_SCRIPT;
      return {
        name: title.replace(' reference', ''),
        event: [{ listen: 'prerequest', script: { type: 'text/javascript', exec: script.trimEnd().split('\n') } }],
        item: api.groups.map(({ name, says, endpoints }) => ({
          name,
          description: says,
          item: endpoints.map(requestOf),
        })),
      };
    }),
  };
}

function requestOf(endpoint: Endpoint): object {
  const { method, path, body, inQuery } = exampleOf(endpoint);
  const [plainPath = ''] = path.split('?', 1);
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
        ...(inQuery.length === 0 ? {} : { query: inQuery.map(([key, value]) => ({ key, value })) }),
      },
    },
  };
}

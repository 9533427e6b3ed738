/**
 * Parses a captured `curl` command into the request that it sends: as browsers and API programs copy it, quoted for a shell.
 *
 * Options that do not change method, headers or body are ignored.
 */
import { readFileSync } from 'node:fs';

export interface Captured {
  method: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Options that take a value and change nothing here. */
const WITH_VALUE = new Set(
  '-A --user-agent -b --cookie -c --cookie-jar -e --referer -m --max-time --connect-timeout -o --output -u --user -x --proxy --retry -w --write-out --cacert --resolve -E --cert --key'.split(
    ' ',
  ),
);
const DATA = new Set(['-d', '--data', '--data-raw', '--data-binary', '--data-ascii', '--json']);
const BOUNDARY = '----captured-by-the-doctor';

/** @throws Error with a sentence for the user */
export function readCurl(text: string): Captured {
  const words = shellWords(text.trim());
  if (words.shift() !== 'curl') throw new Error('this is no curl command: it must begin with curl');
  const headers: Record<string, string> = {};
  const data: string[] = [];
  const parts: [string, string][] = [];
  let method: string | undefined;
  let isGet = false;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [option, glued] = splitOption(word);
    const value = (): string => {
      const next = glued ?? words.shift();
      if (next === undefined) throw new Error(`${option} has no value`);
      return next;
    };
    if (option === '-X' || option === '--request') method = value().toUpperCase();
    else if (option === '-H' || option === '--header') putHeader(headers, value());
    else if (option === '-G' || option === '--get') isGet = true;
    else if (option === '-F' || option === '--form' || option === '--form-string') parts.push(split(value(), '='));
    else if (option === '--data-urlencode') {
      const [name, plain] = split(value(), '=');
      data.push(`${name}=${encodeURIComponent(plain)}`);
    } else if (DATA.has(option)) {
      const given = value();
      if (option === '--json') headers['content-type'] ??= 'application/json';
      data.push(given.startsWith('@') && option !== '--data-raw' ? fileText(given.slice(1), option) : given);
    } else if (WITH_VALUE.has(option)) value();
  }
  if (parts.length > 0) {
    headers['content-type'] = `multipart/form-data; boundary=${BOUNDARY}`;
    const text = parts.map(
      ([name, part]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${part}\r\n`,
    );
    return { method: method ?? 'POST', headers, body: Buffer.from(`${text.join('')}--${BOUNDARY}--\r\n`) };
  }
  if (data.length > 0) headers['content-type'] ??= 'application/x-www-form-urlencoded';
  return {
    method: method ?? (data.length > 0 && !isGet ? 'POST' : 'GET'),
    headers,
    body: Buffer.from(isGet ? '' : data.join('&')),
  };
}

/** A line `Name: value`; curl's own `Name;` is an empty header. */
export function putHeader(headers: Record<string, string>, line: string): void {
  const [name, value] = line.includes(':') ? split(line, ':') : [line.replace(/;$/, ''), ''];
  headers[name.trim().toLowerCase()] = value.trim();
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}

/** `-XPOST` and `--request=POST` are one word. */
function splitOption(word: string): [option: string, glued: string | undefined] {
  if (/^-[XHdFAbuxmoew]./.test(word) && !word.startsWith('--')) return [word.slice(0, 2), word.slice(2)];
  const [, option, glued] = /^(--[a-z-]+)=([^]*)$/.exec(word) ?? [];
  return option === undefined ? [word, undefined] : [option, glued];
}

function fileText(path: string, option: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    return option === '--data-binary' || option === '--json' ? text : text.replaceAll(/[\r\n]/g, '');
  } catch {
    throw new Error(`${option} @${path}: there is no such file here`);
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Splits words like a POSIX shell, including the `$'…'` of other shells. */
function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= '';
    if (char === '\\') {
      at += 1;
      const next = text[at] === '\r' ? text[++at] : text[at];
      if (next !== '\n') word += next ?? '';
      else if (word === '') word = undefined;
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) throw new Error("a ' is never closed");
      word += text.slice(at + 1, end);
      at = end;
    } else if (char === '"' || (char === '$' && text[at + 1] === "'")) {
      const close = char === '"' ? '"' : "'";
      const isAnsi = char === '$';
      for (at += isAnsi ? 2 : 1; text[at] !== close; at += 1) {
        if (at >= text.length) throw new Error(`a ${close} is never closed`);
        if (text[at] !== '\\') word += text[at];
        else {
          at += 1;
          const next = text[at] ?? '';
          const hex = isAnsi ? /^(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/.exec(text.slice(at, at + 5)) : null;
          if (hex !== null) {
            word += String.fromCharCode(Number.parseInt(hex[1] ?? hex[2] ?? '', 16));
            at += hex[0].length - 1;
          } else if (isAnsi) word += ESCAPES[next] ?? next;
          else if (next !== '\n') word += '"\\$`'.includes(next) ? next : `\\${next}`;
        }
      }
    } else word += char;
  }
  if (word !== undefined) words.push(word);
  return words;
}

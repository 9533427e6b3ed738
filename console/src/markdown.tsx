/**
 * Pages of the handbook as written: headings, paragraphs, lists, tables and code. Text only becomes text, never markup. Links
 * between pages of the handbook lead to its page in the console; others are shown as their words.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

type Block =
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'text'; readonly text: string };

const ITEM = /^(?:[-*]|[0-9]+\.) +/;
const cellsOf = (line: string): string[] =>
  line
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

/** @returns the block that begins at a line, and the line after it */
function blockAt(lines: readonly string[], at: number): [Block, number] {
  const line = lines[at] ?? '';
  const until = (ends: (line: string) => boolean, from = at + 1): number => {
    const found = lines.findIndex((one, index) => index >= from && ends(one));
    return found === -1 ? lines.length : found;
  };
  if (line.startsWith('```')) {
    const end = until((one) => one.startsWith('```'));
    return [{ kind: 'code', text: lines.slice(at + 1, end).join('\n') }, end + 1];
  }
  const heading = /^(#{1,4}) (.+)$/.exec(line);
  if (heading !== null) return [{ kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' }, at + 1];
  if (line.startsWith('|')) {
    const end = until((one) => !one.startsWith('|'));
    const rows = lines
      .slice(at, end)
      .filter((one) => !/^[|:\s-]+$/.test(one))
      .map(cellsOf);
    return [{ kind: 'table', rows }, end];
  }
  if (ITEM.test(line)) {
    const end = until((one) => one.trim() === '' || /^(#|```|\|)/.test(one));
    const items: string[] = [];
    for (const one of lines.slice(at, end))
      if (ITEM.test(one)) items.push(one.replace(ITEM, ''));
      else items.push(`${items.pop() ?? ''} ${one.trim()}`);
    return [{ kind: 'list', isOrdered: /^[0-9]/.test(line), items }, end];
  }
  const end = until((one) => one.trim() === '' || /^(#{1,4} |```|\|)/.test(one) || ITEM.test(one));
  return [{ kind: 'text', text: lines.slice(at, end).join(' ') }, end];
}

export function blocksOf(text: string): readonly Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    if ((lines[at] ?? '').trim() === '') {
      at += 1;
      continue;
    }
    const [block, next] = blockAt(lines, at);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

const INLINE = /(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/;

/** A page of the handbook, as a link on another of its pages names it. */
function pageAt(target: string, from: string): string | undefined {
  const [path = ''] = target.split('#', 1);
  if (path === '') return from;
  if (!path.endsWith('.md')) return undefined;
  const parts = from.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..' && parts.length === 0) return undefined;
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

function Inline({ text, page }: { text: string; page: string }): ReactNode {
  return text.split(INLINE).map((part, at) => {
    const key = `${String(at)} ${part}`;
    if (part.startsWith('`')) return <code key={key}>{part.slice(1, -1)}</code>;
    if (part.startsWith('**')) return <b key={key}>{part.slice(2, -2)}</b>;
    const [, words, target = ''] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(part) ?? [];
    if (words === undefined) return part;
    const to = pageAt(target, page);
    const said = <Inline text={words} page={page} />;
    return to === undefined ? (
      <span key={key}>{said}</span>
    ) : (
      <Link key={key} to="/handbook" search={{ page: to }}>
        {said}
      </Link>
    );
  });
}

/** @param top the level of heading that the page's first one gets */
export function Markdown({ text, page, top }: { text: string; page: string; top: 1 | 3 }) {
  return (
    <div className="prose">
      {blocksOf(text).map((block, at) => {
        const key = String(at);
        if (block.kind === 'code')
          return (
            <pre key={key} className="code" tabIndex={0}>
              {block.text}
            </pre>
          );
        if (block.kind === 'heading') {
          const Heading = `h${Math.min(block.level + top - 1, 4)}` as 'h1' | 'h2' | 'h3' | 'h4';
          return (
            <Heading key={key}>
              <Inline text={block.text} page={page} />
            </Heading>
          );
        }
        if (block.kind === 'list') {
          const List = block.isOrdered ? 'ol' : 'ul';
          return (
            <List key={key}>
              {block.items.map((item, index) => (
                <li key={`${String(index)} ${item}`}>
                  <Inline text={item} page={page} />
                </li>
              ))}
            </List>
          );
        }
        if (block.kind === 'table') {
          const [head = [], ...rows] = block.rows;
          return (
            <section key={key} className="scroll" tabIndex={0} aria-label={head.join(', ') || 'Table'}>
              <table>
                <thead>
                  <tr>
                    {head.map((cell) => (
                      <th key={cell} scope="col">
                        <Inline text={cell} page={page} />
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row, index) => (
                    <tr key={`${String(index)} ${row[0] ?? ''}`}>
                      {row.map((cell, column) => (
                        <td key={`${String(column)} ${cell}`}>
                          <Inline text={cell} page={page} />
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          );
        }
        return (
          <p key={key}>
            <Inline text={block.text} page={page} />
          </p>
        );
      })}
    </div>
  );
}

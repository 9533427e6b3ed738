/**
 * A list: filters in the URL, rows page by page, the same rows as CSV, and named views. Details of a row beyond its columns open
 * beside the list (`row` of the URL), if it has no page of its own.
 */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { pathWith, read } from './api.ts';
import { type Filter, useFilters, type Values } from './filters.tsx';
import { counted } from './format.ts';
import { type Listed, ListView } from './listview.tsx';
import { every } from './live.ts';
import { useSession } from './shell.tsx';
import { Csv } from './ui.tsx';
import { Views } from './views.tsx';

const EVERY_MS = 10_000;
/** The server times out for a trial balance of an instant after ninety seconds. */
const REPORT_MS = 100_000;
const ROWS: Filter = { name: 'limit', label: 'Rows', choices: ['100', '200'], all: '50' };

export interface ListOf<Row> extends Listed<Row> {
  /** The name of the rows in the answer. */
  readonly list: string;
  readonly filters: readonly Filter[];
  /** The field with the start of a page; newest first is `below`. None if the list is one page. */
  readonly cursor?: 'below' | 'after' | undefined;
  /** The query of the filters in the URL, if the two differ. */
  readonly toQuery?: (values: Values) => Values;
  /** Above the rows. */
  readonly above?: (answer: Readonly<Record<string, unknown>> | undefined) => ReactNode;
  /** The server has no CSV of it. */
  readonly hasNoCsv?: boolean;
  /** It may take long to compute: it is requested once, and again when the page is reloaded. */
  readonly isReport?: boolean;
  /** Nothing is asked without these filters. */
  readonly needs?: readonly string[];
}

const asked = <Row,>({ filters, cursor, toQuery = (values) => values }: ListOf<Row>, values: Values): Values => {
  const names = [...filters.map(({ name }) => name), ...(cursor === undefined ? [] : [cursor, ROWS.name])];
  return toQuery(Object.fromEntries(names.map((name) => [name, values[name]])));
};

const LABELS = new Intl.ListFormat('en-GB', { type: 'conjunction' });
const listed = (filters: readonly Filter[]): string => LABELS.format(filters.map(({ label }) => `“${label}”`));

export function List<Row>(p: ListOf<Row>) {
  const { values, set } = useFilters();
  const { data: session } = useSession();
  const query = asked(p, values);
  const missing = p.filters.filter(({ name }) => p.needs?.includes(name) === true && (values[name] ?? '') === '');
  const isAsked = missing.length === 0;
  const found = useQuery({
    queryKey: ['list', p.path, query],
    queryFn: () => read<Record<string, unknown>>(p.path, query, p.isReport === true ? REPORT_MS : undefined),
    ...(p.isReport === true
      ? { staleTime: Number.POSITIVE_INFINITY, refetchOnWindowFocus: false }
      : { refetchInterval: every(EVERY_MS) }),
    placeholderData: keepPreviousData,
    enabled: isAsked,
  });
  const rows = found.error === null ? (found.data?.[p.list] as readonly Row[] | undefined) : [];
  const next = (found.data?.next ?? null) as string | null;
  const { [p.cursor ?? 'below']: begin, row: _, ...filters } = values;
  return (
    <ListView<Row>
      of={isAsked ? p : { ...p, empty: `Fill in ${listed(missing)} to run this report.` }}
      rows={isAsked ? rows : []}
      error={found.error}
      filters={p.filters.length === 0 || p.cursor === undefined ? p.filters : [...p.filters, ROWS]}
      buttons={
        <>
          {isAsked && p.hasNoCsv !== true && <Csv href={pathWith(p.path, { ...query, format: 'csv' })} />}
          {p.buttons}
        </>
      }
      views={session && p.filters.length > 0 && <Views of={p.path} operator={session.name} values={filters} />}
      above={p.above?.(found.data)}
      pager={
        <div className="row pager">
          {begin !== undefined && (
            <button type="button" onClick={() => set(filters)}>
              {p.cursor === 'after' ? 'First page' : 'Newest'}
            </button>
          )}
          {next !== null && p.cursor !== undefined && (
            <button type="button" onClick={() => set({ ...filters, [p.cursor ?? 'below']: next })}>
              {p.cursor === 'after' ? 'Next page' : 'Older'}
            </button>
          )}
          {rows !== undefined && rows.length > 0 && isAsked && (
            <span className="muted">
              {counted(rows.length, 'row')}
              {next !== null && ', and more'}
            </span>
          )}
        </div>
      }
    />
  );
}

/**
 * A list: filters in the URL, rows page by page, the same rows as CSV, and named views. Details of a row beyond its columns open
 * beside the list (`row` of the URL), if it has no page of its own.
 */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { pathWith, read } from './api.ts';
import { type Filter, Filters, useFilters, type Values } from './filters.tsx';
import { counted } from './format.ts';
import { every } from './live.ts';
import { useSession } from './shell.tsx';
import { type Column, Csv, Dialog, Failure, Table } from './ui.tsx';
import { Views } from './views.tsx';

const EVERY_MS = 10_000;
/** The server times out for a trial balance of an instant after ninety seconds. */
const REPORT_MS = 100_000;
const ROWS: Filter = { name: 'limit', label: 'Rows', choices: ['100', '200'], all: '50' };

export interface ListOf<Row> {
  readonly title: string;
  readonly says?: ReactNode;
  /** Of the operator interface, and the name of the rows in its answer. */
  readonly path: string;
  readonly list: string;
  readonly filters: readonly Filter[];
  /** The field with the start of a page; newest first is `below`. None if the list is one page. */
  readonly cursor?: 'below' | 'after' | undefined;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly empty: string;
  /** The query of the filters in the URL, if the two differ. */
  readonly toQuery?: (values: Values) => Values;
  /** After the button for CSV. */
  readonly buttons?: ReactNode;
  /** Above the rows. */
  readonly above?: (answer: Readonly<Record<string, unknown>> | undefined) => ReactNode;
  /** The panel for the row that the URL names. */
  readonly detail?: (row: Row) => ReactNode;
  /** Lists of a page that has another heading. */
  readonly isPart?: boolean;
  /** The server has no CSV of it. */
  readonly hasNoCsv?: boolean;
  /** It may take long to compute: it is requested once, and again when the page is reloaded. */
  readonly isReport?: boolean;
  /** Nothing is asked without these filters. */
  readonly needs?: readonly string[];
}

/** The link of a row that opens beside its list. */
export const RowLink = ({ row, children }: { row: string; children: ReactNode }) => (
  <Link to="." search={(values: object) => ({ ...values, row })} resetScroll={false} data-row>
    {children}
  </Link>
);

const asked = <Row,>({ filters, cursor, toQuery = (values) => values }: ListOf<Row>, values: Values): Values => {
  const names = [...filters.map(({ name }) => name), ...(cursor === undefined ? [] : [cursor, ROWS.name])];
  return toQuery(Object.fromEntries(names.map((name) => [name, values[name]])));
};

export function List<Row>(p: ListOf<Row>) {
  const { values, set } = useFilters();
  const { data: session } = useSession();
  const query = asked(p, values);
  const isAsked = (p.needs ?? []).every((name) => (values[name] ?? '') !== '');
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
  const { [p.cursor ?? 'below']: begin, row: opened, ...filters } = values;
  const detail = p.detail && opened !== undefined ? rows?.find((one) => p.keyOf(one) === opened) : undefined;
  const Heading = p.isPart === true ? 'h2' : 'h1';
  return (
    <>
      <div className="title">
        <Heading>{p.title}</Heading>
        <div className="row">
          {isAsked && p.hasNoCsv !== true && <Csv href={pathWith(p.path, { ...query, format: 'csv' })} />}
          {p.buttons}
        </div>
      </div>
      {p.says !== undefined && <p className="muted">{p.says}</p>}
      {p.filters.length > 0 && <Filters filters={p.cursor === undefined ? p.filters : [...p.filters, ROWS]} />}
      {session && p.filters.length > 0 && <Views of={p.path} operator={session.name} values={filters} />}
      {found.error !== null && <Failure error={found.error} />}
      {p.above?.(found.data)}
      <Table
        label={p.title}
        columns={p.columns}
        rows={isAsked ? rows : []}
        keyOf={p.keyOf}
        empty={isAsked ? p.empty : 'Fill in the filters: without them nothing is asked.'}
      />
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
      {detail !== undefined && p.detail && (
        <Dialog
          label={`${p.title}, ${opened}`}
          onClose={() => set({ ...filters, [p.cursor ?? 'below']: begin }, 'stays')}
        >
          {p.detail(detail)}
          <div className="row">
            <button type="button" onClick={() => set({ ...filters, [p.cursor ?? 'below']: begin }, 'stays')}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

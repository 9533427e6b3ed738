/** A list of the partner API: filters in the address, and pages by cursor. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Filter, Filters, useFilters, type Values } from '../filters.tsx';
import { every } from '../live.ts';
import { type Column, Dialog, Failure, Table } from '../ui.tsx';
import { type Page, read } from './api.ts';

const EVERY_MS = 10_000;
const ROWS: Filter = { name: 'limit', label: 'Rows', choices: ['100'], all: '50' };

export interface ListOf<Row> {
  readonly title: string;
  readonly says?: ReactNode;
  readonly path: string;
  readonly filters?: readonly Filter[];
  /** Lists without pages have none. */
  readonly isPaged?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly empty: string;
  readonly buttons?: ReactNode;
  readonly above?: (rows: readonly Row[] | undefined) => ReactNode;
  /** The panel for the row that the URL names. */
  readonly detail?: (row: Row) => ReactNode;
  /** Lists of a page that has another heading. */
  readonly isPart?: boolean;
  /** The received rows that are shown. */
  readonly keeps?: (row: Row, values: Values) => boolean;
}

export function List<Row>(p: ListOf<Row>) {
  const { values, set } = useFilters();
  const filters = p.filters ?? [];
  const names = [...filters.map(({ name }) => name), ...(p.isPaged === true ? ['cursor', 'limit'] : [])];
  const query = p.keeps === undefined ? Object.fromEntries(names.map((name) => [name, values[name]])) : {};
  const found = useQuery({
    queryKey: ['list', p.path, query],
    queryFn: () => read<Page<Row>>(p.path, query),
    refetchInterval: every(EVERY_MS),
    placeholderData: keepPreviousData,
  });
  const all = found.error === null ? found.data?.data : [];
  const { keeps } = p;
  const rows = keeps === undefined ? all : all?.filter((row) => keeps(row, values));
  const next = found.data?.nextCursor ?? null;
  const { cursor, row: opened, ...kept } = values;
  const detail = p.detail && opened !== undefined ? rows?.find((one) => p.keyOf(one) === opened) : undefined;
  const Heading = p.isPart === true ? 'h2' : 'h1';
  return (
    <>
      <div className="title">
        <Heading>{p.title}</Heading>
        {p.buttons !== undefined && <div className="row">{p.buttons}</div>}
      </div>
      {p.says !== undefined && <p className="muted">{p.says}</p>}
      {filters.length > 0 && <Filters filters={p.isPaged === true ? [...filters, ROWS] : filters} />}
      {found.error !== null && <Failure error={found.error} />}
      {p.above?.(rows)}
      <Table label={p.title} columns={p.columns} rows={rows} keyOf={p.keyOf} empty={p.empty} />
      {p.isPaged === true && (cursor !== undefined || next !== null) && (
        <div className="row pager">
          {cursor !== undefined && (
            <button type="button" onClick={() => set(kept)}>
              To the first page
            </button>
          )}
          {next !== null && (
            <button type="button" onClick={() => set({ ...kept, cursor: next })}>
              Next page
            </button>
          )}
        </div>
      )}
      {detail !== undefined && (
        <Dialog label={p.title} onClose={() => set({ ...kept, cursor }, 'stays')}>
          {p.detail?.(detail)}
          <div className="row">
            <button type="button" onClick={() => set({ ...kept, cursor }, 'stays')}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

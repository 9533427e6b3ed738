/** A list of the partner API: filters in the address, and pages by cursor. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Filter, useFilters, type Values } from '../filters.tsx';
import { type Listed, ListView } from '../listview.tsx';
import { every } from '../live.ts';
import { type Page, read } from './api.ts';

const EVERY_MS = 10_000;
const ROWS: Filter = { name: 'limit', label: 'Rows', choices: ['100'], all: '50' };

export interface ListOf<Row> extends Listed<Row> {
  readonly filters?: readonly Filter[];
  /** Lists without pages have none. */
  readonly isPaged?: boolean;
  readonly above?: (rows: readonly Row[] | undefined) => ReactNode;
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
  const { cursor, row: _, ...kept } = values;
  return (
    <ListView<Row>
      of={p}
      rows={rows}
      error={found.error}
      filters={filters.length === 0 || p.isPaged !== true ? filters : [...filters, ROWS]}
      buttons={p.buttons}
      above={p.above?.(rows)}
      pager={
        p.isPaged === true &&
        (cursor !== undefined || next !== null) && (
          <div className="row pager">
            {cursor !== undefined && (
              <button type="button" onClick={() => set(kept)}>
                First page
              </button>
            )}
            {next !== null && (
              <button type="button" onClick={() => set({ ...kept, cursor: next })}>
                Next page
              </button>
            )}
          </div>
        )
      }
    />
  );
}

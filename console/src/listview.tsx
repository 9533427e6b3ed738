/**
 * A list as both consoles draw it: heading, filters, rows, the buttons to its other pages, and the panel of the row that the URL
 * names. Each console's list.tsx defines the request and the paging.
 */
import type { ReactNode } from 'react';
import { type Filter, Filters, useFilters } from './filters.tsx';
import { type Column, Dialog, Failure, Table } from './ui.tsx';

/** What both consoles say about a list. */
export interface Listed<Row> {
  readonly title: string;
  readonly says?: ReactNode;
  readonly path: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly empty: string;
  readonly buttons?: ReactNode;
  /** The panel for the row that the URL names. */
  readonly detail?: (row: Row) => ReactNode;
  /** Lists of a page that has another heading. */
  readonly isPart?: boolean;
}

/** @param views below the filters. @param pager the buttons to other pages */
export function ListView<Row>(p: {
  of: Listed<Row>;
  rows: readonly Row[] | undefined;
  error: Error | null;
  filters: readonly Filter[];
  buttons?: ReactNode;
  views?: ReactNode;
  above?: ReactNode;
  pager?: ReactNode;
}) {
  const { of, rows } = p;
  const { values, set } = useFilters();
  const { row: named, ...others } = values;
  const opened = of.detail && named !== undefined ? rows?.find((one) => of.keyOf(one) === named) : undefined;
  const close = () => set(others, 'stays');
  const Heading = of.isPart === true ? 'h2' : 'h1';
  return (
    <>
      <div className="title">
        <Heading>{of.title}</Heading>
        <div className="row">{p.buttons}</div>
      </div>
      {of.says !== undefined && <p className="muted">{of.says}</p>}
      {p.filters.length > 0 && <Filters filters={p.filters} />}
      {p.views}
      {p.error !== null && <Failure error={p.error} />}
      {p.above}
      <Table label={of.title} columns={of.columns} rows={rows} keyOf={of.keyOf} empty={of.empty} />
      {p.pager}
      {opened !== undefined && of.detail !== undefined && (
        <Dialog label={`${of.title}, ${named}`} onClose={close}>
          {of.detail(opened)}
          <div className="row">
            <button type="button" onClick={close}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

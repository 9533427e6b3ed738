/** Parts that every page uses: amounts, times, ids, states, tables and errors. */
import { Link } from '@tanstack/react-router';
import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual';
import { Fragment, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { ApiError } from './api.ts';
import { useCopy } from './copied.ts';
import { age, dueIn, grouped, local, shortened, utc } from './format.ts';
import { sayPasskey } from './webauthn.ts';

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'plain';

/** Only completed, successful states are green: money under way is never shown as done. */
const TONES: Readonly<Record<string, Tone>> = {
  ...{ settled: 'ok', refunded: 'ok', confirmed: 'ok', applied: 'ok', done: 'ok' },
  ...{ on_hold: 'warn', payout_held: 'warn', refund_held: 'warn', suspense: 'warn', awaiting_liquidity: 'warn' },
  ...{ frozen: 'bad', rejected: 'bad', failed: 'bad', lost: 'bad', unknown: 'bad', reversed: 'bad', overtaken: 'bad' },
  ...{ deposit_seen: 'info', deposit_confirmed: 'info', paying_out: 'info', refunding: 'info', submitted: 'info' },
  ...{ open: 'info', seen: 'info', created: 'info' },
  ...{ true_hit: 'bad', verified: 'ok', in_review: 'info', refused: 'bad' },
};
export const toneOf = (state: string): Tone => TONES[state] ?? 'plain';

export const State = ({ state, tone = toneOf(state) }: { state: string; tone?: Tone }) => (
  <span className={`badge is-${tone}`}>{state.replaceAll('_', ' ')}</span>
);

export const Amount = ({ units, asset }: { units: string | null | undefined; asset: string }) =>
  units === null || units === undefined ? (
    <span className="muted">none</span>
  ) : (
    <span className="amount">
      {grouped(units)} <span className="asset">{asset}</span>
    </span>
  );

export const Time = ({ at, isAge = false }: { at: string | null | undefined; isAge?: boolean }) =>
  at === null || at === undefined ? (
    <span className="muted">not yet</span>
  ) : (
    <time className="time nowrap" dateTime={at} title={isAge ? `${local(at)}, ${utc(at)}` : utc(at)}>
      {isAge ? age(at) : local(at)}
    </time>
  );

/** Due time; after it the case is highlighted. */
export const Due = ({ at }: { at: string }) => {
  const isLate = Date.parse(at) < Date.now();
  return (
    <time className={`nowrap ${isLate ? 'is-late' : ''}`} dateTime={at} title={`${local(at)}, ${utc(at)}`}>
      {dueIn(at)}
    </time>
  );
};

/** An id or a hash, whole in its title and on the clipboard. */
export function Id({ text, children }: { text: string; children?: ReactNode }) {
  const { isCopied, copy, forget } = useCopy(text);
  return (
    <span className="copy">
      <span className="mono" title={text}>
        {children ?? shortened(text)}
      </span>
      <button type="button" aria-label={isCopied ? 'Copied' : `Copy ${shortened(text)}`} onClick={copy} onBlur={forget}>
        <svg viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth="1.5">
          {isCopied ? <path d="M3 8.5l3.2 3.2L13 5" /> : <path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" />}
        </svg>
      </button>
    </span>
  );
}

export const OrderLink = ({ id, isRow = false }: { id: string; isRow?: boolean }) => (
  <Link to="/orders/$order" params={{ order: id }} className="mono" {...(isRow ? { 'data-row': true } : {})}>
    {id}
  </Link>
);

export const CustomerLink = ({ id, isRow = false }: { id: string; isRow?: boolean }) => (
  <Link
    to="/customers/$customer"
    params={{ customer: id }}
    className="mono nowrap"
    {...(isRow ? { 'data-row': true } : {})}
  >
    {id}
  </Link>
);

export const HitLink = ({ id, isRow = false }: { id: string; isRow?: boolean }) => (
  <Link to="/screening/$hit" params={{ hit: id }} className="mono" {...(isRow ? { 'data-row': true } : {})}>
    {id}
  </Link>
);

const SUBJECT_PAGES = { deposit: '/deposits/$deposit', payout: '/payouts/$payout', case: '/cases/$case' } as const;

/** A subject such as `order:17`, as a link if it has a page; the case of a customer's hits is `sanctions:customer:…`. */
export function Subject({ text }: { text: string }) {
  const [, kind, id = ''] = /^(?:sanctions:)?(order|customer|sanctions_hit|deposit|payout|case):(.+)$/.exec(text) ?? [];
  const page = SUBJECT_PAGES[kind as keyof typeof SUBJECT_PAGES];
  if (page !== undefined)
    return (
      <span className="nowrap">
        {kind}{' '}
        <Link to={page} params={{ deposit: id, payout: id, case: id }} className="mono">
          {id}
        </Link>
      </span>
    );
  if (kind === undefined) return <span className="mono">{text}</span>;
  return (
    <span className="nowrap">
      {kind.replaceAll('_', ' ')}{' '}
      {kind === 'order' ? <OrderLink id={id} /> : kind === 'customer' ? <CustomerLink id={id} /> : <HitLink id={id} />}
    </span>
  );
}

export function Failure({ error }: { error: unknown }) {
  const isKnown = error instanceof ApiError;
  return (
    <div className="note is-bad" role="alert">
      {isKnown ? error.message : sayPasskey(error)}
      {isKnown &&
        Object.entries(error.fields)
          .filter(([, rule]) => !error.message.includes(rule))
          .map(([name, rule]) => (
            <div key={name}>
              <b>{name}</b> {rule}
            </div>
          ))}
    </div>
  );
}

export interface Column<Row> {
  readonly head: string;
  /** Null and undefined are shown as none. */
  readonly cell: (row: Row) => ReactNode;
  readonly className?: string;
}

/** Longer tables have only the rows that are on the screen, and those around them. */
const LONG = 60;
const ROW_PX = 34;
const AROUND = 15;

/** Paper has all rows. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    // Synchronously: the browser prints the present content when this returns.
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}

/** @param empty the text shown without rows */
export function Table<Row>(p: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[] | undefined;
  keyOf: (row: Row) => string;
  empty: string;
  foot?: ReactNode;
}) {
  const rows = p.rows ?? [];
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  const [focused, setFocused] = useState(-1);
  const isPrinting = usePrinting();
  const isLong = rows.length > LONG && !isPrinting;
  useLayoutEffect(() => {
    if (isLong && body.current !== null) setTop(body.current.getBoundingClientRect().top + window.scrollY);
  }, [isLong]);
  const virtual = useWindowVirtualizer({
    count: isLong ? rows.length : 0,
    estimateSize: () => ROW_PX,
    overscan: AROUND,
    scrollMargin: top,
    // The focused row stays: the keys continue from it.
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), ...(focused >= 0 && focused < rows.length ? [focused] : [])])].sort(
        (one, other) => one - other,
      ),
  });
  const shown = isLong
    ? virtual.getVirtualItems().map(({ index, start, end }) => ({ index, start: start - top, end: end - top }))
    : rows.map((_, index) => ({ index, start: 0, end: 0 }));
  const filler = (key: string, height: number) =>
    isLong && height > 0 ? (
      <tr key={key} aria-hidden="true" className="filler">
        <td colSpan={p.columns.length} style={{ height }} />
      </tr>
    ) : null;
  return (
    <section className="scroll" tabIndex={0} aria-label={p.label}>
      <table className="rows" aria-rowcount={isLong ? rows.length + 1 : undefined}>
        <thead>
          <tr aria-rowindex={isLong ? 1 : undefined}>
            {p.columns.map(({ head, className }) => (
              <th key={head} scope="col" className={className}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onFocus={({ target }) => setFocused(Number(target.closest('tr')?.dataset.index ?? -1))}>
          {rows.length === 0 && (
            <tr>
              <td colSpan={p.columns.length} className="muted">
                {p.rows === undefined ? 'Loading' : p.empty}
              </td>
            </tr>
          )}
          {shown.map(({ index, start }, at) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <Fragment key={p.keyOf(row)}>
                {filler(`before ${index}`, start - (shown[at - 1]?.end ?? 0))}
                <tr
                  data-index={index}
                  ref={isLong ? virtual.measureElement : undefined}
                  aria-rowindex={isLong ? index + 2 : undefined}
                >
                  {p.columns.map(({ head, cell, className }) => (
                    <td key={head} className={className} data-head={head}>
                      {cell(row) ?? <span className="muted">none</span>}
                    </td>
                  ))}
                </tr>
              </Fragment>
            );
          })}
          {filler('after', virtual.getTotalSize() - (shown.at(-1)?.end ?? 0))}
        </tbody>
        {p.foot}
      </table>
    </section>
  );
}

/** A line of a list of facts. */
export const Fact = ({ name, children }: { name: ReactNode; children: ReactNode }): ReactNode => (
  <div className="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Any data of the server, as names and values. */
export function Facts({ of }: { of: unknown }): ReactNode {
  if (of === null || of === undefined || of === '') return <span className="muted">none</span>;
  if (typeof of === 'object' && Object.keys(of).length === 0) return <span className="muted">none</span>;
  if (Array.isArray(of))
    return (
      <ul className="plain">
        {of.map((one, at) => (
          // Only their order distinguishes these.
          <li key={String(at)}>
            <Facts of={one} />
          </li>
        ))}
      </ul>
    );
  if (typeof of !== 'object') return <span>{String(of)}</span>;
  return (
    <dl className="facts">
      {Object.entries(of).map(([name, value]) => (
        <Fact key={name} name={name}>
          <Facts of={value} />
        </Fact>
      ))}
    </dl>
  );
}

export function Dialog({ label, onClose, children }: { label: string; onClose: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (ref.current?.open === false) ref.current.showModal();
  }, []);
  return (
    <dialog ref={ref} aria-label={label} onClose={onClose}>
      <div className="inside">{children}</div>
    </dialog>
  );
}

/** The link to the same rows as CSV. */
export const Csv = ({ href, label = 'CSV' }: { href: string; label?: string }) => (
  <a className="button" href={href} download>
    {label}
  </a>
);

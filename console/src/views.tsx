/**
 * Views of a list that an operator has named: the filters of the URL, kept on the server for this operator alone. Those that an
 * earlier version kept in this browser are offered beside them until they are moved or forgotten.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { read, send } from './api.ts';
import { useAttempt } from './attempt.ts';
import type { Values } from './filters.tsx';
import { SEARCH } from './mount.tsx';
import { Failure } from './ui.tsx';

const LONGEST_NAME = 60;
/** Lists are opened one after another; another browser's views may be a minute late. */
const FRESH_MS = 60_000;

interface View {
  readonly id: string;
  /** The list. */
  readonly page: string;
  readonly name: string;
  /** The filters, as in the URL. */
  readonly search: string;
}
interface OldView {
  readonly name: string;
  readonly filters: Record<string, string>;
}

const searchOf = (values: Values): string => SEARCH.stringifySearch(values).slice(1);

export function Views({ of: page, operator, values }: { of: string; operator: string; values: Values }) {
  const client = useQueryClient();
  const { error, isBusy, attempt } = useAttempt();
  const [isNaming, setNaming] = useState(false);
  const queryKey = ['views', operator];
  /** Where an earlier version kept them. */
  const earlier = `views ${operator} ${page}`;
  const found = useQuery({
    queryKey,
    queryFn: () => read<{ views: readonly View[] }>('/session/views'),
    staleTime: FRESH_MS,
  });
  const views = found.data?.views.filter((one) => one.page === page) ?? [];
  const search = searchOf(values);
  const isNew = found.data !== undefined && search !== '' && !views.some((one) => one.search === search);
  const change = (run: () => Promise<unknown>) =>
    attempt(async () => {
      try {
        await run();
      } finally {
        await client.invalidateQueries({ queryKey });
      }
    });
  const save = (name: string, filters: string) => send('POST', '/session/views', { page, name, search: filters });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    if (name === '') return;
    void change(async () => {
      await save(name, search);
      setNaming(false);
    });
  };
  return (
    <>
      {(views.length > 0 || isNew) && (
        <div className="row views">
          {views.length > 0 && <span className="muted">Your views:</span>}
          {views.map(({ id, name, search: filters }) => (
            <Chip key={id} name={name} filters={SEARCH.parseSearch(filters)}>
              <button
                type="button"
                aria-label={`Delete the view ${name}`}
                disabled={isBusy}
                onClick={() => void change(() => send('DELETE', `/session/views/${id}`))}
              >
                ×
              </button>
            </Chip>
          ))}
          {isNew && isNaming && (
            <form className="row" onSubmit={submit}>
              <input
                name="name"
                aria-label="Name of the view"
                maxLength={LONGEST_NAME}
                required
                autoFocus
                autoComplete="off"
              />
              <button type="submit" disabled={isBusy}>
                Save
              </button>
              <button type="button" className="bare" onClick={() => setNaming(false)}>
                Cancel
              </button>
            </form>
          )}
          {isNew && !isNaming && (
            <button type="button" className="bare" onClick={() => setNaming(true)}>
              Save this view
            </button>
          )}
        </div>
      )}
      {found.data !== undefined && (
        <Earlier key={earlier} of={earlier} views={views} isBusy={isBusy} save={save} change={change} />
      )}
      {(error ?? found.error ?? undefined) !== undefined && <Failure error={error ?? found.error} />}
    </>
  );
}

const Chip = (p: { name: string; filters: Record<string, string>; children?: ReactNode }) => (
  <span className="chip">
    <Link to="." search={p.filters} activeOptions={{ exact: true, includeSearch: true }}>
      {p.name}
    </Link>
    {p.children}
  </span>
);

/** Views of an earlier version of the console, in this browser only. */
function Earlier(p: {
  of: string;
  views: readonly View[];
  isBusy: boolean;
  save: (name: string, search: string) => Promise<unknown>;
  change: (run: () => Promise<unknown>) => Promise<void>;
}) {
  const [left, setLeft] = useState(() => stored(p.of));
  const leave = (next: readonly OldView[]) => {
    if (next.length === 0) localStorage.removeItem(p.of);
    else localStorage.setItem(p.of, JSON.stringify(next));
    setLeft(next);
  };
  const move = () =>
    p.change(async () => {
      const kept = [...p.views];
      for (const [at, { name, filters }] of left.entries()) {
        const search = searchOf(filters);
        if (!kept.some((one) => one.search === search && one.name === name)) {
          const free = freeName(name, kept);
          await p.save(free, search);
          kept.push({ id: '', page: '', name: free, search });
        }
        // One by one: what was moved is not offered again if a later one fails.
        leave(left.slice(at + 1));
      }
    });
  if (left.length === 0) return null;
  return (
    <section className="note row views" aria-label="Views of this browser">
      <span>Saved in this browser only:</span>
      {left.map(({ name, filters }) => (
        <Chip key={name} name={name} filters={filters} />
      ))}
      <span className="row">
        <button type="button" disabled={p.isBusy} onClick={() => void move()}>
          Keep in all browsers
        </button>
        <button type="button" className="bare" disabled={p.isBusy} onClick={() => leave([])}>
          Forget
        </button>
      </span>
    </section>
  );
}

/** A name that none of the views has: theirs must not be replaced by one that happens to be called the same. */
function freeName(name: string, views: readonly View[]): string {
  for (let n = 1; ; n += 1) {
    const tried = n === 1 ? name : `${name.slice(0, LONGEST_NAME - 4).trim()} ${n}`;
    if (!views.some((one) => one.name === tried)) return tried;
  }
}

/** What is in the browser may have been changed by anybody. */
function stored(key: string): readonly OldView[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
}

const isView = (one: unknown): one is OldView => {
  const { name, filters } = (one ?? {}) as Partial<Record<keyof OldView, unknown>>;
  return (
    typeof name === 'string' &&
    name !== '' &&
    typeof filters === 'object' &&
    filters !== null &&
    searchOf(filters as Values) !== ''
  );
};

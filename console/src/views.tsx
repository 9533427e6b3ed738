/**
 * Views of a list that an operator has named: the filters of the URL, kept in this browser for this operator. They are no secret
 * and no state of the server; they are shared as links.
 */
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Values } from './filters.tsx';

const MOST_VIEWS = 20;

interface View {
  readonly name: string;
  readonly filters: Record<string, string>;
}

function stored(key: string): View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? (kept as View[]).filter(({ name, filters }) => name && filters) : [];
  } catch {
    return [];
  }
}

const given = (values: Values): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined));

export function Views({ of, operator, values }: { of: string; operator: string; values: Values }) {
  const key = `views ${operator} ${of}`;
  const [views, setViews] = useState(() => stored(key));
  const [isNaming, setNaming] = useState(false);
  const keep = (next: View[]) => {
    localStorage.setItem(key, JSON.stringify(next));
    setViews(next);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    if (name === '') return;
    const others = views.filter((one) => one.name !== name);
    keep([...others, { name, filters: given(values) }].slice(-MOST_VIEWS));
    setNaming(false);
  };
  const isFiltered = Object.keys(given(values)).length > 0;
  if (views.length === 0 && !isFiltered) return null;
  return (
    <div className="row views">
      {views.length > 0 && <span className="muted">Saved in this browser:</span>}
      {views.map(({ name, filters }) => (
        <span key={name} className="chip">
          <Link to="." search={filters} activeOptions={{ exact: true, includeSearch: true }}>
            {name}
          </Link>
          <button
            type="button"
            aria-label={`Forget the view ${name}`}
            onClick={() => keep(views.filter((one) => one.name !== name))}
          >
            ×
          </button>
        </span>
      ))}
      {isNaming ? (
        <form className="row" onSubmit={submit}>
          <input name="name" aria-label="Name of the view" maxLength={60} required autoFocus autoComplete="off" />
          <button type="submit">Save</button>
          <button type="button" className="bare" onClick={() => setNaming(false)}>
            Cancel
          </button>
        </form>
      ) : (
        isFiltered && (
          <button type="button" className="bare" onClick={() => setNaming(true)}>
            Save this view
          </button>
        )
      )}
    </div>
  );
}

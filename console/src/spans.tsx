/** Spans that reports are usually made of, as buttons: whole months and years in UTC, which is how books are kept. */
import { useFilters } from './filters.tsx';

const monthOf = (now: Date, back: number): string =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString();
const yearOf = (now: Date, back: number): string => new Date(Date.UTC(now.getUTCFullYear() - back, 0, 1)).toISOString();

/** By name: the first instant, and the first after it. */
export const spansAt = (now: Date): Readonly<Record<string, { from: string; until: string }>> => ({
  'This month': { from: monthOf(now, 0), until: monthOf(now, -1) },
  'Last month': { from: monthOf(now, 1), until: monthOf(now, 0) },
  'This year': { from: yearOf(now, 0), until: yearOf(now, -1) },
  'Last year': { from: yearOf(now, 1), until: yearOf(now, 0) },
});

/** @param shown the span of the page while the address has none */
export function Spans({ shown }: { shown?: { from: string; until: string } }) {
  const { values, set } = useFilters();
  const { from = shown?.from, until = shown?.until } = values;
  return (
    <div className="row" role="group" aria-label="Usual spans">
      {Object.entries(spansAt(new Date())).map(([name, span]) => (
        <button
          key={name}
          type="button"
          aria-pressed={from === span.from && until === span.until}
          onClick={() => set({ ...values, ...span })}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

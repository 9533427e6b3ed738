/** A page of the operators' handbook, and the section of it shown beside a case. */
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { read } from '../api.ts';
import { Markdown } from '../markdown.tsx';
import { type Section, sectionOf } from '../runbooks.ts';
import { Failure } from '../ui.tsx';

const usePage = (page: string) =>
  useQuery({
    queryKey: ['handbook', page],
    queryFn: () => read<{ text: string }>('/handbook', { page }),
    staleTime: Number.POSITIVE_INFINITY,
  });

export function Handbook() {
  const { page = 'README.md' } = useSearch({ strict: false }) as { page?: string };
  const found = usePage(page);
  return (
    <section className="panel">
      {found.error !== null && (
        <>
          <h1>Handbook</h1>
          <Failure error={found.error} />
        </>
      )}
      {found.isPending && <h1>Handbook</h1>}
      {found.data !== undefined && <Markdown text={found.data.text} page={page} top={1} />}
    </section>
  );
}

/** The steps for a case, shown beside it. */
export function Runbook({ section: { page, heading } }: { section: Section }) {
  const found = usePage(page);
  return (
    <section className="panel" aria-label="Runbook">
      <div className="title">
        <h2>{heading ?? 'Runbook'}</h2>
        <Link to="/handbook" search={{ page }}>
          Whole page
        </Link>
      </div>
      {found.error !== null && <Failure error={found.error} />}
      {found.data !== undefined && <Markdown text={sectionOf(found.data.text, heading)} page={page} top={3} />}
    </section>
  );
}

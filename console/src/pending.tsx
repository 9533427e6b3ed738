/** Proposals about a subject that wait for another operator's confirmation. */
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useOpenProposals } from './pages/home.tsx';

/** @param isAbout whether a proposal about this subject, such as `customer:8tvxR5aVmM_1`, belongs to the page */
export function Pending({ isAbout }: { isAbout: (subject: string) => boolean }) {
  const client = useQueryClient();
  const { data } = useOpenProposals();
  const waiting = data?.proposals.filter(({ subject }) => isAbout(subject));
  const ids = waiting?.map(({ id }) => id).join();
  const before = useRef<string | undefined>(undefined);
  // A decision may have changed the page's data: it is read again.
  useEffect(() => {
    if (ids === undefined) return;
    if (before.current !== undefined && before.current !== ids) void client.invalidateQueries();
    before.current = ids;
  }, [ids, client]);
  return waiting?.map(({ id, proposer, action, subject, reason }) => (
    <p key={id} className="note is-warn long">
      {proposer} proposed <b>{action}</b> of {subject}: {reason}. Another operator confirms{' '}
      <Link to="/proposals/$proposal" params={{ proposal: id }}>
        proposal {id}
      </Link>
      .
    </p>
  ));
}

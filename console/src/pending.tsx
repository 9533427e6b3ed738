/** What operators have proposed about something, and wait for another operator to confirm. */
import { Link } from '@tanstack/react-router';
import { useOpenProposals } from './pages/home.tsx';

/** @param isAbout whether a proposal about this subject, such as `customer:8tvxR5aVmM_1`, belongs to the page */
export function Pending({ isAbout }: { isAbout: (subject: string, action: string) => boolean }) {
  const proposals = useOpenProposals();
  const waiting = proposals.data?.proposals.filter(({ subject, action }) => isAbout(subject, action)) ?? [];
  return waiting.map(({ id, proposer, action, subject, reason }) => (
    <p key={id} className="note is-warn long">
      {proposer} proposed <b>{action}</b> of {subject}: {reason}. Another operator confirms{' '}
      <Link to="/proposals/$proposal" params={{ proposal: id }}>
        proposal {id}
      </Link>
      .
    </p>
  ));
}

/** Cells that all lists of cases have: the link to the case, and what it is about. */
import { Link } from '@tanstack/react-router';
import { OrderLink, Subject } from '../ui.tsx';

interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly subject: string;
  readonly orderId: string | null;
}

export const CASE_COLUMN = {
  head: 'Case',
  cell: ({ id, kind }: Listed) => (
    <Link to="/cases/$case" params={{ case: id }} data-row>
      {kind.replaceAll('_', ' ')}
    </Link>
  ),
};

export const ABOUT_COLUMN = {
  head: 'About',
  cell: ({ subject, orderId }: Listed) =>
    orderId === null ? (
      <Subject text={subject} />
    ) : (
      <span className="nowrap">
        order <OrderLink id={orderId} />
      </span>
    ),
};

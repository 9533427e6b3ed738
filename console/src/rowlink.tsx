/** The link of a row that opens beside its list. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export const RowLink = ({ row, children }: { row: string; children: ReactNode }) => (
  <Link to="." search={(values: object) => ({ ...values, row })} resetScroll={false} data-row>
    {children}
  </Link>
);

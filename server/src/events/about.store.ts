/** SQL of the events of one subject. */
import type { Tx } from '../base/db.ts';

export const eventsAbout = (tx: Tx, subject: string) =>
  tx.rows<{ type: string; seq: number; at: Date }>(
    'select type, subject_seq as seq, at from events where subject = $1 order by subject_seq limit 500',
    [subject],
  );

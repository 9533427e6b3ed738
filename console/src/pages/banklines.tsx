/** Lines of bank statements, as they were booked. Their texts and the other party's account stay encrypted. */
import { Link } from '@tanstack/react-router';
import { within } from '../filters.tsx';
import { List } from '../list.tsx';
import { OtherActions } from '../others.tsx';
import { Amount, type Column, Id, State, Time, type Tone } from '../ui.tsx';

export interface BankLine {
  readonly id: string;
  readonly rail: string;
  readonly line: string;
  readonly bookedAt: string;
  readonly direction: 'credit' | 'debit';
  readonly asset: string;
  readonly units: string;
  readonly chargeUnits: string;
  readonly meaning: string;
  readonly key: string | null;
  readonly foreignAt: string | null;
}

const MEANINGS = ['deposit', 'funding', 'return', 'payout', 'recall', 'unexplained'] as const;
const TONES: Readonly<Record<string, Tone>> = { unexplained: 'bad', recall: 'warn', return: 'warn' };
/** Of payouts and refunds; other keys have no page. */
const HAS_PAGE = /^[a-z]+_[0-9]+_[0-9]+$/;

export const BANK_LINE_COLUMNS: readonly Column<BankLine>[] = [
  { head: 'Booked', cell: ({ bookedAt }) => <Time at={bookedAt} /> },
  {
    head: 'Meaning',
    cell: ({ meaning, foreignAt }) => (
      <State state={foreignAt === null ? meaning : 'not ours'} tone={TONES[meaning] ?? 'plain'} />
    ),
  },
  { head: 'Direction', cell: ({ direction }) => (direction === 'credit' ? 'in' : 'out') },
  {
    head: 'Amount',
    cell: ({ units, chargeUnits, asset }) => (
      <>
        <Amount units={units} asset={asset} />
        {chargeUnits !== '0' && (
          <div className="muted">
            charge <Amount units={chargeUnits} asset={asset} />
          </div>
        )}
      </>
    ),
    className: 'number',
  },
  {
    head: 'Payout',
    cell: ({ key }) =>
      key === null ? (
        <span className="muted">none</span>
      ) : HAS_PAGE.test(key) ? (
        <Link to="/payouts/$payout" params={{ payout: key }} className="mono" data-row>
          {key}
        </Link>
      ) : (
        <span className="mono">{key}</span>
      ),
  },
  { head: 'Bank', cell: ({ rail }) => rail, className: 'nowrap' },
  { head: 'Line', cell: ({ line }) => <Id text={line} /> },
  {
    head: 'Actions',
    cell: ({ rail, line, direction, meaning, foreignAt }) =>
      direction === 'debit' && meaning === 'unexplained' && foreignAt === null ? (
        <OtherActions of="debit" known={{ debit: `${rail}:${line}` }} about={`${rail}:${line}`} isRow />
      ) : null,
  },
];

export const BankLines = () => (
  <List<BankLine>
    title="Bank lines"
    says="Lines of the banks' statements, and what each was booked as."
    path="/bank-lines"
    list="lines"
    cursor="below"
    filters={[
      { name: 'meaning', label: 'Meaning', choices: MEANINGS },
      { name: 'direction', label: 'Direction', choices: ['credit', 'debit'], names: { credit: 'in', debit: 'out' } },
      { name: 'rail', label: 'Bank', hint: 'bank.simulated' },
      { name: 'asset', label: 'Asset', hint: 'inr' },
      { name: 'min', label: 'At least' },
      { name: 'max', label: 'At most' },
      ...within('Booked'),
    ]}
    columns={BANK_LINE_COLUMNS}
    keyOf={({ id }) => id}
    empty="No line matches these filters."
  />
);

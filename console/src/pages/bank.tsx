/**
 * The desk of a bank without an API: payouts that wait for a file, files to close, download and withdraw, and statements to take
 * in, each previewed before any of it is booked.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { BANK_ACTIONS, type FormAction } from '../actions.ts';
import { ApiError, type Outcome, read, send } from '../api.ts';
import { useAttempt } from '../attempt.ts';
import { within } from '../filters.tsx';
import { ActionDialog, Came } from '../form.tsx';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { useMay } from '../shell.tsx';
import { Amount, type Column, Failure, Id, State, Table, Time } from '../ui.tsx';

interface Account {
  readonly asset: string;
  readonly currency: string;
  readonly bank: string;
  readonly payoutFile: string;
  readonly csvStatements: boolean;
}
interface Waiting {
  readonly key: string;
  readonly endToEnd: string;
  readonly asset: string;
  readonly units: string;
  readonly listedAt: string;
}
interface BankFile {
  readonly id: string;
  readonly asset: string;
  readonly format: string;
  readonly payouts: number | string;
  readonly units: string;
  readonly sha256: string;
  readonly closedAt: string;
  readonly closedBy: string;
  readonly withdrawnAt: string | null;
}
interface Import {
  readonly id: string;
  readonly asset: string;
  readonly format: string;
  readonly lines: number | string;
  readonly newLines: number | string;
  readonly importedAt: string;
  readonly importedBy: string;
  readonly sha256: string;
}

const WAITING: readonly Column<Waiting>[] = [
  { head: 'Payout', cell: ({ key }) => <span className="mono nowrap">{key}</span> },
  { head: 'Amount', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
  { head: 'Waits since', cell: ({ listedAt }) => <Time at={listedAt} /> },
  { head: 'Reference at the bank', cell: ({ endToEnd }) => <span className="mono">{endToEnd}</span> },
];
const IMPORTS: readonly Column<Import>[] = [
  { head: 'Statement', cell: ({ id }) => id },
  { head: 'Account', cell: ({ asset }) => asset },
  { head: 'Format', cell: ({ format }) => format },
  { head: 'New lines', cell: ({ newLines, lines }) => `${newLines} of ${lines}`, className: 'number' },
  { head: 'Taken', cell: ({ importedAt }) => <Time at={importedAt} /> },
  { head: 'By', cell: ({ importedBy }) => importedBy },
  { head: 'SHA-256', cell: ({ sha256 }) => <Id text={sha256} /> },
];

const useDesk = <T,>(path: string) =>
  useQuery({ queryKey: ['bank', path], queryFn: () => read<T>(`/bank/${path}`), refetchInterval: every(10_000) });

export function Bank() {
  const accounts = useDesk<{ rail: string; accounts: Account[] }>('accounts');
  if (accounts.error instanceof ApiError && accounts.error.status === 404)
    return (
      <>
        <h1>Bank desk</h1>
        <p className="note">This server has no manual bank: payouts and statements are exchanged automatically.</p>
      </>
    );
  return (
    <>
      <div className="title">
        <h1>Bank desk</h1>
        <span className="muted">
          {accounts.data?.rail}{' '}
          {accounts.data?.accounts.map(({ bank, currency }) => `${bank} (${currency})`).join(', ')}
        </span>
      </div>
      {accounts.error !== null && <Failure error={accounts.error} />}
      {accounts.data !== undefined && <Desk accounts={accounts.data.accounts} />}
    </>
  );
}

function Desk({ accounts }: { accounts: readonly Account[] }) {
  const may = useMay();
  const waiting = useDesk<{ payouts: Waiting[] }>('payouts');
  const files = useDesk<{ files: BankFile[] }>('files');
  const [chosen, setChosen] = useState<{ action: FormAction; given: Record<string, string>; about: string }>();
  const mayPay = may('treasury');
  const files_: readonly Column<BankFile>[] = [
    { head: 'File', cell: ({ id }) => <b>{id}</b> },
    { head: 'Payouts', cell: ({ payouts }) => payouts, className: 'number' },
    { head: 'Sum', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
    { head: 'Format', cell: ({ format }) => format, className: 'nowrap' },
    {
      head: 'Closed',
      cell: ({ closedAt, closedBy }) => (
        <span className="nowrap">
          {closedBy} <Time at={closedAt} />
        </span>
      ),
    },
    { head: 'SHA-256', cell: ({ sha256 }) => <Id text={sha256} /> },
    {
      head: 'Actions',
      cell: ({ id, withdrawnAt }) =>
        withdrawnAt === null ? (
          <span className="row nowrap">
            <button
              type="button"
              disabled={!mayPay}
              onClick={() => setChosen({ action: BANK_ACTIONS.download, given: { id }, about: `file ${id}` })}
            >
              Download
            </button>
            <button
              type="button"
              className="grave"
              disabled={!mayPay}
              onClick={() => setChosen({ action: BANK_ACTIONS.withdraw, given: { id }, about: `file ${id}` })}
            >
              Withdraw
            </button>
          </span>
        ) : (
          <State state="withdrawn" tone="warn" />
        ),
    },
  ];
  const error = waiting.error ?? files.error;
  return (
    <>
      {error !== null && <Failure error={error} />}
      <div className="title">
        <h2>Payouts that wait for a file</h2>
        <div className="row">
          {accounts.map(({ asset }) => (
            <button
              key={asset}
              type="button"
              disabled={!mayPay || waiting.data?.payouts.some((one) => one.asset === asset) !== true}
              onClick={() => setChosen({ action: BANK_ACTIONS.close, given: { asset }, about: asset })}
            >
              Close a file of {asset}
            </button>
          ))}
        </div>
      </div>
      {accounts
        .filter(({ asset }) => waiting.data?.payouts.some((one) => one.asset === asset))
        .map(({ asset }) => (
          <NextFile key={asset} asset={asset} />
        ))}
      <Table
        label="Payouts that wait for a file"
        columns={[
          ...WAITING,
          {
            head: 'Actions',
            cell: ({ key }) => <OtherActions of="payout" known={{ key }} about={key} isRow />,
          },
        ]}
        rows={waiting.data?.payouts}
        keyOf={({ key }) => key}
        empty="Nothing waits."
      />
      <h2>Files</h2>
      <p className="muted">
        A download is the handing out: it stands in the audit, and the file is uploaded to the bank once. A file that
        was not uploaded is withdrawn, and its payouts are rejected.
      </p>
      <Table
        label="Files"
        columns={files_}
        rows={files.data?.files}
        keyOf={({ id }) => id}
        empty="No file was closed."
      />
      <TakeIn accounts={accounts} />
      <List<Import>
        isPart
        title="Statements taken in"
        path="/bank/imports"
        list="imports"
        cursor="below"
        filters={[
          { name: 'asset', label: 'Account', choices: accounts.map(({ asset }) => asset) },
          { name: 'by', label: 'Taken by', hint: 'ada' },
          ...within('Taken'),
        ]}
        columns={IMPORTS}
        keyOf={({ id }) => id}
        empty="No statement was taken in, or none matches these filters."
      />
      <OtherActions of="desk" known={{}} title="After a restore" />
      {chosen !== undefined && <ActionDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}

interface Next {
  readonly payouts: number | string;
  readonly units: string;
  readonly leftOut: readonly { readonly key: string; readonly why: string }[];
}

/** The content of a file closed now, and the payouts it would leave out. */
function NextFile({ asset }: { asset: string }) {
  const found = useQuery({
    queryKey: ['bank', 'next', asset],
    queryFn: () => read<Next>('/bank/files/preview', { asset }),
    refetchInterval: every(30_000),
  });
  if (found.error !== null) return <Failure error={found.error} />;
  if (found.data === undefined) return null;
  const count = String(found.data.payouts);
  return (
    <p className="note">
      A file of {asset} closed now takes {count} {count === '1' ? 'payout' : 'payouts'},{' '}
      <Amount units={found.data.units} asset={asset} />.
      {found.data.leftOut.map(({ key, why }) => (
        <span key={key} className="line">
          Left out: <span className="mono">{key}</span>, {why}
        </span>
      ))}
    </p>
  );
}

interface StatementLine {
  readonly day: string;
  readonly direction: string;
  readonly units: string;
  readonly chargeUnits: string;
  readonly asset: string;
  readonly means: string;
  readonly payout?: string;
  readonly goesTo?: string;
  readonly orderState?: string;
  readonly orderAsks?: string;
  readonly why?: string | null;
  readonly reference: string;
}
interface Preview {
  readonly asset: string;
  readonly newLines: number | string;
  readonly creditUnits: string;
  readonly debitUnits: string;
  readonly needsReason: string | null;
  readonly outcome: string;
  readonly gaps: readonly unknown[];
  readonly lines: readonly StatementLine[];
}
const LINES: readonly Column<StatementLine>[] = [
  { head: 'Day', cell: ({ day }) => day, className: 'nowrap' },
  { head: 'Direction', cell: ({ direction }) => direction },
  { head: 'Amount', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
  { head: 'It is', cell: ({ means }) => means.replaceAll('_', ' '), className: 'nowrap' },
  {
    head: 'Goes to',
    cell: ({ payout, goesTo, why }) =>
      payout ?? goesTo ?? <span className="muted">{why?.replaceAll('_', ' ') ?? 'nothing of ours'}</span>,
  },
  {
    head: 'That order',
    cell: ({ orderState, orderAsks, asset }) =>
      orderState === undefined ? (
        <span className="muted">none</span>
      ) : (
        <span className="nowrap">
          <State state={orderState} /> asks <Amount units={orderAsks} asset={asset} />
        </span>
      ),
  },
  { head: 'Reference', cell: ({ reference }) => <span className="long">{reference}</span> },
];

/** A statement is previewed first. Taking it in sends the same file, byte by byte. */
function TakeIn({ accounts }: { accounts: readonly Account[] }) {
  const may = useMay();
  const client = useQueryClient();
  const [looked, setLooked] = useState<{ asset: string; file: File; preview: Preview }>();
  const [came, setCame] = useState<Outcome>();
  const { error, isBusy, attempt } = useAttempt();
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const file = form.get('file');
    const asset = String(form.get('asset'));
    if (!(file instanceof File) || file.size === 0) return;
    setCame(undefined);
    setLooked(undefined);
    void attempt(async () => {
      const preview = await send<Preview>('POST', '/bank/statements/preview', file, { query: { asset } });
      setLooked({ asset, file, preview });
    });
  };
  const take = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (looked === undefined) return;
    const reason = String(new FormData(event.currentTarget).get('reason')).trim();
    void attempt(async () => {
      try {
        setCame(
          await send<Outcome>('POST', '/bank/statements', looked.file, { query: { asset: looked.asset, reason } }),
        );
        setLooked(undefined);
      } finally {
        await client.invalidateQueries();
      }
    });
  };
  return (
    <section className="panel" aria-label="Take a statement in">
      <h2>Take a statement in</h2>
      <form className="filters" onSubmit={look}>
        <div className="field is-wide">
          <label htmlFor="account">Account</label>
          <select id="account" name="asset">
            {accounts.map(({ asset, bank }) => (
              <option key={asset} value={asset}>
                {asset}, {bank}
              </option>
            ))}
          </select>
        </div>
        <div className="field is-wide">
          <label htmlFor="statement">File of the bank (camt.053 or CSV)</label>
          <input id="statement" name="file" type="file" required onChange={() => setLooked(undefined)} />
        </div>
        <div className="row">
          <button type="submit" disabled={isBusy || !may('treasury')}>
            Look at it
          </button>
        </div>
      </form>
      {error !== undefined && <Failure error={error} />}
      {came !== undefined && <Came outcome={came} />}
      {looked !== undefined && (
        <>
          <p className="note">
            <b>Nothing is booked yet.</b> <span className="long">{looked.file.name}</span> has{' '}
            {String(looked.preview.newLines)} new lines: in{' '}
            <Amount units={looked.preview.creditUnits} asset={looked.asset} />, out{' '}
            <Amount units={looked.preview.debitUnits} asset={looked.asset} />.
            {looked.preview.gaps.length > 0 && (
              <span className="line">Days are missing: {looked.preview.gaps.join(', ')}</span>
            )}
            {looked.preview.needsReason !== null && <span className="line">{looked.preview.needsReason}</span>}
          </p>
          <Table
            label="New lines of the statement"
            columns={LINES}
            rows={looked.preview.lines}
            keyOf={(line) => String(looked.preview.lines.indexOf(line))}
            empty="It has no new line."
          />
          <form className="inside-form" onSubmit={take}>
            <div className="field">
              <label htmlFor="why">Reason</label>
              <input id="why" name="reason" required minLength={3} maxLength={500} autoComplete="off" />
            </div>
            <div className="row">
              <button type="submit" className="primary" disabled={isBusy}>
                Take it in
              </button>
              <button type="button" onClick={() => setLooked(undefined)}>
                Leave it
              </button>
            </div>
          </form>
        </>
      )}
    </section>
  );
}

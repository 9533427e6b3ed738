/**
 * The desk of a bank without an API: payouts that wait for a file, files to close, download and withdraw, and statements to
 * import, each previewed before any of it is booked.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type DragEvent, type FormEvent, useRef, useState } from 'react';
import { BANK_ACTIONS, type FormAction } from '../actions.ts';
import { ApiError, type Outcome, read, send } from '../api.ts';
import { useAttempt } from '../attempt.ts';
import { within } from '../filters.tsx';
import { ActionDialog, Came } from '../form.tsx';
import { counted } from '../format.ts';
import { List } from '../list.tsx';
import { every } from '../live.ts';
import { OtherActions } from '../others.tsx';
import { useRules } from '../rules.ts';
import { useMay, useSession } from '../shell.tsx';
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
  { head: 'Imported', cell: ({ importedAt }) => <Time at={importedAt} /> },
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
  const [chosen, setChosen] = useState<Chosen>();
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
      cell: (file) => <FileActions file={file} choose={setChosen} />,
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
        empty="No payout waits."
      />
      <h2>Files</h2>
      <p className="muted">
        Each download is recorded in the audit. Upload a file to the bank once. If you did not upload it, withdraw it:
        its payouts are then rejected.
      </p>
      <Table
        label="Files"
        columns={files_}
        rows={files.data?.files}
        keyOf={({ id }) => id}
        empty="No file has been closed yet."
      />
      <TakeIn accounts={accounts} />
      <List<Import>
        isPart
        title="Imported statements"
        path="/bank/imports"
        list="imports"
        cursor="below"
        filters={[
          { name: 'asset', label: 'Account', choices: accounts.map(({ asset }) => asset) },
          { name: 'by', label: 'Imported by', hint: 'ada' },
          ...within('Imported'),
        ]}
        columns={IMPORTS}
        keyOf={({ id }) => id}
        empty="No statement has been imported yet, or none matches these filters."
      />
      <OtherActions of="desk" known={{}} title="After a restore" />
      {chosen !== undefined && <ActionDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </>
  );
}

interface Chosen {
  readonly action: FormAction;
  readonly given: Record<string, string>;
  readonly about: string;
}

function FileActions({ file, choose }: { file: BankFile; choose: (chosen: Chosen) => void }) {
  const may = useMay();
  const { id, withdrawnAt } = file;
  const button = (action: FormAction, isGrave = false) => (
    <button
      type="button"
      className={isGrave ? 'grave' : undefined}
      disabled={!may(action.right)}
      onClick={() => choose({ action, given: { id }, about: `file ${id}` })}
    >
      {action.label}
    </button>
  );
  return (
    <span className="row nowrap">
      {withdrawnAt === null ? (
        <>
          {button(BANK_ACTIONS.download)}
          {button(BANK_ACTIONS.withdraw, true)}
        </>
      ) : (
        <State state="withdrawn" tone="warn" />
      )}
      {/* Also for a withdrawn file: it may have been uploaded nevertheless. */}
      {button(BANK_ACTIONS.settle)}
    </span>
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
  { head: 'Direction', cell: ({ direction }) => (direction === 'credit' ? 'in' : 'out') },
  { head: 'Amount', cell: ({ units, asset }) => <Amount units={units} asset={asset} />, className: 'number' },
  { head: 'Meaning', cell: ({ means }) => means.replaceAll('_', ' '), className: 'nowrap' },
  {
    head: 'Goes to',
    cell: ({ payout, goesTo, why }) =>
      payout ?? goesTo ?? <span className="muted">{why?.replaceAll('_', ' ') ?? 'no payout or order of ours'}</span>,
  },
  {
    head: 'Order',
    cell: ({ orderState, orderAsks, asset }) =>
      orderState === undefined ? (
        <span className="muted">none</span>
      ) : (
        <span className="nowrap">
          <State state={orderState} /> expects <Amount units={orderAsks} asset={asset} />
        </span>
      ),
  },
  { head: 'Reference', cell: ({ reference }) => <span className="long">{reference}</span> },
];

/**
 * A statement is dropped on the form or chosen in its field, and is previewed first: a dropped file at once. Importing it sends
 * the same file, byte by byte.
 */
function TakeIn({ accounts }: { accounts: readonly Account[] }) {
  const may = useMay();
  const { data: session } = useSession();
  const { data: rules } = useRules();
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [looked, setLooked] = useState<Looked>();
  const [came, setCame] = useState<Outcome>();
  const [isOver, setOver] = useState(false);
  const { error, isBusy, attempt } = useAttempt();
  // Somebody of a role that a rule names confirms a statement by its file; the server knows whether that rule decides.
  const isNamed = rules?.rules.some(({ roles }) => roles.includes(session?.role ?? '')) ?? false;
  const mayTake = may('treasury') || isNamed;
  const forget = () => {
    setCame(undefined);
    setLooked(undefined);
  };
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const file = given.get('file');
    const asset = String(given.get('asset'));
    if (!(file instanceof File) || isBusy || !mayTake) return;
    forget();
    void attempt(async () => {
      if (file.size === 0) throw new Error(`${file.name} is empty: there is nothing to import.`);
      const preview = await send<Preview>('POST', '/bank/statements/preview', file, { query: { asset } });
      setLooked({ asset, file, preview });
    });
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const { files } = event.dataTransfer;
    if (picker.current === null || files.length === 0) return;
    forget();
    if (files.length > 1) {
      picker.current.value = '';
      void attempt(() => Promise.reject(new Error('Drop one file: each is previewed and imported by itself.')));
      return;
    }
    picker.current.files = files;
    form.current?.requestSubmit();
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
        if (picker.current !== null) picker.current.value = '';
      } finally {
        await client.invalidateQueries();
      }
    });
  };
  return (
    <section className="panel" aria-label="Import a statement">
      <h2>Import a statement</h2>
      <form
        ref={form}
        className={isOver ? 'inside-form drop is-over' : 'inside-form drop'}
        aria-label="Statement"
        onSubmit={look}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <div className="fields is-many">
          <div className="field">
            <label htmlFor="account">Account</label>
            <select id="account" name="asset" onChange={() => setLooked(undefined)}>
              {accounts.map(({ asset, bank }) => (
                <option key={asset} value={asset}>
                  {asset}, {bank}
                </option>
              ))}
            </select>
          </div>
          <div className="field">
            <label htmlFor="statement">File of the bank (camt.053 or CSV)</label>
            <input
              ref={picker}
              id="statement"
              name="file"
              type="file"
              required
              aria-describedby="statement-hint"
              onChange={forget}
            />
            <span id="statement-hint" className="hint">
              Drop it here or choose it. You see a preview first; nothing is booked until you import it.
            </span>
          </div>
        </div>
        <div className="row">
          <button type="submit" disabled={isBusy || !mayTake}>
            {isBusy && looked === undefined ? 'Reading' : 'Preview'}
          </button>
          {!mayTake && <span className="muted">Your role may not import statements.</span>}
        </div>
      </form>
      {error !== undefined && <Failure error={error} />}
      {came !== undefined && <Came outcome={came} />}
      {looked !== undefined && (
        <Previewed of={looked} isBusy={isBusy} take={take} onCancel={() => setLooked(undefined)} />
      )}
    </section>
  );
}

interface Looked {
  readonly asset: string;
  readonly file: File;
  readonly preview: Preview;
}

/** What the file would book, and the form that books it; a file that was imported before has neither. */
function Previewed(p: {
  of: Looked;
  isBusy: boolean;
  take: (event: FormEvent<HTMLFormElement>) => void;
  onCancel: () => void;
}) {
  const { asset, file, preview } = p.of;
  if (preview.outcome === 'known')
    return (
      <p className="note is-warn" role="alert">
        <b>This file was imported before.</b> <span className="long">{file.name}</span> is the same, byte by byte: there
        is nothing to book. If you expected new lines, ask the bank for the file of the next day.
      </p>
    );
  return (
    <>
      <p className="note" role="status">
        <b>Nothing is booked yet.</b> <span className="long">{file.name}</span> has{' '}
        {counted(Number(preview.newLines), 'new line')}: in <Amount units={preview.creditUnits} asset={asset} />, out{' '}
        <Amount units={preview.debitUnits} asset={asset} />.
        {preview.gaps.length > 0 && <span className="line">Days are missing: {preview.gaps.join(', ')}</span>}
        {preview.needsReason !== null && <span className="line">{preview.needsReason}</span>}
      </p>
      <Table
        label="New lines of the statement"
        columns={LINES}
        rows={preview.lines}
        keyOf={(line) => String(preview.lines.indexOf(line))}
        empty="Every line of it was imported before."
      />
      <form className="inside-form" onSubmit={p.take}>
        <div className="field">
          <label htmlFor="why">Reason</label>
          <input id="why" name="reason" required minLength={3} maxLength={500} autoComplete="off" />
        </div>
        <div className="row">
          <button type="submit" className="primary" disabled={p.isBusy}>
            Import it
          </button>
          <button type="button" onClick={p.onCancel}>
            Cancel
          </button>
        </div>
      </form>
    </>
  );
}

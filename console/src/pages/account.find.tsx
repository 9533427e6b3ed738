/** Accounts by their full number. It is sent in the body of a request, so it is in no address and no log. */
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { type Outcome, send } from '../api.ts';
import { useAttempt } from '../attempt.ts';
import { useMay } from '../shell.tsx';
import { type Column, CustomerLink, Failure, OrderLink, Table, Time } from '../ui.tsx';
import { PartnerLink } from './partners.tsx';

interface Account {
  readonly fiatAccountId: string;
  readonly partnerId: string | null;
  readonly customerId: string | null;
  readonly senderOf: string | null;
  readonly fiat: string;
  readonly hint: string;
  readonly createdAt: string;
  readonly orders: readonly string[];
}

const COLUMNS: readonly Column<Account>[] = [
  {
    head: 'Whose',
    cell: ({ customerId, senderOf }) =>
      customerId !== null ? (
        <CustomerLink id={customerId} isRow />
      ) : senderOf === null ? (
        <span className="muted">no one</span>
      ) : (
        <span className="nowrap">
          sender of deposit{' '}
          <Link to="/deposits/$deposit" params={{ deposit: senderOf }} className="mono" data-row>
            {senderOf}
          </Link>
        </span>
      ),
  },
  { head: 'Fiat', cell: ({ fiat }) => <b>{fiat}</b> },
  { head: 'Ends with', cell: ({ hint }) => <span className="mono">{hint}</span> },
  { head: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    head: 'Orders',
    cell: ({ orders }) =>
      orders.length === 0 ? (
        <span className="muted">none</span>
      ) : (
        <span className="row">
          {orders.map((id) => (
            <OrderLink key={id} id={id} />
          ))}
        </span>
      ),
  },
  {
    head: 'Partner',
    cell: ({ partnerId }) =>
      partnerId === null ? <span className="muted">none</span> : <PartnerLink id={partnerId} />,
    className: 'number',
  },
];

export function FindAccount() {
  const may = useMay();
  const [accounts, setAccounts] = useState<readonly Account[]>();
  const { error, isBusy, attempt } = useAttempt();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = { number: String(form.get('number')).trim(), reason: String(form.get('reason')).trim() };
    void attempt(async () => {
      setAccounts(undefined);
      const came = await send('POST', '/accounts/find', given);
      setAccounts((came as Outcome & { accounts: readonly Account[] }).accounts);
    });
  };
  return (
    <section className="panel" aria-label="Find an account">
      <h2>Find an account by its number</h2>
      <p className="muted">
        Type the full number here and not in the search above: here it appears in no URL and no log. The audit records
        that you searched, and why.
      </p>
      <form className="filters" onSubmit={submit}>
        <div className="field is-wide">
          <label htmlFor="account-number">Account number or IBAN</label>
          <input id="account-number" name="number" required maxLength={64} autoComplete="off" spellCheck={false} />
        </div>
        <div className="field is-wide">
          <label htmlFor="account-reason">Reason</label>
          <input id="account-reason" name="reason" required minLength={3} maxLength={500} autoComplete="off" />
        </div>
        <div className="row">
          <button type="submit" disabled={!may('personal') || isBusy}>
            Find
          </button>
        </div>
      </form>
      {error !== undefined && <Failure error={error} />}
      {accounts !== undefined && (
        <Table
          label="Accounts with this number"
          columns={COLUMNS}
          rows={accounts}
          keyOf={({ fiatAccountId }) => fiatAccountId}
          empty="No account has this number."
        />
      )}
    </section>
  );
}

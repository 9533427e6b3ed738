/** The team of a partner: who signs in to its console, and the links that admit the first members. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { type Outcome, read, send } from '../api.ts';
import { useAttempt } from '../attempt.ts';
import { Came, People } from '../form.tsx';
import { useMay } from '../shell.tsx';
import { type Column, Dialog, Failure, Table, Time } from '../ui.tsx';

interface Member {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly invitedBy: string;
  readonly invitedUntil: string | null;
  readonly joinedAt: string | null;
  readonly disabledAt: string | null;
  /** The operator who may collect a new link; null if there is none. */
  readonly linkFor: string | null;
  readonly linkUntil: string | null;
}
type Invited = Outcome & { readonly url?: string; readonly expiresAt?: string };

const ROLES = ['owner', 'developer', 'support', 'finance', 'viewer'];

interface Form {
  readonly label: string;
  readonly says: string;
  readonly path: string;
  readonly people: 'one' | 'rules';
  readonly isGrave?: boolean;
  /** Asks for a name and a role. */
  readonly isNew?: boolean;
}

export function Team({ partner }: { partner: string }) {
  const may = useMay();
  const [form, setForm] = useState<Form>();
  const path = `/partners/${partner}/team`;
  const found = useQuery({ queryKey: ['team', partner], queryFn: () => read<{ team: Member[] }>(path) });
  const columns: readonly Column<Member>[] = [
    { head: 'Name', cell: ({ name }) => name },
    { head: 'Role', cell: ({ role }) => role },
    { head: 'Let in by', cell: ({ invitedBy }) => invitedBy },
    { head: 'Joined', cell: ({ joinedAt }) => <Time at={joinedAt} /> },
    {
      head: 'Link works until',
      cell: ({ invitedUntil, linkFor, linkUntil }) =>
        invitedUntil !== null ? (
          <Time at={invitedUntil} />
        ) : linkFor !== null ? (
          <>
            {linkFor} collects it until <Time at={linkUntil} />
          </>
        ) : (
          <span className="muted">no link</span>
        ),
    },
    {
      head: 'Actions',
      cell: ({ id, name, disabledAt, linkFor }) =>
        disabledAt !== null ? (
          <span className="muted">removed</span>
        ) : (
          <div className="row">
            {linkFor !== null && (
              <button
                type="button"
                aria-label={`Show the link for ${name}`}
                disabled={!may('partners')}
                onClick={() =>
                  setForm({
                    ...{ label: `Show the link for ${name}`, path: `${path}/${id}/link`, people: 'one' },
                    says: `Shows the link that ${linkFor} requested and another operator confirmed: to ${linkFor}, once.`,
                  })
                }
              >
                Show the link
              </button>
            )}
            <button
              type="button"
              aria-label={`New link for ${name}`}
              disabled={!may('partners')}
              onClick={() =>
                setForm({
                  ...{ label: `New link for ${name}`, path: `${path}/${id}/invitation`, people: 'rules' },
                  says: 'Makes a link for a member who lost every passkey. When the link is used, earlier passkeys and sessions end. A member who has joined takes two operators at least.',
                })
              }
            >
              New link
            </button>
            <button
              type="button"
              className="grave"
              aria-label={`Remove ${name}`}
              disabled={!may('block')}
              onClick={() =>
                setForm({
                  ...{ label: `Remove ${name}`, path: `${path}/${id}/remove`, people: 'one', isGrave: true },
                  says: 'Removes the member permanently, even the last owner: passkeys, sessions and links end.',
                })
              }
            >
              Remove
            </button>
          </div>
        ),
    },
  ];
  return (
    <>
      <div className="title">
        <h2>Team</h2>
        <button
          type="button"
          disabled={!may('partners')}
          onClick={() =>
            setForm({
              ...{ label: 'Invite', path, people: 'rules', isNew: true },
              says: 'Makes a link that lets one person make a passkey for the console of this partner, within three days.',
            })
          }
        >
          Invite
        </button>
      </div>
      {found.error !== null && <Failure error={found.error} />}
      <Table
        label="Team"
        columns={columns}
        rows={found.data?.team}
        keyOf={({ id }) => id}
        empty="No member can sign in to its console."
      />
      {form !== undefined && <TeamForm of={form} onClose={() => setForm(undefined)} />}
    </>
  );
}

function TeamForm({ of, onClose }: { of: Form; onClose: () => void }) {
  const client = useQueryClient();
  const id = useId();
  const { error, isBusy, attempt } = useAttempt();
  const [answer, setAnswer] = useState<Invited>();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = Object.fromEntries(
      [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value)]),
    );
    return attempt(async () => {
      setAnswer(await send<Invited>('POST', of.path, typed));
      await client.invalidateQueries({ queryKey: ['team'] });
    });
  };
  return (
    <Dialog label={of.label} onClose={onClose}>
      <h2>{of.label}</h2>
      {answer !== undefined ? (
        <>
          <Came outcome={answer} />
          {answer.proposal !== undefined && (
            <p>After the confirmation you collect the link here with Show the link, within a day.</p>
          )}
          {answer.url !== undefined && (
            <>
              <p>
                Give this link only to the member. It works once, until <Time at={answer.expiresAt} />, and is shown now
                and never again.
              </p>
              <code className="secret">{answer.url}</code>
            </>
          )}
          <div className="row">
            <button type="button" className="primary" autoFocus onClick={onClose}>
              Close
            </button>
          </div>
        </>
      ) : (
        <form onSubmit={(event) => void submit(event)}>
          <p>
            {of.says} <People people={of.people} />
          </p>
          {error !== undefined && <Failure error={error} />}
          {of.isNew === true && (
            <>
              <div className="field">
                <label htmlFor={`${id}name`}>Short name</label>
                <input id={`${id}name`} name="name" required placeholder="ada" autoComplete="off" spellCheck={false} />
              </div>
              <div className="field">
                <label htmlFor={`${id}role`}>Role</label>
                <select id={`${id}role`} name="role" defaultValue="owner">
                  {ROLES.map((one) => (
                    <option key={one}>{one}</option>
                  ))}
                </select>
              </div>
            </>
          )}
          <div className="field">
            <label htmlFor={`${id}reason`}>Reason</label>
            <textarea id={`${id}reason`} name="reason" rows={2} maxLength={500} required />
          </div>
          <div className="row">
            <button type="submit" className={of.isGrave === true ? 'grave' : 'primary'} disabled={isBusy}>
              {of.label}
            </button>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

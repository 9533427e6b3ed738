/** The request log, one request of it, and the doctor that explains why a signature is not accepted. */
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { To } from '../../chrome.tsx';
import {
  type LoggedRequest,
  REQUEST_FILTERS,
  REQUESTED,
  RequestFacts,
  requestColumns,
  Status,
} from '../../requestlog.tsx';
import { type Column, Fact, Failure, Id, State } from '../../ui.tsx';
import { read, send } from '../api.ts';
import { List } from '../list.tsx';
import { RequestLink } from '../parts.tsx';
import { useMay } from '../shell.tsx';

interface Line extends LoggedRequest {
  readonly id: string;
  readonly key: string;
}
interface Detail extends Line {
  readonly idempotencyKey: string | null;
  readonly request: unknown;
  readonly reply: unknown;
}

const COLUMNS: readonly Column<Line>[] = [
  { head: 'Request', cell: ({ id }) => <RequestLink id={id} /> },
  ...requestColumns<Line>(({ key }) => key),
];

export const Requests = () => (
  <List<Line>
    title="Request log"
    says="Requests of your keys and your team in the last 30 days. Of the white-label API, bodies are not stored, and at most 600 requests per key and minute are listed."
    path="/request-log"
    isPaged
    filters={[...REQUEST_FILTERS, ...REQUESTED]}
    columns={COLUMNS}
    keyOf={({ id, at }) => `${id} ${at}`}
    empty="No request matches these filters."
  />
);

const Json = ({ of }: { of: unknown }) =>
  of === null ? (
    <p className="muted">Not stored: it is empty, too long, or personal.</p>
  ) : (
    <pre className="panel json">{JSON.stringify(of, null, 2)}</pre>
  );

export function RequestPage() {
  const { request: id } = useParams({ from: '/requests/$request' as never }) as { request: string };
  const may = useMay();
  const found = useQuery({
    queryKey: ['request', id],
    queryFn: () => read<Detail>(`/request-log/${encodeURIComponent(id)}`),
  });
  const { data } = found;
  return (
    <>
      <div className="row">
        <h1>Request {id}</h1>
        {data && <Status of={data.status} />}
      </div>
      {found.error !== null && <Failure error={found.error} />}
      {data && (
        <>
          {data.reason !== null && (
            <p className="note is-warn">
              Declined: <b>{data.reason}</b>
              {data.why !== null && `: ${data.why}`}.
              {data.protocol === 'v1' && (
                <>
                  {' '}
                  <a href={`/docs/errors/${data.reason}`}>What it means</a>
                </>
              )}
              {data.protocol === 'v1' && data.why !== null && may('develop') && (
                <>
                  {' '}
                  <To to="/doctor">Check a request with the doctor</To>
                </>
              )}
            </p>
          )}
          <section className="panel" aria-label="About">
            <RequestFacts
              of={data}
              by={data.key}
              idName="Your id of it"
              last={
                <Fact name="Idempotency-Key">
                  {data.idempotencyKey === null ? (
                    <span className="muted">none</span>
                  ) : (
                    <Id text={data.idempotencyKey} />
                  )}
                </Fact>
              }
            />
          </section>
          <h2>What was sent</h2>
          <Json of={data.request} />
          <h2>Reply</h2>
          <Json of={data.reply} />
        </>
      )}
    </>
  );
}

interface Finding {
  readonly part: string;
  readonly ok: boolean;
  readonly says: string;
}

/** Pasted headers: one per line, name and value separated by a colon. */
const headersIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .map((line) => /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line))
      .flatMap((found) => (found === null ? [] : [[found[1] ?? '', found[2] ?? '']])),
  );

export function Doctor() {
  const { error, isBusy, attempt } = useAttempt();
  const [answer, setAnswer] = useState<{ accepted: boolean; findings: readonly Finding[] }>();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const field = (name: string): string => String(form.get(name) ?? '');
    return attempt(async () => {
      setAnswer(undefined);
      setAnswer(
        await send('POST', '/request-log/diagnosis', {
          ...{ method: field('method'), path: field('path').trim(), body: field('body') },
          headers: headersIn(field('headers')),
        }),
      );
    });
  };
  return (
    <>
      <h1>Signature doctor</h1>
      <p className="muted">
        Paste a request as your program sends it. It is checked as if it came now, against your valid keys; nothing is
        carried out, and nothing is kept. A signature that does not match is compared with the mistakes that are known
        to be made.
      </p>
      <form className="panel doctor" onSubmit={(event) => void submit(event)}>
        <div className="pair">
          <div className="field">
            <label htmlFor="method">Method</label>
            <select id="method" name="method" defaultValue="POST">
              {['POST', 'GET', 'PATCH', 'DELETE'].map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </div>
          <div className="field">
            <label htmlFor="path">Path with query</label>
            <input id="path" name="path" defaultValue="/v1/orders" required autoComplete="off" spellCheck={false} />
          </div>
        </div>
        <div className="field">
          <label htmlFor="headers">Headers, a line each</label>
          <textarea
            id="headers"
            name="headers"
            rows={7}
            spellCheck={false}
            placeholder={
              'idempotency-key: …\ncontent-digest: sha-256=:…:\nsignature-input: sig=(…);created=…\nsignature: sig=:…:'
            }
          />
        </div>
        <div className="field">
          <label htmlFor="body">Body, exactly as it is sent</label>
          <textarea id="body" name="body" rows={6} spellCheck={false} />
        </div>
        {error !== undefined && <Failure error={error} />}
        <div className="row">
          <button type="submit" className="primary" disabled={isBusy}>
            Look at it
          </button>
        </div>
      </form>
      {answer !== undefined && (
        <section className="panel" aria-label="What was found" role="status">
          <p className={answer.accepted ? 'note is-ok' : 'note is-bad'}>
            {answer.accepted ? 'It is authentic: the server would take it.' : 'The server would not take it.'}
          </p>
          <dl className="facts">
            {answer.findings.map(({ part, ok, says }) => (
              <Fact key={`${part} ${says}`} name={part}>
                <State state={ok ? 'right' : 'wrong'} tone={ok ? 'ok' : 'bad'} /> {says}
              </Fact>
            ))}
          </dl>
        </section>
      )}
    </>
  );
}

/**
 * Files attached to a case: a list, and a form that takes one by drag and drop or from a dialog. The page has no content of a file
 * until an operator looks at it: that and saving it are one action of the server, with a reason, and each time a line in the audit.
 * What was looked at is in the memory of this page, and nowhere else.
 */
import { useQueryClient } from '@tanstack/react-query';
import { type DragEvent, type FormEvent, useId, useRef, useState } from 'react';
import { ATTACHMENT_ACTIONS } from '../actions.ts';
import { ApiError, type Attachment, type Case, type Outcome, send } from '../api.ts';
import { useAttempt } from '../attempt.ts';
import { Document, isShownHere } from '../document.tsx';
import { ActionDialog } from '../form.tsx';
import { useMay } from '../shell.tsx';
import { Failure, Time } from '../ui.tsx';

const size = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} bytes`
    : bytes < 1_048_576
      ? `${Math.ceil(bytes / 1024)} kB`
      : `${(bytes / 1_048_576).toFixed(1)} MB`;

export function Attachments({ of }: { of: Case }) {
  const may = useMay();
  const [chosen, setChosen] = useState<{ name: keyof typeof ATTACHMENT_ACTIONS; file: Attachment }>();
  const [looked, setLooked] = useState<Readonly<Record<string, Blob | undefined>>>({});
  const files = of.attachments ?? [];
  const button = (name: keyof typeof ATTACHMENT_ACTIONS, file: Attachment) => (
    <button
      key={name}
      type="button"
      className={name === 'remove' ? 'grave' : ''}
      aria-label={`${ATTACHMENT_ACTIONS[name].label}: ${file.label}`}
      disabled={!may(ATTACHMENT_ACTIONS[name].right)}
      onClick={() => setChosen({ name, file })}
    >
      {ATTACHMENT_ACTIONS[name].label}
    </button>
  );
  return (
    <section className="panel" aria-label="Attachments">
      <h2>Attachments</h2>
      {files.length === 0 && <span className="muted">None.</span>}
      <ul className="plain files">
        {files.map((file) => {
          const content = file.removedAt === null ? looked[file.id] : undefined;
          return (
            <li key={file.id}>
              <div className="row">
                <b className="long">{file.label}</b>
                <span className="muted">
                  {file.type}, {size(file.bytes)}, {file.attachedBy} <Time at={file.attachedAt} />
                </span>
                {file.removedAt !== null ? (
                  <span className="muted">
                    removed <Time at={file.removedAt} />
                  </span>
                ) : (
                  <>
                    {content !== undefined ? (
                      <button
                        type="button"
                        aria-label={`Hide: ${file.label}`}
                        onClick={() => setLooked({ ...looked, [file.id]: undefined })}
                      >
                        Hide
                      </button>
                    ) : (
                      isShownHere(file.type) && button('show', file)
                    )}
                    {button('save', file)}
                    {button('remove', file)}
                  </>
                )}
              </div>
              {content !== undefined && <Document name={file.label} type={file.type} content={content} />}
            </li>
          );
        })}
      </ul>
      {of.closedAt === null && may('cases') && <Attach to={of.id} />}
      {chosen !== undefined && (
        <ActionDialog
          action={ATTACHMENT_ACTIONS[chosen.name]}
          about={chosen.file.label}
          given={{ case: of.id, attachment: chosen.file.id }}
          {...(chosen.name === 'show'
            ? {
                onDone: ({ file }: Outcome) => {
                  setLooked({ ...looked, [chosen.file.id]: file });
                  setChosen(undefined);
                },
              }
            : {})}
          onClose={() => setChosen(undefined)}
        />
      )}
    </section>
  );
}

/** The file is dropped on the form, or chosen in its field; its name is proposed as the label. */
function Attach({ to }: { to: string }) {
  const client = useQueryClient();
  const id = useId();
  const picker = useRef<HTMLInputElement>(null);
  const [file, setFile] = useState<File>();
  const [label, setLabel] = useState('');
  const [isOver, setOver] = useState(false);
  const [isDone, setDone] = useState(false);
  const { error, isBusy, attempt } = useAttempt();
  const take = (one: File | undefined) => {
    setFile(one);
    setDone(false);
    if (one !== undefined) setLabel(one.name.slice(0, 200));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [one] = event.dataTransfer.files;
    if (one === undefined || picker.current === null) return;
    picker.current.files = event.dataTransfer.files;
    take(one);
  };
  const attach = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (file === undefined || isBusy) return;
    const body = new FormData();
    body.set('label', label.trim());
    body.set('reason', String(new FormData(form).get('reason')).trim());
    // Without the name that the file has here.
    body.set('file', file, 'file');
    void attempt(async () => {
      try {
        await send('POST', `/cases/${encodeURIComponent(to)}/attachments`, body);
        setDone(true);
        form.reset();
        setFile(undefined);
        setLabel('');
      } finally {
        await client.invalidateQueries();
      }
    });
  };
  const rules = error instanceof ApiError ? error.fields : {};
  return (
    <form
      className={isOver ? 'inside-form drop is-over' : 'inside-form drop'}
      aria-label="Attach a file"
      onSubmit={attach}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="field">
        <label htmlFor={`${id}-file`}>File</label>
        <input
          ref={picker}
          id={`${id}-file`}
          type="file"
          required
          accept="image/jpeg,image/png,image/webp,application/pdf,text/plain"
          aria-describedby={`${id}-hint`}
          onChange={(event) => take(event.currentTarget.files?.[0])}
        />
        <span id={`${id}-hint`} className={rules.file === undefined ? 'hint' : 'rule'}>
          {rules.file ?? 'Drop it here or choose it: a JPEG, PNG, WEBP, PDF or plain text of at most 5 MiB.'}
        </span>
      </div>
      <div className="field">
        <label htmlFor={`${id}-label`}>What it shows</label>
        <input
          id={`${id}-label`}
          value={label}
          required
          maxLength={200}
          autoComplete="off"
          onChange={(event) => setLabel(event.currentTarget.value)}
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-reason`}>Reason</label>
        <input id={`${id}-reason`} name="reason" required minLength={3} maxLength={500} autoComplete="off" />
      </div>
      {error !== undefined && rules.file === undefined && <Failure error={error} />}
      {isDone && (
        <p className="note is-ok" role="status">
          The file is attached.
        </p>
      )}
      <div className="row">
        <button type="submit" disabled={isBusy || file === undefined}>
          {isBusy ? 'Sending' : 'Attach'}
        </button>
      </div>
    </form>
  );
}

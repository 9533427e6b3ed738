/** The partner's appearance for customers, with a preview, and the origins whose pages may call with its keys. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type CSSProperties, type FormEvent, useId, useState } from 'react';
import { useAttempt } from '../../attempt.ts';
import { dataUrlOf } from '../../document.tsx';
import { type Column, Failure, Table } from '../../ui.tsx';
import { ActionButton } from '../actionbutton.tsx';
import { read, send } from '../api.ts';
import { useMay, useSession } from '../shell.tsx';

interface Settings {
  readonly name: string;
  readonly origins: readonly string[];
}
interface OnGround {
  readonly accent: string;
  readonly onAccent: string;
  readonly contrast: string;
}
interface Colours {
  readonly light: OnGround;
  readonly dark: OnGround;
}
interface Branding {
  readonly displayName: string | null;
  readonly accent: string | null;
  readonly accentDark: string | null;
  readonly colours: Colours;
  readonly logo: { readonly path: string; readonly width: number; readonly height: number } | null;
}

const ORIGINS: readonly Column<string>[] = [
  { head: 'Origin', cell: (origin) => <span className="mono">{origin}</span> },
];

export function BrandingPage() {
  const { data: session } = useSession();
  const settings = useQuery({ queryKey: ['settings'], queryFn: () => read<Settings>('/settings') });
  const branding = useQuery({ queryKey: ['branding'], queryFn: () => read<Branding>('/settings/branding') });
  return (
    <>
      <div className="title">
        <h1>Branding and origins</h1>
        <div className="row">
          <ActionButton
            name="Change origins"
            right="settings"
            says="Replaces the list of origins whose pages may call the white-label API with your keys. A browser withholds the replies from pages of other origins."
            inputs={[
              {
                ...{ name: 'origins', label: 'Origins, one per line', isList: true },
                ...{ hint: 'https://shop.example', value: (settings.data?.origins ?? []).join('\n') },
              },
            ]}
            run={(body) => send('PATCH', '/settings', body)}
          />
        </div>
      </div>
      {settings.error !== null && <Failure error={settings.error} />}
      {branding.error !== null && <Failure error={branding.error} />}
      <h2>How customers see you</h2>
      {branding.data !== undefined && session != null && (
        <Look key={JSON.stringify(branding.data)} of={branding.data} name={session.partner.name} />
      )}
      <h2>Origins whose pages may call</h2>
      {session?.profile === 'sandbox' && (
        <p className="note">This sandbox answers pages of every origin. The list takes effect in production.</p>
      )}
      <Table
        label="Origins"
        columns={ORIGINS}
        rows={settings.data?.origins}
        keyOf={(one) => one}
        empty="None: no page of a browser may call with your keys."
      />
    </>
  );
}

const COLOUR = /^#[0-9a-f]{6}$/;

/** The form and its preview: what is typed is shown before it is saved. */
function Look({ of, name }: { of: Branding; name: string }) {
  const client = useQueryClient();
  const id = useId();
  const may = useMay()('settings');
  const { error, isBusy, attempt } = useAttempt();
  const [displayName, setDisplayName] = useState(of.displayName ?? '');
  const [accent, setAccent] = useState(of.accent ?? '');
  const [accentDark, setAccentDark] = useState(of.accentDark ?? '');
  /** Null: no logo. Otherwise the URL that the preview shows; one of a chosen file begins with `data:`. */
  const [logo, setLogo] = useState<string | null>(of.logo?.path ?? null);

  const typed = { accent: COLOUR.test(accent) ? accent : '', accentDark: COLOUR.test(accentDark) ? accentDark : '' };
  const colours = useQuery({
    queryKey: ['branding colours', typed],
    queryFn: () => read<Colours>('/settings/branding/colours', typed),
    placeholderData: (before: Colours | undefined) => before,
    retry: false,
  });
  const choose = async (file: File | undefined): Promise<void> => {
    if (file !== undefined) setLogo(await dataUrlOf(file));
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    return attempt(async () => {
      await send('PATCH', '/settings/branding', {
        displayName: displayName.trim() || null,
        accent: accent || null,
        accentDark: accentDark || null,
        ...(logo === null ? { logo: null } : logo.startsWith('data:') ? { logo: logo.split(',')[1] } : {}),
      });
      await client.invalidateQueries();
    });
  };
  const shown = colours.data ?? of.colours;
  return (
    <>
      <div className="previews">
        <Preview ground="light" name={displayName.trim() || name} colours={shown.light} logo={logo} />
        <Preview ground="dark" name={displayName.trim() || name} colours={shown.dark} logo={logo} />
      </div>
      {colours.error !== null && <Failure error={colours.error} />}
      {may && (
        <form className="panel branding" aria-label="Branding" onSubmit={(event) => void submit(event)}>
          {error !== undefined && <Failure error={error} />}
          <div className="field">
            <label htmlFor={`${id}name`}>
              Name on hosted pages<span className="muted"> (optional; else {name})</span>
            </label>
            <input
              id={`${id}name`}
              value={displayName}
              maxLength={60}
              autoComplete="off"
              onChange={(event) => setDisplayName(event.target.value)}
            />
          </div>
          <Colour id={`${id}light`} label="Colour of links and buttons" value={accent} set={setAccent} />
          <Colour
            id={`${id}dark`}
            label="The same on dark pages"
            hint="; else made of the other one"
            value={accentDark}
            set={setAccentDark}
          />
          <div className="field">
            <label htmlFor={`${id}logo`}>
              Logo<span className="muted"> (PNG, WEBP or JPEG, at most 256 KiB)</span>
            </label>
            <input
              id={`${id}logo`}
              type="file"
              accept="image/png,image/webp,image/jpeg"
              onChange={(event) => void choose(event.target.files?.[0])}
            />
          </div>
          <div className="row">
            <button type="submit" className="primary" disabled={isBusy}>
              Save
            </button>
            {logo !== null && (
              <button type="button" onClick={() => setLogo(null)}>
                Remove the logo
              </button>
            )}
          </div>
        </form>
      )}
    </>
  );
}

function Colour(p: { id: string; label: string; hint?: string; value: string; set: (value: string) => void }) {
  return (
    <div className="field">
      <label htmlFor={p.id}>
        {p.label}
        <span className="muted"> (optional{p.hint})</span>
      </label>
      <div className="row nowrap">
        <input
          id={p.id}
          value={p.value}
          placeholder="#0b5cad"
          maxLength={7}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => p.set(event.target.value.trim().toLowerCase())}
        />
        <input
          type="color"
          aria-label={`${p.label}, chosen by eye`}
          value={COLOUR.test(p.value) ? p.value : '#0b4f3c'}
          onChange={(event) => p.set(event.target.value)}
        />
      </div>
    </div>
  );
}

function Preview(p: { ground: keyof Colours; name: string; colours: OnGround; logo: string | null }) {
  const style = { '--hosted-accent': p.colours.accent, '--hosted-on-accent': p.colours.onAccent } as CSSProperties;
  return (
    <section className={`hosted is-${p.ground}`} style={style} aria-label={`Preview on ${p.ground} background`}>
      {p.logo !== null && <img src={p.logo} alt="" />}
      <p className="hosted-for">For {p.name}</p>
      <p className="hosted-title">Sell USDC</p>
      <p>You receive rupees in your bank account.</p>
      <p>
        <span className="hosted-link">Use another phone number</span>
      </p>
      <p>
        <span className="hosted-button">Continue</span>
      </p>
      <p className="hosted-for">Contrast {p.colours.contrast} to 1</p>
    </section>
  );
}

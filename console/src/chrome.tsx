/**
 * The frame of both consoles: sign-in, header with its search, navigation, keys and the palette. Each console's shell.tsx passes its
 * session, its pages and where an id leads.
 */
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { ZONE } from './format.ts';
import { type Choice, Keys, Palette, ThemeSwitch, useKeys, useStepUp } from './frame.tsx';
import { Failure } from './ui.tsx';
import { whenSignedOut } from './wire.ts';

interface Place {
  readonly to: string;
  readonly name: string;
  readonly key: string;
}
export interface PlaceGroup {
  readonly name: string;
  readonly pages: readonly Place[];
}

/** A link to a page of either console: the router's types know only the operators' pages. */
export const To = ({ to, ...rest }: { to: string; children: ReactNode } & Record<string, unknown>) => (
  <Link to={to as '/'} {...rest} />
);

/** Shows its children if a session exists, otherwise the sign-in page. */
export function SignedIn<S>({
  title,
  session: { data: session, error, isPending },
  login,
  ways,
  signIn,
  children,
}: {
  title: string;
  session: UseQueryResult<S | null>;
  login: () => Promise<unknown>;
  /** Other ways of a fresh login. */
  ways?: ReactNode;
  signIn: ReactNode;
  children: (session: S) => ReactNode;
}) {
  const client = useQueryClient();
  const stepUp = useStepUp(login, ways);
  useEffect(() => whenSignedOut(() => client.setQueryData(['session'], null)), [client]);
  if (isPending) return <p className="visually-hidden">Loading</p>;
  if (error !== null)
    return (
      <main>
        <h1>{title}</h1>
        <Failure error={error} />
      </main>
    );
  if (session === null) return signIn;
  return (
    <>
      {children(session)}
      {stepUp}
    </>
  );
}

export function Chrome({
  brand,
  profile,
  who,
  places,
  search,
  signOut,
  keys,
  palette,
}: {
  brand: string;
  profile: string;
  who: string;
  places: readonly PlaceGroup[];
  search: ReactNode;
  /** Ends the session at the server. */
  signOut: () => Promise<unknown>;
  /** Keys besides those of the pages, and what each does. */
  keys: readonly (readonly [string, string])[];
  palette: { says: string; choicesFor: (wanted: string) => readonly Choice[] };
}) {
  const [open, setOpen] = useState<'keys' | 'palette'>();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const pages = places.flatMap((group) => group.pages);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useKeys(pages, setOpen, open !== undefined);
  useEffect(() => {
    const heading = main.current?.querySelector('h1')?.textContent;
    document.title = `${heading ?? 'Console'} · ${brand}`;
  });
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className={`header is-${profile}`}>
        <To to="/" className="brand nowrap">
          {brand}
        </To>
        <span className={`profile is-${profile}`}>{profile}</span>
        <span className="zone">Times in {ZONE}</span>
        <button
          type="button"
          className="menu"
          aria-expanded={isMenuOpen}
          aria-controls="places"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          Pages
        </button>
        <div className="end">
          {search}
          <ThemeSwitch />
          <button type="button" className="bare" aria-label="Keys" onClick={() => setOpen('keys')}>
            <kbd>?</kbd>
          </button>
          <span className="who">{who}</span>
          <SignOut leave={signOut} />
        </div>
      </header>
      <div className="body">
        <nav id="places" className={isMenuOpen ? 'places is-open' : 'places'} aria-label="Pages">
          {places.map((group) => (
            <section key={group.name} aria-label={group.name}>
              <span className="group">{group.name}</span>
              {group.pages.map(({ to, name }) => (
                <To
                  key={to}
                  to={to}
                  activeOptions={{ exact: to === '/', includeSearch: false }}
                  onClick={() => setMenuOpen(false)}
                >
                  {name}
                </To>
              ))}
            </section>
          ))}
        </nav>
        <main id="main" ref={main} tabIndex={-1} key={path}>
          <Outlet />
        </main>
      </div>
      {open === 'keys' && (
        <Keys
          keys={[...pages.map(({ key, name }): [string, string] => [`g ${key}`, name]), ...keys]}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open === 'palette' && <Palette {...palette} onClose={() => setOpen(undefined)} />}
    </>
  );
}

/** @param most characters that a text may have */
export function SearchBox({
  label,
  placeholder,
  most,
  find,
}: {
  label: string;
  placeholder: string;
  most: number;
  find: (text: string) => void;
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    find(String(new FormData(event.currentTarget).get('text')).trim());
  };
  return (
    <search>
      <form onSubmit={submit}>
        <input
          type="search"
          id="search"
          name="text"
          maxLength={most}
          aria-label={label}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
        />
      </form>
    </search>
  );
}

function SignOut({ leave }: { leave: () => Promise<unknown> }) {
  const client = useQueryClient();
  const run = async () => {
    await leave().catch(() => {});
    client.setQueryData(['session'], null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  };
  return (
    <button type="button" onClick={() => void run()}>
      Sign out
    </button>
  );
}

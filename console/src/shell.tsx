/** The frame of the operators' console's pages: header, search, and navigation. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { readSession, type Session, send, whenSignedOut } from './api.ts';
import { type Choice, Keys, Palette, ThemeSwitch, useKeys, useStepUp } from './frame.tsx';
import { every } from './live.ts';
import { SignIn } from './pages/signin.tsx';
import { login } from './passkey.ts';
import { PAGES, PLACES } from './places.ts';
import { Failure } from './ui.tsx';

export const useSession = () =>
  useQuery({ queryKey: ['session'], queryFn: readSession, refetchInterval: every(60_000) });

/** Rights of the signed-in operator. */
export function useMay(): (right: string) => boolean {
  const { data } = useSession();
  return (right) => data?.rights.includes(right) ?? false;
}

export function Shell() {
  const client = useQueryClient();
  const { data: session, error, isPending } = useSession();
  const stepUp = useStepUp(login);
  useEffect(() => whenSignedOut(() => client.setQueryData(['session'], null)), [client]);
  if (isPending) return <p className="visually-hidden">Loading</p>;
  if (error !== null)
    return (
      <main>
        <h1>Cloverleaf console</h1>
        <Failure error={error} />
      </main>
    );
  if (session === null) return <SignIn />;
  return (
    <>
      <Inside session={session} />
      {stepUp}
    </>
  );
}

function Inside({ session }: { session: Session }) {
  const [open, setOpen] = useState<'keys' | 'palette'>();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const choicesFor = useChoices();
  useKeys(PAGES, setOpen, open !== undefined);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    const heading = main.current?.querySelector('h1')?.textContent;
    document.title = `${heading ?? 'Console'} · Cloverleaf`;
  });
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className={`header is-${session.profile}`}>
        <Link to="/" className="brand nowrap">
          Cloverleaf
        </Link>
        <span className={`profile is-${session.profile}`}>{session.profile}</span>
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
          <Search />
          <ThemeSwitch />
          <button type="button" className="bare" aria-label="Keys" onClick={() => setOpen('keys')}>
            <kbd>?</kbd>
          </button>
          <span className="who">
            {session.name}, {session.role}
          </span>
          <SignOut />
        </div>
      </header>
      <div className="body">
        <nav id="places" className={isMenuOpen ? 'places is-open' : 'places'} aria-label="Pages">
          {PLACES.map(({ name, pages }) => (
            <section key={name} aria-label={name}>
              <span className="group">{name}</span>
              {pages.map((page) => (
                <Link
                  key={page.to}
                  to={page.to}
                  activeOptions={{ exact: page.to === '/', includeSearch: false }}
                  onClick={() => setMenuOpen(false)}
                >
                  {page.name}
                </Link>
              ))}
            </section>
          ))}
        </nav>
        <main id="main" ref={main} tabIndex={-1} key={path}>
          <Outlet />
        </main>
      </div>
      {open === 'keys' && <Keys keys={KEYS} onClose={() => setOpen(undefined)} />}
      {open === 'palette' && (
        <Palette says="Page, or number of an order" choicesFor={choicesFor} onClose={() => setOpen(undefined)} />
      )}
    </>
  );
}

function Search() {
  const navigate = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('text')).trim();
    if (text.length > 1) void navigate({ to: '/search', search: { text } });
  };
  return (
    <search>
      <form onSubmit={submit}>
        <input
          type="search"
          id="search"
          name="text"
          maxLength={128}
          aria-label="Find an order, deposit, payout or customer"
          placeholder="Id, address or hash: press /"
          autoComplete="off"
          spellCheck={false}
        />
      </form>
    </search>
  );
}

function SignOut() {
  const client = useQueryClient();
  const leave = async () => {
    await send('DELETE', '/session').catch(() => {});
    client.setQueryData(['session'], null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  };
  return (
    <button type="button" onClick={() => void leave()}>
      Sign out
    </button>
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ...PAGES.map(({ key, name }): [string, string] => [`g ${key}`, name]),
  ['/', 'Search'],
  ['j  k', 'Next or previous row'],
  ['Enter', 'Open the row'],
  ['c  n  x', 'On a case: claim, note, close'],
  ['y  d', 'On a proposal: confirm, decline'],
  ['l  y  d', 'On a sanctions hit: look, confirm, dismiss'],
  ['Ctrl K', 'Go to a page, an order, a case or a customer'],
  ['Esc', 'Leave a dialog'],
];

const CUSTOMER_ID = /^[0-9A-Za-z]{10}_[0-9]{1,19}$/;

/** The possible meanings of a text in the palette. */
function useChoices(): (wanted: string) => readonly Choice[] {
  const navigate = useNavigate();
  return (wanted) => [
    ...(/^[0-9]{1,18}$/.test(wanted)
      ? [
          { name: `Order ${wanted}`, run: () => navigate({ to: '/orders/$order', params: { order: wanted } }) },
          { name: `Case ${wanted}`, run: () => navigate({ to: '/cases/$case', params: { case: wanted } }) },
        ]
      : []),
    ...(CUSTOMER_ID.test(wanted)
      ? [
          {
            name: `Customer ${wanted}`,
            run: () => navigate({ to: '/customers/$customer', params: { customer: wanted } }),
          },
        ]
      : []),
    ...PAGES.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase())).map(({ name, to }) => ({
      name,
      run: () => navigate({ to }),
    })),
    ...(wanted.length > 1
      ? [{ name: `Find ${wanted}`, run: () => navigate({ to: '/search', search: { text: wanted } }) }]
      : []),
  ];
}

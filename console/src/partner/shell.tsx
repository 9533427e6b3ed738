/** The frame of the partners' console's pages: header, search by id, and navigation. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { type Choice, Keys, Palette, ThemeSwitch, useKeys, useStepUp } from '../frame.tsx';
import { every } from '../live.ts';
import { Failure } from '../ui.tsx';
import { own, readSession, type Session, whenSignedOut } from './api.ts';
import { Join, SignIn } from './pages/signin.tsx';
import { login } from './passkey.ts';
import { type Place, placesOf } from './places.ts';

export const useSession = () =>
  useQuery({ queryKey: ['session'], queryFn: readSession, refetchInterval: every(60_000) });

/** Rights of the signed-in member. */
export function useMay(): (right: string) => boolean {
  const { data } = useSession();
  return (right) => data?.rights.includes(right) ?? false;
}

/** Pages of this console, by their paths: the types of the router know those of the operators'. */
export const To = ({ to, ...rest }: { to: string; children: React.ReactNode } & Record<string, unknown>) => (
  <Link to={to as '/'} {...rest} />
);
export function useGo(): (to: string, search?: Record<string, string>) => Promise<void> {
  const navigate = useNavigate();
  return (to, search = {}) => navigate({ to: to as '/', search });
}

export function Shell() {
  const client = useQueryClient();
  const { data: session, error, isPending } = useSession();
  const stepUp = useStepUp(login);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => whenSignedOut(() => client.setQueryData(['session'], null)), [client]);
  if (path.endsWith('/join')) return <Join />;
  if (isPending) return <p className="visually-hidden">Loading</p>;
  if (error !== null)
    return (
      <main>
        <h1>Cloverleaf for partners</h1>
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
  const places = useMemo(() => placesOf(session.profile), [session.profile]);
  const pages = useMemo(() => places.flatMap((group) => group.pages), [places]);
  const choicesFor = useChoices(pages);
  useKeys(pages, setOpen, open !== undefined);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    const heading = main.current?.querySelector('h1')?.textContent;
    document.title = `${heading ?? 'Console'} · ${session.partner.name}`;
  });
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className={`header is-${session.profile}`}>
        <To to="/" className="brand nowrap">
          {session.partner.name}
        </To>
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
          {places.map(({ name, pages: some }) => (
            <section key={name} aria-label={name}>
              <span className="group">{name}</span>
              {some.map((page) => (
                <To
                  key={page.to}
                  to={page.to}
                  activeOptions={{ exact: page.to === '/', includeSearch: false }}
                  onClick={() => setMenuOpen(false)}
                >
                  {page.name}
                </To>
              ))}
            </section>
          ))}
        </nav>
        <main id="main" ref={main} tabIndex={-1} key={path}>
          <Outlet />
        </main>
      </div>
      {open === 'keys' && <Keys keys={keysOf(pages)} onClose={() => setOpen(undefined)} />}
      {open === 'palette' && (
        <Palette
          says="Page, or id of an order, customer or request"
          choicesFor={choicesFor}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

const ORDER_ID = /^[0-9]{1,18}$/;
const CUSTOMER_ID = /^[0-9A-Za-z]{10}_[0-9]{1,19}$/;

/** Where an id leads: that of an order, of a customer, or else of a request. */
const placeOf = (id: string): { name: string; to: string } =>
  ORDER_ID.test(id)
    ? { name: `Order ${id}`, to: `/orders/${id}` }
    : CUSTOMER_ID.test(id)
      ? { name: `Customer ${id}`, to: `/customers/${id}` }
      : { name: `Request ${id}`, to: `/requests/${encodeURIComponent(id)}` };

function Search() {
  const go = useGo();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('text')).trim();
    if (text !== '') void go(placeOf(text).to);
  };
  return (
    <search>
      <form onSubmit={submit}>
        <input
          type="search"
          id="search"
          name="text"
          maxLength={64}
          aria-label="Open an order, a customer or a request by its id"
          placeholder="Open an id: press /"
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
    await own.send('DELETE', '/session').catch(() => {});
    client.setQueryData(['session'], null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  };
  return (
    <button type="button" onClick={() => void leave()}>
      Sign out
    </button>
  );
}

const keysOf = (pages: readonly Place[]): readonly (readonly [string, string])[] => [
  ...pages.map(({ key, name }): [string, string] => [`g ${key}`, name]),
  ['/', 'Open by id'],
  ['j  k', 'Next or previous row'],
  ['Enter', 'Open the row'],
  ['Ctrl K', 'Go to a page, an order, a customer or a request'],
  ['Esc', 'Leave a dialog'],
];

/** The possible meanings of a text in the palette. */
function useChoices(pages: readonly Place[]): (wanted: string) => readonly Choice[] {
  const go = useGo();
  return (wanted) => {
    const place = /^[\w.-]{6,64}$/.test(wanted) || ORDER_ID.test(wanted) ? placeOf(wanted) : undefined;
    const named = pages.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
    return [
      ...named.map(({ name, to }) => ({ name, run: () => go(to) })),
      ...(place === undefined ? [] : [{ name: place.name, run: () => go(place.to) }]),
    ];
  };
}

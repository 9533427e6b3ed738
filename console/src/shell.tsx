/** What stands around every page: header, search, keys, the palette, and the dialog that asks for a fresh login. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { readSession, type Session, send, whenSignedOut, whenStepUp } from './api.ts';
import { every } from './live.ts';
import { SignIn } from './pages/signin.tsx';
import { login } from './passkey.ts';
import { PAGES, PLACES } from './places.ts';
import { Dialog, Fact, Failure } from './ui.tsx';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

function storedTheme(): Theme {
  const kept = localStorage.getItem('theme');
  return THEMES.find((one) => one === kept) ?? 'system';
}
export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset.theme = theme;
}

export const useSession = () =>
  useQuery({ queryKey: ['session'], queryFn: readSession, refetchInterval: every(60_000) });

/** Rights of the one who is signed in. */
export function useMay(): (right: string) => boolean {
  const { data } = useSession();
  return (right) => data?.rights.includes(right) ?? false;
}

export function Shell() {
  const client = useQueryClient();
  const { data: session, error, isPending } = useSession();
  const stepUp = useStepUp();
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
  useKeys(setOpen, open !== undefined);
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
      {open === 'keys' && <Keys onClose={() => setOpen(undefined)} />}
      {open === 'palette' && <Palette onClose={() => setOpen(undefined)} />}
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

function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme);
  const change = () => {
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
    localStorage.setItem('theme', next);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <button type="button" className="bare" onClick={change}>
      Colours: {{ system: 'auto', light: 'light', dark: 'dark' }[theme]}
    </button>
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

/** Asks for the passkey in the middle of an action, which then goes on. */
function useStepUp() {
  const client = useQueryClient();
  const [waiting, setWaiting] = useState<{ done: () => void; failed: (error: Error) => void }>();
  const [error, setError] = useState<unknown>();
  useEffect(() => whenStepUp(() => new Promise((done, failed) => setWaiting({ done, failed }))), []);
  if (waiting === undefined) return null;
  const confirm = async () => {
    setError(undefined);
    try {
      client.setQueryData(['session'], await login());
      setWaiting(undefined);
      waiting.done();
    } catch (caught) {
      setError(caught);
    }
  };
  const leave = () => {
    setWaiting(undefined);
    waiting.failed(new Error('It was not done: it takes a login of the last ten minutes.'));
  };
  return (
    <Dialog label="Show your passkey again" onClose={leave}>
      <h2>Show your passkey again</h2>
      <p>This takes a login of the last ten minutes. What you sent goes on by itself afterwards.</p>
      {error !== undefined && <Failure error={error} />}
      <div className="row">
        <button type="button" className="primary" autoFocus onClick={() => void confirm()}>
          Use passkey
        </button>
        <button type="button" onClick={leave}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;

/** `j` and `k` move between the rows of a list; a key of the page itself is a button with `data-key`. */
function useKeys(open: (what: 'keys' | 'palette') => void, isOpen: boolean): void {
  const navigate = useNavigate();
  useEffect(() => {
    let isGoing = false;
    const listen = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        open('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
      if (isOpen || document.querySelector('dialog[open]') !== null) return;
      const page = isGoing ? PAGES.find((one) => one.key === key) : undefined;
      isGoing = key === 'g' && !isGoing;
      const button = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
      if (page !== undefined) void navigate({ to: page.to });
      else if (key === '?') open('keys');
      else if (key === '/') {
        event.preventDefault();
        document.getElementById('search')?.focus();
      } else if (key === 'j' || key === 'k') moveRow(key === 'j' ? 1 : -1);
      else if (button !== null) {
        event.preventDefault();
        button.click();
      }
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [navigate, open, isOpen]);
}

function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('a[data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at === -1 ? 0 : at + by))]?.focus();
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

const Keys = ({ onClose }: { onClose: () => void }) => (
  <Dialog label="Keys" onClose={onClose}>
    <h2>Keys</h2>
    <dl className="facts">
      {KEYS.map(([keys, what]) => (
        <Fact key={keys} name={keys.split(/\s+/).map((key) => <kbd key={key}>{key}</kbd>)}>
          {what}
        </Fact>
      ))}
    </dl>
    <div className="row">
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  </Dialog>
);

const CUSTOMER_ID = /^[0-9A-Za-z]{10}_[0-9]{1,19}$/;

function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const wanted = text.trim();
  const go = (run: () => Promise<void>) => () => {
    onClose();
    void run();
  };
  const choices = [
    ...(/^[0-9]{1,18}$/.test(wanted)
      ? [
          { name: `Order ${wanted}`, run: go(() => navigate({ to: '/orders/$order', params: { order: wanted } })) },
          { name: `Case ${wanted}`, run: go(() => navigate({ to: '/cases/$case', params: { case: wanted } })) },
        ]
      : []),
    ...(CUSTOMER_ID.test(wanted)
      ? [
          {
            name: `Customer ${wanted}`,
            run: go(() => navigate({ to: '/customers/$customer', params: { customer: wanted } })),
          },
        ]
      : []),
    ...PAGES.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase())).map(({ name, to }) => ({
      name,
      run: go(() => navigate({ to })),
    })),
    ...(wanted.length > 1
      ? [{ name: `Find ${wanted}`, run: go(() => navigate({ to: '/search', search: { text: wanted } })) }]
      : []),
  ];
  return (
    <Dialog label="Go to" onClose={onClose}>
      <input
        autoFocus
        aria-label="Page, or number of an order"
        placeholder="Page, or number of an order"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (by !== undefined) {
            event.preventDefault();
            setAt(Math.max(0, Math.min(choices.length - 1, at + by)));
          }
          if (event.key === 'Enter') choices[at]?.run();
        }}
      />
      <ul className="plain palette">
        {choices.map(({ name, run }, index) => (
          <li key={name}>
            <button type="button" aria-current={index === at} onClick={run}>
              {name}
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

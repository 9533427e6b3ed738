/**
 * The common frame of both consoles' pages: colours, keys, the palette, and the dialog that asks for a fresh login. Each console
 * has its own pages and its own meaning of a typed text.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { Dialog, Fact, Failure } from './ui.tsx';
import { whenStepUp } from './wire.ts';

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

export function ThemeSwitch() {
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

/**
 * Asks for the passkey in the middle of an action, which then continues.
 *
 * @param login begins a session, which it returns
 * @param ways  offered to a person who has no passkey on this device
 */
export function useStepUp(login: () => Promise<unknown>, ways?: ReactNode) {
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
      <p>This needs a login within the last ten minutes. Your request then continues automatically.</p>
      {error !== undefined && <Failure error={error} />}
      <div className="row">
        <button type="button" className="primary" autoFocus onClick={() => void confirm()}>
          Use passkey
        </button>
        <button type="button" onClick={leave}>
          Cancel
        </button>
      </div>
      {ways}
    </Dialog>
  );
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;

/** `j` and `k` move between the rows of a list; a key of the page itself is a button with `data-key`. */
export function useKeys(
  pages: readonly { to: string; key: string }[],
  open: (what: 'keys' | 'palette') => void,
  isOpen: boolean,
): void {
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
      const page = isGoing ? pages.find((one) => one.key === key) : undefined;
      isGoing = key === 'g' && !isGoing;
      const button = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
      if (page !== undefined) void navigate({ to: page.to as '/' });
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
  }, [pages, navigate, open, isOpen]);
}

function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('a[data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at === -1 ? 0 : at + by))]?.focus();
}

/** @param keys each with its action */
export const Keys = ({ keys, onClose }: { keys: readonly (readonly [string, string])[]; onClose: () => void }) => (
  <Dialog label="Keys" onClose={onClose}>
    <h2>Keys</h2>
    <dl className="facts">
      {keys.map(([pressed, what]) => (
        <Fact key={pressed} name={pressed.split(/\s+/).map((key) => <kbd key={key}>{key}</kbd>)}>
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

export interface Choice {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** @param choicesFor the possible meanings of a text */
export function Palette({
  says,
  choicesFor,
  onClose,
}: {
  says: string;
  choicesFor: (text: string) => readonly Choice[];
  onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const choices = choicesFor(text.trim()).map(({ name, run }) => ({
    name,
    run: () => {
      onClose();
      void run();
    },
  }));
  return (
    <Dialog label="Go to" onClose={onClose}>
      <input
        autoFocus
        aria-label={says}
        placeholder={says}
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

/** The frame of the operators' console: the session, the pages, and where a search or an id leads. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { readSession, type Session, send } from './api.ts';
import { Chrome, SearchBox, SignedIn } from './chrome.tsx';
import type { Choice } from './frame.tsx';
import { every } from './live.ts';
import { OtherWays, SignIn } from './pages/signin.tsx';
import { SsoAnswer } from './pages/sso.tsx';
import { login } from './passkey.ts';
import { INNER_PAGES, PAGES, PLACES } from './places.ts';
import { ANSWER_PAGE } from './sso.ts';

export const useSession = () =>
  useQuery({ queryKey: ['session'], queryFn: readSession, refetchInterval: every(60_000) });

/** Rights of the one who is signed in. */
export function useMay(): (right: string) => boolean {
  const { data } = useSession();
  return (right) => data?.rights.includes(right) ?? false;
}

/** Where the page began: the router does not leave the one that the provider sends back to. */
const isAnswer = window.location.pathname === ANSWER_PAGE;

export function Shell() {
  return isAnswer ? <SsoAnswer /> : <Frame />;
}

function Frame() {
  const session = useSession();
  return (
    <SignedIn title="Cloverleaf console" session={session} login={login} ways={<OtherWays />} signIn={<SignIn />}>
      {(known) => <Inside session={known} />}
    </SignedIn>
  );
}

function Inside({ session }: { session: Session }) {
  const navigate = useNavigate();
  const choicesFor = useChoices();
  const find = (text: string) => {
    if (text.length > 1) void navigate({ to: '/search', search: { text } });
  };
  return (
    <Chrome
      brand="Cloverleaf"
      profile={session.profile}
      who={`${session.name}, ${session.role}`}
      places={PLACES}
      search={
        <SearchBox
          label="Find an order, deposit, payout or customer"
          placeholder="Id, address or hash: press /"
          most={128}
          find={find}
        />
      }
      signOut={() => send('DELETE', '/session')}
      keys={KEYS}
      palette={{ says: 'Page, or number of an order', choicesFor }}
    />
  );
}

const KEYS: readonly (readonly [string, string])[] = [
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

/** What a text of the palette may mean. */
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
    ...[...PAGES, ...INNER_PAGES]
      .filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))
      .map(({ name, to }) => ({
        name,
        run: () => navigate({ to }),
      })),
    ...(wanted.length > 1
      ? [{ name: `Find ${wanted}`, run: () => navigate({ to: '/search', search: { text: wanted } }) }]
      : []),
  ];
}

/** The frame of the partners' console: the session, the pages, and where an id leads. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Chrome, SearchBox, SignedIn } from '../chrome.tsx';
import type { Choice } from '../frame.tsx';
import { every } from '../live.ts';
import { own, readSession, type Session } from './api.ts';
import { Join, SignIn } from './pages/signin.tsx';
import { login } from './passkey.ts';
import { type Place, placesOf } from './places.ts';

export const useSession = () =>
  useQuery({ queryKey: ['session'], queryFn: readSession, refetchInterval: every(60_000) });

/** Rights of the one who is signed in. */
export function useMay(): (right: string) => boolean {
  const { data } = useSession();
  return (right) => data?.rights.includes(right) ?? false;
}

export function useGo(): (to: string, search?: Record<string, string>) => Promise<void> {
  const navigate = useNavigate();
  return (to, search = {}) => navigate({ to: to as '/', search });
}

export function Shell() {
  const session = useSession();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  if (path.endsWith('/join')) return <Join />;
  return (
    <SignedIn title="Cloverleaf for partners" session={session} login={login} signIn={<SignIn />}>
      {(known) => <Inside session={known} />}
    </SignedIn>
  );
}

function Inside({ session }: { session: Session }) {
  const go = useGo();
  const places = useMemo(() => placesOf(session.profile), [session.profile]);
  const choicesFor = useChoices(places.flatMap(({ pages }) => pages));
  const find = (text: string) => {
    if (text !== '') void go(placeOf(text).to);
  };
  return (
    <Chrome
      brand={session.partner.name}
      profile={session.profile}
      who={`${session.name}, ${session.role}`}
      places={places}
      search={
        <SearchBox
          label="Open an order, a customer or a request by its id"
          placeholder="Open an id: press /"
          most={64}
          find={find}
        />
      }
      signOut={() => own.send('DELETE', '/session')}
      keys={KEYS}
      palette={{ says: 'Page, or id of an order, customer or request', choicesFor }}
    />
  );
}

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Open by id'],
  ['j  k', 'Next or previous row'],
  ['Enter', 'Open the row'],
  ['Ctrl K', 'Go to a page, an order, a customer or a request'],
  ['Esc', 'Leave a dialog'],
];

const ORDER_ID = /^[0-9]{1,18}$/;
const CUSTOMER_ID = /^[0-9A-Za-z]{10}_[0-9]{1,19}$/;

/** Where an id leads: that of an order, of a customer, or else of a request. */
const placeOf = (id: string): { name: string; to: string } =>
  ORDER_ID.test(id)
    ? { name: `Order ${id}`, to: `/orders/${id}` }
    : CUSTOMER_ID.test(id)
      ? { name: `Customer ${id}`, to: `/customers/${id}` }
      : { name: `Request ${id}`, to: `/requests/${encodeURIComponent(id)}` };

/** What a text of the palette may mean. */
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

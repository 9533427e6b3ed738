/** Pages that are always in reach, by what they are about, each with the key behind `g`. */
const GROUPS = [
  {
    name: 'Work',
    pages: [
      { to: '/', name: 'Home', key: 'h' },
      { to: '/cases', name: 'Cases', key: 'c' },
      { to: '/proposals', name: 'Proposals', key: 'p' },
      { to: '/reviews', name: 'Reviews', key: 'v' },
      { to: '/screening', name: 'Screening', key: 'e' },
    ],
  },
  {
    name: 'Money',
    pages: [
      { to: '/orders', name: 'Orders', key: 'o' },
      { to: '/deposits', name: 'Deposits', key: 'd' },
      { to: '/suspense', name: 'Suspense', key: 'u' },
      { to: '/payouts', name: 'Payouts', key: 'y' },
      { to: '/treasury', name: 'Treasury', key: 't' },
      { to: '/bank', name: 'Bank desk', key: 'b' },
    ],
  },
  {
    name: 'Trade',
    pages: [
      { to: '/partners', name: 'Partners', key: 'n' },
      { to: '/markets', name: 'Markets', key: 'm' },
      { to: '/limits', name: 'Limits', key: 'l' },
      { to: '/webhooks', name: 'Webhooks', key: 'w' },
    ],
  },
  {
    name: 'Records',
    pages: [
      { to: '/reports', name: 'Reports', key: 'r' },
      { to: '/audit', name: 'Audit', key: 'a' },
    ],
  },
  {
    name: 'Control',
    pages: [
      { to: '/kill-switches', name: 'Kill switches', key: 'k' },
      { to: '/operators', name: 'Operators', key: 'i' },
      { to: '/sessions', name: 'Sessions', key: 's' },
    ],
  },
] as const;

export type Group = (typeof GROUPS)[number];
export type Place = Group['pages'][number];
export const PLACES: readonly Group[] = GROUPS;
export const PAGES: readonly Place[] = GROUPS.flatMap(({ pages }) => pages as readonly Place[]);

/** Pages that are always accessible, by subject: the path, the name, and the key behind `g`. */
const OF = {
  Work: [
    ['/', 'Home', 'h'],
    ['/cases', 'Cases', 'c'],
    ['/proposals', 'Proposals', 'p'],
    ['/reviews', 'Reviews', 'v'],
    ['/screening', 'Screening', 'e'],
    ['/address-risk', 'Address risk', 'j'],
    ['/monitoring', 'Monitoring', '3'],
  ],
  Money: [
    ['/orders', 'Orders', 'o'],
    ['/deposits', 'Deposits', 'd'],
    ['/suspense', 'Suspense', 'u'],
    ['/payouts', 'Payouts', 'y'],
    ['/treasury', 'Treasury', 't'],
    ['/debts', 'Debts', 'q'],
    ['/breaks', 'Breaks', 'z'],
    ['/bank', 'Bank desk', 'b'],
    ['/bank-lines', 'Bank lines', 'f'],
  ],
  Trade: [
    ['/partners', 'Partners', 'n'],
    ['/markets', 'Markets', 'm'],
    ['/limits', 'Limits', 'l'],
    ['/planned', 'Planned', '2'],
    ['/travel-rules', 'Travel rule', '1'],
    ['/webhooks', 'Webhooks', 'w'],
  ],
  Records: [
    ['/reports', 'Reports', 'r'],
    ['/audit', 'Audit', 'a'],
    ['/handbook', 'Handbook', '.'],
  ],
  Control: [
    ['/kill-switches', 'Kill switches', 'k'],
    ['/alerts', 'Alerts', 'x'],
    ['/channels', 'Channels', '4'],
    ['/operators', 'Operators', 'i'],
    ['/sessions', 'Sessions', 's'],
  ],
} as const;

type Row = (typeof OF)[keyof typeof OF][number];
export interface Place {
  readonly to: Row[0];
  readonly name: string;
  readonly key: string;
}
export interface Group {
  readonly name: string;
  readonly pages: readonly Place[];
}

export const PLACES: readonly Group[] = Object.entries(OF).map(([name, rows]) => ({
  name,
  pages: rows.map(([to, page, key]) => ({ to, name: page, key })),
}));
export const PAGES: readonly Place[] = PLACES.flatMap(({ pages }) => pages);

/** Pages that others link to. The palette leads to them as well. */
export const INNER_PAGES = [
  { to: '/cases/urgent', name: 'Most urgent cases' },
  { to: '/monitoring/try', name: 'Try a rule of monitoring' },
  { to: '/treasury/history', name: 'Wallets over time' },
  { to: '/treasury/sweeps', name: 'Sweeps' },
  { to: '/treasury/own', name: 'Own addresses' },
  { to: '/breaks/movements', name: 'Movements' },
  { to: '/reports/trial-balance', name: 'Trial balance' },
  { to: '/reports/revenue', name: 'Revenue' },
  { to: '/reports/statement', name: 'Statement of a customer' },
  { to: '/reports/partner', name: 'Statement of a partner' },
  { to: '/reports/reconciliation', name: 'Reconciliation' },
  { to: '/reports/affected', name: 'Affected orders' },
  { to: '/changes', name: 'Changes of terms' },
] as const;
